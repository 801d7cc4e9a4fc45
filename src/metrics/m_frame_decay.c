/* How a film forgets: the mean cosine between a patch of the first frame and its own place in every later frame, in
 * frames and over all pairs. What moves a frame on differs between ways of counting: ids of time alone (Qwen2-VL,
 * arXiv:2409.12191, section 2.1), rows and columns as well (VideoRoPE's diagonal layout, arXiv:2502.05173, section 4),
 * or a whole frame of patches (one axis). */
#include "metric_list.h"

#include <math.h>

typedef struct params {
  double frame_threshold;
} params;

/* The first video, and in *begin its first token; NULL where there is none. */
static const rs_token_run *first_video(const rs_token_layout *layout, size_t *begin) {
  *begin = 0;
  for (size_t i = 0; i < layout->count; *begin += layout->runs[i++].tokens)
    if (layout->runs[i].modality == RS_VIDEO) return &layout->runs[i];
  return NULL;
}

static rs_status add_frames(const rs_metric_in *in, const rs_token_run *video, size_t begin, rs_result *result,
                            rs_err *err) {
  size_t patches = video->rows * video->columns;
  size_t first = begin + video->rows / 2 * video->columns + video->columns / 2;
  const params *p = in->params;
  rs_moments later = {0};
  for (size_t frame = 0; frame < video->frames; frame++) {
    double row[] = {(double)frame, rs_encoding_mean_cosine(in->encoding, first + frame * patches, first)};
    RS_TRY(rs_curve_add(&result->curve, row, err));
    if (frame == 0) continue;
    rs_moments_add(&later, row[1]);
    if (isnan(result->value[0]) && row[1] < p->frame_threshold) result->value[0] = (double)frame;
  }
  result->value[1] = rs_moments_mean(&later);
  return RS_OK;
}

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  size_t begin;
  const rs_token_run *video = first_video(&in->encoding->tokens, &begin);
  result->value[0] = result->value[1] = NAN;
  if (video == NULL || in->encoding->rotary_dim == 0) return RS_OK;
  return add_frames(in, video, begin, result, err);
}

static size_t curve_rows(const void *given, const rs_curve_in *in) {
  (void)given;
  size_t begin;
  const rs_token_run *video = first_video(in->tokens, &begin);
  return video != NULL ? video->frames : 0;
}

static const rs_param specs[] = {
    {RS_FIELD(params, frame_threshold), .unit = "1", .min = -1, .max = 1, .fallback = "0.9",
     .summary = "mean cosine below which two frames count as told apart"},
};

static const rs_column scalars[] = {
    RS_COLUMN("frame_resolution_frames", "frames",
              "least distance in frames whose mean cosine is below the threshold; empty when there is none",
              .better = RS_LOWER),
    RS_COLUMN("frame_likeness", "1", "mean cosine of the first frame and a later one, mean over all later ones",
              .better = RS_LOWER),
};

static const rs_column curve[] = {
    RS_COLUMN("distance_frames", "frames", "frame of the query - frame of the key, the first", .integer = true),
    RS_COLUMN("mean_cosine", "1",
              "K = sum_j cos(angle_j) / (D/2) at the same row and column; pairs that do not turn count as 1"),
};

const rs_metric_kind rs_metric_frame_decay = {
    .kind = {.name = "frame_decay",
             .summary = "the kernel along the first video, frame by frame at one place",
             .reference = "VideoRoPE, arXiv:2502.05173, sections 3 and 4",
             RS_KIND(specs, params)},
    .needs_picture = true,
    RS_SCALARS(scalars),
    RS_CURVE(curve, 1),
    .curve_rows = curve_rows,
    .finish = finish,
};
