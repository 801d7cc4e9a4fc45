/* What `ropescope check` tells people: as compilers do, and as GitHub shows beside the lines of a change. */
#include "check.h"

#include <string.h>

/* "file:12:15: " */
static void put_place(rs_text *text, const char *name, const rs_finding *f) {
  rs_text_printf(text, "%s:", name);
  if (f->line > 0) rs_text_printf(text, "%zu:%zu:", f->line, f->column);
  rs_text_puts(text, " ");
}

static void put_counts(rs_text *text, size_t counts[RS_SEVERITIES]) {
  static const char *const many[RS_SEVERITIES] = {"notes", "warnings", "errors"};
  const char *before = "";
  for (size_t s = RS_SEVERITIES; s-- > 0;) {
    if (counts[s] == 0) continue;
    rs_text_printf(text, "%s%zu %s", before, counts[s], counts[s] == 1 ? rs_severity_words[s] : many[s]);
    before = ", ";
  }
  if (*before == '\0') rs_text_puts(text, "nothing found");
}

static void put_finding(rs_text *text, const char *name, const rs_finding *f) {
  size_t line = text->length;
  put_place(text, name, f);
  bool named = *f->key == '\0' || strncmp(f->text, f->key, strlen(f->key)) == 0;
  rs_text_printf(text, "%s: %s%s%s [%s]", rs_severity_words[f->severity], named ? "" : f->key, named ? "" : ": ",
                 f->text, f->rule->code);
  rs_text_end_line(text, line);
  if (*f->fix != '\0') rs_text_line(text, "    fix: %s", f->fix);
  if (f->severity > RS_NOTE) rs_text_printf(text, "    see: %s\n", f->rule->reference);
}

void check_put_text(const checked_files *files, rs_text *text) {
  for (size_t i = 0; i < files->count; i++) {
    const checked_file *file = &files->items[i];
    size_t counts[RS_SEVERITIES] = {0};
    if (file->message != NULL) continue; /* stderr says it */
    if (file->portrayed) {
      if (i > 0) rs_text_puts(text, "\n");
      size_t name = text->length;
      rs_text_printf(text, "%s: ", file->name);
      rs_text_spell(text, name, "");
      check_put_portrait(&file->portrait, text);
      if (file->findings.count > 0) rs_text_puts(text, "\n");
    }
    for (size_t k = 0; k < file->findings.count; k++) {
      put_finding(text, file->name, &file->findings.items[k]);
      counts[file->findings.items[k].severity]++;
    }
    size_t line = text->length;
    rs_text_printf(text, "%s: ", file->name);
    put_counts(text, counts);
    if (file->ignored > 0) rs_text_printf(text, ", %zu ignored", file->ignored);
    rs_text_end_line(text, line);
  }
}

/* GitHub ends a property at ',' and ':', and a message at a newline. */
static void put_escaped(rs_text *text, const char *words, bool property) {
  for (; *words != '\0'; words++) {
    bool special = *words == '%' || *words == '\n' || *words == '\r';
    if (special || (property && (*words == ',' || *words == ':')))
      rs_text_printf(text, "%%%02X", (unsigned)(unsigned char)*words);
    else
      rs_text_add(text, words, 1);
  }
}

void check_put_github(const checked_files *files, rs_text *text) {
  static const char *const commands[RS_SEVERITIES] = {"notice", "warning", "error"};
  for (size_t i = 0; i < files->count; i++) {
    const checked_file *file = &files->items[i];
    if (file->message != NULL) {
      rs_text_puts(text, "::error file=");
      put_escaped(text, file->name, true);
      rs_text_puts(text, "::");
      put_escaped(text, file->message, false);
      rs_text_puts(text, "\n");
    }
    for (size_t k = 0; k < file->findings.count; k++) {
      const rs_finding *f = &file->findings.items[k];
      rs_text_printf(text, "::%s file=", commands[f->severity]);
      put_escaped(text, file->name, true);
      if (f->line > 0) rs_text_printf(text, ",line=%zu,col=%zu", f->line, f->column);
      rs_text_printf(text, ",title=%s %s::", f->rule->code, f->rule->name);
      put_escaped(text, f->text, false);
      if (*f->fix != '\0') rs_text_puts(text, "%0Afix: ");
      put_escaped(text, f->fix, false);
      rs_text_puts(text, "\n");
    }
  }
}
