#!/usr/bin/env python3
"""Weights of the golden models: a formula of each tensor's name, that of fixtures/made_weights.h and one for sinks.

    weights.py FOLDER    # FOLDER/NAME of each model: its files here, and its weights; FOLDER.made when all are there

tensors.csv lists names and shapes. llama_small has its weights in 16 bits too, llama_linear in two shards.
"""

import array
import json
import math
import os
import struct
import sys

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


def models():
    """{model: {tensor: (shape, floats)}}, in the order of tensors.csv."""
    made = {}
    with open(os.path.join(HERE, "tensors.csv"), encoding="ascii") as table:
        for line in table.read().splitlines()[1:]:
            model, name, shape = line.split(",")
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


def main(out):
    for model, tensors in models().items():
        folder = os.path.join(out, model)
        os.makedirs(folder, exist_ok=True)
        for file in os.listdir(os.path.join(HERE, model)):
            link = os.path.join(folder, file)
            if os.path.lexists(link):
                os.unlink(link)
            os.symlink(os.path.join(HERE, model, file), link)
        write(os.path.join(folder, "model.safetensors"), tensors)
        if model == "llama_small":
            write(os.path.join(folder, "model_bf16.safetensors"), tensors, "BF16")
            write(os.path.join(folder, "model_f16.safetensors"), tensors, "F16")
        if model == "llama_linear":
            write_shards(os.path.join(folder, "sharded"), tensors)
    with open(out + ".made", "w", encoding="ascii"):
        pass


if __name__ == "__main__":
    main(sys.argv[1])
