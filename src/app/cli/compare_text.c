/* What `ropescope compare` tells a reader. */
#include "compare.h"

#include <math.h>
#include <string.h>

enum { ENDS = 4, MOST_ROWS = 12 };

/* ---- the sides --------------------------------------------------------------------------------------------------- */

static const char *layout_name(int layout) {
  return layout == RS_INTERLEAVED ? "interleaved" : "half_split";
}

static void put_dump(rs_text *text, const rs_contender *s) {
  if (*s->read != '\0' && s->buffers.count == 0) {
    rs_text_printf(text, "%s; attention factor %.6g", s->read, s->spectrum.amp);
    return;
  }
  if (*s->read != '\0') rs_text_printf(text, "%s: ", s->read);
  rs_text_printf(text, "dump of %zu inverse frequencies", s->spectrum.pairs);
  if (s->folded >= 0) rs_text_printf(text, ", each twice (as for %s dims)", layout_name(s->folded));
  if (isnan(s->spectrum.amp)) rs_text_puts(text, ", without an attention factor");
}

void compare_put_side(rs_text *text, char letter, const rs_contender *s) {
  static const char *const kinds[] = {"recipe", "Hugging Face config", "preset"};
  size_t line = text->length;
  rs_text_printf(text, "%c  ", letter);
  if (s->origin != RS_FROM_WORDS) rs_text_printf(text, "%s: ", s->text);
  if (s->origin == RS_FROM_DUMP) {
    put_dump(text, s);
  } else {
    rs_text_printf(text, "%s ", kinds[s->origin]);
    rs_recipe_write(&s->recipe, text);
    rs_text_printf(text, " on %s at %zu tokens", s->model.name, s->length);
  }
  rs_text_end_line(text, line);
}

/* ---- what differs ------------------------------------------------------------------------------------------------ */

static void put_pair(rs_text *text, const outcome *o, size_t j) {
  static const char *const axes[RS_AXES] = {"t", "h", "w"};
  const rs_spectrum *a = &o->sides[0].spectrum, *b = &o->sides[1].spectrum;
  rs_text_printf(text, "  %4zu  %-14.8g %-14.8g ", j, a->omega[j], b->omega[j]);
  if (a->omega[j] > 0)
    rs_text_printf(text, "%.6g", b->omega[j] / a->omega[j]);
  else
    rs_text_puts(text, "-");
  if (o->difference.differs & RS_DIFFERS_AXIS) rs_text_printf(text, "  (%s, %s)", axes[a->axis[j]], axes[b->axis[j]]);
  rs_text_puts(text, "\n");
}

static bool pair_differs(const outcome *o, size_t j) {
  const rs_spectrum *a = &o->sides[0].spectrum, *b = &o->sides[1].spectrum;
  bool axis = a->axis != NULL && b->axis != NULL && a->axis[j] != b->axis[j];
  return axis || !rs_pair_equal(a, b, j, o->rtol);
}

/* The pairs that differ: all where they are few, else the first, the worst and the last. */
static void put_pairs(rs_text *text, const outcome *o) {
  size_t total = 0, seen = 0, left = 0;
  for (size_t j = 0; j < o->sides[0].spectrum.pairs; j++) total += pair_differs(o, j);
  rs_text_printf(text, "  %4s  %-14s %-14s %s\n", "pair", "omega A", "omega B",
                 o->difference.differs & RS_DIFFERS_AXIS ? "B / A  (axes)" : "B / A");
  for (size_t j = 0; j < o->sides[0].spectrum.pairs; j++) {
    if (!pair_differs(o, j)) continue;
    bool shown = total <= MOST_ROWS || seen < ENDS || seen >= total - ENDS || j == o->difference.worst;
    seen++;
    if (shown && left > 0) rs_text_printf(text, "   ...  %zu more\n", left);
    left = shown ? 0 : left + 1;
    if (shown) put_pair(text, o, j);
  }
}

static void put_frequencies(rs_text *text, const outcome *o) {
  const rs_difference *d = &o->difference;
  size_t pairs_a = o->sides[0].spectrum.pairs, pairs_b = o->sides[1].spectrum.pairs;
  if (pairs_a != pairs_b)
    rs_text_printf(text, "frequencies: A has %zu pairs, B has %zu\n", pairs_a, pairs_b);
  else if (d->differs & RS_DIFFERS_FREQUENCY)
    rs_text_printf(text, "frequencies: %zu of %zu pairs differ, from pair %zu to %zu; ", d->count, pairs_a, d->first,
                   d->last);
  if (pairs_a == pairs_b && (d->differs & RS_DIFFERS_FREQUENCY)) {
    if (isfinite(d->largest))
      rs_text_printf(text, "most at pair %zu: %.3g %%\n", d->worst, 100 * d->largest);
    else
      rs_text_printf(text, "pair %zu turns in B alone\n", d->worst);
  }
  if (d->differs & RS_DIFFERS_AXIS) rs_text_puts(text, "axes: pairs read other axes (t, h, w)\n");
  if (pairs_a == pairs_b && (d->differs & (RS_DIFFERS_FREQUENCY | RS_DIFFERS_AXIS))) put_pairs(text, o);
}

/* What q.k is multiplied by before the softmax, beside cos and sin. */
static double softmax_scale(const rs_spectrum *s) {
  return s->logit_factor / sqrt((double)s->head_dim);
}

static void put_amplitude(rs_text *text, const outcome *o) {
  const rs_spectrum *a = &o->sides[0].spectrum, *b = &o->sides[1].spectrum;
  if (!(o->difference.differs & RS_DIFFERS_AMPLITUDE)) return;
  rs_text_printf(text, "attention factor on cos and sin: A %.9g, B %.9g", a->amp, b->amp);
  if (!isnan(a->logit_factor) && !isnan(b->logit_factor))
    rs_text_printf(text, "; on the logits: A %.9g, B %.9g; softmax scale: A %.9g, B %.9g", a->logit_factor,
                   b->logit_factor, softmax_scale(a), softmax_scale(b));
  rs_text_puts(text, "\n");
}

/* Heads of another width scale the logits otherwise. */
static void put_widths(rs_text *text, const outcome *o) {
  const rs_spectrum *a = &o->sides[0].spectrum, *b = &o->sides[1].spectrum;
  if (a->head_dim != b->head_dim) rs_text_printf(text, "head_dim: A %zu, B %zu\n", a->head_dim, b->head_dim);
}

static void put_layout(rs_text *text, const outcome *o) {
  if (o->difference.differs & RS_DIFFERS_LAYOUT)
    rs_text_printf(text, "pair layout: A %s, B %s\n", layout_name(o->sides[0].spectrum.pair_layout),
                   layout_name(o->sides[1].spectrum.pair_layout));
}

static void put_beyond(rs_text *text, const outcome *o) {
  const char *a = o->sides[0].spectrum.beyond, *b = o->sides[1].spectrum.beyond;
  if (o->difference.differs & RS_DIFFERS_BEYOND)
    rs_text_printf(text, "beyond the frequencies: A %s; B %s\n", *a != '\0' ? a : "none", *b != '\0' ? b : "none");
}

static void put_rounding(rs_text *text, const outcome *o) {
  static const char *const formats[RS_FORMATS] = {"exact", "in float32", "in bfloat16", "in float16"};
  if (o->difference.differs & RS_DIFFERS_POSITIONS)
    rs_text_printf(text, "positions: A %s, B %s\n", formats[o->sides[0].spectrum.positions],
                   formats[o->sides[1].spectrum.positions]);
}

/* Everything that is the same, in one line. */
static void put_agreement(rs_text *text, const outcome *o) {
  const rs_spectrum *a = &o->sides[0].spectrum, *b = &o->sides[1].spectrum;
  unsigned differs = o->difference.differs;
  rs_text line = {0};
  if (!(differs & RS_DIFFERS_FREQUENCY)) rs_text_printf(&line, ", frequencies of %zu pairs", a->pairs);
  if (!(differs & RS_DIFFERS_AMPLITUDE) && !isnan(a->amp) && !isnan(b->amp))
    rs_text_printf(&line, ", attention factor %.9g", a->amp);
  if (!(differs & RS_DIFFERS_AMPLITUDE) && a->head_dim == b->head_dim && !isnan(a->logit_factor) &&
      !isnan(b->logit_factor))
    rs_text_printf(&line, ", softmax scale %.9g", softmax_scale(a));
  if (!(differs & RS_DIFFERS_LAYOUT) && a->pair_layout >= 0 && b->pair_layout >= 0)
    rs_text_printf(&line, ", pair layout %s", layout_name(a->pair_layout));
  bool told = a->slack != NULL || b->slack != NULL, named = compare_put_whole(o, text);
  if (line.length == 0 && named)
    rs_text_puts(text, "nothing is equal\n");
  else if (line.length > 0)
    rs_text_printf(text, "equal within %g%s: %s\n", o->rtol, told ? " and what cos and sin tell" : "",
                   rs_text_string(&line) + 2);
  text->failed |= line.failed;
  rs_text_clear(&line);
}

/* 1, 10, 100, ... and the last of the context. */
static void put_positions(rs_text *text, const outcome *o) {
  const rs_spectrum *a = &o->sides[0].spectrum, *b = &o->sides[1].spectrum;
  size_t last = o->sides[0].length - 1;
  if (a->pairs != b->pairs || !(o->difference.differs & RS_DIFFERS_FREQUENCY)) return;
  rs_text_printf(text, "  %10s  %-28s %-14s %s\n", "distance", "largest difference of angle", "mean cosine A",
                 "mean cosine B");
  for (size_t position = 1; position <= last;
       position = position * 10 > last && position < last ? last : position * 10) {
    rs_divergence divergence = rs_spectrum_at(a, b, (double)position);
    rs_text_printf(text, "  %10zu  %-10.4g rad at pair %-6zu %-14.6g %.6g\n", position, divergence.angle,
                   divergence.pair, divergence.mean_a, divergence.mean_b);
  }
}

/* Equal at one length is not equal. */
static void put_elsewhere(rs_text *text, const outcome *o) {
  const rs_difference *d = &o->other_difference;
  if (o->other_length == 0) return;
  rs_text_printf(text, "at %zu tokens they differ", o->other_length);
  if (d->differs & RS_DIFFERS_FREQUENCY)
    rs_text_printf(text, ": %zu of %zu pairs, most pair %zu", d->count, o->sides[0].spectrum.pairs, d->worst);
  rs_text_printf(text, " (--length %zu says why)\n", o->other_length);
}

/* ---- all of it --------------------------------------------------------------------------------------------------- */

void compare_put_text(const outcome *o, rs_text *text) {
  for (size_t i = 0; i < 2; i++) compare_put_side(text, "AB"[i], &o -> sides[i]);
  put_agreement(text, o);
  put_frequencies(text, o);
  put_amplitude(text, o);
  put_widths(text, o);
  put_layout(text, o);
  put_beyond(text, o);
  put_rounding(text, o);
  put_positions(text, o);
  put_elsewhere(text, o);
  compare_put_causes(&o->causes, o->difference.differs, "", text);
  compare_put_layers(o, text);
  compare_put_kinds(o, text);
  compare_put_buffers(o, text);
}
