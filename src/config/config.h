/* config/config.h: from text to an experiment. A config (YAML, changed by --set) is checked as a whole before any
 * work starts; presets and Hugging Face configs become models. Here, and only here, parameters are words. */
#ifndef ROPESCOPE_CONFIG_H
#define ROPESCOPE_CONFIG_H

#include "hf/hf.h"
#include "io/io.h"
#include "metrics/metrics.h"
#include "model/model.h"

/* ---- experiments ------------------------------------------------------------------------------------------------- */

/* A method, source or metric with one set of parameters: an entry of the config, or one combination of its lists. */
typedef struct rs_variant {
  char *label;   /* unique within its list; owned */
  size_t entry;  /* which entry of its list it is of, from 0 */
  bool labelled; /* the entry's `label` is where the label comes from; else the name */
  const rs_method *method;
  const rs_source_kind *source;
  const rs_metric_kind *metric;
  const rs_task_kind *task; /* one of the four; a method NULL: a checkpoint's own, as it was trained, */
  bool published;           /* or what each model publishes */
  bool stands;              /* a method that stands for `baseline` */
  bool added;               /* and not in the config */
  rs_baseline baseline;
  rs_settings settings;
  void *params; /* of a source or metric: its struct, bound to the settings, whose lists it borrows; owned */
} rs_variant;

/* What has turned the rows that a source reads, as written; method NULL: nothing, or what the model publishes. Borrows
 * from its settings. */
rs_recipe rs_variant_rotated(const rs_variant *source) RS_NONNULL(1);

/* How configs name a checkpoint's own method. */
#define RS_TRAINED "trained"

/* How configs name what each model publishes. */
#define RS_PUBLISHED "published"

/* The name of the variant's kind, as configs have it. Borrows. */
const char *rs_variant_name(const rs_variant *variant) RS_NONNULL(1);

typedef struct rs_variants {
  rs_variant *items;
  size_t count, capacity;
} rs_variants;

void rs_variants_clear(rs_variants *variants) RS_NONNULL(1);

/* Heads that are averaged in one row. */
typedef struct rs_head_group {
  size_t *heads;
  size_t count;
} rs_head_group;

/* How `heads` was written: `number` of them spread over the model's, listed ones, or all; together or each for itself.
 */
typedef struct rs_head_choice {
  bool all, each;
  size_t number; /* 0 when listed or all */
  double *listed;
  size_t listed_count;
} rs_head_choice;

enum rs_axis { RS_BY_MODEL, RS_BY_METHOD, RS_BY_LENGTH, RS_BY_SOURCE, RS_BY_SEED, RS_AXIS_COUNT };

/* How scores are computed. */
typedef struct rs_engine_choice {
  rs_score_format scores;
  double epsilon; /* weight of a row that may be left unseen where that is certain; 0: none */
} rs_engine_choice;

/* Parameters of a checkpoint, by what they are of. The paths of the last two begin with "train." and "tune.". */
typedef enum rs_checkpoint_part { RS_PART_SHAPE, RS_PART_TRAINING, RS_PART_TUNING } rs_checkpoint_part;
enum { RS_CHECKPOINT_PARTS = RS_PART_TUNING + 1 };

/* A transformer that an experiment reads in place of simulated heads: trained by it, or read from a folder. Its
 * geometry is the model of the same index, whose train_length is what training has seen last, in tokens that the model
 * reads (with the class token of images): that of tuning, of a tuned one. */
typedef struct rs_checkpoint {
  char *folder;       /* absolute, of a model that is there; NULL: it is trained, as follows */
  char *doubt;        /* what was guessed of its file; owned; NULL: nothing */
  rs_shape shape;     /* but for what the task says: vocabulary, patch_numbers, classes; of a folder, but blocks */
  rs_recipe *recipes; /* (recipe_count,) resolved, each with the length it is trained at as its own train_length; a
                         method of the experiment stands in the place of the first */
  size_t recipe_count;
  rs_format format;
  rs_training training;
  size_t layers;         /* blocks of the decoder; 0: not known before the weights are read */
  size_t trained_tokens; /* train_length of its geometry before it is tuned */
  bool seeded;           /* trained from `seed`; else from each cell's own */
  uint64_t seed;
  bool taught;    /* its distillation token learns from another checkpoint of the experiment: */
  size_t teacher; /* the model number of that */
  bool tuned;     /* trained further, */
  rs_training tuning;
  rs_recipe *tuned_recipes;                  /* (recipe_count,) with these in the place of the others; NULL: the same */
  rs_settings settings[RS_CHECKPOINT_PARTS]; /* what all this was read from, with defaults; of a folder: what stands
                                                beside it */
} rs_checkpoint;

/* Parameters of a checkpoint's shape; those of its training are rs_training_specs. */
extern const rs_param rs_shape_specs[];
extern const size_t rs_shape_spec_count;

/* The default of a training parameter in `tune`. */
const char *rs_tune_default(const rs_param *param) RS_NONNULL(1);

/* What a preset, or the file of a model, says of its layers. */
typedef struct rs_model_layers {
  rs_layer_kind *kind; /* those that are read, without their geometry; owned; NULL: nothing is known of them */
  char *remark;        /* what was guessed of the file, and layers that turn otherwise; owned; NULL: nothing */
} rs_model_layers;

/* A checked config. */
typedef struct rs_experiment {
  char *name, *description;
  rs_model *models;
  size_t model_count;
  rs_model_layers *layers;    /* (model_count,) NULL: heads are not simulated */
  rs_checkpoint *checkpoints; /* (model_count,) of which models are the geometry; NULL: heads are simulated. Sources
                                 are then there only where rows are to be observed */
  rs_variant task;            /* what checkpoints are trained and read on; `task` NULL without */
  size_t sequences;           /* of the task that a cell reads */
  rs_same_targets targets;    /* that all lengths score */
  char *own_targets;          /* why each length has its own where the config does not say which; NULL: it does */
  bool targets_chosen, baselines_chosen; /* the config says which */
  bool baselines[RS_BASELINES];          /* that stand among the methods */
  rs_variants methods, sources, metrics;
  size_t *lengths;
  size_t length_count;
  uint64_t *seeds;
  size_t seed_count;
  bool zipped[RS_AXIS_COUNT]; /* axes that advance together; the others form a grid */
  rs_head_choice heads;
  rs_query_set queries;
  rs_mask mask;
  rs_token_layout tokens;
  rs_precision precision;
  rs_engine_choice engine;
  size_t bins_per_octave;
  char **swept; /* names of parameters with several values, in order of appearance; owned */
  size_t swept_count;
  const rs_method_list *beside; /* that its config was read with; borrowed */
} rs_experiment;

/* Indices into the experiment's lists. `group` is the head group (0 unless each head stands for itself). */
typedef struct rs_cell {
  size_t axis[RS_AXIS_COUNT];
  size_t group;
} rs_cell;

/* Cells in the order of summary.csv: model, method, length, source, seed, heads, the last running fastest. Release
 * *cells with free(). */
rs_status rs_experiment_cells(const rs_experiment *experiment, rs_cell **cells, size_t *count, rs_err *err)
    RS_NONNULL(1, 2, 3);

/* The heads that are averaged in a cell. Release with rs_head_group_clear. */
rs_status rs_experiment_heads(const rs_experiment *experiment, const rs_cell *cell, rs_head_group *group, rs_err *err)
    RS_NONNULL(1, 2, 3);
void rs_head_group_clear(rs_head_group *group) RS_NONNULL(1);

/* How many those are. */
size_t rs_head_count(const rs_experiment *experiment, const rs_cell *cell) RS_NONNULL(1, 2);

/* What the checkpoint that a method reads was trained with last, but for what `layers` say; NULL where heads are
 * simulated. Borrows. */
const rs_recipe *rs_trained_recipe(const rs_experiment *experiment, size_t model, size_t method) RS_NONNULL(1);

/* Whether the cells of a checkpoint observe rows: of its own heads, or of simulated ones under its tables. */
bool rs_observes(const rs_experiment *experiment) RS_NONNULL(1);

void rs_experiment_free(rs_experiment *experiment);
RS_HOLDS(rs_experiment)

/* The spec of the parameter called `name`, of a method or else of a source, or of checkpoints by its path
 * ("checkpoint.train.steps"); NULL: none has it. */
const rs_param *rs_experiment_param(const rs_experiment *experiment, const char *name) RS_NONNULL(1, 2);

/* Adds the value that the checkpoint of a model has for such a path, as config text; nothing where it has none. */
void rs_experiment_checkpoint_value(const rs_experiment *experiment, size_t model, const char *path, rs_text *text)
    RS_NONNULL(1, 3, 4);

/* The recipe of a method for a model, with what the model publishes filled in; of a checkpoint's own method: what it
 * was trained with last. RS_INPUT where a model that publishes none is to run it. */
rs_status rs_experiment_recipe(const rs_experiment *experiment, size_t model, size_t method, rs_recipe *recipe,
                               rs_err *err) RS_NONNULL(1, 4);

/* The method that a model runs there; NULL where it publishes none. Borrows. */
const rs_method *rs_experiment_method(const rs_experiment *experiment, size_t model, size_t method) RS_NONNULL(1);

/* The method that stands for a baseline, RS_NO_COUNT where none does: it was added behind the config's, or is one of
 * them. */
size_t rs_experiment_baseline(const rs_experiment *experiment, rs_baseline baseline) RS_NONNULL(1);

/* The tokens that a baseline reads at a cell's length: all of it; the window no more than the checkpoint was trained at
 * before it was tuned. And those that the cell itself reads: of a baseline these, else its length. */
size_t rs_experiment_baseline_length(const rs_experiment *experiment, const rs_cell *cell, rs_baseline baseline)
    RS_NONNULL(1, 2);
size_t rs_experiment_read_length(const rs_experiment *experiment, const rs_cell *cell) RS_NONNULL(1, 2);

/* What has turned the rows that a source reads, resolved for a model and checked; method NULL: nothing. RS_INPUT, with
 * the source's parameter as subject, also where it is to be what the model publishes, and that is nothing. */
rs_status rs_experiment_rotated(const rs_experiment *experiment, size_t model, size_t source, rs_recipe *recipe,
                                rs_err *err) RS_NONNULL(1, 4);

/* The whole experiment as a config: the same cells, every default written out. */
void rs_experiment_write(const rs_experiment *experiment, rs_text *yaml) RS_NONNULL(1, 2);

/* ---- configs ----------------------------------------------------------------------------------------------------- */

/* What a config is read with. Changes from the command line: each "path=value", as in "methods[1].factor=8"; the value
 * is YAML. */
typedef struct rs_config_edits {
  const char *const *edits;
  size_t count;
  const char *lengths; /* in place of the config's, after all edits: "4k,8k"; NULL: its own */
  const char *methods; /* in place of the config's, before them: "rope, {name: pi, factor: 4}"; NULL: its own */
  const rs_method_list *beside; /* methods that `methods` may name besides the built-in ones; NULL: none */
} rs_config_edits;

/* Reads and checks a config. `file` NULL: the built-in demo. RS_INPUT when there are problems, all of which stand in
 * `problems` (and err says how many); nothing is run or written. */
rs_status rs_config_load(const char *file, rs_config_edits edits, rs_experiment **experiment, rs_problems *problems,
                         rs_err *err) RS_NONNULL(3, 4);

/* The same for a config in memory; `name` stands in messages. */
rs_status rs_config_read(const char *text, const char *name, rs_config_edits edits, rs_experiment **experiment,
                         rs_problems *problems, rs_err *err) RS_NONNULL(1, 2, 4, 5);

/* Metrics as a config lists them: `text` is YAML, "[entropy, {name: top_mass}]", and `name` stands in messages. Bound
 * and checked, each once, none of readings. RS_INPUT with `problems`, RS_MEMORY. Cleared on failure; release with
 * rs_variants_clear. */
rs_status rs_metrics_read(const char *text, const char *name, rs_variants *metrics, rs_problems *problems, rs_err *err)
    RS_NONNULL(1, 2, 3, 4);

/* Files that say what models are, and nothing of what is to be asked of them. */
typedef struct rs_standing_in {
  const char *const *files; /* (count,) each a config.json of Hugging Face's, or a folder that holds one */
  size_t count;
  const char *layers; /* which kind of their layers, as in rs_profile_find; NULL: the chosen ones */
  bool any_length;    /* lengths stand elsewhere: a file needs none of its own */
} rs_standing_in;

/* Adds the standing sweep of the files as a config: what they publish, out to 4 times the length that they are served
 * at, beside plain RoPE and rules that need no training; by metrics that take seconds. RS_INPUT where a file cannot be
 * read or says no length, RS_UNSUPPORTED where nothing in its attention depends on positions. */
rs_status rs_standing_write(const rs_standing_in *in, rs_text *yaml, rs_err *err) RS_NONNULL(1, 2);

/* The same, changed by the edits and checked, as rs_config_read has it. */
rs_status rs_standing_read(const rs_standing_in *in, rs_config_edits edits, rs_experiment **experiment,
                           rs_problems *problems, rs_err *err) RS_NONNULL(1, 3, 4);

/* Built-in model presets, by name. */
typedef struct rs_preset {
  const char *name, *yaml;
} rs_preset;

const rs_preset *rs_presets(size_t *count) RS_NONNULL(1);

/* The preset called `name` as a model. RS_INPUT when unknown. */
rs_status rs_preset_model(const char *name, rs_model *model, rs_err *err) RS_NONNULL(1, 2);

/* Its layers: where it says nothing of them, all are alike. */
rs_status rs_preset_profile(const char *name, rs_profile *profile, rs_err *err) RS_NONNULL(1, 2);

/* The demo config. */
const char *rs_demo_config(void);

/* ---- subjects: one recipe on one model at one length ------------------------------------------------------------- */

typedef struct rs_subject {
  rs_profile profile; /* of `hf` or `preset`; else without kinds */
  size_t kind;        /* the layers of it that `model` is of */
  rs_model model;
  rs_recipe recipe; /* resolved for the model, and checked */
  size_t length;    /* tokens, >= 1 */
  rs_token_layout tokens;
  rs_precision precision;
} rs_subject;

/* Where a subject comes from: a config, or a model and a recipe in words. All borrowed; NULL, 0: not named. */
typedef struct rs_subject_in {
  const char *config;    /* file with one model, one method and one length; NULL without `hf` and `preset`: the demo */
  const char *hf;        /* a Hugging Face config.json */
  const char *hf_text;   /* what it holds, where `hf` is its name in messages alone; NULL: a file */
  const char *preset;    /* the name of a preset */
  const rs_model *on;    /* a model in the place of these; the subject then has no profile */
  const char *layers;    /* of one of those: which kind of its layers, as in rs_profile_find; NULL: the chosen one */
  const char *method;    /* on one of those: a recipe as YAML ("{name: yarn, factor: 8}"); NULL: what it publishes */
  const char *label;     /* what messages call that recipe; NULL: "--method" */
  const char *fallback;  /* a recipe for models that publish none; NULL: they are refused */
  rs_config_edits edits; /* of the config; else of the recipe ("factor=8"), "tokens=..." or "precision=..."; without
                            lengths */
  size_t length;         /* tokens; 0: the config's, or the length that the model is published for */
} rs_subject_in;

/* The layers of `hf` or `preset`, and which kind of them is meant. Cleared on failure. */
rs_status rs_subject_profile(const rs_subject_in *in, rs_profile *profile, size_t *kind, rs_err *err)
    RS_NONNULL(1, 2, 3);

/* RS_INPUT with `problems`, or with a message alone, for whatever is wrong with the words. The subject is cleared on
 * failure; release it with rs_subject_clear. */
rs_status rs_subject_read(const rs_subject_in *in, rs_subject *subject, rs_problems *problems, rs_err *err)
    RS_NONNULL(1, 2, 3);
void rs_subject_clear(rs_subject *subject) RS_NONNULL(1);

/* Adds the recipe as it is written, "{name: yarn, factor: 8}": what differs from the defaults. */
void rs_recipe_write(const rs_recipe *recipe, rs_text *text) RS_NONNULL(1, 2);

/* ---- trained models ---------------------------------------------------------------------------------------------- */

/* A model that was trained, or is to be: what its folder's config.json says. Zero-initialise; release one that was read
 * with rs_trained_clear. */
typedef struct rs_trained {
  rs_shape shape;
  rs_model geometry;
  rs_token_layout tokens; /* of what it is trained on */
  rs_recipe *recipes;     /* (recipe_count,) resolved for the geometry */
  size_t recipe_count;
  rs_format format;
  rs_training training;
  rs_variant task; /* `task` and its settings */
  uint64_t seed;
  char teacher[65]; /* fingerprint of the teacher; "": none */
  char origin[65];  /* the fingerprint of the model that it goes on from, with another recipe or length; "": none */
  uint64_t drawn;   /* sequences that it was trained on before: training goes on with those that follow */
  size_t steps;     /* done */
  char weights[65]; /* SHA-256 of model.safetensors; "": training is not done */
  char *arithmetic; /* the instruction sets that computed it, "v3; v4"; NULL: nothing yet */
} rs_trained;

/* Names in the folder of a trained model. */
#define RS_TRAINED_CONFIG "config.json"
#define RS_TRAINED_WEIGHTS "model.safetensors"

/* The SHA-256 of all that determines the weights: shape, geometry, tokens, recipes, format, training, task, seed,
 * teacher, origin, and the versions of task and stages. Not of names, and not of the machine: weights from another one,
 * whose last bits differ, are as good. RS_UNSUPPORTED for a recipe that cannot be put in words, RS_MEMORY. */
rs_status rs_trained_fingerprint(const rs_trained *trained, char hash[65], rs_err *err) RS_NONNULL(1, 2);

/* Adds it as config.json: all of it as "ropescope", and, where Hugging Face's LlamaForCausalLM computes the same,
 * that class's keys. */
rs_status rs_trained_write(const rs_trained *trained, rs_text *json, rs_err *err) RS_NONNULL(1, 2);

/* Whether a Llama of Hugging Face computes the same from the same weights; its config's keys are then added to the open
 * object. */
rs_status rs_trained_write_llama(const rs_trained *trained, rs_json *json, bool *llama, rs_err *err)
    RS_NONNULL(1, 2, 3);

/* Whether config.json of a folder says that a run of this program has made it; one that is missing or wrong does not.
 * RS_MEMORY. */
rs_status rs_trained_marked(const char *folder, bool *marked, rs_err *err) RS_NONNULL(1, 2);

/* Reads config.json of a folder. Strict: RS_INPUT with the file and each key that is wrong, a line each. Cleared on
 * failure. */
rs_status rs_trained_read(const char *folder, rs_trained *trained, rs_err *err) RS_NONNULL(1, 2);
void rs_trained_clear(rs_trained *trained) RS_NONNULL(1);

/* The model as it begins (`blank`: with weights 0), or (load) as the folder's weights make it. */
rs_status rs_trained_create(const rs_trained *trained, bool blank, rs_transformer **transformer, rs_err *err)
    RS_NONNULL(1, 3);
rs_status rs_trained_load(const rs_trained *trained, const char *folder, rs_transformer **transformer, rs_err *err)
    RS_NONNULL(1, 2, 3);

/* The shape of a checkpoint's folder, by its config.json alone: one of this program's, or in Hugging Face's layout.
 * Fails as these readers do. Release with rs_shape_clear; empty on failure. */
rs_status rs_folder_shape(const char *folder, rs_shape *shape, rs_err *err) RS_NONNULL(1, 2);

/* ---- warnings ---------------------------------------------------------------------------------------------------- */

/* Adds what its author will hardly have meant of a recipe (resolved) at this length: M-RoPE that is plain RoPE, a scale
 * below 1, tables that are learned and were not. Adds nothing where nothing is to be said. `tokens` may be NULL (text),
 * and so may `trained`, what a checkpoint was trained with. */
void rs_recipe_warn(const rs_recipe *recipe, const rs_recipe *trained, const rs_model *model, size_t length,
                    const rs_token_layout *tokens, rs_text *out) RS_NONNULL(1, 3, 6);

/* Warnings of all models and methods at the first length that has one, and of published models whose learned tables are
 * drawn; a line each, each once. */
rs_status rs_experiment_warnings(const rs_experiment *experiment, rs_text *lines, rs_err *err) RS_NONNULL(1, 2);

#endif
