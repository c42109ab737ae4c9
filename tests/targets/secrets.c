// Branches behind values that random bytes do not hit; each is an edge of its own.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static volatile int found;

static uint32_t big(const uint8_t *x) {
  return (uint32_t)x[0] << 24 | x[1] << 16 | x[2] << 8 | x[3];
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 25) return 0;
  char text[16] = {0};
  uint32_t number;
  uint16_t kind;
  memcpy(&number, data, 4);
  memcpy(&kind, data + 8, 2);
  if (number == 0x6b7c8d9e) found |= 1;
  if (big(data + 4) == 0x51627384) found |= 2;
  switch (kind) {
    case 0x1f2e: found |= 4; break;
    case 0x3d4c: found |= 8; break;
    case 0x5b6a: found |= 16; break;
  }
  if (!memcmp(data + 10, "QUARTZ", 6)) found |= 32;
  memcpy(text, data + 16, 8);
  if (!strcmp(text, "feldspat")) found |= 64;
  if (atoi((const char *)data + 24) == 271828) found |= 128;
  return 0;
}
