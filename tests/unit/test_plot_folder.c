/* test_plot_folder.c: which pictures of a folder are drawn, and which are removed. */
#include "plot_depths.h"

#define TWO_COLUMNS                                                                                                    \
  "{\"files\":[{\"file\":\"summary.csv\",\"columns\":[" DEPTH_KEYS SHARE                                               \
  ",{\"name\":\"rank\",\"role\":\"value\"}]},{\"file\":\"decay.csv\",\"columns\":[" DEPTH_KEYS                         \
  ",{\"name\":\"at\",\"role\":\"index\"},{\"name\":\"rank\",\"role\":\"value\"}]}]}"

/* Pictures share--a, share--b, rank--a, rank--b, decay--rank--a--1k, decay--rank--b--1k. */
static void put_two(void) {
  put_file("manifest.json", TWO_COLUMNS);
  put_file("summary.csv", "cell,model,method,length_tokens,scale,source,seed,heads,depth,share,rank\n"
                          "0,m,rope,1024,1,a,1,8,,1,2\n1,m,rope,1024,1,b,1,8,,2,3\n");
  put_file("decay.csv", "cell,model,method,length_tokens,scale,source,seed,heads,depth,at,rank\n"
                        "0,m,rope,1024,1,a,1,8,,0,2\n1,m,rope,1024,1,b,1,8,,0,3\n");
}

Test(plot_folder, only__a_name_of_any_kind__draws_what_it_means, .init = make_folder, .fini = remove_folder) {
  static const struct {
    const char *names[2];
    size_t pictures;
    const char *one; /* of them */
  } cases[] = {{{NULL}, 6, "plots/share--a.svg"},
               {{"share--a"}, 1, "plots/share--a.svg"},
               {{"share--b.svg"}, 1, "plots/share--b.svg"},
               {{"results/x/plots/rank--b.png"}, 1, "plots/rank--b.svg"},
               {{"share"}, 2, "plots/share--b.svg"},
               {{"rank"}, 4, "plots/decay--rank--a--1k.svg"},
               {{"decay"}, 2, "plots/decay--rank--b--1k.svg"},
               {{"decay--rank--a"}, 1, "plots/decay--rank--a--1k.svg"},
               {{"decay", "share--a"}, 3, "plots/share--a.svg"},
               {{"share", "share--a"}, 2, "plots/share--a.svg"}};
  put_two();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    size_t count = (cases[i].names[0] != NULL) + (cases[i].names[1] != NULL);
    nftw(path_in("plots"), remove_one, 16, FTW_DEPTH | FTW_PHYS);
    cr_assert_eq(draw_all(&(rs_plot_options){.only = cases[i].names, .only_count = count, .all = true}, RS_OK, NULL),
                 cases[i].pictures, "case %zu", i);
    cr_assert(exists(cases[i].one), "case %zu", i);
  }
}

/* Before anything is drawn, also what another name means. */
Test(plot_folder, only__an_unknown_name__is_an_error_with_a_hint, .init = make_folder, .fini = remove_folder) {
  static const char *const cases[][2] = {{"shard--a", "\"shard--a\" (did you mean \"share--a\"?)"},
                                         {"decya", "\"decya\" (did you mean \"decay\"?)"},
                                         {"rnak", "did you mean \"rank\"?"},
                                         {"share-", "no picture or column is \"share-\""},
                                         {"share.svg", "no picture or column"},
                                         {"", "no picture or column is \"\""},
                                         {"entirely else", "(there are 6 pictures, as \"share--a\")"}};
  put_two();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    const char *names[] = {"share--b", cases[i][0]};
    cr_assert_eq(draw_all(&(rs_plot_options){.only = names, .only_count = 2}, RS_INPUT, cases[i][1]), 0u);
  }
  cr_assert_not(exists("plots"), "nothing was written");
}

/* One summary of a column, as of a config. */
static void put_config(const char *config, const char *column) {
  char text[4000];
  snprintf(text, sizeof text,
           "{\"config_sha256\":\"%s\",\"files\":[{\"file\":\"summary.csv\",\"columns\":[" DEPTH_KEYS
           ",{\"name\":\"%s\",\"role\":\"value\"}]}]}",
           config, column);
  put_file("manifest.json", text);
  snprintf(text, sizeof text,
           "cell,model,method,length_tokens,scale,source,seed,heads,depth,%s\n0,m,rope,1024,1,,1,8,,1\n"
           "1,m,rope,2048,1,,1,8,,%zu\n",
           column, strlen(column));
  put_file("summary.csv", text);
}

Test(plot_folder, drawn__from_other_results__is_removed_and_nothing_else, .init = make_folder, .fini = remove_folder) {
  static const rs_plot_options all = {.all = true};
  put_config("aa", "three");
  draw_all(NULL, RS_OK, NULL);
  put_file("plots/mine.svg", "not of ropescope");
  draw_all(&(rs_plot_options){.only = (const char *[]){"three"}, .only_count = 1}, RS_OK, NULL);
  cr_assert(exists("plots/three.svg") && exists("plots/mine.svg"));
  put_config("aab", "one");
  put_file("summary.csv", "cell,model,method,length_tokens,scale,source,seed,heads,depth,one\n0,m,rope,1,1,,1,8,,1\n");
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 0u);
  cr_assert(!exists("plots/three.svg") && !exists("plots/one.svg") && exists("plots/mine.svg"));
  cr_assert_eq(draw_all(&all, RS_OK, NULL), 1u);
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 0u);
  cr_assert(exists("plots/one.svg"), "the present results give it");
  put_file("summary.csv", "cell,model,method,length_tokens,scale,source,seed,heads,depth,one\n0,m,rope,1,1,,1,8,,2\n");
  cr_assert_eq(draw_all(NULL, RS_OK, NULL), 0u);
  cr_assert_not(exists("plots/one.svg"), "the same config, but other numbers");
}

/* A run tells what stands in plots/ before it is drawn again. */
Test(plot_folder, stale__after_a_run__goes_without_a_drawing, .init = make_folder, .fini = remove_folder) {
  rs_plot_report report = {0};
  rs_err err = {0};
  put_config("aa", "three");
  cr_assert_eq(rs_plot_remove_stale(folder, &report, &err), RS_OK, "%s", err.message);
  cr_assert_not(exists("plots"), "nothing to remove, and nothing made");
  draw_all(NULL, RS_OK, NULL);
  cr_assert_eq(rs_plot_remove_stale(folder, &report, &err), RS_OK, "%s", err.message);
  cr_assert(exists("plots/three.svg") && report.note_count == 0);
  put_config("ab", "three");
  cr_assert_eq(rs_plot_remove_stale(folder, &report, &err), RS_OK, "%s", err.message);
  cr_assert(!exists("plots/three.svg") && report.note_count == 1);
  cr_assert_not_null(strstr(report.notes[0], "1 picture of earlier results removed"), "%s", report.notes[0]);
  rs_plot_report_clear(&report);
}

/* A list that someone else wrote cannot point elsewhere. */
Test(plot_folder, drawn__names_that_are_no_pictures__stay, .init = make_folder, .fini = remove_folder) {
  put_config("new", "one");
  draw_all(NULL, RS_OK, NULL);
  put_file("summary.svg", "above");
  cr_assert_eq(mkdir(path_in("plots/folder.svg"), 0755), 0);
  put_file("plots/notes.txt", "text");
  put_file("plots/real.svg", "svg");
  put_file("plots/.a.svg", "hidden");
  put_file("plots/folder.svg/kept", "inside");
  cr_assert_eq(symlink("real.svg", path_in("plots/link.svg")), 0);
  put_file("plots/.drawn",
           "old ../summary.svg\nold notes.txt\nold .a.svg\nold folder.svg\nold link.svg\nold\n\n old\n");
  draw_all(NULL, RS_OK, NULL);
  static const char *const kept[] = {"summary.svg",  "plots/notes.txt",       "plots/real.svg",
                                     "plots/.a.svg", "plots/folder.svg/kept", "plots/link.svg"};
  for (size_t i = 0; i < RS_COUNT(kept); i++) cr_assert(exists(kept[i]), "%s", kept[i]);
}

/* Sources whose names are one slug have a picture each. */
Test(plot_folder, pictures__of_one_name__are_numbered, .init = make_folder, .fini = remove_folder) {
  static const char *const names[] = {"share--a-b.svg", "share--a-b-2.svg", "share--a-b-3.svg"};
  rs_plot_report report;
  put_file("manifest.json", DEPTHS);
  put_file("summary.csv", DEPTHS_HEADER "0,m,rope,1024,1,a b,1,8,,1\n1,m,rope,1024,1,a-b,1,8,,2\n"
                                        "2,m,rope,1024,1,a/b,1,8,,3\n");
  draw(&(rs_plot_options){.all = true}, &report, RS_OK, NULL);
  cr_assert_eq(report.count, RS_COUNT(names));
  for (size_t i = 0; i < RS_COUNT(names); i++) cr_assert_str_eq(strrchr(report.files[i], '/') + 1, names[i]);
  rs_plot_report_clear(&report);
}

/* Names that go on behind a dot are figures of their own in the index. */
Test(plot_folder, index__names_with_dots__are_kept_apart, .init = make_folder, .fini = remove_folder) {
  put_file("manifest.json", DEPTHS);
  put_file("summary.csv", DEPTHS_HEADER "0,m,rope,1024,1,qwen2,1,8,,1\n1,m,rope,1024,1,qwen2.5,1,8,,2\n");
  cr_assert_eq(draw_all(&(rs_plot_options){.all = true}, RS_OK, NULL), 2u);
  char *index = picture_text("plots/index.html");
  cr_expect_eq(occurrences(index, "<figure>"), 2u);
  cr_expect_not_null(strstr(index, "<figcaption>share--qwen2: <a href=\"share--qwen2.svg\">svg</a></figcaption>"), "%s",
                     index);
  cr_expect_not_null(strstr(index, "<figcaption>share--qwen2.5: <a href=\"share--qwen2.5.svg\">svg</a></figcaption>"),
                     "%s", index);
  free(index);
}
