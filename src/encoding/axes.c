/* Which coordinate each pair reads. Text: one axis. M-RoPE: pairs are shared out among t, h, w (Qwen2-VL,
 * arXiv:2409.12191, section 2.1), in one of several layouts. */
#include "kinds.h"

#include <math.h>

/* Thirds; what does not divide goes to t first, then h. */
static void equal_sections(size_t pairs, size_t sections[RS_AXES]) {
  for (size_t a = 0; a < RS_AXES; a++) sections[a] = pairs / RS_AXES + (a < pairs % RS_AXES);
}

/* A list of t, h, w, as it was given. */
static rs_status read_sections(const rs_binding *rotary, const rs_real_list *given, size_t sections[RS_AXES],
                               rs_err *err) {
  size_t place = offsetof(rs_rotary_params, mrope_section);
  if (given->count != RS_AXES)
    return rs_binding_fail(rotary, place, err, "must have 3 entries (t, h, w), not %zu", given->count);
  for (size_t a = 0; a < RS_AXES; a++) {
    if (given->list[a] != floor(given->list[a]))
      return rs_binding_fail(rotary, place, err, "must hold whole numbers of pairs, not %g", given->list[a]);
    sections[a] = (size_t)given->list[a];
  }
  return RS_OK;
}

/* The sections a recipe was given, else the model's, else the method's default; all 0 for text. */
static rs_status resolve_sections(const rs_binding *rotary, const rs_model *model, size_t pairs,
                                  size_t sections[RS_AXES], rs_err *err) {
  const rs_real_list *given = &((const rs_rotary_params *)rotary->fields)->mrope_section;
  size_t place = offsetof(rs_rotary_params, mrope_section), total = 0;
  size_t of_model = model->mrope_section[0] + model->mrope_section[1] + model->mrope_section[2];
  /* `none` is never a mere default. */
  bool chosen = rs_binding_given(rotary, place) || of_model == 0 || given->word == RS_SECTION_NONE;
  for (size_t a = 0; a < RS_AXES; a++)
    sections[a] = chosen && given->word == RS_SECTION_NONE ? 0 : model->mrope_section[a];
  if (chosen && given->list != NULL) RS_TRY(read_sections(rotary, given, sections, err));
  for (size_t a = 0; a < RS_AXES; a++) total += sections[a];
  if (chosen && given->word == RS_SECTION_EQUAL) equal_sections(pairs, sections);
  if ((chosen && given->word == RS_SECTION_EQUAL) || total == 0 || total == pairs) return RS_OK;
  return rs_binding_fail(rotary, place, err, "sums to %zu, but %zu pairs turn (rotary_dim / 2)", total, pairs);
}

static void contiguous(const size_t sections[RS_AXES], size_t pairs, uint16_t *axis) {
  for (size_t j = 0; j < pairs; j++) axis[j] = j < sections[0] ? 0 : j < sections[0] + sections[1] ? 1 : 2;
}

/* Qwen3-VL: h and w on pairs 1 and 2 of each three while their sections last. */
static void interleaved(const size_t sections[RS_AXES], size_t pairs, uint16_t *axis) {
  for (size_t j = 0; j < pairs; j++) {
    size_t a = j % RS_AXES;
    axis[j] = a > 0 && j < RS_AXES * sections[a] ? (uint16_t)a : 0;
  }
}

/* ERNIE 4.5-VL, VideoRoPE: h and w take turns on the fastest pairs, the one with more left goes on alone, t has the
 * rest. */
static void spatial_first(const size_t sections[RS_AXES], size_t pairs, uint16_t *axis) {
  size_t left[RS_AXES] = {0, sections[1], sections[2]};
  for (size_t j = 0; j < pairs; j++) {
    size_t turn = 1 + j % 2, other = 3 - turn;
    axis[j] = (uint16_t)(left[turn] > 0 ? turn : left[other] > 0 ? other : 0);
    if (axis[j] > 0) left[axis[j]]--;
  }
}

/* openPangu (vLLM, mrope_interleaved.py): the last pair is t's; before it each pair goes to the axis that has the least
 * of its share, t before h before w, but not twice running while another axis has pairs left. */
static void fair(const size_t sections[RS_AXES], size_t pairs, uint16_t *axis) {
  size_t share[RS_AXES] = {sections[0] > 0 ? sections[0] - 1 : 0, sections[1], sections[2]}, placed[RS_AXES] = {0};
  size_t last = RS_AXES;
  for (size_t j = 0; j < pairs; j++) {
    size_t best = RS_AXES;
    for (size_t a = 0; a < RS_AXES; a++) {
      bool eligible = placed[a] < share[a] && a != last;
      if (eligible && (best == RS_AXES || placed[a] * share[best] < placed[best] * share[a])) best = a;
    }
    if (best == RS_AXES) best = last < RS_AXES && placed[last] < share[last] ? last : 0;
    axis[j] = (uint16_t)best;
    placed[best]++;
    last = best;
  }
}

const char *const rs_axis_layout_words[RS_AXIS_LAYOUTS + 1] = {[RS_AXES_CONTIGUOUS] = "contiguous",
                                                               [RS_AXES_INTERLEAVED] = "interleaved",
                                                               [RS_AXES_SPATIAL_FIRST] = "spatial_first",
                                                               [RS_AXES_FAIR] = "fair"};

static void (*const layouts[])(const size_t sections[RS_AXES], size_t pairs, uint16_t *axis) = {
    [RS_AXES_CONTIGUOUS] = contiguous,
    [RS_AXES_INTERLEAVED] = interleaved,
    [RS_AXES_SPATIAL_FIRST] = spatial_first,
    [RS_AXES_FAIR] = fair,
};

/* ggml's interleaved layout knows no t there: those pairs read a fourth id, which is 0 (ggml_mrope_cache_init). */
static void leave_tail(const size_t sections[RS_AXES], size_t pairs, uint16_t *axis) {
  for (size_t j = 0; j < pairs; j++)
    if (j >= RS_AXES * sections[j % RS_AXES]) axis[j] = RS_AXES;
}

static size_t count_axes(const size_t sections[RS_AXES]) {
  return sections[0] + sections[1] + sections[2] > 0 ? RS_AXES : 1;
}

size_t rs_axes_count(const rs_binding *rotary, const rs_model *model, size_t pairs) {
  size_t sections[RS_AXES];
  return resolve_sections(rotary, model, pairs, sections, NULL) == RS_OK ? count_axes(sections) : 1;
}

rs_status rs_axes_fill(const rs_binding *rotary, const rs_model *model, size_t pairs, uint16_t *axis, size_t *axes,
                       rs_err *err) {
  const rs_rotary_params *p = rotary->fields;
  size_t sections[RS_AXES];
  RS_TRY(resolve_sections(rotary, model, pairs, sections, err));
  rs_axis_layout layout = p->mrope_layout == RS_AXES_OF_MODEL ? model->axis_layout : p->mrope_layout;
  *axes = count_axes(sections);
  if (*axes == 1) return RS_OK;
  layouts[layout](sections, pairs, axis);
  if (layout == RS_AXES_INTERLEAVED && p->mrope_tail == RS_TAIL_UNROTATED) leave_tail(sections, pairs, axis);
  return RS_OK;
}
