/* The folder of a trained model. config.json comes before the first step, and again as the last file of all: as long as
 * it has no hash of the weights, training is not done. */
#include "training.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { HASH_SHOWN = 12 };

/* ---- its place --------------------------------------------------------------------------------------------------- */

static char *join(rs_arena *arena, const char *directory, const char *name) {
  size_t length = strlen(directory), size = length + strlen(name) + 2;
  char *path = rs_arena_take(arena, size, 1);
  const char *slash = length == 0 || directory[length - 1] == '/' ? "" : "/";
  if (path != NULL) snprintf(path, size, "%s%s%s", directory, slash, name);
  return path;
}

/* Named by what it holds, not by what a config calls it: a model of another name is the same one. */
rs_status rs_training_folder_make(const rs_trained *trained, const char *checkpoints, rs_training_folder *folder,
                                  rs_err *err) {
  char name[160];
  rs_arena *arena = &folder->arena;
  *folder = (rs_training_folder){.lock = -1};
  RS_TRY(rs_trained_fingerprint(trained, folder->hash, err));
  snprintf(name, sizeof name, "%s-%s-%.*s", trained->recipes[0].method->name, trained->task.task->kind.name, HASH_SHOWN,
           folder->hash);
  folder->path = join(arena, checkpoints, name);
  const char *path = folder->path != NULL ? folder->path : "";
  folder->config = join(arena, path, RS_TRAINED_CONFIG);
  folder->weights = join(arena, path, RS_TRAINED_WEIGHTS);
  folder->state = join(arena, path, RS_TRAINING_STATE);
  folder->log = join(arena, path, RS_TRAINING_CSV);
  rs_status status = rs_arena_check(arena, err);
  if (status != RS_OK) rs_training_folder_clear(folder);
  return status;
}

void rs_training_folder_clear(rs_training_folder *folder) {
  if (folder->lock != -1) close(folder->lock);
  rs_arena_clear(&folder->arena);
  *folder = (rs_training_folder){.lock = -1};
}

/* The directory itself is locked, which leaves nothing behind. Where a file system has no such locks (NFS), two
 * processes would both train, to the same weights, and each file would still appear whole. */
rs_status rs_training_folder_lock(rs_training_folder *folder, const rs_training_watch *watch, rs_err *err) {
  RS_TRY(rs_make_directories(folder->path, err));
  folder->lock = open(folder->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder->lock == -1) return rs_fail(err, RS_IO, "%s: cannot open: %s", folder->path, strerror(errno));
  int held = flock(folder->lock, LOCK_EX | LOCK_NB);
  bool busy = held != 0 && errno == EWOULDBLOCK;
  if (busy && watch != NULL && watch->wait != NULL) watch->wait(watch->context, folder->path);
  while (busy && flock(folder->lock, LOCK_EX) != 0 && errno == EINTR) continue;
  return RS_OK;
}

void rs_training_ready(const rs_training_watch *watch, const char *folder, const char *arithmetic) {
  if (watch != NULL && watch->ready != NULL && arithmetic != NULL) watch->ready(watch->context, folder, arithmetic);
}

/* ---- what stands in it ------------------------------------------------------------------------------------------- */

/* `moving` mends it. */
static rs_status refuse(const rs_training_folder *folder, const rs_err *why, bool moving, rs_err *err) {
  if (!moving) return rs_fail(err, why->status, "%s", why->message);
  return rs_fail(err, why->status, "%s (move %s away to train from the start)", why->message, folder->path);
}

rs_status rs_training_folder_read(const rs_training_folder *folder, rs_trained *trained, bool *there, rs_err *err) {
  char hash[65];
  rs_err why = {0};
  *trained = (rs_trained){0};
  *there = access(folder->config, F_OK) == 0;
  if (!*there) return RS_OK;
  rs_status status = rs_trained_read(folder->path, trained, &why);
  if (status == RS_OK) status = rs_trained_fingerprint(trained, hash, &why);
  if (status == RS_OK && strcmp(hash, folder->hash) == 0) return RS_OK;
  if (status == RS_OK)
    status = rs_fail(&why, RS_INPUT, "%s: was changed, or is of another model: its fingerprint is %.12s",
                     folder->config, hash);
  rs_trained_clear(trained);
  return refuse(folder, &why, status == RS_INPUT, err);
}

rs_status rs_training_folder_load(const rs_training_folder *folder, const rs_trained *trained,
                                  rs_transformer **transformer, rs_err *err) {
  char hash[65];
  rs_err why = {0};
  *transformer = NULL;
  (void)unlink(folder->state); /* there where the end came just before its removal */
  rs_status status = rs_sha256_file(folder->weights, hash, &why);
  if (status == RS_OK && strcmp(hash, trained->weights) != 0)
    status = rs_fail(&why, RS_INPUT, "%s: its SHA-256 is %.12s..., and %.12s... was written", folder->weights, hash,
                     trained->weights);
  if (status == RS_OK) status = rs_trained_load(trained, folder->path, transformer, &why);
  return status == RS_OK ? RS_OK : refuse(folder, &why, status == RS_INPUT || status == RS_IO, err);
}

/* ---- what is written to it --------------------------------------------------------------------------------------- */

/* Clears the text. */
static rs_status write_text(const char *path, rs_text *text, rs_err *err) {
  rs_status status = rs_text_check(text, err);
  if (status == RS_OK) status = rs_file_write(path, rs_text_string(text), text->length, err);
  rs_text_clear(text);
  return status;
}

rs_status rs_training_folder_write(const rs_training_folder *folder, const rs_trained *trained, rs_err *err) {
  rs_text json = {0};
  rs_status status = rs_trained_write(trained, &json, err);
  if (status == RS_OK) return write_text(folder->config, &json, err);
  rs_text_clear(&json);
  return status;
}

rs_status rs_training_folder_log(const rs_training_folder *folder, const rs_train_step *history, size_t steps,
                                 rs_err *err) {
  rs_text csv = {0};
  rs_text_puts(&csv, "step,loss_nats,gradient_norm,learning_rate\n");
  for (size_t i = 0; i < steps; i++) {
    const double row[] = {(double)history[i].step, history[i].loss, history[i].gradient_norm, history[i].rate};
    for (size_t c = 0; c < RS_COUNT(row); c++) rs_csv_number(&csv, row[c]);
    rs_csv_end_row(&csv);
  }
  return write_text(folder->log, &csv, err);
}

rs_status rs_training_folder_finish(const rs_training_folder *folder, rs_trained *trained,
                                    const rs_transformer *transformer, const rs_train_step *history, rs_err *err) {
  RS_TRY(rs_weights_write(transformer, folder->weights, err));
  RS_TRY(rs_sha256_file(folder->weights, trained->weights, err));
  trained->steps = trained->training.steps;
  RS_TRY(rs_training_folder_log(folder, history, trained->steps, err));
  RS_TRY(rs_training_folder_write(folder, trained, err));
  return rs_file_remove(folder->path, RS_TRAINING_STATE, err);
}
