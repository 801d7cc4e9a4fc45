#!/usr/bin/env python3
"""Rank correlations of what-predicts-loss in three ways: over all ways, over the half of them that loses least, and over
the means of their families, with the p-value of all orders of the families.

Ways of one family (YaRN with another beta, NTK-aware by another rule, each with log-n scaling) resemble each other, so
that a permutation of ways takes one finding for many.

    families.py RESULTS/NAME/summary.csv MEASURED LENGTH [where COLUMN=WORD ...]

MEASURED is a loss, or a share of needles (a name with accuracy in it: the better half is then the larger one).
"""
import csv
import itertools
import sys

PREDICTORS = ("loss_damage", "zero_shot_damage", "needle_damage")
FAMILIES = (  # the first that begins or stands in the name of a way
    ("by parts", ("by parts", "ntk_by_parts", "yarn", "resonance_yarn", "llama3", "dprope")),
    ("rerope", ("rerope", "leaky_rerope")),
    ("larger base", ("ntk", "dynamic_ntk", "critical_base", "abf")),
    ("rope", ("rope", "p_rope", "resonance")),
    ("pi", ("pi",)),
)


def family(way):
    plain = way.split(" + ")[0]
    for name, beginnings in FAMILIES:
        if plain.startswith(beginnings):
            return name
    return plain


def ranks(numbers):
    """Equal numbers share the mean of their ranks."""
    return [sum((b < a) + (b == a) / 2 for b in numbers) for a in numbers]


def correlation(a, b):
    """Spearman's; None where all of one are equal."""
    a, b = ranks(a), ranks(b)
    mean = sum(a) / len(a)
    squares = sum((x - mean) ** 2 for x in a) * sum((y - mean) ** 2 for y in b)
    return sum((x - mean) * (y - mean) for x, y in zip(a, b)) / squares**0.5 if squares > 0 else None


def p_value(a, b):
    """The share of all orders of b that correlate as strongly, either way."""
    seen = abs(correlation(a, b))
    orders = [abs(correlation(a, order)) >= seen - 1e-9 for order in itertools.permutations(b)]
    return sum(orders) / len(orders)


def read(path, measured, length, conditions):
    """(measured, predictors) of each way: means over seeds. Of ways with the same tables the first alone."""
    seen, found = {}, {}
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            if row["length_tokens"] == length and row[measured] and all(row[c] == w for c, w in conditions):
                seen.setdefault(row["method"], []).append(row)
    for way, rows in seen.items():
        predictors = tuple(float(rows[0][p] or "nan") for p in PREDICTORS)
        mean = sum(float(row[measured]) for row in rows) / len(rows)
        if all(x == x for x in predictors) and (mean, predictors) not in found.values():
            found[way] = (mean, predictors)
    return found


def main():
    path, measured, length, *rest = sys.argv[1:]
    ways = read(path, measured, length, [word.split("=", 1) for word in rest[1:]])
    groups = {}
    for way in ways:
        groups.setdefault(family(way), []).append(way)
    better = sorted(ways, key=lambda w: ways[w][0], reverse="accuracy" in measured)[: (len(ways) + 1) // 2]
    print(f"{measured} at {length}: {len(ways)} ways of {len(groups)} families")
    for p, name in enumerate(PREDICTORS):
        def pairs(names):
            return [ways[w][0] for w in names], [ways[w][1][p] for w in names]

        means = [[sum(x) / len(x) for x in pairs(group)] for group in groups.values()]
        families = [m[0] for m in means], [m[1] for m in means]
        half = correlation(*pairs(better))
        print(
            f"{name:17s} all {correlation(*pairs(ways)):.2f}  better half",
            "-" if half is None else f"{half:.2f}",
            f" families {correlation(*families):.2f} (p {p_value(*families):.4f})",
        )


if __name__ == "__main__":
    main()
