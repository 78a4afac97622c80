"""Answers are views: attributes are the documents' keys, rows are frames, and a notebook shows
tables and charts."""

import copy
import json
import pickle
import unittest

import strata

try:
    import pandas
except ModuleNotFoundError:
    pandas = None


def alexnet(strategy="data", **settings):
    return strata.predict("alexnet", cluster="p100-1x4", strategy=strategy, **settings)


class Views(unittest.TestCase):
    def test_attributes_are_keys(self):
        step = alexnet()
        document = json.loads(step.to_json())
        self.assertEqual(step.step_seconds, document["step_seconds"])
        self.assertEqual(step.breakdown.exposed_communication_seconds.reduce,
                         document["breakdown"]["exposed_communication_seconds"]["reduce"])
        self.assertEqual(step.layers[1].config.to_dict(), document["layers"][1]["config"])
        self.assertEqual([layer.name for layer in step.layers],
                         [layer["name"] for layer in document["layers"]])
        self.assertEqual(step["step_seconds"], step.step_seconds)
        self.assertIn("step_seconds", dir(step))
        self.assertEqual(step.to_dict(), document)

    def test_what_is_not_there_says_what_is(self):
        with self.assertRaisesRegex(AttributeError, "no 'step'; it has model, cluster, strategy"):
            alexnet().step

    def test_every_key_that_is_annotated_is_there(self):
        answers = [alexnet(), strata.solve("lenet5", cluster="p100-1x2"),
                   strata.explain("lenet5", cluster="p100-1x2", strategy="data"),
                   strata.run("lenet5", devices="cpu:1", batch=4, steps=2)]
        for answer in answers:
            for key in type(answer).__annotations__:
                if not key.startswith("_"):
                    with self.subTest(type(answer).__name__, key=key):
                        getattr(answer, key)

    def test_copies(self):
        step = alexnet()
        both = alexnet(["data", "owt"])
        self.assertEqual(pickle.loads(pickle.dumps(both)).to_json(), both.to_json())
        for again in (copy.copy(step), copy.deepcopy(step), pickle.loads(pickle.dumps(step))):
            self.assertIs(type(again), type(step))
            self.assertEqual(again.to_json(), step.to_json())
        with self.assertRaises(AttributeError):
            step._nothing

    def test_what_it_was_asked_asks_it_again(self):
        step = alexnet(batch=64, set={"link.*.bandwidth": ["0.5x", "0.5x"]})
        self.assertEqual(step.what_ifs["link.*.bandwidth"], ["0.5x", "0.5x"])
        self.assertIsNone(step.settings.batch_per_device)
        again = strata.predict(**step.settings, set=step.what_ifs)
        self.assertEqual(again.step_seconds, step.step_seconds)

    def test_several_strategies(self):
        both = alexnet(["data", "owt"])
        self.assertEqual([step.strategy for step in both], ["data", "owt"])
        self.assertEqual(both.fastest.strategy, "owt")
        self.assertEqual(both[0].layers, alexnet().layers)
        self.assertEqual(both.to_json(), json.dumps([each.to_dict() for each in both], indent=2))

    def test_a_strategy_that_was_found_can_be_asked_about(self):
        found = strata.solve("alexnet", cluster="p100-1x4")
        again = alexnet(found.strategy)
        self.assertEqual(again.step_seconds, found.step_seconds)
        self.assertEqual(again.comm_bytes, found.comm_bytes)

    def test_warnings_are_the_commands(self):
        large = strata.predict("vgg16", cluster="p100-1x1", strategy="data", batch=4096)
        self.assertRegex(large.warnings[0], "data: .*memory")
        self.assertEqual(strata.predict("lenet5", cluster="p100-1x1", batch=32).warnings, [])


@unittest.skipIf(pandas is None, "pandas is not installed")
class Frames(unittest.TestCase):
    def test_a_row_for_each_layer(self):
        step = alexnet()
        frame = step.to_frame()
        self.assertEqual(len(frame), len(step.layers))
        self.assertEqual(list(frame["config.n"]), [layer.config.n for layer in step.layers])
        total = frame[["compute_seconds", "transfer_seconds", "sync_seconds"]].to_numpy().sum()
        self.assertAlmostEqual(total / step.eq1_seconds, 1, delta=1e-12)

    def test_frames_of_the_others(self):
        self.assertEqual(list(alexnet(["data", "owt"]).to_frame()["strategy"]), ["data", "owt"])
        found = strata.solve("lenet5", cluster="p100-1x2").to_frame()
        self.assertEqual(list(found["strategy"]), ["found", "data", "model", "owt"])
        self.assertEqual(strata.Graph.load("lenet5").to_frame()["parameters"].sum(), 61706)
        devices = alexnet().breakdown.devices.to_frame()
        self.assertEqual(len(devices), 4)


class Notebooks(unittest.TestCase):
    def assert_shows(self, thing, *parts):
        html = thing._repr_html_()
        for part in parts:
            self.assertIn(part, html)
        self.assertEqual(html.count("<table"), html.count("</table"))

    def test_tables_and_charts(self):
        self.assert_shows(alexnet(), "data:image/svg+xml", "alexnet", "classifier_6", " ms")
        self.assert_shows(alexnet(["data", "owt"]), "data:image/svg+xml", "owt")
        self.assert_shows(strata.solve("lenet5", cluster="p100-1x2"), "data:image/svg+xml", "found")
        self.assert_shows(strata.explain("alexnet", cluster="p100-1x4", strategy="data"),
                          "data:image/svg+xml", "A step takes")
        self.assert_shows(strata.Graph.load("lenet5"), "61,706")
        self.assert_shows(strata.Cluster.load("p100-1x2"), "host0/gpu0")
        self.assert_shows(alexnet().timeline(), "<svg", "<rect", "compute")
        self.assert_shows(strata.run("lenet5", devices="cpu:1", batch=4, steps=3),
                          "data:image/svg+xml", "cpu:1")

    def test_names_are_escaped(self):
        net = strata.Graph("<b>")
        net.add("input", shape=[1, 4, 4])
        self.assertNotIn("<b>", net._repr_html_())


if __name__ == "__main__":
    unittest.main()
