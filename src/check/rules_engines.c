/* RS6: what engines and their releases make of the file that is not the same. */
#include "rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { DIFFERS, CANNOT, RELEASES, LAYERED_TRUNCATE };

static const rs_rule rules[] = {
    [DIFFERS] = {"RS601", "engines-differ", RS_WARNING,
                 "an engine makes other frequencies or another attention factor of the file than transformers",
                 "docs/dialects.md"},
    [CANNOT] = {"RS602", "engine-cannot", RS_WARNING, "an engine has no way to say what the file says",
                "docs/dialects.md"},
    [RELEASES] = {"RS603", "releases-differ", RS_NOTE,
                  "transformers up to 4.50 left the original length unread, and 4.51 to 4.55 took the ratio of the "
                  "lengths for the factor",
                  "github.com/huggingface/transformers/issues/38224, /pull/40320"},
    [LAYERED_TRUNCATE] = {"RS604", "truncate-by-layers", RS_WARNING,
                          "transformers 5 does not read truncate where rope_parameters differ by type of layers",
                          "transformers decba1d2ea4e, modeling_rope_utils.py:474"},
};

static const struct {
  const char *dialect, *name;
} engines[] = {{"vllm", "vLLM (239b5ff30cf4; YaRN is transformers' from its #56446 on)"},
               {"llamacpp", "llama.cpp (c55d53acec86)"}};

static rs_status find_difference(const rs_checked *checked, size_t engine, const rs_spectrum *ours,
                                 rs_findings *findings, rs_err *err) {
  rs_spectrum theirs = {0};
  rs_err why = {0};
  const rs_node *node = checked->rope_count > 0 ? checked->ropes[0].node : NULL;
  const char *path = checked->rope_count > 0 ? checked->ropes[0].path : NULL;
  rs_status status = rs_spectrum_as(checked->model, engines[engine].dialect, &theirs, &why);
  if (status == RS_MEMORY) return rs_fail(err, RS_MEMORY, "%s", why.message);
  if (status != RS_OK)
    return rs_find(findings, &rules[CANNOT], node, path, NULL, err, "%s: %s", engines[engine].name, why.message);
  rs_difference d = rs_spectrum_compare(ours, &theirs, 1e-6);
  char frequencies[120] = "", factors[120] = "", softmax[120] = "";
  if (d.differs & RS_DIFFERS_FREQUENCY)
    snprintf(frequencies, sizeof frequencies, "%zu of %zu frequencies differ, by up to %.3g %% (pair %zu)", d.count,
             ours->pairs, 100 * d.largest, d.worst);
  if (ours->amp != theirs.amp)
    snprintf(factors, sizeof factors, "%scos and sin are multiplied by %.6g, not %.6g", *frequencies ? "; " : "",
             theirs.amp, ours->amp);
  if (ours->logit_factor != theirs.logit_factor)
    snprintf(softmax, sizeof softmax, "%sthe softmax scale by %.6g, not %.6g", *frequencies || *factors ? "; " : "",
             theirs.logit_factor, ours->logit_factor);
  if (d.differs & (RS_DIFFERS_FREQUENCY | RS_DIFFERS_AMPLITUDE))
    status = rs_find(findings, &rules[DIFFERS], node, path, NULL, err, "%s: %s%s%s", engines[engine].name, frequencies,
                     factors, softmax);
  rs_spectrum_clear(&theirs);
  return status;
}

static rs_status find_differences(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  rs_spectrum ours = {0};
  rs_err why = {0};
  const rs_model *model = checked->model;
  if (model == NULL || model->published.method == NULL || model->published.method->freq == NULL) return RS_OK;
  rs_status status = rs_spectrum_as(model, NULL, &ours, &why);
  if (status == RS_MEMORY) return rs_fail(err, RS_MEMORY, "%s", why.message);
  if (status != RS_OK) return RS_OK; /* what is wrong with it has been said */
  for (size_t i = 0; i < RS_COUNT(engines) && status == RS_OK; i++)
    if (rs_engine_reads(checked, engines[i].dialect)) status = find_difference(checked, i, &ours, findings, err);
  rs_spectrum_clear(&ours);
  return status;
}

static rs_status find_releases(const rs_checked *checked, const rs_rope_entry *rope, rs_findings *findings,
                               rs_err *err) {
  const rs_node *original = rs_original_of(checked, rope), *maximum = rs_maximum_of(checked);
  double factor = rs_key_number(rope->node, "factor");
  double ratio = rs_node_number(maximum) / rs_node_number(original);
  if (rope->known == NULL || strcmp(rope->known->type, "yarn") != 0 || original == NULL) return RS_OK;
  if (ratio == 1 && factor > 1)
    return rs_find(findings, &rules[RELEASES], original, NULL, NULL, err,
                   "the original length is max_position_embeddings: transformers 4.51 to 4.55 took their ratio 1 for "
                   "the factor and scaled nothing; others take the factor %g",
                   factor);
  if (!(ratio > 1) || !rs_is_in_4_50(checked)) return RS_OK;
  return rs_find(findings, &rules[RELEASES], original, NULL, NULL, err,
                 "transformers up to 4.50 took max_position_embeddings = %s for the length of training, not %s",
                 maximum->text, original->text);
}

static rs_status find(const rs_checked *checked, rs_findings *findings, rs_err *err) {
  RS_TRY(find_differences(checked, findings, err));
  for (size_t r = 0; r < checked->rope_count; r++) {
    const rs_rope_entry *rope = &checked->ropes[r];
    const char *truncate = rs_key_word(rope->node, "truncate");
    RS_TRY(find_releases(checked, rope, findings, err));
    if (strchr(rope->path, '.') == NULL || truncate == NULL || strcmp(truncate, "false") != 0) continue;
    rs_path path = rs_key_path(rope, "truncate");
    RS_TRY(rs_find(findings, &rules[LAYERED_TRUNCATE], rs_key(rope->node, "truncate"), path.text, NULL, err,
                   "transformers 5 rounds the ends of the ramp all the same: it looks for truncate beside the types of "
                   "layers"));
  }
  return RS_OK;
}

const rs_rule_group rs_rules_engines = {rules, RS_COUNT(rules), find};
