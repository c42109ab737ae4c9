// A mutator of byte strings that learns from coverage: a C11 library without dependencies.
//
// It holds a pool of inputs. A mutant starts from one of them and is changed by a few operators.
// Which input, which operators and how many is chosen with probabilities that follow what paid.
//
// All state is one block of memory without pointers: it may be shared with other processes, mapped
// read-only, or copied. `aloex_mutate` only reads it: mutant `number` is a function of the block
// and of the number. The block changes by `aloex_add`, `aloex_learn` and the like alone.
//
//   struct aloex_options options = {.seed = 1, .num_edges = 6008, .max_len = 4096};
//   aloex *block = calloc(1, aloex_size(&options));  // most of it is never touched
//   aloex_init(block, &options);
//   for each seed: aloex_add(block, seed, size, features, num_features, cost);
//   aloex_plan(block);
//   for (uint64_t number = 0;; number++) {
//     size = aloex_mutate(block, number, mutant, &recipe);
//     run it; if it has new coverage: aloex_add(block, mutant, size, features, num_features, cost);
//     after some mutants: aloex_learn(block, &counts, hits, chosen), aloex_plan(block);
//   }
#pragma once
#include <stddef.h>
#include <stdint.h>

enum {
  ALOEX_MAX_OPERATORS = 64,
  ALOEX_MAX_STACKS = 8,     // numbers of operators on one mutant to choose from
  ALOEX_TOKEN_SIZE = 31,    // bytes of a token
  ALOEX_MAX_TOKENS = 4096,  // of each kind
  ALOEX_NUM_LIKELY = 7,     // bytes that a model names for a position
};

enum aloex_guide {      // what may be left out, to see what it is worth
  ALOEX_FEATURES = 1,   // inputs that are new by their hit counts alone are started from, too
  ALOEX_COMPARES = 2,   // what was compared with bytes of the input replaces them
  ALOEX_TOKENS = 4,     // words from a dictionary, from the program, from compares
  ALOEX_FORGET = 8,     // what paid long ago counts less
  ALOEX_STACK = 16,     // several operators on one mutant
  ALOEX_ALL_GUIDES = 31,
};

enum aloex_origin {  // inputs to start from: those with new edges, those new by their hit counts alone
  ALOEX_EDGES, ALOEX_HITS, ALOEX_NUM_ORIGINS
};

enum aloex_token_kind { ALOEX_DICTIONARY, ALOEX_STRINGS, ALOEX_COMPARED, ALOEX_NUM_KINDS };

struct aloex_options {
  uint64_t seed;
  uint32_t num_edges;   // of the target
  uint32_t max_len;     // bytes of a mutant
  uint32_t keep;        // bytes at the beginning that stay as they are
  uint32_t guides;      // a sum of `enum aloex_guide`
  uint32_t repair;      // of each mutant: 0 none, 1 the checksums of PNG files
  uint32_t max_inputs;  // in the pool
  uint64_t max_bytes;   // of all inputs in the pool
};

struct aloex_edit {  // of an input: some of its bytes, and what they were compared with
  uint32_t position;
  uint8_t old_size, size;
  uint8_t order;  // of a number: 'l' little, 'b' big endian; 0: no number
  uint8_t bytes[25];
};

struct aloex_news {  // what an input adds to the pool's coverage
  uint32_t edges, features;
};

struct aloex_likely {  // what a model expects at a position
  uint8_t bytes[ALOEX_NUM_LIKELY];
  uint8_t upto[ALOEX_NUM_LIKELY];  // sums of their shares, of 255
};

struct aloex_recipe {  // how a mutant was made
  uint64_t operators;  // a bit for each that took part
  uint64_t costly;     // running it costs much more than others, if it costs more than this
  uint64_t max_cost;   // if it costs more than this, cut it short; UINT64_MAX: let it run
  uint32_t parent;     // the input of the pool that it started from
  uint16_t stack;      // which number of operators
  uint16_t origin;     // an `enum aloex_origin`
};

struct aloex_counts {  // of a number of mutants
  uint64_t num_mutants;
  uint64_t tried[ALOEX_MAX_OPERATORS], won[ALOEX_MAX_OPERATORS];
  uint64_t stack_tried[ALOEX_MAX_STACKS], stack_won[ALOEX_MAX_STACKS];
  uint64_t origin_tried[ALOEX_NUM_ORIGINS], origin_won[ALOEX_NUM_ORIGINS];
  uint64_t num_unlimited, cost, costly;  // those without max_cost; their cost; of the costly ones
};

struct aloex_input {  // of the pool
  const uint8_t *data;
  size_t size;
  uint64_t chosen;  // mutants that started from it
  double share;     // of the mutants to come that do
  uint64_t cost;    // 0: not known
};

struct aloex_arm {  // an operator, or a number of operators
  double tried, won;
  double share;  // how often it is chosen now
};

typedef struct aloex aloex;

#pragma GCC visibility push(default)

size_t aloex_size(const struct aloex_options *);
void aloex_init(aloex *, const struct aloex_options *);  // the block must be zero
const char *aloex_operator_name(unsigned i);             // NULL beyond the last
unsigned aloex_stack_size(unsigned i);                   // 0 beyond the last

// Add an input to the pool, and its features to the coverage: edge * 8 + bucket of its hit count, in
// ascending order. Running it costs `cost`, in a unit of yours, 0 if that is not known. Returns its
// index, or -1 if the pool is full.
int64_t aloex_add(aloex *, const uint8_t *data, size_t size, const uint32_t *features, size_t count,
                  uint64_t cost);
// Say what an input of the pool is compared with, and what it costs, now that it is known better.
void aloex_set_trace(aloex *, uint64_t input, const struct aloex_edit *, size_t count, uint64_t cost);
struct aloex_news aloex_news(const aloex *, const uint32_t *features, size_t count);
void aloex_add_token(aloex *, enum aloex_token_kind, const uint8_t *bytes, size_t size);
void aloex_set_likely(aloex *, uint64_t input, const struct aloex_likely *);  // one a byte of it

// Learn from mutants: `hits` counts those with each feature, `chosen` those from each input.
void aloex_learn(aloex *, const struct aloex_counts *, const uint32_t *hits, const uint32_t *chosen);
void aloex_plan(aloex *);  // choose from now on with what is known now

// Write mutant `number` to `out`, which has room for max_len bytes. Returns its size.
size_t aloex_mutate(const aloex *, uint64_t number, uint8_t *out, struct aloex_recipe *);

// To look at.
uint64_t aloex_num_inputs(const aloex *);
uint64_t aloex_num_predicted(const aloex *);  // inputs with `aloex_set_likely`
uint64_t aloex_usual_cost(const aloex *);  // of an input of the pool; 1: not known
struct aloex_input aloex_input(const aloex *, uint64_t i);
const uint8_t *aloex_seen(const aloex *);  // for each edge, a bit for each bucket seen
struct aloex_arm aloex_operator(const aloex *, unsigned i);
struct aloex_arm aloex_stack(const aloex *, unsigned i);
struct aloex_arm aloex_origin(const aloex *, unsigned i);

// To keep on a disk: what is in use of the block, without the room for more. `aloex_unpack` returns
// 0 if the bytes are not those of a block with the same options.
size_t aloex_packed_size(const aloex *);
void aloex_pack(const aloex *, uint8_t *out);
int aloex_unpack(aloex *, const uint8_t *packed, size_t size);

#pragma GCC visibility pop
