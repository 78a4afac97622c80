"""Errors are exceptions that say what is wrong, where, and what is allowed."""

import fractions
import pathlib
import signal
import tempfile
import unittest

import strata
from strata import _ask


def network(*layers):
    net = strata.Graph("small")
    net.add("input", "data", shape=[1, 8, 8])
    for op, keys in layers:
        net.add(op, **keys)
    return net


class Errors(unittest.TestCase):
    def refused(self, ask, kind=strata.InputError):
        with self.assertRaises(kind) as raised:
            ask()
        return raised.exception

    def test_a_name_that_is_unknown(self):
        error = self.refused(lambda: strata.predict("vgg17", cluster="p100-1x4"))
        self.assertRegex(error.message, "vgg17")
        self.assertEqual((error.file, error.line, error.places), (None, None, []))
        self.assertIsInstance(error, ValueError)
        self.assertIsInstance(error, strata.Error)

    def test_a_setting_that_is_unknown(self):
        error = self.refused(lambda: strata.predict("vgg16", cluster="p100-1x4", btach=4))
        self.assertRegex(error.message, "btach")

    def test_a_value_that_is_wrong(self):
        error = self.refused(lambda: strata.predict("vgg16", cluster="p100-1x4", batch=0))
        self.assertRegex(error.message, "batch.*0")
        error = self.refused(lambda: strata.predict("vgg16", cluster="p100-1x4", sync="fast"))
        self.assertRegex(error.message, "sync.*ring")

    def test_a_what_if_that_is_unknown(self):
        error = self.refused(lambda: strata.predict("vgg16", cluster="p100-1x4",
                                                    set={"link.none.bandwidth": "2x"}))
        self.assertRegex(error.message, "link.none.bandwidth")

    def test_a_type_that_no_setting_has(self):
        with self.assertRaisesRegex(TypeError, "batch.*object"):
            strata.predict("vgg16", cluster="p100-1x4", batch=object())

    def test_numbers_of_other_libraries(self):
        files = _ask._Files()
        self.assertEqual(files.text("lr", fractions.Fraction(1, 2)), "0.5")
        self.assertEqual(files.text("batch", signal.SIGINT), str(int(signal.SIGINT)))
        self.assertEqual(files.text("check", True), "true")

    def test_the_tokens_of_a_network_are_part_of_its_name(self):
        net = strata.Graph.load("gpt2", seq=64)
        self.assertEqual(_ask._validated(_ask._Files(), net), "gpt2:seq=64")

    def test_settings_of_validations(self):
        def ask(**settings):
            return self.refused(lambda: strata.validate("lenet5", devices="cpu:1", **settings))

        self.assertRegex(ask(only="yes").message, "`only`.*true, false")
        self.assertRegex(ask(rounds=0).message, "`rounds`")
        self.assertRegex(ask(seconds="soon").message, "`seconds`")

    def test_networks_that_validations_cannot_have(self):
        file = pathlib.Path(__file__).resolve().parent.parent / \
            "golden/onnx/medley.export18.kept.onnx"
        net = strata.Graph.load(file, allow_unsupported=True)
        error = self.refused(lambda: strata.validate(net, devices="cpu:1"))
        self.assertRegex(error.message, "allow_unsupported; allowed: seq")

    def test_files_have_lines(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "net.toml"
            file.write_text('name = "n"\n[[layer]]\nname = "a"\nop = "input"\nshape = [1, 4]\n'
                            '[[layer]]\nname = "b"\nop = "bogus"\n')
            error = self.refused(lambda: strata.predict(file, cluster="p100-1x1"))
        self.assertEqual((error.file, error.line), (str(file), 8))
        self.assertIn("layer b: unknown op 'bogus'; allowed: input", error.message)

    def test_every_place_is_listed(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder) / "net.toml"
            file.write_text('name = "n"\n[[layer]]\nname = "a"\nop = "input"\nshape = [1, 4]\n'
                            '[[layer]]\nname = "b"\nop = "one"\n[[layer]]\nname = "c"\nop = "two"\n')
            error = self.refused(lambda: strata.Graph.load(file))
        self.assertEqual(error.places, [(str(file), 8), (str(file), 11)])

    def test_objects_are_called_by_their_names(self):
        net = network(("bogus", {}))
        error = self.refused(lambda: strata.predict(net, cluster="p100-1x1"))
        self.assertEqual(error.file, "small.toml")
        self.assertEqual(net.to_toml().splitlines()[error.line - 1], 'op = "bogus"')

    def test_a_strategy_that_does_not_fit(self):
        cut = strata.Strategy("mine", default={"n": 1}).cut("nowhere", c=2)
        error = self.refused(lambda: strata.predict("lenet5", cluster="p100-1x2", strategy=cut))
        self.assertRegex(error.message, r"mine\.json.*nowhere")

    def test_a_network_that_fits_nowhere(self):
        error = self.refused(lambda: strata.solve("vgg16", cluster="p100-1x1",
                                                  memory_limit="1 MiB"), strata.Infeasible)
        self.assertRegex(error.message, "memory")

    def test_devices_that_are_not_there(self):
        error = self.refused(lambda: strata.run("lenet5", devices="cuda:0", batch=4),
                             strata.EnvironmentError)
        self.assertIsInstance(error, OSError)
        self.assertEqual(str(error), error.message)
        self.refused(lambda: strata.query("/nonexistent/strata.db"), strata.Error)

    def test_frames_say_what_they_need(self):
        import sys
        kept = sys.modules.get("pandas")
        sys.modules["pandas"] = None
        try:
            with self.assertRaisesRegex(ModuleNotFoundError, "pip install pandas"):
                strata.Graph.load("lenet5").to_frame()
        finally:
            del sys.modules["pandas"]
            if kept is not None:
                sys.modules["pandas"] = kept


if __name__ == "__main__":
    unittest.main()
