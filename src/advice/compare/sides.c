/* What the two arguments of a comparison mean: an existing file by its ending (a Hugging Face config, or a dump of
 * inverse frequencies), or the folder of a config, else a preset's name, else a recipe as YAML. */
#include "compare.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char letters[] = "AB";

/* ---- recipes ----------------------------------------------------------------------------------------------------- */

static rs_status take_subject(const rs_subject_in *in, rs_contender *s, rs_problems *problems, rs_err *err) {
  rs_subject subject;
  RS_TRY(rs_subject_read(in, &subject, problems, err));
  s->model = subject.model;
  s->recipe = subject.recipe;
  s->profile = subject.profile;
  s->kind = subject.kind;
  return RS_OK;
}

/* What a config or a preset publishes. */
static rs_status read_published(rs_contender *s, const char *hf, const char *preset, const char *layers, rs_err *err) {
  RS_OWNED(rs_problems) problems = {.text = {0}};
  const rs_subject_in in = {.hf = hf, .preset = preset, .layers = layers, .fallback = "rope", .length = 1};
  s->origin = hf != NULL ? RS_FROM_HF : RS_FROM_PRESET;
  rs_status status = take_subject(&in, s, &problems, err);
  if (status != RS_OK || s->model.published.method != NULL) return status;
  return rs_fail(err, RS_INPUT, "publishes no recipe (write one, as in rope, with --model or --hf)");
}

/* The buffers of a folder's checkpoint, where it has one that can be read: the config is what was asked for. */
static rs_status read_weights(rs_contender *s, rs_err *err) {
  RS_FREED char *path = NULL;
  RS_HELD(rs_safetensors) checkpoint = NULL;
  rs_err why = {0};
  rs_status status = rs_hf_weights_find(s->text, &path, &why);
  if (status == RS_IO) return RS_OK;
  if (status == RS_OK) status = rs_safetensors_map(path, &checkpoint, &why);
  if (status == RS_OK) status = rs_buffers_read(checkpoint, &s->buffers, &why);
  if (status != RS_OK) rs_shorten(why.message, sizeof s->buffers.unread, s->buffers.unread);
  return status == RS_MEMORY ? rs_fail(err, RS_MEMORY, "%s", why.message) : RS_OK;
}

static rs_status read_folder(rs_contender *s, const char *layers, rs_err *err) {
  s->file = rs_path_join(s->text, "config.json", err);
  if (s->file == NULL) return RS_MEMORY;
  RS_TRY(read_published(s, s->file, NULL, layers, err));
  return read_weights(s, err);
}

/* A config names a geometry; a dump is a list, or an object with one. */
static bool names_geometry(const rs_node *root) {
  static const char *const keys[] = {"model_type", "text_config", "num_attention_heads", "hidden_size",
                                     "n_head",     "n_embd",      "rope_scaling",        "architectures"};
  bool known = false;
  for (size_t i = 0; i < RS_COUNT(keys); i++) known |= rs_node_get(root, keys[i]) != NULL;
  return known;
}

/* A file, by what it holds. */
static rs_status read_file(rs_contender *s, const char *layers, rs_err *err) {
  RS_HELD(rs_tree) tree = NULL;
  if (rs_hf_is_gguf(s->text)) return read_published(s, s->text, NULL, layers, err);
  if (!rs_dump_ends(s->text, ".json")) return rs_dump_read(s, layers, err);
  RS_TRY(rs_json_load("", s->text, RS_LARGEST_FILE, &tree, err));
  bool config = names_geometry(&tree->root);
  return config ? read_published(s, s->text, NULL, layers, err) : rs_dump_read(s, layers, err);
}

static bool is_preset(const char *name) {
  size_t count;
  const rs_preset *presets = rs_presets(&count);
  for (size_t i = 0; i < count; i++)
    if (strcmp(presets[i].name, name) == 0) return true;
  return false;
}

/* What a word may have been meant for: a preset or a method. */
static rs_status unknown_word(const char *word, rs_err *err) {
  rs_nearest nearest = {.word = word};
  size_t presets;
  const rs_preset *preset = rs_presets(&presets);
  for (size_t i = 0; i < presets; i++) rs_nearest_add(&nearest, preset[i].name);
  rs_methods_near(&nearest);
  const char *near = rs_nearest_found(&nearest), *alias = rs_hf_method(word);
  if (alias != NULL) return rs_fail(err, RS_INPUT, "is no method (Hugging Face's %s is %s here)", word, alias);
  if (near != NULL) return rs_fail(err, RS_INPUT, "is no file, no model preset and no method (did you mean %s?)", near);
  return rs_fail(err, RS_INPUT,
                 "is no file, no model preset and no method (ropescope list shows presets and methods; a recipe is "
                 "written {name: yarn, factor: 8})");
}

/* A recipe stands on the model that is named for both, else on the other side's. */
static rs_status read_on_model(const rs_contest *contest, size_t which, rs_contender *s, const rs_contender *other,
                               rs_problems *problems, rs_err *err) {
  static const char *const names[] = {"recipe A", "recipe B"};
  rs_subject_in in = {.hf = contest->hf,
                      .hf_text = contest->hf_text,
                      .preset = contest->preset,
                      .layers = contest->layers,
                      .method = s->text,
                      .label = names[which],
                      .length = 1};
  bool word = strcspn(s->text, "{}[]:, ") == strlen(s->text), named = in.hf != NULL || in.preset != NULL;
  if (word && rs_method_find(s->text) == NULL) return unknown_word(s->text, err);
  if (!named && other->origin == RS_FROM_HF) in.hf = other->file != NULL ? other->file : other->text;
  if (!named && other->origin == RS_FROM_PRESET) in.preset = other->text;
  if (!named && other->origin == RS_FROM_SUBJECT) in.on = &other->model;
  if (in.hf == NULL && in.preset == NULL && in.on == NULL)
    return rs_fail(err, RS_INPUT, "is a recipe: --model or --hf must say of which model");
  return take_subject(&in, s, problems, err);
}

/* A recipe that is resolved already. */
static rs_status copy_subject(const rs_subject *subject, rs_contender *s, rs_err *err) {
  s->origin = RS_FROM_SUBJECT;
  RS_TRY(rs_model_copy(&s->model, &subject->model, err));
  return rs_recipe_copy(&s->recipe, &subject->recipe, err);
}

/* ---- both sides -------------------------------------------------------------------------------------------------- */

/* Files and presets first: they may lend a recipe their model. */
static rs_status read_named(rs_contender *s, const char *layers, rs_err *err) {
  struct stat info;
  bool file = rs_numbers_named(s->text) || rs_dump_ends(s->text, ".safetensors") || rs_dump_ends(s->text, ".gguf") ||
              rs_hf_is_gguf(s->text);
  bool there = stat(s->text, &info) == 0;
  if (*s->text == '\0') return rs_fail(err, RS_INPUT, "is empty");
  if (there && S_ISDIR(info.st_mode) && !is_preset(s->text)) return read_folder(s, layers, err);
  if (file && !there) return rs_fail(err, RS_INPUT, "is not there");
  if (file) return read_file(s, layers, err);
  if (is_preset(s->text)) return read_published(s, NULL, s->text, layers, err);
  if (there && (strchr(s->text, '.') != NULL || strchr(s->text, '/') != NULL))
    return rs_fail(err, RS_INPUT,
                   "is a file, but none of .json (config or dump), .npy, .csv, .safetensors (dump) and GGUF");
  return RS_OK;
}

/* Whether `other` is beside slopes what they are: such a side, or a plain list. */
static bool has_biases(const rs_contender *s, const rs_contender *other) {
  bool list = other->origin == RS_FROM_DUMP && *other->read == '\0';
  return list ? rs_slopes_comparable(&s->recipe)
              : rs_biases_comparable(&s->recipe) && rs_biases_comparable(&other->recipe);
}

static rs_status make_spectrum(const rs_contest *contest, size_t which, rs_contender sides[2], rs_err *err) {
  enum { NO_MODEL = 4096 }; /* two dumps name no length */
  rs_contender *s = &sides[which], *other = &sides[1 - which];
  size_t longest = s->model.max_length > 0 ? s->model.max_length : other->model.max_length;
  size_t first = sides[0].model.max_length > 0 ? sides[0].model.max_length : longest; /* both at A's length */
  const rs_subject *subject = contest->subject[which] != NULL ? contest->subject[which] : contest->subject[1 - which];
  s->length = contest->length > 0 ? contest->length : subject != NULL ? subject->length : first > 0 ? first : NO_MODEL;
  if (s->origin == RS_FROM_DUMP) return RS_OK;
  if (contest->biases && has_biases(s, other)) {
    s->spectrum = (rs_spectrum){.amp = NAN, .logit_factor = NAN, .pair_layout = -1};
    return RS_OK;
  }
  if (s->recipe.method->freq == NULL && other->recipe.method != NULL && other->recipe.method->freq != NULL)
    return rs_fail(err, RS_INPUT, "%s turns no pairs, and the other side does (%s): they have nothing in common",
                   s->recipe.method->name, other->recipe.method->name);
  return rs_spectrum_make(&s->recipe, &s->model, s->length, &s->spectrum, err);
}

/* A dump that lists whole heads, seen beside the pairs of the other side; its pairs that do not turn are the model's.
 */
static void settle_dump(rs_contender *s, const rs_contender *other, double rtol) {
  if (s->origin != RS_FROM_DUMP) return;
  if (other->spectrum.pairs * 2 == s->spectrum.pairs)
    s->spectrum.pair_layout = s->folded = rs_spectrum_fold(&s->spectrum, rtol);
  if (other->origin == RS_FROM_DUMP) return;
  if (other->spectrum.head_dim >= 2 * s->spectrum.pairs) s->spectrum.head_dim = other->spectrum.head_dim;
}

typedef enum pass { NAMES, WORDS, SPECTRA, PASSES } pass;

static rs_status read_pass(pass step, const rs_contest *contest, size_t which, rs_contender sides[2],
                           rs_problems *problems, rs_err *err) {
  rs_contender *s = &sides[which];
  if (step == NAMES && contest->subject[which] != NULL) return copy_subject(contest->subject[which], s, err);
  if (step == NAMES) return read_named(s, contest->layers, err);
  if (step == SPECTRA) return make_spectrum(contest, which, sides, err);
  return s->origin == RS_FROM_WORDS ? read_on_model(contest, which, s, &sides[1 - which], problems, err) : RS_OK;
}

/* A model is named for recipes alone: two files or presets have their own. */
static rs_status check_model(const rs_contest *contest, const rs_contender sides[2], rs_err *err) {
  bool named = contest->hf != NULL || contest->preset != NULL;
  if (!named || sides[0].origin == RS_FROM_WORDS || sides[1].origin == RS_FROM_WORDS) return RS_OK;
  return rs_fail(err, RS_INPUT, "--%s has no effect: neither side is a recipe", contest->hf != NULL ? "hf" : "model");
}

rs_status rs_contest_read(const rs_contest *contest, rs_contender sides[2], rs_problems *problems, rs_err *err) {
  for (size_t i = 0; i < 2; i++) sides[i] = (rs_contender){.text = contest->text[i], .folded = -1};
  for (size_t step = 0; step < 2 * PASSES; step++) {
    rs_err why = {0};
    size_t which = step % 2;
    if (read_pass((pass)(step / 2), contest, which, sides, problems, &why) == RS_OK) continue;
    rs_contest_clear(sides);
    return rs_fail(err, why.status == RS_MEMORY ? RS_MEMORY : RS_INPUT, "%c, %s: %s%s%s", letters[which],
                   *contest->text[which] != '\0' ? contest->text[which] : "\"\"", why.subject,
                   *why.subject != '\0' ? ": " : "", why.message);
  }
  rs_status status = check_model(contest, sides, err);
  if (status != RS_OK) {
    rs_contest_clear(sides);
    return status;
  }
  for (size_t i = 0; i < 2; i++) settle_dump(&sides[i], &sides[1 - i], contest->rtol);
  return RS_OK;
}

void rs_contest_clear(rs_contender sides[2]) {
  for (size_t i = 0; i < 2; i++) {
    rs_spectrum_clear(&sides[i].spectrum);
    rs_buffers_clear(&sides[i].buffers);
    rs_recipe_clear(&sides[i].recipe);
    rs_model_clear(&sides[i].model);
    rs_profile_clear(&sides[i].profile);
    free(sides[i].file);
    sides[i].file = NULL;
  }
}
