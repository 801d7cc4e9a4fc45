/* The commands, as their help tells them. */
#include "cli.h"

#include <string.h>

const cli_command cli_commands[CLI_COMMANDS] = {
    [CLI_RUN] =
        {"run",
         "[CONFIG]",
         "sweep a config into CSV files (no config: the built-in demo)",
         "Results go to results/NAME, where NAME is the config's, or to --out. With --hf the arguments are files\n"
         "of further models, and NAME is that of the first. What an earlier run into the folder has done is not\n"
         "done again; an interrupt ends the run with what is done, and the same command goes on. With --shard no\n"
         "results are written: merge joins the folders of all shards.\n"
         "Exit status: 75 where another process runs into the folder, 130 and 143 after SIGINT and SIGTERM.\n",
         {"ropescope run config.yaml --print",
          "ropescope run --hf llama/config.json qwen/config.json --lengths 32k,128k --methods published,yarn"},
         CLI_ARGUMENTS,
         .group = "Simulate"},
    [CLI_PLAN] = {"plan",
                  "[CONFIG]",
                  "what a run would take: cells, rows, memory, time; runs nothing",
                  "Sizes are counted from the config. Time is told by the rate of the last run into the\nresults "
                  "folder, or of the longest run of that kind into a folder beside it.",
                  {"ropescope plan config.yaml --shard 2/5", "ropescope plan --hf config.json"},
                  CLI_ARGUMENTS},
    [CLI_PLOT] = {"plot",
                  "RESULTS",
                  "draw the curves and metrics of a results folder",
                  "Differences have bars, their 95 % intervals, and a line at 0; baselines are grey.\n",
                  {"ropescope plot results/quickstart", "ropescope plot results/quickstart --only decay --length 32k"},
                  1},
    [CLI_REPORT] = {"report",
                    "RESULTS...",
                    "results folders as one page for a browser: words, table, curves with their values, CSV",
                    "The page holds all it shows and asks no network. It stands in the first folder as report.html;\n"
                    "stdout says where it is. Several folders stand side by side.\n",
                    {"ropescope report results/quickstart",
                     "ropescope report results/before results/after --out compared.html"},
                    CLI_ARGUMENTS},
    [CLI_EXPLORE] =
        {"explore",
         "",
         "a page in the browser: move parameters, see frequencies, angles and decay at once",
         "Begins with the recipe of --hf or --model (default: llama-3.1-8b), or --method on it. Prints the\n"
         "address of the page, which this machine alone can open (127.0.0.1, with a path drawn at random),\n"
         "and answers until Ctrl-C. Exit status: 0 when it is ended so, 1 where the port is taken or a file\n"
         "cannot be read, 2 where a file or recipe is wrong.\n",
         {"ropescope explore --hf config.json",
          "ropescope explore --model llama-2-7b --method '{name: yarn, factor: 8}' --length 32k --port 8765"},
         0},
    [CLI_TABLE] =
        {"table",
         "RESULTS COLUMN...",
         "a small table of a results folder or CSV file: methods down, columns across",
         "COLUMN is a column's name, whose mean is shown, or 'TITLE: REDUCTION(COLUMN) where CONDITIONS'.\n"
         "A mean with an interval is shown with it, over several seeds by bootstrap over seeds and blocks. A star,\n"
         "or bold in Markdown, marks the best of a column where the 95 % intervals of its paired differences to\n"
         "all others exclude 0; else a line says who is not apart from it.\n",
         {"ropescope table results/quickstart entropy_nats needle_win_rate --where length_tokens=32k",
          "ropescope table results/quickstart 'at 32k: mean(entropy_nats) where length_tokens=32k' --sort -1"},
         CLI_WORDS},
    [CLI_CHECK] = {"check",
                   "FILE...",
                   "is this config.json right: what is wrong in it, where, and what to write instead",
                   "FILE is a Hugging Face config.json, a folder that holds one, a GGUF file, or - (stdin). Exit\n"
                   "status: 0 where nothing but notes is found, 1 where something is, 2 where a file or an option\n"
                   "cannot be read.\n",
                   {"ropescope check config.json", "ropescope check --format github models/*/config.json"},
                   CLI_ARGUMENTS,
                   .group = "Published models"},
    [CLI_EXPLAIN] = {"explain",
                     "FILE",
                     "what a length is to a model, and what becomes of a pair there, in words",
                     "FILE is a Hugging Face config.json, a folder that holds one, a GGUF file, or - (stdin). Without\n"
                     "--length it is the length that the file is for.\n",
                     {"ropescope explain config.json --length 128k",
                      "ropescope explain config.json --length 128k --pair 37"},
                     1},
    [CLI_COMPARE] =
        {"compare",
         "A B",
         "where two recipes, configs or dumps part, and why",
         "A and B are each a Hugging Face config.json or its folder, a GGUF file, a preset of `list models`, a\n"
         "recipe (which stands on the model of --model or --hf, else on the other side's), or a dump: inverse\n"
         "frequencies, or beside ALiBi slopes (.json, .npy, .csv), buffers inv_freq (.safetensors), or cos and\n"
         "sin (.safetensors, or cos.npy beside sin.npy). A folder's weights are asked for their buffers, too.\n"
         "Exit status: 0 equal, 1 different, 2 wrong input or failed.\n",
         {"ropescope compare config.json '{name: yarn, factor: 8}'",
          "ropescope compare gpt-oss inv_freq.npy --rtol 1e-5"},
         2},
    [CLI_CONVERT] =
        {"convert",
         "FILE",
         "the positional recipe of a model for another engine: keys of its config, or arguments",
         "FILE is a Hugging Face config.json, a folder that holds one, a GGUF file, - (stdin), or a preset of\n"
         "list models.\n"
         "CONSUMER is hf4, hf5, vllm, sglang, llamacpp, gguf-metadata, megatron or mlx. stderr says what it cannot\n"
         "be told, or reads otherwise; --json says it, too.\n",
         {"ropescope convert config.json --to llamacpp",
          "ropescope convert llama-3.1-8b --inv-freq csv --length 32k --out inv_freq.csv"},
         1},
    [CLI_SOLVE] =
        {"solve",
         "QUESTION",
         "the setting that serves a length, or the length that it serves, and what it costs",
         "QUESTION is base, factor, length, setting or evidence. The first three are answered by all\n"
         "criteria, with advice, or by --criterion alone.\n"
         "setting puts whole recipes in order, says what is foretold of their loss by what was measured on\n"
         "other models, and writes the first as a config (docs/solve.md); with --checkpoint MODEL --text IDS\n"
         "it measures: each way reads the same targets beside a window of the trained length and the model\n"
         "unchanged. stderr says first how long that takes; the same command goes on where it was\n"
         "interrupted. evidence says what that is worth on models left out (docs/extrapolation.md).\n",
         {"ropescope solve setting --length 256k --hf config.json",
          "ropescope solve setting --length 16k --checkpoint model.gguf --text ids.npy"},
         1},
    [CLI_LOGITS] = {"logits",
                    "FOLDER TOKENS",
                    "what a published checkpoint says of token ids, for comparison with another engine",
                    "FOLDER has config.json and model.safetensors, or an index of its shards (ropescope list\n"
                    "architectures shows which are read), or is a GGUF file. TOKENS is a .npy file, (L,) or (B, L);\n"
                    "logits come as (B, n, V). --attention and --rollout show what its heads look at.\n",
                    {"ropescope logits Llama-3.2-1B tokens.npy --out logits.npy --last 1",
                     "ropescope logits Llama-3.2-1B tokens.npy --attention weights.npy --precision f64"},
                    2},
    [CLI_LIST] =
        {"list",
         "[LIST] [NAME]",
         "what there is, with parameters, units, defaults, references",
         "LIST is methods, kinds, sources, tasks, checkpoint, metrics, models, architectures, dialects, findings or\n"
         "engines.\n"
         "NAME alone is looked for in all of them.\n",
         {"ropescope list methods yarn", "ropescope list metrics --json"},
         2,
         .group = "Look up"},
    [CLI_SHOW] =
        {"show",
         "TABLE [CONFIG]",
         "one table of one recipe as CSV: frequencies, positions, scale, slopes, bias, embedding; or layers",
         "The length is --length, else the only one of CONFIG, or the longest length that the model is published for.\n"
         "stderr says which recipe and length it was; --json says it, too. Without CONFIG or model: the demo,\n"
         "of which --set methods=[yarn] and --length choose one. show layers says which layers of a model turn how\n"
         "and see what. frequencies of an embedding of sines and cosines are by its dims; embedding with --shift is\n"
         "the matrix M with PE(n + K) = M PE(n) for all n: rotations of these, a least-squares fit of other tables.\n",
         {"ropescope show frequencies --model llama-3.1-8b",
          "ropescope show positions --model llama-2-7b --method '{name: rerope, window: 512}' --length 2k"},
         2},
    [CLI_HELP] = {"help",
                  "[COMMAND]",
                  "what a command does, its options, and two examples",
                  "",
                  {"ropescope help run", "ropescope help list"},
                  1},
    [CLI_REPRODUCE] = {"reproduce",
                       "[NAME...]",
                       "run the experiments and check what comes out against what was published",
                       "",
                       {"ropescope reproduce --list", "ropescope reproduce yarn-temperature --markdown"},
                       CLI_WORDS,
                       .group = "More"},
    [CLI_VERIFY] =
        {"verify",
         "RESULTS...",
         "is every file of a results folder what its manifest.json says",
         "Rows, bytes and SHA-256 of each CSV file and config.yaml. Exit status: 0 where all are right, 1 where\n"
         "one is missing or another, 2 where a folder has no such manifest. plot, table and reproduce refuse a\n"
         "file that differs.\n",
         {"ropescope verify results/quickstart", "ropescope verify --quiet results/*"},
         CLI_ARGUMENTS},
    [CLI_MERGE] =
        {"merge",
         "SHARD...",
         "join the folders of run --shard into the results of the whole",
         "The files are the same bytes as those of a run of the whole (docs/clusters.md). Cells that stand in\n"
         "several folders must agree bit for bit. Results that stand in --out keep their cells: shards may be\n"
         "merged as they come, with --partial.\n"
         "Exit status: 1 where cells are missing or differ or a journal is damaged, and nothing was written;\n"
         "2 where the folders do not belong together; 75 where a process runs into one of them.\n",
         {"ropescope merge results/sweep-*-of-16 --out results/sweep",
          "ropescope merge node1/out node2/out --out results/sweep --partial"},
         CLI_ARGUMENTS},
    [CLI_BENCH] = {"bench",
                   "",
                   "how fast each job is here, beside what the machine can do",
                   "",
                   {"ropescope bench --job sweep --threads 1 --csv bench.csv",
                    "ropescope bench --job statistics --all-isa"},
                   0},
    [CLI_VERSION] = {"version",
                     "",
                     "print the version (as -V and --version do)",
                     "",
                     {"ropescope version", "ropescope --version"},
                     0},
};

int cli_command_find(const char *word) {
  const char *names[CLI_COMMANDS + 2] = {[CLI_COMMANDS] = "--help", "--version"};
  for (int i = 0; i < CLI_COMMANDS; i++) {
    names[i] = cli_commands[i].name;
    if (strcmp(names[i], word) == 0) return i;
  }
  const char *near = rs_suggest(word, names, RS_COUNT(names));
  if (near != NULL)
    cli_error("no command %s (did you mean %s?)", word, near);
  else
    cli_error("no command %s (ropescope --help shows them)", word);
  return -1;
}
