/* Weights as files: names and shapes, types, what does not fit, and what fails on the way. */
#include "../fixtures/heap.h"
#include "../fixtures/scratch.h"
#include "../fixtures/small_model.h"

#include <criterion/criterion.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

TestSuite(weights, .init = enter_scratch);

static size_t bytes_of(const rs_transformer *t) {
  return t->size * (t->format == RS_F64 ? sizeof(double) : sizeof(float));
}

static rs_transformer *model_of(rs_form form, const char *method, rs_format format, uint64_t seed) {
  small_model m;
  small_model_fill(&m, form);
  small_model_recipe(&m, 0, method, "");
  rs_transformer *t = small_model_create(&m, format, seed);
  small_model_clear(&m);
  return t;
}

static void write_to(const rs_transformer *t, const char *path) {
  rs_err err = {0};
  cr_assert_eq(rs_weights_write(t, path, &err), RS_OK, "%s", err.message);
}

static void leave(void) {
  const char *const left[] = {"w"};
  leaves(left, RS_COUNT(left));
}

Test(weights, written_and_read__every_form_and_format__same_bytes) {
  for (rs_form form = RS_DECODER; form < (rs_form)RS_FORMS; form++)
    for (rs_format format = RS_F64; format <= RS_F32; format++) {
      const char *method = form == RS_DECODER ? "fire" : "rope";
      rs_transformer *a = model_of(form, method, format, 1), *b = model_of(form, method, format, 2);
      rs_err err = {0};
      write_to(a, "w");
      cr_assert_neq(memcmp(a->values, b->values, bytes_of(a)), 0);
      cr_assert_eq(rs_weights_read(b, "w", &err), RS_OK, "%s", err.message);
      cr_expect_eq(memcmp(a->values, b->values, bytes_of(a)), 0, "%s %s", rs_form_words[form], rs_format_words[format]);
      rs_transformer_free(a);
      rs_transformer_free(b);
    }
  leave();
}

/* What LlamaForCausalLM.save_pretrained names them, in the order of names. */
Test(weights, names_and_shapes__of_a_llama__are_its_own) {
  static const struct {
    const char *name;
    size_t rank, rows, columns;
  } wanted[] = {{"lm_head.weight", 2, 11, 8},
                {"model.embed_tokens.weight", 2, 11, 8},
                {"model.layers.0.input_layernorm.weight", 1, 8, 0},
                {"model.layers.0.mlp.down_proj.weight", 2, 8, 12},
                {"model.layers.0.mlp.gate_proj.weight", 2, 12, 8},
                {"model.layers.0.mlp.up_proj.weight", 2, 12, 8},
                {"model.layers.0.post_attention_layernorm.weight", 1, 8, 0},
                {"model.layers.0.self_attn.k_proj.weight", 2, 4, 8},
                {"model.layers.0.self_attn.o_proj.weight", 2, 8, 8},
                {"model.layers.0.self_attn.q_proj.weight", 2, 8, 8},
                {"model.layers.0.self_attn.v_proj.weight", 2, 4, 8},
                {"model.norm.weight", 1, 8, 0}};
  small_model m;
  rs_safetensors *file;
  small_model_fill(&m, RS_DECODER);
  m.shape.decoder.count = 1;
  m.blocks[0].feed_forward.gated = true;
  m.blocks[0].attention.kv_heads = 1;
  rs_transformer *t = small_model_create(&m, RS_F32, 1);
  write_to(t, "w");
  cr_assert_eq(rs_safetensors_map("w", &file, NULL), RS_OK);
  cr_assert_eq(file->count, RS_COUNT(wanted));
  for (size_t i = 0; i < file->count; i++) {
    const rs_stored_tensor *tensor = &file->tensors[file->by_name[i]];
    cr_expect_str_eq(tensor->name, wanted[i].name);
    cr_expect_eq(tensor->dtype, RS_DTYPE_F32);
    cr_expect(tensor->rank == wanted[i].rank && tensor->shape[0] == wanted[i].rows &&
                  (tensor->rank == 1 || tensor->shape[1] == wanted[i].columns),
              "%s", tensor->name);
  }
  rs_safetensors_free(file);
  rs_transformer_free(t);
  small_model_clear(&m);
  leave();
}

/* ---- other types, and what does not fit -------------------------------------------------------------------------- */

enum { MOST = 64 };

/* The tensors of a model as they would be written, to be changed. */
typedef struct stored {
  rs_tensor_numbers tensors[MOST];
  size_t shapes[MOST][2], count;
} stored;

static void store(const rs_transformer *t, rs_dtype dtype, stored *out) {
  *out = (stored){.count = t->tensor_count};
  for (size_t i = 0; i < t->tensor_count; i++) {
    const rs_tensor *tensor = &t->tensors[i];
    out->shapes[i][0] = tensor->vector ? tensor->columns : tensor->rows;
    out->shapes[i][1] = tensor->columns;
    out->tensors[i] = (rs_tensor_numbers){.name = tensor->name,
                                          .dtype = dtype,
                                          .rank = tensor->vector ? 1 : 2,
                                          .shape = out->shapes[i],
                                          .doubles = (const double *)t->values + tensor->offset};
  }
}

static void put_stored(const stored *s) {
  rs_err err = {0};
  cr_assert_eq(rs_safetensors_write("w", s->tensors, s->count, &err), RS_OK, "%s", err.message);
}

Test(weights, types_of_floats__are_widened) {
  static const struct {
    rs_dtype dtype;
    double tolerance;
  } types[] = {{RS_DTYPE_F64, 0}, {RS_DTYPE_F32, 0x1p-24}, {RS_DTYPE_F16, 0x1p-11}, {RS_DTYPE_BF16, 0x1p-8}};
  rs_transformer *t = model_of(RS_DECODER, "rope", RS_F64, 1), *back = model_of(RS_DECODER, "rope", RS_F64, 2);
  for (size_t i = 0; i < RS_COUNT(types); i++) {
    stored s;
    rs_err err = {0};
    store(t, types[i].dtype, &s);
    put_stored(&s);
    cr_assert_eq(rs_weights_read(back, "w", &err), RS_OK, "%s", err.message);
    for (size_t k = 0; k < t->size; k++) {
      double wanted = ((double *)t->values)[k], got = ((double *)back->values)[k];
      cr_assert(fabs(got - wanted) <= types[i].tolerance * fabs(wanted) + 0x1p-24, "%s: %g, not %g",
                rs_dtype_words[types[i].dtype], got, wanted);
    }
  }
  rs_transformer_free(t);
  rs_transformer_free(back);
  leave();
}

/* Refused with this message, and the model is as it was. */
static void is_refused(const stored *s, const char *message) {
  rs_transformer *t = model_of(RS_DECODER, "rope", RS_F32, 2), *before = model_of(RS_DECODER, "rope", RS_F32, 2);
  rs_err err = {0};
  put_stored(s);
  cr_expect_eq(rs_weights_read(t, "w", &err), RS_INPUT);
  cr_expect_str_eq(err.message, message, "got:  %s\nwant: %s", err.message, message);
  cr_expect_eq(memcmp(t->values, before->values, bytes_of(t)), 0);
  rs_transformer_free(t);
  rs_transformer_free(before);
}

Test(weights, tensors_that_do_not_fit__are_named) {
  rs_transformer *t = model_of(RS_DECODER, "rope", RS_F64, 1);
  double zeros[200] = {0}, large[] = {1e300};
  size_t last = t->tensor_count - 1, other[2] = {4, 50}, one[] = {1};
  stored s;
  cr_assert_str_eq(t->tensors[last].name, "lm_head.weight");
  store(t, RS_DTYPE_F32, &s);
  s.count--;
  is_refused(&s, "w: holds no tensor \"lm_head.weight\"");
  s.count++;
  s.tensors[last].shape = other;
  s.tensors[last].doubles = zeros;
  is_refused(&s, "w: tensor \"lm_head.weight\": has shape (4, 50), wanted is (11, 8)");
  store(t, RS_DTYPE_F32, &s);
  s.tensors[1].rank = 2;
  s.tensors[1].shape = (const size_t[]){1, 8};
  is_refused(&s, "w: tensor \"model.layers.0.input_layernorm.weight\": has shape (1, 8), wanted is (8,)");
  store(t, RS_DTYPE_F32, &s);
  s.tensors[s.count++] = (rs_tensor_numbers){
      .name = "model.layers.2.norm", .dtype = RS_DTYPE_F64, .rank = 1, .shape = one, .doubles = large};
  is_refused(&s, "w: tensor \"model.layers.2.norm\": the model has no such weights");
  rs_transformer_free(t);
  leave();
}

Test(weights, numbers_that_are_none__are_not_written) {
  rs_transformer *t = model_of(RS_DECODER, "rope", RS_F32, 1);
  rs_err err = {0};
  write_to(t, "w");
  ((float *)t->values)[3] = NAN;
  cr_expect_eq(rs_weights_write(t, "w", &err), RS_DOMAIN);
  cr_expect_not_null(strstr(err.message, "w: tensor \"model.embed_tokens.weight\": number 3 is"), "%s", err.message);
  rs_transformer_free(t);
  t = model_of(RS_DECODER, "rope", RS_F32, 2);
  cr_expect_eq(rs_weights_read(t, "w", NULL), RS_OK); /* the older file has stayed */
  rs_transformer_free(t);
  leave();
}

/* ---- failures ---------------------------------------------------------------------------------------------------- */

Test(weights, every_failing_allocation__is_told_and_changes_nothing) {
  if (!COUNTS_MEMORY) cr_skip("the heap is somebody else's here");
  rs_transformer *t = model_of(RS_DECODER, "t5", RS_F32, 1), *back = model_of(RS_DECODER, "t5", RS_F32, 2);
  rs_transformer *before = model_of(RS_DECODER, "t5", RS_F32, 2);
  spared_library = "libjansson."; /* 2.14 writes past its buffer when it cannot grow */
  for (int reads = 0; reads < 2; reads++) {
    long n = 0;
    do {
      rs_err err = {0};
      long held = blocks;
      refused = false;
      allocations = n++;
      rs_status status = reads ? rs_weights_read(back, "w", &err) : rs_weights_write(t, "w", &err);
      allocations = -1;
      cr_assert_eq(blocks, held, "allocation %ld leaks", n);
      cr_assert(refused ? status == RS_MEMORY : status == RS_OK, "allocation %ld: %s", n, err.message);
      if (refused && reads) cr_assert_eq(memcmp(back->values, before->values, bytes_of(back)), 0);
    } while (refused);
    cr_assert_gt(n, 5);
  }
  rs_transformer_free(t);
  rs_transformer_free(back);
  rs_transformer_free(before);
  leave();
}

Test(weights, file_without_room__older_one_stays) {
  rs_transformer *t = model_of(RS_DECODER, "rope", RS_F32, 1), *back = model_of(RS_DECODER, "rope", RS_F32, 2);
  struct rlimit limit;
  write_to(t, "w");
  signal(SIGXFSZ, SIG_IGN);
  getrlimit(RLIMIT_FSIZE, &limit);
  rlim_t before = limit.rlim_cur;
  for (limit.rlim_cur = 0; limit.rlim_cur < 5000; limit.rlim_cur += 777) {
    rs_err err = {0};
    setrlimit(RLIMIT_FSIZE, &limit);
    rs_status status = rs_weights_write(back, "w", &err);
    struct rlimit none = {before, limit.rlim_max};
    setrlimit(RLIMIT_FSIZE, &none);
    fails_io(status, &err, "w: cannot write: File too large");
  }
  cr_assert_eq(rs_weights_read(back, "w", NULL), RS_OK);
  cr_expect_eq(memcmp(t->values, back->values, bytes_of(t)), 0);
  rs_transformer_free(t);
  rs_transformer_free(back);
  leave();
}
