/* Who reads config.json: transformers 4 and 5, mlx-lm, and vLLM and SGLang, which take keys in the place of the file's.
 * What stands in the file beside these keys stays as it is. */
#include "written.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool in_family(const rs_converting *c, const char *prefix) {
  return strncmp(c->from->family, prefix, strlen(prefix)) == 0;
}

/* Presets have no file whose class says the rest. */
static bool is_preset(const rs_converting *c) {
  return *c->from->family == '\0';
}

/* ---- transformers ------------------------------------------------------------------------------------------------ */

/* The class of a file's model does it by keys of its own, which stay. */
static void put_unturned(rs_converting *c) {
  const char *method = c->settled.recipe.method->name;
  rs_json *json = &c->json;
  rs_note_unturned(c, "transformers");
  if (!is_preset(c)) return;
  if (strcmp(method, "alibi") == 0)
    rs_json_bool(json, "alibi", true);
  else if (strcmp(method, "learned") == 0 || strcmp(method, "nope") == 0)
    rs_json_string(json, "position_embedding_type", *method == 'l' ? "absolute" : "nope");
  else if (strcmp(method, "t5") == 0) {
    rs_json_number(json, "relative_attention_num_buckets", rs_settled_number(&c->settled, "num_buckets"));
    rs_json_number(json, "relative_attention_max_distance", rs_settled_number(&c->settled, "max_distance"));
  }
}

static void note_transformers(rs_converting *c) {
  const rs_settled *s = &c->settled;
  const rs_model *model = s->model;
  double factor = rs_published_number(s, "attn_factor");
  rs_note_base(c);
  if (c->from->replaced && (in_family(c, "gptj") || in_family(c, "codegen")))
    rs_note(c, "Its class in transformers reads neither a base nor a rope type, and turns by base 10000 all the same.");
  if (is_preset(c) && model->pair_layout == RS_INTERLEAVED)
    rs_note(c, "Pairs are dims (2j, 2j + 1), which no key says: the model's class decides it.");
  if (is_preset(c) && c->from->latent)
    rs_note(c, "%zu dims turn and %zu do not: qk_rope_head_dim and qk_nope_head_dim of the model say it.",
            model->rotary_dim, model->head_dim - model->rotary_dim);
  if (!isnan(factor)) rs_note(c, "transformers does not read attn_factor = %g.", factor);
  if (!isnan(rs_published_number(s, "short_mscale")) || !isnan(rs_published_number(s, "long_mscale")))
    rs_note(c, "short_mscale and long_mscale are read by PhiMoE's class alone.");
}

/* The key of the longest length: the file's own, n_positions, seq_length, ... */
static const char *length_key(const rs_converting *c) {
  const rs_node *node = rs_hf_length(rs_file_keys(c));
  return node != NULL ? node->key : "max_position_embeddings";
}

static void begin_transformers(rs_converting *c) {
  const rs_profile *profile = &c->from->profile;
  size_t window = 0, length = rs_maximum_of_settled(&c->settled);
  rs_begin(c, true);
  if (length > 0 && (c->settled.type != NULL || is_preset(c))) /* what turns nothing has tables of its own length */
    rs_json_number(&c->json, length_key(c), (double)length);
  if (!is_preset(c) || !profile->counted || profile->kind_count < 2) return; /* a file names its layers itself */
  rs_json_number(&c->json, "num_hidden_layers", (double)profile->layer_count);
  rs_json_list(&c->json, "layer_types");
  for (size_t i = 0; i < profile->layer_count; i++)
    rs_json_string(&c->json, NULL, profile->kinds[profile->layers[i]].name);
  rs_json_end(&c->json);
  for (size_t k = 0; k < profile->kind_count; k++)
    if (profile->kinds[k].mask.kind == RS_WINDOW) window = profile->kinds[k].mask.window;
  if (window > 0) rs_json_number(&c->json, "sliding_window", (double)window);
}

/* Phi-3's class has it on top, where it wins. */
static void put_outer_original(rs_converting *c) {
  if (rs_settled_is(&c->settled, "longrope"))
    rs_json_number(&c->json, "original_max_position_embeddings", (double)c->settled.model->train_length);
}

/* Classes of release 5.24 that leave head_dim unset in a file without it, where functions of scaled types multiply by
 * it: they stop. */
static void put_head_dim(rs_converting *c) {
  static const char families[] = "hunyuan_v1_dense hunyuan_v1_moe hunyuan_vl hunyuan_vl_text minimax ministral mixtral";
  const rs_node *said = rs_node_get(rs_file_keys(c), "head_dim");
  bool scaled = c->settled.type != NULL && !rs_word_among(c->settled.type->type, "default mrope");
  if (!scaled || is_preset(c) || !rs_word_among(c->from->family, families)) return;
  if (said == NULL || rs_node_is_null(said)) rs_json_number(&c->json, "head_dim", (double)c->settled.model->head_dim);
}

/* Release 5 takes rope_scaling before rope_parameters: where the file has both, these keys would not be read. */
void rs_to_hf5(rs_converting *c) {
  static const rs_dictionary_style style = {.base = true, .fraction = true, .compressed_fraction = true};
  const rs_node *old = rs_node_get(rs_file_keys(c), "rope_scaling");
  begin_transformers(c);
  put_head_dim(c);
  if (old != NULL && !rs_node_is_null(old)) rs_json_string(&c->json, "rope_scaling", NULL);
  if (c->settled.type != NULL || rs_profile_mixed(&c->from->profile))
    rs_put_layers(c, "rope_parameters", &style);
  else
    put_unturned(c);
  put_outer_original(c);
  rs_end(c, NULL);
  if (rs_by_layers(c) && rs_published_number(&c->settled, "truncate") == 0)
    rs_note(c, "transformers up to decba1d2ea4e ignores truncate where rope_parameters differ by layers.");
  note_transformers(c);
}

/* The length goes up where no table follows it: dynamic NTK, and recipes without an original length, count from it. */
void rs_to_kept(rs_converting *c) {
  size_t kind, published = c->settled.model->max_length;
  bool longer = published > 0 && c->settled.length > published;
  for (int tried = 0; tried < 2; tried++) {
    c->json = (rs_json){.text = &c->text};
    rs_json_object(&c->json, NULL);
    for (size_t i = 0; longer && i < RS_CONFIG_LEVELS && *c->from->levels[i] != '\0'; i++)
      rs_json_object(&c->json, c->from->levels[i]);
    if (longer) rs_json_number(&c->json, length_key(c), (double)c->settled.length);
    rs_end(c, NULL);
    if (!longer || c->err.status != RS_OK || rs_reads_back(c, c->out->fragment, &kind)) break;
    longer = false;
    rs_text_clear(&c->text);
    free(c->out->fragment);
    c->out->fragment = NULL;
    rs_note(c, "%s stays as it is: the recipe of the file is counted from it.", length_key(c));
  }
  rs_note(c, "The file says this recipe itself: its keys stay as they are.");
}

/* What classes call the base and the share of dims that turn. */
static void put_base(rs_converting *c) {
  bool neox = in_family(c, "gpt_neox"), modern = in_family(c, "modernbert"),
       averaged = c->settled.kind->compression > 0;
  const rs_model *model = c->settled.model;
  const char *key = neox       ? "rotary_emb_base"
                    : modern   ? "global_rope_theta"
                    : averaged ? "compress_rope_theta"
                               : "rope_theta";
  rs_json_number(&c->json, key, c->settled.theta);
  if (neox)
    rs_json_number(&c->json, "rotary_pct", (double)model->rotary_dim / (double)model->head_dim);
  else
    rs_put_fraction(c, &c->settled);
}

/* Whether the file has rope_parameters, which transformers 4 does not read, and release 5 does. */
static bool has_parameters(const rs_converting *c) {
  const rs_node *node = rs_node_get(rs_file_keys(c), "rope_parameters");
  return node != NULL && !rs_node_is_null(node);
}

static const char *local_base_key(const rs_converting *c, const rs_layer_kind *kind) {
  if (c->settled.kind->compression > 0) return "rope_theta"; /* DeepSeek-V4 */
  const char *key = rs_hf_base_key(c->from->family, kind);
  return strcmp(key, "rope_theta") != 0 ? key : "rope_local_base_freq"; /* where the class has none */
}

/* The base of layers with a window, which turn plainly; other differences have no key. */
static void put_local(rs_converting *c, const char *who) {
  const rs_profile *profile = &c->from->profile;
  const rs_layer_kind *chosen = c->settled.kind;
  for (size_t k = 0; k < profile->kind_count; k++) {
    const rs_layer_kind *kind = &profile->kinds[k];
    if (!kind->attends || rs_layers_turn_alike(kind, chosen)) continue;
    const rs_method *method = kind->model.published.method;
    bool off = rs_turned_off(c, k), plain = strcmp(method->name, "rope") == 0 && kind->mask.window > 0;
    c->unsaid |= off || (method->freq != NULL && !plain);
    if (off)
      rs_note(c, "Layers %s turn nothing, by null in rope_parameters: %s has no key for that.", kind->name, who);
    else if (method->freq == NULL)
      rs_note(c, "Layers %s turn nothing: the model's class, or its no_rope_layers, says so.", kind->name);
    else if (plain)
      rs_json_number(&c->json, local_base_key(c, kind), kind->model.rope_theta);
    else
      rs_note(c, "Layers %s turn otherwise than %s, for which %s has no key.", kind->name, chosen->name, who);
  }
}

void rs_to_hf4(rs_converting *c) {
  static const rs_dictionary_style style = {.outer_original = true};
  const rs_settled *s = &c->settled;
  bool longrope = rs_settled_is(s, "longrope");
  begin_transformers(c);
  if (s->type != NULL) {
    put_base(c);
    put_local(c, "transformers 4");
    if (rs_settled_is(s, "default") && !s->temperature && !s->axes)
      rs_json_string(&c->json, "rope_scaling", NULL);
    else
      rs_put_dictionary(c, s, "rope_scaling", &style);
    put_outer_original(c);
    if (has_parameters(c)) rs_json_string(&c->json, "rope_parameters", NULL);
  } else {
    put_unturned(c);
  }
  rs_end(c, NULL);
  if (rs_settled_is(s, "proportional")) rs_note(c, "transformers 4 has no rope type proportional: this is for 5.");
  if (longrope && in_family(c, "phi3") &&
      !(isnan(rs_published_number(s, "factor")) && isnan(rs_published_number(s, "attention_factor"))))
    rs_note(c, "Phi-3's class of transformers 4 refuses other keys beside short_factor and long_factor.");
  if (rs_settled_is(s, "yarn"))
    rs_note(c,
            "transformers up to 4.50 ignores original_max_position_embeddings, 4.51 to 4.55 takes "
            "max_position_embeddings / %zu for the factor; 4.56 and later take this.",
            s->model->train_length);
  note_transformers(c);
}

/* ---- mlx-lm ------------------------------------------------------------------------------------------------------ */

/* initialize_rope of mlx_lm/models/rope_utils.py; classes that read rope_scaling themselves want "type" (Phi-3,
 * Nemotron). */
static void note_mlx(rs_converting *c) {
  const rs_settled *s = &c->settled;
  double amp = s->spectrum.amp, formula = rs_longrope_formula(s->model);
  bool yarn = rs_settled_is(s, "yarn"), longrope = rs_settled_is(s, "longrope");
  if (yarn && rs_settled_number(s, "truncate") == 0)
    rs_note(c, "mlx-lm always rounds the ends of the ramp to whole pairs: truncate = false cannot be said.");
  if (s->unusual && s->factor > 1)
    rs_note(c, "mlx-lm's releases read no attention_factor: mscale says %.10g there, as 0.1 mscale ln s + 1.", amp);
  else if (s->unusual)
    rs_note(c, "mlx-lm multiplies cos and sin by 1 for a factor up to 1, and not by %g.", amp);
  if (longrope)
    rs_note(c, "mlx-lm has long_factor for every length, also up to %zu, where transformers has short_factor.",
            s->model->train_length);
  if (longrope && fabs(amp / formula - 1) > 1e-9)
    rs_note(c, "mlx-lm multiplies by %.10g, which max_position_embeddings gives, and cannot be told %.10g.", formula,
            amp);
  if (rs_settled_is(s, "dynamic"))
    rs_note(c, "mlx-lm up to 0.31.3 has no dynamic NTK, and stops; later ones take the base of each call's length, and "
               "keys that are cached keep that of theirs.");
  if (s->axes) rs_note(c, "mlx-lm turns text alone: mrope_section has no effect there (mlx-vlm reads it).");
  if (s->temperature) rs_note(c, "llama_4_scaling_beta is read by the class of Ministral 3 alone.");
  if (s->model->pair_layout == RS_INTERLEAVED)
    rs_note(c, "Pairs are dims (2j, 2j + 1): the model's class decides it (traditional=True).");
  rs_note_layers(c, "others are the model's class's to know");
}

/* Classes read rope_scaling beside rope_theta, later ones rope_parameters: where the file has these, both say the
 * same. */
void rs_to_mlx(rs_converting *c) {
  static const rs_dictionary_style style = {.magnitude = RS_IN_PLACE, .both_types = true, .by_mscale = true},
                                   parameters = {.magnitude = RS_IN_PLACE,
                                                 .both_types = true,
                                                 .by_mscale = true,
                                                 .base = true,
                                                 .fraction = true,
                                                 .compressed_fraction = true};
  const rs_settled *s = &c->settled;
  size_t length = rs_maximum_of_settled(s);
  rs_begin(c, true);
  if (s->type == NULL) {
    rs_end(c, NULL);
    rs_note_unturned(c, "mlx-lm");
    return;
  }
  if (length > 0) rs_json_number(&c->json, length_key(c), (double)length);
  put_base(c);
  put_local(c, "mlx-lm");
  if (rs_settled_is(s, "default") && !s->temperature && !s->axes)
    rs_json_string(&c->json, "rope_scaling", NULL);
  else
    rs_put_dictionary(c, s, "rope_scaling", &style);
  if (has_parameters(c)) rs_put_layers(c, "rope_parameters", &parameters);
  rs_end(c, NULL);
  rs_note_base(c);
  note_mlx(c);
}

/* ---- vLLM and SGLang --------------------------------------------------------------------------------------------- */

typedef struct server {
  const char *name, *dialect, *flag, *length_flag;
  bool flat; /* rope_scaling and rope_theta in the place of rope_parameters where all layers turn alike; no levels */
} server;

static void put_keys(rs_converting *c, const server *to) {
  static const rs_dictionary_style style = {.base = true, .fraction = true, .magnitude = RS_BY_PRODUCT};
  rs_begin(c, !to->flat);
  if (to->flat && !rs_by_layers(c)) {
    rs_put_dictionary(c, &c->settled, "rope_scaling", &style);
    rs_json_number(&c->json, "rope_theta", c->settled.theta);
  } else {
    rs_put_layers(c, "rope_parameters", &style);
  }
  rs_end(c, to->flag);
}

/* LongRoPE's amplitude is written as short_mscale and long_mscale where the formula does not give it. */
static void note_reading(rs_converting *c, const server *to) {
  const rs_settled *s = &c->settled;
  size_t trained = s->model->train_length;
  double amp = s->spectrum.amp;
  bool yarn = rs_settled_is(s, "yarn"), longrope = rs_settled_is(s, "longrope");
  const rs_engine_setting product[] = {{"attn_factor", s->product}, {NULL, 0}};
  const rs_engine_setting places[] = {{"short_mscale", amp}, {"long_mscale", amp}, {NULL, 0}};
  if (rs_settled_is(s, "dynamic"))
    rs_note(
        c,
        "%s has one base for all lengths, that of %g tokens (factor * %zu); transformers changes it with the length.",
        to->name, s->factor * (double)trained, trained);
  if (longrope && s->length > trained)
    rs_note(c,
            "%s chooses long_factor once, as %s is above %zu: shorter requests get it too, which transformers reads by "
            "short_factor.",
            to->name, to->length_flag, trained);
  if (s->unusual)
    rs_note(c, "%s multiplies 0.1 ln s + 1 by attn_factor: %.10g makes it %.10g, as transformers has it.", to->name,
            s->product, amp);
  rs_note_engine(c, to->name, to->dialect, longrope ? places : yarn && !s->softmax ? product : product + 1);
}

static void write_server(rs_converting *c, const server *to) {
  if (c->settled.type != NULL) {
    put_keys(c, to);
    rs_note_base(c);
    note_reading(c, to);
  } else {
    rs_note_unturned(c, to->name);
  }
  rs_option(c, to->length_flag, "%zu", c->settled.length);
}

/* vllm, yarn_scaling_rope.py: mscale is attn_factor alone where apply_yarn_scaling is false. */
void rs_to_vllm(rs_converting *c) {
  static const server vllm = {"vLLM", "vllm", "--hf-overrides", "--max-model-len", false};
  const rs_node *applied = rs_other_key(c, "apply_yarn_scaling");
  bool yarn = rs_settled_is(&c->settled, "yarn");
  write_server(c, &vllm);
  if (yarn && applied != NULL && applied->kind == RS_SCALAR && strcmp(applied->text, "false") == 0)
    rs_note(c,
            "vLLM before pull request 56446 (2026-09) multiplies cos and sin by 1 where apply_yarn_scaling is false: "
            "by %.6g with these keys, as transformers does.",
            c->settled.spectrum.amp);
  if (yarn && c->out->notes.count > 0)
    rs_note(c, "That is of vLLM before pull request 56446 (2026-09): later versions follow transformers, by the keys "
               "of --to hf5.");
}

void rs_to_sglang(rs_converting *c) {
  static const server sglang = {"SGLang", "sglang", "--json-model-override-args", "--context-length", true};
  if (*c->from->levels[0] != '\0' && c->settled.type != NULL)
    rs_note(
        c,
        "SGLang's versions differ in whether these keys reach %s: the keys of --to hf5, written into config.json, do.",
        c->from->levels[0]);
  write_server(c, &sglang);
}
