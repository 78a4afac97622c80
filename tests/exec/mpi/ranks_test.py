"""Processes beside one process: the same values to the bit, and an end when one of them is lost.
RANKS names the program that mpirun starts."""

import os
import shutil
import subprocess
import sys
import unittest

CASES = 8  # random networks, of each number of ranks
SECONDS = 300  # a hang, not a measure of speed


def ranks(count, *arguments):
    command = ["mpirun", "-np", str(count), "--oversubscribe", "--bind-to", "none"]
    if os.geteuid() == 0:
        command.append("--allow-run-as-root")
    return subprocess.run([*command, os.environ["RANKS"], *map(str, arguments)],
                          capture_output=True, text=True, timeout=SECONDS, check=False)


class Ranks(unittest.TestCase):
    def test_compute_what_one_process_computes(self):
        for count in (2, 3, 4):
            with self.subTest(ranks=count):
                outcome = ranks(count, "same", CASES * count, CASES * (count + 1))
                self.assertEqual(outcome.returncode, 0, outcome.stderr)

    def test_compute_blocks_again(self):
        outcome = ranks(4, "again")
        self.assertEqual(outcome.returncode, 0, outcome.stderr)

    def test_know_their_places_on_the_host(self):
        outcome = ranks(3, "places")
        self.assertEqual(outcome.returncode, 0, outcome.stderr)

    def test_refuse_replicas_that_differ(self):
        outcome = ranks(2, "different")
        self.assertEqual(outcome.returncode, 3, outcome.stderr)
        self.assertRegex(outcome.stderr, r"the replicas' parameters of layer \S+ differ")

    def test_end_when_one_is_killed(self):
        outcome = ranks(2, "killed")
        self.assertEqual(outcome.returncode, 128 + 9, outcome.stderr)
        self.assertRegex(outcome.stderr, r"rank 0: mpirun ends all .*: step 0: layer \S+: .* cpu0")

    def test_end_when_one_never_answers(self):
        outcome = ranks(2, "stuck")
        self.assertEqual(outcome.returncode, 3, outcome.stderr)
        self.assertRegex(outcome.stderr, r"rank 0: nothing happened .*: step 0: .* waits for rank 1")


if __name__ == "__main__":
    if not shutil.which("mpirun"):
        print("skipped: no mpirun (openmpi-bin)")
        sys.exit(77)
    unittest.main()
