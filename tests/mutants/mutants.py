#!/usr/bin/env python3
"""Plants small mistakes in src, one at a time, and sees whether a test notices.

    mutants.py map COVERAGE                          # which test runs which line; COVERAGE: a build with -Db_coverage=true
    mutants.py run COVERAGE FOLDER [--seed S] [--count N]     # goes on where an earlier run of this seed has stopped
    mutants.py run COVERAGE FOLDER --at FILE:LINE    # all mistakes of one line
    mutants.py report FOLDER [--seed S]

`map` runs every test of the fast suites by itself. `run` copies the tree to FOLDER, builds it there as users do, draws N
mistakes (sites.py says of which kinds and where none are made), one a line at most, and runs for each the tests that
reach its line, short ones first, until one fails. A mistake that does not compile, or gives the same object code, is
drawn again: it is no mistake. Tests that take ten times what they did, or 4 GiB, have failed.
Exit status of `run` and `report`: 0 when at least 95 % are noticed, 1 when fewer."""
import argparse
import json
import os
import random
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from sites import sites_of

ROOT = Path(__file__).resolve().parents[2]
ENOUGH = 0.95
BATCH = (4, 8, 16, 32, 64)  # tests linked at once: most mistakes are noticed by the first few


def said(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


class Test:
    def __init__(self, entry, build, files):
        self.name, self.command, self.env, self.build = entry["name"], entry["cmd"], entry["env"], build
        self.targets = [os.path.relpath(files[d], build) for d in entry["depends"] if d in files]
        self.seconds = entry["timeout"] / 10

    def run(self, folder, **env):
        """Whether it passed."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        begin = time.monotonic()
        child = subprocess.Popen(self.command, cwd=self.build, env={**os.environ, **self.env, "TMPDIR": str(folder), **env},
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 start_new_session=True, preexec_fn=limit)
        try:
            status = child.wait(10 * self.seconds + 10)
        except subprocess.TimeoutExpired:
            status = -1
        try:
            os.killpg(child.pid, signal.SIGKILL)  # what it may have left running, or all of it
        except ProcessLookupError:
            pass
        child.wait()
        self.took = time.monotonic() - begin
        return status in (0, 77)


def limit():
    resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 30, 1 << 30))
    resource.setrlimit(resource.RLIMIT_DATA, (4 << 30, 4 << 30))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def tests_of(build):
    targets = json.loads(said("meson", "introspect", "--targets", str(build)))
    files = {t["id"]: t["filename"][0] for t in targets}
    entries = json.loads(said("meson", "introspect", "--tests", str(build)))
    tests = [Test(e, build, files) for e in entries if not any(s.endswith(":full") for s in e["suite"])]
    return {t.name: t for t in tests if t.targets}


# --- map ---


def lines_run(data, build):
    """{file: lines} of what lies in `data`, a folder of .gcda as GCOV_PREFIX makes it."""
    found = [p.relative_to(data) for p in data.rglob("*.gcda") if p.relative_to(data).parts[0] == "src"]
    for path in found:
        note = path.with_suffix(".gcno")
        (data / note).symlink_to(build / note)
    lines = {}
    if not found:
        return lines
    out = said("gcov", "--json-format", "--stdout", *map(str, found), cwd=data, stderr=subprocess.DEVNULL)
    for document in out.splitlines():
        for file in json.loads(document)["files"]:
            name = os.path.relpath(build / file["file"], ROOT)
            if not name.startswith("src/"):
                continue
            lines.setdefault(name, set()).update(l["line_number"] for l in file["lines"] if l["count"])
    return lines


def functions_of(build):
    """{file: [[first line, last line]]} of every function that was compiled, and {file: lines} that hold code."""
    notes = [str(p.relative_to(build)) for p in (build / "src").rglob("*.gcno")]
    spans, code = {}, {}
    scratch = build / "mutants" / "notes"
    shutil.rmtree(scratch, ignore_errors=True)
    for note in notes:  # without .gcda beside it, so that nothing is counted
        (scratch / note).parent.mkdir(parents=True, exist_ok=True)
        (scratch / note).symlink_to(build / note)
    out = said("gcov", "--json-format", "--stdout", *notes, cwd=scratch, stderr=subprocess.DEVNULL)
    for document in out.splitlines():
        for file in json.loads(document)["files"]:
            name = os.path.relpath(build / file["file"], ROOT)
            if name.startswith("src/"):
                spans.setdefault(name, set()).update((f["start_line"], f["end_line"]) for f in file["functions"])
                code.setdefault(name, set()).update(l["line_number"] for l in file["lines"])
    shutil.rmtree(scratch)
    return {n: sorted(s) for n, s in spans.items()}, {n: sorted(s) for n, s in code.items()}


def make_map(build):
    spans, code = functions_of(build)
    known = {"functions": spans, "code": code, "tests": {}}
    for test in tests_of(build).values():
        data = build / "mutants" / "data"
        shutil.rmtree(data, ignore_errors=True)
        passed = test.run(build / "mutants" / "tmp", GCOV_PREFIX=str(data), GCOV_PREFIX_STRIP=str(len(build.parts) - 1))
        lines = lines_run(data, build) if data.exists() else {}
        known["tests"][test.name] = {"passed": passed, "seconds": test.took,
                                    "lines": {n: sorted(l) for n, l in lines.items()}}
        print(f"{test.took:7.2f} s {len(lines):4d} files {test.name}{'' if passed else ': FAILED'}", flush=True)
    (build / "mutants" / "map.json").write_text(json.dumps(known))


# --- run ---


class Tree:
    """A copy of the tree with a build of its own."""

    def __init__(self, folder):
        self.tree, self.build, self.scratch = folder / "tree", folder / "tree/build", folder / "tmp"
        folder.mkdir(parents=True, exist_ok=True)
        for name in said("git", "-C", str(ROOT), "ls-files", "-z", "-co", "--exclude-standard").split("\0"):
            source, copy = ROOT / name, self.tree / name
            if name and source.is_file() and not (copy.exists() and copy.read_bytes() == source.read_bytes()):
                copy.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, copy)
        if not (self.build / "build.ninja").exists():
            said("meson", "setup", "--wrap-mode=nofallback", "-Dtests=enabled",
                 str(self.build), str(self.tree))
        if not self.make([]):
            sys.exit("mutants: the tree does not build")
        self.tests = tests_of(self.build)
        self.commands = {}
        for entry in json.loads(said("ninja", "-t", "compdb", cwd=self.build)):
            name = os.path.relpath(self.build / entry["file"], self.tree)
            if "-c" in shlex.split(entry["command"]):
                self.commands.setdefault(name, []).append((shlex.split(entry["command"]), entry["output"]))

    def make(self, targets):
        return subprocess.run(["ninja", "-C", str(self.build), *targets], stdout=subprocess.DEVNULL,
                              stderr=subprocess.DEVNULL).returncode == 0

    def objects(self, name):
        """The object code a file gives now, in other places than the build's; None where it does not compile."""
        code = []
        for command, output in self.commands.get(name, []):
            other = self.scratch.parent / "probe.o"
            words = [str(other) if w == output else w for w in command]
            if subprocess.run(words, cwd=self.build, stderr=subprocess.DEVNULL).returncode != 0:
                return None
            code.append(other.read_bytes())
        return code


def reaching(known, site):
    """The names of the tests that run a site's line, or the nearest line with code before it; short ones first."""
    line = max((c for c in known["code"][site.file] if c <= site.line), default=0)
    names = [n for n, t in known["tests"].items() if line in t["lines"].get(site.file, ())]
    return sorted(names, key=lambda n: known["tests"][n]["seconds"])


def first_failure(tree, known, names):
    """The test that notices; None when none does."""
    at, size = 0, iter(BATCH)
    while at < len(names):
        batch = names[at:at + next(size, 64)]
        if not tree.make(sorted({t for n in batch for t in tree.tests[n].targets})):
            return "the build"
        for name in batch:
            test = tree.tests[name]
            test.seconds = known["tests"][name]["seconds"]
            if not test.run(tree.scratch):
                return name
        at += len(batch)
    return None


def try_one(tree, known, site, text):
    """What comes of one mistake: a record of it, or None where it is none."""
    file = tree.tree / site.file
    before = tree.objects(site.file)
    file.write_text(text[:site.begin] + site.into + text[site.end:])
    try:
        after = tree.objects(site.file)
        if after is None or (before and after == before) or (not before and file.suffix == ".c"):
            return None  # the last: no part of this build
        begin = time.monotonic()
        names = reaching(known, site)
        by = first_failure(tree, known, names)
        if by == "the build":
            return None
        return {"file": site.file, "line": site.line, "begin": site.begin, "what": site.what,
                "was": text[site.begin:site.end], "into": site.into, "tests": len(names), "by": by,
                "seconds": round(time.monotonic() - begin, 1)}
    finally:
        file.write_text(text)


def draw(known, seed, at=None):
    """All sites of the tree, shuffled, one a line; or all of one line."""
    sites, texts, seen = [], {}, set()
    for name in sorted(known["functions"]):
        texts[name] = (ROOT / name).read_text()
        sites += sites_of(name, texts[name], known["functions"][name])
    if at is not None:
        return [s for s in sites if f"{s.file}:{s.line}" == at], texts, len(sites)
    random.Random(seed).shuffle(sites)
    chosen = []
    for site in sites:
        if (site.file, site.line) not in seen:
            seen.add((site.file, site.line))
            chosen.append(site)
    return chosen, texts, len(sites)


def run(build, folder, name, seed, count, at):
    known = json.loads((build / "mutants" / "map.json").read_text())
    tree = Tree(folder)
    known["tests"] = {n: t for n, t in known["tests"].items() if n in tree.tests and t["passed"]}
    for t in known["tests"].values():
        t["lines"] = {n: set(l) for n, l in t["lines"].items()}
    sites, texts, number = draw(known, seed, at)
    print(f"{number} sites in {len(texts)} files, on {len(sites)} lines", flush=True)
    log = folder / f"{name}.jsonl"
    done = [json.loads(l) for l in log.read_text().splitlines()] if log.exists() else []
    tried = {(d["file"], d["begin"], d["into"]) for d in done}
    made = sum("by" in d for d in done)
    for site in sites:
        if made >= count:
            break
        if (site.file, site.begin, site.into) in tried:
            continue
        record = try_one(tree, known, site, texts[site.file])
        made += record is not None
        with log.open("a") as out:
            out.write(json.dumps(record or {"file": site.file, "begin": site.begin, "into": site.into}) + "\n")
        if record:
            print(f"{made:4d} {record['seconds']:6.1f} s {record['by'] or 'SURVIVED'}: {words(record)}", flush=True)
    return report(folder, name)


def words(record):
    return f"{record['file']}:{record['line']}: {record['what']}: {record['was']!r} -> {record['into']!r}"


def report(folder, name):
    made = [r for r in map(json.loads, (folder / f"{name}.jsonl").read_text().splitlines()) if "by" in r]
    lived = [r for r in made if r["by"] is None]
    for record in lived:
        print(f"survived {record['tests']:3d} tests: {words(record)}")
    noticed = len(made) - len(lived)
    print(f"{noticed} of {len(made)} noticed ({100 * noticed / max(1, len(made)):.1f} %), {name}")
    return 0 if noticed >= ENOUGH * len(made) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("do", choices=["map", "run", "report"])
    parser.add_argument("folders", nargs="+", type=lambda p: Path(p).resolve())
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--at", metavar="FILE:LINE")
    parser.add_argument("--count", type=int, default=300)
    given = parser.parse_args()
    if len(given.folders) != {"map": 1, "run": 2, "report": 1}[given.do]:
        parser.error("map COVERAGE, run COVERAGE FOLDER, or report FOLDER")
    if given.do == "map":
        make_map(*given.folders)
        return 0
    name = given.at.replace("/", "-") if given.at else f"seed-{given.seed}"
    if given.do == "run":
        return run(*given.folders, name, given.seed, given.count, given.at)
    return report(*given.folders, name)


if __name__ == "__main__":
    sys.exit(main())
