"""What the peers share: the command line, sizes, timing, and the CSV that side_by_side.py reads.

A peer is a class with `prepare(size)`, which is not timed, and `run()`, which is; `check()` runs it at a small size
against exact numbers and returns the error. Each does the whole job, tables included.
"""
import argparse
import ctypes
import os
import resource
import statistics
import sys
import time

LEAST = 0.3  # seconds of a sample: the system counts the time of other processes in ticks of 10 ms
TOLERATED = 0.05  # share of the CPUs that others may have in it, as in src/app/bench/measure.c


def need(module):
    """Imports a module that not every machine has; where it is missing, ends with one line and status 77, "skipped"."""
    try:
        return __import__(module)
    except ImportError:
        script = os.path.basename(sys.argv[0])
        print(f"{script}: skipped: no {module} here (Debian: apt-get install python3-{module})", file=sys.stderr)
        sys.exit(77)


def blas_threads(count):
    """Threads of OpenBLAS from here on; False where the BLAS in use is another."""
    try:
        ctypes.CDLL("libopenblas.so.0", mode=ctypes.RTLD_GLOBAL).openblas_set_num_threads(count)
        return True
    except (OSError, AttributeError):
        return False


def moment(who=resource.RUSAGE_SELF):
    """(wall, CPU of `who`, CPU of all) in seconds; the last is None where there is no /proc/stat."""
    used = resource.getrusage(who)
    try:
        with open("/proc/stat", encoding="ascii") as file:
            ticks = [int(word) for word in file.readline().split()[1:9]]
        busy = (sum(ticks[:3]) + sum(ticks[5:8])) / os.sysconf("SC_CLK_TCK")
    except OSError:
        busy = None
    return time.monotonic(), used.ru_utime + used.ru_stime, busy


def contended(before, after):
    """Whether other processes had more of the CPUs than they may have for the time to count."""
    if before[2] is None:
        return False
    others = (after[2] - before[2]) - (after[1] - before[1]) - os.cpu_count() / os.sysconf("SC_CLK_TCK")
    return others > TOLERATED * os.cpu_count() * (after[0] - before[0])


def sample(run):
    """Seconds of one run, and whether others were at work."""
    before, runs = moment(), 0
    while True:
        run()
        runs += 1
        if time.monotonic() - before[0] >= LEAST:
            break
    after = moment()
    return (after[0] - before[0]) / runs, contended(before, after)


def measure(run, rounds):
    """Median and least seconds over the clean samples (over all where none is), and how many were clean of how many."""
    clean, all_samples = [], []

    def take():
        seconds, busy = sample(run)
        all_samples.append(seconds)
        if not busy:
            clean.append(seconds)

    take()
    if all_samples[0] < 5:  # cold memory and lazy initialisation are nothing beside more than that
        clean, all_samples = [], []
    while len(clean) < rounds and len(all_samples) < 2 * rounds:
        take()
    kept = clean or all_samples
    return statistics.median(kept), min(kept), len(clean), len(all_samples)


def main(jobs, description):
    """`jobs`: job name -> (full size, quick size, [peer, ...])."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("jobs", nargs="*", metavar="JOB", help="of " + ", ".join(jobs) + " (default: all)")
    parser.add_argument("--quick", action="store_true", help="small sizes")
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--peers", help="only these, by name, with commas")
    parser.add_argument("--skip", default="", help="not these, by name, with commas")
    parser.add_argument("--check", action="store_true", help="only compare with exact numbers")
    parser.add_argument("--list", action="store_true", help="only print the names of the jobs")
    options = parser.parse_args()
    if options.list:
        print("\n".join(jobs))
        return
    for name in options.jobs:
        if name not in jobs:
            parser.error(f"no job {name}: it is one of {', '.join(jobs)}")
    print("job,peer,seconds,seconds_best,error,clean,samples", flush=True)
    for name in options.jobs or jobs:
        full, quick, peers = jobs[name]
        for make in peers:
            peer = make(options.threads)
            if (options.peers and peer.name not in options.peers.split(",")) or peer.name in options.skip.split(","):
                continue
            error = peer.check()
            if not error <= peer.bound:
                sys.exit(f"{name}: {peer.name} is wrong: error {error:.1e}, which should be within {peer.bound:.0e}")
            if options.check:
                print(f"{name},{peer.name},,,{error:.2g},,", flush=True)
                continue
            peer.prepare(quick if options.quick else full)
            seconds, best, clean, samples = measure(peer.run, options.rounds)
            print(f"{name},{peer.name},{seconds:.5g},{best:.5g},{error:.2g},{clean},{samples}", flush=True)
