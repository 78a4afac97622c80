"""Training steps beside PyTorch's, on the same GPU, in turns; and beside what the GPU could do at
most."""

import json
import statistics
import time

from gpu_check import prediction, processes
from gpu_check.pytorch_worker import Worker
from gpu_check.stages import Result, Skip

WAYS = ("eager", "compile")
BLOCKS = 2  # turns of each, the first one in one block coming second in the next
TIMED_SECONDS, MOST_STEPS, LEAST_STEPS, WARMUP = 0.7, 100, 15, 10
SPIN_UP_SECONDS = 0.5  # a GPU that has done nothing runs at a fraction of its clock


class Ours:
    """A process a block; of the ways to run a step, the one that was faster at first."""

    WAYS = {"plain": [], "recorded": ["--graph"]}

    def __init__(self, plan, programs, work, environment, case):
        network, batch, dtype = case
        self.name = prediction.case_name(network, batch, dtype, plan.one)
        self.command = [programs["strata"], "run", network, "--devices", plan.one, "--strategy",
                        "data", "--batch", str(batch), *prediction.dtype_options(dtype), "--json"]
        self.work, self.environment = work, environment
        self.ways = {"plain": []} if plan.stand_in else self.WAYS
        self.first, self.way = {}, "plain"

    def choose(self, until):
        """What can't be run one way may be run another."""
        errors = []
        for self.way in self.ways if not self.first else ():
            try:
                self.first[self.way] = self.median(WARMUP, LEAST_STEPS, until - time.monotonic())
            except RuntimeError as error:
                errors.append(str(error))
        if not self.first:
            raise RuntimeError("; ".join(errors))
        self.way = min(self.first, key=self.first.get)

    def median(self, warmup, count, limit):
        command = [*self.command, *self.ways[self.way], "--warmup", str(warmup), "--steps",
                   str(warmup + count)]
        done = processes.run(command, limit, self.work / "log" / f"run-{self.name}-{self.way}",
                             self.environment)
        if not done.well:
            raise RuntimeError(f"strata, {self.way}: {done.complaint()}")
        return json.loads(done.output)["step_seconds"]["median"]


def steps_for(seconds):
    return max(LEAST_STEPS, min(MOST_STEPS, round(TIMED_SECONDS / max(seconds, 1e-6))))


def warmup_for(seconds):
    """Steps that take as long as an idle GPU needs to come to its clock, on either side."""
    return max(WARMUP, round(SPIN_UP_SECONDS / max(seconds, 1e-6)))


def compare_way(worker, ours, case, way, until, first):
    """Blocks of both in turns; `first` is who begins the first one."""
    network, batch, dtype = case
    ours.choose(until)
    worker.ask(until - time.monotonic(), do="load", network=network, batch=batch, dtype=dtype,
               compile=way == "compile")

    def theirs(warmup, count, limit):
        return statistics.median(
            worker.ask(limit, do="steps", warmup=warmup, count=count)["step_seconds"])

    step = theirs(WARMUP, 3, until - time.monotonic())
    count, warmup = steps_for(step), warmup_for(step)
    blocks = []
    for block in range(BLOCKS):
        sides = [("strata", ours.median), ("pytorch", theirs)]
        order = sides if block % 2 == first else sides[::-1]
        blocks.append({f"{name}_seconds": median(warmup, count, until - time.monotonic())
                       for name, median in order})
    return blocks


def summarise_way(blocks):
    def median(key):
        return statistics.median(block[key] for block in blocks)

    ratios = [block["strata_seconds"] / block["pytorch_seconds"] for block in blocks]
    return {"strata_seconds": median("strata_seconds"), "pytorch_seconds": median("pytorch_seconds"),
            "ratio": statistics.median(ratios), "ratio_min": min(ratios), "ratio_max": max(ratios),
            "blocks": blocks}


def macs_of_step(network):
    """Per sample, of `strata show --json`: each product forward, for the weights, and for the data
    but where that is the network's own."""
    data = {layer["name"] for layer in network["layers"] if not layer["inputs"]}
    return sum(layer["macs"] * (2 if data.intersection(layer["inputs"]) else 3)
               for layer in network["layers"])


def floors(programs, plan, work, environment, case, ceilings):
    """Seconds that no step can beat: its products at the rate that a large one reaches here; and the
    roofline of the shipped profile, which has efficiencies of its own."""
    network, batch, dtype = case
    found = {}
    shown = processes.run([programs["strata"], "show", network, "--json"], 30,
                          work / "log" / "show", environment)
    rate = ceilings.get(f"{dtype}_flops_per_second")
    if shown.well and rate:
        found["product_seconds"] = 2 * macs_of_step(json.loads(shown.output)) * batch / rate
    if plan.stand_in:
        return found
    predicted = processes.run(
        [programs["strata"], "predict", network, "--cluster", "h200-1x1", "--batch", str(batch),
         "--strategy", "data", "--dtype", dtype, "--json"], 30, work / "log" / "predict", environment)
    if predicted.well:
        found["roofline_seconds"] = json.loads(predicted.output)["step_seconds"]
    return found


def figure(rows, left_out):
    def count(way):
        ratios = [row[way]["ratio"] for row in rows if way in row]
        if not ratios:
            return f"{way}: none"
        return (f"{way}: faster in {sum(r <= 1 for r in ratios)} of {len(ratios)}, "
                f"ratio {min(ratios):.2f} to {max(ratios):.2f}")

    return "; ".join([count(way) for way in WAYS] + ([f"{len(left_out)} left out"] if left_out else []))


def compare(plan, programs, python, work, environment, limit):
    """All cases eagerly, then all compiled; what the time does not hold is told."""
    until = time.monotonic() + limit
    worker = Worker(python, plan.torch_device, work, "pytorch")
    rows, left_out, all_ours = {}, [], {}
    try:
        try:
            about = worker.read(limit)
        except RuntimeError as error:
            raise Skip(str(error)) from error
        ceilings = worker.ask(limit, do="ceilings")
        for number, (way, case) in enumerate((w, c) for w in WAYS for c in plan.cases()):
            name = prediction.case_name(*case, plan.one)
            if until - time.monotonic() < 8:
                left_out.append({"case": name, "way": way, "why": "no time was left"})
                continue
            ours = all_ours.setdefault(case, Ours(plan, programs, work, environment, case))
            try:
                blocks = compare_way(worker, ours, case, way, until, number % 2)
            except (RuntimeError, TimeoutError) as error:
                left_out.append({"case": name, "way": way, "why": str(error)})
                if isinstance(error, TimeoutError):
                    until = time.monotonic()
                continue
            row = rows.setdefault(case, dict(zip(("network", "batch", "dtype"), case)))
            row.update(strata_way=ours.way, strata_first_seconds=ours.first)
            row[way] = summarise_way(blocks)
    finally:
        worker.close()
    for case, row in rows.items():
        row.update(floors(programs, plan, work, environment, case, ceilings))
    found = list(rows.values())
    eager = [row["eager"]["ratio"] for row in found if "eager" in row]
    ok = bool(eager) and all(ratio <= 1 for ratio in eager)
    return Result(ok, figure(found, left_out),
                  {"about": about, "ceilings": ceilings, "rows": found, "left_out": left_out})
