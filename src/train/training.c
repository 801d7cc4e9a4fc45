/* A model that is wanted: loaded where its training is done, else trained, with what it takes to go on brought to the
 * disk every half minute. Its folder has config.json before the first step, and again as the last file of all: as long
 * as it has no hash of the weights, training is not done. */
#include "training.h"

#include "kernel/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { HASH_SHOWN = 12 }; /* digits in the name of a folder */

/* ---- the folder -------------------------------------------------------------------------------------------------- */

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
static rs_status lock_folder(rs_training_folder *folder, const rs_training_watch *watch, rs_err *err) {
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

static rs_status load_folder(const rs_training_folder *folder, const rs_trained *trained, rs_transformer **transformer,
                             rs_err *err) {
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

static rs_status write_config(const rs_training_folder *folder, const rs_trained *trained, rs_err *err) {
  rs_text json = {0};
  rs_status status = rs_trained_write(trained, &json, err);
  if (status == RS_OK) return write_text(folder->config, &json, err);
  rs_text_clear(&json);
  return status;
}

static rs_status write_log(const rs_training_folder *folder, const rs_train_step *history, size_t steps, rs_err *err) {
  rs_text csv = {0};
  rs_text_puts(&csv, "step,loss_nats,gradient_norm,learning_rate\n");
  for (size_t i = 0; i < steps; i++) {
    const double row[] = {(double)history[i].step, history[i].loss, history[i].gradient_norm, history[i].rate};
    for (size_t c = 0; c < RS_COUNT(row); c++) rs_csv_number(&csv, row[c]);
    rs_csv_end_row(&csv);
  }
  return write_text(folder->log, &csv, err);
}

static rs_status finish_folder(const rs_training_folder *folder, rs_trained *trained, const rs_transformer *transformer,
                               const rs_train_step *history, rs_err *err) {
  RS_TRY(rs_weights_write(transformer, folder->weights, err));
  RS_TRY(rs_sha256_file(folder->weights, trained->weights, err));
  trained->steps = trained->training.steps;
  RS_TRY(write_log(folder, history, trained->steps, err));
  RS_TRY(write_config(folder, trained, err));
  return rs_file_remove(folder->path, RS_TRAINING_STATE, err);
}

/* Losing that much is no loss; writing that often costs nothing. */
static const double save_interval = 30; /* seconds */

/* Training under way. */
typedef struct session {
  const rs_training_job *job;
  rs_training_folder folder; /* path NULL: nothing is kept */
  rs_trained made;           /* the job's, with steps and arithmetic; borrows all but the latter */
  rs_transformer *transformer;
  rs_trainer *trainer;
  rs_train_step *history; /* (steps,) */
  size_t saved;           /* the step whose state stands on the disk */
  double saved_at;        /* seconds */
} session;

/* ---- begin, or go on --------------------------------------------------------------------------------------------- */

/* The instruction set that computes it here, which its last bits depend on, behind those that did before. */
static rs_status note_arithmetic(session *s, const char *before, rs_err *err) {
  rs_text words = {0};
  const char *here = rs_kernels_get()->isa;
  if (before != NULL) rs_text_puts(&words, before);
  if (before == NULL || strstr(before, here) == NULL) rs_text_printf(&words, "%s%s", before != NULL ? "; " : "", here);
  s->made.arithmetic = words.data;
  return rs_text_check(&words, err);
}

static size_t weight_bytes(const session *s) {
  return s->transformer->size * (s->transformer->format == RS_F64 ? sizeof(double) : sizeof(float));
}

/* Weights and history of the state that was left, if any; its moments are for the trainer. */
static rs_status read_state(session *s, rs_train_saved *saved, rs_err *err) {
  rs_err why = {0};
  const char *path = s->folder.state;
  if (access(path, F_OK) != 0) return RS_OK;
  rs_status status = rs_train_saved_read(s->transformer, s->folder.hash, path, saved, &why);
  if (status == RS_OK && saved->step > s->made.training.steps)
    status = rs_fail(&why, RS_INPUT, "%s: is after step %zu of %zu", path, saved->step, s->made.training.steps);
  if (status == RS_INPUT) return rs_fail(err, status, "%s (move it away to train from the start)", why.message);
  if (status != RS_OK) return rs_fail(err, status, "%s", why.message);
  memcpy(s->transformer->values, saved->values, weight_bytes(s));
  memcpy(s->history, saved->history, saved->step * sizeof *s->history);
  s->saved = saved->step;
  return RS_OK;
}

/* Of several checkpoints, which cannot be made, and whether it is its training or its tuning. */
static rs_status fail_named(const session *s, const rs_err *why, rs_err *err) {
  return rs_fail(err, why->status, "checkpoint %s cannot be %s: %s", s->made.geometry.name,
                 s->job->origin != NULL ? "tuned" : "trained", why->message);
}

/* The trainer reads what the model has learned as it is made, so weights come before it. */
static rs_status make_trainer(session *s, const rs_train_saved *saved, rs_err *err) {
  rs_err why = {0};
  if (rs_trainer_create(s->transformer, &s->made.training, s->job->task, s->made.seed, &s->trainer, &why) != RS_OK)
    return fail_named(s, &why, err);
  if (s->job->teacher != NULL && rs_trainer_teach(s->trainer, s->job->teacher, &why) != RS_OK)
    return fail_named(s, &why, err);
  rs_train_state *state = rs_trainer_state(s->trainer);
  state->drawn = s->made.drawn;
  if (saved->step == 0) return RS_OK;
  state->step = saved->step;
  memcpy(state->first, saved->first, weight_bytes(s));
  memcpy(state->second, saved->second, weight_bytes(s));
  return RS_OK;
}

static rs_status begin(session *s, const char *arithmetic, rs_err *err) {
  rs_train_saved saved = {0};
  s->history = rs_alloc(s->made.training.steps, sizeof *s->history, err);
  if (s->history == NULL) return RS_MEMORY;
  RS_TRY(note_arithmetic(s, arithmetic, err));
  rs_err why = {0};
  if (rs_trained_create(&s->made, false, &s->transformer, &why) != RS_OK) return fail_named(s, &why, err);
  if (s->job->origin != NULL) (void)rs_transformer_adopt(s->transformer, s->job->origin);
  rs_status status = s->folder.path != NULL ? read_state(s, &saved, err) : RS_OK;
  if (status == RS_OK) status = make_trainer(s, &saved, err);
  rs_train_saved_clear(&saved);
  s->made.steps = s->saved;
  s->saved_at = rs_seconds();
  return status == RS_OK && s->folder.path != NULL ? write_config(&s->folder, &s->made, err) : status;
}

/* ---- steps ------------------------------------------------------------------------------------------------------- */

/* Brings the state to the disk; weights that are no numbers any more leave the older one there. */
static rs_status save(session *s, rs_err *err) {
  const rs_train_state *state = rs_trainer_state(s->trainer);
  if (s->folder.path == NULL || state->step == s->saved) return RS_OK;
  rs_err why = {0};
  rs_status status = rs_train_state_write(s->transformer, state, s->history, s->folder.hash, s->folder.state, &why);
  if (status == RS_DOMAIN)
    return rs_fail(err, status, "training diverged by step %zu, after which not all numbers are finite: %s",
                   state->step, why.message);
  if (status != RS_OK) return rs_fail(err, status, "%s", why.message);
  s->saved = state->step;
  s->saved_at = rs_seconds();
  return write_log(&s->folder, s->history, s->saved, err);
}

/* A failure, and where the last good state stands. */
static rs_status fail_with_state(const session *s, const rs_err *why, rs_err *err) {
  if (s->folder.path == NULL || s->saved == 0) return rs_fail(err, why->status, "%s", why->message);
  return rs_fail(err, why->status, "%s; the state after step %zu is kept in %s/" RS_TRAINING_STATE, why->message,
                 s->saved, s->folder.path);
}

static rs_status stop(session *s, rs_err *err) {
  rs_err why = {0};
  if (save(s, &why) != RS_OK) return fail_with_state(s, &why, err);
  size_t step = rs_trainer_state(s->trainer)->step, steps = s->made.training.steps;
  if (s->folder.path == NULL)
    return rs_fail(err, RS_STOPPED, "training stopped after step %zu of %zu, and nothing is kept", step, steps);
  return rs_fail(err, RS_STOPPED, "training stopped after step %zu of %zu: the same command goes on from %s", step,
                 steps, s->folder.path);
}

/* Tells the watch; false: it wants an end. */
static bool tell(const session *s, size_t begun, double start) {
  const rs_training_watch *watch = s->job->watch;
  if (watch == NULL || watch->step == NULL) return true;
  size_t step = rs_trainer_state(s->trainer)->step;
  const rs_training *training = &s->made.training;
  double seconds = rs_seconds() - start, tokens = (double)(training->sequences * training->length);
  const rs_training_report report = {.checkpoint = s->made.geometry.name,
                                     .seed = s->made.seed,
                                     .tuning = s->job->origin != NULL,
                                     .step = step,
                                     .steps = training->steps,
                                     .loss = s->history[step - 1].loss,
                                     .tokens_per_second = tokens * (double)(step - begun) / fmax(seconds, 1e-9)};
  return watch->step(watch->context, &report);
}

static rs_status train(session *s, rs_err *err) {
  const rs_training_watch *watch = s->job->watch;
  double interval = watch != NULL && watch->save_interval > 0 ? watch->save_interval : save_interval,
         start = rs_seconds();
  size_t steps = s->made.training.steps, begun = s->saved;
  for (size_t step = begun; step < steps;) {
    rs_err why = {0};
    rs_status status = rs_trainer_step(s->trainer, &s->history[step], &why);
    if (status != RS_OK) {
      (void)save(s, NULL); /* what can be; why it ended is told */
      return fail_with_state(s, &why, err);
    }
    step++;
    bool wanted = tell(s, begun, start);
    if (!wanted && step < steps) return stop(s, err);
    if (rs_seconds() - s->saved_at < interval || step == steps) continue;
    if (save(s, &why) != RS_OK) return fail_with_state(s, &why, err);
  }
  return RS_OK;
}

/* ---- obtaining --------------------------------------------------------------------------------------------------- */

static rs_status run_session(session *s, const char *arithmetic, rs_transformer **transformer, rs_err *err) {
  const rs_training_watch *watch = s->job->watch;
  rs_err why = {0};
  rs_status status = begin(s, arithmetic, err);
  if (status == RS_OK) status = train(s, err);
  if (status == RS_OK && s->folder.path != NULL &&
      finish_folder(&s->folder, &s->made, s->transformer, s->history, &why) != RS_OK)
    status = fail_with_state(s, &why, err);
  rs_trainer_free(s->trainer);
  free(s->history);
  if (status == RS_OK) rs_training_ready(watch, s->folder.path, s->made.arithmetic);
  free(s->made.arithmetic);
  if (status == RS_OK)
    *transformer = s->transformer;
  else
    rs_transformer_free(s->transformer);
  return status;
}

/* Loads the model where its training is done; *found says what has begun, if anything. */
static rs_status find(const rs_training_folder *folder, const rs_training_watch *watch, rs_trained *found,
                      rs_transformer **transformer, rs_err *err) {
  bool there;
  RS_TRY(rs_training_folder_read(folder, found, &there, err));
  if (!there || *found->weights == '\0') return RS_OK;
  RS_TRY(load_folder(folder, found, transformer, err));
  rs_training_ready(watch, folder->path, found->arithmetic);
  return RS_OK;
}

rs_status rs_training_find(const rs_training_job *job, rs_transformer **transformer, rs_err *err) {
  rs_training_folder folder;
  rs_trained found = {0};
  *transformer = NULL;
  if (job->checkpoints == NULL) return RS_OK;
  RS_TRY(rs_training_folder_make(job->trained, job->checkpoints, &folder, err));
  rs_status status = find(&folder, job->watch, &found, transformer, err);
  rs_trained_clear(&found);
  rs_training_folder_clear(&folder);
  return status;
}

rs_status rs_training_obtain(const rs_training_job *job, rs_transformer **transformer, rs_err *err) {
  session s = {.job = job, .folder = {.lock = -1}, .made = *job->trained};
  rs_trained found = {0};
  rs_status status = RS_OK;
  *transformer = NULL;
  s.made.arithmetic = NULL;
  s.made.weights[0] = '\0';
  if (job->checkpoints != NULL) {
    status = rs_training_folder_make(job->trained, job->checkpoints, &s.folder, err);
    if (status == RS_OK) status = find(&s.folder, job->watch, &found, transformer, err);
    if (status != RS_OK || *transformer != NULL) goto out;
    rs_trained_clear(&found); /* another process may have gone on meanwhile */
    status = lock_folder(&s.folder, job->watch, err);
    if (status == RS_OK) status = find(&s.folder, job->watch, &found, transformer, err);
    if (status != RS_OK || *transformer != NULL) goto out;
  }
  status = run_session(&s, found.arithmetic, transformer, err);
out:
  rs_trained_clear(&found);
  rs_training_folder_clear(&s.folder);
  return status;
}
