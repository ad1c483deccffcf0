"""Reads a profile of coz and a diagnosis of Torr: slopes.py PROGRAM FILE DIAGNOSIS, and prints a row for each function that has enough
experiments or that Torr names.

A line of the profile is `experiment` with the selected line, the speedup, the duration in nanoseconds and the samples, or
`throughput-point` with the number of times that it was reached in the experiment before it.
"""

import json
import os
import re
import sys
from collections import defaultdict

ENOUGH = 8
# The CPU time between two of coz's samples, in seconds.
SAMPLE = 1e-3
# The begin of a function in C, which is in the first column, or in Rust.
FUNCTION = re.compile(r"^(?:[a-z].*?\b|\s*(?:pub )?fn )(\w+)\([^;]*\{")


def fields(line):
    """Returns the fields of a line of the profile, which are NAME=VALUE."""
    return dict(field.split("=", 1) for field in line.rstrip("\n").split("\t")[1:])


def function_of(position):
    """Returns the function of a line, which is FILE:NUMBER, or the end of the path where the source is not here, as of a library."""
    path, number = position.rsplit(":", 1)
    if not os.path.exists(path):
        return "/".join(path.split("/")[-3:])
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


def named(path):
    """Returns the functions of the places that Torr names: for each the words for its kind, its share and its promise."""
    with open(path, encoding="utf-8") as file:
        places = json.load(file)["verdict"].get("where", [])
    found = {}
    for place in places:
        share = f"{100 * place['share']['value']:.0f}%"
        gain = place.get("gain")
        promise = f"{gain['value']:.2f}x ({gain['low']:.2f} to {gain['high']:.2f})" if gain else "-"
        of = place
        words = f"{place['kind']}, line {place.get('line', '-')}"
        if holder := place.get("holder"):
            of = holder
            words = f"holds `{place.get('lock', 'a lock')}`, line {holder.get('line', '-')}"
        function = of.get("function", place.get("statement", "-"))
        found.setdefault(re.split(r"::|\.", function)[-1], (words, share, promise))
    return found


def main(program, path, diagnosis):
    functions = defaultdict(list)
    for line, experiments in read(path).items():
        kept = undisturbed(experiments)
        if len(kept) >= ENOUGH:
            functions[function_of(line)].append((slope_of(kept), line.rsplit(":", 1)[1], len(kept)))
    places = named(diagnosis)
    rows = []
    for name, lines in functions.items():
        slope = sum(slope for slope, _, _ in lines)
        gain = f"{1 / (1 - slope / 2):.2f}x" if slope < 2 else "-"
        experiments = sum(count for _, _, count in lines)
        rows.append((slope, name, max(lines)[1], experiments, f"{slope:.2f}", gain, *places.pop(name, ("-", "-", "-"))))
    rows += [(-1, name, "-", 0, "-", "-", *place) for name, place in places.items()]
    if not functions:
        print(f"slopes.py: no line of {program} has {ENOUGH} experiments without a disturbance", file=sys.stderr)
    for _, *row in sorted(rows, reverse=True):
        print(f"| {program} | {' | '.join(str(cell) for cell in row)} |")
    if not rows:
        sys.exit(1)


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit("usage: slopes.py PROGRAM FILE DIAGNOSIS")
    main(*sys.argv[1:])
