"""Training for real on this machine's cores: the JSON, files that are written, agreement with one
device, and what is said when a run fails."""

import json
import os
import pathlib
import signal
import subprocess
import tempfile
import time
import unittest

import cases
from json_test import NUMBER, misfits, said

DIGITS = cases.HERE.parents[1] / "scenarios/models/digits.toml"
# Of positions with their channels, and of rows of features.
NORMED = """
name = "normed"
[[layer]]
name = "data"
op = "input"
shape = [5, 7]
[[layer]]
name = "mix"
op = "conv1d"
out_channels = 9
kernel = 1
[[layer]]
name = "positions"
op = "layer_norm"
[[layer]]
name = "fc"
op = "fc"
out_features = 12
[[layer]]
name = "rows"
op = "layer_norm"
affine = false
epsilon = 1e-3
[[layer]]
name = "loss"
op = "softmax_cross_entropy"
"""
# The gradients of the first norm are zero but for rounding.
NORM_BEFORE_NORM = """
name = "norms"
[[layer]]
name = "data"
op = "input"
shape = [3, 16, 16]
[[layer]]
name = "conv"
op = "conv2d"
out_channels = 8
kernel = 3
padding = 1
[[layer]]
name = "first"
op = "batch_norm"
[[layer]]
name = "second"
op = "batch_norm"
[[layer]]
name = "fc"
op = "fc"
out_features = 10
[[layer]]
name = "loss"
op = "softmax_cross_entropy"
"""
# Cut in c on 2 devices: pairs of floats that all-reduce to 2 (2-1) their bytes, of 6 x 7 positions
# and of 6 rows forward and back, and of the loss's 6 rows forward.
NORMED_BYTES = 2 * 8 * (2 * 6 * 7 + 2 * 6 + 6)
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
                    self.assertNotIn("plain_loops", done)  # which GPUs alone tell of,
                    self.assertNotIn("issue_seconds", done)  # and this
                    times = done["step_seconds"]
                    self.assertLessEqual(times["min"], times["median"])
                    self.assertLessEqual(times["median"], times["p90"])
                    self.assertEqual(done["comm_bytes"],
                                     done["transfer_bytes"] + done["sync_bytes"])

    def test_gradients_that_are_zero_but_for_rounding_pass_any_tolerance(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "net.toml").write_text(NORM_BEFORE_NORM)
            for strategy in ("data", "model"):
                done = run(f"net.toml --devices cpu:2 --strategy {strategy} --batch 8 --steps 3 "
                           "--check --tolerance 1e-4", folder)
                self.assertEqual(done["check"], "passed")
                self.assertLess(done["max_relative_difference"]["gradients"], 5e-5)

    def test_layer_norms_exchange_statistics_where_channels_are_cut(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "net.toml").write_text(NORMED)
            self.check_normed("data", 0, folder)
            self.check_normed("model", NORMED_BYTES, folder)

    def check_normed(self, strategy, exchanged, folder):
        options = f"net.toml --strategy {strategy} --batch 6"
        done = run(f"{options} --devices cpu:2 --steps 2 --check", folder)
        self.assertEqual((done["check"], done["rounding"]), ("passed", None))
        predicted = said(f"strata predict {options} --cluster p100-1x2 --json", folder)
        for it in (done, predicted):
            self.assertEqual(it["statistics_bytes"], exchanged, strategy)
        for key in ("comm_bytes", "transfer_bytes", "sync_bytes"):
            self.assertEqual(done[key], predicted[key], key)

    def test_bytes_are_those_of_the_prediction(self):
        for strategy in ("data", "model", "owt"):
            options = f"--strategy {strategy} --batch 8"
            done = run(f"lenet5 --devices cpu:2 {options} --steps 2")
            predicted = said(f"strata predict lenet5 --cluster p100-1x2 {options} --json")
            for key in ("comm_bytes", "transfer_bytes", "sync_bytes"):
                self.assertEqual(done[key], predicted[key], (strategy, key))

    def test_layers_cut_in_their_reduction(self):
        """conv2's 6 input channels, fc1's 400 and fc2's 120 over 2 and 4 cores."""
        for devices, cuts in ((2, {"conv2": {"r": 2}, "fc1": {"r": 2}, "fc2": {"c": 2}}),
                              (4, {"conv2": {"n": 2, "r": 2, "scatter": "c"}, "fc1": {"c": 4},
                                   "fc2": {"r": 4}})):
            with tempfile.TemporaryDirectory() as folder:
                layers = [{"name": name, "config": cut} for name, cut in cuts.items()]
                strategy = {"strategy": "r", "default": {"n": devices}, "layers": layers}
                pathlib.Path(folder, "r.json").write_text(json.dumps(strategy), encoding="utf-8")
                options = "lenet5 --strategy r.json --batch 8"
                done = run(f"{options} --devices cpu:{devices} --steps 2 --check", folder)
                self.assertEqual(done["check"], "passed")
                predicted = said(f"strata predict {options} --cluster p100-1x{devices} --json", folder)
                for key in ("comm_bytes", "transfer_bytes", "sync_bytes"):
                    self.assertEqual(done[key], predicted[key], key)
                config = {layer["name"]: layer["config"] for layer in predicted["layers"]}
                r = cuts["fc2"].get("r", 1)
                self.assertEqual(config["fc2"].get("r", 1), r)
                self.assertEqual("scatter" in config["fc2"], r > 1)

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


class SearchedWithoutAProfile(unittest.TestCase):
    """`--strategy optimal` measures what it needs, once."""

    COMMAND = "strata run lenet5 --devices cpu:2 --strategy optimal --batch 8 --steps 2 --json"

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.cache = pathlib.Path(folder.name)
        self.environment = {"XDG_CACHE_HOME": folder.name}

    def run_once(self, command=COMMAND):
        outcome = cases.run(command, ".", self.environment)
        self.assertEqual(outcome.exit_code, 0, outcome.stderr)
        return json.loads(outcome.stdout), outcome.stderr

    def test_what_was_measured_is_kept(self):
        first, said_first = self.run_once()
        self.assertEqual(first["costs"]["source"], "measured")
        self.assertEqual(first["costs"]["kept"], 0)
        self.assertGreater(first["costs"]["measured"], 50)
        self.assertIn("measured now", said_first)
        self.assertIn(f"kept in {self.cache}/strata/costs/cpu-2-", said_first)
        kept = cases.tree(self.cache)

        again, said_again = self.run_once()
        self.assertEqual(again["costs"]["source"], "kept")
        self.assertEqual(again["costs"]["kept"], first["costs"]["measured"])
        self.assertEqual(again["costs"]["measured"], 0)
        self.assertIn("(measured 20", said_again)
        self.assertEqual(again["predicted_seconds"], first["predicted_seconds"])
        self.assertEqual(cases.tree(self.cache), kept)

        larger, _ = self.run_once(self.COMMAND.replace("--batch 8", "--batch 16"))
        self.assertGreater(larger["costs"]["kept"], 0)
        self.assertGreater(larger["costs"]["measured"], 0)
        part, = self.cache.rglob("*.toml")
        with_profile, said_with = self.run_once(f"{self.COMMAND} --profile {part}")
        self.assertEqual(with_profile["costs"], {"source": "profile", "files": [str(part)]})
        self.assertNotIn("the search's costs", said_with)

    def end_after_the_first_part(self, command, how):
        """The exit code, and what was said."""
        variables = dict(os.environ, XDG_CACHE_HOME=str(self.cache),
                         PATH=f"{cases.program().parent}:{os.environ['PATH']}")
        with subprocess.Popen(command.split(), env=variables, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True) as process:
            while not list(self.cache.rglob("*.toml")) and process.poll() is None:
                time.sleep(0.01)
            process.send_signal(how)
            _, said = process.communicate(timeout=cases.SECONDS)
        return process.returncode, said

    def check_that_a_run_goes_on(self, command):
        rest, said = self.run_once(command)
        self.assertGreater(rest["costs"]["kept"], 0)
        self.assertGreater(rest["costs"]["measured"], 0)
        self.assertNotIn("warning: /", said)

    def test_an_interrupt_keeps_what_was_measured(self):
        command = self.COMMAND.replace("--batch 8", "--batch 128")
        code, said = self.end_after_the_first_part(command, signal.SIGINT)
        self.assertEqual(code, 1, said)
        self.assertIn("interrupted while measuring costs", said)
        self.check_that_a_run_goes_on(command)

    def test_a_kill_keeps_what_was_measured(self):
        command = self.COMMAND.replace("--batch 8", "--batch 128")
        code, said = self.end_after_the_first_part(command, signal.SIGKILL)
        self.assertEqual(code, -signal.SIGKILL, said)
        self.check_that_a_run_goes_on(command)

    def test_runs_at_once_keep_what_either_measured(self):
        variables = dict(os.environ, XDG_CACHE_HOME=str(self.cache),
                         PATH=f"{cases.program().parent}:{os.environ['PATH']}")
        commands = [self.COMMAND, self.COMMAND.replace("--batch 8", "--batch 12")]
        running = [subprocess.Popen(command.split(), env=variables, stdout=subprocess.DEVNULL,
                                    stderr=subprocess.DEVNULL) for command in commands]
        self.assertEqual([process.wait(timeout=cases.SECONDS) for process in running], [0, 0])
        for command in commands:
            self.assertEqual(self.run_once(command)[0]["costs"]["measured"], 0)

    def test_a_folder_that_cannot_be_written_is_a_warning(self):
        (self.cache / "strata").write_text("")
        done, said = self.run_once()
        self.assertEqual(done["costs"]["source"], "measured")
        self.assertEqual(said.count("strata: warning: measured costs are not kept"), 1)


if __name__ == "__main__":
    unittest.main()
