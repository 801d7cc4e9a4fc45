/* The folder of a trained model. config.json comes before the first step, and again as the last file of all: as long as
 * it has no hash of the weights, training is not done. */
#include "training.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { HASH_SHOWN = 12 };

/* ---- its place --------------------------------------------------------------------------------------------------- */

/* Named by what it holds, not by what a config calls it: a model of another name is the same one. */
rs_status rs_training_folder_make(const rs_trained *trained, const char *checkpoints, rs_training_folder *folder,
                                  rs_err *err) {
  rs_text name = {0};
  *folder = (rs_training_folder){.lock = -1};
  RS_TRY(rs_trained_fingerprint(trained, folder->hash, err));
  rs_text_printf(&name, "%s-%s-%.*s", trained->recipes[0].method->name, trained->task.task->kind.name, HASH_SHOWN,
                 folder->hash);
  rs_status status = rs_text_check(&name, err);
  if (status == RS_OK) folder->path = rs_path_join(checkpoints, rs_text_string(&name), err);
  rs_text_clear(&name);
  return status == RS_OK && folder->path == NULL ? RS_MEMORY : status;
}

void rs_training_folder_clear(rs_training_folder *folder) {
  if (folder->lock != -1) close(folder->lock);
  free(folder->path);
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

static rs_status refuse(const rs_training_folder *folder, rs_status status, const char *why, rs_err *err) {
  return rs_fail(err, status, "%s (move %s away to train from the start)", why, folder->path);
}

rs_status rs_training_folder_read(const rs_training_folder *folder, rs_trained *trained, bool *there, rs_err *err) {
  char hash[65], *config = rs_path_join(folder->path, RS_TRAINED_CONFIG, err);
  rs_err why = {0};
  *trained = (rs_trained){0};
  if (config == NULL) return RS_MEMORY;
  *there = access(config, F_OK) == 0;
  rs_status status = *there ? rs_trained_read(folder->path, trained, &why) : RS_OK;
  if (*there && status == RS_OK) status = rs_trained_fingerprint(trained, hash, &why);
  if (*there && status == RS_OK && strcmp(hash, folder->hash) != 0)
    status = rs_fail(&why, RS_INPUT, "%s: was changed, or is of another model: its fingerprint is %.12s", config, hash);
  if (status == RS_INPUT)
    status = refuse(folder, status, why.message, err);
  else if (status != RS_OK)
    status = rs_fail(err, status, "%s", why.message);
  if (status != RS_OK) rs_trained_clear(trained);
  free(config);
  return status;
}

static rs_status check_weights(const char *weights, const char *wanted, rs_err *err) {
  char hash[65];
  RS_TRY(rs_sha256_file(weights, hash, err));
  if (strcmp(hash, wanted) == 0) return RS_OK;
  return rs_fail(err, RS_INPUT, "%s: its SHA-256 is %.12s..., and %.12s... was written", weights, hash, wanted);
}

rs_status rs_training_folder_load(const rs_training_folder *folder, const rs_trained *trained,
                                  rs_transformer **transformer, rs_err *err) {
  rs_err why = {0};
  *transformer = NULL;
  (void)rs_file_remove(folder->path, RS_TRAINING_STATE, NULL); /* there where the end came just before its removal */
  char *weights = rs_path_join(folder->path, RS_TRAINED_WEIGHTS, err);
  if (weights == NULL) return RS_MEMORY;
  rs_status status = check_weights(weights, trained->weights, &why);
  if (status == RS_OK) status = rs_trained_load(trained, folder->path, transformer, &why);
  free(weights);
  if (status == RS_INPUT || status == RS_IO) return refuse(folder, status, why.message, err);
  return status != RS_OK ? rs_fail(err, status, "%s", why.message) : RS_OK;
}

/* ---- what is written to it --------------------------------------------------------------------------------------- */

static rs_status write_text(const rs_training_folder *folder, const char *name, const rs_text *text, rs_err *err) {
  char *path = rs_path_join(folder->path, name, err);
  if (path == NULL) return RS_MEMORY;
  rs_status status = rs_text_check(text, err);
  if (status == RS_OK) status = rs_file_write(path, rs_text_string(text), text->length, err);
  free(path);
  return status;
}

rs_status rs_training_folder_write(const rs_training_folder *folder, const rs_trained *trained, rs_err *err) {
  rs_text json = {0};
  rs_status status = rs_trained_write(trained, &json, err);
  if (status == RS_OK) status = write_text(folder, RS_TRAINED_CONFIG, &json, err);
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
  rs_status status = write_text(folder, RS_TRAINING_CSV, &csv, err);
  rs_text_clear(&csv);
  return status;
}

rs_status rs_training_folder_finish(const rs_training_folder *folder, rs_trained *trained,
                                    const rs_transformer *transformer, const rs_train_step *history, rs_err *err) {
  char *weights = rs_path_join(folder->path, RS_TRAINED_WEIGHTS, err);
  rs_status status = weights != NULL ? rs_weights_write(transformer, weights, err) : RS_MEMORY;
  if (status == RS_OK) status = rs_sha256_file(weights, trained->weights, err);
  trained->steps = trained->training.steps;
  if (status == RS_OK) status = rs_training_folder_log(folder, history, trained->steps, err);
  if (status == RS_OK) status = rs_training_folder_write(folder, trained, err);
  if (status == RS_OK) status = rs_file_remove(folder->path, RS_TRAINING_STATE, err);
  free(weights);
  return status;
}
