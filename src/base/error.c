/* Errors: the first failure of a call, kept with its words. */
#include "base/base.h"

#include <gsl/gsl_errno.h>
#include <stdio.h>
#include <string.h>

static rs_status record(rs_err *err, rs_status status, const char *subject, const char *format, va_list words) {
  if (err == NULL) return status;
  if (err->status != RS_OK) return err->status;
  err->status = status;
  rs_message(err->subject, sizeof err->subject, "%s", subject);
  rs_message_print(err->message, sizeof err->message, strcmp(format, "%s") == 0, format, words);
  return status;
}

rs_status rs_fail(rs_err *err, rs_status status, const char *format, ...) {
  va_list words;
  va_start(words, format);
  status = record(err, status, "", format, words);
  va_end(words);
  return status;
}

rs_status rs_fail_on(rs_err *err, rs_status status, const char *subject, const char *format, ...) {
  va_list words;
  va_start(words, format);
  status = record(err, status, subject, format, words);
  va_end(words);
  return status;
}

rs_status rs_fail_read(rs_err *err, const char *format, ...) {
  va_list words;
  bool first = err != NULL && err->status == RS_OK;
  va_start(words, format);
  rs_status status = record(err, RS_IO, "", format, words);
  va_end(words);
  if (first) err->unread = true;
  return status;
}

const char *rs_status_name(rs_status status) {
  static const char *const names[] = {"ok", "input",    "domain",  "unsupported", "memory",
                                      "io", "internal", "stopped", "busy"};
  return (size_t)status < RS_COUNT(names) ? names[status] : "unknown";
}

void rs_err_words(const rs_err *err, char *words, size_t size) {
  rs_message(words, size, "%s%s%s", err->subject, *err->subject != '\0' ? ": " : "", err->message);
}

rs_status rs_gsl(int failed, const char *what, rs_err *err) {
  if (failed == GSL_SUCCESS) return RS_OK;
  rs_status status = failed == GSL_ENOMEM ? RS_MEMORY : RS_INTERNAL;
  return rs_fail(err, status, "%s: GSL: %s", what, gsl_strerror(failed));
}

/* GSL's handler would end the program at the first error. The loader calls this once, before any function of ours. */
__attribute__((constructor)) static void switch_handler_off(void) {
  gsl_set_error_handler_off();
}
