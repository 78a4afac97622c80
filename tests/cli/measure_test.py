"""Shards measured on this machine's cores, and predictions held to runs: the JSON, the files that
are written, and what they are good for. No time is tested: only what has to hold on any machine."""

import json
import os
import pathlib
import pty
import re
import signal
import subprocess
import tempfile
import unittest

import cases
from json_test import NUMBER, misfits, said

PROFILE = {
    "models": [str], "device_names": str, "dtype": str, "kind": str, "machine": str, "rounds": int,
    "measure_seconds": NUMBER, "measured_costs": int, "measured_moves": int,
    "relative_spread": {"median": NUMBER, "p90": NUMBER}, "sweeps": int, "disturbed_sweeps": int,
}
VALIDATION = {
    "device_names": str, "dtype": str,
    "cases": [{"model": str, "devices": int, "batch": int, "strategy": str,
               "predicted_seconds": NUMBER, "profile_seconds": NUMBER, "eq1_seconds": NUMBER,
               "measured_seconds": NUMBER, "spread_seconds": NUMBER, "measured_steps": int,
               "relative_error": NUMBER,
               "relative_error_interval": {"low": NUMBER, "high": NUMBER, "confidence": NUMBER},
               "pairs": int, "verdict": str,
               "comm_bytes": int, "moved_bytes": int}],
    "mean_absolute_error": NUMBER, "max_absolute_error": NUMBER, "rank_agreement": NUMBER,
    "verdict": str, "judged_cases": int, "to_judge": {"rounds": int, "seconds": NUMBER},
    "guard_threshold": NUMBER,
    "largest_error": {"rows": [{"layer": str, "task": str, "share": NUMBER}]},
}
STRATEGIES = ["data", "model", "owt", "optimal"]
LENET = "lenet5 --devices cpu:2 --batch 8"


class Measure(unittest.TestCase):
    def test_a_measured_profile_predicts_and_solves(self):
        with tempfile.TemporaryDirectory() as folder:
            made = said(f"strata profile {LENET} --rounds 1 -o f.toml --json", folder)
            self.assertEqual(misfits(made, PROFILE), [])
            self.assertFalse(made["stopped"])
            self.assertEqual((made["profile"], made["graph"]), ("f.toml", False))
            self.assertEqual(sorted(p.name for p in pathlib.Path(folder).iterdir()),
                             ["f.costs.tsv", "f.toml"])
            case = "lenet5 --cluster cpu:2 --batch 8 --profile f.toml"
            for strategy in STRATEGIES:
                predicted = said(f"strata predict {case} --strategy {strategy} --json", folder)
                self.assertEqual(predicted["cost_sources"]["analytic"], 0, strategy)
                self.assertGreater(predicted["cost_sources"]["measured"], 0.5, strategy)
            eq1 = said(f"strata solve {case} --objective eq1 --json", folder)
            self.assertTrue(eq1["optimal"])
            fastest = said(f"strata solve {case} --json", folder)
            self.assertLessEqual(fastest["step_seconds"], eq1["step_seconds"])
            scattered = [said(f"strata predict {case} --strategy data --jitter {seed} --json",
                              folder)["jitter"] for seed in (1, 1, 2)]
            self.assertEqual(scattered[0], scattered[1])
            self.assertNotEqual(scattered[0]["p50_seconds"], scattered[2]["p50_seconds"])
            for steps in scattered:
                self.assertEqual(steps["steps"], 100)
                self.assertLess(steps["p50_seconds"], steps["p95_seconds"])

    def test_merging_keeps_what_is_not_measured_anew(self):
        with tempfile.TemporaryDirectory() as folder:
            counts = [said(f"strata profile {LENET} --rounds 1 --strategies {options} --json",
                           folder)["measured_costs"]
                      for options in ("data -o f.toml", "model -o f.toml --merge", "data,model")]
            self.assertLess(counts[0], counts[1])
            self.assertEqual(counts[1], counts[2])

    def test_every_strategy_is_predicted_and_run(self):
        with tempfile.TemporaryDirectory() as folder:
            done = said(f"strata validate {LENET} --rounds 1 --trace t.json -o f.toml --json",
                        folder)
            self.assertEqual(misfits(done, VALIDATION), [])
            self.assertFalse(done["stopped"])
            self.assertEqual([(c["devices"], c["strategy"]) for c in done["cases"]],
                             [(devices, s) for devices in (1, 2) for s in STRATEGIES])
            self.assertIs(done["graph"], False)
            self.assertEqual(done["judged_cases"], 0)  # of one pair each, so that all count
            errors = []
            for case in done["cases"]:
                self.assertEqual(case["pairs"], 1)
                self.assertEqual(case["verdict"], "too few rounds to judge")
                self.assertEqual(case["comm_bytes"], case["moved_bytes"])
                predicted, measured = case["predicted_seconds"], case["measured_seconds"]
                self.assertAlmostEqual(case["relative_error"], predicted / measured - 1)
                errors.append(abs(case["relative_error"]))
            self.assertAlmostEqual(done["max_absolute_error"], max(errors))
            self.assertAlmostEqual(done["mean_absolute_error"], sum(errors) / len(errors))
            self.assertAlmostEqual(sum(r["share"] for r in done["largest_error"]["rows"]), 1)
            events = json.loads(pathlib.Path(folder, "t.json").read_text())["traceEvents"]
            names = {e["args"]["name"] for e in events if e.get("name") == "thread_name"}
            self.assertLessEqual({"compute predicted", "compute measured"}, names)
            self.assertTrue(pathlib.Path(folder, "f.costs.tsv").exists())

    def test_what_cannot_be_judged_fails_as_the_machines_fault(self):
        outcome = cases.run(f"strata validate {LENET} --only --strategies data --rounds 1 "
                            "--tolerance 0 --json", ".")
        self.assertEqual(outcome.exit_code, 3)
        self.assertIn("data: too few rounds to judge", outcome.stderr)
        self.assertIn("9 rounds would suffice", outcome.stderr)
        self.assertEqual(len(json.loads(outcome.stdout)["cases"]), 1)

    def test_the_exit_code_says_what_the_verdicts_say(self):
        outcome = cases.run(f"strata validate {LENET} --only --strategies data,model --rounds 6 "
                            "--tolerance 0 --json", ".")
        verdicts = [case["verdict"] for case in json.loads(outcome.stdout)["cases"]]
        self.assertEqual(outcome.exit_code, 1 if "off" in verdicts else 3, verdicts)
        self.assertEqual(outcome.stderr.count("allowed: 0"), verdicts.count("off"))

    def test_a_time_takes_the_place_of_rounds(self):
        done = said(f"strata validate {LENET} --only --strategies data --seconds 0.001 --json", ".")
        self.assertEqual([case["pairs"] for case in done["cases"]], [1])

    def interrupted(self, command, folder):
        """Its JSON, after an interrupt in a round behind the first ones; and what it said of that."""
        try:
            terminal, end = pty.openpty()
        except OSError as error:
            self.skipTest(f"this machine gives no pseudo-terminal: {error}")
        words = [cases.program(), *command.split(), "--rounds", "100000", "--json"]
        with subprocess.Popen(words, cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=end) as running:
            os.close(end)
            said_so_far = b""
            while not re.search(rb"round [5-9]", said_so_far):
                said_so_far += os.read(terminal, 4096)
            running.send_signal(signal.SIGINT)
            output = running.stdout.read()
            while b"interrupted" not in said_so_far:  # what was never said ends as an error of reading
                said_so_far += os.read(terminal, 1 << 16)
        os.close(terminal)
        self.assertEqual(running.returncode, 1)
        return json.loads(output), said_so_far.decode()

    def test_an_interrupted_profile_keeps_what_was_measured(self):
        with tempfile.TemporaryDirectory() as folder:
            made, text = self.interrupted(f"profile {LENET} --strategies data -o f.toml", folder)
            self.assertEqual(misfits(made, PROFILE), [])
            self.assertTrue(made["stopped"])
            self.assertIn("interrupted; what was measured so far is in f.toml", text)
            self.assertIn("Called off: of lenet5, what ", pathlib.Path(folder, "f.toml").read_text())
            predicted = said("strata predict lenet5 --cluster cpu:2 --batch 8 --profile f.toml "
                             "--strategy data --json", folder)
            self.assertEqual(predicted["cost_sources"]["analytic"], 0)

    def test_an_interrupted_validation_says_what_it_has(self):
        with tempfile.TemporaryDirectory() as folder:
            done, text = self.interrupted(f"validate {LENET} --only --strategies data -o f.toml", folder)
            # A few rounds may have been enough to judge by.
            judged = [".to_judge is no object"] if done["to_judge"] is None else []
            self.assertEqual(misfits(done, VALIDATION), judged)
            self.assertTrue(done["stopped"])
            self.assertIn("interrupted; the output above is what was measured so far", text)
            case, = done["cases"]
            self.assertEqual((case["strategy"], case["comm_bytes"]), ("data", case["moved_bytes"]))
            self.assertLess(case["pairs"], 100000)
            self.assertTrue(pathlib.Path(folder, "f.costs.tsv").exists())


if __name__ == "__main__":
    unittest.main()
