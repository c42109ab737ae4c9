// What a target compares: clang's callbacks at compares of numbers and switches, and wrappers of
// the functions that compare strings (the tracer is linked with -Wl,--wrap of them).
#define _GNU_SOURCE
#include <string.h>
#include <strings.h>

#include "../mutator/random.h"
#include "compares.h"
#include "worker.h"

#define EXPORTED __attribute__((visibility("default")))

enum { NUM_SITES = 1 << 14, MAX_OF_SITE = 32 };  // where the target compares; pairs of values there

struct numbers numbers[MAX_NUMBERS];
struct strings strings[MAX_STRINGS];
size_t num_strings;
uint64_t num_compares;
static volatile int is_tracing;
static uint8_t num_of_site[NUM_SITES];

void begin_trace(void) {
  memset(numbers, 0, sizeof numbers);
  memset(num_of_site, 0, sizeof num_of_site);
  num_strings = num_compares = 0;
  is_tracing = 1;
}

void end_trace(struct record *record, const uint8_t *data, size_t size) {
  is_tracing = 0;
  record->cost = num_compares;
  follow_compares(record, data, size);
}

// ---- the callbacks

// A compare in a loop is noted a few times only: this is called very often.
static inline void note_numbers(uint64_t a, uint64_t b, uint32_t width, uint32_t is_constant,
                                void *site) {
  num_compares++;
  if (!is_tracing || a == b || (a < 256 && b < 256)) return;  // random bytes find these
  uintptr_t offset = (uintptr_t)site - (uintptr_t)test_and_trace;  // the same wherever it is loaded
  uint8_t *num = &num_of_site[(offset ^ offset >> 14) % NUM_SITES];
  if (*num == MAX_OF_SITE) return;
  ++*num;
  uint64_t slot = mix(a + mix(b + width));
  for (int i = 0; i < 4; i++, slot++) {
    struct numbers *n = &numbers[slot % MAX_NUMBERS];
    if (n->width && (n->a != a || n->b != b || n->width != width)) continue;
    *n = (struct numbers){a, b, width, is_constant | n->is_constant};
    return;
  }
}

#define NUMBERS(bytes, bits)                                                                    \
  EXPORTED void __sanitizer_cov_trace_cmp##bytes(uint##bits##_t a, uint##bits##_t b) {          \
    note_numbers(a, b, bytes, 0, __builtin_return_address(0));                                  \
  }                                                                                             \
  EXPORTED void __sanitizer_cov_trace_const_cmp##bytes(uint##bits##_t a, uint##bits##_t b) {    \
    note_numbers(a, b, bytes, 1, __builtin_return_address(0));                                  \
  }
NUMBERS(1, 8)
NUMBERS(2, 16)
NUMBERS(4, 32)
NUMBERS(8, 64)

EXPORTED void __sanitizer_cov_trace_switch(uint64_t value, uint64_t *cases) {
  if (!is_tracing) return;
  for (uint64_t i = 0; i < cases[0]; i++) note_numbers(cases[2 + i], value, cases[1] / 8, 1, cases + i);
}

static struct text text_of(const void *from, size_t size) {
  struct text text = {.size = size < MAX_TEXT ? size : MAX_TEXT};
  memcpy(text.bytes, from, text.size);
  return text;
}

static void note_strings(const void *a, size_t size_a, const void *b, size_t size_b) {
  if (!is_tracing || num_strings == MAX_STRINGS || size_a + size_b < 2) return;
  strings[num_strings].a = text_of(a, size_a);
  strings[num_strings++].b = text_of(b, size_b);
}

// ---- the wrappers; a string compare reads no further than the strings' ends

static size_t length_of(const char *s, size_t max) { return strnlen(s, max); }

#define WRAP(type, name, ...) EXPORTED type __wrap_##name(__VA_ARGS__)
WRAP(int, memcmp, const void *a, const void *b, size_t n) {
  int result = memcmp(a, b, n);
  if (result) note_strings(a, n, b, n);
  return result;
}
WRAP(int, bcmp, const void *a, const void *b, size_t n) { return __wrap_memcmp(a, b, n); }
WRAP(int, strncmp, const char *a, const char *b, size_t n) {
  int result = strncmp(a, b, n);
  if (result) note_strings(a, length_of(a, n), b, length_of(b, n));
  return result;
}
WRAP(int, strcmp, const char *a, const char *b) {
  int result = strcmp(a, b);
  if (result) note_strings(a, length_of(a, MAX_TEXT), b, length_of(b, MAX_TEXT));
  return result;
}
WRAP(int, strncasecmp, const char *a, const char *b, size_t n) {
  int result = strncasecmp(a, b, n);
  if (result) note_strings(a, length_of(a, n), b, length_of(b, n));
  return result;
}
WRAP(int, strcasecmp, const char *a, const char *b) {
  int result = strcasecmp(a, b);
  if (result) note_strings(a, length_of(a, MAX_TEXT), b, length_of(b, MAX_TEXT));
  return result;
}
WRAP(char *, strstr, const char *text, const char *word) {
  char *result = strstr(text, word);
  if (!result) note_strings("", 0, word, length_of(word, MAX_TEXT));
  return result;
}
WRAP(void *, memmem, const void *text, size_t n, const void *word, size_t size) {
  void *result = memmem(text, n, word, size);
  if (!result) note_strings("", 0, word, size);
  return result;
}
