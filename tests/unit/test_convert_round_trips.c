/* Conversions read again: config.json of transformers 4 and 5 gives the same spectrum, and so does what vLLM,
 * SGLang and llama.cpp are given, by their dialects, or a note says why not. Over every preset and the files of
 * tests/data/hf. */
#include <criterion/criterion.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../fixtures/hf_files.h"
#include "../fixtures/merged_config.h"
#include "advice/advice.h"

static const double SAME = 1e-12;

/* ---- what is converted ------------------------------------------------------------------------------------------- */

/* A model, and the config.json that keys are written into: its own, or what a preset says of its geometry. */
typedef struct subject {
  const char *name;
  rs_convertible model;
  rs_tree *config;
} subject;

static const char *const files[] = {"bloom-n-embed.json",   "bloom.json",          "deepseek-v3-saved.json",
                                    "deepseek-v3.json",     "deepseek-v4.json",    "dynamic-legacy.json",
                                    "ernie-4.5-vl.json",    "falcon-alibi.json",   "falcon-rope.json",
                                    "gemma-3-legacy.json",  "gemma-3-nested.json", "gemma-4.json",
                                    "gpt-j.json",           "gpt-oss.json",        "gpt2.json",
                                    "linear-legacy.json",   "llama-2.json",        "llama-3.1.json",
                                    "mimo-v2-flash.json",   "ministral-3.json",    "mpt.json",
                                    "phi-3-longrope.json",  "phi-3-su.json",       "pythia.json",
                                    "qwen-1.json",          "qwen2-vl-flat.json",  "qwen2-vl-nested.json",
                                    "qwen2.5-yarn.json",    "qwen3-vl.json",       "rope-parameters-flat.json",
                                    "yarn-no-original.json"};

/* Recipes that no file there has, as keys of a small Llama's. */
static const char *const texts[] = {
    "\"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 2.5}",
    "\"rope_scaling\": {\"rope_type\": \"dynamic\", \"factor\": 4}, \"rope_theta\": 1000000",
    "\"rope_scaling\": {\"type\": \"dynamic\", \"alpha\": 1000.0}",
    "\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 8, \"original_max_position_embeddings\": 512, "
    "\"attention_factor\": 0.7, \"beta_fast\": 16, \"beta_slow\": 2}",
    "\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 8, \"original_max_position_embeddings\": 512, "
    "\"mscale\": 0.7, \"mscale_all_dim\": 0.4}",
    "\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 8, \"original_max_position_embeddings\": 512, "
    "\"truncate\": false, \"attn_factor\": 1.5}",
    "\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 0.5, \"original_max_position_embeddings\": 4096}",
    "\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 4, \"original_max_position_embeddings\": 1024, "
    "\"mrope_section\": [4, 2, 2]}",
    "\"rope_scaling\": {\"rope_type\": \"longrope\", \"short_factor\": [1, 1, 1, 1, 1, 1, 1.5, 2], "
    "\"long_factor\": [1, 2, 3, 4, 5, 6, 7, 8], \"factor\": 16, \"original_max_position_embeddings\": 512}",
    "\"rope_scaling\": {\"rope_type\": \"longrope\", \"short_factor\": [1, 1, 1, 1, 1, 1, 1.5, 2], "
    "\"long_factor\": [1, 2, 3, 4, 5, 6, 7, 8], \"attention_factor\": 1.3, \"original_max_position_embeddings\": 512}",
    "\"rope_scaling\": {\"rope_type\": \"longrope\", \"short_factor\": [1, 1, 1, 1, 1, 1, 1.5, 2], "
    "\"long_factor\": [1, 2, 3, 4, 5, 6, 7, 8], \"short_mscale\": 1.2, \"long_mscale\": 1.4, "
    "\"original_max_position_embeddings\": 512}",
    "\"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 32, \"low_freq_factor\": 1, \"high_freq_factor\": 4, "
    "\"original_max_position_embeddings\": 256}, \"partial_rotary_factor\": 0.75",
    "\"rope_parameters\": {\"rope_type\": \"proportional\", \"partial_rotary_factor\": 0.25, \"factor\": 8}",
    "\"rope_parameters\": {\"rope_type\": \"default\", \"llama_4_scaling_beta\": 0.2, "
    "\"original_max_position_embeddings\": 256}",
    "\"head_dim\": 44, \"rotary_dim\": 30", /* 44 * (30 / 44.0) is less than 30 */
    "\"num_hidden_layers\": 4, \"no_rope_layers\": [1, 1, 1, 0], \"rope_theta\": 500000",
    "\"num_hidden_layers\": 4, \"layer_types\": [\"sliding_attention\", \"full_attention\", \"sliding_attention\", "
    "\"full_attention\"], \"sliding_window\": 64, \"rope_local_base_freq\": 500, "
    "\"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 8}",
    /* Layers without positions: by a list, by the class, by null, and those that read another sequence. */
    "\"model_type\": \"llama4_text\", \"num_hidden_layers\": 4, \"rope_theta\": 500000, \"no_rope_layers\": [1, 1, 1, "
    "0], "
    "\"attention_chunk_size\": 64",
    "\"model_type\": \"cohere2\", \"num_hidden_layers\": 4, \"sliding_window\": 64, \"sliding_window_pattern\": 4",
    "\"model_type\": \"exaone4\", \"num_hidden_layers\": 4, \"sliding_window\": 64, "
    "\"sliding_window_pattern\": \"LLLG\"",
    "\"model_type\": \"smollm3\", \"num_hidden_layers\": 4, \"no_rope_layers\": [1, 1, 1, 0]",
    "\"model_type\": \"mllama_text_model\", \"num_hidden_layers\": 4, \"cross_attention_layers\": [2], "
    "\"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 8, \"low_freq_factor\": 1, \"high_freq_factor\": 4, "
    "\"original_max_position_embeddings\": 256}",
    /* A base for each layer. */
    "\"model_type\": \"granite_swa\", \"num_hidden_layers\": 4, \"sliding_window\": 64, "
    "\"layer_rope_theta\": [0, 100, 500, 100]",
    "\"num_hidden_layers\": 4, \"layer_types\": [\"sliding_attention\", \"full_attention\", \"sliding_attention\", "
    "\"full_attention\"], \"sliding_window\": 64, \"rope_parameters\": {\"full_attention\": null, "
    "\"sliding_attention\": {\"rope_type\": \"default\", \"rope_theta\": 500}}",
    "\"model_type\": \"gemma3_text\", \"head_dim\": 16, \"num_hidden_layers\": 6, \"sliding_window\": 512, "
    "\"sliding_window_pattern\": 6, \"rope_scaling\": {\"rope_type\": \"linear\", \"factor\": 8}",
    "\"model_type\": \"deepseek_v4\", \"head_dim\": 16, \"qk_rope_head_dim\": 8, \"num_hidden_layers\": 4, "
    "\"compress_ratios\": [128, 128, 4, 0], \"sliding_window\": 64, \"rope_scaling\": {\"rope_type\": \"yarn\", "
    "\"factor\": 16, \"original_max_position_embeddings\": 512}",
};

static subject read_text(const char *name, const char *text, size_t length) {
  subject s = {.name = name};
  rs_err err = {0};
  cr_assert_eq(rs_convertible_read(text, length, name, &s.model, &err), RS_OK, "%s: %s", name, err.message);
  cr_assert_eq(rs_json_read(text, length, name, &s.config, &err), RS_OK);
  return s;
}

static subject read_path(const char *name) {
  char *path = path_of(name), *text;
  size_t length;
  cr_assert_eq(rs_file_read(path, RS_LARGEST_FILE, &text, &length, NULL), RS_OK, "%s", path);
  subject s = read_text(name, text, length);
  free(text);
  free(path);
  return s;
}

static subject read_keys(const char *keys) {
  rs_text text = {0};
  bool named = strstr(keys, "model_type") != NULL;
  rs_text_printf(&text, "{%s\"hidden_size\": 64, \"num_attention_heads\": 4, \"max_position_embeddings\": 4096, %s}",
                 named ? "" : "\"model_type\": \"llama\", ", keys);
  subject s = read_text(keys, text.data, text.length);
  rs_text_clear(&text);
  return s;
}

/* What presets say and no positional key: heads and dims, and (by a class that has them so) pairs of neighbours. */
static subject read_preset(const char *name) {
  subject s = {.name = name};
  rs_err err = {0};
  rs_text text = {0};
  cr_assert_eq(rs_convertible_preset(name, &s.model, &err), RS_OK, "%s: %s", name, err.message);
  const rs_model *model = &s.model.profile.kinds[s.model.kind].model;
  rs_text_printf(&text, "{\"num_attention_heads\": %zu, \"head_dim\": %zu", model->heads, model->head_dim);
  if (s.model.latent)
    rs_text_printf(&text, ", \"qk_rope_head_dim\": %zu, \"qk_nope_head_dim\": %zu", model->rotary_dim,
                   model->head_dim - model->rotary_dim);
  if (model->pair_layout == RS_INTERLEAVED) rs_text_puts(&text, ", \"model_type\": \"cohere\"");
  if (strcmp(model->published.method->name, "sinusoidal") == 0) rs_text_puts(&text, ", \"model_type\": \"marian\"");
  rs_text_puts(&text, "}");
  cr_assert_eq(rs_json_read(text.data, text.length, name, &s.config, &err), RS_OK);
  rs_text_clear(&text);
  return s;
}

static void clear_subject(subject *s) {
  rs_convertible_clear(&s->model);
  rs_tree_free(s->config);
}

/* Published files of many families beside the project, where they are there: those that can be read. */
static void for_published_files(void (*see)(const subject *s)) {
  rs_text pattern = {0};
  glob_t found = {0};
  rs_text_printf(&pattern, "%s/../../shared/configs/files/*.json", getenv("ROPESCOPE_TESTS"));
  if (glob(pattern.data, 0, NULL, &found) != 0) found.gl_pathc = 0;
  for (size_t i = 0; i < found.gl_pathc; i++) {
    rs_profile profile;
    char *text;
    size_t length;
    if (rs_profile_load(found.gl_pathv[i], &profile, NULL) != RS_OK) continue;
    rs_profile_clear(&profile);
    cr_assert_eq(rs_file_read(found.gl_pathv[i], RS_LARGEST_FILE, &text, &length, NULL), RS_OK);
    subject s = read_text(strrchr(found.gl_pathv[i], '/') + 1, text, length);
    see(&s);
    clear_subject(&s);
    free(text);
  }
  if (found.gl_pathc > 0) globfree(&found);
  rs_text_clear(&pattern);
}

static void for_every_model(void (*see)(const subject *s)) {
  size_t count;
  const rs_preset *presets = rs_presets(&count);
  for (size_t i = 0; i < RS_COUNT(files) + RS_COUNT(texts) + count; i++) {
    size_t t = i - RS_COUNT(files), p = t - RS_COUNT(texts);
    subject s = i < RS_COUNT(files)   ? read_path(files[i])
                : t < RS_COUNT(texts) ? read_keys(texts[t])
                                      : read_preset(presets[p].name);
    see(&s);
    clear_subject(&s);
  }
  for_published_files(see);
}

static bool says(const rs_conversion *conversion, const char *word) {
  bool found = false;
  for (size_t i = 0; i < conversion->notes.count; i++) found |= strstr(conversion->notes.items[i], word) != NULL;
  return found;
}

/* ---- transformers ------------------------------------------------------------------------------------------------ */

/* The spectrum of what a model publishes, in a dialect or ("") as transformers reads it. */
static rs_spectrum spectrum_of(const rs_model *model, const char *dialect, size_t length) {
  rs_recipe recipe = {0};
  rs_spectrum spectrum;
  rs_err err = {0};
  rs_status status = rs_recipe_init(&recipe, model->published.method, &err);
  if (status == RS_OK && *dialect != '\0') status = rs_recipe_set(&recipe, "dialect", dialect, &err);
  if (status == RS_OK) status = rs_recipe_resolve(&recipe, model, &err);
  if (status == RS_OK) status = rs_spectrum_make(&recipe, model, length, &spectrum, &err);
  cr_assert_eq(status, RS_OK, "%s", err.message);
  rs_recipe_clear(&recipe);
  return spectrum;
}

static void expect_same_model(const char *what, const rs_model *a, const rs_model *b) {
  const size_t lengths[] = {a->train_length / 2 + 1, a->train_length > 0 ? a->train_length : 1, a->train_length + 1,
                            a->max_length + 1, 2 * a->max_length + 2};
  cr_assert_not_null(b->published.method, "%s", what);
  bool turns = a->published.method->freq != NULL;
  if (!turns) cr_expect_str_eq(a->published.method->name, b->published.method->name, "%s", what);
  for (size_t i = 0; turns && i < RS_COUNT(lengths); i++) {
    rs_spectrum x = spectrum_of(a, "", lengths[i]), y = spectrum_of(b, "", lengths[i]);
    rs_difference d = rs_spectrum_compare(&x, &y, SAME);
    cr_expect_eq(d.differs, 0, "%s at %zu: %#x, %zu pairs, pair %zu by %g; beyond '%s' and '%s'", what, lengths[i],
                 d.differs, d.count, d.worst, d.largest, x.beyond, y.beyond);
    rs_spectrum_clear(&x);
    rs_spectrum_clear(&y);
  }
}

/* Layers of a kind have the same name, and see the same keys. */
static void expect_same_sight(const char *what, const rs_layer_kind *a, const rs_layer_kind *b) {
  cr_expect_str_eq(b->name, a->name, "%s", what);
  cr_expect_eq(b->mask.kind, a->mask.kind, "%s: %s", what, a->name);
  cr_expect_eq(b->mask.window, a->mask.window, "%s: %s", what, a->name);
  cr_expect_eq(b->compression, a->compression, "%s: %s", what, a->name);
}

static void expect_same_profile(const subject *s, const char *to, const rs_profile *got) {
  const rs_profile *asked = &s->model.profile;
  bool file = *s->model.family != '\0';
  rs_text what = {0};
  rs_text_printf(&what, "%s to %s", s->name, to);
  if (file) cr_assert_eq(got->kind_count, asked->kind_count, "%s", what.data);
  expect_same_model(what.data, &asked->kinds[asked->chosen].model, &got->kinds[got->chosen].model);
  for (size_t k = 0; k < asked->kind_count && got->kind_count == asked->kind_count; k++) {
    const rs_layer_kind *x = &asked->kinds[k], *y = &got->kinds[k];
    cr_expect_eq(y->attends, x->attends);
    if (x->attends) expect_same_model(what.data, &x->model, &y->model);
    if (file) expect_same_sight(what.data, x, y);
  }
  for (size_t i = 0; file && i < asked->layer_count && got->layer_count == asked->layer_count; i++)
    cr_expect_eq(got->layers[i], asked->layers[i], "%s: layer %zu", what.data, i);
  if (file) cr_expect_eq(got->layer_count, asked->layer_count, "%s", what.data);
  rs_text_clear(&what);
}

static unsigned differences_at(const rs_model *a, const rs_model *b, size_t length) {
  rs_spectrum x = spectrum_of(a, "", length), y = spectrum_of(b, "", length);
  rs_difference d = rs_spectrum_compare(&x, &y, SAME);
  rs_spectrum_clear(&x);
  rs_spectrum_clear(&y);
  return d.differs;
}

/* A base that grows with the length is one number in keys: right where a note says so, and wrong at the trained length,
 * or the note would be none. */
static void expect_same_base_once(const subject *s, const char *to, const rs_conversion *conversion,
                                  const rs_profile *got) {
  const rs_model *asked = &s->model.profile.kinds[s->model.kind].model, *said = &got->kinds[got->chosen].model;
  char length[64];
  snprintf(length, sizeof length, "is that of %zu tokens", asked->max_length);
  cr_expect(says(conversion, length), "%s to %s: not %s", s->name, to, length);
  cr_expect_eq(differences_at(asked, said, asked->max_length), 0, "%s to %s", s->name, to);
  cr_expect_neq(differences_at(asked, said, asked->train_length), 0, "%s to %s", s->name, to);
}

static void see_transformers(const subject *s) {
  static const char *const consumers[] = {"hf4", "hf5"};
  for (size_t i = 0; i < RS_COUNT(consumers); i++) {
    rs_conversion conversion;
    rs_err err = {0};
    cr_assert_eq(rs_convert(&s->model, consumers[i], 0, &conversion, &err), RS_OK, "%s: %s", s->name, err.message);
    /* transformers 4 reads no rope_parameters: these must go. */
    rs_profile got =
        read_merged(s->name, &s->config->root, conversion.fragment, i == 0 ? ALL_DROPPED : NOTHING_DROPPED);
    if (says(&conversion, "grows with the length"))
      expect_same_base_once(s, consumers[i], &conversion, &got);
    else if (!says(&conversion, "transformers 4 has no key for that"))
      expect_same_profile(s, consumers[i], &got);
    rs_profile_clear(&got);
    rs_conversion_clear(&conversion);
  }
}

Test(convert_round_trips, transformers_4_and_5__the_same_spectrum) {
  for_every_model(see_transformers);
}

/* ---- other recipes ----------------------------------------------------------------------------------------------- */

/* What solve setting puts in the place of a published recipe, and its rope type. */
static const struct {
  const char *method, *type;
} others[] = {
    {"yarn", "yarn"}, {"llama3", "llama3"}, {"pi", "linear"}, {"dynamic_ntk", "dynamic"}, {"rope", "default"}};

/* Puts it there for so many times the trained length; false where the class does not read its type. */
static bool replace(subject *s, size_t other, size_t times) {
  const rs_model *model = &s->model.profile.kinds[s->model.kind].model;
  const char *type = others[other].type;
  size_t trained = (size_t)rs_recipe_train_length(&model->published, model);
  bool plain = strcmp(others[other].method, "rope") == 0;
  rs_recipe recipe = {0};
  rs_err err = {0};
  if (!rs_model_turns(model) || trained == 0 || strcmp(rs_hf_rope_type_read(s->model.family, type), type) != 0)
    return false;
  cr_assert_eq(rs_recipe_init(&recipe, rs_method_find(others[other].method), &err), RS_OK);
  rs_status status = plain ? RS_OK : rs_recipe_set_number(&recipe, "factor", (double)times, &err);
  if (status == RS_OK) status = rs_recipe_resolve(&recipe, model, &err);
  const rs_replacement by = {&recipe, plain ? (double)times * model->rope_theta : model->rope_theta, trained,
                             times * trained};
  if (status == RS_OK) status = rs_convertible_replace(&s->model, s->model.kind, &by, &err);
  cr_assert_eq(status, RS_OK, "%s with %s: %s", s->name, type, err.message);
  rs_recipe_clear(&recipe);
  return true;
}

static void for_other_recipes(void (*see)(const subject *s)) {
  for (size_t i = 0; i < RS_COUNT(files) * RS_COUNT(others); i++)
    for (size_t times = 2; times <= 8; times *= 2) {
      subject s = read_path(files[i / RS_COUNT(others)]);
      if (replace(&s, i % RS_COUNT(others), times)) see(&s);
      clear_subject(&s);
    }
}

/* ---- engines ----------------------------------------------------------------------------------------------------- */

static const char *argument_of(const rs_conversion *conversion, const char *flag) {
  for (size_t i = 0; i + 1 < conversion->arguments.count; i++)
    if (strcmp(conversion->arguments.items[i], flag) == 0) return conversion->arguments.items[i + 1];
  return NULL;
}

/* What an engine has must be what transformers has, or a note says that it is not: "otherwise", or that it is no
 * option at all. What multiplies the logits can always be said, but for DeepSeek's models. */
static void expect_same_or_noted(const subject *s, const rs_conversion *conversion, const rs_model *engine,
                                 const char *dialect, size_t length) {
  const rs_model *model = &s->model.profile.kinds[s->model.kind].model;
  rs_spectrum x = spectrum_of(model, "", length), y = spectrum_of(engine, dialect, length);
  rs_difference d = rs_spectrum_compare(&x, &y, 1e-9);
  bool turned = (d.differs & (RS_DIFFERS_FREQUENCY | RS_DIFFERS_AXIS)) != 0, unsaid = says(conversion, "is no option");
  bool amplified = (d.differs & RS_DIFFERS_AMPLITUDE) != 0;
  cr_expect_eq(turned, says(conversion, "otherwise") || unsaid, "%s to %s: %zu pairs, pair %zu by %g", s->name, dialect,
               d.count, d.worst, d.largest);
  cr_expect(!amplified || unsaid || says(conversion, "yarn_log_multiplier"), "%s to %s: %g and %g", s->name, dialect,
            x.amp, y.amp);
  rs_spectrum_clear(&x);
  rs_spectrum_clear(&y);
}

static size_t served_by(const rs_conversion *conversion, const char *flag) {
  const char *word = argument_of(conversion, flag);
  cr_assert_not_null(word, "no %s", flag);
  return (size_t)strtoull(word, NULL, 10);
}

static void see_server(const subject *s, const char *to, const char *keys, const char *length_flag) {
  rs_conversion conversion;
  rs_err err = {0};
  const rs_model *model = &s->model.profile.kinds[s->model.kind].model;
  cr_assert_eq(rs_convert(&s->model, to, 0, &conversion, &err), RS_OK, "%s: %s", s->name, err.message);
  size_t length = served_by(&conversion, length_flag);
  if (model->published.method->freq == NULL) {
    cr_expect(says(&conversion, "turn nothing"), "%s", s->name);
  } else if (*s->model.family != '\0') { /* a preset has no file that says its length */
    rs_profile got = read_merged(s->name, &s->config->root, argument_of(&conversion, keys), RECIPE_DROPPED);
    expect_same_or_noted(s, &conversion, &got.kinds[got.chosen].model, to, length);
    rs_profile_clear(&got);
  }
  rs_conversion_clear(&conversion);
}

static void see_vllm(const subject *s) {
  see_server(s, "vllm", "--hf-overrides", "--max-model-len");
}

Test(convert_round_trips, vllm__the_same_spectrum_or_a_note) {
  for_every_model(see_vllm);
  for_other_recipes(see_vllm);
}

/* SGLang's keys stand at the top, and take the place of the text model's. */
static void see_sglang(const subject *s) {
  bool nested = s->config != NULL && rs_hf_text_config(&s->config->root) != &s->config->root;
  if (!nested) see_server(s, "sglang", "--json-model-override-args", "--context-length");
}

Test(convert_round_trips, sglang__the_same_spectrum_or_a_note) {
  for_every_model(see_sglang);
  for_other_recipes(see_sglang);
}

/* The recipe that llama.cpp's options make on a model's geometry. */
static rs_model read_options(const rs_conversion *conversion, const rs_model *geometry) {
  rs_model model;
  rs_err err = {0};
  const char *type = argument_of(conversion, "--rope-scaling"), *word;
  static const char *const params[][2] = {{"--rope-scale", "factor"},
                                          {"--yarn-attn-factor", "attn_factor"},
                                          {"--yarn-beta-fast", "beta_fast"},
                                          {"--yarn-beta-slow", "beta_slow"}};
  cr_assert_eq(rs_model_copy(&model, geometry, &err), RS_OK);
  rs_recipe_clear(&model.published);
  bool axes = model.mrope_section[0] > 0, linear = strcmp(type, "linear") == 0, yarn = strcmp(type, "yarn") == 0;
  const char *method = linear ? "pi" : yarn ? "yarn" : axes ? "mrope" : "rope";
  cr_assert_eq(rs_recipe_init(&model.published, rs_method_find(method), &err), RS_OK);
  for (size_t i = 0; i < RS_COUNT(params); i++)
    if ((word = argument_of(conversion, params[i][0])) != NULL)
      cr_assert_eq(rs_recipe_set(&model.published, params[i][1], word, &err), RS_OK, "%s", err.message);
  model.rope_theta = strtod(argument_of(conversion, "--rope-freq-base"), NULL);
  word = argument_of(conversion, "--yarn-orig-ctx");
  if (word != NULL) model.train_length = (size_t)strtoull(word, NULL, 10);
  return model;
}

static void see_llamacpp(const subject *s) {
  rs_conversion conversion;
  rs_err err = {0};
  const rs_model *model = &s->model.profile.kinds[s->model.kind].model;
  cr_assert_eq(rs_convert(&s->model, "llamacpp", 0, &conversion, &err), RS_OK, "%s: %s", s->name, err.message);
  size_t length = served_by(&conversion, "-c");
  if (model->published.method->freq == NULL) {
    cr_expect(says(&conversion, "turn nothing"), "%s", s->name);
  } else if (argument_of(&conversion, "--rope-scaling") == NULL) {
    cr_expect(says(&conversion, "rope_factors_long.weight"), "%s", s->name);
  } else {
    rs_model got = read_options(&conversion, model);
    expect_same_or_noted(s, &conversion, &got, "llamacpp", length);
    rs_model_clear(&got);
  }
  rs_conversion_clear(&conversion);
}

Test(convert_round_trips, llamacpp__the_same_spectrum_or_a_note) {
  for_every_model(see_llamacpp);
  for_other_recipes(see_llamacpp);
}
