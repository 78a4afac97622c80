"""Programs under a time limit. What is started here ends here: each has a process group of its own,
which is ended as a whole."""

import contextlib
import dataclasses
import json
import os
import pathlib
import signal
import subprocess
import time

KILL_GRACE = 2.0  # seconds to end in, after being asked to


@dataclasses.dataclass
class Done:
    command: list
    code: int  # negative: the signal that ended it
    output: str
    errors: str
    seconds: float
    cut_short: bool = False  # by its limit

    @property
    def well(self):
        return self.code == 0 and not self.cut_short

    def complaint(self):
        """Why it did not end well, in a line."""
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
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
        except ProcessLookupError:
            break
        try:
            process.wait(KILL_GRACE)
            break
        except subprocess.TimeoutExpired:
            continue
    process.wait()


def start(command, log, environment=None):
    """Both outputs go to files log.out and log.err, so that nothing is lost when it is ended."""
    log = pathlib.Path(log)
    log.parent.mkdir(parents=True, exist_ok=True)
    with open(f"{log}.out", "w") as out, open(f"{log}.err", "w") as err:
        return subprocess.Popen([str(part) for part in command], stdin=subprocess.DEVNULL,
                                stdout=out, stderr=err, env=environment, start_new_session=True)


def finish(process, command, log, began, limit):
    """Waits for a process of start() until `limit` seconds after `began`, then ends it."""
    cut_short = False
    try:
        process.wait(max(0.0, began + limit - time.monotonic()))
    except subprocess.TimeoutExpired:
        cut_short = True
    finally:
        end(process)
    texts = [pathlib.Path(f"{log}.{kind}").read_text(errors="replace") for kind in ("out", "err")]
    return Done(list(map(str, command)), process.returncode, *texts, time.monotonic() - began,
                cut_short)


def run(command, limit, log, environment=None):
    began = time.monotonic()
    return finish(start(command, log, environment), command, log, began, limit)


@contextlib.contextmanager
def on_core(number):
    """What is started meanwhile has one core: programs that pin a thread to the first that they may
    use would else all have the same."""
    allowed = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {sorted(allowed)[number % len(allowed)]})
    try:
        yield
    finally:
        os.sched_setaffinity(0, allowed)


def run_together(commands, limit, log, environments, core_each=False):
    """All at once; a Done for each, in their order."""
    began = time.monotonic()
    logs = [f"{log}-{i}" for i in range(len(commands))]
    processes = []
    for number, each in enumerate(zip(commands, logs, environments)):
        with on_core(number) if core_each else contextlib.nullcontext():
            processes.append(start(*each))
    return [finish(*each, began, limit) for each in zip(processes, commands, logs)]
