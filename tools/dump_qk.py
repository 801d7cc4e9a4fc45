#!/usr/bin/env python3
"""Writes the queries and keys of a model's layers as .npy files, for ropescope's source `tensors`.

From the command line, where transformers is installed:

    tools/dump_qk.py HuggingFaceTB/SmolLM2-135M ids.npy --layers 0,15,29 --out dumps

From a program, for any model of PyTorch that is called on its tokens:

    from dump_qk import dump
    dump(model, lambda: model(ids), layers=[0, 15], out="dumps")

It hooks the projections (q_proj and k_proj, or a fused qkv_proj, query_key_value, c_attn, ...) and, where the model has
them, the norms of q and k behind these. So a dump holds, for the first sequence of the first call, (tokens, heads,
head_dim) as they are BEFORE rotation: layer0_q.npy, layer0_k.npy, ... Where the model divides scores by something else
than sqrt(head_dim), and says so, queries are multiplied by the difference. Each line printed says what was found; the
shapes, and --fused, are worth a look for a model that nobody has tried.

Not for models that make keys of a narrow layer (DeepSeek), or that keep heads in another order (CodeGen).
"""
import argparse
import math
import os

SEPARATE = [("q_proj", "k_proj"), ("query", "key"), ("q_lin", "k_lin"), ("wq", "wk")]
FUSED = ["qkv_proj", "query_key_value", "c_attn", "Wqkv", "qkv", "att_proj", "W_pack"]
NORMS = [("q_norm", "k_norm"), ("q_layernorm", "k_layernorm")]  # those that act before the rotation
HEADS = ["num_heads", "num_attention_heads", "n_head", "n_heads"]


def find(names, *places):
    """The first of the attributes that one of the places has."""
    for place in places:
        for name in names:
            value = getattr(place, name, None)
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                return value
    return None


class Layer:
    """One attention: which modules are hooked, and what they gave."""

    def __init__(self, name, module, fused, sizes, config):
        self.name, self.module, self.given = name, module, {}
        children = dict(module.named_children())
        self.separate = next((p for p in SEPARATE if p[0] in children and p[1] in children), None)
        self.whole = None if self.separate else next((n for n in FUSED if n in children), None)
        self.norms = next((p for p in NORMS if p[0] in children and p[1] in children), None)
        self.fused = fused
        self.heads = sizes["heads"] or find(HEADS, module, getattr(module, "config", None), config)
        self.dims = sizes["head_dim"] or find(["head_dim", "head_size"], module, getattr(module, "config", None), config)
        self.clip = find(["clip_qkv"], module, getattr(module, "config", None), config)
        self.scale = find(["scaling", "softmax_scale"], module)

    def hooks(self):
        """Names and modules to be hooked; none: this is no attention."""
        if not self.separate and not self.whole:
            return []
        names = list(self.separate or [self.whole]) + list(self.norms or [])
        children = dict(self.module.named_children())
        return [(name, children[name]) for name in names]

    def keep(self, name, output):
        output = output[0] if isinstance(output, tuple) else output
        self.given.setdefault(name, output.detach())

    def split(self, x):
        """q and k, (tokens, heads * head_dim) each, of a fused projection's (tokens, width)."""
        if type(self.module).__name__.startswith("CodeGen"):
            raise ValueError(f"{self.name}: keeps q, v and k in an order of its own")
        total = x.shape[-1] // self.dims
        shared = (total - self.heads) // 2  # heads of keys
        if x.shape[-1] % self.dims or shared < 1 or self.heads + 2 * shared != total:
            raise ValueError(f"{self.name}: {self.whole} has width {x.shape[-1]}, not that of {self.heads} heads of "
                             f"{self.dims} and as many keys as values")
        if self.fused is None:
            groups = self.whole == "query_key_value" and shared > 1
            self.fused = "groups" if groups else "blocks"
        if self.fused == "blocks":  # all of q, all of k, all of v
            return x[:, :self.heads * self.dims], x[:, self.heads * self.dims:(self.heads + shared) * self.dims]
        x = x.reshape(len(x), shared, self.heads // shared + 2, self.dims)  # the queries of a key, it, its value
        return x[:, :, :-2].reshape(len(x), -1), x[:, :, -2].reshape(len(x), -1)

    def normed(self, x, which):
        """What a norm has made of x (tokens, heads, head_dim): in that order, or heads first, or flat."""
        y = self.given.get(self.norms[which]) if self.norms else None
        if y is None:
            return x
        if y.dim() == 4 and y.shape[1:3] == (x.shape[1], x.shape[0]):
            if x.shape[0] == x.shape[1]:
                raise ValueError(f"{self.name}: as many tokens as heads, {len(x)}: take another length")
            return y[0].transpose(0, 1)
        return y.reshape(-1, *x.shape)[0]

    def rows(self):
        """q and k, (tokens, heads, head_dim)."""
        first = self.given[self.whole or self.separate[0]][0]
        if self.heads is None:
            raise ValueError(f"{self.name}: how many heads it has is not to be found (--heads)")
        self.heads = int(self.heads)
        self.dims = int(self.dims or (first.shape[-1] if self.separate else first.shape[-1] // 3) // self.heads)
        q, k = self.split(first) if self.whole else (first, self.given[self.separate[1]][0])
        if self.clip:
            q, k = q.clamp(-self.clip, self.clip), k.clamp(-self.clip, self.clip)
        q, k = (self.normed(x.reshape(len(x), -1, self.dims), i) for i, x in enumerate((q, k)))
        if q.shape[1] != self.heads:
            raise ValueError(f"{self.name}: {q.shape[1]} heads of {self.dims}, not {self.heads} (--heads, --head-dim)")
        factor = self.scale * math.sqrt(self.dims) if self.scale else 1
        self.factor = 1 if abs(factor - 1) < 1e-6 else factor
        return q * self.factor, k

    def describe(self):
        said = f"{self.name}: " + (", ".join(self.separate) if self.separate else f"{self.whole} ({self.fused})")
        if self.norms and self.norms[0] in self.given:
            said += f", behind {self.norms[0]}, {self.norms[1]}"
        if self.factor != 1:
            said += f"; queries times {self.factor:g}, for scores scaled by {self.scale:g}"
        return said


def attentions(model, fused, sizes):
    """All attentions of the model, in order; those of layers between an encoder and a decoder among them."""
    config = getattr(model, "config", None)
    config = getattr(config, "text_config", config)
    layers = [Layer(name, module, fused, sizes, config) for name, module in model.named_modules()]
    return [layer for layer in layers if layer.hooks()]


def save(path, x):
    """As float16, float32 or float64; numpy has no bfloat16."""
    import numpy
    import torch
    x = x.float() if x.dtype == torch.bfloat16 else x
    numpy.save(path, numpy.ascontiguousarray(x.cpu().numpy()))


def dump(model, run, layers=None, out=".", fused=None, heads=None, head_dim=None, say=print):
    """Calls run(), which must call the model once on its tokens, and writes layerN_q.npy and layerN_k.npy of the chosen
    layers (numbers from 0; None: all). Returns the pairs of paths."""
    found = attentions(model, fused, {"heads": heads, "head_dim": head_dim})
    if not found:
        raise ValueError("no attention was found: none of its modules has " + ", ".join(
            [f"{q} and {k}" for q, k in SEPARATE] + FUSED))
    chosen = range(len(found)) if layers is None else layers
    if any(not 0 <= n < len(found) for n in chosen):
        raise ValueError(f"layers are 0 to {len(found) - 1}")
    handles = [module.register_forward_hook(lambda _, __, output, layer=found[n], name=name: layer.keep(name, output))
               for n in chosen for name, module in found[n].hooks()]
    try:
        run()
    finally:
        for handle in handles:
            handle.remove()
    os.makedirs(out, exist_ok=True)
    paths = []
    for n in chosen:
        pair = tuple(os.path.join(out, f"layer{n}_{side}.npy") for side in "qk")
        q, k = found[n].rows()
        for path, x in zip(pair, (q, k)):
            save(path, x)
        say(f"{pair[0]} {tuple(q.shape)}, {pair[1]} {tuple(k.shape)}: {found[n].describe()}; before rotation")
        paths.append(pair)
    return paths


def main():
    parser = argparse.ArgumentParser(description="Writes queries and keys of a Hugging Face model, before rotation.")
    parser.add_argument("model", help="folder or name, as transformers.AutoModel takes it")
    parser.add_argument("tokens", help="ids of tokens, one row in a .npy file")
    parser.add_argument("--layers", help="numbers from 0, with commas (all)")
    parser.add_argument("--out", default=".", help="folder of the dumps")
    parser.add_argument("--length", type=int, help="of the tokens, the first ones (all)")
    parser.add_argument("--fused", choices=["blocks", "groups"], help="how one matrix of q, k and v is cut: all of q, then "
                        "k, then v; or for each key its queries, it, its value (by its name)")
    parser.add_argument("--heads", type=int, help="where the model does not say it")
    parser.add_argument("--head-dim", type=int, help="where the model does not say it")
    options = parser.parse_args()
    import numpy
    import torch
    import transformers
    ids = torch.from_numpy(numpy.load(options.tokens).astype("int64").reshape(1, -1)[:, :options.length])
    model = transformers.AutoModel.from_pretrained(options.model, torch_dtype="auto").eval()
    layers = [int(n) for n in options.layers.split(",")] if options.layers else None
    with torch.no_grad():
        dump(model, lambda: model(ids, use_cache=False), layers, options.out, options.fused, options.heads,
             options.head_dim)


if __name__ == "__main__":
    main()
