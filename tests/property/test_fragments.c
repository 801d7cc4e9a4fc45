/* Fragments of solve and convert read back: keys written into the file that they are for turn pairs as the recipe that
 * was scored, at the length and at the trained one, or a note says of layers that they do not. Over the files of
 * tests/data/hf, and those of the folder that ROPESCOPE_CONFIGS names. */
#include <criterion/criterion.h>
#include <glob.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "../fixtures/merged_config.h"
#include "advice/advice.h"

static const double SAME = 1e-12;

/* A file as text and as a tree. */
typedef struct config {
  const char *name;
  char *text;
  size_t length;
  rs_tree *tree;
} config;

/* ---- tables ------------------------------------------------------------------------------------------------------ */

static rs_recipe settle(const rs_recipe *recipe, const rs_model *model, const char *what) {
  rs_recipe out;
  rs_err err = {0};
  cr_assert_eq(rs_recipe_copy(&out, recipe, &err), RS_OK);
  cr_assert_eq(rs_recipe_resolve(&out, model, &err), RS_OK, "%s: %s", what, err.message);
  return out;
}

/* logit_scale of all positions; NULL: 1, whatever the position. Release with free. */
static double *scales_of(const rs_recipe *recipe, const rs_model *model, size_t length) {
  rs_encoding *encoding;
  rs_err err = {0};
  if (rs_lscale_chosen(&recipe->settings) == NULL) return NULL;
  double *scales = malloc(length * sizeof *scales);
  cr_assert_eq(rs_encoding_create(recipe, model, length, NULL, NULL, &encoding, &err), RS_OK, "%s", err.message);
  memcpy(scales, encoding->logit_scale, length * sizeof *scales);
  rs_encoding_free(encoding);
  return scales;
}

static bool same_scales(const rs_recipe *a, const rs_model *x, const rs_recipe *b, const rs_model *y, size_t length) {
  double *scored = scales_of(a, x, length), *read = scales_of(b, y, length);
  bool same = true;
  for (size_t m = 0; m < length && (scored != NULL || read != NULL); m++) {
    double from = scored != NULL ? scored[m] : 1, to = read != NULL ? read[m] : 1;
    same &= fabs(from - to) <= SAME * from;
  }
  free(scored);
  free(read);
  return same;
}

/* Whether what was read from a file turns pairs as the recipe does; why it does not goes into `text`. */
static bool same_tables(const rs_recipe *recipe, const rs_model *model, const rs_model *read, size_t length,
                        rs_text *text) {
  rs_recipe a = settle(recipe, model, "scored"), b = settle(&read->published, read, "read");
  rs_spectrum x = {0}, y = {0};
  rs_err err = {0};
  bool turn = a.method->freq != NULL && b.method->freq != NULL, same = turn || a.method == b.method;
  if (turn) {
    cr_assert_eq(rs_spectrum_make(&a, model, length, &x, &err), RS_OK, "%s", err.message);
    same = rs_spectrum_make(&b, read, length, &y, &err) == RS_OK;
  }
  if (turn && same) {
    rs_difference d = rs_spectrum_compare(&x, &y, SAME);
    bool scales = same_scales(&a, model, &b, read, length);
    same = scales && (d.differs & ~(unsigned)RS_DIFFERS_BEYOND) == 0;
    rs_text_printf(text, "\nat %zu: %#x, %zu pairs, pair %zu by %g; amplitudes %g and %g, logits %g and %g%s", length,
                   d.differs, d.count, d.worst, d.largest, x.amp, y.amp, x.logit_factor, y.logit_factor,
                   scales ? "" : ", scales by position");
  } else if (turn) {
    rs_text_printf(text, "\nat %zu: %s", length, err.message);
  }
  rs_spectrum_clear(&x);
  rs_spectrum_clear(&y);
  rs_recipe_clear(&a);
  rs_recipe_clear(&b);
  return same;
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static bool read_config(const char *path, config *out) {
  rs_profile profile;
  rs_err err = {0};
  const char *slash = strrchr(path, '/');
  *out = (config){.name = slash != NULL ? slash + 1 : path};
  if (rs_profile_load(path, &profile, NULL) != RS_OK) return false;
  rs_profile_clear(&profile);
  cr_assert_eq(rs_file_read(path, RS_LARGEST_FILE, &out->text, &out->length, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_json_read(out->text, out->length, path, &out->tree, &err), RS_OK, "%s", err.message);
  return true;
}

static size_t for_files_of(const char *folder, void (*see)(const config *file)) {
  rs_text pattern = {0};
  glob_t found = {0};
  size_t read = 0;
  rs_text_printf(&pattern, "%s/*.json", folder);
  if (glob(pattern.data, 0, NULL, &found) != 0) found.gl_pathc = 0;
  for (size_t i = 0; i < found.gl_pathc; i++) {
    config read_file;
    if (!read_config(found.gl_pathv[i], &read_file)) continue;
    see(&read_file);
    rs_tree_free(read_file.tree);
    free(read_file.text);
    read++;
  }
  globfree(&found);
  rs_text_clear(&pattern);
  return read;
}

static void for_files(void (*see)(const config *file)) {
  rs_text folder = {0};
  const char *more = getenv("ROPESCOPE_CONFIGS");
  rs_text_printf(&folder, "%s/data/hf", getenv("ROPESCOPE_TESTS"));
  cr_expect_geq(for_files_of(folder.data, see), 31, "%s", folder.data);
  if (more != NULL) cr_expect_gt(for_files_of(more, see), 0, "%s", more);
  rs_text_clear(&folder);
}

/* ---- what is read back ------------------------------------------------------------------------------------------- */

static const char *const consumers[] = {"hf4", "hf5", "mlx"};

static bool says(const rs_conversion *conversion, const char *word) {
  bool found = false;
  for (size_t i = 0; i < conversion->notes.count; i++) found |= strstr(conversion->notes.items[i], word) != NULL;
  return found;
}

/* Layers as the file has them, but those of a kind, and such as share its dictionary, as the recipe has them. */
typedef struct scored {
  const rs_profile *profile;
  size_t kind;
  const rs_recipe *recipe;
  bool flat; /* one dictionary is for all that turn alike */
  size_t lengths[2];
} scored;

static bool same_layers(const scored *s, const rs_profile *read, rs_text *text) {
  const rs_layer_kind *chosen = &s->profile->kinds[s->kind];
  if (read->kind_count != s->profile->kind_count) return false;
  for (size_t k = 0; k < read->kind_count; k++) {
    const rs_layer_kind *kind = &s->profile->kinds[k];
    bool alike = k == s->kind || (s->flat && kind->attends && rs_layers_turn_alike(kind, chosen));
    if (kind->attends != read->kinds[k].attends) return false;
    for (size_t i = 0; i < RS_COUNT(s->lengths) && kind->attends; i++)
      if (!same_tables(alike ? s->recipe : &kind->model.published, &kind->model, &read->kinds[k].model, s->lengths[i],
                       text))
        return false;
  }
  return true;
}

/* Whether a note names layers that the consumer has no key for, or that do not come back. */
static bool is_noted(const rs_conversion *conversion) {
  return says(conversion, "do not turn as they should") || says(conversion, " has no key");
}

/* Release 5 says everything; a note about another says no more than is so. */
static void see_fragment(const config *file, const scored *s, const rs_conversion *conversion, const char *to,
                         rs_text *what) {
  rs_text_printf(what, "\n%s for %s at %zu\n%.2000s", file->name, to, s->lengths[0], conversion->fragment);
  rs_profile read = read_merged(what->data, &file->tree->root, conversion->fragment, NOTHING_DROPPED);
  bool same = same_layers(s, &read, what), noted = is_noted(conversion);
  cr_expect_neq(same, noted, "%s", what->data);
  cr_expect(same || strcmp(to, "hf5") != 0, "%s", what->data);
  rs_profile_clear(&read);
}

/* ---- solve setting ----------------------------------------------------------------------------------------------- */

/* A recipe that the file publishes stays in its words: but for the length, no key is written. */
static void see_words(const config *file, const rs_conversion *conversion, const rs_text *what) {
  rs_tree *tree;
  const rs_node *length = rs_hf_length(rs_hf_text_config(&file->tree->root));
  cr_assert_eq(rs_json_read(conversion->fragment, strlen(conversion->fragment), "keys", &tree, NULL), RS_OK);
  const rs_node *at = &tree->root;
  const char *key = length != NULL ? length->key : "max_position_embeddings";
  while (at->count == 1 && at->items[0].kind == RS_MAPPING) at = &at->items[0];
  cr_expect(at->count == 0 || (at->count == 1 && strcmp(at->items[0].key, key) == 0), "%s", what->data);
  rs_tree_free(tree);
}

static void see_candidate(const config *file, const rs_ranking *ranking, const rs_candidate *c, size_t length,
                          const char *to) {
  const scored s = {&ranking->profile,
                    ranking->kind,
                    &c->recipe,
                    strstr(file->text, "attention\": {") == NULL,
                    {length, (size_t)ranking->train_length}};
  rs_convertible model;
  rs_conversion conversion;
  rs_text what = {0};
  rs_err err = {0};
  cr_assert_eq(rs_convertible_read(file->text, file->length, file->name, &model, &err), RS_OK, "%s", err.message);
  cr_assert_eq(rs_candidate_convert(ranking, c, length, &model, to, &conversion, &err), RS_OK, "%s: %s", file->name,
               err.message);
  rs_recipe_write(&c->recipe, &what);
  see_fragment(file, &s, &conversion, to, &what);
  if (strcmp(model.family, "gptj") == 0 && !c->published && strcmp(to, "mlx") != 0)
    cr_expect(says(&conversion, "reads neither a base nor a rope type"), "%s", what.data);
  if (c->published) see_words(file, &conversion, &what);
  if (c->published) cr_expect(says(&conversion, "The file says this recipe itself"), "%s", what.data);
  rs_text_clear(&what);
  rs_conversion_clear(&conversion);
  rs_convertible_clear(&model);
}

/* Where a file has no setting for a length there is nothing to be read. Long ones take a second each to rank. */
static void see_setting(const config *file, size_t length) {
  const rs_ranking_in in = {.length = length, .hf = file->name, .hf_text = file->text};
  rs_ranking ranking;
  size_t published = 0;
  enum { SOON_RANKED = 1 << 19 };
  if (length > SOON_RANKED && getenv("ROPESCOPE_CONFIGS") == NULL) return;
  if (rs_rank_settings(&in, &ranking, NULL) != RS_OK) return;
  for (size_t c = 0; c < ranking.count; c++) {
    const rs_candidate *candidate = &ranking.items[c];
    published += candidate->published;
    for (size_t to = 0; to < RS_COUNT(consumers) && candidate->said.method != NULL; to++)
      see_candidate(file, &ranking, candidate, length, consumers[to]);
  }
  cr_expect_geq(published, 1, "%s at %zu: %zu candidates are the published recipe", file->name, length, published);
  rs_ranking_clear(&ranking);
}

/* ---- convert ----------------------------------------------------------------------------------------------------- */

static void see_conversion(const config *file, size_t length) {
  rs_convertible model;
  rs_err err = {0};
  cr_assert_eq(rs_convertible_read(file->text, file->length, file->name, &model, &err), RS_OK, "%s", err.message);
  const rs_model *chosen = &model.profile.kinds[model.kind].model;
  const scored s = {&model.profile, model.kind, &chosen->published, false, {length, chosen->train_length}};
  for (size_t to = 0; to < RS_COUNT(consumers) && rs_model_turns(chosen); to++) {
    rs_conversion conversion;
    rs_text what = {0};
    cr_assert_eq(rs_convert(&model, consumers[to], length, &conversion, &err), RS_OK, "%s: %s", file->name,
                 err.message);
    /* A base that grows with the length (Qwen 1) is had at one length alone, and a note says so. */
    if (!says(&conversion, "The base grows with the length")) see_fragment(file, &s, &conversion, consumers[to], &what);
    rs_text_clear(&what);
    rs_conversion_clear(&conversion);
  }
  rs_convertible_clear(&model);
}

/* ---- lengths ----------------------------------------------------------------------------------------------------- */

static void for_lengths(const config *file, void (*see)(const config *file, size_t length)) {
  enum { MOST = 1 << 28 };
  rs_model model;
  rs_err err = {0};
  cr_assert_eq(rs_hf_model_read(file->text, file->length, file->name, &model, &err), RS_OK, "%s", err.message);
  for (size_t times = 2; times <= 8 && model.train_length > 0; times *= 2) {
    if (times * model.max_length <= MOST) see(file, times * model.max_length);
    if (model.train_length != model.max_length) see(file, times * model.train_length);
  }
  rs_model_clear(&model);
}

static void see_settings(const config *file) {
  for_lengths(file, see_setting);
}

Test(fragments, keys_of_solve_setting_in_their_file__the_recipe_that_was_scored, .timeout = 7200) {
  for_files(see_settings);
}

static void see_conversions(const config *file) {
  for_lengths(file, see_conversion);
}

Test(fragments, keys_of_convert_in_their_file__the_recipe_that_is_published, .timeout = 7200) {
  for_files(see_conversions);
}
