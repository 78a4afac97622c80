"""What the command line promises beside its results: provenance that says what was typed, and
warnings where a result means less than it seems to."""

import json
import os
import pathlib
import sqlite3
import tempfile
import unittest

import cases

LENET = "lenet5 --devices cpu:1 --batch 2"
SCENARIO = """
name = "one case"
[[sweep]]
model = "lenet5"
cluster = "p100-1x2"
strategy = "data"
"""


def text(path):
    return pathlib.Path(path).read_text()


class Provenance(unittest.TestCase):
    def test_a_profile_keeps_the_commands_of_all_its_parts(self):
        first = f"strata profile {LENET} --strategies data --rounds 1 -o f.toml"
        second = f"strata profile {LENET} --strategies owt --rounds 1 --merge -o f.toml --json"
        with tempfile.TemporaryDirectory() as folder:
            for command in (first, second):
                self.assertEqual(cases.run(command, folder).exit_code, 0)
            profile = text(f"{folder}/f.toml")
            self.assertIn(f'command = "{second}"', profile.split("[[provenance.earlier]]")[0])
            self.assertIn(f'command = "{first}"', profile.split("[[provenance.earlier]]")[1])

    def test_a_sweep_is_recorded_as_it_was_typed(self):
        typed = "strata sweep 'one case.toml' --db of.db -j 1 --shard 1/1"
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "one case.toml").write_text(SCENARIO)
            outcome = cases.run(typed, folder)
            self.assertEqual(outcome.exit_code, 0, outcome.stderr)
            with sqlite3.connect(f"{folder}/of.db") as database:
                self.assertEqual(database.execute("SELECT command FROM invocation").fetchall(),
                                 [(typed,)])


class Counts(unittest.TestCase):
    """A count is in decimal digits: 064 is 64, not the octal 52."""

    def json(self, command):
        outcome = cases.run(f"{command} --json", ".")
        self.assertEqual(outcome.exit_code, 0, outcome.stderr)
        return json.loads(outcome.stdout)

    def test_leading_zeros(self):
        predict = "strata predict lenet5 --cluster p100-1x2 --strategy data"
        self.assertEqual(self.json(f"{predict} --batch 064")["batch"], 64)
        self.assertEqual(self.json(f"{predict} --batch-per-device 010")["batch"], 20)
        run = "strata run lenet5 --devices cpu:1 --batch 2 --strategy data"
        self.assertEqual(len(self.json(f"{run} --steps 010 --warmup 08 --seed 09")["losses"]), 10)


class Warnings(unittest.TestCase):
    def warned(self, command, folder="."):
        outcome = cases.run(command, folder)
        self.assertEqual(outcome.exit_code, 0, outcome.stderr)
        return [line for line in outcome.stderr.splitlines() if "warning" in line]

    def test_devices_that_share_cores(self):
        cores = len(os.sched_getaffinity(0))
        run = f"strata run lenet5 --strategy data --batch {cores + 1} --steps 1 --devices cpu:"
        self.assertEqual(self.warned(run + "1"), [])
        self.assertEqual(self.warned(f"{run}{cores + 1}"),
                         [f"strata: warning: cpu:{cores + 1} on {cores} cores: devices take turns "
                          "on a core, so times mean nothing and predictions do not hold"])

    def test_devices_without_work(self):
        run = "strata run lenet5 --strategy data --steps 1 --devices cpu:2 --batch "
        self.assertEqual(self.warned(run + "2"), [])
        self.assertEqual(self.warned(run + "1"),
                         ["strata: warning: data: 1 of 2 devices have no work"])

    def test_a_type_without_arithmetic(self):
        predict = "strata predict lenet5 --cluster p100-1x2 --strategy data --dtype "
        self.assertEqual(self.warned(predict + "fp16"), [])
        self.assertEqual(self.warned(predict + "bf16"),
                         ["strata: warning: p100 has no bf16 arithmetic: it computes in fp32, and "
                          "only the bytes are those of the type"])

    def test_costs_of_another_number_of_devices(self):
        with tempfile.TemporaryDirectory() as folder:
            made = cases.run(f"strata profile {LENET} --strategies data --rounds 1 -o f.toml",
                             folder)
            self.assertEqual(made.exit_code, 0, made.stderr)
            options = "--batch 2 --strategy data --profile f.toml"
            for command in ("strata predict lenet5 --cluster cpu:{} " + options,
                            "strata run lenet5 --steps 1 --devices cpu:{} " + options):
                self.assertEqual(self.warned(command.format(1), folder), [])
                self.assertRegex("\n".join(self.warned(command.format(2), folder)),
                                 "measured on 1 devices at once, and localhost has 2")


if __name__ == "__main__":
    unittest.main()
