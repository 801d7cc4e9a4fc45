/* The sweep that stands for any published model: what does it do, out to 4 times its length? It is written as a config,
 * so that whoever wants to ask further changes it like any other. */
#include "config_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  REACH = 4,                 /* times the length that a model is served at */
  LONGEST_OBSERVED = 1 << 20 /* tokens: rows of longer contexts take minutes */
};

/* What the sweep takes from a file. */
typedef struct standing_model {
  char name[sizeof((rs_model *)0)->name];
  size_t trained, served; /* tokens; 0: not said */
  bool rotates, plain;    /* some method turns pairs; it is plain RoPE */
  bool known;             /* what its layers see has a mask, */
  rs_mask mask;           /* which is this */
} standing_model;

typedef struct standing {
  const rs_standing_in *in;
  standing_model *models; /* (in->count,) */
  size_t *lengths;        /* (length_count,) ascending */
  size_t length_count, room;
} standing;

/* ---- models ------------------------------------------------------------------------------------------------------ */

/* Refuses what no rotation and no known bias places: there is nothing to follow. */
static rs_status check_method(const char *file, const rs_model *model, rs_err *err) {
  const rs_method *method = model->published.method;
  if (method == NULL) return rs_fail(err, RS_UNSUPPORTED, "%s: %s publishes no positional recipe", file, model->name);
  if (method->freq != NULL || strcmp(method->name, "alibi") == 0) return RS_OK;
  if (method->embed != NULL)
    return rs_fail(err, RS_UNSUPPORTED,
                   "%s: %s adds a table of positions to its tokens and turns nothing: there is no rotation to follow "
                   "to other lengths (with its weights, checkpoint: {folder: ...} in a config reads it)",
                   file, model->name);
  if (method->bias != NULL || method->vectors != NULL)
    return rs_fail(err, RS_UNSUPPORTED,
                   "%s: the %s of %s are learned, and config.json does not hold them (with its weights, "
                   "checkpoint: {folder: ...} in a config reads it)",
                   file, method->bias != NULL ? "biases" : "vectors of distance", model->name);
  return rs_fail(
      err, RS_UNSUPPORTED,
      "%s: the attention of %s has no positions: no table of it depends on the length (show layers says what "
      "its layers do)",
      file, model->name);
}

static rs_status check_length(const standing *s, const char *file, const rs_model *model, rs_err *err) {
  if (model->train_length > 0 || s->in->any_length) return RS_OK;
  return rs_fail(err, RS_INPUT,
                 "%s: %s says no length, as max_position_embeddings does (--set 'model[0].train_length=4096' --lengths "
                 "4k,16k says it)",
                 file, model->name);
}

static rs_status read_profile(standing *s, const char *file, standing_model *m, rs_err *err) {
  rs_profile profile = {0};
  size_t kind;
  RS_TRY(rs_profile_load(file, &profile, err));
  rs_status status = rs_profile_find(&profile, s->in->layers, &kind, err);
  if (status == RS_OK) {
    const rs_layer_kind *layers = &profile.kinds[kind];
    const rs_model *model = &layers->model;
    status = check_method(file, model, err);
    if (status == RS_OK) status = check_length(s, file, model, err);
    bool rotates = status == RS_OK && model->published.method->freq != NULL;
    *m = (standing_model){.trained = model->train_length,
                          .served = model->max_length > model->train_length ? model->max_length : model->train_length,
                          .rotates = rotates,
                          .plain = rotates && strcmp(model->published.method->name, "rope") == 0,
                          .known = profile.counted && layers->compression == 0,
                          .mask = layers->mask};
    snprintf(m->name, sizeof m->name, "%s", model->name);
  }
  rs_profile_clear(&profile);
  return status;
}

static rs_status read_model(standing *s, size_t index, rs_err *err) {
  char *file = rs_model_file(rs_strdup(s->in->files[index], err));
  if (file == NULL) return RS_MEMORY;
  rs_status status = read_profile(s, file, &s->models[index], err);
  free(file);
  return status;
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

/* The last parts of where a file is, however it is named: from within its folder, or through a link. */
static size_t stem_of(const standing *s, size_t index, size_t parts, char *out, size_t size) {
  char *file = rs_model_file(rs_strdup(s->in->files[index], NULL));
  char *real = file != NULL ? realpath(file, NULL) : NULL;
  size_t written = rs_file_stem(real != NULL ? real : s->in->files[index], parts, out, size);
  free(real);
  free(file);
  return written;
}

/* Whether another file of the same family has the same last parts. */
static bool alike(const standing *s, size_t index, size_t parts) {
  char own[sizeof s->models->name], other[sizeof own];
  stem_of(s, index, parts, own, sizeof own);
  for (size_t i = 0; i < s->in->count; i++) {
    if (i == index || strcmp(s->models[i].name, s->models[index].name) != 0) continue;
    stem_of(s, i, parts, other, sizeof other);
    if (strcmp(own, other) == 0) return true;
  }
  return false;
}

static bool only_of_family(const standing *s, size_t index) {
  for (size_t i = 0; i < s->in->count; i++)
    if (i != index && strcmp(s->models[i].name, s->models[index].name) == 0) return false;
  return true;
}

/* The family, and where there are several of it, as much of the path as tells them apart. */
static void put_name(const standing *s, size_t index, rs_text *yaml) {
  char stem[sizeof s->models->name], name[sizeof s->models->name];
  size_t parts = 1;
  if (only_of_family(s, index)) return;
  while (alike(s, index, parts) && stem_of(s, index, parts, stem, sizeof stem) == parts) parts++;
  stem_of(s, index, parts, stem, sizeof stem);
  snprintf(name, sizeof name, "%.63s %.120s", s->models[index].name, stem);
  rs_text_puts(yaml, ", name: ");
  rs_text_quote(yaml, name);
}

static void put_models(const standing *s, rs_text *yaml) {
  rs_text_puts(yaml, "model:\n");
  for (size_t i = 0; i < s->in->count; i++) {
    rs_text_puts(yaml, "  - {hf: ");
    rs_text_quote(yaml, s->in->files[i]);
    if (s->in->layers != NULL) rs_text_puts(yaml, ", layers: ");
    if (s->in->layers != NULL) rs_text_quote(yaml, s->in->layers);
    put_name(s, i, yaml);
    rs_text_puts(yaml, "}\n");
  }
}

/* The name of the results folder: that of the only file, or the first one's and how many more there are. */
static void put_title(const standing *s, rs_text *yaml) {
  char stem[80];
  if (stem_of(s, 0, 1, stem, sizeof stem) == 0) snprintf(stem, sizeof stem, "%.63s", s->models[0].name);
  for (char *c = stem; *c != '\0'; c++)
    if (strchr("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-", *c) == NULL ||
        (c == stem && *c == '.'))
      *c = '_';
  rs_text_printf(yaml, "name: \"%s", stem);
  if (s->in->count > 1) rs_text_printf(yaml, "-and-%zu-more", s->in->count - 1);
  rs_text_printf(yaml, "\"\ndescription: what %s out to %d times the length that is served\n",
                 s->in->count > 1 ? "models do" : "a model does", REACH);
}

/* ---- lengths ----------------------------------------------------------------------------------------------------- */

static rs_status add_length(standing *s, size_t length, rs_err *err) {
  size_t place = 0;
  while (place < s->length_count && s->lengths[place] < length) place++;
  if (place < s->length_count && s->lengths[place] == length) return RS_OK;
  RS_TRY(RS_GROW(s->lengths, &s->room, s->length_count + 1, err));
  memmove(s->lengths + place + 1, s->lengths + place, (s->length_count - place) * sizeof *s->lengths);
  s->lengths[place] = length;
  s->length_count++;
  return RS_OK;
}

/* Doublings from the trained length to the one that is served, and from there. */
static rs_status add_lengths(standing *s, const standing_model *m, rs_err *err) {
  for (size_t length = m->trained; length > 0 && length < m->served; length *= 2) RS_TRY(add_length(s, length, err));
  for (size_t times = 1; m->served > 0 && times <= REACH; times *= 2) RS_TRY(add_length(s, times * m->served, err));
  return RS_OK;
}

static void put_lengths(const standing *s, rs_text *yaml) {
  if (s->length_count == 0) return; /* others stand in their place */
  rs_text_puts(yaml, "lengths: ");
  for (size_t i = 0; i < s->length_count; i++) rs_text_printf(yaml, "%s%zu", i > 0 ? ", " : "[", s->lengths[i]);
  rs_text_puts(yaml, "]\n");
}

/* ---- what is computed -------------------------------------------------------------------------------------------- */

/* Beside what is published: plain RoPE, and two rules that could serve any length without training. */
static void put_methods(const standing *s, rs_text *yaml) {
  bool rotate = true, plain = true;
  for (size_t i = 0; i < s->in->count; i++) {
    rotate = rotate && s->models[i].rotates;
    plain = plain && s->models[i].plain;
  }
  rs_text_puts(yaml, "methods:\n  - published\n");
  if (rotate && !plain) rs_text_puts(yaml, "  - rope\n");
  if (rotate)
    rs_text_puts(yaml, "  - {name: ntk, label: dynamic ntk, scale: dynamic}\n"
                       "  - {name: yarn, label: dynamic yarn, scale: dynamic}\n");
}

/* Whether all models see alike, and what; else everything before is meant. */
static bool shared_mask(const standing *s, rs_mask *mask) {
  *mask = s->models[0].mask;
  for (size_t i = 0; i < s->in->count; i++) {
    const standing_model *m = &s->models[i];
    if (!m->known || m->mask.kind != mask->kind || m->mask.window != mask->window) return false;
  }
  return true;
}

/* A few queries of one head; none where that takes minutes. Tables are read at any length. */
static void put_rest(const standing *s, rs_text *yaml) {
  rs_mask mask;
  bool far = s->length_count > 0 && s->lengths[s->length_count - 1] > LONGEST_OBSERVED;
  bool local = shared_mask(s, &mask) && mask.kind != RS_CAUSAL && mask.kind != RS_BIDIRECTIONAL;
  if (shared_mask(s, &mask)) rs_text_puts(yaml, "mask: model\n");
  rs_text_puts(yaml, local ? "sources: [gaussian]\n" : "sources: [{name: needle, depth: 0.5}]\n");
  rs_text_puts(yaml, "heads: 1\nqueries: {last: 4}\n"
                     "metrics: [decay, first_violation, ood_angles, local_resolution, zero_shot_damage");
  rs_text_puts(yaml, far ? "]\n" : local ? ", entropy]\n" : ", entropy, needle]\n");
}

/* ---- the config -------------------------------------------------------------------------------------------------- */

static rs_status write_config(standing *s, rs_text *yaml, rs_err *err) {
  s->models = rs_alloc(s->in->count, sizeof *s->models, err);
  if (s->models == NULL) return RS_MEMORY;
  for (size_t i = 0; i < s->in->count; i++) {
    RS_TRY(read_model(s, i, err));
    RS_TRY(add_lengths(s, &s->models[i], err));
  }
  put_title(s, yaml);
  put_models(s, yaml);
  put_lengths(s, yaml);
  put_methods(s, yaml);
  put_rest(s, yaml);
  return rs_text_check(yaml, err);
}

rs_status rs_standing_write(const rs_standing_in *in, rs_text *yaml, rs_err *err) {
  standing s = {.in = in};
  rs_status status = in->count > 0 ? write_config(&s, yaml, err) : rs_fail(err, RS_INPUT, "no files of models");
  free(s.models);
  free(s.lengths);
  return status;
}

rs_status rs_standing_read(const rs_standing_in *in, rs_config_edits edits, rs_experiment **experiment,
                           rs_problems *problems, rs_err *err) {
  rs_text yaml = {0};
  *experiment = NULL;
  rs_standing_in named = *in;
  named.any_length = named.any_length || edits.lengths != NULL;
  rs_status status = rs_standing_write(&named, &yaml, err);
  if (status == RS_OK)
    status = rs_config_read(rs_text_string(&yaml), "the sweep of --hf", edits, experiment, problems, err);
  rs_text_clear(&yaml);
  return status;
}
