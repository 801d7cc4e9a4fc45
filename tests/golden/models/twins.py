"""GGUF files of golden models, in floats: what convert_hf_to_twins.py of llama.cpp writes of them, written anew from the
format's specification (ggml's docs/gguf.md). converted.py compares them with what that script itself writes.

A twin is the checkpoint that says the same: where the format cannot hold a key of config.json (gemma2's
query_pre_attn_scalar, mistral's sliding_window), or is silent on it, the twin's config has what llama.cpp takes.
"""

import array
import json
import math
import os
import struct

NAMES = {
    "input_layernorm": "attn_norm", "post_attention_layernorm": "ffn_norm", "self_attn.q_proj": "attn_q",
    "self_attn.k_proj": "attn_k", "self_attn.v_proj": "attn_v", "self_attn.o_proj": "attn_output",
    "self_attn.q_norm": "attn_q_norm", "self_attn.k_norm": "attn_k_norm", "mlp.gate_proj": "ffn_gate",
    "mlp.up_proj": "ffn_up", "mlp.down_proj": "ffn_down", "self_attn.qkv_proj": "attn_qkv", "mlp.gate_up_proj": "ffn_up",
    "ln_1": "attn_norm", "ln_2": "ffn_norm", "attn.c_attn": "attn_qkv", "attn.c_proj": "attn_output",
    "mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down", "norm_1": "attn_norm", "norm_2": "ffn_norm",
    "attn.Wqkv": "attn_qkv", "attn.out_proj": "attn_output", "ffn.up_proj": "ffn_up", "ffn.down_proj": "ffn_down",
    "self_attention.query_key_value": "attn_qkv", "self_attention.dense": "attn_output",
    "mlp.dense_h_to_4h": "ffn_up", "mlp.dense_4h_to_h": "ffn_down", "ln_attn": "attn_norm_2", "ln_mlp": "attn_norm",
    "embed_tokens": "token_embd", "wte": "token_embd", "word_embeddings": "token_embd", "wpe": "position_embd",
    "word_embeddings_layernorm": "token_embd_norm", "norm": "output_norm", "ln_f": "output_norm",
    "norm_f": "output_norm", "lm_head": "output",
}  # fmt: skip
GEMMA = {"post_attention_layernorm": "post_attention_norm", "pre_feedforward_layernorm": "ffn_norm",
         "post_feedforward_layernorm": "post_ffw_norm"}  # fmt: skip
ARCHITECTURES = {"mistral": "llama", "gemma3_text": "gemma3", "qwen2_vl": "qwen2vl"}  # others are called alike
KEPT = {"gemma2": {"query_pre_attn_scalar": 16}, "mistral": {"sliding_window": None}}  # what a twin's config has


# ---- tensors ---------------------------------------------------------------------------------------------------------


def rows_of(shape, floats):
    width = math.prod(shape[1:])
    return [floats[i * width : (i + 1) * width] for i in range(shape[0])]


def joined(rows):
    return array.array("f", b"".join(row.tobytes() for row in rows))


def pairs_side_by_side(shape, floats, heads):
    """Rows j and j + D / 2 of each head become neighbours."""
    rows, dims = rows_of(shape, floats), shape[0] // heads
    order = [h * dims + half * dims // 2 + j for h in range(heads) for j in range(dims // 2) for half in (0, 1)]
    return joined([rows[i] for i in order])


def parts_apart(shape, floats, heads, keys):
    """Queries, then keys, then values of what has them group by group."""
    rows, each = rows_of(shape, floats), heads // keys + 2
    dims = shape[0] // (keys * each)
    groups = [rows[g * each * dims : (g + 1) * each * dims] for g in range(keys)]
    cuts = ((0, each - 2), (each - 2, each - 1), (each - 1, each))
    return joined([row for begin, end in cuts for group in groups for row in group[begin * dims : end * dims]])


def turned(shape, floats):
    rows = rows_of(shape, floats)
    return [shape[1], shape[0]], array.array("f", [row[i] for i in range(shape[1]) for row in rows])


def their_name(name, arch):
    for front in ("model.language_model.", "model.", "transformer."):
        if name.startswith(front):
            name = name[len(front) :]
            break
    block, parts = "", name.split(".")
    if parts[0] in ("layers", "h", "blocks"):
        block, parts = f"blk.{parts[1]}.", parts[2:]
    part, end = ".".join(parts[:-1]), parts[-1]
    known = {**NAMES, **GEMMA} if arch.startswith("gemma") else NAMES
    return f"{block}{known[part]}.{end}"


def tensors_of(config, arch, tensors):
    heads = config.get("num_attention_heads") or config.get("n_head") or config.get("n_heads")
    keys = config.get("num_key_value_heads", heads)
    made = {}
    for name, (shape, floats) in tensors.items():
        if "visual." in name:
            continue
        if arch == "llama" and ".q_proj." in name:
            floats = pairs_side_by_side(shape, floats, heads)
        if arch == "llama" and ".k_proj." in name:
            floats = pairs_side_by_side(shape, floats, keys)
        if arch == "gpt2" and len(shape) == 2 and ".h." in name:
            shape, floats = turned(shape, floats)
        if arch == "bloom" and "query_key_value" in name:
            floats = parts_apart(shape, floats, heads, heads)
        if arch == "falcon" and "query_key_value" in name:
            floats = parts_apart(shape, floats, heads, falcon_keys(config))
        if arch.startswith("gemma") and name.endswith("norm.weight"):
            floats = array.array("f", [1 + x for x in floats])
        made[their_name(name, arch)] = (shape, floats)
    return {**factors_of(config), **made}


def factors_of(config):
    rope = config.get("rope_scaling") or {}
    kind = rope.get("rope_type", rope.get("type"))
    if kind == "longrope":
        return {f"rope_factors_{way}.weight": ([len(rope[f"{way}_factor"])], array.array("f", rope[f"{way}_factor"]))
                for way in ("long", "short")}  # fmt: skip
    if kind != "llama3":
        return {}
    dims, factors = config["head_dim"], []
    low, high, length = rope["low_freq_factor"], rope["high_freq_factor"], rope["original_max_position_embeddings"]
    for i in range(0, dims, 2):
        wave = 2 * math.pi * config["rope_theta"] ** (i / dims)
        smooth = min(max((length / wave - low) / (high - low), 0), 1)
        factors.append(1 / ((1 - smooth) / rope["factor"] + smooth))
    return {"rope_freqs.weight": ([dims // 2], array.array("f", factors))}


# ---- metadata --------------------------------------------------------------------------------------------------------


def falcon_keys(config):
    return config["num_kv_heads"] if config["new_decoder_architecture"] else 1


def positions_of(config, arch):
    rope = config.get("rope_scaling") or {}
    kind = rope.get("rope_type", rope.get("type"))
    said = {}
    if kind in ("linear", "yarn"):
        said = {"rope.scaling.type": kind, "rope.scaling.factor": float(rope["factor"])}
    if kind == "yarn":
        said["rope.scaling.original_context_length"] = rope["original_max_position_embeddings"]
    if "mrope_section" in rope:
        said["rope.dimension_sections"] = [*rope["mrope_section"], 0]
    if arch == "phi3":
        longest, original = config["max_position_embeddings"], config["original_max_position_embeddings"]
        said["rope.scaling.original_context_length"] = original
        said["rope.scaling.attn_factor"] = math.sqrt(1 + math.log(longest / original) / math.log(original))
        said["attention.sliding_window"] = config["sliding_window"] or 0
    if arch in ("llama", "qwen2", "qwen2vl", "qwen3", "gemma3", "phi3"):
        said["rope.freq_base"] = float(config["rope_theta"])
    if arch in ("llama", "phi3"):
        said["rope.dimension_count"] = config.get("head_dim", 16)
    if arch.startswith("gemma"):
        said["attention.sliding_window"] = config["sliding_window"]
    if arch == "gemma2":
        said["attn_logit_softcapping"] = config["attn_logit_softcapping"]
        said["final_logit_softcapping"] = config["final_logit_softcapping"]
    if arch == "gemma3":
        said["rope.freq_base_swa"] = config["rope_local_base_freq"]
        said["attention.sliding_window_pattern"] = config["sliding_window_pattern"]
    if arch == "mpt":
        said["attention.max_alibi_bias"] = float(config["attn_config"]["alibi_bias_max"])
    return said


def sizes_of(config, arch):
    def first(*keys, usual=None):
        return next((config[key] for key in keys if config.get(key) is not None), usual)

    width, heads = first("hidden_size", "n_embd", "d_model"), first("num_attention_heads", "n_head", "n_heads")
    said = {
        "block_count": first("num_hidden_layers", "n_layer", "n_layers"),
        "context_length": first("max_position_embeddings", "n_positions", "max_seq_len", usual=2048),
        "embedding_length": width,
        "feed_forward_length": first("intermediate_size", "n_inner", usual=4 * width),
        "attention.head_count": heads,
        "attention.head_count_kv": falcon_keys(config) if arch == "falcon" else first("num_key_value_heads", usual=heads),
    }
    if "head_dim" in config:
        said["attention.key_length"] = said["attention.value_length"] = config["head_dim"]
    if "rms_norm_eps" in config:
        said["attention.layer_norm_rms_epsilon"] = config["rms_norm_eps"]
    else:
        said["attention.layer_norm_epsilon"] = first("layer_norm_epsilon", usual=1e-5)
    if arch == "llama":
        said["vocab_size"] = config["vocab_size"]
    return said


# ---- blocks ----------------------------------------------------------------------------------------------------------


def blocks_of(floats):
    """Q8_0: of each 32 numbers a scale in binary16, and what multiplies it in bytes."""
    data, numbers = b"", array.array("f")
    for i in range(0, len(floats), 32):
        block = floats[i : i + 32]
        packed_scale = struct.pack("<e", max(map(abs, block)) / 127)
        scale = struct.unpack("<e", packed_scale)[0]
        steps = [round(x / scale) for x in block]
        data += packed_scale + struct.pack("<32b", *steps)
        numbers.extend(scale * step for step in steps)
    return data, numbers


def kind_of(shape):
    """Matrices become blocks where their rows are whole ones, else binary16."""
    return "F32" if len(shape) == 1 else "Q8_0" if shape[-1] % 32 == 0 else "F16"


def rounded(shape, floats):
    """Numbers of a tensor as its type holds them."""
    kind = kind_of(shape)
    if kind == "F16":
        return array.array("f", struct.unpack(f"<{len(floats)}e", struct.pack(f"<{len(floats)}e", *floats)))
    return blocks_of(floats)[1] if kind == "Q8_0" else floats


def bytes_of(kind, floats):
    if kind == "F16":
        return struct.pack(f"<{len(floats)}e", *floats)
    return blocks_of(floats)[0] if kind == "Q8_0" else floats.tobytes()


# ---- the file --------------------------------------------------------------------------------------------------------


def packed(value):
    """A type and its bytes: strings, whole numbers of 32 bits, floats, and lists of whole numbers."""
    if isinstance(value, str):
        return 8, text(value)
    if isinstance(value, bool):
        return 7, struct.pack("<?", value)
    if isinstance(value, int):
        return 4, struct.pack("<I", value)
    if isinstance(value, float):
        return 6, struct.pack("<f", value)
    return 9, struct.pack(f"<IQ{len(value)}i", 5, len(value), *value)


def text(word):
    return struct.pack("<Q", len(word.encode())) + word.encode()


def write(path, metadata, tensors, type_of=lambda shape: "F32"):
    """Tensors {name: (shape, floats)} in the order of the dictionary, each aligned to 32 bytes."""
    types = {"F32": 0, "F16": 1, "Q8_0": 8}
    head, data = struct.pack("<4sIQQ", b"GGUF", 3, len(tensors), len(metadata)), b""
    for key, value in metadata.items():
        kind, numbers = packed(value)
        head += text(key) + struct.pack("<I", kind) + numbers
    for name, (shape, floats) in tensors.items():
        sizes = list(reversed(shape))
        head += text(name) + struct.pack(f"<I{len(sizes)}QIQ", len(sizes), *sizes, types[type_of(shape)], len(data))
        data += bytes_of(type_of(shape), floats)
        data += b"\0" * (-len(data) % 32)
    with open(path, "wb") as file:
        file.write(head + b"\0" * (-len(head) % 32) + data)


def write_twins(folder, model, tensors, quantised=False):
    """model.gguf in the folder of a model, of floats or of blocks, and twin/ where its checkpoint says what the format
    cannot."""
    with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
        config = json.load(file)
    kind = config["model_type"]
    arch = ARCHITECTURES.get(kind, kind)
    text_config = {**config, **config.get("text_config", {}), **KEPT.get(model, {})}
    said = {**sizes_of(text_config, arch), **positions_of(text_config, arch)}
    metadata = {"general.architecture": arch, **{f"{arch}.{key}": value for key, value in said.items()}}
    kinds = {"type_of": kind_of} if quantised else {}
    write(os.path.join(folder, "model.gguf"), metadata, tensors_of(text_config, arch, tensors), **kinds)
    if model in KEPT:
        os.makedirs(os.path.join(folder, "twin"), exist_ok=True)
        with open(os.path.join(folder, "twin", "config.json"), "w", encoding="ascii") as file:
            json.dump({**config, **KEPT[model]}, file)
        link = os.path.join(folder, "twin", "model.safetensors")
        if not os.path.lexists(link):
            os.symlink(os.path.join("..", "model.safetensors"), link)
