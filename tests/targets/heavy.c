// Costs as much as its first byte says; loops for ever if the second is 'L'.
#include <stdint.h>
#include <stdlib.h>

enum { BLOCK = 1 << 16 };
static volatile unsigned sink;

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  if (data[1] == 'N') sink++;
  for (int i = 0; i < data[0]; i++) {
    volatile char *block = malloc(BLOCK);
    if (block) block[i] = 1;
    free((void *)block);
  }
  while (data[1] == 'L') sink++;
  return 0;
}
