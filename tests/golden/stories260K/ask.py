"""Losses of stories260K on the last 512 tokens of blocks of 4096, by transformers in double precision.

ask.py FOLDER BLOCKS: way, length, block and mean loss as CSV. FOLDER is experiments/data/stories260K. The factor of a way
is length / 512.
"""
import sys

import numpy
import torch
import transformers

TRAINED, LONGEST, TARGETS = 512, 4096, 512


def scaling(way, factor):
    if way == "pi" and factor > 1:
        return {"rope_type": "linear", "factor": factor}
    return None


def model_of(folder, way, length):
    config = transformers.AutoConfig.from_pretrained(folder)
    wanted = scaling(way, length / TRAINED)
    if wanted is not None:
        config.rope_parameters = {"rope_theta": 10000.0, **wanted}
    config.max_position_embeddings = length
    return transformers.LlamaForCausalLM.from_pretrained(folder, config=config, dtype=torch.float64).eval()


def main(folder, blocks):
    ids = torch.tensor(numpy.load(folder + "/ids.npy").astype(numpy.int64))
    print("way,length_tokens,block,loss_nats")
    for way in ("unchanged", "pi"):
        for length in (512, 1024, 2048, 4096):
            model = model_of(folder, way, length)
            for block in range(blocks):
                end = (block + 1) * LONGEST
                with torch.no_grad():
                    logits = model(ids[end - length : end].unsqueeze(0)).logits[0, -TARGETS:]
                loss = torch.nn.functional.cross_entropy(logits, ids[end - TARGETS + 1 : end + 1])
                print(f"{way},{length},{block},{loss.item():.12g}")


main(sys.argv[1], int(sys.argv[2]))
