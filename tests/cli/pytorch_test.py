#!/usr/bin/env python3
"""Networks as the exporters of today's PyTorch write them: tests/golden/onnx, which make.py and
make_tokens.py wrote.

    STRATA=build/dev/bin/strata python3 tests/cli/pytorch_test.py

Exits with 77 where the program reads no ONNX.
"""

import json
import pathlib
import shutil
import sys
import tempfile
import unittest

import cases

FILES = pathlib.Path(__file__).resolve().parent.parent / "golden/onnx"
EXPECTED = json.loads((FILES / "expected.json").read_text())
ACTIVATIONS = ["relu6", "gelu", "hard_swish", "leaky_relu", "elu", "tanh"]


class Exports(unittest.TestCase):
    def answer(self, command):
        outcome = cases.run(f"strata {command} --json", FILES)
        self.assertEqual(outcome.exit_code, 0, outcome.stderr)
        return json.loads(outcome.stdout)

    def test_every_file_has_pytorchs_parameters_and_shapes(self):
        self.assertEqual(sorted(EXPECTED), sorted(path.name for path in FILES.glob("*.onnx")))
        for name, expected in EXPECTED.items():
            with self.subTest(name):
                shown = self.answer(f"show {name}")
                for what in ("parameters", "macs"):
                    self.assertEqual(shown[what], expected[what])
                layers = {layer["name"]: layer["output"] for layer in shown["layers"]}
                for module, shape in expected["modules"].items():
                    self.assertEqual([layers[module][dim] for dim in "chw"], (shape + [1, 1])[:3])

    def test_what_takes_many_nodes_is_one_layer(self):
        for name in EXPECTED:
            if not name.startswith("medley"):
                continue
            ops = [layer["op"] for layer in self.answer(f"show {name}")["layers"]]
            with self.subTest(name):
                self.assertEqual([op for op in ops if op in ACTIVATIONS], ACTIVATIONS)
                self.assertEqual(ops.count("dropout"), 2 if "kept" in name else 0)

    def test_losses_are_those_of_pytorch(self):
        for name, expected in EXPECTED.items():
            for devices in (1, 2) if "losses" in expected else ():
                with self.subTest(name, devices=devices):
                    run = self.answer(f"run {name} --devices cpu:{devices} --strategy data --batch 8 "
                                      f"--steps {len(expected['losses'])} --lr 0.1 --data .")
                    for ours, theirs in zip(run["losses"], expected["losses"], strict=True):
                        self.assertLessEqual(abs(ours - theirs), 1e-5)

    def test_weights_that_are_gone_are_an_error_that_names_their_file(self):
        with tempfile.TemporaryDirectory() as folder:
            shutil.copy(FILES / "gated.split.onnx", folder)
            outcome = cases.run("strata run gated.split.onnx --devices cpu:1 --strategy data "
                                "--batch 8 --steps 1", folder)
        self.assertEqual(outcome.exit_code, 2)
        self.assertIn("gated.split.onnx: initializer ", outcome.stderr)
        self.assertIn("its values in 'gated.split.onnx.data' cannot be read", outcome.stderr)


class Transformers(unittest.TestCase):
    """GPT-2, Llama, BERT, ViT, nn.TransformerEncoder and an attention that is written out."""

    FOLDERS = sorted(path.parent for path in FILES.glob("*/expected.json"))
    def answer(self, command, folder):
        outcome = cases.run(f"strata {command} --json", folder)
        self.assertEqual(outcome.exit_code, 0, outcome.stderr)
        return json.loads(outcome.stdout)

    def files(self):
        """Each with what PyTorch says of it; the defaults of export are another network."""
        self.assertEqual([folder.name for folder in self.FOLDERS],
                         ["bert", "decoder", "encoder", "gpt2", "llama", "vit"])
        for folder in self.FOLDERS:
            expected = json.loads((folder / "expected.json").read_text())
            for file in sorted(folder.glob("*.onnx")):
                yield folder, file.name, expected, ".default." in file.name

    def test_parameters_and_macs_are_those_of_pytorch(self):
        for folder, file, expected, default in self.files():
            with self.subTest(folder.name, file=file):
                shown = self.answer(f"show {file}", folder)
                self.assertEqual(shown["macs"], expected["macs"])
                if not default:
                    self.assertEqual(shown["parameters"], expected["parameters"])

    def test_no_layer_is_opaque_and_each_block_has_an_attention(self):
        for folder, file, _, _ in self.files():
            with self.subTest(folder.name, file=file):
                ops = [layer["op"] for layer in self.answer(f"show {file}", folder)["layers"]]
                self.assertEqual(ops.count("attention"), 1)
                self.assertNotIn("opaque", ops)
                self.assertEqual(ops[-1], "softmax_cross_entropy")

    def test_strategies_cut_tokens_and_heads(self):
        for folder, file, _, _ in self.files():
            with self.subTest(folder.name, file=file):
                for strategy in ("data", "hybrid:tp=2,sp=1"):
                    self.answer(f"predict {file} --cluster p100-1x2 --batch 4 "
                                f"--strategy {strategy}", folder)

    def test_losses_are_those_of_pytorch(self):
        for folder, file, expected, default in self.files():
            if default or folder.name == "bert":  # which has two inputs, and data has one
                continue
            for devices, strategy in ((1, "data"), (2, "data"), (2, "hybrid:tp=2,sp=1")):
                with self.subTest(folder.name, file=file, devices=devices, strategy=strategy):
                    run = self.answer(
                        f"run {file} --devices cpu:{devices} --strategy {strategy} --batch 4 "
                        f"--steps {len(expected['losses'])} --lr 0.1 --data .", folder)
                    for ours, theirs in zip(run["losses"], expected["losses"], strict=True):
                        self.assertLessEqual(abs(ours - theirs), 1e-4)


if __name__ == "__main__":
    if not cases.reads_onnx():
        print("skipped: this build reads no ONNX; libonnx-dev has it")
        sys.exit(77)
    unittest.main()
