/* test_config_syntax.c: what is said of text that is no config: syntax, numbers, names. Messages are compared whole,
 * since they are what a user sees. */
#include <criterion/criterion.h>

#include "../fixtures/reading.h"
#include "base/base.h"

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
     "t.yaml:2:31: methods[0].scale = dynamics: must be one of fixed, auto, dynamic, hf_dynamic, vllm_dynamic, "
     "qwen_dynamic, or a "
     "number (did you "
     "mean dynamic?)"},
    {LLAMA "methods: [{name: yarn, scale: cubic}]\n",
     "t.yaml:2:31: methods[0].scale = cubic: must be one of fixed, "
     "auto, dynamic, hf_dynamic, vllm_dynamic, qwen_dynamic, or a number"},
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
    {LLAMA "seeds: \"a\\nb\"\n", "t.yaml:2:8: seeds = \"a\\nb\": must be a number, not text (take the quotes away)"},
    {LLAMA "seeds: 1111111111111111111111111111111111111111111111111111111111111111111111\n",
     "t.yaml:2:8: seeds = 1111111111111111111111111111111111111111...: must be a number"},
};

static const wrong unknown_keys[] = {
    {"modle: llama-2-7b\n", "t.yaml:1:1: modle: a config has no key modle (did you mean model?)"},
    {LLAMA "method: [rope]\n", "t.yaml:2:1: method: a config has no key method (did you mean methods?)"},
    {LLAMA "lenghts: 4k\n", "t.yaml:2:1: lenghts: a config has no key lenghts (did you mean lengths?)"},
    {LLAMA "zzzzzz: 1\n",
     "t.yaml:2:1: zzzzzz: a config has no key zzzzzz (it has name, description, task, checkpoint, model, lengths, "
     "tokens, methods, sources, sequences, target_tokens, targets, baselines, "
     "metrics, seeds, heads, queries, mask, precision, engine, bins_per_octave, zip, columns)"},
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
     "t.yaml:1:8: model = {...}: needs train_length (or the name of a preset, or {hf: config.json})"},
    {"model: {preset: gpt2, hf: x.json}\n",
     "t.yaml:1:27: model.hf = x.json: stands beside a preset (keep one of them)"},
    {"model: {hf: none.json}\n",
     "t.yaml:1:13: model.hf = none.json: none.json: cannot read: No such file or directory"},
    {"model: {preset: [gpt2]}\n", "t.yaml:1:17: model.preset = [...]: must be one word"},
    {"model: {preset: gpt3}\n", "t.yaml:1:17: model.preset = gpt3: is no model preset (did you mean gpt2?)"},
    {LLAMA "methods: [yarm]\n", "t.yaml:2:11: methods[0] = yarm: is no method (did you mean yarn?)"},
    {LLAMA "methods: dynamic_yarn\n",
     "t.yaml:2:10: methods = dynamic_yarn: is no method (did you mean {name: yarn, scale: dynamic}?)"},
    {LLAMA "methods: [kerple_power]\n",
     "t.yaml:2:11: methods[0] = kerple_power: is no method (did you mean {name: kerple_log, kernel: power}?)"},
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
     "t.yaml:2:20: metrics[1] = entropy: has the label \"entropy\", as metrics[0] at t.yaml:2:11 (give one of them "
     "another label: ...)"},
    {LLAMA "methods:\n- rope\n- {name: pi, factor: 2, label: a}\n- {name: yarn, factor: 4, label: a}\n",
     "t.yaml:5:34: methods[2].label = a: has the label \"a\", as methods[1].label at t.yaml:4:32 (give one of them "
     "another label: ...)"},
    {LLAMA
     "methods: [{name: pi, factor: 2, label: a}, {name: pi, factor: 4, label: a}, {name: pi, factor: 8, label: a}]\n",
     "t.yaml:2:73: methods[1].label = a: has the label \"a\", as methods[0].label at t.yaml:2:40 (give one of them "
     "another label: ...)\n"
     "t.yaml:2:106: methods[2].label = a: has the label \"a\", as methods[0].label at t.yaml:2:40 (give one of them "
     "another label: ...)"},
    {LLAMA "methods: [rope, {name: pi, factor: 2, label: rope}]\n",
     "t.yaml:2:46: methods[1].label = rope: has the label \"rope\", as methods[0] at t.yaml:2:11 (give one of them "
     "another label: ...)"},
    {LLAMA "methods: [{name: pi, factor: [2, 4], label: a}, {name: ntk, factor: [4, 8], label: a}]\n",
     "t.yaml:2:84: methods[1].label = a: has the label \"a factor=4\", as methods[0].label at t.yaml:2:45 (give one of "
     "them another label: ...)"},
    {LLAMA "sources: [{name: gaussian, norm: free, label: a}, {name: gaussian, norm: both, label: a}]\n",
     "t.yaml:2:87: sources[1].label = a: has the label \"a\", as sources[0].label at t.yaml:2:47 (give one of them "
     "another label: ...)"},
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
     "t.yaml:2:7: name = \"a\\nb\": may hold letters, digits, '.', '_' and '-' only: it names the results folder"},
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
