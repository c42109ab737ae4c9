// The memory that the worker and Python share, one mapping that worker.c lays out (lay_out); and the
// functions of load.c and runtime.c.
#pragma once
#include <stddef.h>
#include <stdint.h>

enum status { OK, CRASH, HANG, OOM };
enum { MAX_FRAMES = 16 };

struct verdict {           // of one input
  uint32_t first, count;   // its features: where in `features`, how many
  uint32_t num_edges;      // that it hit
  uint8_t status, signal;  // signal 0 of a crash: the target called exit
  uint16_t num_frames;
  uint32_t frames[MAX_FRAMES];  // where it failed: offsets in the target, innermost first
};

struct arena {
  uint64_t size, num_edges;
  uint64_t data, bounds, verdicts, seen, features;  // offsets of the arrays that follow
  uint32_t num_inputs;   // in this batch
  uint32_t full;         // report all features of an input, not only those outside `seen`
  uint32_t current;      // the input that runs now
  uint32_t num_features; // written so far
  uint32_t is_oom;       // why the child ended
};

#define PART(arena, name, type) ((type *)((char *)(arena) + (arena)->name))

// load.c. The target: a shared library, or the program that the worker was preloaded into.
void load(char *target);
void die(const char *format, ...);  // before there is an arena: say why on stderr and exit

extern int (*test_one_input)(const uint8_t *, size_t);
extern struct module { uintptr_t base, end; } module;  // where it is in memory

// runtime.c. What an instrumented target needs to run outside libFuzzer: coverage counters and a
// memory limit.
size_t count_edges(void);
void reset_counters(void);
void add_region(uint8_t *begin, uint8_t *end);
void harvest(struct arena *arena, struct verdict *verdict, int full);
void remember(struct arena *arena, const struct verdict *verdict);

extern volatile int in_target;   // while it is set, a failed allocation calls on_oom
extern size_t max_allocation;
extern void (*on_oom)(void);
