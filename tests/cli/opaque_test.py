"""Ops of an ONNX file that nothing here computes: --allow-unsupported, wherever a MODEL is predicted.

    STRATA=build/dev/bin/strata python3 tests/cli/opaque_test.py

The network is tests/fuzz/corpus/onnx/opaque.onnx: a ConvTranspose of (2, 4, 4) by 2 to (6, 8, 8), a
Resize by 2, a Split in two halves of the channels whose product is averaged, and a classifier.
Exits with 77 where the program reads no ONNX.
"""

import json
import pathlib
import shutil
import sys
import tempfile
import unittest

import cases

NETWORK = pathlib.Path(__file__).resolve().parent.parent / "fuzz/corpus/onnx/opaque.onnx"
OPAQUE = {"up": "ConvTranspose", "big": "Resize", "halves": "Split", "halves_2": "Split"}
ON = "--cluster p100-1x2 --batch 8"


class Opaque(unittest.TestCase):
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
        return json.loads(self.strata(f"{command} --allow-unsupported --json").stdout)

    def test_show_says_what_they_are(self):
        shown = self.answer("show net.onnx")
        self.assertEqual({layer["name"]: layer["kind"] for layer in shown["layers"]
                          if layer["op"] == "opaque"}, OPAQUE)
        up = next(layer for layer in shown["layers"] if layer["name"] == "up")
        self.assertEqual(up["output"], {"n": 1, "c": 6, "d": 1, "h": 8, "w": 8})
        # Each of (2, 4, 4) goes to (6, 2, 2) others.
        self.assertEqual((up["parameters"], up["macs"]), (2 * 6 * 2 * 2, 2 * 4 * 4 * 6 * 2 * 2))
        self.assertIn(b"opaque (Resize)", self.strata("show net.onnx --allow-unsupported").stdout)

    def test_a_drawing_has_them(self):
        self.strata("export graph net.onnx -o net.dot", 2)
        self.strata("export graph net.onnx --allow-unsupported -o net.dot")
        self.assertIn("halves_2", (self.folder / "net.dot").read_text())

    def test_dtensor_knows_nothing_of_them(self):
        made = self.answer(f"export dtensor net.onnx {ON} --strategy data -o cut.py")
        unknown = "what it computes is not known: nor whether DTensor can cut it so"
        self.assertEqual({layer["name"] for layer in made["layers"]
                          if unknown in layer["limits"]}, set(OPAQUE))

    def test_notes_have_one_form(self):
        said = self.strata("show net.onnx --allow-unsupported").stderr
        self.assertIn("strata: note: op ConvTranspose is opaque", said)
        shutil.copy(NETWORK.with_name("shapes.onnx"), self.folder)
        said = self.strata("export graph shapes.onnx -o g.dot").stderr
        self.assertEqual(said, "strata: note: the softmax at its end is left out: the loss has it\n")

    def test_their_time_is_analytic_and_warned_of(self):
        predicted = self.answer(f"predict net.onnx {ON} --strategy data")
        self.assertEqual(predicted["cost_sources"]["analytic"], 1)
        self.assertGreater(next(layer["compute_seconds"] for layer in predicted["layers"]
                                if layer["name"] == "halves_2"), 0)
        said = self.strata(f"predict net.onnx {ON} --strategy data --allow-unsupported").stderr
        self.assertIn("4 of 9 layers are opaque (ConvTranspose, Resize, Split)", said)

    def test_every_answer_says_what_has_no_cost(self):
        (self.folder / "net.toml").write_text("""name = "net"
[[layer]]
name = "x"
op = "input"
shape = [8, 1, 16]
[[layer]]
name = "mix"
op = "opaque"
kind = "Einsum"
shape = [8, 1, 16]
parameters = 300
uncosted = true
[[layer]]
name = "fc"
op = "fc"
out_features = 5
bias = false
[[layer]]
name = "loss"
op = "softmax_cross_entropy"
""")
        wanted = {"layers": 1, "ops": ["Einsum"], "macs_share": None,
                  "activations_share": 128 / (128 + 5 + 5), "parameters_share": 300 / (300 + 640)}
        how = f"net.toml {ON}"
        self.strata(f"solve {how} -o a.json")
        for command in (f"predict {how} --strategy data", f"solve {how}",
                        f"explain {how} --strategy data", f"diff data model --model {how}",
                        f"explain {how} --strategy data --layer fc",
                        f"map {how} --x batch=8,16 --y link.intra.bandwidth=1x,2x"):
            outcome = self.strata(f"{command} --json")
            self.assertEqual(json.loads(outcome.stdout)["uncosted"], wanted, command)
            self.assertIn("how much Einsum computes is not known", outcome.stderr, command)
        costed = self.answer(f"predict net.onnx {ON} --strategy data")["uncosted"]
        self.assertEqual(costed, {"layers": 0, "ops": [], "macs_share": 0, "activations_share": 0,
                                  "parameters_share": 0})
        (self.folder / "s.toml").write_text("""[[sweep]]
job = "solve"
model = "net.toml"
cluster = "p100-1x2"
batch = 8
""")
        self.strata("sweep s.toml --db s.db")
        rows = json.loads(self.strata("query s.db 'SELECT uncosted_share AS s FROM cases' "
                                      "--json").stdout)["rows"]
        self.assertEqual([row["s"] for row in rows], [wanted["activations_share"]] * len(rows))
        self.strata("report s.db -o report")
        self.assertIn("To be doubted", (self.folder / "report/report.md").read_text())

    def test_they_are_cut_in_samples_alone(self):
        self.strata(f"solve net.onnx {ON} --allow-unsupported --degrees all -o best.json")
        explained = self.answer(f"explain net.onnx {ON} --strategy best.json --layer big")
        for config in explained["configs"]:
            self.assertEqual([config["config"][dim] for dim in "cdhw"], [1, 1, 1, 1])
        cut = {"strategy": "mine", "default": {"n": 2},
               "layers": [{"name": "big", "config": {"h": 2}}]}
        (self.folder / "cut.json").write_text(json.dumps(cut))
        said = self.strata(f"predict net.onnx {ON} --strategy cut.json --allow-unsupported", 2)
        self.assertIn("cut.json:1: layer big: the degree in h must be an integer from 1 to 1, for "
                      "an opaque op is cut in n alone", said.stderr)

    def test_a_sweep_takes_them_by_its_key(self):
        sweep = """[[sweep]]
job = "solve"
model = "net.onnx"
cluster = ["p100-1x1", "p100-1x2"]
batch = 8
allow_unsupported = true
"""
        (self.folder / "s.toml").write_text(sweep)
        self.strata("sweep s.toml --db s.db")
        rows = json.loads(self.strata("query s.db 'SELECT done FROM cases' --json").stdout)
        self.assertEqual([row["done"] for row in rows["rows"]], [1, 1])

    def test_a_model_file_of_them_predicts_the_same_and_does_not_run(self):
        (self.folder / "net.toml").write_text("""name = "net"
[[layer]]
name = "x"
op = "input"
shape = [3, 8, 8]
[[layer]]
name = "big"
op = "opaque"
kind = "Resize"
shape = [3, 16, 16]
[[layer]]
name = "fc"
op = "fc"
out_features = 5
[[layer]]
name = "loss"
op = "softmax_cross_entropy"
""")
        self.strata(f"predict net.toml {ON} --strategy data")
        for command in ("run net.toml --devices cpu:1 --strategy data --batch 2",
                        "validate net.toml --devices cpu:1 --batch 2",
                        "profile net.toml --devices cpu:1 --batch 2 -o p.toml"):
            said = self.strata(command, 2).stderr
            self.assertEqual(said, "strata: error: network net: layer big: op Resize is opaque, "
                                   "which nothing can run; allowed: to predict and to solve\n")


if __name__ == "__main__":
    if not cases.reads_onnx():
        print("skipped: this build reads no ONNX; libonnx-dev has it")
        sys.exit(77)
    unittest.main()
