/* ropescope solve evidence: what the evidence behind `solve setting` is worth, beside formulas and rules, on models
 * that are left out. */
#include "cli.h"

#include <math.h>

static void add_all(rs_doc *doc, const rs_evidence *evidence, const rs_judgement judgements[RS_PREDICTORS]) {
  rs_doc *list = rs_doc_add(doc, "predictors", RS_DOC_ARRAY);
  for (size_t p = 0; p < RS_PREDICTORS; p++) {
    const rs_judgement *j = &judgements[p];
    rs_doc *in = rs_doc_add(list, NULL, RS_DOC_OBJECT);
    rs_doc_put(in, DOC_WORDS("predictor", j->name), DOC_NUMBER("pairs_in_order", j->right),
               DOC_NUMBER("serious_pairs_in_order", j->serious), DOC_NUMBER("best_named_first", j->best),
               DOC_NUMBER("interval_coverage", j->coverage), DOC_NUMBER("pairs", j->pairs),
               DOC_NUMBER("serious_pairs", j->serious_pairs), DOC_NUMBER("tables", j->tables),
               DOC_NUMBER("rows", j->rows));
    rs_doc *groups = rs_doc_add(in, "pairs_in_order_of", RS_DOC_OBJECT);
    for (size_t g = 0; rs_evidence_group(evidence, g) != NULL; g++)
      rs_doc_put(groups, DOC_NUMBER(rs_evidence_group(evidence, g), j->group_right[g]));
    groups = rs_doc_add(in, "interval_coverage_of", RS_DOC_OBJECT);
    for (size_t g = 0; rs_evidence_group(evidence, g) != NULL; g++)
      rs_doc_put(groups, DOC_NUMBER(rs_evidence_group(evidence, g), j->group_covered[g]));
  }
}

/* The shares, and the share of pairs in each group that has any. */
static void put_table(const rs_evidence *evidence, const rs_judgement judgements[RS_PREDICTORS], rs_arena *arena,
                      rs_text *text) {
  rs_doc_column columns[5 + RS_EVIDENCE_GROUPS] = {
      {.key = "predictor", .title = "predictor"},
      {.key = "pairs", .title = "pairs", .digits = 2},
      {.key = "serious", .title = "serious", .digits = 2},
      {.key = "best", .title = "best", .digits = 2},
      {.key = "coverage", .title = "80 % interval", .none = "-", .digits = 2}};
  size_t count = 5;
  rs_doc *rows = rs_doc_new(arena, RS_DOC_ARRAY);
  for (size_t p = 0; p < RS_PREDICTORS; p++) {
    const rs_judgement *j = &judgements[p];
    rs_doc *in = rs_doc_add(rows, NULL, RS_DOC_OBJECT);
    rs_doc_put(in, DOC_WORDS("predictor", j->name), DOC_NUMBER("pairs", j->right), DOC_NUMBER("serious", j->serious),
               DOC_NUMBER("best", j->best), DOC_NUMBER("coverage", j->coverage));
    for (size_t g = 0; rs_evidence_group(evidence, g) != NULL; g++) {
      const char *name = rs_evidence_group(evidence, g);
      if (isnan(j->group_right[g])) continue;
      rs_doc_put(in, DOC_NUMBER(name, j->group_right[g]));
      if (p == 0) columns[count++] = (rs_doc_column){.key = name, .title = name, .digits = 2};
    }
  }
  rs_doc_table(rows, columns, count, 0, text);
  rs_text_printf(
      text,
      "pairs of ways in one table, more than two standard errors apart: %zu, %zu of them without the unchanged "
      "model and pi; %zu tables\nin the interval, of rows of each group:",
      judgements[0].pairs, judgements[0].serious_pairs, judgements[0].tables);
  const char *between = "";
  for (size_t g = 0; rs_evidence_group(evidence, g) != NULL; g++) {
    if (isnan(judgements[0].group_covered[g])) continue;
    rs_text_printf(text, "%s %s %.2f", between, rs_evidence_group(evidence, g), judgements[0].group_covered[g]);
    between = ",";
  }
  rs_text_printf(text, "; %zu rows\n", judgements[0].rows);
}

int cli_solve_evidence(const cli_options *options) {
  RS_OWNED(rs_arena) arena = {0};
  RS_HELD(rs_evidence) evidence = NULL;
  RS_OWNED(rs_text) text = {0};
  rs_judgement judgements[RS_PREDICTORS];
  rs_err err = {0};
  bool asks = options->length > 0 || options->hf != NULL || options->model != NULL || options->layers != NULL ||
              options->method != NULL || options->criterion != NULL || options->consumer != NULL || options->base > 0 ||
              options->head_dim > 0 || options->checkpoint != NULL;
  if (asks) return cli_error("solve evidence takes no other option than --json");
  if (cli_refuse_measuring(options) != CLI_OK) return CLI_USAGE;
  rs_status status = rs_evidence_load(&evidence, &err);
  if (status == RS_OK) status = rs_evidence_judge(evidence, judgements, &err);
  if (status != RS_OK) return cli_fail(status, NULL, &err);
  rs_doc *doc = rs_doc_new(&arena, RS_DOC_OBJECT);
  add_all(doc, evidence, judgements);
  if (options->json)
    rs_doc_json(doc, &text);
  else
    put_table(evidence, judgements, &arena, &text);
  text.failed |= arena.failed;
  return cli_put(&text, options->json ? CLI_DATA : CLI_TEXT);
}
