/* ropescope reproduce: runs the experiments that compare with the literature, and checks what comes out. */
#include "cli.h"

#include "pages/pages.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LARGEST_PAGE = 1 << 20 };

/* What one call is about; names and paths are in `arena`. */
typedef struct request {
  const cli_options *options;
  const char *root, *results; /* folders of experiments and of results */
  rs_arena arena;
  rs_tally total;
} request;

typedef struct names {
  const char **items; /* in order; of experiments GROUP/NAME, or NAME */
  size_t count;
} names;

/* ---- what there is ----------------------------------------------------------------------------------------------- */

/* The name of GROUP/NAME. */
static const char *base_of(const char *item) {
  const char *slash = strrchr(item, '/');
  return slash != NULL ? slash + 1 : item;
}

/* "FOLDER/NAME/FILE" or "FOLDER/NAME"; "" for want of memory, which the arena tells. */
static const char *path_of(rs_arena *arena, const char *folder, const char *name, const char *file) {
  RS_OWNED(rs_text) path = {0};
  rs_text_printf(&path, "%s/%s%s%s", folder, name, file != NULL ? "/" : "", file != NULL ? file : "");
  const char *kept = rs_arena_text(arena, rs_text_string(&path));
  arena->failed |= path.failed;
  return kept != NULL ? kept : "";
}

static bool is_experiment(rs_arena *arena, const char *root, const char *name) {
  return *name != '.' && access(path_of(arena, root, name, "expected.csv"), F_OK) == 0;
}

/* Whether it is a folder of experiments. */
static bool is_group(rs_arena *arena, const char *root, const char *name) {
  struct stat info;
  if (*name == '.' || is_experiment(arena, root, name)) return false;
  return stat(path_of(arena, root, name, NULL), &info) == 0 && S_ISDIR(info.st_mode);
}

static bool is_config(rs_arena *arena, const char *folder, const char *name) {
  size_t length = strlen(name);
  (void)arena;
  (void)folder;
  return length > 5 && strcmp(name + length - 5, ".yaml") == 0;
}

/* The entries of a folder that `wanted` takes, sorted. */
static rs_status list_entries(rs_arena *arena, const char *folder,
                              bool (*wanted)(rs_arena *arena, const char *folder, const char *name), names *list,
                              rs_err *err) {
  struct dirent **entries;
  int count = scandir(folder, &entries, NULL, alphasort);
  if (count < 0)
    return rs_fail(err, RS_INPUT, "no folder %s (--experiments or ROPESCOPE_DATADIR says where it is)", folder);
  *list = (names){.items = rs_arena_take(arena, (size_t)count, sizeof *list->items)};
  for (int i = 0; i < count; i++) {
    if (list->items != NULL && wanted(arena, folder, entries[i]->d_name))
      list->items[list->count++] = rs_arena_text(arena, entries[i]->d_name);
    free(entries[i]);
  }
  free(entries);
  return rs_arena_check(arena, err);
}

/* Adds those of a group. */
static rs_status add_group(rs_arena *arena, const char *root, const char *group, names *list, rs_err *err) {
  names found = {0};
  RS_TRY(list_entries(arena, path_of(arena, root, group, NULL), is_experiment, &found, err));
  const char **both = rs_arena_take(arena, list->count + found.count + 1, sizeof *both);
  RS_TRY(rs_arena_check(arena, err));
  memcpy(both, list->items, list->count * sizeof *both);
  for (size_t i = 0; i < found.count; i++) both[list->count + i] = path_of(arena, group, found.items[i], NULL);
  *list = (names){both, list->count + found.count};
  return rs_arena_check(arena, err);
}

static rs_status find_experiments(rs_arena *arena, const char *root, names *list, rs_err *err) {
  names groups = {0};
  RS_TRY(list_entries(arena, root, is_experiment, list, err));
  RS_TRY(list_entries(arena, root, is_group, &groups, err));
  for (size_t i = 0; i < groups.count; i++) RS_TRY(add_group(arena, root, groups.items[i], list, err));
  if (list->count > 0) return RS_OK;
  return rs_fail(err, RS_INPUT, "%s holds no experiment: none of its folders has an expected.csv", root);
}

/* The first heading of an experiment's page, "" without one. */
static void put_title(request *r, const char *name, rs_text *text) {
  RS_FREED char *page = NULL;
  size_t length;
  rs_status status = rs_file_read(path_of(&r->arena, r->root, name, "README.md"), LARGEST_PAGE, &page, &length, NULL);
  if (status == RS_OK && strncmp(page, "# ", 2) == 0) rs_text_add(text, page + 2, strcspn(page + 2, "\r\n"));
  text->failed |= status == RS_MEMORY || r->arena.failed;
}

static bool is_asked_for(const request *r, const char *name) {
  for (size_t i = 0; i < r->options->argument_count; i++)
    if (strcmp(r->options->arguments[i], base_of(name)) == 0 || strcmp(r->options->arguments[i], name) == 0)
      return true;
  return r->options->argument_count == 0;
}

/* expected.csv of one experiment. */
static rs_status read_claims(request *r, const char *name, rs_claims **claims, rs_err *err) {
  const char *path = path_of(&r->arena, r->root, name, "expected.csv");
  RS_TRY(rs_arena_check(&r->arena, err));
  return rs_claims_read(path, claims, err);
}

/* Adds the claims of an experiment as if all held: what its expected.csv says. */
static rs_status count_claims(request *r, const char *name, rs_err *err) {
  rs_claims *claims;
  RS_TRY(read_claims(r, name, &claims, err));
  rs_claim_result *findings = rs_arena_take(&r->arena, claims->count, sizeof *findings);
  for (size_t i = 0; i < claims->count && findings != NULL; i++) findings[i].held = true;
  if (findings != NULL) rs_tally_add(&r->total, claims, findings);
  rs_claims_free(claims);
  return rs_arena_check(&r->arena, err);
}

static void put_tally(const request *r, size_t experiments) {
  RS_OWNED(rs_text) text = {0};
  rs_tally_print(&r->total, &text);
  cli_note(r->options, "experiments: %zu; %s", experiments, rs_text_string(&text));
}

static int list_experiments(request *r, const names *all) {
  rs_text text = {0};
  rs_err err = {0};
  rs_status status = RS_OK;
  size_t listed = 0;
  for (size_t i = 0; i < all->count && status == RS_OK; i++) {
    if (!is_asked_for(r, all->items[i])) continue;
    size_t line = text.length;
    rs_text_printf(&text, "%-28s ", base_of(all->items[i]));
    put_title(r, all->items[i], &text);
    rs_text_end_line(&text, line);
    status = count_claims(r, all->items[i], &err);
    listed++;
  }
  if (cli_put(&text, CLI_TEXT) != CLI_OK) return CLI_FAILED;
  if (status != RS_OK) return cli_fail(status, NULL, &err);
  put_tally(r, listed);
  return CLI_OK;
}

/* ---- one experiment ---------------------------------------------------------------------------------------------- */

/* Pictures of what there is to draw; a file without any is none's fault. */
static void draw(const char *directory) {
  RS_OWNED(rs_plot_report) report = {0};
  rs_err why = {0};
  if (rs_plot_results(directory, NULL, &report, &why) != RS_OK)
    cli_error("%s: no pictures: %s", directory, why.message);
}

/* config.yaml is called as its folder, STEM.yaml as FOLDER-STEM, so that results stand where `run` puts them. */
static int check_name(const rs_experiment *experiment, const char *file, const char *name, size_t stem,
                      const char *config) {
  size_t length = strlen(name);
  bool only = stem == 6 && strncmp(config, "config", 6) == 0;
  const char *rest = strncmp(experiment->name, name, length) == 0 ? experiment->name + length : NULL;
  bool right =
      rest != NULL &&
      (only ? *rest == '\0' : *rest == '-' && strlen(rest + 1) == stem && strncmp(rest + 1, config, stem) == 0);
  if (right) return CLI_OK;
  return cli_error("%s: name: is %s, but must be %s%s%.*s (config.yaml is named as its folder, STEM.yaml FOLDER-STEM)",
                   file, experiment->name, name, only ? "" : "-", only ? 0 : (int)stem, config);
}

/* Reads a config. One that is run with --full alone may lack a text that is made for it: without the flag it is then
 * as if it were not there. */
static int load(request *r, const char *file, bool left_out, rs_experiment **experiment) {
  rs_problems problems = {0};
  rs_err err = {0};
  if (!left_out) return cli_load(r->options, file, experiment);
  rs_status status = rs_config_load(file, (rs_config_edits){0}, experiment, &problems, &err);
  rs_problems_clear(&problems);
  return status == RS_MEMORY ? cli_fail(status, NULL, &err) : CLI_OK;
}

/* Runs one config, or (run: false) only checks it with the claims about it. */
static int take_config(request *r, const char *name, const char *config, rs_claims *claims, bool run) {
  RS_HELD(rs_experiment) experiment = NULL;
  rs_err err = {0};
  size_t stem = strlen(config) - 5;
  const char *file = path_of(&r->arena, r->root, name, config);
  bool left_out = !r->options->full && rs_claims_is_full(config, stem);
  if (left_out && run) return CLI_OK;
  rs_status status = rs_arena_check(&r->arena, &err);
  int code = status == RS_OK ? load(r, file, left_out, &experiment) : cli_fail(status, NULL, &err);
  if (code != CLI_OK || experiment == NULL) return code;
  code = check_name(experiment, file, base_of(name), stem, config);
  if (code == CLI_OK && !run) {
    status = rs_claims_measure(claims, config, stem, experiment, &err);
    if (status != RS_OK) code = cli_fail(status, NULL, &err);
  }
  if (code == CLI_OK && run) {
    const char *directory = path_of(&r->arena, r->results, experiment->name, NULL);
    status = rs_arena_check(&r->arena, &err);
    code = status == RS_OK ? cli_run(r->options, experiment, &(cli_target){.directory = directory, .forget = true})
                           : cli_fail(status, NULL, &err);
    if (code == CLI_OK) draw(directory);
  }
  return code;
}

/* Whether the config is there that a claim's file comes from: config.yaml of "summary", STEM.yaml of "STEM/summary". A
 * file that an earlier run has left would otherwise be judged in its place. */
static int check_source(const rs_claims *claims, const rs_claim *claim, const names *configs) {
  const char *slash = strrchr(claim->file, '/');
  int stem = slash != NULL ? (int)(slash - claim->file) : 6;
  const char *name = slash != NULL ? claim->file : "config";
  for (size_t i = 0; i < configs->count; i++) {
    const char *config = configs->items[i];
    if (strlen(config) == (size_t)stem + 5 && strncmp(config, name, (size_t)stem) == 0) return CLI_OK;
  }
  return cli_error("%s:%zu: file: %s would come from %.*s.yaml, and there is none in this folder", claims->name,
                   claim->line, claim->file, stem, name);
}

/* Runs the configs of an experiment; or sees that they can be run, and that what is claimed comes from them. */
static int take_configs(request *r, const char *name, rs_claims *claims, bool run) {
  names configs = {0};
  rs_err err = {0};
  rs_status status = list_entries(&r->arena, path_of(&r->arena, r->root, name, NULL), is_config, &configs, &err);
  int code = status == RS_OK ? CLI_OK : cli_fail(status, NULL, &err);
  for (size_t i = 0; i < claims->count && code == CLI_OK && !run; i++)
    code = check_source(claims, &claims->items[i], &configs);
  for (size_t i = 0; i < configs.count && code == CLI_OK; i++)
    code = take_config(r, name, configs.items[i], claims, run);
  return code;
}

/* The table on stdout, and as CSV beside what was run. */
static int report(request *r, const rs_claims *claims, const rs_claim_result *findings, const char *name) {
  rs_text text = {0}, csv = {0};
  rs_err err = {0};
  bool markdown = r->options->markdown;
  const char *directory = path_of(&r->arena, r->results, base_of(name), NULL);
  const char *file = path_of(&r->arena, r->results, base_of(name), "reproduced.csv");
  rs_text_printf(&text, markdown ? "## %s: " : "%s: ", base_of(name));
  put_title(r, name, &text);
  rs_text_end_line(&text, 0);
  rs_text_puts(&text, "\n");
  (markdown ? rs_claims_markdown : rs_claims_print)(claims, findings, &text);
  rs_text_puts(&text, "\n");
  rs_claims_csv(claims, findings, &csv);
  rs_status status = rs_arena_check(&r->arena, &err);
  if (status == RS_OK) status = rs_make_directories(directory, &err);
  if (status == RS_OK) status = rs_text_check(&csv, &err);
  if (status == RS_OK) status = rs_file_write(file, rs_text_string(&csv), csv.length, &err);
  int put = cli_put(&text, CLI_TEXT);
  rs_text_clear(&csv);
  return status != RS_OK ? cli_fail(status, NULL, &err) : put;
}

static int check(request *r, const rs_claims *claims, const char *name) {
  rs_err err = {0};
  rs_claim_result *findings = rs_arena_take(&r->arena, claims->count, sizeof *findings);
  rs_status status = rs_arena_check(&r->arena, &err);
  if (status == RS_OK) status = rs_claims_check(claims, r->results, base_of(name), r->options->full, findings, &err);
  int code = status == RS_OK ? report(r, claims, findings, name) : cli_fail(status, NULL, &err);
  if (code == CLI_OK) rs_tally_add(&r->total, claims, findings);
  return code;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static int check_arguments(const cli_options *options, const names *all) {
  for (size_t i = 0; i < options->argument_count; i++) {
    const char *word = options->arguments[i];
    bool known = false;
    rs_nearest nearest = {.word = *base_of(word) != '\0' ? base_of(word) : word}; /* of experiments/NAME */
    for (size_t k = 0; k < all->count; k++) {
      known |= strcmp(all->items[k], word) == 0 || strcmp(base_of(all->items[k]), word) == 0;
      rs_nearest_add(&nearest, base_of(all->items[k]));
    }
    if (known) continue;
    const char *near = rs_nearest_found(&nearest);
    if (near != NULL) return cli_error("no experiment %s (did you mean %s?)", word, near);
    return cli_error("no experiment %s (ropescope reproduce --list shows them)", word);
  }
  return CLI_OK;
}

/* Every expected.csv and config is read before the first run: a slip in one is told at once. */
static int reproduce(request *r, const names *all) {
  rs_err err = {0};
  rs_claims **claims = rs_arena_take(&r->arena, all->count, sizeof *claims);
  rs_status status = rs_arena_check(&r->arena, &err);
  for (size_t i = 0; i < all->count && status == RS_OK; i++)
    if (is_asked_for(r, all->items[i])) status = read_claims(r, all->items[i], &claims[i], &err);
  int code = status == RS_OK ? CLI_OK : cli_fail(status, NULL, &err);
  for (size_t i = 0; i < all->count && code == CLI_OK; i++)
    if (claims[i] != NULL) code = take_configs(r, all->items[i], claims[i], false);
  for (size_t i = 0; i < all->count && code == CLI_OK; i++) {
    if (claims[i] == NULL) continue;
    code = take_configs(r, all->items[i], claims[i], true);
    if (code == CLI_OK) code = check(r, claims[i], all->items[i]);
  }
  size_t experiments = 0;
  for (size_t i = 0; i < all->count && claims != NULL; i++) {
    experiments += claims[i] != NULL;
    rs_claims_free(claims[i]);
  }
  if (code != CLI_OK) return code;
  put_tally(r, experiments);
  if (r->total.differ == 0) return CLI_OK;
  cli_error("numbers that differ from what is expected: %zu (marked DIFFERS)", r->total.differ);
  return CLI_FAILED;
}

/* Where the experiments are: what --experiments says, the folder of that name here if it holds any, or those that came
 * with the program; where there are none at all, the folder here, so that messages name it. */
static rs_status find_root(request *r, rs_err *err) {
  static const char here[] = "experiments";
  names all = {0};
  RS_FREED char *installed = NULL;
  r->root = r->options->experiments != NULL ? r->options->experiments : here;
  if (r->options->experiments != NULL || find_experiments(&r->arena, here, &all, NULL) == RS_OK) return RS_OK;
  RS_TRY(rs_data_find(here, &installed, err));
  if (installed != NULL) r->root = rs_arena_text(&r->arena, installed);
  return rs_arena_check(&r->arena, err);
}

int cmd_reproduce(const cli_options *options) {
  request r = {.options = options, .results = options->out != NULL ? options->out : "results"};
  names all = {0};
  rs_err err = {0};
  rs_status status = find_root(&r, &err);
  if (status == RS_OK) status = find_experiments(&r.arena, r.root, &all, &err);
  int code = status == RS_OK ? check_arguments(options, &all) : cli_fail(status, NULL, &err);
  if (code == CLI_OK) code = options->list ? list_experiments(&r, &all) : reproduce(&r, &all);
  rs_arena_clear(&r.arena);
  return code;
}
