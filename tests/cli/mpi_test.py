"""Several processes as their user sees them: the losses of one process, one voice, one exit code."""

import os
import shutil
import unittest

import cases
from json_test import said

RUN = "strata run lenet5 --batch 6 --steps 3 --json"
ROOT = "--allow-run-as-root" if os.geteuid() == 0 else ""
MPIRUN = f"mpirun {ROOT} --oversubscribe --bind-to none -np 2"


def built_with_mpi():
    return b", mpi" in cases.run("strata --version", ".").stdout


@unittest.skipUnless(shutil.which("mpirun"), "no mpirun (openmpi-bin)")
class Processes(unittest.TestCase):
    def setUp(self):
        if not built_with_mpi():
            self.skipTest("built without MPI")

    def test_lose_what_one_process_loses(self):
        for strategy in ("data", "model", "owt"):
            with self.subTest(strategy):
                options = f"{RUN} --devices cpu:2 --strategy {strategy}"
                several, one = said(f"{MPIRUN} {options}"), said(options)
                for key in ("losses", "comm_bytes", "transfer_bytes", "sync_bytes"):
                    self.assertEqual(several[key], one[key], key)

    def test_bad_input_is_told_once(self):
        outcome = cases.run(f"{MPIRUN} {RUN} --devices cpu:3 --strategy data", ".")
        self.assertEqual(outcome.exit_code, 2)
        self.assertEqual(outcome.stderr.count("strata: error"), 1)
        self.assertIn("allowed: cpu:2", outcome.stderr)

    def test_bad_input_of_one_is_told_once(self):
        one = f"-np 1 {RUN} --devices cpu:2 --strategy data"
        for command in (f"{one} : {one} --weights nowhere", f"{one} --weights nowhere : {one}"):
            outcome = cases.run(f"{MPIRUN.removesuffix('-np 2')} {command}", ".")
            self.assertEqual(outcome.exit_code, 2)
            self.assertEqual(outcome.stderr.count("nowhere/conv1.bias.npy"), 1, outcome.stderr)
            self.assertNotIn("rank", outcome.stderr.split("-----")[0])

    def test_a_failed_task_ends_all(self):
        outcome = cases.run(f"{MPIRUN} {RUN} --devices cpu:2 --strategy data --lr 1e38", ".")
        self.assertEqual(outcome.exit_code, 1)
        self.assertRegex(outcome.stderr, r"step \d+: layer loss: .* cpu[01]")


if __name__ == "__main__":
    unittest.main()
