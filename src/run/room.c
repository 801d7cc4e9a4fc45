/* The memory that a run may take: what the machine has left, and less where a cgroup (a container, a Slurm job) or a
 * limit of the process's addresses stands before that. */
#include "run/run.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* The number behind `key` at the beginning of a line, "" for the first of all; NaN where there is none ("max"). */
static double number_in(const char *path, const char *key) {
  char line[256];
  double value = NAN;
  FILE *file = fopen(path, "r");
  if (file == NULL) return NAN;
  while (isnan(value) && fgets(line, sizeof line, file) != NULL)
    if (strncmp(line, key, strlen(key)) == 0 && sscanf(line + strlen(key), "%lf", &value) != 1) value = NAN;
  fclose(file);
  return value;
}

/* What the cgroup at `folder` has left: its limit less what cannot be dropped. NaN: no limit. */
static double cgroup_room(const char *folder, const char *limit, const char *used) {
  char path[512];
  snprintf(path, sizeof path, "%s/%s", folder, limit);
  double most = number_in(path, "");
  snprintf(path, sizeof path, "%s/memory.stat", folder);
  double now = number_in(path, used);
  return most - (isnan(now) ? 0 : now);
}

/* NaN where nothing limits: fmin leaves it out. Of the process's cgroup, of either version ("0::/path",
 * "4:memory:/path"), and of the one at the root of what it sees. */
static double cgroups_room(void) {
  char line[384], folder[480];
  double room = fmin(cgroup_room("/sys/fs/cgroup", "memory.max", "anon "),
                     cgroup_room("/sys/fs/cgroup/memory", "memory.limit_in_bytes", "rss "));
  FILE *file = fopen("/proc/self/cgroup", "r");
  if (file == NULL) return room;
  while (fgets(line, sizeof line, file) != NULL) {
    line[strcspn(line, "\n")] = '\0';
    char *controllers = strchr(line, ':'), *path = controllers != NULL ? strchr(++controllers, ':') : NULL;
    if (path == NULL) continue;
    *path++ = '\0';
    bool second = *controllers == '\0', first = strcmp(controllers, "memory") == 0;
    snprintf(folder, sizeof folder, "/sys/fs/cgroup%s%s", first ? "/memory" : "", path);
    if (second) room = fmin(room, cgroup_room(folder, "memory.max", "anon "));
    if (first) room = fmin(room, cgroup_room(folder, "memory.limit_in_bytes", "rss "));
  }
  fclose(file);
  return room;
}

static double addresses_room(void) {
  struct rlimit limit;
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return NAN;
  double pages = number_in("/proc/self/statm", "");
  return (double)limit.rlim_cur - (isnan(pages) ? 0 : pages * (double)sysconf(_SC_PAGESIZE));
}

double rs_memory_available(void) {
  double machine = 1024 * number_in("/proc/meminfo", "MemAvailable:");
  return fmin(fmin(machine, cgroups_room()), addresses_room());
}
