"""What git tracks belongs here: readable everywhere, finished, and tied to no one's machine."""

import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
LONGEST_SOURCE = 500  # lines

# The patterns are written so that they do not match themselves.
STRANGERS = [
    ("a path in someone's home", re.compile(r"(?<![\w.$}])/(home|Users|root|work)/\w")),
    ("a mark of unfinished work", re.compile(r"\b(TO[D]O|FIX[M]E|X[X]X|HA[C]K)\b")),
    ("a conflict marker", re.compile(r"^([<]{7}|[>]{7}) ", re.MULTILINE)),
    ("a carriage return", re.compile(r"\r")),
]


def strangers(root, paths):
    """ "FILE:LINE: what" for each thing in the text files `paths` that does not belong."""
    for path in paths:
        data = (root / path).read_bytes()
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:  # an input that a parser is tried with
            continue
        if "\0" in text:
            continue
        for what, pattern in STRANGERS:
            for match in pattern.finditer(text):
                yield f"{path}:{text.count(chr(10), 0, match.start()) + 1}: {what}"
        if path.endswith((".h", ".cpp", ".cu")) and text.count("\n") > LONGEST_SOURCE:
            yield f"{path}:{LONGEST_SOURCE}: split it by idea; it is over {LONGEST_SOURCE} lines"


def tracked(root):
    """The files that git tracks and that are there, or None outside a checkout."""
    git = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, text=True)
    if git.returncode != 0:
        return None
    return [path for path in git.stdout.split("\0") if path and (root / path).is_file()]


class Tracked(unittest.TestCase):
    def test_nothing_tracked_is_a_stranger(self):
        paths = tracked(ROOT)
        if paths is None:
            self.skipTest("not a git checkout, so nothing says what belongs to it")
        found = list(strangers(ROOT, paths))
        self.assertEqual(found, [], "\n" + "\n".join(found))

    def test_each_kind_of_stranger_is_found(self):
        text = f"fine\n/ho{'me'}/me/a\nint a;  // TO{'DO'}\n{'<' * 7} ours\nb\r\n"
        with tempfile.TemporaryDirectory() as folder:
            pathlib.Path(folder, "a.h").write_bytes(text.encode())
            pathlib.Path(folder, "b.cpp").write_text("\n" * (LONGEST_SOURCE + 1))
            self.assertEqual(list(strangers(pathlib.Path(folder), ["a.h", "b.cpp"])), [
                "a.h:2: a path in someone's home",
                "a.h:3: a mark of unfinished work",
                "a.h:4: a conflict marker",
                "a.h:5: a carriage return",
                "b.cpp:500: split it by idea; it is over 500 lines",
            ])


if __name__ == "__main__":
    unittest.main()
