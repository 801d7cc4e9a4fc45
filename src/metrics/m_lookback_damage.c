/* What a change of rotary angles costs a trained model that is not trained again, by a head that looks one token back:
 * a prediction from angles alone.
 *
 *   B = ln sum over keys m of exp(f K (c(m) - c(1))),   c(m) = 1/J sum_j cos(p(m) w'_j - w_j),   K = 2 ln L0
 *   loss_damage = O + 2 E + B/50,   needle_damage = O + B/10
 *
 * with O, E, J, w_j, w'_j, p(m) and f of zero_shot_damage. B is -ln of the weight that the last query gives to the key
 * before it, in a head whose content is turned so that plain RoPE at L0 tokens looks there, every pair as strong. Its
 * logit K stands above L0 unrelated keys so that they get 1/L0 together. One number so holds three losses: the near key
 * turned away, other keys turned into its place, and dispersion, which a factor f on the logits removes. To look
 * something up takes such a head (Olsson et al., arXiv:2209.11895), which is why needles may ask for more of B. K is an
 * argument, the weights 2, 1/50 and 1/10 are fits to small models: no law. */
#include "metric_list.h"

const rs_turn_costs rs_loss_weights = {.near = 2, .far = 0.02, .out = 1};
const rs_turn_costs rs_needle_weights = {.near = 0, .far = 0.1, .out = 1};

static rs_status finish(const rs_metric_in *in, const void *state, rs_result *result, rs_err *err) {
  (void)state;
  rs_turn_costs costs;
  RS_TRY(rs_turn_costs_find(in->encoding, &costs, err));
  result->value[0] = costs.far;
  result->value[1] = rs_turn_costs_sum(&costs, &rs_loss_weights);
  result->value[2] = rs_turn_costs_sum(&costs, &rs_needle_weights);
  return RS_OK;
}

static const rs_column scalars[] = {
    RS_COLUMN("lookback_nats", "nats",
              "-ln of the last query's weight on the key before it, in a head with logit 2 ln train_length that plain "
              "RoPE lets look there",
              .better = RS_LOWER),
    RS_COLUMN("loss_damage", "1",
              "new_angle_turns + 2 near_turn + lookback_nats / 50: orders changes of one model at one length by loss, "
              "and is no loss",
              .better = RS_LOWER),
    RS_COLUMN("needle_damage", "1", "new_angle_turns + lookback_nats / 10: orders them by needles that are missed",
              .better = RS_LOWER),
};

const rs_metric_kind rs_metric_lookback_damage = {
    .kind = {.name = "lookback_damage",
             .summary = "what a change of rotary angles costs a model that is not trained again, by a head that looks "
                        "one token back",
             .reference = "no paper's: fitted to two seeds of experiments/extend-without-training, put to the test in "
                          "experiments/what-predicts-loss",
             .version = 1},
    RS_SCALARS(scalars),
    .finish = finish,
};
