"""PyTorch's side of the comparison: processes of tests/bench/pytorch_gpu_step.py."""

import contextlib
import json
import pathlib
import queue
import subprocess
import threading
import time

from gpu_check import processes

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STEP = ROOT / "tests" / "bench" / "pytorch_gpu_step.py"


class Died(RuntimeError):
    """The process has ended: what it said last."""


class Worker:
    """A process of pytorch_gpu_step.py."""

    def __init__(self, python, device, work, name):
        log = work / "log" / name
        log.parent.mkdir(parents=True, exist_ok=True)
        with open(f"{log}.err", "w") as errors:
            self.process = processes.begin([python, STEP, "--device", device], text=True,
                                           stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                           stderr=errors)
        self.errors, self.lines = pathlib.Path(f"{log}.err"), queue.Queue()
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        with self.process.stdout as lines:
            for line in lines:
                self.lines.put(line)
        self.lines.put("")

    def next_line(self, limit):
        until = time.monotonic() + max(limit, 0.1)
        while (left := until - time.monotonic()) > 0:
            with contextlib.suppress(queue.Empty):
                return self.lines.get(timeout=min(left, 0.2))
            if processes.Stop.told:
                raise processes.Interrupted("interrupted")
        raise TimeoutError("PyTorch took too long")

    def read(self, limit):
        line = self.next_line(limit)
        if not line:
            raise self.died()
        reply = json.loads(line)
        if "error" in reply:
            raise RuntimeError(f"PyTorch: {reply['error']}")
        return reply

    def died(self):
        last = self.errors.read_text(errors="replace").strip().splitlines()
        return Died(f"PyTorch ended: {last[-1][:300] if last else 'said nothing'}")

    def ask(self, limit, **request):
        self.tell(**request)
        return self.read(limit)

    def tell(self, **request):
        try:
            self.process.stdin.write(json.dumps(request) + "\n")
            self.process.stdin.flush()
        except OSError as error:  # nobody reads any more
            raise self.died() from error

    def close(self):
        processes.end(self.process)
        with contextlib.suppress(OSError):  # of a request that nobody read
            self.process.stdin.close()


class Workers:
    """One worker after another: one that ended, or never answered, is followed by a new one."""

    def __init__(self, python, device, work):
        self.options, self.worker, self.begun = (python, device, work), None, 0

    def begin(self, limit):
        """What the new one says that it runs on."""
        self.begun += 1
        self.worker = Worker(*self.options, f"pytorch-{self.begun}")
        return self.heed(self.worker.read, limit)

    def ask(self, limit, **request):
        until = time.monotonic() + limit
        if self.worker is None:
            self.begin(limit)
        return self.heed(self.worker.ask, until - time.monotonic(), **request)

    def heed(self, answer, limit, **request):
        try:
            return answer(limit, **request)
        except (Died, TimeoutError, ValueError):  # what it says later answers nothing else
            self.close()
            raise

    def close(self):
        if self.worker is not None:
            self.worker.close()
        self.worker = None
