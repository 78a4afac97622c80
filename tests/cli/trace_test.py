"""--trace: trace-event JSON that a viewer opens: named devices and links, slices that do not
overlap, arrows that follow time, memory and link rates as counters."""

import collections
import json
import pathlib
import tempfile
import unittest

import cases

# Times are microseconds with six decimals: picoseconds, the engine's clock.
TICK = 1e-6


def trace_of(options):
    """The events of a prediction's trace by phase, and the prediction."""
    with tempfile.TemporaryDirectory() as folder:
        outcome = cases.run(f"strata predict {options} --json --trace t.json", folder)
        if outcome.exit_code != 0:
            raise AssertionError(outcome.said())
        document = json.loads(pathlib.Path(folder, "t.json").read_text())
    events = collections.defaultdict(list)
    for event in document["traceEvents"]:
        events[event["ph"]].append(event)
    return events, json.loads(outcome.stdout)


def kineto(correlated, named=True):
    """A trace as PyTorch's profiler writes one: conv1's kernel of 100 us, and one of no layer; the
    step is named, or not."""
    def event(category, name, thread, begin, length, args):
        return {"ph": "X", "cat": category, "name": name, "pid": 1, "tid": thread, "ts": begin,
                "dur": length, "args": args}
    gpu = {"device": 0, "stream": 7}
    steps = [event("user_annotation", "ProfilerStep#3", 1, 0, 600, {})] if named else []
    return {"traceEvents": steps + [
        event("user_annotation", "conv1", 1, 10, 20, {}),
        event("cuda_runtime", "cudaLaunchKernel", 1, 12, 2, {"correlation": 1}),
        event("kernel", "implicit_gemm", 7, 100, 100, {**gpu, "correlation": correlated}),
        event("cuda_runtime", "cudaLaunchKernel", 1, 40, 2, {"correlation": 3}),
        event("kernel", "other", 7, 200, 300, {**gpu, "correlation": 3})]}


class Beside(unittest.TestCase):
    """--beside: a trace of PyTorch's profiler, layer by layer."""

    CASE = "lenet5 --cluster p100-1x2 --strategy data --beside t.json"

    def beside(self, trace, options=""):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "t.json").write_text(json.dumps(trace))
            return cases.run(f"strata predict {self.CASE} {options}", folder)

    def test_a_kernel_is_of_the_layer_that_launched_it(self):
        found = json.loads(self.beside(kineto(1), "--json").stdout)["beside"]
        self.assertAlmostEqual(found["known_share"], 0.25)
        self.assertAlmostEqual(found["measured_step_seconds"], 500e-6)
        self.assertAlmostEqual(found["busy_seconds"], 400e-6)
        (conv1,) = found["passes"]
        self.assertEqual((conv1["device"], conv1["layer"], conv1["pass"], conv1["kernels"]),
                         ("gpu0", "conv1", "forward", 1))
        self.assertAlmostEqual(conv1["measured_seconds"], 100e-6)
        self.assertGreater(conv1["predicted_seconds"], 0)
        self.assertIn("conv1  forward", self.beside(kineto(1)).stdout.decode())

    def test_a_trace_without_steps_is_beside_no_step(self):
        found = json.loads(self.beside(kineto(1, named=False), "--json").stdout)["beside"]
        self.assertEqual((found["measured_step_seconds"], found["steps"]), (None, 0))
        text = self.beside(kineto(1, named=False)).stdout.decode()
        self.assertIn("names no steps (ProfilerStep#N): its kernels are added up over all of it", text)
        (conv1,) = [line for line in text.splitlines() if " conv1  forward" in line]
        self.assertTrue(conv1.rstrip().endswith(" -"), conv1)

    def test_nothing_is_said_of_kernels_that_nothing_launched(self):
        found = json.loads(self.beside(kineto(9), "--json").stdout)["beside"]
        self.assertEqual((found["passes"], found["known_share"]), ([], 0))

    def test_another_trace_is_bad_input(self):
        self.assertEqual(self.beside([{"ph": "X", "name": "a", "pid": 1, "tid": 1, "ts": 1, "dur": 1}])
                         .said(), "exit 2\nstrata: error: t.json: no kernels; allowed: a trace of "
                         "PyTorch's profiler with GPU activities\n")


class Checks:
    """What holds for the trace of any prediction; `options` says of which."""

    @classmethod
    def setUpClass(cls):
        cls.events, cls.prediction = trace_of(cls.options)

    def test_every_event_is_of_a_known_phase(self):
        events = self.events
        self.assertEqual(set(events) - set("MXCsf"), set())
        self.assertTrue(events["X"])

    def test_processes_and_threads_are_named_once(self):
        events, prediction = self.events, self.prediction
        named = collections.Counter((e["pid"], e.get("tid"), e["name"]) for e in events["M"])
        self.assertEqual(set(named.values()), {1})
        devices = [e["args"]["name"] for e in events["M"] if e["name"] == "process_name"]
        for i in range(prediction["devices"]):
            self.assertTrue(any(d.endswith(f"gpu{i}") for d in devices), devices)
        for e in events["X"]:
            self.assertIn((e["pid"], None, "process_name"), named)
            self.assertIn((e["pid"], e["tid"], "thread_name"), named)

    def test_slices_of_a_thread_do_not_overlap(self):
        events = self.events
        threads = collections.defaultdict(list)
        for e in events["X"]:
            self.assertGreaterEqual(e["dur"], 0)
            threads[e["pid"], e["tid"]].append((e["ts"], e["ts"] + e["dur"], e["name"]))
        for slices in threads.values():
            slices.sort()
            for (_, end, a), (start, _, b) in zip(slices, slices[1:]):
                self.assertLessEqual(end, start + TICK, f"{a} runs into {b}")

    def test_arrows_lead_from_an_end_to_a_later_start(self):
        events, prediction = self.events, self.prediction
        starts = {e["id"]: e for e in events["s"]}
        ends = {e["id"]: e for e in events["f"]}
        self.assertEqual(set(starts), set(ends))
        self.assertEqual(len(starts), len(events["s"]), "ids are unique")
        self.assertTrue(starts or prediction["comm_bytes"] == 0)
        begin = {(e["pid"], e["tid"], round(e["ts"], 6)) for e in events["X"]}
        for number, s in starts.items():
            f = ends[number]
            self.assertLessEqual(s["ts"], f["ts"] + TICK)
            self.assertIn((f["pid"], f["tid"], round(f["ts"], 6)), begin)

    def test_memory_of_each_device_peaks_where_the_prediction_says(self):
        events, prediction = self.events, self.prediction
        peaks = collections.Counter()
        for e in events["C"]:
            if e["name"] == "memory":
                self.assertGreaterEqual(e["args"]["bytes"], 0)
                peaks[e["pid"]] = max(peaks[e["pid"]], e["args"]["bytes"])
        self.assertEqual(len(peaks), prediction["devices"])
        self.assertEqual(max(peaks.values()), prediction["peak_memory_bytes"])


class WeirdTrick(Checks, unittest.TestCase):
    options = "lenet5 --cluster p100-2x2 --strategy owt"


class ParameterServer(Checks, unittest.TestCase):
    options = "inception_v3 --cluster p100-1x4 --strategy data --sync ps --steps 2"


class ModelParallel(Checks, unittest.TestCase):
    options = "alexnet --cluster k80-1x2 --strategy model --steps 1 --set link.*.bandwidth=10GB/s"

    def test_links_carry_up_to_their_bandwidth(self):
        rates = [e["args"]["rate"] for e in self.events["C"] if e["name"] != "memory"]
        self.assertEqual(max(rates), 10e9)
        self.assertEqual(min(rates), 0)

    def test_compute_adds_up_to_the_layers(self):
        # One step, so that every layer computes once: with c = 2 all over, both devices compute
        # what Eq. 1 charges for the slowest shard, to the rounding of each task to picoseconds.
        busy = collections.Counter()
        for e in self.events["X"]:
            if e["cat"] == "compute":
                busy[e["pid"]] += e["dur"] * 1e-6
        charged = sum(layer["compute_seconds"] for layer in self.prediction["layers"])
        self.assertAlmostEqual(max(busy.values()) / charged, 1, delta=1e-6)


if __name__ == "__main__":
    unittest.main()
