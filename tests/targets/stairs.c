// A target for campaigns: much to find, step by step, and two ways to fail.
#include <stdint.h>
#include <stdlib.h>

static volatile int sink;

__attribute__((noinline)) static void fall(volatile int *p) { *p = 1; }

static void climb(const uint8_t *data) {  // each step is one lucky byte in eight
  if (data[0] < 32) {
    sink++;
    if (data[1] < 32) {
      sink += 2;
      if (data[2] < 32) {
        sink += 3;
        if (data[3] < 32) {
          sink += 4;
          if (data[4] < 32) sink += 5;
        }
      }
    }
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 8) return 0;
  climb(data);
  switch (data[5] / 16) {
    case 0: sink += 10; break;
    case 3: sink -= 20; break;
    case 7: sink ^= 30; break;
    case 9: sink *= 40; break;
    case 11: sink |= 50; break;
  }
  for (size_t i = 0; i < data[6]; i += 9) sink++;
  if (data[7] >= 252) abort();
  if (data[7] == 250) fall((volatile int *)8);
  return 0;
}
