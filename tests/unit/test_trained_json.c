/* config.json of trained models: what goes in comes out, whatever the model; where Llama's class computes the same, it
 * is named. */
#include "../fixtures/scratch.h"
#include "../fixtures/small_training.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

TestSuite(trained_json, .init = enter_scratch);

static char *written(const rs_trained *trained) {
  rs_text json = {0};
  rs_err err = {0};
  cr_assert_eq(rs_trained_write(trained, &json, &err), RS_OK, "%s", err.message);
  return json.data;
}

static void put(const char *json) {
  rs_err err = {0};
  cr_assert_eq(rs_file_write("config.json", json, strlen(json), &err), RS_OK, "%s", err.message);
}

static void same_recipe(const rs_recipe *a, const rs_recipe *b, const char *what) {
  cr_assert_eq(a->method, b->method, "%s", what);
  for (size_t i = 0; i < a->settings.count; i++) {
    const rs_value *x = &a->settings.values[i], *y = &b->settings.values[i];
    cr_assert(x->set == y->set && (!x->set || (x->choice == y->choice && x->count == y->count)), "%s: %s", what,
              a->settings.params[i]->name);
    cr_assert(!x->set || x->choice >= 0 || x->count > 0 || x->number == y->number, "%s: %s", what,
              a->settings.params[i]->name);
  }
}

/* Written, read and written again: the same text, the same fingerprint, and a model of the same tensors. */
static void goes_round(const rs_trained *trained, const char *what) {
  rs_trained back;
  rs_err err = {0};
  char hash[2][65], *first = written(trained);
  put(first);
  cr_assert_eq(rs_trained_read(".", &back, &err), RS_OK, "%s: %s\n%s", what, err.message, first);
  char *second = written(&back);
  cr_assert_str_eq(first, second, "%s", what);
  cr_assert_eq(rs_trained_fingerprint(trained, hash[0], &err), RS_OK);
  cr_assert_eq(rs_trained_fingerprint(&back, hash[1], &err), RS_OK);
  cr_assert_str_eq(hash[0], hash[1], "%s", what);
  cr_assert_eq(back.recipe_count, trained->recipe_count);
  for (size_t i = 0; i < back.recipe_count; i++) same_recipe(&trained->recipes[i], &back.recipes[i], what);
  rs_transformer *a, *b;
  cr_assert_eq(rs_trained_create(trained, false, &a, &err), RS_OK, "%s: %s", what, err.message);
  cr_assert_eq(rs_trained_create(&back, false, &b, &err), RS_OK, "%s: %s", what, err.message);
  size_t bytes = a->size * (a->format == RS_F64 ? sizeof(double) : sizeof(float));
  cr_assert(a->size == b->size && memcmp(a->values, b->values, bytes) == 0, "%s", what);
  rs_transformer_free(a);
  rs_transformer_free(b);
  rs_trained_clear(&back);
  free(first);
  free(second);
}

static void leave(void) {
  const char *const left[] = {"config.json"};
  leaves(left, RS_COUNT(left));
}

Test(trained_json, config__every_form__goes_round) {
  for (rs_form form = RS_DECODER; form < (rs_form)RS_FORMS; form++) {
    small_training s;
    small_training_fill(&s, form, form == RS_DECODER ? RS_F64 : RS_F32);
    goes_round(&s.trained, rs_form_words[form]);
    small_training_clear(&s);
  }
  leave();
}

/* Every field of a block, of a norm and of a shape is another than where nothing is said. */
Test(trained_json, config__every_option__goes_round) {
  const rs_norm norm = {.kind = RS_NORM_LAYER, .bias = true, .around_one = false, .epsilon = 1.0 / 3};
  const rs_norm lifted = {.kind = RS_NORM_RMS, .around_one = true, .epsilon = 1e-6};
  small_training s;
  small_training_fill(&s, RS_ENCODER_DECODER, RS_F64);
  small_model_recipe(&s.model, 1, "t5", "");
  s.trained.recipe_count = 2;
  s.model.blocks[0] = (rs_block){.before_attention = norm,
                                 .after_attention = lifted,
                                 .before_feed_forward = {.kind = RS_NORM_L2, .epsilon = 0.1},
                                 .after_feed_forward = norm,
                                 .attention = {.heads = 2,
                                               .kv_heads = 1,
                                               .head_dim = 4,
                                               .qkv_bias = true,
                                               .output_bias = true,
                                               .qk_norm = lifted,
                                               .qk_span = RS_QK_PROJECTION,
                                               .score_scale = 0.3,
                                               .soft_cap = 7.1,
                                               .sinks = true},
                                 .norm_sums = true,
                                 .cross = true,
                                 .before_cross = norm,
                                 .after_cross = lifted,
                                 .feed_forward = {.width = 5, .activation = RS_RELU, .gated = true, .bias = true},
                                 .recipe = 1,
                                 .mask = {.kind = RS_WINDOW_SINKS, .window = 3, .sinks = 2}};
  s.model.encoder[1].attention.qk_norm = norm;
  s.model.encoder[1].attention.qk_norm_turned = true;
  s.trained.shape.embedding_norm = norm;
  s.trained.shape.embedding_scale = 0.1 + 0.2;
  s.trained.shape.output_bias = true;
  s.trained.shape.output_scale = -0.25;
  s.trained.shape.output_cap = 30;
  s.trained.geometry.rope_theta = 12345.678901234567;
  s.trained.geometry.max_length = 77;
  s.trained.seed = UINT64_MAX;
  s.trained.drawn = 1234567890123;
  s.trained.steps = 29;
  s.trained.arithmetic = "v3, and \"another\"";
  strcpy(s.trained.geometry.name, "größer");
  memset(s.trained.origin, 'a', 64);
  memset(s.trained.weights, '0', 64);
  goes_round(&s.trained, "every option");
  s.model.blocks[0].parallel = true;
  s.model.blocks[0].cross = false;
  goes_round(&s.trained, "parallel");
  small_training_clear(&s);
  leave();
}

Test(trained_json, config__pools__go_round_and_are_left_out_at_their_defaults) {
  small_training s;
  char plain[65], other[65];
  small_training_fill(&s, RS_VISION, RS_F32);
  char *text = written(&s.trained);
  cr_expect_null(strstr(text, "pool"), "%s", text);
  cr_expect_null(strstr(text, "patches_alone"), "%s", text);
  cr_assert_eq(rs_trained_fingerprint(&s.trained, plain, NULL), RS_OK);
  free(text);
  s.trained.shape.pool = RS_POOL_MEAN;
  goes_round(&s.trained, "mean");
  cr_assert_eq(rs_trained_fingerprint(&s.trained, other, NULL), RS_OK);
  cr_expect_str_neq(plain, other);
  s.trained.shape.patches_alone = true;
  goes_round(&s.trained, "patches alone");
  s.trained.shape.patches_alone = false;
  s.trained.shape.distillation_token = true;
  s.model.runs[0].tokens = 2;
  s.model.runs[1].tokens = s.model.runs[1].rows = 7;
  s.model.runs[1].columns = 1;
  s.trained.shape.prediction = RS_PREDICTS_LOGITS;
  cr_assert_eq(rs_trained_fingerprint(&s.trained, plain, NULL), RS_OK);
  memset(s.trained.teacher, 'b', 64);
  goes_round(&s.trained, "distilled");
  cr_assert_eq(rs_trained_fingerprint(&s.trained, other, NULL), RS_OK);
  cr_expect_str_neq(plain, other);
  small_training_clear(&s);
  leave();
}

/* Configs from before a field have the same text, and the same fingerprint. */
Test(trained_json, config__fields_that_came_later__stand_there_where_they_say_something) {
  static const char *const keys[] = {"\"norm_sums\"", "\"after_cross\"", "\"dropout\""};
  small_training s;
  small_training_fill(&s, RS_ENCODER_DECODER, RS_F32);
  for (size_t said = 0; said < 2; said++) {
    if (said == 1) s.model.blocks[1].after_cross = s.model.blocks[1].before_cross;
    s.model.blocks[1].norm_sums = said == 1;
    s.trained.training.dropout = said == 1 ? 0.125 : 0;
    char *text = written(&s.trained);
    for (size_t i = 0; i < RS_COUNT(keys); i++)
      cr_expect_eq(strstr(text, keys[i]) != NULL, said == 1, "%s\n%s", keys[i], text);
    free(text);
  }
  goes_round(&s.trained, "norms of sums");
  small_training_clear(&s);
  leave();
}

/* Also what stands there because of a dialect, a list, or a word. */
Test(trained_json, config__every_method_and_dialect__goes_round) {
  size_t count, dialect_count;
  const rs_method *methods = rs_methods(&count);
  const rs_dialect *dialects = rs_dialects(&dialect_count);
  for (size_t m = 0; m < count; m++)
    for (size_t d = 0; d <= dialect_count; d++) {
      small_training s;
      rs_recipe recipe = {0};
      rs_err err = {0};
      small_training_fill(&s, RS_DECODER, RS_F32);
      bool fits = rs_recipe_init(&recipe, &methods[m], NULL) == RS_OK &&
                  (d == dialect_count || (rs_dialect_fits(&dialects[d], &methods[m]) &&
                                          rs_recipe_set(&recipe, "dialect", dialects[d].name, NULL) == RS_OK)) &&
                  rs_recipe_resolve(&recipe, &s.trained.geometry, NULL) == RS_OK &&
                  rs_recipe_check(&recipe, &s.trained.geometry, NULL) == RS_OK;
      rs_transformer *probe = NULL;
      if (fits) {
        rs_recipe_clear(&s.model.recipes[0]);
        s.model.recipes[0] = recipe;
        fits = rs_trained_create(&s.trained, false, &probe, &err) == RS_OK;
        rs_transformer_free(probe);
        if (fits) goes_round(&s.trained, methods[m].name);
      } else {
        rs_recipe_clear(&recipe);
      }
      small_training_clear(&s);
    }
  leave();
}

Test(trained_json, config__settings_of_a_recipe__go_round) {
  static const char *const recipes[][2] = {{"yarn", "scale=8 beta_fast=16"},
                                           {"yarn", "factor=4 logit_scale=ssmax"},
                                           {"pi", "scale=auto"},
                                           {"alibi", "slope_factor=inv_sqrt_dim"},
                                           {"random_rope", ""},
                                           {"learned", ""}};
  for (size_t i = 0; i < RS_COUNT(recipes); i++) {
    small_training s;
    small_training_fill(&s, RS_DECODER, RS_F32);
    small_training_recipe(&s, recipes[i][0], recipes[i][1]);
    goes_round(&s.trained, recipes[i][0]);
    small_training_clear(&s);
  }
  leave();
}

/* A grid that training has fixed was never given, and is said all the same. */
Test(trained_json, config__grid_of_a_trained_table__goes_round) {
  static const char *const methods[][2] = {{"learned_2d", ""}, {"learned_2d", "combine=concat"}, {"swin", ""}};
  for (size_t i = 0; i < RS_COUNT(methods); i++) {
    small_training s;
    rs_transformer *t;
    rs_err err = {0};
    small_training_fill(&s, RS_VISION, RS_F32);
    small_training_recipe(&s, methods[i][0], methods[i][1]);
    goes_round(&s.trained, methods[i][0]);
    cr_assert_eq(rs_trained_create(&s.trained, false, &t, &err), RS_OK, "%s", err.message);
    s.trained.recipes = t->recipes;
    char *text = written(&s.trained);
    cr_expect_not_null(strstr(text, "table_grid: [4, 2]"), "%s", text);
    goes_round(&s.trained, methods[i][0]);
    free(text);
    rs_transformer_free(t);
    small_training_clear(&s);
  }
  leave();
}

/* ---- fingerprints ------------------------------------------------------------------------------------------------ */

static void fingerprint(const rs_trained *trained, char hash[65]) {
  rs_err err = {0};
  cr_assert_eq(rs_trained_fingerprint(trained, hash, &err), RS_OK, "%s", err.message);
}

Test(trained_json, fingerprint__what_makes_weights_alone__counts) {
  small_training s;
  char first[65], other[65];
  small_training_fill(&s, RS_DECODER, RS_F32);
  fingerprint(&s.trained, first);
  rs_trained changed = s.trained;
  strcpy(changed.geometry.name, "another");
  changed.steps = 7;
  changed.arithmetic = "v4";
  memset(changed.weights, 'f', 64);
  fingerprint(&changed, other);
  cr_expect_str_eq(first, other, "names, steps, machines and results make no weights");
  rs_trained many[] = {s.trained, s.trained, s.trained, s.trained, s.trained, s.trained, s.trained};
  many[0].seed++;
  many[1].training.decay = 0.02;
  many[2].format = RS_F64;
  many[3].geometry.rope_theta = 101;
  many[4].shape.tied = true;
  memset(many[5].origin, '1', 64);
  many[6].drawn = 8;
  for (size_t i = 0; i < RS_COUNT(many); i++) {
    fingerprint(&many[i], other);
    cr_expect_str_neq(first, other, "change %zu", i);
  }
  s.trained.task.settings.values[0].number++;
  fingerprint(&s.trained, other);
  cr_expect_str_neq(first, other, "the task's parameters");
  small_training_clear(&s);
  leaves(NULL, 0);
}

Test(trained_json, config__list_of_a_task__is_written_whole) {
  static const double depths[] = {0.25, 0.5, 0.75};
  small_training s;
  small_training_fill(&s, RS_DECODER, RS_F32);
  rs_settings *settings = &s.trained.task.settings;
  rs_settings_clear(settings);
  s.trained.task.task = rs_task_find("passkey");
  const rs_kind *kind = &s.trained.task.task->kind;
  cr_assert_eq(rs_settings_init_specs(settings, kind->params, kind->param_count, NULL), RS_OK);
  int index = rs_settings_find(settings, "depths");
  cr_assert_eq(rs_value_list(settings->params[index], depths, RS_COUNT(depths), &settings->values[index], NULL), RS_OK);
  goes_round(&s.trained, "depths");
  char *json = written(&s.trained), *list = strstr(json, "\"depths\"");
  cr_assert_not_null(list, "%s", json);
  for (size_t i = 0; i < RS_COUNT(depths); i++) {
    list = strpbrk(list, "0123456789");
    cr_assert_not_null(list);
    cr_expect_float_eq(strtod(list, &list), depths[i], 0, "%zu: %s", i, json);
  }
  free(json);
  small_training_clear(&s);
  leave();
}

/* Of a text, what it holds counts, and not where it is. */
Test(trained_json, fingerprint__of_a_text__is_that_of_its_contents) {
  small_training s;
  rs_err err = {0};
  char first[65], other[65];
  small_training_fill(&s, RS_DECODER, RS_F32);
  rs_settings *settings = &s.trained.task.settings;
  rs_settings_clear(settings);
  s.trained.task.task = rs_task_find("bytes");
  const rs_kind *kind = &s.trained.task.task->kind;
  cr_assert_eq(rs_settings_init_specs(settings, kind->params, kind->param_count, &err), RS_OK);
  rs_value *text = &settings->values[rs_settings_find(settings, "file")];
  *text = (rs_value){.set = true, .given = true, .choice = RS_NO_WORD, .file = strdup("/here/\"text\".txt")};
  memset(text->hash, 'b', 64);
  goes_round(&s.trained, "a text");
  fingerprint(&s.trained, first);
  text->file[1] = 't';
  fingerprint(&s.trained, other);
  cr_expect_str_eq(first, other);
  rs_value *stride = &settings->values[rs_settings_find(settings, "stride")];
  rs_value *share = &settings->values[rs_settings_find(settings, "share")];
  *stride = (rs_value){.set = true, .given = true, .choice = RS_NO_WORD, .number = 7};
  goes_round(&s.trained, "a text with a stride"); /* which config.json has */
  fingerprint(&s.trained, other);
  cr_expect_str_eq(first, other, "how it is read makes no weights");
  share->number = 0.2;
  fingerprint(&s.trained, other);
  cr_expect_str_neq(first, other);
  share->number = 0.1;
  text->hash[0] = 'a';
  fingerprint(&s.trained, other);
  cr_expect_str_neq(first, other);
  small_training_clear(&s);
  leave();
}

/* ---- Llama ------------------------------------------------------------------------------------------------------- */

static bool is_llama(const small_training *s) {
  char *json = written(&s->trained);
  bool llama = strstr(json, "\"LlamaForCausalLM\"") != NULL, other = strstr(json, "\"RopescopeModel\"") != NULL;
  cr_assert_neq(llama, other);
  cr_assert_eq(llama, strstr(json, "\"model_type\": \"llama\"") != NULL);
  free(json);
  return llama;
}

Test(trained_json, llama__recipes_that_the_class_has__are_named) {
  static const struct {
    const char *method, *settings;
    bool llama;
  } cases[] = {{"rope", "", true},
               {"pi", "factor=4", true},
               {"pi", "scale=4", true},
               {"pi", "", false}, /* a scale that follows the length */
               {"yarn", "factor=4", true},
               {"yarn", "factor=4 beta_fast=16", true},
               {"yarn", "factor=4 logit_scale=ssmax", false},
               {"llama3", "factor=8", true},
               {"yarn", "factor=4 truncate=false", true},
               {"yarn", "factor=4 ramp=paper", false},
               {"yarn", "factor=4 temperature=logits", false},
               {"yarn", "factor=4 cached_keys=4", false},
               {"yarn", "factor=0.5", true},
               {"rope", "logit_scale=log_n", false},
               {"rope", "rope_theta=50", false},
               {"rope", "wavelengths=whole", false},
               {"ntk", "factor=4", false},
               {"alibi", "", false},
               {"nope", "", false},
               {"rope", "rotary_dim=2", false},
               {"rope", "pair_layout=interleaved", false}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    small_training s;
    small_training_fill(&s, RS_DECODER, RS_F32);
    small_training_llama(&s);
    small_training_recipe(&s, cases[i].method, cases[i].settings);
    cr_expect_eq(is_llama(&s), cases[i].llama, "%s %s", cases[i].method, cases[i].settings);
    small_training_clear(&s);
  }
  leaves(NULL, 0);
}

/* What Llama's class has not, one at a time. */
static void spoil(small_training *s, size_t i) {
  rs_block *block = &s->model.blocks[1];
  rs_shape *shape = &s->trained.shape;
  switch (i) {
  case 0: block->parallel = true; break;
  case 1: block->mask = (rs_mask){.kind = RS_WINDOW, .window = 4}; break;
  case 2: block->feed_forward.gated = false; break;
  case 3: block->feed_forward.activation = RS_GELU; break;
  case 4: block->feed_forward.width++; break;
  case 5: block->attention.sinks = true; break;
  case 6: block->attention.qkv_bias = true; break;
  case 7: block->attention.soft_cap = 5; break;
  case 8: block->attention.score_scale = 0.4; break;
  case 9: block->attention.qk_norm = block->before_attention; break;
  case 10: block->attention.kv_heads = 1; break;
  case 11: block->before_attention.epsilon *= 2; break;
  case 12: block->before_feed_forward.around_one = true; break;
  case 13: block->after_attention = block->before_attention; break;
  case 14: shape->decoder.final_norm.kind = RS_NORM_LAYER; break;
  case 15: shape->embedding_scale = 2; break;
  case 16: shape->output_scale = 2; break;
  case 17: shape->output_cap = 5; break;
  case 18: shape->output_bias = true; break;
  case 19: shape->embedding_norm = block->before_attention; break;
  case 20: shape->classes--; break;
  case 21: block->after_feed_forward = block->before_attention; break;
  case 22: block->cross = true; break;
  case 23: block->attention.heads = block->attention.kv_heads = 4; break;
  case 24: block->attention.head_dim = 8; break;
  case 25: block->attention.qkv_bias = block->attention.output_bias = true; break;
  case 26: block->before_feed_forward.kind = RS_NORM_LAYER; break;
  case 27: shape->form = RS_ENCODER; break;
  default: block->feed_forward.bias = true;
  }
}

Test(trained_json, llama__another_block_or_output__is_not_named) {
  enum { SPOILS = 29 };
  for (size_t i = 0; i < SPOILS; i++) {
    small_training s;
    small_training_fill(&s, RS_DECODER, RS_F32);
    small_training_llama(&s);
    cr_assert(is_llama(&s));
    spoil(&s, i);
    cr_expect_not(is_llama(&s), "case %zu", i);
    small_training_clear(&s);
  }
  leaves(NULL, 0);
}

/* The scale that is left out, written out. */
Test(trained_json, llama__usual_scale_of_scores__is_named) {
  small_training s;
  small_training_fill(&s, RS_DECODER, RS_F32);
  small_training_llama(&s);
  s.model.blocks[1].attention.score_scale = 0.5;
  cr_expect(is_llama(&s));
  small_training_clear(&s);
  leaves(NULL, 0);
}

/* A method that no name finds has no words: nothing that could not be read is written. */
Test(trained_json, method_of_a_caller__has_no_words) {
  small_training s;
  rs_text json = {0};
  rs_err err = {0};
  small_training_fill(&s, RS_DECODER, RS_F32);
  rs_method mine = *s.model.recipes[0].method;
  mine.name = "mine";
  s.model.recipes[0].method = &mine;
  cr_expect_eq(rs_trained_write(&s.trained, &json, &err), RS_UNSUPPORTED);
  cr_expect_str_eq(err.message, "the recipe mine of this model has no words that say all of it");
  rs_text_clear(&json);
  small_training_clear(&s);
  leaves(NULL, 0);
}

Test(trained_json, llama__keys__are_those_of_the_class) {
  small_training s;
  small_training_fill(&s, RS_DECODER, RS_F64);
  small_training_llama(&s);
  small_training_recipe(&s, "yarn", "scale=4 beta_fast=16 truncate=false");
  s.trained.shape.tied = true;
  for (size_t i = 0; i < SMALL_BLOCKS; i++) {
    s.model.blocks[i].attention.kv_heads = 1;
    s.model.blocks[i].attention.qkv_bias = s.model.blocks[i].attention.output_bias = true;
  }
  static const char wanted[] = "{\n"
                               "  \"architectures\": [\"LlamaForCausalLM\"],\n"
                               "  \"model_type\": \"llama\",\n"
                               "  \"vocab_size\": 11,\n"
                               "  \"hidden_size\": 8,\n"
                               "  \"intermediate_size\": 12,\n"
                               "  \"num_hidden_layers\": 2,\n"
                               "  \"num_attention_heads\": 2,\n"
                               "  \"num_key_value_heads\": 1,\n"
                               "  \"head_dim\": 4,\n"
                               "  \"hidden_act\": \"silu\",\n"
                               "  \"rms_norm_eps\": 1e-05,\n"
                               "  \"max_position_embeddings\": 32,\n"
                               "  \"rope_theta\": 100,\n"
                               "  \"rope_scaling\": {\n"
                               "    \"rope_type\": \"yarn\",\n"
                               "    \"factor\": 4,\n"
                               "    \"beta_fast\": 16,\n"
                               "    \"truncate\": false,\n"
                               "    \"original_max_position_embeddings\": 8\n"
                               "  },\n"
                               "  \"tie_word_embeddings\": true,\n"
                               "  \"attention_bias\": true,\n"
                               "  \"mlp_bias\": false,\n"
                               "  \"bos_token_id\": null,\n"
                               "  \"eos_token_id\": null,\n"
                               "  \"torch_dtype\": \"float64\",\n";
  char *json = written(&s.trained);
  json[strlen(wanted)] = '\0';
  cr_expect_str_eq(json, wanted);
  free(json);
  small_training_clear(&s);
  leaves(NULL, 0);
}
