"""Dims that an ONNX file leaves open: --dim, wherever a MODEL is asked about, and in scenarios.

    STRATA=build/dev/bin/strata python3 tests/cli/open_dims_test.py

The network is tests/fuzz/corpus/onnx/open.onnx: a convolution of (batch, 3, height, width), an
average over all that it gives, and a classifier. Exits with 77 where the program reads no ONNX.
"""

import json
import pathlib
import shutil
import sys
import tempfile
import unittest

import cases

NETWORK = pathlib.Path(__file__).resolve().parent.parent / "fuzz/corpus/onnx/open.onnx"
ON = "--cluster p100-1x2 --batch 8"
DIMS = "--dim height=12 --dim width=8"


class OpenDims(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        shutil.copy(NETWORK, self.folder / "net.onnx")

    def strata(self, command, exit_code=0):
        outcome = cases.run(f"strata {command}", self.folder)
        self.assertEqual(outcome.exit_code, exit_code, outcome.stderr)
        return outcome

    def answer(self, command):
        return json.loads(self.strata(f"{command} --json").stdout)

    def test_show_has_the_sizes_that_are_given(self):
        shown = self.answer(f"show net.onnx {DIMS}")
        conv = next(layer for layer in shown["layers"] if layer["name"] == "conv")
        self.assertEqual(conv["output"], {"n": 1, "c": 8, "d": 1, "h": 12, "w": 8})
        self.assertEqual(conv["macs"], 12 * 8 * 8 * 3 * 3 * 3)
        self.assertEqual(shown, self.answer("show net.onnx --dim width=8,height=12"))

    def test_each_command_takes_them(self):
        step = self.answer(f"predict net.onnx {ON} --strategy data {DIMS}")
        self.assertGreater(step["peak_memory_bytes"],
                           self.answer(f"predict net.onnx {ON} --strategy data "
                                       "--dim height=6 --dim width=8")["peak_memory_bytes"])
        self.strata(f"solve net.onnx {ON} {DIMS}")
        self.strata(f"explain net.onnx {ON} {DIMS} --strategy data --layer conv")
        self.strata(f"export graph net.onnx {DIMS} -o net.dot")
        self.strata(f"run net.onnx --devices cpu:1 --batch 2 --steps 2 --strategy data {DIMS}")
        self.strata("profile net.onnx --devices cpu:1 --batch 2 --rounds 1 --strategies data "
                    f"{DIMS} -o p.toml")

    def test_the_batch_is_not_among_them(self):
        said = self.strata(f"predict net.onnx {ON} --strategy data {DIMS} --dim batch=4", 2).stderr
        self.assertEqual(said, "strata: error: net.onnx: --dim batch: it is the number of samples; "
                               "allowed: --batch 4\n")

    def test_a_sweep_has_an_axis_of_them(self):
        (self.folder / "s.toml").write_text("""[[sweep]]
model = "net.onnx"
dim = ["height=12,width=8", { form = "height=6,width={}", from = 8, to = 16, factor = 2 }]
cluster = "p100-1x2"
strategy = "data"
batch = 8
""")
        self.strata("sweep s.toml --db s.db")
        query = "query s.db 'SELECT peak_memory_bytes FROM cases ORDER BY 1' --json"
        small, *others = [row["peak_memory_bytes"]
                          for row in json.loads(self.strata(query).stdout)["rows"]]
        self.assertEqual(len(others), 2)
        self.assertLess(small, others[0])  # 48 pixels; then twice 96
        self.assertEqual(others[0], others[1])

    def test_a_sweep_says_whose_line_is_wrong(self):
        (self.folder / "s.toml").write_text("""[[sweep]]
model = "net.onnx"
dim = "height=12"
cluster = "p100-1x2"
strategy = "data"
[[sweep]]
model = "lenet6"
dim = "height=12"
cluster = "p100-1x2"
strategy = "data"
""")
        said = self.strata("sweep s.toml --db s.db", 2).stderr
        self.assertRegex(said, "s.toml:3: .*net.onnx: input 'x': its dim 'width' is open")
        self.assertRegex(said, "s.toml:7: .*unknown model 'lenet6'")


if __name__ == "__main__":
    if not cases.reads_onnx():
        print("skipped: this build reads no ONNX; libonnx-dev has it")
        sys.exit(77)
    unittest.main()
