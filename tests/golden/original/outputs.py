#!/usr/bin/env python3
"""What torch computes of the transformer of 2017 (Vaswani et al., arXiv:1706.03762), in double precision.

    outputs.py [OUT]    # OUT: the folder of these files

An encoder and a decoder of torch.nn's layers with the norm of each sum and none at the end, sinusoids added to
embeddings times sqrt(d), and one matrix for source, target and output. Weights are those of ../models/weights.py, a
formula of each tensor's name. Writes tensors.csv (names and shapes), logits.csv (of each target token) and
gradients.csv (of the mean loss, as ../models/gradients.csv has them). Wants torch.
"""

import math
import os
import sys

import numpy as np
import torch

sys.dont_write_bytecode = True
HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "models"))
import weights as made_weights  # noqa: E402

torch.set_default_dtype(torch.float64)

WIDTH, HEADS, INNER, BLOCKS, WORDS, SOURCE, TARGET, CASE = 16, 2, 24, 2, 13, 7, 9, "transformer"
SETTINGS = dict(d_model=WIDTH, nhead=HEADS, dim_feedforward=INNER, dropout=0.0, activation="relu", layer_norm_eps=1e-5,
                batch_first=True, norm_first=False)  # fmt: skip


class Original(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = torch.nn.Embedding(WORDS, WIDTH)
        self.encoder = torch.nn.TransformerEncoder(torch.nn.TransformerEncoderLayer(**SETTINGS), BLOCKS)
        self.decoder = torch.nn.TransformerDecoder(torch.nn.TransformerDecoderLayer(**SETTINGS), BLOCKS)

    def embed(self, tokens):
        place = torch.arange(len(tokens)).double()[:, None]
        angle = place * 10000.0 ** (-torch.arange(0, WIDTH, 2) / WIDTH)
        added = torch.stack([angle.sin(), angle.cos()], -1).flatten(1)
        return (self.embedding(tokens) * math.sqrt(WIDTH) + added)[None]

    def forward(self, source, target):
        mask = torch.full((len(target), len(target)), -math.inf).triu(1)
        states = self.decoder(self.embed(target), self.encoder(self.embed(source)), tgt_mask=mask)
        return states[0] @ self.embedding.weight.T


def main(out):
    torch.manual_seed(0)
    model = Original()
    shapes = {name: list(weight.shape) for name, weight in model.named_parameters()}
    made = {name: torch.tensor(made_weights.numbers(name, shape)).double().reshape(shape)
            for name, shape in shapes.items()}  # fmt: skip
    model.load_state_dict(made)
    source = torch.tensor([(5 * i * i + 2 * i + 1) % WORDS for i in range(SOURCE)])
    target = torch.tensor([(7 * i * i + 3 * i + 5) % WORDS for i in range(TARGET)])
    logits = model(source, target)
    torch.nn.functional.cross_entropy(logits[:-1], target[1:]).backward()
    tensors = [f"{CASE},{name},{' '.join(map(str, shape))}" for name, shape in shapes.items()]
    rows = [",".join([CASE, str(i)] + [repr(float(n)) for n in row]) for i, row in enumerate(logits.detach())]
    gradients = []
    for name, weight in model.named_parameters():
        gradient = weight.grad.numpy().ravel()
        bits = np.array(list(made_weights.draw(name, gradient.size)), dtype=np.uint64)
        signs = [1 - 2 * (bits >> np.uint64(i) & np.uint64(1)).astype(float) for i in range(4)]
        numbers = [np.linalg.norm(gradient)] + [sign @ gradient for sign in signs]
        gradients.append(",".join([CASE, name] + [repr(float(n)) for n in numbers]))
    for file, head, lines in (
        ("tensors.csv", "case,tensor,shape", tensors),
        ("logits.csv", "case,position," + ",".join(f"n{i}" for i in range(WORDS)), rows),
        ("gradients.csv", "case,tensor,length,product0,product1,product2,product3", gradients),
    ):
        with open(os.path.join(out, file), "w", encoding="ascii") as table:
            table.write("\n".join([head] + lines) + "\n")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else HERE)
