"""Reads a profile of coz: slopes.py PROGRAM FILE, and prints a row for each function with enough experiments.

A line of the profile is `experiment` with the selected line, the speedup, the duration in nanoseconds and the samples, or
`throughput-point` with the number of times that it was reached in the experiment before it.
"""

import re
import sys
from collections import defaultdict

ENOUGH = 8
# The CPU time between two of coz's samples, in seconds.
SAMPLE = 1e-3
FUNCTION = re.compile(r"^[a-z].*?\b(\w+)\([^;]*\{")


def fields(line):
    """Returns the fields of a line of the profile, which are NAME=VALUE."""
    return dict(field.split("=", 1) for field in line.rstrip("\n").split("\t")[1:])


def function_of(position):
    """Returns the function of a line, which is FILE:NUMBER."""
    path, number = position.rsplit(":", 1)
    with open(path, encoding="utf-8") as source:
        for line in reversed(source.readlines()[: int(number)]):
            if found := FUNCTION.match(line):
                return found[1]
    return position


def read(path):
    """Returns the experiments of each line: speedup, seconds between two visits, and the share of the time that the line ran."""
    found = defaultdict(list)
    experiment = None
    with open(path, encoding="utf-8") as profile:
        for line in profile:
            if line.startswith("experiment\t"):
                experiment = fields(line)
            elif line.startswith(("throughput-point\t", "progress-point\t")) and experiment:
                visits = int(fields(line).get("delta", 0))
                speedup, ran = float(experiment["speedup"]), int(experiment["selected-samples"]) * SAMPLE
                # The duration is without the delays, which are the speedup's share of the line's time.
                seconds = int(experiment["duration"]) / 1e9
                if visits:
                    found[experiment["selected"]].append((speedup, seconds / visits, ran / (seconds + speedup * ran)))
    return found


def undisturbed(experiments):
    """Returns the experiments in which the line ran nearly as much as in most: others waited for a CPU that other programs had."""
    shares = sorted(share for _, _, share in experiments)
    usual = shares[int(len(shares) * 0.9)]
    return [(speedup, seconds) for speedup, seconds, share in experiments if share >= 0.85 * usual]


def slope_of(experiments):
    """Returns the share of the time between two visits that is saved for each unit of speedup (least squares)."""
    count = len(experiments)
    mean_speedup = sum(speedup for speedup, _ in experiments) / count
    mean_seconds = sum(seconds for _, seconds in experiments) / count
    spread = sum((speedup - mean_speedup) ** 2 for speedup, _ in experiments)
    common = sum((speedup - mean_speedup) * (seconds - mean_seconds) for speedup, seconds in experiments)
    if not spread:
        return 0.0
    per_unit = common / spread
    return -per_unit / (mean_seconds - per_unit * mean_speedup)


def main(program, path):
    functions = defaultdict(lambda: [0.0, 0])
    for line, experiments in read(path).items():
        kept = undisturbed(experiments)
        if len(kept) >= ENOUGH:
            sums = functions[function_of(line)]
            sums[0] += slope_of(kept)
            sums[1] += len(kept)
    rows = [(slope, name, count) for name, (slope, count) in functions.items()]
    if not rows:
        sys.exit(f"slopes.py: no line of {program} has {ENOUGH} experiments without a disturbance")
    for slope, name, count in sorted(rows, reverse=True):
        gain = f"{1 / (1 - slope / 2):.2f}x" if slope < 2 else "-"
        print(f"| {program} | {name} | {count} | {slope:.2f} | {gain} |")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: slopes.py PROGRAM FILE")
    main(*sys.argv[1:])
