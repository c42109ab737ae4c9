// What an instrumented target needs to run outside libFuzzer: coverage counters and a memory limit.
#pragma once
#include "arena.h"

size_t count_edges(void);
void reset_counters(void);
void add_region(uint8_t *begin, uint8_t *end);
void harvest(struct arena *arena, struct verdict *verdict, int full);
void remember(struct arena *arena, const struct verdict *verdict);

extern volatile int in_target;   // while it is set, a failed allocation calls on_oom
extern size_t max_allocation;
extern void (*on_oom)(void);
