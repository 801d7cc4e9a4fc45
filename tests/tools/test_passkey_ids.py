#!/usr/bin/env python3
"""test_passkey_ids.py ROOT PROGRAM: tools/passkey_ids.py with small tokenizers that are trained here: what it writes,
with keys and names in their places, is what the tokenizer makes of the whole text, and the program reads it."""
import os
import subprocess
import sys
import tempfile
from types import SimpleNamespace

import numpy
from tokenizers import Tokenizer, models, pre_tokenizers, trainers

sys.dont_write_bytecode = True
root, program = map(os.path.abspath, sys.argv[1:3])
sys.path.insert(0, os.path.join(root, "tools"))
import passkey_ids  # noqa: E402

TEXT = ("The code of Rome is 12345. Keep it, for Paris has a code of its own: 77777 is the code of Paris. What is the code? "
        "Rome and Paris are far from Ouagadougou, and 1234512345 is no code at all. ") * 20
failures = []


def expect(holds, what):
    if not holds:
        failures.append(what)
        print(f"FAILED: {what}")


def trained(*before):
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence(list(before))
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=["<s>"], initial_alphabet=alphabet, show_progress=False)
    tokenizer.train_from_iterator([TEXT], trainer)
    return tokenizer


def options(**given):
    usual = {"needle": None, "question": None, "begin": None, "names": None, "symbols": "0123456789", "key_symbols": 5}
    return SimpleNamespace(**{**usual, **given})


def read(line, key):
    """What the task's line says of a parameter: a list, a path, a number."""
    for part in line[len("task: {"):-1].replace(", ", "\n").replace("[", "").replace("]", "").split("\n"):
        if ": " in part:
            last, value = part.split(": ")
            found = [value]
        else:
            found.append(part)
        if last == key:
            result = list(found)
    return result


def ids_of(line, key, replaced):
    """The ids of a file, with others in the place of its marks."""
    out = []
    for i in numpy.load(read(line, key)[0]).tolist():
        out += replaced.get(i, [i])
    return out


def check_whole(tokenizer, line, key, name):
    symbols = dict(zip("0123456789", map(int, read(line, "symbols"))))
    replaced = {int(read(line, "mark")[0]): [symbols[digit] for digit in key]}
    if name is not None:
        names, count = list(map(int, read(line, "names"))), int(read(line, "name_tokens")[0])
        ids = tokenizer.encode(" " + name, add_special_tokens=False).ids
        expect(ids in [names[i:i + count] for i in range(0, len(names), count)], f"{name} is one of the names")
        replaced[int(read(line, "name_mark")[0])] = ids
    needle = passkey_ids.NAMED_NEEDLE if name else passkey_ids.NEEDLE
    question = passkey_ids.NAMED_QUESTION if name else passkey_ids.QUESTION
    for file, text in ("needle", needle), ("question", question):
        got = ids_of(line, file, replaced) + (replaced[int(read(line, "mark")[0])] if file == "question" else [])
        whole = tokenizer.encode(text.replace("#", key).replace("@", name or ""), add_special_tokens=False).ids
        expect(got == whole, f"{file} with {key} and {name}: {got}, not {whole}")
    expect(ids_of(line, "filler", {}) == tokenizer.encode(TEXT, add_special_tokens=False).ids, "the filler")


def plans(line, more):
    with open("config.yaml", "w", encoding="utf-8") as file:
        file.write("name: keys\ncheckpoint: {method: rope, train: {steps: 1, length: 256}}\nlengths: [256]\n"
                   f"metrics: [needle_accuracy]\n{line[:-1]}{more}}}\n")
    done = subprocess.run([program, "plan", "config.yaml"], capture_output=True, text=True, check=False)
    expect(done.returncode == 0, f"plan: {done.stderr}")


with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    apart = trained(pre_tokenizers.Digits(individual_digits=True), pre_tokenizers.ByteLevel(add_prefix_space=False))
    joined = trained(pre_tokenizers.ByteLevel(add_prefix_space=False))
    line = passkey_ids.make(apart, TEXT, "one", options())
    for key in "12345", "00000", "90817":
        check_whole(apart, line, key, None)
    plans(line, "")
    line = passkey_ids.make(apart, TEXT, "several", options(names="Rome,Paris,Ouagadougou,Xyzzy", begin="<s>"))
    for name in "Rome", "Paris", "Ouagadougou":
        check_whole(apart, line, "31415", name)
    expect(len(read(line, "names")) == 3 * int(read(line, "name_tokens")[0]), f"Xyzzy is left out: {line}")
    expect(numpy.load("several/intro.npy").tolist() == [apart.token_to_id("<s>")], "the beginning")
    plans(line, ", needles: 3")
    for tokenizer, given, words in ((joined, {}, "what stands around them has other tokens"), (apart, {"begin": "<t>"}, "has no token"),
                                    (apart, {"needle": "none"}, "must have the key's #"),
                                    (apart, {"names": "Rome", "needle": " # "}, "must have the @")):
        try:
            passkey_ids.make(tokenizer, TEXT, "wrong", options(**given))
            expect(False, f"no error: {words}")
        except passkey_ids.Unfit as why:
            expect(words in str(why), f"{why}, not {words}")
sys.exit(1 if failures else 0)
