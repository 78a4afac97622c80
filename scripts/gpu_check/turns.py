"""Runs in turn within the time of a stage. Those that failed and those that the time did not hold are
told apart, and neither costs the others their results."""

import contextlib
import time

from gpu_check import processes

RUN_SECONDS = 60  # or a quarter of all: one that hangs must not cost the others their time


def first_line(text):
    return next(iter(text.strip().splitlines()), "")


def title(loss):
    return " ".join(filter(None, [loss["case"], loss.get("way")]))


def words_of(failed, left_out):
    """For a stage's figure: how many, and what was wrong first."""
    words = []
    if failed:
        words.append(f"{len(failed)} failed, first {title(failed[0])}: {first_line(failed[0]['why'])}")
    if left_out:
        words.append(f"{len(left_out)} not in the time")
    return words


def plain_loops_complaint(found):
    """Of the JSON of a run, or of a case of validate's: None where no product fell to plain loops."""
    loops = found.get("plain_loops") or {"products": 0}
    if loops["products"] > 0:
        return f"{loops['products']} products on plain loops: {loops['first_status']}"
    return None


def cut(done):
    """To raise of a run that time ended."""
    return TimeoutError(f"cut off after {done.seconds:.0f} s")


class Turns:
    """`most` is what one run gets: a run that had it, and did not end, hangs."""

    def __init__(self, limit, most=None):
        self.until = time.monotonic() + limit
        self.most = max(RUN_SECONDS, limit / 4) if most is None else most
        self.failed, self.left_out = [], []

    def left(self):
        return self.until - time.monotonic()

    def need(self, seconds):
        if self.left() < seconds:
            raise TimeoutError("no time was left")

    def attempt(self, command, log, environment, share=float("inf")):
        """How it ended, and whether the stage's time, or its `share`, ended before the run did."""
        had = max(0.0, min(self.left(), share, self.most))
        done = processes.run(command, had, log, environment)
        return done, done.cut_short and (had < self.most or processes.Stop.told)

    def run(self, command, log, environment, share=float("inf")):
        """TimeoutError where time ended it."""
        done, cut_off = self.attempt(command, log, environment, share)
        if cut_off:
            raise cut(done)
        return done

    @contextlib.contextmanager
    def case(self, name, way=""):
        """What is raised within is told of this case and way, and goes no further."""
        loss = {"case": name, **({"way": way} if way else {})}
        try:
            yield
        except TimeoutError as error:
            self.left_out.append({**loss, "why": str(error)})
        except RuntimeError as error:
            self.failed.append({**loss, "why": str(error)})
        except Exception as error:  # a fault of these scripts must not cost what was measured
            self.failed.append({**loss, "why": f"{type(error).__name__}: {error}"})

    def words(self):
        return words_of(self.failed, self.left_out)

    def losses(self):
        return {"failed": self.failed, "left_out": self.left_out}
