#!/usr/bin/env python3
"""What frameworks say is measured is what scripts/eager-factors derives."""

import importlib.machinery
import importlib.util
import pathlib
import re
import tomllib
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
LOADER = importlib.machinery.SourceFileLoader("eager_factors", str(ROOT / "scripts/eager-factors"))
SPEC = importlib.util.spec_from_loader("eager_factors", LOADER)
eager_factors = importlib.util.module_from_spec(SPEC)
LOADER.exec_module(eager_factors)

# By framework and layer: the figure of 16 bits, and of fp32 where it is another one.
DERIVED = {
    ("pytorch", "rms_norm"): ("eager rms_norm 16 bits", "eager rms_norm fp32"),
    ("pytorch", "layer_norm"): ("eager layer_norm", None),
    ("pytorch", "swiglu"): ("eager gate", None),
    ("pytorch", "geglu"): ("eager gate", None),
    ("pytorch", "embedding"): ("eager embedding", None),
    ("pytorch", "softmax_cross_entropy"): (
        "eager softmax_cross_entropy 16 bits",
        "eager softmax_cross_entropy fp32",
    ),
    ("pytorch-compile", "rms_norm"): ("compiled rms_norm 16 bits", None),
    ("pytorch-compile", "embedding"): ("compiled embedding", None),
    ("fsdp2", "rms_norm"): ("compiled rms_norm 16 bits", None),
    ("fsdp2", "embedding"): ("compiled embedding", None),
    ("megatron-core", "swiglu"): ("megatron gate", None),
    ("megatron-core", "softmax_cross_entropy"): ("megatron-unfused softmax_cross_entropy 16 bits", None),
    ("nemo", "swiglu"): ("megatron gate", None),
    ("nemo", "softmax_cross_entropy"): ("megatron-fused softmax_cross_entropy 16 bits", None),
}


def layer_speeds():
    found = {}
    for name in {framework for framework, _ in DERIVED}:
        sets = tomllib.loads((ROOT / f"profiles/frameworks/{name}.toml").read_text())["set"]
        for key, entry in sets.items():
            layer = re.fullmatch(r"layer\.(.*)\.speed", key)
            if layer and not entry["source"].startswith("fitted"):
                found[name, layer[1]] = entry
    return found


class EagerFactors(unittest.TestCase):
    def test_frameworks_have_what_rows_say(self):
        figures = eager_factors.figures()
        speeds = layer_speeds()
        self.assertEqual(speeds.keys(), DERIVED.keys())
        for key, (of_16_bits, of_fp32) in DERIVED.items():
            self.assertAlmostEqual(speeds[key]["value"], figures[of_16_bits], delta=1e-3, msg=key)
            self.assertEqual("fp32" in speeds[key], of_fp32 is not None, key)
            if of_fp32:
                self.assertAlmostEqual(speeds[key]["fp32"], figures[of_fp32], delta=1e-3, msg=key)

    def test_code_has_what_rows_say(self):
        figures = eager_factors.figures()
        optimizers = (ROOT / "sim/graph/optimizer.h").read_text()
        for name in ("adam", "adamw", "lion"):
            row = re.search(r'\{"%s",[^{]*\{[^}]*\},\s*([\d.]+),\s*\d+\}' % name, optimizers)
            self.assertAlmostEqual(float(row[1]), figures[f"update by operations, {name}"], delta=0.05)
        costs = (ROOT / "sim/cost/cost_model.cpp").read_text()
        for name in ("Forward", "Backward"):
            passes = float(re.search(rf"k{name}Passes = ([\d.]+)", costs)[1])
            self.assertAlmostEqual(passes, figures[f"eager rotary, passes {name.lower()}"], delta=0.05)

    def test_a_pass_takes_the_memory_bandwidth_that_streaming_reaches(self):
        row = {"gpu": "h100", "dtype": "fp32", "rows": "1000", "columns": "1000"}
        self.assertAlmostEqual(eager_factors.pass_ms(row), 4e6 / (3.35e12 * 0.85) * 1e3)

    def test_devices_count_alike(self):
        self.assertAlmostEqual(eager_factors.by_device([("a", 1), ("a", 1), ("a", 1), ("b", 4)]), 2)


if __name__ == "__main__":
    unittest.main()
