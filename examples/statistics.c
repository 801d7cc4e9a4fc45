/* What one head attends to: statistics Q.NPY K.NPY, shaped (tokens, dims), before rotation, under Llama 3's recipe. */
#include <ropescope.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  if (argc < 3) return fprintf(stderr, "usage: statistics Q.NPY K.NPY\n"), 2;
  const ropescope_recipe_source source = {.size = sizeof source, .preset = "llama-3-8b"};
  ropescope_recipe *recipe = NULL;
  ropescope_array *q = NULL, *k = NULL;
  ropescope_statistics *seen = NULL;
  ropescope_error *error = NULL;
  if (ropescope_recipe_create(NULL, &source, &recipe, &error) == ROPESCOPE_OK &&
      ropescope_array_open(argv[1], NULL, &q, &error) == ROPESCOPE_OK &&
      ropescope_array_open(argv[2], NULL, &k, &error) == ROPESCOPE_OK) {
    size_t queries = ropescope_array_extent(q, 0), keys = ropescope_array_extent(k, 0);
    const ropescope_attention attention = {.size = sizeof attention,
                                           .recipe = recipe,
                                           .q = ropescope_array_rows(q),
                                           .k = ropescope_array_rows(k),
                                           .length = keys,
                                           .head_dim = ropescope_array_extent(k, 1),
                                           .heads = 1,
                                           .query_tokens = queries, /* of the last tokens */
                                           .first_query = keys - queries};
    if (ropescope_statistics_create(&attention, &seen, &error) == ROPESCOPE_OK) {
      double *entropy = calloc(queries, sizeof *entropy);
      if (entropy != NULL) ropescope_statistics_values(seen, 0, ROPESCOPE_ENTROPY, entropy, queries);
      for (size_t i = 0; i < queries && entropy != NULL; i++) printf("%zu %.9g\n", keys - queries + i, entropy[i]);
      free(entropy);
    }
  }
  int code = error != NULL;
  if (error != NULL) fprintf(stderr, "%s\n", ropescope_error_message(error));
  ropescope_error_free(error);
  ropescope_statistics_free(seen);
  ropescope_array_free(q);
  ropescope_array_free(k);
  ropescope_recipe_free(recipe);
  return code;
}
