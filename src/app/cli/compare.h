/* What a comparison came to, and its forms. */
#ifndef ROPESCOPE_CLI_COMPARE_H
#define ROPESCOPE_CLI_COMPARE_H

#include "cli.h"

#include "advice/advice.h"

/* The two sides and what came of comparing them. */
typedef struct outcome {
  rs_contender sides[2];
  double rtol;
  rs_difference difference;
  rs_causes causes;
  rs_layer_differences layers; /* of two models, where no kind of layers is asked for; else without items */
  rs_buffer_checks buffers;    /* of checkpoints */
  rs_kind_matches kinds;       /* of a dump beside layers that turn in several ways; else without items */
  size_t other_length;         /* where sides that are equal here part, tokens; 0: nowhere */
  rs_difference other_difference;
  rs_bias_difference biases;  /* of sides that turn nothing; else zero */
  rs_slope_difference slopes; /* of one that turns nothing beside a list; else zero */
} outcome;

void compare_put_text(const outcome *o, rs_text *text);
void compare_put_pairs(const outcome *o, cli_table *table); /* every pair */
void compare_put_side(rs_text *text, char letter, const rs_contender *side);
void compare_write_side(rs_json *json, const char *key, const rs_contender *side);

/* The same of sides that turn nothing. */
void compare_put_biases(const outcome *o, rs_text *text);
void compare_write_biases(const outcome *o, bool csv, rs_text *text);

/* And of one of these beside a list of slopes. */
void compare_put_slopes(const outcome *o, rs_text *text);
void compare_write_slopes(const outcome *o, bool csv, rs_text *text);
void compare_put_causes(const rs_causes *causes, unsigned differs, const char *indent, rs_text *text);

/* Adds what holds of all layers and buffers, "different in layers 0-4 (sliding_attention)", a line, and "of
 * full_attention, ", which the next one is of. False, and nothing, where one table is all there is. */
bool compare_put_whole(const outcome *o, rs_text *text);
void compare_put_layers(const outcome *o, rs_text *text);
void compare_put_kinds(const outcome *o, rs_text *text);
void compare_put_buffers(const outcome *o, rs_text *text);
void compare_write_causes(const rs_causes *causes, rs_json *json); /* NULL: none */
void compare_write_layers(const outcome *o, rs_json *json);
void compare_write_kinds(const outcome *o, rs_json *json);
void compare_write_buffers(const outcome *o, rs_json *json);

/* Adds in how many frequencies two tables part, and in what else: "; 3 frequencies differ, most at pair 5: 2 %". */
void compare_put_turning(rs_text *text, const rs_difference *difference);
rs_status compare_put_json(const outcome *o, rs_text *text, rs_err *err);

#endif
