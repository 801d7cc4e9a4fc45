/* test_config.c: configs, from text to cells. Messages are compared whole, since they are what a user sees; every error
 * class of the program's promise stands in one of the tables. */
#include <criterion/criterion.h>
#include <glob.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "ropescope/sweep.h"

#define LLAMA "model: llama-2-7b\n"

/* ---- helpers ----------------------------------------------------------------------------------------------------- */

typedef struct wrong {
  const char *yaml, *message;
} wrong;

/* What reading a config gave. */
typedef struct reading {
  rs_experiment *experiment;
  rs_problems problems;
  rs_err err;
} reading;

static reading read_edited(const char *yaml, const char *const *edits, size_t count) {
  reading got = {0};
  rs_status status =
      rs_config_read(yaml, "t.yaml", (rs_config_edits){edits, count}, &got.experiment, &got.problems, &got.err);
  cr_assert_eq(status, got.err.status, "%s", yaml);
  cr_assert_eq(status == RS_OK, got.experiment != NULL, "%s", yaml);
  return got;
}

static void reading_clear(reading *got) {
  rs_experiment_free(got->experiment);
  rs_problems_clear(&got->problems);
}

/* The problems where there are any, else the error. */
static const char *message_of(const reading *got) {
  return got->problems.count > 0 ? rs_text_string(&got->problems.text) : got->err.message;
}

static void expect_message(const char *yaml, const char *const *edits, size_t count, const char *message) {
  reading got = read_edited(yaml, edits, count);
  cr_expect_eq(got.err.status, RS_INPUT, "%s%s: status %d", yaml, count > 0 ? edits[0] : "", (int)got.err.status);
  cr_expect_str_eq(message_of(&got), message, "%s%s\ngot:  %s\nwant: %s", yaml, count > 0 ? edits[0] : "",
                   message_of(&got), message);
  reading_clear(&got);
}

static void expect_messages(const wrong *cases, size_t count) {
  for (size_t i = 0; i < count; i++) expect_message(cases[i].yaml, NULL, 0, cases[i].message);
}

/* An experiment that must be right. Release with rs_experiment_free. */
static rs_experiment *good_edited(const char *yaml, const char *const *edits, size_t count) {
  reading got = read_edited(yaml, edits, count);
  cr_assert_eq(got.err.status, RS_OK, "%s: %s", yaml, message_of(&got));
  cr_assert_eq(got.problems.count, 0);
  rs_problems_clear(&got.problems);
  return got.experiment;
}

static rs_experiment *good(const char *yaml) {
  return good_edited(yaml, NULL, 0);
}

/* The experiment as a config. Release with free(). */
static char *written(const rs_experiment *experiment) {
  rs_text text = {0};
  rs_experiment_write(experiment, &text);
  cr_assert(!text.failed);
  return text.data;
}

/* Each config, with its edits, must come to hold `part` when it is written back. */
typedef struct right {
  const char *yaml, *edits[3], *part;
} right;

static void expect_written(const right *cases, size_t count) {
  for (size_t i = 0; i < count; i++) {
    size_t edits = 0;
    while (edits < RS_COUNT(cases[i].edits) && cases[i].edits[edits] != NULL) edits++;
    rs_experiment *experiment = good_edited(cases[i].yaml, cases[i].edits, edits);
    char *text = written(experiment);
    cr_expect(strstr(text, cases[i].part) != NULL, "%s%s\nlacks %s in\n%s", cases[i].yaml,
              edits > 0 ? cases[i].edits[0] : "", cases[i].part, text);
    free(text);
    rs_experiment_free(experiment);
  }
}

/* Of this process: a machine with other work to do must not fail a test. */
static double seconds_since(clock_t start) {
  return (double)(clock() - start) / CLOCKS_PER_SEC;
}

/* `part` as often as asked for. Release with free(). */
static char *repeated(const char *begin, const char *part, size_t times, const char *end) {
  rs_text text = {0};
  rs_text_puts(&text, begin);
  for (size_t i = 0; i < times; i++) rs_text_puts(&text, part);
  rs_text_puts(&text, end);
  return text.data;
}

/* ---- messages ---------------------------------------------------------------------------------------------------- */

static const wrong bad_syntax[] = {
    {"", "t.yaml:1:1: the file is empty (write at least one line of key: value)"},
    {"# nothing\n# here\n", "t.yaml:1:1: the file is empty (write at least one line of key: value)"},
    {"---\n", "t.yaml:1:1: the file is empty (write at least one line of key: value)"},
    {"a: [1\n", "t.yaml:2:1: did not find expected ',' or ']', while parsing a flow sequence that begins at line 1 (a "
                "bracket is not closed, or a comma is missing)"},
    {"\tname: x\n", "t.yaml:1:1: found character that cannot start any token (indent with spaces, not tabs; quote a "
                    "text that begins with @, % or `)"},
    {LLAMA "methods:\n\t- rope\n", "t.yaml:3:1: found character that cannot start any token (indent with spaces, not "
                                   "tabs; quote a text that begins with @, % or `)"},
    {"model: &m llama-2-7b\n", "t.yaml:1:8: anchors (&) are not supported (write the value out where it is needed)"},
    {"model: *m\n", "t.yaml:1:8: aliases (*) are not supported (write the value out; quote a text with *)"},
    {"model: !str llama-2-7b\n", "t.yaml:1:8: tags (!) are not supported (remove it; quotes make a value a text)"},
    {LLAMA "---\nmodel: gpt2\n", "t.yaml:2:1: a second document begins here (remove the --- or split the file)"},
    {LLAMA "name: a\nname: b\n", "t.yaml:3:1: name: given twice (first at line 2)"},
    {LLAMA "methods: [{name: pi, factor: 2, factor: 3}]\n", "t.yaml:2:33: factor: given twice (first at line 2)"},
    {LLAMA "<<: {seeds: 2}\n", "t.yaml:2:1: merge keys (<<) are not supported (write the keys out)"},
    {"model: \"llama\n", "t.yaml:1:8: found unexpected end of stream (a quote is not closed)"},
    {"model: ll\001ama\n", "t.yaml:1:10: control characters are not allowed: 0x01 (remove it)"},
    {"- a\n- b\n", "t.yaml:1:1: a config is a mapping of keys (see configs/quickstart.yaml)"},
    {"rope\n", "t.yaml:1:1: a config is a mapping of keys (see configs/quickstart.yaml)"},
    {LLAMA "name: \377\n", "t.yaml:2:7: invalid leading UTF-8 octet: 0xFF (save the file as UTF-8)"},
};

static const wrong bad_numbers[] = {
    {LLAMA "methods: [{name: yarn, factor: .nan}]\n",
     "t.yaml:2:32: methods[0].factor = .nan: is not a number (NaN is never accepted)"},
    {LLAMA "methods: [{name: yarn, factor: nan}]\n",
     "t.yaml:2:32: methods[0].factor = nan: is not a number (NaN is never accepted)"},
    {LLAMA "methods: [{name: yarn, factor: -.NaN}]\n",
     "t.yaml:2:32: methods[0].factor = -.NaN: is not a number (NaN is never accepted)"},
    {LLAMA "methods: [{name: yarn, factor: .inf}]\n", "t.yaml:2:32: methods[0].factor = .inf: is not finite"},
    {LLAMA "methods: [{name: yarn, factor: -inf}]\n", "t.yaml:2:32: methods[0].factor = -inf: is not finite"},
    {LLAMA "methods: [{name: yarn, factor: 1e999}]\n",
     "t.yaml:2:32: methods[0].factor = 1e999: is too large (the largest double is 1.8e308)"},
    {LLAMA "methods: [{name: yarn, factor: -1e999}]\n",
     "t.yaml:2:32: methods[0].factor = -1e999: is too large (the largest double is 1.8e308)"},
    {LLAMA "methods: [{name: yarn, factor: 0}]\n",
     "t.yaml:2:32: methods[0].factor = 0: must be from 1e-06 to 1000000000"},
    {LLAMA "methods: [{name: yarn, factor: -1}]\n",
     "t.yaml:2:32: methods[0].factor = -1: must be from 1e-06 to 1000000000"},
    {LLAMA "methods: [{name: yarn, factor: 2e9}]\n",
     "t.yaml:2:32: methods[0].factor = 2e9: must be from 1e-06 to 1000000000"},
    {LLAMA "methods: [{name: yarn, factor: \"8\"}]\n",
     "t.yaml:2:32: methods[0].factor = \"8\": must be a number, not text (take the quotes away)"},
    {LLAMA "methods: [{name: yarn, factor: '8'}]\n",
     "t.yaml:2:32: methods[0].factor = \"8\": must be a number, not text (take the quotes away)"},
    {LLAMA "methods: [{name: yarn, factor: eight}]\n", "t.yaml:2:32: methods[0].factor = eight: must be a number"},
    {LLAMA "methods: [{name: yarn, factor: 0x10}]\n",
     "t.yaml:2:32: methods[0].factor = 0x10: must be a decimal number (hexadecimal is not accepted)"},
    {LLAMA "methods: [{name: yarn, factor: 010}]\n",
     "t.yaml:2:32: methods[0].factor = 010: has a leading zero, which some readers take as octal (write it without)"},
    {LLAMA "methods: [{name: yarn, factor: 0o17}]\n",
     "t.yaml:2:32: methods[0].factor = 0o17: has a leading zero, which some readers take as octal (write it without)"},
    {LLAMA "methods: [{name: yarn, factor: 1_000}]\n",
     "t.yaml:2:32: methods[0].factor = 1_000: has an underscore (write the digits without)"},
    {LLAMA "methods: [{name: yarn, factor: 1,5}]\n",
     "t.yaml:2:34: methods[0].5: yarn has no key 5 (write decimals with '.'; a comma begins the next entry)"},
    {LLAMA "methods: [{name: yarn, factor: true}]\n", "t.yaml:2:32: methods[0].factor = true: must be a number"},
    {LLAMA "methods: [{name: yarn, factor: {a: 1}}]\n", "t.yaml:2:32: methods[0].factor = {...}: must be one value"},
    {LLAMA "methods: [{name: yarn, factor: }]\n", "t.yaml:2:32: methods[0].factor = : must be a number"},
    {LLAMA "methods: [{name: yarn, factor: ~}]\n", "t.yaml:2:32: methods[0].factor = ~: must be a number"},
    {LLAMA "methods: [{name: yarn, factor: 4k}]\n", "t.yaml:2:32: methods[0].factor = 4k: must be a number"},
    {LLAMA "methods: [{name: yarn, factor: 1e-400}]\n",
     "t.yaml:2:32: methods[0].factor = 1e-400: is too small (the smallest double is 4.9e-324)"},
    {LLAMA "methods: [{name: yarn, factor: +-3}]\n", "t.yaml:2:32: methods[0].factor = +-3: must be a number"},
    {LLAMA "methods: [{name: yarn, factor: 1.2.3}]\n", "t.yaml:2:32: methods[0].factor = 1.2.3: must be a number"},
    {LLAMA "methods:\n  - name: yarn\n    factor: 1,5\n",
     "t.yaml:4:13: methods[0].factor = 1,5: has a comma (write decimals with '.', thousands bare)"},
    {LLAMA "seeds: 1.5\n", "t.yaml:2:8: seeds = 1.5: must be a whole number"},
    {LLAMA "seeds: 0\n", "t.yaml:2:8: seeds = 0: must be from 1 to 100000"},
    {LLAMA "seeds: 1e6\n", "t.yaml:2:8: seeds = 1e6: must be from 1 to 100000"},
    {LLAMA "seeds: 1e17\n", "t.yaml:2:8: seeds = 1e17: is too large (at most 2^53)"},
    {LLAMA "seeds: 010\n",
     "t.yaml:2:8: seeds = 010: has a leading zero, which some readers take as octal (write it without)"},
    {LLAMA "seeds: \"2\"\n", "t.yaml:2:8: seeds = \"2\": must be a number, not text (take the quotes away)"},
    {LLAMA "seeds: nan\n", "t.yaml:2:8: seeds = nan: is not a number (NaN is never accepted)"},
    {LLAMA "seeds: 1_0\n", "t.yaml:2:8: seeds = 1_0: has an underscore (write the digits without)"},
    {LLAMA "bins_per_octave: 65\n", "t.yaml:2:18: bins_per_octave = 65: must be from 1 to 64"},
    {LLAMA "bins_per_octave: inf\n", "t.yaml:2:18: bins_per_octave = inf: is not finite"},
    {LLAMA "bins_per_octave: []\n", "t.yaml:2:18: bins_per_octave = [...]: must be one value"},
    {LLAMA "sources: {name: needle, depth: 1.5}\n", "t.yaml:2:32: sources.depth = 1.5: must be from 0 to 1"},
    {LLAMA "sources: {name: needle, depth: [0.5, 1,5]}\n", "t.yaml:2:40: sources.depth[2] = 5: must be from 0 to 1"},
    {LLAMA "metrics: [{name: decay, per_octave: 0}]\n",
     "t.yaml:2:37: metrics[0].per_octave = 0: must be from 1 to 1024"},
    {LLAMA "methods: [{name: yarn, truncate: yes}]\n", "t.yaml:2:34: methods[0].truncate = yes: must be true or false"},
    {LLAMA "methods: [{name: yarn, truncate: \"true\"}]\n",
     "t.yaml:2:34: methods[0].truncate = \"true\": must be a truth value, not text (take the quotes away)"},
    {LLAMA "methods: [{name: yarn, ramp: hff}]\n",
     "t.yaml:2:30: methods[0].ramp = hff: must be one of hf, paper (did you mean hf?)"},
    {LLAMA "methods: [{name: yarn, ramp: 3}]\n", "t.yaml:2:30: methods[0].ramp = 3: must be one of hf, paper"},
    {LLAMA "methods: [{name: yarn, scale: dynamics}]\n",
     "t.yaml:2:31: methods[0].scale = dynamics: must be one of fixed, auto, dynamic, hf_dynamic, vllm_dynamic, or a "
     "number (did you "
     "mean dynamic?)"},
    {LLAMA "methods: [{name: yarn, scale: cubic}]\n", "t.yaml:2:31: methods[0].scale = cubic: must be one of fixed, "
                                                      "auto, dynamic, hf_dynamic, vllm_dynamic, or a number"},
    {LLAMA "methods: [{name: mrope, mrope_section: 3}]\n",
     "t.yaml:2:40: methods[0].mrope_section = 3: must be a list of numbers, like [1, 2]"},
    {LLAMA "methods: [{name: mrope, mrope_section: thirds}]\n",
     "t.yaml:2:40: methods[0].mrope_section = thirds: must be one of none, equal, or a list of numbers"},
    {LLAMA "methods: [{name: mrope, mrope_section: [a, 2, 3]}]\n",
     "t.yaml:2:41: methods[0].mrope_section[0] = a: must be a number"},
    {LLAMA "methods: [{name: yarn, beta_fast: [16, [32]]}]\n",
     "t.yaml:2:40: methods[0].beta_fast[1] = [...]: must be one value"},
    {LLAMA "methods: [{name: yarn, beta_fast: []}]\n", "t.yaml:2:35: methods[0].beta_fast = [...]: is an empty list"},
    {LLAMA "methods: [{name: yarn, factor: "
           "\"99999999999999999999999999999999999999999999999999999999999999999999999999999999\"}]\n",
     "t.yaml:2:32: methods[0].factor = \"9999999999999999999999999999999999999999...\": must be a number, not text "
     "(take the quotes away)"},
    {LLAMA "seeds: \"a\\nb\"\n", "t.yaml:2:8: seeds = \"a?b\": must be a number, not text (take the quotes away)"},
    {LLAMA "seeds: 1111111111111111111111111111111111111111111111111111111111111111111111\n",
     "t.yaml:2:8: seeds = 1111111111111111111111111111111111111111...: must be a number"},
};

static const wrong unknown_keys[] = {
    {"modle: llama-2-7b\n", "t.yaml:1:1: modle: a config has no key modle (did you mean model?)\nt.yaml:1:1: the "
                            "config has no model (add model: llama-2-7b)"},
    {LLAMA "method: [rope]\n", "t.yaml:2:1: method: a config has no key method (did you mean methods?)"},
    {LLAMA "lenghts: 4k\n", "t.yaml:2:1: lenghts: a config has no key lenghts (did you mean lengths?)"},
    {LLAMA "zzzzzz: 1\n",
     "t.yaml:2:1: zzzzzz: a config has no key zzzzzz (it has name, description, model, lengths, methods, sources, "
     "metrics, seeds, heads, queries, mask, tokens, precision, engine, bins_per_octave, zip, columns)"},
    {LLAMA "methods: [{name: yarn, beta_fas: 3, factor: 2}]\n",
     "t.yaml:2:24: methods[0].beta_fas: yarn has no key beta_fas (did you mean beta_fast?)"},
    {LLAMA "methods: [{name: nope, factor: 3}]\n",
     "t.yaml:2:24: methods[0].factor: nope has no key factor (it has "
     "name, label, zip, train_length, logit_scale, logit_scale_factor, logit_scale_length, dialect)"},
    {LLAMA "methods: [{factor: 3}]\n", "t.yaml:2:11: methods[0] = {...}: must be a name, or {name: ..., parameters}"},
    {LLAMA "sources: [{name: needle, dept: 0.5}]\n",
     "t.yaml:2:26: sources[0].dept: needle has no key dept (did you mean depth?)"},
    {LLAMA "metrics: [{name: decay, per_octav: 4}]\n",
     "t.yaml:2:25: metrics[0].per_octav: decay has no key per_octav (did you mean per_octave?)"},
    {LLAMA "sources: [{name: gaussian, 1.5: 2}]\n",
     "t.yaml:2:28: sources[0].1.5: gaussian has no key 1.5 (write decimals with '.'; a comma begins the next entry)"},
    {"model: {preset: llama-2-7b, head_dims: 4}\n",
     "t.yaml:1:29: model.head_dims: a model has no key head_dims (did you mean head_dim?)"},
    {LLAMA "queries: {lst: 3}\n", "t.yaml:2:11: queries.lst: queries has no key lst (did you mean last?)"},
    {LLAMA "mask: {window: 4, sink: 3}\n", "t.yaml:2:19: mask.sink: mask has no key sink (did you mean sinks?)"},
    {LLAMA "tokens: [{text: 3, imag: 4}]\n",
     "t.yaml:2:20: tokens[0].imag: a run of tokens has no key imag (did you mean image?)"},
    {LLAMA "precision: {angles: f32}\n",
     "t.yaml:2:13: precision.angles: precision has no key angles (did you mean angle?)"},
    {LLAMA "heads: {every: 2}\n", "t.yaml:2:9: heads.every: heads has no key every (it has each)\nt.yaml:2:8: heads = "
                                  "{...}: must be a number, all, a list, or {each: one of these}"},
    {LLAMA "lengths: {from: 1, to: 4, step: 2}\n",
     "t.yaml:2:27: lengths.step: a range of lengths has no key step (did you mean steps?)"},
    {LLAMA "methods: [{\"Factor\": 2, name: pi}]\n",
     "t.yaml:2:12: methods[0].Factor: pi has no key Factor (did you mean factor?)"},
};

static const wrong unknown_names[] = {
    {"name: x\n", "t.yaml:1:1: the config has no model (add model: llama-2-7b)"},
    {"model: llama-2-7B-hf\n", "t.yaml:1:8: model = llama-2-7B-hf: is no model preset (did you mean llama-2-7b?)"},
    {"model: llama2-7b\n", "t.yaml:1:8: model = llama2-7b: is no model preset (did you mean llama-2-7b?)"},
    {"model: nothing\n", "t.yaml:1:8: model = nothing: is no model preset (ropescope list models shows them)"},
    {"model: [llama-2-7b, lama-2-7b]\n",
     "t.yaml:1:21: model[1] = lama-2-7b: is no model preset (did you mean llama-2-7b?)"},
    {"model: []\n", "t.yaml:1:8: model = [...]: is an empty list"},
    {"model: [gpt2, gpt2]\n", "t.yaml:1:15: model[1] = gpt2: is the second model called gpt2 (give it a name: ...)"},
    {"model: {}\n",
     "t.yaml:1:8: model = {...}: needs head_dim and train_length (or the name of a preset, or {hf: config.json})"},
    {"model: {head_dim: 64}\n",
     "t.yaml:1:8: model = {...}: needs head_dim and train_length (or the name of a preset, or {hf: config.json})"},
    {"model: {preset: gpt2, hf: x.json}\n",
     "t.yaml:1:27: model.hf = x.json: stands beside a preset (keep one of them)"},
    {"model: {hf: none.json}\n",
     "t.yaml:1:13: model.hf = none.json: none.json: cannot read: No such file or directory"},
    {"model: {preset: [gpt2]}\n", "t.yaml:1:17: model.preset = [...]: must be one word"},
    {"model: {preset: gpt3}\n", "t.yaml:1:17: model.preset = gpt3: is no model preset (did you mean gpt2?)"},
    {LLAMA "methods: [yarm]\n", "t.yaml:2:11: methods[0] = yarm: is no method (did you mean yarn?)"},
    {LLAMA "methods: yarn2\n", "t.yaml:2:10: methods = yarn2: is no method (did you mean yarn?)"},
    {LLAMA "methods: [quantum]\n",
     "t.yaml:2:11: methods[0] = quantum: is no method (ropescope list methods shows them)"},
    {LLAMA "methods: [{name: rop}]\n", "t.yaml:2:18: methods[0].name = rop: is no method (did you mean rope?)"},
    {LLAMA "methods: []\n", "t.yaml:2:10: methods = [...]: is an empty list"},
    {LLAMA "methods: {}\n", "t.yaml:2:10: methods = {...}: must be a name, or {name: ..., parameters}"},
    {LLAMA "methods: [[rope]]\n", "t.yaml:2:11: methods[0] = [...]: must be a name, or {name: ..., parameters}"},
    {LLAMA "methods: [{name: [rope]}]\n",
     "t.yaml:2:11: methods[0] = {...}: must be a name, or {name: ..., parameters}"},
    {LLAMA "sources: [needl]\n", "t.yaml:2:11: sources[0] = needl: is no source (did you mean needle?)"},
    {LLAMA "sources: [x]\n", "t.yaml:2:11: sources[0] = x: is no source (ropescope list sources shows them)"},
    {LLAMA "metrics: [entropi]\n", "t.yaml:2:11: metrics[0] = entropi: is no metric (did you mean entropy?)"},
    {LLAMA "metrics: [zzz]\n", "t.yaml:2:11: metrics[0] = zzz: is no metric (ropescope list metrics shows them)"},
    {LLAMA "metrics: []\n", "t.yaml:2:10: metrics = [...]: is an empty list"},
    {LLAMA "metrics: [entropy, entropy]\n",
     "t.yaml:2:10: metrics = [...]: has \"entropy\" twice (give one a label: ...)"},
    {LLAMA "metrics: [{name: decay, per_octave: [4, 8]}]\n",
     "t.yaml:2:10: metrics = [...]: has decay twice (a metric is computed once a cell)"},
    {LLAMA "metrics: [decay, {name: decay, label: b}]\n",
     "t.yaml:2:10: metrics = [...]: has decay twice (a metric is computed once a cell)"},
    {LLAMA "name: a b\n",
     "t.yaml:2:7: name = a b: may hold letters, digits, '.', '_' and '-' only: it names the results folder"},
    {LLAMA "name: .a\n", "t.yaml:2:7: name = .a: must be 1 to 100 letters that do not start with '.'"},
    {LLAMA "name: \"\"\n", "t.yaml:2:7: name = \"\": must be 1 to 100 letters that do not start with '.'"},
    {LLAMA "name: [a]\n", "t.yaml:2:7: name = [...]: must be one word"},
    {LLAMA "name: a/b\n",
     "t.yaml:2:7: name = a/b: may hold letters, digits, '.', '_' and '-' only: it names the results folder"},
    {LLAMA "description: [a]\n", "t.yaml:2:14: description = [...]: must be one word"},
    {LLAMA "name: \"a\\nb\"\n",
     "t.yaml:2:7: name = \"a?b\": may hold letters, digits, '.', '_' and '-' only: it names the results folder"},
};

#define PAIRS "model: [phi-3-mini-128k, llama-2-7b]\nmethods: [longrope, rope]\n"
#define UNPAIRED "t.yaml:2:11: methods[0] = longrope: short_factor: is missing: it has one divisor for each pair"

static const wrong contradictions[] = {
    {LLAMA "methods: [{name: yarn, factor: 4, beta_fast: 1, beta_slow: 2}]\n",
     "t.yaml:2:46: methods[0].beta_fast = 1: must exceed beta_slow = 2 (the paper uses 32 and 1)"},
    {LLAMA "methods: [{name: yarn, factor: 4, beta_slow: 40}]\n",
     "t.yaml:2:11: methods[0] = {...}: beta_fast: must exceed beta_slow = 40 (the paper uses 32 and 1)"},
    {LLAMA "methods: [{name: yarn, factor: 4, ramp: paper, beta_fast: 8, beta_slow: 8}]\n",
     "t.yaml:2:59: methods[0].beta_fast = 8: must exceed beta_slow = 8 (the paper uses 32 and 1)"},
    {LLAMA "methods: [{name: ntk_by_parts, factor: 4, beta_fast: [32, 0.5]}]\n",
     "t.yaml:2:54: methods[0].beta_fast = [...]: must exceed beta_slow = 1 (the paper uses 32 and 1)"},
    {LLAMA "methods: [{name: pi, scale: auto, factor: 4}]\n",
     "t.yaml:2:43: methods[0].factor = 4: has no effect with scale: auto (leave one of them out)"},
    {LLAMA "methods: [{name: pi, scale: dynamic, factor: 4}]\n",
     "t.yaml:2:46: methods[0].factor = 4: has no effect with scale: dynamic (leave one of them out)"},
    {LLAMA "methods: [{name: pi, scale: 2, factor: 4}]\n",
     "t.yaml:2:40: methods[0].factor = 4: is given twice: scale = 2 is a factor already"},
    {LLAMA "methods: [{name: pi, scale: fixed}]\n",
     "t.yaml:2:29: methods[0].scale = fixed: needs a factor (or write the number: scale: 8)"},
    {LLAMA "methods: [{name: llama3, factor: 8, low_freq_factor: 4, high_freq_factor: 1}]\n",
     "t.yaml:2:75: methods[0].high_freq_factor = 1: must be at least low_freq_factor = 4 (Llama-3.1 has 4 and 1)"},
    {LLAMA "methods: [{name: llama3, factor: 8, low_freq_factor: 5}]\n",
     "t.yaml:2:11: methods[0] = {...}: high_freq_factor: must be at least low_freq_factor = 5 (Llama-3.1 has 4 and 1)"},
    {LLAMA "methods: longrope\n",
     "t.yaml:2:10: methods = longrope: short_factor: is missing: it has one divisor for each pair"},
    {LLAMA "methods: [{name: longrope, short_factor: [1, 2]}]\n",
     "t.yaml:2:42: methods[0].short_factor = [...]: has 2 numbers, but 64 pairs turn"},
    {LLAMA "methods: [{name: longrope, short_factor: [1, 2], long_factor: [1, 2]}]\n",
     "t.yaml:2:42: methods[0].short_factor = [...]: has 2 numbers, but 64 pairs turn"},
    {LLAMA "methods: [{name: longrope, short_factor: [], long_factor: [1, 2]}]\n",
     "t.yaml:2:42: methods[0].short_factor = [...]: is an empty list"},
    {"model: {head_dim: 8, train_length: 16}\nmethods: [{name: longrope, short_factor: [1, 1, 1, 1], long_factor: [1, "
     "1, 1]}]\n",
     "t.yaml:2:69: methods[0].long_factor = [...]: has 3 numbers, but 4 pairs turn"},
    {LLAMA "methods: [{name: mrope, mrope_section: [16, 24, 23]}]\n",
     "t.yaml:2:40: methods[0].mrope_section = [...]: sums to 63, but 64 pairs turn (rotary_dim / 2)"},
    {LLAMA "methods: [{name: mrope, mrope_section: [32, 32]}]\n",
     "t.yaml:2:40: methods[0].mrope_section = [...]: must have 3 entries (t, h, w), not 2"},
    {"model: {preset: qwen2-vl, mrope_section: [16, 24, 23]}\n",
     "t.yaml:1:8: model = {...}: has mrope_section that sums to 63, but rotary_dim / 2 = 64 pairs turn"},
    {"model: {preset: qwen2-vl, mrope_section: [64]}\n",
     "t.yaml:1:42: model.mrope_section = [...]: must be pairs of the axes [t, h, w], like [16, 24, 24]"},
    {LLAMA "methods: [{name: rope, rotary_dim: 63}]\n", "t.yaml:2:36: methods[0].rotary_dim = 63: must be even"},
    {LLAMA "methods: [{name: rope, rotary_dim: 256}]\n",
     "t.yaml:2:36: methods[0].rotary_dim = 256: exceeds the model's head_dim = 128"},
    {"model: {head_dim: 63, train_length: 16}\n",
     "t.yaml:1:8: model = {...}: needs an even head_dim and rotary_dim: dims turn in pairs"},
    {"model: {head_dim: 64, rotary_dim: 128, train_length: 16}\n",
     "t.yaml:1:8: model = {...}: has rotary_dim = 128 above head_dim = 64"},
    {"model: {head_dim: 64, rope_theta: 1, train_length: 16}\n",
     "t.yaml:1:35: model.rope_theta = 1: must be from 1.000001 to 1e+300"},
    {"model: {head_dim: 64, train_length: 16, pair_layout: halves}\n",
     "t.yaml:1:54: model.pair_layout = halves: must be one of half_split, interleaved"},
    {"model: {head_dim: 64, train_length: 16, published: {name: yarn, factor: [2, 4]}}\n",
     "t.yaml:1:52: model.published = {...}: must be one method, without lists of values"},
    {"model: {head_dim: 64, train_length: 16, published: yarm}\n",
     "t.yaml:1:52: model.published = yarm: is no method (did you mean yarn?)"},
    {LLAMA "methods: [{name: yarn, mscale_softmax: true, factor: 2}]\n",
     "t.yaml:2:40: methods[0].mscale_softmax = true: needs mscale_all_dim (DeepSeek-V3 has 1)"},
    {LLAMA "sources: [{name: band, from: 0.8, to: 0.2}]\n", "t.yaml:2:39: sources[0].to = 0.2: must exceed from = 0.8"},
    /* a metric of pictures, or of needles, wants some */
    {LLAMA "metrics: [entropy, grid_decay]\ntokens: [{text: 4}]\n",
     "t.yaml:2:10: metrics = [...]: has grid_decay, but the tokens hold no picture (add tokens: [{image: [16, 24]}])"},
    {LLAMA "metrics: needle\n",
     "t.yaml:2:10: metrics = needle: has needle, but no source plants needles (add sources: [needle])"},
    {LLAMA "metrics: [entropy, needle]\nsources: [gaussian, constant]\n",
     "t.yaml:2:10: metrics = [...]: has needle, but no source plants needles (add sources: [needle])"},
    /* every method meets every model, but for zip: [model, methods] */
    {PAIRS, UNPAIRED},
    {PAIRS "zip: []\n", UNPAIRED},
    {PAIRS "zip: [model, lengths]\nlengths: [16, 32]\n", UNPAIRED},
    {PAIRS "zip: [methods, lengths]\nlengths: [16, 32]\n", UNPAIRED},
    {PAIRS "zip: [model, model]\n", UNPAIRED},
    {PAIRS "zip: [methods, methods]\n", UNPAIRED},
    {"model: [llama-2-7b, phi-3-mini-128k]\nmethods: [longrope, rope]\nzip: [model, methods]\n", UNPAIRED},
};

static const wrong bad_parts[] = {
    {LLAMA "heads: {}\n", "t.yaml:2:8: heads = {...}: must be a number, all, a list, or {each: one of these}"},
    {LLAMA "heads: [3, 1, 3]\n", "t.yaml:2:15: heads[2] = 3: is given twice"},
    {LLAMA "seeds: [4, 4]\n", "t.yaml:2:12: seeds[1] = 4: is given twice"},
    /* a wrong value is one mistake, not one more that is given twice */
    {LLAMA "seeds: [0, x]\n", "t.yaml:2:12: seeds[1] = x: must be a number"},
    {LLAMA "heads: [0, x, y]\n",
     "t.yaml:2:12: heads[1] = x: must be a number\nt.yaml:2:15: heads[2] = y: must be a number"},
    {LLAMA "lengths: [x, y]\n",
     "t.yaml:2:11: lengths[0] = x: must be a number\nt.yaml:2:14: lengths[1] = y: must be a number"},

    {LLAMA "lengths: [4k, 8k, 4k]\n", "t.yaml:2:19: lengths[2] = 4k: is given twice"},
    {"model: {preset: gpt2, name: 0123456789012345678901234567890123456789012345678901234567890123}\nmethods: nope\n",
     "t.yaml:1:29: model.name = 0123456789012345678901234567890123456789...: is longer than 63 bytes"},
    {LLAMA "lengths: []\n", "t.yaml:2:10: lengths = [...]: is an empty list"},
    {LLAMA "lengths: [0]\n", "t.yaml:2:11: lengths[0] = 0: must be from 1 to 268435456"},
    {LLAMA "lengths: [1e9]\n", "t.yaml:2:11: lengths[0] = 1e9: must be from 1 to 268435456"},
    {LLAMA "lengths: 4.5\n", "t.yaml:2:10: lengths = 4.5: must be a whole number"},
    {LLAMA "lengths: {from: 8k, to: 4k}\n", "t.yaml:2:25: lengths.to = 4k: must be at least from = 8192"},
    {LLAMA "lengths: {from: 4k}\n",
     "t.yaml:2:10: lengths = {...}: needs from and to, like {from: 4k, to: 128k, steps: octaves}"},
    {LLAMA "lengths: {from: 4k, to: 8k, steps: octave}\n",
     "t.yaml:2:36: lengths.steps = octave: must be octaves, half_octaves, or a number of tokens"},
    {LLAMA "lengths: {from: 4k, to: 8k, steps: 0}\n",
     "t.yaml:2:36: lengths.steps = 0: must be octaves, half_octaves, or a number of tokens"},
    {LLAMA "lengths: {from: 1, to: 1M, steps: 1}\n", "t.yaml:2:10: lengths = {...}: has more than 100000 lengths"},
    {LLAMA "lengths: {from: x, to: 8k}\n", "t.yaml:2:17: lengths.from = x: must be a number"},
    {LLAMA "lengths: {from: 4k, to: 8k, steps: [1]}\n", "t.yaml:2:36: lengths.steps = [...]: must be one word"},
    {LLAMA "lengths: [4q]\n", "t.yaml:2:11: lengths[0] = 4q: must be a number, as 8192, 8k or 1M (k: 1024, M: 1024k)"},
    {LLAMA "seeds: []\n", "t.yaml:2:8: seeds = [...]: is an empty list"},
    {LLAMA "seeds: [1, x]\n", "t.yaml:2:12: seeds[1] = x: must be a number"},
    {LLAMA "seeds: [-1]\n", "t.yaml:2:9: seeds[0] = -1: must be from 0 to 9007199254740992"},
    {LLAMA "seeds: {a: 1}\n", "t.yaml:2:8: seeds = {...}: must be one value"},
    {LLAMA "heads: 33\n", "t.yaml:2:8: heads = 33: must be from 1 to 32"},
    {LLAMA "heads: 0\n", "t.yaml:2:8: heads = 0: must be from 1 to 32"},
    {LLAMA "heads: [0, 32]\n", "t.yaml:2:12: heads[1] = 32: must be from 0 to 31"},
    {LLAMA "heads: []\n", "t.yaml:2:8: heads = [...]: is an empty list"},
    {LLAMA "heads: al\n", "t.yaml:2:8: heads = al: must be a number"},
    {LLAMA "heads: {each: 40}\n", "t.yaml:2:15: heads.each = 40: must be from 1 to 32"},
    {LLAMA "heads: {each: []}\n", "t.yaml:2:15: heads.each = [...]: is an empty list"},
    {LLAMA "queries: some\n", "t.yaml:2:10: queries = some: must be all, {last: K}, {every: K} or {random: K}"},
    {LLAMA "queries: {last: 0}\n", "t.yaml:2:17: queries.last = 0: must be from 1 to 268435456"},
    {LLAMA "queries: {last: 2, every: 3}\n",
     "t.yaml:2:10: queries = {...}: must be all, {last: K}, {every: K} or {random: K}"},
    {LLAMA "queries: []\n", "t.yaml:2:10: queries = [...]: must be all, {last: K}, {every: K} or {random: K}"},
    {LLAMA "queries: {random: x}\n", "t.yaml:2:19: queries.random = x: must be a number"},
    {LLAMA "mask: windowed\n", "t.yaml:2:7: mask = windowed: must be causal (decoder), bidirectional (encoder), cross, "
                               "{window: W} or {window: W, sinks: S}"},
    {LLAMA "mask: {sinks: 4}\n", "t.yaml:2:7: mask = {...}: must be causal (decoder), bidirectional (encoder), cross, "
                                 "{window: W} or {window: W, sinks: S}"},
    {LLAMA "mask: {window: 0}\n", "t.yaml:2:16: mask.window = 0: must be from 1 to 268435456"},
    {LLAMA "mask: {window: 4, sinks: 0}\n", "t.yaml:2:26: mask.sinks = 0: must be from 1 to 268435456"},
    {LLAMA "mask: [causal]\n", "t.yaml:2:7: mask = [...]: must be causal (decoder), bidirectional (encoder), cross, "
                               "{window: W} or {window: W, sinks: S}"},
    {LLAMA "tokens: 4\n", "t.yaml:2:9: tokens = 4: must be a list of runs, like [{text: 10}, {image: [16, 24]}]"},
    {LLAMA "tokens: [text]\n",
     "t.yaml:2:10: tokens[0] = text: must be {text: N}, {image: [rows, columns]} or {video: [frames, rows, columns]}"},
    {LLAMA "tokens: [{text: 1, image: [2, 2]}]\n",
     "t.yaml:2:10: tokens[0] = {...}: must be {text: N}, {image: [rows, columns]} or {video: [frames, rows, columns]}"},
    {LLAMA "tokens: [{image: [2]}]\n",
     "t.yaml:2:18: tokens[0].image = [...]: must be [rows, columns], after patch merging"},
    {LLAMA "tokens: [{image: 4}]\n", "t.yaml:2:18: tokens[0].image = 4: must be [rows, columns], after patch merging"},
    {LLAMA "tokens: [{video: [2, 2]}]\n",
     "t.yaml:2:18: tokens[0].video = [...]: must be [frames, rows, columns], after patch merging"},
    {LLAMA "tokens: [{image: [2, 0]}]\n", "t.yaml:2:22: tokens[0].image[1] = 0: must be from 1 to 65536"},
    {LLAMA "tokens: [{text: 4, ids_per_second: 2}]\n", "t.yaml:2:36: tokens[0].ids_per_second = 2: belongs to a video"},
    {LLAMA "tokens: [{video: [1, 2, 2], ids_per_second: -1}]\n",
     "t.yaml:2:45: tokens[0].ids_per_second = -1: must be from 0 to 1000000"},
    {LLAMA "tokens: [{text: 4, timestamp_tokens: 2}]\n",
     "t.yaml:2:38: tokens[0].timestamp_tokens = 2: belongs to a video"},
    {LLAMA "tokens: [{image: [4, 4], timestamp_tokens: 2}]\n",
     "t.yaml:2:44: tokens[0].timestamp_tokens = 2: belongs to a video"},
    {LLAMA "tokens: [{video: [1, 2, 2], timestamp_tokens: 0}]\n",
     "t.yaml:2:47: tokens[0].timestamp_tokens = 0: must be from 1 to 268435456"},
    {LLAMA "tokens: [{video: [1, 2, 2], timestamp_tokens: 4, ids_per_second: 2}]\n",
     "t.yaml:2:66: tokens[0].ids_per_second = 2: has no meaning with timestamp_tokens, where text tells the time and "
     "each frame is an image"},
    {LLAMA "tokens: [{video: [1, 2, 2], seconds_per_frame: 1, timestamp_tokens: 4}]\n",
     "t.yaml:2:48: tokens[0].seconds_per_frame = 1: has no meaning with timestamp_tokens, where text tells the time "
     "and "
     "each frame is an image"},
    {LLAMA "tokens: [{text: 1}, {video: [5000, 1, 1], timestamp_tokens: 1}, {text: 1}]\n",
     "t.yaml:2:21: tokens[1] = {...}: takes the layout past 10000 runs (with timestamp_tokens each frame is two)"},
    {LLAMA "tokens: [{video: [5000, 1, 1], timestamp_tokens: 1}, {text: 1}]\n",
     "t.yaml:2:54: tokens[1] = {...}: takes the layout past 10000 runs (with timestamp_tokens each frame is two)"},
    {LLAMA "precision: f8\n", "t.yaml:2:12: precision = f8: must be one of f64, f32, bf16, f16"},
    {LLAMA "precision: {angle: f33}\n",
     "t.yaml:2:20: precision.angle = f33: must be one of f64, f32, bf16, f16 (did you mean f32?)"},
    {LLAMA "precision: [f32]\n", "t.yaml:2:12: precision = [...]: must be one value"},
    {LLAMA "engine: f32\n", "t.yaml:2:9: engine = f32: must be a mapping, like {scores: f64, epsilon: 0}"},
    {LLAMA "engine: {scores: fp32}\n",
     "t.yaml:2:18: engine.scores = fp32: must be one of auto, f32, f64 (did you mean f32?)"},
    {LLAMA "engine: {epsilon: 0.1}\n", "t.yaml:2:19: engine.epsilon = 0.1: must be from 0 to 0.001"},
    {LLAMA "engine: {score: f32}\n", "t.yaml:2:10: engine.score: engine has no key score (did you mean scores?)"},
    {LLAMA "columns: depth\n", "t.yaml:2:10: columns = depth: must be a list of parameters, like [depth]"},
    {LLAMA "columns: [dept]\n", "t.yaml:2:11: columns[0] = dept: is no parameter of the methods or sources above"},
    {LLAMA "columns: [[depth]]\n", "t.yaml:2:11: columns[0] = [...]: must be one word"},
    {LLAMA "zip: model\n", "t.yaml:2:6: zip = model: must be a list of axes, like [model, lengths]"},
    {LLAMA "zip: [lengths, method]\n",
     "t.yaml:2:16: zip[1] = method: must be one of model, methods, lengths, sources, seeds"},
    {LLAMA "zip: [lengths, seeds]\nlengths: [16, 32]\nseeds: 3\n",
     "t.yaml:2:6: zip = [...]: seeds has 3 entries where another axis has 2; zipped axes advance together"},
    {LLAMA "methods: [{name: yarn, zip: 3, factor: [2, 4]}]\n",
     "t.yaml:2:29: methods[0].zip = 3: must be true or false"},
    {LLAMA "methods: [{name: yarn, zip: true, factor: [2, 4], beta_fast: [16, 32, 64]}]\n",
     "t.yaml:2:29: methods[0].zip = true: its lists have 2 and 3 values; zipped lists advance together"},
    {LLAMA "methods: [{name: pi, factor: [2, 2]}]\n",
     "t.yaml:2:10: methods = [...]: has \"pi factor=2\" twice (give one a label: ...)"},
    {LLAMA "methods: [rope, rope]\n", "t.yaml:2:10: methods = [...]: has \"rope\" twice (give one a label: ...)"},
    {LLAMA "sources: [gaussian, gaussian]\n",
     "t.yaml:2:10: sources = [...]: has \"gaussian\" twice (give one a label: ...)"},
    {LLAMA "methods: [{name: rope, label: [a]}]\n", "t.yaml:2:31: methods[0].label = [...]: must be one word"},
};

static const wrong bad_edits[] = {
    {"noequals", "--set noequals: has no '=' (like --set methods[1].factor=8)"},
    {"=3", "--set =3: has no key before '=' (like --set methods[1].factor=8)"},
    {"methods[9].factor=8", "--set methods[9].factor=8: the list has 2 entries, and indices start at 0"},
    {"methods[2].factor=8", "--set methods[2].factor=8: the list has 2 entries, and indices start at 0"},
    {"methods[x].factor=8",
     "--set methods[x].factor=8: an index is a number in brackets (like --set methods[1].factor=8)"},
    {"methods[0]factor", "--set methods[0]factor: has no '=' (like --set methods[1].factor=8)"},
    {"methods[-1].factor=8",
     "--set methods[-1].factor=8: an index is a number in brackets (like --set methods[1].factor=8)"},
    {"seeds[0]=8", "--set seeds[0]=8: the path has an index where there is no list (like --set methods[1].factor=8)"},
    {"methods.factor=8",
     "--set methods.factor=8: the path names a key where there is a list (like --set methods[1].factor=8)"},
    {"methods[0].factor=[2", "--set methods[0].factor=[2: value:2:1: did not find expected ',' or ']', while parsing a "
                             "flow sequence that begins "
                             "at line 1 (a bracket is not closed, or a comma is missing)"},
    {"methods[1].factor=0", "--set:1:1: methods[1].factor = 0: must be from 1e-06 to 1000000000"},
    {"foo.bar=3",
     "--set:1:1: foo: a config has no key foo (it has name, description, model, lengths, methods, "
     "sources, metrics, seeds, heads, queries, mask, tokens, precision, engine, bins_per_octave, zip, columns)"},
    {"methods[0][1]=2",
     "--set methods[0][1]=2: the path has an index where there is no list (like --set methods[1].factor=8)"},
    {"methods[1].beta=3", "--set:1:1: methods[1].beta: pi has no key beta (ropescope list shows them)"},
    {"[0]=3", "--set [0]=3: the path has an index where there is no list (like --set methods[1].factor=8)"},
    {"methods[0.factor=2",
     "--set methods[0.factor=2: an index is a number in brackets (like --set methods[1].factor=8)"},
    {"sources[0].depth=2",
     "--set sources[0].depth=2: the path has an index where there is no list (like --set methods[1].factor=8)"},
    {"seeds=&a 3",
     "--set seeds=&a 3: value:1:1: anchors (&) are not supported (write the value out where it is needed)"},
    {"seeds.x=3", "--set:1:1: seeds = {...}: must be one value"},
    {"model.x.y=3", "--set:1:1: model.x: a model has no key x (it has name, preset, hf, head_dim, heads, rope_theta, "
                    "rotary_dim, pair_layout, train_length, max_length, mrope_section, mrope_layout, published)"},
    {"lengths=[4k,4k]", "--set:1:5: lengths[1] = 4k: is given twice"},
};

Test(messages, bad_syntax__position_reason_hint) {
  expect_messages(bad_syntax, RS_COUNT(bad_syntax));
}

Test(messages, bad_numbers__position_path_value_reason) {
  expect_messages(bad_numbers, RS_COUNT(bad_numbers));
}

Test(messages, unknown_keys__nearest_or_all) {
  expect_messages(unknown_keys, RS_COUNT(unknown_keys));
}

Test(messages, unknown_or_missing_names__nearest_or_where_to_look) {
  expect_messages(unknown_names, RS_COUNT(unknown_names));
}

Test(messages, contradictions__the_parameter_at_fault) {
  expect_messages(contradictions, RS_COUNT(contradictions));
}

Test(messages, small_keys__what_they_may_be) {
  expect_messages(bad_parts, RS_COUNT(bad_parts));
}

Test(messages, bad_edits__the_edit_itself) {
  for (size_t i = 0; i < RS_COUNT(bad_edits); i++)
    expect_message(LLAMA "methods: [rope, {name: pi, factor: 2}]\n", &bad_edits[i].yaml, 1, bad_edits[i].message);
}

Test(messages, edits_without_a_value_or_key__refused) {
  static const char *const edits[] = {"", ".seeds=3", "methods..x=3", "methods[0].=3", "seeds=", "methods[0].factor="};
  for (size_t i = 0; i < RS_COUNT(edits); i++) {
    reading got = read_edited(LLAMA "methods: [rope, {name: pi, factor: 2}]\n", &edits[i], 1);
    cr_expect_eq(got.err.status, RS_INPUT, "%s", edits[i]);
    cr_expect_eq(strncmp(got.err.message, "--set", 5), 0, "%s: %s", edits[i], got.err.message);
    reading_clear(&got);
  }
}

Test(messages, hostile_size__refused_at_once) {
  static const struct {
    const char *begin, *part;
    size_t times;
    const char *end, *message;
  } cases[] = {
      {"model: ", "[", 20000, "\n", "t.yaml:1:39: nested deeper than 32 levels (a config needs 6)"},
      {"", "- ", 20000, "a\n", "t.yaml:1:65: nested deeper than 32 levels (a config needs 6)"},
      {"", "{a: ", 20000, "\n", "t.yaml:1:129: nested deeper than 32 levels (a config needs 6)"},
      {LLAMA "seeds: [", "1,", 100001, "]\n", "t.yaml:2:200003: more than 100000 values (split the file)"},
  };
  clock_t start;
  start = clock();
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    char *yaml = repeated(cases[i].begin, cases[i].part, cases[i].times, cases[i].end);
    reading got = read_edited(yaml, NULL, 0);
    cr_expect_str_eq(message_of(&got), cases[i].message, "%s", message_of(&got));
    reading_clear(&got);
    free(yaml);
  }
  cr_expect_lt(seconds_since(start), 5);
}

/* 100,000 keys with a root that is one more node than allowed, and just as many as fit. */
Test(messages, a_hundred_thousand_keys__fast) {
  static const struct {
    size_t keys;
    const char *message;
    size_t problems;
  } cases[] = {{100000, "t.yaml:100000:9: more than 100000 values (split the file)", 0},
               {99999, "t.yaml: 100000 problems", 100000}};
  for (size_t c = 0; c < RS_COUNT(cases); c++) {
    clock_t start;
    rs_text yaml = {0};
    for (size_t i = 0; i < cases[c].keys; i++) rs_text_printf(&yaml, "k%05zu: 1\n", i);
    start = clock();
    reading got = read_edited(yaml.data, NULL, 0);
    cr_expect_lt(seconds_since(start), 5);
    cr_expect_str_eq(got.err.message, cases[c].message, "%s", got.err.message);
    cr_expect_eq(got.problems.count, cases[c].problems, "%zu", got.problems.count);
    reading_clear(&got);
    rs_text_clear(&yaml);
  }
}

/* Long lists must not take minutes either. */
Test(messages, long_lists__fast) {
  static const struct {
    const char *begin, *end;
    size_t count;
  } cases[] = {{LLAMA "lengths: [", "]\n", 20000},
               {LLAMA "seeds: [", "]\n", 10000},
               {LLAMA "methods: {name: pi, factor: [", "]}\n", 3000},
               {LLAMA "heads: 1\ntokens: [{text: 1}]\nsources: {name: gaussian, sd: [", "]}\n", 1000}};
  for (size_t c = 0; c < RS_COUNT(cases); c++) {
    clock_t start;
    rs_text yaml = {0};
    rs_text_puts(&yaml, cases[c].begin);
    for (size_t i = 1; i <= cases[c].count; i++) rs_text_printf(&yaml, "%s%zu", i > 1 ? ", " : "", i);
    rs_text_puts(&yaml, cases[c].end);
    start = clock();
    rs_experiment_free(good(yaml.data));
    cr_expect_lt(seconds_since(start), 10, "%s: %g s", cases[c].begin, seconds_since(start));
    rs_text_clear(&yaml);
  }
}

Test(messages, too_many_combinations__refused) {
  rs_text yaml = {0};
  rs_text_puts(&yaml, LLAMA "methods:\n  - name: yarn\n");
  for (int key = 0; key < 2; key++) {
    rs_text_puts(&yaml, key == 0 ? "    factor: [" : "]\n    beta_fast: [");
    for (int i = 0; i < 101; i++) rs_text_printf(&yaml, "%s%d", i > 0 ? ", " : "", 2 + i);
  }
  rs_text_puts(&yaml, "]\n");
  expect_message(yaml.data, NULL, 0, "t.yaml:3:5: methods[0] = {...}: makes more than 10000 combinations");
  rs_text_clear(&yaml);
}

/* Unknown keys and wrong values are counted by ways of their own: both in turn. */
static void expect_shown(size_t mistakes, bool keys) {
  rs_text yaml = {0}, want = {0};
  char total[64];
  rs_text_puts(&yaml, keys ? LLAMA "methods:\n  - name: nope\n" : LLAMA "heads:\n");
  for (size_t i = 0; i < mistakes; i++) {
    rs_text_printf(&yaml, keys ? "    q%02zu: 1\n" : "  - x%zu\n", i);
    if (i < 20 && keys)
      rs_text_printf(&want,
                     "%st.yaml:%zu:5: methods[0].q%02zu: nope has no key q%02zu (it has name, label, zip, "
                     "train_length, logit_scale, logit_scale_factor, logit_scale_length, dialect)",
                     i > 0 ? "\n" : "", i + 4, i, i);
    else if (i < 20)
      rs_text_printf(&want, "%st.yaml:%zu:5: heads[%zu] = x%zu: must be a number", i > 0 ? "\n" : "", i + 3, i, i);
  }
  if (mistakes > 20) rs_text_printf(&want, "\n... and %zu more", mistakes - 20);
  snprintf(total, sizeof total, "t.yaml: %zu problems", mistakes);
  reading got = read_edited(yaml.data, NULL, 0);
  cr_expect_str_eq(message_of(&got), want.data, "%zu mistakes:\n%s", mistakes, message_of(&got));
  cr_expect_str_eq(got.err.message, total, "%s", got.err.message);
  cr_expect_eq(got.problems.count, mistakes);
  reading_clear(&got);
  rs_text_clear(&yaml);
  rs_text_clear(&want);
}

Test(messages, more_than_20_problems__20_shown_and_the_rest_counted) {
  for (size_t mistakes = 19; mistakes <= 25; mistakes++) {
    expect_shown(mistakes, true);
    expect_shown(mistakes, false);
  }
}

Test(messages, several_mistakes__all_in_one_go) {
  expect_message(
      "name: a b\nmodel: lama-2-7b\nmethods: [yarm, {name: pi, factor: 1e999}]\nlengths: [0]\nsedes: 3\n", NULL, 0,
      "t.yaml:5:1: sedes: a config has no key sedes (did you mean seeds?)\n"
      "t.yaml:1:7: name = a b: may hold letters, digits, '.', '_' and '-' only: it names the results folder\n"
      "t.yaml:2:8: model = lama-2-7b: is no model preset (did you mean llama-2-7b?)\n"
      "t.yaml:4:11: lengths[0] = 0: must be from 1 to 268435456\n"
      "t.yaml:3:11: methods[0] = yarm: is no method (did you mean yarn?)\n"
      "t.yaml:3:36: methods[1].factor = 1e999: is too large (the largest double is 1.8e308)");
}

/* Whatever the config holds: one line a problem, and nothing that would steer a terminal. */
Test(messages, hostile_text__one_printable_line_each) {
  static const char *const yaml[] = {
      LLAMA "\"a\\nb\": 1\n",
      LLAMA "\"a\\e[31mb\": 1\n",
      LLAMA "seeds: \"a\\nb\\x07\"\n",
      LLAMA "name: \"a\\nb\"\n",
      LLAMA "methods: [\"ro\\npe\"]\n",
      LLAMA "methods: [{name: pi, \"fac\\ntor\": 2}]\n",
      LLAMA "methods: [{name: pi, label: \"a\\nb\", factor: [2, 2]}]\n",
      LLAMA "mask: {\"win\\ndow\": 2, window: 3}\n",
      LLAMA "heads: {\"a\\nb\": 2}\n",
      LLAMA "columns: [\"a\\nb\"]\n",
      "model: {hf: \"no\\nfile\"}\n",
      "model: \"a\\nb\"\n",
      "model: [{preset: gpt2, name: \"a\\nb\"}, {preset: gpt2, name: \"a\\nb\"}]\n",
  };
  for (size_t i = 0; i < RS_COUNT(yaml); i++) {
    reading got = read_edited(yaml[i], NULL, 0);
    const char *text = message_of(&got);
    cr_expect_eq(got.err.status, RS_INPUT, "%s", yaml[i]);
    size_t lines = 1;
    for (const char *c = text; *c != '\0'; c++) {
      lines += *c == '\n';
      cr_expect((unsigned char)*c >= 0x20 || *c == '\n', "%s: control character %d in: %s", yaml[i], *c, text);
      if (c == text || c[-1] == '\n')
        cr_expect_eq(strncmp(c, "t.yaml:", 7), 0, "%s: broken line in: %s", yaml[i], text);
    }
    cr_expect_eq(lines, got.problems.count, "%s: %zu lines for %zu problems: %s", yaml[i], lines, got.problems.count,
                 text);
    reading_clear(&got);
  }
}

/* A file with two mistakes is two problems, or one in one line. */
Test(messages, hf_file_with_two_mistakes__one_line_each) {
  static const char json[] = "{\"num_attention_heads\": 0, \"hidden_size\": -1}";
  char name[] = "/tmp/ropescope-config-XXXXXX", yaml[128];
  FILE *file = fdopen(mkstemp(name), "w");
  cr_assert_not_null(file);
  fputs(json, file);
  fclose(file);
  snprintf(yaml, sizeof yaml, "model: {hf: %s}\n", name);
  reading got = read_edited(yaml, NULL, 0);
  unlink(name);
  cr_expect_eq(got.err.status, RS_INPUT);
  size_t lines = 1;
  for (const char *c = strchr(message_of(&got), '\n'); c != NULL; c = strchr(c + 1, '\n'), lines++)
    cr_expect_eq(strncmp(c + 1, "t.yaml:", 7), 0, "broken line in: %s", message_of(&got));
  cr_expect_eq(lines, got.problems.count, "%zu lines for %zu problems: %s", lines, got.problems.count,
               message_of(&got));
  reading_clear(&got);
}

Test(messages, file_that_cannot_be_read__its_name) {
  reading got = {0};
  rs_status status =
      rs_config_load("/nonexistent/a.yaml", (rs_config_edits){0}, &got.experiment, &got.problems, &got.err);
  cr_expect_eq(status, RS_IO);
  cr_expect_null(got.experiment);
  cr_expect_str_eq(got.err.message, "/nonexistent/a.yaml: cannot read: No such file or directory");
  reading_clear(&got);
}

/* ---- what is accepted -------------------------------------------------------------------------------------------- */

Test(config, edits__change_the_config) {
  static const char base[] = LLAMA "methods: [rope, {name: pi, factor: 2}]\n";
  static const right cases[] = {
      {base, {"seeds=3"}, "seeds: [0, 1, 2]\n"},
      {base, {"methods[1].factor=8"}, "{name: pi, factor: 8}"},
      {base, {"methods[0].rope_theta=500000"}, "{name: rope, rope_theta: 500000}"},
      {base, {"methods[1].factor=[2, 4]"}, "label: \"pi factor=4\", factor: 4}"},
      {base, {"methods[1].factor=[2, 4]"}, "columns: [factor]\n"},
      {base, {"lengths=[1k, 2k]"}, "lengths: [1024, 2048]\n"},
      {base, {"lengths={from: 1k, to: 4k}"}, "lengths: [1024, 2048, 4096]\n"},
      {base, {"queries.last=5"}, "queries: {last: 5}\n"},
      {base, {"methods=yarn"}, "methods:\n  - {name: yarn}\n"},
      {base, {"model=gpt2"}, "{name: \"gpt2\", "},
      {base, {"model.preset=gpt2"}, "{name: \"llama-2-7b\", heads: 12, "}, /* the word became the name */
      {base, {"seeds=3", "seeds=1"}, "seeds: [0]\n"},
      {base, {"sources=needle", "sources.depth=0.25"}, "{name: needle, depth: 0.25, "},
      {base, {"methods=[rope, yarn]", "methods[1].factor=4", "methods[1].beta_fast=64"}, "factor: 4, beta_fast: 64}"},
      {base, {"description=a = b"}, "description: \"a = b\"\n"},
      {base, {"name=edited"}, "name: \"edited\"\n"},
  };
  expect_written(cases, RS_COUNT(cases));
}

Test(config, lengths__every_form) {
  static const right cases[] = {
      {LLAMA, {0}, "lengths: [4096]\n"}, /* the model's own */
      {LLAMA "lengths: 4k\n", {0}, "lengths: [4096]\n"},
      {LLAMA "lengths: 1M\n", {0}, "lengths: [1048576]\n"},
      {LLAMA "lengths: [8k, 1, 100]\n", {0}, "lengths: [8192, 1, 100]\n"},
      {LLAMA "lengths: {from: 4k, to: 32k, steps: octaves}\n", {0}, "lengths: [4096, 8192, 16384, 32768]\n"},
      {LLAMA "lengths: {from: 3, to: 20}\n", {0}, "lengths: [3, 6, 12]\n"},
      {LLAMA "lengths: {from: 1k, to: 4k, steps: half_octaves}\n", {0}, "lengths: [1024, 1448, 2048, 2896, 4096]\n"},
      {LLAMA "lengths: {from: 1, to: 8, steps: half_octaves}\n", {0}, "lengths: [1, 2, 4, 5, 8]\n"},
      {LLAMA "lengths: {from: 1k, to: 2k, steps: 512}\n", {0}, "lengths: [1024, 1536, 2048]\n"},
      {LLAMA "lengths: {from: 4k, to: 12k, steps: 4k}\n", {0}, "lengths: [4096, 8192, 12288]\n"},
      {LLAMA "lengths: {from: 7, to: 7, steps: 3}\n", {0}, "lengths: [7]\n"},
  };
  expect_written(cases, RS_COUNT(cases));
}

Test(config, small_keys__every_form) {
  static const right cases[] = {
      {LLAMA, {0}, "name: \"unnamed\"\ndescription: \"\"\n"},
      {LLAMA "name: a.b_c-9\ndescription: 'x \"y\" \\ z'\n",
       {0},
       "name: \"a.b_c-9\"\ndescription: \"x \\\"y\\\" \\\\ z\"\n"},
      {LLAMA,
       {0},
       "methods:\n  - {name: rope}\n    # unless the model publishes others: mrope_tail: t, vision_ids: qwen2_vl, "
       "wavelengths: exact, cached_keys: consistent, logit_scale: none\n"},
      {LLAMA, {0}, "sources:\n  - {name: gaussian, sd: 1, norm: free}\n"},
      {LLAMA,
       {0},
       "metrics:\n  - {name: decay, distances: log, per_octave: 16}\n  - {name: ood_angles}\n  - {name: entropy}\n"},
      {LLAMA, {0}, "seeds: [0]\nheads: 4\nqueries: {last: 64}\nmask: causal\n"},
      {LLAMA,
       {0},
       "precision: {positions: f64, inv_freq: f64, angle: f64, table: f64, running: false}\nengine: {scores: auto, "
       "epsilon: 1e-12}\nbins_per_octave: 4\n"},
      {LLAMA "seeds: [7, 0, 9007199254740992]\n", {0}, "seeds: [7, 0, 9007199254740992]\n"},
      {LLAMA "heads: all\n", {0}, "heads: all\n"},
      {LLAMA "heads: 3\n", {0}, "heads: 3\n"},
      {LLAMA "heads: [31, 0]\n", {0}, "heads: [31, 0]\n"},
      {LLAMA "heads: {each: all}\n", {0}, "heads: {each: all}\n"},
      {LLAMA "heads: {each: 2}\n", {0}, "heads: {each: 2}\n"},
      {LLAMA "heads: {each: [1, 2]}\n", {0}, "heads: {each: [1, 2]}\n"},
      {"model: {head_dim: 4, heads: 2, train_length: 8}\n", {0}, "heads: 2\nqueries"}, /* no more than there are */
      {LLAMA "queries: all\n", {0}, "queries: all\n"},
      {LLAMA "queries: {last: 1k}\n", {0}, "queries: {last: 1024}\n"},
      {LLAMA "queries: {every: 3}\n", {0}, "queries: {every: 3}\n"},
      {LLAMA "queries: {random: 5}\n", {0}, "queries: {random: 5}\n"},
      {LLAMA "mask: causal\n", {0}, "mask: causal\n"},
      {LLAMA "mask: bidirectional\n", {0}, "mask: bidirectional\n"},
      {LLAMA "mask: decoder\n", {0}, "mask: causal\n"},
      {LLAMA "mask: encoder\n", {0}, "mask: bidirectional\n"},
      {LLAMA "mask: cross\n", {0}, "mask: cross\n"},
      {LLAMA "mask: {window: 1k}\n", {0}, "mask: {window: 1024}\n"},
      {LLAMA "mask: {sinks: 4, window: 8}\n", {0}, "mask: {window: 8, sinks: 4}\n"},
      {LLAMA "tokens: [{text: 3}, {image: [2, 5]}, {video: [4, 2, 3], seconds_per_frame: 1, ids_per_second: 2.5}, "
             "{video: [1, 2, 3]}]\n",
       {0},
       "tokens:\n  - {text: 3}\n  - {image: [2, 5]}\n  - {video: [4, 2, 3], seconds_per_frame: 1, ids_per_second: "
       "2.5}\n"
       "  - {video: [1, 2, 3], seconds_per_frame: 1, ids_per_second: 1}\n"},
      {LLAMA "tokens: [{video: [2, 3, 4], timestamp_tokens: 6}, {text: 5}, {video: [1, 2, 2], timestamp_tokens: 1}]\n",
       {0},
       "tokens:\n  - {text: 6}\n  - {image: [3, 4]}\n  - {text: 6}\n  - {image: [3, 4]}\n  - {text: 5}\n  - {text: 1}\n"
       "  - {image: [2, 2]}\nprecision"},
      {LLAMA "tokens: [{video: [5000, 1, 1], timestamp_tokens: 1}]\n", {0}, "  - {image: [1, 1]}\nprecision"},
      {LLAMA "precision: f32\n",
       {0},
       "precision: {positions: f32, inv_freq: f32, angle: f32, table: f32, running: false}\n"},
      {LLAMA "precision: {angle: bf16, table: f16}\n",
       {0},
       "precision: {positions: f64, inv_freq: f64, angle: bf16, table: f16, running: false}\n"},
      {LLAMA "engine: {scores: f64}\n", {0}, "engine: {scores: f64, epsilon: 1e-12}\n"},
      {LLAMA "engine: {epsilon: 0, scores: f32}\n", {0}, "engine: {scores: f32, epsilon: 0}\n"},
      {LLAMA "engine: {epsilon: 1e-6}\n", {0}, "engine: {scores: auto, epsilon: 1e-06}\n"},
      {LLAMA "bins_per_octave: 64\n", {0}, "bins_per_octave: 64\n"},
      {LLAMA "sources: needle\ncolumns: [depth, overlap]\n", {0}, "columns: [depth, overlap]\n"},
      {LLAMA "methods: [{name: pi, factor: 2}]\ncolumns: [factor]\n", {0}, "columns: [factor]\n"},
      {LLAMA "methods: [{name: yarn, factor: [2, 4], beta_fast: [16]}]\n", {0}, "columns: [factor]\n"},
      {LLAMA "methods: [{name: mrope, mrope_section: [[16, 24, 24], [24, 20, 20]]}]\n",
       {0},
       "label: \"mrope mrope_section=[24, 20, 20]\", mrope_section: [24, 20, 20]}"},
      {LLAMA "methods: [{name: yarn, scale: [auto, 4]}]\n", {0}, "label: \"yarn scale=auto\", scale: auto}"},
      {LLAMA "metrics: [{name: decay, distances: all}]\n", {0}, "metrics:\n  - {name: decay, distances: all, "},
      {LLAMA "metrics: needle\nsources: [gaussian, needle]\n", {0}, "metrics:\n  - {name: needle}\n"},
  };
  expect_written(cases, RS_COUNT(cases));
}

Test(config, models__every_form) {
  static const right cases[] = {
      {"model: {head_dim: 64, train_length: 2k}\n",
       {0},
       "  - {name: \"custom\", heads: 32, head_dim: 64, rotary_dim: 64, rope_theta: 10000, train_length: 2048, "
       "max_length: "
       "2048, pair_layout: half_split}\n"},
      {"model: {name: mine, heads: 3, head_dim: 8, rotary_dim: 4, rope_theta: 1.5, train_length: 16, max_length: 32, "
       "pair_layout: interleaved, mrope_section: [1, 1, 0], mrope_layout: interleaved, published: {name: pi, factor: "
       "2}}\n",
       {0},
       "  - {name: \"mine\", heads: 3, head_dim: 8, rotary_dim: 4, rope_theta: 1.5, train_length: 16, max_length: 32, "
       "pair_layout: interleaved, mrope_section: [1, 1, 0], mrope_layout: interleaved, published: {name: pi, factor: "
       "2}}\n"},
      {"model: {preset: llama-2-7b, rope_theta: 5e5, name: mine}\n",
       {0},
       "{name: \"mine\", heads: 32, head_dim: 128, rotary_dim: 128, rope_theta: 500000, train_length: 4096,"},
      {"model: [gpt2, {preset: gpt2, name: other}]\nmethods: nope\n",
       {0},
       "{name: \"other\", heads: 12, head_dim: 64,"},
  };
  expect_written(cases, RS_COUNT(cases));
}

/* A path of a config is read from the config's own folder. */
Test(config, hf_path__beside_the_config) {
  rs_text name = {0};
  reading got = {0};
  rs_text_printf(&name, "%s/data/config.yaml", getenv("ROPESCOPE_TESTS"));
  rs_status status = rs_config_read("model: {hf: hf/llama-3.1.json, name: mine}\nmethods: llama3\n", name.data,
                                    (rs_config_edits){0}, &got.experiment, &got.problems, &got.err);
  cr_assert_eq(status, RS_OK, "%s", message_of(&got));
  cr_expect_eq(got.experiment->models[0].train_length, 8192);
  cr_expect_eq(got.experiment->models[0].rope_theta, 500000);
  cr_expect_str_eq(got.experiment->models[0].name, "mine");
  cr_expect_str_eq(got.experiment->models[0].published.method->name, "llama3");
  reading_clear(&got);
  rs_text_clear(&name);
}

Test(config, shipped_configs__load) {
  rs_text pattern = {0};
  glob_t found;
  rs_text_printf(&pattern, "%s/../configs/*.yaml", getenv("ROPESCOPE_TESTS"));
  cr_assert_eq(glob(pattern.data, 0, NULL, &found), 0, "%s", pattern.data);
  for (size_t i = 0; i <= found.gl_pathc; i++) { /* the last: the demo inside the program */
    reading got = {0};
    rs_status status = rs_config_load(i < found.gl_pathc ? found.gl_pathv[i] : NULL, (rs_config_edits){0},
                                      &got.experiment, &got.problems, &got.err);
    cr_expect_eq(status, RS_OK, "%s", message_of(&got));
    if (i == found.gl_pathc) cr_expect_str_eq(got.experiment->name, "quickstart");
    reading_clear(&got);
  }
  globfree(&found);
  rs_text_clear(&pattern);
}

/* ---- labels ------------------------------------------------------------------------------------------------------ */

Test(config, labels__tell_entries_apart) {
  static const struct {
    const char *methods, *labels; /* joined by '|' */
  } cases[] = {
      {"[nope, rope]", "nope|rope"},
      {"[{name: rope, label: plain}]", "plain"},
      {"[{name: pi, factor: [2, 4]}]", "pi factor=2|pi factor=4"},
      {"[{name: pi, factor: [2]}]", "pi"},
      {"[{name: pi, label: PI, factor: [2, 4]}]", "PI factor=2|PI factor=4"},
      {"[{name: yarn, factor: [2, 4], beta_fast: [16, 32]}]",
       "yarn factor=2 beta_fast=16|yarn factor=2 beta_fast=32|yarn factor=4 beta_fast=16|yarn factor=4 beta_fast=32"},
      {"[{name: yarn, factor: [2, 4], beta_fast: [16, 32], zip: true}]",
       "yarn factor=2 beta_fast=16|yarn factor=4 beta_fast=32"},
      {"[{name: yarn, zip: true, factor: [2, 4], beta_fast: 16}]", "yarn factor=2|yarn factor=4"},
      {"[{name: yarn, zip: false, factor: [2, 4]}]", "yarn factor=2|yarn factor=4"},
      {"[{name: pi, factor: 2}, {name: pi, factor: 4}]", "pi factor=2|pi factor=4"},
      {"[rope, {name: rope, rope_theta: 5e5}]", "rope|rope rope_theta=500000"},
      {"[{name: rope, label: a}, {name: pi, label: a, factor: 2}]", "a|a factor=2"},
      {"{name: pi, scale: [auto, dynamic, 4]}", "pi scale=auto|pi scale=dynamic|pi scale=4"},
  };
  for (size_t c = 0; c < RS_COUNT(cases); c++) {
    rs_text yaml = {0}, labels = {0};
    rs_text_printf(&yaml, LLAMA "methods: %s\n", cases[c].methods);
    rs_experiment *experiment = good(yaml.data);
    for (size_t i = 0; i < experiment->methods.count; i++)
      rs_text_printf(&labels, "%s%s", i > 0 ? "|" : "", experiment->methods.items[i].label);
    cr_expect_str_eq(labels.data, cases[c].labels, "%s: %s", cases[c].methods, labels.data);
    rs_experiment_free(experiment);
    rs_text_clear(&yaml);
    rs_text_clear(&labels);
  }
}

/* ---- cells ------------------------------------------------------------------------------------------------------- */

/* "model,method,length,source,seed,group" of each cell, joined by ' '. Release with free(). */
static char *cells_of(const rs_experiment *experiment) {
  rs_cell *cells;
  size_t count;
  rs_text text = {0};
  cr_assert_eq(rs_experiment_cells(experiment, &cells, &count, NULL), RS_OK);
  for (size_t i = 0; i < count; i++) {
    for (size_t a = 0; a < RS_AXIS_COUNT; a++) rs_text_printf(&text, "%zu,", cells[i].axis[a]);
    rs_text_printf(&text, "%zu ", cells[i].group);
  }
  free(cells);
  return text.data;
}

static void expect_cells(const char *yaml, const char *want) {
  rs_experiment *experiment = good(yaml);
  char *got = cells_of(experiment);
  cr_expect_str_eq(got, want, "%s\ngot:  %s\nwant: %s", yaml, got, want);
  free(got);
  rs_experiment_free(experiment);
}

Test(cells, grid__last_axis_fastest) {
  rs_text want = {0};
  for (int c = 0; c < 2 * 3 * 2 * 2 * 3 * 2; c++)
    rs_text_printf(&want, "%d,%d,%d,%d,%d,%d ", c / 72, c / 24 % 3, c / 12 % 2, c / 6 % 2, c / 2 % 3, c % 2);
  expect_cells("model: [llama-2-7b, gpt2]\nmethods: [nope, rope, alibi]\nlengths: [16, 32]\nsources: [gaussian, "
               "needle]\nseeds: 3\nheads: {each: 2}\n",
               want.data);
  rs_text_clear(&want);
}

Test(cells, zip__axes_advance_together) {
  static const wrong cases[] = {
      {"model: [llama-2-7b, gpt2]\nlengths: [16, 32]\nzip: [model, lengths]\nseeds: 2\n",
       "0,0,0,0,0,0 0,0,0,0,1,0 1,0,1,0,0,0 1,0,1,0,1,0 "},
      {LLAMA "methods: [nope, rope]\nlengths: [16, 32]\nseeds: 2\nzip: [seeds, lengths]\n",
       "0,0,0,0,0,0 0,0,1,0,1,0 0,1,0,0,0,0 0,1,1,0,1,0 "},
      {LLAMA "methods: [nope, rope]\nlengths: [16, 32]\nseeds: [5, 4]\nzip: [methods, seeds, lengths]\n",
       "0,0,0,0,0,0 0,1,1,0,1,0 "},
      {LLAMA "methods: [{name: pi, factor: [2, 4]}]\nsources: [gaussian, needle]\nzip: [methods, sources]\n",
       "0,0,0,0,0,0 0,1,0,1,0,0 "},
      {LLAMA "seeds: 2\nzip: [seeds]\n", "0,0,0,0,0,0 0,0,0,0,1,0 "},
      /* pairs that do not occur need not fit: Llama 2 has no divisors for longrope */
      {PAIRS "zip: [model, methods]\n", "0,0,0,0,0,0 1,1,0,0,0,0 "},
      {"zip: [methods, model]\n" PAIRS, "0,0,0,0,0,0 1,1,0,0,0,0 "},
      {PAIRS "lengths: [16, 32]\nzip: [lengths, methods, model]\n", "0,0,0,0,0,0 1,1,1,0,0,0 "},
      {"model: [gpt2, mpt-7b]\nmethods: nope\nheads: {each: all}\nlengths: 8\nzip: []\nsources: gaussian\n", NULL},
  };
  for (size_t i = 0; i + 1 < RS_COUNT(cases); i++) expect_cells(cases[i].yaml, cases[i].message);
  rs_text want = {0}; /* each model has its own number of heads */
  for (int h = 0; h < 12 + 32; h++) rs_text_printf(&want, "%d,0,0,0,0,%d ", h >= 12, h >= 12 ? h - 12 : h);
  expect_cells(cases[RS_COUNT(cases) - 1].yaml, want.data);
  rs_text_clear(&want);
}

/* The middles of equal parts of the model's heads. */
Test(cells, heads__spread_listed_all_each) {
  static const struct {
    const char *heads, *model;
    size_t groups;
    const char *want;
  } cases[] = {{"4", "llama-2-7b", 1, "4 12 20 28 "},
               {"1", "llama-2-7b", 1, "16 "},
               {"3", "qwen2-vl", 1, "4 14 23 "},
               {"2", "gpt2", 1, "3 9 "},
               {"12", "gpt2", 1, "0 1 2 3 4 5 6 7 8 9 10 11 "},
               {"all", "gpt2", 1, "0 1 2 3 4 5 6 7 8 9 10 11 "},
               {"[11, 0, 3]", "gpt2", 1, "11 0 3 "},
               {"{each: 4}", "llama-2-7b", 4, "4 |12 |20 |28 "},
               {"{each: [7, 1]}", "gpt2", 2, "7 |1 "},
               {"{each: all}", "gpt2", 12, "0 |1 |2 |3 |4 |5 |6 |7 |8 |9 |10 |11 "}};
  for (size_t c = 0; c < RS_COUNT(cases); c++) {
    rs_text yaml = {0}, got = {0};
    rs_head_group *groups;
    size_t count;
    rs_text_printf(&yaml, "model: %s\nmethods: nope\nheads: %s\n", cases[c].model, cases[c].heads);
    rs_experiment *experiment = good(yaml.data);
    cr_assert_eq(rs_experiment_heads(experiment, &experiment->models[0], &groups, &count, NULL), RS_OK);
    cr_expect_eq(count, cases[c].groups, "%s", cases[c].heads);
    for (size_t g = 0; g < count; g++) {
      rs_text_puts(&got, g > 0 ? "|" : "");
      for (size_t i = 0; i < groups[g].count; i++) rs_text_printf(&got, "%zu ", groups[g].heads[i]);
    }
    cr_expect_str_eq(got.data, cases[c].want, "heads: %s gave %s", cases[c].heads, got.data);
    rs_head_groups_free(groups, count);
    rs_experiment_free(experiment);
    rs_text_clear(&yaml);
    rs_text_clear(&got);
  }
}

/* A config that runs must observe at least one head, each once, and each seed once. */
Test(config, heads_and_seeds__not_none_not_twice) {
  static const char *const yaml[] = {LLAMA "heads: {}\n", LLAMA "heads: [1, 1]\n", LLAMA "heads: {each: [3, 2, 3]}\n",
                                     LLAMA "seeds: [4, 4]\n"};
  for (size_t i = 0; i < RS_COUNT(yaml); i++) {
    reading got = read_edited(yaml[i], NULL, 0);
    cr_expect_eq(got.err.status, RS_INPUT, "accepted: %s", yaml[i]);
    reading_clear(&got);
  }
}

/* ---- presets ----------------------------------------------------------------------------------------------------- */

static const struct {
  const char *name;
  size_t head_dim, heads, rotary_dim;
  double theta;
  size_t train, max;
  const char *recipe;
} published[] = {
    {"bloom-7b1", 128, 32, 128, 10000, 2048, 2048, "alibi"},
    {"codellama-7b", 128, 32, 128, 1e6, 16384, 16384, "rope"},
    {"deepseek-v3", 192, 128, 64, 10000, 4096, 163840, "yarn"},
    {"gemma-3", 256, 8, 256, 1e6, 32768, 131072, "pi"},
    {"gpt-j-6b", 256, 16, 64, 10000, 2048, 2048, "rope"},
    {"gpt-oss", 64, 64, 64, 150000, 4096, 131072, "yarn"},
    {"gpt2", 64, 12, 64, 10000, 1024, 1024, "learned"},
    {"llama-2-7b", 128, 32, 128, 10000, 4096, 4096, "rope"},
    {"llama-3-8b", 128, 32, 128, 500000, 8192, 8192, "rope"},
    {"llama-3.1-8b", 128, 32, 128, 500000, 8192, 131072, "llama3"},
    {"mistral-7b", 128, 32, 128, 10000, 8192, 32768, "rope"},
    {"mpt-7b", 128, 32, 128, 10000, 2048, 2048, "alibi"},
    {"phi-3-mini-128k", 96, 32, 96, 10000, 4096, 131072, "longrope"},
    {"pythia-6.9b", 128, 32, 32, 10000, 2048, 2048, "rope"},
    {"qwen2-vl", 128, 28, 128, 1e6, 32768, 32768, "mrope"},
    {"qwen2.5-7b", 128, 28, 128, 1e6, 32768, 131072, "rope"},
    {"qwen2.5-vl-7b", 128, 28, 128, 1e6, 32768, 128000, "mrope"},
    {"qwen3-8b", 128, 32, 128, 1e6, 32768, 40960, "rope"},
    {"qwen3-vl-8b", 128, 32, 128, 5e6, 262144, 262144, "mrope"},
    {"transformer-base", 64, 8, 64, 10000, 512, 512, "sinusoidal"},
    {"yarn-llama-2-7b-64k", 128, 32, 128, 10000, 4096, 65536, "yarn"},
};

Test(presets, numbers__as_published) {
  for (size_t i = 0; i < RS_COUNT(published); i++) {
    rs_model model;
    rs_err err = {0};
    cr_assert_eq(rs_preset_model(published[i].name, &model, &err), RS_OK, "%s: %s", published[i].name, err.message);
    cr_expect_str_eq(model.name, published[i].name);
    cr_expect_eq(model.head_dim, published[i].head_dim, "%s", published[i].name);
    cr_expect_eq(model.heads, published[i].heads, "%s", published[i].name);
    cr_expect_eq(model.rotary_dim, published[i].rotary_dim, "%s", published[i].name);
    cr_expect_eq(model.rope_theta, published[i].theta, "%s", published[i].name);
    cr_expect_eq(model.train_length, published[i].train, "%s", published[i].name);
    cr_expect_eq(model.max_length, published[i].max, "%s", published[i].name);
    cr_expect_str_eq(model.published.method->name, published[i].recipe, "%s", published[i].name);
    rs_model_clear(&model);
  }
}

Test(presets, every_one__loads_checks_and_makes_tables) {
  size_t count;
  const rs_preset *presets = rs_presets(&count);
  cr_expect_geq(count, RS_COUNT(published));
  for (size_t i = 0; i < count; i++) {
    rs_model model;
    rs_encoding *encoding = NULL;
    rs_err err = {0};
    cr_assert_eq(rs_preset_model(presets[i].name, &model, &err), RS_OK, "%s: %s", presets[i].name, err.message);
    cr_expect_str_eq(model.name, presets[i].name);
    cr_expect_neq(model.published.method, NULL, "%s", presets[i].name);
    cr_expect_eq(rs_recipe_check(&model.published, &model, &err), RS_OK, "%s: %s", presets[i].name, err.message);
    cr_expect_eq(rs_encoding_create(&model.published, &model, 64, NULL, NULL, &encoding, &err), RS_OK, "%s: %s",
                 presets[i].name, err.message);
    rs_encoding_free(encoding);
    rs_model_clear(&model);
  }
}

Test(presets, unknown__nearest) {
  rs_model model;
  rs_err near = {0}, far = {0};
  cr_expect_eq(rs_preset_model("lama-2-7b", &model, &near), RS_INPUT);
  cr_expect_str_eq(near.message, "is no model preset (did you mean llama-2-7b?)");
  cr_expect_eq(rs_preset_model("", &model, &far), RS_INPUT);
  cr_expect_str_eq(far.message, "is no model preset (ropescope list models shows them)");
}

/* ---- there and back ---------------------------------------------------------------------------------------------- */

/* Configs that use every key and each way to write it. */
static const char *const trips[] = {
    LLAMA,
    "name: full\ndescription: \"quotes \\\" and \\\\, a line\\nbreak, \\t tab, \\u00e9\"\nmodel: [llama-2-7b, {preset: "
    "gpt-oss, name: 'o \"o\"'}]\nlengths: {from: 16, to: 64}\nmethods:\n  - nope\n  - {name: yarn, scale: dynamic, "
    "beta_fast: [16, 32]}\n  - {name: pi, label: 'a \"b\" \\ c', factor: [2, 4]}\nsources: [{name: needle, depth: "
    "[0.1, 0.9]}, gaussian]\nmetrics: [{name: decay, distances: all}, entropy]\nseeds: [3, 1]\nheads: {each: [3, "
    "1]}\nqueries: {every: 3}\nmask: {window: 9, sinks: 2}\ntokens: [{text: 4}, {image: [2, 2]}]\nprecision: {angle: "
    "f32, table: bf16}\nbins_per_octave: 7\ncolumns: [overlap]\n",
    LLAMA "lengths: [16, 32]\nseeds: 2\nzip: [lengths, seeds]\nheads: all\nqueries: all\nmask: bidirectional\n",
    LLAMA "methods: [{name: yarn, zip: true, factor: [2, 4], beta_fast: [16, 32]}]\nqueries: {random: 9}\n",
    LLAMA
    "tokens: [{video: [2, 3, 4], seconds_per_frame: 1, ids_per_second: 0.1}]\nheads: {each: all}\nmask: {window: 5}\n",
    "model: {head_dim: 8, heads: 2, rope_theta: 1.1, rotary_dim: 4, pair_layout: interleaved, train_length: 16, "
    "mrope_section: [1, 1, 0], mrope_layout: interleaved, published: mrope}\nmethods: mrope\n",
    /* what a model publishes fills what a method leaves out: that must be so after the trip too */
    "model: gpt-oss\nmethods: yarn\n",
    "model: deepseek-v3\nmethods: [yarn, {name: yarn, factor: 8}]\n",
    "model: [qwen2-vl, qwen3-vl-8b, llama-2-7b]\nmethods: [mrope, {name: mrope, label: e, mrope_section: equal}]\n",
    "model: phi-3-mini-128k\nmethods: longrope\n",
    "model: llama-3.1-8b\nmethods: [llama3, {name: llama3, scale: auto}]\n",
    "model: {head_dim: 8, train_length: 16, published: {name: dynamic_ntk, factor: 4}}\nmethods: dynamic_ntk\n",
    "model: {head_dim: 8, train_length: 16, published: {name: alibi, bias_max: 4}}\nmethods: alibi\n",
    "model: {head_dim: 8, train_length: 16, published: {name: yarn, scale: 4, logit_scale: log_n}}\nmethods: yarn\n",
    "model: {head_dim: 8, heads: 1, train_length: 16, published: {name: rope, logit_scale: ministral, "
    "logit_scale_factor: 0.2, logit_scale_length: 8}}\nmethods: [rope, {name: rope, label: s, logit_scale: "
    "ssmax}]\nmask: cross\n",
    "model: {head_dim: 8, heads: 1, train_length: 16}\nmethods: [{name: alibi, slope_factor: inv_sqrt_dim, bias_form: "
    "end}, {name: kerple_log, r1: [0.5], r2: [2]}, {name: relative, clip: 1, values: [0.5, -1, 1e-3]}]\n",
    "model: gpt2\nmethods: [learned, sinusoidal, {name: learned, label: t, table_seed: 9}]\n",
};

/* Every setting of every recipe, as it will be run. */
static char *recipes_of(const rs_experiment *experiment) {
  rs_text text = {0};
  for (size_t m = 0; m < experiment->model_count; m++)
    for (size_t i = 0; i < experiment->methods.count; i++) {
      rs_recipe recipe;
      rs_encoding *encoding = NULL;
      cr_assert_eq(rs_experiment_recipe(experiment, m, i, &recipe, NULL), RS_OK);
      rs_text_printf(&text, "%zu %s:", m, recipe.method->name);
      for (size_t p = 0; p < recipe.settings.count; p++) {
        rs_text_printf(&text, " %s=", recipe.settings.params[p]->name);
        rs_value_write(recipe.settings.params[p], &recipe.settings.values[p], &text);
      }
      cr_assert_eq(rs_encoding_create(&recipe, &experiment->models[m], 16, NULL, NULL, &encoding, NULL), RS_OK);
      for (size_t j = 0; j < encoding->rotary_dim / 2; j++) {
        rs_text_printf(&text, " %d:", (int)encoding->axis[j]);
        rs_text_number(&text, encoding->omega[j]);
      }
      rs_text_puts(&text, "\n");
      rs_encoding_free(encoding);
      rs_recipe_clear(&recipe);
    }
  return text.data;
}

static void expect_same(const char *what, const char *yaml, char *before, char *after) {
  cr_expect_str_eq(after, before, "%s of %s\nbefore: %s\nafter:  %s", what, yaml, before, after);
  free(before);
  free(after);
}

Test(round_trip, written_config__the_same_text_cells_and_recipes) {
  for (size_t i = 0; i < RS_COUNT(trips); i++) {
    rs_experiment *before = good(trips[i]);
    char *text = written(before);
    rs_experiment *after = good(text);
    expect_same("cells", trips[i], cells_of(before), cells_of(after));
    expect_same("recipes", trips[i], recipes_of(before), recipes_of(after));
    for (size_t k = 0; k < before->methods.count && k < after->methods.count; k++)
      cr_expect_str_eq(after->methods.items[k].label, before->methods.items[k].label);
    expect_same("text", trips[i], text, written(after));
    rs_experiment_free(before);
    rs_experiment_free(after);
  }
}

/* Names and texts that YAML would take for something else. */
Test(round_trip, odd_texts__survive) {
  static const char *const yaml[] = {LLAMA "name: \"-\"\n",
                                     LLAMA "name: 1e5\n",
                                     LLAMA "name: 'null'\n",
                                     LLAMA "name: -a\n",
                                     LLAMA "name: _\n",
                                     LLAMA "name: 'a.'\n",
                                     LLAMA "description: \"a\\x7fb\"\n",
                                     LLAMA "description: \"a\\x85b \\x80 \\u2028 \\uFEFF \\U0001F600\"\n",
                                     LLAMA "methods: [{name: rope, label: \"a\\x7f: # b\"}]\n",
                                     "model: {preset: gpt2, name: \"x\\ny\"}\nmethods: nope\n",
                                     "model: {preset: gpt2, name: \"\"}\nmethods: nope\n"};
  for (size_t i = 0; i < RS_COUNT(yaml); i++) {
    rs_experiment *before = good(yaml[i]);
    char *text = written(before);
    reading got = read_edited(text, NULL, 0);
    cr_expect_eq(got.err.status, RS_OK, "%s is written as\n%swhich is refused: %s", yaml[i], text, message_of(&got));
    if (got.experiment != NULL) {
      cr_expect_str_eq(got.experiment->name, before->name);
      cr_expect_str_eq(got.experiment->description, before->description);
      cr_expect_str_eq(got.experiment->models[0].name, before->models[0].name);
      cr_expect_str_eq(got.experiment->methods.items[0].label, before->methods.items[0].label);
    }
    reading_clear(&got);
    free(text);
    rs_experiment_free(before);
  }
}

/* ---- plans ------------------------------------------------------------------------------------------------------- */

Test(plan, numbers__from_the_sizes) {
  static const struct {
    const char *yaml;
    size_t cells, columns;
    double flops; /* 2 D L Q heads of each cell */
  } cases[] = {
      /* 8 key columns, 4 of entropy, 2 of status */
      {LLAMA "lengths: 1k\nmetrics: entropy\n", 1, 14, 2.0 * 128 * 1024 * 64 * 4},
      {LLAMA "lengths: [16, 1k]\nmetrics: entropy\nseeds: 3\nheads: all\n", 6, 14,
       3 * 2.0 * 128 * 32 * (16 * 16 + 1024 * 64)},
      {LLAMA "lengths: 100\nmetrics: entropy\nqueries: {every: 30}\nheads: [1, 2]\n", 1, 14, 2.0 * 128 * 100 * 4 * 2},
      {LLAMA "lengths: 100\nmetrics: entropy\nqueries: all\nheads: {each: 3}\n", 3, 14, 3 * 2.0 * 128 * 100 * 100},
      {LLAMA "metrics: decay\n", 1, 11, 0}, /* tables alone: no queries meet keys */
      {LLAMA "lengths: 10\nmetrics: [decay, ood_angles]\nmethods: [{name: pi, factor: [2, 4]}, rope]\n", 3,
       8 + 1 + 3 + 2, 0},
      {"model: [llama-2-7b, gpt2]\nmethods: nope\nlengths: 64\nmetrics: entropy\nheads: 1\n", 2, 14,
       2.0 * (128 + 64) * 64 * 64},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_experiment *experiment = good(cases[i].yaml);
    rs_plan plan;
    cr_assert_eq(rs_plan_make(experiment, &plan, NULL), RS_OK);
    cr_expect_eq(plan.cells, cases[i].cells, "%s: %zu cells", cases[i].yaml, plan.cells);
    cr_expect_eq(plan.summary_columns, cases[i].columns, "%s: %zu columns", cases[i].yaml, plan.summary_columns);
    cr_expect_float_eq(plan.score_flops, cases[i].flops, 1e-9 * cases[i].flops + 1e-9, "%s: %g", cases[i].yaml,
                       plan.score_flops);
    rs_experiment_free(experiment);
  }
}

/* A metric of patches has a row for each, as far as it shows them; of runs, for each and the text after. */
#define PICTURE "tokens: [{image: [4, 4]}]\n"

Test(plan, curve_rows__of_patches_and_runs__are_bounded) {
  static const struct {
    const char *yaml;
    double rows;
  } cases[] = {
      {LLAMA "lengths: 100k\nmetrics: grid_decay\n" PICTURE, 16384},
      {LLAMA "lengths: 1k\nmetrics: grid_decay\n" PICTURE, 1024},
      {LLAMA "lengths: 1k\nmetrics: {name: grid_decay, most_rows: 9}\n" PICTURE, 9},
      {LLAMA "lengths: 4k\nmetrics: id_growth\ntokens: [{video: [300, 1, 1], timestamp_tokens: 1}]\n", 601},
      {LLAMA "lengths: 4k\nmetrics: {name: decay, distances: all}\n", 4096},
      {LLAMA "lengths: 4k\nmetrics: [ood_angles, entropy]\n", 64},
      {LLAMA "lengths: 4k\nmetrics: {name: axis_decay, reach: 100, distances: all}\n", 100},
  };
  for (size_t i = 0; i < RS_COUNT(cases); i++) {
    rs_experiment *experiment = good(cases[i].yaml);
    rs_plan plan;
    cr_assert_eq(rs_plan_make(experiment, &plan, NULL), RS_OK);
    cr_expect_eq(plan.curve_rows, cases[i].rows, "%s: %g rows", cases[i].yaml, plan.curve_rows);
    rs_experiment_free(experiment);
  }
}

/* Twice the length: at least twice the bytes; and never less than the keys of one head. */
Test(plan, memory__grows_with_the_length) {
  double before = 0;
  for (size_t length = 4096; length <= 65536; length *= 2) {
    rs_text yaml = {0};
    rs_plan plan;
    rs_text_printf(&yaml, LLAMA "lengths: [16, %zu]\n", length);
    rs_experiment *experiment = good(yaml.data);
    cr_assert_eq(rs_plan_make(experiment, &plan, NULL), RS_OK);
    cr_expect_gt(plan.peak_bytes, 8.0 * 128 * (double)length);
    cr_expect_lt(plan.peak_bytes, 100 * 8.0 * 128 * (double)length);
    if (before > 0) cr_expect_gt(plan.peak_bytes, 1.5 * before);
    before = plan.peak_bytes;
    rs_experiment_free(experiment);
    rs_text_clear(&yaml);
  }
}
