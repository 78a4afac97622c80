"""How scripts/gpu-check goes on behind tests that crash, hang or skip, on a program that does so on
purpose."""

import os
import pathlib
import sys
import tempfile
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "scripts"))

from gpu_check import machine, numerics, report, shares, stages  # noqa: E402

# Speaks as GoogleTest does, and does what the names of its tests say. {tests} is its list.
PROGRAM = """\
#!/bin/sh
case "$*" in *--gtest_list_tests*) printf '{tests}'; exit ;; esac
{start}
IFS=: code=0
for test in ${{1#--gtest_filter=}}; do
  echo "[ RUN      ] $test"
  case $test in
    *Crashes*) kill -SEGV $$ ;;
    *Hangs*) sleep 60 ;;
    *EndsIt*) echo 'error: the GPU is lost: made up' >&2; exit 70 ;;
    *Skips*) echo "[  SKIPPED ] $test (0 ms)" ;;
    *Fails*) code=1; echo "[  FAILED  ] $test, where GetParam() = 4-byte object (1 ms)" ;;
    *) echo "[       OK ] $test (1 ms)" ;;
  esac
done
exit $code
"""
TESTS = r"A.\n  Passes\n  Crashes\n  Fails  # GetParam() = 4\nB/0.  # TypeParam = int\n  Hangs\n  Skips\n  EndsIt\n  Last\n"


class Made(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)

    def run_tests(self, tests=TESTS, start=":", cores=1, limit=60, silence=60):
        program = self.folder / "program"
        program.write_text(PROGRAM.format(tests=tests, start=start))
        program.chmod(0o755)
        with unittest.mock.patch.object(machine, "cores", lambda: cores):
            return numerics.run_tests(program, self.folder, dict(os.environ), limit, silence,
                                      "tests")

    def test_each_test_is_begun_once_whatever_those_before_it_did(self):
        for cores in (1, 3):
            result = self.run_tests(cores=cores, silence=1)
            data = result.data
            self.assertEqual((data["tests"], data["passed"], data["skipped"], data["not_begun"]),
                             (7, 2, 1, 0))
            self.assertEqual(data["failed"], ["A.Fails"])
            self.assertEqual(data["cut_short"], ["A.Crashes", "B/0.EndsIt", "B/0.Hangs"])
            self.assertEqual(sorted(data["crashed"]), [
                "A.Crashes: exit code -11: said nothing", "B/0.EndsIt: exit code 70: error: the GPU is "
                "lost: made up", "B/0.Hangs: said nothing for 1 s"])
            self.assertEqual(result.status, "FAILED")
            self.assertIn("2 of 7 passed, 1 skipped, 1 failed, 3 cut short, broke off: ", result.figure)
            section = report.section(stages.Outcome("kernels", "FAILED", "", 1.0, data))
            self.assertIn("Broke off: ", section)

    def test_skipped_tests_are_no_crashes(self):
        result = self.run_tests(tests=r"A.\n  Passes\n  Skips\n")
        self.assertEqual((result.status, result.figure), ("ok", "1 of 2 passed, 1 skipped"))

    def test_a_stage_of_skipped_tests_is_skipped(self):
        with self.assertRaisesRegex(stages.Skip, "every test says that it cannot run here"):
            self.run_tests(tests=r"A.\n  Skips\n  SkipsToo\n")

    def test_a_program_that_begins_no_test_is_not_started_again(self):
        result = self.run_tests(start=f"echo begun >> {self.folder}/begun; exit 9")
        self.assertEqual(result.data["crashed"], ["exit code 9: said nothing"])
        self.assertEqual((self.folder / "begun").read_text(), "begun\n")
        self.assertEqual((result.status, result.data["not_begun"]), ("FAILED", 7))

    def test_time_that_ends_is_no_failure(self):
        result = self.run_tests(start="sleep 60", limit=0.3)
        self.assertEqual((result.status, result.data["crashed"]), ("skipped", []))
        result = self.run_tests(tests=r"A.\n  Passes\n  Hangs\n  Last\n", limit=1)
        self.assertEqual((result.status, result.data["crashed"]), ("partial", []))
        self.assertEqual(result.figure, "1 of 3 passed, 1 cut short, 1 not begun")

    def test_names_are_of_the_indented_lines(self):
        self.assertEqual(shares.listed("note\nSuite.\n  A\n  B/1  # GetParam() = 3\nOther/0.  # TypeParam = int\n  C\n"),
                         ["Suite.A", "Suite.B/1", "Other/0.C"])


if __name__ == "__main__":
    unittest.main()
