#!/usr/bin/env python3
"""Writes the ids that ropescope's task `passkey` reads, by a tokenizer of Hugging Face's (pip install tokenizers numpy).

    tools/passkey_ids.py SmolLM2-135M/tokenizer.json book.txt --out passkey
    tools/passkey_ids.py tokenizer.json book.txt --out passkey --begin '<s>' --names Rome,Paris,Tokyo,Cairo,Lima

It writes filler.npy, needle.npy, question.npy and, with --begin, intro.npy, and prints the task for a config. In the
texts of --needle and --question `#` stands for the key, which ends the question, and `@` for the name of a needle, in
both. Texts are tokenized as a whole, with key and name in their places. What stands there becomes a mark, an id that no
text has. So it is seen whether the tokenizer writes each digit of a key as one token, the same at each place, and what
stands around it always alike; where it does not, a key of ids would be none that a model reads, and the script says so.
Names of another number of tokens than most are left out and named.
"""
import argparse
import os
import random

import numpy

NEEDLE, NAMED_NEEDLE = " The code is #. Keep it: # is the code. ", " The code of @ is #. Keep it: # is the code of @. "
QUESTION, NAMED_QUESTION = " What is the code? The code is #", " What is the code of @? The code of @ is #"


class Unfit(Exception):
    """A tokenizer that does not write this symbol by symbol."""


def fill(text, key, name):
    """The text with key and name in their places, and where each stands: (begin, end, mark)."""
    filled, spans = "", []
    for letter in text:
        word = {"#": key, "@": name}.get(letter)
        if word is not None:
            spans.append((len(filled), len(filled) + len(word), letter))
        filled += letter if word is None else word
    return filled, spans


def parse(tokenizer, text, key, name):
    """The ids of a text, with `#` and `@` in the place of those of key and name, and what these are: {mark: ids}."""
    filled, spans = fill(text, key, name)
    encoded = tokenizer.encode(filled, add_special_tokens=False)
    template, found, last = [], {}, None
    for token, (begin, end) in zip(encoded.ids, encoded.offsets):
        inside = [i for i, span in enumerate(spans) if begin < span[1] and end > span[0]]
        if not inside:
            template.append(token)
        elif inside[0] != last:
            template.append(spans[inside[0]][2])
            found.setdefault(inside[0], []).append(token)
        else:
            found[inside[0]].append(token)
        last = inside[0] if inside else None
    parts = {}
    for i, ids in found.items():
        if parts.setdefault(spans[i][2], ids) != ids:
            raise Unfit(f"{filled[spans[i][0]:spans[i][1]]!r} has the ids {parts[spans[i][2]]} in one place and {ids} in "
                        f"another of {text!r}")
    if len(found) < len(spans):
        raise Unfit(f"tokens of {filled!r} hold key and name at once")
    return template, parts


class Templates:
    """Needle and question: what they are around keys and names, which must always be the same."""

    def __init__(self, tokenizer, texts):
        self.tokenizer, self.texts, self.known = tokenizer, texts, [None] * len(texts)

    def parts(self, key, name):
        """The ids of key and name, which both texts have alike."""
        common = {}
        for i, text in enumerate(self.texts):
            template, parts = parse(self.tokenizer, text, key, name)
            if self.known[i] not in (None, template):
                words = repr(key) + (f" and {name!r}" if "@" in text else "")
                raise Unfit(f"with {words} in its places, what stands around them has other tokens: {text!r}")
            for mark, ids in parts.items():
                if common.setdefault(mark, ids) != ids:
                    raise Unfit(f"{dict(zip('#@', (key, name)))[mark]!r} has other ids in the question than in the needle")
            self.known[i] = template
        return common


def find_symbols(templates, symbols, count, name):
    """The id of each symbol."""
    ids = []
    for symbol in symbols:
        key = templates.parts(symbol * count, name)["#"]
        if key != key[:1] * count:
            raise Unfit(f"{symbol * count!r} is {len(key)} tokens, {key}: not {count} times the same")
        ids.append(key[0])
    drawn = random.Random(0)
    for _ in range(20):
        picks = [drawn.randrange(len(symbols)) for _ in range(count)]
        key, want = "".join(symbols[i] for i in picks), [ids[i] for i in picks]
        if templates.parts(key, name)["#"] != want:
            raise Unfit(f"{key!r} is not what its symbols are one by one")
    return ids


def find_names(templates, names, key):
    """Those names that have as many tokens as most; what else is there is told."""
    ids, left = {}, {}
    for name in names:
        try:
            ids[name] = templates.parts(key, name)["@"]
        except Unfit as why:
            left[name] = str(why)
    sizes = [len(i) for i in ids.values()]
    usual = max(set(sizes), key=lambda size: (sizes.count(size), -size)) if sizes else 0
    left.update({n: f"has {len(i)} tokens, most have {usual}" for n, i in ids.items() if len(i) != usual})
    for name, why in left.items():
        print(f"# left out: {name}: {why}")
    return [i for i in ids.values() if len(i) == usual], usual


def write(folder, name, ids, marks):
    numpy.save(os.path.join(folder, name), numpy.array([marks.get(i, i) for i in ids], dtype=numpy.int32))


def make(tokenizer, filler, out, options):
    """Writes the files, and returns the task as a line of a config."""
    names = options.names.split(",") if options.names else []
    needle = options.needle or (NAMED_NEEDLE if names else NEEDLE)
    question = options.question or (NAMED_QUESTION if names else QUESTION)
    if "#" not in needle or not question.endswith("#") or question.count("#") > 1:
        raise Unfit("the needle must have the key's #, and the question must end with its only one")
    if names and ("@" not in needle or "@" not in question):
        raise Unfit("needle and question must have the @ of the names")
    templates = Templates(tokenizer, [needle, question])
    symbols = find_symbols(templates, options.symbols, options.key_symbols, names[0] if names else "@")
    size = tokenizer.get_vocab_size(with_added_tokens=True)
    marks = {"#": size, "@": size + 1}
    os.makedirs(out, exist_ok=True)
    task = {"name": "passkey", "mark": size, "symbols": symbols, "key_symbols": options.key_symbols}
    if names:
        ids, tokens = find_names(templates, names, options.symbols[0] * options.key_symbols)
        task.update(name_mark=size + 1, names=[i for n in ids for i in n], name_tokens=tokens)
    if options.begin:
        begin = tokenizer.token_to_id(options.begin)
        if begin is None:
            raise Unfit(f"the tokenizer has no token {options.begin!r}")
        write(out, "intro.npy", [begin], {})
        task["intro"] = os.path.join(out, "intro.npy")
    texts = {"filler": tokenizer.encode(filler, add_special_tokens=False).ids, "needle": templates.known[0],
             "question": templates.known[1][:-1]}
    for key, ids in texts.items():
        write(out, key + ".npy", ids, marks)
        task[key] = os.path.join(out, key + ".npy")
    return "task: {" + ", ".join(f"{key}: {value}" for key, value in task.items()) + "}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("tokenizer", help="a tokenizer.json")
    parser.add_argument("filler", help="the text around the needles")
    parser.add_argument("--out", required=True, help="the folder for the files")
    parser.add_argument("--needle", help=f"(default: {NEEDLE!r}; with names {NAMED_NEEDLE!r})")
    parser.add_argument("--question", help=f"(default: {QUESTION!r}; with names {NAMED_QUESTION!r})")
    parser.add_argument("--begin", help="a special token before everything, as <s>")
    parser.add_argument("--names", help="names for several needles, with commas between them")
    parser.add_argument("--symbols", default="0123456789", help="what keys are made of (default: digits)")
    parser.add_argument("--key-symbols", type=int, default=5, help="symbols of a key (default: 5)")
    options = parser.parse_args()
    from tokenizers import Tokenizer
    with open(options.filler, encoding="utf-8") as file:
        filler = file.read()
    try:
        print(make(Tokenizer.from_file(options.tokenizer), filler, options.out, options))
    except Unfit as why:
        raise SystemExit(f"passkey_ids: {why}")


if __name__ == "__main__":
    main()
