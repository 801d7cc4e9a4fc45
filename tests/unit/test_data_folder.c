/* test_data_folder.c: where files are that come with the program. What is beside the program is seen by
 * tests/install. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "io/io.h"

static char *find(const char *name) {
  char *path = (char *)name;
  rs_err err = {0};
  cr_assert_eq(rs_data_find(name, &path, &err), RS_OK, "%s", err.message);
  return path;
}

Test(data_folder, environment__is_looked_in_first) {
  char *root = strdup(getenv("ROPESCOPE_TESTS")), *slash = strrchr(root, '/');
  cr_assert_not_null(slash);
  *slash = '\0';
  setenv("ROPESCOPE_DATADIR", root, 1);
  rs_text want = {0};
  rs_text_printf(&want, "%s/configs/quickstart.yaml", root);
  char *path = find("configs/quickstart.yaml");
  cr_assert_not_null(path);
  cr_expect_str_eq(path, want.data);
  free(path);
  rs_text_clear(&want);
  free(root);
}

Test(data_folder, nothing_there__no_path_and_no_error) {
  static const char *const folders[] = {"/nowhere", ""};
  for (size_t i = 0; i < RS_COUNT(folders); i++) {
    setenv("ROPESCOPE_DATADIR", folders[i], 1);
    cr_expect_null(find("no/such/file"), "%s", folders[i]);
  }
}
