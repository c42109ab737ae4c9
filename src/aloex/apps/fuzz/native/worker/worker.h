// The memory that a worker and Python share, and the functions of the worker's files.
#pragma once
#include <stddef.h>
#include <stdint.h>

#include "../mutator/mutator.h"

enum status { OK, CRASH, HANG, OOM };
enum { DONE = 85, CUT = 86 };  // how a child exits that ran all it was to run; that was cut short
enum source { GIVEN, MUTANTS, TRACED };  // inputs from Python, of the mutator; from Python, traced
enum { MAX_FRAMES = 16, MAX_EDITS = 128, MAX_TOKENS = 64, MAX_REPORT = 1 << 16 };

struct token_bytes {
  uint8_t size, bytes[ALOEX_TOKEN_SIZE];
};

struct record {       // of an input that ran; its arrays follow
  uint64_t checksum;  // of what follows
  uint64_t size;      // of the record and its arrays
  uint64_t number;
  uint8_t status, signal;  // signal 0 of a crash: the target called exit
  uint16_t num_frames;
  uint32_t num_edges;  // that it hit
  uint32_t num_features, num_edits, num_tokens, report_size;
  struct aloex_recipe recipe;
  uint64_t cost;       // grows with the time that it takes: `allocated`, if it was traced also compares
  uint32_t frames[MAX_FRAMES];  // where it failed: offsets in the target, innermost first
};

// ALOEX_VERSION, a hash of these files: a program that was linked with others is told by it.
struct arena {
  uint64_t version;
  uint64_t size, num_edges, log_size;
  uint64_t data, bounds, seen, hits, chosen, log;  // offsets of the arrays that follow
  // The request: inputs first..stop - 1.
  uint64_t first, stop;
  uint32_t source;
  uint32_t all;         // make a record of each input, not only of those with new features
  uint32_t full;        // write all features of an input, not only those outside `seen`
  uint32_t is_new;      // a new lane of mutants: forget what the one before covered
  uint32_t skips_slow;  // mutants that seem to hang are passed over
  // The answer: inputs before `next` have run.
  uint32_t num_slow;    // mutants that seemed to hang and were run again alone
  uint32_t is_done, is_oom, is_cut;  // why the child ended
  uint32_t num_cut;     // mutants that were cut short for what they cost
  uint64_t next, used;  // bytes of the log
  uint64_t nanoseconds;  // in the target
  struct aloex_counts counts;
};

#define PART(arena, name, type) ((type *)((char *)(arena) + (arena)->name))

extern struct arena *arena;
extern const aloex *block;  // NULL if there is none

// load.c. The target: a shared library, or the program that the worker was preloaded into or linked
// with. `tracer` is the same target with callbacks at compares, or NULL.
void load(char *target, char *tracer);
void die(const char *format, ...);  // before there is an arena: say why on stderr and exit

typedef int test_function(const uint8_t *, size_t);
extern test_function *test_one_input, *test_and_trace;
extern struct module { uintptr_t base, end; } module;  // where it is in memory

// coverage.c
size_t count_edges(void);
void freeze_regions(void);
void add_region(uint8_t *begin, uint8_t *end);
void reset_counters(void);
int has_new_features(void);  // of the input that just ran
int has_new_edges(void);
void harvest(struct record *record, int full);  // write its features
void count_hits(uint32_t *hits, uint32_t weight);
void remember(const struct record *record);

// compares.c: begin_trace, then run the input, then end_trace, which adds edits and tokens to its record.
void begin_trace(void);
void end_trace(struct record *record, const uint8_t *data, size_t size);
void follow_compares(struct record *record, const uint8_t *data, size_t size);  // follow.c

// child.c
// Before the first child: all have the same heap, whatever their parent has run. A target may read
// what it has not written.
void make_room_for_mutants(void);
void run_inputs(uint64_t from, uint64_t to);
void cut_short(void);  // the mutant that is running: end the child
void count(const struct record *record);
struct record *new_record(uint64_t number);
void close_record(struct record *record);
size_t take_input(uint64_t number, const uint8_t **data, struct aloex_recipe *recipe);

// memory.c. A request for memory that fails, or is too large, ends the input.
extern volatile int in_target;
extern size_t max_allocation;
extern void (*on_oom)(void);
// What the input has allocated, in the unit of `cost`; more than the maximum cuts a mutant short.
extern uint64_t allocated, max_allocated;
extern void (*on_much_allocated)(void);
