// A target that writes into memory which its worker shares. The first letter chooses where.
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "worker/worker.h"

static volatile int sink;
static struct arena *shared;

__attribute__((noinline, no_sanitize("coverage"))) static void find_arena(void) {
  if (shared) return;
  char line[512];
  FILE *maps = fopen("/proc/self/maps", "r");
  while (maps && fgets(line, sizeof line, maps))
    if (strstr(line, "memfd:aloex (")) sscanf(line, "%p", (void **)&shared);
  if (maps) fclose(maps);
}

static char *log_of_worker(void) { return PART(shared, log, char); }

static void write_and_crash(char where) {
  switch (where) {
    case 'c': memset(shared, 0xff, sizeof *shared); break;             // all of the header
    case 'z': memset(shared, 0, sizeof *shared); break;                // likewise
    case 'r': memset(log_of_worker() + shared->used, 0xff, 4096); break;  // its own record
    case 'd': shared->is_done = 1; break;                              // "all have run"
  }
  abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  if (size == 0) abort();
  find_arena();
  switch (data[0]) {
    case 'n': sink++; break;
    case 'l': memset(log_of_worker(), 0x55, 4096); break;  // the records of inputs before it
    case 'x': exit(85);                                    // as a child that is done
    case 'c':
    case 'z':
    case 'r':
    case 'd': write_and_crash(data[0]);
  }
  if (size > 1 && data[1] == 'y') sink += 2;
  return 0;
}
