// What the worker and Python share: one mapping, laid out by the worker (lay_out in worker.c).
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
