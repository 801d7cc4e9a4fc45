/* The two sides of `ropescope compare`. Private to the command. */
#ifndef ROPESCOPE_CLI_COMPARE_H
#define ROPESCOPE_CLI_COMPARE_H

#include "cli.h"
#include "ropescope/compare.h"

typedef enum side_kind { SIDE_RECIPE, SIDE_HF, SIDE_PRESET, SIDE_DUMP } side_kind;

/* What one argument was taken for. */
typedef struct side {
  const char *text; /* as written */
  side_kind kind;
  rs_model model;   /* none for dumps */
  rs_recipe recipe; /* method NULL for dumps */
  rs_spectrum spectrum;
  size_t length; /* tokens */
  int folded;    /* dump that held each frequency twice: the pair layout that is for; else -1 */
} side;

/* Reads both. Returns an exit status, after a message when it is not CLI_OK. */
int sides_read(const cli_options *options, double rtol, side sides[2]);
void sides_clear(side sides[2]);

#endif
