/* The table of kernels and the choice among its rows. */
#include "kernel/kernel.h"

#include <stdio.h>
#include <string.h>

/* One row of the table: what each instruction set's copies are called. */
#define RS_DECLARE(isa)                                                                                                \
  extern const rs_ceiling_kernel rs_ceiling_##isa;                                                                     \
  extern const rs_decay_kernel rs_decay_##isa;                                                                         \
  extern const rs_rotate_kernel rs_rotate_##isa;                                                                       \
  extern const rs_score_kernel rs_scores_f32_##isa, rs_scores_f64_##isa;                                               \
  extern const rs_net_kernel rs_net_f32_##isa, rs_net_f64_##isa;
#define RS_ROW(set)                                                                                                    \
  {                                                                                                                    \
    .isa = #set, .ceiling = &rs_ceiling_##set, .decay = &rs_decay_##set, .rotate = &rs_rotate_##set,                   \
    .scores_f32 = &rs_scores_f32_##set, .scores_f64 = &rs_scores_f64_##set, .net_f32 = &rs_net_f32_##set,              \
    .net_f64 = &rs_net_f64_##set                                                                                       \
  }

RS_DECLARE(generic)
#if defined(__x86_64__)
RS_DECLARE(v3)
RS_DECLARE(v4)
#elif defined(__aarch64__)
RS_DECLARE(neon)
#endif

/* Best first. */
static const rs_kernels table[] = {
#if defined(__x86_64__)
    RS_ROW(v4), RS_ROW(v3),
#elif defined(__aarch64__)
    RS_ROW(neon),
#endif
    RS_ROW(generic)};

static bool machine_runs(const char *isa) {
#if defined(__x86_64__)
  if (strcmp(isa, "v4") == 0)
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
           __builtin_cpu_supports("avx512vl");
  if (strcmp(isa, "v3") == 0)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
#endif
  (void)isa; /* a machine of the family runs the rest */
  return true;
}

static const rs_kernels *chosen; /* NULL: the best */

/* Row number `index` of those that this machine runs, or NULL. */
static const rs_kernels *runnable(size_t index) {
  for (size_t i = 0; i < RS_COUNT(table); i++)
    if (machine_runs(table[i].isa) && index-- == 0) return &table[i];
  return NULL;
}

const rs_kernels *rs_kernels_get(void) {
  return chosen != NULL ? chosen : runnable(0);
}

const char *rs_isa_name(size_t index) {
  const rs_kernels *kernels = runnable(index);
  return kernels != NULL ? kernels->isa : NULL;
}

/* "auto, v4, v3, generic" */
static void list_names(char *out, size_t size) {
  size_t used = 0;
  const char *name;
  out[0] = '\0';
  for (size_t i = 0; (name = rs_isa_name(i)) != NULL && used < size; i++)
    used += (size_t)snprintf(out + used, size - used, ", %s", name);
}

rs_status rs_kernels_use(const char *isa, rs_err *err) {
  char names[64];
  const rs_kernels *kernels = NULL;
  for (size_t i = 0; (kernels = runnable(i)) != NULL && strcmp(kernels->isa, isa) != 0; i++) continue;
  if (kernels != NULL || strcmp(isa, "auto") == 0) {
    chosen = kernels;
    return RS_OK;
  }
  list_names(names, sizeof names);
  return rs_fail(err, RS_INPUT, "this machine has no such instruction set (it has auto%s)", names);
}
