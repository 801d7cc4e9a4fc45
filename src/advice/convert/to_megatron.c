/* Megatron-LM: arguments of pretrain_gpt.py. Held against megatron/training/arguments.py and argument_utils.py, and
 * what reads them in megatron/core/models/common/embeddings. */
#include "written.h"

#include <math.h>
#include <string.h>

enum { LLAMA3_LENGTH = 8192, LATENT_LENGTH = 4096 }; /* which no argument changes */

static void put_base(rs_converting *c) {
  double base = rs_settled_is(&c->settled, "dynamic") ? rs_base_at(&c->settled) : c->settled.theta;
  rs_argument_number(c, "--rotary-base", round(base));
  if (base != round(base)) rs_note(c, "--rotary-base takes whole numbers: %.10g is rounded.", base);
}

static void put_shape(rs_converting *c) {
  const rs_model *model = c->settled.model;
  put_base(c);
  if (model->rotary_dim < model->head_dim && !c->from->latent && !rs_settled_is(&c->settled, "proportional"))
    rs_argument_number(c, "--rotary-percent", (double)model->rotary_dim / (double)model->head_dim);
  if (model->pair_layout == RS_INTERLEAVED && !c->from->latent) rs_argument(c, "--rotary-interleaved");
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

static void put_linear(rs_converting *c) {
  double factor = c->settled.factor;
  if (factor == round(factor))
    rs_argument_number(c, "--rotary-seq-len-interpolation-factor", factor);
  else
    rs_note(c,
            "--rotary-seq-len-interpolation-factor takes whole numbers: factor = %g cannot be said, and nothing is "
            "scaled here.",
            factor);
}

static void put_llama3(rs_converting *c) {
  const rs_settled *settled = &c->settled;
  double low = rs_settled_number(settled, "low_freq_factor"), high = rs_settled_number(settled, "high_freq_factor");
  rs_argument(c, "--use-rope-scaling");
  rs_argument_number(c, "--rope-scaling-factor", settled->factor);
  if (low != 1 || high != 4 || settled->model->train_length != LLAMA3_LENGTH)
    rs_note(c,
            "Megatron-LM has low_freq_factor 1, high_freq_factor 4 and original length %d built in: %g, %g and %zu "
            "cannot be said.",
            LLAMA3_LENGTH, low, high, settled->model->train_length);
}

/* mscale alone makes any amplitude: 0.1 mscale ln s + 1. */
static void put_mscale(rs_converting *c) {
  const rs_settled *settled = &c->settled;
  double usual = rs_yarn_magnitude(settled->factor), amp = settled->spectrum.amp;
  if (fabs(amp / usual - 1) <= 1e-15) return;
  if (settled->factor <= 1) {
    rs_note(c, "Megatron-LM multiplies cos and sin by 1 for a factor up to 1, and not by %g.", amp);
    return;
  }
  rs_argument_number(c, "--mscale", (amp - 1) / (usual - 1));
  rs_argument_number(c, "--mscale-all-dim", 0);
  rs_note(c, "cos and sin are multiplied by %.10g, which --mscale says: 0.1 mscale ln s + 1.", amp);
}

static void put_yarn(rs_converting *c) {
  const rs_settled *settled = &c->settled;
  bool whole = rs_settled_number(settled, "truncate") != 0;
  rs_argument_number(c, "--rotary-scaling-factor", settled->factor);
  rs_argument(c, "--yarn-original-max-position-embeddings");
  rs_argument(c, "%zu", settled->model->train_length);
  rs_argument_number(c, "--yarn-beta-fast", rs_settled_number(settled, "beta_fast"));
  rs_argument_number(c, "--yarn-beta-slow", rs_settled_number(settled, "beta_slow"));
  rs_argument(c, whole ? "--yarn-correction-range-round-to-int" : "--no-yarn-correction-range-round-to-int");
  put_mscale(c);
  if (settled->model->pair_layout == RS_INTERLEAVED)
    rs_note(c, "Megatron-LM's YaRN stops at --rotary-interleaved: pairs of dims (2j, 2j + 1) cannot be said.");
  if (settled->model->rotary_dim < settled->model->head_dim)
    rs_note(c, "Megatron-LM's YaRN turns whole heads, whatever --rotary-percent says: %zu of %zu dims cannot be said.",
            settled->model->rotary_dim, settled->model->head_dim);
}

/* Multi-latent attention has a YaRN of its own. */
static void put_latent(rs_converting *c) {
  const rs_settled *settled = &c->settled;
  double fast = rs_settled_number(settled, "beta_fast"), slow = rs_settled_number(settled, "beta_slow");
  bool yarn = rs_settled_is(settled, "yarn");
  rs_argument(c, "--multi-latent-attention");
  rs_argument(c, "--qk-pos-emb-head-dim");
  rs_argument(c, "%zu", settled->model->rotary_dim);
  rs_argument(c, "--rope-type");
  rs_argument(c, yarn ? "yarn" : "rope");
  if (!yarn) return;
  rs_argument_number(c, "--rotary-scaling-factor", settled->factor);
  if (!isnan(rs_settled_number(settled, "mscale"))) {
    rs_argument_number(c, "--mscale", rs_settled_number(settled, "mscale"));
    rs_argument_number(c, "--mscale-all-dim", rs_settled_number(settled, "mscale_all_dim"));
  }
  if (settled->model->train_length != LATENT_LENGTH || fast != 32 || slow != 1)
    rs_note(c,
            "No argument gives original length %zu, beta_fast %g and beta_slow %g to multi-latent attention, which "
            "has %d, 32 and 1: they are fields of MLATransformerConfig.",
            settled->model->train_length, fast, slow, LATENT_LENGTH);
}

static void put_sections(rs_converting *c) {
  const rs_model *model = c->settled.model;
  rs_argument(c, "--mrope-section");
  for (size_t a = 0; a < RS_AXES; a++) rs_argument(c, "%zu", model->mrope_section[a]);
  if (model->axis_layout != RS_AXES_CONTIGUOUS)
    rs_note(c, "Here t, h and w have their pairs one behind the other: %s cannot be said.",
            rs_axis_layout_words[model->axis_layout]);
}

static void note_unsaid(rs_converting *c) {
  const rs_settled *settled = &c->settled;
  if (rs_settled_is(settled, "longrope") || rs_settled_is(settled, "proportional"))
    rs_note(c, "Megatron-LM has no %s: this is plain RoPE, and not the same recipe.", settled->type->type);
  if (rs_settled_is(settled, "dynamic"))
    rs_note(c, "Megatron-LM has no dynamic NTK: this is the base of %zu tokens, for all lengths.", settled->length);
  if (rs_has_axes(settled) && rs_settled_is(settled, "yarn"))
    rs_note(c, "M-RoPE and YaRN are two types of position embedding there: mrope_section cannot be said.");
  if (!isnan(rs_settled_number(settled, "logit_scale_length")))
    rs_note(c, "The temperature by position (llama_4_scaling_beta) cannot be said.");
}

/* ---- layers ------------------------------------------------------------------------------------------------------ */

/* Layers that turn nothing are listed, one a number; others are not told apart. */
static void put_layers(rs_converting *c) {
  const rs_profile *profile = &c->from->profile;
  rs_text list = {0};
  bool bare = false, others = false;
  for (size_t k = 0; k < profile->kind_count; k++) {
    const rs_layer_kind *kind = &profile->kinds[k];
    bool turns = kind->attends && kind->model.published.method->freq != NULL;
    bare |= kind->attends && !turns;
    others |= turns && !rs_layers_turn_alike(kind, c->settled.kind);
  }
  for (size_t i = 0; i < profile->layer_count; i++) {
    const rs_layer_kind *kind = &profile->kinds[profile->layers[i]];
    bool none = kind->attends && kind->model.published.method->freq == NULL;
    rs_text_printf(&list, "%s%d", i > 0 ? "," : "", none);
  }
  if (bare && profile->counted) {
    rs_argument(c, "--no-rope-freq");
    rs_argument(c, "[%s]", rs_text_string(&list));
  }
  if (others || (bare && !profile->counted)) rs_note_layers(c, "Megatron-LM has one recipe for all that turn");
  c->failed |= list.failed;
  rs_text_clear(&list);
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static void put_type(rs_converting *c) {
  const rs_settled *settled = &c->settled;
  bool yarn = rs_settled_is(settled, "yarn") && !c->from->latent, axes = rs_settled_is(settled, "mrope");
  rs_argument(c, "--position-embedding-type");
  rs_argument(c, yarn ? "yarn" : axes ? "mrope" : "rope");
  put_shape(c);
  if (c->from->latent)
    put_latent(c);
  else if (yarn)
    put_yarn(c);
  else if (rs_settled_is(settled, "linear"))
    put_linear(c);
  else if (rs_settled_is(settled, "llama3"))
    put_llama3(c);
  if (axes) put_sections(c);
  rs_note_base(c);
  note_unsaid(c);
  put_layers(c);
}

static void put_unturned(rs_converting *c) {
  static const char *const words[][2] = {{"nope", "none"}, {"learned", "learned_absolute"}, {"t5", "relative"}};
  const char *method = c->settled.recipe.method->name;
  for (size_t i = 0; i < RS_COUNT(words); i++) {
    if (strcmp(words[i][0], method) != 0) continue;
    rs_argument(c, "--position-embedding-type");
    rs_argument(c, "%s", words[i][1]);
    if (strcmp(method, "t5") != 0) return;
    rs_argument_number(c, "--relative-attention-num-buckets", rs_settled_number(&c->settled, "num_buckets"));
    rs_argument_number(c, "--relative-attention-max-distance", rs_settled_number(&c->settled, "max_distance"));
    return;
  }
  rs_note_unturned(c, "Megatron-LM");
}

rs_status rs_to_megatron(rs_converting *c, rs_err *err) {
  (void)err;
  if (c->settled.type != NULL)
    put_type(c);
  else
    put_unturned(c);
  rs_argument(c, "--max-position-embeddings");
  rs_argument(c, "%zu", c->settled.length);
  return RS_OK;
}
