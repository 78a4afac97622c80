"""Networks, clusters, strategies and timelines that are built, loaded and looked at."""

import os
import pathlib
import tempfile
import unittest

import strata

GOLDEN = pathlib.Path(__file__).resolve().parent.parent / "golden" / "onnx"


def small():
    net = strata.Graph("small")
    net.add("input", "data", shape=[3, 32, 32])
    conv = net.add("conv2d", out_channels=8, kernel=3, padding=1)
    net.add("relu")
    net.add("add", inputs=["relu1", conv])
    net.add("flatten")
    net.add("fc", "fc", out_features=10, bias=False)
    net.add("softmax_cross_entropy")
    return net


def two():
    built = strata.Cluster("two")
    built.device("gpu0", kind="p100", host="a").device("gpu1", kind="p100", host="b")
    return built.switch("s").link("gpu0", "s", bandwidth="10 GB/s", latency="1 us", duplex=True) \
        .link("s", "gpu1", bandwidth="10 GB/s", duplex=True, name="down")


class Graphs(unittest.TestCase):
    def test_built(self):
        net = small()
        # 8 kernels of 3x3x3 with their biases, and 10 x 8x32x32 weights.
        self.assertEqual(net.parameters, 8 * 27 + 8 + 10 * 8 * 32 * 32)
        self.assertEqual(net.macs, 32 * 32 * 8 * 27 + 10 * 8 * 32 * 32)
        self.assertEqual([layer.name for layer in net.layers],
                         ["data", "conv2d1", "relu1", "add1", "flatten1", "fc",
                          "softmax_cross_entropy1"])
        self.assertEqual(net.layers[3].inputs, ["relu1", "conv2d1"])

    def test_a_file_of_it_is_the_same(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "net.toml")
            small().save(file)
            self.assertEqual(strata.Graph.load(file).to_json(), small().to_json())
            ask = dict(cluster="p100-1x2", strategy="data")
            ours, theirs = strata.predict(file, **ask), strata.predict(small(), **ask)
            for key in ours:
                if key != "settings":  # which name the files
                    self.assertEqual(ours[key], theirs[key], key)

    def test_layers_that_are_added_later_count(self):
        net = strata.Graph("n")
        net.add("input", shape=[4])
        self.assertEqual(net.parameters, 0)
        net.add("fc", out_features=2)
        self.assertEqual(net.parameters, 4 * 2 + 2)

    def test_loaded(self):
        vgg = strata.Graph.load("vgg16")
        self.assertEqual((vgg.name, vgg.parameters), ("vgg16", 138357544))
        self.assertEqual(vgg.macs, sum(layer.macs for layer in vgg.layers))
        with self.assertRaisesRegex(ValueError, "loaded"):
            vgg.add("relu")

    def test_a_file_that_changes_is_read_again(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "net.toml")
            small().save(file)
            net = strata.Graph.load(file)
            before = net.parameters
            with open(file, encoding="utf-8") as text:
                changed = text.read().replace("out_features = 10", "out_features = 20")
            with open(file, "w", encoding="utf-8") as out:
                out.write(changed)
            os.utime(file, ns=(1, 1))
            self.assertGreater(net.parameters, before)

    def test_what_a_file_needs_to_be_read_is_asked_with_it(self):
        file = GOLDEN / "medley.export18.kept.onnx"
        net = strata.Graph.load(file, allow_unsupported=True)
        step = strata.predict(net, cluster="p100-1x1")
        self.assertIs(step.settings.allow_unsupported, True)
        short = strata.Graph.load("gpt2", seq=256)
        self.assertEqual(short.macs, strata.Graph.load("gpt2:seq=256").macs)
        self.assertEqual(strata.predict(short, cluster="p100-1x1", batch=1).settings.seq, 256)

    def test_a_built_network_is_trained(self):
        losses = strata.run(small(), devices="cpu:2", batch=8, steps=3).losses
        self.assertEqual(len(losses), 3)
        self.assertLess(losses[2], losses[0])


class Clusters(unittest.TestCase):
    def test_built(self):
        self.assertEqual([device.name for device in two().devices], ["gpu0", "gpu1"])
        self.assertEqual([device.host for device in two().devices], ["a", "b"])
        self.assertEqual([link.name for link in two().links],
                         ["gpu0>s", "s>gpu0", "down", "down.back"])
        self.assertEqual(two().links[0].bandwidth, 1e10)
        self.assertEqual(two().links[0].latency_seconds, 1e-6)
        step = strata.predict("lenet5", cluster=two(), strategy="data")
        self.assertEqual((step.cluster, step.devices), ("two", 2))

    def test_a_grid(self):
        grid = strata.Cluster.grid(
            "four", hosts=2, devices_per_host=2, kind="p100",
            intra={"topology": "all-to-all", "bandwidth": "20 GB/s", "latency": "1 us"},
            inter={"topology": "nic-per-host", "bandwidth": "100 Gb/s", "latency": "2 us"})
        self.assertEqual([device.host for device in grid.devices],
                         ["host0", "host0", "host1", "host1"])

    def test_loaded(self):
        self.assertEqual(len(strata.Cluster.load("p100-4x4").devices), 16)
        spelled = strata.Cluster.load("p100-1x2").to_toml()
        self.assertIn("[[link]]", spelled)


class Strategies(unittest.TestCase):
    def test_built(self):
        cut = strata.Strategy("mine", default={"n": 2}).cut("fc", c=2)
        step = strata.predict(small(), cluster="p100-1x2", strategy=cut)
        configs = {layer.name: layer.config for layer in step.layers}
        self.assertEqual((configs["fc"].n, configs["fc"].c), (1, 2))
        self.assertEqual((configs["conv2d1"].n, configs["conv2d1"].c), (2, 1))
        self.assertEqual(step.strategy, "mine")

    def test_a_second_cut_replaces_the_first(self):
        cut = strata.Strategy().cut("fc", c=2).cut("fc", n=2, devices=["gpu1", "gpu0"])
        self.assertEqual(cut.layers.to_list(),
                         [{"name": "fc", "config": {"n": 2}, "devices": ["gpu1", "gpu0"]}])

    def test_files(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "cut.json")
            cut = strata.Strategy("mine", default={"n": 2}).cut("fc", c=2)
            cut.save(file)
            self.assertEqual(strata.Strategy.load(file), cut)


class Timelines(unittest.TestCase):
    def test_of_a_prediction(self):
        step = strata.predict("lenet5", cluster="p100-1x2", strategy="data", steps=3)
        timeline = step.timeline()
        self.assertEqual({span.device for span in timeline.spans}, {"host0/gpu0", "host0/gpu1"})
        self.assertEqual({span.step for span in timeline.spans}, {0, 1, 2})
        self.assertAlmostEqual(timeline.seconds / step.makespan_seconds, 1, delta=1e-6)
        for span in timeline.spans:
            self.assertLessEqual(span.start_seconds, span.end_seconds)

    def test_files(self):
        timeline = strata.predict("lenet5", cluster="p100-1x2").timeline()
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "t.json")
            timeline.save(file)
            self.assertEqual(strata.Timeline.load(file).spans, timeline.spans)

    def test_activities_of_ones_own(self):
        """A second of work, then 10 GB over a link of 10 GB/s, which lasts another."""
        done = strata.replay([{"id": "work", "on": "gpu0", "seconds": 1},
                              {"id": "send", "from": "gpu0", "to": "gpu1", "bytes": 10_000_000_000,
                               "latency": 0, "after": ["work"]}], cluster=two())
        self.assertEqual(done.makespan_seconds, 2)
        self.assertEqual([(each.id, each.start, each.end) for each in done.activities],
                         [("work", 0, 1), ("send", 1, 2)])


if __name__ == "__main__":
    unittest.main()
