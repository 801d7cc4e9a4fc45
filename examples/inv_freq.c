/* The inverse frequencies of a published model: inv_freq CONFIG.JSON [LENGTH]. */
#include <ropescope.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
  if (argc < 2) return fprintf(stderr, "usage: inv_freq CONFIG.JSON [LENGTH]\n"), 2;
  const ropescope_recipe_source source = {
      .size = sizeof source, .file = argv[1], .length = argc > 2 ? strtoul(argv[2], NULL, 10) : 0};
  ropescope_recipe *recipe = NULL;
  ropescope_tables *tables = NULL;
  ropescope_error *error = NULL;
  double *inv_freq = NULL;
  if (ropescope_recipe_create(NULL, &source, &recipe, &error) == ROPESCOPE_OK &&
      ropescope_tables_create(recipe, 0, &tables, &error) == ROPESCOPE_OK) {
    size_t pairs = ropescope_tables_pairs(tables);
    inv_freq = calloc(pairs + 1, sizeof *inv_freq);
    if (inv_freq != NULL) ropescope_tables_inv_freq(tables, inv_freq, pairs);
    fprintf(stderr, "%s on %s at %zu tokens, cos and sin times %.17g\n", ropescope_recipe_text(recipe),
            ropescope_recipe_model(recipe), ropescope_tables_length(tables), ropescope_tables_attention_factor(tables));
    for (size_t j = 0; j < pairs && inv_freq != NULL; j++) printf("%.17g\n", inv_freq[j]);
  }
  if (error != NULL) fprintf(stderr, "%s\n", ropescope_error_message(error));
  int code = error != NULL || inv_freq == NULL;
  free(inv_freq);
  ropescope_error_free(error);
  ropescope_tables_free(tables);
  ropescope_recipe_free(recipe);
  return code;
}
