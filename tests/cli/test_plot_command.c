/* test_plot_command.c: `ropescope plot`. */
#include "../fixtures/program.h"

TestSuite(plot_command, .init = enter_folder, .fini = leave_folder);

Test(plot_command, plot__pictures_of_a_small_result) {
  run_small("o", NULL, NULL, NULL);
  result got = run(&(command){.arguments = {"plot", "o", "--format", "svg"}});
  cr_expect_eq(got.status, 0, "%s", got.err);
  cr_expect_str_eq(got.out, "");
  char *names = names_in("o/plots", ".svg"), *rest = NULL, *all = names_in("o/plots", "");
  cr_expect(strstr(all, ".png") == NULL && strstr(all, "index.html") != NULL, "no PNG was asked for: %s", all);
  char *index = read_path("o/plots/index.html", NULL);
  cr_expect_gt(strlen(names), 0);
  cr_expect(strstr(index, "<title></title>") == NULL && strstr(index, "<h1></h1>") == NULL, "%s", index);
  for (char *name = strtok_r(names, " ", &rest); name != NULL; name = strtok_r(NULL, " ", &rest)) {
    char *path = rs_path_join("o/plots", name, NULL), *text = read_path(path, NULL);
    cr_expect(strncmp(text, "<svg", 4) == 0 || strncmp(text, "<?xml", 5) == 0, "%s: %.20s", name, text);
    cr_expect_not_null(strstr(text, "</svg>"), "%s", name);
    cr_expect_not_null(strstr(index, name), "the index has no %s", name);
    free(text);
    free(path);
  }
  result quiet = run(&(command){.arguments = {"plot", "o", "--format", "svg", "--quiet"}});
  cr_expect_str_eq(quiet.err, "", "%s", quiet.err);
  result_clear(&quiet);
  result_clear(&got);
  free(names);
  free(all);
  free(index);
}

Test(plot_command, plot__only__draws_those_or_names_what_is_none) {
  run_small("o", NULL, NULL, NULL);
  result all = run(&(command){.arguments = {"plot", "o", "--format", "svg"}});
  char *names = names_in("o/plots", ".svg"), *rest = NULL, *first = strtok_r(names, " ", &rest);
  cr_assert(first != NULL && *rest != '\0', "several pictures");
  run_small("p", NULL, NULL, NULL);
  result one = run(&(command){.arguments = {"plot", "p", "--format", "svg", "--only", first}});
  char *left = names_in("p/plots", ".svg");
  cr_expect(one.status == 0 && strcmp(left, first) == 0, "%s: %s", one.err, left);
  static const char *const wrong[][2] = {{"nothing_like_it", "no picture or column is \"nothing_like_it\""},
                                         {",", "only: there is no name in it"}};
  for (size_t i = 0; i < 2; i++) {
    result got = run(&(command){.arguments = {"plot", "p", "--only", wrong[i][0]}});
    cr_expect(got.status == 2 && strstr(got.err, wrong[i][1]) != NULL, "%d: %s", got.status, got.err);
    result_clear(&got);
  }
  result_clear(&all);
  result_clear(&one);
  free(names);
  free(left);
}

Test(plot_command, plot__no_results__status_2_and_their_name) {
  result got = run(&(command){.arguments = {"plot", "nowhere"}});
  cr_expect_eq(got.status, 2, "status %d", got.status);
  cr_expect_str_eq(got.err, "ropescope: nowhere is not there\n");
  cr_expect(!exists("nowhere"));
  result_clear(&got);
}
