// Repairs let a mutant pass a check that mutations break, such as a checksum.
#include <string.h>

#include "operators.h"

static uint32_t crc32(const uint8_t *x, size_t size) {
  static const uint32_t of_nibble[16] = {  // x^32 + x^26 + ... + 1, bits reversed
      0x00000000, 0x1db71064, 0x3b6e20c8, 0x26d930ac, 0x76dc4190, 0x6b6b51f4,
      0x4db26158, 0x5005713c, 0xedb88320, 0xf00f9344, 0xd6d6a3e8, 0xcb61b38c,
      0x9b64c2b0, 0x86d3d2d4, 0xa00ae278, 0xbdbdf21c};
  uint32_t crc = ~0u;
  for (size_t i = 0; i < size; i++) {
    crc = of_nibble[(crc ^ x[i]) & 15] ^ crc >> 4;
    crc = of_nibble[(crc ^ x[i] >> 4) & 15] ^ crc >> 4;
  }
  return ~crc;
}

static size_t read_big(const uint8_t *x) {
  return (size_t)x[0] << 24 | (size_t)x[1] << 16 | (size_t)x[2] << 8 | x[3];
}

// Write the right CRC into every complete chunk of a PNG file; other data stay as they are.
void repair_png(uint8_t *x, size_t size) {
  if (size < 8 || memcmp(x, "\x89PNG\r\n\x1a\n", 8)) return;
  for (size_t at = 8; at + 12 <= size;) {
    size_t stop = at + 8 + read_big(x + at);
    if (stop + 4 > size) break;
    uint32_t crc = crc32(x + at + 4, stop - at - 4);
    for (int i = 0; i < 4; i++) x[stop + i] = crc >> (24 - 8 * i);
    at = stop + 4;
  }
}
