"""PyTorch's side of the comparison: processes of tests/bench/pytorch_gpu_step.py."""

import json
import pathlib
import queue
import subprocess
import threading

from gpu_check import processes

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
STEP = ROOT / "tests" / "bench" / "pytorch_gpu_step.py"


class Worker:
    """A process of pytorch_gpu_step.py."""

    def __init__(self, python, device, work, name):
        log = work / "log" / name
        log.parent.mkdir(parents=True, exist_ok=True)
        with open(f"{log}.err", "w") as errors:
            self.process = subprocess.Popen([python, STEP, "--device", device], text=True,
                                            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=errors, start_new_session=True)
        self.errors, self.lines = pathlib.Path(f"{log}.err"), queue.Queue()
        threading.Thread(target=self.listen, daemon=True).start()

    def listen(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put("")

    def read(self, limit):
        try:
            line = self.lines.get(timeout=max(limit, 0.1))
        except queue.Empty:
            raise TimeoutError("PyTorch took too long") from None
        if not line:
            last = self.errors.read_text().strip().splitlines()
            raise RuntimeError(f"PyTorch ended: {last[-1][:300] if last else 'said nothing'}")
        reply = json.loads(line)
        if "error" in reply:
            raise RuntimeError(reply["error"])
        return reply

    def ask(self, limit, **request):
        self.tell(**request)
        return self.read(limit)

    def tell(self, **request):
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()

    def close(self):
        processes.end(self.process)


def requests(cases, compiled):
    return [{"network": network, "batch": batch, "dtype": dtype, "compile": compiled}
            for network, batch, dtype in cases]


class Warmer:
    """Compiles in the background, while nothing is timed, a process for each type: later the caches
    have it."""

    def __init__(self, plan, python, work):
        self.workers = []
        for dtype in () if plan.stand_in else plan.dtypes:
            worker = Worker(python, plan.torch_device, work, f"pytorch-warm-{dtype}")
            worker.tell(do="warm", cases=requests(
                [case for case in plan.cases() if case[2] == dtype], True))
            self.workers.append(worker)

    def close(self):
        while self.workers:
            self.workers.pop().close()
