#!/usr/bin/env python3
"""test_dump_qk.py ROOT PROGRAM: tools/dump_qk.py on small torch modules, and on golden models beside what the program's
own pass gives: a source of dumps and one of the checkpoint must come to the same rows."""
import csv
import json
import math
import os
import subprocess
import sys
import tempfile

import numpy
import torch

sys.dont_write_bytecode = True
root, program = map(os.path.abspath, sys.argv[1:3])
sys.path.insert(0, os.path.join(root, "tools"))
from dump_qk import dump  # noqa: E402

TOKENS, HEADS, SHARED, DIMS, WIDTH = 6, 4, 2, 8, 12
torch.manual_seed(1)
failures = []


def expect(holds, what):
    if not holds:
        failures.append(what)
        print(f"FAILED: {what}")


def expect_error(call, words):
    try:
        call()
        expect(False, f"no error: {words}")
    except ValueError as error:
        expect(words in str(error), f"{error}, not {words}")


# ---- modules of every layout -----------------------------------------------------------------------------------------

class Attention(torch.nn.Module):
    """Projections of one layout, of the same weights; `forward` calls what it has as models do."""

    def __init__(self, layout, **attributes):
        super().__init__()
        self.num_heads, self.head_dim, self.order = HEADS, DIMS, None
        torch.manual_seed(2)
        q, k, v = (torch.randn(h, DIMS, WIDTH) for h in (HEADS, SHARED, SHARED))
        self.wanted = q.reshape(-1, WIDTH), k.reshape(-1, WIDTH)
        if layout == "q_proj":
            self.put("q_proj", q), self.put("k_proj", k), self.put("v_proj", v)
        elif layout == "query_key_value":
            grouped = q.reshape(SHARED, HEADS // SHARED, DIMS, WIDTH)
            self.put(layout, torch.cat([grouped, k[:, None], v[:, None]], 1))
        else:
            self.put(layout, torch.cat([q, k, v]))
        for name, value in attributes.items():
            setattr(self, name, value)

    def put(self, name, weight):
        weight = weight.reshape(-1, WIDTH)
        linear = torch.nn.Linear(WIDTH, len(weight), bias=False)
        linear.weight = torch.nn.Parameter(weight)
        setattr(self, name, linear)

    def forward(self, x):
        for name, module in self.named_children():
            if "norm" not in name:
                y = module(x)
            if name in ("q_proj", "k_proj") and self.order:
                heads = y.reshape(*y.shape[:2], -1, DIMS)
                getattr(self, name[0] + "_norm")({"lhd": heads, "hld": heads.transpose(1, 2), "flat": y}[self.order])


class Model(torch.nn.Module):
    def __init__(self, *layers):
        super().__init__()
        self.layers = torch.nn.ModuleList(layers)

    def forward(self, x):
        for layer in self.layers:
            layer(x)


class Doubled(torch.nn.Module):
    def forward(self, x):
        return 2 * x


def dumped(attention, x, **options):
    said = []
    model = Model(Attention("q_proj"), attention).to(x.dtype)
    paths = dump(model, lambda: model(x), layers=[1], say=said.append, **options)
    return [numpy.load(path) for path in paths[0]], said[0]


def expect_rows(attention, what, factor=1.0, q_factor=1.0, clip=math.inf, **options):
    x = torch.randn(2, TOKENS, WIDTH)
    (q, k), said = dumped(attention, x, **options)
    for got, weight, times in ((q, attention.wanted[0], q_factor), (k, attention.wanted[1], 1)):
        want = (x[0] @ weight.T).clamp(-clip, clip).reshape(TOKENS, -1, DIMS) * factor * times
        expect(got.shape == tuple(want.shape) and numpy.abs(got - want.detach().numpy()).max() < 1e-5, what)
    return said


def test_layouts():
    for layout in ("q_proj", "qkv_proj", "query_key_value", "c_attn", "Wqkv"):
        said = expect_rows(Attention(layout), layout)
        expect("layers.1: " + layout in said and "before rotation" in said, said)
    expect_rows(Attention("qkv_proj", num_heads=None), "heads that are given", heads=HEADS)
    expect_rows(Attention("q_proj", clip_qkv=0.5), "clipped", clip=0.5)
    said = expect_rows(Attention("q_proj", scaling=0.125), "scores scaled by 1/8", q_factor=0.125 * math.sqrt(DIMS))
    expect("queries times 0.35" in said, said)
    for order in ("lhd", "hld", "flat"):
        said = expect_rows(Attention("q_proj", order=order, q_norm=Doubled(), k_norm=Doubled()), order, factor=2)
        expect("behind q_norm, k_norm" in said, said)
    said = expect_rows(Attention("q_proj", q_norm=Doubled(), k_norm=Doubled()), "norms that are not called")
    expect("behind" not in said, said)


def test_types():
    for dtype, kept in ((torch.float64, "float64"), (torch.float32, "float32"), (torch.bfloat16, "float32")):
        (q, _), _ = dumped(Attention("q_proj"), torch.randn(1, TOKENS, WIDTH, dtype=dtype))
        expect(q.dtype == kept, f"{dtype} is kept as {q.dtype}")


def test_mistakes():
    x = torch.randn(1, TOKENS, WIDTH)
    expect_error(lambda: dumped(Attention("q_proj", num_heads=None), x), "how many heads it has")
    expect_error(lambda: dumped(Attention("qkv_proj", num_heads=5), x), "has width 64, not that of 5 heads of 8")
    expect_error(lambda: dumped(Attention("q_proj", num_heads=2), x), "4 heads of 8, not 2")
    norms = {"order": "hld", "q_norm": Doubled(), "k_norm": Doubled()}
    expect_error(lambda: dumped(Attention("q_proj", **norms), x[:, :HEADS]), "as many tokens as heads, 4")
    expect_error(lambda: dump(torch.nn.Linear(2, 2), lambda: None), "no attention was found")
    expect_error(lambda: dump(Model(Attention("q_proj")), lambda: None, layers=[1]), "layers are 0 to 0")


# ---- golden models ---------------------------------------------------------------------------------------------------

def weights_of(folder):
    with open(os.path.join(folder, "model.safetensors"), "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    header.pop("__metadata__", None)
    return {name: torch.from_numpy(numpy.frombuffer(data[slice(*t["data_offsets"])], "<f4").reshape(t["shape"]).copy())
            .double() for name, t in header.items()}


class Norm(torch.nn.Module):
    def __init__(self, weight, epsilon):
        super().__init__()
        self.weight, self.epsilon = weight, epsilon

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.epsilon) * self.weight


def linear(weight):
    layer = torch.nn.Linear(weight.shape[1], weight.shape[0], bias=False)
    layer.weight = torch.nn.Parameter(weight)
    return layer


class LlamaAttention(torch.nn.Module):
    """Llama's, with Qwen3's norms where there are weights of them."""

    def __init__(self, config, weights, prefix):
        super().__init__()
        self.config = type("Config", (), config)
        for name in ("q_proj", "k_proj", "v_proj", "o_proj"):
            setattr(self, name, linear(weights[f"{prefix}{name}.weight"]))
        for name in ("q_norm", "k_norm"):
            if f"{prefix}{name}.weight" in weights:
                setattr(self, name, Norm(weights[f"{prefix}{name}.weight"], config["rms_norm_eps"]))

    def turned(self, x):
        dims = self.config.head_dim
        omega = self.config.rope_theta ** (-torch.arange(0, dims, 2, dtype=torch.float64) / dims)
        angle = torch.arange(x.shape[2], dtype=torch.float64)[:, None] * omega
        cosine, sine, (a, b) = angle.cos(), angle.sin(), x.chunk(2, -1)
        return torch.cat([a * cosine - b * sine, b * cosine + a * sine], -1)

    def heads_of(self, x, name):
        x = x.reshape(*x.shape[:2], -1, self.config.head_dim)
        return (getattr(self, name)(x) if hasattr(self, name) else x).transpose(1, 2)

    def forward(self, x):
        q = self.turned(self.heads_of(self.q_proj(x), "q_norm"))
        k, v = self.turned(self.heads_of(self.k_proj(x), "k_norm")), self.heads_of(self.v_proj(x), "none")
        k, v = (y.repeat_interleave(q.shape[1] // y.shape[1], 1) for y in (k, v))
        hidden = torch.full((x.shape[1], x.shape[1]), -math.inf, dtype=x.dtype).triu(1)
        weight = (q @ k.transpose(2, 3) / math.sqrt(self.config.head_dim) + hidden).softmax(-1)
        return self.o_proj((weight @ v).transpose(1, 2).flatten(2))


class Llama(torch.nn.Module):
    def __init__(self, folder):
        super().__init__()
        with open(os.path.join(folder, "config.json"), encoding="utf-8") as file:
            config = json.load(file)
        w = weights_of(folder)
        epsilon, count = config["rms_norm_eps"], config["num_hidden_layers"]
        places = [f"model.layers.{n}." for n in range(count)]
        self.embedding = w["model.embed_tokens.weight"]
        self.attentions = torch.nn.ModuleList(LlamaAttention(config, w, p + "self_attn.") for p in places)
        self.norms = [[Norm(w[f"{p}{n}_layernorm.weight"], epsilon) for n in ("input", "post_attention")] for p in places]
        self.forwards = [[w[f"{p}mlp.{n}_proj.weight"].T for n in ("gate", "up", "down")] for p in places]
        self.last, self.head = Norm(w["model.norm.weight"], epsilon), w["lm_head.weight"].T

    def forward(self, ids):
        x = self.embedding[ids]
        for attention, (first, second), (gate, up, down) in zip(self.attentions, self.norms, self.forwards):
            x = x + attention(first(x))
            y = second(x)
            x = x + (torch.nn.functional.silu(y @ gate) * (y @ up)) @ down
        return self.last(x) @ self.head


CONFIG = """model: {{hf: {folder}/config.json}}
lengths: [24, 60]
methods: [rope, {{name: yarn, factor: 4}}]
sources:
  - {{name: tensors, label: dumped, q: layer1_q.npy, k: layer1_k.npy}}
  - {{name: model, label: own, checkpoint: {folder}, tokens: ids.npy, layer: 1, precision: f64}}
heads: all
queries: all
engine: {{scores: f64, epsilon: 0}}
metrics: [entropy, sink_mass]
"""


def test_golden(name):
    folder = os.path.join(root, "tests", "golden", "models", name)
    model, ids = Llama(folder), torch.from_numpy(numpy.load(os.path.join(folder, "tokens.npy")).astype("int64"))[:1]
    with torch.no_grad():
        wanted = numpy.load(os.path.join(folder, "logits.npy"))[0]
        difference = numpy.abs(model(ids)[0, -len(wanted):].numpy() - wanted).max()
        expect(difference < 1e-10, f"{name}: logits are off by {difference}")
        dump(model, lambda: model(ids))
    numpy.save("ids.npy", ids[0].numpy())
    with open("config.yaml", "w", encoding="utf-8") as file:
        file.write(CONFIG.format(folder=folder))
    subprocess.run([program, "run", "config.yaml", "--quiet", "--out", name], check=True)
    with open(f"{name}/summary.csv", encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    expect(len(rows) == 8 and all(row["status"] == "ok" for row in rows), f"{name}: cells")
    for one, other in zip(rows[::2], rows[1::2]):
        expect((one["source"], other["source"]) == ("dumped", "own"), f"{name}: sources")
        for column in ("entropy_nats", "sink_mass"):
            difference = abs(float(one[column]) - float(other[column]))
            expect(difference < 1e-12, f"{name}, {one['method']}, {column}: {one[column]}, not {other[column]}")


with tempfile.TemporaryDirectory() as scratch:
    os.chdir(scratch)
    test_layouts()
    test_types()
    test_mistakes()
    test_golden("llama")
    test_golden("qwen3")
    os.chdir(root)
print(f"test_dump_qk: {len(failures)} failures")
sys.exit(bool(failures))
