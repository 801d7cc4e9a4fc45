/* io/io.h: files in and out. YAML and JSON become a tree in which every node knows its line and column; CSV and
 * text go out whole or not at all. Uses base alone. */
#ifndef ROPESCOPE_IO_H
#define ROPESCOPE_IO_H

#include "base/base.h"

/* ---- trees ------------------------------------------------------------------------------------------------------- */

typedef enum rs_node_kind { RS_SCALAR, RS_SEQUENCE, RS_MAPPING } rs_node_kind;

typedef struct rs_node rs_node;
struct rs_node {
  rs_node_kind kind;
  char *text;            /* scalar: its text; else NULL. Owned. */
  bool quoted;           /* scalar written in quotes: text, never a number */
  const char *file;      /* name to print in messages; borrowed from the tree */
  size_t line, column;   /* 1-based, of the value */
  char *key;             /* the key of this node within a mapping, else NULL. Owned. */
  const rs_node *parent; /* see rs_node_adopt; NULL: the root. One that is a scalar is what this tree was read from */
  size_t key_line, key_column;
  rs_node *items; /* children (count), in order of appearance. Owned. */
  size_t count, capacity;
};

typedef struct rs_tree {
  char *file;
  rs_node root;
} rs_tree;

/* Reads one YAML document. `name` stands in messages, `text` may hold anything (length) and is not NULL. RS_INPUT as
 * "name:line:column: why (hint)", one line, for bad syntax or encoding, an empty or a second document, an anchor,
 * alias, tag, merge key, a key that is empty, no scalar or given twice, a NUL character, collections nested deeper than
 * 32, more than 100,000 nodes (the root is one, keys are none). A value left out (`key:`) is an unquoted scalar "". On
 * failure *tree is NULL. Release with rs_tree_free. */
rs_status rs_yaml_read(const char *text, size_t length, const char *name, rs_tree **tree, rs_err *err)
    RS_NONNULL(1, 3, 4);

/* The same for JSON; strings count as quoted. Whole numbers become decimal text, others what rs_number_format gives,
 * true, false and null the unquoted words. Too many nodes are reported
 * without a place. */
rs_status rs_json_read(const char *text, size_t length, const char *name, rs_tree **tree, rs_err *err)
    RS_NONNULL(1, 3, 4);

/* That of the file folder/name (`name` alone where the folder is ""), of at most `limit` bytes. */
rs_status rs_json_load(const char *folder, const char *name, size_t limit, rs_tree **tree, rs_err *err)
    RS_NONNULL(1, 2, 4);
void rs_tree_free(rs_tree *tree);
RS_HOLDS(rs_tree)

/* The child of a mapping called `key`, or NULL (also for NULL and for other kinds). Borrows. */
const rs_node *rs_node_get(const rs_node *node, const char *key) RS_NONNULL(2);

/* Whether a node is there, and the unquoted word null. */
bool rs_node_is_null(const rs_node *node);

/* Copies `from` (with children) into `*to`, which must be cleared or zero, and is cleared on failure. `file` names stay
 * borrowed from the tree of `from`. */
rs_status rs_node_copy(rs_node *to, const rs_node *from, rs_err *err) RS_NONNULL(1, 2);
void rs_node_clear(rs_node *node) RS_NONNULL(1);

/* Appends a child to a sequence or mapping and returns it, or NULL with RS_MEMORY (RS_INTERNAL when `node` is a
 * scalar). The child is all zero but for `file`, which it has from `node`. Borrowed from `node`; a later append may
 * move it. */
rs_node *rs_node_append(rs_node *node, rs_err *err) RS_NONNULL(1);

/* Tells all nodes of a tree where they stand in it: after what was read was changed. */
void rs_node_adopt(rs_node *root) RS_NONNULL(1);

/* ---- JSON out ---------------------------------------------------------------------------------------------------- */

enum { RS_JSON_DEPTH = 16 };

/* JSON that is being written to `text`, which says whether it failed (also by more than RS_JSON_DEPTH levels). Begin as
 * {.text = &text}. `key` is NULL in arrays and at the top. In strings, bytes
 * that are no UTF-8 become U+FFFD. */
typedef struct rs_json {
  rs_text *text; /* borrowed */
  size_t depth;
  bool filled; /* the level that is written has an entry */
  bool flat;   /* it is a list on one line */
  char ends[RS_JSON_DEPTH];
} rs_json;

/* Begin a level; each is ended by rs_json_end, the last of which ends the line. */
void rs_json_object(rs_json *json, const char *key);
void rs_json_array(rs_json *json, const char *key);
void rs_json_list(rs_json *json, const char *key); /* an array of numbers and strings alone, on one line */
void rs_json_end(rs_json *json);
void rs_json_string(rs_json *json, const char *key, const char *value); /* NULL: null */
void rs_json_number(rs_json *json, const char *key, double value);      /* not finite: null */
void rs_json_bool(rs_json *json, const char *key, bool value);

/* The spec of a parameter as an object: name, type, words, unit, min, max, default, summary. */
void rs_json_param(rs_json *json, const rs_param *param);

/* ---- XML and HTML ------------------------------------------------------------------------------------------------ */

/* Appends text that is safe within XML or HTML, between quotes too; what XML or UTF-8 does not allow becomes U+FFFD. */
void rs_xml_escape(const char *text, rs_text *out) RS_NONNULL(1, 2);

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Bytes of the largest file that is read as configs of models, lists of numbers or dumps. */
enum { RS_LARGEST_FILE = 64 << 20 };

/* Bytes of the largest CSV file of results that becomes a table in memory, where it takes some ten times as many. */
enum { RS_LARGEST_TABLE = 1 << 30 };

/* The whole of a file or pipe; `*data` gets one NUL past `*length`. RS_IO names the path and the reason; a directory,
 * and more than `limit` bytes (as from a device that never ends), are refused. *data is NULL on failure. Release with
 * free(). */
rs_status rs_file_read(const char *path, size_t limit, char **data, size_t *length, rs_err *err) RS_NONNULL(1, 3, 4);

/* The bytes of a file, read where they are. Zero-initialise; release with rs_file_unmap. */
typedef struct rs_mapping {
  const unsigned char *bytes; /* (length,) */
  size_t length;
} rs_mapping;

/* Maps a file of any size. RS_INPUT for an empty one, RS_IO with the path and the reason, also for what is no regular
 * file. The mapping is empty on failure. */
rs_status rs_file_map(const char *path, rs_mapping *mapping, rs_err *err) RS_NONNULL(1, 2);
void rs_file_unmap(rs_mapping *mapping) RS_NONNULL(1);

/* Writes `length` bytes as `path`, whole or not at all: a temporary file beside it (.ropescope-PID-N.tmp), fsync,
 * rename, fsync of the directory. RS_IO with the path and the reason, also where `path` is there and no regular file;
 * the old file then stays and the temporary is removed. Only when the directory cannot be synced, the new file is in
 * place already. The mode follows the umask; a symbolic link is replaced, not followed. */
rs_status rs_file_write(const char *path, const char *data, size_t length, rs_err *err) RS_NONNULL(1);

/* Whether rs_file_write could begin to write `path` now: for work of minutes whose result has no other place. RS_IO
 * with the path and the reason; nothing is left behind. */
rs_status rs_file_writable(const char *path, rs_err *err) RS_NONNULL(1);

/* Whether two paths name one file: the same inode, or, of files that are not there yet, one name in one folder. */
bool rs_file_same(const char *one, const char *two) RS_NONNULL(1, 2);

/* Removes directory/name; RS_OK when it is not there. */
rs_status rs_file_remove(const char *directory, const char *name, rs_err *err) RS_NONNULL(1, 2);

/* Removes a folder and all in it, where it is there; symbolic links are not followed. False: errno says why not. */
bool rs_tree_remove(const char *path);

/* Makes the directory `path` and its parents where missing. RS_IO with the one that cannot be made, and the reason. */
rs_status rs_make_directories(const char *path, rs_err *err) RS_NONNULL(1);

/* directory/name with one slash between (name alone where `directory` is ""), or NULL with RS_MEMORY. Release with
 * free(). */
char *rs_path_join(const char *directory, const char *name, rs_err *err) RS_NONNULL(1, 2);

/* Where a file or folder is that comes with the program, like "experiments": in the first of these folders that has it:
 * that of the environment's ROPESCOPE_DATADIR, ../share/ropescope beside the program's own folder, the source tree that
 * the program was built in, share/ropescope below the prefix that the build was configured for. *path is NULL where
 * none has it. RS_MEMORY. Release with free(). */
rs_status rs_data_find(const char *name, char **path, rs_err *err) RS_NONNULL(1, 2);

/* The SHA-256 of `data` as 64 lower-case hexadecimal digits and a NUL. */
void rs_sha256_hex(const char *data, size_t length, char out[65]) RS_NONNULL(3);

/* A part of some bytes. */
typedef struct rs_bytes {
  const void *data;
  size_t length;
} rs_bytes;

/* The 32 bytes themselves, of parts (count,). */
void rs_sha256_digest(const rs_bytes *parts, size_t count, uint8_t out[32]) RS_NONNULL(3);

/* The same as digits of parts (count,), one behind the other, and of a file, as sha256sum prints it. RS_IO. */
void rs_sha256_parts(const rs_bytes *parts, size_t count, char out[65]) RS_NONNULL(3);
rs_status rs_sha256_file(const char *path, char out[65], rs_err *err) RS_NONNULL(1, 2);

/* ---- files of numbers -------------------------------------------------------------------------------------------- */

/* The tensor's name in "FILE.safetensors:NAME", or of an index, "FILE.safetensors.index.json:NAME"; NULL: the name has
 * none. Borrows. */
const char *rs_numbers_tensor(const char *file) RS_NONNULL(1);

/* Whether the name ends in .npy, .json or .csv, or names a tensor: what rs_numbers_read can read. */
bool rs_numbers_named(const char *file) RS_NONNULL(1);

/* The numbers of a file, in order, all finite, at least one:
 *   .npy   format 1 to 3, either byte order, f2 f4 f8 i1..i8 u1..u8 b1, any shape in C order;
 *   .json  a list of numbers, or an object with one such list (or one called inv_freq); at most 100,000 values;
 *   .csv   the column called inv_freq, omega_rad_per_token or value, else the only column of numbers;
 *   a tensor of any shape, row by row, of at most 8,388,608 numbers.
 * RS_INPUT "file: why" (file:line for CSV, the index for the others), RS_IO; files above 64 MiB are refused. On failure
 * *list is NULL. Release with free(). */
rs_status rs_numbers_read(const char *file, double **list, size_t *count, rs_err *err) RS_NONNULL(1, 2, 3);

/* ---- safetensors ------------------------------------------------------------------------------------------------- */

/* Types of numbers. Those to U64 are what safetensors knows, in its order: a file holds its tensors from the last type
 * to the first. The others are of GGUF alone: blocks of numbers that share scales. */
typedef enum rs_dtype {
  RS_DTYPE_BOOL,
  RS_DTYPE_F4,
  RS_DTYPE_F6_E2M3,
  RS_DTYPE_F6_E3M2,
  RS_DTYPE_U8,
  RS_DTYPE_I8,
  RS_DTYPE_F8_E5M2,
  RS_DTYPE_F8_E4M3,
  RS_DTYPE_F8_E8M0,
  RS_DTYPE_F8_E4M3FNUZ,
  RS_DTYPE_F8_E5M2FNUZ,
  RS_DTYPE_I16,
  RS_DTYPE_U16,
  RS_DTYPE_F16,
  RS_DTYPE_BF16,
  RS_DTYPE_I32,
  RS_DTYPE_U32,
  RS_DTYPE_F32,
  RS_DTYPE_C64,
  RS_DTYPE_F64,
  RS_DTYPE_I64,
  RS_DTYPE_U64,
  RS_DTYPE_Q4_0,
  RS_DTYPE_Q4_1,
  RS_DTYPE_Q5_0,
  RS_DTYPE_Q5_1,
  RS_DTYPE_Q8_0,
  RS_DTYPE_Q2_K,
  RS_DTYPE_Q3_K,
  RS_DTYPE_Q4_K,
  RS_DTYPE_Q5_K,
  RS_DTYPE_Q6_K,
  RS_DTYPE_IQ2_XXS, /* from here on numbers are not read */
  RS_DTYPE_IQ2_XS,
  RS_DTYPE_IQ3_XXS,
  RS_DTYPE_IQ1_S,
  RS_DTYPE_IQ4_NL,
  RS_DTYPE_IQ3_S,
  RS_DTYPE_IQ2_S,
  RS_DTYPE_IQ4_XS,
  RS_DTYPE_IQ1_M,
  RS_DTYPE_TQ1_0,
  RS_DTYPE_TQ2_0,
  RS_DTYPE_MXFP4,
  RS_DTYPE_NVFP4,
  RS_DTYPE_Q1_0,
  RS_DTYPE_Q2_0
} rs_dtype;
enum { RS_DTYPES_OF_SAFETENSORS = RS_DTYPE_U64 + 1, RS_DTYPES = RS_DTYPE_Q2_0 + 1 };
extern const char *const rs_dtype_words[RS_DTYPES + 1];

/* The least part of a type that has its bytes to itself: one number of most types, two of F4, 32 of Q8_0. */
typedef struct rs_number_block {
  size_t numbers, bytes;
} rs_number_block;
rs_number_block rs_dtype_block(rs_dtype dtype);

/* Whether rs_stored_floats reads numbers of the type. */
bool rs_dtype_is_read(rs_dtype dtype);

enum { RS_TENSOR_RANK = 8 };

/* "(2, 3)", "(2,)", "()", for messages. */
enum { RS_SHAPE_CHARS = 22 * RS_TENSOR_RANK + 4 };
void rs_shape_text(const size_t *shape, size_t rank, char out[RS_SHAPE_CHARS]) RS_NONNULL(3);

/* A tensor of a file. */
typedef struct rs_stored_tensor {
  char *name; /* NULL: the file is an array of NumPy's, without names */
  rs_dtype dtype;
  size_t rank, shape[RS_TENSOR_RANK]; /* (rank,) extents, which may be 0; rank 0 is one number */
  size_t count, bytes;                /* numbers, and what they take */
  const unsigned char *data;          /* (bytes,) row-major, little-endian, aligned to nothing; rows of whole blocks */
  const char *file;                   /* that holds it */
} rs_stored_tensor;

/* A checkpoint: the tensors of one file, or of several by an index. Files are mapped, so that numbers stay on the
 * disk until they are read; whoever shortens one meanwhile ends this program with SIGBUS. (A file that is replaced by
 * renaming, as rs_safetensors_write does, stays as it was.) */
typedef struct rs_safetensors {
  char *path;
  rs_stored_tensor *tensors; /* (count,) in the order of their data; of several files, one after the other by name */
  size_t count;
  size_t *by_name;         /* (count,) indices in the order of names */
  struct rs_shard *shards; /* (files,) */
  size_t files;
} rs_safetensors;

/* Maps `path`: an index of shards where its name ends in .json (their names must stand in its folder), else one file.
 * Strict: the header is checked whole, tensors fill the data without overlap or hole, and an index names each tensor of
 * its shards and no other. (Of a tensor that stands in a shard but not in the index, transformers 4 makes nothing and
 * transformers 5 a weight; its metadata is not read.) RS_INPUT with the file, the tensor, what was found and what was
 * wanted; RS_IO, also for what is no regular file; RS_MEMORY. On failure *checkpoint is NULL. */
rs_status rs_safetensors_map(const char *path, rs_safetensors **checkpoint, rs_err *err) RS_NONNULL(1, 2);
void rs_safetensors_free(rs_safetensors *checkpoint);
RS_HOLDS(rs_safetensors)

/* The tensor called `name`, or NULL. Borrows. */
const rs_stored_tensor *rs_safetensors_find(const rs_safetensors *checkpoint, const char *name) RS_NONNULL(1, 2);

/* The tensor called `name`, which must be there and have this shape (rank <= 8,). RS_INPUT with the shape it has, or
 * with a name that differs by its prefix. Borrows. */
rs_status rs_safetensors_get(const rs_safetensors *checkpoint, const char *name, const size_t *shape, size_t rank,
                             const rs_stored_tensor **tensor, rs_err *err) RS_NONNULL(1, 2, 5);

/* Numbers [first, first + count) of a tensor, any of them, widened exactly (F64 is rounded to float). Those of blocks
 * are computed in float, in the order of the PyPI package gguf, a block at a time, of which one that is read in part is
 * computed whole. RS_INPUT for one that is not finite, or not in float; RS_UNSUPPORTED for a type that is not
 * rs_dtype_is_read; RS_INTERNAL beyond its end. */
rs_status rs_stored_floats(const rs_stored_tensor *tensor, size_t first, size_t count, float *numbers, rs_err *err)
    RS_NONNULL(1);
rs_status rs_stored_doubles(const rs_stored_tensor *tensor, size_t first, size_t count, double *numbers, rs_err *err)
    RS_NONNULL(1);

/* Whether all numbers of a tensor could be read so, as floats or as doubles (`wide`); fails as these do. */
rs_status rs_stored_check(const rs_stored_tensor *tensor, bool wide, rs_err *err) RS_NONNULL(1);

/* A tensor to write: its numbers are float or double, and rounded to nearest, ties to even. */
typedef struct rs_tensor_numbers {
  const char *name;
  rs_dtype dtype; /* RS_DTYPE_F64, F32, BF16 or F16 */
  size_t rank;
  const size_t *shape;   /* (rank,) */
  const float *floats;   /* row-major; NULL: doubles */
  const double *doubles; /* NULL: floats */
} rs_tensor_numbers;

/* Writes a file with these tensors, byte by byte as the reference writer does from PyTorch, whole or not at all as
 * rs_file_write. Numbers are rounded as they go out: it takes no memory of their size. RS_DOMAIN with the tensor for a
 * number that its type cannot hold (NaN, infinite, too large); RS_IO; RS_MEMORY; RS_INTERNAL for a name given twice. */
rs_status rs_safetensors_write(const char *path, const rs_tensor_numbers *tensors, size_t count, rs_err *err)
    RS_NONNULL(1);

/* ---- GGUF -------------------------------------------------------------------------------------------------------- */

/* A file of llama.cpp's: metadata and tensors. */
typedef struct rs_gguf rs_gguf;

/* Whether the file is there and begins as GGUF does. */
bool rs_gguf_is(const char *file) RS_NONNULL(1);

/* Maps a file of GGUF 2 or 3, little-endian and in one piece, and checks it whole but for the numbers of its tensors,
 * which stay on the disk: lengths, types, keys and names that are there twice, the alignment, and that tensors fill the
 * data without overlap or hole. RS_INPUT with the file, the key or tensor, and what is wrong; RS_UNSUPPORTED for other
 * versions, big-endian and a part of a split model; RS_IO as rs_file_map; RS_MEMORY. On failure *gguf is NULL. */
rs_status rs_gguf_open(const char *file, rs_gguf **gguf, rs_err *err) RS_NONNULL(1, 2);
void rs_gguf_close(rs_gguf *gguf);

/* The metadata as a mapping, each key as it stands in the file ("llama.rope.freq_base"): strings are quoted scalars,
 * numbers the shortest decimals that read back to the same number of their type ("nan", "inf"), booleans true and
 * false, arrays sequences. Nodes have no line. Arrays below "tokenizer." are checked, but no nodes. Borrowed. */
const rs_node *rs_gguf_metadata(const rs_gguf *gguf) RS_NONNULL(1);

/* The elements of the array `key`, also of one that is no node, as tokenizer.ggml.tokens; 0 where there is none. */
size_t rs_gguf_array_count(const rs_gguf *gguf, const char *key) RS_NONNULL(1, 2);

/* The tensors, by which all that reads those of safetensors serves: rs_safetensors_find, rs_safetensors_get. The shape
 * is that of NumPy, the last axis (GGUF's first) the fastest. Borrowed; NULL once detached. */
const rs_safetensors *rs_gguf_checkpoint(const rs_gguf *gguf) RS_NONNULL(1);

/* The same, handed over: release with rs_safetensors_free, before or after `gguf`, which keeps the metadata. */
rs_safetensors *rs_gguf_detach(rs_gguf *gguf) RS_NONNULL(1);

/* ---- arrays of NumPy --------------------------------------------------------------------------------------------- */

/* Numbers with a shape. Zero-initialise; release with rs_array_clear. */
typedef struct rs_array {
  size_t rank, shape[RS_TENSOR_RANK]; /* (rank,); rank 0 is one number */
  size_t count;                       /* numbers */
  double *numbers;                    /* (count,) row-major */
} rs_array;

/* Reads a .npy file of any size, as rs_numbers_read does, with its shape. RS_INPUT "file: why", RS_IO, RS_MEMORY. The
 * array is cleared on failure. */
rs_status rs_npy_read(const char *file, rs_array *array, rs_err *err) RS_NONNULL(1, 2);
void rs_array_clear(rs_array *array) RS_NONNULL(1);

/* Describes the array of a mapped .npy file, which is called `file`; its numbers stay where they are.
 * RS_INPUT "file: why", also for an array in big-endian or column by column. */
rs_status rs_npy_describe(const rs_mapping *mapping, const char *file, rs_stored_tensor *tensor, rs_err *err)
    RS_NONNULL(1, 2, 3);

/* Writes the array as numpy.save does one of float64, or (not `wide`) float32, whole or not at all. RS_IO, RS_MEMORY.
 */
rs_status rs_npy_write(const char *path, const rs_array *array, bool wide, rs_err *err) RS_NONNULL(1, 2);

/* The same of numbers that `fill` gives piece by piece by rs_npy_put, in their order, or by rs_npy_put_at in any, and
 * all of them; of `array` its shape alone is read. What fill fails with is handed on, and the old file stays. */
typedef struct rs_npy_file rs_npy_file;
typedef rs_status (*rs_npy_filler)(rs_npy_file *file, void *context, rs_err *err);

rs_status rs_npy_fill(const char *path, const rs_array *array, bool wide, rs_npy_filler fill, void *context,
                      rs_err *err) RS_NONNULL(1, 2, 4);
rs_status rs_npy_put(rs_npy_file *file, const double *numbers, size_t count) RS_NONNULL(1, 2);
rs_status rs_npy_put_at(rs_npy_file *file, size_t first, const double *numbers, size_t count) RS_NONNULL(1, 3);

/* ---- one tensor of a file ---------------------------------------------------------------------------------------- */

/* A tensor whose numbers stay in their file, however large it is, until rs_stored_doubles or rs_stored_floats reads
 * them. Zero-initialise; release with rs_tensor_file_clear. */
typedef struct rs_tensor_file {
  rs_stored_tensor tensor; /* borrows from the rest */
  rs_mapping mapping;
  rs_safetensors *checkpoint;
} rs_tensor_file;

/* Whether the name ends in .npy: such a file holds one array, without a name. */
bool rs_is_npy(const char *path) RS_NONNULL(1);

/* Maps the array of a .npy file, little-endian and in C order, or the tensor called `name` of any other file, which is
 * one of safetensors or their index. RS_INPUT "file: why", also for a name that is not there; RS_IO; RS_MEMORY. The
 * file is cleared on failure. `path` is borrowed. */
rs_status rs_tensor_file_map(const char *path, const char *name, rs_tensor_file *file, rs_err *err) RS_NONNULL(1, 2, 3);
void rs_tensor_file_clear(rs_tensor_file *file) RS_NONNULL(1);

/* ---- ids of tokens ----------------------------------------------------------------------------------------------- */

/* What bare numbers are, little-endian. Auto: as a header of llm.c says, else of 16 bits. */
typedef enum rs_id_format { RS_ID_AUTO, RS_ID_U8, RS_ID_U16, RS_ID_U32, RS_ID_FORMATS } rs_id_format;
extern const char *const rs_id_words[RS_ID_FORMATS + 1];

/* A text as ids of tokens. Release with rs_token_file_clear. */
typedef struct rs_token_file {
  rs_mapping mapping;
  void *owned;
  const void *ids; /* (count,) of `width` bytes each: 1, 2 or 4 */
  size_t width, count;
} rs_token_file;

/* Reads `path`: one row of whole numbers where it ends in .npy, else bare numbers, mapped, with or without a header of
 * llm.c (bytes: whatever the file is). RS_INPUT "file: why", RS_IO, RS_MEMORY; the file is cleared on failure. */
rs_status rs_token_file_read(const char *path, rs_id_format format, rs_token_file *file, rs_err *err) RS_NONNULL(1, 3);
void rs_token_file_clear(rs_token_file *file) RS_NONNULL(1);

static inline uint32_t rs_token_id(const rs_token_file *file, size_t index) {
  if (file->width == 1) return ((const uint8_t *)file->ids)[index];
  return file->width == 2 ? ((const uint16_t *)file->ids)[index] : ((const uint32_t *)file->ids)[index];
}

/* ---- pictures ---------------------------------------------------------------------------------------------------- */

enum { RS_MOST_CHANNELS = 4 };

/* Pictures of one size, and the class of each. Number y, x of channel c of picture n stands at n step + c channel_step
 * + y row_step + x column_step. Release with rs_picture_file_clear. */
typedef struct rs_picture_file {
  size_t count, rows, columns, channels;
  const unsigned char *bytes; /* NULL: numbers that are no bytes */
  float *numbers;
  size_t step, channel_step, row_step, column_step;
  uint32_t *labels; /* (count,) */
  bool coarse;      /* it has coarse labels beside fine ones: CIFAR-100 */
  rs_mapping mapping;
  unsigned char *owned;
} rs_picture_file;

/* Reads pictures: CIFAR-10's and CIFAR-100's records, which have labels in them, IDX of bytes, or a .npy file of any
 * numbers, (N, rows, columns) or (N, rows, columns, channels); each, and `labels` (IDX or .npy, one row; NULL: none),
 * may be compressed by gzip. What a file is follows from its content. `coarse`: of CIFAR-100 the coarse labels.
 * RS_INPUT "file: why", also where labels are missing, too many or no classes; RS_IO, RS_MEMORY; with the subject
 * "labels" where that file is at fault. Cleared on failure. */
rs_status rs_picture_file_read(const char *path, const char *labels, bool coarse, rs_picture_file *file, rs_err *err)
    RS_NONNULL(1, 4);
void rs_picture_file_clear(rs_picture_file *file) RS_NONNULL(1);

static inline double rs_picture_number(const rs_picture_file *file, size_t picture, size_t channel, size_t row,
                                       size_t column) {
  size_t place =
      picture * file->step + channel * file->channel_step + row * file->row_step + column * file->column_step;
  return file->bytes != NULL ? file->bytes[place] : (double)file->numbers[place];
}

/* ---- CSV (RFC 4180, LF, header row) ------------------------------------------------------------------------------ */

/* Appends one field and, except before the first of a row, the comma. Text is quoted where it must be, and where it
 * begins with = + - or @ and is no number; a NaN is an empty field. An empty field that begins a row is written "",
 * which tells it from no field. End each row with rs_csv_end_row. */
void rs_csv_text(rs_text *csv, const char *field) RS_NONNULL(1, 2);
void rs_csv_number(rs_text *csv, double value) RS_NONNULL(1);
void rs_csv_end_row(rs_text *csv) RS_NONNULL(1);

/* A CSV file in memory: fields[row * columns + column], row 0 the first after the header. */
typedef struct rs_table {
  char **header; /* (columns) */
  char **fields; /* (rows * columns); part of the block at `header` */
  size_t columns, rows;
  char *storage; /* what the fields point into */
} rs_table;

/* Parses CSV text with a header row; rows end with LF or CRLF, `name` stands in messages. RS_INPUT "name:line: why
 * (hint)" for an empty text, ragged rows (blank lines among them, unless there is one column), an unclosed quote, a
 * quote within a bare field, text after a closing quote, a NUL byte. On failure *table is NULL. */
rs_status rs_csv_read(const char *text, size_t length, const char *name, rs_table **table, rs_err *err)
    RS_NONNULL(1, 3, 4);
void rs_table_free(rs_table *table);
RS_HOLDS(rs_table)

/* Column index of `name`, or -1. */
int rs_table_column(const rs_table *table, const char *name) RS_NONNULL(1, 2);

/* The field of a row in the column called so; "" where there is no such column. */
const char *rs_table_field(const rs_table *table, size_t row, const char *column) RS_NONNULL(1, 3);

/* Reading checked values from a tree: every reader reports what is wrong with file, line, column, key and value,
 * and goes on, so that one run shows all mistakes. */

enum { RS_PATH = 256, RS_PROBLEMS_SHOWN = 20 };

/* Up to 20 problems, one a line, each "file:line:column: key = value: why (hint)". Zero-initialise; release with
 * rs_problems_clear. */
typedef struct rs_problems {
  rs_text text;
  size_t count;       /* all that were found, written or not */
  bool memory;        /* an allocation failed: the config itself may be good */
  const rs_node *top; /* where keys are told from; NULL: the root */
} rs_problems;

void rs_problems_clear(rs_problems *problems) RS_NONNULL(1);

/* Where a value stands in the config, as in "methods[1].factor". */
typedef struct rs_path {
  char text[RS_PATH];
} rs_path;

rs_path rs_path_key(const rs_path *parent, const char *key);
rs_path rs_path_index(const rs_path *parent, size_t index);

/* Where a node stands, "methods[1].factor". */
rs_path rs_node_path(const rs_node *node) RS_NONNULL(1);

/* "file:line:column: path = value: why"; of the top, and by rs_problem_at, "file:line:column: why". */
void rs_problem(rs_problems *problems, const rs_node *node, const char *format, ...) RS_PRINTF(3, 4);
void rs_problem_at(rs_problems *problems, const rs_node *node, const char *format, ...) RS_PRINTF(3, 4);

/* How far a list of problems had come. */
typedef struct rs_problem_mark {
  size_t count, length; /* problems, bytes of their text */
} rs_problem_mark;

rs_problem_mark rs_problems_mark(const rs_problems *problems);

/* Takes back those since `here` that were told between `since` and it already; of those that no line is left for, all
 * together count as one. */
void rs_problems_once(rs_problems *problems, rs_problem_mark since, rs_problem_mark here);

/* A failure of the library at a node: its message, or a lack of memory, which is no fault of the config. */
void rs_problem_err(rs_problems *problems, const rs_node *node, const rs_err *why);

/* One problem for each line of a message. */
void rs_problem_lines(rs_problems *problems, const rs_node *node, const char *message);

/* The same for a key that should not be there, with the nearest of the known ones. `what` names what has no such key.
 */
void rs_problem_unknown_key(rs_problems *problems, const rs_node *child, const char *what, const char *const *known,
                            size_t count);

/* The child of a mapping whose key is a slip of the pen for `key`, so that what is missing is told once; or NULL.
 * Borrows. */
const rs_node *rs_mistyped(const rs_node *mapping, const char *key);

/* Reports every key of the mapping that is not among `known`. */
void rs_check_keys(rs_problems *problems, const rs_node *mapping, const char *what, const char *const *known,
                   size_t count);

/* Whether the node is of the kind; reports it otherwise, as "must be <what>". */
bool rs_expect(rs_problems *problems, const rs_node *node, rs_node_kind kind, const char *what);

/* A scalar checked against a parameter spec. False (and reported) when wrong. */
bool rs_read_value(rs_problems *problems, const rs_node *node, const rs_param *param, rs_value *value);

/* A whole number from `min` to `max`; `fallback` when the node is NULL or wrong. */
size_t rs_read_count(rs_problems *problems, const rs_node *node, double min, double max, size_t fallback);
double rs_read_real(rs_problems *problems, const rs_node *node, double min, double max, double fallback);

/* The scalar's text, or NULL (and reported) when the node is no scalar. Borrows. */
const char *rs_read_word(rs_problems *problems, const rs_node *node);

/* Reports an allocation failure once. */
void rs_problem_memory(rs_problems *problems);

/* RS_INPUT with the problems, RS_MEMORY with `name`, where there are such. Clears them. */
rs_status rs_problems_end(rs_problems *problems, const char *name, rs_err *err) RS_NONNULL(1, 2);

/* Folders of results. Their files are written piece by piece with their sums, one process at a time works on a
 * folder, its files change as one, and manifest.json says what each must be. */

/* ---- files piece by piece ---------------------------------------------------------------------------------------- */

/* What a file holds. */
typedef struct rs_file_sums {
  char name[80]; /* "summary.csv" */
  size_t rows;   /* of a CSV file, without its header; RS_NO_COUNT of others */
  size_t bytes;
  char sha256[65];
} rs_file_sums;

typedef struct rs_out_file rs_out_file;

/* Makes directory/name, which must not be there, and which messages call `shown`/name: the place that it is for.
 * RS_IO, RS_MEMORY; *file is NULL on failure. */
rs_status rs_out_file_create(const char *directory, const char *shown, const char *name, rs_out_file **file,
                             rs_err *err) RS_NONNULL(1, 2, 3, 4);

/* What is added to its end, to write to. Borrowed. */
rs_text *rs_out_file_text(rs_out_file *file) RS_NONNULL(1);

/* Hands on what was added, some of which may wait for more. RS_IO, RS_MEMORY. */
rs_status rs_out_file_put(rs_out_file *file, rs_err *err) RS_NONNULL(1);

/* Writes the rest, brings the file to the disk and closes it; `sums` gets name, bytes and SHA-256. */
rs_status rs_out_file_close(rs_out_file *file, rs_file_sums *sums, rs_err *err) RS_NONNULL(1, 2);
void rs_out_file_free(rs_out_file *file); /* NULL is fine */

/* ---- one process at a time --------------------------------------------------------------------------------------- */

/* The hidden folder within a results folder, for what is no result: lock, journal. */
#define RS_WORK_FOLDER ".ropescope"

/* The path of the hidden folder of `directory`, owned by the caller, NULL on failure; whether it is there or not, or
 * made where it is missing. RS_IO, also where it or anything in it is a symbolic link, which might lead anywhere;
 * RS_MEMORY. */
rs_status rs_work_folder_find(const char *directory, char **path, rs_err *err) RS_NONNULL(1, 2);
rs_status rs_work_folder_make(const char *directory, char **path, rs_err *err) RS_NONNULL(1, 2);

typedef struct rs_folder_lock {
  int file; /* -1: not held */
} rs_folder_lock;

/* Locks an existing folder until rs_folder_unlock, or the end of the process however it ends (flock on
 * .ropescope/lock, which holds the owner's number). RS_BUSY with that number where another process has it, at once.
 * Where a file system has no such locks, nobody is kept out. RS_IO, RS_MEMORY. */
rs_status rs_folder_lock_take(const char *directory, rs_folder_lock *lock, rs_err *err) RS_NONNULL(1, 2);
void rs_folder_lock_drop(rs_folder_lock *lock) RS_NONNULL(1);

/* Keeps others from running into a folder that is read, which may be read-only, until the lock is dropped: several may
 * read one. RS_BUSY where a process runs into it; one into which nobody ever ran is not locked. RS_IO, RS_MEMORY. */
rs_status rs_folder_lock_share(const char *directory, rs_folder_lock *lock, rs_err *err) RS_NONNULL(1, 2);

/* ---- folders for a moment ---------------------------------------------------------------------------------------- */

/* Makes a new folder that this user alone can read, in $TMPDIR or else /tmp. RS_IO, RS_MEMORY; *path is NULL then. */
rs_status rs_scratch_make(char **path, rs_err *err) RS_NONNULL(1);

/* Removes it with all that is in it, and frees `path` (NULL is fine). It stays where no memory is left to list it. */
void rs_scratch_remove(char *path);

/* ---- a folder that changes as one -------------------------------------------------------------------------------- */

/* Whether a file called so in a results folder is one that a run writes, or its temporary. All else stays what it is.
 */
typedef bool rs_own_name(const char *name);

/* A new set of files for a folder. Write them into `staged`; commit, or clear. */
typedef struct rs_folder_change {
  char *directory; /* its real path */
  char *staged;    /* where the new set is made; owned, as all here */
  rs_own_name *own;
  bool in_place; /* the files will be renamed one by one */
} rs_folder_change;

/* Begins a change of an existing folder that this process has locked. The new set is made beside it, in
 * .ropescope-NAME.new; where that cannot be, or the folder could not be exchanged (a mount point, the working directory
 * of this process), within it, in .ropescope/new. RS_IO, RS_MEMORY. */
rs_status rs_folder_change_begin(const char *directory, rs_own_name *own, rs_folder_change *change, rs_err *err)
    RS_NONNULL(1, 2, 3);

/* Puts the new set into the old one's place; files that are not of a run stay. Fails with the old set whole. The new
 * folder gets links to what stays, and is exchanged with the old one by one renameat2(RENAME_EXCHANGE): at no instant
 * is there a mixture, nor no folder. Where the kernel, the file system or links do not allow it, one rename of
 * .ropescope/new to .ropescope/ready decides, and the files are then renamed one by one, manifest.json first: who reads
 * meanwhile finds sums that do not fit, and a process that ends there leaves the rest to the next change. */
rs_status rs_folder_change_commit(rs_folder_change *change, rs_err *err) RS_NONNULL(1);

/* Removes what was not committed. */
void rs_folder_change_clear(rs_folder_change *change) RS_NONNULL(1);

/* Ends or removes what a process that was killed has left of a change, and its temporaries. RS_IO, RS_MEMORY. */
rs_status rs_folder_change_recover(const char *directory, rs_own_name *own, rs_err *err) RS_NONNULL(1, 2);

/* ---- what the manifest says -------------------------------------------------------------------------------------- */

/* As rs_file_read, for a file of a results folder, of which one that is too large says its size: RS_INPUT where the
 * manifest.json beside it says that it must be another. Without a manifest, or one that says nothing of the file, there
 * is nothing to check. Whatever reads results reads them by this. */
rs_status rs_results_read(const char *path, size_t limit, char **data, size_t *length, rs_err *err) RS_NONNULL(1, 3, 4);

/* Adds what the folder's manifest says of a set that is not complete, "incomplete: 3 of 8 cells"; nothing of a complete
 * one, or without a manifest. RS_INPUT, RS_IO, RS_MEMORY. */
rs_status rs_results_incomplete(const char *directory, rs_text *words, rs_err *err) RS_NONNULL(1, 2);

/* What a check of a folder came to. */
typedef struct rs_folder_verdict {
  size_t files;     /* that were checked */
  size_t differing; /* of those: missing, or not what the manifest says */
} rs_folder_verdict;

/* Checks every file that the folder's manifest has sums of, and adds a line to `findings` for each that differs.
 * RS_INPUT without a manifest or without sums in it; RS_IO, RS_MEMORY. */
rs_status rs_results_verify(const char *directory, rs_folder_verdict *verdict, rs_text *findings, rs_err *err)
    RS_NONNULL(1, 2, 3);

#endif
