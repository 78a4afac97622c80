"""What is checked, in which order, and the time that each stage has."""

import pathlib
import platform
import shlex
import shutil
import sys
import time

from gpu_check import (again, machine, numerics, prediction, processes, programs, pytorch,
                       report, sanitizer, smoke, stages)
from gpu_check.plan import plan_for
from gpu_check.stages import OK, Result, Stage

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOLDERS = ("profiles", "traces", "log")  # of what comes of it
START_SECONDS, BUILD_SECONDS = 30, 240
# Nine minutes a visit, for that is how long such a machine is had at a time.
VISITS = {1: ("environment", "smoke", "kernels", "kernels-shared", "networks", "again", "sanitizer"),
          2: ("environment", "profile", "validate"), 3: ("environment", "pytorch")}
CLOCKS = ("nvidia-smi", "--query-gpu=timestamp,clocks.sm,clocks.mem,power.draw,temperature.gpu,"
          "utilization.gpu", "--format=csv", "--loop=1")
KERNELS, NETWORKS = "exec_cuda_gpu_test", "exec_cuda_gpu_networks_test"


def names():
    return list(dict.fromkeys(name for visit in VISITS.values() for name in visit))


def shown(command, variables=None):
    """As one would type it."""
    words = [*(f"{name}={value}" for name, value in (variables or {}).items()), *map(str, command)]
    return shlex.join(words)


class Check:
    """What all stages share. `work` is a folder that goes when all is done."""

    def __init__(self, options, work):
        self.options, self.plan, self.work = options, plan_for(options.devices), work
        self.programs = self.clocks = None
        self.broken = []
        # Choices made while much else runs must not be those of the timed stages.
        self.untimed = {**machine.environment(work, "cache-untimed"), **machine.UNTIMED}
        self.timed = machine.environment(work, "cache-timed")

    def prepare(self, earlier):
        """`earlier`: the folder of an earlier check, whose chosen engines are taken; they name their
        GPU and cuDNN's version. Where green contexts failed there, nothing is run on them here."""
        for folder in FOLDERS:
            (self.work / folder).mkdir()
        for name, file in self.choices().items():
            if (earlier / name).exists():
                file.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(earlier / name, file)
        for stage in report.stages_of(earlier):
            if stage["name"] in ("environment", "smoke"):
                self.share(stage["data"].get("partitions", ""))

    def keep(self, folder):
        """Choices made so far."""
        for name, file in self.choices().items():
            if file.exists():
                shutil.copy(file, folder / name)

    def choices(self):
        """The files of chosen engines, by their names in the folder."""
        return {f"choices-{kind}.tsv": machine.choices_file(environment)
                for kind, environment in (("timed", self.timed), ("untimed", self.untimed))}

    def share(self, partitions):
        """How devices share the GPU from here on; as before where that is empty."""
        for environment in (self.untimed, self.timed) if partitions else ():
            environment["STRATA_CUDA_PARTITIONS"] = partitions

    def shares(self):
        return self.untimed.get("STRATA_CUDA_PARTITIONS") == smoke.SHARED

    def environment(self, seconds):
        found, reason = machine.gpus(self.work / "log" / "nvidia-smi")
        data = {"gpus": found, "cores": machine.cores(), "python": platform.python_version(),
                "kernel": platform.release(), "libraries": machine.wheel_folders("lib"),
                "date": time.strftime("%Y-%m-%d"),
                "partitions": self.untimed.get("STRATA_CUDA_PARTITIONS", "")}
        self.programs = programs.find(ROOT, self.options.bundle, self.work, seconds, self.untimed)
        version = processes.run([self.programs["strata"], "--version"], 60,
                                self.work / "log" / "version", self.untimed)
        missing = "" if self.plan.stand_in else machine.missing_gpu(version.output)
        if missing:
            raise stages.NotAble("; ".join(filter(None, [missing, reason])))
        data.update(programs=self.programs.origin, strata=" ".join(version.output.split()))
        if found and not self.plan.stand_in:
            self.clocks = processes.start(CLOCKS, self.work / "log" / "clocks")
        return Result(OK, f"{found[0]['name'] if found else reason}; programs: "
                          f"{self.programs.origin}", data)

    def need_programs(self):
        if self.programs is None:
            raise stages.Skip("there are no programs")
        return self.programs

    def smoke(self, seconds):
        result = smoke.check(self.plan, self.need_programs(), self.work, self.timed, seconds,
                             lambda line: print(f"  {line}", file=sys.stderr, flush=True))
        self.share(result.data["partitions"])
        return result

    def tests(self, name, seconds, silence, variables=None, title=None):
        program = self.need_programs()[name]
        environment = {**self.untimed, **(variables or {})}
        result = numerics.run_tests(program, self.work, environment, seconds, silence, title or name)
        self.broken += [again.Broken(program, test, environment)
                        for test in result.data["failed"] + result.data["broken"]]
        return result

    def kernels(self, seconds):
        return self.tests(KERNELS, seconds, silence=30)

    def kernels_shared(self, seconds):
        if self.shares() or self.plan.stand_in:
            raise stages.Skip("all that was run before ran without green contexts")
        return self.tests(KERNELS, seconds, 30, {"STRATA_CUDA_PARTITIONS": smoke.SHARED}, "shared")

    def networks(self, seconds):
        return self.tests(NETWORKS, seconds, silence=60)

    def again(self, seconds):
        until = time.monotonic() + seconds
        return again.check(self.broken, self.work, lambda: until - time.monotonic())

    def sanitizer(self, seconds):
        return sanitizer.check(self.plan, self.need_programs(), self.work, self.untimed, seconds)

    def profile(self, seconds):
        return prediction.profile(self.plan, self.need_programs(), self.work, self.timed, seconds)

    def validate(self, seconds):
        return prediction.validate(self.plan, self.need_programs(), self.work, self.timed, seconds)

    def pytorch(self, seconds):
        return pytorch.compare(self.plan, self.need_programs(), self.options.python, self.work,
                               self.timed, seconds)

    def close(self):
        if self.clocks is not None:
            processes.end(self.clocks)

    def dry_programs(self):
        return programs.Programs("bin", "none")

    def test_commands(self, name, **more):
        variables = {**machine.UNTIMED, **more}
        cores = min(machine.cores(), numerics.MOST_SHARES)
        return lambda p: [
            shown([p[name], "--gtest_list_tests"]),
            f"{shown([p[name]], variables)} --gtest_filter=TESTS, in {cores} shares, a core each; "
            "again behind each test that breaks off"]

    def stages(self, wanted):
        """Those of these names, in their order."""
        plan, work = self.plan, self.work

        def several(commands, variables=None):
            return lambda p: [shown(command, variables) for command in commands(p)]

        all_stages = [
            Stage("environment", "what there is; programs that start, or are built",
                  self.environment, self.start_seconds(),
                  commands=several(lambda p: [[p["strata"], "--version"], CLOCKS])),
            Stage("smoke", "short runs of each kind, one after another", self.smoke, 85,
                  commands=lambda p: [shown(command, variables) for command, variables
                                      in smoke.commands(plan, p)]),
            Stage("kernels", "every kernel against the referee in double precision", self.kernels,
                  100, commands=self.test_commands(KERNELS)),
            Stage("kernels-shared", "the same without green contexts", self.kernels_shared, 70,
                  commands=self.test_commands(KERNELS, STRATA_CUDA_PARTITIONS=smoke.SHARED)),
            Stage("networks", "the zoo under all strategies, as one CPU device trains it",
                  self.networks, 120, commands=self.test_commands(NETWORKS)),
            Stage("again", f"the first {again.MOST} that failed, alone and watched", self.again,
                  50, commands=again.commands),
            Stage("sanitizer", "memcheck and racecheck on lenet5", self.sanitizer, 70,
                  commands=several(lambda p: sanitizer.commands(plan, p), machine.UNTIMED)),
            Stage("profile", "shards measured: profiles to ship", self.profile, 110, 0.3,
                  commands=several(lambda p: prediction.profile_commands(plan, p, work))),
            Stage("validate", "predicted against measured steps", self.validate, 370, 0.97,
                  commands=several(lambda p: prediction.validate_commands(plan, p, work))),
            Stage("pytorch", "training steps beside PyTorch's", self.pytorch, 480, 0.97,
                  commands=several(lambda p: pytorch.commands(plan, p, self.options.python))),
        ]
        return [stage for stage in all_stages if stage.name in wanted]

    def start_seconds(self):
        if self.options.dry_run or self.options.bundle.exists() or programs.built(ROOT):
            return START_SECONDS
        return START_SECONDS + BUILD_SECONDS
