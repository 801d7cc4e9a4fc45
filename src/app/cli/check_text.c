/* What `ropescope check` tells people: what a file says, on one screen, and what is wrong with it, as compilers do and
 * as GitHub shows it beside the lines of a change. */
#include "cli.h"

#include <math.h>
#include <string.h>

static void put_label(rs_text *text, const char *label) {
  rs_text_printf(text, "  %-11s", label);
}

/* ---- lengths and factors ----------------------------------------------------------------------------------------- */

static void put_lengths(const rs_portrait *p, rs_text *text) {
  double trained = (double)p->trained, product = p->factor * trained;
  put_label(text, "lengths");
  rs_text_printf(text, "trained %zu (%s)", p->trained,
                 trained == p->original  ? "original_max_position_embeddings"
                 : trained == p->maximum ? "max_position_embeddings"
                                         : "the model's class");
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

static void put_portrait(const rs_portrait *p, rs_text *text) {
  rs_recipe_write(&p->recipe, text);
  rs_text_printf(text, "\n  %s\n", p->recipe.method != NULL ? p->recipe.method->summary : "no recipe");
  size_t line = text->length;
  put_label(text, "class");
  rs_text_puts(text, p->class);
  rs_text_end_line(text, line);
  if (p->turns) {
    put_lengths(p, text);
    put_attention(p, text);
    put_pairs(p, text);
  }
  for (size_t k = 0; k < p->profile.kind_count; k++) {
    put_label(text, k == 0 ? "layers" : "");
    show_put_kind(&p->profile, k, text);
    rs_text_puts(text, "\n");
  }
  if (!p->turns) return;
  put_reaches(p, text);
  put_near(p, text);
  for (size_t i = 0; i < p->engines.count; i++)
    put_engine(&p->engines.items[i], i == 0 ? "engines" : "", p->pairs, text);
}

/* ---- findings ---------------------------------------------------------------------------------------------------- */

static void put_counts(rs_text *text, size_t counts[RS_SEVERITIES]) {
  static const char *const many[RS_SEVERITIES] = {"notes", "warnings", "errors"};
  const char *before = "";
  for (size_t s = RS_SEVERITIES; s-- > 0;) {
    if (counts[s] == 0) continue;
    rs_text_printf(text, "%s%zu %s", before, counts[s], counts[s] == 1 ? rs_severity_words[s] : many[s]);
    before = ", ";
  }
  if (*before == '\0') rs_text_puts(text, "nothing found");
}

static void put_finding(rs_text *text, const char *name, const rs_finding *f) {
  size_t line = text->length;
  rs_text_printf(text, "%s:", name);
  if (f->line > 0) rs_text_printf(text, "%zu:%zu:", f->line, f->column);
  rs_text_puts(text, " ");
  bool named = *f->key == '\0' || strncmp(f->text, f->key, strlen(f->key)) == 0;
  rs_text_printf(text, "%s: %s%s%s [%s]", rs_severity_words[f->severity], named ? "" : f->key, named ? "" : ": ",
                 f->text, f->rule->code);
  rs_text_end_line(text, line);
  if (*f->fix != '\0') rs_text_line(text, "    fix: %s", f->fix);
  if (f->severity > RS_NOTE) rs_text_printf(text, "    see: %s\n", f->rule->reference);
}

void check_put_text(const checked_files *files, rs_text *text) {
  for (size_t i = 0; i < files->count; i++) {
    const checked_file *file = &files->items[i];
    size_t counts[RS_SEVERITIES] = {0};
    if (file->message != NULL) continue; /* stderr says it */
    if (file->portrayed) {
      if (i > 0) rs_text_puts(text, "\n");
      size_t name = text->length;
      rs_text_printf(text, "%s: ", file->name);
      rs_text_spell(text, name, "");
      put_portrait(&file->portrait, text);
      if (file->findings.count > 0) rs_text_puts(text, "\n");
    }
    for (size_t k = 0; k < file->findings.count; k++) {
      put_finding(text, file->name, &file->findings.items[k]);
      counts[file->findings.items[k].severity]++;
    }
    size_t line = text->length;
    rs_text_printf(text, "%s: ", file->name);
    put_counts(text, counts);
    if (file->ignored > 0) rs_text_printf(text, ", %zu ignored", file->ignored);
    rs_text_end_line(text, line);
  }
}

/* GitHub ends a property at ',' and ':', and a message at a newline. */
static void put_escaped(rs_text *text, const char *words, bool property) {
  for (; *words != '\0'; words++) {
    bool special = *words == '%' || *words == '\n' || *words == '\r';
    if (special || (property && (*words == ',' || *words == ':')))
      rs_text_printf(text, "%%%02X", (unsigned)(unsigned char)*words);
    else
      rs_text_add(text, words, 1);
  }
}

void check_put_github(const checked_files *files, rs_text *text) {
  static const char *const commands[RS_SEVERITIES] = {"notice", "warning", "error"};
  for (size_t i = 0; i < files->count; i++) {
    const checked_file *file = &files->items[i];
    if (file->message != NULL) {
      rs_text_puts(text, "::error file=");
      put_escaped(text, file->name, true);
      rs_text_puts(text, "::");
      put_escaped(text, file->message, false);
      rs_text_puts(text, "\n");
    }
    for (size_t k = 0; k < file->findings.count; k++) {
      const rs_finding *f = &file->findings.items[k];
      rs_text_printf(text, "::%s file=", commands[f->severity]);
      put_escaped(text, file->name, true);
      if (f->line > 0) rs_text_printf(text, ",line=%zu,col=%zu", f->line, f->column);
      rs_text_printf(text, ",title=%s %s::", f->rule->code, f->rule->name);
      put_escaped(text, f->text, false);
      if (*f->fix != '\0') rs_text_puts(text, "%0Afix: ");
      put_escaped(text, f->fix, false);
      rs_text_puts(text, "\n");
    }
  }
}
