// Coverage counters and allocation, as clang's -fsanitize=fuzzer-no-link expects them.
//
// What is EXPORTED the worker offers to the target, which links against nothing of ours. The rest
// is hidden: a target may have functions of the same names.
#include "worker.h"

#include <errno.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

// Counters: one byte per edge, in a region for each library that makes up the target.

enum { MAX_REGIONS = 256 };
static struct { uint8_t *begin, *end; } regions[MAX_REGIONS];
static size_t num_regions;

void add_region(uint8_t *begin, uint8_t *end) {
  if (begin == end || num_regions == MAX_REGIONS) return;
  for (size_t i = 0; i < num_regions; i++)
    if (regions[i].begin == begin) return;
  regions[num_regions].begin = begin;
  regions[num_regions++].end = end;
}

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

// libFuzzer's buckets: 1, 2, 3, 4-7, 8-15, 16-31, 32-127, 128-255.
static unsigned bucket(unsigned counter) {
  return counter < 4     ? counter - 1
         : counter < 8   ? 3
         : counter < 16  ? 4
         : counter < 32  ? 5
         : counter < 128 ? 6
                         : 7;
}

// Write the features of the input that just ran: edge * 8 + bucket, in order.
void harvest(struct arena *arena, struct verdict *verdict, int full) {
  const uint8_t *seen = PART(arena, seen, uint8_t);
  uint32_t *features = PART(arena, features, uint32_t) + arena->num_features;
  uint32_t count = 0, num_edges = 0, edge = 0;
  for (size_t r = 0; r < num_regions; r++) {
    const uint8_t *begin = regions[r].begin, *end = regions[r].end;
    for (const uint8_t *p = begin; p < end;) {
      uint64_t word;
      if (end - p >= 8 && (memcpy(&word, p, 8), word == 0)) {
        p += 8;
        continue;
      }
      const uint8_t *stop = end - p >= 8 ? p + 8 : end;
      for (; p < stop; p++) {
        if (!*p) continue;
        uint32_t e = edge + (uint32_t)(p - begin), b = bucket(*p);
        num_edges++;
        if (full || !(seen[e] >> b & 1)) features[count++] = e * 8 + b;
      }
    }
    edge += end - begin;
  }
  verdict->first = arena->num_features;
  verdict->count = count;
  verdict->num_edges = num_edges;
  arena->num_features += count;
}

// Do not report these features again in this batch. Not for inputs that fail: they do not count.
void remember(struct arena *arena, const struct verdict *verdict) {
  uint8_t *seen = PART(arena, seen, uint8_t);
  const uint32_t *features = PART(arena, features, uint32_t) + verdict->first;
  for (uint32_t i = 0; i < verdict->count; i++) seen[features[i] / 8] |= 1 << features[i] % 8;
}

// The rest of the interface does nothing here.

#define STUB(name, ...) EXPORTED void name(__VA_ARGS__) {}
STUB(__sanitizer_cov_pcs_init, const uintptr_t *begin, const uintptr_t *end)
STUB(__sanitizer_cov_trace_cmp1, uint8_t a, uint8_t b)
STUB(__sanitizer_cov_trace_cmp2, uint16_t a, uint16_t b)
STUB(__sanitizer_cov_trace_cmp4, uint32_t a, uint32_t b)
STUB(__sanitizer_cov_trace_cmp8, uint64_t a, uint64_t b)
STUB(__sanitizer_cov_trace_const_cmp1, uint8_t a, uint8_t b)
STUB(__sanitizer_cov_trace_const_cmp2, uint16_t a, uint16_t b)
STUB(__sanitizer_cov_trace_const_cmp4, uint32_t a, uint32_t b)
STUB(__sanitizer_cov_trace_const_cmp8, uint64_t a, uint64_t b)
STUB(__sanitizer_cov_trace_switch, uint64_t value, uint64_t *cases)
STUB(__sanitizer_cov_trace_div4, uint32_t value)
STUB(__sanitizer_cov_trace_div8, uint64_t value)
STUB(__sanitizer_cov_trace_gep, uintptr_t index)
STUB(__sanitizer_cov_trace_pc_indir, uintptr_t callee)
STUB(__sanitizer_cov_trace_pc_guard, uint32_t *guard)
STUB(__sanitizer_cov_trace_pc_guard_init, uint32_t *begin, uint32_t *end)
EXPORTED __thread uintptr_t __sancov_lowest_stack;

EXPORTED size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size) { return size; }

// Allocation: a request that fails or is larger than all the memory allowed ends the input, so the
// verdict does not depend on how well the target copes.

volatile int in_target;
size_t max_allocation = SIZE_MAX;
void (*on_oom)(void);

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static void *checked(void *p, size_t size) {
  if (in_target && ((!p && size) || size > max_allocation)) on_oom();
  return p;
}

EXPORTED void *malloc(size_t size) { return checked(__libc_malloc(size), size); }
EXPORTED void *realloc(void *p, size_t size) { return checked(__libc_realloc(p, size), size); }
EXPORTED void *memalign(size_t to, size_t size) { return checked(__libc_memalign(to, size), size); }
EXPORTED void *aligned_alloc(size_t to, size_t size) { return memalign(to, size); }

EXPORTED void *calloc(size_t n, size_t size) {
  size_t total;
  if (__builtin_mul_overflow(n, size, &total)) total = SIZE_MAX;
  return checked(__libc_calloc(n, size), total);
}

EXPORTED int posix_memalign(void **p, size_t to, size_t size) {
  if (to % sizeof(void *) || to == 0 || (to & (to - 1))) return EINVAL;
  void *got = memalign(to, size);
  if (!got) return ENOMEM;
  *p = got;
  return 0;
}
