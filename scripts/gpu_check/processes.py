"""Programs under a time limit. What is started here ends here: each has a process group of its own,
which is ended as a whole. A program is asked first, by SIGINT, so that it can say what it has."""

import contextlib
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import time

# How a program is asked to end, and the seconds that it then has.
ASKED = ((signal.SIGINT, 8.0), (signal.SIGTERM, 2.0))
LOOK_SECONDS = 0.05  # between looks at whether it still says something


class Interrupted(TimeoutError):
    """All was told to stop."""


class Stop:
    """Whether all is told to stop: what runs is asked to end, and nothing is started any more."""

    told = False


@dataclasses.dataclass
class Done:
    command: list
    code: int  # negative: the signal that ended it
    output: str
    errors: str
    seconds: float
    cut_short: bool = False  # by its limit
    hung: float = 0  # seconds without a word, for which it was ended

    @property
    def well(self):
        return self.code == 0 and not self.cut_short and not self.hung

    def complaint(self):
        """Why it did not end well, in a line."""
        if self.hung:
            return f"said nothing for {self.hung:.0f} s"
        if self.cut_short:
            return f"ran past its {self.seconds:.0f} s"
        lines = [line for line in self.errors.splitlines() if line.strip()]
        named = [line for line in lines if "error:" in line][:1] or lines[-1:]
        return f"exit code {self.code}: {named[0][:300] if named else 'said nothing'}"

    def document(self):
        """The JSON that it printed; None where that is none."""
        try:
            return json.loads(self.output)
        except ValueError:
            return None


def end(process):
    """Ends the group of a process that start() made."""
    for number, grace in ASKED if process.poll() is None else ():
        os.killpg(process.pid, number)
        try:
            process.wait(grace)
            break
        except subprocess.TimeoutExpired:
            continue
    with contextlib.suppress(ProcessLookupError):  # what it started itself
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def begin(command, **options):
    """A process with a group of its own. Throws Interrupted."""
    if Stop.told:
        raise Interrupted("interrupted")
    return subprocess.Popen([str(part) for part in command], start_new_session=True, **options)


def start(command, log, environment=None):
    """Both outputs go to files log.out and log.err, so that nothing is lost when it is ended."""
    log = pathlib.Path(log)
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{log}.out", "w") as out, open(f"{log}.err", "w") as err:
        return begin(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err, env=environment)


def written(log):
    """Bytes in both files of start()."""
    return sum(os.stat(f"{log}.{kind}").st_size for kind in ("out", "err"))


def wait(process, log, until, silence):
    """Until it ends: 0; or until it has written nothing for `silence` seconds: these.
    TimeoutExpired where it runs on at `until`, or all is told to stop."""
    size, spoke = -1, time.monotonic()
    while True:
        left = max(0.0, until - time.monotonic())
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(min(LOOK_SECONDS, left))
            return 0
        if left <= LOOK_SECONDS or Stop.told:
            raise subprocess.TimeoutExpired(process.args, left)
        if (now := written(log)) != size:
            size, spoke = now, time.monotonic()
        elif silence is not None and time.monotonic() - spoke > silence:
            return silence


def finish(process, command, log, began, limit, silence=None):
    """Waits for a process of start() until `limit` seconds after `began`, then ends it; before that
    where it writes nothing for `silence` seconds."""
    cut_short, hung = False, 0
    try:
        hung = wait(process, log, began + limit, silence)
    except subprocess.TimeoutExpired:
        cut_short = True
    finally:
        end(process)
    texts = [pathlib.Path(f"{log}.{kind}").read_text(errors="replace") for kind in ("out", "err")]
    return Done(list(map(str, command)), process.returncode, *texts, time.monotonic() - began,
                cut_short, hung)


def run(command, limit, log, environment=None, silence=None, core=None):
    """`core`: the number of the one that it has to itself, among those that this thread may use."""
    began = time.monotonic()
    with on_core(core) if core is not None else contextlib.nullcontext():
        process = start(command, log, environment)
    return finish(process, command, log, began, limit, silence)


@contextlib.contextmanager
def on_core(number):
    """What this thread starts meanwhile has one core: programs that pin a thread to the first that
    they may use would else all have the same."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {sorted(allowed)[number % len(allowed)]})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)
