/* A GGUF file on its way to the config.json that says the same: what its readers share. */
#ifndef ROPESCOPE_HF_GGUF_H
#define ROPESCOPE_HF_GGUF_H

#include "architectures.h"

/* What architectures differ in, beside names. */
enum {
  RS_GGUF_RMS = 1,          /* norms by the root of the mean square; else layer norms */
  RS_GGUF_UNTURNED = 2,     /* no rotation */
  RS_GGUF_PARTIAL = 4,      /* part of a head may turn */
  RS_GGUF_SECTIONS = 8,     /* pairs read time, row and column */
  RS_GGUF_FREQUENCIES = 16, /* llama.cpp reads rope_freqs.weight */
  RS_GGUF_WINDOWS = 32      /* llama.cpp has windows in some layers */
};

/* An architecture of llama.cpp's whose files are read. */
typedef struct rs_gguf_row {
  const char *architecture, *model_type; /* general.architecture; what config.json calls the same */
  unsigned traits;
  size_t window, pattern; /* of a file that does not say them; 0: none */
  size_t squared_layers;  /* a model of so many divides scores by sqrt(d / heads), others by sqrt(D); 0: no matter */
  const rs_hf_name *names;
  const char *const *ignored; /* parts of names of tensors that are no weights; ends at NULL */
} rs_gguf_row;

/* The row of an architecture, or NULL; and row `index`, NULL past the last. */
const rs_gguf_row *rs_gguf_row_of(const char *architecture);
const rs_gguf_row *rs_gguf_row_at(size_t index);

enum { RS_GGUF_MOST = 1 << 24 }; /* of any size */

/* A file that is being read. */
typedef struct rs_gguf_reader {
  const rs_gguf *file;
  const rs_node *metadata;
  const rs_gguf_row *row;
  bool *read; /* (metadata->count,) */
  rs_problems problems;
  rs_text notes; /* what was guessed, ignored or recovered, "; " between two */
  rs_json *json;
  size_t head_dim, turned, context;
  bool windowed;      /* some layers have a window */
  double attn_factor; /* rope.scaling.attn_factor; 0: not read */
} rs_gguf_reader;

/* A key by its whole name, and the key behind "ARCHITECTURE.": NULL where there is none; it counts as read. */
const rs_node *rs_gguf_any_key(rs_gguf_reader *r, const char *key);
const rs_node *rs_gguf_key(rs_gguf_reader *r, const char *name);

/* A number of such a key, `fallback` where there is none. What is wrong is a problem. */
size_t rs_gguf_count(rs_gguf_reader *r, const char *name, double least, size_t fallback);
double rs_gguf_real(rs_gguf_reader *r, const char *name, double least, double most, double fallback);

/* Adds a note. */
void rs_gguf_note(rs_gguf_reader *r, const char *format, ...) RS_PRINTF(2, 3);

/* A tensor of the file, or NULL. */
const rs_stored_tensor *rs_gguf_tensor(const rs_gguf_reader *r, const char *name);

/* Writes the base, the part of a head that turns, and the rope dictionary; tensors of positions that llama.cpp does not
 * read are problems, of every architecture. */
rs_status rs_gguf_write_rope(rs_gguf_reader *r, rs_err *err);

/* The llama3 recipe by whose factors pairs are divided (count,): what divides the frequencies of a base. */
typedef struct rs_llama3 {
  double factor, low, high, original;
} rs_llama3;

/* Whether these are the factors of such a recipe in float, and of which; `original` 0: it is not known. */
bool rs_llama3_fit(const double *factors, size_t count, double theta, double original, rs_llama3 *recipe);

#endif
