"""What editors and type checkers are told is what the program has."""

import ast
import inspect
import pathlib
import typing
import unittest

import strata
from strata import _core, _settings

PACKAGE = pathlib.Path(strata.__file__).resolve().parent
# Arguments that have a place of their own.
NAMED = {"model", "cluster", "strategy", "layer", "devices", "before", "after"}


class Typing(unittest.TestCase):
    def test_settings_are_the_librarys(self):
        for kind in ("predict", "solve", "explain", "diff", "run", "validate"):
            told = typing.get_type_hints(getattr(_settings, f"{kind.capitalize()}Settings"))
            keys = {"as_" if key == "as" else key for key in _core.keys(kind)}
            with self.subTest(kind):
                self.assertEqual(sorted(set(told) - NAMED), sorted(keys - NAMED))

    def test_the_stub_has_every_function(self):
        stub = ast.parse((PACKAGE / "_core.pyi").read_text())
        told = {node.name for node in stub.body
                if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
        there = {name for name in dir(_core) if not name.startswith("_") and name != "version"}
        self.assertEqual(told, there)
        for node in stub.body:
            if not isinstance(node, ast.ClassDef):
                continue
            methods = {inner.name for inner in node.body if isinstance(inner, ast.FunctionDef)}
            there = {name for name in dir(getattr(_core, node.name)) if not name.startswith("_")}
            self.assertEqual(methods - {"__init__"}, there)

    def test_the_package_says_that_it_is_typed(self):
        self.assertTrue((PACKAGE / "py.typed").exists())
        for name in strata.__all__:
            thing = getattr(strata, name)
            self.assertTrue(thing.__doc__, name)
            if inspect.isfunction(thing):
                for parameter in inspect.signature(thing).parameters.values():
                    self.assertIsNot(parameter.annotation, inspect.Parameter.empty,
                                     f"{name}: {parameter.name}")


if __name__ == "__main__":
    unittest.main()
