// What a target compares: clang's callbacks at compares of numbers and switches, and wrappers of
// the functions that compare strings (the tracer is linked with -Wl,--wrap of them).
//
// If one side of a compare stands in the input, an edit puts the other side in its place. Constants
// and strings become tokens.
#define _GNU_SOURCE
#include <string.h>
#include <strings.h>

#include "../mutator/random.h"
#include "worker.h"

#define EXPORTED __attribute__((visibility("default")))

enum { MAX_NUMBERS = 4096, MAX_STRINGS = 512, MAX_TEXT = 25, MAX_INPUT = 1 << 16 };
enum { MAX_PLACES = 4, MAX_LOOKS = 256 };  // where a value stands, and looks for it
enum { NUM_SITES = 1 << 14, MAX_OF_SITE = 32 };  // where the target compares; pairs of values there

struct numbers {
  uint64_t a, b;
  uint32_t width;
  uint32_t is_constant;  // a is
};
struct text {
  uint8_t size, bytes[MAX_TEXT];
};

static volatile int is_tracing;
static uint64_t num_compares;
static struct numbers numbers[MAX_NUMBERS];  // a hash table
static uint8_t num_of_site[NUM_SITES];
static struct { struct text a, b; } strings[MAX_STRINGS];
static size_t num_strings;

void begin_trace(void) {
  memset(numbers, 0, sizeof numbers);
  memset(num_of_site, 0, sizeof num_of_site);
  num_strings = num_compares = 0;
  is_tracing = 1;
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

// ---- from compares to edits and tokens

static const uint8_t *input;
static size_t input_size;
static uint32_t first_of[1 << 16], next_of[MAX_INPUT];  // positions + 1, by two bytes that are there
static struct random chance;  // which to keep, if there are too many
static struct aloex_edit edits[MAX_EDITS];
static struct token_bytes tokens[MAX_TOKENS];
static size_t num_edits, num_tokens;

// Where to put the next of a kind; beyond the end if there is no room for it.
static size_t place(size_t *count, size_t max) {
  size_t i = (*count)++;
  return i < max ? i : random_below(&chance, i + 1);
}

static void add_edit(size_t position, size_t old_size, const struct text *new, uint8_t order) {
  struct aloex_edit edit = {position, old_size, new->size, order, {0}};
  memcpy(edit.bytes, new->bytes, new->size);
  for (size_t i = 0; i < num_edits && i < MAX_EDITS; i++)
    if (!memcmp(&edits[i], &edit, sizeof edit)) return;
  size_t i = place(&num_edits, MAX_EDITS);
  if (i < MAX_EDITS) edits[i] = edit;
}

static void add_token(const struct text *text) {
  struct token_bytes token = {.size = text->size};
  memcpy(token.bytes, text->bytes, text->size);
  if (text->size < 2) return;
  for (size_t i = 0; i < num_tokens && i < MAX_TOKENS; i++)
    if (!memcmp(&tokens[i], &token, sizeof token)) return;
  size_t i = place(&num_tokens, MAX_TOKENS);
  if (i < MAX_TOKENS) tokens[i] = token;
}

static unsigned two_bytes(const uint8_t *x) { return x[0] << 8 | x[1]; }

static void index_input(void) {
  memset(first_of, 0, sizeof first_of);
  for (size_t i = input_size < 2 ? 0 : input_size - 1; i-- > 0;) {
    uint32_t *first = &first_of[two_bytes(input + i)];
    next_of[i] = *first;
    *first = i + 1;
  }
}

// Replace `old` by `new` at some places where it stands. Returns whether there are any.
static int replace(const struct text *old, const struct text *new, uint8_t order) {
  if (old->size < 2) return 0;
  size_t key = order == 'b' ? old->size - 2 : 0;  // the low bytes: high ones are mostly zero
  int found = 0;
  uint32_t at = first_of[two_bytes(old->bytes + key)];
  for (int i = 0; at && i < MAX_LOOKS && found < MAX_PLACES; at = next_of[at - 1], i++) {
    if (at - 1 < key) continue;
    size_t begin = at - 1 - key;
    if (begin + old->size > input_size || memcmp(input + begin, old->bytes, old->size)) continue;
    add_edit(begin, old->size, new, order);
    found++;
  }
  return found > 0;
}

static struct text number_text(uint64_t value, unsigned width, uint8_t order) {
  struct text text = {.size = width};
  for (unsigned i = 0; i < width; i++, value >>= 8)
    text.bytes[order == 'b' ? width - 1 - i : i] = value;
  return text;
}

static struct text decimal_text(uint64_t value) {
  struct text text = {0};
  uint8_t digits[20];
  size_t first = sizeof digits;
  do digits[--first] = '0' + value % 10;
  while (value /= 10);
  text.size = sizeof digits - first;
  memcpy(text.bytes, digits + first, text.size);
  return text;
}

static int fits(uint64_t value, unsigned width) { return width == 8 || value >> 8 * width == 0; }

static int replace_number(uint64_t from, uint64_t to, unsigned width, uint8_t order) {
  struct text old = number_text(from, width, order), new = number_text(to, width, order);
  return replace(&old, &new, order);
}

static void replace_decimal(uint64_t from, uint64_t to) {
  struct text old = decimal_text(from), new;
  if (!first_of[two_bytes(old.bytes)]) return;
  new = decimal_text(to);
  replace(&old, &new, 0);
}

static void add_number(uint64_t value, unsigned width, uint8_t order) {
  struct text text = number_text(value, width, order);
  add_token(&text);
}

// Put number `to` where number `from` stands, in the widest form that is found.
static void follow_number(uint64_t from, uint64_t to, unsigned width, int is_constant) {
  int found[2] = {0, 0};
  unsigned narrowest = 2;
  while (!fits(to, narrowest)) narrowest *= 2;
  for (unsigned w = width; w >= narrowest && !found[0] && !found[1]; w /= 2)
    for (int big = 0; big < 2 && fits(from, w); big++)
      found[big] = replace_number(from, to, w, "lb"[big]);
  if (from > 9) replace_decimal(from, to);
  if (!is_constant || to < 256) return;
  if (found[0] || !found[1]) add_number(to, narrowest, 'l');
  if (found[1] || !found[0]) add_number(to, narrowest, 'b');
}

static void append(struct record *record, uint8_t **end, const void *from, size_t size) {
  memcpy(*end, from, size);
  *end += size;
}

void end_trace(struct record *record, const uint8_t *data, size_t size) {
  is_tracing = 0;
  input = data;
  input_size = size < MAX_INPUT ? size : MAX_INPUT;
  index_input();
  num_edits = num_tokens = 0;
  chance = random_stream(size, record->number);
  for (size_t i = 0; i < MAX_NUMBERS; i++) {
    struct numbers n = numbers[i];
    if (!n.width) continue;
    follow_number(n.b, n.a, n.width, n.is_constant);
    if (!n.is_constant) follow_number(n.a, n.b, n.width, 0);
  }
  for (size_t i = 0; i < num_strings; i++) {
    const struct text *a = &strings[i].a, *b = &strings[i].b;
    if (!replace(a, b, 0)) add_token(a);
    if (!replace(b, a, 0)) add_token(b);
  }
  record->cost = num_compares;
  record->num_edits = num_edits < MAX_EDITS ? num_edits : MAX_EDITS;
  record->num_tokens = num_tokens < MAX_TOKENS ? num_tokens : MAX_TOKENS;
  uint8_t *end = (uint8_t *)((uint32_t *)(record + 1) + record->num_features);
  append(record, &end, edits, record->num_edits * sizeof *edits);
  append(record, &end, tokens, record->num_tokens * sizeof *tokens);
}
