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
