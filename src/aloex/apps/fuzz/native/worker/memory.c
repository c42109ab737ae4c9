// Allocation: a request that fails or is larger than all the memory allowed ends the input, so the
// verdict does not depend on how well the target copes. A sanitizer has limits of its own.
//
// It is also what the time of an input is told by, as far as a number can that is the same in each
// run: most inputs that take a hundred times as long as others clear that much memory.
#include <errno.h>

#include "worker.h"

volatile int in_target;
size_t max_allocation = SIZE_MAX;
void (*on_oom)(void);
uint64_t allocated, max_allocated = UINT64_MAX;
void (*on_much_allocated)(void);

enum { OF_A_CALL = 25, BYTES = 16 };  // what a call costs, and how many bytes cost 1: in compares

static void count_allocation(size_t size) {
  if (!in_target) return;
  allocated += OF_A_CALL + size / BYTES;
  if (allocated > max_allocated) on_much_allocated();
}

#ifndef LINKED
#define EXPORTED __attribute__((visibility("default")))
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);

static void *checked(void *p, size_t size) {
  if (in_target && ((!p && size) || size > max_allocation)) on_oom();
  count_allocation(size);
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
#else
__attribute__((visibility("default"))) void __sanitizer_malloc_hook(const volatile void *p,
                                                                   size_t size) {
  count_allocation(size);
}
#endif
