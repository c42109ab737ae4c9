// Undefined behaviour of several kinds; the first letter chooses. Some of it is in two files of one
// name. The entry has left its frame when they fail: the compiler makes a jump of its last call.
#include <limits.h>
#include <stddef.h>
#include <stdint.h>

int near_sum(int x);
int far_sum(int x);

static volatile int sink, zero;
static int table[4] = {1, 2, 3, 4};

__attribute__((noinline)) static void look_up(int i) {
  sink = table[i];
}
__attribute__((noinline)) static void shift(int by) {
  sink = 1 << by;
}
__attribute__((noinline)) static void divide(int by) {
  sink = 100 / by;
}
__attribute__((noinline)) static void follow(int is_null) {
  int *p = is_null ? NULL : table;
  sink = *p;
}
__attribute__((noinline)) static void one_way(int x) {
  sink = near_sum(x) + 1;
}
__attribute__((noinline)) static void other_way(int x) {
  sink = near_sum(x) + 2;
}
__attribute__((noinline)) static void far_away(int x) {
  sink = far_sum(x) + 3;
}
__attribute__((noinline)) static int spin(int n) {
  for (;;) sink = n;
}

__attribute__((noinline)) int run(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  int large = INT_MAX - data[1];
  switch (data[0]) {
    case 'l': look_up(data[1]); break;
    case 's': shift(data[1]); break;
    case 'd': divide(data[1] - 'd'); break;
    case 'n': follow(data[1]); break;
    case 'o': one_way(large); break;
    case 't': other_way(large); break;
    case 'f': far_away(large); break;
    case 'h': return spin(data[1]);
  }
  return zero;  // a constant would not be worth a jump
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return run(data, size);
}
