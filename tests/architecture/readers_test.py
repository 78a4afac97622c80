#!/usr/bin/env python3
"""Who reads a Step knows every action: with one more of them, no reader compiles, and the compiler
names it. Usage: readers_test.py COMPILER"""

import os
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
ACTIONS = "sim/step/action.h"
COMPILER = "c++"
VISIT = re.compile(r"std::visit\(.{0,200}?\bwork\)", re.DOTALL)


def text_of(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as source:
        return source.read()


def readers():
    """The sources that visit the actions of a step."""
    for folder, _, names in os.walk(os.path.join(ROOT, "sim")):
        for name in sorted(names):
            path = os.path.relpath(os.path.join(folder, name), ROOT)
            if name.endswith(".cpp") and VISIT.search(text_of(path)):
                yield path


def with_one_more(text):
    """The actions and an `Unheard` one."""
    text, added = re.subn(r"^using Work = std::variant<",
                          "struct Unheard {\n  LayerId layer;\n};\n\nusing Work = std::variant<Unheard, ",
                          text, flags=re.MULTILINE)
    assert added == 1, f"{ACTIONS} has no 'using Work = std::variant<'"
    return text


def compile_errors(path, *first):
    """None where the source compiles."""
    includes = [f"-I{folder}" for folder in (*first, ROOT)]
    done = subprocess.run([COMPILER, "-std=c++20", "-fsyntax-only", *includes,
                           os.path.join(ROOT, path)], capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else None


class Readers(unittest.TestCase):
    def test_each_knows_every_action(self):
        found = list(readers())
        self.assertEqual(found and sorted(found),
                         ["sim/plan/device_behaviour.cpp", "sim/plan/expansion.cpp",
                          "sim/step/action.cpp", "sim/step/layer_counts.cpp"])
        with tempfile.TemporaryDirectory() as folder:
            changed = os.path.join(folder, ACTIONS)
            os.makedirs(os.path.dirname(changed))
            with open(changed, "w", encoding="utf-8") as source:
                source.write(with_one_more(text_of(ACTIONS)))
            for path in found:
                with self.subTest(path):
                    self.assertIsNone(compile_errors(path))
                    self.assertIn("Unheard", compile_errors(path, folder) or "")


if __name__ == "__main__":
    COMPILER = sys.argv.pop(1)
    unittest.main()
