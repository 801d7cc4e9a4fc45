/* shard.json: what a folder with a part of a sweep holds. Private to the sweep layer. */
#ifndef ROPESCOPE_SWEEP_SHARD_FILE_H
#define ROPESCOPE_SWEEP_SHARD_FILE_H

#include "ledger.h"

#include <jansson.h>

#define RS_SHARD_FILE "shard.json"

typedef struct rs_shard_file {
  json_t *root; /* owned; the rest borrows from it */
  rs_sweep_shard shard;
  const char *version, *isa, *config;
  int schema;                   /* of keys */
  const json_t *kinds, *inputs; /* as the manifest lists them */
} rs_shard_file;

/* Writes directory/shard.json. RS_IO, RS_MEMORY. */
rs_status rs_shard_file_write(const rs_ledger *ledger, rs_sweep_shard shard, const char *directory, rs_err *err);

/* Whether something is called so there. */
bool rs_shard_file_there(const char *directory);

/* Reads it. RS_INPUT where there is none, or it is no such file; RS_IO, RS_MEMORY. Clear it in any case. */
rs_status rs_shard_file_read(const char *directory, rs_shard_file *file, rs_err *err);
void rs_shard_file_clear(rs_shard_file *file);

#endif
