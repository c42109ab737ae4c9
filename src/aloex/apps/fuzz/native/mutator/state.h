// The block. Arrays follow the header; their offsets are in it.
#pragma once
#include "mutator.h"

struct input {
  uint64_t data, features, edits, likely;  // where they begin in the arrays of these names
  uint32_t size, num_features, num_edits;
  uint32_t has_likely;  // a model has seen it
  uint32_t new_edges;   // that it brought
  uint64_t chosen;      // mutants that started here
  uint64_t cost;        // of running it; 0: not known
};

struct token {
  uint8_t size, bytes[ALOEX_TOKEN_SIZE];
};

struct arms {  // a choice: what was tried, what won, and the sums of the arms' probabilities
  double tried[ALOEX_MAX_OPERATORS], won[ALOEX_MAX_OPERATORS];
  double cumulative[ALOEX_MAX_OPERATORS];
};

struct aloex {
  struct aloex_options options;
  uint64_t inputs, data, features, edits, likely, cumulative, hits, seen, tokens;  // offsets
  uint64_t max_features, max_edits;
  uint64_t num_inputs, num_bytes, num_features, num_edits, num_likely, num_mutants;
  uint64_t num_predicted;  // inputs that a model has seen
  uint64_t usual_cost;  // of an input; set by `aloex_plan`, as is
  uint64_t cuts_short;  // whether costly mutants are to be
  double cost, costly;  // of mutants; of costly ones
  uint64_t num_tokens[ALOEX_NUM_KINDS];  // ever added; the oldest make room
  struct arms operators, stacks, origins;
};

#define ARRAY(block, name, type) ((type *)((char *)(block) + (block)->name))
#define INPUTS(block) ARRAY(block, inputs, struct input)
#define DATA(block) ARRAY(block, data, uint8_t)
// Sums of the weights of the inputs of an origin, over all inputs.
#define CUMULATIVE(block, origin) \
  (ARRAY(block, cumulative, double) + (origin) * (block)->options.max_inputs)
#define HITS(block) ARRAY(block, hits, uint64_t)            // for each feature
#define SEEN(block) ARRAY(block, seen, uint8_t)             // for each edge, a bit for each bucket
#define TOKENS(block, kind) (ARRAY(block, tokens, struct token) + (kind) * ALOEX_MAX_TOKENS)

static inline enum aloex_origin origin_of(const struct input *input) {
  return input->new_edges ? ALOEX_EDGES : ALOEX_HITS;
}

static inline uint64_t count_tokens(const aloex *block, enum aloex_token_kind kind) {
  uint64_t n = block->num_tokens[kind];
  return n < ALOEX_MAX_TOKENS ? n : ALOEX_MAX_TOKENS;
}
