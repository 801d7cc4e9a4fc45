/* app/app.h: what the commands stand on, beside the rooms below: claims (published numbers beside those of a run) and
 * bench (how fast each job is here). */
#ifndef ROPESCOPE_APP_H
#define ROPESCOPE_APP_H

#include "base/base.h"
#include "run/run.h"

/* ==== what is said ============================================================================================== */

/* A command says what it found as one tree, which three writers print: a text table, Markdown, JSON. Sentences are
 * written by hand. */

typedef enum rs_doc_kind {
  RS_DOC_NULL,
  RS_DOC_TEXT,
  RS_DOC_NUMBER,
  RS_DOC_FLAG,
  RS_DOC_PARAM, /* the spec of a parameter, in arrays */
  RS_DOC_OBJECT,
  RS_DOC_ARRAY,
  RS_DOC_LIST /* an array of numbers and texts alone, on one line of JSON */
} rs_doc_kind;

/* A value, or an object or array with what stands in it, in order; all of it is in `arena`. Who builds a tree checks
 * the arena once: what cannot be added for want of memory is left out (NULL stands for such a part). */
typedef struct rs_doc {
  rs_doc_kind kind;
  const char *key, *text; /* key: NULL in arrays */
  double number;          /* of a flag 0 or 1 */
  const rs_param *param;
  struct rs_doc *first, *last, *next;
  rs_arena *arena;
} rs_doc;

rs_doc *rs_doc_new(rs_arena *arena, rs_doc_kind kind) RS_NONNULL(1);
rs_doc *rs_doc_add(rs_doc *in, const char *key, rs_doc_kind kind);

/* rs_doc_put(in, DOC_WORDS("name", name), DOC_NUMBER("heads", heads)): no text and what is not finite are null. */
typedef struct rs_doc_field {
  const char *key;
  rs_doc_kind kind;
  const char *text;
  double number;
} rs_doc_field;

#define DOC_WORDS(key, words) ((rs_doc_field){key, RS_DOC_TEXT, words, 0})
#define DOC_NUMBER(key, value) ((rs_doc_field){key, RS_DOC_NUMBER, NULL, (double)(value)})
#define DOC_FLAG(key, value) ((rs_doc_field){key, RS_DOC_FLAG, NULL, (value) ? 1 : 0})
#define rs_doc_put(in, ...)                                                                                            \
  rs_doc_fields(in, (const rs_doc_field[]){__VA_ARGS__},                                                               \
                sizeof((const rs_doc_field[]){__VA_ARGS__}) / sizeof(rs_doc_field))
void rs_doc_fields(rs_doc *in, const rs_doc_field *fields, size_t count);
void rs_doc_param(rs_doc *in, const rs_param *param);

/* The text as one that lives as long as the tree; clears it. */
const char *rs_doc_keep(rs_doc *in, rs_text *text);

/* What stands under a key, NULL: nothing; its text. */
const rs_doc *rs_doc_find(const rs_doc *in, const char *key);
const char *rs_doc_text(const rs_doc *in, const char *key);

void rs_doc_json(const rs_doc *doc, rs_text *text);

enum { RS_DOC_COLUMNS = 80, RS_DOC_LINE = 110 };

/* A column of a table whose rows are objects. */
typedef struct rs_doc_column {
  const char *key, *title;
  const char *none; /* what stands where there is nothing; NULL: "" */
  int digits;       /* of numbers; 0: as many as there are */
  bool right;       /* texts are flush right, too */
  bool wrapped;     /* the last one goes on in the next line */
  bool code;        /* in Markdown between backticks, */
  bool marked;      /* or Markdown already */
} rs_doc_column;

/* Tables of an array of objects: text, each line behind `indent` spaces; Markdown; CSV, whose header is of keys. */
void rs_doc_table(const rs_doc *rows, const rs_doc_column *columns, size_t count, size_t indent, rs_text *text);
void rs_doc_markdown(const rs_doc *rows, const rs_doc_column *columns, size_t count, rs_text *text);
void rs_doc_csv(const rs_doc *rows, const rs_doc_column *columns, size_t count, rs_text *csv);

/* Words as they read in Markdown: a bar would end a cell, and a browser takes what follows '<' for a tag. */
void rs_markdown_words(rs_text *text, const char *words);

/* Adds words that go on lines of at most `width` characters: the first line has `column` of them already, the others
 * begin with `indent` spaces. */
void rs_wrap(rs_text *text, size_t column, size_t indent, size_t width, const char *words);

/* ==== claims ==================================================================================================== */

/* What the literature says beside what a run comes to. A folder of an experiment states in expected.csv which number is
 * expected, where it comes from, and whether a run must agree with it or refute it; the check reads the CSV files of
 * that run. Its columns are key, file, column, where, expected, here, tolerance, origin, verdict, source and note
 * (experiments/README.md says what may stand in them). Published numbers in a file STEM.csv beside STEM.yaml are joined
 * to that run's rows by the columns that both have. Also small tables of such files. Nothing here runs an experiment.
 *
 * origin says whether the source prints the number (printed) or numbers whose difference has this sign (order), says
 * it without a number (stated), or prints a formula that it follows from (derived); whether the implementation that
 * runs departs from the paper; or that nobody said it (found). A printed number that is not reached is missed, an order
 * or a statement about trained models does not appear in those here, and mathematics alone is refuted. */

typedef enum rs_origin { RS_PRINTED, RS_ORDER, RS_STATED, RS_DERIVED, RS_DEPARTS, RS_FOUND, RS_ORIGINS } rs_origin;

/* From RS_MISSED on a run comes to another number than was said. */
typedef enum rs_verdict {
  RS_NO_VERDICT,
  RS_AGREES,
  RS_AGREES_WITH_DEFINITION,
  RS_MISSED,
  RS_DOES_NOT_APPEAR,
  RS_REFUTED,
  RS_VERDICTS
} rs_verdict;

typedef enum rs_relation { RS_EQUAL, RS_UNEQUAL, RS_BELOW, RS_AT_MOST, RS_ABOVE, RS_AT_LEAST } rs_relation;

/* A number that something else is held to. */
typedef struct rs_bound {
  bool stated;
  rs_relation relation;
  double number, tolerance; /* tolerance >= 0, absolute; RS_EQUAL alone */
} rs_bound;

/* One row; all text is borrowed from the rs_claims. */
typedef struct rs_claim {
  const char *key, *file, *column, *where, *expected, *source, *note;
  rs_bound claimed, here; /* `expected` and `here`, read */
  rs_origin origin;
  rs_verdict verdict;
  size_t line;                        /* of the file */
  size_t least_weights, most_weights; /* of the trained models that it is about; 0: not known */
  size_t seeds;                       /* that each was trained from */
} rs_claim;

/* The rows of one expected.csv. */
typedef struct rs_claims {
  rs_claim *items;
  size_t count;
  char *name, *text; /* of the file; owned */
  void *table;
} rs_claims;

/* Reads and checks an expected.csv. RS_INPUT "file:line: column: why (hint)", RS_IO, RS_MEMORY. Release with
 * rs_claims_free. */
rs_status rs_claims_read(const char *file, rs_claims **claims, rs_err *err) RS_NONNULL(1, 2);
void rs_claims_free(rs_claims *claims);

/* Notes with the claims about files of the config STEM.yaml (`stem` of `length` bytes; "config": about files without a
 * stem) how many weights the models of its experiment have, and from how many seeds they are trained. RS_INPUT
 * "file:line: verdict: why" where trained models are said to refute, or not to show what was said of none. RS_MEMORY.
 */
rs_status rs_claims_measure(rs_claims *claims, const char *stem, size_t length, const rs_experiment *experiment,
                            rs_err *err) RS_NONNULL(1, 2, 4);

/* How one claim came out. */
typedef struct rs_claim_result {
  double value;  /* what the run comes to; NaN: nothing */
  bool held;     /* the verdict holds */
  char why[320]; /* why it does not; "" */
  bool left_out; /* the run it reads was not asked for */
} rs_claim_result;

/* Configs whose stem ends in "full" take long and are run on request. */
bool rs_claims_is_full(const char *stem, size_t length) RS_NONNULL(1);

/* Reads the numbers of an experiment called `name` from the CSV files below `results` (results/NAME/summary.csv for
 * "summary", results/NAME-STEM/decay.csv for "STEM/decay") and judges them: findings (claims->count). What is missing
 * or ambiguous there is a finding that does not hold; what needs a full run is left out unless `full`. RS_MEMORY. */
rs_status rs_claims_check(const rs_claims *claims, const char *results, const char *name, bool full,
                          rs_claim_result *findings, rs_err *err) RS_NONNULL(1, 2, 3, 5);

/* How many claims came out how. */
typedef struct rs_tally {
  size_t held[RS_ORIGINS][RS_VERDICTS]; /* by what they are */
  size_t reasons;                       /* that refuted claims give: equal notes of one experiment are one */
  size_t differ, left_out;
} rs_tally;

/* Adds the claims of one experiment. */
void rs_tally_add(rs_tally *tally, const rs_claims *claims, const rs_claim_result *findings) RS_NONNULL(1, 2, 3);

/* Adds "printed: 3 agree, 1 with a definition, 2 missed; order: 4 agree, 1 does not appear; stated: ...": of an origin
 * the verdicts that it has, and how many agree in any case. */
void rs_tally_print(const rs_tally *tally, rs_text *text) RS_NONNULL(1, 2);

/* The table: key, expected, reproduced, difference, verdict, and below it the notes. */
void rs_claims_print(const rs_claims *claims, const rs_claim_result *findings, rs_text *text) RS_NONNULL(1, 2, 3);
void rs_claims_markdown(const rs_claims *claims, const rs_claim_result *findings, rs_text *text) RS_NONNULL(1, 2, 3);
void rs_claims_csv(const rs_claims *claims, const rs_claim_result *findings, rs_text *text) RS_NONNULL(1, 2, 3);

/* ---- small tables ------------------------------------------------------------------------------------------------ */

typedef enum rs_pivot_form { RS_PIVOT_PLAIN, RS_PIVOT_MARKDOWN, RS_PIVOT_JSON } rs_pivot_form;

/* What a small table shows; all borrowed. */
typedef struct rs_pivot_wanted {
  const char *lines; /* the column whose words are the lines: "method" */
  /* (count) "found at 128k: mean(needle_win_rate) where length_tokens=128k": title and condition may be left out, and a
   * plain column is asked for its mean. */
  const char *const *questions;
  size_t count;
  const char *where; /* for all of them; "" */
  long sort;         /* lines by that column of numbers, from 1; negative: the largest first; 0: as in the file */
  rs_pivot_form form;
  const char *less; /* the line whose numbers all are less, in paired differences; NULL: none */
} rs_pivot_wanted;

/* Reads a CSV file and adds the table to `text`; "-" (null in JSON) stands where no row has a number. RS_INPUT, RS_IO,
 * RS_MEMORY. */
rs_status rs_pivot(const char *file, const rs_pivot_wanted *wanted, rs_text *text, rs_err *err) RS_NONNULL(1, 2, 3);

/* ==== bench ===================================================================================================== */

/* How fast the library is on this machine, and how near to what the machine can do. A job is timed
 * in turns with its ceiling, in one process, so that both meet the same clock, memory and neighbours. */

/* ---- jobs -------------------------------------------------------------------------------------------------------- */

/* What bounds a job. Operations are multiplications and additions, of all threads together; bytes are those that cross
 * the memory bus if nothing is cached, read and written. */
typedef enum rs_limit { RS_LIMIT_FMA_F32, RS_LIMIT_FMA_F64, RS_LIMIT_READ, RS_LIMIT_COPY, RS_LIMITS } rs_limit;

/* "GFLOP/s" or "GB/s", of 10^9. */
const char *rs_limit_unit(rs_limit limit);

/* The name of the job that measures the limit itself. */
const char *rs_limit_name(rs_limit limit);

enum { RS_BENCH_SIZES = 2 };

/* One thing to time. */
typedef struct rs_bench_job {
  const char *name, *summary;
  rs_limit limit;
  const char *item;                                   /* what the time is also given by, as in "pair" */
  size_t threads;                                     /* 0: all there are */
  size_t full[RS_BENCH_SIZES], quick[RS_BENCH_SIZES]; /* what is counted is the family's to say */
  int variant;                                        /* the family's own */
} rs_bench_job;

/* What one run does. */
typedef struct rs_bench_work {
  double amount; /* floating-point operations or bytes, by the job's limit */
  double items;
} rs_bench_work;

/* Jobs of one file. */
typedef struct rs_bench_family {
  const char *name;
  bool on_request; /* left out unless named */
  const rs_bench_job *jobs;
  size_t job_count;
  /* Makes what a run needs (not timed), for the threads there are. *state, NULL before, is what free takes, on failure
   * too. */
  rs_status (*create)(const rs_bench_job *job, const size_t *sizes, void **state, rs_bench_work *work, rs_err *err);
  /* What is timed; may be called any number of times. */
  rs_status (*run)(void *state, rs_err *err);
  void (*free)(void *state); /* NULL is allowed */
} rs_bench_family;

/* All families, in the order in which they run. */
const rs_bench_family *const *rs_bench_families(size_t *count) RS_NONNULL(1);

/* ---- timing ------------------------------------------------------------------------------------------------------ */

typedef struct rs_bench_options {
  const char *const *names; /* of jobs and families; none: every family that is not on request */
  size_t name_count;
  size_t rounds; /* >= 1: a sample of the job between two of its ceiling each */
  bool quick;    /* small sizes and short samples: to see that all runs, not how fast */
  bool all_isa;  /* each job with every instruction set of the machine, best first */
  /* Called before each job, from the calling thread; may be NULL. */
  void (*progress)(void *context, const rs_bench_job *job, size_t done, size_t jobs);
  void *context;
} rs_bench_options;

/* What was measured of one job. Medians are over the rounds in which other processes left the CPUs alone; where there
 * is none, over all. A contended round is run again, `rounds` times at most. */
typedef struct rs_bench_row {
  const rs_bench_job *job;
  const char *isa;
  size_t threads;
  double seconds, seconds_best;   /* of one run: median, least */
  double rate, ceiling_rate;      /* medians, in rs_limit_unit */
  double fraction, fraction_best; /* median of each round's own; of the best of each */
  double nanoseconds;             /* per item, by the median */
  double others;                  /* CPUs that other processes kept busy; NaN: unknown */
  size_t rounds, contended;       /* all that were run; of those, with others at work */
} rs_bench_row;

/* Whether every round was contended, so that the numbers say little. */
bool rs_bench_row_doubtful(const rs_bench_row *row) RS_NONNULL(1);

/* Runs jobs one after the other, with the instruction set in use, or with all: the rows of a job then stand together,
 * and the set in use is another meanwhile, but the same afterwards. RS_INPUT for a name that is no job and no family;
 * RS_MEMORY, or what a job fails with. Release *rows with free(). */
rs_status rs_bench_run(const rs_bench_options *options, rs_bench_row **rows, size_t *count, rs_err *err)
    RS_NONNULL(1, 2, 3);

/* Header and rows as CSV. */
void rs_bench_write(const rs_bench_row *rows, size_t count, rs_text *csv) RS_NONNULL(3);

#endif
