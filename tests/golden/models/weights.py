#!/usr/bin/env python3
"""Weights of the golden models: a formula of each tensor's name, that of fixtures/made_weights.h and one for sinks.

    weights.py FOLDER    # FOLDER/NAME of each model: its files here, and its weights; FOLDER.made when all are there

tensors.csv lists names and shapes. llama_small has its weights in 16 bits too, llama_linear in two shards. Models that
GGUF holds have model.gguf as well (twins.py); of Falcon they are cases of ../architectures. MODEL_q8_0 has its matrices
in blocks, or, where rows are none, in 16 bits.
"""

import array
import json
import math
import os
import struct
import sys

import twins

HERE = os.path.dirname(os.path.abspath(__file__))
MASK = (1 << 64) - 1


def draw(name, count):
    """Numbers of 64 bits by SplitMix64, begun with the name's hash (FNV-1a)."""
    state = 0xCBF29CE484222325
    for byte in name.encode():
        state = (state ^ byte) * 0x100000001B3 & MASK
    for _ in range(count):
        z = state = state + 0x9E3779B97F4A7C15 & MASK
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        yield z ^ z >> 31


def numbers(name, shape):
    """Norms near 1, biases near 0, sinks beside the largest logits, matrices whose rows have length sqrt(3)."""
    middle, scale = 0, 3 / shape[-1] ** 0.5
    if name.endswith("sinks"):
        middle, scale = 6, 2
    elif len(shape) == 1:
        middle, scale = (1, 0.5) if name.endswith(".weight") else (0, 0.4)
    return array.array("f", [middle + scale * ((n >> 40) * 2.0**-23 - 1) for n in draw(name, math.prod(shape))])


def models(table, wanted=None):
    """{model: {tensor: (shape, floats)}}, in the order of the table, of all models or those that are wanted."""
    made = {}
    with open(table, encoding="ascii") as lines:
        for line in lines.read().splitlines()[1:]:
            model, name, shape = line.split(",")
            if wanted is not None and model not in wanted:
                continue
            shape = [int(size) for size in shape.split()]
            made.setdefault(model, {})[name] = (shape, numbers(name, shape))
    return made


def bfloat16(floats):
    """Rounded to the nearest, ties to even."""
    bits = array.array("I", floats.tobytes())
    return array.array("H", [b + 0x7FFF + (b >> 16 & 1) >> 16 for b in bits]).tobytes()


FORMATS = {
    "F32": lambda floats: floats.tobytes(),
    "F16": lambda floats: struct.pack(f"<{len(floats)}e", *floats),
    "BF16": bfloat16,
}


def write(path, tensors, dtype="F32"):
    header, data = {}, b""
    for name, (shape, floats) in tensors.items():
        bytes_of = FORMATS[dtype](floats)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(bytes_of)]}
        data += bytes_of
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + data)


def write_shards(folder, tensors):
    names = list(tensors)
    half = len(names) // 2
    files = [f"model-0000{i}-of-00002.safetensors" for i in (1, 2)]
    os.makedirs(folder, exist_ok=True)
    for file, part in zip(files, (names[:half], names[half:])):
        write(os.path.join(folder, file), {name: tensors[name] for name in part})
    index = {"weight_map": {name: files[i >= half] for i, name in enumerate(names)}}
    with open(os.path.join(folder, "model.safetensors.index.json"), "w", encoding="ascii") as file:
        json.dump(index, file)


GGUF = ("llama_small", "llama3", "llama_linear", "llama_yarn", "mistral", "qwen2", "qwen2_vl", "qwen3", "gemma2",
        "gemma3", "phi3_longrope", "gpt2", "bloom", "mpt")  # fmt: skip
FALCONS = ("falcon7b", "falcon40b")
CASES = os.path.join(HERE, "..", "architectures")


def link_to(file, link):
    if os.path.lexists(link):
        os.unlink(link)
    os.symlink(file, link)


def write_falcons(out):
    for model, tensors in models(os.path.join(CASES, "tensors.csv"), FALCONS).items():
        tensors = {name: tensor for name, tensor in tensors.items() if not name.endswith("inv_freq")}
        folder = os.path.join(out, model)
        os.makedirs(folder, exist_ok=True)
        link_to(os.path.abspath(os.path.join(CASES, model + ".json")), os.path.join(folder, "config.json"))
        write(os.path.join(folder, "model.safetensors"), tensors)
        twins.write_twins(folder, model, tensors)


def widened(tensors, old, new):
    """The same with other numbers of a feed-forward layer, so that some sums are of several sections."""
    shapes = {name: [new if size == old else size for size in shape] for name, (shape, _) in tensors.items()}
    return {name: (shape, numbers(name, shape)) for name, shape in shapes.items()}


def write_blocks(folder, model, tensors):
    """The model of blocks and its twin, whose floats are those that the blocks come to."""
    with open(os.path.join(HERE, model, "config.json"), encoding="ascii") as file:
        config = json.load(file)
    if model == "llama_small":
        tensors = widened(tensors, config["intermediate_size"], 608)
        config["intermediate_size"] = 608
    tensors = {name: (shape, twins.rounded(shape, floats)) for name, (shape, floats) in tensors.items()}
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "config.json"), "w", encoding="ascii") as file:
        json.dump(config, file)
    write(os.path.join(folder, "model.safetensors"), tensors)
    twins.write_twins(folder, model, tensors, quantised=True)


def main(out):
    write_falcons(out)
    for model, tensors in models(os.path.join(HERE, "tensors.csv")).items():
        folder = os.path.join(out, model)
        os.makedirs(folder, exist_ok=True)
        for file in os.listdir(os.path.join(HERE, model)):
            link_to(os.path.join(HERE, model, file), os.path.join(folder, file))
        write(os.path.join(folder, "model.safetensors"), tensors)
        if model in GGUF:
            twins.write_twins(folder, model, tensors)
        if model in ("llama_small", "qwen2", "mpt"):
            write_blocks(os.path.join(out, model + "_q8_0"), model, tensors)
        if model == "llama_small":
            write(os.path.join(folder, "model_bf16.safetensors"), tensors, "BF16")
            write(os.path.join(folder, "model_f16.safetensors"), tensors, "F16")
        if model == "llama_linear":
            write_shards(os.path.join(folder, "sharded"), tensors)
    with open(out + ".made", "w", encoding="ascii"):
        pass


if __name__ == "__main__":
    main(sys.argv[1])
