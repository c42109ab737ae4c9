// Coverage counters, as clang's -fsanitize=fuzzer-no-link makes them: one byte for each edge, in a
// region for each library that makes up the target.
//
// What is EXPORTED the worker offers to the target, which links against nothing of ours. The rest
// is hidden: a target may have functions of the same names.
#include <stdlib.h>
#include <string.h>

#include "worker.h"

#define EXPORTED __attribute__((visibility("default")))

enum { MAX_REGIONS = 256 };
static struct { uint8_t *begin, *end; } regions[MAX_REGIONS];
static size_t num_regions;
static int is_frozen;

void add_region(uint8_t *begin, uint8_t *end) {
  if (begin == end || num_regions == MAX_REGIONS || is_frozen) return;
  for (size_t i = 0; i < num_regions; i++)
    if (regions[i].begin == begin) return;
  regions[num_regions].begin = begin;
  regions[num_regions++].end = end;
}

void freeze_regions(void) { is_frozen = 1; }  // what is loaded from now on does not count

EXPORTED void __sanitizer_cov_8bit_counters_init(uint8_t *begin, uint8_t *end) {
  add_region(begin, end);
}

size_t count_edges(void) {
  size_t n = 0;
  for (size_t i = 0; i < num_regions; i++) n += regions[i].end - regions[i].begin;
  return n;
}

void reset_counters(void) {
  for (size_t i = 0; i < num_regions; i++)
    memset(regions[i].begin, 0, regions[i].end - regions[i].begin);
}

// libFuzzer's buckets: 1, 2, 3, 4-7, 8-15, 16-31, 32-127, 128-255. A bit for each; none for 0.
static uint8_t bits[256];
static uint16_t bits_of_two[1 << 16];  // counters, looked up together

__attribute__((constructor)) static void fill_bits(void) {
  for (int i = 1; i < 256; i++)
    bits[i] = 1 << (i < 4 ? i - 1 : i < 8 ? 3 : i < 16 ? 4 : i < 32 ? 5 : i < 128 ? 6 : 7);
  for (int i = 0; i < 1 << 16; i++) bits_of_two[i] = bits[i & 255] | bits[i >> 8] << 8;
}

static inline uint64_t bits_of_eight(uint64_t counters) {
  uint64_t found = 0;
  for (int shift = 0; shift < 64; shift += 16)
    found |= (uint64_t)bits_of_two[counters >> shift & 0xffff] << shift;
  return found;
}

// Nearly all inputs have nothing new, so this comes first, and does nothing else. Counters that are
// as they were when they last had nothing new are not looked up again: nothing is ever forgotten
// within a request, and a request begins in a new process.
int has_new_features(void) {
  static uint64_t *old;
  if (!old) old = calloc(arena->num_edges / 8 + 1, sizeof *old);
  const uint8_t *seen = PART(arena, seen, uint8_t);
  uint64_t new = 0, *last = old;
  for (size_t r = 0; r < num_regions; r++) {
    const uint8_t *p = regions[r].begin, *end = regions[r].end;
    for (uint64_t word, known, found; end - p >= 8; p += 8, seen += 8, last++) {
      memcpy(&word, p, 8);
      if (!word || word == *last) continue;
      memcpy(&known, seen, 8);
      found = bits_of_eight(word) & ~known;
      if (!found) *last = word;
      new |= found;
    }
    for (; p < end; p++, seen++) new |= bits[*p] & ~*seen;
  }
  return new != 0;
}

static int bucket(uint8_t counter) { return __builtin_ctz(bits[counter]); }

struct position {
  size_t region;
  const uint8_t *counter;
  uint32_t edge;
};

// Go to the next edge that was hit, from (struct position){0}. Returns 0 when there is none.
static inline int next_edge(struct position *at) {
  if (at->counter) at->counter++, at->edge++;
  for (; at->region < num_regions; at->region++, at->counter = NULL) {
    const uint8_t *end = regions[at->region].end;
    if (!at->counter) at->counter = regions[at->region].begin;
    for (uint64_t word; at->counter < end; at->counter++, at->edge++) {
      while (end - at->counter >= 8 && (memcpy(&word, at->counter, 8), word == 0))
        at->counter += 8, at->edge += 8;
      if (at->counter == end) break;
      if (*at->counter) return 1;
    }
  }
  return 0;
}

int has_new_edges(void) {
  const uint8_t *seen = PART(arena, seen, uint8_t);
  for (struct position at = {0}; next_edge(&at);)
    if (!seen[at.edge]) return 1;
  return 0;
}

void count_hits(uint32_t *hits, uint32_t weight) {
  for (struct position at = {0}; next_edge(&at);)
    hits[at.edge * 8 + bucket(*at.counter)] += weight;
}

// Features are edge * 8 + bucket, in order.
void harvest(struct record *record, int full) {
  const uint8_t *seen = PART(arena, seen, uint8_t);
  uint32_t *features = (uint32_t *)(record + 1);
  record->num_edges = record->num_features = 0;
  for (struct position at = {0}; next_edge(&at); record->num_edges++)
    if (full || bits[*at.counter] & ~seen[at.edge])
      features[record->num_features++] = at.edge * 8 + bucket(*at.counter);
}

// Do not report these features as new again. Not for inputs that fail: they do not count.
void remember(const struct record *record) {
  uint8_t *seen = PART(arena, seen, uint8_t);
  const uint32_t *features = (const uint32_t *)(record + 1);
  for (uint32_t i = 0; i < record->num_features; i++)
    seen[features[i] / 8] |= 1 << features[i] % 8;
}

#define STUB(name, ...) EXPORTED void name(__VA_ARGS__) {}
STUB(__sanitizer_cov_pcs_init, const uintptr_t *begin, const uintptr_t *end)
STUB(__sanitizer_cov_trace_div4, uint32_t value)
STUB(__sanitizer_cov_trace_div8, uint64_t value)
STUB(__sanitizer_cov_trace_gep, uintptr_t index)
STUB(__sanitizer_cov_trace_pc_indir, uintptr_t callee)
STUB(__sanitizer_cov_trace_pc_guard, uint32_t *guard)
STUB(__sanitizer_cov_trace_pc_guard_init, uint32_t *begin, uint32_t *end)
EXPORTED __thread uintptr_t __sancov_lowest_stack;

EXPORTED size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size) { return size; }
