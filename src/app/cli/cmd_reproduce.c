/* ropescope reproduce: runs the experiments that compare with the literature, and checks what comes out. */
#include "cli.h"

#include "pages/pages.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LARGEST_PAGE = 1 << 20 };

typedef struct names {
  char **items; /* owned, in order */
  size_t count, capacity;
} names;

/* ---- what there is ----------------------------------------------------------------------------------------------- */

static void clear_names(names *list) {
  for (size_t i = 0; i < list->count; i++) free(list->items[i]);
  free(list->items);
  *list = (names){0};
}

static int compare_names(const void *a, const void *b) {
  return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The entries of `directory` that `wanted` takes, sorted. */
static rs_status list_entries(const char *directory,
                              bool (*wanted)(const char *directory, const char *name, rs_err *err), names *list,
                              rs_err *err) {
  DIR *folder = opendir(directory);
  rs_status status = RS_OK;
  if (folder == NULL)
    return rs_fail(err, RS_INPUT, "no folder %s (--experiments or ROPESCOPE_DATADIR says where it is)", directory);
  for (struct dirent *entry; status == RS_OK && (entry = readdir(folder)) != NULL;) {
    rs_err why = {0};
    bool found = wanted(directory, entry->d_name, &why);
    if (why.status != RS_OK) status = rs_fail(err, why.status, "%s", why.message);
    if (!found) continue;
    status = RS_GROW(list->items, &list->capacity, list->count + 1, err);
    if (status != RS_OK) break;
    list->items[list->count] = rs_strdup(entry->d_name, err);
    status = list->items[list->count] != NULL ? RS_OK : RS_MEMORY;
    list->count += status == RS_OK;
  }
  closedir(folder);
  if (list->count > 0) qsort(list->items, list->count, sizeof *list->items, compare_names);
  return status;
}

static bool is_experiment(const char *directory, const char *name, rs_err *err) {
  rs_text path = {0};
  if (*name == '.') return false;
  rs_text_printf(&path, "%s/%s/expected.csv", directory, name);
  bool found = rs_text_check(&path, err) == RS_OK && access(rs_text_string(&path), F_OK) == 0;
  rs_text_clear(&path);
  return found;
}

static bool is_config(const char *directory, const char *name, rs_err *err) {
  size_t length = strlen(name);
  (void)directory;
  (void)err;
  return length > 5 && strcmp(name + length - 5, ".yaml") == 0;
}

static rs_status find_experiments(const char *root, names *list, rs_err *err) {
  RS_TRY(list_entries(root, is_experiment, list, err));
  if (list->count > 0) return RS_OK;
  return rs_fail(err, RS_INPUT, "%s holds no experiment: none of its folders has an expected.csv", root);
}

/* The first heading of an experiment's page, "" without one. */
static void put_title(const char *root, const char *name, rs_text *text) {
  rs_text path = {0};
  char *page = NULL;
  size_t length;
  rs_text_printf(&path, "%s/%s/README.md", root, name);
  rs_status status = path.failed ? RS_MEMORY : rs_file_read(rs_text_string(&path), LARGEST_PAGE, &page, &length, NULL);
  if (status == RS_OK && strncmp(page, "# ", 2) == 0) rs_text_add(text, page + 2, strcspn(page + 2, "\r\n"));
  text->failed |= status == RS_MEMORY;
  free(page);
  rs_text_clear(&path);
}

static bool is_asked_for(const cli_options *options, const char *name) {
  for (size_t i = 0; i < options->argument_count; i++)
    if (strcmp(options->arguments[i], name) == 0) return true;
  return options->argument_count == 0;
}

/* expected.csv of one experiment. */
static int read_claims(const char *root, const char *name, rs_claims **claims) {
  rs_err err = {0};
  rs_text path = {0};
  rs_text_printf(&path, "%s/%s/expected.csv", root, name);
  rs_status status = rs_text_check(&path, &err);
  if (status == RS_OK) status = rs_claims_read(rs_text_string(&path), claims, &err);
  rs_text_clear(&path);
  return status == RS_OK ? CLI_OK : cli_fail(status, NULL, &err);
}

/* Adds the claims of an experiment as if all held: what its expected.csv says. */
static int count_claims(const char *root, const char *name, rs_tally *total) {
  rs_err err = {0};
  rs_claims *claims = NULL;
  int code = read_claims(root, name, &claims);
  if (code != CLI_OK) return code;
  rs_claim_result *findings = rs_alloc(claims->count, sizeof *findings, &err);
  for (size_t i = 0; i < claims->count && findings != NULL; i++) findings[i].held = true;
  if (findings != NULL)
    rs_tally_add(total, claims, findings);
  else
    code = cli_fail(RS_MEMORY, NULL, &err);
  free(findings);
  rs_claims_free(claims);
  return code;
}

static void put_tally(const cli_options *options, size_t experiments, const rs_tally *total) {
  rs_text text = {0};
  rs_tally_print(total, &text);
  cli_note(options, "experiments: %zu; %s", experiments, rs_text_string(&text));
  rs_text_clear(&text);
}

static int list_experiments(const cli_options *options, const char *root, const names *all) {
  rs_text text = {0};
  rs_tally total = {0};
  size_t listed = 0;
  int code = CLI_OK;
  for (size_t i = 0; i < all->count && code == CLI_OK; i++) {
    if (!is_asked_for(options, all->items[i])) continue;
    size_t line = text.length;
    rs_text_printf(&text, "%-28s ", all->items[i]);
    put_title(root, all->items[i], &text);
    rs_text_end_line(&text, line);
    code = count_claims(root, all->items[i], &total);
    listed++;
  }
  if (cli_put(&text, CLI_TEXT) != CLI_OK) return CLI_FAILED;
  if (code == CLI_OK) put_tally(options, listed, &total);
  return code;
}

/* ---- one experiment ---------------------------------------------------------------------------------------------- */

/* Pictures of what there is to draw; a file without any is none's fault. */
static void draw(const char *directory) {
  rs_plot_report report = {0};
  rs_err why = {0};
  if (rs_plot_results(directory, NULL, &report, &why) != RS_OK)
    cli_error("%s: no pictures: %s", directory, why.message);
  rs_plot_report_clear(&report);
}

/* config.yaml is called as its folder, STEM.yaml as FOLDER-STEM, so that results stand where `run` puts them. */
static int check_name(const rs_experiment *experiment, const char *file, const char *name, size_t stem,
                      const char *config) {
  rs_err err = {0};
  rs_text wanted = {0};
  bool only = stem == 6 && strncmp(config, "config", 6) == 0;
  rs_text_puts(&wanted, name);
  if (!only) rs_text_printf(&wanted, "-%.*s", (int)stem, config);
  rs_status status = rs_text_check(&wanted, &err);
  int code = status == RS_OK ? CLI_OK : cli_fail(status, NULL, &err);
  if (code == CLI_OK && strcmp(rs_text_string(&wanted), experiment->name) != 0) {
    cli_error("%s: name: is %s, but must be %s (config.yaml is named as its folder, STEM.yaml FOLDER-STEM)", file,
              experiment->name, rs_text_string(&wanted));
    code = CLI_USAGE;
  }
  rs_text_clear(&wanted);
  return code;
}

/* Runs one config, or only checks it when `results` is NULL. */
static int run_config(const cli_options *options, const char *root, const char *results, const char *name,
                      const char *config) {
  rs_experiment *experiment = NULL;
  rs_err err = {0};
  rs_text file = {0};
  char *directory = NULL;
  size_t stem = strlen(config) - 5;
  if (!options->full && rs_claims_is_full(config, stem)) return CLI_OK;
  rs_text_printf(&file, "%s/%s/%s", root, name, config);
  rs_status status = rs_text_check(&file, &err);
  int code = status == RS_OK ? cli_load(options, rs_text_string(&file), &experiment) : cli_fail(status, NULL, &err);
  if (code == CLI_OK) code = check_name(experiment, rs_text_string(&file), name, stem, config);
  if (code == CLI_OK && results != NULL) {
    directory = rs_path_join(results, experiment->name, &err);
    code = directory != NULL ? cli_run(options, experiment, &(cli_target){.directory = directory, .forget = true})
                             : cli_fail(RS_MEMORY, NULL, &err);
    if (code == CLI_OK) draw(directory);
  }
  free(directory);
  rs_text_clear(&file);
  rs_experiment_free(experiment);
  return code;
}

/* The configs of an experiment. */
static int list_configs(const char *root, const char *name, names *configs) {
  rs_err err = {0};
  rs_text folder = {0};
  rs_text_printf(&folder, "%s/%s", root, name);
  rs_status status = rs_text_check(&folder, &err);
  if (status == RS_OK) status = list_entries(rs_text_string(&folder), is_config, configs, &err);
  rs_text_clear(&folder);
  return status == RS_OK ? CLI_OK : cli_fail(status, NULL, &err);
}

static int run_configs(const cli_options *options, const char *root, const char *results, const char *name) {
  names configs = {0};
  int code = list_configs(root, name, &configs);
  for (size_t i = 0; i < configs.count && code == CLI_OK; i++)
    code = run_config(options, root, results, name, configs.items[i]);
  clear_names(&configs);
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

/* Configs can be run, and what is claimed comes from them. */
static int check_configs(const cli_options *options, const char *root, const char *name, const rs_claims *claims) {
  names configs = {0};
  int code = list_configs(root, name, &configs);
  for (size_t i = 0; i < claims->count && code == CLI_OK; i++) code = check_source(claims, &claims->items[i], &configs);
  for (size_t i = 0; i < configs.count && code == CLI_OK; i++)
    code = run_config(options, root, NULL, name, configs.items[i]);
  clear_names(&configs);
  return code;
}

/* The table on stdout, and as CSV beside what was run. */
static int report(const cli_options *options, const rs_claims *claims, const rs_claim_result *findings,
                  const char *root, const char *results, const char *name) {
  rs_text text = {0}, csv = {0}, path = {0};
  rs_err err = {0};
  char *directory = rs_path_join(results, name, &err);
  rs_text_printf(&text, options->markdown ? "## %s: " : "%s: ", name);
  put_title(root, name, &text);
  rs_text_end_line(&text, 0);
  rs_text_puts(&text, "\n");
  (options->markdown ? rs_claims_markdown : rs_claims_print)(claims, findings, &text);
  rs_text_puts(&text, "\n");
  rs_claims_csv(claims, findings, &csv);
  rs_text_printf(&path, "%s/%s/reproduced.csv", results, name);
  rs_status status = directory != NULL ? rs_make_directories(directory, &err) : RS_MEMORY;
  if (status == RS_OK) status = rs_text_check(&csv, &err);
  if (status == RS_OK) status = rs_text_check(&path, &err);
  if (status == RS_OK) status = rs_file_write(rs_text_string(&path), rs_text_string(&csv), csv.length, &err);
  int put = cli_put(&text, CLI_TEXT);
  free(directory);
  rs_text_clear(&csv);
  rs_text_clear(&path);
  return status != RS_OK ? cli_fail(status, NULL, &err) : put;
}

static int check(const cli_options *options, const rs_claims *claims, const char *root, const char *results,
                 const char *name, rs_tally *total) {
  rs_err err = {0};
  rs_claim_result *findings = rs_alloc(claims->count, sizeof *findings, &err);
  rs_status status =
      findings != NULL ? rs_claims_check(claims, results, name, options->full, findings, &err) : RS_MEMORY;
  int code = status == RS_OK ? report(options, claims, findings, root, results, name) : cli_fail(status, NULL, &err);
  if (code == CLI_OK) rs_tally_add(total, claims, findings);
  free(findings);
  return code;
}

/* ---- all of them ------------------------------------------------------------------------------------------------- */

static int check_arguments(const cli_options *options, const names *all) {
  for (size_t i = 0; i < options->argument_count; i++) {
    const char *word = options->arguments[i];
    bool known = false;
    for (size_t k = 0; k < all->count; k++) known |= strcmp(all->items[k], word) == 0;
    if (known) continue;
    const char *slash = strrchr(word, '/'); /* experiments/NAME */
    const char *near =
        rs_suggest(slash != NULL && slash[1] != '\0' ? slash + 1 : word, (const char *const *)all->items, all->count);
    if (near != NULL) return cli_error("no experiment %s (did you mean %s?)", word, near);
    return cli_error("no experiment %s (ropescope reproduce --list shows them)", word);
  }
  return CLI_OK;
}

/* Every expected.csv and config is read before the first run: a slip in one is told at once. */
static int reproduce(const cli_options *options, const char *root, const char *results, const names *all,
                     rs_tally *total) {
  rs_err err = {0};
  rs_claims **claims = rs_alloc(all->count, sizeof *claims, &err);
  int code = claims != NULL ? CLI_OK : cli_fail(RS_MEMORY, NULL, &err);
  for (size_t i = 0; i < all->count && code == CLI_OK; i++)
    if (is_asked_for(options, all->items[i])) code = read_claims(root, all->items[i], &claims[i]);
  for (size_t i = 0; i < all->count && code == CLI_OK; i++)
    if (claims[i] != NULL) code = check_configs(options, root, all->items[i], claims[i]);
  for (size_t i = 0; i < all->count && code == CLI_OK; i++) {
    if (claims[i] == NULL) continue;
    code = run_configs(options, root, results, all->items[i]);
    if (code == CLI_OK) code = check(options, claims[i], root, results, all->items[i], total);
  }
  for (size_t i = 0; i < all->count && claims != NULL; i++) rs_claims_free(claims[i]);
  free(claims);
  return code;
}

static int conclude(const cli_options *options, size_t experiments, const rs_tally *total) {
  put_tally(options, experiments, total);
  if (total->differ == 0) return CLI_OK;
  cli_error("numbers that differ from what is expected: %zu (marked DIFFERS)", total->differ);
  return CLI_FAILED;
}

/* Where the experiments are: what --experiments says, the folder of that name here if it holds any, or those that came
 * with the program. Owned by the caller; NULL after a message. */
static char *find_root(const cli_options *options) {
  static const char here[] = "experiments";
  rs_err err = {0};
  names all = {0};
  char *root = NULL;
  if (options->experiments != NULL) {
    root = rs_strdup(options->experiments, &err);
  } else if (find_experiments(here, &all, NULL) == RS_OK ||
             (rs_data_find(here, &root, &err) == RS_OK && root == NULL)) {
    root = rs_strdup(here, &err); /* where there are none at all, so that messages name it */
  }
  clear_names(&all);
  if (root == NULL) (void)cli_fail(RS_MEMORY, NULL, &err);
  return root;
}

int cmd_reproduce(const cli_options *options) {
  const char *results = options->out != NULL ? options->out : "results";
  names all = {0};
  rs_tally total = {0};
  rs_err err = {0};
  char *root = find_root(options);
  if (root == NULL) return CLI_FAILED;
  rs_status status = find_experiments(root, &all, &err);
  int code = status == RS_OK ? check_arguments(options, &all) : cli_fail(status, NULL, &err);
  if (code == CLI_OK && options->list)
    code = list_experiments(options, root, &all);
  else if (code == CLI_OK) {
    code = reproduce(options, root, results, &all, &total);
    size_t experiments = 0;
    for (size_t i = 0; i < all.count; i++) experiments += is_asked_for(options, all.items[i]);
    if (code == CLI_OK) code = conclude(options, experiments, &total);
  }
  clear_names(&all);
  free(root);
  return code;
}
