// Runs a fuzz target on batches of inputs in memory:  worker TARGET ARENA_FD BATCH BYTES MS MB
//
// The target is a shared library. It may also be a libFuzzer binary: this file, compiled as a
// library and preloaded, then runs in the place of its main.
//
// The target is loaded once. A batch runs in a forked child, one input after the other. When the
// child dies, its input is run again alone in a fresh one: that run gives the verdict, so it
// depends on nothing but the input. Then a new child goes on with the next input. Python asks for a
// batch with one byte on stdin and is answered with one byte on stdout; the rest is in the arena.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "worker.h"

static struct arena *arena;
static int requests, replies;
static pid_t python;
static double timeout_s;
static size_t max_address_space;

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec + 1e-9 * t.tv_nsec;
}

// ---- the child: runs inputs

static void record_failure(void) {
  in_target = 0;
  struct verdict *verdict = PART(arena, verdicts, struct verdict) + arena->current;
  harvest(arena, verdict, 1);
  void *pcs[64];
  int n = backtrace(pcs, 64);
  for (int i = 0; i < n && verdict->num_frames < MAX_FRAMES; i++)
    if ((uintptr_t)pcs[i] >= module.base && (uintptr_t)pcs[i] < module.end)
      verdict->frames[verdict->num_frames++] = (uintptr_t)pcs[i] - module.base;
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
  const int signals[] = {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS, SIGUSR2};
  const size_t num_signals = sizeof signals / sizeof *signals;
  for (size_t i = 0; i < num_signals; i++) sigaction(signals[i], &action, NULL);
  atexit(record_failure);  // our own way out is _exit
  if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(record_failure);
  on_oom = report_memory;
}

static void limit(int what, rlim_t value) { setrlimit(what, &(struct rlimit){value, value}); }

static size_t address_space(void) {
  size_t pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file && fscanf(file, "%zu", &pages) != 1) pages = 0;
  if (file) fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

static void run_input(uint32_t i, int full) {
  const uint64_t *bounds = PART(arena, bounds, uint64_t);
  size_t size = bounds[i + 1] - bounds[i];
  uint8_t *copy = malloc(size ? size : 1);  // of its very size, as libFuzzer does
  if (!copy) on_oom();
  memcpy(copy, PART(arena, data, uint8_t) + bounds[i], size);
  reset_counters();
  in_target = 1;
  int result = test_one_input(copy, size);
  in_target = 0;
  if (result != 0) reset_counters();  // the target asks to forget this input; libFuzzer does so
  struct verdict *verdict = PART(arena, verdicts, struct verdict) + i;
  harvest(arena, verdict, full);
  remember(arena, verdict);
  free(copy);
}

static void child(uint32_t from, uint32_t to, int alone, pid_t parent) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(1);
  setpgid(0, 0);
  close(requests);
  close(replies);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, NULL);
  on_oom = stop_for_memory;
  if (alone) catch_failures();
  limit(RLIMIT_CORE, 0);
  limit(RLIMIT_AS, max_address_space);
  for (uint32_t i = from; i < to; i++) {
    arena->current = i;
    run_input(i, alone || arena->full);
  }
  arena->current = to;
  _exit(0);
}

// ---- the parent: watches the child

// Run inputs from..to and return how the child ended; *is_late tells that it was killed for time.
static int run_child(uint32_t from, uint32_t to, int alone, int *is_late) {
  const double grace = 1;  // from the request to report to the kill
  arena->current = from;
  arena->is_oom = 0;
  pid_t parent = getpid(), pid = fork();
  if (pid < 0) _exit(1);
  if (pid == 0) child(from, to, alone, parent);
  sigset_t sigchld;
  sigemptyset(&sigchld);
  sigaddset(&sigchld, SIGCHLD);
  double tick = timeout_s / 8 < 0.05 ? timeout_s / 8 : 0.05, since = now();
  struct timespec wait = {0, (long)(1e9 * tick)};
  uint32_t last = from;
  *is_late = 0;
  for (int status;;) {
    sigtimedwait(&sigchld, NULL, &wait);
    if (waitpid(pid, &status, WNOHANG) == pid) {
      kill(-pid, SIGKILL);  // what the target may have started
      return status;
    }
    if (getppid() != python) kill(-pid, SIGKILL), _exit(1);
    if (arena->current != last) {
      last = arena->current;
      since = now();
    } else if (now() - since > timeout_s) {
      if (alone && !*is_late) kill(pid, SIGUSR2);
      if (!alone || now() - since > timeout_s + grace) kill(-pid, SIGKILL), kill(pid, SIGKILL);
      *is_late = 1;
    }
  }
}

static void judge(uint32_t i) {
  struct verdict *verdict = PART(arena, verdicts, struct verdict) + i;
  uint32_t first = i ? verdict[-1].first + verdict[-1].count : 0;
  *verdict = (struct verdict){.first = first};
  arena->num_features = first;
  int is_late, ended = run_child(i, i + 1, 1, &is_late);
  if (arena->current > i) return;  // it was not the input's fault alone
  verdict->status = arena->is_oom ? OOM : is_late ? HANG : CRASH;
  if (WIFSIGNALED(ended) && verdict->status == CRASH) {
    verdict->signal = WTERMSIG(ended);
    if (verdict->signal == SIGKILL) verdict->status = OOM;  // the system's, when it runs out
  }
}

static void run_batch(void) {
  uint32_t n = arena->num_inputs;
  arena->num_features = 0;
  memset(PART(arena, verdicts, struct verdict), 0, n * sizeof(struct verdict));
  for (uint32_t i = 0; i < n; i++) {
    int is_late;
    run_child(i, n, 0, &is_late);
    if (arena->current == n) return;
    if (arena->current > i && arena->current < n) i = arena->current;  // unless a wild write hit it
    judge(i);
  }
}

static void lay_out(int fd, uint64_t batch, uint64_t bytes) {
  struct arena a = {.num_edges = count_edges(), .size = sizeof a};
  const struct { uint64_t *offset, size; } parts[] = {
      {&a.data, bytes},
      {&a.bounds, (batch + 1) * sizeof(uint64_t)},
      {&a.verdicts, batch * sizeof(struct verdict)},
      {&a.seen, a.num_edges},
      {&a.features, batch * a.num_edges * sizeof(uint32_t)},  // what is not touched costs nothing
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
  close(fd);
}

int main(int argc, char **argv) {
  if (argc != 7) die("usage: worker TARGET ARENA_FD BATCH BYTES MS MB");
  // The same addresses every time: targets that read what they have not written then behave alike.
  if (!(personality(0xffffffff) & ADDR_NO_RANDOMIZE) && personality(ADDR_NO_RANDOMIZE) != -1)
    execv("/proc/self/exe", argv);
  unsetenv("LD_PRELOAD");
  python = getppid();
  requests = fcntl(0, F_DUPFD_CLOEXEC, 64);
  replies = fcntl(1, F_DUPFD_CLOEXEC, 64);
  int null = open("/dev/null", O_RDWR);
  dup2(null, 0);
  dup2(null, 1);
  load(argv[1]);
  lay_out(atoi(argv[2]), atoll(argv[3]), atoll(argv[4]));
  timeout_s = atof(argv[5]) / 1000;
  max_allocation = (size_t)atoll(argv[6]) << 20;
  max_address_space = address_space() + max_allocation;
  dup2(null, 2);
  close(null);
  sigset_t sigchld;
  sigemptyset(&sigchld);
  sigaddset(&sigchld, SIGCHLD);
  sigprocmask(SIG_BLOCK, &sigchld, NULL);
  void *pc;
  backtrace(&pc, 1);  // loads what it needs now, not in a signal handler
  char byte = 1;
  while (write(replies, &byte, 1) == 1 && read(requests, &byte, 1) == 1) run_batch();
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
