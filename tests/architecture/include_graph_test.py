"""docs/architecture.md draws the include graph as it is, and has a sentence for each folder."""

import pathlib
import re
import tempfile
import unittest

from arrows import ORDER
from include_graph import DRAWING, PAGE, ROOT, SENTENCE, drawings, flowchart, folders, reduced

TREE = re.compile(r"^ {4,6}((?:\w+/ )*\w+/)  ", re.MULTILINE)


class Page(unittest.TestCase):
    def test_it_draws_what_the_include_lines_say(self):
        self.assertEqual(DRAWING.findall(PAGE.read_text(encoding="utf-8")), list(drawings(ROOT)),
                         "python3 tests/architecture/include_graph.py --accept draws it anew")

    def test_it_has_one_sentence_for_each_folder(self):
        rows = SENTENCE.findall(PAGE.read_text(encoding="utf-8"))
        self.assertEqual(sorted(folder for folder, _ in rows), sorted({*folders(ROOT), *ORDER}))
        for folder, sentence in rows:
            self.assertTrue(sentence.endswith(".") and not re.search(r"\. [A-Z]", sentence), folder)

    def test_the_readme_lists_the_folders_in_their_order(self):
        section = (ROOT / "README.md").read_text(encoding="utf-8").partition("## How it is built")[2]
        listed = [name for names in TREE.findall(section) for name in names.split()]
        expected = [folder.rpartition("/")[2] + "/" for folder in ORDER if "/" in folder]
        self.assertEqual([name for name in listed if name in expected], expected)


class Drawing(unittest.TestCase):
    def test_an_arrow_that_follows_from_others_is_left_out(self):
        graph = {"a": set(), "b": {"a"}, "c": {"a", "b"}, "d": {"a", "c"}, "e": {"a"}}
        self.assertEqual(reduced(graph), {"a": set(), "b": {"a"}, "c": {"b"}, "d": {"c"}, "e": {"a"}})

    def test_a_line_for_each_place_in_their_order(self):
        self.assertEqual(flowchart({"c": {"b", "a"}, "a": set(), "b": set()}, ["a", "b", "c"]),
                         "flowchart BT\n  a\n  b\n  c --> a & b\n")

    def test_rooms_are_drawn_where_one_includes_another(self):
        with tempfile.TemporaryDirectory() as folder:
            root = pathlib.Path(folder)
            for path, text in {
                "sim/base/a.h": "",
                "sim/study/validate/b.h": '#include "sim/base/a.h"\n',
                "sim/study/sweep/c.h": '#include "sim/study/validate/b.h"\n',
                "exec/cuda/device/d.h": '#include "sim/base/a.h"\n',
            }.items():
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text(text)
            self.assertEqual(list(drawings(root)), [
                "flowchart BT\n  sim/base\n  sim/study --> sim/base\n  exec/cuda --> sim/base\n",
                "flowchart BT\n  sim/study/validate\n  sim/study/sweep --> sim/study/validate\n",
            ])


if __name__ == "__main__":
    unittest.main()
