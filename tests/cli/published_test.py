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
                # The report names the command that made it, with its file.
                command = [cases.program(), "validate", "--published", "-o", kept.name]
                subprocess.run(command, check=True, stdout=subprocess.DEVNULL, cwd=folder)
                text = (pathlib.Path(folder) / kept.name).read_text()
                text = text.replace(f"-o {kept.name}", f"-o docs/{kept.name}")
                self.assertEqual(text, kept.read_text(), f"strata validate --published -o {kept}")


if __name__ == "__main__":
    unittest.main()
