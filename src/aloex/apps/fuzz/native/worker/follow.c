// From compares to edits and tokens: if one side of a compare stands in the input, an edit puts the
// other side in its place. Constants and strings become tokens.
#include <string.h>

#include "../mutator/random.h"
#include "compares.h"
#include "worker.h"

enum { MAX_PLACES = 4 };  // of a value, that are edited

static struct random chance;  // which to keep, if there are too many
static struct aloex_edit edits[MAX_EDITS];
static struct token_bytes tokens[MAX_TOKENS];
static size_t num_edits, num_tokens;

enum { ITEM = sizeof(struct aloex_edit) };
_Static_assert(sizeof(struct token_bytes) == ITEM, "`keep` takes either");

// Add an edit or a token if it is not there. If there are too many, chance decides which are kept.
static void keep(void *list, size_t *count, size_t max, const void *item) {
  size_t num = (*count)++, at = num < max ? num : random_below(&chance, num + 1);
  if (at >= max) return;
  for (size_t i = 0; i < num && i < max; i++)
    if (!memcmp((char *)list + i * ITEM, item, ITEM)) {
      --*count;
      return;
    }
  memcpy((char *)list + at * ITEM, item, ITEM);
}

static void add_edit(size_t position, size_t old_size, const struct text *new, uint8_t order) {
  struct aloex_edit edit = {position, old_size, new->size, order, {0}};
  memcpy(edit.bytes, new->bytes, new->size);
  keep(edits, &num_edits, MAX_EDITS, &edit);
}

static void add_token(const struct text *text) {
  struct token_bytes token = {.size = text->size};
  memcpy(token.bytes, text->bytes, text->size);
  if (text->size >= 2) keep(tokens, &num_tokens, MAX_TOKENS, &token);
}

// Replace `old` by `new` at some places where it stands. Returns whether there are any.
static int replace(const struct text *old, const struct text *new, uint8_t order) {
  uint32_t positions[MAX_PLACES];
  int by_end = order == 'b';  // the low bytes: high ones are mostly zero
  size_t num_found = find(old, by_end, positions, MAX_PLACES);
  for (size_t i = 0; i < num_found; i++) add_edit(positions[i], old->size, new, order);
  return num_found > 0;
}

static struct text number_text(uint64_t value, unsigned width, uint8_t order) {
  struct text text = {.size = width};
  if (order == 'b') value <<= 64 - 8 * width;
  for (unsigned i = 0; i < 8; i++) text.bytes[i] = value >> 8 * (order == 'b' ? 7 - i : i);
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
  struct text old = decimal_text(from), new = decimal_text(to);
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
  if (from > 9 && from <= largest_decimal()) replace_decimal(from, to);
  if (!is_constant || to < 256) return;
  if (found[0] || !found[1]) add_number(to, narrowest, 'l');
  if (found[1] || !found[0]) add_number(to, narrowest, 'b');
}

static void append(struct record *record, uint8_t **end, const void *from, size_t size) {
  memcpy(*end, from, size);
  *end += size;
}

void follow_compares(struct record *record, const uint8_t *data, size_t size) {
  index_input(data, size);
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
  record->num_edits = num_edits < MAX_EDITS ? num_edits : MAX_EDITS;
  record->num_tokens = num_tokens < MAX_TOKENS ? num_tokens : MAX_TOKENS;
  uint8_t *end = (uint8_t *)((uint32_t *)(record + 1) + record->num_features);
  append(record, &end, edits, record->num_edits * sizeof *edits);
  append(record, &end, tokens, record->num_tokens * sizeof *tokens);
}
