// What was compared while an input was traced.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum { MAX_NUMBERS = 4096, MAX_STRINGS = 512, MAX_TEXT = 25 };

struct text {
  uint8_t size, bytes[MAX_TEXT];
};
struct numbers {
  uint64_t a, b;
  uint32_t width;  // 0: there is none here
  uint32_t is_constant;  // a is
};
struct strings {
  struct text a, b;
};

extern struct numbers numbers[MAX_NUMBERS];  // a hash table
extern struct strings strings[MAX_STRINGS];
extern size_t num_strings;
extern uint64_t num_compares;

// find.c. Where bytes stand in the input.
void index_input(const uint8_t *data, size_t size);
uint64_t largest_decimal(void);  // that can stand in it
// Write up to `max` positions at which a text stands, and return how many. The last bytes of it are
// looked up if `by_end`, else the first: the rarer ones should be.
size_t find(const struct text *text, int by_end, uint32_t *positions, size_t max);
