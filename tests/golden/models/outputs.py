#!/usr/bin/env python3
"""What transformers' own modeling code computes of the golden models, in double precision.

    outputs.py MADE [OUT]    # MADE: what weights.py has written; OUT: the folder of these files

Wants torch and transformers 5. The names torch.float32, torch.float and Tensor.float mean float64 while it runs: the
same lines of code that cast to float32 (norms, softmax, rotary tables) then compute in doubles.
"""

import json
import os
import sys
import tempfile

import numpy as np
import torch
from safetensors.torch import save_file

torch.set_default_dtype(torch.float64)
NARROW = {torch.float32, torch.float16, torch.bfloat16}
torch.float32 = torch.float = torch.float64
torch.Tensor.float = torch.Tensor.double

sys.dont_write_bytecode = True

import transformers  # noqa: E402  (after the names)

import weights as made_weights  # noqa: E402

HERE = os.path.dirname(os.path.abspath(__file__))
LAST = 32  # positions that are kept of inputs longer than 64, and of further ones
CLASSES = {"bert": transformers.BertModel, "vit": transformers.ViTModel, "t5": transformers.T5ForConditionalGeneration,
           "qwen2_vl": transformers.Qwen2VLForConditionalGeneration,
           "vit_classes": transformers.ViTForImageClassification, "deit": transformers.DeiTModel,
           "deit_classes": transformers.DeiTForImageClassification,
           "deit_teacher": transformers.DeiTForImageClassificationWithTeacher}
ROWS = {"gemma2", "gpt_oss", "llama", "mpt"}  # whose attention of the last query is kept
MAPS = {"bert", "gemma2", "gpt_oss", "llama", "mpt", "vit"}  # whose attention is kept, of every head, and its rollout
MAP_TOKENS = 16  # of text
INPUTS = {"tokens": "input_ids", "pixel_values": "pixel_values", "position_ids": "position_ids",
          "attention_mask": "attention_mask", "token_type_ids": "token_type_ids",
          "decoder_input_ids": "decoder_input_ids"}
FURTHER = {"phi3_longrope": ["_short", "_at64", "_at65"], "vit": ["_interp", "_interp_small"],
           "vit_classes": ["_interp"], "deit": ["_interp"], "deit_classes": ["_interp"], "deit_teacher": ["_interp"]}


def read(path):
    """The tensors of a file, widened to doubles."""
    data = np.fromfile(path, "u1")
    begin = 8 + int(data[:8].view("<u8")[0])
    header = json.loads(data[8:begin].tobytes())
    header.pop("__metadata__", None)
    for name, entry in header.items():
        first, end = entry["data_offsets"]
        part = data[begin + first : begin + end]
        if entry["dtype"] == "BF16":
            numbers = (part.view("<u2").astype("<u4") << 16).view("<f4")
        else:
            numbers = part.view({"F32": "<f4", "F16": "<f2"}[entry["dtype"]])
        yield name, torch.from_numpy(numbers.astype("f8").reshape(entry["shape"]))


def load(folder, weights, attention):
    """The model of a folder, its weights widened to doubles."""
    with tempfile.TemporaryDirectory() as wide:
        config = transformers.AutoConfig.from_pretrained(folder)
        config.dtype = torch.float64
        tensors = dict(read(os.path.join(folder, weights)))
        save_file(tensors, os.path.join(wide, "model.safetensors"), metadata={"format": "pt"})
        config.save_pretrained(wide)
        kind = CLASSES.get(os.path.basename(folder), transformers.AutoModelForCausalLM)
        model = kind.from_pretrained(wide, config=config, dtype=torch.float64,
                                     attn_implementation=attention, experts_implementation="eager")
    for name, tensor in list(model.named_parameters()) + list(model.named_buffers()):
        assert tensor.dtype not in NARROW, name
    return model.eval()


def inputs_of(folder, suffix):
    made = {}
    for file, argument in INPUTS.items():
        path = os.path.join(folder, file + (suffix if file in ("tokens", "pixel_values") else "") + ".npy")
        if os.path.exists(path):
            array = torch.from_numpy(np.load(path))
            made[argument] = array.double() if file == "pixel_values" else array.long()
    if "pixel_values" in made:
        made["interpolate_pos_encoding"] = True
    return made


def answers(model, inputs, further):
    with torch.no_grad():
        out = model(**inputs)
    numbers = (out.logits if hasattr(out, "logits") else out.last_hidden_state).numpy()
    assert numbers.dtype == np.float64
    return numbers[:, -LAST:] if hasattr(out, "logits") and (further or numbers.shape[1] > 64) else numbers


def gradients(model, inputs):
    """Of the mean loss of the next token, by each weight: its length, and its products with four vectors of signs."""
    logits = model(**inputs).logits[:, :-1].flatten(0, 1)
    torch.nn.functional.cross_entropy(logits, inputs["input_ids"][:, 1:].flatten()).backward()
    for name, weight in model.named_parameters():
        gradient = weight.grad.numpy().ravel()
        bits = np.array(list(made_weights.draw(name, gradient.size)), dtype=np.uint64)
        signs = [1 - 2 * (bits >> np.uint64(i) & np.uint64(1)).astype(float) for i in range(4)]
        yield name, [np.linalg.norm(gradient)] + [sign @ gradient for sign in signs]


def maps(model, inputs):
    """Weights (layers, heads, L, L) of the first sequence, and their rollout (L, L): Abnar and Zuidema, 2005.00928."""
    if "input_ids" in inputs:
        inputs = {"input_ids": inputs["input_ids"][:1, :MAP_TOKENS]}
    with torch.no_grad():
        rows = model(**inputs, output_attentions=True).attentions
    length = rows[0].shape[2]
    weights = np.stack([r[0, :, :, :length].numpy() for r in rows])
    rollout = np.eye(length)
    for layer in weights:
        mixed = 0.5 * layer.mean(0) + 0.5 * np.eye(length)
        rollout = mixed / mixed.sum(1, keepdims=True) @ rollout
    return weights, rollout


def main(made, out):
    lines = ["case,tensor,length,product0,product1,product2,product3"]
    for name in sorted(os.listdir(made)):
        folder, target = os.path.join(made, name), os.path.join(out, name)
        if not os.path.isdir(folder):
            continue
        os.makedirs(target, exist_ok=True)
        files = {"model.safetensors": FURTHER.get(name, [])}
        if name == "llama_small":
            files |= {"model_bf16.safetensors": [], "model_f16.safetensors": []}
        for weights, further in files.items():
            # The eager path of Falcon adds ALiBi twice.
            model = load(folder, weights, "sdpa" if name == "falcon_alibi" else "eager")
            kind = weights.removeprefix("model").removeprefix("_").removesuffix(".safetensors")
            for suffix in [""] + further:
                inputs = inputs_of(folder, suffix)
                file = ("output" if name in ("bert", "deit", "vit") else "logits") + suffix + (f"_{kind}weights" if kind else "")
                np.save(os.path.join(target, file + ".npy"), answers(model, inputs, suffix or kind))
            if name in ROWS:
                inputs = inputs_of(folder, "")
                with torch.no_grad():
                    rows = model(**inputs, output_attentions=True).attentions
                rows = np.stack([r[0, :, -1].numpy() for r in rows])
                np.save(os.path.join(target, "attn_lastrow.npy"), rows[..., : inputs["input_ids"].shape[1]])
            if name in MAPS:
                attention, rollout = maps(model, inputs_of(folder, ""))
                np.save(os.path.join(target, "attention.npy"), attention)
                np.save(os.path.join(target, "rollout.npy"), rollout)
            if name in ("llama_small", "gpt2") and not kind:
                lines += [",".join([name, tensor] + [repr(float(n)) for n in numbers])
                          for tensor, numbers in gradients(model, inputs_of(folder, ""))]
            print(name, weights, flush=True)
    with open(os.path.join(out, "gradients.csv"), "w", encoding="ascii") as file:
        file.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else HERE)
