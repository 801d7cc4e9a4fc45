/* What the commands share: options, printing, and the parts that several of them have. */
#ifndef ROPESCOPE_APP_CLI_CLI_H
#define ROPESCOPE_APP_CLI_CLI_H

#include "advice/advice.h"
#include "app/app.h"

/* ---- cli ------------------------------------------------------------------------------------------------------- */

/* The commands of the program and what they share. */

enum { CLI_OK = 0, CLI_FAILED = 1, CLI_USAGE = 2, CLI_BUSY = 75, CLI_WORDS = 64, CLI_ARGUMENTS = 4096 };

/* Values of an option that may be given again, in order. */
typedef struct cli_list {
  const char *items[CLI_WORDS];
  size_t count;
} cli_list;

/* What the command line said; 0, NULL and false where it said nothing. */
typedef struct cli_options {
  const char *arguments[CLI_ARGUMENTS];  /* after the command */
  size_t argument_count;                 /* all that were given, kept or not */
  cli_list edits, models;                /* --set, and --hf of sweeps */
  cli_list jobs, only, engines, ignored; /* --job, --only, --engine, --ignore, each with several names by commas */
  const char *lengths, *methods, *out, *hf, *model, *method, *csv_file, *isa, *experiments, *lines, *less, *where,
      *checkpoints, *checkpoint, *text;
  const char *layers, *criterion, *format, *precision, *position_ids, *attention_mask, *token_types, *decoder_tokens,
      *document_ids, *pixels, *attention, *rollout, *to, *inv_freq, *consumer, *shard, *shift;
  long sort;
  size_t length, threads, rounds, head_dim, last, port, reads, targets, pair; /* pair: its index plus 1 */
  double rtol, base;
  char *hf_text, *hf_file; /* owned: what --hf - has read; what --hf names */
  bool quiet, print, markdown, json, csv, quick, list, full, all, all_isa, force, help, findings, still, fresh, partial,
      manual;
} cli_options;

/* ---- commands ---------------------------------------------------------------------------------------------------- */

/* Numbers of the commands, in the order of the help. */
enum {
  CLI_RUN,
  CLI_PLAN,
  CLI_PLOT,
  CLI_REPORT,
  CLI_EXPLORE,
  CLI_TABLE,
  CLI_CHECK,
  CLI_EXPLAIN,
  CLI_COMPARE,
  CLI_CONVERT,
  CLI_SOLVE,
  CLI_LOGITS,
  CLI_LIST,
  CLI_SHOW,
  CLI_HELP,
  CLI_REPRODUCE,
  CLI_VERIFY,
  CLI_MERGE,
  CLI_BENCH,
  CLI_VERSION,
  CLI_COMMANDS
};

typedef struct cli_command {
  const char *name, *arguments, *summary;
  const char *details; /* more sentences, each line ended; "" */
  const char *examples[2];
  size_t most_arguments;
  const char *group; /* what it and those behind it are for, of the first of a group */
} cli_command;

extern const cli_command cli_commands[CLI_COMMANDS];

/* The number of the command called `word`, or -1 after a message. */
int cli_command_find(const char *word);

int cmd_run(const cli_options *options);
int cmd_merge(const cli_options *options);
int cmd_plan(const cli_options *options);
int cmd_list(const cli_options *options);
int cmd_show(const cli_options *options);
int cmd_plot(const cli_options *options);
int cmd_report(const cli_options *options);
int cmd_check(const cli_options *options);
int cmd_convert(const cli_options *options);
int cmd_explain(const cli_options *options);
int cmd_explore(const cli_options *options);
int cmd_compare(const cli_options *options);
int cmd_reproduce(const cli_options *options);
int cmd_table(const cli_options *options);
int cmd_verify(const cli_options *options);
int cmd_logits(const cli_options *options);
int cmd_bench(const cli_options *options);
int cmd_solve(const cli_options *options);
int cli_solve_setting(const cli_options *options);  /* solve setting */
int cli_solve_measured(const cli_options *options); /* the same with --checkpoint */
int cli_solve_evidence(const cli_options *options); /* solve evidence */

/* Refuses options that go with that alone. Returns an exit status, after a message. */
int cli_refuse_measuring(const cli_options *options);
int cmd_version(const cli_options *options);
int cmd_help(const cli_options *options);

/* What `ropescope help` prints: of all commands, or (0 to CLI_COMMANDS - 1) of one. Returns an exit status. */
int cli_help(void);
int cli_help_command(int command);

/* The manual page of a command, or (CLI_COMMANDS) of the program. Returns an exit status. */
int cli_manual(int command);

/* What may stand in the place of the last of some words behind "ropescope", for completion. Returns an exit status. */
int cli_complete(size_t count, char **words);

/* ---- lists ------------------------------------------------------------------------------------------------------- */

enum {
  CLI_METHODS,
  CLI_KINDS,
  CLI_SOURCES,
  CLI_TASKS,
  CLI_CHECKPOINT,
  CLI_METRICS,
  CLI_MODELS,
  CLI_ARCHITECTURES,
  CLI_DIALECTS,
  CLI_FINDINGS,
  CLI_ENGINES,
  CLI_LISTS
};

/* The lists of `ropescope list`, NULL behind the last. */
extern const char *const cli_list_words[];

/* The name of entry `i` of a list; NULL past the last. */
const char *cli_list_name(size_t list, size_t i);

/* Adds an entry to an array. */
void list_add(rs_doc *in, size_t list, size_t i);

/* Adds the parameters that a method has and another (NULL: none) has not, or gives another default; and how
 * implementations differ from it, those that differ so from every rotary method only where `general`. */
void list_add_params(rs_doc *in, const char *key, const rs_method *method, const rs_method *without);
void list_add_dialects(rs_doc *in, const char *key, const rs_method *method, bool general);

/* ---- options ----------------------------------------------------------------------------------------------------- */

/* Reads the words after a command: arguments[0] is the command itself. Returns CLI_OK, or CLI_USAGE after a message. */
int cli_options_read(int command, int count, char **arguments, cli_options *options);

/* What --hf names: a folder's config.json, or with "-" what stdin holds. Returns an exit status. */
int cli_read_hf(cli_options *options);
void cli_options_clear(cli_options *options);

/* The bytes of a file, of a folder's config.json, or of standard input ("-"), and what messages call it. Both are owned
 * by the caller, whatever is returned, and must be NULL before. */
rs_status cli_read_config(const char *word, char **name, char **data, size_t *length, rs_err *err);

/* The words of --criterion, in the order of rs_criterion. */
extern const char *const cli_criteria[];

/* The tables of `show`, NULL behind the last. */
extern const char *const cli_show_words[];

/* An option as help, manual and completion tell of it. */
typedef struct cli_option {
  const char *name, *value; /* without "--"; what its value is called, or NULL */
  const char *help;
  const char *const *words; /* what its value may be, NULL behind the last; or NULL */
} cli_option;

/* Option `index` of those that go with the command. False past the last. */
bool cli_option_at(int command, size_t index, cli_option *option);

/* The index of `word` in a NULL-terminated list, or -1 after a message: "no WHAT WORD", with the word that was meant or
 * all that there are. `word` may be NULL: it is missing. */
int cli_choose(const char *what, const char *word, const char *const *words);

/* The names in lists with commas, as they stand in --job and --only; none of an arena that has failed. */
const char *const *cli_split_names(const cli_list *lists, rs_arena *arena, size_t *count);

/* ---- messages ---------------------------------------------------------------------------------------------------- */

/* Messages on stderr, made as by rs_message; the format "%s" hands on an error's message, which keeps its lines:
 * "ropescope: ...". cli_error returns CLI_USAGE. */
int cli_error(const char *format, ...) RS_PRINTF(1, 2);
void cli_note(const cli_options *options, const char *format, ...) RS_PRINTF(2, 3);

/* Says what failed (with every problem of a config) and returns the exit status for it. */
int cli_fail(rs_status status, const rs_problems *problems, const rs_err *err);

/* What stdout is for: people, whose terminal acts on control characters; or programs, which read CSV, JSON and the like
 * byte by byte. */
typedef enum cli_form { CLI_TEXT, CLI_DATA } cli_form;

/* Writes text to stdout, CLI_TEXT spelled as by rs_text_spell, and empties it. Returns an exit status: CLI_FAILED after
 * a message when stdout takes no more. */
int cli_put(rs_text *text, cli_form form);

/* The same where all went well; else says what failed. */
int cli_answer(rs_status status, const rs_err *err, rs_text *text, cli_form form);

/* A recipe as text that lives as long as the tree. */
const char *cli_recipe(rs_doc *in, const rs_recipe *recipe);

/* What was guessed of a file, as a warning. */
void cli_note_doubt(const cli_options *options, const rs_profile *profile);

/* Which layers of a model the answer is of, where they turn in several ways, and how to ask of others. */
void cli_note_layers(const cli_options *options, const rs_profile *profile, size_t kind);

/* A field of a table: a text (borrowed), or (NULL) a number. */
typedef struct cli_cell {
  const char *text;
  double number;
} cli_cell;

/* A table: CSV, or (kept) its cells until they are written as JSON. Zero-initialise; release with cli_table_clear. */
typedef struct cli_table {
  rs_text csv;
  bool kept, failed; /* failed: no memory for a cell */
  cli_cell *cells;   /* row after row, the header first */
  size_t count, capacity, columns;
} cli_table;

void cli_table_text(cli_table *table, const char *text);
void cli_table_number(cli_table *table, double number); /* NaN: an empty field, null */

/* The header, and numbers that end a row. */
#define cli_table_header(table, ...)                                                                                   \
  cli_table_names(table, (const char *const[]){__VA_ARGS__}, sizeof((const char *[]){__VA_ARGS__}) / sizeof(char *))
#define cli_table_row(table, ...)                                                                                      \
  cli_table_numbers(table, (const double[]){__VA_ARGS__}, sizeof((double[]){__VA_ARGS__}) / sizeof(double))
void cli_table_names(cli_table *table, const char *const *names, size_t count);
void cli_table_numbers(cli_table *table, const double *numbers, size_t count);

/* Adds a kept table as an object of columns, each a list; empty texts are null. */
void cli_table_add(const cli_table *table, const char *key, rs_doc *in);
void cli_table_clear(cli_table *table);

/* ---- runs -------------------------------------------------------------------------------------------------------- */

/* The config that a command was given, checked, with the changes of --set and --lengths. Returns an exit status. */
int cli_load(const cli_options *options, const char *file, rs_experiment **experiment);

/* The same of the command's only argument, or the standing sweep of the models that --hf names and all arguments. */
int cli_load_sweep(const cli_options *options, rs_experiment **experiment);

/* Where a run goes, and what of it. */
typedef struct cli_target {
  const char *directory; /* borrowed, as all here */
  rs_sweep_shard shard;  /* this part alone, of which no files are written */
  rs_ranks *ranks;       /* that run it together; NULL: this process alone */
  bool forget;           /* what is done is not for later runs */
  bool plain;            /* the command has no --partial */
} cli_target;

/* Runs a checked config, with progress on a terminal; goes on from what an earlier run has done there, and keeps what
 * it does for later ones. Returns an exit status. */
int cli_run(const cli_options *options, const rs_experiment *experiment, const cli_target *target);

/* Refuses what does not fit: a run that the system ends has taken its hours for nothing. Returns an exit status, after
 * a message. */
int cli_check_memory(const cli_options *options, const rs_experiment *experiment, const cli_target *target,
                     const char *checkpoints);

/* Joins the ranks that mpirun has started; NULL: there are none. `shard`: a build without MPI may run a part in each.
 * Returns an exit status, after a message. */
int cli_open_ranks(const cli_options *options, bool shard, rs_ranks **ranks);

/* The part of a sweep that --shard i/n names; the whole without it. Returns an exit status, after a message. */
int cli_read_shard(const cli_options *options, rs_sweep_shard *shard);

/* results/NAME, results/NAME-i-of-n for a shard, or what --out says. Release with free(). */
char *cli_results_folder(const cli_options *options, const rs_experiment *experiment, rs_sweep_shard shard,
                         rs_err *err);

/* "checkpoints" beside the folder, or what --checkpoints says. Release with free(). */
char *cli_checkpoints_folder(const cli_options *options, const char *directory, rs_err *err);

/* Bytes as they are shown. */
double cli_mebibytes(double bytes);

/* Adds the baselines of a run: "window, unchanged (as rope)". */
void cli_put_baselines(const rs_experiment *experiment, rs_text *text);

/* What runs, but was hardly meant; and what a config that does not choose its targets or baselines gets. */
void cli_warn(const cli_options *options, const rs_experiment *experiment);

/* How a run or a merge into the folder ended well: what is said of it, pictures that are no longer true removed, the
 * table of --print. Returns an exit status. */
int cli_end_run(const cli_options *options, const rs_experiment *experiment, const char *directory,
                const rs_run_summary *summary);

/* Whether the folder may be written over: not where it holds the results of another config, unless --force. Returns an
 * exit status, after a message. */
int cli_check_folder(const cli_options *options, const rs_experiment *experiment, const char *directory);

/* From begin to end the seconds that a command takes are shown on a terminal. What says a word ends it. From the main
 * thread. */
void cli_clock_begin(const char *name);
void cli_clock_end(void);

/* The short table of a run: methods down, metrics across, at the longest length. */
int cli_print_summary(const rs_experiment *experiment, const char *directory);

/* ---- progress -------------------------------------------------------------------------------------------------- */

/* What a run shows of its progress. */

typedef struct cli_progress {
  bool terminal; /* a line that is written over; else lines, for logs */
  double shown;  /* seconds since the start at the last line of a log */
  int permille;  /* last shown on a terminal; -1: none yet */
} cli_progress;

/* What is to be written when `share` of the work is done `seconds` after the start: a text in `line` (size), or false.
 * `doing` is what the run is at, "" for nothing to be told. The time that is left stands in it once it can be told. */
bool cli_progress_line(cli_progress *progress, double seconds, double share, size_t done, size_t cells,
                       const char *doing, char *line, size_t size);

enum { CLI_DURATION = 24, CLI_DOING = 96 };

/* "rope 350/1000, loss 2.41, 88k tok/s", in few letters: the line must not be wrapped. "" behind the last step. */
void cli_training(const rs_training_report *report, char out[CLI_DOING]);

/* "1:23" (hours and minutes, rounded up), or "under a minute". */
void cli_duration(double seconds, char out[CLI_DURATION]);

/* Adds "about 2.5 s", or "about 1:23 (hours:minutes)". */
void cli_put_duration(double seconds, rs_text *text);

/* ---- conversion ------------------------------------------------------------------------------------------------ */

/* What convert and solve setting print of a conversion. */

/* The fragment, or the arguments as a shell reads them, with a new line. */
void cli_put_conversion(const rs_conversion *conversion, rs_text *text);

/* Adds whom it is for, the fragment or arguments, and notes. */
rs_status cli_add_conversion(rs_doc *in, const char *to, const rs_conversion *conversion, rs_err *err);

/* ---- check ------------------------------------------------------------------------------------------------------- */

/* One file. */
typedef struct checked_file {
  char *name;    /* as it was named; a folder's is that of its config.json. Owned. */
  char *message; /* why it could not be read; NULL: it could. Owned. */
  rs_findings findings;
  size_t ignored;       /* findings that --ignore took away */
  rs_portrait portrait; /* of what it says, where `portrayed` */
  bool portrayed;
} checked_file;

typedef struct checked_files {
  checked_file *items; /* (count,) */
  size_t count;
} checked_files;

void check_put_text(const checked_files *files, rs_text *text);
void check_put_github(const checked_files *files, rs_text *text);
rs_doc *check_json(const checked_files *files, rs_arena *arena);
rs_doc *check_sarif(const checked_files *files, rs_arena *arena);

/* ---- compare ----------------------------------------------------------------------------------------------------- */

/* The two sides and what came of comparing them. */
typedef struct outcome {
  enum { COMPARE_TURNING, COMPARE_BIASES, COMPARE_SLOPES } form; /* slopes: of one that turns nothing beside a list */
  rs_contender sides[2];
  double rtol;
  rs_difference difference;
  rs_causes causes;
  rs_layer_differences layers; /* of two models, where no kind of layers is asked for; else without items */
  rs_buffer_checks buffers;    /* of checkpoints */
  rs_kind_matches kinds;       /* of a dump beside layers that turn in several ways; else without items */
  size_t other_length;         /* where sides that are equal here part, tokens; 0: nowhere */
  rs_difference other_difference;
  rs_bias_difference biases;
  rs_slope_difference slopes;
} outcome;

void compare_put_text(const outcome *o, rs_arena *arena, rs_text *text);

/* All that is said of causes: of the sides as a whole, of each kind of layers, of each check of buffers. What holds in
 * several of these places is one line, with the places. */
typedef struct compare_cause_line {
  const char *words;
  bool *places; /* (places,) */
} compare_cause_line;

typedef struct compare_causes {
  rs_arena *arena;
  compare_cause_line *lines;
  size_t count, places;
} compare_causes;

/* Place 0 is the sides as a whole; then come kinds of layers, then checks of buffers. */
compare_causes compare_gather_causes(const outcome *o, rs_arena *arena);
void compare_put_causes(rs_text *text, const outcome *o, const compare_causes *causes, size_t place,
                        const char *indent);

/* What holds of all layers and buffers, a line, and "of full_attention, ", which the next one is of. False, and
 * nothing, where one table is all there is. */
bool compare_put_whole(rs_text *text, const outcome *o);
void compare_put_layers(rs_text *text, const outcome *o, const compare_causes *causes);
void compare_put_kinds(rs_text *text, const outcome *o);
void compare_put_buffers(rs_text *text, const outcome *o, const compare_causes *causes);

/* ---- show ------------------------------------------------------------------------------------------------------ */

/* The parts of `ropescope show`. */

/* Which layers of a model turn how and see what. Returns an exit status. */
int show_layers(const cli_options *options);

/* Adds what is said of one kind of layers: which, what they see, their recipe and geometry. */
void show_put_kind(const rs_profile *profile, size_t kind, rs_text *text);

#endif
