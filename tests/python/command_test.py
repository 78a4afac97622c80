"""What Python answers is what the command prints: the same documents, key by key.

    STRATA=build/release/bin/strata PYTHONPATH=build/release/python python3 tests/python/command_test.py
"""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import strata

# How long the computer took, which no two runs have in common.
MEASURED = ("table_seconds", "solve_seconds", "refine_seconds", "engine_seconds")
SMALL = "p100-1x4"

# The command's words, and the same question in Python.
CASES = [
    ("predict lenet5 --cluster p100-1x4 --strategy data",
     lambda: strata.predict("lenet5", cluster=SMALL, strategy="data")),
    ("predict vgg16 --cluster p100-4x4 --strategy owt",
     lambda: strata.predict("vgg16", cluster="p100-4x4", strategy="owt")),
    ("predict alexnet --cluster p100-1x4 --strategy data,model,owt",
     lambda: strata.predict("alexnet", cluster=SMALL, strategy=["data", "model", "owt"])),
    ("predict resnet50 --cluster p100-2x2 --strategy data --batch 64 --sync ps",
     lambda: strata.predict("resnet50", cluster="p100-2x2", strategy="data", batch=64, sync="ps")),
    ("predict vgg16 --cluster p100-4x4 --strategy data --set link.inter.bandwidth=0.5x",
     lambda: strata.predict("vgg16", cluster="p100-4x4", strategy="data",
                            set={"link.inter.bandwidth": "0.5x"})),
    ("predict vgg16 --cluster p100-1x4 --strategy owt --set device.gpu3.speed=0.8",
     lambda: strata.predict("vgg16", cluster=SMALL, strategy="owt",
                            set={"device.gpu3.speed": 0.8})),
    ("predict alexnet --cluster p100-1x4 --strategy data --bucket '1 MiB' --optimizer adam",
     lambda: strata.predict("alexnet", cluster=SMALL, strategy="data", bucket="1 MiB",
                            optimizer="adam")),
    ("predict gpt2 --cluster a100-1x8 --strategy hybrid:tp=2,sp=1 --dtype bf16 --batch 16",
     lambda: strata.predict("gpt2", cluster="a100-1x8", strategy="hybrid:tp=2,sp=1", dtype="bf16",
                            batch=16)),
    ("predict gpt:layers=4,hidden=64,heads=4,seq=64,vocab=512 --cluster a100-1x8 --dtype bf16"
     " --strategy hybrid:pp=4 --batch 32 --micro-batch 2 --schedule 1f1b --recompute full",
     lambda: strata.predict("gpt:layers=4,hidden=64,heads=4,seq=64,vocab=512", cluster="a100-1x8",
                            dtype="bf16", strategy="hybrid:pp=4", batch=32, micro_batch=2,
                            schedule="1f1b", recompute="full")),
    ("predict bert-base --cluster a100-2x4 --strategy data --zero 2 --optimizer adam --batch 16"
     " --as megatron --dtype bf16",
     lambda: strata.predict("bert-base", cluster="a100-2x4", strategy="data", zero=2,
                            optimizer="adam", batch=16, as_="megatron", dtype="bf16")),
    ("predict lenet5 --cluster p100-1x4 --strategy data --batch-per-device 8 --steps 6",
     lambda: strata.predict("lenet5", cluster=SMALL, strategy="data", batch_per_device=8, steps=6)),
    ("predict alexnet --cluster p100-1x4 --strategy optimal",
     lambda: strata.predict("alexnet", cluster=SMALL, strategy="optimal")),
    ("predict net.toml --cluster two.toml --strategy cut.json",
     lambda: strata.predict("net.toml", cluster="two.toml", strategy="cut.json")),
    ("solve lenet5 --cluster p100-1x4",
     lambda: strata.solve("lenet5", cluster=SMALL)),
    ("solve alexnet --cluster p100-1x4 --objective eq1",
     lambda: strata.solve("alexnet", cluster=SMALL, objective="eq1")),
    ("solve alexnet --cluster p100-2x2 --objective eq1 --no-simulation --degrees pow2 --k-best 2",
     lambda: strata.solve("alexnet", cluster="p100-2x2", objective="eq1", no_simulation=True,
                          degrees="pow2", k_best=2)),
    ("explain alexnet --cluster p100-1x4 --strategy data",
     lambda: strata.explain("alexnet", cluster=SMALL, strategy="data")),
    ("explain alexnet --cluster p100-1x4 --strategy owt --layer classifier_6",
     lambda: strata.explain("alexnet", cluster=SMALL, strategy="owt", layer="classifier_6")),
    ("diff data owt --model alexnet --cluster p100-1x4",
     lambda: strata.diff("data", "owt", model="alexnet", cluster=SMALL)),
    ("show vgg16", lambda: strata.Graph.load("vgg16")),
    ("show net.toml", lambda: strata.Graph.load("net.toml")),
    ("replay plan.json --cluster two.toml",
     lambda: strata.replay("plan.json", cluster="two.toml")),
]

FILES = {
    "net.toml": """name = "small"
[[layer]]
name = "data"
op = "input"
shape = [3, 32, 32]
[[layer]]
name = "conv"
op = "conv2d"
out_channels = 8
kernel = 3
padding = 1
[[layer]]
name = "flat"
op = "flatten"
[[layer]]
name = "fc"
op = "fc"
out_features = 10
[[layer]]
name = "loss"
op = "softmax_cross_entropy"
""",
    "two.toml": """name = "two"
[[device]]
name = "gpu0"
kind = "p100"
[[device]]
name = "gpu1"
kind = "p100"
[[link]]
from = "gpu0"
to = "gpu1"
bandwidth = "10 GB/s"
duplex = true
""",
    "cut.json": '{"strategy": "mine", "default": {"n": 2}, '
                '"layers": [{"name": "fc", "config": {"c": 2}}]}',
    "plan.json": '{"activities": [{"id": 1, "on": "gpu0", "seconds": 0.5}, '
                 '{"id": "b", "from": "gpu0", "to": "gpu1", "bytes": 1e9, "after": [1]}]}',
}


def without_measured(value):
    if isinstance(value, dict):
        return {k: without_measured(v) for k, v in value.items() if k not in MEASURED}
    return [without_measured(v) for v in value] if isinstance(value, list) else value


class Command(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.addCleanup(os.chdir, os.getcwd())
        self.program = str(pathlib.Path(os.environ["STRATA"]).resolve())
        os.chdir(self.folder.name)
        for name, text in FILES.items():
            pathlib.Path(name).write_text(text)

    def printed(self, words):
        return subprocess.run(["sh", "-c", f"'{self.program}' {words} --json"], text=True,
                              capture_output=True, check=True).stdout

    def test_documents_are_equal(self):
        self.assertGreaterEqual(len(CASES), 20)
        for words, ask in CASES:
            with self.subTest(words):
                ours, theirs = ask().to_json(), self.printed(words)
                self.assertEqual(without_measured(json.loads(ours)),
                                 without_measured(json.loads(theirs)))
                self.assertEqual(list(json.loads(ours)), list(json.loads(theirs)))

    def test_texts_are_equal_to_the_byte(self):
        words, ask = CASES[0]
        self.assertEqual(ask().to_json() + "\n", self.printed(words))

    def test_lists(self):
        for kind, ours in (("models", strata.models), ("clusters", strata.clusters),
                           ("frameworks", strata.frameworks)):
            self.assertEqual(ours().to_list(), json.loads(self.printed(kind))[kind])

    def test_a_sweep_fills_the_same_database(self):
        pathlib.Path("s.toml").write_text("""
[[sweep]]
name = "s"
model = "lenet5"
cluster = "p100-1x2"
strategy = ["data", "model"]
batch = [16, 32]
""")
        ours = strata.sweep("s.toml", db="ours.db", threads=1)
        theirs = json.loads(self.printed("sweep s.toml --db theirs.db"))
        self.assertEqual({**ours.to_dict(), "database": ""}, {**theirs, "database": ""})
        sql = "SELECT strategy, batch, step_seconds, comm_bytes FROM cases ORDER BY 1, 2"
        rows = strata.query("ours.db", sql)
        self.assertEqual(rows.to_dict(), json.loads(self.printed(f"query theirs.db '{sql}'")))
        self.assertEqual(len(rows.rows), 4)

    def test_a_run_trains_as_the_command_does(self):
        words = "run lenet5 --devices cpu:2 --strategy data --batch 8 --steps 3 --seed 5"
        theirs = json.loads(self.printed(words))
        ours = strata.run("lenet5", devices="cpu:2", strategy="data", batch=8, steps=3, seed=5)
        self.assertEqual(ours.losses, theirs["losses"])
        self.assertEqual(list(ours), list(theirs))

    def test_validate(self):
        ours = strata.validate("lenet5", devices="cpu:1", batch=8, strategies="data", rounds=3)
        theirs = json.loads(self.printed(
            "validate lenet5 --devices cpu:1 --batch 8 --strategies data --rounds 3"))
        self.assertEqual(list(ours), list(theirs))
        self.assertEqual([list(case) for case in ours.cases],
                         [list(case) for case in theirs["cases"]])


if __name__ == "__main__":
    unittest.main()
