"""Clock, power and temperature while kernels run, and the rate of products over tens of seconds."""

import collections
import ctypes
import dataclasses
import threading
import time

import torch

from measure_kernels.cases import BF16, FP8

PERIOD_SECONDS = 0.2
SM_CLOCK, MEMORY_CLOCK, GPU_TEMPERATURE = 1, 2, 0  # NVML's numbers for these


@dataclasses.dataclass(frozen=True)
class Reading:
    at: float  # time.monotonic()
    clock_mhz: int
    power_w: float
    temperature_c: int
    reasons: int | None  # why the clock is not higher: NVML's bits


class Nvml:
    """What NVIDIA's driver says of one GPU, read only."""

    def __init__(self, uuid):
        self._library = ctypes.CDLL("libnvidia-ml.so.1")
        self._device = ctypes.c_void_p()
        self._check(self._library.nvmlInit_v2())
        name = f"GPU-{uuid}".encode()
        if self._library.nvmlDeviceGetHandleByUUID(name, ctypes.byref(self._device)) != 0:
            self._check(self._library.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(self._device)))

    def read(self):
        return Reading(time.monotonic(), self._number("nvmlDeviceGetClockInfo", SM_CLOCK),
                       self._number("nvmlDeviceGetPowerUsage") / 1000,
                       self._number("nvmlDeviceGetTemperature", GPU_TEMPERATURE), self._reasons())

    def limits(self):
        return {"power_limit_w": self._number("nvmlDeviceGetEnforcedPowerLimit") / 1000,
                "clock_max_mhz": self._number("nvmlDeviceGetMaxClockInfo", SM_CLOCK),
                "memory_clock_max_mhz": self._number("nvmlDeviceGetMaxClockInfo", MEMORY_CLOCK),
                "driver": self._driver()}

    def _reasons(self):
        """None where the driver does not say."""
        try:
            return self._number("nvmlDeviceGetCurrentClocksThrottleReasons", wide=True)
        except (OSError, AttributeError):
            return None

    def _driver(self):
        text = ctypes.create_string_buffer(80)
        self._check(self._library.nvmlSystemGetDriverVersion(text, len(text)))
        return text.value.decode()

    def _number(self, function, *arguments, wide=False):
        value = (ctypes.c_ulonglong if wide else ctypes.c_uint)()
        self._check(getattr(self._library, function)(self._device, *arguments,
                                                     ctypes.byref(value)))
        return value.value

    @staticmethod
    def _check(status):
        if status != 0:
            raise OSError(f"NVML answers {status}")


class Sampler(threading.Thread):
    """Readings in the background. Without NVML there are none, and `problem` says why."""

    def __init__(self, device):
        super().__init__(daemon=True)
        self.readings, self.limits, self.problem = [], {}, ""
        self._nvml, self._stopped = None, threading.Event()
        if device != "cuda":
            return
        try:
            self._nvml = Nvml(torch.cuda.get_device_properties(0).uuid)
            self.limits = self._nvml.limits()
        except (OSError, AttributeError) as error:
            self.problem = str(error)

    def run(self):
        try:
            while self._nvml and not self._stopped.wait(PERIOD_SECONDS):
                self.readings.append(self._nvml.read())
        except (OSError, AttributeError) as error:
            self.problem = str(error)

    def stop(self):
        self._stopped.set()

    def clock_mhz(self):
        return self.readings[-1].clock_mhz if self.readings else ""

    def between(self, start, end):
        return [reading for reading in self.readings if start <= reading.at < end]


def bf16_product(lab, size):
    a, b = lab.random(size, size), lab.random(size, size)
    out = torch.empty_like(a)
    return lambda: torch.mm(a, b.t(), out=out)


def fp8_product(lab, size):
    a, b = lab.random(size, size, dtype=FP8), lab.random(size, size, dtype=FP8)
    one = torch.ones((), device=lab.device)
    return lambda: torch._scaled_mm(a, b.t(), one, one, out_dtype=BF16, use_fast_accum=True)


class Stopwatch:
    """Marks on the stream, or the host's clock without one."""

    def __init__(self, lab):
        self._gpu = lab.device == "cuda"
        self._event = torch.cuda.Event(enable_timing=True) if self._gpu else time.monotonic()
        if self._gpu:
            self._event.record()

    def wait(self):
        if self._gpu:
            self._event.synchronize()

    def since(self, other):
        if self._gpu:
            return other._event.elapsed_time(self._event) * 1e-3
        return self._event - other._event


def batches(lab, call, seconds, launches):
    """(when it ended, how long it took) of batches of `launches` calls, with no gaps between."""
    start, done = time.monotonic(), []
    pending = collections.deque([Stopwatch(lab)])
    while time.monotonic() - start < seconds:
        for _ in range(launches):
            call()
        pending.append(Stopwatch(lab))
        if len(pending) > 3:
            done.append(finished(pending))
    while len(pending) > 1:
        done.append(finished(pending))
    return start, done


def finished(pending):
    """Waits for the oldest batch: it lies between the first two marks."""
    before = pending.popleft()
    pending[0].wait()
    return time.monotonic(), pending[0].since(before)


def row_of(columns, size, launches, spans, readings):
    """One row of all batches in `spans`, whose durations these are."""
    def mean(name):
        values = [getattr(reading, name) for reading in readings]
        return round(sum(values) / len(values), 1) if values else ""
    each = sum(spans) / len(spans) / launches
    reasons = 0
    for reading in readings:
        reasons |= reading.reasons or 0
    return {**columns, "m": size, "n": size, "k": size, "launches": launches * len(spans),
            "us": round(each * 1e6, 3), "tflop_per_s": round(2 * size**3 / each * 1e-12, 2),
            "clock_mhz": mean("clock_mhz"),
            "clock_min_mhz": min((each.clock_mhz for each in readings), default=""),
            "power_w": mean("power_w"), "temperature_c": mean("temperature_c"),
            "clock_reasons": f"0x{reasons:x}" if readings else ""}


def sustained_rows(lab, sampler, kernel, call, size, seconds):
    launches = lab.sizes(64, 4)
    start, done = batches(lab, call, seconds, launches)
    by_second = collections.defaultdict(list)
    for ended, span in done:
        by_second[int(ended - start)].append(span)
    return [row_of({"kernel": kernel, "phase": "sustained", "second": second}, size, launches,
                   spans, sampler.between(start + second, start + second + 1))
            for second, spans in sorted(by_second.items())]


def cold_rows(lab, sampler, call, size):
    """The first 0.2 s of an idle GPU, whose kernel is loaded: all of them, then by batches."""
    call()
    time.sleep(1.0 if lab.device == "cuda" else 0)  # the clock falls again
    launches = lab.sizes(10, 1)
    start, done = batches(lab, call, lab.sizes(0.2, 0.02), launches)
    end = time.monotonic()
    columns = {"kernel": "bf16_gemm", "phase": "cold"}
    whole = row_of({**columns, "second": 0}, size, launches, [span for _, span in done],
                   sampler.between(start, end))
    return [whole] + [row_of({**columns, "phase": "cold_batch", "second": round(ended - start, 4)},
                             size, launches, [span], []) for ended, span in done]


def measure(lab, sampler, scale, report):
    """`scale` shortens the 30 and 10 seconds where there is less time; `report` takes each row."""
    size = lab.sizes(8192, 128)
    seconds = lab.sizes(30, 0.3) * scale
    call = bf16_product(lab, size)
    for row in cold_rows(lab, sampler, call, size):
        report(row)
    for row in sustained_rows(lab, sampler, "bf16_gemm", call, size, seconds):
        report(row)
    for row in sustained_rows(lab, sampler, "fp8_gemm", fp8_product(lab, size), size, seconds / 3):
        report(row)
