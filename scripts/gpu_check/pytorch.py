"""Training steps beside PyTorch's, on the same GPU, in turns; and beside what the GPU could do at
most."""

import statistics

from gpu_check import prediction, processes
from gpu_check.pytorch_worker import STEP, Workers
from gpu_check.stages import Result, Skip, verdict
from gpu_check.turns import Turns, plain_loops_complaint

WAYS = ("eager", "compile")
BLOCKS = 2  # turns of each, the first one in one block coming second in the next
TIMED_SECONDS, MOST_STEPS, LEAST_STEPS, WARMUP = 0.7, 100, 15, 10
SPIN_UP_SECONDS = 0.5  # a GPU that has done nothing runs at a fraction of its clock


def run_command(plan, programs, case):
    network, batch, dtype = case
    return [programs["strata"], "run", network, "--devices", plan.one, "--strategy", "data", "--batch",
            str(batch), *prediction.dtype_options(dtype), "--json"]


def commands(plan, programs, python):
    """Each is run again for each block, with as many steps as fill its time."""
    return [[python, STEP, "--device", plan.torch_device]] + [
        [*run_command(plan, programs, case), *options] for case in plan.cases()
        for options in ways(plan).values()]


def ways(plan):
    return {"plain": []} if plan.stand_in else {"plain": [], "recorded": ["--graph"]}


class Ours:
    """A process a block; of the ways to run a step, the one that was faster at first."""

    def __init__(self, plan, programs, work, environment, case, turns):
        self.name = prediction.case_name(*case, plan.one)
        self.command = run_command(plan, programs, case)
        self.work, self.environment, self.turns = work, environment, turns
        self.ways = ways(plan)
        self.first, self.failed, self.way = {}, {}, "plain"

    def choose(self):
        """What can't be run one way may be run another; either failure is kept."""
        for self.way in [way for way in self.ways if way not in {**self.first, **self.failed}]:
            try:
                self.first[self.way] = self.median(WARMUP, LEAST_STEPS)
            except RuntimeError as error:
                self.failed[self.way] = str(error)
        if not self.first:
            raise RuntimeError("; ".join(self.failed.values()))
        self.way = min(self.first, key=self.first.get)

    def median(self, warmup, count):
        command = [*self.command, *self.ways[self.way], "--warmup", str(warmup), "--steps",
                   str(warmup + count)]
        done = self.turns.run(command, self.work / "log" / f"run-{self.name}-{self.way}",
                              self.environment)
        document = done.document()
        if not done.well or document is None:
            raise RuntimeError(f"strata, {self.way}: {done.complaint()}")
        if loops := plain_loops_complaint(document):  # no step to hold beside PyTorch's
            raise RuntimeError(f"strata, {self.way}: {loops}")
        return document["step_seconds"]["median"]


def steps_for(seconds):
    return max(LEAST_STEPS, min(MOST_STEPS, round(TIMED_SECONDS / max(seconds, 1e-6))))


def warmup_for(seconds):
    """Steps that take as long as an idle GPU needs to come to its clock, on either side."""
    return max(WARMUP, round(SPIN_UP_SECONDS / max(seconds, 1e-6)))


def compare_way(turns, theirs, ours, case, way, first):
    """Blocks of both in turns; `first` is who begins the first one."""
    network, batch, dtype = case
    theirs.ask(turns.left(), do="load", network=network, batch=batch, dtype=dtype,
               compile=way == "compile")

    def median(warmup, count):
        return statistics.median(
            theirs.ask(turns.left(), do="steps", warmup=warmup, count=count)["step_seconds"])

    step = median(WARMUP, 3)
    count, warmup = steps_for(step), warmup_for(step)
    blocks = []
    for block in range(BLOCKS):
        sides = [("strata", ours.median), ("pytorch", median)]
        order = sides if block % 2 == first else sides[::-1]
        blocks.append({f"{name}_seconds": side(warmup, count) for name, side in order})
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


def floors(turns, programs, plan, work, environment, case, ceilings):
    """Seconds that no step can beat: its products at the rate that a large one reaches here; and the
    roofline of the shipped profile, which has efficiencies of its own."""
    network, batch, dtype = case
    name, found = prediction.case_name(*case, plan.one), {}

    def ask(command, *options):
        done = processes.run([programs["strata"], command, network, *options, "--json"], 30,
                             work / "log" / command, environment)
        if not done.well:
            raise RuntimeError(done.complaint())
        return done.document()

    rate = ceilings.get(f"{dtype}_flops_per_second")
    with turns.case(name, "strata show"):
        macs = macs_of_step(ask("show"))
        found.update({"product_seconds": 2 * macs * batch / rate} if rate else {})
    with turns.case(name, "strata predict"):
        if not plan.stand_in:
            found["roofline_seconds"] = ask(
                "predict", "--cluster", "h200-1x1", "--batch", str(batch), "--strategy", "data",
                "--dtype", dtype)["step_seconds"]
    return found


def figure(rows, losses):
    def count(way):
        ratios = [row[way]["ratio"] for row in rows if way in row]
        if not ratios:
            return f"{way}: none"
        return (f"{way}: faster in {sum(r <= 1 for r in ratios)} of {len(ratios)}, "
                f"ratio {min(ratios):.2f} to {max(ratios):.2f}")

    return "; ".join([count(way) for way in WAYS] + losses)


def compare_all(turns, theirs, plan, ours_of):
    """Rows by case: all cases eagerly, then all compiled."""
    rows = {}
    for number, (way, case) in enumerate((w, c) for w in WAYS for c in plan.cases()):
        with turns.case(prediction.case_name(*case, plan.one), way):
            turns.need(8)
            ours = ours_of[case]
            ours.choose()
            blocks = compare_way(turns, theirs, ours, case, way, number % 2)
            row = rows.setdefault(case, dict(zip(("network", "batch", "dtype"), case)))
            row.update(strata_way=ours.way, strata_first_seconds=ours.first,
                       strata_failed=ours.failed)
            row[way] = summarise_way(blocks)
    return rows


def tell_ways(turns, ours_of):
    """A way that failed beside one that went well. Where none went well, its cases tell."""
    for ours in ours_of.values():
        for way, why in ours.failed.items() if ours.first else ():
            turns.failed.append({"case": ours.name, "way": f"strata, {way}", "why": why})


def compare(plan, programs, python, work, environment, limit):
    """What fails, on either side, and what the time does not hold is told beside the rows."""
    turns, ceilings = Turns(limit), {}
    ours_of = {case: Ours(plan, programs, work, environment, case, turns) for case in plan.cases()}
    theirs = Workers(python, plan.torch_device, work)
    try:
        try:
            about = theirs.begin(turns.left())
        except RuntimeError as error:
            raise Skip(str(error)) from error
        with turns.case("ceilings", "PyTorch"):
            ceilings = theirs.ask(turns.left(), do="ceilings")
        rows = compare_all(turns, theirs, plan, ours_of)
    finally:
        theirs.close()
    tell_ways(turns, ours_of)
    for case, row in rows.items():
        row.update(floors(turns, programs, plan, work, environment, case, ceilings))
    found = list(rows.values())
    eager = [row["eager"]["ratio"] for row in found if "eager" in row]
    status = verdict(turns.failed or any(not ratio <= 1 for ratio in eager), eager, turns.left_out)
    return Result(status, figure(found, turns.words()),
                  {"about": about, "ceilings": ceilings, "rows": found, **turns.losses()})
