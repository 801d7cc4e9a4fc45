/* gguf.c: a file of GGUF. What is read lies within it, and a part of a tensor is what all of it has there. */
#include "fuzz.h"

#include "io/io.h"

enum { MOST = 1024 };

static void read_tensor(const rs_safetensors *checkpoint, const rs_stored_tensor *tensor, size_t size) {
  float all[MOST], part[MOST];
  rs_err err = {0}, why = {0}, beyond = {0};
  size_t count = tensor->count < MOST ? tensor->count : MOST, first = count / 3, some = (count - first) / 2;
  LAW(rs_safetensors_find(checkpoint, tensor->name) == tensor);
  LAW(tensor->count > 0 && tensor->bytes > 0 && tensor->bytes <= size && tensor->rank <= 4);
  rs_status status = rs_stored_floats(tensor, 0, count, all, &err);
  fuzz_says_why(status, &err);
  rs_status again = rs_stored_floats(tensor, first, some, part, &why);
  fuzz_says_why(again, &why);
  LAW(status != RS_OK || (again == RS_OK && memcmp(part, all + first, some * sizeof *part) == 0));
  (void)!rs_stored_floats(tensor, tensor->count - count, count, all, NULL);
  LAW(rs_stored_floats(tensor, tensor->count, 1, all, &beyond) != RS_OK);
}

/* What is a number says so, and every node where it stands. */
static void read_node(const rs_node *node) {
  double number;
  LAW((node->kind == RS_SCALAR) == (node->text != NULL) && strcmp(node->file, "model.gguf") == 0);
  if (node->kind == RS_SCALAR && !node->quoted && strcmp(node->text, "true") != 0 && strcmp(node->text, "false") != 0)
    LAW(rs_number_read(node->text, &number));
  for (size_t i = 0; i < node->count; i++) {
    LAW(node->items[i].parent == node && (node->items[i].key != NULL) == (node->kind == RS_MAPPING));
    read_node(&node->items[i]);
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  rs_gguf *gguf = NULL;
  rs_err err = {0};
  fuzz_file("model.gguf", data, size);
  LAW(rs_gguf_is("model.gguf") == (size >= 4 && memcmp(data, "GGUF", 4) == 0));
  rs_status status = rs_gguf_open("model.gguf", &gguf, &err);
  fuzz_says_why(status, &err);
  LAW((status == RS_OK) == (gguf != NULL));
  if (gguf == NULL) return 0;
  read_node(rs_gguf_metadata(gguf));
  LAW(rs_gguf_array_count(gguf, "tokenizer.t") <= size);
  const rs_safetensors *checkpoint = rs_gguf_checkpoint(gguf);
  for (size_t i = 0; i < checkpoint->count; i++) read_tensor(checkpoint, &checkpoint->tensors[i], size);
  rs_gguf_close(gguf);
  return 0;
}
