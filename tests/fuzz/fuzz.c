/* fuzz.c: texts and files of the targets. */
#include "fuzz.h"

#include <fcntl.h>
#include <ftw.h>
#include <unistd.h>

void fuzz_says_why(rs_status status, const rs_err *err) {
  LAW(status == err->status && (status == RS_OK) == (err->message[0] == '\0'));
}

char *fuzz_text(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  LAW(text != NULL);
  if (size > 0) memcpy(text, data, size);
  text[size] = '\0';
  return text;
}

char *fuzz_rest(char *text, char mark) {
  char *end = strchr(text, mark);
  if (end == NULL) return text + strlen(text);
  *end = '\0';
  return end + 1;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static char folder[64];

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *walk) {
  (void)info;
  (void)type;
  (void)walk;
  return remove(path);
}

static void remove_folder(void) {
  if (chdir("/") == 0) nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* In memory where the system has such a place, for a target writes thousands of files in a second. */
static void enter_folder(void) {
  strcpy(folder, access("/dev/shm", W_OK) == 0 ? "/dev/shm/ropescope-fuzz-XXXXXX" : "/tmp/ropescope-fuzz-XXXXXX");
  LAW(mkdtemp(folder) != NULL && chdir(folder) == 0);
  LAW(atexit(remove_folder) == 0);
}

void fuzz_file(const char *name, const void *data, size_t size) {
  if (*folder == '\0') enter_folder();
  int file = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  LAW(file >= 0 && write(file, data, size) == (ssize_t)size && close(file) == 0);
}
