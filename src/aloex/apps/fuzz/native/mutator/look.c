// To look at a block from outside.
#include "operators.h"

uint64_t aloex_num_inputs(const aloex *block) { return block->num_inputs; }
uint64_t aloex_num_predicted(const aloex *block) { return block->num_predicted; }
uint64_t aloex_usual_cost(const aloex *block) { return block->usual_cost; }

const uint8_t *aloex_seen(const aloex *block) { return SEEN(block); }

static double share(const double *cumulative, uint64_t i, uint64_t n) {
  if (!(cumulative[n - 1] > 0)) return 0;
  return (cumulative[i] - (i ? cumulative[i - 1] : 0)) / cumulative[n - 1];
}

static double share_of(const aloex *block, uint64_t i) {
  enum aloex_origin origin = origin_of(&INPUTS(block)[i]);
  return share(block->origins.cumulative, origin, ALOEX_NUM_ORIGINS) *
         share(CUMULATIVE(block, origin), i, block->num_inputs);
}

struct aloex_input aloex_input(const aloex *block, uint64_t i) {
  const struct input *input = &INPUTS(block)[i];
  return (struct aloex_input){.data = DATA(block) + input->data,
                              .size = input->size,
                              .chosen = input->chosen,
                              .cost = input->cost,
                              .share = share_of(block, i)};
}

static struct aloex_arm look(const struct arms *arms, unsigned i, unsigned n) {
  return (struct aloex_arm){arms->tried[i], arms->won[i], share(arms->cumulative, i, n)};
}

struct aloex_arm aloex_operator(const aloex *block, unsigned i) {
  return look(&block->operators, i, count_operators());
}

struct aloex_arm aloex_stack(const aloex *block, unsigned i) {
  return look(&block->stacks, i, count_stacks());
}

struct aloex_arm aloex_origin(const aloex *block, unsigned i) {
  return look(&block->origins, i, ALOEX_NUM_ORIGINS);
}
