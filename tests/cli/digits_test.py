"""Real data, to its end: handwritten digits are told apart in at least 95 of 100 cases, and every
strategy on two and on four cores learns along the curve of one. Skipped where the data is missing."""

import pathlib
import subprocess
import tempfile
import unittest

import cases
from json_test import said

ROOT = cases.HERE.parents[1]
MODEL = ROOT / "scenarios/models/digits.toml"
PROFILE = ROOT / "tests/sim/measure/toy_cpu.toml"  # for optimal: any costs will do
OPTIONS = "--batch 16 --lr 0.02 --steps 3000"
SAME_STEPS = 1000  # rounding grows with the steps: docs/run.md


def distance(a, b):
    """Euclidean, over the length of the second."""
    return (sum((x - y) ** 2 for x, y in zip(a, b)) / sum(y * y for y in b)) ** 0.5


class Digits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        done = subprocess.run([ROOT / "scripts/digits", cls.folder.name], capture_output=True)
        if done.returncode == 3:
            raise unittest.SkipTest(done.stderr.decode().strip())
        done.check_returncode()

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def train(self, strategy, devices):
        profile = f"--profile {PROFILE}" if strategy == "optimal" else ""
        return said(f"strata run {MODEL} --devices cpu:{devices} --strategy {strategy} {profile} "
                    f"{OPTIONS} --data train --test-data test --json", self.folder.name)

    def test_every_cut_learns_the_same(self):
        reference = self.train("data", 1)
        self.assertGreaterEqual(reference["test_accuracy"], 0.95)
        for devices in (2, 4):
            for strategy in ("data", "model", "owt", "optimal"):
                with self.subTest(strategy, devices=devices):
                    done = self.train(strategy, devices)
                    self.assertGreaterEqual(done["test_accuracy"], 0.95)
                    ours, theirs = done["losses"], reference["losses"]
                    self.assertLess(distance(ours[:SAME_STEPS], theirs[:SAME_STEPS]), 1e-4)
                    self.assertLess(distance(ours, theirs), 1e-2)


if __name__ == "__main__":
    unittest.main()
