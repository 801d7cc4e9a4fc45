#!/usr/bin/env python3
"""Usage: tools/ratchet.py [--check | --write]

Prints what src and include hold, one "name number" a line: their size, their functions, and how their files hang
together. --check compares with tools/ratchet.txt and fails where a number is larger than it stands there (share_short,
the share of functions with five lines or fewer, too): growth is a decision, taken by changing that file in the commit
that grows, with the reason in its message. --write writes the file.

functions       definitions at the left margin; the length is from the first line of the head to the closing brace
headers_small   headers with at most two declarations that end in a semicolon at the left margin, macros aside
includes_up     includes within a folder from a file to one that, directly or through others, includes it: a .c file
                and the headers of its name are one file here
checkout_mb     of all files that git tracks, in steps of .1; 0 where there is no git
"""
import math
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
KEPT = ROOT / "tools" / "ratchet.txt"
SHORT = 5  # lines: a function of so few is worth a name only where the name is a term of the field

HEAD = re.compile(r"^[A-Za-z_][^;={]*\([^;]*\)\s*\{$", re.S)


def functions(text):
    """(name, lines) of each definition."""
    lines = text.split("\n")
    first = None
    for number, line in enumerate(lines):
        if first is None and re.match(r"^[A-Za-z_]", line) and not line.startswith(("typedef", "struct ", "enum ", "union ")):
            first = number
        if first is None:
            continue
        head = "\n".join(lines[first:number + 1])
        if line.endswith((";", "}")) or line.endswith(":") or re.search(r"=\s*\{", head) or line.startswith("#"):
            first = None
        elif line.endswith("{"):
            if HEAD.match(head):
                end = next(n for n in range(number, len(lines)) if lines[n] == "}")
                yield re.search(r"(\w+)\s*\(", head).group(1), end - first + 1
            first = None


def declarations(text):
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    count, depth = 0, 0
    for line in re.sub(r"\\\n", " ", text).split("\n"):
        if line.lstrip().startswith("#"):
            continue
        for mark in line:
            depth += (mark == "{") - (mark == "}")
            count += mark == ";" and depth == 0
    return count


def loops(edges):
    """The edges whose end leads back to their begin."""
    reached = {}
    for start in edges:
        seen, stack = set(), [start]
        while stack:
            for other in edges.get(stack.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    stack.append(other)
        reached[start] = seen
    return sum(start in reached.get(end, ()) for start in edges for end in edges[start])


def includes_up(files):
    edges = {}
    for path in files:
        unit = (path.parent, path.stem)
        for name in re.findall(r'^#include "([^"]+)"', path.read_text(), re.M):
            other = (path.parent, name.removesuffix(".h"))
            if "/" not in name and other != unit:
                edges.setdefault(unit, set()).add(other)
    return loops(edges)


def checkout_mb():
    try:
        names = subprocess.run(["git", "-C", ROOT, "ls-files", "-z"], check=True, capture_output=True).stdout.split(b"\0")
    except (OSError, subprocess.CalledProcessError):
        return 0
    paths = [os.path.join(os.fsencode(ROOT), name) for name in names if name]
    return math.ceil(sum(os.lstat(path).st_size for path in paths if os.path.lexists(path)) / 1e5) / 10


def measure():
    sources = sorted((ROOT / "src").rglob("*.c"))
    headers = sorted((ROOT / "src").rglob("*.h")) + sorted((ROOT / "include").rglob("*.h"))
    texts = {path: path.read_text() for path in sources + headers}
    lengths = sorted(length for text in texts.values() for _, length in functions(text))
    return {
        "lines": sum(text.count("\n") for text in texts.values()),
        "c_files": len(sources),
        "headers": len(headers),
        "headers_small": sum(declarations(texts[path]) <= 2 for path in headers),
        "functions": len(lengths),
        "function_p50": lengths[len(lengths) // 2],
        "function_p90": lengths[len(lengths) * 9 // 10],
        "function_longest": lengths[-1],
        "share_short": round(sum(length <= SHORT for length in lengths) / len(lengths), 3),
        "file_longest": max(text.count("\n") for text in texts.values()),
        "includes_up": includes_up(sources + headers),
        "checkout_mb": checkout_mb(),
    }


def main(arguments):
    if arguments not in ([], ["--check"], ["--write"]):
        sys.exit(__doc__)
    numbers = measure()
    text = "".join(f"{name} {number}\n" for name, number in numbers.items())
    if arguments == ["--write"]:
        KEPT.write_text(text)
        return
    sys.stdout.write(text)
    if not arguments:
        return
    kept = dict(line.split() for line in KEPT.read_text().splitlines())
    grown = [f"{name} is {number}, and {kept.get(name, 'missing')} in {KEPT.relative_to(ROOT)}"
             for name, number in numbers.items() if name not in kept or number > float(kept[name])]
    if grown:
        sys.exit("ratchet: " + "\n         ".join(grown) + "\n         make it smaller, or say in the commit that grows "
                 "why, and run tools/ratchet.py --write")


main(sys.argv[1:])
