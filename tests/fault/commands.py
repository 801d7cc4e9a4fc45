"""What the driver runs while calls fail: commands, and the files that they read."""
import math
import os
import shutil
import struct
import subprocess
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
HF = f"{TESTS}/data/hf/"

CONFIG = """name: small
model: {name: tiny, heads: 2, head_dim: 8, rope_theta: 10000, train_length: 16}
methods: [rope, {name: pi, factor: 2}]
lengths: [16, 32]
sources: [gaussian]
seeds: 2
metrics: [entropy, decay]
"""
TRAINED = """name: trained
checkpoint: {method: rope, heads: 1, head_dim: 4, width: 4, train: {steps: 2, length: 16, sequences: 2}}
task: copy
lengths: [16]
methods: [trained]
metrics: [loss]
"""
# The same in breadth: methods of every kind, sources and metrics; models that are tuned, and the forms of their blocks.
RICH = """name: rich
model: {head_dim: 8, heads: 2, train_length: 16}
lengths: [24]
queries: {random: 3}
heads: {each: [0, 1]}
methods: [rope, {name: yarn, factor: 4, logit_scale: log_n}, self_extend, alibi, t5, fire, swin, sinusoidal, xpos]
sources: [gaussian, {name: needle, depth: 0.5}, lookback, gap, {name: calibrated, wanted: peak, at: 4}]
metrics: [entropy, effective_tokens, needle, distance_mass, score_by_distance, sink_mass, phase_error, calibration,
  position_similarity, frequencies, shift_invariance, zero_shot_damage, base_bound]
"""
NETS = """name: nets
checkpoint:
  - {name: layer, method: rope, norm: layer, biases: true, activation: gelu, width: 8, heads: 2, blocks: 1,
     train: {steps: 2, length: 12, sequences: 2}}
  - {name: table, method: learned, norm: l2, activation: gelu_tanh, width: 8, heads: 2, blocks: 1,
     train: {steps: 2, length: 12, sequences: 2}, tune: {steps: 1, length: 16, method: rope}}
task: copy
lengths: [12]
sequences: 2
seeds: 1
metrics: [loss, loss_by_position, accuracy, recall]
"""
MODEL = """{"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 64, "num_attention_heads": 4,
 "num_hidden_layers": 2, "max_position_embeddings": 8192, "rope_theta": 10000.0,
 "rope_scaling": {"rope_type": "yarn", "factor": 4.0, "original_max_position_embeddings": 2048}}
"""
EXPECTED = """key,file,column,where,expected,here,tolerance,origin,verdict,source,note
cells,summary,count(entropy_nats),,,8,,found,,,
"""
# What is wrong in each of these, check finds; they are no field's own files but as small as they can be.
MISTAKES = {
    "type": """{"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "max_position_embeddings": 16384,
 "rope_scaling": {"type": "linear", "rope_type": "yarn", "factor": 4.0, "mscale": 0.7, "attention_factor": 3}}
""",
    "lengths": """{"model_type": "qwen2", "hidden_size": 64, "num_attention_heads": 4, "max_position_embeddings": 4096,
 "rope_scaling": {"rope_type": "yarn", "factor": 2.0, "original_max_position_embeddings": 16384}}
""",
    "bands": """{"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "max_position_embeddings": 131072,
 "rope_scaling": {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 4.0, "high_freq_factor": 1.0,
  "original_max_position_embeddings": 8192}, "rope_parameters": {"rope_type": "linear", "factor": 2.0}}
""",
    "sections": """{"model_type": "qwen2_vl", "hidden_size": 64, "num_attention_heads": 4, "rope_theta": 1000000.0,
 "max_position_embeddings": 32768, "rope_scaling": {"type": "mrope", "mrope_section": [16, 24, 25]}}
""",
    "layers": """{"model_type": "gemma3_text", "hidden_size": 64, "num_attention_heads": 4, "head_dim": 16, "num_hidden_layers": 3,
 "max_position_embeddings": 131072, "sliding_window": 512, "layer_types": ["sliding_attention", "full_attention"],
 "rope_theta": 1000000.0, "rope_local_base_freq": 10000.0, "rope_scaling": {"rope_type": "longrope", "factor": 8.0}}
""",
    "bias": """{"model_type": "mpt", "d_model": 64, "n_heads": 4, "max_seq_len": 2048,
 "attn_config": {"alibi": true, "alibi_bias_max": 16, "rope": true}}
""",
}
MODELS = sorted(str(path) for path in (TESTS / "data/hf").glob("*.json"))
STRANGE = sorted(str(path) for path in (TESTS / "fuzz/corpus/config_json").iterdir() if path.name != "words")
COMMANDS = {
    "run": ["run", "small.yaml", "--out", "new", "--quiet"],
    "run_rich": ["run", "rich.yaml", "--out", "new", "--quiet"],
    "run_every": ["run", str(TESTS / "cross/every.yaml"), "--set", "seeds=1", "--lengths", "64", "--methods",
                  "rope, mrope, yarn, alibi, sinusoidal_2d, learned", "--out", "new", "--quiet"],
    "run_models": ["run", "--hf", "model/config.json", HF + "gemma-3-nested.json", "--lengths", "64", "--out", "new",
                   "--quiet"],
    "run_over": ["run", "small.yaml", "--set", "seeds=3", "--out", "old", "--force", "--quiet"],
    "train": ["run", "trained.yaml", "--out", "new", "--checkpoints", "made", "--quiet"],
    "read_trained": ["run", "trained.yaml", "--out", "new", "--checkpoints", "kept", "--quiet"],
    "nets": ["run", "nets.yaml", "--out", "new", "--checkpoints", "made", "--quiet"],
    "shard": ["run", "small.yaml", "--shard", "2/2", "--out", "new", "--quiet"],
    "merge": ["merge", "shard-1", "shard-2", "--out", "new", "--quiet"],
    "plan": ["plan", "small.yaml"],
    "plan_rich": ["plan", "rich.yaml"],
    "plan_nets": ["plan", "nets.yaml"],
    "list": ["list", "methods"],
    "list_json": ["list", "metrics", "--json"],
    "list_one": ["list", "yarn"],
    "check": ["check", "model/config.json"],
    "check_models": ["check", *MODELS],
    "check_strange": ["check", *STRANGE, "--format", "github"],
    "check_engine": ["check", "model/config.json", HF + "gemma-3-nested.json", "--engine", "vllm,transformers@4.52",
                     "--json"],
    "check_mistakes": ["check", *(f"mistakes/{name}.json" for name in MISTAKES)],
    "check_sarif": ["check", "model", "--format", "sarif"],
    "explain": ["explain", "model/config.json", "--length", "32k", "--pair", "3"],
    "explain_layers": ["explain", HF + "gemma-3-nested.json", "--length", "64k", "--json"],
    "explain_alibi": ["explain", HF + "mpt.json", "--length", "8k"],
    "show": ["show", "frequencies", "--hf", "model/config.json"],
    "show_layers": ["show", "layers", "--hf", "model/config.json", "--json"],
    "show_positions": ["show", "positions", "--model", "llama-2-7b", "--method", "rerope", "--length", "64", "--json"],
    "show_bias": ["show", "bias", "--hf", HF + "mpt.json", "--length", "64"],
    "show_embedding": ["show", "embedding", "rich.yaml", "--set", "methods=[sinusoidal]"],
    "show_shift": ["show", "embedding", "rich.yaml", "--set", "methods=[learned]", "--shift", "2", "--json",
                   "--length", "16"],
    "show_waves": ["show", "frequencies", "rich.yaml", "--set", "methods=[sinusoidal]", "--json"],
    "compare_layers": ["compare", HF + "gemma-3-nested.json", HF + "gpt-oss.json", "--json"],
    "compare_biases": ["compare", HF + "falcon-alibi.json", HF + "bloom.json"],
    "compare_dumps": ["compare", HF + "llama-3.1.json", str(TESTS / "data/dumps/llama31_8b_hf.npy")],
    "compare_cos_sin": ["compare", "model/config.json", "made/cos.npy"],
    "compare": ["compare", "model/config.json", "{name: yarn, factor: 8}"],
    "convert": ["convert", "model/config.json", "--to", "vllm"],
    **{f"convert_{to}": ["convert", "model/config.json", "--to", to]
       for to in ("hf4", "sglang", "llamacpp", "gguf-metadata", "megatron", "mlx")},
    "convert_out": ["convert", "model/config.json", "--inv-freq", "csv", "--out", "inv_freq.csv"],
    "solve": ["solve", "base", "--length", "32k", "--head-dim", "64"],
    "solve_factor": ["solve", "factor", "--length", "16k", "--hf", "model/config.json", "--method", "yarn", "--json"],
    "solve_length": ["solve", "length", "--model", "llama-2-7b", "--method", "{name: pi, factor: 2}"],
    "solve_setting": ["solve", "setting", "--length", "16k", "--hf", HF + "llama-2.json"],
    "plot_rich": ["plot", "rich", "--format", "svg", "--quiet"],
    "plot": ["plot", "old", "--format", "svg", "--quiet"],
    "table": ["table", "old", "entropy_nats", "mean_cosine_at_length"],
    "table_lines": ["table", "rich", "all: max(entropy_nats) where length_tokens=24; method=rope", "--lines", "source",
                    "--sort", "-1", "--markdown"],
    "verify": ["verify", "old"],
    "report": ["report", "old", "--out", "page.html", "--quiet"],
    "report_rich": ["report", "rich", "old", "--out", "page.html", "--quiet"],
    "report_still": ["report", "old", "--still", "--quiet"],
    "explore": ["explore", "--hf", "model/config.json", "--quiet"],
    "bench": ["bench", "--quick", "--rounds", "1", "--quiet", "--job", "decay,bias_swin,sweep,train_step"],
    "logits": ["logits", "TRAINED", "tokens.npy", "--out", "logits.npy"],
    "reproduce_list": ["reproduce", "--list", "--experiments", "experiments"],
    "reproduce": ["reproduce", "one", "--experiments", "experiments", "--out", "results", "--quiet"],
}
# Those that answer by their status: 1 is that something was found.
SAYS_BY_STATUS = {"check_engine": 1, "check_models": 1, "check_strange": 1, "check_mistakes": 1, "compare": 1,
                  "compare_layers": 1, "compare_biases": 1, "compare_cos_sin": 1}
# What `explore` is asked before it is ended.
QUESTION = "answer?method=yarn&factor=8&length=4096"
# Those that print how long something took.
TIMES = ("bench",)
# Those that go on from what is left of one that failed.
RESUMES = ("run", "run_rich", "run_every", "run_models", "run_over", "shard", "train", "read_trained", "nets", "reproduce")


def array(kind, shape, data):
    """A .npy file."""
    head = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}"
    head += " " * (-(len(head) + 11) % 64) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data


def tokens():
    return array("<i4", (3,), struct.pack("<3i", 0, 1, 2))


def turned(function):
    """cos or sin of plain RoPE of base 10000: 8 positions of 8 pairs, each twice."""
    rows = [[function(m * 10000 ** (-(j % 8) / 8)) for j in range(16)] for m in range(8)]
    return array("<f8", (8, 16), struct.pack("<128d", *sum(rows, [])))


def write(folder, name, data):
    path = os.path.join(folder, name)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())


def prepare(program, folder, environment):
    """The files of a folder in which each command can be run; and where `logits` finds its model."""
    files = {"small.yaml": CONFIG, "trained.yaml": TRAINED, "rich.yaml": RICH, "nets.yaml": NETS, "model/config.json": MODEL,
             "tokens.npy": tokens(), "experiments/one/config.yaml": CONFIG.replace("small", "one"),
             "experiments/one/expected.csv": EXPECTED, "made/cos.npy": turned(math.cos), "made/sin.npy": turned(math.sin)}
    for name, data in {**files, **{f"mistakes/{name}.json": data for name, data in MISTAKES.items()}}.items():
        write(folder, name, data)
    for words in (["small.yaml", "--out", "old"], ["rich.yaml", "--out", "rich"],
                  ["small.yaml", "--shard", "1/2", "--out", "shard-1"], ["small.yaml", "--shard", "2/2", "--out", "shard-2"],
                  ["trained.yaml", "--out", "x", "--checkpoints", "kept"]):
        subprocess.run([program, "run", *words, "--quiet"], cwd=folder, env=environment, check=True)
    shutil.rmtree(os.path.join(folder, "x"))
    COMMANDS["logits"][1] = os.path.join("kept", os.listdir(os.path.join(folder, "kept"))[0])
