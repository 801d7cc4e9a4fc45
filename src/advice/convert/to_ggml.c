/* llama.cpp: options of its programs, and keys and tensors of GGUF files. */
#include "written.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- what both need ---------------------------------------------------------------------------------------------- */

/* What multiplies ggml's own 1 + 0.1 ln s, which it has for any s. */
static double product_of(const rs_settled *settled) {
  return settled->spectrum.amp / (1 + 0.1 * log(settled->factor));
}

static bool has_softmax(const rs_settled *settled) {
  return rs_settled_number(settled, "mscale_softmax") == 1;
}

static rs_status note_reading(rs_converting *c, rs_err *err) {
  const rs_settled *settled = &c->settled;
  bool yarn = rs_settled_is(settled, "yarn") && !has_softmax(settled);
  const rs_engine_setting settings[] = {{"attn_factor", yarn ? product_of(settled) : 1}, {NULL, 0}};
  bool fixed = rs_settled_is(settled, "dynamic") || rs_settled_is(settled, "longrope");
  if (fixed || rs_settled_is(settled, "proportional")) return RS_OK;
  return rs_note_engine(c, "llama.cpp", "llamacpp", yarn ? settings : settings + 1, err);
}

static void note_dynamic(rs_converting *c) {
  if (rs_settled_is(&c->settled, "dynamic"))
    rs_note(c, "llama.cpp has no dynamic NTK: this is the base of %zu tokens, for shorter contexts too.",
            c->settled.length);
}

static void note_both(rs_converting *c) {
  rs_note_base(c);
  note_dynamic(c);
  if (rs_has_axes(&c->settled) && c->settled.model->axis_layout == RS_AXES_SPATIAL_FIRST)
    rs_note(c, "That rows and columns alternate on the fastest pairs is the architecture's to know: sections say how "
               "many pairs an axis has, not which.");
  if (!isnan(rs_settled_number(&c->settled, "logit_scale_length")))
    rs_note(c, "The temperature by position (llama_4_scaling_beta) is the architecture's: attention.temperature_length "
               "and attention.temperature_scale of the GGUF.");
}

/* ---- options ----------------------------------------------------------------------------------------------------- */

static void put_yarn_options(rs_converting *c) {
  const rs_settled *settled = &c->settled;
  rs_argument_number(c, "--rope-scale", settled->factor);
  rs_argument(c, "--yarn-orig-ctx");
  rs_argument(c, "%zu", settled->model->train_length);
  rs_argument_number(c, "--yarn-ext-factor", 1);
  rs_argument_number(c, "--yarn-beta-fast", rs_settled_number(settled, "beta_fast"));
  rs_argument_number(c, "--yarn-beta-slow", rs_settled_number(settled, "beta_slow"));
  if (has_softmax(settled)) return;
  rs_argument_number(c, "--yarn-attn-factor", product_of(settled));
  if (fabs(product_of(settled) - 1) > 1e-15)
    rs_note(c,
            "llama.cpp since pull request 17945 (2025-12) computes --yarn-attn-factor itself: there --override-kv "
            "ARCH.rope.scaling.attn_factor=float:%.9g says it.",
            product_of(settled));
}

/* What convert_hf_to_gguf.py makes of tables that only a GGUF file can hold. */
static void note_tables(rs_converting *c) {
  enum { LLAMA3_LENGTH = 8192 };
  const rs_settled *settled = &c->settled;
  double formula = rs_longrope_magnitude(settled->model), amp = settled->spectrum.amp;
  if (rs_settled_is(settled, "llama3") || rs_settled_is(settled, "proportional"))
    rs_note(c, "%s is no option: the GGUF's tensor rope_freqs.weight holds it (--to gguf-metadata prints it).",
            settled->type->type);
  if (rs_settled_is(settled, "llama3") && settled->model->train_length != LLAMA3_LENGTH)
    rs_note(c, "convert_hf_to_gguf.py takes %d for the original length, unless %zu stands on top of config.json.",
            LLAMA3_LENGTH, settled->model->train_length);
  if (!rs_settled_is(settled, "longrope")) return;
  rs_note(c,
          "longrope is no option: the GGUF's tensors rope_factors_long.weight and rope_factors_short.weight hold it "
          "(--to gguf-metadata prints them); -c above %zu takes the long one.",
          settled->model->train_length);
  if (fabs(amp / formula - 1) > 1e-9)
    rs_note(c,
            "convert_hf_to_gguf.py computes what multiplies cos and sin, %.9g: --override-kv "
            "ARCH.rope.scaling.attn_factor=float:%.9g makes it that of transformers.",
            formula, amp);
}

/* What only a GGUF file can say. */
static void note_file(rs_converting *c) {
  const rs_settled *settled = &c->settled;
  note_tables(c);
  if (has_softmax(settled))
    rs_note(c, "mscale and mscale_all_dim are no options: the GGUF's rope.scaling.yarn_log_multiplier holds them.");
  if (settled->model->rotary_dim < settled->model->head_dim && !rs_settled_is(settled, "proportional"))
    rs_note(c, "That %zu of %zu dims turn stands in the GGUF (rope.dimension_count).", settled->model->rotary_dim,
            settled->model->head_dim);
  if (rs_has_axes(settled)) rs_note(c, "mrope_section stands in the GGUF (rope.dimension_sections).");
  rs_note_layers(c, "others keep what the GGUF has for them (rope.freq_base_swa)");
}

static void put_options(rs_converting *c) {
  const rs_settled *settled = &c->settled;
  bool yarn = rs_settled_is(settled, "yarn"), linear = rs_settled_is(settled, "linear");
  bool file = rs_settled_is(settled, "longrope");
  if (!file) rs_argument(c, "--rope-scaling");
  if (!file) rs_argument(c, yarn ? "yarn" : linear ? "linear" : "none");
  rs_argument_number(c, "--rope-freq-base", rs_settled_is(settled, "dynamic") ? rs_base_at(settled) : settled->theta);
  if (linear) rs_argument_number(c, "--rope-scale", settled->factor);
  if (yarn) put_yarn_options(c);
}

rs_status rs_to_llamacpp(rs_converting *c, rs_err *err) {
  if (c->settled.type != NULL) {
    put_options(c);
    note_both(c);
    note_file(c);
    RS_TRY(note_reading(c, err));
  } else {
    rs_note_unturned(c, "llama.cpp");
  }
  rs_argument(c, "-c");
  rs_argument(c, "%zu", c->settled.length);
  return RS_OK;
}

/* ---- GGUF -------------------------------------------------------------------------------------------------------- */

/* What GGUF calls the families (llama.cpp/src/llama-arch.cpp); their text models are called the same. */
static const struct {
  const char *family, *architecture;
} architectures[] = {
    {"bloom", "bloom"},
    {"chatglm", "chatglm"},
    {"cohere", "command-r"},
    {"cohere2", "cohere2"},
    {"deepseek_v2", "deepseek2"},
    {"deepseek_v3", "deepseek2"},
    {"deepseek_v32", "deepseek32"},
    {"deepseek_v4", "deepseek4"},
    {"falcon", "falcon"},
    {"falcon_h1", "falcon-h1"},
    {"gemma", "gemma"},
    {"gemma2", "gemma2"},
    {"gemma3", "gemma3"},
    {"gemma3n", "gemma3n"},
    {"gemma4", "gemma4"},
    {"gpt2", "gpt2"},
    {"gpt_neox", "gptneox"},
    {"gpt_oss", "gpt-oss"},
    {"gptj", "gptj"},
    {"granite", "granite"},
    {"granitemoe", "granitemoe"},
    {"granitemoehybrid", "granitehybrid"},
    {"llama", "llama"},
    {"llama4", "llama4"},
    {"mistral", "llama"},
    {"mistral3", "mistral3"},
    {"mistral4", "mistral4"},
    {"ministral3", "mistral3"},
    {"mixtral", "llama"},
    {"mpt", "mpt"},
    {"nemotron", "nemotron"},
    {"olmo2", "olmo2"},
    {"phi", "phi2"},
    {"phi3", "phi3"},
    {"phimoe", "phimoe"},
    {"qwen2", "qwen2"},
    {"qwen2_5_vl", "qwen2vl"},
    {"qwen2_moe", "qwen2moe"},
    {"qwen2_vl", "qwen2vl"},
    {"qwen3", "qwen3"},
    {"qwen3_5", "qwen35"},
    {"qwen3_5_moe", "qwen35moe"},
    {"qwen3_moe", "qwen3moe"},
    {"qwen3_next", "qwen3next"},
    {"qwen3_vl", "qwen3vl"},
    {"qwen3_vl_moe", "qwen3vlmoe"},
    {"smollm3", "smollm3"},
    {"stablelm", "stablelm"},
    {"stablelm_epoch", "stablelm"},
    {"starcoder2", "starcoder2"},
};

static const char *architecture_of(rs_converting *c) {
  for (size_t i = 0; i < RS_COUNT(architectures); i++) {
    size_t length = strlen(architectures[i].family);
    const char *family = c->from->family, *rest = family + length;
    if (strncmp(family, architectures[i].family, length) != 0) continue;
    if (*rest == '\0' || strcmp(rest, "_text") == 0) return architectures[i].architecture;
  }
  rs_note(c, "{arch} stands for the architecture's name in the GGUF (general.architecture).");
  return "{arch}";
}

typedef struct gguf {
  rs_converting *c;
  const char *architecture;
} gguf;

static const char *key_of(const gguf *g, const char *name, char key[96]) {
  snprintf(key, 96, "%s.%s", g->architecture, name);
  return key;
}

static void put_number(const gguf *g, const char *name, double value) {
  char key[96];
  rs_json_number(&g->c->json, key_of(g, name, key), value);
}

static void put_word(const gguf *g, const char *name, const char *word) {
  char key[96];
  rs_json_string(&g->c->json, key_of(g, name, key), word);
}

/* Four, of which the last is for no axis. */
static void put_sections(const gguf *g) {
  char key[96];
  const rs_model *model = g->c->settled.model;
  if (!rs_has_axes(&g->c->settled)) return;
  rs_json_list(&g->c->json, key_of(g, "rope.dimension_sections", key));
  for (size_t a = 0; a < RS_AXES; a++) rs_json_number(&g->c->json, NULL, (double)model->mrope_section[a]);
  rs_json_number(&g->c->json, NULL, 0);
  rs_json_end(&g->c->json);
}

static void put_scaling(const gguf *g) {
  const rs_settled *settled = &g->c->settled;
  bool yarn = rs_settled_is(settled, "yarn"), linear = rs_settled_is(settled, "linear");
  bool longrope = rs_settled_is(settled, "longrope");
  if (yarn || linear || longrope) put_word(g, "rope.scaling.type", settled->type->type);
  if (yarn || linear) put_number(g, "rope.scaling.factor", settled->factor);
  if (yarn || longrope) put_number(g, "rope.scaling.original_context_length", (double)settled->model->train_length);
  if (yarn) {
    put_number(g, "rope.scaling.yarn_beta_fast", rs_settled_number(settled, "beta_fast"));
    put_number(g, "rope.scaling.yarn_beta_slow", rs_settled_number(settled, "beta_slow"));
  }
  if (longrope) put_number(g, "rope.scaling.attn_factor", settled->spectrum.amp);
  if (yarn && has_softmax(settled))
    put_number(g, "rope.scaling.yarn_log_multiplier", 0.1 * rs_settled_number(settled, "mscale_all_dim"));
  else if (yarn && fabs(product_of(settled) - 1) > 1e-15)
    put_number(g, "rope.scaling.attn_factor", product_of(settled));
}

/* Layers with a window, which turn plainly. */
static void put_window(const gguf *g) {
  const rs_profile *profile = &g->c->from->profile;
  const rs_layer_kind *chosen = g->c->settled.kind;
  bool said = false;
  for (size_t k = 0; k < profile->kind_count; k++) {
    const rs_layer_kind *kind = &profile->kinds[k];
    if (!kind->attends || rs_layers_turn_alike(kind, chosen)) continue;
    bool plain = strcmp(kind->model.published.method->name, "rope") == 0 && kind->mask.window > 0 && !said;
    if (plain)
      put_number(g, "rope.freq_base_swa", kind->model.rope_theta);
    else
      rs_note(g->c, "Layers %s turn %s, which is the architecture's to know.", kind->name,
              kind->model.published.method->freq == NULL ? "nothing" : "otherwise");
    said |= plain;
  }
}

/* ---- tensors ----------------------------------------------------------------------------------------------------- */

/* What each pair of the plain ladder is divided by. */
static void put_divisors(rs_converting *c, const char *name) {
  enum { IDLE = 30 }; /* 1e30 */
  const rs_settled *settled = &c->settled;
  double pairs = (double)settled->spectrum.pairs;
  rs_json_list(&c->json, name);
  for (size_t j = 0; j < settled->spectrum.pairs; j++) {
    double plain = pow(settled->theta, -(double)j / pairs), omega = settled->spectrum.omega[j];
    rs_json_number(&c->json, NULL, omega > 0 ? plain / omega : pow(10, IDLE));
  }
  rs_json_end(&c->json);
}

static void put_list(rs_converting *c, const char *name, const char *param) {
  const rs_value *list = rs_setting(&c->settled.recipe.settings, param);
  rs_json_list(&c->json, name);
  for (size_t j = 0; j < list->count; j++) rs_json_number(&c->json, NULL, list->list[j]);
  rs_json_end(&c->json);
}

static void put_tensors(rs_converting *c) {
  bool longrope = rs_settled_is(&c->settled, "longrope"), divided = rs_settled_is(&c->settled, "llama3");
  divided |= rs_settled_is(&c->settled, "proportional");
  if (!longrope && !divided) return;
  rs_json_object(&c->json, "tensors");
  if (longrope) put_list(c, "rope_factors_long.weight", "long_factor");
  if (longrope) put_list(c, "rope_factors_short.weight", "short_factor");
  if (divided) put_divisors(c, "rope_freqs.weight");
  rs_json_end(&c->json);
  rs_note(c, "What stands in tensors is data of the file, float32, and no metadata.");
}

static void put_unturned(const gguf *g) {
  const rs_settled *settled = &g->c->settled;
  if (strcmp(settled->recipe.method->name, "alibi") == 0)
    put_number(g, "attention.max_alibi_bias", rs_settled_number(settled, "bias_max"));
  if (strcmp(settled->recipe.method->name, "t5") == 0)
    put_number(g, "attention.relative_buckets_count", rs_settled_number(settled, "num_buckets"));
  rs_note_unturned(g->c, "llama.cpp");
}

static void put_rope(const gguf *g) {
  const rs_settled *settled = &g->c->settled;
  put_number(g, "rope.dimension_count", (double)settled->model->rotary_dim);
  put_number(g, "rope.freq_base", rs_settled_is(settled, "dynamic") ? rs_base_at(settled) : settled->theta);
  put_window(g);
  put_sections(g);
  put_scaling(g);
  put_tensors(g->c);
}

rs_status rs_to_gguf(rs_converting *c, rs_err *err) {
  c->json = (rs_json){.text = &c->text};
  gguf g = {c, architecture_of(c)};
  rs_json_object(&c->json, NULL);
  put_number(&g, "context_length", (double)c->settled.length);
  if (c->settled.type != NULL)
    put_rope(&g);
  else
    put_unturned(&g);
  rs_json_end(&c->json);
  rs_fragment(c);
  if (c->settled.type == NULL) return RS_OK;
  note_both(c);
  return note_reading(c, err);
}
