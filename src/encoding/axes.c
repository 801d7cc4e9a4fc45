/* Which coordinate each pair reads. Text: one axis. M-RoPE: pairs are shared out among t, h, w, in blocks (Qwen2-VL,
 * arXiv:2409.12191, section 2.1) or interleaved (Qwen3-VL: h and w on pairs 1 and 2 of each three, t on the rest). */
#include "kinds.h"

#include <math.h>

enum { SECTION_NONE, SECTION_EQUAL };

/* Thirds; what does not divide goes to t first, then h. */
static void equal_sections(size_t pairs, size_t sections[RS_AXES]) {
  for (size_t a = 0; a < RS_AXES; a++) sections[a] = pairs / RS_AXES + (a < pairs % RS_AXES);
}

/* The sections a recipe was given, else the model's, else the method's default; all 0 for text. */
static rs_status resolve_sections(const rs_settings *settings, const rs_model *model, size_t pairs,
                                  size_t sections[RS_AXES], rs_err *err) {
  const rs_value *given = rs_setting(settings, "mrope_section");
  size_t of_model = model->mrope_section[0] + model->mrope_section[1] + model->mrope_section[2], total = 0;
  int word = given->given || of_model == 0 ? given->choice : -1;
  bool listed = given->list != NULL && (given->given || of_model == 0);
  if (listed && given->count != RS_AXES)
    return rs_fail_on(err, RS_INPUT, "mrope_section", "must have 3 entries (t, h, w), not %zu", given->count);
  for (size_t a = 0; a < RS_AXES && listed; a++)
    if (given->list[a] != floor(given->list[a]))
      return rs_fail_on(err, RS_INPUT, "mrope_section", "must hold whole numbers of pairs, not %g", given->list[a]);
  for (size_t a = 0; a < RS_AXES; a++) {
    sections[a] = listed ? (size_t)given->list[a] : word == SECTION_NONE ? 0 : model->mrope_section[a];
    total += sections[a];
  }
  if (word == SECTION_EQUAL) equal_sections(pairs, sections);
  if (word == SECTION_EQUAL || total == 0 || total == pairs) return RS_OK;
  return rs_fail_on(err, RS_INPUT, "mrope_section", "sums to %zu, but %zu pairs turn (rotary_dim / 2)", total, pairs);
}

static uint8_t contiguous_axis(size_t pair, const size_t sections[RS_AXES]) {
  return pair < sections[0] ? 0 : pair < sections[0] + sections[1] ? 1 : 2;
}

static uint8_t interleaved_axis(size_t pair, const size_t sections[RS_AXES]) {
  size_t a = pair % RS_AXES;
  return a > 0 && pair < RS_AXES * sections[a] ? (uint8_t)a : 0;
}

rs_status rs_axes_fill(const rs_settings *settings, const rs_model *model, size_t pairs, uint8_t *axis, size_t *axes,
                       rs_err *err) {
  size_t sections[RS_AXES];
  RS_TRY(resolve_sections(settings, model, pairs, sections, err));
  const rs_value *given = rs_setting(settings, "mrope_interleaved");
  bool interleaved = given->set ? given->number == 1 : model->mrope_interleaved;
  *axes = sections[0] + sections[1] + sections[2] > 0 ? RS_AXES : 1;
  for (size_t j = 0; j<pairs && * axes> 1; j++)
    axis[j] = interleaved ? interleaved_axis(j, sections) : contiguous_axis(j, sections);
  return RS_OK;
}
