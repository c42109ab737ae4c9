// Finds the functions and counters of a target.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <link.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "worker.h"

test_function *test_one_input, *test_and_trace;
struct module module;
static int (*initialize)(int *, char ***);

void die(const char *format, ...) {
  va_list args;
  va_start(args, format);
  vfprintf(stderr, format, args);
  exit(1);
}

static int find_module(struct dl_phdr_info *info, size_t size, void *address) {
  uintptr_t end = 0, at = (uintptr_t)address;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *h = &info->dlpi_phdr[i];
    uintptr_t top = info->dlpi_addr + h->p_vaddr + h->p_memsz;
    if (h->p_type == PT_LOAD && top > end) end = top;
  }
  if (at < info->dlpi_addr || at >= end) return 0;
  module.base = info->dlpi_addr;
  module.end = end;
  return 1;
}

static int find_program(struct dl_phdr_info *info, size_t size, void *unused) {
  module.base = info->dlpi_addr;  // the program comes first
  return 1;
}

#ifdef LINKED
int LLVMFuzzerTestOneInput(const uint8_t *, size_t);
__attribute__((weak)) int LLVMFuzzerInitialize(int *, char ***);

static void find_functions(char *target) {
  test_one_input = LLVMFuzzerTestOneInput;
  initialize = LLVMFuzzerInitialize;
}
#else
// Find the target's functions in a library, or in the program we were preloaded into.
static void find_functions(char *target) {
  uintptr_t test, init, begin, end;
  if (sscanf(target, "self:%lx,%lx,%lx,%lx", &test, &init, &begin, &end) == 4) {
    dl_iterate_phdr(find_program, NULL);
    test_one_input = (void *)(module.base + test);
    if (init) initialize = (void *)(module.base + init);
    add_region((uint8_t *)module.base + begin, (uint8_t *)module.base + end);
    return;
  }
  void *library = dlopen(target, RTLD_NOW);
  if (!library) die("cannot be loaded: %s", dlerror());
  test_one_input = dlsym(library, "LLVMFuzzerTestOneInput");
  initialize = dlsym(library, "LLVMFuzzerInitialize");
  if (!test_one_input) die("has no function LLVMFuzzerTestOneInput");
}
#endif

static void set_up(char *name) {
  char *arguments[] = {name, NULL}, **argv = arguments;
  int argc = 1;
  if (initialize) initialize(&argc, &argv);
}

static void load_tracer(char *path) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) return;  // compares are a help, not a need
  test_and_trace = dlsym(library, "LLVMFuzzerTestOneInput");
  initialize = dlsym(library, "LLVMFuzzerInitialize");
  set_up(path);
}

void load(char *target, char *tracer) {
  find_functions(target);
  if (!count_edges()) die("has no coverage counters; compile it with -fsanitize=fuzzer-no-link");
  freeze_regions();
  dl_iterate_phdr(find_module, (void *)test_one_input);
  set_up(target);
  if (*tracer) load_tracer(tracer);
}
