/* Keys and tensors of a GGUF file that is being read, and notes on it. */
#include "gguf.h"

#include <stdarg.h>
#include <stdio.h>

const rs_node *rs_gguf_any_key(rs_gguf_reader *r, const char *key) {
  const rs_node *node = rs_node_get(r->metadata, key);
  if (node != NULL) r->read[node - r->metadata->items] = true;
  return node;
}

const rs_node *rs_gguf_key(rs_gguf_reader *r, const char *name) {
  char key[160];
  snprintf(key, sizeof key, "%s.%s", r->row->architecture, name);
  return rs_gguf_any_key(r, key);
}

size_t rs_gguf_count(rs_gguf_reader *r, const char *name, double least, size_t fallback) {
  const rs_node *node = rs_gguf_key(r, name);
  return node != NULL ? rs_read_count(&r->problems, node, least, RS_GGUF_MOST, fallback) : fallback;
}

double rs_gguf_real(rs_gguf_reader *r, const char *name, double least, double most, double fallback) {
  const rs_node *node = rs_gguf_key(r, name);
  return node != NULL ? rs_read_real(&r->problems, node, least, most, fallback) : fallback;
}

void rs_gguf_note(rs_gguf_reader *r, const char *format, ...) {
  char note[512];
  va_list words;
  va_start(words, format);
  rs_message_print(note, sizeof note, false, format, words);
  va_end(words);
  rs_text_printf(&r->notes, "%s%s", r->notes.length > 0 ? "; " : "", note);
}

const rs_stored_tensor *rs_gguf_tensor(const rs_gguf_reader *r, const char *name) {
  return rs_safetensors_find(rs_gguf_checkpoint(r->file), name);
}
