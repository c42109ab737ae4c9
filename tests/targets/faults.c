// Faults of every kind, and pairs of them that are easily taken for one. Two letters choose.
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static volatile unsigned sink;
static volatile int *volatile nowhere = (volatile int *)8;
static char *volatile last;

// Two faults in one function.
__attribute__((noinline)) static void two_writes(int which) {
  if (which == '1') *nowhere = 1;
  if (which == '2') *nowhere = 2;
}

// One fault, in a function that the compiler inlines, reached from two lines.
static inline __attribute__((always_inline)) int get(const char *p, int i) {
  return p[i];
}
__attribute__((noinline)) static void read_twice(int which) {
  if (which == '1') sink += get((const char *)nowhere, 0);
  if (which == '2') sink += get((const char *)nowhere, 1);
}

// The C library fails, or ends the process, on behalf of the target.
__attribute__((noinline)) static void copy(const uint8_t *data, size_t size) {
  memcpy((char *)nowhere, data, size);
  sink++;
}
__attribute__((noinline)) static void check(int ok) {
  if (!ok) abort();
}
__attribute__((noinline)) static void must(int which) {
  if (which == '1') check(0);
  if (which == '2') check(which == '1');
  sink++;
}
__attribute__((noinline)) static void leave(void) {
  exit(3);
}

// A loop without end that spends its time in others; and another.
__attribute__((noinline)) static void spend(int n) {
  for (volatile int i = 0; i < n; i++) sink++;
}
__attribute__((noinline)) static void wait_for(int which) {
  while (which) spend(1000);
}
__attribute__((noinline)) static void spin(void) {
  for (;;) sink++;
}
// With sanitizers this one ends soon, for another reason.
__attribute__((noinline)) static void count(void) {
  for (volatile int n = INT_MAX - 5;; n++) sink++;
}

// Recursion without end, of one function and of two.
__attribute__((noinline)) static unsigned deep(volatile unsigned *above) {
  volatile unsigned here[64] = {*above + 1};
  return *above == 1000000000 ? 0 : deep(here) + here[1];
}
__attribute__((noinline)) static unsigned pong(volatile unsigned *above);
__attribute__((noinline)) static unsigned ping(volatile unsigned *above) {
  volatile unsigned here[32] = {*above + 1};
  return *above == 1000000000 ? 0 : pong(here) + here[1];
}
__attribute__((noinline)) static unsigned pong(volatile unsigned *above) {
  volatile unsigned here[48] = {*above + 1};
  return *above == 1000000000 ? 0 : ping(here) + here[1];
}

// Memory: too much, from two places; and what only a sanitizer sees.
__attribute__((noinline)) static void take(int which) {
  if (which == '1') last = malloc((size_t)1 << 40);
  if (which == '2') last = calloc((size_t)1 << 20, (size_t)1 << 20);
  sink++;
}
__attribute__((noinline)) static void overflow(int which, size_t size) {
  last = malloc(4);
  if (which == '1') last[size + 2] = 1;
  if (which == '2') sink += last[size + 3];
  free(last);
}
__attribute__((noinline)) static void free_twice(void) {
  last = malloc(4);
  free(last);
  free(last);
  sink++;
}
__attribute__((noinline)) static void add(int which) {
  int large = INT_MAX - (which == '1');
  sink = large + which;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size < 2) return 0;
  switch (data[0]) {
    case 'w': two_writes(data[1]); break;
    case 'g': read_twice(data[1]); break;
    case 'c': copy(data, size); break;
    case 'a': must(data[1]); break;
    case 'x': leave(); break;
    case 'h': wait_for(data[1]); break;
    case 's': spin(); break;
    case 'n': count(); break;
    case 'r': sink += deep(&sink); break;
    case 'p': sink += ping(&sink); break;
    case 'm': take(data[1]); break;
    case 'o': overflow(data[1], size); break;
    case 'f': free_twice(); break;
    case 'i': add(data[1]); break;
  }
  return 0;
}
