// Makes mutants under odd options, for sanitizers to watch; prints numbers of the generator.
//
//   stress random     numbers of random.h
//   stress mutants    a line for each of many odd engines; what goes wrong ends the program
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "mutator/operators.h"

static void print_numbers(void) {
  struct random zero = {0, 0};
  for (int i = 0; i < 3; i++) printf("%016llx\n", (unsigned long long)random_bits(&zero));
  struct random stream = random_stream(7, 11);
  for (int i = 0; i < 3; i++) printf("%016llx\n", (unsigned long long)random_bits(&stream));
  struct random below = random_stream(7, 11), unit = random_stream(7, 11);
  for (int i = 0; i < 3; i++) printf("%llu\n", (unsigned long long)random_below(&below, 1000));
  for (int i = 0; i < 3; i++) printf("%.17g\n", random_unit(&unit));
}

static const uint32_t FEATURES[] = {0, 9, 17};
static struct random chance = {5, 0};

// An input of its very size, with bytes that operators look for: digits, zeros, equal numbers.
static void add_input(aloex *block, size_t size) {
  uint8_t *data = malloc(size ? size : 1);
  for (size_t i = 0; i < size; i++) data[i] = "0123456789\0\0\0\0ab"[random_below(&chance, 16)];
  int64_t i = aloex_add(block, data, size, FEATURES, random_below(&chance, 4),
                        random_below(&chance, 1000));
  free(data);
  if (i < 0) return;
  struct aloex_edit edits[8] = {0};
  for (int k = 0; k < 8; k++) {  // good ones, and such as a damaged process may send
    edits[k] = (struct aloex_edit){random_below(&chance, size + 2), random_below(&chance, 6),
                                   random_below(&chance, k == 7 ? 256 : 26), "\0lb"[k % 3], {7}};
    if (k == 6) edits[k].position = UINT32_MAX;
  }
  aloex_set_trace(block, i, edits, 8, random_below(&chance, 100));
  struct aloex_likely *likely = calloc(size ? size : 1, sizeof *likely);
  for (size_t k = 0; k < size; k++) likely[k].upto[0] = 200;
  aloex_set_likely(block, i, likely);
  free(likely);
}

static aloex *a_block(const struct aloex_options *options, size_t *size) {
  *size = aloex_size(options);
  aloex *block = mmap(NULL, *size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (block == MAP_FAILED) abort();
  aloex_init(block, options);
  return block;
}

static void learn(aloex *block) {
  struct aloex_counts counts = {.num_mutants = 1000};
  uint32_t *hits = calloc(8 * block->options.num_edges, sizeof *hits);
  uint32_t *chosen = calloc(block->options.max_inputs, sizeof *chosen);
  for (unsigned i = 0; i < count_operators(); i++) {
    counts.tried[i] = random_below(&chance, 1000);
    counts.won[i] = random_below(&chance, counts.tried[i] + 1);
  }
  hits[9] = chosen[0] = UINT32_MAX;
  aloex_learn(block, &counts, hits, chosen);
  aloex_learn(block, &counts, NULL, NULL);
  free(hits);
  free(chosen);
}

static uint64_t make_mutants(const aloex *block, unsigned count) {
  uint64_t sum = 0, max_len = block->options.max_len;
  for (unsigned number = 0; number < count; number++) {
    uint8_t *out = malloc(max_len ? max_len : 1);
    struct aloex_recipe recipe;
    size_t size = aloex_mutate(block, number, out, &recipe);
    if (size > max_len || recipe.stack >= count_stacks()) abort();
    if (block->num_inputs && recipe.parent >= block->num_inputs) abort();
    for (size_t i = 0; i < size; i++) sum = mix(sum + out[i]);
    free(out);
  }
  return sum;
}

// The block again, from what was packed; then packed bytes that are not whole.
static uint64_t pack_and_unpack(const aloex *block, const struct aloex_options *options) {
  size_t packed_size = aloex_packed_size(block), size;
  uint8_t *packed = malloc(packed_size);
  aloex_pack(block, packed);
  aloex *again = a_block(options, &size);
  if (aloex_unpack(again, packed, packed_size - 1) || aloex_unpack(again, packed, 8)) abort();
  if (!aloex_unpack(again, packed, packed_size)) abort();
  uint64_t sum = make_mutants(again, 50);
  free(packed);
  munmap(again, size);
  return sum;
}

static void try_out(struct aloex_options options, const size_t *sizes, size_t num_sizes) {
  size_t size;
  aloex *block = a_block(&options, &size);
  make_mutants(block, 3);  // of an empty pool
  for (size_t i = 0; i < num_sizes; i++) add_input(block, sizes[i]);
  for (int i = 0; i < 50; i++) {
    uint8_t token[64] = {i};
    aloex_add_token(block, i % ALOEX_NUM_KINDS, token, i);
  }
  aloex_plan(block);
  mprotect(block, size, PROT_READ);  // to make mutants changes nothing
  uint64_t sum = make_mutants(block, 500);
  mprotect(block, size, PROT_READ | PROT_WRITE);
  if (pack_and_unpack(block, &options) != make_mutants(block, 50)) abort();
  learn(block);
  aloex_plan(block);
  sum = mix(sum + make_mutants(block, 500));
  printf("max_len %u keep %u repair %u inputs %llu: %016llx\n", options.max_len, options.keep,
         options.repair, (unsigned long long)aloex_num_inputs(block), (unsigned long long)sum);
  munmap(block, size);
}

int main(int argc, char **argv) {
  if (argc == 2 && !strcmp(argv[1], "random")) print_numbers();
  if (argc != 2 || strcmp(argv[1], "mutants")) return 0;
  const size_t sizes[] = {0, 1, 3, 0, 40, 300, 700, 2, 9}, only_empty[] = {0, 0}, one[] = {5};
  const uint32_t max_lens[] = {0, 1, 2, 8, 300, 1000}, keeps[] = {0, 1, 2, 8, 1000, UINT32_MAX};
  for (unsigned l = 0; l < 6; l++)
    for (unsigned k = 0; k < 6; k++) {
      struct aloex_options options = {.seed = l, .num_edges = 3, .max_len = max_lens[l], .keep = keeps[k],
                                      .guides = l % 2 ? ALOEX_ALL_GUIDES : 0, .repair = k % 2,
                                      .max_inputs = 7, .max_bytes = 900};  // not all fit
      try_out(options, sizes, 9);
      try_out(options, one, 1);
      try_out(options, only_empty, 2);
    }
}
