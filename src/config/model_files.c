/* Files of models, as configs and command lines name them. */
#include "config_internal.h"

#include "io/io.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

char *rs_model_file(char *word) {
  struct stat info;
  if (word == NULL || stat(word, &info) != 0 || !S_ISDIR(info.st_mode)) return word;
  char *inner = rs_path_join(word, "config.json", NULL);
  free(word);
  return inner;
}

/* Whether the `length` letters end like `tail`. */
static bool ends(const char *text, size_t length, const char *tail) {
  size_t size = strlen(tail);
  return length > size && strncmp(text + length - size, tail, size) == 0;
}

size_t rs_file_stem(const char *file, size_t parts, char *out, size_t size) {
  static const char name[] = "/config.json", ending[] = ".json";
  size_t length = strlen(file), begin, written = 0;
  if (ends(file, length, name))
    length -= strlen(name);
  else if (ends(file, length, ending))
    length -= strlen(ending);
  while (length > 1 && file[length - 1] == '/') length--;
  for (begin = length; begin > 0 && written < parts;) {
    while (begin > 0 && file[begin - 1] == '/') begin--;
    if (begin == 0) break;
    while (begin > 0 && file[begin - 1] != '/') begin--;
    written++;
  }
  snprintf(out, size, "%.*s", (int)(length - begin), file + begin);
  return written;
}
