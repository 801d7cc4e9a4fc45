/* What `ropescope check` found in all files, and its forms. */
#ifndef ROPESCOPE_CLI_CHECK_H
#define ROPESCOPE_CLI_CHECK_H

#include "cli.h"

#include "advice/advice.h"

/* One file. */
typedef struct checked_file {
  char *name;    /* as it was named; a folder's is that of its config.json. Owned. */
  char *message; /* why it could not be read; NULL: it could. Owned. */
  rs_findings findings;
  size_t ignored;       /* findings that --ignore took away */
  rs_portrait portrait; /* of what it says, where `portrayed` */
  bool portrayed;
} checked_file;

typedef struct checked_files {
  checked_file *items; /* (count,) */
  size_t count;
} checked_files;

/* What a file says, some fifteen lines; and the same as an object called "recipe". */
void check_put_portrait(const rs_portrait *portrait, rs_text *text);
void check_write_portrait(const rs_portrait *portrait, rs_json *json);

void check_put_text(const checked_files *files, rs_text *text);
void check_put_github(const checked_files *files, rs_text *text);
void check_put_json(const checked_files *files, rs_text *text);
void check_put_sarif(const checked_files *files, rs_text *text);

#endif
