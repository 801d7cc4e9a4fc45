/* A method of one's own, compared with RoPE: every wavelength is `stretch` times as long. */
#include <ropescope.h>

#include <math.h>
#include <stdio.h>

static ropescope_status stretched(void *user, const ropescope_method_call *call, double *inv_freq,
                                  double *attention_factor, double *logit_factor, char *message, size_t capacity) {
  (void)user, (void)attention_factor, (void)logit_factor, (void)message, (void)capacity;
  for (size_t j = 0; j < call->rotary_dim / 2; j++)
    inv_freq[j] = pow(call->theta, -2.0 * (double)j / (double)call->rotary_dim) / call->parameters[0];
  return ROPESCOPE_OK;
}

int main(void) {
  static const ropescope_parameter_spec stretch = {"stretch", "1", 1, 1000, 2, "what wavelengths are multiplied by"};
  const ropescope_method_spec spec = {.size = sizeof spec,
                                      .name = "stretched",
                                      .summary = "plain RoPE with longer wavelengths",
                                      .parameters = &stretch,
                                      .parameter_count = 1,
                                      .frequencies = stretched};
  static const char config[] = "model: llama-2-7b\n"
                               "methods: [rope, {name: stretched, stretch: [2, 4]}]\n"
                               "lengths: 8k\n"
                               "metrics: [ood_angles]\n";
  ropescope_library *library = NULL;
  ropescope_results *results = NULL;
  ropescope_error *error = NULL;
  if (ropescope_library_create(&library, &error) == ROPESCOPE_OK &&
      ropescope_library_add_method(library, &spec, &error) == ROPESCOPE_OK &&
      ropescope_run(library, config, NULL, NULL, &results, &error) == ROPESCOPE_OK)
    fputs(ropescope_results_file(results, "summary.csv", NULL), stdout);
  if (error != NULL) fprintf(stderr, "%s\n", ropescope_error_message(error));
  int code = error != NULL;
  ropescope_error_free(error);
  ropescope_results_free(results);
  ropescope_library_free(library);
  return code;
}
