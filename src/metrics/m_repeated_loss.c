/* Does it help to have read the same before? A token that is said again has its loss compared with the one it had when
 * it was said first: pair by pair, so that what is hard to foretell counts on both sides. Tasks ask for it where both
 * are targets: `repeat`, whose first passage is new, and `dictionary`, whose values are. */
#include "answers.h"

#include <stdlib.h>

enum { FIRST, SECOND, DIFFERENCE, LOSSES };

/* Targets that are said again, with their losses by LOSSES in the places of a reading's. */
typedef struct pairs {
  rs_arena arena;
  rs_reading readings[LOSSES];
} pairs;

/* The target at which was said first what the one at `index` asks for; RS_NO_NEEDLE where none was. */
static size_t find_first(const rs_reading *reading, unsigned recalled, size_t index) {
  if (reading->targets[index] == RS_NO_TARGET || (recalled >> reading->parts[index] & 1) == 0) return RS_NO_NEEDLE;
  size_t holder = rs_answers_holder(reading, index);
  if (holder == RS_NO_NEEDLE || holder == 0) return RS_NO_NEEDLE;
  size_t first = index - index % reading->answers + holder - 1;
  bool again = (recalled >> reading->parts[first] & 1) != 0;
  return !again && reading->targets[first] == reading->targets[index] ? first : RS_NO_NEEDLE;
}

static rs_status find_pairs(const rs_reading_in *in, pairs *found, rs_err *err) {
  const rs_reading *reading = in->reading;
  const rs_task_kind *task = in->task->kind;
  size_t count = reading->sequences * reading->answers;
  unsigned recalled = task->form == RS_DECODER ? task->recalled & rs_stream_parts(task) : 0;
  int32_t *targets = rs_arena_take(&found->arena, count, sizeof *targets);
  for (size_t i = 0; i < LOSSES; i++) {
    found->readings[i] = *reading;
    found->readings[i].targets = targets;
    found->readings[i].losses = rs_arena_take(&found->arena, count, sizeof(double));
  }
  RS_TRY(rs_arena_check(&found->arena, err));
  for (size_t i = 0; i < count; i++) {
    size_t first = find_first(reading, recalled, i);
    targets[i] = first != RS_NO_NEEDLE ? reading->targets[i] : RS_NO_TARGET;
    if (first == RS_NO_NEEDLE) continue;
    found->readings[FIRST].losses[i] = reading->losses[first];
    found->readings[SECOND].losses[i] = reading->losses[i];
    found->readings[DIFFERENCE].losses[i] = reading->losses[i] - reading->losses[first];
  }
  return RS_OK;
}

/* Distances lead from a token to the same token, one more than from where it stands to where it is asked for. */
static rs_status add_bins(const pairs *found, const size_t *edges, size_t bins, rs_result *result, rs_err *err) {
  for (size_t b = 0; b < bins; b++) {
    rs_answer_mean means[LOSSES];
    if (edges[b] == 0) continue;
    for (size_t i = 0; i < LOSSES; i++) {
      rs_answers answers = rs_answers_all(&found->readings[i]);
      answers.apart = true;
      answers.near = edges[b] - 1;
      answers.far = edges[b + 1] - 1;
      means[i] = rs_answers_mean(&answers, RS_ANSWER_LOSS);
    }
    double line[3 + 2 * LOSSES] = {(double)edges[b], (double)edges[b + 1], means[FIRST].targets};
    for (size_t i = 0; i < LOSSES; i++) {
      line[3 + 2 * i] = means[i].mean;
      line[4 + 2 * i] = means[i].error;
    }
    if (means[FIRST].targets > 0) RS_TRY(rs_curve_add(&result->curve, line, err));
  }
  return RS_OK;
}

static rs_status report(const rs_reading_in *in, const pairs *found, rs_result *result, rs_err *err) {
  const rs_answer_bins *bins = in->params;
  size_t *edges, count;
  for (size_t i = 0; i < LOSSES; i++) {
    rs_answers answers = rs_answers_all(&found->readings[i]);
    rs_answer_mean mean = rs_answers_mean(&answers, RS_ANSWER_LOSS);
    rs_result_answers(result, i, &mean);
  }
  RS_TRY(rs_log_edges(in->reading->answers + 1, bins->per_octave, &edges, &count, err));
  rs_status status = add_bins(found, edges, count, result, err);
  free(edges);
  return status;
}

static rs_status read(const rs_reading_in *in, rs_result *result, rs_err *err) {
  pairs found = {0};
  rs_status status = find_pairs(in, &found, err);
  if (status == RS_OK) status = report(in, &found, result, err);
  rs_arena_clear(&found.arena);
  return status;
}

static size_t curve_rows(const void *params, const rs_curve_in *in) {
  return rs_log_bins(in->length + 1, ((const rs_answer_bins *)params)->per_octave);
}

#define FIRST_COLUMN                                                                                                   \
  RS_COLUMN("first_loss_nats", "nats", "mean of -ln of the probability given to a token where it is said first",       \
            .sampled = true, .better = RS_LOWER)
#define SECOND_COLUMN                                                                                                  \
  RS_COLUMN("second_loss_nats", "nats", "the same of the same tokens where they are said again", .sampled = true,      \
            .better = RS_LOWER)
#define DIFFERENCE_COLUMN                                                                                              \
  RS_COLUMN("second_less_first_nats", "nats",                                                                          \
            "mean of the second loss less the first, pair by pair: 0 or more where nothing is copied, minus the "      \
            "first loss where all is",                                                                                 \
            .sampled = true, .better = RS_LOWER)

static const rs_column scalars[] = {[FIRST] = FIRST_COLUMN, [SECOND] = SECOND_COLUMN, [DIFFERENCE] = DIFFERENCE_COLUMN};

static const rs_column curve[] = {
    RS_COLUMN("distance_tokens", "tokens", "first distance of the bin, from a token to where it is said again",
              .integer = true, .log_axis = true),
    RS_COLUMN("distance_end_tokens", "tokens", "first distance past the bin", .integer = true, .map = RS_MAP_BIN_END),
    RS_COLUMN("targets", "", "how many tokens were said again at these distances", .integer = true,
              .map = RS_MAP_SAMPLES),
    FIRST_COLUMN,
    SECOND_COLUMN,
    DIFFERENCE_COLUMN,
};

static const rs_param specs[] = {
    {RS_FIELD(rs_answer_bins, per_octave), .unit = "1", .min = 1, .max = 64, .fallback = "4",
     .summary = "bins in each doubling of the distance; every distance while those are denser"},
};

const rs_metric_kind rs_metric_repeated_loss = {
    .kind = {.name = "repeated_loss",
             .summary = "loss of what is said again next to that of the same when it was said first, also against the "
                        "distance; of decoders",
             .reference = "sequences of random tokens, repeated: Elhage et al., A Mathematical Framework for "
                          "Transformer Circuits (2021); Olsson et al., arXiv:2209.11895",
             RS_KIND(specs, rs_answer_bins)},
    RS_SCALARS(scalars),
    RS_CURVE(curve, 3),
    .curve_rows = curve_rows,
    .read = read,
};
