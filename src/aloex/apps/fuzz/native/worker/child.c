// The child: runs inputs, one after the other, and makes records of those that matter.
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "../mutator/random.h"
#include "worker.h"

enum { MARGIN = 1 << 17 };  // bytes of a record beside its features, at most
enum { LONGER = 8 };        // times the cost of others, for a mutant with new edges
enum { HITS_SAMPLE = 8 };   // of so many mutants the features of one are counted for all

static uint8_t *mutant;

void make_room_for_mutants(void) {
  if (block) mutant = malloc(((const struct aloex_options *)block)->max_len);
}

size_t take_input(uint64_t number, const uint8_t **data, struct aloex_recipe *recipe) {
  if (arena->source != MUTANTS) {
    const uint64_t *bounds = PART(arena, bounds, uint64_t);
    *data = PART(arena, data, uint8_t) + bounds[number];
    *recipe = (struct aloex_recipe){0};
    return bounds[number + 1] - bounds[number];
  }
  *data = mutant;
  return aloex_mutate(block, number, mutant, recipe);
}

// There is always room for one: else the request ends, and Python asks for the rest.
struct record *new_record(uint64_t number) {
  struct record *record = (void *)(PART(arena, log, char) + arena->used);
  memset(record, 0, sizeof *record);
  record->number = number;
  return record;
}

static int has_room(void) {
  return arena->used + MARGIN + arena->num_edges * sizeof(uint32_t) <= arena->log_size;
}

void close_record(struct record *record) {
  uint64_t size = sizeof *record + record->num_features * sizeof(uint32_t) +
                  record->num_edits * sizeof(struct aloex_edit) +
                  record->num_tokens * sizeof(struct token_bytes) + record->report_size;
  record->size = (size + 7) / 8 * 8;
  uint64_t checksum = 0;  // a sum of hashes, so that Python can take it of all words at once
  const uint64_t *words = (const uint64_t *)record;
  for (uint64_t i = 1; i < record->size / 8; i++) checksum += mix(words[i] ^ i * GOLDEN);
  record->checksum = checksum;
  arena->used += record->size;
}

void count(const struct record *record) {
  const struct aloex_recipe *recipe = &record->recipe;
  struct aloex_counts *counts = &arena->counts;
  counts->num_mutants++;
  for (uint64_t left = recipe->operators; left; left &= left - 1)
    counts->tried[__builtin_ctzll(left)]++;
  counts->stack_tried[recipe->stack]++;
  counts->origin_tried[recipe->origin]++;
  PART(arena, chosen, uint32_t)[recipe->parent]++;
  if (recipe->max_cost != UINT64_MAX) return;
  counts->num_unlimited++;
  counts->cost += record->cost;
  if (record->cost > recipe->costly) counts->costly += record->cost;
}

static uint64_t nanoseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return 1000000000ull * t.tv_sec + t.tv_nsec;
}

static uint64_t started;  // when the input was

static void test(test_function *function, const uint8_t *data, size_t size) {
  uint8_t *copy = malloc(size ? size : 1);  // of its very size, as libFuzzer does
  if (!copy) on_oom();
  memcpy(copy, data, size);
  reset_counters();
  allocated = 0;
  started = nanoseconds();
  in_target = 1;
  int result = function(copy, size);
  in_target = 0;
  arena->nanoseconds += nanoseconds() - started;
  free(copy);
  if (result != 0) reset_counters();  // the target asks to forget this input; libFuzzer does so
}

static void trace_one(struct record *record, const uint8_t *data, size_t size) {
  if (test_and_trace) {
    begin_trace();
    test(test_and_trace, data, size);
    end_trace(record, data, size);
    record->cost += allocated;
  }
  close_record(record);
}

static struct record *running;

// A mutant that has come to something new is given more.
void cut_short(void) {
  uint64_t max_cost = running->recipe.max_cost;
  if (max_allocated == max_cost && has_new_edges()) {
    max_allocated = LONGER * max_cost;
    return;
  }
  arena->nanoseconds += nanoseconds() - started;
  count(running);
  arena->num_cut++;
  arena->is_cut = 1;
  arena->next = running->number + 1;
  _exit(CUT);
}

static void run_one(uint64_t number) {
  const uint8_t *data;
  struct record *record = new_record(number);
  size_t size = take_input(number, &data, &record->recipe);
  if (arena->source == TRACED) {
    trace_one(record, data, size);
    return;
  }
  running = record;
  max_allocated = arena->source == MUTANTS ? record->recipe.max_cost : UINT64_MAX;
  test(test_one_input, data, size);
  record->cost = allocated;
  if (arena->source == MUTANTS) {
    count(record);
    if (number % HITS_SAMPLE == 0) count_hits(PART(arena, hits, uint32_t), HITS_SAMPLE);
  }
  if (!arena->all && !has_new_features()) return;
  harvest(record, arena->full);
  remember(record);
  close_record(record);
}

void run_inputs(uint64_t from, uint64_t to) {
  for (uint64_t i = from; i < to && has_room(); i++) {
    run_one(i);
    arena->next = i + 1;
  }
  arena->is_done = 1;
}
