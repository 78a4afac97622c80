"""What the GPU takes for next to nothing, then short runs of each kind on it, one after another: within
a minute it is known what is broken, and whether devices that share the GPU can have multiprocessors of
their own."""

import dataclasses
import math

from gpu_check import machine, overheads, prediction, sanitizer
from gpu_check.stages import Result, verdict
from gpu_check.turns import Turns, plain_loops_complaint

RUN_SECONDS = 15  # a run that had them, and did not end, hangs
STEPS, WARMUP = 8, 3  # enough for a recording and its playing: the first two and the last are plain
APART = 0.05  # the last loss, beside that of the network's first run
GREEN_FAILURES = 2  # after so many runs that ended badly, green contexts are given up
WAYS = {"plain": [], "serial": ["--serial"], "graph": ["--graph"]}
GREEN, SHARED = "green", "shared"
NO_GREEN = "no green contexts"  # as the machine line of a run has it


@dataclasses.dataclass(frozen=True)
class Case:
    network: str
    dtype: str
    devices: str
    partitions: str  # STRATA_CUDA_PARTITIONS, of devices that share the GPU
    way: str

    @property
    def place(self):
        return " ".join(filter(None, [self.devices, self.partitions]))

    @property
    def name(self):
        return f"{self.network} {self.dtype} {self.place} {self.way}"


def cases(plan):
    """First each way in bf16 and each type plainly, all of one network before the next, and what runs
    everywhere first; then the other types in the other ways, which the time need not hold."""
    if plan.stand_in:
        places, networks, dtypes, ways = [(devices, "") for devices in plan.devices], plan.networks, \
            plan.dtypes, ["plain"]
    else:
        places = [(plan.one, ""), (plan.shared, SHARED), (plan.shared, GREEN)]
        networks, dtypes, ways = ["lenet5", "resnet18"], ["fp32", "tf32", "bf16"], list(WAYS)
    every = [Case(network, dtype, *place, way) for network in networks for way in ways
             for dtype in dtypes for place in places]
    return sorted(every, key=lambda case: case.way != "plain" and case.dtype != "bf16")


def command(programs, case):
    return [programs["strata"], "run", case.network, "--devices", case.devices, "--strategy", "data",
            "--batch", "8", "--steps", str(STEPS), "--warmup", str(WARMUP),
            *prediction.dtype_options(case.dtype), *WAYS[case.way], "--json"]


def variables(case):
    partitions = {"STRATA_CUDA_PARTITIONS": case.partitions} if case.partitions else {}
    return {**machine.UNTIMED, **partitions}


def commands(plan, programs):
    """With the variables of each."""
    first = [] if plan.stand_in else [(overheads.command(programs), {})]
    return first + [(command(programs, case), variables(case)) for case in cases(plan)]


def complaint(case, found, first_loss):
    """What is wrong with a run that ended well; None where nothing is."""
    if loops := plain_loops_complaint(found):
        return loops
    if case.partitions == GREEN and NO_GREEN in found["machine"]:
        return found["machine"]
    loss = found["losses"][-1]
    if loss is None or not math.isfinite(loss):
        return f"the last loss is {loss}"
    if first_loss is not None and abs(loss - first_loss) > APART * abs(first_loss):
        return f"the last loss is {loss:.4f}, the first run's was {first_loss:.4f}"
    return None


class Smoke:
    def __init__(self, plan, programs, work, environment, limit, tell):
        self.plan, self.programs, self.work = plan, programs, work
        self.environment, self.tell = environment, tell
        self.turns = Turns(limit, most=min(RUN_SECONDS, limit))
        self.rows, self.first_losses, self.overheads = [], {}, None

    def engines(self):
        """Chosen so far."""
        file = machine.choices_file(self.environment)
        return len(file.read_text().splitlines()) if file.exists() else 0

    def run(self, case):
        before = self.engines()
        done = self.turns.run(command(self.programs, case),
                              self.work / "log" / f"smoke-{case.name}".replace(" ", "-").replace(
                                  ":", "").replace("/", "x"),
                              {**self.environment, **variables(case)})
        if done.cut_short:
            raise RuntimeError(f"hangs: {done.complaint()}")
        found = done.document()
        if not done.well or found is None:
            raise RuntimeError(done.complaint())
        self.rows.append({**dataclasses.asdict(case), "case": case.name, "machine": found["machine"],
                          "engines": self.engines() - before,
                          "plain_loops": found.get("plain_loops"),
                          "issue_seconds": found.get("issue_seconds"),
                          "step_seconds": found["step_seconds"]["median"]})
        wrong = complaint(case, found, self.first_losses.get(case.network))
        if wrong:
            raise RuntimeError(wrong)
        self.first_losses.setdefault(case.network, found["losses"][-1])

    def failed_cases(self):
        return {loss["case"] for loss in self.turns.failed}

    def green_failures(self):
        """Runs that ended badly on green contexts alone: the same one did not on shared devices."""
        failed = self.failed_cases()
        return sum(case.name in failed and
                   dataclasses.replace(case, partitions=SHARED).name not in failed
                   for case in cases(self.plan) if case.partitions == GREEN)

    def gives_up_green(self):
        """At once where a run says that there are none."""
        none = any(row["partitions"] == GREEN and NO_GREEN in row["machine"] for row in self.rows)
        return none or self.green_failures() >= GREEN_FAILURES

    def partitions(self):
        """How devices that share the GPU are to run from here on; empty where that is unknown."""
        if self.gives_up_green():
            return SHARED
        failed = self.failed_cases()
        went_well = any(row["partitions"] == GREEN and row["case"] not in failed for row in self.rows)
        return GREEN if went_well else ""

    def measure(self):
        """Before all, while nobody else is on the GPU."""
        self.overheads, turns = overheads.measure(self.programs, self.work, self.environment,
                                                  self.turns.left() / 2)
        self.add(turns)
        lost = turns.failed + turns.left_out
        self.tell(f"{overheads.NAME}: {lost[0]['why'] if lost else overheads.words(self.overheads)}")

    def add(self, turns):
        self.turns.failed += turns.failed
        self.turns.left_out += turns.left_out

    def all(self):
        watched = self.plan.stand_in
        if not self.plan.stand_in:
            self.measure()
        for case in cases(self.plan):
            if not watched and case.network != "lenet5":
                self.watch()
                watched = True
            if case.partitions == GREEN and self.gives_up_green():
                self.turns.left_out.append({"case": case.name, "why": "green contexts fail"})
                continue
            with self.turns.case(case.name):
                self.turns.need(1)
                self.run(case)
            self.tell(self.line(case))

    def watch(self):
        """Two runs under memcheck, where there is one and the machine lets it."""
        program = machine.find_tool("compute-sanitizer")
        if program is None or sanitizer.refusal(program, "memcheck", self.programs, self.work,
                                                self.environment, self.turns.left() / 4):
            return self.tell("memcheck: it is not there, or refused")
        turns = Turns(self.turns.left() / 3)  # it must not cost the other network its runs
        watch = sanitizer.Watch(program, self.plan, self.programs, self.work,
                                {**self.environment, **machine.UNTIMED}, turns)
        for devices in (self.plan.one, self.plan.shared):
            before = len(turns.failed) + len(turns.left_out)
            watch.judged(("memcheck", devices))
            lost = (turns.failed + turns.left_out)[before:]
            self.tell(f"lenet5 {devices} memcheck: {lost[0]['why'] if lost else 'ok'}")
        self.add(turns)
        return None

    def line(self, case):
        for loss in self.turns.failed + self.turns.left_out:
            if loss["case"] == case.name:
                return f"{case.name}: {loss['why']}"
        row = self.rows[-1]
        loops, issue = row["plain_loops"], row["issue_seconds"]
        return (f"{case.name}: ok, {row['engines']} engines chosen, "
                + (f"{loops['products']} products on plain loops, " if loops else "")
                + f"step {1000 * row['step_seconds']:.3f} ms"
                + (f", host {1e6 * issue['per_task']:.1f} us a task" if issue else ""))


def check(plan, programs, work, environment, limit, tell):
    """`tell` takes a line for each run as it ends. `partitions` of the result's data is how devices
    that share the GPU are to run from then on; empty where nothing was learned of it."""
    smoke = Smoke(plan, programs, work, environment, limit, tell)
    smoke.all()
    partitions = smoke.partitions()
    words = [f"{len(smoke.rows)} runs", *smoke.turns.words()]
    if partitions == SHARED:
        words.append("green contexts fail: what follows runs without them")
    return Result(verdict(smoke.turns.failed, smoke.rows, smoke.turns.left_out), "; ".join(words),
                  {"runs": smoke.rows, "partitions": partitions, "overheads": smoke.overheads,
                   **smoke.turns.losses()})
