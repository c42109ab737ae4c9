// Numbers of a format, such as sizes and counts, changed as numbers: in binary, or as digits.
#include <string.h>

#include "operators.h"

enum { MAX_SHIFT = 35, NEARBY = 256, MAX_DIGITS = 18 };

static uint64_t read_number(const uint8_t *x, unsigned width, int is_big) {
  uint64_t value = 0;
  for (unsigned i = 0; i < width; i++) value = value << 8 | x[is_big ? i : width - 1 - i];
  return value;
}

static void write_number(uint8_t *x, unsigned width, int is_big, uint64_t value) {
  for (unsigned i = 0; i < width; i++, value >>= 8) x[is_big ? width - 1 - i : i] = value;
}

static uint64_t boundary(struct mutant *m, unsigned width) {
  static const uint8_t small[] = {0, 1, 16, 32, 64, 100, 127, 255};
  uint64_t top = width == 8 ? UINT64_MAX : (1ull << 8 * width) - 1;
  switch (random_below(&m->random, 5)) {
    case 0: return top;
    case 1: return top / 2 + (random_bits(&m->random) >> 63);
    case 2: return m->size - random_below(&m->random, 5);  // lengths that the file may hold
    default: return small[random_below(&m->random, sizeof small)];
  }
}

static uint64_t another(struct mutant *m, uint64_t value, unsigned width) {
  switch (random_below(&m->random, 4)) {
    case 0: return value + random_below(&m->random, 2 * MAX_SHIFT + 1) - MAX_SHIFT;
    case 1:
      if (random_below(&m->random, 10) < 3) return value >> (1 + random_below(&m->random, 3));
      return value << (1 + random_below(&m->random, 6));
    case 2: return value ^ 1ull << random_below(&m->random, 8 * width);
    default: return boundary(m, width);
  }
}

// With `is_everywhere`, equal numbers nearby change alike: a file may say the same thing twice.
int change_number(struct mutant *m, unsigned is_everywhere) {
  unsigned width = 1u << random_below(&m->random, 4);
  if (m->size < m->keep + width) return 0;
  int is_big = random_below(&m->random, 10) < 6;
  size_t at = m->keep + random_below(&m->random, m->size - m->keep - width + 1);
  uint8_t old[8], new[8];
  memcpy(old, m->x + at, width);
  write_number(new, width, is_big, another(m, read_number(old, width, is_big), width));
  if (!memcmp(old, new, width)) return 0;
  memcpy(m->x + at, new, width);
  if (!is_everywhere) return 1;
  size_t begin = at > m->keep + NEARBY ? at - NEARBY : m->keep, end = m->size - width + 1;
  for (size_t i = begin; i < end && i < at + NEARBY; i++)
    if (!memcmp(m->x + i, old, width)) memcpy(m->x + i, new, width), i += width - 1;
  return 1;
}

static int is_digit(uint8_t byte) { return byte >= '0' && byte <= '9'; }

// Change a number written in decimal digits; the mutant may grow or shrink by some digits.
int change_digits(struct mutant *m, unsigned unused) {
  size_t begin = m->keep + random_below(&m->random, m->size - m->keep), end;
  while (begin < m->size && !is_digit(m->x[begin])) begin++;
  if (begin == m->size) return 0;
  while (begin > m->keep && is_digit(m->x[begin - 1])) begin--;
  uint64_t value = 0;
  for (end = begin; end < m->size && is_digit(m->x[end]) && end - begin < MAX_DIGITS; end++)
    value = 10 * value + (m->x[end] - '0');
  uint8_t text[20];
  size_t length = 0, old = end - begin;
  for (value = another(m, value, 4); length == 0 || value; value /= 10) text[length++] = '0' + value % 10;
  if (m->size - old + length > m->max_len) return 0;
  memmove(m->x + begin + length, m->x + end, m->size - end);
  for (size_t i = 0; i < length; i++) m->x[begin + i] = text[length - 1 - i];
  m->size += length - old;
  return 1;
}
