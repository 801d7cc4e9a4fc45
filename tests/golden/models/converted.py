#!/usr/bin/env python3
"""Whether twins.py writes what llama.cpp's own convert_hf_to_gguf.py does of the golden models.

    converted.py LLAMA_CPP MODELS [OUT [ROPESCOPE]]   # a checkout (or what llama-cpp-python vendors); what weights.py
                                                      # has made

Needs torch, transformers, numpy. The converter's classes run as they are, but for the tokenizer, which these models
have none of (a vocabulary without one is written), and for keys that it asks of config.json and that theirs leave out.
Every tensor must be the same bytes (rope_freqs.weight: to 1e-6); keys of one side alone, or that differ, are printed. With OUT the converter's files
stay there; with ROPESCOPE what llama-cpp-python says of them, with a cache of floats, is put beside what that says.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

sys.path[1:1] = [sys.argv[1], os.path.join(sys.argv[1], "gguf-py")]
import gguf  # noqa: E402
import numpy as np  # noqa: E402
import torch  # noqa: E402
from conversion import ModelBase, ModelType, get_model_architecture, get_model_class  # noqa: E402

CLASSES = {"falcon": "FalconForCausalLM", "mpt": "MPTForCausalLM"}  # as the converter calls them
BESIDE = {"bloom": {"num_hidden_layers": 2, "num_attention_heads": 4, "seq_length": 2048},
          "gpt2": {"n_ctx": 72}, "phi3": {"original_max_position_embeddings": 64}}  # fmt: skip


def without_tokenizer(self):
    self.gguf_writer.add_tokenizer_model("no_vocab")
    size = gguf.Keys.LLM.VOCAB_SIZE.format(arch=gguf.MODEL_ARCH_NAMES[self.model_arch])
    if size not in self.gguf_writer.kv_data[0]:
        self.gguf_writer.add_vocab_size(self.hparams["vocab_size"])


def convert(folder, path):
    """What the converter's class of the model writes."""
    with tempfile.TemporaryDirectory() as scratch:
        config = json.loads((folder / "config.json").read_text())
        if config["model_type"] in CLASSES:
            config["architectures"] = [CLASSES[config["model_type"]]]
        config.update(BESIDE.get(config["model_type"], {}))
        if config.get("multi_query") and not config["new_decoder_architecture"]:
            config["num_kv_heads"] = 1  # whatever it says, as the class of transformers has it
        Path(scratch, "config.json").write_text(json.dumps(config))
        os.symlink((folder / "model.safetensors").resolve(), Path(scratch, "model.safetensors"))
        size = config.get("vocab_size") or config["text_config"]["vocab_size"]
        words = {f"t{i}": i for i in range(size)}
        Path(scratch, "tokenizer.json").write_text(json.dumps({"model": {"vocab": words}, "added_tokens": []}))
        hparams = ModelBase.load_hparams(Path(scratch), False)
        kind = get_model_class(get_model_architecture(hparams, ModelType.TEXT))
        kind.set_vocab = without_tokenizer
        with torch.inference_mode():
            kind(Path(scratch), gguf.LlamaFileType.ALL_F32, path, model_name=folder.name, eager=True).write()


def contents(path):
    reader = gguf.GGUFReader(path)
    keys = {key: field.contents() for key, field in reader.fields.items() if not key.startswith(("GGUF.", "general.", "tok"))}
    return keys, {t.name: (t.tensor_type.name, tuple(t.shape), t.data.tobytes()) for t in reader.tensors}


def same(ours, theirs):
    """The converter computes what divides frequencies with powers in float32."""
    if ours is None or theirs is None or ours[:2] != theirs[:2]:
        return False
    left, right = (np.frombuffer(tensor[2], np.float32) for tensor in (ours, theirs))
    return ours == theirs or np.allclose(left, right, rtol=1e-6, atol=0)


def differing(ours, theirs):
    return sorted(key for key in ours.keys() | theirs.keys() if ours.get(key) != theirs.get(key))


def patch(path):
    """The converter takes 4 times the width for a GPT-2's inner one, whatever n_inner says; llama.cpp then fails."""
    data, key = bytearray(path.read_bytes()), b"gpt2.feed_forward_length"
    place = data.index(key) + len(key) + 4
    data[place : place + 4] = (64).to_bytes(4, "little")
    path.write_bytes(data)


def say_logits(path, program):
    """As many tokens as the model was made for, at most 100, so that Phi-3's long factors are those of both."""
    from llama_cpp import Llama

    if path.stem == "gpt2":
        patch(path)
    keys = contents(path)[0]
    length = next(keys[key] for key in keys if key.endswith(".context_length"))
    words = next(keys[key] for key in keys if key.endswith(".vocab_size"))
    tokens = np.arange(min(length if length < 2048 else 64, 100)) * 7 % words
    model = Llama(str(path), n_ctx=128, logits_all=True, type_k=0, type_v=0, flash_attn=False, verbose=False)
    model.eval(tokens.tolist())
    theirs = np.array(model.scores[: len(tokens)])
    with tempfile.TemporaryDirectory() as scratch:
        given, said = os.path.join(scratch, "tokens.npy"), os.path.join(scratch, "logits.npy")
        np.save(given, tokens[None])
        subprocess.run([program, "logits", path, given, "--out", said, "--quiet"], check=True)
        ours = np.load(said)[0]
    print(f"  llama.cpp: largest difference {abs(ours - theirs).max() / abs(ours).max():.2g} of the largest |logit|")


def main(models, out, program):
    failed = 0
    for path in sorted(Path(models).glob("*/model.gguf")):
        if path.parent.name.endswith("_q8_0"):
            continue
        folder, made = path.parent, Path(out, f"{path.parent.name}.gguf")
        twin = folder / "twin"
        convert(twin if twin.is_dir() else folder, made)
        (ours, tensors), (theirs, their_tensors) = contents(path), contents(made)
        wrong = differing(tensors, their_tensors)
        wrong = [name for name in wrong if name != "rope_freqs.weight" or not same(tensors.get(name), their_tensors.get(name))]
        failed += len(wrong)
        print(f"{folder.name}: {len(tensors)} tensors, {len(wrong)} differ {wrong}")
        for key in differing(ours, theirs):
            print(f"  {key}: here {ours.get(key)}, there {theirs.get(key)}")
        if program is not None:
            say_logits(made, program)
    sys.exit(failed > 0)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        main(sys.argv[2], *(sys.argv[3:] + [place, None][len(sys.argv) - 3 :]))
