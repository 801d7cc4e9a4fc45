/* RS6: what engines and their releases make of the file that is not the same. */
#include "rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DIFFERS, CANNOT, RELEASES, LAYERED_TRUNCATE, LENGTHS, WIDTH, ALL_LAYERS };

static const rs_rule rules[] = {
    [ALL_LAYERS] =
        {"RS607", "olmo3-layers-of-a-release", RS_NOTE,
         "transformers 5.0 to 5.12 turned OLMo 3's layers with a window by the recipe of the others: a warning "
         "where --engine names it",
         "github.com/huggingface/transformers/pull/46911"},
    [DIFFERS] = {"RS601", "engines-differ", RS_NOTE,
                 "an engine makes other frequencies or another attention factor of the file than transformers: a "
                 "warning where --engine names it",
                 "docs/dialects.md"},
    [CANNOT] = {"RS602", "engine-cannot", RS_NOTE,
                "an engine has no way to say what the file says: a warning where --engine names it",
                "docs/dialects.md"},
    [RELEASES] = {"RS603", "releases-differ", RS_NOTE,
                  "transformers up to 4.50 left the original length unread, and 4.51 to 4.55 took the ratio of the "
                  "lengths for the factor",
                  "github.com/huggingface/transformers/issues/38224, /pull/40320"},
    [LAYERED_TRUNCATE] = {"RS604", "truncate-by-layers", RS_WARNING,
                          "transformers 5 does not read truncate where rope_parameters differ by type of layers",
                          "transformers decba1d2ea4e, modeling_rope_utils.py:474"},
    [LENGTHS] = {"RS605", "served-lengths-differ", RS_NOTE,
                 "unless it is told otherwise, an engine serves another length than the file is for: a warning where "
                 "--engine names it",
                 "vLLM, config/model.py: _get_and_verify_max_len; github.com/vllm-project/vllm/pull/56446; SGLang, "
                 "get_context_length"},
    [WIDTH] =
        {"RS606", "rotary-dim-unread", RS_NOTE,
         "transformers before its pull request 48486 did not read rotary_dim of this class, and turned whole heads",
         "github.com/huggingface/transformers/pull/48486"},
};

/* ---- frequencies and factors ------------------------------------------------------------------------------------- */

/* What is said of an engine, and of those that do the same. */
typedef struct opinion {
  const rs_rule *rule;
  char text[360];
} opinion;

/* Whether an engine is spoken of: one that was asked about, or that people serve with. */
static bool is_asked(const rs_checked *checked, size_t engine) {
  return checked->engines != 0 ? (checked->engines >> engine & 1) != 0 : rs_readers[engine].serves;
}

static void put_difference(const rs_spectrum *ours, const rs_spectrum *theirs, opinion *out) {
  rs_difference d = rs_spectrum_compare(ours, theirs, 1e-6);
  char frequencies[120] = "", factors[120] = "", softmax[120] = "";
  if ((d.differs & (RS_DIFFERS_FREQUENCY | RS_DIFFERS_AMPLITUDE)) == 0) return;
  if (d.differs & RS_DIFFERS_FREQUENCY)
    snprintf(frequencies, sizeof frequencies, "%zu of %zu frequencies differ, by up to %.3g %% (pair %zu)", d.count,
             ours->pairs, 100 * d.largest, d.worst);
  if (ours->amp != theirs->amp)
    snprintf(factors, sizeof factors, "%scos and sin are multiplied by %.6g, not %.6g", *frequencies ? "; " : "",
             theirs->amp, ours->amp);
  if (ours->logit_factor != theirs->logit_factor)
    snprintf(softmax, sizeof softmax, "%sthe softmax scale by %.6g, not %.6g", *frequencies || *factors ? "; " : "",
             theirs->logit_factor, ours->logit_factor);
  out->rule = &rules[DIFFERS];
  snprintf(out->text, sizeof out->text, "%s%s%s", frequencies, factors, softmax);
}

/* `out` without a rule: it does what transformers does, or is not spoken of. */
static rs_status ask(const rs_checked *checked, size_t engine, const rs_spectrum *ours, opinion *out, rs_err *err) {
  rs_spectrum theirs = {0};
  rs_err why = {0};
  *out = (opinion){0};
  if (!is_asked(checked, engine) || !rs_engine_reads(checked, &rs_readers[engine])) return RS_OK;
  rs_status status = rs_spectrum_read(checked, &rs_readers[engine], &theirs, &why);
  if (status == RS_MEMORY) return rs_fail(err, RS_MEMORY, "%s", why.message);
  if (status == RS_OK) {
    put_difference(ours, &theirs, out);
  } else {
    out->rule = &rules[CANNOT];
    rs_shorten(why.message, sizeof out->text, out->text);
  }
  rs_spectrum_clear(&theirs);
  return RS_OK;
}

/* One finding for all that do the same. */
static rs_status tell(const rs_checked *checked, opinion *opinions, size_t first, rs_findings *findings, rs_err *err) {
  const rs_node *node = checked->rope_count > 0 ? checked->ropes[0].node : NULL;
  const char *path = checked->rope_count > 0 ? checked->ropes[0].path : NULL;
  char names[200];
  int used = snprintf(names, sizeof names, "%s", rs_readers[first].engine.title);
  for (size_t i = first + 1; i < RS_CONFIG_ENGINES; i++) {
    if (opinions[i].rule != opinions[first].rule || strcmp(opinions[i].text, opinions[first].text) != 0) continue;
    used += snprintf(names + used, sizeof names - (size_t)used, ", %s", rs_readers[i].engine.title);
    opinions[i].rule = NULL;
  }
  const char *fix = rs_readers[first].before_5
                        ? "write rope_theta and rope_scaling beside rope_parameters: releases before 5 read these"
                        : NULL;
  RS_TRY(rs_find(findings, opinions[first].rule, node, path, fix, err, "%s: %s", names, opinions[first].text));
  rs_raise(checked, findings);
  return RS_OK;
}

static rs_status find_differences(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  rs_spectrum ours = {0};
  rs_err why = {0};
  opinion opinions[RS_CONFIG_ENGINES] = {{0}};
  rs_status status = rs_spectrum_published(checked->model, &ours, &why);
  if (status == RS_MEMORY) return rs_fail(err, RS_MEMORY, "%s", why.message);
  if (status != RS_OK) return RS_OK; /* what is wrong with it has been said */
  for (size_t i = 0; i < RS_CONFIG_ENGINES && status == RS_OK; i++) status = ask(checked, i, &ours, &opinions[i], err);
  for (size_t i = 0; i < RS_CONFIG_ENGINES && status == RS_OK; i++)
    if (opinions[i].rule != NULL) status = tell(checked, opinions, i, findings, err);
  rs_spectrum_clear(&ours);
  return status;
}

/* ---- lengths ----------------------------------------------------------------------------------------------------- */

/* Whether each dictionary has a type, without which engines stop. */
static bool has_types(const rs_checked *checked) {
  for (size_t r = 0; r < checked->rope_count; r++) {
    const rs_node *node = checked->ropes[r].node;
    bool typed = rs_key(node, "rope_type") != NULL || rs_key(node, "type") != NULL;
    if (!typed && !isnan(rs_key_number(node, "factor"))) return false;
  }
  return true;
}

static rs_status find_lengths(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  char names[320] = "";
  double meant = (double)checked->model->max_length;
  int used = 0;
  for (size_t i = 0; i < RS_CONFIG_ENGINES && has_types(checked); i++) {
    const rs_reader *reader = &rs_readers[i];
    if (reader->length == NULL || !is_asked(checked, i) || !rs_engine_reads(checked, reader)) continue;
    double length = reader->length(checked);
    if (isnan(length) || length == meant || meant == 0) continue;
    used += snprintf(names + used, sizeof names - (size_t)used, "%s%s%s %.0f", used > 0 ? ", " : "",
                     reader->engine.title, used > 0 ? "" : " serves", length);
  }
  if (used == 0) return RS_OK;
  char fix[160];
  snprintf(fix, sizeof fix,
           "give it: --max-model-len (vLLM), --context-length (SGLang), -c "
           "(llama.cpp) %.0f",
           meant);
  RS_TRY(rs_find(findings, &rules[LENGTHS], rs_maximum_of(checked), NULL, fix, err,
                 "the file is for %.0f tokens; where no length is given to it, %s", meant, names));
  rs_raise(checked, findings);
  return RS_OK;
}

/* ---- releases ---------------------------------------------------------------------------------------------------- */

static rs_status find_releases(const rs_checked *checked, const rs_rope_entry *rope, rs_findings *findings,
                               rs_err *err) {
  const rs_node *original = rs_original_of(checked, rope), *maximum = rs_maximum_of(checked);
  double factor = rs_key_number(rope->node, "factor");
  double ratio = rs_node_number(maximum) / rs_node_number(original);
  if (rope->known == NULL || strcmp(rope->known->type, "yarn") != 0 || original == NULL) return RS_OK;
  if (checked->engines != 0) return RS_OK; /* what the one that is asked about does has been said */
  if (ratio == 1 && factor > 1)
    return rs_find(findings, &rules[RELEASES], original, NULL, NULL, err,
                   "the original length is max_position_embeddings: transformers 4.51 to 4.55 took their ratio 1 for "
                   "the factor and scaled nothing; others take the factor %g",
                   factor);
  if (!(ratio > 1) || !rs_is_in_4_50(checked)) return RS_OK;
  return rs_find(findings, &rules[RELEASES], original, NULL, NULL, err,
                 "transformers up to 4.50 took max_position_embeddings = %s for the length of training, not %s",
                 maximum->text, original->text);
}

static bool asks_transformers_5(const rs_checked *checked) {
  enum { BUT_YARN, YARN }; /* its first two entries */
  return checked->engines == 0 || (checked->engines & (1u << BUT_YARN | 1u << YARN)) != 0;
}

/* OLMo 3's layers with a window turn plainly; releases 5.0 to 5.12 had one table for all layers. */
static rs_status find_all_layers(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  const rs_profile *profile = &checked->profile;
  if (!rs_hf_is_of(checked->family, "olmo3") || checked->rope_count != 1 || !asks_transformers_5(checked)) return RS_OK;
  if (strchr(checked->ropes[0].path, '.') != NULL)
    return RS_OK; /* by type of layers: that is read by later ones alone */
  for (size_t k = 0; k < profile->kind_count; k++) {
    const rs_layer_kind *kind = &profile->kinds[k];
    rs_spectrum plain = {0}, scaled = {0};
    rs_err why = {0};
    if (kind->mask.window == 0 || rs_layers_turn_alike(kind, &profile->kinds[profile->chosen])) continue;
    rs_status status = rs_spectrum_published(&kind->model, &plain, &why);
    if (status == RS_OK) status = rs_spectrum_published(checked->model, &scaled, &why);
    opinion found = {0};
    if (status == RS_OK) put_difference(&plain, &scaled, &found);
    rs_spectrum_clear(&plain);
    rs_spectrum_clear(&scaled);
    if (status == RS_MEMORY) return rs_fail(err, RS_MEMORY, "out of memory");
    if (found.rule == NULL) continue;
    RS_TRY(rs_find(findings, &rules[ALL_LAYERS], checked->ropes[0].node, checked->ropes[0].path,
                   "use transformers 5.13 or later, or 4.57", err,
                   "transformers 5.0 to 5.12 turn the %s layers, too, as %s says for the others: %s", kind->name,
                   checked->ropes[0].path, found.text));
    rs_raise(checked, findings);
  }
  return RS_OK;
}

/* MiniMax-M2's width, as it is published. */
static rs_status find_width(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  const rs_node *node = rs_key(checked->root, "rotary_dim");
  const rs_model *model = checked->model;
  if (node == NULL || model == NULL || strcmp(checked->family, "minimax_m2") != 0) return RS_OK;
  if (rs_key(checked->root, "partial_rotary_factor") != NULL || model->rotary_dim == model->head_dim) return RS_OK;
  char fix[120], share[RS_NUMBER_CHARS];
  (void)rs_number_format((double)model->rotary_dim / (double)model->head_dim, share);
  snprintf(fix, sizeof fix, "add \"partial_rotary_factor\": %s, which all releases read", share);
  return rs_find(
      findings, &rules[WIDTH], node, NULL, fix, err,
      "transformers before its pull request 48486 (September 2026) did not read rotary_dim = %s, and turned all "
      "%zu dims of a head",
      node->text, model->head_dim);
}

static rs_status find(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  const rs_model *model = checked->model;
  bool turns = model != NULL && model->published.method != NULL && model->published.method->freq != NULL;
  if (turns) RS_TRY(find_differences(checked, findings, err));
  if (turns) RS_TRY(find_lengths(checked, findings, err));
  RS_TRY(find_width(checked, findings, err));
  RS_TRY(find_all_layers(checked, findings, err));
  for (size_t r = 0; r < checked->rope_count; r++) {
    const rs_rope_entry *rope = &checked->ropes[r];
    const char *truncate = rs_key_word(rope->node, "truncate");
    RS_TRY(find_releases(checked, rope, findings, err));
    if (strchr(rope->path, '.') == NULL || truncate == NULL || strcmp(truncate, "false") != 0) continue;
    rs_path path = rs_key_path(rope, "truncate");
    RS_TRY(rs_find(findings, &rules[LAYERED_TRUNCATE], rs_key(rope->node, "truncate"), path.text, NULL, err,
                   "transformers 5 rounds the ends of the ramp all the same: it looks for truncate beside the types of "
                   "layers"));
  }
  return RS_OK;
}

const rs_rule_group rs_rules_engines = {rules, RS_COUNT(rules), find};
