"""What people read: the output of a few commands, as it stands in tests/golden/cli.

Each file starts with its command. `golden_test.py --accept` writes what they print now. The
predictions use toy.toml, so that fitting a shipped profile anew moves nothing here.
"""

import pathlib
import sys
import unittest

import cases

FOLDER = pathlib.Path(__file__).resolve().parents[1] / "golden" / "cli"
PROMPT = "$ "


def printed(command):
    """The golden of a command: the line that asks, and the answer."""
    outcome = cases.run(command, FOLDER)
    if outcome.exit_code != 0 or outcome.stderr:
        raise AssertionError(f"{command}: {outcome.said()}")
    return f"{PROMPT}{command}\n{outcome.stdout.decode()}"


def command_of(path):
    return path.read_text().split("\n", 1)[0].removeprefix(PROMPT)


class Golden(unittest.TestCase):
    maxDiff = None

    def test_each_file(self):
        paths = sorted(FOLDER.glob("*.txt"))
        self.assertTrue(paths)
        for path in paths:
            with self.subTest(path.name):
                self.assertEqual(printed(command_of(path)), path.read_text())


if __name__ == "__main__":
    if "--accept" in sys.argv:
        for golden in sorted(FOLDER.glob("*.txt")):
            golden.write_text(printed(command_of(golden)))
    else:
        unittest.main()
