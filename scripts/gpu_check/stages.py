"""Stages in their order, each with its time, whatever became of the ones before it."""

import dataclasses
import time
import traceback

from gpu_check.processes import Interrupted

# Partial: nothing failed, but the time did not hold all of it.
OK, PARTIAL, FAILED, SKIPPED = "ok", "partial", "FAILED", "skipped"


class Skip(Exception):
    """A stage that can't be: the reason."""


class NotAble(Exception):
    """No stage can be: the reason."""


@dataclasses.dataclass
class Stage:
    name: str
    what: str  # for people, a line
    work: object  # called with the seconds that it has; returns a Result
    limit: float  # seconds
    share: float = 1.0  # of the time that is left, at most
    least: float = 5.0  # seconds without which it is not begun
    commands: object = lambda programs: []  # what it runs, in words


@dataclasses.dataclass
class Result:
    status: str
    figure: str  # the one that says most
    data: dict = dataclasses.field(default_factory=dict)


@dataclasses.dataclass
class Outcome:
    name: str
    status: str
    figure: str
    seconds: float
    data: dict


def verdict(failed, done, left_out):
    """The status of a stage in which these failed, were done, and did not fit in the time."""
    if failed or not (done or left_out):
        return FAILED
    if left_out:
        return PARTIAL if done else SKIPPED
    return OK


class Budget:
    """Seconds until all must be over. `now` is a clock, for tests."""

    def __init__(self, seconds, now=time.monotonic):
        self.now = now
        self.end = now() + seconds

    def left(self):
        return self.end - self.now()

    def stop(self):
        """No stage begins any more."""
        self.end = self.now()

    def of(self, stage, later=()):
        """Its limit; more where the later ones' limits leave more."""
        spare = self.left() - sum(each.limit for each in later)
        return min(max(stage.limit, spare), stage.share * self.left())


def attempt(stage, seconds):
    try:
        result = stage.work(seconds)
        return result.status, result.figure, result.data
    except (Skip, Interrupted) as reason:
        return SKIPPED, str(reason), {}
    except NotAble:
        raise
    except Exception as error:  # a stage's own fault must not cost the others theirs
        return FAILED, f"{type(error).__name__}: {error}", {"traceback": traceback.format_exc()}


def run_stages(stages, budget, tell):
    """tell(outcomes) is called after each stage, so that what is there is never lost. Throws NotAble."""
    outcomes = []
    for number, stage in enumerate(stages):
        seconds, began = budget.of(stage, stages[number + 1:]), budget.now()
        if seconds < stage.least:
            outcome = (SKIPPED, f"{max(seconds, 0):.0f} s were left", {})
        else:
            outcome = attempt(stage, seconds)
        outcomes.append(Outcome(stage.name, *outcome[:2], budget.now() - began, outcome[2]))
        tell(outcomes)
    return outcomes


def table(outcomes):
    width = max(len(outcome.name) for outcome in outcomes)
    return "\n".join(f"{o.name:{width}}  {o.status:7}  {o.seconds:5.0f} s  "
                     f"{' '.join(o.figure.split())}" for o in outcomes)
