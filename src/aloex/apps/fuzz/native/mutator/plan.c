// What paid, and the probabilities of the choices that follow from it.
#include "operators.h"
#include "state.h"

static const double EXPLORE = 0.15;      // share of choices that are uniform: what pays changes
static const double PRIOR_TRIED = 200;   // mutants, as if each arm had been tried so often ...
static const double PRIOR_WON = 0.2;     // ... and had won so often
static const double MAX_COSTLY = 0.5;    // share of the cost that costly mutants may have
static const double MIN_COST = 0.1;      // of the usual: what takes no time is not chosen always

static void count(struct arms *arms, unsigned n, double kept, const uint64_t *tried,
                  const uint64_t *won) {
  for (unsigned i = 0; i < n; i++) {
    arms->tried[i] = kept * arms->tried[i] + tried[i];
    arms->won[i] = kept * arms->won[i] + won[i];
  }
}

void aloex_learn(aloex *block, const struct aloex_counts *counts, const uint32_t *hits,
                 const uint32_t *chosen) {
  // Weights of the past fall as its share of all mutants does: what was learned at t counts t / now.
  uint64_t now = block->num_mutants += counts->num_mutants;
  int forgets = block->options.guides & ALOEX_FORGET && now;
  double kept = forgets ? (double)(now - counts->num_mutants) / now : 1;
  count(&block->operators, ALOEX_MAX_OPERATORS, kept, counts->tried, counts->won);
  count(&block->stacks, ALOEX_MAX_STACKS, kept, counts->stack_tried, counts->stack_won);
  count(&block->origins, ALOEX_NUM_ORIGINS, kept, counts->origin_tried, counts->origin_won);
  if (counts->num_unlimited) {  // they stand for all
    double all = (double)counts->num_mutants / counts->num_unlimited;
    block->cost = kept * block->cost + all * counts->cost;
    block->costly = kept * block->costly + all * counts->costly;
  }
  for (uint64_t i = 0; hits && i < 8 * (uint64_t)block->options.num_edges; i++)
    HITS(block)[i] += hits[i];
  for (uint64_t i = 0; chosen && i < block->num_inputs; i++) INPUTS(block)[i].chosen += chosen[i];
}

// An arm's probability grows with the square of its rate: most mutants use what pays most.
static void plan_arms(struct arms *arms, unsigned n, uint64_t usable) {
  double weight[ALOEX_MAX_OPERATORS], sum = 0, num_usable = 0, before = 0;
  for (unsigned i = 0; i < n; i++) {
    double rate = (PRIOR_WON + arms->won[i]) / (PRIOR_TRIED + arms->tried[i]);
    weight[i] = usable >> i & 1 ? rate * rate : 0;
    sum += weight[i];
    num_usable += usable >> i & 1;
  }
  for (unsigned i = 0; i < n; i++)
    if (usable >> i & 1)
      before += (1 - EXPLORE) * weight[i] / sum + EXPLORE / num_usable, arms->cumulative[i] = before;
    else
      arms->cumulative[i] = before;
}

// The median of the costs, but for a factor below 2: its power of two.
static uint64_t find_usual_cost(const aloex *block) {
  uint64_t num_with[64] = {0}, num_known = 0, sum = 0;
  for (uint64_t i = 0; i < block->num_inputs; i++) {
    uint64_t cost = INPUTS(block)[i].cost;
    if (cost) num_known++, num_with[63 - __builtin_clzll(cost)]++;
  }
  for (int k = 0; k < 64; k++)
    if ((sum += num_with[k]) * 2 > num_known) return 1ull << k;
  return 1;
}

// The cost of running an input, about 1 for most.
static double relative_cost(const aloex *block, const struct input *input) {
  return MIN_COST + (input->cost ? (double)input->cost / block->usual_cost : 1);
}

// Whether a mutant of it has a byte behind those that stay as they are.
static int can_change(const aloex *block, const struct input *input) {
  return input->size > block->options.keep && block->options.max_len > block->options.keep;
}

// An input is worth more the rarer its features are, and the less it was started from, and the
// less it costs.
static double weight_of(const aloex *block, const struct input *input) {
  if (!can_change(block, input)) return 0;
  const uint32_t *features = ARRAY(block, features, uint32_t) + input->features;
  double sum = 0;
  for (uint32_t i = 0; i < input->num_features; i++)
    sum += 1 / (1.0 + HITS(block)[features[i]] + input->chosen);
  return sum * sum / relative_cost(block, input);
}

// Where nothing is covered all inputs are worth as much.
static double equal_weight(const aloex *block, const struct input *input) {
  return can_change(block, input);
}

static void sum_up(aloex *block, double (*weight)(const aloex *, const struct input *), double *sum) {
  for (uint64_t i = 0; i < block->num_inputs; i++) {
    const struct input *input = &INPUTS(block)[i];
    sum[origin_of(input)] += weight(block, input);
    for (int o = 0; o < ALOEX_NUM_ORIGINS; o++) CUMULATIVE(block, o)[i] = sum[o];
  }
}

// Returns a bit for each origin that has an input to start from.
static uint64_t plan_inputs(aloex *block) {
  double sum[ALOEX_NUM_ORIGINS] = {0};
  block->usual_cost = find_usual_cost(block);
  block->cuts_short = block->costly > MAX_COSTLY * block->cost;
  sum_up(block, weight_of, sum);
  if (!(sum[ALOEX_EDGES] + sum[ALOEX_HITS] > 0)) sum_up(block, equal_weight, sum);
  int has_edges = sum[ALOEX_EDGES] > 0;
  int has_hits = sum[ALOEX_HITS] > 0 && (block->options.guides & ALOEX_FEATURES || !has_edges);
  return has_edges | (uint64_t)has_hits << ALOEX_HITS;
}

void aloex_plan(aloex *block) {
  unsigned num_stacks = block->options.guides & ALOEX_STACK ? count_stacks() : 1;
  plan_arms(&block->operators, count_operators(), usable_operators(block));
  plan_arms(&block->stacks, count_stacks(), (1u << num_stacks) - 1);
  plan_arms(&block->origins, ALOEX_NUM_ORIGINS, plan_inputs(block));
}
