/* test_config_contradictions.c: what is said of configs whose parts do not fit. Messages are compared whole, since
 * they are what a user sees. */
#include <criterion/criterion.h>
#include <string.h>

#define NAME_64 "0123456789012345678901234567890123456789012345678901234567890123"
#define NAME_192 NAME_64 NAME_64 NAME_64

#include "../fixtures/reading.h"
#include "base/base.h"

#define UNPAIRED "t.yaml:2:11: methods[0] = longrope: short_factor: is missing: it has one divisor for each pair"

static const wrong contradictions[] = {
    {LLAMA "methods: [{name: yarn, factor: 4, beta_fast: 1, beta_slow: 2}]\n",
     "t.yaml:2:46: methods[0].beta_fast = 1: must exceed beta_slow = 2 (the paper uses 32 and 1)"},
    {LLAMA "methods: [{name: yarn, factor: 4, beta_slow: 40}]\n",
     "t.yaml:2:11: methods[0] = {...}: beta_fast: must exceed beta_slow = 40 (the paper uses 32 and 1)"},
    {LLAMA "methods: [{name: yarn, factor: 4, beta_slow: [1, 20], beta_fast: [32, 0.5]}]\n",
     "t.yaml:2:71: methods[0].beta_fast[1] = 0.5: must exceed beta_slow = 1 (the paper uses 32 and 1)\n"
     "t.yaml:2:71: methods[0].beta_fast[1] = 0.5: must exceed beta_slow = 20 (the paper uses 32 and 1)"},
    {LLAMA "methods: [{name: yarn, factor: 4, ramp: paper, beta_fast: 8, beta_slow: 8}]\n",
     "t.yaml:2:59: methods[0].beta_fast = 8: must exceed beta_slow = 8 (the paper uses 32 and 1)"},
    {LLAMA "methods: [{name: ntk_by_parts, factor: 4, beta_fast: [32, 0.5]}]\n",
     "t.yaml:2:59: methods[0].beta_fast[1] = 0.5: must exceed beta_slow = 1 (the paper uses 32 and 1)"},
    {LLAMA "methods: [{name: rope, mrope_layout: interleaved}]\n",
     "t.yaml:2:38: methods[0].mrope_layout = interleaved: has no effect with mrope_section: none (leave one of them "
     "out)"},
    {LLAMA "methods: [{name: yarn, mrope_tail: unrotated}]\n",
     "t.yaml:2:36: methods[0].mrope_tail = unrotated: has no effect with mrope_section: none (leave one of them out)"},
    {LLAMA "methods: [{name: rope, vision_ids: hf}]\n",
     "t.yaml:2:36: methods[0].vision_ids = hf: has no effect with mrope_section: none (leave one of them out)"},
    {LLAMA "methods: [{name: rope, vision_ids: videorope, vision_step: 2}]\n",
     "t.yaml:2:36: methods[0].vision_ids = videorope: has no effect with mrope_section: none (leave one of them out)"},
    {LLAMA "methods: [{name: rope, id_arithmetic: f64}]\n",
     "t.yaml:2:39: methods[0].id_arithmetic = f64: has no effect with mrope_section: none (leave one of them out)"},
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
    {"model: {head_dim: 64, train_length: 16, mrope_section: 5}\n",
     "t.yaml:1:56: model.mrope_section = 5: must be pairs of the axes [t, h, w], like [16, 24, 24]"},
    {"model: {head_dim: 64, train_length: 16, mrope_section: [8, 12, 12], mrope_layout: stripes}\n",
     "t.yaml:1:83: model.mrope_layout = stripes: must be one of contiguous, interleaved, spatial_first, fair"},
    {"model: {head_dim: 64, rotary_dim: 33, train_length: 16}\n",
     "t.yaml:1:8: model = {...}: needs an even head_dim and rotary_dim: dims turn in pairs"},
    {"model: [[gpt2]]\n", "t.yaml:1:9: model[0] = [...]: must be a preset's name, {hf: config.json}, or numbers"},
    {LLAMA "methods: [{name: rope, rotary_dim: 63}]\n", "t.yaml:2:36: methods[0].rotary_dim = 63: must be even"},
    {LLAMA "methods: [{name: rope, rotary_dim: 256}]\n",
     "t.yaml:2:36: methods[0].rotary_dim = 256: exceeds the model's head_dim = 128"},
    {"model: {head_dim: 63, train_length: 16}\n",
     "t.yaml:1:8: model = {...}: needs an even head_dim and rotary_dim: dims turn in pairs"},
    {"model: {head_dim: 64, rotary_dim: 63, train_length: 16}\n",
     "t.yaml:1:8: model = {...}: needs an even head_dim and rotary_dim: dims turn in pairs"},
    {"model: {head_dim: 63, rotary_dim: 62, train_length: 16}\n",
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
    {LLAMA "metrics: [{name: embedding, channels: [0, 1.5]}]\n",
     "t.yaml:2:39: metrics[0].channels = [...]: lists 1.5, which is no channel"},
    {LLAMA "metrics: [{name: embedding, channels: [0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16]}]\n",
     "t.yaml:2:39: metrics[0].channels = [...]: lists 17 channels (at most 16 are shown)"},
    {LLAMA "sources: [{name: band, from: 0.8, to: 0.2}]\n", "t.yaml:2:39: sources[0].to = 0.2: must exceed from = 0.8"},
    /* a metric of pictures, or of needles, wants some */
    {LLAMA "metrics: [{name: top_mass, k: [1, 4, 3]}]\n",
     "t.yaml:2:31: metrics[0].k = [...]: must ascend: 3 follows 4"},
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
    {"model: [phi-3-mini-128k, llama-2-7b]\nmethods: [longrope, rope]\nzip: [[model], methods]\n",
     UNPAIRED "\nt.yaml:3:7: zip[0] = [...]: must be one word"},
    {"model: [gemma-3, mistral-7b]\nmask: model\n",
     "t.yaml:2:7: mask = model: mistral-7b sees other keys than gemma-3: write a config for each"},
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
    {LLAMA "methods: [{name: yarn, beta_fast: [32, 0.5, 16], beta_slow: [1, 20]}]\n",
     "t.yaml:2:40: methods[0].beta_fast[1] = 0.5: must exceed beta_slow = 1 (the paper uses 32 and 1)\n"
     "t.yaml:2:40: methods[0].beta_fast[1] = 0.5: must exceed beta_slow = 20 (the paper uses 32 and 1)\n"
     "t.yaml:2:45: methods[0].beta_fast[2] = 16: must exceed beta_slow = 20 (the paper uses 32 and 1)"},
    {"model: {preset: gpt2, name: " NAME_192 "}\nmethods: nope\n",
     "t.yaml:1:29: model.name = 0123456789012345678901234567890123456789...: is longer than 191 bytes"},
    {LLAMA "lengths: []\n", "t.yaml:2:10: lengths = [...]: is an empty list"},
    {LLAMA "lengths: [0]\n", "t.yaml:2:11: lengths[0] = 0: must be from 1 to 268435456"},
    {LLAMA "lengths: [1e9]\n", "t.yaml:2:11: lengths[0] = 1e9: must be from 1 to 268435456"},
    {LLAMA "lengths: 4.5\n", "t.yaml:2:10: lengths = 4.5: must be a whole number"},
    {LLAMA "lengths: {from: 8k, to: 4k}\n", "t.yaml:2:25: lengths.to = 4k: must be at least from = 8192"},
    {LLAMA "lengths: {from: 4k}\n",
     "t.yaml:2:10: lengths = {...}: needs from and to, like {from: 4k, to: 128k, steps: octaves}"},
    {LLAMA "lengths: {from: 4k, to: 8k, steps: octave}\n",
     "t.yaml:2:36: lengths.steps = octave: must be one of octaves, half_octaves, or a number (did you mean octaves?)"},
    {LLAMA "lengths: {from: 4k, to: 8k, steps: 0}\n", "t.yaml:2:36: lengths.steps = 0: must be from 1 to 268435456"},
    {LLAMA "lengths: {from: 1, to: 1M, steps: 1}\n", "t.yaml:2:10: lengths = {...}: has more than 100000 lengths"},
    {LLAMA "lengths: {from: x, to: 8k}\n", "t.yaml:2:17: lengths.from = x: must be a number"},
    {LLAMA "lengths: {from: 4k, to: 8k, steps: [1]}\n", "t.yaml:2:36: lengths.steps = [...]: must be one value"},
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
    {LLAMA "heads: {each: {all: 3}}\n", "t.yaml:2:15: heads.each = {...}: must be one value"},
    {LLAMA "name: ''\n", "t.yaml:2:7: name = \"\": must be 1 to 100 letters that do not start with '.'"},
    {LLAMA "name: .x\n", "t.yaml:2:7: name = .x: must be 1 to 100 letters that do not start with '.'"},
    {LLAMA "name: " NAME_64 "01234567890123456789012345678901234567\n",
     "t.yaml:2:7: name = 0123456789012345678901234567890123456789...: must be 1 to 100 letters that do not start with "
     "'.'"},
    {LLAMA "heads: {each: []}\n", "t.yaml:2:15: heads.each = [...]: is an empty list"},
    {LLAMA "queries: some\n", "t.yaml:2:10: queries = some: must be all, {last: K}, {every: K} or {random: K}"},
    {LLAMA "queries: {last: 0}\n", "t.yaml:2:17: queries.last = 0: must be from 1 to 268435456"},
    {LLAMA "queries: {last: 2, every: 3}\n",
     "t.yaml:2:10: queries = {...}: must be all, {last: K}, {every: K} or {random: K}"},
    {LLAMA "queries: []\n", "t.yaml:2:10: queries = [...]: must be all, {last: K}, {every: K} or {random: K}"},
    {LLAMA "queries: {random: x}\n", "t.yaml:2:19: queries.random = x: must be a number"},
    {LLAMA "mask: windowed\n",
     "t.yaml:2:7: mask = windowed: must be causal (decoder), bidirectional (encoder), cross, model, "
     "{window: W}, {window: W, sinks: S}, {chunk: W} or {band: W}"},
    {LLAMA "mask: {sinks: 4}\n",
     "t.yaml:2:7: mask = {...}: must be causal (decoder), bidirectional (encoder), cross, model, "
     "{window: W}, {window: W, sinks: S}, {chunk: W} or {band: W}"},
    {LLAMA "mask: {window: 0}\n", "t.yaml:2:16: mask.window = 0: must be from 1 to 268435456"},
    {LLAMA "mask: {window: 4, sinks: 0}\n", "t.yaml:2:26: mask.sinks = 0: must be from 1 to 268435456"},
    {LLAMA "mask: [causal]\n",
     "t.yaml:2:7: mask = [...]: must be causal (decoder), bidirectional (encoder), cross, model, "
     "{window: W}, {window: W, sinks: S}, {chunk: W} or {band: W}"},
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
     "t.yaml:2:11: methods[0] = {...}: two of its combinations have the label \"pi factor=2\" (take one of them away)"},
    {LLAMA "methods: [rope, rope]\n",
     "t.yaml:2:17: methods[1] = rope: has the label \"rope\", as methods[0] at t.yaml:2:11 (give one of them another "
     "label: ...)"},
    {LLAMA "sources: [gaussian, gaussian]\n",
     "t.yaml:2:21: sources[1] = gaussian: has the label \"gaussian\", as sources[0] at t.yaml:2:11 (give one of them "
     "another label: ...)"},
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
    {"methods[0]", "--set methods[0]: has no '=' (like --set methods[1].factor=8)"},
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
     "--set:1:1: foo: a config has no key foo (it has name, description, task, checkpoint, model, lengths, tokens, "
     "methods, "
     "sources, sequences, target_tokens, targets, baselines, metrics, seeds, heads, queries, mask, precision, "
     "engine, bins_per_octave, zip, "
     "columns)"},
    {"methods[0][1]=2",
     "--set methods[0][1]=2: the path has an index where there is no list (like --set methods[1].factor=8)"},
    {"methods[1]={name: yarn, foo: 3}", "--set:1:14: methods[1].foo: yarn has no key foo (ropescope list shows them)"},
    {"[0]=3", "--set [0]=3: the path has an index where there is no list (like --set methods[1].factor=8)"},
    {"methods[0.factor=2",
     "--set methods[0.factor=2: an index is a number in brackets (like --set methods[1].factor=8)"},
    {"sources[0].depth=2",
     "--set sources[0].depth=2: the path has an index where there is no list (like --set methods[1].factor=8)"},
    {"seeds=&a 3",
     "--set seeds=&a 3: value:1:1: anchors (&) are not supported (write the value out where it is needed)"},
    {"seeds.x=3", "--set:1:1: seeds = {...}: must be one value"},
    {"model.x.y=3",
     "--set:1:1: model.x: a model has no key x (it has name, preset, hf, mrope_section, published, layers, heads, "
     "head_dim, rotary_dim, rope_theta, train_length, max_length, pair_layout, mrope_layout)"},
    {"lengths=[4k,4k]", "--set:1:5: lengths[1] = 4k: is given twice"},
};

#define PICTURE "model: {head_dim: 4, train_length: 64}\ntokens: [{image: [5, 4]}]\nlengths: [20]\n"
#define TEXT "model: {head_dim: 4, train_length: 2048}\nlengths: [16, 1025]\n"
#define UNFIT ":10: metrics = [...]: has "
#define OF_20 ", which a cell of 20 tokens cannot have: "

/* Metrics whose parameters a cell cannot have; one length that has them does not save another. */
static const wrong unfit[] = {
    {PICTURE "metrics: [{name: embedding_shift, shift: 7}]\n",
     "t.yaml:4" UNFIT "embedding_shift" OF_20 "a picture is shifted by rows and columns, as in shift: [0, 1]"},
    {PICTURE "metrics: [{name: embedding_shift, shift: [5, 0]}]\n",
     "t.yaml:4" UNFIT "embedding_shift" OF_20 "a shift by 5 leaves no two of 5 rows: choose a whole number below that"},
    {PICTURE "metrics: [{name: embedding_shift, shift: [0, 4]}]\n",
     "t.yaml:4" UNFIT "embedding_shift" OF_20
     "a shift by 4 leaves no two of 4 columns: choose a whole number below that"},
    {TEXT "metrics: [{name: embedding_shift, shift: [1, 2]}]\n",
     "t.yaml:3" UNFIT "embedding_shift, which a cell of 16 tokens cannot have: a sequence is shifted by one number of "
     "tokens, as in shift: 1"},
    {TEXT "metrics: [{name: embedding_shift, shift: 16}]\n",
     "t.yaml:3" UNFIT "embedding_shift, which a cell of 16 tokens cannot have: a shift by 16 leaves no two of 16 "
     "positions: choose a whole number below that"},
    {TEXT "metrics: [{name: embedding_shift, shift: 1.5}]\n",
     "t.yaml:3:42: metrics[0].shift = 1.5: must be whole numbers, not 1.5"},
    {TEXT "metrics: [{name: embedding_shift, shift: [1, 2, 3]}]\n",
     "t.yaml:3:42: metrics[0].shift = [...]: takes one number, or rows and columns, not 3"},
    {PICTURE "metrics: [{name: position_similarity, references: [[0, 0], [5, 0]]}]\n",
     "t.yaml:4" UNFIT "position_similarity" OF_20
     "references: [5, 0] is outside of 5 x 4 positions ([0, 0] to [4, 3])"},
    {PICTURE "metrics: [{name: position_similarity, references: [[0, 4]]}]\n",
     "t.yaml:4" UNFIT "position_similarity" OF_20
     "references: [0, 4] is outside of 5 x 4 positions ([0, 0] to [4, 3])"},
    {TEXT "metrics: [{name: position_similarity, references: all}]\n",
     "t.yaml:3" UNFIT "position_similarity, which a cell of 1025 tokens cannot have: references: all is for up to 1024 "
     "positions, not 1025 (list some)"},
};

Test(messages, metrics_that_a_cell_cannot_have__before_any_work) {
  expect_messages(unfit, RS_COUNT(unfit));
}

/* What just fits. */
Test(messages, metrics_at_their_ends__none) {
  rs_experiment_free(good(PICTURE "metrics: [{name: embedding_shift, shift: [4, 3]}, {name: position_similarity, "
                                  "references: [[4, 3]]}]\n"));
  rs_experiment_free(good("model: {head_dim: 4, train_length: 2048}\nlengths: [16, 1024]\nmetrics: [{name: "
                          "embedding_shift, shift: 15}, {name: position_similarity, references: all}]\n"));
}

/* Eight heads at 512 tokens have more weights than a map has room for; no cell is of both. */
Test(messages, metrics_of_cells_that_zip_leaves_out__none) {
  rs_experiment_free(
      good("model: [{name: a, heads: 8, head_dim: 4, train_length: 64}, {name: b, heads: 1, head_dim: 4, "
           "train_length: 64}]\nlengths: [64, 512]\nzip: [model, lengths]\nheads: all\nqueries: all\n"
           "sources: [gaussian]\nmetrics: [attention_map]\n"));
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
