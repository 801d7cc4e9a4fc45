/* Each allocation of a check and of a portrait fails in turn. */
#include <criterion/criterion.h>
#include <string.h>

#include "../fixtures/heap.h"
#include "advice/advice.h"

static const char yarn[] =
    "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 8, \"num_hidden_layers\": 2, "
    "\"max_position_embeddings\": 64, \"sliding_window\": 8, \"rope_local_base_freq\": 100.0, "
    "\"layer_types\": [\"sliding_attention\", \"full_attention\"], \"rope_scaling\": {\"rope_type\": \"yarn\", "
    "\"factor\": 4.0, \"original_max_position_embeddings\": 16, \"attention_factor\": 2.0, \"truncate\": false}}";
static const char alibi[] =
    "{\"model_type\": \"mpt\", \"d_model\": 64, \"n_heads\": 4, \"n_layers\": 2, \"max_seq_len\": 64, "
    "\"attn_config\": {\"alibi\": true, \"alibi_bias_max\": 16}}";
static const char *config;
static const char *kind; /* of layers that turn; NULL: a bias has no frequencies to be viewed */

static rs_status use_check(rs_err *err) {
  rs_findings findings;
  rs_status status = rs_check(config, strlen(config), "config.json", 0, &findings, err);
  rs_findings_clear(&findings);
  return status;
}

static rs_status use_portrait(rs_err *err) {
  rs_portrait portrait;
  rs_view view = {0};
  rs_status status = rs_portrait_read(config, strlen(config), "config.json", kind, &portrait, err);
  if (status == RS_OK && kind != NULL) status = rs_view_make(&portrait, 32, &view, err);
  rs_view_clear(&view);
  rs_portrait_clear(&portrait);
  return status;
}

/* So many of the allocations may fail unnoticed. */
static void survives(rs_status (*use)(rs_err *), long unnoticed, const char *name) {
  refused = true;
  for (long n = 0; refused; n++) {
    rs_err err = {0};
    long before = blocks;
    refused = false;
    allocations = n;
    rs_status status = use(&err);
    allocations = -1;
    cr_assert_eq(blocks, before, "%s, allocation %ld: %ld blocks leaked", name, n, blocks - before);
    unnoticed -= refused && status == RS_OK;
    cr_assert_geq(unnoticed, 0, "%s, allocation %ld fails unnoticed", name, n);
    cr_assert(status == (refused ? RS_MEMORY : RS_OK) || status == RS_OK, "%s, allocation %ld: %d %s", name, n,
              (int)status, err.message);
    cr_assert_lt(n, 10000);
  }
}

Test(check_memory, each_failing_allocation__is_survived_without_leak) {
  if (!COUNTS_MEMORY) cr_skip_test("malloc belongs to the sanitizer");
  spared_library = "libjansson."; /* it calls some failed allocations a syntax error */
  config = yarn, kind = "full_attention";
  survives(use_check, 1, "check"); /* of qsort, which sorts in place then */
  survives(use_portrait, 0, "portrait");
  config = alibi, kind = NULL;
  survives(use_check, 1, "check of a bias");
  survives(use_portrait, 0, "portrait of a bias");
}
