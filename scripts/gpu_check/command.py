"""The command line of scripts/gpu-check, and what it does in which order."""

import argparse
import contextlib
import pathlib
import platform
import shutil
import signal
import sys
import tarfile
import tempfile
import time

from gpu_check import (machine, numerics, prediction, processes, programs, pytorch,
                       pytorch_worker, report, sanitizer, stages)
from gpu_check.plan import plan_for
from gpu_check.stages import OK, Budget, Result, Stage

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
SECONDS = 525
DONE, FOUND, BAD_USAGE, NOT_ABLE = 0, 1, 2, 3
FILE_BYTES = 16 << 20  # what a file of the folder may have


class Check:
    """What all stages share."""

    def __init__(self, options):
        self.options, self.plan = options, plan_for(options.devices)
        self.work = pathlib.Path(tempfile.mkdtemp(prefix="strata-gpu-check-"))
        for folder in ("log", "profiles", "traces"):
            (self.work / folder).mkdir()
        self.programs = None
        self.warmer = None
        # Choices made while much else runs must not be those of the timed stages.
        self.untimed = machine.environment(self.work, "cache-untimed")
        self.timed = machine.environment(self.work, "cache-timed")
        self.bring(options.choices or options.folder)

    def choices(self):
        """The files of chosen engines, by their names in the folder."""
        return {f"choices-{kind}.tsv": machine.choices_file(environment)
                for kind, environment in (("timed", self.timed), ("untimed", self.untimed))}

    def bring(self, folder):
        """Choices that an earlier check left there. They name their GPU and cuDNN's version."""
        for name, file in self.choices().items():
            if (folder / name).exists():
                file.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(folder / name, file)

    def keep(self, folder):
        """What was made so far."""
        for name, file in self.choices().items():
            if file.exists():
                shutil.copy(file, folder / name)
        pack(self.work, folder)

    def environment(self, seconds):
        found, reason = machine.gpus()
        data = {"gpus": found, "cores": machine.cores(), "python": platform.python_version(),
                "kernel": platform.release(), "libraries": machine.wheel_folders("lib"),
                "date": time.strftime("%Y-%m-%d")}
        self.programs = programs.find(ROOT, self.options.bundle, self.work, seconds, self.untimed)
        version = processes.run([self.programs["strata"], "--version"], 60,
                                self.work / "log" / "version", self.untimed)
        missing = "" if self.plan.stand_in else machine.missing_gpu(version.output)
        if missing:
            raise stages.NotAble("; ".join(filter(None, [missing, reason])))
        data.update(programs=self.programs.origin, strata=" ".join(version.output.split()))
        if "pytorch" in self.options.stages:
            self.warmer = pytorch_worker.Warmer(self.plan, self.options.python, self.work)
        return Result(OK, f"{found[0]['name'] if found else reason}; programs: "
                          f"{self.programs.origin}", data)

    def need_programs(self):
        if self.programs is None:
            raise stages.Skip("there are no programs")
        return self.programs

    def kernels(self, seconds):
        return numerics.run_tests(self.need_programs()["exec_cuda_gpu_test"], self.work,
                                  self.untimed, seconds, silence=30)

    def networks(self, seconds):
        return numerics.run_tests(self.need_programs()["exec_cuda_gpu_networks_test"], self.work,
                                  self.untimed, seconds, silence=60)

    def sanitizer(self, seconds):
        return sanitizer.check(self.plan, self.need_programs(), self.work, self.untimed, seconds)

    def quiet(self):
        """From here on, things are timed."""
        if self.warmer is not None:
            self.warmer.close()
        return self.need_programs()

    def profile(self, seconds):
        return prediction.profile(self.plan, self.quiet(), self.work, self.timed, seconds)

    def validate(self, seconds):
        return prediction.validate(self.plan, self.quiet(), self.work, self.timed, seconds)

    def pytorch(self, seconds):
        return pytorch.compare(self.plan, self.quiet(), self.options.python, self.work, self.timed,
                               seconds)

    def close(self):
        if self.warmer is not None:
            self.warmer.close()
        shutil.rmtree(self.work, ignore_errors=True)

    def all_stages(self):
        return [
            Stage("environment", "what there is; programs that start, or are built", self.environment,
                  240),
            Stage("kernels", "every kernel against the referee in double precision", self.kernels, 90),
            Stage("networks", "the zoo under all strategies, as one CPU device trains it",
                  self.networks, 110),
            Stage("sanitizer", "memcheck and racecheck on lenet5", self.sanitizer, 80),
            Stage("profile", "shards measured: profiles to ship", self.profile, 60, 0.25),
            Stage("validate", "predicted against measured steps", self.validate, 300, 0.5),
            Stage("pytorch", "training steps beside PyTorch's", self.pytorch, 400, 0.97),
        ]


def pack(work, folder):
    """Profiles, traces and logs, an archive each; one too large is left out, and said to be."""
    for name in ("profiles", "traces", "log"):
        if not any((work / name).iterdir()):
            continue
        path = folder / f"{name}.tar.xz"
        with tarfile.open(path, "w:xz", preset=1) as archive:
            archive.add(work / name, name)
        if path.stat().st_size > FILE_BYTES:
            print(f"{path.name}: {path.stat().st_size} bytes are too many", file=sys.stderr)
            path.unlink()


def parse(arguments, usage):
    names = [stage.name for stage in Check.all_stages(Check.__new__(Check))]
    parser = argparse.ArgumentParser(prog="scripts/gpu-check", description=usage,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=pathlib.Path, metavar="FOLDER", nargs="?",
                        help="for the report, profiles and traces")
    parser.add_argument("--bundle", type=pathlib.Path, default=ROOT / programs.BUNDLE, metavar="FILE",
                        help=f"an archive of scripts/portable, or its folder ({programs.BUNDLE})")
    parser.add_argument("--choices", type=pathlib.Path, metavar="FOLDER",
                        help="of an earlier check, whose chosen engines are used (FOLDER)")
    parser.add_argument("--stages", default=",".join(names), metavar="A,B",
                        help=f"of {','.join(names)} (all)")
    parser.add_argument("--seconds", type=float, default=SECONDS, help=f"for all of it ({SECONDS})")
    parser.add_argument("--devices", default="cuda:0", help=argparse.SUPPRESS)  # cpu:2 stands in
    parser.add_argument("--python", default=sys.executable, metavar="FILE",
                        help="the Python that has PyTorch (this one)")
    parser.add_argument("--dry-run", action="store_true", help="say what would be run")
    options = parser.parse_args(arguments)
    options.stages = options.stages.split(",")
    if unknown := [name for name in options.stages if name not in names]:
        parser.error(f"no stage '{unknown[0]}'; allowed: {', '.join(names)}")
    if options.folder is None and not options.dry_run:
        parser.error("FOLDER is missing")
    try:
        plan_for(options.devices)
    except ValueError as error:
        parser.error(str(error))
    options.stages = ["environment", *(name for name in names[1:] if name in options.stages)]
    return options


def dry_run(options):
    plan = plan_for(options.devices)
    print(f"On {', '.join(plan.devices)}, in {options.seconds:.0f} s:")
    for stage in Check.all_stages(Check.__new__(Check)):
        if stage.name in options.stages:
            print(f"  {stage.name:12} up to {stage.limit:3.0f} s  {stage.what}")
    print("Networks, batches, types: " + ", ".join(
        f"{network} {batch} {dtype}" for network, batch, dtype in plan.cases()))


def check(options):
    budget, run = Budget(options.seconds), Check(options)
    options.folder.mkdir(parents=True, exist_ok=True)

    def stop(*_):
        if processes.RUNNING.stopped:
            raise KeyboardInterrupt
        budget.stop()
        processes.RUNNING.stop()

    def tell(outcomes):
        run.keep(options.folder)
        report.write(options.folder, outcomes, run.plan.stand_in)
        print(f"{outcomes[-1].name}: {outcomes[-1].status}, {outcomes[-1].seconds:.0f} s",
              file=sys.stderr, flush=True)

    chosen = [stage for stage in run.all_stages() if stage.name in options.stages]
    chosen[-1].share = 0.97  # nobody waits for what it leaves
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, stop)
    try:
        outcomes = stages.run_stages(chosen, budget, tell)
    except stages.NotAble as reason:
        with contextlib.suppress(OSError):  # it has something of an earlier check
            options.folder.rmdir()
        print(f"scripts/gpu-check: error: {reason}", file=sys.stderr)
        return NOT_ABLE
    finally:
        run.close()
    print(stages.table(outcomes))
    failed = any(outcome.status == stages.FAILED for outcome in outcomes)
    return FOUND if failed or processes.RUNNING.stopped else DONE


def main(arguments, usage):
    options = parse(arguments, usage)
    if options.dry_run:
        dry_run(options)
        return DONE
    return check(options)
