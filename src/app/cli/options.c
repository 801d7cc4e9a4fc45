/* The options: one table makes the parser and the help. */
#include "cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

/* What the value of an option is, and so which field of cli_options takes it. */
typedef enum option_kind {
  FLAG,   /* none: bool */
  TEXT,   /* const char * */
  NAME,   /* the same, not empty */
  WORD,   /* the same, one of `words` */
  LIST,   /* cli_list: the option may be given again */
  COUNT,  /* size_t, from 1 to `most` */
  INDEX,  /* size_t, from 0 to `most`, kept plus 1, so that 0 is none */
  REAL,   /* double, from `least` to `most` */
  COLUMN, /* long: the number of a column from 1, negative for descending */
} option_kind;

#define FIELD(field) offsetof(cli_options, field)

/* Which commands an option goes with. */
enum {
  RUN = 1 << CLI_RUN,
  MERGE = 1 << CLI_MERGE,
  PLAN = 1 << CLI_PLAN,
  LISTS = 1 << CLI_LIST,
  SHOW = 1 << CLI_SHOW,
  PLOT = 1 << CLI_PLOT,
  REPORT = 1 << CLI_REPORT,
  TABLE = 1 << CLI_TABLE,
  REPRODUCE = 1 << CLI_REPRODUCE,
  CHECK = 1 << CLI_CHECK,
  EXPLAIN = 1 << CLI_EXPLAIN,
  EXPLORE = 1 << CLI_EXPLORE,
  CONVERT = 1 << CLI_CONVERT,
  COMPARE = 1 << CLI_COMPARE,
  SOLVE = 1 << CLI_SOLVE,
  LOGITS = 1 << CLI_LOGITS,
  BENCH = 1 << CLI_BENCH,
  HELP = 1 << CLI_HELP,
  EVERY = (1 << CLI_COMMANDS) - 1
};

const char *const cli_criteria[] = {"first_violation", "critical_dim", "ood", "ntk", NULL};
static const char *const check_forms[] = {"text", "json", "sarif", "github", NULL};
static const char *const table_forms[] = {"npy", "csv", "json", NULL};
static const char *const precisions[] = {"f32", "f64", NULL};
static const char *const instruction_sets[] = {"auto", "v4", "v3", "neon", "generic", NULL};

/* An option that means one thing with one command and another with another has a row for each. */
static const struct option_row {
  const char *name, *value;
  option_kind kind;
  size_t offset;
  unsigned commands;
  const char *help;
  const char *const *words;
  double least, most;
} table[] = {
    {"set", "PATH=VALUE", LIST, FIELD(edits), RUN | PLAN,
     .help = "change the config, as in --set methods[1].factor=8; VALUE is YAML"},
    {"set", "PATH=VALUE", LIST, FIELD(edits), SHOW,
     .help = "change the config; with --model or --hf the recipe, as in --set factor=8"},
    {"lengths", "N,N,...", TEXT, FIELD(lengths), RUN | PLAN, .help = "in place of the config's lengths, as in 4k,8k"},
    {"methods", "LIST", NAME, FIELD(methods), RUN | PLAN,
     .help = "in place of the config's methods, as in 'rope, {name: yarn, factor: 4}'"},
    {"hf", "FILE", LIST, FIELD(models), RUN | PLAN,
     .help = "no config: what models do out to 4 times their length; each a config.json, its folder, or GGUF"},
    {"length", "N", COUNT, FIELD(length), SHOW, .help = "tokens of the table", .most = 1 << 28},
    {"shift", "K", NAME, FIELD(shift), SHOW,
     .help = "of embedding: the matrix that carries each position's K positions on; of a picture ROWS,COLUMNS"},
    {"length", "N", COUNT, FIELD(length), PLOT, .help = "draw the curves at this length alone", .most = 1 << 28},
    {"length", "N", COUNT, FIELD(length), COMPARE, .help = "tokens at which both sides are compared", .most = 1 << 28},
    {"length", "N", COUNT, FIELD(length), SOLVE, .help = "the context to be served", .most = 1 << 28},
    {"to", "N", COUNT, FIELD(length), SOLVE, .most = 1 << 28}, /* what --length was called, too: not shown */
    {"for", "CONSUMER", NAME, FIELD(consumer), SOLVE,
     .help = "who is to read the config of setting, as in convert --to (default: hf5)"},
    {"checkpoint", "FOLDER", NAME, FIELD(checkpoint), SOLVE,
     .help = "with setting: measure the recipes on this model, the folder of a checkpoint or a GGUF file"},
    {"text", "FILE", NAME, FIELD(text), SOLVE, .help = "with --checkpoint: the ids of its tokens, as a .npy file"},
    {"reads", "N", COUNT, FIELD(reads), SOLVE,
     .help = "with --checkpoint: how many reads of the length, side by side in the text (default 4)", .most = 1 << 20},
    {"targets", "N", COUNT, FIELD(targets), SOLVE,
     .help = "with --checkpoint: the tokens at the end of each read that are scored (default 512)", .most = 1 << 28},
    {"methods", "LIST", NAME, FIELD(methods), SOLVE,
     .help = "with --checkpoint: these ways to read, as in 'rerope, {name: yarn, factor: 4}'"},
    {"out", "DIR", NAME, FIELD(out), SOLVE,
     .help = "with --checkpoint: where its results go (default: results/solve-MODEL-N)"},
    {"fresh", NULL, FLAG, FIELD(fresh), SOLVE,
     .help = "with --checkpoint: read again, also what an earlier run into the folder has read"},
    {"force", NULL, FLAG, FIELD(force), SOLVE,
     .help = "with --checkpoint: replace the results of another config; read though memory may not do"},
    {"length", "N", COUNT, FIELD(length), EXPLAIN, .help = "the context that is asked about", .most = 1 << 28},
    {"length", "N", COUNT, FIELD(length), EXPLORE, .help = "the context that the page begins with", .most = 1 << 20},
    {"port", "N", COUNT, FIELD(port), EXPLORE, .help = "of 127.0.0.1 (default: any that is free)", .most = 65535},
    {"pair", "J", INDEX, FIELD(pair), EXPLAIN, .help = "a pair of rotated dims as well, from 0", .most = 2048},
    {"length", "N", COUNT, FIELD(length), CONVERT,
     .help = "tokens to be served (default: what the model is published for)", .most = 1 << 28},
    {"to", "CONSUMER", NAME, FIELD(to), CONVERT, .help = "who is to read it, as in --to vllm"},
    {"inv-freq", "FORM", WORD, FIELD(inv_freq), CONVERT,
     .help = "the table of inverse frequencies in place of a recipe: npy, csv or json", .words = table_forms},
    {"out", "FILE", NAME, FIELD(out), CONVERT, .help = "the file that it is written to (default: stdout)"},
    {"out", "FILE", NAME, FIELD(out), REPORT, .help = "the page (default: report.html in the first folder)"},
    {"still", NULL, FLAG, FIELD(still), REPORT, .help = "pictures in place of charts, as for a mail or a printer"},
    {"out", "DIR", NAME, FIELD(out), RUN | PLAN, .help = "where results go (default: results/NAME)"},
    {"out", "DIR", NAME, FIELD(out), MERGE, .help = "where the results go (default: results/NAME)"},
    {"shard", "I/N", NAME, FIELD(shard), RUN,
     .help = "this part of the cells alone, as in 2/5, for merge (default --out: results/NAME-I-of-N)"},
    {"shard", "I/N", NAME, FIELD(shard), PLAN, .help = "what this part of the cells takes, and how even all parts are"},
    {"out", "DIR", NAME, FIELD(out), REPRODUCE, .help = "where results go, a folder each (default: results)"},
    {"out", "FILE", NAME, FIELD(out), LOGITS, .help = "the .npy file that they are written to"},
    {"last", "N", COUNT, FIELD(last), LOGITS, .help = "those of the last N tokens (default: all)", .most = 1 << 28},
    {"position-ids", "FILE", NAME, FIELD(position_ids), LOGITS,
     .help = "a .npy file of positions, (B, L), which the mask goes by, or (3, B, L) for time, row and column"},
    {"document-ids", "FILE", NAME, FIELD(document_ids), LOGITS,
     .help = "a .npy file (B, L): tokens of one number are a document, and see no other"},
    {"attention-mask", "FILE", NAME, FIELD(attention_mask), LOGITS,
     .help = "a .npy file (B, L): 1 for tokens, 0 for padding on either side of them"},
    {"decoder-tokens", "FILE", NAME, FIELD(decoder_tokens), LOGITS,
     .help = "a .npy file (B, M): what the decoder of an encoder-decoder reads (T5)"},
    {"pixels", "FILE", NAME, FIELD(pixels), LOGITS, .help = "a .npy file (B, C, H, W), in the place of TOKENS (ViT)"},
    {"attention", "FILE", NAME, FIELD(attention), LOGITS,
     .help = "the attention weights of the first sequence, too: a .npy file (layers, heads, L, L)"},
    {"rollout", "FILE", NAME, FIELD(rollout), LOGITS,
     .help = "and their product over all layers: a .npy file (L, L); --out may be left out beside either"},
    {"token-types", "FILE", NAME, FIELD(token_types), LOGITS, .help = "a .npy file (B, L) of the tokens' types (BERT)"},
    {"precision", "WORD", WORD, FIELD(precision), LOGITS, .help = "of all arithmetic: f32 (default) or f64",
     .words = precisions},
    {"checkpoints", "DIR", NAME, FIELD(checkpoints), RUN | PLAN | REPRODUCE,
     .help = "where trained models are kept (default: checkpoints, beside the results)"},
    {"force", NULL, FLAG, FIELD(force), RUN,
     .help = "replace the results of another config; run though memory may not do"},
    {"force", NULL, FLAG, FIELD(force), MERGE, .help = "replace the results of another config"},
    {"force", NULL, FLAG, FIELD(force), REPRODUCE, .help = "run though memory may not do"},
    {"fresh", NULL, FLAG, FIELD(fresh), RUN | REPRODUCE,
     .help = "do every cell again, also those that an earlier run into the folder has done"},
    {"fresh", NULL, FLAG, FIELD(fresh), MERGE, .help = "take nothing from what the results hold already"},
    {"partial", NULL, FLAG, FIELD(partial), MERGE,
     .help = "though cells are missing: those that are there, marked as incomplete"},
    {"partial", NULL, FLAG, FIELD(partial), RUN,
     .help = "run nothing: write the cells that are done, marked as incomplete"},
    {"print", NULL, FLAG, FIELD(print), RUN | MERGE, .help = "a short table on stdout at the end"},
    {"hf", "FILE", NAME, FIELD(hf), SHOW | EXPLORE,
     .help = "model and recipe of a Hugging Face config.json, its folder, a GGUF file, or - (stdin)"},
    {"hf", "FILE", NAME, FIELD(hf), COMPARE | SOLVE,
     .help = "the model of recipes: a Hugging Face config.json, its folder, a GGUF file, or - (stdin)"},
    {"layers", "KIND", NAME, FIELD(layers), RUN | PLAN,
     .help = "with --hf: which layers of the models, where they differ, as show layers calls them"},
    {"layers", "KIND", NAME, FIELD(layers), SHOW | EXPLAIN | EXPLORE | COMPARE | SOLVE | CONVERT,
     .help = "which layers of the model, where they differ: a kind of ropescope show layers, or a number"},
    {"model", "PRESET", NAME, FIELD(model), SHOW | EXPLORE,
     .help = "the model, and the recipe it publishes (ropescope list models)"},
    {"model", "PRESET", NAME, FIELD(model), COMPARE | SOLVE, .help = "the model of recipes (ropescope list models)"},
    {"method", "YAML", NAME, FIELD(method), SHOW | SOLVE | EXPLORE,
     .help = "this method on --model or --hf, as in '{name: yarn, factor: 4}'"},
    {"criterion", "WORD", WORD, FIELD(criterion), SOLVE,
     .help = "first_violation, critical_dim, ood or ntk alone (default: all of them, with advice)",
     .words = cli_criteria},
    {"head-dim", "N", COUNT, FIELD(head_dim), SOLVE, .help = "rotary dims of a head, where no model gives them",
     .most = 4096},
    {"base", "X", REAL, FIELD(base), SOLVE, .help = "the base of plain RoPE to be judged", .least = 1.000001,
     .most = 1e300},
    {"rtol", "X", REAL, FIELD(rtol), COMPARE, .help = "relative difference that counts as equal (default 1e-6)",
     .most = 1},
    {"csv", NULL, FLAG, FIELD(csv), COMPARE, .help = "every pair as CSV"},
    {"csv", NULL, FLAG, FIELD(csv), SHOW, .help = "as CSV, as every table but layers is anyway"},
    {"csv", "FILE", NAME, FIELD(csv_file), BENCH, .help = "the table also as CSV"},
    {"json", NULL, FLAG, FIELD(json), LISTS | TABLE | SHOW | SOLVE | COMPARE | CHECK | EXPLAIN | CONVERT,
     .help = "as JSON"},
    {"markdown", NULL, FLAG, FIELD(markdown), LISTS, .help = "a whole list as Markdown tables"},
    {"markdown", NULL, FLAG, FIELD(markdown), REPRODUCE | TABLE, .help = "as Markdown"},
    {"lines", "COLUMN", NAME, FIELD(lines), TABLE, .help = "a line for each word of this column (default: method)"},
    {"less", "WORD", TEXT, FIELD(less), TABLE,
     .help = "numbers less those of this line, with the intervals of paired differences"},
    {"where", "CONDITIONS", TEXT, FIELD(where), TABLE, .help = "these rows alone, as in 'length_tokens=32k; seed=0'"},
    {"sort", "N", COLUMN, FIELD(sort), TABLE, .help = "lines by the N-th column of numbers; -N: the largest first"},
    {"only", "NAME,...", LIST, FIELD(only), PLOT, .help = "these pictures, by name or column; may be given again"},
    {"format", "NAME,...", TEXT, FIELD(format), PLOT,
     .help = "svg, png, pdf (default: svg and, where this build has librsvg, png)"},
    {"format", "WORD", WORD, FIELD(format), CHECK,
     .help = "text (default), json, sarif, or github (annotations of a change)", .words = check_forms},
    {"findings", NULL, FLAG, FIELD(findings), CHECK, .help = "what is wrong alone, without what the file says"},
    {"engine", "NAME,...", LIST, FIELD(engines), CHECK,
     .help = "who is to read the file, as in vllm or transformers@4.52: what it does otherwise is a warning, and what "
             "others do is not said"},
    {"ignore", "CODE,...", LIST, FIELD(ignored), CHECK,
     .help = "findings that are accepted, as in RS603 (ropescope list findings); may be given again"},
    {"all", NULL, FLAG, FIELD(all), PLOT,
     .help = "also pictures that say nothing: of one number, or of lines that are all equal"},
    {"job", "NAME,...", LIST, FIELD(jobs), BENCH, .help = "these jobs (--list shows them); may be given again"},
    {"list", NULL, FLAG, FIELD(list), BENCH | REPRODUCE, .help = "show what there is and run nothing"},
    {"rounds", "N", COUNT, FIELD(rounds), BENCH, .help = "samples of each job, in turns with its ceiling (default 5)",
     .most = 1000},
    {"quick", NULL, FLAG, FIELD(quick), BENCH, .help = "small sizes, to see that all runs, not how fast"},
    {"all-isa", NULL, FLAG, FIELD(all_isa), BENCH,
     .help = "each job with every instruction set of this machine, side by side"},
    {"full", NULL, FLAG, FIELD(full), REPRODUCE, .help = "the searches that take minutes, too"},
    {"experiments", "DIR", NAME, FIELD(experiments), REPRODUCE,
     .help = "where the experiments are (default: experiments here, or what was installed)"},
    {"man", NULL, FLAG, FIELD(manual), HELP, .help = "as a manual page, as in ropescope help run --man | man -l -"},
    {"threads", "N", COUNT, FIELD(threads), EVERY,
     .help = "threads (default: all cores; the CSV files are the same bytes)", .most = 1024},
    {"isa", "NAME", WORD, FIELD(isa), EVERY,
     .help = "instruction set: auto, v4, v3, neon, or generic, which every machine has (last digits differ)",
     .words = instruction_sets},
    {"quiet", NULL, FLAG, FIELD(quiet), EVERY, .help = "only errors on stderr"},
    {"help", NULL, FLAG, FIELD(help), EVERY, .help = "show this (also -h)"},
};

typedef struct option_row option_row;

enum { ROWS = RS_COUNT(table) };

static bool goes_with(const option_row *row, int command) {
  return (row->commands & 1u << command) != 0;
}

bool cli_option_at(int command, size_t index, cli_option *option) {
  for (const option_row *row = table; row < table + ROWS; row++) {
    if (!goes_with(row, command) || row->help == NULL || index-- > 0) continue;
    *option = (cli_option){row->name, row->value, row->help, row->words};
    return true;
  }
  return false;
}

/* ---- values ------------------------------------------------------------------------------------------------------ */

/* A number in its range, into `out`; false after a message when it is none. */
static bool read_number(const option_row *row, rs_type type, double least, double most, const char *text, double *out) {
  const rs_param param = {.name = row->name, .type = type, .min = least, .max = most};
  rs_value value;
  rs_err why = {0};
  if (rs_value_parse(&param, text, &value, &why) != RS_OK) {
    cli_error("--%s %s: %s", row->name, text, why.message);
    return false;
  }
  *out = value.number;
  return true;
}

/* Writes the value to the option's field. False after a message when it is none. */
static bool set_field(cli_options *options, const option_row *row, const char *text) {
  void *field = (char *)options + row->offset;
  cli_list *list = field;
  char what[32];
  double number = 0;
  snprintf(what, sizeof what, "--%s", row->name);
  switch (row->kind) {
  case FLAG: *(bool *)field = true; return true;
  case REAL: return read_number(row, RS_REAL, row->least, row->most, text, field);
  case TEXT:
  case NAME:
  case WORD:
    *(const char **)field = text;
    if (row->kind == WORD) return cli_choose(what, text, row->words) >= 0;
    if (row->kind == NAME && *text == '\0') cli_error("%s is empty (write %s %s)", what, what, row->value);
    return row->kind == TEXT || *text != '\0';
  case LIST:
    if (list->count == CLI_WORDS) cli_error("more than %d times %s", CLI_WORDS, what);
    if (list->count == CLI_WORDS) return false;
    list->items[list->count++] = text;
    return true;
  case COLUMN:
    if (!read_number(row, RS_INTEGER, -CLI_WORDS, CLI_WORDS, text, &number)) return false;
    if (number == 0) cli_error("%s %s: columns count from 1", what, text);
    *(long *)field = (long)number;
    return number != 0;
  case COUNT:
  case INDEX:
    if (!read_number(row, RS_INTEGER, row->kind == COUNT, row->most, text, &number)) return false;
    *(size_t *)field = (size_t)number + (row->kind == INDEX);
    return true;
  }
  return false;
}

const char *const *cli_split_names(const cli_list *lists, rs_arena *arena, size_t *count) {
  size_t most = 0;
  for (size_t i = 0; i < lists->count; i++) most += strlen(lists->items[i]) / 2 + 1;
  const char **names = rs_arena_take(arena, most, sizeof *names);
  *count = 0;
  for (size_t i = 0; i < lists->count && names != NULL; i++) {
    char *words = rs_arena_text(arena, lists->items[i]);
    for (char *word = words != NULL ? strtok(words, ",") : NULL; word != NULL; word = strtok(NULL, ","))
      names[(*count)++] = word;
  }
  return names;
}

/* ---- the command line -------------------------------------------------------------------------------------------- */

/* The row called `name` (length) of the command, or of any with -1; NULL: none. */
static const option_row *row_of(int command, const char *name, size_t length) {
  for (const option_row *row = table; row < table + ROWS; row++)
    if (strlen(row->name) == length && strncmp(row->name, name, length) == 0 &&
        (command < 0 || goes_with(row, command)))
      return row;
  return NULL;
}

/* Says what may have been meant. An option of another command is refused by name, for one that is silently ignored
 * misleads. */
static void unknown_option(int command, const char *word) {
  const char *names[ROWS], *bare = word + strspn(word, "-"), *name = cli_commands[command].name;
  size_t count = 0, length = strcspn(bare, "=");
  char written[32];
  snprintf(written, sizeof written, "%.*s", (int)length, bare);
  for (const option_row *row = table; row < table + ROWS; row++)
    if (goes_with(row, command)) names[count++] = row->name;
  const char *near = rs_suggest(written, names, count);
  bool other = row_of(-1, bare, length) != NULL;
  if (other && near != NULL)
    cli_error("--%s does not go with %s (did you mean --%s?)", written, name, near);
  else if (other)
    cli_error("--%s does not go with %s", written, name);
  else if (near != NULL)
    cli_error("no option %s (did you mean --%s?)", word, near);
  else
    cli_error("no option %s (ropescope help %s shows them)", word, name);
}

/* Reads the option at arguments[*index], and its value, which stands behind '=' or is the next word. `given` (ROWS,)
 * says which were read before: of two values of one option one would be ignored. */
static bool read_option(int command, int count, char **arguments, int *index, bool *given, cli_options *options) {
  const char *word = arguments[*index], *name = word + 2, *equals = strchr(name, '=');
  const option_row *row = row_of(command, name, strcspn(name, "="));
  if (word[1] != '-' || row == NULL) {
    unknown_option(command, word);
    return false;
  }
  if (given[row - table] && row->kind != FLAG && row->kind != LIST) {
    cli_error("--%s is given twice: keep one", row->name);
    return false;
  }
  given[row - table] = true;
  if (row->value == NULL && equals != NULL) {
    cli_error("--%s takes no value", row->name);
    return false;
  }
  if (row->value == NULL || equals != NULL) return set_field(options, row, equals != NULL ? equals + 1 : NULL);
  if (*index + 1 == count) {
    cli_error("%s needs a value", word);
    return false;
  }
  return set_field(options, row, arguments[++*index]);
}

int cli_options_read(int command, int count, char **arguments, cli_options *options) {
  bool ended = false; /* by "--": arguments alone follow */
  bool given[ROWS] = {false};
  for (int i = 1; i < count; i++) {
    const char *word = arguments[i];
    if (ended || *word != '-' || word[1] == '\0') {
      if (options->argument_count < CLI_ARGUMENTS) options->arguments[options->argument_count] = word;
      options->argument_count++;
    } else if (strcmp(word, "--") == 0)
      ended = true;
    else if (strcmp(word, "-h") == 0)
      options->help = true;
    else if (!read_option(command, count, arguments, &i, given, options))
      return CLI_USAGE;
  }
  return CLI_OK;
}

/* ---- where a config.json is: FILE|FOLDER|-, of --hf and of arguments --------------------------------------------- */

/* What messages call it: a folder's config.json, or standard input. */
static char *name_of(const char *word, rs_err *err) {
  struct stat info;
  if (strcmp(word, "-") == 0) return rs_strdup("standard input", err);
  return stat(word, &info) == 0 && S_ISDIR(info.st_mode) ? rs_path_join(word, "config.json", err)
                                                         : rs_strdup(word, err);
}

/* Standard input, of which a GGUF file, mostly larger than what is read of it, is told apart. */
static rs_status read_input(char **data, size_t *length, rs_err *err) {
  static const char mark[] = "GGUF";
  rs_err why = {0};
  rs_status status = rs_file_read("/dev/stdin", RS_LARGEST_FILE, data, length, &why);
  if (status == RS_MEMORY) return rs_fail(err, status, "%s", why.message);
  if (status != RS_OK) return rs_fail(err, status, "%s (a GGUF file is read by its name, in place of -)", why.message);
  if (*length < strlen(mark) || memcmp(*data, mark, strlen(mark)) != 0) return RS_OK;
  free(*data);
  *data = NULL;
  return rs_fail(err, RS_INPUT, "standard input: is a GGUF file, which is read by its name, in place of -");
}

int cli_read_hf(cli_options *options) {
  const char *word = options->hf;
  size_t length;
  rs_err err = {0};
  if (word == NULL) return CLI_OK;
  options->hf = options->hf_file = name_of(word, &err);
  rs_status status = options->hf != NULL ? RS_OK : RS_MEMORY;
  if (status == RS_OK && strcmp(word, "-") == 0) { /* read once and kept: compare reads the model for each recipe */
    status = read_input(&options->hf_text, &length, &err);
    if (status == RS_OK && strlen(options->hf_text) != length)
      status = rs_fail(&err, RS_INPUT, "%s: holds a NUL byte, so it is no JSON", options->hf);
  }
  return status == RS_OK ? CLI_OK : cli_fail(status, NULL, &err);
}

rs_status cli_read_config(const char *word, char **name, char **data, size_t *length, rs_err *err) {
  *name = name_of(word, err);
  if (*name == NULL) return RS_MEMORY;
  return strcmp(word, "-") == 0 ? read_input(data, length, err) : rs_hf_config_load(*name, data, length, err);
}

void cli_options_clear(cli_options *options) {
  free(options->hf_text);
  free(options->hf_file);
}
