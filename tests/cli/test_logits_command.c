/* test_logits_command.c: `ropescope logits` on checkpoints of the golden data. */
#include "../fixtures/npy.h"
#include "../fixtures/program.h"

TestSuite(logits_command, .init = enter_folder, .fini = leave_folder);

static const char *golden(const char *name) {
  static char paths[4][512];
  static size_t next;
  char *path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/golden/models/%s", getenv("ROPESCOPE_TESTS"), name);
  return path;
}

static rs_array array_of(const char *path) {
  rs_array array;
  rs_err err = {0};
  cr_assert_eq(rs_npy_read(path, &array, &err), RS_OK, "%s", err.message);
  return array;
}

static double largest_difference(const rs_array *a, const double *b) {
  double worst = 0;
  for (size_t i = 0; i < a->count; i++) worst = fmax(worst, fabs(a->numbers[i] - b[i]));
  return worst;
}

Test(logits_command, both_precisions__the_logits_as_numpy_has_them) {
  rs_array wanted = array_of(golden("llama/logits.npy"));
  run_well(&(command){
      .arguments = {"logits", golden("llama"), golden("llama/tokens.npy"), "--out", "wide.npy", "--precision", "f64"}});
  run_well(&(command){.arguments = {"logits", golden("llama"), golden("llama/tokens.npy"), "--out", "short.npy"}});
  rs_array wide = array_of("wide.npy"), single = array_of("short.npy");
  cr_assert(wide.rank == 3 && wide.shape[0] == 2 && wide.shape[1] == wanted.shape[1] && wide.shape[2] == 97);
  cr_assert_eq(wide.count, single.count);
  cr_expect(largest_difference(&wide, wanted.numbers) < 1e-12);
  cr_expect(largest_difference(&single, wanted.numbers) < 1e-4);
  cr_expect(largest_difference(&single, wanted.numbers) > 1e-8, "floats are no doubles");
  rs_array_clear(&wide);
  rs_array_clear(&single);
  rs_array_clear(&wanted);
}

/* One sequence, without the axis of sequences. */
Test(logits_command, last__of_one_axis__as_many_rows) {
  make_npy("tokens.npy", 1, NPY("<i4", "False", "(3,)"), "\1\0\0\0\2\0\0\0\3\0\0\0", 12);
  run_well(&(command){.arguments = {"logits", golden("gpt2"), "tokens.npy", "--out", "all.npy"}});
  run_well(&(command){.arguments = {"logits", golden("gpt2"), "tokens.npy", "--out", "last.npy", "--last", "2"}});
  rs_array all = array_of("all.npy"), last = array_of("last.npy");
  cr_assert(all.rank == 3 && all.shape[0] == 1 && all.shape[1] == 3 && all.shape[2] == 97);
  cr_assert(last.rank == 3 && last.shape[0] == 1 && last.shape[1] == 2 && last.shape[2] == 97);
  cr_expect(largest_difference(&last, all.numbers + 97) < 1e-6);
  rs_array_clear(&all);
  rs_array_clear(&last);
}

Test(logits_command, wrong_use__says_what_is_needed) {
  expect_failure(&(command){.arguments = {"logits", "x"}}, 2,
                 "ropescope: logits needs a checkpoint, token ids and --out, as in ropescope logits FOLDER tokens.npy "
                 "--out logits.npy\n");
  expect_failure(&(command){.arguments = {"logits", "x", "y.npy"}}, 2,
                 "ropescope: logits needs a checkpoint, token ids and --out, as in ropescope logits FOLDER tokens.npy "
                 "--out logits.npy\n");
  expect_failure(&(command){.arguments = {"logits", "x", "y.npy", "--out", "z.npy"}}, 1,
                 "ropescope: y.npy: cannot read: No such file or directory\n");
}

Test(logits_command, tokens_that_are_none__are_refused) {
  static const struct {
    const char *header, *data, *said;
    size_t size;
  } cases[] = {
      {NPY("|u1", "False", "(2,)"), "\1\x61",
       "ropescope: token 97 of sequence 0 at position 1: the vocabulary has 97\n", 2},
      {NPY("|i1", "False", "(1,)"), "\xff", "ropescope: token -1 of sequence 0 at position 0: the vocabulary has 97\n",
       1},
      {NPY("<f2", "False", "(1,)"), "\0\x3e", "ropescope: tokens.npy: number 0 is 1.5, which is no token id\n", 2},
      {NPY("|u1", "False", "(1, 1, 1)"), "\1", "ropescope: tokens.npy: has 3 axes: token ids are (L,) or (B, L)\n", 1},
      {NPY("|u1", "False", "()"), "\1", "ropescope: tokens.npy: has 0 axes: token ids are (L,) or (B, L)\n", 1},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    make_npy("tokens.npy", 1, cases[i].header, cases[i].data, cases[i].size);
    expect_failure(&(command){.arguments = {"logits", golden("llama"), "tokens.npy", "--out", "logits.npy"}}, 2,
                   cases[i].said);
    cr_expect(!exists("logits.npy"));
  }
}

Test(logits_command, a_text_beyond_a_learned_table__fails) {
  char ones[73];
  memset(ones, 1, sizeof ones);
  make_npy("tokens.npy", 1, NPY("|u1", "False", "(73,)"), ones, sizeof ones);
  expect_failure(&(command){.arguments = {"logits", golden("gpt2"), "tokens.npy", "--out", "logits.npy"}}, 2,
                 "ropescope: learned: position 72 is beyond the table of 72 rows\n");
}
