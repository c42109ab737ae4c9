// Runs a fuzz target on inputs:  worker TARGET TRACER ARENA_FD BLOCK_FD BATCH BYTES MS MB
//
// The target is a shared library. It may also be a libFuzzer binary: these files, compiled as a
// library and preloaded, then run in the place of its main. And it may be linked with them into one
// program, as sanitizers need it.
//
// The target is loaded once. A request runs in a forked child, one input after the other. When the
// child dies, its input is run again alone in a fresh one: that run gives the verdict, so it
// depends on nothing but the input. Then a new child goes on with the next input. Python makes a
// request with one byte on stdin and is answered with one byte on stdout; the rest is in the arena.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../mutator/state.h"
#include "worker.h"

struct arena *arena;
const aloex *block;
static int requests, replies, report;
static pid_t python;
static double timeout_s;
static size_t max_address_space;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

// ---- in the child

static volatile int is_alone;

static void record_failure(void) {
  in_target = 0;
  struct record *record = (void *)(PART(arena, log, char) + arena->used);
  harvest(record, 1);
  void *pcs[64];
  int n = backtrace(pcs, 64);
  for (int i = 0; i < n && record->num_frames < MAX_FRAMES; i++)
    if ((uintptr_t)pcs[i] >= module.base && (uintptr_t)pcs[i] < module.end)
      record->frames[record->num_frames++] = (uintptr_t)pcs[i] - module.base;
}

static void on_signal(int signal) {
  record_failure();
  if (signal == SIGUSR2) _exit(0);  // the watchdog's: out of time
  raise(signal);                    // the default action is back in place: die of it
}

static void stop_for_memory(void) { _exit(0); }

static void report_memory(void) {
  arena->is_oom = 1;
  record_failure();
  _exit(0);
}

void __sanitizer_set_death_callback(void (*)(void)) __attribute__((weak));

static void catch_failures(void) {
  static char stack[1 << 18];  // its own, for when the target's has overflowed
  sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL);
  struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_ONSTACK | SA_RESETHAND};
#ifdef LINKED
  const int signals[] = {SIGUSR2};  // the sanitizer reports the others
#else
  const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS, SIGUSR2};
#endif
  const size_t num_signals = sizeof signals / sizeof *signals;
  for (size_t i = 0; i < num_signals; i++) sigaction(signals[i], &action, NULL);
  atexit(record_failure);  // our own way out is _exit
  if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(record_failure);
  on_oom = report_memory;
}

#ifdef LINKED
// Outside a run alone a sanitizer's report would be lost: do not make one.
__attribute__((visibility("default"))) void __asan_on_error(void) {
  if (!is_alone) _exit(1);
}
__attribute__((visibility("default"))) void __ubsan_on_report(void) {
  if (!is_alone) _exit(1);
}
#endif

static void limit(int what, rlim_t value) { setrlimit(what, &(struct rlimit){value, value}); }

static size_t address_space(void) {
  size_t pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file && fscanf(file, "%zu", &pages) != 1) pages = 0;
  if (file) fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

static void limit_resources(void) {
  limit(RLIMIT_CORE, 0);
#ifndef LINKED
  limit(RLIMIT_AS, max_address_space);
#endif
}

static void child(uint64_t from, uint64_t to, int alone, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  setpgid(0, 0);
  close(requests);
  close(replies);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  on_oom = stop_for_memory;
  on_much_allocated = cut_short;
  is_alone = alone;
  if (alone) {
    catch_failures();
    dup2(report, 2);
  }
  limit_resources();
  run_inputs(from, to);
  _exit(DONE);
}

// ---- in the parent: watch the child

// As they were before a child ran: a target may write anywhere.
static struct arena own;
static uint8_t *own_seen;

static void keep(void) {
  own = *arena;
  memcpy(own_seen, PART(arena, seen, uint8_t), own.num_edges);
}

// If the child came nowhere, or how far it came cannot be right, it is as if it had not run.
static void restore(void) {
  memcpy(arena, &own, offsetof(struct arena, is_done));
  if (arena->next > own.next && arena->next <= own.stop && arena->used >= own.used &&
      arena->used <= own.log_size && arena->used % 8 == 0)
    return;
  arena->next = own.next;
  arena->used = own.used;
  memcpy(PART(arena, seen, uint8_t), own_seen, own.num_edges);
}

// The flag alone may be a wild write of the target, the status alone a call of exit.
static int is_done(int ended) {
  return arena->is_done && WIFEXITED(ended) && WEXITSTATUS(ended) == DONE;
}

static int is_cut(int ended) {
  return arena->is_cut && WIFEXITED(ended) && WEXITSTATUS(ended) == CUT;
}

// How long a child may take over an input. One that seems to hang is run again alone: to find that
// out need not take all of its time. It is not worth more where it is passed over.
static double patience(int alone) {
  return alone || arena->source != MUTANTS ? timeout_s : timeout_s / 4;
}

// Run inputs from..to and return how the child ended; *is_late tells that it was killed for time.
static int run_child(uint64_t from, uint64_t to, int alone, int *is_late) {
  const double grace = 1;  // from the request to report to the kill
  arena->next = from;
  arena->is_oom = arena->is_done = arena->is_cut = 0;
  keep();
  pid_t parent = getpid(), pid = fork();
  if (pid < 0) _exit(1);
  if (pid == 0) child(from, to, alone, parent);
  sigset_t sigchld;
  sigemptyset(&sigchld);
  sigaddset(&sigchld, SIGCHLD);
  double tick = timeout_s / 8 < 0.05 ? timeout_s / 8 : 0.05, since = now();
  struct timespec wait = {0, (long)(1e9 * tick)};
  uint64_t last = from;
  *is_late = 0;
  for (int status;;) {
    sigtimedwait(&sigchld, NULL, &wait);
    if (waitpid(pid, &status, WNOHANG) == pid) {
      kill(-pid, SIGKILL);  // what the target may have started
      restore();
      return status;
    }
    if (getppid() != python) kill(-pid, SIGKILL), _exit(1);
    if (arena->next != last) {
      last = arena->next;
      since = now();
    } else if (now() - since > patience(alone)) {
      if (alone && !*is_late) kill(pid, SIGUSR2);
      if (!alone || now() - since > timeout_s + grace) kill(-pid, SIGKILL), kill(pid, SIGKILL);
      *is_late = 1;
    }
  }
}

enum { COST_OF_HANG = 1 << 28 };  // as much as what takes a second, more or less

// What the run wrote to stderr becomes the end of its record.
static void append_report(struct record *record) {
  char *end = (char *)((uint32_t *)(record + 1) + record->num_features);
  struct stat about;
  fstat(report, &about);
  off_t from = about.st_size > MAX_REPORT ? about.st_size - MAX_REPORT : 0;
  ssize_t size = pread(report, end, MAX_REPORT, from);
  record->report_size = size > 0 ? size : 0;
}

// Run an input alone. If it fails, this makes its record.
static void judge(uint64_t number) {
  uint64_t used = arena->used;
  struct record *record = new_record(number);
  if (ftruncate(report, 0) || lseek(report, 0, SEEK_SET)) die("cannot empty the report");
  int is_late, ended = run_child(number, number + 1, 1, &is_late);
  if (is_done(ended) || is_cut(ended)) return;  // it was not the input's fault alone
  arena->used = used;
  record->number = number;
  record->num_edits = record->num_tokens = 0;
  if (record->num_features > arena->num_edges) record->num_features = 0;  // after a wild write
  if (record->num_frames > MAX_FRAMES) record->num_frames = 0;
  record->status = arena->is_oom ? OOM : is_late ? HANG : CRASH;
  if (WIFSIGNALED(ended) && record->status == CRASH) {
    record->signal = WTERMSIG(ended);
    if (record->signal == SIGKILL) record->status = OOM;  // the system's, when it runs out
  }
  const uint8_t *data;
  take_input(number, &data, &record->recipe);
  record->cost = record->status == HANG ? COST_OF_HANG : 0;
  if (arena->source == MUTANTS) count(record);
  append_report(record);
  close_record(record);
  arena->next = number + 1;
}

#ifdef LINKED
enum { HANGS_COUNT = 0 };  // whether an input hangs is for the build without sanitizers to tell
#else
enum { HANGS_COUNT = 1 };
#endif

// Go on behind an input as if it had covered nothing.
static void pass_over(uint64_t number) {
  struct record *record = new_record(number);
  const uint8_t *data;
  take_input(number, &data, &record->recipe);
  if (arena->source == MUTANTS) count(record);
  close_record(record);
  arena->next = number + 1;
}

static void begin_lane(void) {
  memset(&arena->counts, 0, sizeof arena->counts);
  memset(PART(arena, hits, uint32_t), 0, 8 * arena->num_edges * sizeof(uint32_t));
  memset(PART(arena, chosen, uint32_t), 0, block->options.max_inputs * sizeof(uint32_t));
  if (arena->num_edges == block->options.num_edges)
    memcpy(PART(arena, seen, uint8_t), SEEN(block), arena->num_edges);
  else
    memset(PART(arena, seen, uint8_t), 0xff, arena->num_edges);  // the target in another build
}

// Whether what seems to hang is not looked into.
static int skips_slow(void) {
  return !HANGS_COUNT || (arena->source == MUTANTS && arena->skips_slow);
}

// Run the inputs of a request; it ends early when the log is full or Python asks for it.
static void run_request(void) {
  arena->used = 0;
  if (arena->is_new) arena->nanoseconds = arena->num_cut = arena->num_slow = 0;
  if (arena->source == MUTANTS && arena->is_new) begin_lane();
  for (uint64_t next = arena->first; next < arena->stop;) {
    int is_late, ended = run_child(next, arena->stop, 0, &is_late);
    next = arena->next;
    if (is_done(ended) || next == arena->stop) return;
    if (is_cut(ended)) continue;
    double since = now();
    if (is_late && !skips_slow()) arena->num_slow++;
    if (is_late && skips_slow()) pass_over(next);
    else judge(next);
    if (is_late) arena->nanoseconds += 1e9 * (patience(0) + now() - since);  // it ran all the time
    if (arena->next == next) return;  // no room
    next = arena->next;
  }
}

// ---- the beginning

// The first call, which libFuzzer does not count either. What a target sets up once is then set up
// before the fork, and no input is charged for it. Not if it fails: then that is a bug to report.
static void warm_up(void) {
  const double patience = timeout_s < 4 ? timeout_s : 4;  // Python does not wait for ever
  pid_t pid = fork();
  int status;
  if (pid == 0) {
    on_oom = stop_for_memory;
    limit_resources();
    in_target = 1;
    test_one_input((const uint8_t *)"", 0);
    _exit(DONE);
  }
  for (double start = now(); pid > 0 && waitpid(pid, &status, WNOHANG) != pid; usleep(1000))
    if (now() - start > patience) kill(pid, SIGKILL);
  if (pid > 0 && WIFEXITED(status) && WEXITSTATUS(status) == DONE)
    test_one_input((const uint8_t *)"", 0);
}

static void map_block(int fd) {
  struct stat about;
  if (fd < 0 || fstat(fd, &about)) return;
  block = mmap(NULL, about.st_size, PROT_READ, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (block == MAP_FAILED) die("cannot map the mutator's %zu bytes", (size_t)about.st_size);
  close(fd);
}

static void map_arena(int fd, uint64_t batch, uint64_t bytes) {
  struct arena a = {.version = ALOEX_VERSION, .num_edges = count_edges(), .size = sizeof a, .log_size = 64 << 20};
  a.log_size += 2 * a.num_edges * sizeof(uint32_t);
  const struct { uint64_t *offset, size; } parts[] = {  // what is not touched costs nothing
      {&a.data, bytes},
      {&a.bounds, (batch + 1) * sizeof(uint64_t)},
      {&a.seen, a.num_edges},
      {&a.hits, 8 * a.num_edges * sizeof(uint32_t)},
      {&a.chosen, block ? block->options.max_inputs * sizeof(uint32_t) : 0},
      {&a.log, a.log_size},
  };
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
    a.size = (a.size + 63) / 64 * 64;
    *parts[i].offset = a.size;
    a.size += parts[i].size;
  }
  if (ftruncate(fd, a.size)) die("cannot share %zu bytes with Python", (size_t)a.size);
  arena = mmap(NULL, a.size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (arena == MAP_FAILED) die("cannot map %zu bytes", (size_t)a.size);
  *arena = a;
  own_seen = calloc(a.num_edges, 1);
  close(fd);
}

static void block_sigchld(void) {
  sigset_t sigchld;
  sigemptyset(&sigchld);
  sigaddset(&sigchld, SIGCHLD);
  sigprocmask(SIG_BLOCK, &sigchld, NULL);
}

// Keep freed memory: to give it back and get it anew, page by page, may take longer than the input.
// Requests above the threshold are made anew each time: to clear them would take longer still.
static void keep_memory(void) {
#ifndef LINKED
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 1 << 30);
#endif
}

// Until it is loaded a target that hangs dies with Python. Later the pipe tells that Python is gone.
__attribute__((constructor(101))) static void die_with_python(void) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
}

int main(int argc, char **argv) {
  if (argc != 9) die("usage: worker TARGET TRACER ARENA_FD BLOCK_FD BATCH BYTES MS MB");
  // The same addresses every time: targets that read what they have not written then behave alike.
  if (!(personality(0xffffffff) & ADDR_NO_RANDOMIZE) && personality(ADDR_NO_RANDOMIZE) != -1)
    execv("/proc/self/exe", argv);
  unsetenv("LD_PRELOAD");
  python = getppid();
  requests = fcntl(0, F_DUPFD_CLOEXEC, 64);
  replies = fcntl(1, F_DUPFD_CLOEXEC, 64);
  report = fcntl(memfd_create("report", MFD_CLOEXEC), F_DUPFD_CLOEXEC, 64);
  int null = open("/dev/null", O_RDWR);
  dup2(null, 0);
  dup2(null, 1);
  timeout_s = atof(argv[7]) / 1000;
  keep_memory();
  load(argv[1], argv[2]);
  map_block(atoi(argv[4]));
  make_room_for_mutants();
  map_arena(atoi(argv[3]), atoll(argv[5]), atoll(argv[6]));
  dup2(null, 2);
  close(null);
  max_allocation = (size_t)atoll(argv[8]) << 20;
  max_address_space = address_space() + max_allocation;
  warm_up();
  max_address_space = address_space() + max_allocation;
  block_sigchld();
  void *pc;
  backtrace(&pc, 1);  // loads what it needs now, not in a signal handler
  prctl(PR_SET_PDEATHSIG, 0);
  char byte = 1;
  while (write(replies, &byte, 1) == 1 && read(requests, &byte, 1) == 1) run_request();
  return 0;
}

#ifdef PRELOADED
typedef int start_function(int (*)(int, char **), int, char **, void *, void *, void *, void *);

__attribute__((visibility("default"))) int __libc_start_main(
    void *theirs, int argc, char **argv, void *init, void *fini, void *rtld_fini, void *stack_end) {
  start_function *real = (start_function *)dlsym(RTLD_NEXT, "__libc_start_main");
  return real(main, argc, argv, init, fini, rtld_fini, stack_end);
}
#endif
