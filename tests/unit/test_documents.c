/* test_documents.c: which tokens of a sequence belong together and in what order, by padding, position ids and numbers
 * of documents; each document gives the bits that it gives alone. */
#include "fixtures/small_model.h"
#include "golden.h"

enum { LENGTH = SMALL_LENGTH, CLASSES = SMALL_VOCABULARY, TOKENS = 2 * LENGTH };

typedef struct desk {
  small_model model;
  rs_transformer *transformer;
  int32_t tokens[TOKENS];
} desk;

/* A model of one method, all of whose blocks have the mask. */
static void fill_desk(desk *d, rs_form form, const char *method, const char *settings, rs_mask mask) {
  small_model_fill(&d->model, form);
  small_model_recipe(&d->model, 0, method, settings);
  for (size_t b = 0; b < SMALL_BLOCKS; b++) d->model.blocks[b].mask = mask;
  d->transformer = small_model_create(&d->model, RS_F64, 3);
  for (size_t i = 0; i < TOKENS; i++) d->tokens[i] = (int32_t)((i * i + 3 * i + 1) % CLASSES);
}

static void clear_desk(desk *d) {
  rs_transformer_free(d->transformer);
  small_model_clear(&d->model);
}

/* The logits (length, C) of one sequence, all of it. */
static void read_plain(const desk *d, const int32_t *tokens, size_t length, double *logits) {
  rs_err err = {0};
  const rs_reader_in in = {.count = 1, .length = length, .tokens = tokens, .last = length};
  cr_assert_eq(rs_read_logits(d->transformer, &in, logits, &err), RS_OK, "%s", err.message);
}

static void read_with(const desk *d, rs_reader_in in, double *logits) {
  rs_err err = {0};
  in.count = 1;
  in.last = in.last > 0 ? in.last : in.length;
  cr_assert_eq(rs_read_logits(d->transformer, &in, logits, &err), RS_OK, "%s: %s",
               d->transformer->recipes[0].method->name, err.message);
}

/* Ids of one axis, on all three. */
static const double *on_axes(const double *ids, size_t count) {
  static double axes[2][TOKENS * RS_AXES];
  static size_t turn;
  double *out = axes[turn++ % 2];
  for (size_t i = 0; i < count * RS_AXES; i++) out[i] = ids[i / RS_AXES];
  return out;
}

static void expect_row(const double *got, const double *want, const char *what, size_t row) {
  cr_expect_arr_eq(got, want, CLASSES * sizeof *got, "%s: row %zu", what, row);
}

static const struct {
  const char *method, *settings;
} methods[] = {{"rope", ""},
               {"yarn", "factor=4"},
               {"dynamic_ntk", "train_length=4"},
               {"xpos", ""},
               {"pi", "factor=2"},
               {"alibi", ""},
               {"alibi", "bias_form=position"},
               {"alibi", "bias_form=end"},
               {"t5", "num_buckets=6 max_distance=8"},
               {"kerple_log", ""},
               {"fire", ""},
               {"sandwich", ""},
               {"learned", ""},
               {"sinusoidal", ""},
               {"self_extend", "train_length=6 window=3"},
               {"rerope", "window=3"},
               {"dual_chunk", "train_length=8 chunk_size=5 local_size=2"},
               {"shaw", "clip=3"},
               {"transformer_xl", ""},
               {"nope", ""},
               {"rope", "logit_scale=llama4 logit_scale_length=2"},
               {"rope", "logit_scale=log_n logit_scale_length=3"}};

static const rs_mask masks[] = {{.kind = RS_CAUSAL},
                                {.kind = RS_WINDOW, .window = 3},
                                {.kind = RS_WINDOW_SINKS, .window = 3, .sinks = 2},
                                {.kind = RS_CHUNKS, .window = 4}};

/* logits(permute(t), ids permute(p)) = permute(logits(t, p)), bit for bit, under every method, bent maps too: zigzag
 * shards, backwards, and without any order. */
Test(documents, distinct_ids_in_any_order__permuted_logits) {
  static const size_t orders[][LENGTH] = {
      {0, 1, 7, 8, 2, 3, 5, 6, 4}, {8, 7, 6, 5, 4, 3, 2, 1, 0}, {3, 0, 8, 1, 5, 7, 2, 6, 4}};
  for (size_t i = 0; i < RS_COUNT(methods) * RS_COUNT(masks); i++) {
    desk d;
    double straight[LENGTH * CLASSES], permuted[LENGTH * CLASSES];
    fill_desk(&d, RS_DECODER, methods[i / RS_COUNT(masks)].method, methods[i / RS_COUNT(masks)].settings,
              masks[i % RS_COUNT(masks)]);
    read_plain(&d, d.tokens, LENGTH, straight);
    for (size_t o = 0; o < RS_COUNT(orders); o++) {
      int32_t tokens[LENGTH];
      double ids[LENGTH];
      for (size_t n = 0; n < LENGTH; n++) tokens[n] = d.tokens[orders[o][n]], ids[n] = (double)orders[o][n];
      read_with(&d, (rs_reader_in){.length = LENGTH, .tokens = tokens, .ids = on_axes(ids, LENGTH)}, permuted);
      for (size_t n = 0; n < LENGTH; n++)
        expect_row(permuted + n * CLASSES, straight + orders[o][n] * CLASSES, methods[i / RS_COUNT(masks)].method, n);
    }
    clear_desk(&d);
  }
}

/* The last of a permuted list are those that stand there. */
Test(documents, last__of_the_list) {
  static const double ids[] = {8, 2, 6, 0, 4, 1, 5, 3, 7};
  desk d;
  double all[LENGTH * CLASSES], some[LENGTH * CLASSES];
  fill_desk(&d, RS_DECODER, "rope", "", masks[0]);
  rs_reader_in in = {.length = LENGTH, .tokens = d.tokens, .ids = on_axes(ids, LENGTH)};
  read_with(&d, in, all);
  for (in.last = 1; in.last < LENGTH; in.last++) {
    read_with(&d, in, some);
    for (size_t i = 0; i < in.last * CLASSES; i++)
      cr_expect_float_eq(some[i], all[(LENGTH - in.last) * CLASSES + i], 1e-13, "last %zu", in.last);
  }
  clear_desk(&d);
}

/* Documents of 5 and 4 tokens, by ids that begin again, by numbers side by side, and by numbers that alternate. */
Test(documents, each__the_logits_of_the_document_alone) {
  static const double again[LENGTH] = {0, 1, 2, 3, 4, 0, 1, 2, 3}, apart[LENGTH] = {0, 0, 1, 1, 2, 2, 3, 3, 4},
                      turned[LENGTH] = {4, 3, 2, 1, 0, 3, 2, 1, 0};
  static const int32_t side[LENGTH] = {7, 7, 7, 7, 7, -1, -1, -1, -1}, mixed[LENGTH] = {1, 2, 1, 2, 1, 2, 1, 2, 1};
  const struct {
    const char *what;
    const double *ids;
    const int32_t *numbers;
    bool alternate, backwards;
  } cases[] = {{"ids", again, NULL, false, false},       {"numbers", NULL, side, false, false},
               {"both", again, side, false, false},      {"mixed", NULL, mixed, true, false},
               {"mixed ids", apart, mixed, true, false}, {"turned ids", turned, side, false, true}};
  for (size_t i = 0; i < RS_COUNT(methods) * RS_COUNT(cases); i++) {
    desk d;
    size_t c = i % RS_COUNT(cases), seen[2] = {0};
    int32_t parts[2][LENGTH];
    size_t places[2][LENGTH];
    double packed[LENGTH * CLASSES], alone[LENGTH * CLASSES];
    fill_desk(&d, RS_DECODER, methods[i / RS_COUNT(cases)].method, methods[i / RS_COUNT(cases)].settings, masks[2]);
    read_with(&d,
              (rs_reader_in){.length = LENGTH,
                             .tokens = d.tokens,
                             .ids = cases[c].ids != NULL ? on_axes(cases[c].ids, LENGTH) : NULL,
                             .documents = cases[c].numbers},
              packed);
    for (size_t n = 0; n < LENGTH; n++) {
      size_t part = cases[c].alternate ? n % 2 : n >= 5;
      places[part][seen[part]++] = n;
    }
    for (size_t part = 0; part < 2; part++) {
      for (size_t n = 0; n < seen[part]; n++)
        parts[part][n] = d.tokens[places[part][cases[c].backwards ? seen[part] - 1 - n : n]];
      read_plain(&d, parts[part], seen[part], alone);
      for (size_t n = 0; n < seen[part]; n++)
        expect_row(packed + places[part][cases[c].backwards ? seen[part] - 1 - n : n] * CLASSES, alone + n * CLASSES,
                   cases[c].what, n);
    }
    clear_desk(&d);
  }
}

/* Padding before, behind, on both sides; between tokens where ids say who stands where. Answers of padding are 0. */
Test(documents, padding__rows_as_without) {
  static const double ids[] = {9, 0, 1, 9, 9, 2, 3, 4, 9}; /* those of padding are not read */
  static const uint8_t present[][LENGTH] = {{0, 0, 0, 0, 1, 1, 1, 1, 1},
                                            {1, 1, 1, 1, 1, 0, 0, 0, 0},
                                            {0, 0, 1, 1, 1, 1, 1, 0, 0},
                                            {0, 1, 1, 0, 0, 1, 1, 1, 0}};
  static const double zeros[CLASSES];
  for (size_t i = 0; i < RS_COUNT(methods) * RS_COUNT(present); i++) {
    desk d;
    size_t p = i % RS_COUNT(present), count = 0;
    int32_t tokens[LENGTH];
    double padded[LENGTH * CLASSES], alone[LENGTH * CLASSES];
    fill_desk(&d, RS_DECODER, methods[i / RS_COUNT(present)].method, methods[i / RS_COUNT(present)].settings, masks[1]);
    for (size_t n = 0; n < LENGTH; n++)
      if (present[p][n]) tokens[count++] = d.tokens[n];
    read_plain(&d, tokens, count, alone);
    read_with(
        &d,
        (rs_reader_in){
            .length = LENGTH, .tokens = d.tokens, .present = present[p], .ids = p == 3 ? on_axes(ids, LENGTH) : NULL},
        padded);
    for (size_t n = count = 0; n < LENGTH; n++)
      expect_row(padded + n * CLASSES, present[p][n] ? alone + count++ * CLASSES : zeros, "padding", n);
    clear_desk(&d);
  }
}

/* Sequences have padding, documents and orders of their own, and types follow their tokens. */
Test(documents, sequences__each_its_own) {
  static const uint8_t present[TOKENS] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1, 1, 1, 1, 1};
  static const double ids[TOKENS] = {8, 7, 6, 5, 4, 3, 2, 1, 0, 5, 5, 0, 1, 2, 0, 1, 2, 3};
  desk d;
  double together[TOKENS * CLASSES], alone[LENGTH * CLASSES];
  int32_t types[TOKENS], tokens[LENGTH], turned[LENGTH];
  small_model_fill(&d.model, RS_DECODER);
  d.model.shape.token_types = 3;
  d.transformer = small_model_create(&d.model, RS_F64, 3);
  for (size_t i = 0; i < TOKENS; i++) d.tokens[i] = (int32_t)(i * i % CLASSES), types[i] = (int32_t)(i * 7 % 3);
  const rs_reader_in in = {.count = 2,
                           .length = LENGTH,
                           .tokens = d.tokens,
                           .types = types,
                           .present = present,
                           .ids = on_axes(ids, TOKENS),
                           .last = LENGTH};
  cr_assert_eq(rs_read_logits(d.transformer, &in, together, NULL), RS_OK);
  for (size_t n = 0; n < LENGTH; n++) tokens[n] = d.tokens[LENGTH - 1 - n], turned[n] = types[LENGTH - 1 - n];
  read_with(&d, (rs_reader_in){.length = LENGTH, .tokens = tokens, .types = turned}, alone);
  for (size_t n = 0; n < LENGTH; n++)
    expect_row(together + n * CLASSES, alone + (LENGTH - 1 - n) * CLASSES, "turned", n);
  for (size_t part = 0; part < 2; part++) {
    size_t first = LENGTH + (part == 0 ? 2 : 5), count = part == 0 ? 3 : 4;
    read_with(&d, (rs_reader_in){.length = count, .tokens = d.tokens + first, .types = types + first}, alone);
    for (size_t n = 0; n < count; n++) expect_row(together + (first + n) * CLASSES, alone + n * CLASSES, "packed", n);
  }
  clear_desk(&d);
}

/* ---- ids that are not counted ------------------------------------------------------------------------------------ */

static void expect_near(const desk *a, const double *ids, const desk *b, double most, const char *what) {
  double got[LENGTH * CLASSES], want[LENGTH * CLASSES];
  read_with(a, (rs_reader_in){.length = LENGTH, .tokens = a->tokens, .ids = on_axes(ids, LENGTH)}, got);
  read_plain(b, b->tokens, LENGTH, want);
  for (size_t i = 0; i < LENGTH * CLASSES; i++)
    cr_expect_float_eq(got[i], want[i], most, "%s, number %zu: %g", what, i, got[i] - want[i]);
}

/* Ids twice as far apart under masks twice as wide choose the same keys: without positions the bits are the same. */
Test(documents, masks__go_by_ids) {
  static const double twice[] = {0, 2, 4, 6, 8, 10, 12, 14, 16};
  static const struct {
    rs_form form;
    rs_mask wide, narrow;
  } cases[] = {
      {RS_DECODER, {.kind = RS_WINDOW, .window = 6}, {.kind = RS_WINDOW, .window = 3}},
      {RS_DECODER, {.kind = RS_WINDOW, .window = 5}, {.kind = RS_WINDOW, .window = 3}},
      {RS_DECODER, {.kind = RS_CHUNKS, .window = 8}, {.kind = RS_CHUNKS, .window = 4}},
      {RS_DECODER,
       {.kind = RS_WINDOW_SINKS, .window = 4, .sinks = 4},
       {.kind = RS_WINDOW_SINKS, .window = 2, .sinks = 2}},
      {RS_ENCODER, {.kind = RS_BAND, .window = 6}, {.kind = RS_BAND, .window = 3}},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    desk wide, narrow;
    fill_desk(&wide, cases[i].form, "nope", "", cases[i].wide);
    fill_desk(&narrow, cases[i].form, "nope", "", cases[i].narrow);
    expect_near(&wide, twice, &narrow, 0, "mask");
    clear_desk(&wide);
    clear_desk(&narrow);
  }
}

/* Of sequences of one length each is read with its own ids. */
Test(documents, ids__of_each_sequence) {
  static const double counted[LENGTH] = {0, 1, 2, 3, 4, 5, 6, 7, 8}, apart[LENGTH] = {0, 2, 4, 6, 8, 10, 12, 14, 16};
  desk d;
  double ids[TOKENS], together[TOKENS * CLASSES], alone[LENGTH * CLASSES];
  fill_desk(&d, RS_DECODER, "rope", "", masks[0]);
  for (int turn = 0; turn < 2; turn++) {
    const double *first = turn ? apart : counted, *second = turn ? counted : apart;
    for (size_t n = 0; n < TOKENS; n++) ids[n] = n < LENGTH ? first[n] : second[n - LENGTH];
    const rs_reader_in in = {
        .count = 2, .length = LENGTH, .tokens = d.tokens, .ids = on_axes(ids, TOKENS), .last = LENGTH};
    cr_assert_eq(rs_read_logits(d.transformer, &in, together, NULL), RS_OK);
    for (size_t s = 0; s < 2; s++) {
      const double *own = on_axes(s == 0 ? first : second, LENGTH);
      read_with(&d, (rs_reader_in){.length = LENGTH, .tokens = d.tokens + s * LENGTH, .ids = own}, alone);
      for (size_t n = 0; n < LENGTH; n++)
        expect_row(together + (s * LENGTH + n) * CLASSES, alone + n * CLASSES, "sequences", n);
    }
  }
  clear_desk(&d);
}

/* What distance alone decides does not see where ids begin, and twice the distance is twice the slope or frequency. */
Test(documents, positions__go_by_ids) {
  static const double moved[] = {5, 6, 7, 8, 9, 10, 11, 12, 13}, twice[] = {0, 2, 4, 6, 8, 10, 12, 14, 16},
                      ties[] = {0, 0, 1, 1, 2, 2, 3, 3, 4};
  static const char *const of_distance[][2] = {
      {"rope", ""},       {"alibi", ""},   {"alibi", "bias_form=position"}, {"t5", "num_buckets=6 max_distance=8"},
      {"kerple_log", ""}, {"sandwich", ""}};
  static const struct {
    const char *method, *settings, *same;
    const double *ids;
  } doubled[] = {{"alibi", "", "slope_factor=2", twice}, {"pi", "factor=2", "factor=1", twice}};
  desk a, b;
  for (size_t i = 0; i < RS_COUNT(of_distance); i++) {
    fill_desk(&a, RS_DECODER, of_distance[i][0], of_distance[i][1], masks[1]);
    expect_near(&a, moved, &a, 1e-12, of_distance[i][0]);
    clear_desk(&a);
  }
  for (size_t i = 0; i < RS_COUNT(doubled); i++) {
    fill_desk(&a, RS_DECODER, doubled[i].method, doubled[i].settings, masks[0]);
    fill_desk(&b, RS_DECODER, doubled[i].method, doubled[i].same, masks[0]);
    expect_near(&a, doubled[i].ids, &b, 1e-12, doubled[i].method);
    clear_desk(&a);
    clear_desk(&b);
  }
  fill_desk(&a, RS_DECODER, "nope", "", masks[0]); /* of one id, those before it in the list are seen */
  expect_near(&a, ties, &a, 0, "ties");
  clear_desk(&a);
}

/* ---- what is refused --------------------------------------------------------------------------------------------- */

static void expect_refused(const desk *d, rs_reader_in in, rs_status status, const char *subject, const char *said) {
  double logits[LENGTH * CLASSES];
  rs_err err = {0};
  in.count = 1;
  in.length = LENGTH;
  in.tokens = d->tokens;
  in.last = rs_reader_single(d->transformer) ? 1 : LENGTH;
  cr_expect_eq(rs_read_logits(d->transformer, &in, logits, &err), status, "%s", err.message);
  cr_expect_str_eq(err.message, said);
  cr_expect_str_eq(err.subject, subject);
}

Test(documents, orders_that_mean_nothing__are_refused) {
  static const double other[] = {0, 1, 2, 3, 1, 2, 3, 4, 5}, again[] = {0, 1, 2, 0, 1, 2, 3, 1, 2},
                      named[] = {0, 1, 2, 0, 1, 2, 0, 1, 2};
  static const int32_t numbers[] = {4, 4, 4, 9, 9, 9, 9, 9, 9};
  static const uint8_t present[] = {0, 1, 1, 0, 1, 1, 1, 1, 1}, none[LENGTH];
  desk d;
  fill_desk(&d, RS_DECODER, "rope", "", masks[0]);
  expect_refused(&d, (rs_reader_in){.ids = on_axes(other, LENGTH)}, RS_INPUT, "ids",
                 "position ids of sequence 0 fall at token 4 (1 after 3) and repeat: neither one sequence in another "
                 "order, whose ids are distinct, nor a document that begins again at 0 (--document-ids says which "
                 "tokens belong together)");
  expect_refused(&d, (rs_reader_in){.ids = on_axes(again, LENGTH)}, RS_INPUT, "ids",
                 "position ids of sequence 0 fall at token 7 (1 after 3) and repeat: neither one sequence in another "
                 "order, whose ids are distinct, nor a document that begins again at 0 (--document-ids says which "
                 "tokens belong together)");
  expect_refused(&d, (rs_reader_in){.ids = on_axes(named, LENGTH), .documents = numbers}, RS_INPUT, "ids",
                 "position ids of document 9 of sequence 0 fall at token 6 (0 after 2) and repeat: give two documents "
                 "two numbers");
  expect_refused(&d, (rs_reader_in){.present = present}, RS_INPUT, "present",
                 "sequence 0 has padding at token 3, between tokens: where those behind it stand is not said "
                 "(--position-ids says it)");
  expect_refused(&d, (rs_reader_in){.present = none}, RS_INPUT, "present", "sequence 0 has 0 of 9 tokens: at least 1");
  clear_desk(&d);
}

/* What counts tokens, and cannot go by ids; ids of three axes where one is read; documents where one answer is said. */
Test(documents, ids_that_a_model_cannot_read__are_refused) {
  static const double gaps[] = {0, 1, 2, 3, 5, 6, 7, 8, 9}, halves[] = {0, .5, 1, 2, 3, 4, 5, 6, 7},
                      below[] = {-1, 0, 1, 2, 3, 4, 5, 6, 7}, far[] = {0, 1, 2, 3, 4, 5, 6, 7, 9};
  static const struct {
    const char *method, *settings;
    const double *ids;
    rs_status status;
    const char *subject, *said;
  } cases[] = {
      {"self_extend", "train_length=6 window=3", gaps, RS_UNSUPPORTED, "ids",
       "self_extend goes by the numbers of tokens: position ids must be 0, 1, 2, ... (in any order), without gaps"},
      {"shaw", "clip=3", gaps, RS_UNSUPPORTED, "ids",
       "shaw goes by the numbers of tokens: position ids must be 0, 1, 2, ... (in any order), without gaps"},
      {"dynamic_ntk", "cached_keys=3", gaps, RS_UNSUPPORTED, "ids",
       "dynamic_ntk goes by the numbers of tokens, with cached_keys: position ids must be 0, 1, 2, ... (in any order), "
       "without gaps"},
      {"alibi", "", halves, RS_DOMAIN, "ids", "position id 0.5: alibi reads whole numbers from 0 on"},
      {"learned", "", below, RS_DOMAIN, "ids", "position id -1: learned reads whole numbers from 0 on"},
      {"rope", "logit_scale=llama4", below, RS_DOMAIN, "ids", "position id -1: rope reads a scale of logits from 0 on"},
      {"learned", "", far, RS_DOMAIN, "", "learned: position 9 is beyond the table of 9 rows"},
  };
  desk d;
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    fill_desk(&d, RS_DECODER, cases[i].method, cases[i].settings, masks[0]);
    expect_refused(&d, (rs_reader_in){.ids = on_axes(cases[i].ids, LENGTH)}, cases[i].status, cases[i].subject,
                   cases[i].said);
    clear_desk(&d);
  }
  double axes[LENGTH * RS_AXES];
  for (size_t i = 0; i < LENGTH * RS_AXES; i++) axes[i] = (double)(i / RS_AXES);
  axes[4 * RS_AXES + 2] = 7;
  fill_desk(&d, RS_DECODER, "rope", "", masks[0]);
  expect_refused(&d, (rs_reader_in){.ids = axes}, RS_INPUT, "ids",
                 "the model has one position a token, and those of token 4 of sequence 0 are 4, 4 and 7");
  clear_desk(&d);
}

Test(documents, several__where_one_answer_is_said__are_refused) {
  static const double again[] = {0, 1, 2, 3, 0, 1, 2, 3, 4};
  static const int32_t source[SMALL_SOURCE] = {1, 2, 3};
  desk d;
  small_model_fill(&d.model, RS_ENCODER);
  d.model.shape.pool = RS_POOL_MEAN;
  d.transformer = small_model_create(&d.model, RS_F64, 3);
  memset(d.tokens, 0, sizeof d.tokens);
  expect_refused(&d, (rs_reader_in){.ids = on_axes(again, LENGTH)}, RS_UNSUPPORTED, "ids",
                 "sequence 0 has 2 documents, and the model says one class a sequence");
  clear_desk(&d);
  fill_desk(&d, RS_ENCODER_DECODER, "rope", "", masks[0]);
  expect_refused(
      &d,
      (rs_reader_in){.documents = (const int32_t[LENGTH]){1, 1, 1, 2}, .source = source, .source_length = SMALL_SOURCE},
      RS_UNSUPPORTED, "documents",
      "sequence 0 has 3 documents, and the model reads an encoder's tokens beside them, whose documents are "
      "not said");
  clear_desk(&d);
}

/* ---- time, row and column ---------------------------------------------------------------------------------------- */

/* In the list's order, with the first token whose time falls; planes that are the same are one axis. */
Test(documents, axes__are_in_the_order_of_the_list) {
  double axes[LENGTH * RS_AXES];
  static const double time[] = {0, 1, 1, 1, 2, 0, 1, 2, 3};
  rs_documents found;
  for (size_t i = 0; i < LENGTH * RS_AXES; i++) axes[i] = time[i / RS_AXES];
  rs_reader_in in = {.count = 1, .length = LENGTH, .ids = axes, .last = 1};
  cr_assert_eq(rs_documents_find(&in, &found, NULL), RS_OK);
  cr_expect(found.count == 2 && found.orders[0].restarts && !found.orders[0].axes);
  rs_documents_clear(&found);
  axes[2 * RS_AXES + 2] = 4;
  cr_assert_eq(rs_documents_find(&in, &found, NULL), RS_OK);
  cr_expect(found.count == 1 && found.orders[0].axes && !found.orders[0].sorted && found.orders[0].fall == 5);
  cr_expect(found.items[0].count == LENGTH && found.items[0].ids != NULL);
  for (size_t n = 0; n < LENGTH; n++) cr_expect_eq(found.items[0].places[n], n);
  rs_documents_clear(&found);
}
