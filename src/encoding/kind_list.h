/* The kinds of each stage, in the order of `ropescope list`. A kind is one file, one line here and its name in
 * meson.build: what it declares and the tables of stages.c come from these lists. */
#ifndef ROPESCOPE_ENCODING_KIND_LIST_H
#define ROPESCOPE_ENCODING_KIND_LIST_H

/* clang-format off */

#define RS_FREQ_KINDS(kind) \
  kind(default) \
  kind(linear) \
  kind(ntk) \
  kind(ntk_fixed) \
  kind(ntk_mixed) \
  kind(ntk_by_parts) \
  kind(ntk_by_parts_v1) \
  kind(yarn) \
  kind(llama3) \
  kind(longrope) \
  kind(proportional) \
  kind(critical_base) \
  kind(dprope) \
  kind(riflex) \
  kind(xpos) \
  kind(axial) \
  kind(mixed) \
  kind(explicit)

#define RS_POS_KINDS(kind) \
  kind(identity) \
  kind(linear) \
  kind(self_extend) \
  kind(clamp) \
  kind(dual_chunk) \
  kind(string) \
  kind(random)

#define RS_EMBED_KINDS(kind) \
  kind(sinusoidal) \
  kind(learned) \
  kind(sinusoidal_2d) \
  kind(learned_2d)

/* The words of the common parameter `logit_scale`, after "none". */
#define RS_LSCALE_KINDS(kind) \
  kind(log_n) \
  kind(ssmax) \
  kind(llama4) \
  kind(ministral) \
  kind(entropy_invariant)

#define RS_BIAS_KINDS(kind) \
  kind(alibi) \
  kind(t5) \
  kind(relative) \
  kind(relative_2d) \
  kind(kerple) \
  kind(fire) \
  kind(sandwich)

#define RS_VECTOR_KINDS(kind) \
  kind(shaw) \
  kind(transformer_xl)

/* clang-format on */

#define RS_DECLARE_FREQ(name) extern const rs_freq_kind rs_freq_##name;
#define RS_DECLARE_POS(name) extern const rs_pos_kind rs_pos_##name;
#define RS_DECLARE_EMBED(name) extern const rs_embed_kind rs_embed_##name;
#define RS_DECLARE_LSCALE(name) extern const rs_lscale_kind rs_lscale_##name;
#define RS_DECLARE_BIAS(name) extern const rs_bias_kind rs_bias_##name;
#define RS_DECLARE_VECTORS(name) extern const rs_vector_kind rs_vectors_##name;

#endif
