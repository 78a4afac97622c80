"""Stages in their order, each with its time, whatever became of the ones before it."""

import dataclasses
import time
import traceback

OK, FAILED, SKIPPED = "ok", "FAILED", "skipped"


class Skip(Exception):
    """A stage that can't be: the reason."""


@dataclasses.dataclass
class Stage:
    name: str
    what: str  # for people, a line
    work: object  # called with the seconds that it has; returns a Result
    limit: float  # seconds
    share: float = 1.0  # of the time that is left, at most
    least: float = 5.0  # seconds without which it is not begun


@dataclasses.dataclass
class Result:
    ok: bool
    figure: str  # the one that says most
    data: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Outcome:
    name: str
    status: str
    figure: str
    seconds: float
    data: dict


class Budget:
    """Seconds until all must be over. `now` is a clock, for tests."""

    def __init__(self, seconds, now=time.monotonic):
        self.now = now
        self.end = now() + seconds

    def left(self):
        return self.end - self.now()

    def of(self, stage):
        return min(stage.limit, stage.share * self.left())


def attempt(stage, seconds):
    try:
        result = stage.work(seconds)
        return (OK if result.ok else FAILED), result.figure, result.data
    except Skip as reason:
        return SKIPPED, str(reason), {}
    except Exception as error:  # a stage's own fault must not cost the others theirs
        return FAILED, f"{type(error).__name__}: {error}", {"traceback": traceback.format_exc()}


def run_stages(stages, budget, tell):
    """tell(outcomes) is called after each stage, so that what is there is never lost."""
    outcomes = []
    for stage in stages:
        seconds, began = budget.of(stage), budget.now()
        if seconds < stage.least:
            outcome = (SKIPPED, f"{max(seconds, 0):.0f} s were left", {})
        else:
            outcome = attempt(stage, seconds)
        outcomes.append(Outcome(stage.name, *outcome[:2], budget.now() - began, outcome[2]))
        tell(outcomes)
    return outcomes


def table(outcomes):
    width = max(len(outcome.name) for outcome in outcomes)
    return "\n".join(f"{o.name:{width}}  {o.status:7}  {o.seconds:5.0f} s  {o.figure}"
                     for o in outcomes)
