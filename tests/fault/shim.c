/* shim.c: a library to preload: one call of a kind fails, or all from it on. FAULT_CALL names the kind (malloc stands
 * for calloc, realloc and aligned_alloc too), FAULT_AT which of them, from 1, FAULT_ON that all after it fail as well,
 * FAULT_ERRNO the reason as a number. FAULT_COUNTS is a file that gets, a line a kind, the number of calls and then
 * those of them that came by a way of their own: FAULT_FRAMES return addresses (all) of the functions that called each
 * other, each with the way's hash, which is the same in every run. FAULT_UNTIL_EXIT leaves out what comes behind the
 * program's own end: gcov's counters are written there.
 *
 * Only calls of the program and of the libraries that return to it are counted: OpenMP's and librsvg's end the program
 * where they are refused memory, which is theirs to do. */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

extern void *__libc_malloc(size_t size);
extern void *__libc_calloc(size_t count, size_t size);
extern void *__libc_realloc(void *memory, size_t size);
extern void *__libc_memalign(size_t alignment, size_t size);

enum { MALLOC, WRITE, FSYNC, RENAME, OPEN, CLOSE, MKDIR, MMAP, KINDS };
static const char *const names[KINDS] = {"malloc", "write", "fsync", "rename", "open", "close", "mkdir", "mmap"};

static long counts[KINDS], at;
static int kind = KINDS, reason;
static bool on, ready, until_exit, counts_ways;
static int frames_of_way;

/* The ways by which calls came, by their hashes: a table with open addresses, in which 0 is none. And the first call by
 * each of them. */
enum { WAYS = 1 << 17, FRAMES = 64 };
static uint64_t ways[WAYS];
static struct {
  int call;
  long number;
  uint64_t hash; /* of the places in the files that the functions were loaded from */
} firsts[WAYS / 2];
static long n_firsts;

static void settle(void) {
  ready = false;
}

__attribute__((constructor)) static void begin(void) {
  const char *call = getenv("FAULT_CALL"), *place = getenv("FAULT_AT"), *number = getenv("FAULT_ERRNO");
  for (int i = 0; i < KINDS && call != NULL; i++)
    if (strcmp(names[i], call) == 0) kind = i;
  at = place != NULL ? atol(place) : 0;
  reason = number != NULL ? atoi(number) : ENOMEM;
  on = getenv("FAULT_ON") != NULL;
  until_exit = getenv("FAULT_UNTIL_EXIT") != NULL;
  counts_ways = getenv("FAULT_COUNTS") != NULL;
  const char *frames = getenv("FAULT_FRAMES");
  frames_of_way = frames != NULL ? atoi(frames) : FRAMES;
  void *frame[1];
  if (counts_ways) backtrace(frame, 1); /* loads what it needs */
  ready = true;
}

__attribute__((destructor)) static void end(void) {
  const char *path = getenv("FAULT_COUNTS");
  ready = false;
  FILE *file = path != NULL ? fopen(path, "w") : NULL;
  for (int i = 0; i < KINDS && file != NULL; i++) {
    fprintf(file, "%s %ld", names[i], counts[i]);
    for (long k = 0; k < n_firsts; k++)
      if (firsts[k].call == i) fprintf(file, " %ld:%016" PRIx64, firsts[k].number, firsts[k].hash);
    fputc('\n', file);
  }
  if (file != NULL) fclose(file);
}

/* Whether the code at `caller` is to be refused. The last answer is kept, for dladdr is slow. */
static bool is_counted(void *caller) {
  static const char *const counted[] = {"ropescope", "libyaml", "libjansson", "libgsl.", "libnettle", "libmicrohttpd"};
  static _Thread_local void *last;
  static _Thread_local bool answer;
  Dl_info where;
  if (!ready) return false;
  if (caller == last) return answer;
  bool found = false;
  if (dladdr(caller, &where) != 0) {
    const char *slash = strrchr(where.dli_fname, '/'), *name = slash != NULL ? slash + 1 : where.dli_fname;
    for (size_t i = 0; i < sizeof counted / sizeof *counted; i++)
      found |= strncmp(name, counted[i], strlen(counted[i])) == 0;
  }
  last = caller;
  return answer = found;
}

/* FNV-1a, a word at a time. */
static uint64_t hash_word(uint64_t hash, uint64_t word) {
  return (hash ^ word) * 1099511628211u;
}

static uint64_t place_in_file(void *code) {
  Dl_info where;
  return (uintptr_t)code - (dladdr(code, &where) != 0 ? (uintptr_t)where.dli_fbase : 0);
}

/* Keeps a call if no earlier one of its kind came the same way. One thread at a time. */
static void count_way(int call, void *caller, long number) {
  static volatile bool busy;
  void *frames[FRAMES];
  while (__atomic_test_and_set(&busy, __ATOMIC_ACQUIRE)) continue;
  int n = backtrace(frames, FRAMES), first = 0;
  while (first < n && frames[first] != caller) first++; /* this library's own */
  if (n - first > frames_of_way) n = first + frames_of_way;
  uint64_t hash = hash_word(14695981039346656037u, (uint64_t)call), lasting = hash;
  for (int i = first; i < n; i++) hash = hash_word(hash, (uintptr_t)frames[i]);
  if (hash == 0) hash = 1;
  size_t slot = hash >> 47;
  while (ways[slot] != 0 && ways[slot] != hash) slot = (slot + 1) % WAYS;
  if (ways[slot] == 0 && n_firsts < WAYS / 2) {
    ways[slot] = hash;
    for (int i = first; i < n; i++) lasting = hash_word(lasting, place_in_file(frames[i]));
    firsts[n_firsts].call = call;
    firsts[n_firsts].hash = lasting;
    firsts[n_firsts++].number = number;
  }
  __atomic_clear(&busy, __ATOMIC_RELEASE);
}

static bool fails(int call, void *caller) {
  if (!is_counted(caller)) return false;
  /* Handlers run before destructors if they come from a program that has begun. */
  if (until_exit) until_exit = atexit(settle) != 0;
  long number = __atomic_add_fetch(&counts[call], 1, __ATOMIC_RELAXED);
  if (counts_ways) count_way(call, caller, number);
  if (call != kind || (on ? number < at : number != at)) return false;
  errno = reason;
  return true;
}

#define FAILS(call) fails(call, __builtin_return_address(0))
#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

void *malloc(size_t size) {
  return FAILS(MALLOC) ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
  return FAILS(MALLOC) ? NULL : __libc_calloc(count, size);
}

void *realloc(void *memory, size_t size) {
  return FAILS(MALLOC) ? NULL : __libc_realloc(memory, size);
}

void *aligned_alloc(size_t alignment, size_t size) {
  return FAILS(MALLOC) ? NULL : __libc_memalign(alignment, size);
}

ssize_t write(int file, const void *data, size_t size) {
  return FAILS(WRITE) ? -1 : NEXT(write)(file, data, size);
}

int fsync(int file) {
  return FAILS(FSYNC) ? -1 : NEXT(fsync)(file);
}

int rename(const char *from, const char *to) {
  return FAILS(RENAME) ? -1 : NEXT(rename)(from, to);
}

int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = (flags & O_CREAT) != 0 ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return FAILS(OPEN) ? -1 : NEXT(open)(path, flags, mode);
}

/* The descriptor is gone even so, as on Linux. */
int close(int file) {
  bool failed = FAILS(CLOSE);
  int why = errno, status = NEXT(close)(file);
  if (!failed) return status;
  errno = why;
  return -1;
}

int mkdir(const char *path, mode_t mode) {
  return FAILS(MKDIR) ? -1 : NEXT(mkdir)(path, mode);
}

void *mmap(void *place, size_t size, int protection, int flags, int file, off_t offset) {
  return FAILS(MMAP) ? MAP_FAILED : NEXT(mmap)(place, size, protection, flags, file, offset);
}
