/* RS6: what engines and their releases make of the file that is not the same. RS7: lengths at which rotated keys, or
 * the arithmetic, no longer fit. */
#include "rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- frequencies and factors ------------------------------------------------------------------------------------- */

/* What is said of an engine, and of those that do the same; code NULL: it does what transformers does, or is not
 * spoken of. */
typedef struct opinion {
  const char *code;
  char text[360];
} opinion;

/* Whether an engine is spoken of: one that was asked about, or that people serve with. */
static bool is_asked(const rs_checked *c, size_t engine) {
  bool asked = c->engines != 0 ? (c->engines >> engine & 1) != 0 : rs_readers[engine].serves;
  return asked && rs_engine_reads(c, &rs_readers[engine]);
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
  out->code = "RS601";
  snprintf(out->text, sizeof out->text, "%s%s%s", frequencies, factors, softmax);
}

static void ask(rs_checked *c, size_t engine, const rs_spectrum *ours, opinion *out) {
  RS_OWNED(rs_spectrum) theirs = {0};
  rs_err why = {0};
  if (!is_asked(c, engine)) return;
  rs_status status = rs_spectrum_read(c, &rs_readers[engine], &theirs, &why);
  if (status == RS_OK) {
    put_difference(ours, &theirs, out);
  } else if (status == RS_MEMORY) {
    (void)rs_fail(c->err, RS_MEMORY, "%s", why.message);
  } else {
    out->code = "RS602";
    rs_shorten(why.message, sizeof out->text, out->text);
  }
}

/* One finding for all that do the same. */
static void tell(rs_checked *c, opinion *opinions, size_t first) {
  char names[200];
  int used = snprintf(names, sizeof names, "%s", rs_readers[first].engine.title);
  for (size_t i = first + 1; i < RS_CONFIG_ENGINES; i++) {
    bool same = opinions[i].code == opinions[first].code && strcmp(opinions[i].text, opinions[first].text) == 0;
    if (!same) continue;
    used += snprintf(names + used, sizeof names - (size_t)used, ", %s", rs_readers[i].engine.title);
    opinions[i].code = NULL;
  }
  rs_find(c, opinions[first].code, c->rope_count > 0 ? c->ropes[0].node : NULL,
          rs_readers[first].before_5
              ? "write rope_theta and rope_scaling beside rope_parameters: releases before 5 read these"
              : NULL,
          "%s: %s", names, opinions[first].text);
}

static void find_differences(rs_checked *c) {
  RS_OWNED(rs_spectrum) ours = {0};
  rs_err why = {0};
  opinion opinions[RS_CONFIG_ENGINES] = {{0}};
  if (!rs_model_turns(c->model)) return;
  rs_status status = rs_spectrum_published(c->model, &ours, &why);
  if (status == RS_MEMORY) (void)rs_fail(c->err, RS_MEMORY, "%s", why.message);
  if (status != RS_OK) return; /* what is wrong with it has been said */
  for (size_t i = 0; i < RS_CONFIG_ENGINES; i++) ask(c, i, &ours, &opinions[i]);
  for (size_t i = 0; i < RS_CONFIG_ENGINES; i++)
    if (opinions[i].code != NULL) tell(c, opinions, i);
}

/* ---- lengths ----------------------------------------------------------------------------------------------------- */

static void find_lengths(rs_checked *c) {
  char names[320] = "";
  bool typed = rs_model_turns(c->model); /* engines stop at a dictionary without a type */
  int used = 0;
  for (size_t r = 0; r < c->rope_count; r++)
    typed &= c->ropes[r].typed || isnan(rs_key_number(c->ropes[r].node, "factor"));
  double meant = typed ? (double)c->model->max_length : 0;
  for (size_t i = 0; i < RS_CONFIG_ENGINES && meant > 0; i++) {
    const rs_reader *reader = &rs_readers[i];
    double length = reader->length != NULL && is_asked(c, i) ? reader->length(c) : NAN;
    if (isnan(length) || length == meant) continue;
    used += snprintf(names + used, sizeof names - (size_t)used, "%s%s%s %.0f", used > 0 ? ", " : "",
                     reader->engine.title, used > 0 ? "" : " serves", length);
  }
  if (used > 0)
    rs_find(c, "RS605", rs_maximum_of(c),
            rs_fix(c, "give it: --max-model-len (vLLM), --context-length (SGLang), -c (llama.cpp) %.0f", meant),
            "the file is for %.0f tokens; where no length is given to it, %s", meant, names);
}

/* ---- releases ---------------------------------------------------------------------------------------------------- */

static void find_releases(rs_checked *c, const rs_rope_entry *rope) {
  const rs_node *original = rs_original_of(c, rope), *maximum = rs_maximum_of(c);
  double factor = rs_key_number(rope->node, "factor");
  double ratio = rs_node_number(maximum) / rs_node_number(original);
  if (original == NULL || c->engines != 0) return; /* what the one that is asked about does has been said */
  if (ratio == 1 && factor > 1)
    rs_find(c, "RS603", original, NULL,
            "the original length is max_position_embeddings: transformers 4.51 to 4.55 took their ratio 1 for the "
            "factor and scaled nothing; others take the factor %g",
            factor);
  else if (ratio > 1 && rs_is_in_4_50(c))
    rs_find(c, "RS603", original, NULL,
            "transformers up to 4.50 took max_position_embeddings = %s for the length of training, not %s",
            maximum->text, original->text);
}

static void find_truncate(rs_checked *c, const rs_rope_entry *rope) {
  const char *truncate = rs_key_word(rope->node, "truncate");
  if (rope->layered && truncate != NULL && strcmp(truncate, "false") == 0)
    rs_find(
        c, "RS604", rs_key(rope->node, "truncate"), NULL,
        "transformers 5 rounds the ends of the ramp all the same: it looks for truncate beside the types of layers");
}

/* OLMo 3's layers with a window turn plainly; releases 5.0 to 5.12 had one table for all layers. Dictionaries by type
 * of layers are read by later ones alone. */
static void find_all_layers(rs_checked *c) {
  enum { TRANSFORMERS_5 = 3 }; /* the bits of its first two entries */
  const rs_profile *profile = &c->profile;
  bool asked = c->engines == 0 || (c->engines & TRANSFORMERS_5) != 0;
  if (!rs_hf_is_of(c->family, "olmo3") || c->rope_count != 1 || !asked || c->ropes[0].layered) return;
  for (size_t k = 0; k < profile->kind_count; k++) {
    const rs_layer_kind *kind = &profile->kinds[k];
    RS_OWNED(rs_spectrum) plain = {0}, scaled = {0};
    rs_err why = {0};
    opinion found = {0};
    if (kind->mask.window == 0 || rs_layers_turn_alike(kind, &profile->kinds[profile->chosen])) continue;
    rs_status status = rs_spectrum_published(&kind->model, &plain, &why);
    if (status == RS_OK) status = rs_spectrum_published(c->model, &scaled, &why);
    if (status == RS_OK) put_difference(&plain, &scaled, &found);
    if (status == RS_MEMORY) (void)rs_fail(c->err, RS_MEMORY, "out of memory");
    if (found.code != NULL)
      rs_find(c, "RS607", c->ropes[0].node, "use transformers 5.13 or later, or 4.57",
              "transformers 5.0 to 5.12 turn the %s layers, too, as %s says for the others: %s", kind->name,
              c->ropes[0].path, found.text);
  }
}

/* MiniMax-M2's width, as it is published. */
static void find_width(rs_checked *c) {
  const rs_node *node = rs_key(c->root, "rotary_dim");
  const rs_model *model = c->model;
  char share[RS_NUMBER_CHARS];
  if (node == NULL || model == NULL || strcmp(c->family, "minimax_m2") != 0) return;
  if (rs_key(c->root, "partial_rotary_factor") != NULL || model->rotary_dim == model->head_dim) return;
  rs_number_format((double)model->rotary_dim / (double)model->head_dim, share);
  rs_find(c, "RS606", node, rs_fix(c, "add \"partial_rotary_factor\": %s, which all releases read", share),
          "transformers before its pull request 48486 (September 2026) did not read rotary_dim = %s, and turned all "
          "%zu dims of a head",
          node->text, model->head_dim);
}

/* ---- what is cached, and computed -------------------------------------------------------------------------------- */

/* Tokens that the file gives, else its class; 0 where neither does. */
static double tokens_of(const rs_checked *c, double given) {
  return !isnan(given) ? given : c->model != NULL ? (double)c->model->train_length : 0;
}

/* A table that is the same on both sides does not change. */
static bool has_one_table(const rs_rope_entry *rope) {
  const rs_node *near = rs_key_list(rope->node, "short_factor"), *far = rs_key_list(rope->node, "long_factor");
  if (near == NULL || far == NULL || near->count != far->count) return false;
  for (size_t i = 0; i < far->count; i++)
    if (rs_node_number(&near->items[i]) != rs_node_number(&far->items[i])) return false;
  return true;
}

static void find_switch(rs_checked *c, const rs_rope_entry *rope) {
  double tokens = tokens_of(c, rs_trained_of(c, rope));
  if (tokens != 0 && !has_one_table(rope))
    rs_find(c, "RS701", rope->node, NULL,
            "past %.0f tokens long_factor takes the place of short_factor: transformers switches within a sequence, "
            "keys cached before keep the other table; vLLM and llama.cpp choose once, by the length they are started "
            "with, SGLang for each batch",
            tokens);
}

/* Transformers' base grows from max_position_embeddings on: it allows an original length beside it, and does not read
 * it. */
static void find_dynamic(rs_checked *c, const rs_rope_entry *rope) {
  double tokens = tokens_of(c, rs_node_number(rs_maximum_of(c)));
  bool original = rs_original_of(c, rope) != NULL;
  if (tokens != 0 && rs_key(rope->node, "alpha") == NULL)
    rs_find(c, "RS702", rope->node, NULL,
            "past %.0f tokens the base grows with each token%s: keys cached before keep the smaller base; vLLM takes "
            "the base of the longest length for all, so short inputs are scaled too",
            tokens, original ? " (original_max_position_embeddings is not read for this type)" : "");
}

static void find_float32(rs_checked *c) {
  const double told = 0.01; /* rad: a hundredth of a token's turn of the fastest pair */
  const rs_model *model = c->model;
  double worst = 0;
  for (size_t j = 0; rs_model_turns(model) && j < model->rotary_dim / 2; j++) {
    double omega = rs_ladder_at(model->rope_theta, (double)model->rotary_dim, j);
    worst = fmax(worst, rs_angle_error(RS_F32, omega, model->max_length));
  }
  if (worst >= told)
    rs_find(c, "RS703", NULL, NULL,
            "at %zu tokens angles that are computed in float32 are up to %.2g rad off; positions held in bfloat16 "
            "would be up to %.0f tokens off",
            model->max_length, worst, rs_position_error(RS_BF16, model->max_length));
}

const rs_check_row rs_rules_engines[] = {
    {RS_RULE("RS601", "engines-differ", RS_NOTE,
             "an engine makes other frequencies or another attention factor of the file than transformers: a warning "
             "where --engine names it",
             "docs/reference/dialects.md"),
     .in_file = find_differences, .by_engine = true},
    {RS_RULE("RS602", "engine-cannot", RS_NOTE,
             "an engine has no way to say what the file says: a warning where --engine names it",
             "docs/reference/dialects.md"),
     .by_engine = true},
    {RS_RULE("RS603", "releases-differ", RS_NOTE,
             "transformers up to 4.50 left the original length unread, and 4.51 to 4.55 took the ratio of the lengths "
             "for the factor",
             "github.com/huggingface/transformers/issues/38224, /pull/40320"),
     .in_rope = find_releases, .types = "yarn"},
    {RS_RULE("RS604", "truncate-by-layers", RS_WARNING,
             "transformers 5 does not read truncate where rope_parameters differ by type of layers",
             "transformers decba1d2ea4e, modeling_rope_utils.py:474"),
     .in_rope = find_truncate},
    {RS_RULE("RS605", "served-lengths-differ", RS_NOTE,
             "unless it is told otherwise, an engine serves another length than the file is for: a warning where "
             "--engine names it",
             "vLLM, config/model.py: _get_and_verify_max_len; github.com/vllm-project/vllm/pull/56446; SGLang, "
             "get_context_length"),
     .in_file = find_lengths, .by_engine = true},
    {RS_RULE("RS606", "rotary-dim-unread", RS_NOTE,
             "transformers before its pull request 48486 did not read rotary_dim of this class, and turned whole heads",
             "github.com/huggingface/transformers/pull/48486"),
     .in_file = find_width},
    {RS_RULE("RS607", "olmo3-layers-of-a-release", RS_NOTE,
             "transformers 5.0 to 5.12 turned OLMo 3's layers with a window by the recipe of the others: a warning "
             "where --engine names it",
             "github.com/huggingface/transformers/pull/46911"),
     .in_file = find_all_layers, .by_engine = true},
    {RS_RULE("RS701", "longrope-switch", RS_NOTE,
             "LongRoPE changes its table where a sequence passes the length of training: keys cached before do not fit",
             "github.com/huggingface/transformers/issues/25104; github.com/vllm-project/vllm/issues/27431"),
     .in_rope = find_switch, .types = "longrope"},
    {RS_RULE("RS702", "dynamic-cache", RS_NOTE,
             "a dynamic rule changes its table with the length: keys cached at another length do not fit, and vLLM "
             "freezes one table",
             "github.com/vllm-project/vllm/issues/5093"),
     .in_rope = find_dynamic, .types = "dynamic"},
    {RS_RULE("RS703", "float32-angles", RS_NOTE, "angles that are computed in float32 lose digits at the served length",
             "docs/performance.md; transformers, LlamaRotaryEmbedding.forward: float32"),
     .in_file = find_float32},
    {.rule = {.code = NULL}}};
