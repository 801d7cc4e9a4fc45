#!/usr/bin/env python3
"""What transformers computes where positions are not 0, 1, 2, ..., in double precision.

    ask.py MODELS [OUT]    # MODELS: what ../models/weights.py has written; OUT: the folder of these files

Wants torch and transformers 5. A case is CASE_tokens.npy, CASE_ids.npy, CASE_documents.npy and CASE_present.npy (where
it has such), and CASE_logits.npy of its last 8 tokens. Masks are made here, key by key, from ids and documents, and
given as 4-D arrays with position_ids; where a model takes none (ALiBi, T5), the same tokens stand in a longer text, at
the places that their ids say, and a 2-D mask hides what is between them.
"""

import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(HERE, "..", "models"))

import outputs  # noqa: E402  (first: it makes doubles of floats)
import torch  # noqa: E402

LENGTH = 24
LAST = 8
ZIGZAG = [0, 1, 2, 21, 22, 23, 3, 4, 5, 18, 19, 20, 6, 7, 8, 15, 16, 17, 9, 10, 11, 12, 13, 14]
GAPS = [0, 1, 2, 5, 6, 7, 9, 12, 13, 20, 21, 22, 23, 24, 31, 33, 34, 36, 40, 41, 42, 55, 56, 60]
ORDER = [5, 0, 17, 3, 22, 11, 8, 14, 1, 20, 6, 13, 2, 19, 9, 23, 4, 16, 10, 7, 21, 12, 18, 15]
MIXED = [GAPS[i] for i in ORDER]  # distinct, with gaps, in no order
PACKED = list(range(10)) + list(range(14))
TURNS = [4, 9, 9, 4, 4, 9, 4, 9, 9, 9, 4, 9, 4, 4, 9, 4, 9, 4, 4, 9, 9, 4, 9, 4]  # two documents, mixed


def tokens(length):
    return [(7 * i * i + 3 * i + 5) % 97 for i in range(length)]


def places(documents):
    """Positions of each document's tokens, counted from 0."""
    return [documents[:i].count(d) for i, d in enumerate(documents)]


def mask(ids, documents, sees):
    """0 where the key is seen, as a 4-D array."""
    seen = [[d == e and sees(q, k) for k, e in zip(ids, documents)] for q, d in zip(ids, documents)]
    return torch.where(torch.tensor(seen), 0.0, torch.finfo(torch.float64).min)[None, None]


def window(size):
    return lambda q, k: 0 <= q - k < size


def causal(q, k):
    return k <= q


def begins(ids):
    """Documents that begin where ids are 0."""
    return list(np.cumsum([i == 0 for i in ids]))


CASES = {  # model: ids, documents, and what layers of each type see; one for all
    "llama_zigzag": ("llama", ZIGZAG, None, causal),
    "llama_packed": ("llama", PACKED, "begin", causal),
    "llama_named": ("llama", None, TURNS, causal),
    "mistral_mixed": ("mistral", MIXED, None, "window"),
    "mistral_packed": ("mistral", PACKED, "begin", "window"),
    "gemma2_mixed": ("gemma2", MIXED, None, "types"),
    "gpt_oss_zigzag": ("gpt_oss", ZIGZAG, None, "types"),
    "gpt2_mixed": ("gpt2", MIXED, None, causal),
    "phi3_longrope_far": ("phi3_longrope", [i + 10 for i in MIXED], None, "window"),
    "phi3_longrope_near": ("phi3_longrope", MIXED, None, "window"),
}
HIDDEN = ["mpt", "bloom_left", "llama_left", "gpt2_left", "t5"]


def ask(made, name):
    """Arrays of one case with a mask of its own."""
    model_name, ids, documents, sees = CASES[name]
    model = outputs.load(os.path.join(made, model_name), "model.safetensors", "eager")
    given = {"tokens": tokens(LENGTH), "ids": ids, "documents": documents if documents != "begin" else None}
    stand = ids if ids is not None else places(documents)
    apart = begins(ids) if documents == "begin" else documents or [0] * LENGTH
    size = getattr(model.config, "sliding_window", None)
    if sees == "window":
        four = mask(stand, apart, window(size) if size else causal)
    elif sees == "types":
        four = {"full_attention": mask(stand, apart, causal), "sliding_attention": mask(stand, apart, window(size))}
    else:
        four = mask(stand, apart, sees)
    with torch.no_grad():
        out = model(input_ids=torch.tensor([given["tokens"]]), position_ids=torch.tensor([stand]), attention_mask=four,
                    use_cache=False)
    return given | {"logits": out.logits.numpy()[:, -LAST:]}


def ask_hidden(made, name):
    """Arrays of one case whose tokens stand in a longer text."""
    kind = name.removesuffix("_left")
    model = outputs.load(os.path.join(made, kind), "model.safetensors", "eager")
    if name.endswith("_left"):
        text, seen = tokens(LENGTH + 6), [0] * 6 + [1] * LENGTH
        more = {"position_ids": torch.tensor([[0] * 6 + list(range(LENGTH))])} if kind == "gpt2" else {}
        with torch.no_grad():
            out = model(input_ids=torch.tensor([text]), attention_mask=torch.tensor([seen]), **more)
        return {"tokens": text, "present": seen, "logits": out.logits.numpy()[:, -LAST:]}
    text = tokens(max(GAPS) + 1)
    seen = torch.tensor([[int(i in GAPS) for i in range(len(text))]])
    given = {"tokens": [text[i] for i in GAPS], "ids": GAPS}
    with torch.no_grad():
        if kind == "t5":
            given["source"] = tokens(12)
            out = model(input_ids=torch.tensor([given["source"]]), decoder_input_ids=torch.tensor([text]),
                        decoder_attention_mask=seen)
        else:
            out = model(input_ids=torch.tensor([text]), attention_mask=seen)
    return given | {"logits": out.logits.numpy()[:, GAPS[-LAST:]]}


def main(made, out):
    for name in list(CASES) + HIDDEN:
        case = ask(made, name) if name in CASES else ask_hidden(made, name)
        for part, numbers in case.items():
            if numbers is not None:
                array = numbers if part == "logits" else np.array([numbers], dtype=np.uint8)
                np.save(os.path.join(out, f"{name}_{part}.npy"), array)
        print(name, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2] if len(sys.argv) > 2 else HERE)
