"""What launches, graph nodes and events cost."""

import time

import torch

LAUNCHES = 1000
LEAD_CYCLES = 2_000_000  # about a millisecond
REPEATS = 5


def median(values):
    return sorted(values)[len(values) // 2]


def host_seconds(work, wait):
    """Host time of `work` alone, and until the device has done it."""
    wait()
    start = time.perf_counter()
    work()
    queued = time.perf_counter()
    wait()
    return queued - start, time.perf_counter() - start


def launch_rows(lab, wait):
    """Each op on next to no data, LAUNCHES times from the host."""
    one, small = torch.zeros(1, device=lab.device), lab.random(16, 16)
    ops = {"add one element": lambda: one.add_(1), "16x16 product": lambda: torch.mm(small, small)}
    if lab.device == "cuda":
        ops["empty kernel"] = lambda: torch.cuda._sleep(0)
    for name, op in ops.items():
        def work(op=op):
            for _ in range(LAUNCHES):
                op()
        work()
        times = [host_seconds(work, wait) for _ in range(REPEATS)]
        for what, index in (("host time of a launch", 0), ("time of a launch, stream", 1)):
            yield {"what": what, "op": name, "launches": LAUNCHES,
                   "us": median([each[index] for each in times]) / LAUNCHES * 1e6}


def captured(op, count):
    graph = torch.cuda.CUDAGraph()
    op()
    torch.cuda.synchronize()
    graph.capture_begin()
    for _ in range(count):
        op()
    graph.capture_end()
    graph.replay()
    return graph


def event_seconds(work):
    """Seconds between events around `work`; the host runs ahead while the GPU spins."""
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    torch.cuda._sleep(LEAD_CYCLES)
    start.record()
    work()
    end.record()
    end.synchronize()
    return start.elapsed_time(end) * 1e-3


def graph_rows(lab):
    one = torch.zeros(1, device=lab.device)
    for name, op in {"empty kernel": lambda: torch.cuda._sleep(0),
                     "add one element": lambda: one.add_(1)}.items():
        seconds = {count: median([event_seconds(graph.replay) for _ in range(REPEATS)])
                   for count in (1, LAUNCHES) for graph in [captured(op, count)]}
        yield {"what": "graph of one node", "op": name, "launches": 1, "us": seconds[1] * 1e6}
        yield {"what": "time of a graph's node", "op": name, "launches": LAUNCHES,
               "us": (seconds[LAUNCHES] - seconds[1]) / (LAUNCHES - 1) * 1e6}
        graph = captured(op, 1)
        times = [host_seconds(graph.replay, torch.cuda.synchronize) for _ in range(20)]
        yield {"what": "host time of a graph's launch", "op": name, "launches": 1,
               "us": median([each[0] for each in times]) * 1e6}
        yield {"what": "graph launch until the host knows", "op": name, "launches": 1,
               "us": median([each[1] for each in times]) * 1e6}


def event_rows():
    def record():
        for _ in range(LAUNCHES):
            torch.cuda.Event(enable_timing=True).record()
    for name, work in {"nothing": lambda: None,
                       "empty kernel": lambda: torch.cuda._sleep(0)}.items():
        yield {"what": "between two events", "op": name, "launches": 1,
               "us": median([event_seconds(work) for _ in range(21)]) * 1e6}
    yield {"what": "host time of recording an event", "op": "event", "launches": LAUNCHES,
           "us": median([host_seconds(record, torch.cuda.synchronize)[0]
                         for _ in range(REPEATS)]) / LAUNCHES * 1e6}
    yield {"what": "time of recording an event, stream", "op": "event", "launches": LAUNCHES,
           "us": median([event_seconds(record) for _ in range(REPEATS)]) / LAUNCHES * 1e6}


def measure(lab, _sampler, _scale, report):
    gpu = lab.device == "cuda"
    parts = [launch_rows(lab, torch.cuda.synchronize if gpu else lambda: None)]
    if gpu:
        parts += [graph_rows(lab), event_rows()]
    for part in parts:
        for row in part:
            report({**row, "us": round(row["us"], 4)})
