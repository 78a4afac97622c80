"""The repository keeps the rules of names.py, and names.py finds each kind of violation."""

import pathlib
import tempfile
import unittest

from names import violations

ROOT = pathlib.Path(__file__).resolve().parents[2]


def breaches(files):
    """The violations of a tree of these files, {path: text}, in namespace strata."""
    with tempfile.TemporaryDirectory() as folder:
        for path, text in files.items():
            file = pathlib.Path(folder, path)
            file.parent.mkdir(parents=True, exist_ok=True)
            if "namespace" not in text:
                text = f"namespace strata {{\n{text}}}  // namespace strata\n"
            file.write_text(text)
        return violations(folder)


class Repository(unittest.TestCase):
    def test_it_keeps_the_rules(self):
        found = violations(ROOT)
        self.assertEqual(found, [], "\n" + "\n".join(found))


class Reader(unittest.TestCase):
    def test_a_name_is_one_type(self):
        row = "struct Row {\n  int a;\n};\n"
        self.assertEqual(breaches({"sim/base/a.h": row, "sim/base/b.cpp": row}), [])
        self.assertEqual(breaches({"sim/base/a.h": row, "sim/text/b.h": row}),
                         ["sim/text/b.h:1: strata::Row is another type in sim/base/a.h"])

    def test_a_namespace_within_does_not_give_a_name_another_meaning(self):
        row = "struct Row {\n};\n"
        inner = f"namespace strata::gui {{\n{row}}}  // namespace strata::gui\n"
        self.assertEqual(breaches({"gui/models/a.h": inner}), [])
        self.assertEqual(breaches({"gui/models/a.h": inner, "sim/base/a.h": row}),
                         ["gui/models/a.h:1: strata::Row means another thing"])

    def test_what_a_header_declares_is_defined_in_its_folder(self):
        declared, defined = "int count(int of);\n", "int count(int of) {\n  return of;\n}\n"
        self.assertEqual(breaches({"sim/base/a.h": declared, "sim/base/b.cpp": defined}), [])
        self.assertEqual(breaches({"sim/base/a.h": declared, "sim/text/b.cpp": defined}),
                         ["sim/base/a.h:1: count is defined in sim/text"])
        hidden = f"namespace strata {{\nnamespace {{\n{defined}}}  // namespace\n}}  // namespace strata\n"
        self.assertEqual(breaches({"sim/base/a.h": declared, "sim/text/b.cpp": hidden}), [])

    def test_a_class_has_so_many_methods_that_a_reader_knows_them(self):
        methods = "".join(f"  int m{i}() const {{ return {i}; }}\n" for i in range(20))
        own = "  Big();\n  bool operator==(const Big&) const = default;\n"
        body = f"class Big {{\n public:\n{own}{methods}\n private:\n  int hidden();\n}};\n"
        self.assertEqual(breaches({"sim/base/a.h": body}), [])
        self.assertEqual(breaches({"sim/base/a.h": body.replace(" private:", "")}),
                         ["sim/base/a.h:1: Big has 21 public methods; allowed: 20"])


if __name__ == "__main__":
    unittest.main()
