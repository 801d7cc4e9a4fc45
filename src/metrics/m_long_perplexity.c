/* Perplexity of the tokens that a long context helps to foretell. Of all tokens most follow from what stands just
 * before them, and hide what a model makes of the rest. With l the log-probability of a token given all that was read,
 * and s that given the last tokens alone, key tokens are those with l - s > alpha and l > beta; LongPPL is e^loss over
 * them (Fang et al., arXiv:2410.23771, section 3: long-short difference, long-context likelihood). */
#include "answers.h"

#include <math.h>
#include <stdlib.h>

typedef enum judge { JUDGE_TRAINED, JUDGE_METHOD, JUDGES } judge;
static const char *const judge_words[JUDGES + 1] = {[JUDGE_TRAINED] = "trained", [JUDGE_METHOD] = "method"};

typedef struct params {
  double alpha, beta;
  size_t context, step;
  judge keys;
} params;

static void cut(const void *given, rs_cut *wanted) {
  const params *p = given;
  *wanted = (rs_cut){.context = p->context, .step = p->step, .trained = p->keys == JUDGE_TRAINED};
}

enum { LOSS, PERPLEXITY, KEYS, SHARE };

/* The targets that are key tokens, RS_NO_TARGET for the others. *judged gets how many were compared. */
static int32_t *keep_keys(const rs_reading_in *in, double *judged, rs_err *err) {
  const params *p = in->params;
  const rs_reading *reading = in->reading;
  size_t count = reading->sequences * reading->answers;
  int32_t *targets = rs_alloc(count, sizeof *targets, err);
  unsigned parts = rs_stream_parts(in->task->kind);
  *judged = 0;
  for (size_t i = 0; i < count && targets != NULL; i++) {
    bool asked = reading->targets[i] != RS_NO_TARGET && (parts >> reading->parts[i] & 1) != 0;
    double gain = in->cut[i] - in->whole[i]; /* l - s of losses, which are -l and -s; NaN where nothing was cut */
    targets[i] = asked && gain > p->alpha && -in->whole[i] > p->beta ? reading->targets[i] : RS_NO_TARGET;
    *judged += asked && !isnan(gain);
  }
  return targets;
}

static rs_status read(const rs_reading_in *in, rs_result *result, rs_err *err) {
  double judged;
  rs_reading keys = *in->reading;
  keys.targets = keep_keys(in, &judged, err);
  if (keys.targets == NULL) return RS_MEMORY;
  rs_answers answers = rs_answers_all(&keys);
  rs_answer_mean loss = rs_answers_mean(&answers, RS_ANSWER_LOSS);
  rs_result_answers(result, LOSS, &loss);
  result->value[PERPLEXITY] = exp(loss.mean);
  result->value[KEYS] = loss.targets;
  result->value[SHARE] = judged > 0 ? loss.targets / judged : NAN;
  free(keys.targets);
  return RS_OK;
}

static const rs_param specs[] = {
    {RS_FIELD(params, alpha), .unit = "nats", .min = 0, .max = 100, .fallback = "2",
     .summary = "key tokens gain more than this from what the short context lacks (2: the paper)"},
    {RS_FIELD(params, beta), .unit = "nats", .min = -100, .max = 0, .fallback = "-2",
     .summary = "and have a log-probability above this with all of it (-2: the paper)"},
    {RS_FIELD(params, context), .unit = "tokens", .min = 1, .max = 1e9, .fallback = "4096",
     .summary = "the short context: so many last tokens, or up to `step` - 1 more (4096: the paper)"},
    {RS_FIELD(params, step), .unit = "tokens", .min = 1, .max = 1e9, .fallback = "1024",
     .summary = "targets that share where their short context begins (1024: the paper)"},
    {RS_FIELD(params, keys), .unit = "", RS_WORDS(judge_words), .fallback = "trained",
     .summary = "who finds the key tokens: the model as it was trained, the same for all methods; or each method its "
                "own, for lengths at which the trained one says nothing any more"},
};

static const rs_column scalars[] = {
    [LOSS] = RS_COLUMN("long_loss_nats", "nats",
                       "mean of -ln of the probability given to the key tokens: those that the long context makes more "
                       "likely than the short one",
                       .sampled = true, .better = RS_LOWER),
    [PERPLEXITY] = RS_COLUMN("long_perplexity", "1", "e^long_loss (LongPPL)", .log_axis = true, .better = RS_LOWER),
    [KEYS] = RS_COLUMN("key_tokens", "", "how many key tokens there are", .integer = true, .log_axis = true),
    [SHARE] = RS_COLUMN("key_token_share", "1",
                        "of the targets whose context was cut; empty where none is longer than the short context"),
};

const rs_metric_kind rs_metric_long_perplexity = {
    .kind = {.name = "long_perplexity",
             .summary = "perplexity of the tokens that a long context helps to foretell (LongPPL)",
             .reference = "Fang et al., arXiv:2410.23771, section 3 (LSD, LCL, LongPPL)",
             RS_KIND(specs, params)},
    RS_SCALARS(scalars),
    .cut = cut,
    .read = read,
};
