/* Training that is kept in a folder: the same bytes however often it is stopped, by however many threads; what stands
 * there is used, gone on with, or refused by name. */
#include "../fixtures/scratch.h"
#include "../fixtures/small_training.h"
#include "../fixtures/trained_folder.h"

#include "kernel/kernel.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <omp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(training, .init = enter_scratch);

/* ---- the same bytes ---------------------------------------------------------------------------------------------- */

Test(training, stopped_and_resumed__any_step_and_threads__same_bytes) {
  static const size_t stops[] = {1, 7, 20, 29};
  for (rs_format format = RS_F64; format <= RS_F32; format++) {
    small_training s;
    rs_err err = {0};
    small_training_fill(&s, RS_DECODER, format);
    small_training_recipe(&s, "t5", ""); /* with learned numbers, which are read as training begins */
    char *whole = obtained(&s, "whole", 0), *log = file_of(&s, "whole", "training.csv", NULL);
    for (size_t i = 0; i < RS_COUNT(stops); i++) {
      omp_set_num_threads((int)(i % 3) + 1);
      cr_assert_eq(obtain_until(&s, "parts", stops[i], &err), RS_STOPPED, "%s", err.message);
      omp_set_num_threads((int)((i + 1) % 3) + 1);
      char *parts = obtained(&s, "parts", 0), *again = file_of(&s, "parts", "training.csv", NULL);
      cr_expect_eq(memcmp(whole, parts, weight_bytes(&s)), 0, "stopped behind step %zu", stops[i]);
      cr_expect_str_eq(log, again);
      cr_expect_eq(count_lines(again), 31);
      free(parts);
      free(again);
      remove_all("parts");
      err = (rs_err){0};
    }
    free(whole);
    free(log);
    remove_all("whole");
    small_training_clear(&s);
  }
  leaves(NULL, 0);
}

Test(training, stopped_at_every_third_step__same_bytes) {
  small_training s;
  small_training_fill(&s, RS_DECODER, RS_F32);
  small_training_recipe(&s, "random_rope", ""); /* positions are drawn by the step, */
  s.trained.training.dropout = 0.1;             /* and what is dropped by its sequences */
  char *whole = obtained(&s, NULL, 0), *parts = NULL;
  for (size_t step = 3; step < 30; step += 3) {
    rs_err err = {0};
    cr_assert_eq(obtain_until(&s, "parts", step, &err), RS_STOPPED, "%s", err.message);
  }
  parts = obtained(&s, "parts", 0);
  cr_expect_eq(memcmp(whole, parts, weight_bytes(&s)), 0);
  free(whole);
  free(parts);
  remove_all("parts");
  small_training_clear(&s);
  leaves(NULL, 0);
}

/* ---- what stands in the folder ----------------------------------------------------------------------------------- */

Test(training, done__is_loaded_and_trained_no_more) {
  small_training s;
  small_training_fill(&s, RS_DECODER, RS_F64);
  char *first = obtained(&s, "models", 0);
  size_t steps = 0;
  char *second = obtained(&s, "models", &steps);
  cr_expect_eq(steps, 0, "%zu steps were done again", steps);
  cr_expect_eq(memcmp(first, second, weight_bytes(&s)), 0);
  char *names = folder_names(&s, "models");
  cr_expect_str_eq(names, "config.json model.safetensors training.csv");
  rs_trained found;
  rs_err err = {0};
  char *path = folder_path(&s, "models");
  cr_assert_eq(rs_trained_read(path, &found, &err), RS_OK, "%s", err.message);
  cr_expect_eq(found.steps, 30);
  cr_expect_str_eq(found.arithmetic, rs_kernels_get()->isa);
  rs_trained_clear(&found);
  free(names);
  free(path);
  free(first);
  free(second);
  remove_all("models");
  small_training_clear(&s);
  leaves(NULL, 0);
}

Test(training, stopped__folder_holds_state_and_log) {
  small_training s;
  rs_err err = {0};
  char wanted[300];
  small_training_fill(&s, RS_DECODER, RS_F32);
  cr_assert_eq(obtain_until(&s, "models", 7, &err), RS_STOPPED);
  char *path = folder_path(&s, "models"), *names = folder_names(&s, "models");
  snprintf(wanted, sizeof wanted, "training stopped after step 7 of 30: the same command goes on from %s", path);
  cr_expect_str_eq(err.message, wanted);
  cr_expect_str_eq(names, "config.json training.csv training.safetensors");
  char *log = file_of(&s, "models", "training.csv", NULL);
  cr_expect_eq(count_lines(log), 8);
  cr_expect_eq(strncmp(log, "step,loss_nats,gradient_norm,learning_rate\n1,", 45), 0, "%s", log);
  free(log);
  free(path);
  free(names);
  remove_all("models");
  small_training_clear(&s);
  leaves(NULL, 0);
}

Test(training, stopped_without_a_folder__nothing_is_kept) {
  small_training s;
  rs_err err = {0};
  small_training_fill(&s, RS_DECODER, RS_F32);
  cr_assert_eq(obtain_until(&s, NULL, 7, &err), RS_STOPPED);
  cr_expect_str_eq(err.message, "training stopped after step 7 of 30, and nothing is kept");
  small_training_clear(&s);
  leaves(NULL, 0);
}

Test(training, saved_every_step__same_as_at_the_end) {
  small_training s;
  small_training_fill(&s, RS_DECODER, RS_F32);
  s.trained.training.steps = 5;
  trained_watch w = {.watch = {.save_interval = 1e-9}};
  rs_err err = {0};
  rs_transformer *t;
  cr_assert_eq(obtain_with(&s, "models", &w, &t, &err), RS_OK, "%s", err.message);
  char *plain = obtained(&s, NULL, 0);
  cr_expect_eq(memcmp(plain, t->values, weight_bytes(&s)), 0);
  rs_transformer_free(t);
  free(plain);
  remove_all("models");
  small_training_clear(&s);
  leaves(NULL, 0);
}

/* ---- damage ------------------------------------------------------------------------------------------------------ */

static void fails_with(const small_training *s, rs_status status, const char *format, const char *folder) {
  rs_err err = {0};
  rs_transformer *t = NULL;
  trained_watch w = {0};
  char wanted[1024];
  snprintf(wanted, sizeof wanted, format, folder, folder);
  cr_expect_eq(obtain_with(s, "models", &w, &t, &err), status, "%s", err.message);
  cr_expect_str_eq(err.message, wanted, "got:  %s\nwant: %s", err.message, wanted);
  cr_expect_null(t);
}

/* Each bit of the state counts, but for the metadata that the format begins with; and it is never begun anew behind the
 * user's back. */
Test(training, damaged_state__any_byte__is_refused) {
  small_training s;
  rs_err err = {0};
  size_t length;
  small_training_fill(&s, RS_DECODER, RS_F32);
  cr_assert_eq(obtain_until(&s, "models", 3, &err), RS_STOPPED);
  char *path = folder_path(&s, "models"), *data = file_of(&s, "models", "training.safetensors", &length);
  const size_t metadata = 40;
  for (size_t i = 0; i < length; i += i < 8 ? 1 : 1 + i % 211) {
    if (i >= 8 && i < metadata) continue;
    rs_transformer *t = NULL;
    trained_watch w = {0};
    rs_err why = {0};
    data[i] = (char)(data[i] ^ 1);
    put_file(path, "training.safetensors", data, length);
    cr_expect_eq(obtain_with(&s, "models", &w, &t, &why), RS_INPUT, "byte %zu", i);
    cr_expect_not_null(strstr(why.message, "/training.safetensors"), "%s", why.message);
    cr_expect_not_null(strstr(why.message, " (move it away to train from the start)"), "%s", why.message);
    data[i] = (char)(data[i] ^ 1);
  }
  put_file(path, "training.safetensors", data, length - 8);
  cr_expect_eq(obtain_until(&s, "models", 9, NULL), RS_INPUT);
  data[length - 200] ^= 4;
  put_file(path, "training.safetensors", data, length);
  fails_with(&s, RS_INPUT,
             "%s/training.safetensors: is damaged: numbers have changed (move it away to train from the start)", path);
  free(data);
  free(path);
  remove_all("models");
  small_training_clear(&s);
  leaves(NULL, 0);
}

Test(training, state_of_another_training__is_refused) {
  small_training s;
  rs_err err = {0};
  size_t length;
  small_training_fill(&s, RS_DECODER, RS_F32);
  cr_assert_eq(obtain_until(&s, "models", 3, &err), RS_STOPPED);
  char *data = file_of(&s, "models", "training.safetensors", &length);
  s.trained.seed++;
  cr_assert_eq(obtain_until(&s, "models", 3, NULL), RS_STOPPED);
  char *path = folder_path(&s, "models");
  put_file(path, "training.safetensors", data, length);
  fails_with(&s, RS_INPUT, "%s/training.safetensors: is of another training (move it away to train from the start)",
             path);
  free(data);
  free(path);
  remove_all("models");
  small_training_clear(&s);
  leaves(NULL, 0);
}

Test(training, changed_folder__is_refused) {
  small_training s;
  rs_err err = {0};
  size_t length;
  small_training_fill(&s, RS_DECODER, RS_F32);
  s.trained.training.steps = 3;
  free(obtained(&s, "models", 0));
  char *path = folder_path(&s, "models"), *data = file_of(&s, "models", "model.safetensors", &length);
  data[length - 1] ^= 1;
  put_file(path, "model.safetensors", data, length);
  rs_transformer *t = NULL;
  trained_watch w = {0};
  cr_expect_eq(obtain_with(&s, "models", &w, &t, &err), RS_INPUT);
  cr_expect_not_null(strstr(err.message, "/model.safetensors: its SHA-256 is "), "%s", err.message);
  cr_expect_not_null(strstr(err.message, " away to train from the start)"), "%s", err.message);
  data[length - 1] ^= 1;
  put_file(path, "model.safetensors", data, length);
  free(obtained(&s, "models", 0));
  free(data);
  data = file_of(&s, "models", "config.json", &length);
  char *rate = strstr(data, "\"rate\": 0.01");
  cr_assert_not_null(rate);
  memcpy(rate, "\"rate\": 0.02", 12);
  put_file(path, "config.json", data, length);
  err = (rs_err){0};
  cr_expect_eq(obtain_with(&s, "models", &w, &t, &err), RS_INPUT);
  cr_expect_not_null(strstr(err.message, "/config.json: was changed, or is of another model"), "%s", err.message);
  put_file(path, "config.json", "{}", 2);
  fails_with(&s, RS_INPUT,
             "%s/config.json:1:1: has no object \"ropescope\": no model that this program has trained (move %s away to "
             "train from the start)",
             path);
  remove_file(path, "config.json");
  remove_file(path, "model.safetensors");
  free(obtained(&s, "models", 0));
  remove_file(path, "model.safetensors");
  err = (rs_err){0};
  cr_expect_eq(obtain_with(&s, "models", &w, &t, &err), RS_IO);
  cr_expect_not_null(strstr(err.message, "/model.safetensors: cannot read: No such file"), "%s", err.message);
  free(data);
  free(path);
  remove_all("models");
  small_training_clear(&s);
  leaves(NULL, 0);
}

/* ---- what goes wrong on the way ---------------------------------------------------------------------------------- */

Test(training, diverging__last_good_state_is_kept_and_named) {
  small_training s;
  rs_err err = {0};
  rs_transformer *t = NULL;
  trained_watch w = {0};
  char wanted[400];
  small_training_fill(&s, RS_DECODER, RS_F32);
  s.trained.training.rate = 10;
  s.trained.training.decay = 3; /* matrices grow by -29 a step, until products of them have no number */
  s.trained.training.warmup = 0;
  cr_expect_eq(obtain_with(&s, "models", &w, &t, &err), RS_DOMAIN);
  cr_expect_not_null(strstr(err.message, "training diverged "), "%s", err.message);
  char *path = folder_path(&s, "models");
  snprintf(wanted, sizeof wanted, "is kept in %s/training.safetensors", path);
  cr_expect_not_null(strstr(err.message, wanted), "%s", err.message);
  cr_expect_not_null(strstr(err.message, "; the state after step "), "%s", err.message);
  rs_err again = {0};
  cr_expect_eq(obtain_with(&s, "models", &w, &t, &again), RS_DOMAIN);
  cr_expect_str_eq(again.message, err.message);
  free(path);
  remove_all("models");
  small_training_clear(&s);
  leaves(NULL, 0);
}

static rlim_t limit_files(rlim_t bytes) {
  struct rlimit now;
  getrlimit(RLIMIT_FSIZE, &now);
  rlim_t before = now.rlim_cur;
  now.rlim_cur = bytes;
  setrlimit(RLIMIT_FSIZE, &now);
  return before;
}

/* As on a full disk: the older state stays, and is gone on from once there is room. */
Test(training, no_room__older_state_stays) {
  small_training s;
  rs_err err = {0};
  rs_transformer *t = NULL;
  trained_watch w = {.watch = {.save_interval = 1e-9}};
  signal(SIGXFSZ, SIG_IGN);
  small_training_fill(&s, RS_DECODER, RS_F32);
  char *whole = obtained(&s, NULL, 0);
  cr_assert_eq(obtain_until(&s, "models", 7, &err), RS_STOPPED);
  err = (rs_err){0};
  rlim_t before = limit_files(4096 * 3); /* config.json has room */
  for (size_t i = 0; i < 2; i++) {       /* when it is time to save, and when the user stops it */
    rs_status status = i == 0 ? obtain_with(&s, "models", &w, &t, &err) : obtain_until(&s, "models", 9, &err);
    cr_expect_eq(status, RS_IO, "%s", err.message);
    cr_expect_not_null(strstr(err.message, "/training.safetensors: cannot write: File too large; the state after step "
                                           "7 is kept in models/"),
                       "%s", err.message);
    err = (rs_err){0};
  }
  limit_files(before);
  char *names = folder_names(&s, "models"), *rest = obtained(&s, "models", 0);
  cr_expect_str_eq(names, "config.json training.csv training.safetensors");
  cr_expect_eq(memcmp(whole, rest, weight_bytes(&s)), 0);
  free(names);
  free(rest);
  free(whole);
  remove_all("models");
  small_training_clear(&s);
  leaves(NULL, 0);
}

Test(training, folder_that_cannot_be_made__is_named) {
  small_training s;
  rs_err err = {0};
  rs_transformer *t = NULL;
  trained_watch w = {0};
  small_training_fill(&s, RS_DECODER, RS_F32);
  put_file(".", "models", "", 0);
  cr_expect_eq(obtain_with(&s, "models", &w, &t, &err), RS_IO);
  cr_expect_str_eq(err.message, "models: cannot make the directory: Not a directory");
  small_training_clear(&s);
  const char *const left[] = {"models"};
  leaves(left, RS_COUNT(left));
}

/* ---- several processes ------------------------------------------------------------------------------------------- */

/* Four processes want one model: one trains, and all have it. */
Test(training, several_processes__one_trains) {
  enum { PROCESSES = 4 };
  small_training s;
  pid_t children[PROCESSES];
  small_training_fill(&s, RS_DECODER, RS_F32);
  s.trained.training.steps = 200;
  char *alone = obtained(&s, NULL, 0);
  for (size_t i = 0; i < PROCESSES; i++) {
    children[i] = fork();
    if (children[i] != 0) continue;
    size_t steps = 0;
    rs_transformer *t = NULL;
    trained_watch w = {.watch = {.save_interval = 1e-9}};
    omp_set_num_threads(1);
    bool good = obtain_with(&s, "models", &w, &t, NULL) == RS_OK && memcmp(alone, t->values, weight_bytes(&s)) == 0;
    steps = w.steps;
    _exit(!good ? 2 : steps == 200 ? 1 : steps == 0 ? 0 : 3);
  }
  size_t trained = 0;
  for (size_t i = 0; i < PROCESSES; i++) {
    int status;
    waitpid(children[i], &status, 0);
    cr_expect(WIFEXITED(status) && WEXITSTATUS(status) <= 1, "child %zu: %x", i, status);
    trained += WEXITSTATUS(status) == 1;
  }
  cr_expect_eq(trained, 1);
  free(alone);
  remove_all("models");
  small_training_clear(&s);
  leaves(NULL, 0);
}

/* Whoever is killed leaves its last state to the next. */
Test(training, killed__next_goes_on) {
  small_training s;
  int status;
  small_training_fill(&s, RS_DECODER, RS_F32);
  char *alone = obtained(&s, NULL, 0);
  pid_t child = fork();
  if (child == 0) {
    rs_transformer *t = NULL;
    trained_watch w = {.watch = {.save_interval = 1e-9}, .kill_at = 11};
    omp_set_num_threads(1);
    (void)obtain_with(&s, "models", &w, &t, NULL);
    _exit(0);
  }
  waitpid(child, &status, 0);
  cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  size_t steps = 0;
  char *rest = obtained(&s, "models", &steps);
  cr_expect_eq(steps, 20, "%zu steps", steps); /* step 11 was not saved yet */
  cr_expect_eq(memcmp(alone, rest, weight_bytes(&s)), 0);
  free(alone);
  free(rest);
  remove_all("models");
  small_training_clear(&s);
  leaves(NULL, 0);
}

/* ---- tuning ------------------------------------------------------------------------------------------------------ */

/* A model that goes on from another has a folder of its own, and begins with the other's weights. */
Test(training, tuned__starts_from_its_origin) {
  small_training s;
  rs_err err = {0};
  rs_transformer *origin = NULL, *tuned = NULL;
  trained_watch w = {0};
  small_training_fill(&s, RS_DECODER, RS_F64);
  cr_assert_eq(obtain_with(&s, "models", &w, &origin, &err), RS_OK, "%s", err.message);
  char *first = folder_path(&s, "models");
  cr_assert_eq(rs_trained_fingerprint(&s.trained, s.trained.origin, &err), RS_OK);
  s.trained.training.rate = 0; /* stays where it begins */
  w.origin = origin;
  cr_assert_eq(obtain_with(&s, "models", &w, &tuned, &err), RS_OK, "%s", err.message);
  char *second = folder_path(&s, "models");
  cr_expect_str_neq(first, second);
  cr_expect_eq(memcmp(origin->values, tuned->values, weight_bytes(&s)), 0);
  rs_transformer_free(origin);
  rs_transformer_free(tuned);
  free(first);
  free(second);
  remove_all("models");
  small_training_clear(&s);
  leaves(NULL, 0);
}
