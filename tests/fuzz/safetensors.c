/* safetensors.c: a checkpoint of one file, or of an index (the input begins with '#') whose shard is good. */
#include "fuzz.h"

#include "io/io.h"

enum { MOST = 64 };

static void write_shard(void) {
  static const float numbers[] = {1, -2, 3};
  const rs_tensor_numbers tensors[] = {{"a", RS_DTYPE_F32, 1, &(size_t){2}, numbers, NULL},
                                       {"b", RS_DTYPE_BF16, 1, &(size_t){3}, numbers, NULL}};
  rs_err err = {0};
  fuzz_file("part.safetensors", "", 0);
  LAW(rs_safetensors_write("part.safetensors", tensors, RS_COUNT(tensors), &err) == RS_OK);
}

static void read_tensor(const rs_safetensors *checkpoint, const rs_stored_tensor *tensor) {
  double wide[MOST];
  float narrow[MOST];
  rs_err err = {0}, why = {0}, beyond = {0};
  size_t count = tensor->count < MOST ? tensor->count : MOST;
  if (tensor->name != NULL) LAW(rs_safetensors_find(checkpoint, tensor->name) == tensor);
  fuzz_says_why(rs_stored_doubles(tensor, tensor->count - count, count, wide, &err), &err);
  fuzz_says_why(rs_stored_floats(tensor, 0, count, narrow, &why), &why);
  LAW(rs_stored_doubles(tensor, tensor->count, 1, wide, &beyond) != RS_OK);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  static bool ready;
  const char *name = size > 0 && data[0] == '#' ? "model.safetensors.index.json" : "model.safetensors";
  size_t skipped = size > 0 && data[0] == '#';
  rs_safetensors *checkpoint = NULL;
  rs_err err = {0};
  if (!ready) write_shard();
  ready = true;
  fuzz_file(name, data + skipped, size - skipped);
  rs_status status = rs_safetensors_map(name, &checkpoint, &err);
  fuzz_says_why(status, &err);
  LAW((status == RS_OK) == (checkpoint != NULL));
  for (size_t i = 0; status == RS_OK && i < checkpoint->count; i++) read_tensor(checkpoint, &checkpoint->tensors[i]);
  rs_safetensors_free(checkpoint);
  return 0;
}
