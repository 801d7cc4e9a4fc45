/* The tables of kinds, one per stage, from the lists of kind_list.h. */
#include "kinds.h"

#define FREQ(name) &rs_freq_##name,
#define POS(name) &rs_pos_##name,
#define EMBED(name) &rs_embed_##name,
#define LSCALE(name) &rs_lscale_##name,
#define BIAS(name) &rs_bias_##name,

static const rs_freq_kind *const freq_kinds[] = {RS_FREQ_KINDS(FREQ)};
static const rs_pos_kind *const pos_kinds[] = {RS_POS_KINDS(POS)};
static const rs_embed_kind *const embed_kinds[] = {RS_EMBED_KINDS(EMBED)};
static const rs_lscale_kind *const lscale_kinds[] = {RS_LSCALE_KINDS(LSCALE)};
static const rs_bias_kind *const bias_kinds[] = {RS_BIAS_KINDS(BIAS)};

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

const rs_lscale_kind *rs_lscale_kind_of(const rs_common_params *params) {
  return params->logit_scale > RS_LSCALE_NONE ? lscale_kinds[params->logit_scale - 1] : NULL;
}

const rs_lscale_kind *rs_lscale_chosen(const rs_settings *settings) {
  rs_common_params common;
  rs_common_bind(settings, &common);
  return rs_lscale_kind_of(&common);
}
