#!/usr/bin/env python3
"""Collects what was measured and printed of ways of reading a model beyond its trained length into share/evidence.csv,
and prints the tables of docs/extrapolation.md from it.

    tools/evidence.py collect           writes share/evidence.csv
    tools/evidence.py collect --check   fails where the file is stale
    tools/evidence.py table MODEL TASK  prints the table of one model in Markdown
    tools/evidence.py printed           prints that of all that was printed
    tools/evidence.py lead FACTOR       prints all that were measured, at one factor of their trained lengths

A row is one way of reading one model at one length: the loss less that of the window, which reads the trained length
alone and ends where the targets end, so that a row below 0 says that reading on helps. Measured rows come from the
results of experiments and are means over seeds; printed rows from experiments/data/printed.
"""
import argparse
import csv
import difflib
import io
import math
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FILE = ROOT / "share" / "evidence.csv"
COLUMNS = ("model,group,parameters,head_dim,rotary_dim,rope_theta,train_length,model_recipe,task,recipe,length_tokens,"
           "loss_increase_nats,low_nats,high_nats,reads,retrieval,retrieval_of,tuned_at,origin").split(",")

# Ways by the labels of the configs: the recipe at the length that is read, its scale that of the length.
SCALED = ["pi", "ntk", "ntk_fixed", "ntk_mixed", "ntk_by_parts", "critical_base", "dprope", "yarn", "llama3"]
RECIPES = {label: f"{{name: {label}, scale: auto}}" for label in SCALED}
RECIPES |= {label: f"{{name: {label}}}" for label in
            ("self_extend", "rerope", "dual_chunk", "lm_infinite", "leaky_rerope", "longrope", "abf")}
RECIPES |= {"dynamic_ntk": "{name: dynamic_ntk, factor: 2}", "dynamic_ntk 2": "{name: dynamic_ntk, factor: 2}",
            "yarn 8": "{name: yarn, beta_fast: 8, scale: auto}", "yarn 4": "{name: yarn, beta_fast: 4, scale: auto}", "by parts 8": "{name: ntk_by_parts, beta_fast: 8, scale: auto}",
            "window": "window", "unchanged": "unchanged"}

# Results: folder, its models' columns; a group is left out together when predictions are judged.
STORIES = dict(model="stories260K", group="stories260K", parameters=260032, head_dim=8, rotary_dim=8, rope_theta=10000,
               train_length=512)
SMOLLM2 = dict(model="SmolLM2-135M", group="SmolLM2", parameters=134515008, head_dim=64, rotary_dim=64,
               rope_theta=100000, train_length=8192)
def dictionary(width, trained, parameters):
    head_dim = 32
    return (f"does-the-order-scale-w{width}-at-{trained}-full",
            dict(model=f"dictionary, width {width}, trained at {trained}", group="dictionary", parameters=parameters,
                 head_dim=head_dim, rotary_dim=head_dim, rope_theta=10000, train_length=trained),
            "dictionary", "needle_accuracy")


# Width 32 at 256 tokens is left out: three of its five seeds did not learn to recall.
RESULTS = [
    dictionary(32, 64, 27360),
    dictionary(64, 64, 103872),
    dictionary(64, 256, 103872),
    dictionary(128, 64, 404352),
    ("published-checkpoint-full", STORIES, "stories", None),
    ("published-checkpoint-dynamic-full", STORIES, "stories", None),
    ("published-checkpoint-kjv-16k-full", SMOLLM2, "Bible", None),
    ("published-checkpoint-handbook-16k-full", SMOLLM2, "handbook", None),
    ("published-checkpoint-kjv-32k-full", SMOLLM2, "Bible", None),
    ("published-checkpoint-handbook-32k-full", SMOLLM2, "handbook", None),
]

# Printed models.
PRINTED = {
    "LLaMA-7B": ("LLaMA", 6.7e9, 10000, 2048, ""),
    "Llama-2-7B": ("Llama-2", 6.7e9, 10000, 4096, ""),
    "Llama-2-13B": ("Llama-2", 13e9, 10000, 4096, ""),
    "Llama-2-70B": ("Llama-2", 69e9, 10000, 4096, ""),
    "Qwen-7B, first": ("Qwen", 7.7e9, 10000, 2048, ""),
    "Qwen-7B": ("Qwen", 7.7e9, 10000, 8192, ""),
    "CodeLlama-7B": ("Llama-2", 6.7e9, 1000000, 16384, ""),
    "CodeLlama-13B": ("Llama-2", 13e9, 1000000, 16384, ""),
    "Llama-3-8B": ("Llama-3", 8e9, 500000, 8192, ""),
    "Mistral-7B, window off": ("Mistral", 7.2e9, 10000, 8192, ""),
    "SOLAR-10.7B": ("SOLAR", 10.7e9, 10000, 4096, ""),
    "LLaMA-2-7B-32K": ("Llama-2", 6.7e9, 10000, 32768, "{name: pi, factor: 8}"),
    "Yarn-Llama-2-13B-64k": ("Llama-2", 13e9, 10000, 65536, "{name: yarn, factor: 16, train_length: 4096}"),
    "Yarn-Llama-2-7B-8k": ("Llama-2", 6.7e9, 10000, 8192, "{name: yarn, factor: 2, train_length: 4096}"),
    "NTK-Llama-2-7B-8k": ("Llama-2", 6.7e9, 20000, 8192, ""),
    "LLongMA-2-7B": ("Llama-2", 6.7e9, 10000, 8192, "{name: pi, factor: 2}"),
}


STUDENT = {2: 12.71, 3: 4.303, 4: 3.182, 5: 2.776}  # 97.5 % of Student's distribution, by seeds


def number(text):
    return float(text) if text not in ("", None) else math.nan


def short(value, digits=4):
    return "" if value is None or math.isnan(value) else f"{value:.{digits}g}"


def rows_of(path):
    with open(ROOT / path, newline="") as file:
        return list(csv.DictReader(file))


def measured(folder, model, task, retrieval=None):
    """Rows of a summary.csv."""
    return summaries(rows_of(f"results/{folder}/summary.csv"), RECIPES, model, task, retrieval, folder)


def summaries(rows, recipes, model, task, retrieval, folder):
    """One row for each way and length beyond the trained one, means over seeds."""
    cells = {}
    for row in rows:
        label, length = row["method"], int(row["length_tokens"])
        if row["status"] == "ok" and label in recipes and length > model["train_length"] and row.get("loss_difference_nats"):
            cells.setdefault((recipes[label], length), []).append(row)
    for (recipe, length), found in cells.items():
        # Seeds are independent models: the interval of their mean is Student's over them, and no less than that of each
        # divided by the root of how many they are.
        mean, low, high = (sum(number(r[c]) for r in found) / len(found) for c in
                           ("loss_difference_nats", "loss_difference_nats_low", "loss_difference_nats_high"))
        spread = math.sqrt(sum((number(r["loss_difference_nats"]) - mean) ** 2 for r in found) / max(1, len(found) - 1) / len(found))
        half = max((high - low) / 2 / math.sqrt(len(found)), STUDENT[len(found)] * spread if len(found) > 1 else 0)
        low, high = (low, high) if len(found) == 1 else (mean - half, mean + half)
        score = [number(r[retrieval]) for r in found] if retrieval else []
        yield dict(model, task=task, recipe=recipe, length_tokens=length, loss_increase_nats=short(mean),
                   low_nats=short(low), high_nats=short(high), reads=sum(int(r["target_blocks"]) for r in found),
                   retrieval=short(sum(score) / len(score)) if score else "", retrieval_of=retrieval or "",
                   origin=f"measured: {folder}")


def tuned():
    """The model of width 32 that was trained further at the length it is read at."""
    _, model, task, retrieval = dictionary(32, 64, 27360)
    rows = [dict(row, method="tuned") for row in rows_of("results/does-the-order-scale-w32-tuned-full/summary.csv")
            if row["method"] == "trained" and row["checkpoint.tune.length"] == row["length_tokens"]]
    for row in summaries(rows, {"tuned": "trained at the length"}, model, task, retrieval, "does-the-order-scale-w32-tuned-full"):
        yield dict(row, tuned_at=row["length_tokens"])


def printed():
    base = {}
    for row in rows_of("experiments/data/printed/perplexity.csv"):
        if row["recipe"] == "window":
            base[row["model"], row["task"]] = float(row["perplexity"])
        else:
            group, parameters, theta, trained, recipe = PRINTED[row["model"]]
            least = row["perplexity"].startswith(">")
            increase = math.log(float(row["perplexity"].lstrip(">")) / base[row["model"], row["task"]])
            yield dict(model=row["model"], group=group, parameters=f"{parameters:.0f}", head_dim=128, rotary_dim=128,
                       rope_theta=theta, train_length=trained, model_recipe=recipe, task=row["task"],
                       recipe=row["recipe"], length_tokens=row["length_tokens"], loss_increase_nats=short(increase),
                       low_nats=short(increase) if least else "", high_nats="inf" if least else "",
                       origin=f"printed: {row['source']}")


def collect():
    out = io.StringIO()
    writer = csv.DictWriter(out, COLUMNS, restval="", lineterminator="\n")
    writer.writeheader()
    seen = set()
    for folder, model, task, retrieval in RESULTS:
        for row in measured(folder, model, task, retrieval):
            key = row["model"], row["task"], row["recipe"], row["length_tokens"]
            if key not in seen:
                writer.writerow(row)
            seen.add(key)
    writer.writerows(tuned())
    writer.writerows(printed())
    return out.getvalue()


# Rows of the tables of docs/extrapolation.md: what a way is called, its recipes, what is printed or stated of it without
# tuning, and whether that holds for y, the increases of one model at one factor by way.
WAYS = [
    ("unchanged", ["unchanged"], "printed: breaks (but for CodeLlama)", lambda y, f: y["unchanged"] > 0.1),
    ("window", ["window"], "", None),
    ("PI", ["{name: pi, scale: auto}", "{name: pi, factor: 4}", "{name: pi, factor: 8}"], "printed: above the window",
     lambda y, f: y["PI"] > 0),
    ("NTK-aware", ["{name: ntk, scale: auto}", "{name: ntk_mixed, factor: 12, mixed_b: 0.75, logit_scale: log_n}"],
     "stated: before PI", lambda y, f: y["NTK-aware"] < y["PI"]),
    ("dynamic NTK", ["{name: dynamic_ntk, factor: 2}"], "stated: before NTK-aware", lambda y, f: y["dynamic NTK"] < y["NTK-aware"]),
    ("YaRN", ["{name: yarn, scale: auto}"], "nothing printed without tuning", None),
    ("llama3", ["{name: llama3, scale: auto}"], "nothing printed without training", None),
    ("LongRoPE", [], "not measured: its factors are searched for each model", None),
    ("Self-Extend", ["{name: self_extend}"], "stated: does not break (.1 at most)", lambda y, f: y["Self-Extend"] < 0.1),
    ("ReRoPE", ["{name: rerope}", "{name: rerope, window: 1024}"], "printed: below the window", lambda y, f: y["ReRoPE"] < 0),
    ("dual chunk", ["{name: dual_chunk}"], "printed: less than .03 above the window up to 8 times",
     lambda y, f: y["dual chunk"] < 0.03 if f <= 8 else None),
    ("trained at the length", ["trained at the length"], "not measured", None),
]
FACTORS = [2, 4, 8, 16, 32]


def signed(value):
    return f"{value:+.3f}" if abs(value) < 0.0995 else f"{value:+.2f}" if abs(value) < 9.95 else f"{value:+.1f}"


def cell(row):
    """The loss less the window's with its interval, and what was found of needles."""
    low, high = number(row["low_nats"]), number(row["high_nats"])
    if row["recipe"] == "window":
        return "0" + (f"; {number(row['retrieval']):.2f}" if row["retrieval"] else "")
    words = signed(number(row["loss_increase_nats"]))
    if math.isinf(high):
        words = "> " + words
    elif not math.isnan(low):
        words += f" [{signed(low)}, {signed(high)}]"
    return words + (f"; {number(row['retrieval']):.2f}" if row["retrieval"] else "")


def winner(rows):
    """The way whose interval stands below all others, if there is one; two reads have no interval worth the name."""
    if not rows:
        return None
    best = min(rows, key=lambda row: number(row["loss_increase_nats"]))
    if any(int(row["reads"] or 0) < 4 or (row is not best and not number(row["low_nats"]) > number(best["high_nats"]))
           for row in rows):
        return None
    return best


def table(model, task):
    """One model's table: ways by factors."""
    with open(FILE, newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["model"] == model and row["task"] == task]
    if not rows:
        sys.exit(f"share/evidence.csv has no {model} on {task}")
    trained = int(rows[0]["train_length"])
    lengths = [trained * factor for factor in FACTORS]
    best = {length: winner([row for row in rows if int(row["length_tokens"]) == length]) for length in lengths}
    print("| way | " + " | ".join(f"{factor} times" for factor in FACTORS) + " | print |")
    print("|---" * (len(FACTORS) + 2) + "|")
    found = {name: {int(row["length_tokens"]): row for row in rows if row["recipe"] in recipes} for name, recipes, *_ in WAYS}
    for name, _, said, holds in WAYS:
        cells = []
        for length in lengths:
            row = found[name].get(length)
            words = cell(row) if row else "-"
            cells.append(f"**{words}**" if row and row is best[length] else words)
        print(f"| {name} | " + " | ".join(cells) + f" | {verdict(said, holds, found, name, trained)} |")


def verdict(said, holds, found, name, trained):
    """What is printed, and at which factors it appears here."""
    if holds is None:
        return said if name in ("YaRN", "llama3") or not found[name] else ""
    asked = {}
    for factor in FACTORS:
        y = {way: number(rows[factor * trained]["loss_increase_nats"]) for way, rows in found.items() if factor * trained in rows}
        try:
            asked[factor] = holds(y, factor)
        except KeyError:
            pass
    asked = {factor: is_so for factor, is_so in asked.items() if is_so is not None}
    right = [factor for factor, is_so in asked.items() if is_so]
    if len(right) == len(asked):
        return f"{said}; agrees"
    return f"{said}; " + (f"agrees at {', '.join(map(str, right))} times alone" if right else "does not transfer")


def printed_table():
    """What papers and repositories print of models that nobody tuned: ways by factors, models by name."""
    with open(FILE, newline="") as file:
        rows = [row for row in csv.DictReader(file) if row["origin"].startswith("printed")]
    print("| way | " + " | ".join(f"{factor} times" for factor in FACTORS) + " |")
    print("|---" * (len(FACTORS) + 1) + "|")
    for name, recipes, *_ in WAYS:
        cells = []
        for factor in FACTORS:
            found = [row for row in rows if row["recipe"] in recipes
                     and int(row["length_tokens"]) == factor * int(row["train_length"])]
            cells.append("<br>".join(f"{row['model']} {cell(row)}" for row in found) or "-")
        if any(words != "-" for words in cells):
            print(f"| {name} | " + " | ".join(cells) + " |")


LEAD = [("trained here, 0.1M", "dictionary, width 64, trained at 64", "dictionary"), ("stories260K", "stories260K", "stories"),
        ("SmolLM2-135M, the Bible", "SmolLM2-135M", "Bible"), ("SmolLM2-135M, a handbook", "SmolLM2-135M", "handbook")]


def lead(factor):
    """The models that were measured, at one factor: the difference alone, in bold where the way is apart from all others."""
    with open(FILE, newline="") as file:
        rows = list(csv.DictReader(file))
    columns = [[row for row in rows if row["model"] == model and row["task"] == task
                and int(row["length_tokens"]) == factor * int(row["train_length"])] for _, model, task in LEAD]
    best = [winner(column) for column in columns]
    print("| way | " + " | ".join(title for title, _, _ in LEAD) + " |")
    print("|---" * (len(LEAD) + 1) + "|")
    for name, recipes, *_ in WAYS:
        cells = []
        for column, first in zip(columns, best):
            found = [row for row in column if row["recipe"] in recipes]
            words = cell(dict(found[0], retrieval="")) if found else "-"
            cells.append(f"**{words}**" if found and found[0] is first else words)
        if any(words != "-" for words in cells):
            print(f"| {name} | " + " | ".join(cells) + " |")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    commands = parser.add_subparsers(dest="command", required=True)
    commands.add_parser("collect").add_argument("--check", action="store_true")
    one = commands.add_parser("table")
    one.add_argument("model")
    one.add_argument("task")
    commands.add_parser("printed")
    commands.add_parser("lead").add_argument("factor", type=int)
    asked = parser.parse_args()
    if asked.command == "table":
        return table(asked.model, asked.task)
    if asked.command == "printed":
        return printed_table()
    if asked.command == "lead":
        return lead(asked.factor)
    text = collect()
    if not asked.check:
        FILE.write_text(text)
    elif FILE.read_text() != text:
        sys.stdout.writelines(difflib.unified_diff(FILE.read_text().splitlines(True), text.splitlines(True), str(FILE), "collected"))
        sys.exit("share/evidence.csv is stale: run tools/evidence.py collect")


main()
