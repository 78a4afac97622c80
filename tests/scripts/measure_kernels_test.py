"""scripts/measure-kernels where there is no GPU: what it says, and the files that it writes."""

import csv
import io
import json
import pathlib
import subprocess
import sys
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from measure_kernels import tables  # noqa: E402

try:
    import torch
except ImportError:
    torch = None
MEASURES = hasattr(torch, "float8_e4m3fn")  # since PyTorch 2.1


def run(*arguments):
    return subprocess.run([sys.executable, ROOT / "scripts/measure-kernels", *arguments],
                          capture_output=True, text=True, check=False)


class Command(unittest.TestCase):
    def test_help_needs_nothing(self):
        done = run("--help")
        self.assertEqual(done.returncode, 0)
        self.assertIn("attention", done.stdout)

    @unittest.skipIf(torch, "this Python has PyTorch")
    def test_says_that_there_is_no_pytorch(self):
        done = run("--out", "nowhere")
        self.assertEqual(done.returncode, 3)
        self.assertEqual(done.stderr, "scripts/measure-kernels: error: this Python has no PyTorch\n")

    @unittest.skipIf(torch is None or MEASURES, "this Python has no PyTorch, or one with FP8")
    def test_says_that_pytorch_is_too_old(self):
        done = run("--out", "nowhere")
        self.assertEqual(done.returncode, 3)
        self.assertIn("has no FP8; allowed: 2.1 or newer", done.stderr)

    @unittest.skipUnless(MEASURES, "this Python has no PyTorch with FP8")
    def test_measures_on_a_cpu(self):
        with tempfile.TemporaryDirectory() as folder:
            done = run("--device", "cpu", "--quick", "--groups", "norms,pointwise", "--seconds", "30",
                       "--out", folder)
            self.assertEqual(done.returncode, 0, done.stderr)
            rows = list(csv.DictReader(open(f"{folder}/norms.csv", encoding="utf-8")))
            self.assertTrue(rows)
            self.assertTrue(all(float(row["us"]) > 0 for row in rows))

    @unittest.skipUnless(MEASURES, "this Python has no PyTorch with FP8")
    def test_names_the_groups_there_are(self):
        done = run("--groups", "norm", "--out", "nowhere")
        self.assertEqual(done.returncode, 2)
        self.assertIn("unknown group 'norm'; groups are clocks, norms", done.stderr)


class Tables(unittest.TestCase):
    def test_what_was_measured_stands_behind_what_describes_it(self):
        text = tables.csv_text([{"rows": 2, "us": 1.5}, {"rows": 3, "columns": 4, "us": 2.5}])
        self.assertEqual(text, "rows,columns,us\n2,,1.5\n3,4,2.5\n")

    def test_an_archive_has_every_group_and_what_failed(self):
        with tempfile.TemporaryDirectory() as folder:
            results = tables.Results(folder, archive=True)
            results.add("norms", {"rows": 2, "us": 1.5})
            results.fail("norms", {"rows": 3, "dtype": ""}, "failed", "OutOfMemoryError: none left")
            results.provenance = {"gpu": "h100"}
            results.write()
            self.assertEqual([each.name for each in pathlib.Path(folder).iterdir()],
                             ["kernels.tar.gz"])
            with tarfile.open(f"{folder}/kernels.tar.gz") as archive:
                texts = {name: archive.extractfile(name).read().decode() for name in archive.getnames()}
        self.assertEqual(set(texts), {"norms.csv", "failed.csv", "provenance.json"})
        self.assertEqual(json.loads(texts["provenance.json"]), {"gpu": "h100"})
        failed = list(csv.DictReader(io.StringIO(texts["failed.csv"])))
        self.assertEqual(failed, [{"group": "norms", "status": "failed", "case": "rows=3",
                                   "reason": "OutOfMemoryError: none left"}])
        self.assertEqual(results.count("norms", "failed"), 1)
        self.assertEqual(results.count("losses", "failed"), 0)


if __name__ == "__main__":
    unittest.main()
