#!/usr/bin/env python3
"""Networks of Debian's python3-torchvision and a training of python3-torch, through ONNX.

    STRATA=build/dev/bin/strata /usr/bin/python3 tests/cli/onnx_test.py [--all]

Networks are exported with opset 11 (a fixed batch) and 13 (a symbolic one), their batch
normalisation folded, kept and in training form, their weights inside and stripped: each network
in one of these ways, by turns, or with --all in all of them. What `strata show` counts must be what
is counted here: multiply-accumulates by hooks in PyTorch, parameters from the file's own tensors. Exits with 77 where a package is not there.
"""

import functools
import itertools
import json
import math
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import warnings

try:
    import numpy
    import onnx
    import torch
    import torchvision
except ImportError as error:
    print(f"skipped: {error}; python3-torchvision and python3-onnx have it")
    sys.exit(77)

import cases

STRATA = os.path.abspath(os.environ.get("STRATA", "build/dev/bin/strata"))
FORMS = {"folded": torch.onnx.TrainingMode.EVAL, "kept": torch.onnx.TrainingMode.PRESERVE,
         "training": torch.onnx.TrainingMode.TRAINING}
NETWORKS = ["alexnet", "vgg16", "inception_v3", "googlenet", "resnet50", "densenet121",
            "mobilenet_v2", "squeezenet1_1", "r3d_18", "efficientnet_b0", "mobilenet_v3_small"]
ALL = "--all" in sys.argv
if ALL:
    NETWORKS.append("mobilenet_v3_large")
IN_ZOO = set(NETWORKS[:9]) - {"squeezenet1_1"}
warnings.filterwarnings("ignore")


def exports(name):
    """The opsets and forms to try of a network; among all networks each pair comes."""
    if ALL:
        # In training form EfficientNet draws which samples pass by a block; PyTorch exports no draw.
        forms = [form for form in FORMS if (name, form) != ("efficientnet_b0", "training")]
        return list(itertools.product((11, 13), forms))
    turn = NETWORKS.index(name)
    return [((11, 13)[turn % 2], list(FORMS)[turn % 3])]


def strata(*arguments):
    done = subprocess.run([STRATA, *arguments], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise AssertionError(f"strata {' '.join(arguments)}: {done.stderr}")
    return json.loads(done.stdout)


def build(name):
    """The network, without heads for training alone, and one sample."""
    if name == "r3d_18":
        return torchvision.models.video.r3d_18(weights=None), torch.rand(1, 3, 16, 112, 112)
    more = {}
    if name in ("inception_v3", "googlenet"):
        more = {"transform_input": False, "aux_logits": False, "init_weights": False}
    size = 299 if name == "inception_v3" else 224
    return getattr(torchvision.models, name)(weights=None, **more), torch.rand(1, 3, size, size)


def count_macs(network, sample):
    """By hooks: what each convolution and linear layer did."""
    total = 0

    def count(module, _, output):
        nonlocal total
        total += output.numel() * math.prod(module.weight.shape[1:])

    hooks = [module.register_forward_hook(count) for module in network.modules()
             if isinstance(module, (torch.nn.Conv2d, torch.nn.Conv3d, torch.nn.Linear))]
    network.eval()
    with torch.no_grad():
        network(sample)
    for hook in hooks:
        hook.remove()
    return total


def count_parameters(model):
    """By the file: the weights and biases that its nodes name."""
    sizes = {tensor.name: math.prod(tensor.dims) for tensor in model.graph.initializer}
    total = 0
    for node in model.graph.node:
        if node.op_type == "Identity" and node.input[0] in sizes:
            sizes[node.output[0]] = sizes[node.input[0]]
        if node.op_type in ("Conv", "Gemm", "BatchNormalization"):
            total += sum(sizes[name] for name in node.input[1:3])
    return total


def export(network, sample, file, opset, form):
    network.train(form == "training")
    axes = {"input": {0: "batch"}, "output": {0: "batch"}} if opset == 13 else None
    torch.onnx.export(network, sample, file, opset_version=opset, training=FORMS[form],
                      do_constant_folding=form != "training", input_names=["input"],
                      output_names=["output"], dynamic_axes=axes)


def strip(model):
    for tensor in model.graph.initializer:
        if tensor.data_type == onnx.TensorProto.FLOAT:
            tensor.ClearField("raw_data")
            tensor.ClearField("float_data")


class Torchvision(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def show(self, name, parameters, macs):
        shown = strata("show", name, "--json")
        self.assertEqual((shown["parameters"], shown["macs"]), (parameters, macs))

    def check(self, name):
        network, sample = build(name)
        macs = count_macs(network, sample)
        whole = sum(parameter.numel() for parameter in network.parameters())
        file = str(self.folder / f"{name}.onnx")
        for opset, form in exports(name):
            with self.subTest(name, opset=opset, form=form):
                export(network, sample, file, opset, form)
                model = onnx.load(file)
                parameters = count_parameters(model)
                if form != "folded":
                    self.assertEqual(parameters, whole)
                self.show(file, parameters, macs)
                strip(model)
                onnx.save(model, file)
                self.show(file, parameters, macs)
        if name in IN_ZOO:
            self.assertEqual(strata("show", name, "--json")["macs"], macs)
        self.solve(file)

    def solve(self, file):
        cluster = ["--cluster", "p100-1x2", "--json"]
        predicted = strata("predict", file, "--strategy", "data", *cluster)
        solved = strata("solve", file, *cluster)
        self.assertLessEqual(solved["step_seconds"], predicted["step_seconds"])


for NAME in NETWORKS:
    setattr(Torchvision, f"test_{NAME}", functools.partialmethod(Torchvision.check, NAME))


class Padding(unittest.TestCase):
    """nn.ZeroPad2d, whose pads PyTorch computes in the file: folded, and node by node."""

    def test_its_zeros_are_the_next_layers_padding(self):
        network = torch.nn.Sequential(
            torch.nn.ZeroPad2d((1, 2, 0, 1)), torch.nn.Conv2d(2, 3, 3), torch.nn.ReLU(),
            torch.nn.ZeroPad2d((0, 1, 1, 0)), torch.nn.AvgPool2d(2))
        sample = torch.rand(2, 2, 6, 6)
        wanted = {"1_Conv": network[:2], "4_AveragePool": network}
        with tempfile.TemporaryDirectory() as folder:
            file = str(pathlib.Path(folder) / "padded.onnx")
            for opset, form in itertools.product((11, 13), FORMS):
                with self.subTest(opset=opset, form=form):
                    export(network, sample, file, opset, form)
                    layers = {layer["name"]: layer["output"]
                              for layer in strata("show", file, "--json")["layers"]}
                    for name, part in wanted.items():
                        shape = tuple(layers[name][dim] for dim in "chw")
                        self.assertEqual(shape, tuple(part(sample).shape[1:]), name)


class Small(torch.nn.Module):
    """Each kind of layer that has parameters, and a gate (squeeze-and-excitation)."""

    def __init__(self):
        super().__init__()
        self.one = torch.nn.Conv2d(3, 8, 3, padding=1, bias=False)
        self.norm = torch.nn.BatchNorm2d(8)
        self.two = torch.nn.Conv2d(8, 8, 3, padding=1, groups=2)
        self.squeeze = torch.nn.Conv2d(8, 4, 1)
        self.excite = torch.nn.Conv2d(4, 8, 1)
        self.fc = torch.nn.Linear(8 * 4 * 4, 5)

    def forward(self, x):
        x = torch.relu(self.norm(self.one(x)))
        gate = torch.sigmoid(self.squeeze(torch.nn.functional.adaptive_avg_pool2d(x, 1)))
        x = torch.nn.functional.hardsigmoid(self.excite(gate)) * x
        x = torch.nn.functional.max_pool2d(torch.nn.functional.silu(self.two(x)) + x, 2)
        return self.fc(torch.flatten(x, 1))


class Training(unittest.TestCase):
    """Three steps of plain SGD from the file's weights are PyTorch's."""

    STEPS, RATE = 3, 0.1
    LAYERS = {"one": "one_Conv", "norm": "norm_BatchNormalization", "two": "two_Conv",
              "squeeze": "squeeze_Conv", "excite": "excite_Conv", "fc": "fc_Gemm"}

    def train(self, network, samples, labels):
        optimiser = torch.optim.SGD(network.parameters(), lr=self.RATE)
        losses = []
        for _ in range(self.STEPS):
            optimiser.zero_grad()
            loss = torch.nn.functional.cross_entropy(network(samples), labels)
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
        return losses

    def check_weights(self, network, folder):
        for module, layer in self.LAYERS.items():
            for what, tensor in network.get_submodule(module).named_parameters():
                saved = numpy.load(folder / f"{layer}.{what}.npy")
                difference = numpy.abs(saved - tensor.detach().numpy()).max()
                self.assertLessEqual(difference, 1e-5, f"{layer}.{what}")

    def test_losses_and_weights_are_those_of_pytorch(self):
        torch.manual_seed(1)
        network = Small().train()
        samples, labels = torch.randn(8, 3, 8, 8), torch.arange(8) % 5
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            file = str(folder / "small.onnx")
            torch.onnx.export(network, samples, file, opset_version=13,
                              training=torch.onnx.TrainingMode.TRAINING,
                              do_constant_folding=False)
            numpy.save(folder / "input.npy", samples.numpy())
            numpy.save(folder / "labels.npy", labels.numpy())
            losses = self.train(network, samples, labels)
            rows = {"strategy": "rows", "default": {"n": 1}, "layers": [
                {"name": layer["name"], "config": {"h": 2}} for layer in
                strata("show", file, "--json")["layers"] if layer["output"]["h"] > 1]}
            (folder / "rows.json").write_text(json.dumps(rows))
            for devices, strategy in ((1, "data"), (2, "data"), (2, "model"), (4, "data"),
                                      (2, str(folder / "rows.json"))):
                with self.subTest(devices=devices, strategy=strategy):
                    out = folder / f"{pathlib.Path(strategy).stem}{devices}"
                    run = strata("run", file, "--devices", f"cpu:{devices}", "--strategy", strategy,
                                 "--batch", "8", "--steps", str(self.STEPS), "--lr", str(self.RATE),
                                 "--data", name, "--save-weights", str(out), "--json")
                    for ours, theirs in zip(run["losses"], losses, strict=True):
                        self.assertLessEqual(abs(ours - theirs), 1e-5)
                    self.check_weights(network, out)


if __name__ == "__main__":
    if not cases.reads_onnx():
        print("skipped: this build reads no ONNX; libonnx-dev has it")
        sys.exit(77)
    unittest.main(argv=[argument for argument in sys.argv if argument != "--all"])
