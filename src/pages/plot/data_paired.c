/* data_paired.c: what a folder has of a column that small tables rank: which side is better, its keys, and its blocks.
 */
#include "data.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct rs_paired_memory {
  rs_plot_data data;
};

static rs_status read_keys(const rs_plot_file *summary, rs_arena *memory, rs_paired *paired, rs_err *err) {
  const char **keys = rs_arena_take(memory, summary->count, sizeof *keys);
  RS_TRY(rs_arena_check(memory, err));
  for (size_t i = 0; i < summary->count; i++)
    if (summary->columns[i].role == RS_PLOT_KEY) keys[paired->key_count++] = summary->columns[i].name;
  paired->keys = keys;
  return RS_OK;
}

static rs_status read_column(rs_plot_data *data, const char *name, rs_paired *paired, rs_err *err) {
  const rs_plot_file *summary = NULL;
  const rs_plot_column *low, *high;
  for (size_t i = 0; i < data->count && summary == NULL; i++)
    if (strcmp(data->files[i].name, "summary.csv") == 0) summary = &data->files[i];
  const rs_plot_column *column = summary != NULL ? rs_plot_column_named(summary, "", name, "") : NULL;
  if (column == NULL || column->role != RS_PLOT_VALUE || !rs_plot_interval_of(summary, column, &low, &high))
    return RS_OK;
  rs_plot_file *file = rs_plot_blocks_file(data, column);
  if (file != NULL) RS_TRY(rs_plot_table_read(file, err));
  RS_TRY(read_keys(summary, &data->memory, paired, err));
  paired->known = true;
  paired->better = column->better;
  paired->blocks = rs_plot_blocks_of(file, column);
  paired->file = file != NULL ? file->name : NULL;
  return RS_OK;
}

rs_status rs_paired_read(const char *directory, const char *column, rs_paired *paired, rs_err *err) {
  char *path = rs_path_join(directory, "manifest.json", err);
  *paired = (rs_paired){0};
  if (path == NULL) return RS_MEMORY;
  bool there = access(path, F_OK) == 0;
  free(path);
  if (!there) return RS_OK;
  paired->memory = rs_alloc(1, sizeof *paired->memory, err);
  if (paired->memory == NULL) return RS_MEMORY;
  rs_status status = rs_plot_manifest_read(directory, &paired->memory->data, err);
  if (status == RS_OK) status = read_column(&paired->memory->data, column, paired, err);
  if (status != RS_OK) rs_paired_clear(paired);
  return status;
}

void rs_paired_clear(rs_paired *paired) {
  if (paired->memory != NULL) rs_plot_data_clear(&paired->memory->data);
  free(paired->memory);
  *paired = (rs_paired){0};
}
