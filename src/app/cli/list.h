/* The lists of `ropescope list` and their entries, as text and as JSON. */
#ifndef ROPESCOPE_CLI_LIST_H
#define ROPESCOPE_CLI_LIST_H

#include "cli.h"

#include "advice/advice.h"

/* A kind and the stage of an encoding that it fills: number `i` of all, in the order of the stages; kind NULL past the
 * last. */
typedef struct staged_kind {
  const char *stage;
  const rs_kind *kind;
} staged_kind;

staged_kind list_kind_at(size_t i);

/* What a checkpoint's parameters are of, as configs have it. */
typedef struct checkpoint_part {
  const char *name, *summary;
  const rs_param *params; /* (list_part_count,) */
} checkpoint_part;

/* NULL past the last. */
const checkpoint_part *list_part_at(size_t i);

size_t list_part_count(size_t i);

/* Parameter `p` of part `i`, with the default that it has there. */
rs_param list_part_param(size_t i, size_t p);

/* What stands before the entries of a whole list. */
void list_methods_lead(rs_text *text);
void list_models_lead(rs_text *text);

/* Entry `i` as it stands among the others. */
void list_put_method(rs_text *text, size_t i);
void list_put_kind(rs_text *text, size_t i);
void list_put_source(rs_text *text, size_t i);
void list_put_task(rs_text *text, size_t i);
void list_put_part(rs_text *text, size_t i);
void list_put_metric(rs_text *text, size_t i);
void list_put_model(rs_text *text, size_t i);
void list_put_architecture(rs_text *text, size_t i);
void list_put_dialect(rs_text *text, size_t i);
void list_put_finding(rs_text *text, size_t i);
void list_put_engine(rs_text *text, size_t i);

/* The parameters that method `i` shares with others; they stand once before a whole list. */
void list_put_common(rs_text *text, size_t i);

/* The whole list called `name` as Markdown, from which the pages of docs/ are made. False where there is none such. */
bool list_put_markdown(const char *name, rs_text *text);

/* Entry `i` as an object. */
void list_write_method(rs_json *json, size_t i);
void list_write_kind(rs_json *json, size_t i);
void list_write_source(rs_json *json, size_t i);
void list_write_task(rs_json *json, size_t i);
void list_write_part(rs_json *json, size_t i);
void list_write_metric(rs_json *json, size_t i);
void list_write_model(rs_json *json, size_t i);
void list_write_architecture(rs_json *json, size_t i);
void list_write_dialect(rs_json *json, size_t i);
void list_write_finding(rs_json *json, size_t i);
void list_write_engine(rs_json *json, size_t i);

#endif
