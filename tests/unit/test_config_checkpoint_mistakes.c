/* test_config_checkpoint_mistakes.c: what is wrong with a config of checkpoints, where, and what to do about it. */
#include <criterion/criterion.h>
#include <string.h>

#include "../fixtures/reading.h"
#include "../fixtures/scratch.h"

#define COPY "task: copy\nmetrics: [decay]\n"

Test(checkpoint_messages, shapes__what_does_not_fit) {
  static const wrong cases[] = {
      {"checkpoint: {}\ntask: copy\nmetrics: [decay, grid_decay]\n",
       "t.yaml:3:10: metrics = [...]: has grid_decay, but the task has no pictures (as where and film have)"},
      {"checkpoint: {width: 63}\n" COPY, "t.yaml:1:13: checkpoint = {...}: heads: 2 heads cannot share a width of 63: "
                                         "must divide it, or have a head_dim"},
      {"checkpoint: {heads: [2, 3]}\n" COPY,
       "t.yaml:1:25: checkpoint.heads[1] = 3: 3 heads cannot share a width of 64: must divide it, or have a head_dim"},
      {"checkpoint: {kv_heads: 4}\n" COPY,
       "t.yaml:1:24: checkpoint.kv_heads = 4: 2 heads cannot share 4 heads of keys: must divide heads"},
      {"checkpoint: {head_dim: 7}\n" COPY,
       "t.yaml:1:24: checkpoint.head_dim = 7: 7 is odd: dims turn in pairs (width / heads, where it is left out)"},
      {"checkpoint: {rotary_dim: 34}\n" COPY,
       "t.yaml:1:26: checkpoint.rotary_dim = 34: must be even, and at most head_dim = 32"},
      {"checkpoint: {rotary_dim: 5}\n" COPY,
       "t.yaml:1:26: checkpoint.rotary_dim = 5: must be even, and at most head_dim = 32"},
      {"checkpoint: {sinks: 4}\n" COPY,
       "t.yaml:1:21: checkpoint.sinks = 4: has no meaning without a window: all tokens are seen"},
      {"checkpoint: {train: {dropout: 1}}\n" COPY,
       "t.yaml:1:31: checkpoint.train.dropout = 1: nothing is left of a model that drops all: must be below 1 (0.1 is "
       "usual)"},
      {"checkpoint: {tune: {steps: 1, dropout: [0.1, 1]}}\n" COPY,
       "t.yaml:1:46: checkpoint.tune.dropout[1] = 1: nothing is left of a model that drops all: must be below 1 (0.1 "
       "is "
       "usual)"},
      {"checkpoint: {norm: none, norm_order: post}\n" COPY,
       "t.yaml:1:38: checkpoint.norm_order = post: has no meaning without a norm (norm: layer, or rms)"},
      {"checkpoint: {window: 4}\ntask: where\nmetrics: [decay]\n",
       "t.yaml:1:22: checkpoint.window = 4: is one of causal heads, but the task's models (vision) see both ways"},
      {"checkpoint: {pool: mean}\n" COPY,
       "t.yaml:1:20: checkpoint.pool = mean: the task's models (decoder) say a class at each token: nothing to pool"},
      {"checkpoint: {class_token: false}\n" COPY, "t.yaml:1:27: checkpoint.class_token = false: the task's models "
                                                  "(decoder) read no pictures: none is before their "
                                                  "tokens"},
      {"checkpoint: {class_token: false}\ntask: where\nmetrics: [decay]\n",
       "t.yaml:1:27: checkpoint.class_token = false: pool: class reads the class token, and there is none (pool: mean "
       "reads the patches)"},
      {"checkpoint: {pool: sum}\ntask: where\nmetrics: [decay]\n",
       "t.yaml:1:20: checkpoint.pool = sum: must be one of class, mean"},
      {"checkpoint: {tied: true}\ntask: where\nmetrics: [decay]\n",
       "t.yaml:1:20: checkpoint.tied = true: a vision model has patches in place of embeddings: nothing to tie to"},
      {"checkpoint: {precision: bf16}\n" COPY, "t.yaml:1:25: checkpoint.precision = bf16: must be one of f64, f32"},
      {"checkpoint: {blocks: 0}\n" COPY, "t.yaml:1:22: checkpoint.blocks = 0: must be from 1 to 1024"},
      {"checkpoint: {widht: 4}\n" COPY,
       "t.yaml:1:14: checkpoint.widht: a checkpoint has no key widht (did you mean width?)"},
      {"checkpoint: [{}, {name: b, activation: geluu}]\n" COPY,
       "t.yaml:1:40: checkpoint[1].activation = geluu: must be one of gelu, gelu_tanh, relu, silu, gelu_bloom, relu2 "
       "(did you mean gelu?)"},
      {"checkpoint: {width: []}\n" COPY, "t.yaml:1:21: checkpoint.width = [...]: is an empty list"},
      {"checkpoint: {width: [4, [8]]}\n" COPY, "t.yaml:1:25: checkpoint.width[1] = [...]: must be one value"},
  };
  expect_messages(cases, RS_COUNT(cases));
}

Test(checkpoint_messages, training__its_parameters_and_lengths) {
  static const wrong cases[] = {
      {"checkpoint: {train: 3}\n" COPY,
       "t.yaml:1:21: checkpoint.train = 3: must be a mapping, like {steps: 1000, length: 64}"},
      {"checkpoint: {train: {stpes: 4}}\n" COPY,
       "t.yaml:1:22: checkpoint.train.stpes: training has no key stpes (did you mean steps?)"},
      {"checkpoint: {train: {method: rope}}\n" COPY,
       "t.yaml:1:22: checkpoint.train.method: training has no key method (it has steps, length, sequences, rate, "
       "final_rate, warmup, beta1, beta2, epsilon, decay, clip, dropout)"},
      {"checkpoint: {tune: {method: ropee}}\n" COPY,
       "t.yaml:1:29: checkpoint.tune.method = ropee: is no method (did you mean rope?)"},
      {"checkpoint: {tune: {rate: 11}}\n" COPY, "t.yaml:1:27: checkpoint.tune.rate = 11: must be from 0 to 10"},
      {"checkpoint: {train: {length: [8, 7]}}\n" COPY,
       "t.yaml:1:34: checkpoint.train.length[1] = 7: 7 tokens cannot be shared by a string and its answer: must be "
       "even, twice the symbols of a string"},
      {"checkpoint: {tune: {length: 9}}\n" COPY,
       "t.yaml:1:29: checkpoint.tune.length = 9: 9 tokens cannot be shared by a string and its answer: must be even, "
       "twice the symbols of a string"},
      {"checkpoint: {train: {steps: [1, 2], rate: [1, 2, 3]}, zip: true}\n" COPY,
       "t.yaml:1:60: checkpoint.zip = true: its lists have 2 and 3 values; zipped lists advance together"},
  };
  expect_messages(cases, RS_COUNT(cases));
}

Test(checkpoint_messages, layers__rules) {
  static const wrong cases[] = {
      {"checkpoint: {layers: 3}\n" COPY,
       "t.yaml:1:22: checkpoint.layers = 3: must be a list, like [{every: 4, method: nope}]"},
      {"checkpoint: {layers: [3]}\n" COPY,
       "t.yaml:1:23: checkpoint.layers[0] = 3: must be a mapping, like {every: 4, method: nope}"},
      {"checkpoint: {layers: [{every: 3, method: nope}]}\n" COPY,
       "t.yaml:1:31: checkpoint.layers[0].every = 3: must be from 1 to 2"},
      {"checkpoint: {layers: [{from: 2, method: nope}]}\n" COPY,
       "t.yaml:1:30: checkpoint.layers[0].from = 2: must be from 0 to 1"},
      {"checkpoint: {layers: [{every: 1, method: nope}]}\n" COPY,
       "t.yaml:1:22: checkpoint.layers = [...]: gives every block a method of its own: the checkpoint's has none left "
       "(leave it a block)"},
      {"checkpoint: {layers: [{every: 2, from: 0, method: nope}]}\n" COPY,
       "t.yaml:1:23: checkpoint.layers[0] = {...}: needs {every: N} or {from: I, to: J}, one of the two"},
      {"checkpoint: {layers: [{method: nope}]}\n" COPY,
       "t.yaml:1:23: checkpoint.layers[0] = {...}: needs {every: N} or {from: I, to: J}, one of the two"},
      {"checkpoint: {layers: [{from: 1, to: 0, method: nope}]}\n" COPY,
       "t.yaml:1:23: checkpoint.layers[0] = {...}: ends with block 0, before it begins with 1"},
      {"checkpoint: {layers: [{from: 1}]}\n" COPY,
       "t.yaml:1:23: checkpoint.layers[0] = {...}: changes nothing (give it a method or a window)"},
      {"checkpoint: {layers: [{from: 1, sinks: 3, method: nope}]}\n" COPY,
       "t.yaml:1:23: checkpoint.layers[0] = {...}: has sinks without a window"},
      {"checkpoint: {layers: [{from: 1, window: 3}]}\ntask: where\nmetrics: [decay]\n",
       "t.yaml:1:23: checkpoint.layers[0] = {...}: has a window of causal heads, but the task's models (vision) see "
       "both ways"},
      {"checkpoint: {layers: [{evry: 2, method: nope}]}\n" COPY,
       "t.yaml:1:24: checkpoint.layers[0].evry: a rule of layers has no key evry (did you mean every?)"},
      {"checkpoint: {layers: [{every: 2, method: {name: yarn, beta_fast: 0.5}}]}\n" COPY,
       "t.yaml:1:42: checkpoint.layers[0].method = {...}: beta_fast: must exceed beta_slow = 1 (the paper uses 32 and "
       "1)"},
  };
  expect_messages(cases, RS_COUNT(cases));
}

Test(checkpoint_messages, methods__trained_with_and_applied) {
  static const wrong cases[] = {
      {"checkpoint: {method: linear}\n" COPY,
       "t.yaml:1:22: checkpoint.method = linear: is no method (Hugging Face's linear is pi here)"},
      {"checkpoint: {method: trained}\n" COPY,
       "t.yaml:1:22: checkpoint.method = trained: is a checkpoint's own method: it stands under methods, beside "
       "checkpoint: {...}"},
      {"model: gpt2\nmethods: [rope, trained]\n",
       "t.yaml:2:17: methods[1] = trained: is a checkpoint's own method: it stands under methods, beside checkpoint: "
       "{...}"},
      {"checkpoint: {method: {name: yarn, beta_fast: 0.5}}\n" COPY,
       "t.yaml:1:22: checkpoint.method = {...}: beta_fast: must exceed beta_slow = 1 (the paper uses 32 and 1)"},
      {"checkpoint: {}\nmethods: {name: trained, factor: 3}\n" COPY,
       "t.yaml:2:26: methods.factor: trained has no key factor (it has name, label, zip)"},
      {"checkpoint: {}\nmethods: [trained, trained]\n" COPY,
       "t.yaml:2:20: methods[1] = trained: has the label \"trained\", as methods[0] at t.yaml:2:11 (give one of them "
       "another label: ...)"},
      {"checkpoint: [{width: 16}, {width: 64}]\nmethods: {name: mrope, mrope_section: [4, 0, 0]}\n" COPY,
       "t.yaml:2:39: methods.mrope_section = [...]: sums to 4, but 16 pairs turn (rotary_dim / 2)"},
  };
  expect_messages(cases, RS_COUNT(cases));
}

Test(checkpoint_messages, keys__that_have_no_meaning_here) {
  static const wrong cases[] = {
      {"checkpoint: {}\nheads: 2\nqueries: all\nmask: causal\ntokens: []\nprecision: f32\nengine: "
       "{epsilon: 0}\n" COPY,
       "t.yaml:2:8: heads = 2: a checkpoint is read with all its heads (checkpoint: {heads: N} says how many it has, "
       "sources: [{name: model, head: N}] which one is observed)\n"
       "t.yaml:3:10: queries = all: a checkpoint reads whole sequences: each token is a query (observed rows have "
       "queries: add sources: [{name: model, layer: 0}])\n"
       "t.yaml:4:7: mask = causal: what a checkpoint's heads see is its own (checkpoint: {window: W, sinks: S}, or "
       "layers, limit it)\n"
       "t.yaml:5:9: tokens = [...]: which tokens of a checkpoint are images is said by its task (take it away)\n"
       "t.yaml:6:12: precision = f32: a checkpoint computes in floats of its own (checkpoint: {precision: f64})\n"
       "t.yaml:7:9: engine = {...}: is of observed rows, of which there are none (add sources: [{name: model, layer: "
       "0}])"},
      {"checkpoint: {}\nsources: model\nheads: 2\nqueries: all\nengine: {epsilon: 0}\n" COPY,
       "t.yaml:3:8: heads = 2: a checkpoint is read with all its heads (checkpoint: {heads: N} says how many it has, "
       "sources: [{name: model, head: N}] which one is observed)"},
      {"checkpoint: {}\nsources: model\nqueries: {frst: 2}\nengine: {scores: f16}\n" COPY,
       "t.yaml:3:11: queries.frst: queries has no key frst (it has last, every, random)\n"
       "t.yaml:4:18: engine.scores = f16: must be one of auto, f32, f64"},
      {"checkpoint: {}\nmodel: gpt2\n" COPY, "t.yaml:2:8: model = gpt2: stands beside a checkpoint (keep one of them)"},
      {"model: gpt2\nsequences: 3\n",
       "t.yaml:2:12: sequences = 3: are of a checkpoint's task: there is none (add checkpoint: {method: rope})"},
      {"checkpoint: {}\nsequences: 0\n" COPY, "t.yaml:2:12: sequences = 0: must be from 1 to 1048576"},
      {"checkpoint: {}\nsequences: 7\ntask: order\n",
       "t.yaml:2:12: sequences = 7: must be even: order's sequences are twins (8)"},
      {"checkpoint: {}\nsequences: 0\ntask: order\n", "t.yaml:2:12: sequences = 0: must be from 1 to 1048576"},
      {"checkpoint: {}\nzip: [sources, model]\n" COPY,
       "t.yaml:2:7: zip[0] = sources: must be one of checkpoint, methods, lengths, seeds\n"
       "t.yaml:2:16: zip[1] = model: must be one of checkpoint, methods, lengths, seeds"},
      {"checkpoint: {}\nsources: model\nzip: [model]\n" COPY,
       "t.yaml:3:7: zip[0] = model: must be one of checkpoint, methods, lengths, sources, seeds"},
      {"checkpoint: {width: [32, 64]}\nlengths: [64]\nzip: [checkpoint, lengths]\n" COPY,
       "t.yaml:3:6: zip = [...]: lengths has 1 entries where another axis has 2; zipped axes advance together"},
      {"checkpoint: {}\ncolumns: [checkpoint.depth]\n" COPY,
       "t.yaml:2:11: columns[0] = checkpoint.depth: is no parameter of the methods or sources above"},
  };
  expect_messages(cases, RS_COUNT(cases));
}

Test(checkpoint_messages, tasks__and_metrics) {
  static const wrong cases[] = {
      {"checkpoint: {}\nmetrics: [decay]\n",
       "t.yaml:1:1: the config has a checkpoint, but no task (add task: dictionary)"},
      {"model: gpt2\ntask: copy\n",
       "t.yaml:2:7: task = copy: is what checkpoints read: there is none (add checkpoint: {method: rope})"},
      {"checkpoints: {}\ntask: copy\n",
       "t.yaml:1:1: checkpoints: a config has no key checkpoints (did you mean checkpoint?)"},
      {"checkpoint: {}\ntask: copyy\nmetrics: [decay]\n", "t.yaml:2:7: task = copyy: is no task (did you mean copy?)"},
      {"checkpoint: {}\ntask: zzzzzz\nmetrics: [decay]\n",
       "t.yaml:2:7: task = zzzzzz: is no task (ropescope list tasks shows them)"},
      {"checkpoint: {}\ntask: [copy, reverse]\nmetrics: [decay]\n",
       "t.yaml:2:7: task = [...]: must be one task, without lists of values (several are several configs)"},
      {"checkpoint: {}\ntask: {name: copy, symbols: [2, 3]}\nmetrics: [decay]\n",
       "t.yaml:2:7: task = {...}: must be one task, without lists of values (several are several configs)"},
      {"checkpoint: {}\ntask: {name: copy, symbls: 2}\nmetrics: [decay]\n",
       "t.yaml:2:20: task.symbls: copy has no key symbls (did you mean symbols?)"},
      {"checkpoint: {}\ntask: {name: dictionary, keys_in_use: 20}\nmetrics: [decay]\n",
       "t.yaml:2:39: task.keys_in_use = 20: must not exceed keys = 16"},
      {"checkpoint: {}\ntask: copy\nmetrics: [loss, entropy]\n",
       "t.yaml:3:10: metrics = [...]: has entropy, which reads rows of attention: of whose heads? (add sources: "
       "[{name: model, layer: 0}] for the checkpoint's own)"},
      {"model: gpt2\nmetrics: [decay, loss]\n",
       "t.yaml:2:10: metrics = [...]: has loss, which reads what a checkpoint says (add checkpoint: {method: rope} in "
       "place of the model)"},
  };
  expect_messages(cases, RS_COUNT(cases));
}

Test(checkpoint_messages, sources__of_its_own_heads) {
  static const wrong cases[] = {
      {"model: gpt2\nsources: model\n",
       "t.yaml:2:10: sources = model: hands on what a checkpoint's heads hold: there is none (add checkpoint: {method: "
       "rope} and a task, or to the source checkpoint: FOLDER, tokens: FILE)"},
      {"checkpoint: {name: x}\nsources: [{name: model, layer: [0, 2]}]\n" COPY,
       "t.yaml:2:36: sources[0].layer[1] = 2: must be from 0 to 1: x has 2 layers"},
      {"checkpoint: {name: x, blocks: 1}\nsources: {name: model, layer: 1}\n" COPY,
       "t.yaml:2:31: sources.layer = 1: must be 0: x has one layer"},
      {"checkpoint: [{name: x, heads: 4}, {name: y}]\nsources: {name: model, head: 3}\n" COPY,
       "t.yaml:2:30: sources.head = 3: must be from 0 to 1: y has 2 heads"},
      {"checkpoint: {}\nsources: {name: model, head: evry}\n" COPY,
       "t.yaml:2:30: sources.head = evry: must be one of all, each, or a number"},
      {"checkpoint: {}\nsources: {name: model, layers: 0}\n" COPY,
       "t.yaml:2:24: sources.layers: model has no key layers (did you mean layer?)"},
      {"checkpoint: {}\nsources: modl\n" COPY, "t.yaml:2:10: sources = modl: is no source (did you mean model?)"},
      {"checkpoint: {}\nsources: model\ntask: where\nmetrics: [needle]\n",
       "t.yaml:4:10: metrics = [...]: has needle, but where does not say which token holds what it asks for "
       "(dictionary "
       "does)"},
      {"checkpoint: {}\nsources: gaussian\ntask: copy\nmetrics: [needle]\n",
       "t.yaml:4:10: metrics = [...]: has needle, but no source plants needles (add sources: [needle])"},
  };
  expect_messages(cases, RS_COUNT(cases));
}

Test(checkpoint_messages, names__and_entries) {
  static const wrong cases[] = {
      {"checkpoint: []\n" COPY, "t.yaml:1:13: checkpoint = [...]: is an empty list"},
      {"checkpoint: rope\n" COPY, "t.yaml:1:13: checkpoint = rope: must be a mapping, like {method: rope, width: 64}"},
      {"checkpoint: [{width: 32}, {width: 32}]\n" COPY,
       "t.yaml:1:13: checkpoint = [...]: has \"rope width=32\" twice (give one a name: ...)"},
      {"checkpoint: {name: \"\"}\n" COPY,
       "t.yaml:1:13: checkpoint = {...}: is called \"\", which must be 1 to 191 letters (give it a name: ...)"},
      /* each wrong combination, and what several have in common once */
      {"checkpoint: {width: [16, 30, 32], heads: [2, 3], train: {length: [16, 18], steps: [1, -1]}}\n" COPY,
       "t.yaml:1:87: checkpoint.train.steps[1] = -1: must be from 0 to 1000000000\n"
       "t.yaml:1:46: checkpoint.heads[1] = 3: 3 heads cannot share a width of 16: must divide it, or have a head_dim\n"
       "t.yaml:1:13: checkpoint = {...}: head_dim: 15 is odd: dims turn in pairs (width / heads, where it is left "
       "out)\n"
       "t.yaml:1:46: checkpoint.heads[1] = 3: 3 heads cannot share a width of 32: must divide it, or have a head_dim"},
  };
  expect_messages(cases, RS_COUNT(cases));
}

/* What differs is said in full. */
/* Two of one name are told apart by what differs, unless no room is left for it; more of them than anybody reads are
 * refused before one is made. */
Test(checkpoint_messages, names_without_room__and_too_many_combinations) {
  char *name = repeated("", "n", 185, ""), *widths = repeated("8", ", 8", 100, "");
  rs_text yaml = {0}, message = {0};
  rs_text_printf(&yaml, "checkpoint: [{name: %s, width: 32}, {name: %s, width: 64}]\n" COPY, name, name);
  rs_text_printf(&message, "t.yaml:1:13: checkpoint = [...]: has \"%s\" twice (give one a name: ...)", name);
  expect_message(yaml.data, NULL, 0, message.data);
  rs_text_clear(&yaml);
  rs_text_printf(&yaml, "checkpoint: {width: [%s], feed_forward: [%s]}\n" COPY, widths, widths);
  expect_message(yaml.data, NULL, 0, "t.yaml:1:13: checkpoint = {...}: makes more than 10000 combinations");
  rs_text_clear(&yaml);
  rs_text_clear(&message);
  free(name);
  free(widths);
}

Test(checkpoint_messages, long_names__are_whole) {
  reading got = read_edited("checkpoint: {method: rope, width: [16, 32], heads: [2, 4], blocks: [1, 2],\n"
                            "  train: {steps: [20, 30], rate: [0.003, 0.01], length: [16, 18]}}\n" COPY,
                            NULL, 0);
  cr_assert_not_null(got.experiment, "%s", message_of(&got));
  cr_expect_eq(got.experiment->model_count, 64);
  cr_expect_str_eq(got.experiment->models[63].name,
                   "rope width=32 heads=4 blocks=2 train.steps=30 train.rate=0.01 train.length=18");
  reading_clear(&got);
}

/* The value is the path, which is said once. */
Test(checkpoint_messages, missing_file__is_named_once, .init = enter_scratch) {
  expect_message("checkpoint: {}\ntask: {name: bytes, file: nowhere}\nmetrics: [loss]\n", NULL, 0,
                 "t.yaml:2:27: task.file = nowhere: cannot be found: No such file or directory");
  expect_message("checkpoint: {method: {name: learned, table: nowhere.npy}}\n" COPY, NULL, 0,
                 "t.yaml:1:45: checkpoint.method.table = nowhere.npy: cannot read: No such file or directory");
}

Test(checkpoint_messages, folders__that_hold_no_checkpoint, .init = enter_scratch) {
  static const char broken[] = "{\"model_type\": \"llama\"}";
  rs_err err = {0};
  expect_message("checkpoint: {folder: nowhere}\n" COPY, NULL, 0,
                 "t.yaml:1:22: checkpoint.folder = nowhere: cannot be found: No such file or directory");
  expect_message(
      "checkpoint: {folder: ., width: 3}\n" COPY, NULL, 0,
      "t.yaml:1:32: checkpoint.width = 3: stands beside a folder (or GGUF file), which says what the model is");
  expect_message("checkpoint: {folder: .}\n" COPY, NULL, 0,
                 "t.yaml:1:22: checkpoint.folder = .: is no folder of a checkpoint: it has no config.json");
  cr_assert_eq(rs_file_write("config.json", broken, strlen(broken), &err), RS_OK);
  expect_message("checkpoint: {folder: config.json}\n" COPY, NULL, 0,
                 "t.yaml:1:22: checkpoint.folder = config.json: is neither the folder of a checkpoint nor a GGUF file");
  expect_message("checkpoint: {folder: .}\n" COPY, NULL, 0,
                 "t.yaml:1:22: checkpoint.folder = .: is no folder of a checkpoint: it has no model.safetensors");
  cr_assert_eq(rs_file_write("model.safetensors", "", 0, &err), RS_OK);
  reading got = read_edited("checkpoint: {folder: .}\n" COPY, NULL, 0);
  cr_expect(got.err.status == RS_INPUT && strstr(message_of(&got), "t.yaml:1:22: checkpoint.folder = .: ") != NULL,
            "%s", message_of(&got));
  reading_clear(&got);
  static const char *const files[] = {"config.json", "model.safetensors"};
  leaves(files, RS_COUNT(files));
}

/* What a folder's model cannot read, and a text that is all held out, is known before anything is trained. */
Test(checkpoint_messages, tasks__that_do_not_go_with_the_model, .init = enter_scratch) {
  static const char llama[] =
      "{\"model_type\": \"llama\", \"hidden_size\": 8, \"num_attention_heads\": 2, \"num_hidden_layers\": 1, "
      "\"vocab_size\": 300, \"max_position_embeddings\": 64, \"intermediate_size\": 12}";
  static const char *const files[] = {"config.json", "model.safetensors", "ids"};
  rs_err err = {0};
  cr_assert_eq(rs_file_write("config.json", llama, strlen(llama), &err), RS_OK);
  cr_assert_eq(rs_file_write("model.safetensors", "", 0, &err), RS_OK);
  cr_assert_eq(rs_file_write("ids", llama, 100, &err), RS_OK);
  expect_message("checkpoint: {folder: .}\ntask: translate\nmetrics: [decay]\n", NULL, 0,
                 "t.yaml:1:22: checkpoint.folder = .: is a model of the form decoder; the task translate is for one of "
                 "the form encoder_decoder");
#define HELD_OUT "task: {name: tokens, file: ids, numbers: uint8}\nmetrics: [decay]\n"
  expect_message("checkpoint: {folder: ., tune: {length: 20}}\n" HELD_OUT, NULL, 0,
                 "t.yaml:1:40: checkpoint.tune.length = 20: the task has nothing to train on: all of it is held out "
                 "(give a share below 1)");
  expect_message("checkpoint: {method: rope}\n" HELD_OUT, NULL, 0,
                 "t.yaml:1:13: checkpoint = {...}: train.length = 64: the task has nothing to train on: all of it is "
                 "held out (give a share below 1)");
  reading got = read_edited("checkpoint: {folder: .}\n" HELD_OUT, NULL, 0);
  cr_expect_eq(got.err.status, RS_OK, "%s", message_of(&got));
  reading_clear(&got);
  leaves(files, RS_COUNT(files));
}
