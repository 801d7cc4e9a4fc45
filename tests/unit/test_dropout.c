/* What training drops: a function of seed, sequence, place, row and column, of which as many numbers are 0 as the share
 * says; what is kept makes up for them, so that means stay. */
#include "../../src/model/attend.h"
#include "../fixtures/small_model.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- what is kept ------------------------------------------------------------------------------------------------ */

static size_t count_bits(uint64_t bits) {
  size_t count = 0;
  for (; bits != 0; bits &= bits - 1) count++;
  return count;
}

/* Of n numbers n p are dropped, give or take 5 deviations. */
Test(dropout, share__is_what_is_dropped) {
  static const double shares[] = {0, 1e-3, 0.1, 0.5, 0.9, 1 - 0x1p-32};
  enum { ROWS = 500, BLOCKS = 10 };
  for (size_t i = 0; i < RS_COUNT(shares); i++) {
    const rs_drop drop = {.share = shares[i], .seed = 3, .sequence = 7, .place = 11};
    double n = ROWS * BLOCKS * 64, dropped = n, wanted = n * shares[i];
    for (size_t row = 0; row < ROWS; row++)
      for (size_t block = 0; block < BLOCKS; block++)
        dropped -= (double)count_bits(rs_drop_kept(&drop, row, block, 64));
    cr_expect(fabs(dropped - wanted) <= 5 * sqrt(wanted * (1 - shares[i])) + 0.01, "%g: %g of %g", shares[i], dropped,
              n);
  }
}

/* Half of the bits of two masks agree, where one thing or another differs between them. */
Test(dropout, masks__that_differ_in_one_thing__are_independent) {
  enum { ROWS = 1000, THINGS = 6 };
  const rs_drop first = {.share = 0.5, .seed = 3, .sequence = 7, .place = (uint64_t)2 << 32};
  for (size_t thing = 0; thing < THINGS; thing++) {
    rs_drop other = first;
    double agree = 0, n = ROWS * 64;
    if (thing == 0) other.seed++;
    if (thing == 1) other.sequence++;
    if (thing == 2) other.place++;
    if (thing == 3) other.place += (uint64_t)1 << 32;
    for (size_t row = 0; row < ROWS; row++) {
      uint64_t a = rs_drop_kept(&first, row, 5, 64);
      uint64_t b = rs_drop_kept(&other, row + (thing == 4 ? ROWS : 0), thing == 5 ? 6 : 5, 64);
      agree += (double)count_bits(~(a ^ b));
    }
    cr_expect(fabs(agree - n / 2) <= 5 * sqrt(n / 4), "thing %zu: %g of %g agree", thing, agree, n);
  }
}

/* A larger share drops what a smaller one does, and more; how many are wanted changes none. */
Test(dropout, masks__are_of_their_place_alone) {
  for (uint64_t row = 0; row < 100; row++) {
    rs_drop drop = {.share = 0.5, .seed = 1};
    uint64_t all = rs_drop_kept(&drop, row, row % 3, 64);
    for (size_t count = 0; count < 64; count++) {
      uint64_t some = rs_drop_kept(&drop, row, row % 3, count), mask = ((uint64_t)1 << count) - 1;
      cr_assert_eq(some & mask, all & mask, "%zu columns", count);
    }
    drop.share = 0.25;
    cr_expect_eq(all & ~rs_drop_kept(&drop, row, row % 3, 64), 0);
  }
}

/* ---- whole models ------------------------------------------------------------------------------------------------ */

enum { SEQUENCES = 5, ANSWERS = SMALL_LENGTH * SMALL_VOCABULARY };

/* Losses, and the gradient of their sum, of sequences [first, first + count) of a batch, `together` of them at a time.
 */
static void run(const small_model *m, rs_transformer *t, const rs_batch *batch, size_t first, size_t count,
                size_t together, double *losses, void *gradient) {
  rs_context *context;
  rs_pass *pass;
  size_t targets;
  rs_batch part = *batch;
  cr_assert_eq(rs_context_create(t, NULL, SMALL_LENGTH, 0, &m->tokens, &context, NULL), RS_OK);
  cr_assert_eq(rs_pass_create(context, together, true, &pass, NULL), RS_OK);
  part.sequences = count;
  part.tokens += first * SMALL_LENGTH;
  part.targets += first * SMALL_LENGTH;
  part.drop.sequence += first;
  rs_forward(pass, &part, &(rs_pass_out){.losses = losses + first * SMALL_LENGTH});
  (void)rs_backward(pass, &part, 1, gradient, &targets);
  rs_pass_free(pass);
  rs_context_free(context);
}

static bool same_losses(const double *a, const double *b) {
  for (size_t i = 0; i < SEQUENCES * SMALL_LENGTH; i++)
    if (!(a[i] == b[i] || (isnan(a[i]) && isnan(b[i])))) return false;
  return true;
}

/* What is dropped of a sequence goes by its number, not by how a batch is cut. */
Test(dropout, batches__cut_in_any_way__drop_the_same) {
  small_model m;
  small_model_fill(&m, RS_DECODER);
  rs_transformer *t = small_model_create(&m, RS_F64, 3);
  rs_batch batch = small_batch(&m, SEQUENCES, 17);
  double whole[SEQUENCES * SMALL_LENGTH], parts[SEQUENCES * SMALL_LENGTH];
  double *gradient = calloc(t->size, sizeof *gradient), *summed = calloc(t->size, sizeof *summed), largest = 0;
  batch.drop = (rs_drop){.share = 0.2, .seed = 5, .sequence = 12345};
  run(&m, t, &batch, 0, SEQUENCES, SEQUENCES, whole, gradient);
  run(&m, t, &batch, 0, 2, 2, parts, summed);
  run(&m, t, &batch, 2, SEQUENCES - 2, 1, parts, summed);
  cr_expect(same_losses(whole, parts));
  for (size_t i = 0; i < t->size; i++) largest = fmax(largest, fabs(gradient[i]));
  for (size_t i = 0; i < t->size; i++) cr_assert_float_eq(gradient[i], summed[i], 1e-13 * largest);
  batch.drop.sequence++;
  run(&m, t, &batch, 0, SEQUENCES, SEQUENCES, parts, summed);
  cr_expect_not(same_losses(whole, parts), "other numbers");
  free(gradient);
  free(summed);
  small_batch_clear(&batch);
  rs_transformer_free(t);
  small_model_clear(&m);
}

/* A share of 0 is no dropout, bit by bit. */
Test(dropout, share_of_0__changes_no_bit) {
  small_model m;
  small_model_fill(&m, RS_DECODER);
  rs_transformer *t = small_model_create(&m, RS_F32, 3);
  rs_batch batch = small_batch(&m, SEQUENCES, 17);
  double losses[2][SEQUENCES * SMALL_LENGTH];
  float *gradients = calloc(2 * t->size, sizeof *gradients);
  for (size_t i = 0; i < 2; i++) {
    if (i == 1) batch.drop = (rs_drop){.seed = 5, .sequence = 12345, .place = 6};
    run(&m, t, &batch, 0, SEQUENCES, 2, losses[i], gradients + i * t->size);
  }
  cr_expect(same_losses(losses[0], losses[1]));
  cr_expect_eq(memcmp(gradients, gradients + t->size, t->size * sizeof *gradients), 0);
  free(gradients);
  small_batch_clear(&batch);
  rs_transformer_free(t);
  small_model_clear(&m);
}

static void fill(rs_transformer *t, const char *name, double value) {
  const rs_tensor *tensor = rs_transformer_tensor(t, name);
  cr_assert_not_null(tensor, "%s", name);
  for (size_t i = 0; i < tensor->rows * tensor->columns; i++) rs_transformer_set(t, tensor->offset + i, value);
}

/* Logits of many draws, less those without dropout: their mean in units of its standard error. */
static double farthest_mean(const small_model *m, const rs_transformer *t, rs_drop drop, size_t draws) {
  static double sum[ANSWERS], squares[ANSWERS], plain[ANSWERS], logits[ANSWERS];
  rs_context *context;
  rs_pass *pass;
  double farthest = 0;
  rs_batch batch = small_batch(m, 1, 17);
  memset(sum, 0, sizeof sum);
  memset(squares, 0, sizeof squares);
  size_t source = m->shape.form == RS_ENCODER_DECODER ? SMALL_SOURCE : 0;
  cr_assert_eq(rs_context_create(t, NULL, SMALL_LENGTH, source, &m->tokens, &context, NULL), RS_OK);
  cr_assert_eq(rs_pass_create(context, 1, true, &pass, NULL), RS_OK);
  rs_forward(pass, &batch, &(rs_pass_out){.logits = plain});
  batch.drop = drop;
  for (size_t k = 0; k < draws; k++, batch.drop.sequence++) {
    rs_forward(pass, &batch, &(rs_pass_out){.logits = logits});
    for (size_t i = 0; i < ANSWERS; i++) {
      sum[i] += logits[i] - plain[i];
      squares[i] += (logits[i] - plain[i]) * (logits[i] - plain[i]);
    }
  }
  for (size_t i = 0; i < ANSWERS; i++) {
    double n = (double)draws, mean = sum[i] / n, error = sqrt((squares[i] / n - mean * mean) / n);
    cr_assert(error > 0, "logit %zu never moves", i);
    farthest = fmax(farthest, fabs(mean) / error);
  }
  rs_pass_free(pass);
  rs_context_free(context);
  small_batch_clear(&batch);
  return farthest;
}

/* Attention weighs all alike, and a feed-forward says its bias. */
static void make_linear(rs_transformer *t, const char *stack, bool cross) {
  static const struct {
    const char *end;
    double value;
  } parts[] = {{"self_attn.q_proj.weight", 0},
               {"mlp.down_proj.weight", 0},
               {"mlp.down_proj.bias", 0.5},
               {"cross_attn.q_proj.weight", 0}};
  for (size_t i = 0; i < SMALL_BLOCKS; i++)
    for (size_t k = 0; k < RS_COUNT(parts) - !cross; k++) {
      char name[80];
      snprintf(name, sizeof name, "%s.layers.%zu.%s", stack, i, parts[k].end);
      fill(t, name, parts[k].value);
    }
}

/* Without norms such logits are linear in each mask, and masks are independent: the mean over draws is what nothing
 * dropped gives. */
Test(dropout, linear_model__mean_over_draws__is_that_without) {
  for (size_t form = 0; form < 2; form++) {
    small_model m;
    small_model_fill(&m, form == 0 ? RS_DECODER : RS_ENCODER_DECODER);
    m.shape.decoder.final_norm = m.shape.encoder.final_norm = (rs_norm){0};
    for (size_t i = 0; i < 2 * SMALL_BLOCKS; i++) {
      rs_block *block = i < SMALL_BLOCKS ? &m.blocks[i] : &m.encoder[i - SMALL_BLOCKS];
      block->before_attention = block->before_cross = block->before_feed_forward = (rs_norm){0};
      block->feed_forward.bias = true;
    }
    rs_transformer *t = small_model_create(&m, RS_F64, 3);
    make_linear(t, "model", form == 1);
    if (form == 1) make_linear(t, "model.encoder", false);
    double farthest = farthest_mean(&m, t, (rs_drop){.share = 0.4, .seed = 8}, 5000);
    cr_expect(farthest < 5, "%s: %g standard errors", rs_form_words[m.shape.form], farthest);
    rs_transformer_free(t);
    small_model_clear(&m);
  }
}
