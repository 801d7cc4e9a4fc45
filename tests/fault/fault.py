#!/usr/bin/env python3
"""Runs every command (commands.py) while an allocation or a call of the system fails, and sees what comes of it.

    fault.py PROGRAM SHIM [--each N | --ways [FRAMES] | --all] [--seed S] [--shard I/N] [--command NAME]...
             [--kind CALL]... [--once] [--distinct] [--until-exit]

Each trial fails one call, or all from it on: allocations, write, fsync, rename, open, close, mkdir, mmap, with ENOSPC,
EIO, EDQUOT, EMFILE or EINTR. After it must hold:
  - the program ended by itself with 0, 1 or 2;
  - with 0, and every file and all of stdout as without the fault;
  - else with a reason on stderr, and each file of a final name is absent, as it was before, or whole; complete
    results that a run was to replace are left as one;
  - no temporary file is left, but for a run's own working places (.ropescope), which the next run sweeps;
  - the same run again, without the fault, gives the files that it would have given at once.
Of calls that come by the same functions, one calling the other, the first stands for all: --each trials are drawn for
each command and kind of call (8; the seed of the month), --ways takes them all, or tells them apart by the last FRAMES
functions alone. --all takes every call in turn, --once leaves out that all after it fail, --distinct the ways
that an earlier command had, --shard takes the I-th of N equal parts. --until-exit is for programs that count coverage,
and write it as they end.
Exit status: 0 all held, 1 something did not, 2 wrong use."""
import argparse
import datetime
import errno
import http.client
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import urllib.request
from pathlib import Path

from commands import COMMANDS, QUESTION, RESUMES, SAYS_BY_STATUS, TIMES, prepare

KINDS = {
    "malloc": ["ENOMEM"],
    "write": ["ENOSPC", "EIO", "EDQUOT", "EINTR"],
    "fsync": ["EIO", "ENOSPC", "EDQUOT"],
    "rename": ["ENOSPC", "EIO", "EDQUOT"],
    "open": ["EMFILE", "EIO", "ENOSPC"],
    "close": ["EIO", "EDQUOT", "EINTR"],
    "mkdir": ["ENOSPC", "EDQUOT", "EIO"],
    "mmap": ["ENOMEM", "EMFILE"],
}
SECONDS = 60
SCRATCH = "TMPDIR/"  # what stands in it
UNTIL = {}  # what makes the shim end early
ROOM = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # where fsync takes no time


def clean_environment():
    kept = {k: v for k, v in os.environ.items() if not k.startswith("FAULT_")}
    kept["ROPESCOPE_DATADIR"] = str(Path(__file__).resolve().parents[2])
    return {**kept, **UNTIL, "OMP_NUM_THREADS": "1", "LC_ALL": "C", "SOURCE_DATE_EPOCH": "0"}


# A run's journal and lock, and a set of files that is not yet exchanged for the old one.
def is_working_place(name):
    return name == ".ropescope" or name.startswith(".ropescope-")


def files_of(folder):
    found = {}
    for root, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not is_working_place(name)]
        for name in names:
            path = os.path.join(root, name)
            with open(path, "rb") as file:
                found[os.path.relpath(path, folder)] = file.read()
    return found


# What no two runs have in common: seconds, and what memory is free.
def comparable(name, data):
    if name.endswith("timings.csv") or name.endswith("training.csv"):
        return b""
    if name == "stdout":
        data = re.sub(rb"http://127.0.0.1:\d+/\w+/", b"", data)
        return b"\n".join(line for line in data.split(b"\n") if not line.startswith((b"time ", b"memory ")))
    if name.endswith("manifest.json"):  # the sum of timings.csv; a CPU that cannot be asked has no name
        data = re.sub(rb'"file": "timings.csv",[^}]*', b"", data)
        return re.sub(rb'"cpu": "[^"]*"', b"", data)
    return data


# What is wrong with the answer: nothing with a refusal or a closed connection, after which the server goes on.
def ask(page):
    try:
        with urllib.request.urlopen(page + QUESTION, timeout=SECONDS) as answer:
            json.load(answer)
    except (OSError, http.client.HTTPException):
        pass
    except ValueError as error:
        return f"the answer is no JSON: {error}".encode()
    return b""


class Command:
    def __init__(self, name, program, shim, template, frames):
        self.name, self.program, self.shim, self.template = name, program, shim, template
        self.before = files_of(template)
        with tempfile.TemporaryDirectory(dir=ROOM) as folder:
            counts = os.path.join(folder, "counts")
            status, self.out, err, self.after = self.start({"FAULT_COUNTS": counts, "FAULT_FRAMES": str(frames)})
            if status != SAYS_BY_STATUS.get(name, 0):
                sys.exit(f"{name}: fails without a fault: status {status}: {err.decode()}")
            self.status = status
            with open(counts) as file:
                lines = [line.split() for line in file]
            self.counts = {kind: int(count) for kind, count, *_ in lines}
            self.ways = {kind: [way.split(":") for way in firsts] for kind, _, *firsts in lines}

    # A server is ended when it has said where it is.
    def run(self, folder, environment):
        words = [self.program, *COMMANDS[self.name]]
        with subprocess.Popen(words, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE) as process:
            said = b""
            if self.name == "explore":
                said = process.stdout.readline()
                if said:
                    said += ask(said.split()[-1].decode())
                    process.send_signal(signal.SIGINT)
            try:
                out, err = process.communicate(timeout=SECONDS)
            except subprocess.TimeoutExpired:
                process.kill()
                return None, b"", b""
            return process.returncode, b"" if self.name in TIMES else said + out, err

    # Status, stdout, stderr and files; and, where a run failed, what is wrong after the same run without a fault.
    def start(self, extra, resumes=False):
        with tempfile.TemporaryDirectory(dir=ROOM) as above:
            folder = os.path.join(above, "w")
            shutil.copytree(self.template, folder)
            scratch = os.path.join(above, "t")
            os.mkdir(scratch)
            environment = {**clean_environment(), "LD_PRELOAD": self.shim, "TMPDIR": scratch, **extra}
            status, out, err = self.run(folder, environment)
            files = files_of(folder)
            files.update({SCRATCH + name: data for name, data in files_of(scratch).items()})
            self.resumed = self.resume(folder) if resumes and status not in (None, 0) else None
            return status, out, err, files

    def resume(self, folder):
        status, _, err = self.run(folder, clean_environment())
        if status != 0:
            return f"cannot be gone on with: status {status}: {err.decode(errors='replace')[-200:]}"
        files = files_of(folder)
        for name in sorted(set(files) | set(self.after)):
            if name not in files or name not in self.after or comparable(name, files[name]) != comparable(name, self.after[name]):
                return f"gone on with, {name} is not as it should be"
        return None

    def whole(self, name, data):
        same = [there.get(name) for there in (self.before, self.after)]
        return any(other is not None and comparable(name, data) == comparable(name, other) for other in same)

    # What is wrong after a trial; None: nothing.
    def judge(self, kind, on, result):
        status, out, err, files = result
        if status is None:
            return f"takes more than {SECONDS} s"
        if status not in (0, 1, 2):
            return f"status {status}: {err.decode(errors='replace')[-200:]}"
        # Whoever gets no memory or no descriptor to the end cannot list a folder of TMPDIR, and so not remove it; nor can
        # who is ended where jansson reads and gets none (main.c).
        if (on and kind in ("malloc", "open")) or (kind == "malloc" and err == b"ropescope: out of memory\n"):
            files = {name: data for name, data in files.items() if not name.startswith(SCRATCH)}
        left = [name for name in files if name.startswith(SCRATCH) or re.search(r"\.tmp$|\.partial", name)]
        if left:
            return f"leaves {left[0]}"
        if status == self.status and comparable("stdout", out) == comparable("stdout", self.out):
            differ = [n for n in set(files) | set(self.after)
                      if n not in files or n not in self.after or comparable(n, files[n]) != comparable(n, self.after[n])]
            if not differ or (self.name == "reproduce" and err and all("/plots" in name for name in differ)):
                return None  # an experiment holds without pictures, but says so
            if status == 0:
                return f"status 0, but {sorted(differ)[0]} is not as it should be"
        elif status == 0 or (status == self.status and not err):
            return f"status {status} and stdout is not what it should be"
        if not err.strip():
            return f"status {status} without a word on stderr"
        # jansson may call a lack of memory bad syntax; a folder of ours is then none (io.h, rs_trained_marked).
        syntax = b"(JSON wants" in err or b"ropescope is no architecture" in err
        if status == 2 and b"emory" not in err and kind == "malloc" and not syntax:
            return f"a lack of memory is told as wrong use: {err.decode(errors='replace')[:200]}"
        if self.name == "run_over":
            mixed = {n: d for n, d in files.items() if n.startswith("old/")}
            old = {n: d for n, d in self.before.items() if n.startswith("old/")}
            return None if mixed == old else "the results that were there are not left whole"
        # A cell that finds no memory is a row that says so.
        rows = any(b",memory," in data for name, data in files.items() if name.endswith("/summary.csv"))
        for name, data in files.items():
            if name.endswith("/reproduced.csv") and status == 1:
                continue  # its verdict on a claim whose file could not be read, which stands on stdout, too
            if not (name.startswith("made/") or (rows and name.startswith(("new/", "results/")))) and not self.whole(name, data):
                return f"status {status} and {name} is neither the old nor the new file"
        return None

    def trial(self, kind, number, on, reason):
        extra = {"FAULT_CALL": kind, "FAULT_AT": str(number), "FAULT_ERRNO": str(getattr(errno, reason))}
        if on:
            extra["FAULT_ON"] = "1"
        wrong = self.judge(kind, on, self.start(extra, self.name in RESUMES)) or self.resumed
        if wrong is None:
            return True
        words = " ".join(f"{k}={v}" for k, v in extra.items())
        print(f"{self.name}: {kind} {number} of {self.counts[kind]}{' and all after it' if on else ''}, {reason}: {wrong}\n"
              f"    {words}", flush=True)
        return False


def trials_of(command, options, dice, seen):
    for kind, reasons in KINDS.items():
        if options.kind and kind not in options.kind:
            continue
        calls = range(1, command.counts[kind] + 1)
        if not options.all:
            calls = [int(number) for number, way in command.ways[kind] if not (options.distinct and way in seen)]
            seen.update(way for _, way in command.ways[kind])
        every = [(n, on) for n in calls for on in ((False,) if options.once else (False, True))]
        whole = options.ways or options.all or len(every) <= options.each
        chosen = every if whole else dice.sample(every, options.each)
        for number, on in chosen:
            for reason in reasons if options.all else [dice.choice(reasons)]:
                # Writing again is right where a signal came between; for ever is nobody's fault but this shim's.
                if not (on and reason == "EINTR"):
                    yield kind, number, on, reason


def main():
    month = datetime.date.today()
    parser = argparse.ArgumentParser(usage=__doc__.split("\n\n")[1].strip())
    parser.add_argument("program")
    parser.add_argument("shim")
    parser.add_argument("--each", type=int, default=8)
    parser.add_argument("--ways", type=int, nargs="?", const=64, metavar="FRAMES")
    parser.add_argument("--all", action="store_true")
    parser.add_argument("--seed", type=int, default=month.year * 100 + month.month)
    parser.add_argument("--shard", default="1/1")
    parser.add_argument("--command", action="append", choices=list(COMMANDS))
    parser.add_argument("--kind", action="append", choices=list(KINDS))
    parser.add_argument("--once", action="store_true")
    parser.add_argument("--distinct", action="store_true")
    parser.add_argument("--until-exit", action="store_true")
    options = parser.parse_args()
    if options.until_exit:
        UNTIL["FAULT_UNTIL_EXIT"] = "1"
    shard, shards = (int(word) for word in options.shard.split("/"))
    dice = random.Random(options.seed)
    program, shim = os.path.abspath(options.program), os.path.abspath(options.shim)
    drawn = trials = failed = 0
    seen = set()
    with tempfile.TemporaryDirectory(dir=ROOM) as template:
        prepare(program, template, clean_environment())
        for name in options.command or COMMANDS:
            command = Command(name, program, shim, template, options.ways or 64)
            here = trials, failed
            for kind, number, on, reason in trials_of(command, options, dice, seen):
                drawn += 1
                if drawn % shards != shard % shards:
                    continue
                trials += 1
                failed += not command.trial(kind, number, on, reason)
            print(f"{name}: {trials - here[0]} trials, {failed - here[1]} did not hold", flush=True)
    print(f"{trials} trials, seed {options.seed}: {failed} did not hold")
    return 1 if failed > 0 else 0


if __name__ == "__main__":
    sys.exit(main())
