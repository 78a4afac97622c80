#!/usr/bin/env python3
"""Times predictions of VGG-16 on 16 devices from Python beside a sweep of the same cases.

    PYTHONPATH=build/release/python tests/bench/python_predictions.py [--cases N] [--what batch|bandwidth]

Each case differs from the others in its batch, or in the bandwidth between hosts. Both use one thread
and take turns; the figures are the least of three turns. A ratio of 1 means that asking from Python
costs no more than a sweep, which writes its answers into a database.
"""

import argparse
import json
import pathlib
import sys
import tempfile
import time

import strata

TURNS = 3


def values_of(what, cases):
    if what == "batch":
        return [16 * (i + 1) for i in range(cases)]
    return [f"{0.5 + i / cases:.6f}x" for i in range(cases)]


def ask(what, value):
    varied = {"batch": value} if what == "batch" else {"set": {"link.inter.bandwidth": value}}
    return strata.predict("vgg16", cluster="p100-4x4", strategy="data", progress=False, **varied)


def python_seconds(what, values):
    began = time.perf_counter()
    for value in values:
        assert ask(what, value).step_seconds > 0
    return time.perf_counter() - began


def sweep_seconds(what, values, folder):
    scenario = pathlib.Path(folder) / "s.toml"
    varied = f"batch = {json.dumps(values)}\n" if what == "batch" else \
        f"[sweep.set]\n\"link.inter.bandwidth\" = {json.dumps(values)}\n"
    scenario.write_text("[[sweep]]\nname = \"s\"\nmodel = \"vgg16\"\ncluster = \"p100-4x4\"\n"
                        f"strategy = \"data\"\n{varied}")
    database = pathlib.Path(folder) / f"{time.monotonic_ns()}.db"
    began = time.perf_counter()
    done = strata.sweep(scenario, db=database, threads=1, progress=False)
    seconds = time.perf_counter() - began
    assert done.done == len(values), done
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--what", choices=("batch", "bandwidth"), default="batch")
    options = parser.parse_args()
    values = values_of(options.what, options.cases)
    sweeps, pythons = [], []
    with tempfile.TemporaryDirectory() as folder:
        for _ in range(TURNS):
            sweeps.append(sweep_seconds(options.what, values, folder))
            pythons.append(python_seconds(options.what, values))
            print(f"sweep {sweeps[-1]:.2f} s, python {pythons[-1]:.2f} s", file=sys.stderr)
    print(f"{options.cases} predictions: sweep {min(sweeps):.2f} s, python {min(pythons):.2f} s, "
          f"ratio {min(pythons) / min(sweeps):.2f}")


if __name__ == "__main__":
    main()
