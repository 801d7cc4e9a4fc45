/* The tables of kinds, one per stage: adding a kind is one file and one line here. */
#include "kinds.h"

static const rs_freq_kind *const freq_kinds[] = {
    &rs_freq_default,      &rs_freq_linear,          &rs_freq_ntk,    &rs_freq_ntk_fixed, &rs_freq_ntk_mixed,
    &rs_freq_ntk_by_parts, &rs_freq_ntk_by_parts_v1, &rs_freq_yarn,   &rs_freq_llama3,    &rs_freq_longrope,
    &rs_freq_proportional, &rs_freq_critical_base,   &rs_freq_dprope, &rs_freq_xpos,      &rs_freq_axial,
    &rs_freq_mixed,        &rs_freq_explicit,
};

static const rs_pos_kind *const pos_kinds[] = {
    &rs_pos_identity,   &rs_pos_linear, &rs_pos_self_extend, &rs_pos_clamp,
    &rs_pos_dual_chunk, &rs_pos_string, &rs_pos_random,
};

static const rs_embed_kind *const embed_kinds[] = {
    &rs_embed_sinusoidal,
    &rs_embed_learned,
    &rs_embed_sinusoidal_2d,
    &rs_embed_learned_2d,
};

/* In the order of the words of the common parameter `logit_scale` after "none" (params.c). */
static const rs_lscale_kind *const lscale_kinds[] = {
    &rs_lscale_log_n, &rs_lscale_ssmax, &rs_lscale_llama4, &rs_lscale_ministral, &rs_lscale_entropy_invariant,
};

static const rs_bias_kind *const bias_kinds[] = {
    &rs_bias_alibi,      &rs_bias_t5,           &rs_bias_relative, &rs_bias_relative_2d,
    &rs_bias_kerple_log, &rs_bias_kerple_power, &rs_bias_fire,     &rs_bias_sandwich,
};

const rs_freq_kind *const *rs_freq_kinds(size_t *count) {
  *count = RS_COUNT(freq_kinds);
  return freq_kinds;
}

const rs_pos_kind *const *rs_pos_kinds(size_t *count) {
  *count = RS_COUNT(pos_kinds);
  return pos_kinds;
}

const rs_embed_kind *const *rs_embed_kinds(size_t *count) {
  *count = RS_COUNT(embed_kinds);
  return embed_kinds;
}

const rs_lscale_kind *const *rs_lscale_kinds(size_t *count) {
  *count = RS_COUNT(lscale_kinds);
  return lscale_kinds;
}

const rs_bias_kind *const *rs_bias_kinds(size_t *count) {
  *count = RS_COUNT(bias_kinds);
  return bias_kinds;
}

const rs_lscale_kind *rs_lscale_chosen(const rs_settings *settings) {
  int word = rs_setting_choice(settings, "logit_scale"); /* 0: none */
  return word > 0 ? lscale_kinds[word - 1] : NULL;
}

bool rs_always_by_distance(const rs_encoding *encoding) {
  (void)encoding;
  return true;
}
