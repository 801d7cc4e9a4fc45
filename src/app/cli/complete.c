/* ropescope --complete WORD...: what may stand in the place of the last word. The scripts of completions/ ask it. A
 * line is a candidate, a tab and what it is; or ":files EXTENSION..." or ":folders", which a shell lists itself. */
#include "cli.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct completion {
  int command;
  const char *arguments[CLI_WORDS]; /* before the word */
  size_t argument_count;
  bool of_models;      /* --hf stands before it */
  const char *before;  /* what every candidate begins with: "--model=", "rope," */
  size_t before_count; /* its characters */
  const char *part;    /* what is typed behind that */
  rs_text out;
} completion;

/* Adds a word that begins as what is typed, and what is said of it, or NULL. */
static void candidate(completion *c, const char *word, const char *summary) {
  if (strncmp(word, c->part, strlen(c->part)) != 0) return;
  rs_text_add(&c->out, c->before, c->before_count);
  rs_text_puts(&c->out, word);
  if (summary != NULL) rs_text_printf(&c->out, "\t%s", summary);
  rs_text_puts(&c->out, "\n");
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

static void put_words(completion *c, const char *const *words) {
  for (; words != NULL && *words != NULL; words++) candidate(c, *words, NULL);
}

static void put_list(completion *c, size_t list) {
  const char *name;
  size_t count;
  const rs_method *methods = rs_methods(&count);
  for (size_t i = 0; (name = cli_list_name(list, i)) != NULL; i++)
    candidate(c, name, list == CLI_METHODS ? methods[i].summary : NULL);
}

static void put_named(completion *c) {
  for (size_t l = 0; l < CLI_LISTS; l++)
    if (strcmp(cli_list_words[l], c->arguments[0]) == 0) put_list(c, l);
}

static void put_consumers(completion *c) {
  const rs_consumer *consumer;
  for (size_t i = 0; (consumer = rs_consumers(i)) != NULL; i++) candidate(c, consumer->name, consumer->summary);
}

static void put_jobs(completion *c) {
  size_t count;
  const rs_bench_family *const *families = rs_bench_families(&count);
  for (size_t f = 0; f < count; f++)
    for (size_t j = 0; j < families[f]->job_count; j++)
      candidate(c, families[f]->jobs[j].name, families[f]->jobs[j].summary);
}

static void put_commands(completion *c) {
  for (int i = 0; i < CLI_COMMANDS; i++) candidate(c, cli_commands[i].name, cli_commands[i].summary);
}

/* A folder of an experiment says what it expects; one of data does not. */
static bool is_experiment(const char *folder, const char *name) {
  RS_FREED char *inner = rs_path_join(folder, name, NULL);
  RS_FREED char *path = inner != NULL ? rs_path_join(inner, "expected.csv", NULL) : NULL;
  return path != NULL && access(path, F_OK) == 0;
}

/* Offers the names of what ends so in a folder: without the end, or (no end) those of experiments. */
static void put_entries(completion *c, const char *folder, const char *end) {
  DIR *entries = folder != NULL ? opendir(folder) : NULL;
  for (struct dirent *entry; entries != NULL && (entry = readdir(entries)) != NULL;) {
    char name[128];
    size_t length = strlen(entry->d_name), cut = strlen(end);
    bool fits = length > cut && length - cut < sizeof name && strcmp(entry->d_name + length - cut, end) == 0;
    if (!fits || (cut == 0 && !is_experiment(folder, entry->d_name))) continue;
    snprintf(name, sizeof name, "%.*s", (int)(length - cut), entry->d_name);
    if (strcmp(name, "summary") != 0 && strcmp(name, "timings") != 0) candidate(c, name, NULL);
  }
  if (entries != NULL) closedir(entries);
}

/* The same of a folder that comes with the program. */
static void put_installed(completion *c, const char *folder, const char *end) {
  RS_FREED char *path = NULL;
  if (rs_data_find(folder, &path, NULL) == RS_OK) put_entries(c, path, end);
}

/* Experiments of all groups. */
static void put_experiments(completion *c) {
  RS_FREED char *root = NULL;
  DIR *groups = rs_data_find("experiments", &root, NULL) == RS_OK && root != NULL ? opendir(root) : NULL;
  for (struct dirent *group; groups != NULL && (group = readdir(groups)) != NULL;) {
    RS_FREED char *path = strchr(group->d_name, '.') == NULL ? rs_path_join(root, group->d_name, NULL) : NULL;
    put_entries(c, path, "");
  }
  if (groups != NULL) closedir(groups);
}

static void put_configs(completion *c) {
  if (!c->of_models) {
    put_installed(c, "configs", ".yaml");
    put_experiments(c);
  }
  rs_text_puts(&c->out, c->of_models ? ":files json\n" : ":files yaml yml\n");
}

/* The first line of summary.csv in the folder that is the first argument, or of the file itself; NULL where there is
 * none. The rest of the file, which may be large, is not read. Release with rs_table_free. */
static rs_table *read_header(const completion *c) {
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

static void put_header(completion *c, const char *end) {
  RS_HELD(rs_table) table = read_header(c);
  for (size_t i = 0; table != NULL && i < table->columns; i++) {
    char name[128];
    snprintf(name, sizeof name, "%s%s", table->header[i], end);
    candidate(c, name, NULL);
  }
}

static void put_columns(completion *c) {
  put_header(c, "");
}

static void put_conditions(completion *c) {
  put_header(c, "=");
}

/* Pictures are called by columns, or as the CSV file that their curve stands in. */
static void put_pictures(completion *c) {
  put_columns(c);
  put_entries(c, c->argument_count > 0 ? c->arguments[0] : NULL, ".csv");
}

/* What a value may be, by what help calls it: the first row that fits. */
static const struct {
  const char *owner, *value; /* owner: an option or a command; NULL: any */
  const char *files;         /* what a shell lists itself */
  const char *const *words;
  size_t lists[2]; /* plus 1 */
  void (*fill)(completion *c);
} rows[] = {
    {"methods", "LIST", .lists = {1 + CLI_METHODS}},
    {"list", "LIST", .words = cli_list_words, .lists = {1 + CLI_METHODS}},
    {"list", "NAME", .fill = put_named},
    {"reproduce", "NAME", .fill = put_experiments},
    {"engine", "NAME", .lists = {1 + CLI_ENGINES}},
    {"job", "NAME", .fill = put_jobs},
    {"only", "NAME", .fill = put_pictures},
    {"format", "NAME", .words = (const char *const[]){"svg", "png", "pdf", NULL}},
    {"hf", "FILE", .files = ":files json\n"},
    {"checkpoint", "FOLDER", .files = ":files gguf\n"}, /* and folders, which lead to files */
    {"text", "FILE", .files = ":files npy\n"},
    {"check", "FILE", .files = ":files json\n"},
    {"explain", "FILE", .files = ":files json\n"},
    {"convert", "FILE", .files = ":files json\n", .lists = {1 + CLI_MODELS}},
    {"compare", "A", .files = ":files\n", .lists = {1 + CLI_MODELS, 1 + CLI_METHODS}},
    {"compare", "B", .files = ":files\n", .lists = {1 + CLI_MODELS, 1 + CLI_METHODS}},
    {NULL, "CODE", .lists = {1 + CLI_FINDINGS}},
    {NULL, "COLUMN", .fill = put_columns},
    {NULL, "COMMAND", .fill = put_commands},
    {NULL, "CONDITIONS", .fill = put_conditions},
    {NULL, "CONFIG", .fill = put_configs},
    {NULL, "CONSUMER", .fill = put_consumers},
    {NULL, "DIR", .files = ":folders\n"},
    {NULL, "FILE", .files = ":files\n"},
    {NULL, "FOLDER", .files = ":folders\n"},
    {NULL, "PRESET", .lists = {1 + CLI_MODELS}},
    {NULL, "RESULTS", .files = ":folders\n"},
    {NULL, "TABLE", .words = cli_show_words},
    {NULL, "TOKENS", .files = ":files npy\n"},
    {NULL, "YAML", .lists = {1 + CLI_METHODS}},
    {NULL, "QUESTION", .words = (const char *const[]){"base", "factor", "length", "setting", "evidence", NULL}},
};

/* Adds what a value of this name ("PRESET", length) may be, as the option or command called `owner` has it. */
static void put_value(completion *c, const char *owner, const char *value, size_t length) {
  for (size_t i = 0; i < RS_COUNT(rows); i++) {
    if (rows[i].owner != NULL && strcmp(rows[i].owner, owner) != 0) continue;
    if (strlen(rows[i].value) != length || strncmp(rows[i].value, value, length) != 0) continue;
    put_words(c, rows[i].words);
    for (size_t l = 0; l < RS_COUNT(rows[i].lists) && rows[i].lists[l] > 0; l++) put_list(c, rows[i].lists[l] - 1);
    if (rows[i].fill != NULL) rows[i].fill(c);
    if (rows[i].files != NULL) rs_text_puts(&c->out, rows[i].files);
    return;
  }
}

/* ---- the place --------------------------------------------------------------------------------------------------- */

/* The option of the command that a word like --model or --model=gpt2 names. */
static bool find_option(int command, const char *word, cli_option *option) {
  if (strncmp(word, "--", 2) != 0) return false;
  size_t length = strcspn(word + 2, "=");
  for (size_t i = 0; cli_option_at(command, i, option); i++)
    if (strlen(option->name) == length && strncmp(option->name, word + 2, length) == 0) return true;
  return false;
}

static void complete_option(completion *c) {
  cli_option option;
  for (size_t i = 0; cli_option_at(c->command, i, &option); i++) {
    char word[64] = "--";
    strncat(word, option.name, sizeof word - 3);
    candidate(c, word, option.help);
  }
}

/* `part` is what is typed of the value. A list with commas is completed behind the last. */
static void complete_option_value(completion *c, const cli_option *option, const char *part) {
  const char *comma = strrchr(part, ',');
  bool list = strchr(option->value, ',') != NULL || strcmp(option->value, "LIST") == 0;
  c->part = list && comma != NULL ? comma + 1 : part;
  c->before_count = (size_t)(c->part - c->before);
  put_words(c, option->words);
  if (option->words == NULL) put_value(c, option->name, option->value, strcspn(option->value, ","));
}

/* The argument behind those that are there: part `argument_count` of a text like "RESULTS COLUMN..." or "[NAME]". */
static void complete_argument(completion *c) {
  const char *place = cli_commands[c->command].arguments, *name = cli_commands[c->command].name;
  for (size_t left = c->argument_count; left > 0; left--) {
    size_t length = strcspn(place, " ");
    if (place[length] == '\0') {
      if (strstr(place, "...") == NULL && !c->of_models) return;
      break;
    }
    place += length + 1;
  }
  place += *place == '[';
  put_value(c, name, place, strcspn(place, " ].,"));
}

/* Bash hands on --model=gpt2 as three words, the others as one. */
static void complete_words(completion *c, size_t count, char **words) {
  cli_option option = {0}, pending = {0};
  const char *last = words[count - 1];
  bool ended = false;
  for (size_t i = 1; i + 1 < count; i++) {
    const char *word = words[i];
    if (pending.name != NULL) {
      if (strcmp(word, "=") != 0) pending = (cli_option){0};
    } else if (ended || *word != '-') {
      if (c->argument_count < CLI_WORDS) c->arguments[c->argument_count++] = word;
    } else if (strcmp(word, "--") == 0) {
      ended = true;
    } else if (find_option(c->command, word, &option)) {
      c->of_models |= strcmp(option.name, "hf") == 0;
      if (option.value != NULL && strchr(word, '=') == NULL) pending = option;
    }
  }
  c->before = c->part = last;
  if (pending.name != NULL) {
    c->before += strcmp(last, "=") == 0;
    complete_option_value(c, &pending, c->before);
  } else if (ended || *last != '-') {
    complete_argument(c);
  } else if (strchr(last, '=') == NULL) {
    complete_option(c);
  } else if (find_option(c->command, last, &option) && option.value != NULL) {
    complete_option_value(c, &option, strchr(last, '=') + 1);
  }
}

int cli_complete(size_t count, char **words) {
  completion c = {.before = "", .part = count > 0 ? words[0] : ""};
  if (count < 2) {
    put_commands(&c);
    if (*c.part == '-') {
      candidate(&c, "--help", "what there is");
      candidate(&c, "--version", "print the version");
    }
    return cli_put(&c.out, CLI_DATA);
  }
  for (; c.command < CLI_COMMANDS; c.command++)
    if (strcmp(cli_commands[c.command].name, words[0]) == 0) break;
  if (c.command < CLI_COMMANDS) complete_words(&c, count, words);
  return cli_put(&c.out, CLI_DATA);
}
