#!/usr/bin/env python3
"""What transformers 4's own code says with vectors of distance, in double precision.

    distances.py [OUT]    # OUT: the folder of these files

Writes CASE.npy of the cases of tensors.csv whose config.json has position_embedding_type relative_key or
relative_key_query, or model_type transfo-xl, which transformers 5 does not read any more (golden data: 4.45.2 with
torch 2.13.0), and ../k_transfo_xl.csv, what RelPartialLearnableMultiHeadAttn makes its weights from, and they. Weights
are a formula of their names (models/weights.py), tokens and types those of test_golden_families.c.

Without mems TransfoXLModel begins with mem_len states of 0, which queries attend; here it gets mems of no tokens, so
that nothing stands before the text.
"""

import json
import os
import sys

import numpy as np
import torch

torch.set_default_dtype(torch.float64)
torch.Tensor.float = torch.Tensor.double  # scores that are cast to float32 before they are masked
torch.Tensor.type_as = lambda self, other=None, dtype=None: self.to(dtype or other.dtype)  # transfo_xl's has a dtype
sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "models"))

import transformers  # noqa: E402
from transformers.models.deprecated.transfo_xl import TransfoXLConfig  # noqa: E402
from transformers.models.deprecated.transfo_xl import modeling_transfo_xl as transfo_xl  # noqa: E402

import weights as made_weights  # noqa: E402

LENGTH, WORDS = 12, 23
CLASSES = {"bert": (transformers.BertConfig, transformers.BertModel),
           "electra": (transformers.ElectraConfig, transformers.ElectraModel),
           "transfo-xl": (TransfoXLConfig, transfo_xl.TransfoXLModel)}


def read_config(name):
    with open(os.path.join(HERE, name + ".json"), encoding="ascii") as file:
        return json.load(file)


def said(name, tensors):
    config = read_config(name)
    kind, model = CLASSES[config.pop("model_type")]
    model = model(kind(**config, attn_implementation="eager")).eval()
    numbers = {key: torch.from_numpy(np.array(values, dtype="f8").reshape(shape))
               for key, (shape, values) in tensors.items()}
    if any(key.startswith("transformer.") for key in numbers):  # what TransfoXLLMHeadModel saves
        model = transfo_xl.TransfoXLLMHeadModel(model.config).eval()
    missing, unexpected = model.load_state_dict(numbers, strict=False)
    others = ("_ids", "pos_emb.inv_freq", "crit.out_layers.0.weight")  # buffers, and the embeddings once more
    assert not unexpected and all(key.startswith("pooler.") or key.endswith(others) for key in missing), (
        missing, unexpected)
    tokens = torch.tensor([[(7 * i * i + 3 * i + 5) % WORDS for i in range(LENGTH)]])
    if kind is TransfoXLConfig:
        with torch.no_grad():
            mems = [torch.zeros(0, 1, model.config.d_model)] * model.config.n_layer
            return getattr(model, "transformer", model)(input_ids=tokens, mems=mems).last_hidden_state.numpy()
    types = torch.tensor([[0 if i < LENGTH // 2 else kind(**config).type_vocab_size - 1 for i in range(LENGTH)]])
    with torch.no_grad():
        return model(input_ids=tokens, token_type_ids=types).last_hidden_state.numpy()


def attention(clamp):
    """One causal layer of Transformer-XL: {name: numbers}; distances beyond `clamp` count as it."""
    heads, dims, length = 3, 4, 9
    width = heads * dims
    layer = transfo_xl.RelPartialLearnableMultiHeadAttn(heads, width, dims, dropout=0).eval()
    for name, weight in layer.named_parameters():
        numbers = made_weights.numbers(name, list(weight.shape))
        weight.data = torch.from_numpy(np.array(numbers, dtype="f8").reshape(weight.shape))
    states = torch.from_numpy(np.array(made_weights.numbers("states", [length, width]), dtype="f8"))
    states = states.reshape(length, 1, width)
    distances = torch.arange(length - 1, -1, -1.0).clamp(max=clamp)
    with torch.no_grad():
        q, k, _ = torch.chunk(layer.qkv_net(states), 3, dim=-1)
        hidden = torch.triu(torch.ones(length, length), diagonal=1)[:, :, None]
        weights = layer(states, transfo_xl.PositionalEmbedding(width)(distances), attn_mask=hidden,
                        output_attentions=True)[1]
    return {"projection": layer.r_net.weight, "content_bias": layer.r_w_bias, "position_bias": layer.r_r_bias,
            "q": q, "k": k, "weights": weights[:, :, 0].permute(2, 0, 1)}


def main(out):
    lines = ["case,name,values"]
    for case, clamp in (("plain", 100.0), ("clamped", 4.0)):
        for name, tensor in attention(clamp).items():
            lines.append(f"{case},{name}," + " ".join(repr(float(x)) for x in tensor.detach().numpy().ravel()))
    with open(os.path.join(out, "..", "k_transfo_xl.csv"), "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")
    models = made_weights.models(os.path.join(HERE, "tensors.csv"))
    for name in models:
        if "relative_key" in name or name.startswith("transfo_xl"):
            np.save(os.path.join(out, name + ".npy"), said(name, models[name]))
            print(name, transformers.__version__, torch.__version__, flush=True)


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else HERE)
