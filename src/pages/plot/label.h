/* label.h: words for people and names for files. */
#ifndef ROPESCOPE_PLOT_LABEL_H
#define ROPESCOPE_PLOT_LABEL_H

#include "base/base.h"

/* "entropy_nats" of unit "nats" as "entropy". */
void rs_plot_words(const char *name, const char *unit, rs_text *out);

/* The same as a title says it: "ood_overshoot_rad" of unit "rad" as "out-of-range overshoot". */
void rs_plot_phrase(const char *name, const char *unit, rs_text *out);

/* The unit as printed: "" for a pure number (unit "1"). Borrows. */
const char *rs_plot_unit(const char *unit);

/* Appends `text` as part of a file name: lower-case letters, digits, '.', '_', '=' and single '-', at most 80 bytes. */
void rs_plot_slug(const char *text, rs_text *out);

/* 4096 as "4k", 1572864 as "1.5M", 3000 as "3000": k is 1024. */
void rs_plot_tokens(double tokens, rs_text *out);

enum { RS_PLOT_POWER_CHARS = 8 };

/* n * 10^exponent, exactly: 15 and -1 as "1.5". */
void rs_plot_decimal(long long n, int exponent, rs_text *out);

/* The same as "1.5×10" and the power to raise behind it, with `decimals` digits after the point. */
void rs_plot_scientific(long long n, int exponent, int decimals, rs_text *out, char power[RS_PLOT_POWER_CHARS]);
void rs_plot_power(int exponent, char power[RS_PLOT_POWER_CHARS]);

#endif
