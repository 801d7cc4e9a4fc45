/* mlx-lm: rope_theta and rope_scaling of config.json, as initialize_rope reads them; classes that read rope_scaling
 * themselves want "type" (Phi-3, Nemotron). Held against mlx_lm/models/rope_utils.py. */
#include "written.h"

#include <math.h>

static const rs_dictionary_style style = {.magnitude = RS_IN_PLACE, .both_types = true, .by_mscale = true};

static void note_yarn(rs_converting *c) {
  const rs_settled *settled = &c->settled;
  double usual = rs_yarn_magnitude(settled->factor), amp = settled->spectrum.amp;
  bool softmax = rs_settled_number(settled, "mscale_softmax") == 1;
  if (rs_settled_number(settled, "truncate") == 0)
    rs_note(c, "mlx-lm always rounds the ends of the ramp to whole pairs: truncate = false cannot be said.");
  if (softmax || fabs(amp / usual - 1) <= 1e-15) return;
  if (settled->factor > 1)
    rs_note(c, "mlx-lm's releases read no attention_factor: mscale says %.10g there, as 0.1 mscale ln s + 1.", amp);
  else
    rs_note(c, "mlx-lm multiplies cos and sin by 1 for a factor up to 1, and not by %g.", amp);
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
    rs_note(c, "mlx-lm up to 0.31.3 has no dynamic NTK, and stops; later ones take the base of each call's length, and "
               "keys that are cached keep that of theirs.");
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
  rs_json_number(&c->json, "rope_theta", settled->theta);
  rs_put_fraction(c, settled);
  if (rs_settled_is(settled, "default") && isnan(rs_settled_number(settled, "logit_scale_length")))
    rs_json_string(&c->json, "rope_scaling", NULL);
  else
    rs_put_dictionary(c, settled, "rope_scaling", &style);
}

rs_status rs_to_mlx(rs_converting *c, rs_err *err) {
  (void)err;
  size_t length = rs_maximum_of_settled(&c->settled);
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
