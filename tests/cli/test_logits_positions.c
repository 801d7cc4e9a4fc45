/* test_logits_positions.c: `ropescope logits` on tokens in other orders, packed documents and padding. */
#include "../fixtures/models.h"
#include "../fixtures/npy.h"
#include "../fixtures/program.h"

TestSuite(logits_positions, .init = enter_folder, .fini = leave_folder);

/* Padding on either side leaves the rows of tokens as they are, and its own are 0. */
Test(logits_positions, attention_mask__padding_on_either_side) {
  make_npy("tokens.npy", 1, NPY("|u1", "False", "(3, 3)"), "\1\2\3\1\2\0\0\1\2", 9);
  make_npy("mask.npy", 1, NPY("|u1", "False", "(3, 3)"), "\1\1\1\1\1\0\0\1\1", 9);
  run_well(&(command){
      .arguments = {"logits", model_path("llama"), "tokens.npy", "--out", "out.npy", "--attention-mask", "mask.npy"}});
  rs_array out = array_of("out.npy");
  for (size_t i = 0; i < 2 * 97; i++) {
    cr_expect_float_eq(out.numbers[3 * 97 + i], out.numbers[i], 1e-5);
    cr_expect_eq(out.numbers[7 * 97 + i], out.numbers[3 * 97 + i]);
  }
  for (size_t i = 5 * 97; i < 7 * 97; i++) cr_expect_eq(out.numbers[i], 0);
  rs_array_clear(&out);
}

/* Ids of one axis are those of every axis, and those that are counted anyway change nothing. */
Test(logits_positions, position_ids__of_one_axis) {
  make_npy("tokens.npy", 1, NPY("|u1", "False", "(2, 3)"), "\1\2\3\4\5\6", 6);
  make_npy("ids.npy", 1, NPY("|u1", "False", "(2, 3)"), "\0\1\2\0\1\2", 6);
  make_npy("flat.npy", 1, NPY("|u1", "False", "(3,)"), "\0\1\2", 3);
  run_well(&(command){.arguments = {"logits", model_path("qwen2_vl"), "tokens.npy", "--out", "plain.npy"}});
  run_well(&(command){.arguments = {"logits", model_path("qwen2_vl"), "tokens.npy", "--out", "given.npy",
                                    "--position-ids", "ids.npy"}});
  rs_array plain = array_of("plain.npy"), given = array_of("given.npy");
  cr_assert_eq(plain.count, given.count);
  cr_expect_eq(largest_difference(&given, plain.numbers), 0);
  rs_array_clear(&plain);
  rs_array_clear(&given);
  expect_failure(&(command){.arguments = {"logits", model_path("qwen2_vl"), "tokens.npy", "--out", "o.npy",
                                          "--position-ids", "flat.npy"}},
                 2, "ropescope: flat.npy: position ids must be (2, 3) as the token ids are, or (3, 2, 3)\n");
}

/* One line says how tokens were told apart and put in order; without position ids and padding there is none. */
Test(logits_positions, orders__are_said_in_one_line) {
  static const struct {
    const char *model, *option, *header, *data;
    size_t size;
    const char *said;
  } cases[] = {
      {"qwen2_vl", "--position-ids", NPY("|u1", "False", "(2, 4)"), "\0\1\2\3\5\5\6\7", 8,
       "note: positions: 2 sequences in the list's order, masked by id\n"},
      {"llama", "--position-ids", NPY("|u1", "False", "(2, 4)"), "\0\1\2\3\3\0\2\1", 8,
       "note: positions: 1 sequence in the order of distinct ids, masked by id; 1 sequence in the list's order, masked "
       "by id\n"},
      {"llama", "--position-ids", NPY("|u1", "False", "(2, 4)"), "\0\1\0\1\0\0\1\0", 8,
       "note: positions: 2 sequences of 4 documents, which begin where ids begin again at 0, each read alone\n"},
      {"qwen2_vl", "--position-ids", NPY("|u1", "False", "(3, 2, 4)"),
       "\0\1\1\1\1\2\0\1\0\1\1\2\0\1\2\3\0\1\2\1\0\1\2\3", 24,
       "note: positions: 2 sequences by time, row and column, in the list's order, masked by index (time falls at "
       "token "
       "2: documents need --document-ids)\n"},
      {"qwen2_vl", "--position-ids", NPY("|u1", "False", "(3, 2, 4)"),
       "\0\1\2\3\3\2\1\0\0\1\2\3\3\2\1\0\0\1\2\3\3\2\1\0", 24,
       "note: positions: 1 sequence in the order of distinct ids, masked by id; 1 sequence in the list's order, masked "
       "by id\n"},
      {"llama", "--document-ids", NPY("|u1", "False", "(2, 4)"), "\1\1\2\2\1\2\3\1", 8,
       "note: positions: 2 sequences of 5 documents by number, each read alone, in the list's order\n"},
      {"llama", "--attention-mask", NPY("|u1", "False", "(2, 4)"), "\0\1\1\0\1\1\1\1", 8,
       "note: positions: 2 tokens of padding left out\n"},
      {"llama", "--attention-mask", NPY("|u1", "False", "(2, 4)"), "\1\1\1\1\1\1\1\1", 8, ""},
  };
  make_npy("tokens.npy", 1, NPY("|u1", "False", "(2, 4)"), "\1\2\3\4\5\6\7\10", 8);
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    make_npy("x.npy", 1, cases[i].header, cases[i].data, cases[i].size);
    result got = run(&(command){
        .arguments = {"logits", model_path(cases[i].model), "tokens.npy", "--out", "o.npy", cases[i].option, "x.npy"}});
    cr_expect_eq(got.status, 0, "%s", got.err);
    cr_expect_str_eq(got.err, cases[i].said);
    result_clear(&got);
  }
}

/* Ids of a document that its numbers put in order; a fall that is neither. */
Test(logits_positions, document_ids__beside_position_ids) {
  make_npy("tokens.npy", 1, NPY("|u1", "False", "(4,)"), "\1\2\3\4", 4);
  make_npy("ids.npy", 1, NPY("|u1", "False", "(4,)"), "\1\0\2\1", 4);
  make_npy("documents.npy", 1, NPY("|u1", "False", "(4,)"), "\1\1\0\0", 4);
  result got = run(&(command){.arguments = {"logits", model_path("llama"), "tokens.npy", "--out", "o.npy",
                                            "--position-ids", "ids.npy", "--document-ids", "documents.npy"}});
  cr_expect(got.status == 0);
  cr_expect_str_eq(got.err,
                   "note: positions: 1 sequence of 2 documents by number, each read alone, in the order of its "
                   "ids\n");
  result_clear(&got);
  make_npy("axes.npy", 1, NPY("|u1", "False", "(3, 1, 4)"), "\0\1\0\1\0\1\0\1\0\1\0\2", 12);
  got = run(&(command){.arguments = {"logits", model_path("qwen2_vl"), "tokens.npy", "--out", "o.npy", "--position-ids",
                                     "axes.npy", "--document-ids", "documents.npy"}});
  cr_expect_str_eq(got.err, "note: positions: 1 sequence of 2 documents by number, each read alone, by time, row and "
                            "column, in the list's order, masked by index\n");
  result_clear(&got);
  expect_failure(&(command){.arguments = {"logits", model_path("llama"), "tokens.npy", "--out", "o.npy", "--attention",
                                          "a.npy", "--document-ids", "documents.npy"}},
                 2, "ropescope: --attention shows one document, and sequence 0 has 2 (give the tokens of one)\n");
  make_npy("ids.npy", 1, NPY("|u1", "False", "(4,)"), "\1\2\1\2", 4);
  expect_failure(&(command){.arguments = {"logits", model_path("llama"), "tokens.npy", "--out", "o.npy",
                                          "--position-ids", "ids.npy"}},
                 2,
                 "ropescope: ids.npy: position ids of sequence 0 fall at token 2 (1 after 2) and repeat: neither one "
                 "sequence in another order, whose ids are distinct, nor a document that begins again at 0 "
                 "(--document-ids says which tokens belong together)\n");
}

/* Weights of a text in another order, and with padding: rows and columns are the list's. */
Test(logits_positions, attention__of_tokens_in_another_order) {
  static const size_t places[] = {3, 1, 4}; /* of tokens 0, 1, 2 among 5 */
  make_npy("plain.npy", 1, NPY("|u1", "False", "(3,)"), "\7\10\11", 3);
  make_npy("tokens.npy", 1, NPY("|u1", "False", "(5,)"), "\0\10\0\7\11", 5);
  make_npy("ids.npy", 1, NPY("|u1", "False", "(5,)"), "\0\1\0\0\2", 5);
  make_npy("mask.npy", 1, NPY("|u1", "False", "(5,)"), "\0\1\0\1\1", 5);
  run_well(&(command){.arguments = {"logits", model_path("mistral"), "plain.npy", "--attention", "want.npy",
                                    "--rollout", "want_r.npy"}});
  run_well(
      &(command){.arguments = {"logits", model_path("mistral"), "tokens.npy", "--attention", "got.npy", "--rollout",
                               "got_r.npy", "--position-ids", "ids.npy", "--attention-mask", "mask.npy"}});
  static const char *const files[][2] = {{"got.npy", "want.npy"}, {"got_r.npy", "want_r.npy"}};
  for (size_t f = 0; f < RS_COUNT(files); f++) {
    rs_array got = array_of(files[f][0]), want = array_of(files[f][1]);
    size_t maps = want.count / 9;
    double sum = 0, wanted = 0;
    cr_assert_eq(got.count, maps * 25);
    for (size_t i = 0; i < want.count; i++) {
      size_t map = i / 9, row = places[i / 3 % 3], column = places[i % 3];
      cr_expect_eq(got.numbers[map * 25 + row * 5 + column], want.numbers[i], "%s, number %zu", files[f][0], i);
      wanted += want.numbers[i];
    }
    for (size_t i = 0; i < got.count; i++) sum += got.numbers[i];
    cr_expect_float_eq(sum, wanted, 1e-4, "padding has no weight");
    rs_array_clear(&got);
    rs_array_clear(&want);
  }
}

/* Of ids far apart, a window leaves each token itself alone. */
Test(logits_positions, attention__under_a_window__goes_by_ids) {
  make_npy("tokens.npy", 1, NPY("|u1", "False", "(3,)"), "\7\10\11", 3);
  make_npy("ids.npy", 1, NPY("|u1", "False", "(3,)"), "\0\1\145", 3);
  run_well(&(command){.arguments = {"logits", model_path("mistral"), "tokens.npy", "--attention", "a.npy",
                                    "--position-ids", "ids.npy"}});
  rs_array weights = array_of("a.npy");
  for (size_t i = 0; i < weights.count; i += 9) {
    cr_expect(weights.numbers[i + 3] > 0 && weights.numbers[i + 4] > 0, "head %zu", i / 9);
    cr_expect(weights.numbers[i + 6] == 0 && weights.numbers[i + 7] == 0 && weights.numbers[i + 8] == 1, "head %zu",
              i / 9);
  }
  rs_array_clear(&weights);
}
