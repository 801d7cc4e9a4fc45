/* vLLM and SGLang, which read config.json themselves: keys that take the place of the file's. */
#include "written.h"

#include <math.h>
#include <string.h>

typedef struct server {
  const char *name, *flag, *length_flag;
  bool
      flat; /* rope_scaling and rope_theta in the place of rope_parameters where all layers turn alike, and no levels */
} server;

static const rs_dictionary_style style = {.base = true, .fraction = true, .magnitude = RS_BY_PRODUCT};

static void put_flat(rs_converting *c) {
  rs_put_dictionary(c, &c->settled, "rope_scaling", &style);
  rs_json_number(&c->json, "rope_theta", c->settled.theta);
}

static rs_status put_keys(rs_converting *c, const server *s, rs_err *err) {
  if (s->flat) {
    c->json = (rs_json){.text = &c->text};
    rs_json_object(&c->json, NULL);
    rs_put_growth(c);
  } else {
    rs_begin_levels(c);
  }
  if (s->flat && !rs_by_layers(c))
    put_flat(c);
  else
    RS_TRY(rs_put_layers(c, "rope_parameters", &style, err));
  rs_end_levels(c);
  rs_argument(c, "%s", s->flag);
  rs_argument_json(c);
  return RS_OK;
}

/* What is settled once for all requests. */
static void note_once(rs_converting *c, const server *s) {
  const rs_settled *settled = &c->settled;
  if (rs_settled_is(settled, "dynamic"))
    rs_note(c,
            "%s has one base for all lengths, that of %g tokens (factor * %zu); transformers changes it with the "
            "length.",
            s->name, settled->factor * (double)settled->model->train_length, settled->model->train_length);
  if (rs_settled_is(settled, "longrope") && settled->length > settled->model->train_length)
    rs_note(c,
            "%s chooses long_factor once, as %s is above %zu: shorter requests get it too, which transformers reads "
            "by short_factor.",
            s->name, s->length_flag, settled->model->train_length);
}

/* LongRoPE's amplitude is written as short_mscale and long_mscale where the formula does not give it. */
static rs_status note_reading(rs_converting *c, const server *s, const char *dialect, rs_err *err) {
  const rs_settled *settled = &c->settled;
  double usual = rs_yarn_magnitude(settled->factor), amp = settled->spectrum.amp;
  bool softmax = rs_settled_number(settled, "mscale_softmax") == 1;
  const rs_engine_setting product[] = {{"attn_factor", amp / usual}, {NULL, 0}};
  const rs_engine_setting places[] = {{"short_mscale", amp}, {"long_mscale", amp}, {NULL, 0}};
  const rs_engine_setting *settings = rs_settled_is(settled, "yarn") && !softmax ? product
                                      : rs_settled_is(settled, "longrope")       ? places
                                                                                 : product + 1;
  if (rs_settled_is(settled, "yarn") && !softmax && fabs(amp / usual - 1) > 1e-15)
    rs_note(c, "%s multiplies 0.1 ln s + 1 by attn_factor: %.10g makes it %.10g, as transformers has it.", s->name,
            amp / usual, amp);
  return rs_note_engine(c, s->name, dialect, settings, err);
}

static rs_status write_server(rs_converting *c, const server *s, const char *dialect, rs_err *err) {
  if (c->settled.type != NULL) {
    RS_TRY(put_keys(c, s, err));
    rs_note_base(c);
    note_once(c, s);
    RS_TRY(note_reading(c, s, dialect, err));
  } else {
    rs_note_unturned(c, s->name);
  }
  rs_argument(c, "%s", s->length_flag);
  rs_argument(c, "%zu", c->settled.length);
  return RS_OK;
}

/* vllm, yarn_scaling_rope.py: mscale is attn_factor alone where apply_yarn_scaling is false. */
static void note_unscaled(rs_converting *c) {
  const rs_node *applied = rs_other_key(c, "apply_yarn_scaling");
  bool unscaled = applied != NULL && applied->kind == RS_SCALAR && strcmp(applied->text, "false") == 0;
  if (unscaled && rs_settled_is(&c->settled, "yarn"))
    rs_note(
        c,
        "vLLM before pull request 56446 (2026-09) multiplies cos and sin by 1 where apply_yarn_scaling is false: by "
        "%.6g with these keys, as transformers does.",
        c->settled.spectrum.amp);
}

rs_status rs_to_vllm(rs_converting *c, rs_err *err) {
  static const server vllm = {"vLLM", "--hf-overrides", "--max-model-len", false};
  RS_TRY(write_server(c, &vllm, "vllm", err));
  note_unscaled(c);
  if (rs_settled_is(&c->settled, "yarn") && c->out->notes.count > 0)
    rs_note(c,
            "That is of vLLM before pull request 56446 (2026-09): later versions follow transformers, by the keys of "
            "--to hf5.");
  return RS_OK;
}

rs_status rs_to_sglang(rs_converting *c, rs_err *err) {
  static const server sglang = {"SGLang", "--json-model-override-args", "--context-length", true};
  if (*c->from->levels[0] != '\0' && c->settled.type != NULL)
    rs_note(c,
            "SGLang's versions differ in whether these keys reach %s: the keys of --to hf5, written into config.json, "
            "do.",
            c->from->levels[0]);
  return write_server(c, &sglang, "sglang", err);
}
