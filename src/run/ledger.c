/* The cells of a run: their order, their roles and their keys, and by these beside the journal's records which are
 * done. What a cell is made of (a model, a method, a source) is put in words once for all lengths, seeds and heads; the
 * key of a cell is that of these words, its length, seed and heads. */
#include "ledger.h"

#include <stdlib.h>
#include <string.h>

/* ---- order ------------------------------------------------------------------------------------------------------- */

/* By what a cell is sorted: what it shares with others, and its place among these. */
typedef struct cell_place {
  size_t shared[6], within[6];
} cell_place;

static int compare_numbers(const size_t a[6], const size_t b[6]) {
  for (size_t i = 0; i < 6; i++)
    if (a[i] != b[i]) return a[i] > b[i] ? 1 : -1;
  return 0;
}

static int compare_places(const void *a, const void *b, void *context) {
  const cell_place *places = context;
  size_t x = *(const size_t *)a, y = *(const size_t *)b;
  int difference = compare_numbers(places[x].shared, places[y].shared);
  if (difference == 0) difference = compare_numbers(places[x].within, places[y].within);
  return difference != 0 ? difference : (x > y) - (x < y);
}

static void sort_places(cell_place *places, size_t count, size_t *order, bool *opens) {
  for (size_t i = 0; i < count; i++) order[i] = i;
  qsort_r(order, count, sizeof *order, compare_places, places);
  for (size_t i = 0; i < count; i++)
    opens[i] = i == 0 || compare_numbers(places[order[i - 1]].shared, places[order[i]].shared) != 0;
}

/* Simulated heads: cells of one model, length, source and seed have the same queries and keys, those of one model,
 * source and length the rows of a text, those of one model, length and additive method its projections, which cost more
 * than what they are added to. Where no metric reads rows, cells of one model, length and method have the same tables.
 */
static cell_place place_simulated(const rs_experiment *experiment, const rs_cell *cell, bool rows) {
  const size_t *axis = cell->axis;
  bool text = rows && rs_reads_model(experiment, cell), projects = rows && rs_projects(experiment, cell);
  bool drawn = rows && !text && !projects;
  return (cell_place){.shared = {axis[RS_BY_MODEL], axis[RS_BY_LENGTH], text ? 1 + axis[RS_BY_SOURCE] : 0,
                                 !rows || (projects && !text) ? 1 + axis[RS_BY_METHOD] : 0,
                                 drawn ? 1 + axis[RS_BY_SEED] : 0, drawn ? 1 + axis[RS_BY_SOURCE] : 0},
                      .within = {projects ? 1 + axis[RS_BY_METHOD] : 0, axis[RS_BY_SEED], axis[RS_BY_SOURCE],
                                 axis[RS_BY_METHOD], cell->group}};
}

/* Checkpoints: cells that need the same training; of models that are there, cells that are read together. */
static cell_place place_trained(const rs_experiment *experiment, const rs_cell *cell, size_t training) {
  const size_t *axis = cell->axis;
  cell_place p = {.shared = {training},
                  .within = {rs_weights_index(experiment, cell), axis[RS_BY_SEED], axis[RS_BY_METHOD],
                             axis[RS_BY_LENGTH], axis[RS_BY_SOURCE], cell->group}};
  if (training == 0) memcpy(p.shared + 1, p.within, 4 * sizeof *p.within);
  return p;
}

rs_status rs_cells_sort(const rs_experiment *experiment, const rs_cell *cells, size_t count, const size_t *trainings,
                        size_t *order, bool *opens, rs_err *err) {
  bool rows = rs_needs_heads(experiment);
  cell_place *places = rs_alloc(count, sizeof *places, err);
  if (places == NULL) return RS_MEMORY;
  for (size_t i = 0; i < count; i++)
    places[i] = trainings != NULL ? place_trained(experiment, &cells[i], trainings[i])
                                  : place_simulated(experiment, &cells[i], rows);
  sort_places(places, count, order, opens);
  free(places);
  return RS_OK;
}

/* ---- roles ------------------------------------------------------------------------------------------------------- */

/* A cell's rank is the number of those before it that it shares with: model, length, method, heads, and the seed where
 * it counts. */
static rs_status make_roles(const rs_experiment *experiment, const rs_cell *cells, size_t count, rs_cell_role *roles,
                            rs_err *err) {
  bool trained = experiment->checkpoints != NULL;
  rs_arena arena = {0};
  cell_place *places = rs_arena_take(&arena, count, sizeof *places);
  size_t *order = rs_arena_take(&arena, count, sizeof *order), rank = 0;
  bool *opens = rs_arena_take(&arena, count, sizeof *opens);
  rs_status status = rs_arena_check(&arena, err);
  for (int seeds = trained; seeds < 2 && status == RS_OK; seeds++) {
    for (size_t i = 0; i < count; i++) {
      const size_t *axis = cells[i].axis;
      places[i] = (cell_place){.shared = {axis[RS_BY_MODEL], axis[RS_BY_LENGTH], axis[RS_BY_METHOD],
                                          seeds == 1 ? axis[RS_BY_SEED] : 0, trained ? 0 : cells[i].group}};
    }
    sort_places(places, count, order, opens);
    for (size_t i = 0; i < count; i++) {
      rs_cell_role *role = &roles[order[i]];
      rank = opens[i] ? 0 : rank + 1;
      if (seeds == 0) role->tables = rank == 0;
      if (seeds == 1) role->draws = rank == 0;
      if (trained) role->rank = rank;
    }
  }
  rs_arena_clear(&arena);
  return status;
}

/* ---- words ------------------------------------------------------------------------------------------------------- */

static void put_version(rs_text *words, const char *stage, const rs_kind *kind) {
  rs_text_printf(words, "%s: %s %d\n", stage, kind->name, rs_kind_version(kind));
}

static void put_stages(rs_text *words, const rs_method *method, const rs_settings *settings) {
  const rs_lscale_kind *lscale = rs_lscale_chosen(settings);
  put_version(words, "pos", &method->pos->kind);
  if (method->freq != NULL) put_version(words, "freq", &method->freq->kind);
  if (method->embed != NULL) put_version(words, "embed", &method->embed->kind);
  if (method->bias != NULL) put_version(words, "bias", &method->bias->kind);
  if (method->vectors != NULL) put_version(words, "vectors", &method->vectors->kind);
  if (lscale != NULL) put_version(words, "lscale", &lscale->kind);
}

/* What files held when they were read; of a folder with a model, what it holds. One that cannot be read is told when it
 * is wanted: its cells fail, and are tried again. */
static rs_status put_files(rs_text *words, const rs_settings *settings, rs_err *err) {
  for (size_t i = 0; i < settings->count; i++) {
    const rs_value *value = &settings->values[i];
    if (value->file == NULL) continue;
    char hash[65] = "";
    rs_err why = {0};
    bool folder = settings->params[i]->type == RS_FOLDER;
    if (folder && rs_folder_fingerprint(value->file, hash, &why) == RS_MEMORY)
      return rs_fail(err, RS_MEMORY, "%s", why.message);
    rs_text_printf(words, "%s: %s%s\n", settings->params[i]->name, folder ? hash : value->hash, why.message);
  }
  return RS_OK;
}

/* One model, method and source of an experiment, as an experiment. */
typedef struct single {
  rs_experiment experiment;
  rs_model model;
  rs_variant method, source;
  size_t length;
  uint64_t seed;
} single;

static void unname(rs_variant *variant) {
  variant->label = (char *)rs_variant_name(variant); /* only read */
}

static void single_make(const rs_experiment *experiment, const rs_cell *cell, single *s) {
  rs_experiment *one = &s->experiment;
  *s = (single){.experiment = *experiment,
                .model = experiment->models[cell->axis[RS_BY_MODEL]],
                .method = experiment->methods.items[cell->axis[RS_BY_METHOD]]};
  s->model.name[0] = '\0';
  unname(&s->method);
  if (experiment->sources.count > 0) {
    s->source = experiment->sources.items[cell->axis[RS_BY_SOURCE]];
    unname(&s->source);
    one->sources = (rs_variants){.items = &s->source, .count = 1};
  }
  one->name = one->description = (char *)""; /* only read */
  one->models = &s->model;
  one->methods = (rs_variants){.items = &s->method, .count = 1};
  one->lengths = &s->length;
  one->seeds = &s->seed;
  one->model_count = one->length_count = one->seed_count = 1;
  one->heads = (rs_head_choice){.all = true};
  one->swept_count = 0;
  memset(one->zipped, 0, sizeof one->zipped);
  if (one->task.task != NULL) unname(&one->task);
  if (one->checkpoints != NULL) one->checkpoints += cell->axis[RS_BY_MODEL];
}

/* The config of the parts that a cell is made of, and what it does not say. */
static rs_status put_parts(rs_text *words, const char *isa, const single *s, rs_err *err) {
  const rs_experiment *one = &s->experiment;
  rs_text_printf(words, "schema: %d\nprogram: %s\ninstruction_set: %s\n", RS_CELL_SCHEMA, ROPESCOPE_VERSION, isa);
  rs_experiment_write(one, words);
  if (s->model.published.method != NULL) {
    put_stages(words, s->model.published.method, &s->model.published.settings);
    RS_TRY(put_files(words, &s->model.published.settings, err));
  }
  if (s->method.added) rs_text_printf(words, "baseline: %s\n", rs_baseline_words[s->method.baseline]);
  if (one->targets.longest > 0) rs_text_printf(words, "longest: %zu\n", one->targets.longest);
  if (s->method.method != NULL) put_stages(words, s->method.method, &s->method.settings);
  RS_TRY(put_files(words, &s->method.settings, err));
  if (one->sources.count > 0) {
    const rs_variant *source = &s->source;
    const rs_recipe rotated = rs_variant_rotated(source);
    put_version(words, "source", &source->source->kind);
    if (rotated.method != NULL) put_stages(words, rotated.method, &rotated.settings);
    RS_TRY(put_files(words, &source->settings, err));
  }
  for (size_t m = 0; m < one->metrics.count; m++) {
    put_version(words, "metric", &one->metrics.items[m].metric->kind);
    RS_TRY(put_files(words, &one->metrics.items[m].settings, err));
  }
  if (one->task.task == NULL) return RS_OK;
  put_version(words, "task", &one->task.task->kind);
  return put_files(words, &one->task.settings, err);
}

static rs_status digest_parts(const rs_experiment *experiment, const char *isa, const rs_cell *cell, rs_cell_key *key,
                              rs_err *err) {
  single s;
  rs_text words = {0};
  single_make(experiment, cell, &s);
  rs_status status = put_parts(&words, isa, &s, err);
  if (status == RS_OK) status = rs_text_check(&words, err);
  rs_sha256_digest(&(rs_bytes){rs_text_string(&words), words.length}, 1, key->bytes);
  rs_text_clear(&words);
  return status;
}

/* What the checkpoint of a cell is: the fingerprint of what determines its weights, or of the folder that has them. */
static rs_status digest_checkpoint(const rs_experiment *experiment, const rs_cell *cell, rs_cell_key *key,
                                   rs_err *err) {
  const rs_checkpoint *checkpoint = &experiment->checkpoints[cell->axis[RS_BY_MODEL]];
  rs_stage_state stages[RS_STAGES];
  char folder[65] = "";
  rs_err why = {0};
  rs_weights_in in = rs_cell_weights(experiment, cell);
  rs_status status = rs_checkpoint_stages(experiment, &in, NULL, stages, &why);
  if (status == RS_OK && checkpoint->folder != NULL) status = rs_folder_fingerprint(checkpoint->folder, folder, &why);
  if (status == RS_MEMORY) return rs_fail(err, RS_MEMORY, "%s", why.message);
  rs_sha256_digest((const rs_bytes[]){{folder, strlen(folder)},
                                      {stages[RS_STAGE_TRAINING].hash, 64},
                                      {stages[RS_STAGE_TUNING].hash, 64},
                                      {why.message, strlen(why.message)}},
                   4, key->bytes);
  return RS_OK;
}

/* ---- making keys ------------------------------------------------------------------------------------------------- */

/* Zeros where a digest is not made yet. */
static bool is_made(const rs_cell_key *key) {
  static const rs_cell_key none;
  return memcmp(key, &none, sizeof none) != 0;
}

/* Digests of parts, by model, method and source, and of checkpoints, by model and seed (zeros where heads are
 * simulated), are made once for all cells. */
static rs_status make_key(rs_ledger *ledger, size_t cell, rs_cell_key *parts, rs_cell_key *checkpoints, rs_err *err) {
  const rs_experiment *experiment = ledger->experiment;
  const rs_cell *c = &ledger->cells[cell];
  const rs_cell_role *role = &ledger->roles[cell];
  size_t sources = experiment->sources.count > 0 ? experiment->sources.count : 1;
  rs_head_group group;
  parts += (c->axis[RS_BY_MODEL] * experiment->methods.count + c->axis[RS_BY_METHOD]) * sources + c->axis[RS_BY_SOURCE];
  if (!is_made(parts)) RS_TRY(digest_parts(experiment, ledger->isa, c, parts, err));
  if (experiment->checkpoints != NULL) checkpoints += rs_weights_index(experiment, c);
  if (experiment->checkpoints != NULL && !is_made(checkpoints))
    RS_TRY(digest_checkpoint(experiment, c, checkpoints, err));
  RS_TRY(rs_experiment_heads(experiment, c, &group, err));
  const uint64_t numbers[] = {experiment->lengths[c->axis[RS_BY_LENGTH]], experiment->seeds[c->axis[RS_BY_SEED]],
                              role->tables, role->draws, role->rank};
  rs_sha256_digest((const rs_bytes[]){{parts, sizeof *parts},
                                      {checkpoints, sizeof *checkpoints},
                                      {numbers, sizeof numbers},
                                      {group.heads, group.count * sizeof *group.heads}},
                   4, ledger->keys[cell].bytes);
  rs_head_group_clear(&group);
  return RS_OK;
}

/* The keys of all cells as the instruction set computes them: the SHA-256 of the config of the cell alone with every
 * default, names and labels left out; of the versions of program, record and all kinds that take part, that instruction
 * set, the bytes of files that are read, the fingerprints of checkpoints, and its role. RS_IO where a checkpoint cannot
 * be read, RS_MEMORY. */
static rs_status make_keys(rs_ledger *ledger, rs_err *err) {
  const rs_experiment *experiment = ledger->experiment;
  size_t sources = experiment->sources.count > 0 ? experiment->sources.count : 1;
  rs_arena arena = {0};
  rs_cell_key *parts =
      rs_arena_take(&arena, experiment->model_count * experiment->methods.count * sources, sizeof *parts);
  rs_cell_key *checkpoints = rs_arena_take(&arena, rs_weights_count(experiment), sizeof *checkpoints);
  rs_status status = rs_arena_check(&arena, err);
  for (size_t i = 0; i < ledger->count && status == RS_OK; i++) status = make_key(ledger, i, parts, checkpoints, err);
  rs_arena_clear(&arena);
  return status;
}

/* ---- finding keys ------------------------------------------------------------------------------------------------ */

static int compare_keys(const void *a, const void *b, void *context) {
  const rs_cell_key *keys = context;
  return memcmp(&keys[*(const size_t *)a], &keys[*(const size_t *)b], sizeof *keys);
}

/* The first place in by_key whose key is not less. */
static size_t find_key(const rs_ledger *ledger, const rs_cell_key *key) {
  size_t low = 0, high = ledger->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (memcmp(&ledger->keys[ledger->by_key[middle]], key, sizeof *key) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

const size_t *rs_ledger_find(const rs_ledger *ledger, const rs_cell_key *key, size_t *count) {
  size_t first = find_key(ledger, key), end = first;
  while (end < ledger->count && memcmp(&ledger->keys[ledger->by_key[end]], key, sizeof *key) == 0) end++;
  *count = end - first;
  return ledger->by_key + first;
}

/* A record stands for all cells of its key; the last one counts. */
static rs_status note_record(void *context, const rs_cell_key *key, uint64_t offset, const uint8_t *data, size_t length,
                             rs_err *err) {
  rs_ledger *ledger = context;
  size_t count;
  const size_t *cells = rs_ledger_find(ledger, key, &count);
  (void)err;
  if (!rs_cell_record_holds(data, length)) return RS_OK;
  for (size_t i = 0; i < count; i++) {
    ledger->done += rs_ledger_pending(ledger, cells[i]);
    ledger->places[cells[i]] = offset;
  }
  return RS_OK;
}

/* ---- opening ----------------------------------------------------------------------------------------------------- */

rs_status rs_ledger_make(const rs_experiment *experiment, const char *isa, rs_ledger *ledger, rs_err *err) {
  rs_arena *arena = &ledger->arena;
  *ledger = (rs_ledger){.experiment = experiment, .isa = isa, .journal.file = -1, .lock = PTHREAD_MUTEX_INITIALIZER};
  RS_TRY(rs_experiment_cells(experiment, &ledger->cells, &ledger->count, err));
  size_t count = ledger->wanted = ledger->count;
  ledger->roles = rs_arena_take(arena, count, sizeof *ledger->roles);
  ledger->keys = rs_arena_take(arena, count, sizeof *ledger->keys);
  ledger->others = rs_arena_take(arena, count, sizeof *ledger->others);
  ledger->places = rs_arena_take(arena, count, sizeof *ledger->places);
  ledger->weights = rs_arena_take(arena, count, sizeof *ledger->weights);
  ledger->by_key = rs_arena_take(arena, count, sizeof *ledger->by_key);
  RS_TRY(rs_arena_check(arena, err));
  RS_TRY(make_roles(experiment, ledger->cells, count, ledger->roles, err));
  RS_TRY(make_keys(ledger, err));
  for (size_t i = 0; i < count; i++) ledger->by_key[i] = i;
  qsort_r(ledger->by_key, count, sizeof *ledger->by_key, compare_keys, ledger->keys);
  return RS_OK;
}

void rs_ledger_leave(rs_ledger *ledger, size_t cell) {
  ledger->wanted -= !ledger->others[cell];
  ledger->others[cell] = true;
}

rs_status rs_ledger_open(rs_ledger *ledger, const char *directory, bool fresh, rs_err *err) {
  RS_TRY(rs_journal_open(directory, fresh, note_record, ledger, &ledger->journal, err));
  ledger->resumed = ledger->done;
  return RS_OK;
}

rs_status rs_ledger_scan(rs_ledger *ledger, const char *directory, rs_err *err) {
  return rs_journal_scan(directory, note_record, ledger, err);
}

void rs_ledger_close(rs_ledger *ledger) {
  rs_journal_close(&ledger->journal);
  (void)pthread_mutex_destroy(&ledger->lock);
  free(ledger->cells);
  rs_arena_clear(&ledger->arena);
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

rs_status rs_ledger_state(const rs_ledger *ledger, size_t index, rs_cell_state *state, rs_err *err) {
  rs_status status = rs_cell_state_make(ledger->experiment, &ledger->cells[index], state, err);
  state->number = index;
  state->role = ledger->roles[index];
  state->weight = ledger->weights[index];
  return status;
}

rs_status rs_ledger_put(rs_ledger *ledger, size_t cell, const rs_text *record, rs_err *err) {
  (void)pthread_mutex_lock(&ledger->lock);
  bool before = rs_ledger_pending(ledger, cell);
  rs_status status = rs_journal_add(&ledger->journal, &ledger->keys[cell], record, &ledger->places[cell], err);
  ledger->done += before && status == RS_OK;
  (void)pthread_mutex_unlock(&ledger->lock);
  return status;
}

rs_status rs_ledger_add(rs_ledger *ledger, const rs_cell_state *state, rs_err *err) {
  rs_text record = {0};
  rs_cell_record_write(ledger->experiment, state, &record);
  rs_status status = rs_ledger_put(ledger, state->number, &record, err);
  rs_text_clear(&record);
  return status;
}

/* What is taken from another journal, of whose records of one cell the last counts. */
typedef struct taking {
  rs_ledger *ledger;
  uint64_t begin; /* of what it adds */
  bool all;
} taking;

static rs_status take_record(void *context, const rs_cell_key *key, uint64_t offset, const uint8_t *data, size_t length,
                             rs_err *err) {
  const taking *t = context;
  rs_ledger *ledger = t->ledger;
  rs_text record = {0};
  uint64_t place;
  size_t count, there = 0;
  const size_t *cells = rs_ledger_find(ledger, key, &count);
  (void)offset;
  for (size_t i = 0; i < count; i++) there += ledger->places[cells[i]] != 0 && ledger->places[cells[i]] < t->begin;
  if ((count > 0 && there == count) || (!t->all && !rs_cell_record_holds(data, length))) return RS_OK;
  rs_text_add(&record, (const char *)data, length);
  rs_status status = rs_journal_add(&ledger->journal, key, &record, &place, err);
  rs_text_clear(&record);
  for (size_t i = 0; i < count && status == RS_OK; i++) {
    uint64_t *of_cell = &ledger->places[cells[i]];
    ledger->done += rs_ledger_pending(ledger, cells[i]);
    if (*of_cell == 0 || *of_cell >= t->begin) *of_cell = place;
  }
  return status;
}

rs_status rs_ledger_take(rs_ledger *ledger, const char *folder, bool all, rs_err *err) {
  taking t = {ledger, ledger->journal.end, all};
  rs_folder_lock lock;
  RS_TRY(rs_folder_lock_share(folder, &lock, err));
  rs_status status = rs_journal_scan(folder, take_record, &t, err);
  rs_folder_lock_drop(&lock);
  return status == RS_OK ? rs_ledger_sync(ledger, err) : status;
}

rs_status rs_ledger_sync(rs_ledger *ledger, rs_err *err) {
  (void)pthread_mutex_lock(&ledger->lock);
  rs_status status = rs_journal_sync(&ledger->journal, err);
  (void)pthread_mutex_unlock(&ledger->lock);
  return status;
}

rs_status rs_ledger_read(const rs_ledger *ledger, size_t index, rs_cell_state *state, rs_err *err) {
  rs_text record = {0};
  RS_TRY(rs_ledger_state(ledger, index, state, err));
  rs_status status = rs_journal_read(&ledger->journal, ledger->places[index], &record, err);
  if (status == RS_OK)
    status =
        rs_cell_record_read(ledger->experiment, (const uint8_t *)rs_text_string(&record), record.length, state, err);
  rs_text_clear(&record);
  return status;
}

/* ---- the end ----------------------------------------------------------------------------------------------------- */

/* Whether a cell is read from this record: not from an earlier one of the same key. */
static bool is_needed(const void *context, const rs_cell_key *key, uint64_t offset) {
  const rs_ledger *ledger = context;
  size_t first = find_key(ledger, key), cell = first < ledger->count ? ledger->by_key[first] : 0;
  return first < ledger->count && memcmp(&ledger->keys[cell], key, sizeof *key) == 0 && ledger->places[cell] == offset;
}

rs_status rs_ledger_compact(rs_ledger *ledger, rs_err *err) {
  static const uint64_t room = (uint64_t)256 << 20; /* read and summed in about a second, when a run begins */
  return rs_journal_compact(&ledger->journal, is_needed, ledger, room, err);
}
