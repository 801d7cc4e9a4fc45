/* config.json of transformers 4 and 5. What stands in the file beside these keys stays as it is. */
#include "written.h"

#include <math.h>
#include <string.h>

static bool in_family(const rs_converting *c, const char *prefix) {
  return strncmp(c->from->family, prefix, strlen(prefix)) == 0;
}

/* ---- models that turn nothing ------------------------------------------------------------------------------------ */

/* The class of a file's model does it by keys of its own, which stay. */
static void put_unturned(rs_converting *c) {
  const char *method = c->settled.recipe.method->name;
  rs_json *json = &c->json;
  rs_note_unturned(c, "transformers");
  if (*c->from->family != '\0') return;
  if (strcmp(method, "alibi") == 0)
    rs_json_bool(json, "alibi", true);
  else if (strcmp(method, "learned") == 0)
    rs_json_string(json, "position_embedding_type", "absolute");
  else if (strcmp(method, "nope") == 0)
    rs_json_string(json, "position_embedding_type", "nope");
  else if (strcmp(method, "t5") == 0) {
    rs_json_number(json, "relative_attention_num_buckets", rs_settled_number(&c->settled, "num_buckets"));
    rs_json_number(json, "relative_attention_max_distance", rs_settled_number(&c->settled, "max_distance"));
  }
}

/* ---- what both write --------------------------------------------------------------------------------------------- */

static void note_layout(rs_converting *c) {
  const rs_model *model = c->settled.model;
  if (*c->from->family == '\0' && model->pair_layout == RS_INTERLEAVED)
    rs_note(c, "Pairs are dims (2j, 2j + 1), which no key says: the model's class decides it.");
  if (*c->from->family == '\0' && c->from->latent)
    rs_note(c, "%zu dims turn and %zu do not: qk_rope_head_dim and qk_nope_head_dim of the model say it.",
            model->rotary_dim, model->head_dim - model->rotary_dim);
}

static void note_unread(rs_converting *c) {
  const rs_settled *settled = &c->settled;
  if (!isnan(rs_published_number(settled, "attn_factor")))
    rs_note(c, "transformers does not read attn_factor = %g.", rs_published_number(settled, "attn_factor"));
  if (!isnan(rs_published_number(settled, "short_mscale")) || !isnan(rs_published_number(settled, "long_mscale")))
    rs_note(c, "short_mscale and long_mscale are read by PhiMoE's class alone.");
}

static void put_maximum(rs_converting *c) {
  size_t length = rs_maximum_of_settled(&c->settled);
  bool own = c->settled.type == NULL && *c->from->family != '\0'; /* n_positions, seq_length, ... */
  if (length > 0 && !own) rs_json_number(&c->json, "max_position_embeddings", (double)length);
}

/* A preset has no config whose layers are named there. */
static void put_layer_types(rs_converting *c) {
  const rs_profile *profile = &c->from->profile;
  size_t window = 0;
  if (*c->from->family != '\0' || !profile->counted || profile->kind_count < 2) return;
  rs_json_number(&c->json, "num_hidden_layers", (double)profile->layer_count);
  rs_json_list(&c->json, "layer_types");
  for (size_t i = 0; i < profile->layer_count; i++)
    rs_json_string(&c->json, NULL, profile->kinds[profile->layers[i]].name);
  rs_json_end(&c->json);
  for (size_t k = 0; k < profile->kind_count; k++)
    if (profile->kinds[k].mask.kind == RS_WINDOW) window = profile->kinds[k].mask.window;
  if (window > 0) rs_json_number(&c->json, "sliding_window", (double)window);
}

/* ---- transformers 5 ---------------------------------------------------------------------------------------------- */

/* transformers 5 takes rope_scaling before rope_parameters: where the file has both, these keys would not be read. */
static void put_no_scaling(rs_converting *c) {
  const rs_node *old = rs_node_get(rs_file_keys(c), "rope_scaling");
  if (old != NULL && !rs_is_null(old)) rs_json_string(&c->json, "rope_scaling", NULL);
}

rs_status rs_to_hf5(rs_converting *c, rs_err *err) {
  static const rs_dictionary_style style = {.base = true, .fraction = true, .compressed_fraction = true};
  const rs_settled *settled = &c->settled;
  rs_begin_levels(c);
  put_maximum(c);
  put_layer_types(c);
  put_no_scaling(c);
  if (settled->type != NULL || rs_profile_mixed(&c->from->profile))
    RS_TRY(rs_put_layers(c, "rope_parameters", &style, err));
  else
    put_unturned(c);
  /* Phi-3's class has it on top, where it wins. */
  if (rs_settled_is(settled, "longrope"))
    rs_json_number(&c->json, "original_max_position_embeddings", (double)settled->model->train_length);
  rs_end_levels(c);
  rs_fragment(c);
  if (rs_by_layers(c) && rs_published_number(settled, "truncate") == 0)
    rs_note(c, "transformers up to decba1d2ea4e ignores truncate where rope_parameters differ by layers.");
  rs_note_base(c);
  note_layout(c);
  note_unread(c);
  return RS_OK;
}

/* ---- transformers 4 ---------------------------------------------------------------------------------------------- */

/* What classes call the base and the share of dims that turn. */
static void put_base(rs_converting *c) {
  bool neox = in_family(c, "gpt_neox"), modern = in_family(c, "modernbert"),
       averaged = c->settled.kind->compression > 0;
  const rs_model *model = c->settled.model;
  rs_json_number(&c->json,
                 neox       ? "rotary_emb_base"
                 : modern   ? "global_rope_theta"
                 : averaged ? "compress_rope_theta"
                            : "rope_theta",
                 c->settled.theta);
  if (neox)
    rs_json_number(&c->json, "rotary_pct", (double)model->rotary_dim / (double)model->head_dim);
  else
    rs_put_fraction(c, &c->settled);
}

static const char *local_base_key(const rs_converting *c, const rs_layer_kind *kind) {
  if (c->settled.kind->compression > 0) return "rope_theta"; /* DeepSeek-V4 */
  const char *key = rs_hf_base_key(c->from->family, kind);
  return strcmp(key, "rope_theta") != 0 ? key : "rope_local_base_freq"; /* where the class has none */
}

/* The base of layers with a window, which turn plainly; other differences have no key. */
static void put_local(rs_converting *c) {
  const rs_profile *profile = &c->from->profile;
  const rs_layer_kind *chosen = c->settled.kind;
  for (size_t k = 0; k < profile->kind_count; k++) {
    const rs_layer_kind *kind = &profile->kinds[k];
    if (!kind->attends || rs_layers_turn_alike(kind, chosen)) continue;
    const rs_method *method = kind->model.published.method;
    if (rs_turned_off(c, k))
      rs_note(c, "Layers %s turn nothing, by null in rope_parameters: transformers 4 has no key for that.", kind->name);
    else if (method->freq == NULL)
      rs_note(c, "Layers %s turn nothing: the model's class, or its no_rope_layers, says so.", kind->name);
    else if (strcmp(method->name, "rope") == 0 && kind->mask.window > 0)
      rs_json_number(&c->json, local_base_key(c, kind), kind->model.rope_theta);
    else
      rs_note(c, "Layers %s turn otherwise than %s, for which transformers 4 has no key.", kind->name, chosen->name);
  }
}

static void note_old(rs_converting *c) {
  const rs_settled *settled = &c->settled;
  bool phi3 = in_family(c, "phi3");
  if (rs_settled_is(settled, "proportional"))
    rs_note(c, "transformers 4 has no rope type proportional: this is for 5.");
  if (rs_settled_is(settled, "longrope") && phi3 &&
      !(isnan(rs_published_number(settled, "factor")) && isnan(rs_published_number(settled, "attention_factor"))))
    rs_note(c, "Phi-3's class of transformers 4 refuses other keys beside short_factor and long_factor.");
  if (rs_settled_is(settled, "yarn"))
    rs_note(c,
            "transformers up to 4.50 ignores original_max_position_embeddings, 4.51 to 4.55 takes "
            "max_position_embeddings / %zu for the factor; 4.56 and later take this.",
            settled->model->train_length);
}

static void put_scaling(rs_converting *c) {
  const rs_dictionary_style style = {.outer_original = true};
  const rs_settled *settled = &c->settled;
  bool plain = rs_settled_is(settled, "default") && isnan(rs_settled_number(settled, "logit_scale_length"));
  if (plain && !rs_has_axes(settled))
    rs_json_string(&c->json, "rope_scaling", NULL);
  else
    rs_put_dictionary(c, settled, "rope_scaling", &style);
  if (rs_settled_is(settled, "longrope"))
    rs_json_number(&c->json, "original_max_position_embeddings", (double)settled->model->train_length);
}

rs_status rs_to_hf4(rs_converting *c, rs_err *err) {
  (void)err;
  rs_begin_levels(c);
  put_maximum(c);
  put_layer_types(c);
  if (c->settled.type != NULL) {
    put_base(c);
    put_local(c);
    put_scaling(c);
  } else {
    put_unturned(c);
  }
  rs_end_levels(c);
  rs_fragment(c);
  rs_note_base(c);
  note_old(c);
  note_layout(c);
  note_unread(c);
  return RS_OK;
}
