/* The words that completion offers for a value, by what help calls it: PRESET, COLUMN, ... */
#include "cli.h"

#include "advice/advice.h"
#include "app/app.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void cli_candidate(cli_completion *c, const char *word, const char *summary) {
  if (strncmp(word, c->part, strlen(c->part)) != 0) return;
  rs_text_add(&c->out, c->before, c->before_count);
  rs_text_puts(&c->out, word);
  if (summary != NULL) rs_text_printf(&c->out, "\t%s", summary);
  rs_text_puts(&c->out, "\n");
}

/* ---- what the program knows -------------------------------------------------------------------------------------- */

static void put_entries(cli_completion *c, const char *list) {
  const char *name;
  for (size_t i = 0; (name = cli_list_name(list, i)) != NULL; i++) cli_candidate(c, name, NULL);
}

static void put_presets(cli_completion *c) {
  put_entries(c, "models");
}

static void put_methods(cli_completion *c) {
  size_t count;
  const rs_method *methods = rs_methods(&count);
  for (size_t i = 0; i < count; i++) cli_candidate(c, methods[i].name, methods[i].summary);
}

static void put_lists(cli_completion *c) {
  put_entries(c, "");
  put_methods(c);
}

static void put_named(cli_completion *c) {
  put_entries(c, c->arguments[0]);
}

static void put_engines(cli_completion *c) {
  put_entries(c, "engines");
}

static void put_findings(cli_completion *c) {
  put_entries(c, "findings");
}

static void put_consumers(cli_completion *c) {
  const rs_consumer *consumer;
  for (size_t i = 0; (consumer = rs_consumers(i)) != NULL; i++) cli_candidate(c, consumer->name, consumer->summary);
}

static void put_jobs(cli_completion *c) {
  size_t count;
  const rs_bench_family *const *families = rs_bench_families(&count);
  for (size_t f = 0; f < count; f++)
    for (size_t j = 0; j < families[f]->job_count; j++)
      cli_candidate(c, families[f]->jobs[j].name, families[f]->jobs[j].summary);
}

static void put_tables(cli_completion *c) {
  for (const char *const *word = cli_show_words; *word != NULL; word++) cli_candidate(c, *word, NULL);
}

static void put_commands(cli_completion *c) {
  for (int i = 0; i < CLI_COMMANDS; i++) cli_candidate(c, cli_commands[i].name, cli_commands[i].summary);
}

static void put_quantities(cli_completion *c) {
  static const char *const words[] = {"base", "factor", "length", "setting"};
  for (size_t i = 0; i < RS_COUNT(words); i++) cli_candidate(c, words[i], NULL);
}

static void put_formats(cli_completion *c) {
  static const char *const words[] = {"svg", "png", "pdf"};
  for (size_t i = 0; i < RS_COUNT(words); i++) cli_candidate(c, words[i], NULL);
}

/* ---- files ------------------------------------------------------------------------------------------------------- */

static void put_files(cli_completion *c) {
  rs_text_puts(&c->out, ":files\n");
}

static void put_folders(cli_completion *c) {
  rs_text_puts(&c->out, ":folders\n");
}

static void put_model_files(cli_completion *c) {
  rs_text_puts(&c->out, ":files json\n");
}

static void put_numbers(cli_completion *c) {
  rs_text_puts(&c->out, ":files npy\n");
}

static void put_sides(cli_completion *c) {
  put_presets(c);
  put_methods(c);
  put_files(c);
}

static void put_models(cli_completion *c) {
  put_presets(c);
  put_model_files(c);
}

/* Offers the names of what ends so in a folder that comes with the program: without the end, or (no end) those of
 * folders. */
static void put_installed(cli_completion *c, const char *folder, const char *end) {
  char *path = NULL;
  DIR *entries = rs_data_find(folder, &path, NULL) == RS_OK && path != NULL ? opendir(path) : NULL;
  for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
    char name[128];
    size_t length = strlen(entry->d_name), cut = strlen(end);
    bool fits = length > cut && length - cut < sizeof name && strcmp(entry->d_name + length - cut, end) == 0;
    if (!fits || (cut == 0 && strchr(entry->d_name, '.') != NULL)) continue;
    snprintf(name, sizeof name, "%.*s", (int)(length - cut), entry->d_name);
    cli_candidate(c, name, NULL);
  }
  if (entries != NULL) closedir(entries);
  free(path);
}

static void put_experiments(cli_completion *c) {
  put_installed(c, "experiments", "");
}

static void put_configs(cli_completion *c) {
  if (c->of_models) {
    put_model_files(c);
    return;
  }
  put_installed(c, "configs", ".yaml");
  put_experiments(c);
  rs_text_puts(&c->out, ":files yaml yml\n");
}

/* ---- results ----------------------------------------------------------------------------------------------------- */

/* The first line of summary.csv in the folder that is the first argument, or of the file itself; NULL where there is
 * none. The rest of the file, which may be large, is not read. Release with rs_table_free. */
static rs_table *read_header(const cli_completion *c) {
  static char line[1 << 16];
  struct stat info;
  rs_table *table = NULL;
  if (c->argument_count == 0 || stat(c->arguments[0], &info) != 0) return NULL;
  char *path =
      S_ISDIR(info.st_mode) ? rs_path_join(c->arguments[0], "summary.csv", NULL) : rs_strdup(c->arguments[0], NULL);
  FILE *file = path != NULL ? fopen(path, "r") : NULL;
  if (file != NULL && fgets(line, sizeof line, file) != NULL &&
      rs_csv_read(line, strlen(line), path, &table, NULL) != RS_OK)
    table = NULL;
  if (file != NULL) fclose(file);
  free(path);
  return table;
}

static void put_header(cli_completion *c, const char *end) {
  rs_table *table = read_header(c);
  for (size_t i = 0; table != NULL && i < table->columns; i++) {
    char name[128];
    snprintf(name, sizeof name, "%s%s", table->header[i], end);
    cli_candidate(c, name, NULL);
  }
  rs_table_free(table);
}

static void put_columns(cli_completion *c) {
  put_header(c, "");
}

static void put_conditions(cli_completion *c) {
  put_header(c, "=");
}

/* Pictures are called by columns, or as the CSV file that their curve stands in. */
static void put_pictures(cli_completion *c) {
  DIR *entries = c->argument_count > 0 ? opendir(c->arguments[0]) : NULL;
  put_columns(c);
  for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
    char name[128];
    size_t length = strlen(entry->d_name);
    bool curve = length > 4 && length < sizeof name && strcmp(entry->d_name + length - 4, ".csv") == 0;
    if (!curve || strcmp(entry->d_name, "summary.csv") == 0 || strcmp(entry->d_name, "timings.csv") == 0) continue;
    snprintf(name, sizeof name, "%.*s", (int)(length - 4), entry->d_name);
    cli_candidate(c, name, NULL);
  }
  if (entries != NULL) closedir(entries);
}

/* ---- by name ----------------------------------------------------------------------------------------------------- */

/* The first row that fits; an owner is an option or a command, NULL any. */
static const struct {
  const char *owner, *value;
  void (*fill)(cli_completion *c);
} rows[] = {
    {"methods", "LIST", put_methods},
    {"list", "LIST", put_lists},
    {"list", "NAME", put_named},
    {"reproduce", "NAME", put_experiments},
    {"engine", "NAME", put_engines},
    {"job", "NAME", put_jobs},
    {"only", "NAME", put_pictures},
    {"format", "NAME", put_formats},
    {"hf", "FILE", put_model_files},
    {"check", "FILE", put_model_files},
    {"explain", "FILE", put_model_files},
    {"convert", "FILE", put_models},
    {"compare", "A", put_sides},
    {"compare", "B", put_sides},
    {NULL, "CODE", put_findings},
    {NULL, "COLUMN", put_columns},
    {NULL, "COMMAND", put_commands},
    {NULL, "CONDITIONS", put_conditions},
    {NULL, "CONFIG", put_configs},
    {NULL, "CONSUMER", put_consumers},
    {NULL, "DIR", put_folders},
    {NULL, "FILE", put_files},
    {NULL, "FOLDER", put_folders},
    {NULL, "PRESET", put_presets},
    {NULL, "RESULTS", put_folders},
    {NULL, "TABLE", put_tables},
    {NULL, "TOKENS", put_numbers},
    {NULL, "YAML", put_methods},
    {NULL, "base|factor|length|setting", put_quantities},
};

void cli_complete_value(cli_completion *c, const char *owner, const char *value, size_t length) {
  for (size_t i = 0; i < RS_COUNT(rows); i++) {
    if (rows[i].owner != NULL && strcmp(rows[i].owner, owner) != 0) continue;
    if (strlen(rows[i].value) != length || strncmp(rows[i].value, value, length) != 0) continue;
    rows[i].fill(c);
    return;
  }
}
