"""The contract of --json: one document on standard output, its keys, their types, and figures that
agree with one another and with what is known."""

import json
import math
import pathlib
import tempfile
import unittest

import cases

DIMS = ["n", "c", "d", "h", "w"]
NUMBER = (int, float)

PARTS = {
    "compute_seconds": NUMBER, "recompute_seconds": NUMBER, "bubble_seconds": NUMBER,
    "exposed_communication_seconds": {
        "transfer": NUMBER, "reduce": NUMBER, "gather": NUMBER, "statistics": NUMBER},
    "optimizer_seconds": NUMBER,
}
PREDICTION = {
    "devices": int, "batch": int, "step_seconds": NUMBER, "eq1_seconds": NUMBER,
    "throughput": NUMBER, "comm_bytes": int, "transfer_bytes": int, "sync_bytes": int,
    "bucket_bytes": int, "fits": str, "interval_seconds": {"low": NUMBER, "high": NUMBER},
    "interval_from": {"basis": str, "figures": [str], "rows": int},
    "memory": {"reserve_bytes": int, "needed_bytes": int},
    "peak_memory_bytes": int, "makespan_seconds": NUMBER,
    "cost_sources": {"measured": NUMBER, "interpolated": NUMBER, "related": NUMBER, "analytic": NUMBER},
    "layers": [{"name": str, "config": {dim: int for dim in DIMS}, "compute_seconds": NUMBER,
                "transfer_seconds": NUMBER, "sync_seconds": NUMBER}],
}
PREDICTION["breakdown"] = dict(PARTS, devices=[{"name": str, **PARTS}])
NETWORK = {
    "layers": [{"name": str, "op": str, "inputs": [str], "output": {dim: int for dim in DIMS},
                "parameters": int, "macs": int}],
    "parameters": int, "macs": int,
}
REPLAY = {
    "makespan_seconds": NUMBER, "engine_seconds": NUMBER,
    "activities": [{"id": str, "ready": NUMBER, "start": NUMBER, "end": NUMBER}],
}


def misfits(value, shape, where=""):
    """Where a value lacks the shape: a type, {key: shape}, or [shape of each item]."""
    if isinstance(shape, dict):
        if not isinstance(value, dict):
            return [f"{where} is no object"]
        return [m for key, inner in shape.items()
                for m in (misfits(value[key], inner, f"{where}.{key}") if key in value
                          else [f"{where} lacks {key}"])]
    if isinstance(shape, list):
        if not isinstance(value, list):
            return [f"{where} is no list"]
        return [m for i, item in enumerate(value) for m in misfits(item, shape[0], f"{where}[{i}]")]
    good = isinstance(value, shape) and not isinstance(value, bool)
    return [] if good and value not in (math.inf, -math.inf) else [f"{where} is {value!r}"]


def refuse_constant(name):
    raise ValueError(f"{name} is no JSON")


def said(command, folder=".", environment=None):
    """The one document that a command prints."""
    outcome = cases.run(command, folder, environment)
    if outcome.exit_code != 0:
        raise AssertionError(f"{command}: {outcome.said()}")
    return json.loads(outcome.stdout, parse_constant=refuse_constant)


def predict(model, cluster, options="--strategy data", folder="."):
    """What is predicted, without what was asked."""
    document = said(f"strata predict {model} --cluster {cluster} {options} --json", folder)
    for each in document if isinstance(document, list) else [document]:
        for key in ("settings", "what_ifs", "warnings"):
            del each[key]
    return document


class Contract(unittest.TestCase):
    def assert_shape(self, document, shape):
        self.assertEqual(misfits(document, shape), [])

    def test_the_shapes_can_fail(self):
        shape = {"a": int, "b": [{"c": NUMBER}]}
        self.assertEqual(misfits({"a": 1, "b": [{"c": 0.5}], "more": 1}, shape), [])
        self.assertEqual(misfits({"a": True, "b": [{"c": None}, {}]}, shape),
                         [".a is True", ".b[0].c is None", ".b[1] lacks c"])

    def test_lists(self):
        models = said("strata models --json")
        self.assert_shape(models, {"models": [{"name": str, "parameters": int, "macs": int}]})
        names = {model["name"]: model for model in models["models"]}
        self.assertLessEqual({"lenet5", "alexnet", "vgg16", "inception_v3", "resnet18", "resnet50",
                              "resnet101", "resnet152", "googlenet", "densenet121", "mobilenet_v2",
                              "r3d_18", "textcnn"}, set(names))
        self.assertEqual(names["inception_v3"]["parameters"], 23834568)
        self.assertEqual(names["r3d_18"]["parameters"], 33371472)
        clusters = said("strata clusters --json")
        self.assert_shape(clusters, {"clusters": [{"name": str, "description": str}]})
        frameworks = said("strata frameworks --json")
        self.assert_shape(frameworks, {"frameworks": [{"name": str, "description": str,
                                                       "settings": dict, "set": dict}]})

    def test_show(self):
        known = {"lenet5": 61706, "alexnet": 61100840, "vgg16": 138357544,
                 "inception_v3": 23834568}
        for model, parameters in known.items():
            with self.subTest(model):
                network = said(f"strata show {model} --json")
                self.assert_shape(network, NETWORK)
                self.assertEqual(network["parameters"], parameters)
                for key in ("parameters", "macs"):
                    self.assertEqual(network[key], sum(layer[key] for layer in network["layers"]))
                seen = set()
                for layer in network["layers"]:
                    self.assertEqual(layer["output"]["n"], 1, "per sample")
                    self.assertLessEqual(set(layer["inputs"]), seen, "inputs stand above")
                    seen.add(layer["name"])

    def check_breakdown(self, p):
        devices = p["breakdown"]["devices"]
        self.assertEqual(len(devices), p["devices"])
        for parts in (p["breakdown"], *devices):
            exposed = parts["exposed_communication_seconds"]
            times = [*(parts[key] for key in PARTS if key.endswith("_seconds")
                       and not isinstance(parts[key], dict)), *exposed.values()]
            self.assertEqual(len(times), 8)
            self.assertGreaterEqual(min(times), 0)
            self.assertAlmostEqual(math.fsum(times) / p["step_seconds"], 1, delta=1e-12)

    def check_sums(self, p):
        self.check_breakdown(p)
        self.assertEqual(p["comm_bytes"], p["transfer_bytes"] + p["sync_bytes"])
        parts = math.fsum(layer[key] for layer in p["layers"]
                          for key in ("compute_seconds", "transfer_seconds", "sync_seconds"))
        self.assertAlmostEqual(parts / p["eq1_seconds"], 1, delta=1e-12)
        self.assertAlmostEqual(p["throughput"] * p["step_seconds"] / p["batch"], 1, delta=1e-12)
        self.assertAlmostEqual(sum(p["cost_sources"].values()), 1, delta=1e-12)
        for layer in p["layers"]:
            shards = math.prod(layer["config"].values())
            self.assertIn(shards, range(1, p["devices"] + 1), layer["name"])
        memory = p["peak_memory_bytes_by_device"]
        self.assertEqual(max(memory), p["peak_memory_bytes"])
        self.assertEqual(len(memory), p["devices"])

    def test_buckets(self):
        for options, size in (("", 25 << 20), ("--bucket '1 MiB'", 1 << 20), ("--bucket 0", 0),
                              ("--bucket 2kB", 2000), ("--bucket 2kB --sync ps", 0)):
            with self.subTest(options):
                p = predict("lenet5", "p100-1x4", f"--strategy data {options}")
                self.assertEqual(p["bucket_bytes"], size)
        steps = [predict("resnet50", "p100-4x1", f"--strategy data --bucket {size}")["step_seconds"]
                 for size in ("0", "25MiB")]
        self.assertNotEqual(*steps)

    def test_predict(self):
        for model in ("lenet5", "alexnet"):
            for sync in ("ps", "ring", "tree", "hierarchical", "auto"):
                several = predict(model, "p100-2x2",
                                  f"--strategy data,model,owt --sync {sync}")
                self.assertEqual([p["strategy"] for p in several], ["data", "model", "owt"])
                for p in several:
                    with self.subTest(model, sync=sync, strategy=p["strategy"]):
                        self.assert_shape(p, PREDICTION)
                        self.check_sums(p)
                        self.assertEqual((p["devices"], p["batch"]), (4, 128))

    def test_known_figures(self):
        # VGG-16's 138,357,544 parameters of 4 bytes, 2 x 15 times; nothing else moves.
        vgg = predict("vgg16", "p100-4x4")
        self.assertEqual((vgg["comm_bytes"], vgg["transfer_bytes"]), (16602905280, 0))
        self.assertEqual(vgg["comm_bytes"], 2 * 15 * 4 * 138357544)
        owt = predict("alexnet", "p100-1x4", "--strategy owt")
        self.assertEqual(owt["comm_bytes"], 112750080)

    def test_says_what_nobody_has_published(self):
        llama = "predict llama2-7b --cluster a100-1x8 --dtype bf16 --strategy data --batch 64"
        outcome = cases.run(f"strata {llama} --micro-batch 1 --json", ".")
        p = json.loads(outcome.stdout)
        self.assertGreater(p["mfu"], 0.65)
        self.assertIs(p["plausible"], False)
        self.assertEqual(p["reason"], f"MFU {round(100 * p['mfu'])} % is above any published figure "
                                      "for a100 in bf16 (64 %)")
        self.assertIn(f"strata: warning: data: {p['reason']}\n", outcome.stderr)
        usual = predict("resnet50", "a100-1x8", "--strategy data --dtype fp16")
        self.assertEqual((usual["plausible"], usual["reason"]), (True, None))
        winograd = predict("vgg16", "p100-1x1", "--strategy data")
        self.assertGreater(winograd["mfu"], 1)
        self.assertIs(winograd["plausible"], True)
        self.assertIn("Winograd", winograd["reason"])
        unknown = predict("lenet5", "p100-1x1", "--strategy data --dtype bf16")
        self.assertEqual((unknown["plausible"], unknown["reason"]), (None, None))

    def test_one_device_moves_nothing(self):
        p = predict("alexnet", "p100-1x1")
        self.assertEqual((p["devices"], p["batch"], p["comm_bytes"]), (1, 32, 0))
        self.check_sums(p)

    def test_no_colour_and_no_progress(self):
        command = "strata predict lenet5 --cluster p100-1x2 --strategy data"
        plain = cases.run(command, ".", {"NO_COLOR": "1"})
        usual = cases.run(command, ".")
        self.assertEqual((plain.stdout, plain.stderr), (usual.stdout, ""))
        self.assertNotIn(b"\x1b", usual.stdout)


class Determinism(unittest.TestCase):
    def test_two_runs_are_equal_to_the_byte(self):
        with tempfile.TemporaryDirectory() as folder:
            command = ("strata predict inception_v3 --cluster p100-2x2 --strategy owt --json "
                       "--trace t.json --plan p.json && cat t.json p.json")
            first = cases.run(command, folder)
            self.assertEqual(first, cases.run(command, folder))
            self.assertEqual(first.exit_code, 0)

    def test_one_device_of_each_class_answers_for_all(self):
        """Every figure of a prediction, and how busy each device and link is."""
        for case in ["lenet5 --cluster p100-4x4 --strategy data",
                     "alexnet --cluster h200-2x8 --strategy owt",
                     "alexnet --cluster p100-4x4 --strategy model --sync auto",
                     "lenet5 --cluster p100-4x4 --strategy data --set device.gpu5.speed=0.5",
                     "lenet5 --cluster k80-4x4 --strategy owt --sync ps"]:
            with self.subTest(case):
                command = f"strata predict {case} --json"
                self.assertEqual(said(command), said(f"{command} --no-classes"))

    def test_says_where_transfers_are_joined(self):
        for devices, joined in [("2x4", False), ("16x4", True)]:
            command = f"strata predict lenet5 --cluster p100-{devices} --strategy model"
            self.assertEqual(said(f"{command} --json")["joined_transfers"], joined)
            text = cases.run(command, ".").stdout.decode()
            self.assertEqual("simulated as one transfer" in text, joined)

    def test_a_strategy_file_is_the_strategy_that_it_says(self):
        by_name = predict("alexnet", "p100-1x4")
        layers = [{"name": layer["name"], "config": layer["config"]} for layer in by_name["layers"]]
        documents = {
            "layers.json": {"strategy": "data", "model": "alexnet", "layers": layers},
            "default.json": {"strategy": "data", "default": {"n": 4}, "layers": []},
            "devices.json": {"strategy": "data", "default": {"n": 4}, "layers": [
                {"name": layer["name"],
                 "config": {"n": 4}, "devices": ["gpu0", "gpu1", "gpu2", "gpu3"]}
                for layer in layers[1:]]},
        }
        with tempfile.TemporaryDirectory() as folder:
            for name, document in documents.items():
                with self.subTest(name):
                    pathlib.Path(folder, name).write_text(json.dumps(document, indent=1))
                    by_file = predict("alexnet", "p100-1x4", f"--strategy {name}", folder)
                    self.assertEqual(by_file, by_name)

    def test_a_strategy_that_was_written_is_the_strategy_that_was_named(self):
        network = "llama:layers=4,hidden=64,heads=4,kv_heads=2,ffn=128,seq=32,vocab=100"
        options = "--batch 16 --micro-batch 1 --strategy"
        with tempfile.TemporaryDirectory() as folder:
            for strategy in ("hybrid:tp=2,pp=2,sp=1 --recompute full", "hybrid:pp=2,vp=v",
                             "hybrid:cp=2", "data"):
                with self.subTest(strategy):
                    named = predict(network, "p100-2x4", f"{options} {strategy} -o s.json", folder)
                    read = predict(network, "p100-2x4", f"{options} s.json", folder)
                    # The file's labels say which layers --recompute meant.
                    self.assertEqual(named | {"recompute": "none"}, read)
                    layers = [{key: layer[key] for key in ("name", "config", "devices", "recompute")
                               if key in layer} for layer in named["layers"]]
                    document = json.loads(pathlib.Path(folder, "s.json").read_text())
                    self.assertEqual(document["layers"], layers)

    def test_the_two_ways_of_giving_the_batch(self):
        per_device = predict("lenet5", "p100-2x2", "--strategy data --batch-per-device 8")
        self.assertEqual(per_device["batch"], 32)
        self.assertEqual(per_device, predict("lenet5", "p100-2x2", "--strategy data --batch 32"))


class WhatIf(unittest.TestCase):
    """A change of the cluster moves the times the way it must."""

    def times(self, *sets, model="alexnet", cluster="p100-2x2", options="--strategy data"):
        flags = " ".join(f"--set '{change}'" for change in sets)
        p = predict(model, cluster, f"{options} {flags}")
        return p["step_seconds"], p["eq1_seconds"]

    def assert_slower(self, slow, fast):
        for a, b in zip(slow, fast):
            self.assertGreater(a, b)

    def test_links(self):
        for options in ("--strategy data --sync ps", "--strategy data", "--strategy owt"):
            usual = self.times(options=options)
            for key, slow, fast in (("link.inter.bandwidth", "0.5x", "2x"),
                                    ("link.*.bandwidth", "1 Gb/s", "1 TB/s"),
                                    ("link.inter.latency", "1 ms", "0 s")):
                with self.subTest(options, key=key):
                    self.assert_slower(self.times(f"{key}={slow}", options=options), usual)
                    faster = self.times(f"{key}={fast}", options=options)
                    for a, b in zip(faster, usual):
                        self.assertLessEqual(a, b)

    def test_faster_links_speed_the_parameter_server(self):
        ps = "--strategy data --sync ps"
        faster = self.times("link.inter.bandwidth=2x", options=ps)
        self.assert_slower(self.times(options=ps), faster)

    def test_a_straggler_slows_the_step(self):
        usual = self.times(model="lenet5")
        straggler = self.times("device.gpu1.speed=0.5", model="lenet5")
        all_slow = self.times("device.*.speed=0.5", model="lenet5")
        self.assert_slower(straggler, usual)
        for a, b in zip(straggler, all_slow):
            self.assertLessEqual(a, b * (1 + 1e-12))

    def test_changes_apply_in_order(self):
        self.assertEqual(self.times("link.*.bandwidth=2x", "link.*.bandwidth=0.5x"), self.times())
        self.assertEqual(self.times("device.gpu1.speed=0.5", "device.gpu1.speed=2x"), self.times())

    def test_auto_is_never_worse_under_eq1(self):
        for cluster in ("p100-1x4", "p100-2x2", "p100-4x1"):
            by_sync = {sync: predict("alexnet", cluster, f"--strategy data --sync {sync}")
                       for sync in ("ps", "ring", "tree", "hierarchical", "auto")}
            eq1 = {sync: p["eq1_seconds"] for sync, p in by_sync.items()}
            with self.subTest(cluster, **eq1):
                self.assertLessEqual(eq1["auto"], min(eq1.values()) * (1 + 1e-12))


class Replay(unittest.TestCase):
    CLUSTER = """
[[device]]
name = "a"
[[device]]
name = "b"
[[device]]
name = "c"
[[link]]
name = "first"
from = "a"
to = "b"
bandwidth = "10 GB/s"
[[link]]
name = "second"
from = "b"
to = "c"
bandwidth = "10 GB/s"
"""

    def replay(self, plan, options="--json"):
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "line.toml").write_text(self.CLUSTER)
            pathlib.Path(folder, "plan.json").write_text(plan)
            return said(f"strata replay plan.json --cluster line.toml {options}", folder)

    def test_two_links_in_a_row(self):
        # A takes both links, B the first and C the second. On the first, A and B get 5 GB/s each:
        # 1 GB in 0.2 s. C has the 5 GB/s that A leaves of the second: 0.5 GB in 0.1 s.
        flows = [{"id": "A", "from": "a", "to": "c", "bytes": 1e9},
                 {"id": "B", "over": ["first"], "bytes": 1e9},
                 {"id": "C", "over": ["second"], "bytes": 5e8}]
        lines = "\n".join(map(json.dumps, flows))
        for plan in (json.dumps({"activities": flows}), lines):
            document = self.replay(plan)
            self.assertEqual(misfits(document, REPLAY), [])
            ends = {a["id"]: a["end"] for a in document["activities"]}
            for name, end in (("A", 0.2), ("B", 0.2), ("C", 0.1)):
                self.assertAlmostEqual(ends[name], end, delta=1e-9)
            self.assertAlmostEqual(document["makespan_seconds"], 0.2, delta=1e-9)

    def test_delays_and_the_order_of_the_file(self):
        # a runs x for 1 s, then y, which came first of those ready at 1 s, then z. w may not start
        # before 5 s and waits half a second after z.
        plan = "\n".join(map(json.dumps, [
            {"id": "x", "on": "a", "seconds": 1},
            {"id": "y", "on": "a", "seconds": 2, "after": ["x"]},
            {"id": "z", "on": "a", "seconds": 1, "after": ["x"]},
            {"id": "w", "on": "b", "seconds": 1, "after": ["z"], "delay": 0.5, "not_before": 5}]))
        times = {a["id"]: (a["ready"], a["start"], a["end"])
                 for a in self.replay(plan)["activities"]}
        self.assertEqual(times, {"x": (0, 0, 1), "y": (1, 1, 3), "z": (1, 3, 4), "w": (5, 5, 6)})

    def test_ids_keep_their_kind(self):
        plan = '{"id": 7, "event": 1}\n{"id": "8", "event": 1, "after": ["7"]}'
        self.assertEqual([a["id"] for a in self.replay(plan)["activities"]], [7, "8"])

    WHAT_IFS = ((), ("link.*.bandwidth=0.25x", "link.inter.latency=1 ms"),
                ("device.gpu3.speed=0.25", "device.gpu1.speed=0.3", "link.inter.bandwidth=3 GB/s"))

    def test_the_plan_of_a_prediction_takes_as_long_as_it_was_predicted(self):
        # To the tick: the same activities, on links with the same bandwidths.
        for model in ("lenet5", "alexnet", "textcnn"):
            for sync in ("ps", "ring", "tree", "hierarchical", "auto"):
                seen = set()
                for changes in self.WHAT_IFS:
                    sets = " ".join(f"--set '{change}'" for change in changes)
                    with self.subTest(model, sync=sync, sets=sets):
                        predicted, replayed = self.there_and_back(model, sync, sets)
                        self.assertEqual(replayed["makespan_seconds"],
                                         predicted["makespan_seconds"])
                        seen.add(predicted["makespan_seconds"])
                self.assertEqual(len(seen), len(self.WHAT_IFS), "each what-if changes something")

    @staticmethod
    def there_and_back(model, sync, sets):
        with tempfile.TemporaryDirectory() as folder:
            predicted = predict(model, "p100-2x2", f"--strategy owt --sync {sync} {sets} "
                                "--steps 3 --plan plan.json", folder)
            return predicted, said(f"strata replay plan.json --cluster p100-2x2 {sets} --json",
                                   folder)

    def test_a_plan_alone_keeps_its_speeds(self):
        with tempfile.TemporaryDirectory() as folder:
            predicted = predict("lenet5", "p100-1x4", "--strategy data --plan plan.json "
                                "--set device.gpu3.speed=0.25", folder)
            replayed = said("strata replay plan.json --cluster p100-1x4 --json", folder)
        self.assertEqual(replayed["makespan_seconds"], predicted["makespan_seconds"])

    def test_the_makespan_of_one_step_is_its_step_time(self):
        p = predict("lenet5", "p100-1x2", "--strategy data --steps 1")
        self.assertEqual(p["makespan_seconds"], p["step_seconds"])


if __name__ == "__main__":
    unittest.main()
