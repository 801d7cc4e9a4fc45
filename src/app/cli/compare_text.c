/* What `ropescope compare` tells a reader. */
#include "cli.h"

#include <math.h>
#include <string.h>

enum { ENDS = 4, MOST_ROWS = 12 };

/* ---- the sides --------------------------------------------------------------------------------------------------- */

static const char *layout_name(int layout) {
  return layout == RS_INTERLEAVED ? "interleaved" : "half_split";
}

static void put_dump(rs_text *text, const outcome *o, const rs_contender *s) {
  if (o->form == COMPARE_SLOPES) {
    rs_text_printf(text, "dump of %zu slopes", o->slopes.listed);
    return;
  }
  if (*s->read != '\0' && s->buffers.count == 0) {
    rs_text_printf(text, "%s; attention factor %.6g", s->read, s->spectrum.amp);
    return;
  }
  if (*s->read != '\0') rs_text_printf(text, "%s: ", s->read);
  rs_text_printf(text, "dump of %zu inverse frequencies", s->spectrum.pairs);
  if (s->folded >= 0) rs_text_printf(text, ", each twice (as for %s dims)", layout_name(s->folded));
  if (isnan(s->spectrum.amp)) rs_text_puts(text, ", without an attention factor");
}

static void put_side(rs_text *text, const outcome *o, size_t side) {
  static const char *const kinds[] = {"recipe", "Hugging Face config", "preset"};
  const rs_contender *s = &o->sides[side];
  size_t line = text->length;
  rs_text_printf(text, "%c  ", "AB"[side]);
  if (s->origin != RS_FROM_WORDS) rs_text_printf(text, "%s: ", s->text);
  if (s->origin == RS_FROM_DUMP) {
    put_dump(text, o, s);
  } else {
    rs_text_printf(text, "%s ", rs_hf_is_gguf(s->text) ? "GGUF file" : kinds[s->origin]);
    rs_recipe_write(&s->recipe, text);
    rs_text_printf(text, " on %s at %zu tokens", s->model.name, s->length);
  }
  rs_text_end_line(text, line);
}

/* ---- what differs ------------------------------------------------------------------------------------------------ */

static bool pair_differs(const outcome *o, size_t j) {
  const rs_spectrum *a = &o->sides[0].spectrum, *b = &o->sides[1].spectrum;
  bool axis = a->axis != NULL && b->axis != NULL && a->axis[j] != b->axis[j];
  return axis || !rs_pair_equal(a, b, j, o->rtol);
}

/* The pairs that differ: all where they are few, else the first, the worst and the last. */
static void put_pairs(rs_text *text, const outcome *o, rs_arena *arena) {
  static const char *const axes[RS_AXES] = {"t", "h", "w"};
  static const rs_doc_column columns[] = {
      {.key = "pair", .title = "pair", .right = true},
      {.key = "a", .title = "omega A", .right = true, .digits = 8},
      {.key = "b", .title = "omega B", .digits = 8},
      {.key = "ratio", .title = "B / A", .none = "-", .digits = 6, .right = true},
      {.key = "axes", .title = "axes"},
  };
  const rs_spectrum *a = &o->sides[0].spectrum, *b = &o->sides[1].spectrum;
  bool of_axes = o->difference.differs & RS_DIFFERS_AXIS;
  size_t total = 0, seen = 0, left = 0;
  rs_doc *rows = rs_doc_new(arena, RS_DOC_ARRAY);
  for (size_t j = 0; j < a->pairs; j++) total += pair_differs(o, j);
  for (size_t j = 0; j < a->pairs; j++) {
    if (!pair_differs(o, j)) continue;
    bool shown = total <= MOST_ROWS || seen < ENDS || seen >= total - ENDS || j == o->difference.worst;
    rs_text words = {0};
    seen++;
    if (shown && left > 0) {
      rs_text_printf(&words, "%zu more", left);
      rs_doc_put(rs_doc_add(rows, NULL, RS_DOC_OBJECT), DOC_WORDS("pair", "..."),
                 DOC_WORDS("a", rs_doc_keep(rows, &words)), DOC_WORDS("ratio", " "));
    }
    left = shown ? 0 : left + 1;
    if (!shown) continue;
    if (of_axes) rs_text_printf(&words, "(%s, %s)", axes[a->axis[j]], axes[b->axis[j]]);
    rs_doc_put(rs_doc_add(rows, NULL, RS_DOC_OBJECT), DOC_NUMBER("pair", j), DOC_NUMBER("a", a->omega[j]),
               DOC_NUMBER("b", b->omega[j]), DOC_NUMBER("ratio", a->omega[j] > 0 ? b->omega[j] / a->omega[j] : NAN),
               DOC_WORDS("axes", rs_doc_keep(rows, &words)));
  }
  rs_doc_table(rows, columns, RS_COUNT(columns) - !of_axes, 2, text);
}

static void put_frequencies(rs_text *text, const outcome *o, rs_arena *arena) {
  const rs_difference *d = &o->difference;
  size_t pairs_a = o->sides[0].spectrum.pairs, pairs_b = o->sides[1].spectrum.pairs;
  bool differ = d->differs & RS_DIFFERS_FREQUENCY, comparable = pairs_a == pairs_b;
  if (!comparable)
    rs_text_printf(text, "frequencies: A has %zu pairs, B has %zu\n", pairs_a, pairs_b);
  else if (differ && isfinite(d->largest))
    rs_text_printf(text, "frequencies: %zu of %zu pairs differ, from pair %zu to %zu; most at pair %zu: %.3g %%\n",
                   d->count, pairs_a, d->first, d->last, d->worst, 100 * d->largest);
  else if (differ)
    rs_text_printf(text, "frequencies: %zu of %zu pairs differ, from pair %zu to %zu; pair %zu turns in B alone\n",
                   d->count, pairs_a, d->first, d->last, d->worst);
  if (d->differs & RS_DIFFERS_AXIS) rs_text_puts(text, "axes: pairs read other axes (t, h, w)\n");
  if (comparable && (differ || (d->differs & RS_DIFFERS_AXIS))) put_pairs(text, o, arena);
}

/* What q.k is multiplied by before the softmax, beside cos and sin. */
static double softmax_scale(const rs_spectrum *s) {
  return s->logit_factor / sqrt((double)s->head_dim);
}

/* All but the frequencies. */
static void put_rest(rs_text *text, const outcome *o) {
  static const char *const formats[RS_FORMATS] = {"exact", "in float32", "in bfloat16", "in float16"};
  const rs_spectrum *a = &o->sides[0].spectrum, *b = &o->sides[1].spectrum;
  unsigned differs = o->difference.differs;
  if (differs & RS_DIFFERS_AMPLITUDE) {
    rs_text_printf(text, "attention factor on cos and sin: A %.9g, B %.9g", a->amp, b->amp);
    if (!isnan(a->logit_factor) && !isnan(b->logit_factor))
      rs_text_printf(text, "; on the logits: A %.9g, B %.9g; softmax scale: A %.9g, B %.9g", a->logit_factor,
                     b->logit_factor, softmax_scale(a), softmax_scale(b));
    rs_text_puts(text, "\n");
  }
  /* Heads of another width scale the logits otherwise. */
  if (a->head_dim != b->head_dim) rs_text_printf(text, "head_dim: A %zu, B %zu\n", a->head_dim, b->head_dim);
  if (differs & RS_DIFFERS_LAYOUT)
    rs_text_printf(text, "pair layout: A %s, B %s\n", layout_name(a->pair_layout), layout_name(b->pair_layout));
  if (differs & RS_DIFFERS_BEYOND)
    rs_text_printf(text, "beyond the frequencies: A %s; B %s\n", *a->beyond != '\0' ? a->beyond : "none",
                   *b->beyond != '\0' ? b->beyond : "none");
  if (differs & RS_DIFFERS_POSITIONS)
    rs_text_printf(text, "positions: A %s, B %s\n", formats[a->positions], formats[b->positions]);
}

/* 1, 10, 100, ... and the last of the context. */
static void put_positions(rs_text *text, const outcome *o, rs_arena *arena) {
  static const rs_doc_column columns[] = {{.key = "distance", .title = "distance"},
                                          {.key = "angle", .title = "largest difference of angle, rad", .digits = 4},
                                          {.key = "pair", .title = "at pair"},
                                          {.key = "a", .title = "mean cosine A", .digits = 6},
                                          {.key = "b", .title = "mean cosine B", .digits = 6}};
  const rs_spectrum *a = &o->sides[0].spectrum, *b = &o->sides[1].spectrum;
  size_t last = o->sides[0].length - 1;
  rs_doc *rows = rs_doc_new(arena, RS_DOC_ARRAY);
  if (a->pairs != b->pairs || !(o->difference.differs & RS_DIFFERS_FREQUENCY)) return;
  for (size_t position = 1; position <= last;
       position = position * 10 > last && position < last ? last : position * 10) {
    rs_divergence d = rs_spectrum_at(a, b, (double)position);
    rs_doc_put(rs_doc_add(rows, NULL, RS_DOC_OBJECT), DOC_NUMBER("distance", position), DOC_NUMBER("angle", d.angle),
               DOC_NUMBER("pair", d.pair), DOC_NUMBER("a", d.mean_a), DOC_NUMBER("b", d.mean_b));
  }
  rs_doc_table(rows, columns, RS_COUNT(columns), 2, text);
}

/* Everything that is the same, in one line. */
static void put_agreement(rs_text *text, const outcome *o) {
  const rs_spectrum *a = &o->sides[0].spectrum, *b = &o->sides[1].spectrum;
  unsigned differs = o->difference.differs;
  RS_OWNED(rs_text) line = {0};
  if (!(differs & RS_DIFFERS_FREQUENCY)) rs_text_printf(&line, ", frequencies of %zu pairs", a->pairs);
  if (!(differs & RS_DIFFERS_AMPLITUDE) && !isnan(a->amp) && !isnan(b->amp))
    rs_text_printf(&line, ", attention factor %.9g", a->amp);
  if (!(differs & RS_DIFFERS_AMPLITUDE) && a->head_dim == b->head_dim && !isnan(a->logit_factor) &&
      !isnan(b->logit_factor))
    rs_text_printf(&line, ", softmax scale %.9g", softmax_scale(a));
  if (!(differs & RS_DIFFERS_LAYOUT) && a->pair_layout >= 0 && b->pair_layout >= 0)
    rs_text_printf(&line, ", pair layout %s", layout_name(a->pair_layout));
  bool told = a->slack != NULL || b->slack != NULL, named = compare_put_whole(text, o);
  if (line.length == 0 && named)
    rs_text_puts(text, "nothing is equal\n");
  else if (line.length > 0)
    rs_text_printf(text, "equal within %g%s: %s\n", o->rtol, told ? " and what cos and sin tell" : "",
                   rs_text_string(&line) + 2);
  text->failed |= line.failed;
}

/* Equal at one length is not equal. */
static void put_other_length(rs_text *text, const outcome *o) {
  const rs_difference *d = &o->other_difference;
  if (o->other_length == 0) return;
  rs_text_printf(text, "at %zu tokens they differ", o->other_length);
  if (d->differs & RS_DIFFERS_FREQUENCY)
    rs_text_printf(text, ": %zu of %zu pairs, most pair %zu", d->count, o->sides[0].spectrum.pairs, d->worst);
  rs_text_printf(text, " (--length %zu says why)\n", o->other_length);
}

/* ---- sides that turn nothing ------------------------------------------------------------------------------------- */

static void put_biases(rs_text *text, const outcome *o) {
  const rs_bias_difference *d = &o->biases;
  if (!d->differs)
    rs_text_printf(text, "equal within %g: biases of %zu heads on keys at any distance%s\n", o->rtol, d->heads,
                   d->shifted ? ", but for a constant of each row, which no softmax sees" : "");
  else if (isnan(d->largest))
    rs_text_printf(text, "heads: A has %zu, B %zu\n", d->heads, o->sides[1].model.heads);
  else
    rs_text_printf(text,
                   "biases: %zu of %zu heads differ; most in head %zu, %zu tokens back: A %.6g, B %.6g nats against "
                   "the query's own key\n",
                   d->count, d->heads, d->head, d->distance, d->a, d->b);
}

/* A side that adds slopes beside a list of them: of all heads, or of "heads 8-15 of 16". */
static void put_slopes(rs_text *text, const outcome *o) {
  const rs_slope_difference *d = &o->slopes;
  bool first = o->sides[0].origin == RS_FROM_DUMP;
  if (d->count == 0)
    rs_text_printf(text, "equal within %g: slopes of ", o->rtol);
  else
    rs_text_printf(text, "slopes: %zu of ", d->count);
  if (d->listed == d->heads)
    rs_text_printf(text, "%zu heads", d->heads);
  else
    rs_text_printf(text, "heads %zu-%zu of %zu", d->first, d->first + d->listed - 1, d->heads);
  if (d->count > 0)
    rs_text_printf(text, " differ; most in head %zu: A %.6g, B %.6g nats/token", d->head, first ? d->list : d->recipe,
                   first ? d->recipe : d->list);
  rs_text_puts(text, "\n");
}

void compare_put_text(const outcome *o, rs_arena *arena, rs_text *text) {
  const compare_causes causes = compare_gather_causes(o, arena);
  if (arena->failed) return;
  for (size_t side = 0; side < 2; side++) put_side(text, o, side);
  if (o->form == COMPARE_TURNING) {
    put_agreement(text, o);
    put_frequencies(text, o, arena);
    put_rest(text, o);
    put_positions(text, o, arena);
    put_other_length(text, o);
  } else {
    (o->form == COMPARE_BIASES ? put_biases : put_slopes)(text, o);
  }
  compare_put_causes(text, o, &causes, 0, "");
  compare_put_layers(text, o, &causes);
  compare_put_kinds(text, o);
  compare_put_buffers(text, o, &causes);
}
