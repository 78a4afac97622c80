"""Times calls: many between two events, captured in a CUDA graph where they are short."""

import dataclasses
import math
import statistics
import time

import torch

REPEATS = 5
REPEAT_SECONDS = 1.5e-3  # a repeat of short calls lasts at least so long
CAPTURED_SECONDS = 0.4e-3  # longer calls hide what their launches cost
MOST_SETS, MOST_LAUNCHES = 64, 400
LEAD_CYCLES = 2_000_000  # about a millisecond, in which the host queues the first launches
CACHES = 5  # how often the sets of inputs fill the L2


@dataclasses.dataclass(frozen=True)
class Timing:
    seconds: float
    least: float
    most: float
    sets: int
    launches: int
    how: str  # graph, stream or host


def timing_of(repeats, sets, launches, how):
    each = [seconds / launches for seconds in repeats]
    return Timing(statistics.median(each), min(each), max(each), sets, launches, how)


def run_calls(calls, outputs, count):
    """`count` calls in turns. Each set keeps its last output, so outputs lie apart, too."""
    for index in range(count):
        slot = index % len(calls)
        outputs[slot] = None
        outputs[slot] = calls[slot]()


class HostTimer:
    """For the CPU: only to try things out."""

    def sets(self, moved_bytes):
        return 2 if moved_bytes < 1e6 else 1

    def measure(self, calls, _capture=True):
        outputs = [None] * len(calls)
        run_calls(calls, outputs, len(calls))
        repeats = []
        for _ in range(2):
            start = time.perf_counter()
            run_calls(calls, outputs, len(calls))
            repeats.append(time.perf_counter() - start)
        return timing_of(repeats, len(calls), len(calls), "host")

    def clear(self):
        pass


class GpuTimer:
    """Everything runs on one stream that is not the default one, so that graphs can capture it."""

    def __init__(self):
        self._l2_bytes = torch.cuda.get_device_properties(0).L2_cache_size
        torch.cuda.set_stream(torch.cuda.Stream())
        self._pool = torch.cuda.graph_pool_handle()
        # A pool is given up with its last graph, so one graph stays.
        self._anchor = self._captured(lambda: torch.zeros(1, device="cuda"))

    def sets(self, moved_bytes):
        wanted = math.ceil(CACHES * self._l2_bytes / max(moved_bytes, 1))
        return max(1, min(wanted, MOST_SETS))

    def measure(self, calls, capture=True):
        outputs = [None] * len(calls)
        run_calls(calls, outputs, len(calls))  # loads modules, picks kernels
        estimate = self._batch(lambda: run_calls(calls, outputs, max(2, len(calls))))
        estimate /= max(2, len(calls))
        if capture and estimate < CAPTURED_SECONDS:
            try:
                return self._graph(calls, outputs, estimate)
            except RuntimeError:
                torch.cuda.synchronize()  # what cannot be captured is timed on the stream
        return self._stream(calls, outputs, estimate)

    def clear(self):
        torch.cuda.empty_cache()

    def _stream(self, calls, outputs, estimate):
        count = self._launches(estimate, len(calls) if len(calls) < 8 else 1)
        repeats = [self._batch(lambda: run_calls(calls, outputs, count)) for _ in range(REPEATS)]
        return timing_of(repeats, len(calls), count, "stream")

    def _graph(self, calls, outputs, estimate):
        count = self._launches(estimate, len(calls))
        while True:
            graph = self._captured(lambda: run_calls(calls, outputs, count))
            graph.replay()
            found = self._batch(graph.replay)
            # An estimate is too high where the host was slower than the kernel.
            if found > REPEAT_SECONDS / 2 or count >= MOST_LAUNCHES:
                break
            count = self._launches(found / count, len(calls))
            graph.reset()
        repeats = [self._batch(graph.replay) for _ in range(REPEATS)]
        outputs.clear()
        graph.reset()
        return timing_of(repeats, len(calls), count, "graph")

    def _captured(self, work):
        graph = torch.cuda.CUDAGraph()
        torch.cuda.synchronize()
        graph.capture_begin(pool=self._pool)
        try:
            work()
        finally:
            graph.capture_end()
        return graph

    @staticmethod
    def _launches(estimate, step):
        """How many calls last long enough: a multiple of `step`, so that all sets weigh alike."""
        wanted = min(MOST_LAUNCHES, REPEAT_SECONDS / max(estimate, 1e-7))
        return step * max(1, math.ceil(wanted / step))

    @staticmethod
    def _batch(work):
        """Seconds between events around `work`. Spinning first lets the host run ahead."""
        torch.cuda._sleep(LEAD_CYCLES)
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        work()
        end.record()
        end.synchronize()
        return start.elapsed_time(end) * 1e-3
