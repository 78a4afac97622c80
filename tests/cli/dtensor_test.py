#!/usr/bin/env python3
"""strata export dtensor: Python modules without torch, held to how Strata lays tensors out;
scripts/check-dtensor runs PyTorch on them."""

import ast
import json
import math
import unittest

from export_test import NET, Exported


class DTensor(Exported):
    def module(self, options, name="cut.py"):
        """The export's JSON, and what the module defines: it imports without torch."""
        made = self.json(f"strata export dtensor {options} -o {name}")
        text = self.read(name).decode()
        ast.parse(text)
        module = {}
        exec(compile(text, name, "exec"), module)
        return made, module

    def shards(self, module, cuts, shape):
        """The box of each rank as torch places it: chunk by chunk, mesh dim by mesh dim."""
        boxes = []
        for rank in range(math.prod(module["MESH_SHAPE"])):
            at, box = rank, [(0, extent) for extent in shape]
            coordinates = []
            for extent in reversed(module["MESH_SHAPE"]):
                at, k = divmod(at, extent)
                coordinates.insert(0, k)
            for mesh_dim, dim in enumerate(cuts):
                if dim is None:
                    continue
                begin, end = box[dim]
                chunk = -(-(end - begin) // module["MESH_SHAPE"][mesh_dim])
                k = coordinates[mesh_dim]
                box[dim] = (min(end, begin + k * chunk), min(end, begin + (k + 1) * chunk))
            boxes.append(tuple(box))
        return boxes

    def check_boxes(self, options, cut_of):
        """Layers without limits lie as Strata lays them: part i of S under d is
        [floor(i S / d), floor((i+1) S / d)), row-major over n, c, d, h, w."""
        made, module = self.module(options)
        limits = {layer["name"]: layer["limits"] for layer in made["layers"]}
        self.assertEqual({n: list(l) for n, l in module["LIMITS"].items()},
                         {n: l for n, l in limits.items() if l})
        exact = 0
        for name, layer in module["LAYERS"].items():
            if layer["output"] is None or any("parts: DTensor" in l or "devices" in l
                                              for l in limits[name]):
                continue
            degrees, shape = dict(cut_of[name]), layer["shape"]
            if "r" in degrees:  # of layers with sums here: there are no copies
                degrees[degrees["scatter"]] *= degrees["r"]
            # A layer's shape leads with n, c and ends in w.
            parts = [degrees["n"], degrees["c"]] + [degrees[d] for d in "dhw"[5 - len(shape):]]
            expected = []
            for rank in range(made["devices"]):
                at, box = rank, []
                for extent, degree in reversed(list(zip(shape, parts))):
                    at, k = divmod(at, degree)
                    box.insert(0, (k * extent // degree, (k + 1) * extent // degree))
                expected.append(tuple(box))
            self.assertEqual(self.shards(module, layer["output"], shape), expected, name)
            exact += 1
        return made, module, exact

    def configs(self, options):
        layers = self.json(f"strata predict {options}")["layers"]
        return {layer["name"]: layer["config"] for layer in layers}

    def test_usual_strategies(self):
        for strategy in ("data", "owt", "model", "optimal"):
            with self.subTest(strategy):
                options = f"vgg16 --cluster p100-1x4 --strategy {strategy}"
                _, module, exact = self.check_boxes(options, self.configs(options))
                self.assertGreater(exact, 10)

    def test_a_mesh_for_several_cuts(self):
        strategy = {"strategy": "mixed", "model": "alexnet", "cluster": "p100-2x4",
                    "default": {"n": 8}, "layers": [
                        {"name": "classifier_1", "config": {"c": 8}},
                        {"name": "classifier_4", "config": {"n": 2, "c": 4}}]}
        names = [layer["name"] for layer in self.json("strata show alexnet")["layers"]
                 if layer["op"] == "fc"]
        strategy["layers"][0]["name"], strategy["layers"][1]["name"] = names[0], names[1]
        self.write("s.json", json.dumps(strategy))
        options = "alexnet --cluster p100-2x4 --strategy s.json"
        made, module, _ = self.check_boxes(options, self.configs(options))
        self.assertEqual(made["mesh"], [2, 4])
        layers = module["LAYERS"]
        self.assertEqual(layers[names[0]]["parameters"], {"weight": (0, 0), "bias": (0, 0)})
        self.assertEqual(layers[names[1]]["parameters"], {"weight": (None, 0), "bias": (None, 0)})
        self.assertEqual(layers[names[1]]["output"], (0, 1))
        self.assertEqual(layers[names[2]]["output"], (0, 0))

    def transformer(self, model, strategy, devices=4):
        return self.module(f"{model} --cluster p100-1x{devices} --batch 4 --strategy {strategy}")

    GPT = "gpt:layers=1,hidden=32,heads=4,seq=8,vocab=48"

    def test_columns_rows_and_sequences(self):
        """On 2 x 2 devices of (samples, channels): tensors are (n, w, c), weights (out, in)."""
        made, module = self.transformer(self.GPT, "hybrid:tp=2,sp=1")
        self.assertEqual(made["mesh"], [2, 2])
        layers = module["LAYERS"]

        def layer(name):
            table = layers[name]
            return table["inputs"], table["parameters"], table["output"]

        tokens, channels, whole = (0, 1), (0, 2), (0, None)
        columns, rows, copied = (None, 0), (None, 1), (None, None)
        self.assertEqual(layers["head"]["shape"], (4, 8, 48))
        # The vocabulary, and of the product that shares its weight the columns.
        self.assertEqual(layer("embedding"), ((whole,), {"weight": columns}, tokens))
        self.assertEqual(layer("head"), ((whole,), {"weight": columns}, channels))
        self.assertEqual(layer("positions"), ((tokens,), {"weight": copied}, tokens))
        self.assertEqual(layer("norm"), ((tokens,), {"weight": copied, "bias": copied}, tokens))
        self.assertEqual(layer("block1_query"),
                         ((whole,), {"weight": columns, "bias": columns}, channels))
        self.assertEqual(layer("block1_attention"), ((channels,) * 3, {}, channels))
        self.assertEqual(layer("block1_attention_out"),
                         ((channels,), {"weight": rows, "bias": copied}, tokens))
        self.assertEqual(layer("block1_ffn_add"), ((tokens, tokens), {}, tokens))
        self.assertEqual(layer("loss"), ((channels,), {}, channels))
        self.assertEqual([name for name, table in layers.items() if table.get("local")],
                         ["block1_attention"])
        self.assertEqual(list(module["LIMITS"]), ["loss"])

    def test_copies_are_replicated(self):
        _, module = self.transformer(self.GPT, "hybrid:tp=2")
        norm, rows = module["LAYERS"]["norm"], module["LAYERS"]["block1_ffn_out"]
        self.assertEqual((norm["inputs"], norm["output"]), (((0, None),), (0, None)))
        self.assertEqual((rows["inputs"], rows["output"]), (((0, 2),), (0, 1)))

    def test_a_mesh_of_samples_tokens_and_channels(self):
        vit = "vit:layers=1,hidden=32,heads=4,image=12,patch=4,classes=12"
        made, module = self.transformer(vit, "hybrid:tp=2,sp=1,cp=2", 8)
        self.assertEqual(made["mesh"], [2, 2, 2])
        layers = module["LAYERS"]
        self.assertEqual(layers["block1_attention"]["inputs"],
                         ((0, 1, 2), (0, None, 2), (0, None, 2)))
        self.assertEqual(layers["block1_query"]["inputs"], ((0, 1, None),))
        self.assertEqual(layers["norm"]["output"], (0, 1, 1))
        self.assertEqual(layers["patches"]["output"], (0, 3, 1))
        self.assertEqual(layers["tokens"]["inputs"], ((0, None, 1),))
        self.assertEqual(layers["class_token"]["parameters"], {"weight": (None, None, 2)})
        self.assertEqual(layers["first_token"]["output"], (0, None, 1))

    def test_attention_that_it_cannot_express(self):
        grouped = "llama:layers=1,hidden=32,heads=4,kv_heads=2,seq=8,vocab=48"
        for model, strategy, reason in (
                (self.GPT, "hybrid:cp=2", "w=2: its queries' positions differ by rank"),
                (grouped, "hybrid:tp=4", "c=4: its 2 heads of keys do not divide")):
            with self.subTest(strategy):
                made, module = self.transformer(model, strategy)
                refused = {layer["name"]: layer["limits"] for layer in made["layers"]
                           if not layer["expressible"]}
                self.assertEqual(list(refused), ["block1_attention"])
                self.assertIn(reason, refused["block1_attention"][0])
                self.assertIsNone(module["LAYERS"]["block1_attention"]["inputs"])
                (self.folder / "cut.py").unlink()

    def test_what_it_cannot_express(self):
        strategy = {"strategy": "odd", "model": 'quo"te & <co>', "cluster": "p100-1x4", "layers": [
            {"name": 'conv \\N "1" &amp;', "config": {"h": 2, "w": 2}},
            {"name": "fc", "config": {"c": 3}},
            {"name": "loss", "config": {"n": 2}, "devices": ["gpu3", "gpu1"]}]}
        self.write("net.toml", NET)
        self.write("s.json", json.dumps(strategy))
        options = "net.toml --cluster p100-1x4 --strategy s.json --batch 8"
        made, module = self.module(options)
        found = {layer["name"]: (layer["expressible"], len(layer["limits"]))
                 for layer in made["layers"]}
        self.assertEqual(found, {'conv \\N "1" &amp;': (True, 4), "fc": (False, 1),
                                 "loss": (False, 1)})
        self.assertIn("cut in h", " ".join(module["LIMITS"]['conv \\N "1" &amp;']))
        self.assertIsNone(module["LAYERS"]["fc"]["output"])
        self.assertEqual(made["layers"][1]["limits"], ["c=3 does not fit the mesh 2 x 2"])
        self.assertEqual(module["MODEL"], 'quo"te & <co>')
        (self.folder / "cut.py").unlink()
        said = self.said(f"strata export dtensor {options} -o cut.py")
        self.assertIn('"fc": c=3 does not fit the mesh 2 x 2', said)
        self.assertIn('#  * "fc": c=3 does not fit the mesh 2 x 2', self.read("cut.py").decode())


if __name__ == "__main__":
    unittest.main()
