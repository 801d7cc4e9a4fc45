#!/usr/bin/env python3
"""Plants small mistakes in src, one at a time, and sees whether a test notices.

    mutants.py map COVERAGE                          # which test runs which line; COVERAGE: a build with -Db_coverage=true
    mutants.py run COVERAGE FOLDER [--seed S] [--count N]     # goes on where an earlier run of this seed has stopped
    mutants.py run COVERAGE FOLDER --at FILE:LINE    # all mistakes of one line
    mutants.py report FOLDER [--seed S]

`map` runs every test of the fast suites by itself. `run` copies the tree to FOLDER, builds it there as users do, draws N
mistakes (sites.py says of which kinds and where none are made), one a line at most, and runs for each the tests that
reach its line until one fails, twice: first those that are short and of which its file is a large part. Mistakes that
live for FIRST seconds of tests come to the other tests at the end, all together; where one fails, each by itself. A mistake
that does not compile, or gives the same object code, is drawn again: it is no mistake. Tests that take ten times what they
did, or 4 GiB, have failed.
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
FIRST = 60
BATCH = (4, 8, 16, 32, 64)  # tests linked at once: most mistakes are noticed by the first few


def said(*command, **options):
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, **options).stdout


class Test:
    def __init__(self, entry, build, files):
        self.name, self.command, self.env, self.build = entry["name"], entry["cmd"], entry["env"], build
        self.targets = [os.path.relpath(files[d], build) for d in entry["depends"] if d in files]
        self.seconds = entry["timeout"] / 10

    def notices(self, folder):
        """Whether it fails, and not by chance."""
        return not self.run(folder) and (self.late or not self.run(folder))

    def run(self, folder, **env):
        """Whether it passed."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        begin, self.late = time.monotonic(), False
        child = subprocess.Popen(self.command, cwd=self.build, env={**os.environ, **self.env, "TMPDIR": str(folder), **env},
                                 stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                 start_new_session=True, preexec_fn=limit)
        try:
            status = child.wait(10 * self.seconds + 10)
        except subprocess.TimeoutExpired:
            status, self.late = -1, True
        try:
            os.killpg(child.pid, signal.SIGKILL)  # what it may have left running, or all of it
        except ProcessLookupError:
            pass
        child.wait()
        self.took = time.monotonic() - begin
        return status in (0, 77)


def limit():
    for stop in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT):
        signal.signal(stop, signal.SIG_DFL)  # which a shell's background ignores, and tests send
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
    """The names of the tests that run a site's line, or the nearest line with code before it; the likeliest a second
    to notice first."""
    line = max((c for c in known["code"][site.file] if c <= site.line), default=0)
    names = [n for n, t in known["tests"].items() if line in t["lines"].get(site.file, ())]

    def chance(name):
        test = known["tests"][name]
        return len(test["lines"][site.file]) / test["size"] / (test["seconds"] + 0.2)

    return sorted(names, key=chance, reverse=True)


def quick(known, names, seconds):
    """How many of these tests fit into so many seconds, at least one."""
    for i, name in enumerate(names):
        seconds -= known["tests"][name]["seconds"]
        if seconds < 0 and i > 0:
            return i
    return len(names)


def first_failure(tree, known, names):
    """The test that notices; None when none does."""
    at, size = 0, iter(BATCH)
    while at < len(names):
        batch = names[at:at + next(size, 64)]
        if not tree.make(sorted({t for n in batch for t in tree.tests[n].targets})):
            return "the build"
        for name in batch:
            if tree.tests[name].notices(tree.scratch):
                return name
        at += len(batch)
    return None


def changed(text, records):
    """A file's text with mistakes in it."""
    for r in sorted(records, key=lambda r: -r["begin"]):
        text = text[:r["begin"]] + r["into"] + text[r["begin"] + len(r["was"]):]
    return text


def try_one(tree, known, site, text):
    """What comes of one mistake: a record of it, in which "left" names the tests that are not run yet while it lives; or
    None where it is none."""
    file = tree.tree / site.file
    record = {"file": site.file, "line": site.line, "begin": site.begin, "what": site.what,
              "was": text[site.begin:site.end], "into": site.into}
    before = tree.objects(site.file)
    file.write_text(changed(text, [record]))
    try:
        after = tree.objects(site.file)
        if after is None or (before and after == before) or (not before and file.suffix == ".c"):
            return None  # the last: no part of this build
        begin = time.monotonic()
        names = reaching(known, site)
        here = quick(known, names, FIRST)
        by = first_failure(tree, known, names[:here])
        if by == "the build":
            return None
        record |= {"tests": len(names), "by": by, "seconds": round(time.monotonic() - begin, 1)}
        return record | ({"left": names[here:]} if by is None and here < len(names) else {})
    finally:
        file.write_text(text)


def fails(tree, texts, records, name):
    """Whether a test fails while all these mistakes are there."""
    files = {r["file"] for r in records}
    for file in files:
        (tree.tree / file).write_text(changed(texts[file], [r for r in records if r["file"] == file]))
    try:
        test = tree.tests[name]
        return tree.make(test.targets) and test.notices(tree.scratch)
    finally:
        for file in files:
            (tree.tree / file).write_text(texts[file])


def noticed_by(tree, texts, records, name):
    """Those of these mistakes that a test notices, each by itself."""
    if not records or not fails(tree, texts, records, name):
        return []
    if len(records) == 1:
        return records
    half = len(records) // 2
    return noticed_by(tree, texts, records[:half], name) + noticed_by(tree, texts, records[half:], name)


def finish(tree, known, texts, living, keep):
    """Runs the tests that are left, short ones first, with all mistakes that live. Two could hide each other: then they
    count as living."""
    for name in sorted({n for r in living for n in r["left"]}, key=lambda n: known["tests"][n]["seconds"]):
        asked = [r for r in living if name in r["left"]]
        caught = noticed_by(tree, texts, asked, name) if asked and fails(tree, texts, living, name) else []
        for record in asked:
            record["left"].remove(name)
            if record in caught:
                record["by"] = name
            if record in caught or not record["left"]:
                del record["left"]
                living.remove(record)
            keep(record)


def apart(records):
    """Those mistakes that can stand in the text together."""
    chosen = []
    for r in records:
        if all(r["file"] != c["file"] or r["begin"] + len(r["was"]) <= c["begin"] or c["begin"] + len(c["was"]) <= r["begin"]
               for c in chosen):
            chosen.append(r)
    return chosen


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
    for test in tree.tests.values():
        test.seconds = known["tests"].get(test.name, {}).get("seconds", 0)
    known["tests"] = {n: t for n, t in known["tests"].items() # counting lines makes some fail, where files may not grow
                      if n in tree.tests and (t["passed"] or tree.tests[n].run(tree.scratch))}
    for t in known["tests"].values():
        t["lines"] = {n: set(l) for n, l in t["lines"].items()}
        t["size"] = sum(map(len, t["lines"].values()))
    sites, texts, number = draw(known, seed, at)
    print(f"{number} sites in {len(texts)} files, on {len(sites)} lines", flush=True)
    log = folder / f"{name}.jsonl"
    done = records(log)

    def keep(record):
        with log.open("a") as out:
            out.write(json.dumps(record) + "\n")
        done[(record["file"], record["begin"], record["into"])] = record
        if "by" in record:
            fate = record["by"] or ("lives so far" if "left" in record else "SURVIVED")
            if fate != "lives so far" or not ending:
                print(f"{made:4d} {record['seconds']:6.1f} s {fate}: {words(record)}", flush=True)

    made, ending = sum("by" in d for d in done.values()), False
    for site in sites:
        if made >= count:
            break
        if (site.file, site.begin, site.into) in done:
            continue
        record = try_one(tree, known, site, texts[site.file])
        made += record is not None
        keep(record or {"file": site.file, "begin": site.begin, "into": site.into})
    ending = True
    while living := apart([r for r in done.values() if "left" in r]):
        finish(tree, known, texts, living, keep)
    return report(folder, name)


def records(log):
    """What is known of each mistake that was drawn: the last line about it."""
    lines = map(json.loads, log.read_text().splitlines()) if log.exists() else []
    return {(r["file"], r["begin"], r["into"]): r for r in lines}


def words(record):
    return f"{record['file']}:{record['line']}: {record['what']}: {record['was']!r} -> {record['into']!r}"


def report(folder, name):
    made = [r for r in records(folder / f"{name}.jsonl").values() if "by" in r]
    lived = [r for r in made if r["by"] is None]
    for record in lived:
        left = f", {len(record['left'])} of them not run yet" if "left" in record else ""
        print(f"survived {record['tests']:3d} tests{left}: {words(record)}")
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
