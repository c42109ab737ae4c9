// Makes mutants.
#include <string.h>

#include "operators.h"

static const unsigned stacks[] = {1, 2, 3, 4, 6, 8, 16};
enum { NUM_STACKS = sizeof stacks / sizeof *stacks, MAX_TRIES = 4 };
enum {  // a mutant is costly that costs more than
  COSTLY = 32,       // times the usual cost of an input, and
  MAX_GROWTH = 4,    // times the cost of its parent
  SAMPLE = 16,       // one mutant in so many may cost anything
};

unsigned count_stacks(void) { return NUM_STACKS; }
unsigned aloex_stack_size(unsigned i) { return i < NUM_STACKS ? stacks[i] : 0; }
const char *aloex_operator_name(unsigned i) {
  return i < count_operators() ? operators[i].name : NULL;
}

// The first of n sums that exceeds a uniform share of the last.
static uint64_t draw(struct random *random, const double *cumulative, uint64_t n) {
  double at = random_unit(random) * cumulative[n - 1];
  uint64_t low = 0, high = n - 1;
  while (low < high) {
    uint64_t middle = (low + high) / 2;
    if (cumulative[middle] > at) high = middle;
    else low = middle + 1;
  }
  return low;
}

// Apply an operator that can be applied; a few are tried. Returns its bit.
static uint64_t apply_one(struct mutant *m) {
  for (int i = 0; i < MAX_TRIES; i++) {
    uint64_t which = draw(&m->random, m->block->operators.cumulative, count_operators());
    if (operators[which].apply(m, operators[which].argument)) return 1ull << which;
  }
  return 0;
}

// Where costly mutants would take most of the time they are cut short, but for the sample: there
// may be something behind them, and they tell what all would cost.
static void limit_cost(struct aloex_recipe *recipe, const struct mutant *m, uint64_t number) {
  uint64_t usual = COSTLY * m->block->usual_cost, own = MAX_GROWTH * m->parent->cost;
  recipe->costly = usual > own ? usual : own;
  recipe->max_cost = m->block->cuts_short && number % SAMPLE ? recipe->costly : UINT64_MAX;
}

size_t aloex_mutate(const aloex *block, uint64_t number, uint8_t *out, struct aloex_recipe *recipe) {
  struct mutant m = {.block = block,
                     .random = random_stream(block->options.seed, number),
                     .x = out,
                     .max_len = block->options.max_len,
                     .keep = block->options.keep};
  *recipe = (struct aloex_recipe){0};
  if (!(block->origins.cumulative[ALOEX_NUM_ORIGINS - 1] > 0)) return 0;  // nothing to start from
  recipe->origin = draw(&m.random, block->origins.cumulative, ALOEX_NUM_ORIGINS);
  recipe->parent = draw(&m.random, CUMULATIVE(block, recipe->origin), block->num_inputs);
  recipe->stack = draw(&m.random, block->stacks.cumulative, NUM_STACKS);
  m.parent = &INPUTS(block)[recipe->parent];
  limit_cost(recipe, &m, number);
  m.size = m.parent->size < m.max_len ? m.parent->size : m.max_len;
  memcpy(out, DATA(block) + m.parent->data, m.size);
  for (unsigned i = 0; i < stacks[recipe->stack]; i++) recipe->operators |= apply_one(&m);
  if (block->options.repair == 1) repair_png(out, m.size);
  return m.size;
}
