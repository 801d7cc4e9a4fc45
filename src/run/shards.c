/* Shards: which cells each has, and shard.json, which says which cells a folder's journal is to have: the shard, and
 * the config and all else that keys of cells are made of, so that `merge` needs no config and can say what two folders
 * differ in. */
#include "costs.h"
#include "ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGEST = 64 << 20 }; /* bytes; a config of files and lists has some kB */

/* ---- shares of a sweep ------------------------------------------------------------------------------------------- */

rs_status rs_units_make(const rs_experiment *experiment, const rs_cell *cells, size_t count, rs_units *units,
                        rs_err *err) {
  *units = (rs_units){.trained = experiment->checkpoints != NULL};
  rs_costs *costs = &units->costs;
  RS_TRY(rs_costs_make(experiment, cells, count, NULL, costs, err));
  units->order = costs->order;
  for (size_t i = 0; i < count; i++) {
    const rs_cell_cost *cost = &costs->items[costs->order[i]];
    if (costs->opens[i]) {
      RS_TRY(RS_GROW(units->items, &units->capacity, units->count + 1, err));
      units->items[units->count] = (rs_unit){.first = i, .shared = units->count};
      units->count++;
    }
    rs_unit *unit = &units->items[units->count - 1];
    unit->count++;
    unit->making += cost->made;
    unit->own += cost->own + cost->tuned;
    units->total += cost->own + cost->tuned + cost->made;
  }
  return RS_OK;
}

void rs_units_clear(rs_units *units) {
  rs_costs_clear(&units->costs);
  free(units->items);
}

/* Cuts a unit near the half of what its cells take, with cells on both sides. */
static rs_status split(rs_units *units, size_t index, rs_err *err) {
  RS_TRY(RS_GROW(units->items, &units->capacity, units->count + 1, err));
  rs_unit *unit = &units->items[index], *rest = &units->items[units->count++];
  double sum = 0, with;
  size_t cut = 0;
  for (; cut + 1 < unit->count; cut++, sum = with) {
    const rs_cell_cost *cost = &units->costs.items[units->order[unit->first + cut]];
    with = sum + cost->own + cost->tuned;
    if (cut > 0 && with - unit->own / 2 > unit->own / 2 - sum) break;
  }
  *rest = *unit;
  rest->first += cut;
  rest->count -= cut;
  rest->own -= sum;
  unit->count = cut;
  unit->own = sum;
  return RS_OK;
}

/* The halves of a unit must be worth what is made for each of them. A training is found by the others where they share
 * a folder. */
rs_status rs_units_split(rs_units *units, double most, size_t least, rs_err *err) {
  static const double times = 4; /* what is made twice is then a quarter of it at most */
  for (size_t u = 0; u < units->count; u++)
    for (const rs_unit *unit = &units->items[u];
         unit->count > 1 && unit->own > most && (units->trained || unit->own > times * unit->making);
         unit = &units->items[u])
      RS_TRY(split(units, u, err));
  while (units->count < least) {
    size_t largest = units->count;
    for (size_t u = 0; u < units->count; u++)
      if (units->items[u].count > 1 && (largest == units->count || units->items[u].own > units->items[largest].own))
        largest = u;
    if (largest == units->count) return RS_OK;
    RS_TRY(split(units, largest, err));
  }
  return RS_OK;
}

static int by_cost(const void *a, const void *b) {
  const rs_unit *x = a, *y = b;
  double costs = (y->making + y->own) - (x->making + x->own);
  if (costs != 0) return costs > 0 ? 1 : -1;
  return (x->first > y->first) - (x->first < y->first);
}

rs_status rs_units_cut(const rs_experiment *experiment, const rs_cell *cells, size_t count, size_t among, size_t parts,
                       rs_units *units, rs_err *err) {
  RS_TRY(rs_units_make(experiment, cells, count, units, err));
  double pieces = (double)(among * (units->trained ? 1 : parts)); /* a training is to be done once */
  RS_TRY(rs_units_split(units, units->total / pieces, among, err));
  qsort(units->items, units->count, sizeof *units->items, by_cost);
  return RS_OK;
}

/* Whether the shard has a part of what unit number `index` is a part of, among those dealt before it. */
static bool has_part(const rs_units *units, size_t index, const size_t *of_cell, size_t shard) {
  for (size_t u = 0; u < index; u++)
    if (units->items[u].shared == units->items[index].shared && of_cell[units->order[units->items[u].first]] == shard)
      return true;
  return false;
}

/* Each to the shard that has the least. A part costs what is made for all parts, too, but once in a
 * shard. */
static void deal(const rs_units *units, size_t shards, size_t *of_cell, double *costs) {
  memset(costs, 0, shards * sizeof *costs);
  for (size_t u = 0; u < units->count; u++) {
    const rs_unit *unit = &units->items[u];
    size_t shard = 0;
    for (size_t s = 1; s < shards; s++)
      if (costs[s] < costs[shard]) shard = s;
    bool made = unit->making > 0 && has_part(units, u, of_cell, shard + 1);
    costs[shard] += unit->own + (made ? 0 : unit->making);
    for (size_t i = 0; i < unit->count; i++) of_cell[units->order[unit->first + i]] = shard + 1;
  }
}

rs_status rs_shards_assign(const rs_experiment *experiment, size_t shards, size_t *of_cell, size_t count, double *costs,
                           rs_err *err) {
  enum { PARTS = 4 };
  rs_cell *cells;
  rs_units units = {0};
  size_t there;
  RS_TRY(rs_experiment_cells(experiment, &cells, &there, err));
  rs_status status = there == count ? RS_OK : rs_fail(err, RS_INTERNAL, "%zu cells, not %zu", there, count);
  if (status == RS_OK && shards > count)
    status = rs_fail(err, RS_INPUT, "%zu shards are too many: the config has %zu cell%s", shards, count,
                     count == 1 ? "" : "s");
  if (status == RS_OK) status = rs_units_cut(experiment, cells, count, shards, PARTS, &units, err);
  if (status == RS_OK) deal(&units, shards, of_cell, costs);
  rs_units_clear(&units);
  free(cells);
  return status;
}

/* ---- writing ----------------------------------------------------------------------------------------------------- */

static rs_status put_words(const rs_ledger *ledger, rs_sweep_shard shard, rs_text *words, rs_err *err) {
  rs_json json = {.text = words};
  char sha[65];
  rs_text config = {0};
  rs_parts parts;
  rs_status status = rs_parts_list(ledger->experiment, &parts, err);
  rs_experiment_write(ledger->experiment, &config);
  if (status == RS_OK) status = rs_text_check(&config, err);
  rs_sha256_hex(rs_text_string(&config), config.length, sha);
  rs_json_object(&json, NULL);
  rs_json_string(&json, "program", "ropescope");
  rs_json_string(&json, "version", ROPESCOPE_VERSION);
  rs_json_number(&json, "schema", RS_CELL_SCHEMA);
  rs_json_number(&json, "shard", (double)shard.number);
  rs_json_number(&json, "shards", (double)shard.count);
  rs_json_number(&json, "cells_of_shard", (double)ledger->wanted);
  rs_json_number(&json, "cells", (double)ledger->count);
  rs_json_string(&json, "instruction_set", ledger->isa);
  rs_json_string(&json, "config", rs_text_string(&config));
  rs_json_string(&json, "config_sha256", sha);
  rs_parts_write(&parts, false, &json);
  rs_parts_write(&parts, true, &json);
  rs_json_end(&json);
  free(parts.items);
  rs_text_clear(&config);
  return status == RS_OK ? rs_text_check(words, err) : status;
}

rs_status rs_shard_file_write(const rs_ledger *ledger, rs_sweep_shard shard, const char *directory, rs_err *err) {
  rs_text words = {0};
  char path[RS_PATH_CHARS];
  RS_TRY(rs_folder_path(directory, RS_SHARD_FILE, path, err));
  rs_status status = put_words(ledger, shard, &words, err);
  if (status == RS_OK) status = rs_file_write(path, rs_text_string(&words), words.length, err);
  rs_text_clear(&words);
  return status;
}

/* ---- reading ----------------------------------------------------------------------------------------------------- */

/* The text of a member, as it stands in JSON or in quotes; "" where there is none. */
static const char *word(const rs_node *object, const char *key) {
  const rs_node *node = object != NULL && object->kind == RS_MAPPING ? rs_node_get(object, key) : NULL;
  return node != NULL && node->kind == RS_SCALAR ? node->text : "";
}

static size_t count_in(const rs_node *object, const char *key) {
  double number;
  return rs_number_read(word(object, key), &number) && number >= 1 && number <= 1e15 ? (size_t)number : 0;
}

static rs_status unpack(const char *path, rs_shard_file *file, rs_err *err) {
  const rs_node *root = &file->tree->root;
  file->version = word(root, "version");
  file->schema = count_in(root, "schema");
  file->shard = (rs_sweep_shard){count_in(root, "shard"), count_in(root, "shards")};
  file->isa = word(root, "instruction_set");
  file->config = word(root, "config");
  file->kinds = root->kind == RS_MAPPING ? rs_node_get(root, "kinds") : NULL;
  file->inputs = root->kind == RS_MAPPING ? rs_node_get(root, "inputs") : NULL;
  bool lists = file->kinds != NULL && file->kinds->kind == RS_SEQUENCE && file->inputs != NULL &&
               file->inputs->kind == RS_SEQUENCE;
  bool whole = lists && *file->version != '\0' && *file->isa != '\0' && *file->config != '\0' &&
               file->shard.number > 0 && file->shard.number <= file->shard.count;
  return whole ? RS_OK : rs_fail(err, RS_INPUT, "%s: is not what a run with --shard writes", path);
}

rs_status rs_shard_file_read(const char *directory, rs_shard_file *file, rs_err *err) {
  char *text, path[RS_PATH_CHARS];
  size_t length;
  *file = (rs_shard_file){0};
  RS_TRY(rs_folder_path(directory, RS_SHARD_FILE, path, err));
  if (access(directory, F_OK) != 0) return rs_fail_read(err, "%s: there is no such folder", directory);
  if (access(path, F_OK) != 0)
    return rs_fail(err, RS_INPUT, "%s: holds no shard: there is no %s in it (ropescope run --shard makes one)",
                   directory, RS_SHARD_FILE);
  RS_TRY(rs_file_read(path, LARGEST, &text, &length, err));
  rs_status status = rs_json_read(text, length, path, &file->tree, err);
  free(text);
  return status == RS_OK ? unpack(path, file, err) : status;
}

void rs_shard_file_clear(rs_shard_file *file) {
  rs_tree_free(file->tree);
  *file = (rs_shard_file){0};
}

/* ---- whether folders fit ----------------------------------------------------------------------------------------- */

static rs_status fits_shard(const rs_experiment *experiment, const char *directory, rs_err *err) {
  rs_shard_file file;
  rs_text config = {0};
  rs_status status = rs_shard_file_read(directory, &file, err);
  rs_experiment_write(experiment, &config);
  if (status == RS_OK) status = rs_text_check(&config, err);
  if (status == RS_OK && strcmp(file.config, rs_text_string(&config)) != 0)
    status = rs_fail(err, RS_INPUT,
                     "%s holds a shard of another config: choose another --out, or --force to replace it", directory);
  rs_text_clear(&config);
  rs_shard_file_clear(&file);
  return status;
}

rs_status rs_shard_fits(const rs_experiment *experiment, const char *directory, bool force, rs_err *err) {
  if (rs_folder_has(directory, "summary.csv"))
    return rs_fail(err, RS_INPUT, "%s holds results: a shard goes into a folder of its own (choose another --out)",
                   directory);
  return rs_folder_has(directory, RS_SHARD_FILE) && !force ? fits_shard(experiment, directory, err) : RS_OK;
}

/* ---- reading several --------------------------------------------------------------------------------------------- */

/* The first line in which two configs differ: "lengths: [1k]" beside "lengths: [2k]". */
static rs_status refuse_config(const char *first, const char *a, const char *folder, const char *b, rs_err *err) {
  int line = 1;
  while (*a != '\0' && strcspn(a, "\n") == strcspn(b, "\n") && strncmp(a, b, strcspn(a, "\n")) == 0) {
    a += strcspn(a, "\n"), b += strcspn(b, "\n");
    a += *a == '\n', b += *b == '\n';
    line++;
  }
  return rs_fail(err, RS_INPUT, "%s is of another config than %s: line %d of it is \"%.*s\", there \"%.*s\"", folder,
                 first, line, (int)strcspn(b, "\n"), b, (int)strcspn(a, "\n"), a);
}

/* Beside what this program lists for the config. */
static rs_status check_part(const char *folder, const rs_shard_file *file, const rs_part *mine, rs_err *err) {
  const rs_node *list = mine->kind != NULL ? file->kinds : file->inputs, *theirs = NULL;
  for (size_t i = 0; i < list->count && theirs == NULL; i++) {
    const rs_node *entry = &list->items[i];
    bool same = mine->kind == NULL
                    ? strcmp(word(entry, "file"), mine->name) == 0
                    : strcmp(word(entry, "stage"), mine->stage) == 0 && strcmp(word(entry, "name"), mine->name) == 0;
    if (same) theirs = entry;
  }
  size_t version = count_in(theirs, "version");
  if (mine->kind != NULL && version != (size_t)rs_kind_version(mine->kind))
    return rs_fail(err, RS_INPUT,
                   "%s: %s %s is of version %zu there, and of version %d in this program (run the shard again)", folder,
                   mine->stage, mine->name, version, rs_kind_version(mine->kind));
  if (mine->kind == NULL && strcmp(mine->hash, word(theirs, "sha256")) != 0)
    return rs_fail(err, RS_INPUT, "%s: %s was another file when that ran: its SHA-256 was %.12s..., and is %.12s...",
                   folder, mine->name, word(theirs, "sha256"), mine->hash);
  return RS_OK;
}

static rs_status check_versions(const char *first, const rs_shard_file *wanted, const char *folder,
                                const rs_shard_file *file, rs_err *err) {
  if (strcmp(file->version, ROPESCOPE_VERSION) != 0 || file->schema != RS_CELL_SCHEMA)
    return rs_fail(err, RS_INPUT,
                   "%s: was made by version %s (records of version %zu), this is %s (%d): run the shard again", folder,
                   file->version, file->schema, ROPESCOPE_VERSION, RS_CELL_SCHEMA);
  if (strcmp(file->config, wanted->config) != 0) return refuse_config(first, wanted->config, folder, file->config, err);
  if (strcmp(file->isa, wanted->isa) != 0)
    return rs_fail(err, RS_INPUT,
                   "%s was computed by %s, %s by %s: their last digits differ (run all shards with one --isa, as "
                   "--isa generic)",
                   folder, file->isa, first, wanted->isa);
  return RS_OK;
}

/* Each folder beside the first, and beside this program. */
static rs_status check_all(const char *const *folders, size_t count, const rs_shard_file *first,
                           const rs_experiment *experiment, rs_err *err) {
  rs_parts parts;
  rs_status status = rs_parts_list(experiment, &parts, err);
  for (size_t i = 0; i < count && status == RS_OK; i++) {
    rs_shard_file file;
    status = rs_shard_file_read(folders[i], &file, err);
    if (status == RS_OK) status = check_versions(folders[0], first, folders[i], &file, err);
    for (size_t p = 0; p < parts.count && status == RS_OK; p++)
      status = check_part(folders[i], &file, &parts.items[p], err);
    rs_shard_file_clear(&file);
  }
  free(parts.items);
  return status;
}

static rs_status refuse_twins(const char *const *folders, size_t count, rs_err *err) {
  char **real = rs_alloc(count, sizeof *real, err);
  rs_status status = real != NULL ? RS_OK : RS_MEMORY;
  for (size_t i = 0; i < count && status == RS_OK; i++) {
    real[i] = realpath(folders[i], NULL);
    for (size_t j = 0; j < i && real[i] != NULL && status == RS_OK; j++)
      if (real[j] != NULL && strcmp(real[i], real[j]) == 0)
        status = rs_fail(err, RS_INPUT, "%s stands there twice%s%s", folders[j],
                         strcmp(folders[i], folders[j]) != 0 ? ", also as " : "",
                         strcmp(folders[i], folders[j]) != 0 ? folders[i] : "");
  }
  for (size_t i = 0; i < count && real != NULL; i++) free(real[i]);
  free(real);
  return status;
}

rs_status rs_shards_read(const char *const *folders, size_t count, rs_experiment **experiment, rs_problems *problems,
                         rs_err *err) {
  rs_shard_file first;
  *experiment = NULL;
  RS_TRY(refuse_twins(folders, count, err));
  rs_status status = rs_shard_file_read(folders[0], &first, err);
  if (status == RS_OK) status = check_versions(folders[0], &first, folders[0], &first, err);
  if (status == RS_OK)
    status = rs_config_read(first.config, folders[0], (rs_config_edits){0}, experiment, problems, err);
  if (status == RS_OK) status = check_all(folders, count, &first, *experiment, err);
  if (status != RS_OK) {
    rs_experiment_free(*experiment);
    *experiment = NULL;
  }
  rs_shard_file_clear(&first);
  return status;
}
