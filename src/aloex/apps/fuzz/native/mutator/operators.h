// The operators: each changes a mutant in one way.
#pragma once
#include "random.h"
#include "state.h"

struct mutant {
  const aloex *block;
  const struct input *parent;
  struct random random;
  uint8_t *x;            // its bytes
  size_t size, max_len;  // now, at most
  size_t keep;           // bytes at the beginning that stay
};

struct operator {
  const char *name;
  int (*apply)(struct mutant *, unsigned argument);  // returns 0 if it cannot be applied
  unsigned argument;
  int needs;  // what there must be: see `usable_operators`
};

extern const struct operator operators[];

unsigned count_operators(void);
unsigned count_stacks(void);
uint64_t usable_operators(const aloex *);  // a bit for each

const struct input *other_input(struct mutant *);
size_t a_length(struct mutant *, size_t max);  // from 1 to max, more often short

// numbers.c
int change_number(struct mutant *, unsigned);
int change_digits(struct mutant *, unsigned);
// repair.c
void repair_png(uint8_t *x, size_t size);
