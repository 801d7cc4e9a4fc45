/* Files of models, as configs and command lines name them. Private to the config layer. */
#ifndef ROPESCOPE_CONFIG_MODEL_FILES_H
#define ROPESCOPE_CONFIG_MODEL_FILES_H

#include <stddef.h>

/* A file, or the config.json of a folder. Takes `word`, which may be NULL; NULL without memory. Release with free(). */
char *rs_model_file(char *word);

/* Writes the last `parts` parts of a file's path, without ".json", and without "config.json", whose folder is meant:
 * "b" and "a/b" of x/a/b/config.json. Cut where `out` (size) ends. Returns how many parts were written. */
size_t rs_file_stem(const char *file, size_t parts, char *out, size_t size);

#endif
