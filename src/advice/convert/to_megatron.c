/* Megatron-LM: arguments of pretrain_gpt.py. Held against megatron/training/arguments.py and argument_utils.py, and
 * what reads them in megatron/core/models/common/embeddings. */
#include "written.h"

#include <math.h>
#include <string.h>

enum { LLAMA3_LENGTH = 8192, LATENT_LENGTH = 4096 }; /* which no argument changes */

/* A flag, and a parameter of the recipe. */
static void put_param(rs_converting *c, const char *flag, const char *name) {
  rs_option_number(c, flag, rs_settled_number(&c->settled, name));
}

static void put_shape(rs_converting *c) {
  const rs_model *model = c->settled.model;
  double base = rs_base_at(&c->settled);
  rs_option_number(c, "--rotary-base", round(base));
  if (base != round(base)) rs_note(c, "--rotary-base takes whole numbers: %.10g is rounded.", base);
  if (model->rotary_dim < model->head_dim && !c->from->latent && !rs_settled_is(&c->settled, "proportional"))
    rs_option_number(c, "--rotary-percent", (double)model->rotary_dim / (double)model->head_dim);
  if (model->pair_layout == RS_INTERLEAVED && !c->from->latent) rs_argument(c, "--rotary-interleaved");
}

/* ---- types ------------------------------------------------------------------------------------------------------- */

static void put_linear(rs_converting *c) {
  double factor = c->settled.factor;
  if (factor == round(factor))
    rs_option_number(c, "--rotary-seq-len-interpolation-factor", factor);
  else
    rs_note(c,
            "--rotary-seq-len-interpolation-factor takes whole numbers: factor = %g cannot be said, and nothing is "
            "scaled here.",
            factor);
}

static void put_llama3(rs_converting *c) {
  const rs_settled *s = &c->settled;
  double low = rs_settled_number(s, "low_freq_factor"), high = rs_settled_number(s, "high_freq_factor");
  rs_argument(c, "--use-rope-scaling");
  rs_option_number(c, "--rope-scaling-factor", s->factor);
  if (low != 1 || high != 4 || s->model->train_length != LLAMA3_LENGTH)
    rs_note(c,
            "Megatron-LM has low_freq_factor 1, high_freq_factor 4 and original length %d built in: %g, %g and %zu "
            "cannot be said.",
            LLAMA3_LENGTH, low, high, s->model->train_length);
}

/* mscale alone makes any amplitude: 0.1 mscale ln s + 1. */
static void put_mscale(rs_converting *c) {
  const rs_settled *s = &c->settled;
  double usual = rs_yarn_magnitude(1, s->factor), amp = s->spectrum.amp;
  if (fabs(s->product - 1) <= 1e-15) return;
  if (s->factor <= 1) {
    rs_note(c, "Megatron-LM multiplies cos and sin by 1 for a factor up to 1, and not by %g.", amp);
    return;
  }
  rs_option_number(c, "--mscale", (amp - 1) / (usual - 1));
  rs_option_number(c, "--mscale-all-dim", 0);
  rs_note(c, "cos and sin are multiplied by %.10g, which --mscale says: 0.1 mscale ln s + 1.", amp);
}

static void put_yarn(rs_converting *c) {
  const rs_settled *s = &c->settled;
  const rs_model *model = s->model;
  bool whole = rs_settled_number(s, "truncate") != 0;
  rs_option_number(c, "--rotary-scaling-factor", s->factor);
  rs_option(c, "--yarn-original-max-position-embeddings", "%zu", model->train_length);
  put_param(c, "--yarn-beta-fast", "beta_fast");
  put_param(c, "--yarn-beta-slow", "beta_slow");
  rs_argument(c, whole ? "--yarn-correction-range-round-to-int" : "--no-yarn-correction-range-round-to-int");
  put_mscale(c);
  if (model->pair_layout == RS_INTERLEAVED)
    rs_note(c, "Megatron-LM's YaRN stops at --rotary-interleaved: pairs of dims (2j, 2j + 1) cannot be said.");
  if (model->rotary_dim < model->head_dim)
    rs_note(c, "Megatron-LM's YaRN turns whole heads, whatever --rotary-percent says: %zu of %zu dims cannot be said.",
            model->rotary_dim, model->head_dim);
}

/* Multi-latent attention has a YaRN of its own. */
static void put_latent(rs_converting *c) {
  const rs_settled *s = &c->settled;
  double fast = rs_settled_number(s, "beta_fast"), slow = rs_settled_number(s, "beta_slow");
  bool yarn = rs_settled_is(s, "yarn");
  rs_argument(c, "--multi-latent-attention");
  rs_option(c, "--qk-pos-emb-head-dim", "%zu", s->model->rotary_dim);
  rs_option(c, "--rope-type", yarn ? "yarn" : "rope");
  if (!yarn) return;
  rs_option_number(c, "--rotary-scaling-factor", s->factor);
  if (!isnan(rs_settled_number(s, "mscale"))) {
    put_param(c, "--mscale", "mscale");
    put_param(c, "--mscale-all-dim", "mscale_all_dim");
  }
  if (s->model->train_length != LATENT_LENGTH || fast != 32 || slow != 1)
    rs_note(c,
            "No argument gives original length %zu, beta_fast %g and beta_slow %g to multi-latent attention, which has "
            "%d, 32 and 1: they are fields of MLATransformerConfig.",
            s->model->train_length, fast, slow, LATENT_LENGTH);
}

static void put_sections(rs_converting *c) {
  const rs_model *model = c->settled.model;
  const size_t *sections = model->mrope_section;
  rs_option(c, "--mrope-section", "%zu", sections[0]);
  for (size_t a = 1; a < RS_AXES; a++) rs_option(c, NULL, "%zu", sections[a]);
  if (model->axis_layout != RS_AXES_CONTIGUOUS)
    rs_note(c, "Here t, h and w have their pairs one behind the other: %s cannot be said.",
            rs_axis_layout_words[model->axis_layout]);
}

static void note_unsaid(rs_converting *c) {
  const rs_settled *s = &c->settled;
  if (rs_settled_is(s, "longrope") || rs_settled_is(s, "proportional"))
    rs_note(c, "Megatron-LM has no %s: this is plain RoPE, and not the same recipe.", s->type->type);
  if (rs_settled_is(s, "dynamic"))
    rs_note(c, "Megatron-LM has no dynamic NTK: this is the base of %zu tokens, for all lengths.", s->length);
  if (s->axes && rs_settled_is(s, "yarn"))
    rs_note(c, "M-RoPE and YaRN are two types of position embedding there: mrope_section cannot be said.");
  if (s->temperature) rs_note(c, "The temperature by position (llama_4_scaling_beta) cannot be said.");
}

/* ---- layers ------------------------------------------------------------------------------------------------------ */

/* Layers that turn nothing are listed, one a number; others are not told apart. */
static void put_layers(rs_converting *c) {
  const rs_profile *profile = &c->from->profile;
  RS_OWNED(rs_text) list = {0};
  bool bare = false, others = false;
  for (size_t k = 0; k < profile->kind_count; k++) {
    const rs_layer_kind *kind = &profile->kinds[k];
    bool turns = rs_model_turns(&kind->model);
    bare |= kind->attends && !turns;
    others |= kind->attends && turns && !rs_layers_turn_alike(kind, c->settled.kind);
  }
  for (size_t i = 0; i < profile->layer_count; i++) {
    const rs_layer_kind *kind = &profile->kinds[profile->layers[i]];
    rs_text_printf(&list, "%s%d", i > 0 ? "," : "", kind->attends && !rs_model_turns(&kind->model));
  }
  if (bare && profile->counted) rs_option(c, "--no-rope-freq", "[%s]", rs_text_string(&list));
  if (others || (bare && !profile->counted)) rs_note_layers(c, "Megatron-LM has one recipe for all that turn");
  (void)rs_text_check(&list, &c->err);
}

/* ---- arguments --------------------------------------------------------------------------------------------------- */

static void put_type(rs_converting *c) {
  const rs_settled *s = &c->settled;
  bool yarn = rs_settled_is(s, "yarn") && !c->from->latent, axes = rs_settled_is(s, "mrope");
  rs_option(c, "--position-embedding-type", yarn ? "yarn" : axes ? "mrope" : "rope");
  put_shape(c);
  if (c->from->latent)
    put_latent(c);
  else if (yarn)
    put_yarn(c);
  else if (rs_settled_is(s, "linear"))
    put_linear(c);
  else if (rs_settled_is(s, "llama3"))
    put_llama3(c);
  if (axes) put_sections(c);
  rs_note_base(c);
  note_unsaid(c);
  put_layers(c);
}

static void put_unturned(rs_converting *c) {
  static const char *const words[][2] = {{"nope", "none"}, {"learned", "learned_absolute"}, {"t5", "relative"}};
  const char *method = c->settled.recipe.method->name, *word = NULL;
  for (size_t i = 0; i < RS_COUNT(words); i++)
    if (strcmp(words[i][0], method) == 0) word = words[i][1];
  if (word != NULL)
    rs_option(c, "--position-embedding-type", "%s", word);
  else
    rs_note_unturned(c, "Megatron-LM");
  if (strcmp(method, "t5") != 0) return;
  put_param(c, "--relative-attention-num-buckets", "num_buckets");
  put_param(c, "--relative-attention-max-distance", "max_distance");
}

void rs_to_megatron(rs_converting *c) {
  if (c->settled.type != NULL)
    put_type(c);
  else
    put_unturned(c);
  rs_option(c, "--max-position-embeddings", "%zu", c->settled.length);
}
