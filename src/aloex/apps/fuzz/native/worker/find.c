// Where bytes stand in an input: lists of the positions at which two, and four, bytes begin. The
// fours are many, so these lists are short, and nearly all that is looked up is seen not to be there.
#include <string.h>

#include "compares.h"

enum { MAX_INPUT = 0xffff, NUM_LISTS = 1 << 16, MAX_LOOKS = 256 };

static const uint8_t *input;
static size_t input_size;
static uint64_t largest;
struct lists {
  uint16_t first[NUM_LISTS], next[MAX_INPUT];  // positions + 1
};
static struct lists twos, fours;

static uint16_t two(const uint8_t *x) {
  uint16_t value;
  memcpy(&value, x, sizeof value);
  return value;
}

static uint16_t hash_of_four(const uint8_t *x) {
  uint32_t value;
  memcpy(&value, x, sizeof value);
  return value * 0x9e3779b9u >> 16;
}

static void put(struct lists *lists, uint16_t list, size_t position) {
  lists->next[position] = lists->first[list];
  lists->first[list] = position + 1;
}

static int is_digit(uint8_t byte) { return byte >= '0' && byte <= '9'; }

void index_input(const uint8_t *data, size_t size) {
  input = data;
  input_size = size < MAX_INPUT ? size : MAX_INPUT;
  size_t digits = 0, most = 0;
  memset(twos.first, 0, sizeof twos.first);
  memset(fours.first, 0, sizeof fours.first);
  for (size_t i = input_size; i-- > 0;) {
    digits = is_digit(data[i]) ? digits + 1 : 0;
    if (digits > most) most = digits;
    if (i + 2 <= input_size) put(&twos, two(data + i), i);
    if (i + 4 <= input_size) put(&fours, hash_of_four(data + i), i);
  }
  for (largest = 0; most > 0 && largest < UINT64_MAX / 10; most--) largest = 10 * largest + 9;
}

uint64_t largest_decimal(void) { return largest; }

size_t find(const struct text *text, int by_end, uint32_t *positions, size_t max) {
  size_t num_found = 0, width = text->size < 4 ? 2 : 4;
  if (text->size < 2) return 0;
  size_t key = by_end ? text->size - width : 0;
  const struct lists *lists = width == 2 ? &twos : &fours;
  uint16_t list = width == 2 ? two(text->bytes + key) : hash_of_four(text->bytes + key);
  uint32_t at = lists->first[list];
  for (int i = 0; at && i < MAX_LOOKS && num_found < max; at = lists->next[at - 1], i++) {
    if (at - 1 < key) continue;
    size_t begin = at - 1 - key;
    if (begin + text->size <= input_size && !memcmp(input + begin, text->bytes, text->size))
      positions[num_found++] = begin;
  }
  return num_found;
}
