/* mlx-lm: rope_theta and rope_scaling of config.json, as initialize_rope reads them. */
#include "written.h"

#include <math.h>

static const rs_dictionary_style style = {.magnitude = RS_IN_PLACE};

static void note_yarn(rs_converting *c) {
  const rs_settled *settled = &c->settled;
  double usual = rs_yarn_magnitude(settled->factor), amp = settled->spectrum.amp;
  bool softmax = rs_settled_number(settled, "mscale_softmax") == 1;
  if (rs_settled_number(settled, "truncate") == 0)
    rs_note(c, "mlx-lm always rounds the ends of the ramp to whole pairs: truncate = false cannot be said.");
  if (!softmax && fabs(amp / usual - 1) > 1e-15)
    rs_note(c, "attention_factor = %.10g is read by new versions of mlx-lm alone; others have %.10g.", amp, usual);
}

static void note_longrope(rs_converting *c) {
  const rs_settled *settled = &c->settled;
  const rs_model *model = settled->model;
  double formula = rs_longrope_magnitude(model);
  rs_note(c, "mlx-lm has long_factor for every length, also up to %zu, where transformers has short_factor.",
          model->train_length);
  if (fabs(settled->spectrum.amp / formula - 1) > 1e-9)
    rs_note(c, "mlx-lm multiplies by %.10g, which max_position_embeddings gives, and cannot be told %.10g.", formula,
            settled->spectrum.amp);
}

static void note_reading(rs_converting *c) {
  const rs_settled *settled = &c->settled;
  if (rs_settled_is(settled, "yarn")) note_yarn(c);
  if (rs_settled_is(settled, "longrope")) note_longrope(c);
  if (rs_settled_is(settled, "dynamic"))
    rs_note(c, "mlx-lm's rope_utils.py has no dynamic NTK: this is the base of %zu tokens, for all lengths.",
            settled->length);
  if (rs_has_axes(settled))
    rs_note(c, "mlx-lm turns text alone: mrope_section has no effect there (mlx-vlm reads it).");
  if (!isnan(rs_settled_number(settled, "logit_scale_length")))
    rs_note(c, "llama_4_scaling_beta is read by the class of Ministral 3 alone.");
  if (settled->model->pair_layout == RS_INTERLEAVED)
    rs_note(c, "Pairs are dims (2j, 2j + 1): the model's class decides it (traditional=True).");
  rs_note_layers(c, "others are the model's class's to know");
}

static void put_rope(rs_converting *c) {
  const rs_settled *settled = &c->settled;
  bool dynamic = rs_settled_is(settled, "dynamic");
  rs_json_number(&c->json, "rope_theta", dynamic ? rs_base_at(settled) : settled->theta);
  rs_put_fraction(c, settled);
  if (dynamic || (rs_settled_is(settled, "default") && isnan(rs_settled_number(settled, "logit_scale_length"))))
    rs_json_string(&c->json, "rope_scaling", NULL);
  else
    rs_put_dictionary(c, settled, "rope_scaling", &style);
}

rs_status rs_to_mlx(rs_converting *c, rs_err *err) {
  (void)err;
  size_t length = rs_settled_is(&c->settled, "dynamic") ? c->settled.length : rs_maximum_of_settled(&c->settled);
  rs_begin_levels(c);
  if (c->settled.type != NULL) {
    if (length > 0) rs_json_number(&c->json, "max_position_embeddings", (double)length);
    put_rope(c);
  }
  rs_end_levels(c);
  rs_fragment(c);
  if (c->settled.type == NULL) {
    rs_note_unturned(c, "mlx-lm");
    return RS_OK;
  }
  rs_note_base(c);
  note_reading(c);
  return RS_OK;
}
