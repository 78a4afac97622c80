"""Runs docs/python.ipynb, cell by cell as Jupyter does, and looks at what it would show.

A cell that ends in an expression shows its value. Cells that are tagged need-torch are left out
where PyTorch is not installed. Exits with 77 where pandas is not, for the notebook makes frames.
"""

import ast
import importlib.util
import json
import os
import pathlib
import sys
import tempfile
import unittest

NOTEBOOK = pathlib.Path(__file__).resolve().parents[2] / "docs" / "python.ipynb"


def missing(*modules):
    return [name for name in modules if importlib.util.find_spec(name) is None]


def run_cell(source, names, where):
    """What the cell's last line is, or None."""
    tree = ast.parse(source)
    last = ast.Expression(tree.body.pop().value) \
        if tree.body and isinstance(tree.body[-1], ast.Expr) else None
    exec(compile(tree, where, "exec"), names)
    return eval(compile(last, where, "eval"), names) if last else None


class Notebook(unittest.TestCase):
    def test_every_cell_runs_and_shows_what_it_says(self):
        notebook = json.loads(NOTEBOOK.read_text())
        self.assertEqual(notebook["nbformat"], 4)
        names, shown = {"__name__": "__main__"}, []
        with tempfile.TemporaryDirectory() as folder:
            self.addCleanup(os.chdir, os.getcwd())
            os.chdir(folder)
            for number, cell in enumerate(notebook["cells"]):
                if cell["cell_type"] != "code":
                    continue
                self.assertEqual(cell["outputs"], [], "outputs are not kept in the repository")
                if "need-torch" in cell["metadata"].get("tags", []) and \
                        missing("torch", "onnx", "onnxscript"):
                    continue
                value = run_cell("".join(cell["source"]), names, f"cell {number}")
                if value is not None:
                    shown.append(value._repr_html_() if hasattr(value, "_repr_html_")
                                 else repr(value))
            os.chdir("/")
        self.assertGreaterEqual(sum("<table" in each for each in shown), 4)
        self.assertGreaterEqual(sum("<svg" in each or "image/svg" in each for each in shown), 3)


if __name__ == "__main__":
    if missing("pandas"):
        print("skipped: pandas is not installed: pip install pandas")
        sys.exit(77)
    unittest.main()
