"""The errors that predictions are printed with are those of today's predictions.

    STRATA=build/dev/bin/strata python3 tests/cli/published_test.py
"""

import pathlib
import subprocess
import tempfile
import unittest

import cases

ROOT = pathlib.Path(__file__).resolve().parents[2]


class Published(unittest.TestCase):
    def test_what_ships_is_what_the_program_writes(self):
        with tempfile.TemporaryDirectory() as folder:
            for kept in (ROOT / "profiles/published/errors.csv", ROOT / "docs/fidelity.md"):
                made = pathlib.Path(folder) / kept.name
                command = [cases.program(), "validate", "--published", "-o", made]
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
                # The report names the command that made it, with its file, whose folder may have
                # a name with underscores.
                named = str(made).replace("_", "\\_")
                text = made.read_text().replace(named, f"docs/{kept.name}")
                self.assertEqual(text, kept.read_text(), f"strata validate --published -o {kept}")


if __name__ == "__main__":
    unittest.main()
