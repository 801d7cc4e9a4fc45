#!/usr/bin/env python3
"""Do orders of ways of extending a model, by the loss they add to that of the window, hold from one model to another?

    orders.py RESULTS

RESULTS holds the folders of this experiment and of published-checkpoint; models whose folder is not there are left out.
It prints Markdown: Spearman's correlation of the ways' losses between models at the same factor of their trained lengths,
with the 95 % interval of a bootstrap over what was measured anew (seeds of models trained here, whole reads of published
ones) and that of a bootstrap over ways; the same of the six better ways alone; then each order of two ways that the small
models have, and what becomes of it.
"""
import csv
import itertools
import os
import random
import sys

DRAWS = 1000
WAYS = ("self_extend", "rerope", "dual_chunk", "yarn", "llama3", "dynamic_ntk", "ntk", "pi", "unchanged")
TRAINED = [(width, length) for length in (64, 256, 512) for width in (32, 64, 128, 256)]
BETTER = WAYS[:6]
FACTORS = (2, 4, 8)
PUBLISHED = (  # name, trained length, folders: a read is a block of their targets
    ("stories260K", 512, ("published-checkpoint-full", "published-checkpoint-dynamic-full")),
    ("SmolLM2-135M, Bible", 8192, ("published-checkpoint-kjv-16k-full", "published-checkpoint-kjv-32k-full")),
    ("SmolLM2-135M, handbook", 8192, ("published-checkpoint-handbook-16k-full", "published-checkpoint-handbook-32k-full")),
)


def read(path, trained, unit, samples):
    """Adds {factor: {way: {unit: loss less that of the window}}} of a table."""
    if not os.path.exists(path):
        return
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["method"] in WAYS and row["loss_difference_nats"]:
                ways = samples.setdefault(int(row["length_tokens"]) // trained, {})
                ways.setdefault(row["method"], {})[row[unit]] = float(row["loss_difference_nats"])


def read_models(results):
    """{name: {factor: {way: {seed or read: difference}}}}, those trained here first."""
    models = {}
    for width, length in TRAINED:
        path = f"{results}/does-the-order-scale-w{width}-at-{length}-full/summary.csv"
        read(path, length, "seed", models.setdefault(f"width {width} at {length}", {}))
    for name, length, folders in PUBLISHED:
        for folder in folders:
            read(f"{results}/{folder}/loss_difference.csv", length, "block", models.setdefault(name, {}))
    return {name: samples for name, samples in models.items() if samples}


def mean(numbers):
    return sum(numbers) / len(numbers)


def ranks(numbers):
    """Equal numbers share the mean of their ranks."""
    return [sum((b < a) + (b == a) / 2 for b in numbers) for a in numbers]


def correlation(a, b):
    """Spearman's; 0 where all of one are equal."""
    a, b = ranks(a), ranks(b)
    middle = mean(a)
    squares = sum((x - middle) ** 2 for x in a) * sum((y - middle) ** 2 for y in b)
    return sum((x - middle) * (y - middle) for x, y in zip(a, b)) / squares**0.5 if squares > 0 else 0


def interval(draws):
    draws = sorted(draws)
    return draws[round(0.025 * (len(draws) - 1))], draws[round(0.975 * (len(draws) - 1))]


def say(ends):
    return f"[{ends[0]:.2f}, {ends[1]:.2f}]"


def draw_means(ways, names, dice):
    """The ways' means over seeds or reads that are drawn anew, the same for all ways."""
    units = sorted(set.intersection(*(set(ways[name]) for name in names)))
    drawn = [dice.choice(units) for _ in units]
    return [mean([ways[name][unit] for unit in drawn]) for name in names]


def compare(a, b, chosen, dice):
    """(rho, its interval over seeds and reads, its interval over ways) of two models at one factor."""
    names = [way for way in chosen if way in a and way in b]
    x, y = ([mean(ways[name].values()) for name in names] for ways in (a, b))
    anew = [correlation(draw_means(a, names, dice), draw_means(b, names, dice)) for _ in range(DRAWS)]
    picks = ([dice.randrange(len(names)) for _ in names] for _ in range(DRAWS))
    over_ways = [correlation([x[i] for i in pick], [y[i] for i in pick]) for pick in picks]
    return correlation(x, y), interval(anew), interval(over_ways)


def print_correlations(models):
    print("| models | factor | rank correlation | over seeds and reads | over ways | better six | over seeds and reads |")
    print("|---|---|---|---|---|---|---|")
    for (one, a), (other, b) in itertools.combinations(models.items(), 2):
        for factor in FACTORS:
            names = [way for way in WAYS if way in a.get(factor, {}) and way in b.get(factor, {})]
            if len(names) < len(WAYS):
                continue
            rho, anew, over_ways = compare(a[factor], b[factor], WAYS, random.Random(f"{one} {other} {factor}"))
            six, six_anew, _ = compare(a[factor], b[factor], BETTER, random.Random(f"{one} {other} {factor} better"))
            print(f"| {one}; {other} | {factor} | {rho:.2f} | {say(anew)} | {say(over_ways)} | {six:.2f} | {say(six_anew)} |")


def order(ways, first, second, dice):
    """-1: the first loses less, 1: the second, 0: the 95 % interval of the paired difference holds 0; and that."""
    units = sorted(set(ways[first]) & set(ways[second]))
    differences = [ways[first][unit] - ways[second][unit] for unit in units]
    low, high = interval([mean(dice.choices(differences, k=len(differences))) for _ in range(DRAWS)])
    return (1 if low > 0 else -1 if high < 0 else 0), mean(differences), low, high


def print_orders(models, factor):
    """The orders that all models trained here have at a factor, and what the published ones make of them."""
    small = [ways[factor] for name, ways in models.items() if name.startswith("width") and factor in ways]
    published = [(name, ways[factor]) for name, ways in models.items() if not name.startswith("width") and factor in ways]
    dice = random.Random(factor)
    tally = {name: {"holds": 0, "not apart": 0, "the other way round": 0} for name, _ in published}
    count, exceptions = 0, []
    for pair in itertools.combinations(WAYS, 2):
        if not all(way in ways for way in pair for ways in small):
            continue
        signs = {order(ways, *pair, dice)[0] for ways in small}
        if len(signs) != 1 or 0 in signs:
            continue
        first, second = pair if signs == {-1} else pair[::-1]
        count += 1
        for name, ways in published:
            if first not in ways or second not in ways:
                continue
            sign, middle, low, high = order(ways, first, second, dice)
            word = {-1: "holds", 0: "not apart", 1: "the other way round"}[sign]
            tally[name][word] += 1
            if sign >= 0:
                exceptions.append(f"| {first} before {second} | {name} | {word} | {middle:+.3f} [{low:+.3f}, {high:+.3f}] |")
    print(f"\n{count} orders of two ways that all {len(small)} models trained here have at {factor} times:\n")
    print("| model | holds | not apart | the other way round |\n|---|---|---|---|")
    for name, words in tally.items():
        print(f"| {name} | {words['holds']} | {words['not apart']} | {words['the other way round']} |")
    print("\nThose that do not hold, with the first's loss less the second's:\n")
    print("| order | model | | nats |\n|---|---|---|---|")
    print("\n".join(exceptions))


def main():
    models = read_models(sys.argv[1])
    print_correlations(models)
    print_orders(models, 2)


if __name__ == "__main__":
    main()
