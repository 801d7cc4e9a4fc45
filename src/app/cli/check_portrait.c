/* What `ropescope check` says of a file before what is wrong with it: one screen, or one JSON object. */
#include "check.h"
#include "cli.h"

#include <math.h>
#include <string.h>

static void put_label(rs_text *text, const char *label) {
  rs_text_printf(text, "  %-11s", label);
}

/* ---- lengths and factors ----------------------------------------------------------------------------------------- */

/* Which key says the trained length. */
static const char *trained_by(const rs_portrait *p) {
  double trained = (double)p->trained;
  if (trained == p->original) return "original_max_position_embeddings";
  return trained == p->maximum ? "max_position_embeddings" : "the model's class";
}

static void put_lengths(const rs_portrait *p, rs_text *text) {
  double product = p->factor * (double)p->trained;
  put_label(text, "lengths");
  rs_text_printf(text, "trained %zu (%s)", p->trained, trained_by(p));
  if (!isnan(p->original) && p->original != (double)p->trained) rs_text_printf(text, ", original %.0f", p->original);
  if (!isnan(p->maximum)) rs_text_printf(text, ", maximum %.0f (max_position_embeddings)", p->maximum);
  rs_text_printf(text, ", served %zu (", p->served);
  if (p->factor > 1 && fabs(product - (double)p->served) < 1)
    rs_text_printf(text, "%.6g times the trained length)\n", p->factor);
  else
    rs_text_printf(text, "%s)\n", (double)p->served == p->maximum ? "the maximum" : "the model's class");
}

static void put_attention(const rs_portrait *p, rs_text *text) {
  bool whole = p->model->rotary_dim == p->model->head_dim, given = !isnan(p->attention_given);
  put_label(text, "attention");
  if (p->amp == 1)
    rs_text_puts(text, "cos and sin as they are");
  else
    rs_text_printf(text, "cos and sin times %.6g, so %s times %.6g", p->amp,
                   whole ? "logits" : "what turned dims add to logits", p->amp * p->amp);
  if (given)
    rs_text_printf(text, " (attention_factor of the file; the formula gives %.6g)", p->attention_formula);
  else if (p->amp != p->attention_formula)
    rs_text_printf(text, " (the model's own code; the formula gives %.6g)", p->attention_formula);
  else if (p->amp != 1)
    rs_text_puts(text, " (by the formula)");
  if (p->logit_factor != 1) rs_text_printf(text, "; softmax scale times %.6g", p->logit_factor);
  if (p->temperature != NULL) rs_text_printf(text, "; logits scaled by position (%s)", p->temperature);
  rs_text_puts(text, "\n");
}

/* ---- pairs and angles -------------------------------------------------------------------------------------------- */

static void put_pairs(const rs_portrait *p, rs_text *text) {
  const char *before = "";
  put_label(text, "pairs");
  rs_text_printf(text, "%zu: ", p->pairs);
  for (size_t f = 0; f < RS_PAIR_FATES; f++) {
    if (p->fates[f] == 0) continue;
    rs_text_printf(text, "%s%zu %s", before, p->fates[f], rs_pair_fate_words[f]);
    if (f == RS_DIVIDED) rs_text_printf(text, " by %.6g", p->factor);
    before = " | ";
  }
  if (p->fates[RS_KEPT] + p->fates[RS_STILL] < p->pairs)
    rs_text_printf(text, " at %zu tokens, waves up to %.4g times as long as plain RoPE's", p->served, p->stretch);
  rs_text_puts(text, "\n");
}

static void put_reaches(const rs_portrait *p, rs_text *text) {
  const rs_layer_kind *kind = &p->profile.kinds[p->kind];
  put_label(text, "far keys");
  for (size_t i = 0; i < p->reach_count; i++)
    rs_text_printf(text, "%s%zu at %zu tokens%s", i > 0 ? ", " : "", p->reaches[i].out_of_range, p->reaches[i].length,
                   p->reaches[i].length == p->served ? " (served)" : "");
  rs_text_printf(text, ": pairs that turn past what plain RoPE turns them to at %zu", p->trained);
  if (kind->mask.window > 0 && kind->compression == 0) {
    rs_text_puts(text, "; keys seen: ");
    rs_layer_kind_write_mask(kind, text);
  }
  rs_text_puts(text, "\n");
}

static void put_near(const rs_portrait *p, rs_text *text) {
  if (isnan(p->near)) return;
  put_label(text, "near keys");
  if (p->near == 0)
    rs_text_printf(text, "turned at %zu tokens as by plain RoPE\n", p->trained);
  else
    rs_text_printf(text,
                   "1 to 8 tokens back: at %zu tokens turned otherwise than by plain RoPE, 1 - cos = %.3g on average\n",
                   p->trained, p->near);
}

/* ---- engines ----------------------------------------------------------------------------------------------------- */

static void put_engine(const rs_derivation *r, const char *label, size_t pairs, rs_text *text) {
  rs_text_printf(text, "  %-9s%s %s: ", label, r->differs || *r->refusal != '\0' ? "!" : " ",
                 rs_config_engines(r->engine)->title);
  if (*r->refusal != '\0') {
    rs_text_printf(text, "%s\n", r->refusal);
    return;
  }
  if (r->amp == 1)
    rs_text_puts(text, "cos and sin as they are");
  else
    rs_text_printf(text, "cos and sin times %.6g", r->amp);
  if (r->logit_factor != 1) rs_text_printf(text, ", softmax scale times %.6g", r->logit_factor);
  if (r->differ > 0) rs_text_printf(text, ", %zu of %zu frequencies are others, by up to ", r->differ, pairs);
  if (r->differ > 0 && !isfinite(r->largest))
    rs_text_puts(text, "without end");
  else if (r->differ > 0 && r->largest < 1)
    rs_text_printf(text, "%.3g %%", 100 * r->largest);
  else if (r->differ > 0)
    rs_text_printf(text, "%.3g times", 1 + r->largest);
  if (!isnan(r->length)) rs_text_printf(text, ", serves %.0f tokens", r->length);
  rs_text_puts(text, "\n");
}

void check_put_portrait(const rs_portrait *p, rs_text *text) {
  rs_recipe_write(&p->recipe, text);
  rs_text_printf(text, "\n  %s\n", p->recipe.method != NULL ? p->recipe.method->summary : "no recipe");
  if (p->turns) {
    put_lengths(p, text);
    put_attention(p, text);
    put_pairs(p, text);
  }
  for (size_t k = 0; k < p->profile.kind_count; k++) {
    put_label(text, k == 0 ? "layers" : "");
    show_put_kind(&p->profile, k, text);
  }
  if (!p->turns) return;
  put_reaches(p, text);
  put_near(p, text);
  for (size_t i = 0; i < p->engines.count; i++)
    put_engine(&p->engines.items[i], i == 0 ? "engines" : "", p->pairs, text);
}

/* ---- for other programs ------------------------------------------------------------------------------------------ */

static void write_engine(rs_json *json, const rs_derivation *r) {
  bool refused = *r->refusal != '\0';
  rs_json_object(json, NULL);
  rs_json_string(json, "engine", rs_config_engines(r->engine)->title);
  rs_json_string(json, "source", rs_config_engines(r->engine)->source);
  rs_json_string(json, "refusal", refused ? r->refusal : NULL);
  rs_json_number(json, "attention_factor", refused ? NAN : r->amp);
  rs_json_number(json, "softmax_factor", refused ? NAN : r->logit_factor);
  rs_json_number(json, "frequencies_that_differ", refused ? NAN : (double)r->differ);
  rs_json_number(json, "largest_difference", refused ? NAN : r->largest);
  rs_json_bool(json, "differs", r->differs);
  rs_json_number(json, "serves_tokens", r->length);
  rs_json_end(json);
}

static void write_turning(rs_json *json, const rs_portrait *p) {
  rs_json_number(json, "trained_tokens", (double)p->trained);
  rs_json_number(json, "original_tokens", p->original);
  rs_json_number(json, "maximum_tokens", p->maximum);
  rs_json_number(json, "served_tokens", (double)p->served);
  rs_json_number(json, "scale", p->factor);
  rs_json_number(json, "attention_factor_given", p->attention_given);
  rs_json_number(json, "attention_factor_by_formula", p->attention_formula);
  rs_json_number(json, "attention_factor", p->amp);
  rs_json_number(json, "softmax_factor", p->logit_factor);
  rs_json_string(json, "logits_by_position", p->temperature);
  rs_json_object(json, "pairs");
  for (size_t f = 0; f < RS_PAIR_FATES; f++) rs_json_number(json, rs_pair_fate_words[f], (double)p->fates[f]);
  rs_json_end(json);
  rs_json_number(json, "largest_stretch", p->stretch);
  rs_json_array(json, "out_of_range");
  for (size_t i = 0; i < p->reach_count; i++) {
    rs_json_object(json, NULL);
    rs_json_number(json, "length_tokens", (double)p->reaches[i].length);
    rs_json_number(json, "pairs", (double)p->reaches[i].out_of_range);
    rs_json_end(json);
  }
  rs_json_end(json);
  rs_json_number(json, "near_turn", p->near);
  rs_json_array(json, "engines");
  for (size_t i = 0; i < p->engines.count; i++) write_engine(json, &p->engines.items[i]);
  rs_json_end(json);
}

void check_write_portrait(const rs_portrait *p, rs_json *json) {
  rs_text recipe = {0};
  if (p->recipe.method != NULL) rs_recipe_write(&p->recipe, &recipe);
  json->text->failed |= recipe.failed;
  rs_json_object(json, "recipe");
  rs_json_string(json, "recipe", p->recipe.method != NULL ? rs_text_string(&recipe) : NULL);
  if (p->turns) write_turning(json, p);
  rs_json_array(json, "layers");
  for (size_t k = 0; k < p->profile.kind_count; k++) {
    rs_text line = {0};
    show_put_kind(&p->profile, k, &line);
    if (line.length > 0) line.data[--line.length] = '\0'; /* the line's end */
    json->text->failed |= line.failed;
    rs_json_string(json, NULL, rs_text_string(&line));
    rs_text_clear(&line);
  }
  rs_json_end(json);
  rs_json_end(json);
  rs_text_clear(&recipe);
}
