"""Bad input: each case in bad/*.txt fails with its exact message and leaves nothing behind.

bad_test.py [AREA...] checks the cases of bad/AREA.txt; bad_test.py --accept [AREA...] writes what
the program says now into them. Read the difference before you commit it: every message must name
the place and the thing that is wrong, and say what is allowed.
"""

import pathlib
import sys
import tempfile
import unittest

import cases

FOLDER = pathlib.Path(__file__).resolve().parent / "bad"
LEAST = 60  # cases of bad input, exit code 2


def carry_out(case):
    """What the case's command said, and the files before and after it."""
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for path, data in case.files.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_bytes(data)
        before = cases.tree(folder)
        outcome = cases.run(case.command, folder)
        return outcome, before, cases.tree(folder)


class Bad(unittest.TestCase):
    maxDiff = None
    areas = []

    def check(self, case):
        outcome, before, after = carry_out(case)
        self.assertEqual(outcome.said(), case.expected.rstrip("\n") + "\n")
        self.assertIn(outcome.exit_code, (2, 3))
        self.assertEqual(outcome.stdout, b"", "standard output must stay empty")
        self.assertEqual(after, before, "nothing may be left behind or changed")

    def test_each_case(self):
        for path in self.areas:
            for case in cases.parse(path.read_text()):
                with self.subTest(f"{path.name}: {case.title}", command=case.command):
                    self.check(case)

    def test_there_are_enough(self):
        found = [case for path in FOLDER.glob("*.txt") for case in cases.parse(path.read_text())]
        bad_input = [case for case in found if case.expected.startswith("exit 2\n")]
        self.assertGreaterEqual(len(bad_input), LEAST)
        titles = [case.title for case in found]
        self.assertEqual(len(set(titles)), len(titles), "titles tell the cases apart")


def accept(path):
    text = path.read_text()
    found = list(cases.parse(text))
    path.write_text(cases.replaced(text, found, [carry_out(case)[0] for case in found]))


if __name__ == "__main__":
    names = [a for a in sys.argv[1:] if not a.startswith("-")]
    other = "without_onnx" if cases.reads_onnx() else "onnx"
    Bad.areas = ([FOLDER / f"{n}.txt" for n in names]
                 or [path for path in sorted(FOLDER.glob("*.txt")) if path.stem != other])
    if "--accept" in sys.argv:
        for area in Bad.areas:
            accept(area)
    else:
        unittest.main(argv=sys.argv[:1])
