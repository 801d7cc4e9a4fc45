#!/usr/bin/env python3
"""ropescope's benchmark jobs beside what numpy and torch take for the same, in one session.

Rounds alternate: our job, then every peer, and again; medians over the rounds. Prints one table:
job | ours | fraction of its ceiling | best peer | ratio to it | ratio to each.
"""
import argparse
import csv
import ctypes
import io
import os
import statistics
import subprocess
import sys
import tempfile

HERE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "peers")

SCRIPTS = ["peer_decay.py", "peer_attention.py", "peer_train.py"]
OPENBLAS = "/usr/lib/x86_64-linux-gnu/openblas-openmp/libblas.so.3"
SLOW = 20  # seconds: a peer that takes longer runs in the first round only


def parse():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ropescope", help="the program, as build/ropescope")
    parser.add_argument("--jobs", help="only these, with commas (default: all that have a peer)")
    parser.add_argument("--quick", action="store_true", help="small sizes, to see that all runs")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--csv", help="every measurement, as CSV")
    return parser.parse_args()


def find_python():
    """A Python that has numpy: this one, or the system's."""
    for python in sys.executable, "/usr/bin/python3":
        if subprocess.run([python, "-c", "import numpy"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return python
    return sys.executable


def openblas_core():
    """What tells OpenBLAS to use its kernels for AVX-512 on a machine newer than itself, which it takes for a Prescott
    of 2004: sgemm is then five times slower."""
    library = ctypes.CDLL(OPENBLAS)
    library.openblas_get_corename.restype = ctypes.c_char_p
    with open("/proc/cpuinfo", encoding="ascii", errors="replace") as file:
        known = library.openblas_get_corename() != b"Prescott" or "avx512f" not in file.read()
    return {} if known else {"OPENBLAS_CORETYPE": "SkylakeX"}


def rows_of(command, environment=None):
    """The CSV rows that a command prints; what it says on stderr goes to ours."""
    done = subprocess.run(command, stdout=subprocess.PIPE, env=environment, text=True, check=False)
    if done.returncode not in (0, 77):
        sys.exit(f"side_by_side: {' '.join(command)}: status {done.returncode}")
    return list(csv.DictReader(io.StringIO(done.stdout)))


def our_jobs(program):
    """Names in `ropescope bench --list`: jobs are indented."""
    text = subprocess.run([program, "bench", "--list"], stdout=subprocess.PIPE, text=True, check=True).stdout
    return {line.split()[0] for line in text.splitlines() if line.startswith(" ")}


def run_ours(options, job):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "bench.csv")
        command = [options.ropescope, "bench", "--quiet", "--job", job, "--rounds", "1", "--csv", path]
        command += ["--threads", str(options.threads)] + (["--quick"] if options.quick else [])
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        with open(path, encoding="utf-8") as file:
            row = next(csv.DictReader(file))
    clean = int(row["rounds"]) > int(row["rounds_contended"])
    return float(row["seconds"]), float(row["fraction"]), clean


class Peers:
    """Who does which job, and how each is started."""

    def __init__(self, options):
        self.options = options
        self.python = find_python()
        # Threads that Python starts would share the one core its first is bound to.
        ours_alone = ("OMP_PROC_BIND", "OMP_PLACES", "OMP_WAIT_POLICY")
        self.environment = {name: value for name, value in os.environ.items() if name not in ours_alone}
        self.environment["OMP_NUM_THREADS"] = str(options.threads)
        if os.path.exists(OPENBLAS):  # before torch finds a slower libblas.so.3
            self.environment["LD_PRELOAD"] = OPENBLAS
            self.environment.update(openblas_core())
        self.jobs = {}
        for script in SCRIPTS:
            path = os.path.join(HERE, script)
            done = subprocess.run([self.python, path, "--list"], stdout=subprocess.PIPE, text=True, check=False)
            for job in done.stdout.split():
                self.jobs.setdefault(job, []).append(path)

    def run(self, job, skip):
        options = self.options
        rows = []
        for path in self.jobs.get(job, []):
            command = [self.python, path, job, "--rounds", "1", "--threads", str(options.threads)]
            command += ["--skip", ",".join(skip)] + (["--quick"] if options.quick else [])
            rows += rows_of(command, self.environment)
        return rows


def measure(options, peers, job):
    """Seconds of ours and each peer by round, fractions of ours, and who was ever contended."""
    seconds, fractions, busy = {"ropescope": []}, [], set()
    for _ in range(options.rounds):
        taken, fraction, clean = run_ours(options, job)
        seconds["ropescope"].append(taken)
        fractions.append(fraction)
        if not clean:
            busy.add("ropescope")
        for row in peers.run(job, [name for name, times in seconds.items() if max(times) > SLOW]):
            seconds.setdefault(row["peer"], []).append(float(row["seconds"]))
            if row["clean"] == "0":
                busy.add(row["peer"])
    return seconds, statistics.median(fractions), busy


def show(seconds):
    return f"{seconds:.2f} s" if seconds >= 1 else f"{1e3 * seconds:.2f} ms"


def table_line(job, seconds, fraction, busy):
    medians = {name: statistics.median(times) for name, times in seconds.items()}
    ours = medians.pop("ropescope")
    name = {peer: peer + ("*" if peer in busy else "") for peer in medians}
    best = min(medians, key=medians.get) if medians else None
    each = ", ".join(f"{name[p]} {medians[p] / ours:.1f}" for p in sorted(medians, key=medians.get))
    mark = "*" if "ropescope" in busy else ""
    best_text = f"{name[best]} {show(medians[best])}" if best else "-"
    ratio = f"{medians[best] / ours:.2f}" if best else "-"
    return f"| {job} | {show(ours)}{mark} | {fraction:.2f} | {best_text} | {ratio} | {each} |"


def main():
    options = parse()
    peers = Peers(options)
    ours = our_jobs(options.ropescope)
    known = [job for job in dict.fromkeys([*peers.jobs, *GGML_SIZES]) if job in ours]
    wanted = options.jobs.split(",") if options.jobs else known
    for job in wanted:
        if job not in known:
            sys.exit(f"side_by_side: no job {job} with a peer: {', '.join(known)}")
    print("| job | ours | of its ceiling | best peer | ratio | ratio to each |\n|---|---|---|---|---|---|", flush=True)
    measurements, contended = [], False
    for job in wanted:
        seconds, fraction, busy = measure(options, peers, job)
        contended |= bool(busy)
        measurements += [(job, name, i, t) for name, times in seconds.items() for i, t in enumerate(times)]
        print(table_line(job, seconds, fraction, busy), flush=True)
    print(f"\n{options.threads} threads, medians of {options.rounds} rounds; a peer slower than {SLOW} s runs once.")
    if contended:
        print("*: other processes were at work in all of a sample's repetitions; measure again on a quiet machine.")
    if options.csv:
        with open(options.csv, "w", encoding="utf-8", newline="") as file:
            csv.writer(file, lineterminator="\n").writerows([("job", "who", "round", "seconds"), *measurements])


if __name__ == "__main__":
    main()
