/* llama.cpp: options of its programs, and keys and tensors of GGUF files. */
#include "written.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- what both need ---------------------------------------------------------------------------------------------- */

static void note_both(rs_converting *c) {
  const rs_settled *s = &c->settled;
  rs_note_base(c);
  if (rs_settled_is(s, "dynamic"))
    rs_note(c, "llama.cpp has no dynamic NTK: this is the base of %zu tokens, for shorter contexts too.", s->length);
  if (s->axes && s->model->axis_layout == RS_AXES_SPATIAL_FIRST)
    rs_note(c, "That rows and columns alternate on the fastest pairs is the architecture's to know: sections say how "
               "many pairs an axis has, not which.");
  if (s->temperature)
    rs_note(c, "The temperature by position (llama_4_scaling_beta) is the architecture's: attention.temperature_length "
               "and attention.temperature_scale of the GGUF.");
}

/* Whether it is a GGUF file whose rope_freqs.weight is of no recipe, which is read as a longrope that does not change
 * with the length, and has no original length therefore. */
static bool has_freqs(const rs_converting *c) {
  const rs_settings *settings = &c->settled.recipe.settings;
  if (c->from->config == NULL || c->from->replaced || !rs_hf_was_gguf(&c->from->config->root)) return false;
  const rs_node *rope = rs_node_get(&c->from->config->root, "rope_scaling");
  bool longrope = rs_settled_is(&c->settled, "longrope") && c->settled.spectrum.amp == 1;
  if (!longrope || rope == NULL || rs_node_get(rope, "original_max_position_embeddings") != NULL) return false;
  const rs_value *far = rs_setting(settings, "long_factor"), *near = rs_setting(settings, "short_factor");
  return far->count == near->count && memcmp(far->list, near->list, far->count * sizeof *far->list) == 0;
}

static void note_reading(rs_converting *c) {
  const rs_settled *s = &c->settled;
  bool yarn = rs_settled_is(s, "yarn") && !s->softmax;
  const rs_engine_setting settings[] = {{"attn_factor", yarn ? s->product : 1}, {NULL, 0}};
  if (!rs_word_among(s->type->type, "longrope proportional"))
    rs_note_engine(c, "llama.cpp", "llamacpp", yarn ? settings : settings + 1);
}

/* ---- options ----------------------------------------------------------------------------------------------------- */

static void put_yarn_options(rs_converting *c) {
  const rs_settled *s = &c->settled;
  rs_option_number(c, "--rope-scale", s->factor);
  rs_option(c, "--yarn-orig-ctx", "%zu", s->model->train_length);
  rs_option_number(c, "--yarn-ext-factor", 1);
  rs_option_number(c, "--yarn-beta-fast", rs_settled_number(s, "beta_fast"));
  rs_option_number(c, "--yarn-beta-slow", rs_settled_number(s, "beta_slow"));
  if (s->softmax) return;
  rs_option_number(c, "--yarn-attn-factor", s->product);
  if (s->factor < 1)
    rs_note(c,
            "llama.cpp before pull request 17945 (2025-12) multiplies cos and sin by 0.1 ln s + 1 below s = 1, too: "
            "there --yarn-attn-factor %.9g undoes it.",
            s->product / (0.1 * log(s->factor) + 1));
  if (fabs(s->product - 1) > 1e-15)
    rs_note(c,
            "llama.cpp since pull request 17945 (2025-12) computes --yarn-attn-factor itself: there --override-kv "
            "ARCH.rope.scaling.attn_factor=float:%.9g says it.",
            s->product);
}

/* What only a GGUF file can say, and what convert_hf_to_gguf.py makes of it. */
static void note_file(rs_converting *c) {
  enum { LLAMA3_LENGTH = 8192 };
  const rs_settled *s = &c->settled;
  const rs_model *model = s->model;
  double formula = rs_longrope_formula(model), amp = s->spectrum.amp;
  bool llama3 = rs_settled_is(s, "llama3"), proportional = rs_settled_is(s, "proportional"),
       longrope = rs_settled_is(s, "longrope") && !has_freqs(c);
  if (has_freqs(c))
    rs_note(c, "The GGUF's tensor rope_freqs.weight divides frequencies at every length alike; it is no option.");
  if (llama3 || proportional)
    rs_note(c, "%s is no option: the GGUF's tensor rope_freqs.weight holds it (--to gguf-metadata prints it).",
            s->type->type);
  if (llama3 && model->train_length != LLAMA3_LENGTH)
    rs_note(c, "convert_hf_to_gguf.py takes %d for the original length, unless %zu stands on top of config.json.",
            LLAMA3_LENGTH, model->train_length);
  if (longrope)
    rs_note(c,
            "longrope is no option: the GGUF's tensors rope_factors_long.weight and rope_factors_short.weight hold it "
            "(--to gguf-metadata prints them); -c above %zu takes the long one.",
            model->train_length);
  if (longrope && fabs(amp / formula - 1) > 1e-9)
    rs_note(c,
            "convert_hf_to_gguf.py computes what multiplies cos and sin, %.9g: --override-kv "
            "ARCH.rope.scaling.attn_factor=float:%.9g makes it that of transformers.",
            formula, amp);
  if (s->softmax)
    rs_note(c, "mscale and mscale_all_dim are no options: the GGUF's rope.scaling.yarn_log_multiplier holds them.");
  if (model->rotary_dim < model->head_dim && !proportional)
    rs_note(c, "That %zu of %zu dims turn stands in the GGUF (rope.dimension_count).", model->rotary_dim,
            model->head_dim);
  if (s->axes) rs_note(c, "mrope_section stands in the GGUF (rope.dimension_sections).");
  rs_note_layers(c, "others keep what the GGUF has for them (rope.freq_base_swa)");
}

static void put_options(rs_converting *c) {
  const rs_settled *s = &c->settled;
  bool yarn = rs_settled_is(s, "yarn"), linear = rs_settled_is(s, "linear");
  if (!rs_settled_is(s, "longrope")) rs_option(c, "--rope-scaling", yarn ? "yarn" : linear ? "linear" : "none");
  rs_option_number(c, "--rope-freq-base", rs_base_at(s));
  if (linear) rs_option_number(c, "--rope-scale", s->factor);
  if (yarn) put_yarn_options(c);
}

void rs_to_llamacpp(rs_converting *c) {
  if (c->settled.type != NULL) {
    put_options(c);
    note_both(c);
    note_file(c);
    note_reading(c);
  } else {
    rs_note_unturned(c, "llama.cpp");
  }
  rs_option(c, "-c", "%zu", c->settled.length);
}

/* ---- GGUF -------------------------------------------------------------------------------------------------------- */

/* What GGUF calls the families (llama.cpp/src/llama-arch.cpp), where it is another name, and where it is the same;
 * their text models are called the same. */
static const struct {
  const char *family, *architecture;
} renamed[] = {{"cohere", "command-r"},
               {"deepseek_v2", "deepseek2"},
               {"deepseek_v3", "deepseek2"},
               {"deepseek_v32", "deepseek32"},
               {"deepseek_v4", "deepseek4"},
               {"falcon_h1", "falcon-h1"},
               {"gpt_neox", "gptneox"},
               {"gpt_oss", "gpt-oss"},
               {"granitemoehybrid", "granitehybrid"},
               {"mistral", "llama"},
               {"ministral3", "mistral3"},
               {"mixtral", "llama"},
               {"phi", "phi2"},
               {"qwen2_5_vl", "qwen2vl"},
               {"qwen2_moe", "qwen2moe"},
               {"qwen2_vl", "qwen2vl"},
               {"qwen3_5", "qwen35"},
               {"qwen3_5_moe", "qwen35moe"},
               {"qwen3_moe", "qwen3moe"},
               {"qwen3_next", "qwen3next"},
               {"qwen3_vl", "qwen3vl"},
               {"qwen3_vl_moe", "qwen3vlmoe"},
               {"stablelm_epoch", "stablelm"}};
static const char same_name[] =
    "bloom chatglm cohere2 falcon gemma gemma2 gemma3 gemma3n gemma4 gpt2 gptj granite granitemoe llama llama4 "
    "mistral3 mistral4 mpt nemotron olmo2 phi3 phimoe qwen2 qwen3 smollm3 stablelm starcoder2";

typedef struct gguf {
  rs_converting *c;
  char architecture[64], key[96];
} gguf;

static void name_architecture(gguf *g) {
  const char *family = g->c->from->family, *name = NULL;
  size_t length = strlen(family), tail = strlen("_text");
  if (length > tail && strcmp(family + length - tail, "_text") == 0) length -= tail;
  snprintf(g->architecture, sizeof g->architecture, "%.*s", (int)length, family);
  for (size_t i = 0; i < RS_COUNT(renamed); i++)
    if (strcmp(renamed[i].family, g->architecture) == 0) name = renamed[i].architecture;
  if (name == NULL && rs_word_among(g->architecture, same_name)) return;
  snprintf(g->architecture, sizeof g->architecture, "%s", name != NULL ? name : "{arch}");
  if (name == NULL) rs_note(g->c, "{arch} stands for the architecture's name in the GGUF (general.architecture).");
}

static const char *key_of(gguf *g, const char *name) {
  snprintf(g->key, sizeof g->key, "%s.%s", g->architecture, name);
  return g->key;
}

static void put_number(gguf *g, const char *name, double value) {
  rs_json_number(&g->c->json, key_of(g, name), value);
}

static void put_scaling(gguf *g) {
  const rs_settled *s = &g->c->settled;
  bool yarn = rs_settled_is(s, "yarn"), linear = rs_settled_is(s, "linear");
  bool longrope = rs_settled_is(s, "longrope") && !has_freqs(g->c);
  if (yarn || linear || longrope) rs_json_string(&g->c->json, key_of(g, "rope.scaling.type"), s->type->type);
  if (yarn || linear) put_number(g, "rope.scaling.factor", s->factor);
  if (yarn || longrope) put_number(g, "rope.scaling.original_context_length", (double)s->model->train_length);
  if (yarn) put_number(g, "rope.scaling.yarn_beta_fast", rs_settled_number(s, "beta_fast"));
  if (yarn) put_number(g, "rope.scaling.yarn_beta_slow", rs_settled_number(s, "beta_slow"));
  if (longrope) put_number(g, "rope.scaling.attn_factor", s->spectrum.amp);
  if (yarn && s->softmax)
    put_number(g, "rope.scaling.yarn_log_multiplier", 0.1 * rs_settled_number(s, "mscale_all_dim"));
  else if (yarn && fabs(s->product - 1) > 1e-15)
    put_number(g, "rope.scaling.attn_factor", s->product);
}

/* Layers with a window, which turn plainly. */
static void put_window(gguf *g) {
  const rs_profile *profile = &g->c->from->profile;
  bool said = false;
  for (size_t k = 0; k < profile->kind_count; k++) {
    const rs_layer_kind *kind = &profile->kinds[k];
    if (!kind->attends || rs_layers_turn_alike(kind, g->c->settled.kind)) continue;
    bool plain = strcmp(kind->model.published.method->name, "rope") == 0 && kind->mask.window > 0 && !said;
    if (plain)
      put_number(g, "rope.freq_base_swa", kind->model.rope_theta);
    else
      rs_note(g->c, "Layers %s turn %s, which is the architecture's to know.", kind->name,
              rs_model_turns(&kind->model) ? "otherwise" : "nothing");
    said |= plain;
  }
}

/* What each pair of the plain ladder is divided by. */
static void put_divisors(rs_converting *c, const char *name) {
  const double idle = 1e30;
  const rs_settled *s = &c->settled;
  double dims = 2 * (double)s->spectrum.pairs;
  rs_json_list(&c->json, name);
  for (size_t j = 0; j < s->spectrum.pairs; j++) {
    double plain = rs_ladder_at(s->theta, dims, j), omega = s->spectrum.omega[j];
    rs_json_number(&c->json, NULL, omega > 0 ? plain / omega : idle);
  }
  rs_json_end(&c->json);
}

static void put_tensors(rs_converting *c) {
  const rs_settings *settings = &c->settled.recipe.settings;
  const rs_value *far = rs_setting(settings, "long_factor"), *near = rs_setting(settings, "short_factor");
  bool freqs = has_freqs(c), longrope = rs_settled_is(&c->settled, "longrope") && !freqs;
  bool divided = freqs || rs_settled_is(&c->settled, "llama3") || rs_settled_is(&c->settled, "proportional");
  if (!longrope && !divided) return;
  rs_json_object(&c->json, "tensors");
  if (longrope) rs_put_list(&c->json, "rope_factors_long.weight", far->list, far->count);
  if (longrope) rs_put_list(&c->json, "rope_factors_short.weight", near->list, near->count);
  if (freqs) rs_put_list(&c->json, "rope_freqs.weight", far->list, far->count);
  if (divided && !freqs) put_divisors(c, "rope_freqs.weight");
  rs_json_end(&c->json);
  rs_note(c, "What stands in tensors is data of the file, float32, and no metadata.");
}

/* Sections are four, of which the last is for no axis. */
static void put_rope(gguf *g) {
  const rs_settled *s = &g->c->settled;
  double sections[RS_AXES + 1] = {0};
  put_number(g, "rope.dimension_count", (double)s->model->rotary_dim);
  put_number(g, "rope.freq_base", rs_base_at(s));
  put_window(g);
  for (size_t a = 0; a < RS_AXES; a++) sections[a] = (double)s->model->mrope_section[a];
  if (s->axes) rs_put_list(&g->c->json, key_of(g, "rope.dimension_sections"), sections, RS_COUNT(sections));
  put_scaling(g);
  put_tensors(g->c);
}

static void put_unturned(gguf *g) {
  const rs_settled *s = &g->c->settled;
  if (strcmp(s->recipe.method->name, "alibi") == 0)
    put_number(g, "attention.max_alibi_bias", rs_settled_number(s, "bias_max"));
  if (strcmp(s->recipe.method->name, "t5") == 0)
    put_number(g, "attention.relative_buckets_count", rs_settled_number(s, "num_buckets"));
  rs_note_unturned(g->c, "llama.cpp");
}

void rs_to_gguf(rs_converting *c) {
  c->json = (rs_json){.text = &c->text};
  rs_json_object(&c->json, NULL);
  gguf g = {.c = c};
  name_architecture(&g);
  put_number(&g, "context_length", (double)c->settled.length);
  if (c->settled.type != NULL)
    put_rope(&g);
  else
    put_unturned(&g);
  rs_end(c, NULL);
  if (c->settled.type == NULL) return;
  note_both(c);
  note_reading(c);
}
