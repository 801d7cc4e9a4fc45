/* test_show_command.c: `ropescope show`. */
#include "../fixtures/program.h"
#include "../say.h"

#include <sys/stat.h>

TestSuite(show_command, .init = enter_folder, .fini = leave_folder);

/* ---- show -------------------------------------------------------------------------------------------------------- */

static rs_table *show(const char *const arguments[MOST_ARGUMENTS - 1], const char *header) {
  command c = {.arguments = {"show"}};
  for (size_t i = 0; i + 1 < MOST_ARGUMENTS && arguments[i] != NULL; i++) c.arguments[i + 1] = arguments[i];
  char *out = output_of(&c);
  cr_expect_eq(strncmp(out, header, strlen(header)), 0, "%s: %.100s", arguments[0], out);
  rs_table *table = table_of(out, arguments[0]);
  free(out);
  return table;
}

static void expect_near(double got, double want, const char *what, size_t index) {
  cr_expect(fabs(got - want) <= 1e-12 * fabs(want), "%s %zu: %.17g, want %.17g", what, index, got, want);
}

static const char frequencies[] = "pair,axis,omega_rad_per_token,wavelength_tokens,amp\n";

/* arXiv:2407.21783; Llama-3.1: factor 8, low 1, high 4, 8192 tokens, theta 500000. From a preset and from a file. */
Test(show_command, show_frequencies__llama_3_1_by_its_formula) {
  rs_text file = {0};
  rs_text_printf(&file, "%s/data/hf/llama-3.1.json", getenv("ROPESCOPE_TESTS"));
  const char *const ways[][4] = {{"frequencies", "--model", "llama-3.1-8b"}, {"frequencies", "--hf", file.data}};
  for (size_t w = 0; w < RS_COUNT(ways); w++) {
    const char *arguments[MOST_ARGUMENTS - 1] = {ways[w][0], ways[w][1], ways[w][2]};
    rs_table *table = show(arguments, frequencies);
    cr_assert_eq(table->rows, 64);
    for (size_t j = 0; j < 64; j++) {
      double plain = pow(500000, -(double)j / 64), wavelength = 2 * M_PI / plain;
      double smooth = (8192 / wavelength - 1) / (4 - 1);
      double want = wavelength < 8192.0 / 4 ? plain
                    : wavelength > 8192.0   ? plain / 8
                                            : (1 - smooth) * plain / 8 + smooth * plain;
      expect_near(number(table, j, "omega_rad_per_token"), want, "omega", j);
      expect_near(number(table, j, "wavelength_tokens"), 2 * M_PI / want, "wavelength", j);
      cr_expect_eq(number(table, j, "pair"), (double)j);
      cr_expect_eq(number(table, j, "amp"), 1);
      cr_expect_str_eq(field(table, j, "axis"), "t");
    }
    rs_table_free(table);
  }
  rs_text_clear(&file);
}

Test(show_command, show_frequencies__length_method_and_axes) {
  static const char *const pi[MOST_ARGUMENTS - 1] = {
      "frequencies", "--model", "llama-2-7b", "--method", "{name: pi, scale: auto}", "--length", "16k"};
  rs_table *table = show(pi, frequencies);
  for (size_t j = 0; j < 64; j++)
    expect_near(number(table, j, "omega_rad_per_token"), pow(10000, -(double)j / 64) / 4, "omega", j);
  rs_table_free(table);
  static const char *const yarn[MOST_ARGUMENTS - 1] = {"frequencies", "--model", "yarn-llama-2-7b-64k"};
  table = show(yarn, frequencies);
  expect_near(number(table, 0, "amp"), 0.1 * log(16) + 1, "amp", 0);
  rs_table_free(table);
  static const char *const mrope[MOST_ARGUMENTS - 1] = {"frequencies", "--model", "qwen2-vl", "--length", "8"};
  table = show(mrope, frequencies);
  for (size_t j = 0; j < 64; j++)
    cr_expect_str_eq(field(table, j, "axis"), j < 16 ? "t" : j < 40 ? "h" : "w", "pair %zu", j);
  rs_table_free(table);
}

/* What stderr says is what the table holds: sections are the model's, though its recipe does not write them. */
Test(show_command, show__published_recipe__is_named_with_its_sections) {
  result got = run(&(command){.arguments = {"show", "frequencies", "--model", "qwen2-vl", "--length", "8"}});
  static const char named[] = "{name: mrope, mrope_section: [16, 24, 24]} on qwen2-vl at 8 tokens\n";
  cr_expect(strncmp(got.err, named, strlen(named)) == 0, "%s", got.err);
  result_clear(&got);
}

/* What a run would warn of, in both forms; --quiet leaves it out. */
Test(show_command, show__recipe_that_is_hardly_meant__warns) {
  static const char plain[] = "warning: mrope is plain RoPE here: the tokens hold no image or video";
  static const char shrunk[] = "warning: scale: auto is 0.25 at 1024 tokens: pairs turn faster than in training";
  const struct {
    const char *said, *arguments[MOST_ARGUMENTS];
  } cases[] = {
      {plain, {"show", "positions", "--model", "qwen2-vl", "--length", "8"}},
      {plain, {"show", "positions", "--model", "qwen2-vl", "--length", "8", "--json"}},
      {"", {"show", "positions", "--model", "qwen2-vl", "--length", "8", "--quiet"}},
      {"", {"show", "positions", "--model", "qwen2-vl", "--length", "8", "--set", "tokens=[{image: [2, 3]}]"}},
      {shrunk,
       {"show", "frequencies", "--model", "llama-2-7b", "--method", "{name: pi, scale: auto}", "--length", "1k"}},
      {"", {"show", "frequencies", "--model", "llama-2-7b", "--method", "{name: pi, scale: auto}", "--length", "8k"}},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    command c = {0};
    memcpy(c.arguments, cases[i].arguments, sizeof c.arguments);
    result got = run(&c);
    const char *warning = strstr(got.err, "warning: ");
    cr_expect_eq(got.status, 0, "%s", got.err);
    cr_expect_eq(warning != NULL, *cases[i].said != '\0', "case %zu: %s", i, got.err);
    if (warning != NULL) cr_expect(strncmp(warning, cases[i].said, strlen(cases[i].said)) == 0, "%s", warning);
    result_clear(&got);
  }
}

/* Edits of the recipe reach it also where an earlier one has put it in the place of the list; none is left out unsaid.
 */
Test(show_command, show__edits_behind_a_method__change_it) {
  static const struct {
    const char *edits[2];
    int status;
    const char *err;
  } cases[] = {
      {{"methods=[yarn]", "factor=8"}, 0, "{name: yarn, factor: 8} on llama-2-7b at 4096 tokens\n"},
      {{"methods=yarn", "factor=8"}, 0, "{name: yarn, factor: 8} on llama-2-7b at 4096 tokens\n"},
      {{"methods={name: yarn}", "factor=8"}, 0, "{name: yarn, factor: 8} on llama-2-7b at 4096 tokens\n"},
      {{"methods=yarn", "methods.factor=8"}, 0, "{name: yarn, factor: 8} on llama-2-7b at 4096 tokens\n"},
      {{"rope_theta=50", "tokens=[{text: 5}]"}, 0, "{name: rope, rope_theta: 50} on llama-2-7b at 4096 tokens\n"},
      {{"methods=yarn", "bogus=8"}, 2, "--set:1:1: methods.bogus: yarn has no key bogus (ropescope list shows them)\n"},
      {{"methods=[yarn, rope]", "factor=8"}, 2, "ropescope: one recipe is wanted, not 2\n"},
      {{"methods=[]", "factor=8"}, 2, "--set:1:1: methods = [...]: is an empty list\n"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    result got = run(&(command){.arguments = {"show", "frequencies", "--model", "llama-2-7b", "--set",
                                              cases[i].edits[0], "--set", cases[i].edits[1]}});
    cr_expect_eq(got.status, cases[i].status, "case %zu: %s", i, got.err);
    cr_expect(strncmp(got.err, cases[i].err, strlen(cases[i].err)) == 0, "case %zu: %s", i, got.err);
    result_clear(&got);
  }
  write_file("two.yaml", "model: [gpt2, llama-2-7b]\nmethods: [rope]\n");
  expect_failure(&(command){.arguments = {"show", "frequencies", "two.yaml"}}, 2,
                 "ropescope: one model is wanted, not 2 (--set model=NAME chooses)\n");
}

/* A config.json by its name, its folder, or on stdin, where compare reads it for both sides. */
Test(show_command, hf__file_folder_or_stdin) {
  static const char config[] = "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 4, "
                               "\"max_position_embeddings\": 64, \"rope_theta\": 500}";
  static const char *const ways[] = {"show frequencies --hf model/config.json --quiet",
                                     "show frequencies --hf model --quiet", "show frequencies --hf model/ --quiet",
                                     "show frequencies --hf - --quiet < model/config.json"};
  char *first = NULL;
  cr_assert_eq(mkdir("model", 0777), 0);
  write_file("model/config.json", config);
  for (size_t i = 0; i < RS_COUNT(ways); i++) {
    int status;
    char *out = say_line("\"$ROPESCOPE\"", ways[i], &status);
    cr_expect_eq(status, 0, "%s: %s", ways[i], out);
    if (first != NULL) cr_expect_str_eq(out, first, "%s: %s", ways[i], out);
    if (first == NULL)
      first = out;
    else
      free(out);
  }
  cr_expect_not_null(strstr(first, "\n7,t,"), "%s", first);
  free(first);
  static const struct {
    const char *line;
    int status;
    const char *out;
  } cases[] = {
      {"compare rope '{name: pi, factor: 1}' --hf - < model/config.json", 0, "on llama at 64 tokens"},
      {"solve length --criterion ood --hf - < model/config.json", 0, "65\n"},
      {"show scale --hf - < /dev/null", 2, "standard input:1:1: the file is empty"},
      {"show scale --hf .", 2, "./config.json: cannot read: No such file or directory\n"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    int status;
    char *out = say_line("\"$ROPESCOPE\"", cases[i].line, &status);
    cr_expect(status == cases[i].status && strstr(out, cases[i].out) != NULL, "%s: %d, %s", cases[i].line, status, out);
    free(out);
  }
}

/* 2^(-8 (h + 1) / 32): MPT has 32 heads and bias_max 8. */
Test(show_command, show_slopes__mpt) {
  static const char *const arguments[MOST_ARGUMENTS - 1] = {"slopes", "--model", "mpt-7b"};
  rs_table *table = show(arguments, "head,slope\n");
  cr_assert_eq(table->rows, 32);
  for (size_t h = 0; h < 32; h++) {
    cr_expect_eq(number(table, h, "head"), (double)h);
    expect_near(number(table, h, "slope"), pow(2, -8.0 * (double)(h + 1) / 32), "slope", h);
  }
  rs_table_free(table);
}

Test(show_command, show_bias__slope_times_distance) {
  static const char *const arguments[MOST_ARGUMENTS - 1] = {"bias", "--model", "mpt-7b", "--length", "5"};
  rs_table *table = show(arguments, "head,query,key,bias_nats\n");
  cr_assert_eq(table->rows, 32 * 15);
  for (size_t row = 0, head = 0; head < 32; head++)
    for (size_t query = 0; query < 5; query++)
      for (size_t key = 0; key <= query; key++, row++) {
        cr_expect_eq(number(table, row, "head"), (double)head);
        cr_expect_eq(number(table, row, "query"), (double)query);
        cr_expect_eq(number(table, row, "key"), (double)key);
        expect_near(number(table, row, "bias_nats"), -pow(2, -(double)(head + 1) / 4) * (double)(query - key), "bias",
                    row);
      }
  rs_table_free(table);
}

Test(show_command, show_scale__log_n) {
  static const char *const arguments[MOST_ARGUMENTS - 1] = {
      "scale", "--model", "llama-2-7b", "--method", "{name: rope, logit_scale: log_n}", "--length", "8k"};
  rs_table *table = show(arguments, "query,logit_scale\n");
  cr_assert_eq(table->rows, 8192);
  for (size_t m = 0; m < 8192; m++)
    expect_near(number(table, m, "logit_scale"), fmax(1, log((double)m + 1) / log(4096)), "query", m);
  rs_table_free(table);
}

Test(show_command, show_positions__several_views_or_places_of_each_pair) {
  char *out = output_of(&(command){.arguments = {"show", "positions", "--model", "llama-2-7b", "--method",
                                                 "{name: rerope, window: 2}", "--length", "3"}});
  cr_assert_str_eq(
      out, "token,view,query_position,key_position\n0,0,0,0\n0,1,2,0\n1,0,1,1\n1,1,2,0\n2,0,2,2\n2,1,2,0\n", "%s", out);
  free(out);
  out = output_of(&(command){.arguments = {"show", "frequencies", "--model", "llama-2-7b", "--method",
                                           "{name: rope, cached_keys: 2}", "--length", "3"}});
  cr_assert_not_null(strstr(out, "\n0,own,1,"), "%s", out);
  free(out);
}

Test(show_command, show_positions__text_image_video) {
  write_file("c.yaml",
             "model: qwen2-vl\nmethods: mrope\nlengths: 16\ntokens: [{text: 2}, {image: [2, 3]}, {video: [2, 1, "
             "2], seconds_per_frame: 1, ids_per_second: 2}, {text: 1}]\n");
  char *out = output_of(&(command){.arguments = {"show", "positions", "c.yaml"}});
  cr_expect_str_eq(out,
                   "token,segment,t,h,w\n0,0,0,0,0\n1,0,1,1,1\n"
                   "2,1,2,2,2\n3,1,2,2,3\n4,1,2,2,4\n5,1,2,3,2\n6,1,2,3,3\n7,1,2,3,4\n"
                   "8,2,5,5,5\n9,2,5,5,6\n10,2,7,5,5\n11,2,7,5,6\n"
                   "12,3,8,8,8\n13,4,9,9,9\n14,4,10,10,10\n15,4,11,11,11\n",
                   "%s", out);
  free(out);
}

/* arXiv:1706.03762: the embedding is as wide as the token, 8 heads of 64. */
Test(show_command, show_embedding__sinusoidal) {
  static const char *const arguments[MOST_ARGUMENTS - 1] = {"embedding", "--model", "transformer-base", "--length",
                                                            "7"};
  rs_table *table = show(arguments, "position,dim,value\n");
  cr_assert_eq(table->rows, 7 * 512);
  for (size_t row = 0; row < table->rows; row++) {
    size_t position = row / 512, dim = row % 512;
    double angle = (double)position * pow(10000, -(double)(dim / 2 * 2) / 512);
    cr_expect_eq(number(table, row, "position"), (double)position);
    cr_expect_eq(number(table, row, "dim"), (double)dim);
    cr_expect_float_eq(number(table, row, "value"), dim % 2 == 0 ? sin(angle) : cos(angle), 1e-14);
  }
  rs_table_free(table);
}

/* Periods by dimension: the first are the fastest. A dimension of a summed table holds two waves. */
Test(show_command, show_frequencies__embeddings_of_sines_and_cosines) {
  static const char *const sinusoid[MOST_ARGUMENTS - 1] = {"frequencies", "--model", "transformer-base"};
  rs_table *table = show(sinusoid, "dim,wave,axis,omega_rad_per_token,wavelength_tokens\n");
  cr_assert_eq(table->rows, 512);
  for (size_t d = 0; d < 512; d++) {
    double omega = pow(10000, -(double)(d / 2 * 2) / 512);
    cr_expect_eq(number(table, d, "dim"), (double)d);
    expect_near(number(table, d, "omega_rad_per_token"), omega, "omega", d);
    expect_near(number(table, d, "wavelength_tokens"), 2 * M_PI / omega, "wavelength", d);
    cr_expect_str_eq(field(table, d, "wave"), d % 2 == 0 ? "sin" : "cos");
    cr_expect_str_eq(field(table, d, "axis"), "t");
  }
  rs_table_free(table);
  write_file("p.yaml", "model: {head_dim: 4, heads: 2, train_length: 9}\nlengths: 9\ntokens: [{image: [3, 3]}]\n"
                       "methods: [sinusoidal_2d]\n");
  char *out = output_of(&(command){.arguments = {"show", "frequencies", "p.yaml"}});
  cr_expect_not_null(strstr(out, "\n1,sin,w,0.01,628.3185307179587\n2,cos,w,1,6.283185307179586\n"), "%s", out);
  cr_expect_not_null(strstr(out, "\n4,sin,h,1,6.283185307179586\n"), "%s", out);
  free(out);
  out = output_of(&(command){.arguments = {"show", "frequencies", "p.yaml", "--set", "methods[0].combine=sum"}});
  cr_expect_not_null(strstr(out, "\n4,cos,h,1,6.283185307179586\n4,cos,w,1,6.283185307179586\n"), "%s", out);
  free(out);
}

/* PE(n + k) = M PE(n): the matrix that is printed, times the sinusoid of the paper's formula, in one row and column. */
Test(show_command, show_embedding_shift__rotations_or_a_fit) {
  static const char *const arguments[MOST_ARGUMENTS - 1] = {"embedding", "--model", "transformer-base", "--shift", "7"};
  rs_table *table = show(arguments, "dim,from_dim,value,largest_error\n");
  cr_assert_eq(table->rows, 2 * 512);
  double at[512], sums[512] = {0};
  for (size_t d = 0; d < 512; d++) {
    double angle = 100 * pow(10000, -(double)(d / 2 * 2) / 512);
    at[d] = d % 2 == 0 ? sin(angle) : cos(angle);
  }
  for (size_t r = 0; r < table->rows; r++) {
    sums[(size_t)number(table, r, "dim")] += number(table, r, "value") * at[(size_t)number(table, r, "from_dim")];
    cr_expect_lt(number(table, r, "largest_error"), 1e-12);
  }
  for (size_t d = 0; d < 512; d++) {
    double angle = 107 * pow(10000, -(double)(d / 2 * 2) / 512);
    cr_expect_float_eq(sums[d], d % 2 == 0 ? sin(angle) : cos(angle), 1e-12, "dim %zu", d);
  }
  rs_table_free(table);
  write_file("t.yaml", "model: {head_dim: 2, heads: 1, train_length: 4}\nlengths: 4\n"
                       "methods: {name: learned, table: [1, 0, 1, 1, 2, 1, 3, 2]}\n");
  result got = run(&(command){.arguments = {"show", "embedding", "t.yaml", "--shift", "1"}});
  cr_expect(strncmp(got.err, "M is fitted by least squares to 3 positions, rank 2: largest error ", 67) == 0, "%s",
            got.err);
  static const double fibonacci[] = {1, 1, 1, 0};
  table = table_of(got.out, "learned");
  for (size_t r = 0; r < 4; r++) cr_expect_float_eq(number(table, r, "value"), fibonacci[r], 1e-12, "%s", got.out);
  rs_table_free(table);
  result_clear(&got);
  got = run(&(command){.arguments = {"show", "embedding", "t.yaml", "--shift", "2"}});
  cr_expect(strncmp(got.err, "M is fitted by least squares to 2 positions, rank 2, which any table fits: ", 75) == 0,
            "%s", got.err);
  result_clear(&got);
  write_file("p.yaml", "model: {head_dim: 4, heads: 2, train_length: 9}\nlengths: 9\ntokens: [{image: [3, 3]}]\n"
                       "methods: [sinusoidal_2d]\n");
  got = run(&(command){.arguments = {"show", "embedding", "p.yaml", "--shift", "1,0"}});
  cr_expect(strncmp(got.err, "M turns each pair of dims: largest error ", 41) == 0, "%s", got.err);
  cr_expect_not_null(strstr(got.out, "\n0,2,0,0\n"), "columns stand still\n%s", got.out);
  result_clear(&got);
}

Test(show_command, show__undefined_length__status_2_and_nothing_on_stdout) {
  static const char *const tables[] = {"embedding", "scale", "positions"};
  for (size_t i = 0; i < RS_COUNT(tables); i++)
    expect_failure(&(command){.arguments = {"show", tables[i], "--model", "gpt2", "--length", "1100"}}, 2,
                   "ropescope: learned: position 1099 is beyond the table of 1024 rows\n");
}

/* What has no frequency has no wavelength. */
Test(show_command, show_frequencies__pairs_that_stand_still) {
  write_file("p.json", "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 8, "
                       "\"max_position_embeddings\": 64, \"rope_parameters\": {\"rope_type\": \"proportional\", "
                       "\"rope_theta\": 10000.0, \"partial_rotary_factor\": 0.5}}");
  char *out = output_of(&(command){.arguments = {"show", "frequencies", "--hf", "p.json"}});
  cr_expect_not_null(strstr(out, "\n1,t,0.1,62.8318530717958"), "%s", out);
  cr_expect_not_null(strstr(out, "\n2,t,0,,1\n3,t,0,,1\n"), "%s", out);
  free(out);
}

Test(show_command, show__what_is_none_or_too_much__is_refused) {
#define ROWS(count, length) "ropescope: " count " rows at length " length ": choose a smaller --length\n"
  static const struct {
    const char *arguments[MOST_ARGUMENTS - 1], *err;
  } cases[] = {
      {{"positions", "--model", "llama-2-7b", "--length", "3", "--method", "{name: rope, cached_keys: 2}"},
       "ropescope: each pair has positions of its own here (cached_keys or rope_mixed)\n"},
      {{"bias", "--model", "mpt-7b", "--length", "300", "--json"}, ROWS("1.4448e+06", "300")},
      {{"bias", "--model", "mpt-7b", "--length", "2k"}, ROWS("6.71416e+07", "2048")},
      {{"embedding", "--model", "transformer-base", "--length", "2000", "--json"}, ROWS("1.024e+06", "2000")},
      {{"embedding", "--model", "transformer-base", "--length", "100000"}, ROWS("5.12e+07", "100000")},
      {{"embedding", "--model", "gpt2", "--shift", "1,"}, "ropescope: --shift 1,: is neither K nor ROWS,COLUMNS\n"},
      {{"embedding", "--model", "gpt2", "--shift", "1,2,3"},
       "ropescope: --shift 1,2,3: is neither K nor ROWS,COLUMNS\n"},
      {{"embedding", "--model", "gpt2", "--shift", "1.5"}, "ropescope: --shift 1.5: must be a whole number\n"},
      {{"embedding", "--model", "gpt2", "--shift", "0,1"},
       "ropescope: --shift 0,1: a sequence is shifted by one number of tokens, as in 1\n"},
      {{"embedding", "--model", "transformer-base", "--shift", "512"},
       "ropescope: --shift 512: a shift by 512 leaves no two of 512 positions: choose a whole number below that\n"},
      {{"embedding", "--model", "llama-2-7b", "--shift", "1"},
       "ropescope: the method adds no embedding (sinusoidal, learned and their 2d forms do)\n"},
      {{"scale", "--model", "gpt2", "--shift", "1"},
       "ropescope: --shift has no effect on show scale (show embedding takes it)\n"},
      {{"layers", "--model", "gpt2", "--shift", "1"},
       "ropescope: --shift has no effect on show layers (show embedding takes it)\n"},
      {{"frequencies", "--model", "gpt2"}, "ropescope: learned turns no pairs: it has no frequencies\n"},
      {{"layers"}, "ropescope: show layers needs a model: --hf FILE (a config.json or its folder) or --model PRESET\n"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    command c = {.arguments = {"show"}};
    memcpy(c.arguments + 1, cases[i].arguments, sizeof cases[i].arguments);
    expect_failure(&c, 2, cases[i].err);
  }
  static const char *const idle[][2] = {
      {"--method", "pi"}, {"--layers", "0"}, {"--length", "5"}, {"--set", "lengths=5"}};
  for (size_t i = 0; i < RS_COUNT(idle); i++) {
    char err[160];
    snprintf(err, sizeof err,
             "ropescope: %s has no effect on show layers: it shows what the model publishes, of all layers\n",
             idle[i][0]);
    expect_failure(&(command){.arguments = {"show", "layers", "--model", "gemma-3", idle[i][0], idle[i][1]}}, 2, err);
  }
}

/* Tables are written as they grow: a full disk ends each of them. */
Test(show_command, show__full_disk__status_1) {
  static const char *const cases[][6] = {
      {"positions", "--model", "llama-2-7b", "--length", "8k"},
      {"positions", "--model", "llama-2-7b", "--method", "{name: rerope, window: 2}", "--length=8k"},
      {"scale", "--model", "llama-2-7b", "--length", "8k"},
      {"bias", "--model", "mpt-7b", "--length", "64"},
      {"embedding", "--model", "transformer-base", "--length", "64"},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    command c = {.arguments = {"show"}, .out = "/dev/full"};
    memcpy(c.arguments + 1, cases[i], sizeof cases[i]);
    result got = run(&c);
    cr_expect_eq(got.status, 1, "%s: %d", cases[i][0], got.status);
    cr_expect_not_null(strstr(got.err, "ropescope: cannot write to standard output: No space left on device\n"), "%s",
                       got.err);
    result_clear(&got);
  }
}
