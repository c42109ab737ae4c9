// A target that does everything a target can do to us. The first byte chooses.
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static volatile int sink;
static char *volatile last;

static void take(size_t size, size_t touched) {
  last = malloc(size);
  if (last) memset(last, 1, touched);
}

static void nested(const uint8_t *data, size_t size) {
  if (size > 1 && data[1] == 'A') {
    sink++;
    if (size > 2 && data[2] == 'L') {
      sink += 2;
      if (size > 5 && !memcmp(data + 3, "OEX", 3)) sink += 3;
    }
  }
}

static void loop(const uint8_t *data, size_t size) {
#pragma clang loop vectorize(disable) unroll(disable)
  for (size_t i = 1; i < size; i++) sink += data[i];
}

__attribute__((noinline)) static int recurse(const volatile int *above) {
  volatile int here[64] = {*above};
  return *above < 0 ? 0 : recurse(here) + here[1];
}

__attribute__((noinline)) static void write_to(volatile int *p) { *p = 1; }

static void set_up_once(void) {
  static int is_done;
  if (!is_done) sink += is_done = 1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  set_up_once();
  if (size == 0) return 0;
  switch (data[0]) {
    case 'n': nested(data, size); break;
    case 'l': loop(data, size); break;
    case 's': write_to((volatile int *)8); break;
    case 'a': abort();
    case 'e': exit(0);
    case 'k': raise(SIGKILL); break;
    case 'r': sink += recurse(&sink); break;
    case 'h': while (size) sink++; break;
    case 'z': sleep(1000); break;
    case 'w': usleep(1000); break;
    case 'o': take((size_t)1 << 40, 0); break;  // one huge request
    case 'b': for (;;) take(1 << 20, 1 << 20);  // many
    case 'm': take(1 << 20, 1); break;          // a leak, harmless alone
    case 'f':
      if (size > 1) sink++;
      if (size > 2 && data[2] == '!') abort();
      break;
    case '-': return -1;  // libFuzzer: forget this input
  }
  return 0;
}
