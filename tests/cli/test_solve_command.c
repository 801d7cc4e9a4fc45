/* test_solve_command.c: `ropescope solve` as its user meets it. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../say.h"
#include "base/base.h"

/* What a command line says on stdout and stderr together. Release with free(). */
static char *say(const char *arguments, int *status) {
  return say_line("\"$ROPESCOPE\" solve", arguments, status);
}

static void expect_words(const char *arguments, const char *words) {
  int got;
  char *out = say(arguments, &got);
  cr_expect(got == 2 && strcmp(out, words) == 0, "%s: status %d: %s", arguments, got, out);
  free(out);
}

/* The number on the first line, which must be followed by `words`. */
static double number(const char *arguments, const char *words) {
  int status;
  char *out = say(arguments, &status), *end;
  double value = strtod(out, &end);
  cr_expect(status == 0 && end > out && *end == '\n' && strstr(end, words) != NULL, "%s: status %d: %s", arguments,
            status, out);
  free(out);
  return value;
}

static void expect_number(const char *arguments, double value, double relative, const char *words) {
  double got = number(arguments, words);
  cr_expect(fabs(got - value) <= relative * fabs(value), "%s: %.12g, should be %.12g", arguments, got, value);
}

/* Every one of `rows` stands in what it says, the first one where that has no line break before it at the top. */
static void expect_rows(const char *arguments, const char *const *rows, size_t count) {
  int status;
  char *out = say(arguments, &status);
  cr_expect_eq(status, 0, "%s: %s", arguments, out);
  for (size_t r = 0; r < count; r++)
    cr_expect_not_null(strstr(out, rows[r]), "%s: %s\nlacks %s", arguments, out, rows[r]);
  free(out);
}

/* A config.json of a model with four pairs, base 10000. */
static void rewrite_config(const char *file, const char *rope, int length) {
  FILE *out = fopen(file, "w");
  cr_assert_not_null(out);
  fprintf(out,
          "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 8, \"num_hidden_layers\": 2, "
          "\"rope_theta\": 10000.0, \"max_position_embeddings\": %d, %s}",
          length, rope);
  fclose(out);
}

static char *write_config(const char *rope) {
  char *file = strdup("/tmp/ropescope-solve-XXXXXX");
  int descriptor = mkstemp(file);
  cr_assert_geq(descriptor, 0);
  close(descriptor);
  rewrite_config(file, rope, 256);
  return file;
}

#define LLAMA2 " --model llama-2-7b "

/* A model by its base, length and head. */
#define NARROW(base, length, dims)                                                                                     \
  "{\"model_type\": \"llama\", \"hidden_size\": 64, \"num_attention_heads\": 8, \"head_dim\": " dims                   \
  ", \"rope_theta\": " base ", \"max_position_embeddings\": " length "}"

/* Values of test_reach.c and of the papers: NTK-aware bases as printed, 93.06 for Code Llama. */
Test(solve_command, base__each_criterion) {
  expect_number("base --criterion first_violation --length 4k --head-dim 128", 26952.339228, 3e-9,
                "criterion  first_violation");
  expect_number("base --criterion first_violation --length 4k" LLAMA2, 26952.339228, 3e-9, "search ");
  expect_number("base --length 128k --criterion critical_dim" LLAMA2, pow(131072 / (2 * M_PI), 128.0 / 92), 1e-9,
                "46 of 64 pairs");
  expect_number("base --length 4k --criterion critical_dim" LLAMA2, 1e4, 0, "as it is");
  expect_number("base --length 32k --criterion ood" LLAMA2, 1e4 * pow(32767.0 / 4096, 64.0 / 46), 1e-9,
                "for this base");
  expect_number("base --length 4097 --criterion ood" LLAMA2, 1e4, 0, "as it is");
  expect_number("base --length 32k --criterion ntk" LLAMA2, 82685, 1e-5, "factor of 8");
  expect_number("base --length 1k --criterion ntk" LLAMA2, 1e4, 0, "as it is");
  expect_number("base --criterion first_violation --length 4k --model pythia-6.9b", 1110240.755, 1e-8,
                "48 pairs of a head that do not turn");
}

Test(solve_command, factor__each_criterion) {
  /* The least base for 4k as a factor of NTK-aware scaling; sums below it have the same violators. */
  expect_number("factor --criterion first_violation --length 4k --method ntk" LLAMA2, pow(2.6952339228, 126.0 / 128),
                2e-8, "steps of 0.1 %");
  /* (L - 1) / s = L0, for each slow pair alike. */
  expect_number("factor --length 32k --method pi --criterion ood" LLAMA2, 32767.0 / 4096, 2e-9,
                "which pi serves 32768");
  expect_number("factor --length 32k --method yarn --criterion ood" LLAMA2, 32767.0 / 4096, 2e-9, "yarn");
  /* At pair 46, s^(128/126 * 92/128) L0's period = L. */
  expect_number("factor --length 32k --method ntk --criterion critical_dim" LLAMA2,
                pow(32768 / (2 * M_PI * pow(1e4, 92.0 / 128)), 126.0 / 92), 1e-8, "ntk");
  /* Models that publish a factor, which gives way to the one that is looked for. */
  expect_number("factor --length 256k --method yarn --criterion ood --model gpt-oss", 262143.0 / 4096, 2e-9, "yarn");
  expect_number("factor --length 256k --method llama3 --criterion ood --model llama-3.1-8b", 262143.0 / 8192, 2e-9,
                "llama3");
  expect_number("factor --base 1e6 --criterion ntk" LLAMA2, 93.06, 5e-5, "criterion  ntk");
}

Test(solve_command, length__each_criterion) {
  expect_number("length --criterion first_violation --base 1e4 --head-dim 128", 1707, 0, "longest context");
  expect_number("length --criterion first_violation --base 1e6 --head-dim 64", 6235, 0, "longest context");
  expect_number("length --criterion first_violation" LLAMA2, 1707, 0, "longest context");
  expect_number("length --criterion first_violation --method '{name: yarn, factor: 8}'" LLAMA2, 8886, 0,
                "longest context");
  expect_number("length --criterion first_violation --method '{name: rope, rotary_dim: 128, rope_theta: 1e7}'" LLAMA2,
                144660, 0, "longest context");
  expect_number("length --base 1e6 --criterion critical_dim" LLAMA2, 2 * M_PI * pow(1e6, 92.0 / 128), 1e-9, "period");
  expect_number("length --criterion ood" LLAMA2, 4097, 0, "longest context");
  expect_number("length --method '{name: pi, factor: 8}' --criterion ood" LLAMA2, 32769, 0, "46 of 64");
  expect_number("length --base 1e6 --criterion ood" LLAMA2, floor(4096 * pow(100, 92.0 / 128)) + 1, 0, "46 of 64");
  expect_number("length --base 1e6 --criterion ntk" LLAMA2, 4096 * pow(100, 126.0 / 128), 1e-9, "criterion  ntk");
  expect_number("length --criterion first_violation --base 1e300 --head-dim 128", 1 << 28, 0, "and further");
}

/* A base or factor that was solved for a length serves it, as printed. */
Test(solve_command, base_and_length__answer_each_other) {
  char line[128];
  snprintf(line, sizeof line, "length --criterion first_violation --head-dim 64 --base %.17g",
           number("base --criterion first_violation --head-dim 64 --length 3000", "search"));
  cr_expect_geq(number(line, "longest"), 3000);
  /* The factor that is found for 4600 or 6550 tokens is a little too small in ten digits. */
  static const int lengths[] = {4600, 6550, 65538};
  for (size_t i = 0; i < RS_COUNT(lengths); i++) {
    snprintf(line, sizeof line, "factor --length %d --method pi --criterion ood" LLAMA2, lengths[i]);
    double factor = number(line, "search");
    snprintf(line, sizeof line, "length --criterion ood --method '{name: pi, factor: %.17g}'" LLAMA2, factor);
    cr_expect_geq(number(line, "longest"), lengths[i], "%.17g", factor);
  }
}

/* Least bases are rounded by nobody but upwards: as printed they serve the length, and so does the integer that is
 * advised, whose sums are added here apart. 5000, 8192 and 50000 tokens are those whose base ten digits make too small.
 */
Test(solve_command, least_bases__as_printed_and_as_integers__serve) {
  static const int lengths[] = {1024, 4096, 5000, 8192, 16384, 32768, 50000};
  static const char *const criteria[] = {"ood", "critical_dim"};
  char line[160];
  for (size_t i = 0; i < RS_COUNT(lengths); i++) {
    for (size_t c = 0; c < RS_COUNT(criteria); c++) {
      snprintf(line, sizeof line, "base --length %d --criterion %s" LLAMA2, lengths[i], criteria[c]);
      double base = number(line, "criterion");
      snprintf(line, sizeof line, "length --base %.17g --criterion %s" LLAMA2, base, criteria[c]);
      cr_expect_geq(number(line, "criterion"), lengths[i] * (1 - 1e-9), "%s: base %.17g", line, base);
    }
    snprintf(line, sizeof line, "base --length %d" LLAMA2, lengths[i]);
    double base = number(line, "advice");
    cr_expect_eq(base, round(base), "%d tokens: %.17g", lengths[i], base);
    double omega[64], least = INFINITY;
    for (int j = 0; j < 64; j++) omega[j] = pow(base, -j / 64.0);
    for (int m = 0; m < lengths[i]; m++) {
      double sum = 0;
      for (int j = 0; j < 64; j++) sum += cos(m * omega[j]);
      least = fmin(least, sum);
    }
    cr_expect_geq(least, 0, "%d tokens: base %.17g has a sum of %g", lengths[i], base, least);
  }
}

/* Each says the number that it says alone, or why it has none. */
Test(solve_command, no_criterion__shows_all_side_by_side) {
  static const struct {
    const char *arguments, *rows[4];
  } cases[] = {
      {"length" LLAMA2,
       {"\nfirst_violation: 1707, tokens", "\ncritical_dim: 4711.724278, tokens: the period of the critical pair\n",
        "\nood: 4097, tokens: the longest context that holds\n", "\nntk: needs --base, the base to be judged\n"}},
      {"base --length 4k --head-dim 128",
       {"26952.33925", "\ncritical_dim: needs --model or --hf, for the base and the length of its training\n",
        "\nood: needs --model", "\nntk: needs --model"}},
      {"length --method '{name: pi, factor: 8}'" LLAMA2,
       {"32769\n", "\ncritical_dim: 37693.79422, tokens: ", /* 8 times the period above */
        "\nood: 32769, tokens: ", "\nntk: needs --base"}},
      {"length --head-dim 128 --base 1e6", {"critical_dim: needs --model", "ood: needs", "ntk: needs", "advice"}},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) expect_rows(cases[i].arguments, cases[i].rows, 4);
  int status;
  char *out = say("length --criterion first_violation" LLAMA2, &status);
  cr_expect(status == 0 && strstr(out, "ood") == NULL && strstr(out, "advice") == NULL, "%s", out);
  free(out);
}

/* The two questions that users bring: which base, and which factor at what price for short inputs. */
Test(solve_command, advice__use_because_costs) {
  /* The larger of the two bases; 1.24e6 is 1e4 (131071/4096)^(64/46). */
  expect_rows(
      "base --length 128k" LLAMA2,
      (const char *[]){
          "4869105\n",
          "advice     use base 4869105 because no sum of cosines is negative with it up to "
          "131072 tokens (4869104.374 is the least such base)",
          "(1241987.14 is the least for that); predicted for inputs up to the trained 4096 tokens, too: the keys 1 to "
          "8 back are turned by 1 - cos = 0.0338 on average, and loss_damage is 0.0852 more than without it",
          "(derived from formulas, not measured on a model)\n"},
      4);
  /* 65535 / 4096 is hardly less than 16; no factor has YaRN's sums positive, which is no failure. */
  expect_rows(
      "factor --length 64k --method yarn" LLAMA2,
      (const char *[]){
          "16\n",
          "use yarn with a factor of 16 because no pair of 65536 tokens leaves the angles "
          "of training then (15.9998 is the least); negative sums are let be, as training "
          "itself had one at 1707 of its 4096 tokens; predicted for inputs up to the trained 4096 tokens, too: the "
          "keys 1 to 8 back are turned by 1 - cos = 3.55e-05 on average, and loss_damage is not more than without it (",
          "\nfirst_violation: no factor up to 10000", "\nood: 15.99975587, "},
      4);
  /* What fits needs nothing. */
  expect_rows("base --length 1k" LLAMA2, (const char *[]){"10000\n", "costs nothing: it is the base of training"}, 2);
  expect_rows("factor --length 2k --method pi" LLAMA2, (const char *[]){"1\n", "tokens, too: nothing changes"}, 2);
  expect_rows("length" LLAMA2, (const char *[]){"4097\n", "use it up to 4097 tokens", "4096 are within"}, 3);
}

/* Where a search ended, no pair leaves anything: dynamic YaRN divides all that leaves. 2^28 is where it ends, and 2^20
 * where each length takes a look at every distance. */
Test(solve_command, where_a_search_ended__no_end_is_made_up) {
  expect_rows(
      "length --method '{name: yarn, scale: dynamic}'" LLAMA2,
      (const char *[]){"268435456\n",
                       "no end was found up to 268435456 tokens, where the search ends: no pair leaves the angles "
                       "of training; the first negative sum, at 1707, is let be"},
      2);
  expect_rows("length --head-dim 128 --base 1e60",
              (const char *[]){"no end was found up to 268435456 tokens, where the search ends: no sum of cosines"}, 1);
  expect_rows("length --json --method '{name: yarn, scale: dynamic}'" LLAMA2,
              (const char *[]){"\"open\": true,\n  \"advice\"", "\"open\": true,\n      \"means\""}, 2);
  int status;
  char *out = say("length --method '{name: yarn, factor: 4}' --json" LLAMA2, &status);
  cr_expect(status == 0 && strstr(out, "\"open\"") == NULL && strstr(out, "tuned") == NULL, "%s", out);
  free(out);
}

/* What is published may be what the model was tuned with. */
Test(solve_command, published_recipe__says_that_tuning_is_not_counted) {
  static const char *const words[][2] = {
      {"\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 4.0, \"original_max_position_embeddings\": 64, "
       "\"finetuned\": true}",
       "\ntuned      the file says that the model was tuned with this recipe (finetuned: true): the criteria compare "
       "with "
       "plain RoPE at 64 tokens, as if it was not"},
      {"\"rope_scaling\": {\"rope_type\": \"yarn\", \"factor\": 4.0, \"original_max_position_embeddings\": 64, "
       "\"finetuned\": false}",
       "\ntuned      whether the model was tuned with this recipe is not said"},
      {"\"rope_scaling\": {\"rope_type\": \"llama3\", \"factor\": 4.0, \"low_freq_factor\": 1, \"high_freq_factor\": "
       "4, "
       "\"original_max_position_embeddings\": 64}",
       "\ntuned      llama3 is published with models that were tuned with it"},
      {"\"rope_scaling\": {\"rope_type\": \"longrope\", \"short_factor\": [1, 1, 1, 1], \"long_factor\": [1, 2, 4, "
       "4]}, "
       "\"original_max_position_embeddings\": 64",
       "\ntuned      longrope is published with models that were tuned with it"},
  };
  char line[256];
  for (size_t i = 0; i < RS_COUNT(words); i++) {
    char *file = write_config(words[i][0]);
    snprintf(line, sizeof line, "length --hf %s", file);
    expect_rows(line,
                (const char *[]){words[i][1], "(derived from formulas as if the model was not tuned with it, not "}, 2);
    int status;
    snprintf(line, sizeof line, "length --hf %s --method '{name: yarn, factor: 2}'", file);
    char *out = say(line, &status);
    cr_expect(status == 0 && strstr(out, "tuned") == NULL, "%s", out);
    free(out);
    remove(file);
    free(file);
  }
}

/* Of presets the method tells, as they hold no finetuned; what scales nothing was not tuned for it. */
Test(solve_command, presets__say_of_tuning_what_the_method_tells) {
  static const char *const words[][2] = {
      {"phi-3-mini-128k", "\ntuned      longrope is published with models that were tuned with it: "},
      {"llama-3.1-8b", "\ntuned      llama3 is published with models that were tuned with it: "},
      {"yarn-llama-2-7b-64k", "\ntuned      whether the model was tuned with this recipe is not said: "},
      {"llama-2-7b", NULL},
      {"qwen2.5-vl-7b", NULL},
  };
  for (size_t i = 0; i < RS_COUNT(words); i++) {
    char line[256];
    int status;
    snprintf(line, sizeof line, "length --model %s", words[i][0]);
    char *out = say(line, &status);
    const char *told = strstr(out, "\ntuned ");
    cr_expect_eq(status, 0, "%s", out);
    cr_expect(words[i][1] != NULL ? strstr(out, words[i][1]) != NULL : told == NULL, "%s: %s", words[i][0], out);
    free(out);
  }
}

/* Layers with a window never look farther, whatever else is said of their pairs. */
Test(solve_command, layers_with_a_window__hold_at_any_length) {
  char *file = write_config("\"sliding_window\": 32, \"layer_types\": [\"sliding_attention\", \"full_attention\"]"),
       line[256];
  snprintf(line, sizeof line, "length --hf %s --layers sliding_attention", file);
  expect_rows(line,
              (const char *[]){"use it at any length because these layers see 32 tokens whatever the context",
                               "\nwindow     these layers see 32 tokens"},
              2);
  snprintf(line, sizeof line, "length --hf %s --layers full_attention", file);
  expect_rows(line, (const char *[]){"use it up to 257 tokens because a pair leaves"}, 1);
  remove(file);
  free(file);
}

/* LongRoPE of four pairs 1, 0.1, 0.01, 0.001, trained at 64 tokens: pairs 1 and 0 went full circle, the others come to
 * 0.64 and 0.064 rad, which (L - 1) / 4 times their frequencies reach at L = 257. Dynamic NTK leaves that range at
 * once: s^(6/8 .. ) falls short of L / L0 at pair 2. */
Test(solve_command, recipes_that_follow_the_length__are_asked_there) {
  char *file = write_config("\"rope_scaling\": {\"rope_type\": \"longrope\", \"short_factor\": [1, 1, 1, 1], "
                            "\"long_factor\": [1, 1, 4, 4], \"original_max_position_embeddings\": 64}");
  char line[256];
  snprintf(line, sizeof line, "length --criterion ood --hf %s", file);
  expect_number(line, 257, 0,
                "short_factor up to 64 tokens, of which it serves 64; long_factor past them, which serves 257");
  rewrite_config(file, "\"rope_scaling\": {\"rope_type\": \"dynamic\", \"factor\": 1.0}", 64);
  double want = 64; /* the last L with (L - 1) w_j(s) <= 64 w_j for pairs 2 and 3, where s = L / 64 */
  for (bool in = true; in; want += in) {
    double s = fmax(1, (want + 1) / 64), base = 1e4 * pow(s, 8.0 / 6);
    for (int j = 2; j < 4; j++) in = in && want * pow(base, -j / 4.0) <= 64 * pow(1e4, -j / 4.0);
  }
  expect_number(line, want, 0, "the frequencies follow the length");
  remove(file);
  free(file);
}

Test(solve_command, published_recipe__is_what_the_model_runs) {
  double plain = number("length --criterion first_violation --method rope --model llama-3.1-8b", "longest");
  double published = number("length --criterion first_violation --model llama-3.1-8b", "longest");
  cr_expect_eq(plain, 18438);
  (void)number("length --model llama-3.1-8b --criterion ood",
               "recipe     {name: llama3, factor: 8} on llama-3.1-8b, which is published for 131072 tokens\n");
  (void)number("length --criterion first_violation --base 1e4 --head-dim 128",
               "recipe     {name: rope, rope_theta: 10000}\n");
  cr_expect_gt(published, plain);
}

Test(solve_command, wrong_use__status_2_and_a_hint) {
  expect_words("", "ropescope: a quantity is missing: base, factor, length, setting or evidence\n");
  expect_words("lenght", "ropescope: no quantity lenght (did you mean length?)\n");
  expect_words("base --criterion xyzzy",
               "ropescope: no --criterion xyzzy (there are first_violation, critical_dim, ood and ntk)\n");
  expect_words("base --criterion odd --length 4k", "ropescope: no --criterion odd (did you mean ood?)\n");
  expect_words("base --head-dim 128", "ropescope: solve base needs --length, the context to be served\n");
  expect_words("base --length 4k", "ropescope: solve base needs --head-dim, or a model by --model or --hf\n");
  expect_words("base --length 4k --head-dim 128 --criterion ntk",
               "ropescope: solve base by ntk needs --model or --hf, for the base and the length of its training\n");
  expect_words("base --length 4k --base 1e4 --head-dim 128", "ropescope: solve base takes no --base\n");
  expect_words("length --length 4k --base 1e4 --head-dim 128", "ropescope: solve length takes no --length\n");
  expect_words("length --method yarn --head-dim 128", "ropescope: solve: --method needs --model or --hf\n");
  expect_words("factor --length 4k" LLAMA2, "ropescope: solve factor needs --method, as in --method yarn\n");
  expect_words("length --head-dim 64", "ropescope: solve: --head-dim alone has no frequencies: --base gives them\n");
  expect_words("length --head-dim 64 --base 1e4" LLAMA2,
               "ropescope: solve: --head-dim and a model both give the dims: keep one\n");
  expect_words("length --base 1e4 --method yarn" LLAMA2,
               "ropescope: solve: --base is plain RoPE: keep it or --method\n");
  expect_words("length --base 0.5 --head-dim 64", "ropescope: --base 0.5: must be from 1.000001 to 1e+300\n");
  expect_words("base --length 4k --head-dim 2",
               "ropescope: with fewer than two pairs every base has a negative cosine at a distance of 2\n");
  expect_words("length --hf x --model y", "ropescope: solve: --hf and --model both name a model: keep one\n");
}

/* A file that says no length of training: some questions need none, the others are refused. */
Test(solve_command, no_length_of_training__is_none_of_zero) {
#define UNKNOWN ": has no max_position_embeddings, and its class no default: which length was it trained at?\n"
  static const struct {
    const char *question, *says, *silent;
    int status;
  } cases[] = {
      {"base --length 8k --criterion ntk", "ropescope: my_model" UNKNOWN, "inf", 2},
      {"base --length 8k --criterion ood", "ropescope: my_model" UNKNOWN, "inf", 2},
      {"length --base 20000 --criterion ntk", "ropescope: my_model" UNKNOWN, "inf", 2},
      {"length --criterion first_violation", "\nrecipe     {name: rope} on my_model\n", "published", 0},
      {"length --criterion first_violation --method '{name: yarn, factor: 4}'",
       "ropescope: train_length: is said by neither the model nor the recipe, and yarn needs it\n", "tokens:", 2},
      {"length --criterion first_violation --method '{name: yarn, factor: 4, train_length: 128}'", "on my_model\n",
       "published", 0},
      {"factor --length 8k --method yarn",
       "ropescope: train_length: is said by neither the model nor the recipe, and yarn needs it\n", "factor", 2},
      {"base --length 2k --criterion first_violation", "\npublished  {name: rope}\n", "0 tokens", 0},
      {"base --length 2k", "\nntk: my_model" UNKNOWN, "inf", 0},
  };
  char file[] = "/tmp/ropescope-solve-XXXXXX";
  int descriptor = mkstemp(file);
  cr_assert_geq(descriptor, 0);
  cr_assert_geq(dprintf(descriptor, "{\"model_type\": \"my_model\", \"hidden_size\": 64, \"num_attention_heads\": 8}"),
                0);
  close(descriptor);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char line[256];
    int status;
    snprintf(line, sizeof line, "%s --hf %s", cases[i].question, file);
    char *out = say(line, &status);
    cr_expect_eq(status, cases[i].status, "%s: %s", line, out);
    cr_expect_not_null(strstr(out, cases[i].says), "%s: %s", line, out);
    cr_expect_null(strstr(out, cases[i].silent), "%s: %s", line, out);
    free(out);
  }
  remove(file);
}

/* As expect_words, of a model in a file. */
static void expect_refusal(const char *json, const char *question, const char *words) {
  char file[] = "/tmp/ropescope-solve-XXXXXX", line[128];
  int descriptor = mkstemp(file);
  cr_assert(descriptor >= 0 && dprintf(descriptor, "%s", json) > 0);
  close(descriptor);
  snprintf(line, sizeof line, "%s --hf %s", question, file);
  expect_words(line, words);
  remove(file);
}

Test(solve_command, what_has_no_answer__says_why) {
  expect_refusal(NARROW("20.0", "4096", "8"), "base --length 8k --criterion ood",
                 "ropescope: every pair of llama went full circle in 4096 tokens: no length is out of reach\n");
  expect_refusal(NARROW("10000.0", "4", "8"), "base --length 8k --criterion ood",
                 "ropescope: no pair went full circle in 4 tokens, and no base slows pair 0\n");
  expect_refusal(NARROW("10000.0", "4096", "2"), "base --length 8k --criterion ntk",
                 "ropescope: one pair has no NTK-aware base: the exponent is R/(R-2)\n");
  number("base --length 4k --criterion first_violation --model pythia-6.9b",
         "the 48 pairs of a head that do not turn are left out; with them every base is good");
  expect_words("factor --length 8k --method abf" LLAMA2,
               "ropescope: abf has no factor (pi, ntk, critical_base, yarn, llama3 and others have)\n");
  expect_words("factor --length 8k --method '{name: yarn, factor: 2}'" LLAMA2,
               "ropescope: the factor of yarn is what is looked for: leave it out of --method\n");
  expect_words("factor --length 8k --method '{name: pi, scale: auto}'" LLAMA2,
               "ropescope: the factor of pi is what is looked for: leave it out of --method\n");
  expect_words("length --base 10 --criterion ntk" LLAMA2,
               "ropescope: base 10 is below the 10000 of llama-2-7b, and NTK-aware scaling raises it\n");
  expect_words("factor --base 10 --criterion ntk" LLAMA2,
               "ropescope: base 10 is below the 10000 of llama-2-7b, and NTK-aware scaling raises it\n");
  expect_words("factor --criterion first_violation --length 1M --method llama3" LLAMA2,
               "ropescope: no factor up to 10000 makes llama3 serve 1048576 tokens\n");
  int status;
  char *out = say("length --method rerope" LLAMA2, &status);
  cr_expect(status == 2 && strstr(out, "solve knows frequencies alone") != NULL, "%s", out);
  free(out);
  out = say("length --method alibi" LLAMA2, &status);
  cr_expect(status == 2 && strstr(out, "turns no pairs") != NULL, "%s", out);
  free(out);
}
