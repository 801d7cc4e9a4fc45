/* safetensors.c: checkpoints, mapped: one file, or the shards that an index names. */
#include "io_internal.h"
#include "tensors.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- files ------------------------------------------------------------------------------------------------------- */

/* Appends the tensors of a shard that is mapped. */
static rs_status add_tensors(rs_safetensors *checkpoint, const struct rs_shard *shard, size_t *capacity, rs_err *err) {
  return rs_tensors_parse(shard->mapping.bytes, shard->mapping.length, shard->path, &checkpoint->tensors,
                          &checkpoint->count, capacity, err);
}

static rs_status create(const char *path, rs_safetensors **checkpoint, rs_err *err) {
  *checkpoint = rs_alloc(1, sizeof **checkpoint, err);
  if (*checkpoint == NULL) return RS_MEMORY;
  (*checkpoint)->path = rs_strdup(path, err);
  return (*checkpoint)->path != NULL ? RS_OK : RS_MEMORY;
}

static rs_status map_single(rs_safetensors *checkpoint, rs_err *err) {
  checkpoint->shards = rs_alloc(1, sizeof *checkpoint->shards, err);
  if (checkpoint->shards == NULL) return RS_MEMORY;
  checkpoint->files = 1;
  checkpoint->shards->path = rs_strdup(checkpoint->path, err);
  if (checkpoint->shards->path == NULL) return RS_MEMORY;
  return rs_file_map(checkpoint->path, &checkpoint->shards->mapping, err);
}

/* Hands a checkpoint out, or nothing. */
static rs_status hand_out(rs_status status, rs_safetensors *made, rs_safetensors **checkpoint) {
  if (status != RS_OK) rs_safetensors_free(made);
  *checkpoint = status == RS_OK ? made : NULL;
  return status;
}

rs_status rs_checkpoint_begin(const char *path, rs_safetensors **checkpoint, rs_err *err) {
  rs_safetensors *mapped;
  rs_status status = create(path, &mapped, err);
  if (status == RS_OK) status = map_single(mapped, err);
  return hand_out(status, mapped, checkpoint);
}

/* ---- names ------------------------------------------------------------------------------------------------------- */

static int compare_names(const void *left, const void *right, void *context) {
  const rs_stored_tensor *tensors = context;
  return strcmp(tensors[*(const size_t *)left].name, tensors[*(const size_t *)right].name);
}

rs_status rs_checkpoint_end(rs_safetensors *checkpoint, rs_err *err) {
  checkpoint->by_name = rs_alloc(checkpoint->count, sizeof *checkpoint->by_name, err);
  if (checkpoint->by_name == NULL) return RS_MEMORY;
  for (size_t i = 0; i < checkpoint->count; i++) checkpoint->by_name[i] = i;
  qsort_r(checkpoint->by_name, checkpoint->count, sizeof *checkpoint->by_name, compare_names, checkpoint->tensors);
  return RS_OK;
}

const rs_stored_tensor *rs_safetensors_find(const rs_safetensors *checkpoint, const char *name) {
  size_t begin = 0, end = checkpoint->count;
  while (begin < end) {
    size_t middle = begin + (end - begin) / 2;
    const rs_stored_tensor *tensor = &checkpoint->tensors[checkpoint->by_name[middle]];
    int order = strcmp(name, tensor->name);
    if (order == 0) return tensor;
    if (order < 0)
      end = middle;
    else
      begin = middle + 1;
  }
  return NULL;
}

/* Whether `name` is `part` behind a prefix that ends with a dot. */
static bool has_prefix(const char *name, const char *part) {
  size_t length = strlen(name), rest = strlen(part);
  return length > rest && name[length - rest - 1] == '.' && strcmp(name + length - rest, part) == 0;
}

/* Programs that write checkpoints differ in what they put before the names. */
static rs_status fail_missing(const rs_safetensors *checkpoint, const char *name, rs_err *err) {
  char shown[RS_NAME_CHARS];
  for (size_t i = 0; i < checkpoint->count; i++) {
    const char *other = checkpoint->tensors[i].name;
    if (!has_prefix(other, name) && !has_prefix(name, other)) continue;
    rs_shorten(other, sizeof shown, shown);
    return rs_fail(err, RS_INPUT, "%s: holds no tensor \"%s\" (but \"%s\")", checkpoint->path, name, shown);
  }
  return rs_fail(err, RS_INPUT, "%s: holds no tensor \"%s\"", checkpoint->path, name);
}

rs_status rs_safetensors_get(const rs_safetensors *checkpoint, const char *name, const size_t *shape, size_t rank,
                             const rs_stored_tensor **tensor, rs_err *err) {
  char found[RS_SHAPE_CHARS], wanted[RS_SHAPE_CHARS];
  *tensor = NULL;
  const rs_stored_tensor *here = rs_safetensors_find(checkpoint, name);
  if (here == NULL) return fail_missing(checkpoint, name, err);
  bool same = here->rank == rank;
  for (size_t i = 0; same && i < rank; i++) same = here->shape[i] == shape[i];
  rs_shape_text(here->shape, here->rank, found);
  rs_shape_text(shape, rank, wanted);
  if (!same) return rs_tensor_fail(here, RS_INPUT, err, "has shape %s, wanted is %s", found, wanted);
  *tensor = here;
  return RS_OK;
}

/* ---- an index of shards ------------------------------------------------------------------------------------------ */

typedef struct shard_index {
  const char *path;
  const rs_node **entries; /* (count,) by key, the tensor's name; the text is its file */
  const char **files;      /* (file_count,) in order, each once */
  size_t count, file_count;
} shard_index;

static int compare_keys(const void *left, const void *right) {
  return strcmp((*(const rs_node *const *)left)->key, (*(const rs_node *const *)right)->key);
}

static int compare_texts(const void *left, const void *right) {
  return strcmp(*(const char *const *)left, *(const char *const *)right);
}

static rs_status check_entry(const char *path, const rs_node *entry, rs_err *err) {
  char name[RS_NAME_CHARS], file[RS_NAME_CHARS];
  rs_shorten(entry->key, sizeof name, name);
  if (entry->kind != RS_SCALAR || !entry->quoted)
    return rs_fail(err, RS_INPUT, "%s: weight_map: tensor \"%s\": must have the name of a file", path, name);
  rs_shorten(entry->text, sizeof file, file);
  if (entry->text[0] == '\0' || strchr(entry->text, '/') != NULL || strcmp(entry->text, "..") == 0)
    return rs_fail(err, RS_INPUT, "%s: weight_map: tensor \"%s\": file \"%s\" must be a name within the index's folder",
                   path, name, file);
  return RS_OK;
}

static rs_status read_index(const rs_node *root, shard_index *index, rs_err *err) {
  const rs_node *map = rs_node_get(root, "weight_map");
  if (map == NULL || map->kind != RS_MAPPING || map->count == 0)
    return rs_fail(err, RS_INPUT, "%s: must have a weight_map, from the names of tensors to those of files",
                   index->path);
  index->entries = rs_alloc(map->count, sizeof *index->entries, err);
  index->files = rs_alloc(map->count, sizeof *index->files, err);
  if (index->entries == NULL || index->files == NULL) return RS_MEMORY;
  index->count = map->count;
  for (size_t i = 0; i < map->count; i++) {
    RS_TRY(check_entry(index->path, &map->items[i], err));
    index->entries[i] = &map->items[i];
    index->files[i] = map->items[i].text;
  }
  qsort(index->entries, map->count, sizeof *index->entries, compare_keys);
  qsort(index->files, map->count, sizeof *index->files, compare_texts);
  for (size_t i = 0; i < map->count; i++)
    if (i == 0 || strcmp(index->files[i], index->files[index->file_count - 1]) != 0)
      index->files[index->file_count++] = index->files[i];
  return RS_OK;
}

/* The name behind the last slash. */
static const char *file_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash != NULL ? slash + 1 : path;
}

/* Each tensor must be where the index has it. Names are unique within a file, so that no entry serves two tensors; then
 * one that is left without is missing. */
static rs_status check_index(const rs_safetensors *checkpoint, const shard_index *index, rs_err *err) {
  for (size_t i = 0; i < checkpoint->count; i++) {
    const rs_stored_tensor *tensor = &checkpoint->tensors[i];
    const rs_node key = {.key = tensor->name}, *wanted = &key;
    const rs_node **entry = bsearch(&wanted, index->entries, index->count, sizeof *index->entries, compare_keys);
    if (entry == NULL)
      return rs_tensor_fail(tensor, RS_INPUT, err, "is not in the index %s (readers disagree whether it counts)",
                            index->path);
    if (strcmp((*entry)->text, file_name(tensor->file)) != 0)
      return rs_tensor_fail(tensor, RS_INPUT, err, "is here, but the index %s has it in %s", index->path,
                            (*entry)->text);
  }
  for (size_t i = 0; i < index->count; i++) {
    char shown[RS_NAME_CHARS];
    rs_shorten(index->entries[i]->key, sizeof shown, shown);
    if (rs_safetensors_find(checkpoint, index->entries[i]->key) == NULL)
      return rs_fail(err, RS_INPUT, "%s: weight_map: tensor \"%s\": is not in its file, %s", index->path, shown,
                     index->entries[i]->text);
  }
  return RS_OK;
}

/* `name` beside the file at `path`; NULL with RS_MEMORY. */
static char *path_beside(const char *path, const char *name, rs_err *err) {
  char *folder = rs_strdup(path, err);
  if (folder == NULL) return NULL;
  folder[file_name(path) - path] = '\0';
  char *joined = rs_path_join(folder, name, err);
  free(folder);
  return joined;
}

/* A shard that cannot be read is missed because of the first tensor that the index has in it. */
static rs_status fail_shard(const shard_index *index, const char *file, const rs_err *why, rs_err *err) {
  char name[RS_NAME_CHARS];
  size_t i = 0;
  while (i + 1 < index->count && strcmp(index->entries[i]->text, file) != 0) i++;
  rs_shorten(index->entries[i]->key, sizeof name, name);
  if (why->status != RS_IO) return rs_fail(err, why->status, "%s", why->message);
  return rs_fail_read(err, "%s (%s has tensor \"%s\" in it)", why->message, index->path, name);
}

static rs_status add_shards(rs_safetensors *checkpoint, const shard_index *index, rs_err *err) {
  size_t capacity = 0;
  checkpoint->shards = rs_alloc(index->file_count, sizeof *checkpoint->shards, err);
  if (checkpoint->shards == NULL) return RS_MEMORY;
  for (size_t i = 0; i < index->file_count; i++) {
    struct rs_shard *shard = &checkpoint->shards[checkpoint->files++];
    shard->path = path_beside(index->path, index->files[i], err);
    if (shard->path == NULL) return RS_MEMORY;
    rs_err why = {0};
    rs_status status = rs_file_map(shard->path, &shard->mapping, &why);
    if (status == RS_OK) status = add_tensors(checkpoint, shard, &capacity, &why);
    if (status != RS_OK) return fail_shard(index, index->files[i], &why, err);
  }
  RS_TRY(rs_checkpoint_end(checkpoint, err));
  return check_index(checkpoint, index, err);
}

/* ---- checkpoints ------------------------------------------------------------------------------------------------- */

static rs_status map_index(rs_safetensors *checkpoint, rs_err *err) {
  shard_index index = {.path = checkpoint->path};
  rs_tree *tree = NULL;
  char *text;
  size_t length;
  RS_TRY(rs_file_read(index.path, RS_TENSOR_HEADER_MOST, &text, &length, err));
  rs_status status = rs_json_read_most(text, length, index.path, RS_TENSOR_VALUES_MOST, &tree, err);
  if (status == RS_OK) status = read_index(&tree->root, &index, err);
  if (status == RS_OK) status = add_shards(checkpoint, &index, err);
  free(index.entries);
  free(index.files);
  rs_tree_free(tree);
  free(text);
  return status;
}

rs_status rs_safetensors_map(const char *path, rs_safetensors **checkpoint, rs_err *err) {
  size_t length = strlen(path), capacity = 0;
  bool sharded = length >= 5 && strcmp(path + length - 5, ".json") == 0;
  rs_safetensors *mapped;
  rs_status status = create(path, &mapped, err);
  if (status == RS_OK) status = sharded ? map_index(mapped, err) : map_single(mapped, err);
  if (status == RS_OK && !sharded) status = add_tensors(mapped, mapped->shards, &capacity, err);
  if (status == RS_OK && !sharded) status = rs_checkpoint_end(mapped, err);
  return hand_out(status, mapped, checkpoint);
}

void rs_safetensors_free(rs_safetensors *checkpoint) {
  if (checkpoint == NULL) return;
  for (size_t i = 0; i < checkpoint->count; i++) free(checkpoint->tensors[i].name);
  for (size_t i = 0; i < checkpoint->files; i++) {
    rs_file_unmap(&checkpoint->shards[i].mapping);
    free(checkpoint->shards[i].path);
  }
  free(checkpoint->shards);
  free(checkpoint->tensors);
  free(checkpoint->by_name);
  free(checkpoint->path);
  free(checkpoint);
}

/* ---- one tensor -------------------------------------------------------------------------------------------------- */

bool rs_is_npy(const char *path) {
  size_t length = strlen(path);
  return length >= 4 && strcmp(path + length - 4, ".npy") == 0;
}

/* The tensor called `name`. */
static rs_status choose(const char *path, const char *name, rs_tensor_file *file, rs_err *err) {
  char wanted[RS_NAME_CHARS], other[RS_NAME_CHARS];
  const rs_safetensors *checkpoint = file->checkpoint;
  const rs_stored_tensor *tensor = rs_safetensors_find(checkpoint, name);
  if (tensor != NULL) {
    file->tensor = *tensor;
    return RS_OK;
  }
  rs_shorten(name, sizeof wanted, wanted);
  if (checkpoint->count == 0) return rs_fail(err, RS_INPUT, "%s: holds no tensors", path);
  rs_shorten(checkpoint->tensors[checkpoint->by_name[0]].name, sizeof other, other);
  return rs_fail(err, RS_INPUT, "%s: has no tensor \"%s\" (it has %zu, the first by name is \"%s\")", path, wanted,
                 checkpoint->count, other);
}

rs_status rs_tensor_file_map(const char *path, const char *name, rs_tensor_file *file, rs_err *err) {
  rs_status status;
  *file = (rs_tensor_file){0};
  if (rs_is_npy(path)) {
    status = rs_file_map(path, &file->mapping, err);
    if (status == RS_OK) status = rs_npy_describe(&file->mapping, path, &file->tensor, err);
  } else {
    status = rs_safetensors_map(path, &file->checkpoint, err);
    if (status == RS_OK) status = choose(path, name, file, err);
  }
  if (status != RS_OK) rs_tensor_file_clear(file);
  return status;
}

void rs_tensor_file_clear(rs_tensor_file *file) {
  rs_file_unmap(&file->mapping);
  rs_safetensors_free(file->checkpoint);
  *file = (rs_tensor_file){0};
}

/* ---- lists of numbers -------------------------------------------------------------------------------------------- */

const char *rs_numbers_tensor(const char *file) {
  static const char *const endings[] = {".safetensors:", ".safetensors.index.json:"};
  for (size_t i = 0; i < RS_COUNT(endings); i++) {
    const char *at = strstr(file, endings[i]);
    if (at != NULL) return at + strlen(endings[i]);
  }
  return NULL;
}

bool rs_numbers_named(const char *file) {
  return rs_plain_numbers_named(file) || rs_numbers_tensor(file) != NULL;
}

/* All numbers of a tensor, row by row. */
static rs_status read_tensor(const char *file, const char *name, double **list, size_t *count, rs_err *err) {
  RS_FREED char *path = rs_strdup(file, err);
  rs_tensor_file found = {0};
  if (path == NULL) return RS_MEMORY;
  path[name - file - 1] = '\0';
  RS_TRY(rs_tensor_file_map(path, name, &found, err));
  rs_status status = RS_OK;
  size_t numbers = found.tensor.count;
  if (numbers == 0 || numbers > RS_LARGEST_FILE / sizeof **list)
    status = rs_fail(err, RS_INPUT, "%s: has %zu numbers, must be from 1 to %zu", file, numbers,
                     RS_LARGEST_FILE / sizeof **list);
  if (status == RS_OK && (*list = rs_alloc(numbers, sizeof **list, err)) == NULL) status = RS_MEMORY;
  if (status == RS_OK) status = rs_stored_doubles(&found.tensor, 0, numbers, *list, err);
  for (size_t i = 0; i < numbers && status == RS_OK; i++)
    if (!isfinite((*list)[i])) status = rs_fail(err, RS_INPUT, "%s: number %zu is not finite", file, i);
  rs_tensor_file_clear(&found);
  if (status == RS_OK) {
    *count = numbers;
    return RS_OK;
  }
  free(*list);
  *list = NULL;
  return status;
}

rs_status rs_numbers_read(const char *file, double **list, size_t *count, rs_err *err) {
  const char *tensor = rs_numbers_tensor(file);
  *list = NULL;
  *count = 0;
  return tensor != NULL ? read_tensor(file, tensor, list, count, err) : rs_plain_numbers_read(file, list, count, err);
}
