/* test_gguf_models.c: GGUF models with wrong bytes in their heads: whatever metadata and tensors then say, a model
 * comes of it, or a failure with a reason. */
#include "../fixtures/models.h"
#include "../fixtures/scratch.h"
#include "../fixtures/tensor_files.h"
#include "hf/hf.h"

#include <stdlib.h>

enum { ROUNDS = 500 };

static uint64_t draw(uint64_t *state) {
  *state = *state * 6364136223846793005U + 1442695040888963407U;
  return *state >> 33;
}

/* One to three bytes of the head become others; digits, and bytes of small numbers, more often than any. */
static void change(char *head, size_t length, uint64_t *state) {
  static const char likely[] = "\0\1\2\3\4\7\10\40\377019.el";
  for (uint64_t i = draw(state) % 3 + 1; i > 0; i--)
    head[draw(state) % length] = draw(state) % 2 == 0 ? likely[draw(state) % (sizeof likely - 1)] : (char)draw(state);
}

static size_t read_model(const char *path) {
  rs_profile profile;
  rs_hf_checkpoint checkpoint;
  rs_transformer *transformer = NULL;
  rs_err err = {0};
  if (rs_profile_load(path, &profile, &err) != RS_OK) cr_expect_neq(err.message[0], '\0');
  rs_profile_clear(&profile);
  err = (rs_err){0};
  rs_status status = rs_hf_checkpoint_read(path, &checkpoint, &err);
  if (status == RS_OK) status = rs_hf_checkpoint_load(&checkpoint, path, RS_F32, false, &transformer, &err);
  cr_expect((status == RS_OK) == (transformer != NULL));
  cr_expect(status == RS_OK || err.message[0] != '\0');
  rs_transformer_free(transformer);
  rs_hf_checkpoint_clear(&checkpoint);
  return status == RS_OK;
}

Test(gguf_models, wrong_bytes__are_read_or_refused_with_a_reason) {
  static const char *const models[] = {"llama_small_q8_0", "llama3", "gemma3", "phi3_longrope", "falcon40b", "mpt"};
  uint64_t state = 34;
  size_t well = 0;
  enter_scratch();
  for (size_t m = 0; m < RS_COUNT(models); m++) {
    char file[64], *data;
    size_t length;
    rs_err err = {0};
    snprintf(file, sizeof file, "%s/model.gguf", models[m]);
    cr_assert_eq(rs_file_read(model_path(file), RS_LARGEST_FILE, &data, &length, &err), RS_OK, "%s", err.message);
    char *changed = malloc(length);
    for (int i = 0; i < ROUNDS; i++) {
      memcpy(changed, data, length);
      change(changed + 8, 2000 < length / 2 ? 2000 : length / 2, &state);
      put_bytes("m.gguf", changed, length);
      well += read_model("m.gguf");
    }
    free(changed);
    free(data);
  }
  cr_expect(well > 100 && well < ROUNDS * RS_COUNT(models) - 100, "%zu are read", well);
}
