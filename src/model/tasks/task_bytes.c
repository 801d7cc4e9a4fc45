/* The bytes of a text. */
#include "model/tasks.h"

enum { BYTES = 256 };

typedef struct params {
  const char *file;
  rs_window_params windows;
} params;

static rs_status check(const rs_binding *binding, rs_err *err) {
  const params *p = binding->fields;
  if (p->file == NULL) return rs_binding_fail(binding, offsetof(params, file), err, "must be given: the text to read");
  return rs_windows_check(&p->windows, err);
}

static rs_status prepare(const rs_task_in *in, void *memory, rs_err *err) {
  const params *p = in->params;
  rs_window_state *s = memory;
  if (p->file == NULL) return rs_fail_on(err, RS_INPUT, "file", "must be given: the text to read");
  RS_TRY(rs_token_file_read(p->file, RS_ID_U8, &s->text, err));
  s->vocabulary = BYTES;
  rs_status status = rs_windows_prepare(&p->windows, p->file, in->seed, s, err);
  if (status != RS_OK) rs_windows_release(s);
  return status;
}

static const rs_param specs[] = {
    {RS_FIELD(params, file), .unit = "", .summary = "the text: any file"},
    RS_WINDOW_SPECS(params, windows, "0.1"),
};

const rs_task_kind rs_task_bytes = {
    .kind = {.name = "bytes",
             .summary = "the next byte of a text",
             .reference = "byte-level language modeling, as of Al-Rfou et al., arXiv:1808.04444",
             .version = 1,
             RS_KIND(specs, params)},
    .form = RS_DECODER,
    .check = check,
    .parts = {"byte"},
    .state_size = sizeof(rs_window_state),
    .prepare = prepare,
    .release = rs_windows_release,
    .shape = rs_windows_shape,
    .draw = rs_windows_draw,
    .chance = rs_windows_chance,
};
