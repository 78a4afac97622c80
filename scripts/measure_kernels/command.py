"""The command line of scripts/measure-kernels: groups in their order, within the time there is."""

import argparse
import collections
import dataclasses
import datetime
import sys
import time
import typing

START = time.monotonic()  # before PyTorch, whose start belongs to the run

try:
    import torch
except ImportError:
    print("scripts/measure-kernels: error: this Python has no PyTorch", file=sys.stderr)
    sys.exit(3)
if not hasattr(torch, "float8_e4m3fn"):
    print(f"scripts/measure-kernels: error: PyTorch {torch.__version__} has no FP8; allowed: 2.1 or newer",
          file=sys.stderr)
    sys.exit(3)

from measure_kernels import clocks, layers, optimizers, overheads, products  # noqa: E402
from measure_kernels.cases import Lab  # noqa: E402
from measure_kernels.tables import Results, summary  # noqa: E402
from measure_kernels.timing import GpuTimer, HostTimer  # noqa: E402

LAST_SECONDS = 4  # kept for writing
SPIN_UP_SECONDS = 1


@dataclasses.dataclass(frozen=True)
class Group:
    """`share`: of the time that is left to it and all later groups, in proportion to theirs."""

    share: float
    cases: typing.Callable | None = None  # cases(lab)
    measure: typing.Callable | None = None  # measure(lab, sampler, scale, report)


GROUPS = {
    "clocks": Group(45, measure=clocks.measure),
    "norms": Group(12, layers.norms),
    "losses": Group(12, layers.losses),
    "optimizers": Group(13, optimizers.optimizers),
    "casts": Group(10, layers.casts),
    "pointwise": Group(8, layers.pointwise),
    "attention": Group(25, products.attention),
    "gemm": Group(28, products.gemm),
    "grouped": Group(20, products.grouped),
    "embedding": Group(6, layers.embedding),
    "overheads": Group(2, measure=overheads.measure),
}
COMPILED_SHARE = 20
FULL_SECONDS = 200  # for which the clocks' 30 and 10 seconds are meant


class Run:
    """One run: what it measures with, and what it found."""

    def __init__(self, options, lab, sampler, results):
        self.lab, self.sampler, self.results = lab, sampler, results
        self.options = options
        self.timer = GpuTimer() if lab.device == "cuda" else HostTimer()
        self.end = START + options.seconds - LAST_SECONDS
        self.seconds = collections.Counter()
        self.limit_bytes = options.memory_gb * 1e9

    def report(self, group, row):
        self.results.add(group, {"gpu": self.lab.gpu, **row})

    def all_groups(self):
        compiled = []
        for index, name in enumerate(self.options.groups):
            later = sum(GROUPS[each].share for each in self.options.groups[index:]) + COMPILED_SHARE
            left = self.end - time.monotonic()
            deadline = time.monotonic() + left * GROUPS[name].share / later
            start = time.monotonic()
            compiled += self._group(name, deadline)
            self._finish(name, start)
        self._cases("compiled", compiled, min(self.end, time.monotonic()
                                              + self.options.compile_seconds))

    def _group(self, name, deadline):
        """Measures a group; returns its compiled cases, which wait."""
        group = GROUPS[name]
        if group.cases:
            cases = [(name, case) for case in group.cases(self.lab)]
            self._cases(name, [each for each in cases if not each[1].compiled], deadline)
            return [each for each in cases if each[1].compiled]
        try:
            group.measure(self.lab, self.sampler, min(1, self.options.seconds / FULL_SECONDS),
                          lambda row: self.report(name, row))
        except Exception as error:  # a kernel that is not there must not end the run
            self.results.fail(name, {}, "failed", reason_of(error))
        return []

    def _cases(self, name, cases, deadline):
        start = time.monotonic()
        for group, case in cases:
            if time.monotonic() > deadline:
                self.results.fail(group, case.columns, "skipped", "no time left")
            elif case.peak_bytes() > self.limit_bytes:
                self.results.fail(group, case.columns, "skipped",
                                  f"needs {case.peak_bytes() / 1e9:.0f} GB")
            else:
                self._case(group, case)
        if name == "compiled":
            self._finish(name, start)

    def _case(self, group, case):
        """Failures are rows of their own; what they held is freed before the next case."""
        reason = self._measured(group, case)
        if reason:
            self.results.fail(group, case.columns, "failed", reason)
            self.timer.clear()

    def _measured(self, group, case):
        try:
            calls = [case.make() for _ in range(self.timer.sets(case.moved_bytes))]
            timing = self.timer.measure(calls, case.capture)
        except Exception as error:
            return reason_of(error)
        self.report(group, {**case.columns, **measured_columns(case, timing),
                            "clock_mhz": self.sampler.clock_mhz()})
        return ""

    def _finish(self, name, start):
        self.timer.clear()
        self.seconds[name] += time.monotonic() - start
        self.results.provenance["seconds_by_group"] = dict(self.seconds)
        self.results.write()
        print(f"{time.monotonic() - START:6.1f} s: {name} took {self.seconds[name]:.1f} s",
              flush=True)


def reason_of(error):
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0][:200] if lines else ''}"


def measured_columns(case, timing):
    found = {"us": round(timing.seconds * 1e6, 3), "us_min": round(timing.least * 1e6, 3),
             "us_max": round(timing.most * 1e6, 3),
             "gb_per_s": round(case.moved_bytes / timing.seconds * 1e-9, 1)}
    if case.flops:
        found["tflop_per_s"] = round(case.flops / timing.seconds * 1e-12, 2)
    return {**found, "timing": timing.how, "sets": timing.sets, "launches": timing.launches}


def spin_up(lab):
    """An idle GPU's clock is low; where `clocks` ran, it is not."""
    clocks.batches(lab, clocks.bf16_product(lab, 8192), SPIN_UP_SECONDS, 16)


def provenance(options, lab, sampler):
    try:
        import triton
        triton_version = triton.__version__
    except ImportError:
        triton_version = ""
    found = {"gpu": lab.gpu, "torch": torch.__version__, "triton": triton_version,
             "python": sys.version.split()[0], "command": sys.argv, "seconds": options.seconds,
             "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
             "l2": "cold: sets of inputs take turns"}
    if lab.device == "cuda":
        properties = torch.cuda.get_device_properties(0)
        found |= {"cuda": torch.version.cuda,
                  "cudnn": torch.backends.cudnn.version(), "sms": properties.multi_processor_count,
                  "memory_bytes": properties.total_memory, "l2_bytes": properties.L2_cache_size,
                  **sampler.limits, "nvml_problem": sampler.problem}
        found["readings_before"] = [dataclasses.asdict(each) for each in sampler.readings[-1:]]
    return found


def gpu_name(device):
    """As other tables of kernels have it: h100, h200."""
    if device == "cpu":
        return "cpu"
    name = torch.cuda.get_device_name(0)
    short = [word.lower() for word in name.split() if word[:1] in "AHBGL" and word[-2:].isdigit()]
    return short[0] if short else name


def parsed(arguments, text):
    parser = argparse.ArgumentParser(prog="scripts/measure-kernels", description=text,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, metavar="FOLDER")
    parser.add_argument("--seconds", type=float, default=FULL_SECONDS, metavar="N")
    parser.add_argument("--groups", default=",".join(GROUPS), metavar="NAME,...")
    parser.add_argument("--archive", action="store_true")
    parser.add_argument("--device", choices=["cuda", "cpu"], default="cuda")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--memory-gb", type=float, default=30, metavar="N")
    parser.add_argument("--compile-seconds", type=float, default=40, metavar="N")
    options = parser.parse_args(arguments)
    named = options.groups.split(",")
    unknown = [name for name in named if name not in GROUPS]
    if unknown:
        parser.error(f"unknown group '{unknown[0]}'; groups are {', '.join(GROUPS)}")
    options.groups = [name for name in GROUPS if name in named]
    return options


def main(arguments, text):
    options = parsed(arguments, text)
    if options.device == "cuda" and not torch.cuda.is_available():
        print("scripts/measure-kernels: error: PyTorch finds no GPU", file=sys.stderr)
        return 3
    torch.manual_seed(1)
    lab = Lab(options.device, gpu_name(options.device), options.quick)
    sampler = clocks.Sampler(options.device)
    sampler.start()
    results = Results(options.out, options.archive)
    time.sleep(2 * clocks.PERIOD_SECONDS if options.device == "cuda" else 0)
    results.provenance = provenance(options, lab, sampler)
    run = Run(options, lab, sampler, results)
    if options.device == "cuda" and "clocks" not in options.groups:
        spin_up(lab)
    run.all_groups()
    sampler.stop()
    if lab.device == "cuda":
        results.provenance["nvml_problem"] = sampler.problem
    results.provenance["total_seconds"] = round(time.monotonic() - START, 1)
    results.write()
    print("\n".join(summary(results, run.seconds)))
    return 0
