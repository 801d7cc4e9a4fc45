/* test_config_messages.c: what is said of a config that is nearly right: one problem a slip, and what was meant. */
#include "../fixtures/program.h"

TestSuite(config_messages, .init = enter_folder, .fini = leave_folder);

Test(config_messages, one_slip__one_problem_and_what_was_meant) {
  static const struct {
    const char *config, *problem;
  } cases[] = {
      {"modl: llama-2-7b\n", "1:1: modl: a config has no key modl (did you mean model?)"},
      {"model: llama-2-7b\nheads: {eech: [0]}\n", "2:9: heads.eech: heads has no key eech (did you mean each?)"},
      {"model: llama-2-7b\nmethods: [{nme: yarn, factor: 2}]\n",
       "2:12: methods[0].nme: an entry has no key nme (did you mean name?)"},
      {"model: llama-2-7b\nmethods: [{factor: 2}]\n",
       "2:11: methods[0] = {...}: must be a name, or {name: ..., parameters}"},
      {"model: llama-2-7b\nthreads: 4\n", "2:1: threads: a config has no key threads (--threads N says it)"},
      {"model: llama-2-7b\nmethods: ntk_dynamic\n",
       "2:10: methods = ntk_dynamic: is no method (did you mean dynamic_ntk?)"},
      {"model: llama-2-7b\nprecision: {freq_inv: f32}\n",
       "2:13: precision.freq_inv: precision has no key freq_inv (did you mean inv_freq?)"},
      {"model: llama-2-7b\nmethods: linear\n",
       "2:10: methods = linear: is no method (Hugging Face's linear is pi here)"},
      {"model: llama-2-7b\nmethods: [{name: dynamic, factor: 2}]\n",
       "2:18: methods[0].name = dynamic: is no method (Hugging Face's dynamic is dynamic_ntk here)"},
      {"model: llama-2-7b\nsources: linear\n",
       "2:10: sources = linear: is no source (ropescope list sources shows them)"},
      {"model: {heads: 2, train_length: 64}\n",
       "1:8: model = {...}: needs head_dim (or the name of a preset, or {hf: config.json})"},
      {"model: {heads: 2, head_dim: 64}\n",
       "1:8: model = {...}: needs train_length (or the name of a preset, or {hf: config.json})"},
      {"model: {heads: 2}\n",
       "1:8: model = {...}: needs head_dim and train_length (or the name of a preset, or {hf: config.json})"},
      {"name: a\n", "1:1: the config has no model (add model: llama-2-7b)"},
      {"model: {head_dim: 64, train_length: 64, published: {nam: yarn}}\n",
       "1:53: model.published.nam: an entry has no key nam (did you mean name?)"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_text err = {0};
    write_file("c.yaml", cases[i].config);
    rs_text_printf(&err, "c.yaml:%s\nropescope: c.yaml: 1 problem\n", cases[i].problem);
    expect_failure(&(command){.arguments = {"plan", "c.yaml"}}, 2, err.data);
    rs_text_clear(&err);
  }
}

/* What stood in --lengths is blamed on --lengths. */
Test(config_messages, lengths_of_the_command_line__are_no_yaml_and_no_edit) {
  static const char *const cases[][2] = {
      {"abc", "lengths[0] = abc: must be a number"},
      {"4k, 8kb", "lengths[1] = 8kb: must be a number, as 8192, 8k or 1M (k: 1024, M: 1024k)"},
      {"4k]", "lengths[0] = 4k]: must be a number"},
      {"4k,,8k", "lengths[1] = : must be a number"},
      {"0", "lengths[0] = 0: must be from 1 to 268435456"},
      {"", "lengths = [...]: is an empty list"}};
  write_file("c.yaml", "model: llama-2-7b\nlengths: no list\n");
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char err[256];
    snprintf(err, sizeof err, "--lengths: %s\nropescope: c.yaml: 1 problem\n", cases[i][1]);
    expect_failure(&(command){.arguments = {"plan", "c.yaml", "--lengths", cases[i][0]}}, 2, err);
  }
  char *out = output_of(&(command){.arguments = {"plan", "c.yaml", "--lengths", " 8 ,16, 32", "--set", "lengths=9"}});
  cr_expect_not_null(strstr(out, ", 3 lengths,"), "%s", out);
  free(out);
}

/* The names that Hugging Face has for methods, wherever one is asked for. */
Test(config_messages, names_of_hugging_face__point_to_ours) {
  expect_failure(&(command){.arguments = {"list", "dynamic"}}, 2,
                 "ropescope: nothing is called dynamic (Hugging Face's dynamic is dynamic_ntk here)\n");
  expect_failure(&(command){.arguments = {"compare", "gpt-oss", "linear"}}, 2,
                 "ropescope: B, linear: is no method (Hugging Face's linear is pi here)\n");
  expect_failure(&(command){.arguments = {"show", "scale", "--model=gpt-oss", "--method=dynamic"}}, 2,
                 "--method:1:1: methods[0] = dynamic: is no method (Hugging Face's dynamic is dynamic_ntk here)\n"
                 "ropescope: --method: 1 problem\n");
}

/* No length holds less than the layout: plan refuses what run would give as failed cells. */
Test(config_messages, layout_longer_than_a_length__is_refused_by_plan) {
  write_file("c.yaml", "model: qwen2-vl\nmethods: mrope\nlengths: [64, 32]\ntokens: [{text: 20}, {image: [4, 5]}]\n");
  expect_failure(&(command){.arguments = {"plan", "c.yaml"}}, 2,
                 "ropescope: the token layout has 40 tokens, the length is only 32\n");
  run_well(&(command){.arguments = {"plan", "c.yaml", "--lengths", "40,64"}});
}
