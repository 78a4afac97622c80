"""What scripts/validation-report makes of reports that are kept, on reports that the tests make up: no
figure here was measured."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts" / "validation-report"


def case(devices, error, verdict="holds"):
    return {"devices": devices, "strategy": "data", "predicted_seconds": 1.0, "profile_seconds": 1.0,
            "measured_seconds": 1.0, "spread_seconds": 0.01, "relative_error": error,
            "relative_error_interval": {"low": error - 0.01, "high": error + 0.01}, "verdict": verdict}


def report(cases):
    return {"cases": cases, "ranked_pairs": 0, "rank_agreement": 1, "fastest_first": True,
            "sweeps": 8, "disturbed_sweeps": 1}


class Kept(unittest.TestCase):
    """A folder with the script and the reports beside it."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.root = pathlib.Path(temporary.name)
        (self.root / "scripts").mkdir()
        (self.root / "build" / "validation").mkdir(parents=True)
        self.script = shutil.copy(SCRIPT, self.root / "scripts")
        self.file = self.root / "build" / "validation" / "toy-batch-4-devices-2.json"

    def printed(self, kept):
        if kept:
            self.file.write_text(json.dumps(kept))
        return subprocess.run([sys.executable, self.script, "--kept", "toy:4"], check=False,
                              capture_output=True, text=True)

    def test_only_what_is_judged_counts(self):
        done = self.printed(report([case(1, 0.02), case(2, 0.04, "off"),
                                    case(2, 0.9, "too noisy to judge")]))
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("| 2 | +4.0 %, ? |", done.stdout)
        self.assertIn("Mean absolute error 3.0 %, largest 4.0 %, of 2 runs.", done.stdout)
        self.assertIn("1 of 3 runs could not be judged.", done.stdout)

    def test_a_report_of_an_earlier_version_is_refused_by_name(self):
        for key in ("verdict", "profile_seconds"):
            old = case(1, 0.02)
            del old[key]
            done = self.printed(report([old]))
            self.assertEqual(done.returncode, 1)
            self.assertEqual(done.stdout, "")
            self.assertIn(f"{self.file}: an earlier version's report, without {key}", done.stderr)

    def test_a_report_that_is_not_there_is_named(self):
        done = self.printed(None)
        self.assertEqual(done.returncode, 1)
        self.assertIn(str(self.file), done.stderr)
        self.assertNotIn("Traceback", done.stderr)


if __name__ == "__main__":
    unittest.main()
