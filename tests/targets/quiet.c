// Faults that do not crash: it reads a little behind a block of memory. One is behind a branch of its
// own; the other covers nothing that other inputs do not cover.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static volatile unsigned sink;

__attribute__((noinline)) static unsigned branching(const uint8_t *block, size_t size) {
  return block[size];
}
__attribute__((noinline)) static unsigned hidden(const uint8_t *block, size_t size, uint8_t byte) {
  return block[size - 1 + (((byte ^ 0x21) - 1u) >> 31)];  // one further if the byte is '!'
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 4) return 0;
  uint8_t *copy = malloc(size);
  memcpy(copy, data, size);
  if (data[0] == '?') sink += branching(copy, size);
  sink += hidden(copy, size, data[1]);
  free(copy);
  return 0;
}
