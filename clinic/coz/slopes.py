"""Reads a profile of coz: slopes.py PROGRAM FILE, and prints a row for each function with enough experiments.

A line of the profile is `experiment` with the selected line, the speedup, the duration in nanoseconds and the samples, or
`throughput-point` with the number of times that it was reached in the experiment before it.
"""

import re
import sys
from collections import defaultdict

ENOUGH = 8
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
    """Returns the experiments of each line by their speedup: visits, seconds and how many they were."""
    found = defaultdict(lambda: defaultdict(lambda: [0, 0.0, 0]))
    experiment = None
    with open(path, encoding="utf-8") as profile:
        for line in profile:
            if line.startswith("experiment\t"):
                experiment = fields(line)
            elif line.startswith(("throughput-point\t", "progress-point\t")) and experiment:
                sums = found[experiment["selected"]][float(experiment["speedup"])]
                sums[0] += int(fields(line).get("delta", 0))
                sums[1] += int(experiment["duration"]) / 1e9
                sums[2] += 1
    return found


def slope_of(speedups):
    """Returns the share of the time between two responses that is saved for each unit of speedup (least squares)."""
    visits, seconds, _ = speedups[0.0]
    base = seconds / visits
    top = bottom = 0.0
    for speedup, (visits, seconds, _) in speedups.items():
        if speedup > 0 and visits:
            top += visits * speedup * (1 - (seconds / visits) / base)
            bottom += visits * speedup * speedup
    return top / bottom if bottom else 0.0


def main(program, path):
    functions = defaultdict(lambda: [0.0, 0])
    for line, speedups in read(path).items():
        # Lines without an experiment of speedup 0 have nothing to be compared with.
        if speedups.get(0.0, [0])[0]:
            sums = functions[function_of(line)]
            sums[0] += slope_of(speedups)
            sums[1] += sum(count for _, _, count in speedups.values())
    rows = [(slope, name, count) for name, (slope, count) in functions.items() if count >= ENOUGH]
    if not rows:
        sys.exit(f"slopes.py: no function of {program} has {ENOUGH} experiments")
    for slope, name, count in sorted(rows, reverse=True):
        gain = f"{1 / (1 - slope / 2):.2f}x" if slope < 2 else "-"
        print(f"| {program} | {name} | {count} | {slope:.2f} | {gain} |")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: slopes.py PROGRAM FILE")
    main(*sys.argv[1:])
