/* replay.c: gives a target its corpus: every file of the folder that the command line names, and its beginnings, each
 * in memory of just its size. It says which takes longest; what hangs runs into the test's timeout. */
#include "fuzz.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <time.h>
#include <unistd.h>

#include "io/io.h"

enum { BEGINNINGS = 16 };

static size_t runs;
static double slowest;
static char slowest_name[NAME_MAX + 1];

static void run(const char *name, const char *data, size_t size) {
  char *copy = malloc(size > 0 ? size : 1);
  LAW(copy != NULL);
  memcpy(copy, data, size);
  clock_t begin = clock();
  LAW(LLVMFuzzerTestOneInput((const uint8_t *)copy, size) == 0);
  double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
  free(copy);
  runs++;
  if (seconds <= slowest) return;
  slowest = seconds;
  snprintf(slowest_name, sizeof slowest_name, "%s", name);
}

static void run_file(const char *directory, const char *name) {
  char *path = rs_path_join(directory, name, NULL), *data = NULL;
  size_t size = 0;
  rs_err err = {0};
  if (path == NULL || rs_file_read(path, RS_LARGEST_FILE, &data, &size, &err) != RS_OK) {
    fprintf(stderr, "%s: %s\n", name, err.message);
    exit(1);
  }
  for (size_t i = 0; i < BEGINNINGS; i++) run(name, data, size * i / BEGINNINGS);
  run(name, data, size);
  free(data);
  free(path);
}

/* Commands print what they find: it is not looked at. */
static int standard_output_to_nowhere(void) {
  int kept = dup(STDOUT_FILENO);
  return kept >= 0 && freopen("/dev/null", "w", stdout) != NULL ? kept : -1;
}

int main(int count, char **arguments) {
  struct dirent **entries = NULL;
  char directory[PATH_MAX];
  int kept = standard_output_to_nowhere(), files = 0;
  int found =
      count == 2 && realpath(arguments[1], directory) != NULL ? scandir(directory, &entries, NULL, alphasort) : -1;
  if (found < 0 || kept < 0) {
    fprintf(stderr, "usage: %s CORPUS (%s)\n", arguments[0], strerror(errno));
    return 2;
  }
  for (int i = 0; i < found; i++) {
    if (entries[i]->d_name[0] != '.') {
      run_file(directory, entries[i]->d_name);
      files++;
    }
    free(entries[i]);
  }
  free(entries);
  dprintf(kept, "%d inputs, %zu runs, the slowest %.3f s (%s)\n", files, runs, slowest, slowest_name);
  return files > 0 ? 0 : 1;
}
