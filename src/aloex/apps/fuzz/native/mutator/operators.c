// Operators on bytes, on stretches of bytes, with other inputs, with tokens, with compares.
#include "operators.h"

#include <string.h>

enum { MAX_STRETCH = 128, MAX_SHUFFLE = 16, MIN_CONTEXT = 2 };

static unsigned two_bytes(const uint8_t *x) { return x[0] << 8 | x[1]; }

static size_t below(struct mutant *m, size_t n) { return random_below(&m->random, n); }
static int coin(struct mutant *m) { return random_bits(&m->random) >> 63; }
static size_t room(const struct mutant *m) { return m->max_len - m->size; }
static size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

// A position of a byte that may change; there must be one.
static size_t anywhere(struct mutant *m) { return m->keep + below(m, m->size - m->keep); }
// A position to insert at, also behind the last byte.
static size_t between(struct mutant *m) { return m->keep + below(m, m->size - m->keep + 1); }

size_t a_length(struct mutant *m, size_t max) {
  size_t limit = smaller(max, MAX_STRETCH);
  return 1 + below(m, 1 + below(m, limit));
}

const struct input *other_input(struct mutant *m) {
  return &INPUTS(m->block)[below(m, m->block->num_inputs)];
}

// Make room for `length` bytes at `at`. They are not set.
static void open_gap(struct mutant *m, size_t at, size_t length) {
  memmove(m->x + at + length, m->x + at, m->size - at);
  m->size += length;
}

static int insert(struct mutant *m, const uint8_t *bytes, size_t length) {
  if (length == 0 || length > room(m)) return 0;
  size_t at = between(m);
  open_gap(m, at, length);
  memcpy(m->x + at, bytes, length);
  return 1;
}

static int overwrite(struct mutant *m, const uint8_t *bytes, size_t length) {
  if (length == 0 || m->size < m->keep + length) return 0;
  memcpy(m->x + m->keep + below(m, m->size - m->keep - length + 1), bytes, length);
  return 1;
}

// ---- bytes

static int flip_bit(struct mutant *m, unsigned unused) {
  m->x[anywhere(m)] ^= 1 << below(m, 8);
  return 1;
}

static int random_bytes(struct mutant *m, unsigned count) {
  for (unsigned i = 0; i < count; i++) m->x[anywhere(m)] ^= 1 + below(m, 255);
  return 1;
}

// Bytes that stand at the same positions in another input.
static int bytes_of_other(struct mutant *m, unsigned count) {
  const struct input *other = other_input(m);
  size_t limit = smaller(m->size, other->size);
  int changed = 0;
  for (unsigned i = 0; i < count && limit > m->keep; i++) {
    size_t at = m->keep + below(m, limit - m->keep);
    uint8_t byte = DATA(m->block)[other->data + at];
    changed |= m->x[at] != byte;
    m->x[at] = byte;
  }
  return changed;
}

// Bytes that a model expects, at positions of the parent.
static int likely_bytes(struct mutant *m, unsigned count) {
  if (!m->parent->has_likely) return 0;
  const struct aloex_likely *likely = ARRAY(m->block, likely, struct aloex_likely);
  size_t limit = smaller(m->size, m->parent->size);
  int changed = 0;
  for (unsigned i = 0; i < count && limit > m->keep; i++) {
    size_t at = m->keep + below(m, limit - m->keep), k = 0;
    const struct aloex_likely *here = &likely[m->parent->likely + at];
    uint8_t chance = below(m, 256);
    while (k < ALOEX_NUM_LIKELY && chance >= here->upto[k]) k++;
    uint8_t byte = k < ALOEX_NUM_LIKELY ? here->bytes[k] : below(m, 256);
    changed |= m->x[at] != byte;
    m->x[at] = byte;
  }
  return changed;
}

// ---- stretches

static int delete_stretch(struct mutant *m, unsigned unused) {
  if (m->size < m->keep + 2) return 0;
  size_t length = a_length(m, m->size - m->keep - 1);
  size_t at = m->keep + below(m, m->size - m->keep - length + 1);
  memmove(m->x + at, m->x + at + length, m->size - at - length);
  m->size -= length;
  return 1;
}

static int insert_random(struct mutant *m, unsigned unused) {
  if (!room(m)) return 0;
  size_t length = a_length(m, smaller(room(m), 16)), at = between(m);
  open_gap(m, at, length);
  for (size_t i = 0; i < length; i++) m->x[at + i] = below(m, 256);
  return 1;
}

static int insert_repeated(struct mutant *m, unsigned unused) {
  if (!room(m)) return 0;
  size_t length = a_length(m, room(m)), at = between(m);
  uint8_t byte = coin(m) ? 255 * coin(m) : below(m, 256);
  open_gap(m, at, length);
  memset(m->x + at, byte, length);
  return 1;
}

static int duplicate(struct mutant *m, unsigned unused) {
  uint8_t stretch[MAX_STRETCH];
  size_t length = a_length(m, m->size - m->keep);
  memcpy(stretch, m->x + m->keep + below(m, m->size - m->keep - length + 1), length);
  return insert(m, stretch, length);
}

static int copy_over(struct mutant *m, unsigned unused) {
  uint8_t stretch[MAX_STRETCH];
  size_t length = a_length(m, m->size - m->keep);
  memcpy(stretch, m->x + m->keep + below(m, m->size - m->keep - length + 1), length);
  return overwrite(m, stretch, length);
}

static int shuffle(struct mutant *m, unsigned unused) {
  if (m->size < m->keep + 2) return 0;
  size_t length = 2 + below(m, smaller(m->size - m->keep, MAX_SHUFFLE) - 1);
  uint8_t *x = m->x + m->keep + below(m, m->size - m->keep - length + 1);
  for (size_t i = length - 1; i > 0; i--) {
    size_t j = below(m, i + 1);
    uint8_t byte = x[i];
    x[i] = x[j], x[j] = byte;
  }
  return 1;
}

// ---- other inputs

static const uint8_t *stretch_of_other(struct mutant *m, size_t *length) {
  const struct input *other = other_input(m);
  if (other->size <= m->keep) return *length = 0, NULL;
  *length = a_length(m, other->size - m->keep);
  size_t at = m->keep + below(m, other->size - m->keep - *length + 1);
  return DATA(m->block) + other->data + at;
}

static int splice_insert(struct mutant *m, unsigned unused) {
  size_t length;
  const uint8_t *stretch = stretch_of_other(m, &length);
  return insert(m, stretch, length);
}

static int splice_over(struct mutant *m, unsigned unused) {
  size_t length;
  const uint8_t *stretch = stretch_of_other(m, &length);
  return overwrite(m, stretch, length);
}

// The beginning of the mutant, then the end of another input: from where both have the same bytes
// if `is_aligned`, else from anywhere.
static int cross_over(struct mutant *m, unsigned is_aligned) {
  const struct input *other = other_input(m);
  const uint8_t *y = DATA(m->block) + other->data;
  if (other->size < m->keep + MIN_CONTEXT || m->size < m->keep + MIN_CONTEXT) return 0;
  size_t from = m->keep + below(m, other->size - m->keep), at = between(m);
  if (is_aligned) {
    size_t limit = m->size - MIN_CONTEXT + 1;
    from = m->keep + below(m, other->size - m->keep - MIN_CONTEXT + 1);
    for (at = anywhere(m); at < limit && two_bytes(m->x + at) != two_bytes(y + from); at++) {}
    if (at >= limit) return 0;
  }
  size_t length = smaller(other->size - from, m->max_len - at);
  if (at + length == m->size && !memcmp(m->x + at, y + from, length)) return 0;  // it ends so now
  memcpy(m->x + at, y + from, length);
  m->size = at + length;
  return 1;
}

// ---- tokens

static const struct token *a_token(struct mutant *m, enum aloex_token_kind kind) {
  uint64_t n = count_tokens(m->block, kind);
  return n ? &TOKENS(m->block, kind)[below(m, n)] : NULL;
}

static int insert_token(struct mutant *m, unsigned kind) {
  const struct token *token = a_token(m, kind);
  return token && insert(m, token->bytes, token->size);
}

static int write_token(struct mutant *m, unsigned kind) {
  const struct token *token = a_token(m, kind);
  return token && overwrite(m, token->bytes, token->size);
}

// ---- compares

static int follow_compare(struct mutant *m, unsigned unused) {
  const struct input *parent = m->parent;
  if (!parent->num_edits) return 0;
  const struct aloex_edit *edit =
      &ARRAY(m->block, edits, struct aloex_edit)[parent->edits + below(m, parent->num_edits)];
  size_t at = edit->position, old = edit->old_size;
  const uint8_t *was = DATA(m->block) + parent->data + at;
  if (at < m->keep || at + old > m->size || memcmp(m->x + at, was, old)) return 0;  // moved
  size_t size = m->size - old + edit->size;
  if (size > m->max_len || size <= m->keep) return 0;
  memmove(m->x + at + edit->size, m->x + at + old, m->size - at - old);
  memcpy(m->x + at, edit->bytes, edit->size);
  m->size = size;
  if (edit->order && below(m, 4) == 0)  // the other side of a bound: one more or less
    m->x[at + (edit->order == 'b' ? edit->size - 1 : 0)] += coin(m) ? 1 : -1;
  return 1;
}

// ---- all of them

enum { NOTHING, OTHERS, LIKELY, COMPARES, DICTIONARY, STRINGS, COMPARED };  // what they need

const struct operator operators[] = {
    {"flip bit", flip_bit},
    {"1 random byte", random_bytes, 1},
    {"3 random bytes", random_bytes, 3},
    {"10 random bytes", random_bytes, 10},
    {"50 random bytes", random_bytes, 50},
    {"1 byte of another", bytes_of_other, 1, OTHERS},
    {"3 bytes of another", bytes_of_other, 3, OTHERS},
    {"10 bytes of another", bytes_of_other, 10, OTHERS},
    {"50 bytes of another", bytes_of_other, 50, OTHERS},
    {"1 likely byte", likely_bytes, 1, LIKELY},
    {"3 likely bytes", likely_bytes, 3, LIKELY},
    {"10 likely bytes", likely_bytes, 10, LIKELY},
    {"50 likely bytes", likely_bytes, 50, LIKELY},
    {"number", change_number, 0},
    {"equal numbers", change_number, 1},
    {"digits", change_digits},
    {"delete", delete_stretch},
    {"insert random", insert_random},
    {"insert repeated", insert_repeated},
    {"duplicate", duplicate},
    {"copy over", copy_over},
    {"shuffle", shuffle},
    {"splice insert", splice_insert, 0, OTHERS},
    {"splice over", splice_over, 0, OTHERS},
    {"crossover", cross_over, 0, OTHERS},
    {"aligned crossover", cross_over, 1, OTHERS},
    {"insert from dictionary", insert_token, ALOEX_DICTIONARY, DICTIONARY},
    {"write from dictionary", write_token, ALOEX_DICTIONARY, DICTIONARY},
    {"insert string", insert_token, ALOEX_STRINGS, STRINGS},
    {"write string", write_token, ALOEX_STRINGS, STRINGS},
    {"insert compared", insert_token, ALOEX_COMPARED, COMPARED},
    {"write compared", write_token, ALOEX_COMPARED, COMPARED},
    {"follow compare", follow_compare, 0, COMPARES},
};

unsigned count_operators(void) { return sizeof operators / sizeof *operators; }

static int is_there(const aloex *block, int what) {
  int has_tokens = block->options.guides & ALOEX_TOKENS;
  switch (what) {
    case OTHERS: return block->num_inputs > 1;
    case LIKELY: return block->num_likely > 0;
    case COMPARES: return block->options.guides & ALOEX_COMPARES && block->num_edits > 0;
    case DICTIONARY: return has_tokens && block->num_tokens[ALOEX_DICTIONARY] > 0;
    case STRINGS: return has_tokens && block->num_tokens[ALOEX_STRINGS] > 0;
    case COMPARED: return has_tokens && block->num_tokens[ALOEX_COMPARED] > 0;
    default: return 1;
  }
}

uint64_t usable_operators(const aloex *block) {
  uint64_t usable = 0;
  for (unsigned i = 0; i < count_operators(); i++)
    usable |= (uint64_t)is_there(block, operators[i].needs) << i;
  return usable;
}
