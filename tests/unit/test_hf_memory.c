/* test_hf_memory.c: each allocation fails in turn while a GGUF file becomes a config, layers, and a model. */
#include "../fixtures/heap.h"
#include "../fixtures/models.h"
#include "hf/hf.h"

static const char *path;

static rs_status use_layers(rs_err *err) {
  rs_profile profile;
  rs_status status = rs_profile_load(path, &profile, err);
  rs_profile_clear(&profile);
  return status;
}

static rs_status use_weights(rs_err *err) {
  rs_hf_checkpoint checkpoint;
  rs_transformer *transformer = NULL;
  rs_status status = rs_hf_checkpoint_read(path, &checkpoint, err);
  if (status == RS_OK) status = rs_hf_checkpoint_load(&checkpoint, path, RS_F32, false, &transformer, err);
  rs_transformer_free(transformer);
  rs_hf_checkpoint_clear(&checkpoint);
  return status;
}

static void survives(rs_status (*use)(rs_err *), const char *name) {
  long n = 0;
  refused = true;
  for (; refused; n++) {
    rs_err err = {0};
    long before = blocks;
    refused = false;
    allocations = n;
    rs_status status = use(&err);
    allocations = -1;
    cr_assert_eq(blocks, before, "%s, allocation %ld: %ld blocks leaked", name, n, blocks - before);
    cr_assert_eq(status, refused ? RS_MEMORY : RS_OK, "%s, allocation %ld: %d %s", name, n, (int)status, err.message);
    cr_assert_lt(n, 10000);
  }
  cr_expect_gt(n, 50, "%s: only %ld allocations", name, n);
}

Test(hf_memory, each_failing_allocation_of_a_gguf_file__is_survived_without_leak) {
  static const char *const models[] = {"llama3", "gemma2", "phi3_longrope", "falcon40b"}; /* gemma2's is noted */
  if (!COUNTS_MEMORY) cr_skip_test("malloc belongs to the sanitizer");
  spared_library = "libjansson."; /* it calls some failed allocations a syntax error */
  for (size_t i = 0; i < RS_COUNT(models); i++) {
    char file[64], kept[4096];
    snprintf(file, sizeof file, "%s/model.gguf", models[i]);
    snprintf(kept, sizeof kept, "%s", model_path(file));
    path = kept;
    survives(use_layers, models[i]);
    survives(use_weights, models[i]);
  }
}
