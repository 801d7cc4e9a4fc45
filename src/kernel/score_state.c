/* What a tile of queries has seen, between calls of the kernel. */
#include "kernel/kernel.h"

#include <math.h>
#include <string.h>

static const double NOTHING = -1e30; /* below every logit; see scores.c */

void rs_score_state_reset(rs_score_state *state, size_t bins, size_t lanes) {
  rs_score_state fresh = {.bin_weight = state->bin_weight,
                          .bin_keys = state->bin_keys,
                          .bin_mean = state->bin_mean,
                          .bin_squares = state->bin_squares};
  *state = fresh;
  for (size_t lane = 0; lane < RS_SCORE_LANES; lane++) state->reference[lane] = state->top[lane] = NOTHING;
  memset(state->bin_weight, 0, bins * lanes * sizeof *state->bin_weight);
  if (state->bin_keys == NULL) return;
  memset(state->bin_keys, 0, bins * lanes * sizeof *state->bin_keys);
  memset(state->bin_mean, 0, bins * lanes * sizeof *state->bin_mean);
  memset(state->bin_squares, 0, bins * lanes * sizeof *state->bin_squares);
}

void rs_score_state_move(rs_score_state *state, size_t bins, size_t lanes, size_t lane, double reference) {
  double up = reference - state->reference[lane], factor = exp2(-up), mass = 0;
  for (size_t bin = 0; bin < bins; bin++) mass += state->bin_weight[bin * lanes + lane];
  state->spread[lane] = factor * (state->spread[lane] - up * mass);
  for (size_t bin = 0; bin < bins; bin++) state->bin_weight[bin * lanes + lane] *= factor;
  state->sink[lane] *= factor;
  state->reference[lane] = reference;
}

void rs_score_state_note(rs_score_state *state, size_t place, double keys, double mean, double squares) {
  double total = state->bin_keys[place] + keys, apart = mean - state->bin_mean[place];
  if (keys == 0) return;
  state->bin_squares[place] += squares + apart * apart * state->bin_keys[place] * keys / total;
  state->bin_mean[place] += apart * keys / total;
  state->bin_keys[place] = total;
}

static void join_lane(rs_score_state *into, const rs_score_state *from, size_t bins, size_t lanes, size_t lane) {
  double up = from->reference[lane] - into->reference[lane];
  if (up > 0) rs_score_state_move(into, bins, lanes, lane, from->reference[lane]);
  up = into->reference[lane] - from->reference[lane];
  double factor = exp2(-up), mass = 0;
  for (size_t place = lane; place < bins * lanes; place += lanes) {
    mass += from->bin_weight[place];
    into->bin_weight[place] += factor * from->bin_weight[place];
    if (into->bin_keys != NULL)
      rs_score_state_note(into, place, from->bin_keys[place], from->bin_mean[place], from->bin_squares[place]);
  }
  into->spread[lane] += factor * (from->spread[lane] - up * mass);
  into->sink[lane] += factor * from->sink[lane];
  into->rank[lane] += from->rank[lane];
  bool first = from->argmax[lane] < into->argmax[lane];
  if (from->top[lane] < into->top[lane] || (from->top[lane] == into->top[lane] && !first)) return;
  into->top[lane] = from->top[lane];
  into->argmax[lane] = from->argmax[lane];
}

void rs_score_state_join(rs_score_state *into, const rs_score_state *from, size_t bins, size_t lanes, size_t count) {
  for (size_t lane = 0; lane < count; lane++) join_lane(into, from, bins, lanes, lane);
}
