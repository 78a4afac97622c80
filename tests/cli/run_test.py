"""Training for real on this machine's cores: the JSON, files that are written, agreement with one
device, and what is said when a run fails."""

import json
import pathlib
import tempfile
import unittest

import cases
from json_test import NUMBER, misfits, said

DIGITS = cases.HERE.parents[1] / "scenarios/models/digits.toml"
RUN = {
    "model": str, "devices": int, "batch": int, "steps": int, "timed_steps": int,
    "step_seconds": {"median": NUMBER, "min": NUMBER, "p90": NUMBER}, "throughput": NUMBER,
    "losses": [NUMBER], "comm_bytes": int, "transfer_bytes": int, "sync_bytes": int,
}
CHECKED = dict(RUN, max_relative_difference={"loss": NUMBER, "gradients": NUMBER,
                                             "weights": NUMBER},
               tolerance=NUMBER, check=str, allowed={"loss": NUMBER, "gradients": NUMBER,
                                                     "weights": NUMBER},
               layer_check={"layers": int, "steps": int, "beyond": [],
                            "largest": {"layer": str, "what": str, "difference": NUMBER,
                                        "allowed": NUMBER}})


def run(options, folder="."):
    return said(f"strata run {options} --json", folder)


class Run(unittest.TestCase):
    def test_every_strategy_computes_what_one_device_does(self):
        for strategy in ("data", "model", "owt"):
            for devices in (1, 2, 3):
                with self.subTest(strategy, devices=devices):
                    done = run(f"lenet5 --devices cpu:{devices} --strategy {strategy} --batch 6 "
                               "--steps 3 --check")
                    self.assertEqual(misfits(done, CHECKED), [])
                    self.assertEqual((done["check"], done["rounding"]), ("passed", None))
                    self.assertEqual(done["layer_check"]["layers"], 13)
                    self.assertEqual((done["devices"], done["batch"]), (devices, 6))
                    self.assertEqual((len(done["losses"]), done["timed_steps"]), (3, 2))
                    times = done["step_seconds"]
                    self.assertLessEqual(times["min"], times["median"])
                    self.assertLessEqual(times["median"], times["p90"])
                    self.assertEqual(done["comm_bytes"],
                                     done["transfer_bytes"] + done["sync_bytes"])

    def test_bytes_are_those_of_the_prediction(self):
        for strategy in ("data", "model", "owt"):
            options = f"--strategy {strategy} --batch 8"
            done = run(f"lenet5 --devices cpu:2 {options} --steps 2")
            predicted = said(f"strata predict lenet5 --cluster p100-1x2 {options} --json")
            for key in ("comm_bytes", "transfer_bytes", "sync_bytes"):
                self.assertEqual(done[key], predicted[key], (strategy, key))

    def test_training_goes_on_from_saved_weights(self):
        with tempfile.TemporaryDirectory() as folder:
            options = "lenet5 --devices cpu:1 --strategy data --batch 4 --lr 0.1"
            whole = run(f"{options} --steps 3", folder)["losses"]
            first = run(f"{options} --steps 2 --save-weights w", folder)["losses"]
            last = run(f"{options} --steps 1 --weights w", folder)["losses"]
            self.assertEqual(first + last, whole)
            again = cases.run(f"strata run {options} --save-weights w", folder)
            self.assertEqual(again.exit_code, 2)

    def test_a_difference_above_the_tolerance_fails(self):
        outcome = cases.run("strata run lenet5 --devices cpu:2 --strategy data --batch 4 --steps 2 "
                            "--check --tolerance 0 --save-weights w --json", ".")
        self.assertEqual(outcome.exit_code, 1)
        self.assertIn("allowed: 0", outcome.stderr)
        self.assertEqual(json.loads(outcome.stdout)["check"], "failed")
        self.assertFalse(pathlib.Path("w").exists())

    def test_a_loss_that_is_no_number_names_task_and_device(self):
        outcome = cases.run(f"strata run {DIGITS} --devices cpu:2 --strategy data --batch 4 "
                            "--steps 5 --lr 1e30", ".")
        self.assertEqual(outcome.exit_code, 1)
        self.assertRegex(outcome.stderr, r"step \d+: layer loss: .* cpu[01]")
        self.assertEqual(outcome.stdout, b"")

    def test_what_memory_cannot_hold_is_refused(self):
        outcome = cases.run("strata run vgg16 --devices cpu:1 --strategy data --batch 8192", ".")
        self.assertEqual(outcome.exit_code, 3)
        self.assertIn("not enough memory", outcome.stderr)

    def test_the_trace_has_the_measured_steps(self):
        with tempfile.TemporaryDirectory() as folder:
            run("lenet5 --devices cpu:2 --strategy owt --batch 4 --steps 2 --trace t.json", folder)
            events = json.loads(pathlib.Path(folder, "t.json").read_text())["traceEvents"]
            self.assertTrue(any(e["ph"] == "X" for e in events))


if __name__ == "__main__":
    unittest.main()
