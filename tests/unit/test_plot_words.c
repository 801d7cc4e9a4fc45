/* test_plot_words.c: words, file names, escaped text and wrapped lines. */
#include "../../src/pages/plot/words.h"
#include "plot_fixture.h"

Test(plot_words, decimal__integers_and_powers__carry_no_noise) {
  static const struct {
    long long n;
    int exponent;
    const char *text;
  } cases[] = {{0, -3, "0"},        {1, -1, "0.1"},          {3, -1, "0.3"},         {15, -1, "1.5"},
               {-25, -2, "−0.25"},  {7, 3, "7000"},          {-5, 0, "−5"},          {100, -2, "1.00"},
               {12, -5, "0.00012"}, {123456, -3, "123.456"}, {1000000, 0, "1000000"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_text text = {0};
    rs_plot_decimal(cases[i].n, cases[i].exponent, &text);
    cr_assert_str_eq(rs_text_string(&text), cases[i].text);
    rs_text_clear(&text);
  }
}

Test(plot_words, tokens__multiples_of_1024__are_short) {
  static const struct {
    double tokens;
    const char *text;
  } cases[] = {{1, "1"},         {512, "512"},   {1000, "1000"},     {1024, "1k"},    {4096, "4k"},
               {131072, "128k"}, {98304, "96k"}, {100000, "100000"}, {1048576, "1M"}, {1572864, "1.5M"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_text text = {0};
    rs_plot_tokens(cases[i].tokens, &text);
    cr_assert_str_eq(rs_text_string(&text), cases[i].text);
    rs_text_clear(&text);
  }
}

Test(plot_words, words__name_with_its_unit__loses_it) {
  static const char *const cases[][3] = {{"entropy_nats", "nats", "entropy"},
                                         {"length_tokens", "tokens", "length"},
                                         {"omega_rad_per_token", "rad/token", "omega"},
                                         {"needle_weight", "1", "needle weight"},
                                         {"nats", "nats", "nats"},
                                         {"xnats", "nats", "xnats"},
                                         {"_nats", "nats", " nats"},
                                         {"axnats", "nats", "axnats"},
                                         {"share__", "%", "share"},
                                         {"entropy", "", "entropy"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_text text = {0};
    rs_plot_words(cases[i][0], cases[i][1], &text);
    cr_assert_str_eq(rs_text_string(&text), cases[i][2]);
    rs_text_clear(&text);
  }
}

Test(plot_words, slug__any_text__is_a_plain_file_name) {
  static const char *const cases[][2] = {{"gaussian", "gaussian"},
                                         {"needle depth=0.5", "needle-depth=0.5"},
                                         {"Qwen2.5-VL (7B)", "qwen2.5-vl-7b"},
                                         {"../../etc/passwd", "etc-passwd"},
                                         {"", "plot"},
                                         {"///", "plot"},
                                         {".hidden", "hidden"},
                                         {"-- a   b --", "a-b"},
                                         {"mémoire", "m-moire"},
                                         {"a\nb\x01", "a-b"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_text text = {0};
    rs_plot_slug(cases[i][0], &text);
    cr_assert_str_eq(rs_text_string(&text), cases[i][1]);
    rs_text_clear(&text);
  }
  char name[1000];
  rs_text text = {0};
  memset(name, 'x', sizeof name - 1);
  name[sizeof name - 1] = '\0';
  rs_plot_slug(name, &text);
  cr_assert_leq(text.length, 80u);
  rs_text_clear(&text);
}

Test(plot_words, xml_escape__markup_and_broken_bytes__stay_text) {
  static const char *const cases[][2] = {{"a<b>&\"c'", "a&lt;b&gt;&amp;&quot;c&#39;"},
                                         {"ω 方", "ω 方"},
                                         {"tab\tnew\nline", "tab\tnew\nline"},
                                         {"\x01\x1b", "\uFFFD\uFFFD"},
                                         {"\xff\xc0\xaf", "\uFFFD\uFFFD\uFFFD"},
                                         {"\xed\xa0\x80", "\uFFFD\uFFFD\uFFFD"},
                                         {"cut \xe2\x88", "cut \uFFFD\uFFFD"},
                                         {"\xef\xbf\xbf", "\uFFFD"},
                                         {"\xe0\x80\x80", "\uFFFD\uFFFD\uFFFD"},
                                         {"\xf4\x8f\xbf\xbd", "\xf4\x8f\xbf\xbd"},
                                         {"\xf4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_text text = {0};
    rs_xml_escape(cases[i][0], &text);
    cr_assert_str_eq(rs_text_string(&text), cases[i][1], "case %zu", i);
    rs_text_clear(&text);
  }
}

Test(plot_words, wrap__any_width__keeps_all_words_and_fits) {
  const char *text =
      "largest phase error of float32 angles against double, averageextraordinarilylongword ω β 方法 end";
  for (double width = 20; width < 900; width += 13) {
    size_t letters = 0, spaces = 0;
    for (const char *rest = text, *next; *rest != '\0'; rest = next) {
      size_t length = rs_plot_wrap(rest, 14, false, width, &next);
      cr_assert_gt(length, 0u);
      cr_assert(rs_plot_text_width(rest, length, 14, false) <= width, "%.*s at %g", (int)length, rest, width);
      letters += length;
      spaces += (size_t)(next - rest) - length;
    }
    cr_assert_eq(letters + spaces, strlen(text));
  }
}

/* A word that is too long is cut where its parts meet, and only without such a place within a part. */
Test(plot_words, wrap__one_long_word__is_cut_between_its_parts) {
  static const char *const words[][2] = {{"learned_rows_and_columns", "learned_rows_"},
                                         {"dynamic-yarn-at-length", "dynamic-yarn-"},
                                         {"train.steps=100000", "train.steps="},
                                         {"_extraordinarilylong", "_extraordinaril"}};
  for (size_t i = 0; i < RS_COUNT(words); i++) {
    const char *next;
    size_t wanted = strlen(words[i][1]);
    double width = rs_plot_text_width(words[i][0], wanted + (i < 3), 14, false);
    cr_expect_eq(rs_plot_wrap(words[i][0], 14, false, width, &next), wanted, "%s", words[i][0]);
    cr_expect_eq(next, words[i][0] + wanted);
  }
}

/* What no font has is as wide as a square. */
Test(plot_words, width__of_bytes_that_are_no_letters) {
  cr_expect_eq(rs_plot_text_width("\x01", 1, 10, false), 10);
  cr_expect_eq(rs_plot_text_width("\x7f", 1, 10, false), 10);
  cr_expect_eq(rs_plot_text_width("\u03c9", 2, 10, false), rs_plot_text_width("\u0416", 2, 10, false));
  double tilde = rs_plot_text_width("~", 1, 10, false), space = rs_plot_text_width(" ", 1, 10, false);
  cr_expect(space > 0 && space < tilde && tilde < 10, "%g, %g", space, tilde);
}

/* ---- axes -------------------------------------------------------------------------------------------------------- */

Test(plot_words, symbols__formulas__are_printed_as_in_papers_and_prose_stays) {
  static const char *const cases[][2] = {
      {"sum_j cos(angle_j) / (D/2); pairs that do not turn count as 1",
       "Σⱼ cos(θⱼ) / (D/2); pairs that do not turn count as 1"},
      {"2 pi / omega_j along rows", "2π / ωⱼ along rows"},
      {"mean over k of |sum_{j<k} exp(i angle_j)|", "mean over k of |Σⱼ₌₀ᵏ⁻¹ exp(i θⱼ)|"},
      {"gamma in omega = trained ((1 - gamma) + gamma / s)", "γ in ω = trained ((1 − γ) + γ / s)"},
      {"-sum w ln w of a row", "-Σ w ln w of a row"},
      {"sqrt(1 + 2 ln s / sd^2) >= 0", "√(1 + 2 ln s / sd²) ≥ 0"},
      {"sums to 1; sum over documents", "sums to 1; sum over documents"},
      {"omegas and pieces of api, betas", "omegas and pieces of api, betas"},
      {"lambda <= 1 != theta * `shift`", "λ ≤ 1 ≠ θ · shift"},
      {"mod 2 pi, pi/2: beta_1", "mod 2π, π/2: β₁"},
      {"the sum", "the sum"},
      {"sum 1 to 2", "sum 1 to 2"},
      {"sum -1", "sum -1"},
      {"_pi, omega_x, omega1, x^2y", "_pi, omega_x, omega1, x²y"},
      {"", ""}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_text text = {0};
    rs_plot_symbols(cases[i][0], &text);
    cr_assert_str_eq(rs_text_string(&text), cases[i][1], "%s", rs_text_string(&text));
    rs_text_clear(&text);
  }
}

Test(plot_words, phrase__short_words__are_said_in_full) {
  static const char *const cases[][3] = {
      {"ood_overshoot_rad", "rad", "out-of-range overshoot"}, {"roformer_bound", "1", "RoFormer's bound"},
      {"logit_sd_nats", "nats", "logit standard deviation"},  {"omega_rad_per_token", "rad/token", "ω"},
      {"max_position_id", "", "largest position id"},         {"needle_weight", "1", "needle weight"}};
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_text text = {0};
    rs_plot_phrase(cases[i][0], cases[i][1], &text);
    cr_assert_str_eq(rs_text_string(&text), cases[i][2]);
    rs_text_clear(&text);
  }
}
