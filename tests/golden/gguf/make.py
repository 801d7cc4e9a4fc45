#!/usr/bin/env python3
"""Makes the golden files of this folder, and with --seeds FOLDER small ones for the fuzz target, by the PyPI package
gguf: python3 -m venv /tmp/venv && /tmp/venv/bin/pip install gguf==0.19.0 && /tmp/venv/bin/python make.py

quants.gguf       tensors of every type that ropescope reads: bytes by chance, bytes at the ends of their ranges, and
                  where the package quantises, numbers by chance that it quantised
quants.safetensors  the same in float32, by gguf.quants.dequantize
metadata.gguf     a key of every type, and arrays of them, read back by gguf.GGUFReader into metadata.csv
sizes.gguf        a tensor of two blocks of every type that files have, and how many numbers and bytes a block has
aligned.gguf      general.alignment 64, and shapes of every rank; as version2.gguf, the same bytes called version 2
"""
import csv
import json
import os
import struct
import sys

import numpy as np

import gguf
from gguf import GGMLQuantizationType as Type

HERE = os.path.dirname(os.path.abspath(__file__))
BLOCKS = ["Q4_0", "Q4_1", "Q5_0", "Q5_1", "Q8_0", "Q2_K", "Q3_K", "Q4_K", "Q5_K", "Q6_K"]
# Where a block has its binary16 scales.
HALVES = {"Q4_0": [0], "Q4_1": [0, 2], "Q5_0": [0], "Q5_1": [0, 2], "Q8_0": [0], "Q2_K": [80, 82], "Q3_K": [108],
          "Q4_K": [0, 2], "Q5_K": [0, 2], "Q6_K": [208]}
# The scales themselves: usual ones of both signs, the ends of binary16, zeros, subnormals.
SCALES = [0.0123, -0.0123, 65504, -65504, 2.0 ** -14, 0.0, -0.0, 2.0 ** -24, -(2.0 ** -24), 1023 * 2.0 ** -24, 1.0, -3.5]


def put_halves(name, blocks, first, second):
    for row, block in enumerate(blocks):
        for place, scales in zip(HALVES[name], (first, second)):
            block[place:place + 2] = np.frombuffer(np.float16(scales[row % len(scales)]).tobytes(), np.uint8)
    return blocks


def chance(name, rng, count):
    """Any bytes, but scales are finite."""
    size = gguf.GGML_QUANT_SIZES[Type[name]][1]
    blocks = rng.integers(0, 256, (count, size), dtype=np.uint8)
    return put_halves(name, blocks, SCALES, SCALES[3:] + SCALES[:3])


def ends(name):
    """Bytes of zeros, of ones, and of halves of them, with scales of every sign."""
    size = gguf.GGML_QUANT_SIZES[Type[name]][1]
    blocks = np.stack([np.full(size, byte, np.uint8) for byte in (0x00, 0xFF, 0x0F, 0x80)])
    return put_halves(name, blocks, [-0.75, 0.75, -2.0 ** -24, 1.0], [0.5, -0.5, -0.0, 3.0])


def quants():
    rng = np.random.default_rng(34)
    made, floats = gguf.GGUFWriter(os.path.join(HERE, "quants.gguf"), "none"), {}
    for name in BLOCKS:
        numbers = gguf.GGML_QUANT_SIZES[Type[name]][0]
        tensors = {"chance": chance(name, rng, 12 if numbers == 32 else 6), "ends": ends(name)}
        if numbers == 32:
            weights = (rng.standard_normal((6, 64)) * 0.02).astype(np.float32)
            tensors["weights"] = gguf.quants.quantize(weights, Type[name])
        for kind, data in tensors.items():
            if kind != "weights":  # two blocks a row
                data = data.reshape(data.shape[0] // 2, -1)
            made.add_tensor(f"{name}.{kind}", data, raw_dtype=Type[name])
            floats[f"{name}.{kind}"] = gguf.quants.dequantize(data, Type[name])
    for name in ("F32", "F16", "BF16"):
        weights = (rng.standard_normal((2, 16)) * 0.02).astype(np.float32)
        data = gguf.quants.quantize(weights, Type[name])
        made.add_tensor(name, data, raw_dtype=Type[name])
        floats[name] = gguf.quants.dequantize(data, Type[name])
    finish(made)
    write_safetensors("quants.safetensors", floats)


def write_safetensors(file, floats):
    header, begin = {}, 0
    for name, data in floats.items():
        assert data.dtype == np.float32 and np.isfinite(data).all(), name
        header[name] = {"dtype": "F32", "shape": data.shape, "data_offsets": [begin, begin + data.nbytes]}
        begin += data.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with open(os.path.join(HERE, file), "wb") as out:
        out.write(struct.pack("<Q", len(text)) + text + b"".join(data.tobytes() for data in floats.values()))


def finish(made):
    made.write_header_to_file()
    made.write_kv_data_to_file()
    made.write_tensors_to_file()
    made.close()


NUMBERS = {
    "uint8": [0, 255], "int8": [-128, 127], "uint16": [0, 65535], "int16": [-32768, 32767],
    "uint32": [8192, 4294967295], "int32": [-2147483648, 2147483647], "uint64": [0, 18446744073709551615],
    "int64": [-9223372036854775808, 9223372036854775807], "bool": [True, False],
    "float32": [10000.0, 0.1, 1e6, 3.4028234663852886e38, 1e-45, -1.1754943508222875e-38, 0.33333334, 16777217.0],
    "float64": [0.1, 1e300, 5e-324, -2.5, 0.3333333333333333],
}


def metadata():
    path = os.path.join(HERE, "metadata.gguf")
    made = gguf.GGUFWriter(path, "llama")
    for kind, values in NUMBERS.items():
        for i, value in enumerate(values):
            getattr(made, "add_" + kind)(f"numbers.{kind}.{i}", value)
    made.add_string("texts.plain", "Ω and 'quotes' \"\n")
    made.add_key_value("texts.empty", "", gguf.GGUFValueType.STRING)
    for kind, values in NUMBERS.items():
        made.add_key_value(f"arrays.{kind}", values, gguf.GGUFValueType.ARRAY,
                           sub_type=gguf.GGUFValueType[kind.upper()])
    made.add_array("arrays.string", ["a", "bc", "Ω", ""])
    made.add_array("tokenizer.ggml.tokens", ["<s>", "a", "", "b"])
    made.add_array("tokenizer.ggml.scores", [0.0, -1.5, 2.5])
    made.add_string("tokenizer.ggml.model", "llama")
    finish(made)
    reader = gguf.GGUFReader(path)
    with open(os.path.join(HERE, "metadata.csv"), "w", newline="") as out:
        rows = csv.writer(out, lineterminator="\n")
        rows.writerow(["key", "type", "index", "value"])
        for key, field in reader.fields.items():
            if key.startswith("GGUF."):
                continue
            value, kind = field.contents(), field.types[-1].name
            if field.types[0] != gguf.GGUFValueType.ARRAY:
                rows.writerow([key, kind, "", shown(value)])
            elif key.startswith("tokenizer."):
                rows.writerow([key, kind, len(value), "counted"])
            else:
                for i, element in enumerate(value):
                    rows.writerow([key, kind, i, shown(element)])


def shown(value):
    if isinstance(value, str):
        return value.encode().hex()
    return str(value).lower() if isinstance(value, bool) else repr(value)


def aligned():
    made = gguf.GGUFWriter(os.path.join(HERE, "aligned.gguf"), "none")
    made.add_custom_alignment(64)
    for rank, shape in enumerate([(3,), (2, 5), (2, 3, 4), (2, 1, 3, 5)]):
        made.add_tensor(f"rank{rank + 1}", np.arange(np.prod(shape), dtype=np.float32).reshape(shape) + 100 * rank)
    for kind in (np.int8, np.int16, np.int32, np.int64, np.float64):
        made.add_tensor(np.dtype(kind).name, np.array([1, -2], dtype=kind))
    finish(made)
    with open(os.path.join(HERE, "aligned.gguf"), "rb") as file:
        data = bytearray(file.read())
    data[4] = 2
    with open(os.path.join(HERE, "version2.gguf"), "wb") as out:
        out.write(data)


def sizes():
    made = gguf.GGUFWriter(os.path.join(HERE, "sizes.gguf"), "none")
    for kind, (numbers, size) in gguf.GGML_QUANT_SIZES.items():
        if kind in (Type.Q8_1, Type.Q8_K):  # for products alone
            continue
        made.add_uint32(f"numbers.{kind.name}", numbers)
        made.add_uint32(f"bytes.{kind.name}", size)
        made.add_tensor(kind.name, np.zeros((1, 2 * size), np.uint8), raw_dtype=kind)
    finish(made)


def seeds(folder):
    """A file for each type, and one of metadata."""
    rng = np.random.default_rng(1)
    for name in BLOCKS + ["IQ4_XS", "F16", "BF16", "F32"]:
        made = gguf.GGUFWriter(os.path.join(folder, name.lower()), "a")
        size = gguf.GGML_QUANT_SIZES[Type[name]][1]
        made.add_tensor("b", rng.integers(0, 100, (2, size), dtype=np.uint8), raw_dtype=Type[name])
        made.add_tensor("c", np.ones((2, 1), np.float32))
        finish(made)
    made = gguf.GGUFWriter(os.path.join(folder, "keys"), "a")
    made.add_custom_alignment(8)
    for kind, values in NUMBERS.items():
        getattr(made, "add_" + kind)("k." + kind, values[-1])
        made.add_key_value("l." + kind, values[:1], gguf.GGUFValueType.ARRAY, sub_type=gguf.GGUFValueType[kind.upper()])
    made.add_array("tokenizer.t", ["x", "", "yz"])
    made.add_uint16("split.count", 1)
    finish(made)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--seeds"]:
        seeds(sys.argv[2])
    else:
        quants()
        metadata()
        sizes()
        aligned()
