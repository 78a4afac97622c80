#!/usr/bin/env python3
"""Writes the files of this folder: two small networks as the exporters of today's PyTorch write them.

    python3 -m venv build/pytorch && build/pytorch/bin/pip install torch onnx onnxscript
    build/pytorch/bin/python tests/golden/onnx/make.py

Those here were written with PyTorch 2.15.0, onnx 1.23.2 and onnxscript 0.7.2. Of a file's name the
second part says the exporter, of torch.export or of TorchScript, and the opset: `kept` files are of
the training form, with batch normalisation as it is, `folded` ones are what torch.onnx.export writes
unless it is told otherwise. `gated.split.onnx` keeps its weights in a file beside it.

expected.json holds what PyTorch says of each: parameters and multiply-accumulates of one sample, the
output of each module with parameters, and the losses of three steps of plain SGD from the file's
weights on input.npy and labels.npy; of folded files, whose training is another, the first alone.
Traces of the exporter's own source and of this machine are taken out of the files.
"""

import json
import math
import pathlib

import numpy
import onnx
import torch

HERE = pathlib.Path(__file__).resolve().parent
STEPS, RATE = 3, 0.1


class Gated(torch.nn.Module):
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


class Medley(torch.nn.Module):
    """What the exporters spell in many nodes, or differently by opset."""

    def __init__(self):
        super().__init__()
        self.pad = torch.nn.ZeroPad2d((1, 2, 0, 1))
        self.stem = torch.nn.Conv2d(3, 6, 3, bias=False)
        self.norm = torch.nn.BatchNorm2d(6)
        self.left = torch.nn.Sequential(torch.nn.Conv2d(6, 4, 1), torch.nn.GELU())
        self.right = torch.nn.Sequential(torch.nn.Conv2d(6, 4, 3, padding=1), torch.nn.Hardswish())
        self.drop = torch.nn.Dropout(0.25, inplace=True)
        self.hidden = torch.nn.Linear(8, 6)
        self.last = torch.nn.Linear(6, 5)

    def forward(self, x):
        x = torch.nn.functional.relu6(self.norm(self.stem(self.pad(x))))
        x = torch.cat([self.left(x), self.right(x)], 1)
        x = torch.nn.functional.max_pool2d(x, 3, 2, ceil_mode=True)
        x = torch.nn.functional.avg_pool2d(x, 2, 1)
        x = torch.nn.functional.elu(torch.nn.functional.leaky_relu(x, 0.2))
        x = self.drop(x.mean([2, 3]))
        x = self.hidden(x.view(x.shape[0], -1))
        return self.last(torch.nn.functional.dropout(torch.tanh(x), 0.1, self.training))


def build(kind):
    """Every parameter and statistic is drawn: the exporter drops biases that are zero."""
    torch.manual_seed(1)
    network = kind()
    for tensor in [*network.parameters(), *network.buffers()]:
        if tensor.dtype == torch.float32 and tensor.dim() == 1:
            tensor.data.uniform_(0.1, 0.6)
    return network


def export(network, sample, file, opset, form, exporter, beside=False):
    network.train(form == "kept")
    if exporter == "script":
        training = {"kept": torch.onnx.TrainingMode.TRAINING}.get(form, torch.onnx.TrainingMode.EVAL)
        torch.onnx.export(network, (sample,), file, opset_version=opset, dynamo=False,
                          training=training, do_constant_folding=form != "kept")
        return
    shapes = ({0: "batch"},) if form == "kept" and opset != 20 else None
    torch.onnx.export(network, (sample,), file, opset_version=opset, optimize=form != "kept",
                      dynamic_shapes=shapes, external_data=beside)


def strip(file):
    """Leaves of the metadata the names of modules alone."""
    model = onnx.load(file, load_external_data=False)
    for node in model.graph.node:
        kept = [entry for entry in node.metadata_props if entry.key.endswith("name_scopes")]
        del node.metadata_props[:]
        node.metadata_props.extend(kept)
        node.ClearField("doc_string")
    for value in [*model.graph.value_info, *model.graph.input, *model.graph.output,
                  *model.graph.initializer]:
        del value.metadata_props[:]
    del model.graph.metadata_props[:]
    del model.metadata_props[:]
    model.graph.ClearField("doc_string")
    onnx.save(model, file)
    return model


def count_parameters(model):
    """By the file: the weights and biases that its nodes name."""
    sizes = {tensor.name: math.prod(tensor.dims) for tensor in model.graph.initializer}
    return sum(sizes.get(name, 0) for node in model.graph.node for name in node.input[1:3]
               if node.op_type in ("Conv", "Gemm", "BatchNormalization"))


def modules_of(network, sample):
    """By hooks: what each module with parameters wrote, and the multiply-accumulates of all."""
    outputs, macs, ops = {}, 0, {"Conv2d": "Conv", "Linear": "Gemm",
                                 "BatchNorm2d": "BatchNormalization"}

    def see(name, module, output):
        nonlocal macs
        kind = type(module).__name__
        outputs[f"{name.replace('.', '_')}_{ops[kind]}"] = list(output.shape[1:])
        if kind != "BatchNorm2d":
            macs += output[0].numel() * math.prod(module.weight.shape[1:])

    hooks = [module.register_forward_hook(lambda m, _, out, name=name: see(name, m, out))
             for name, module in network.named_modules() if type(module).__name__ in ops]
    network.eval()
    with torch.no_grad():
        network(sample)
    for hook in hooks:
        hook.remove()
    return outputs, macs


def train(kind, form, samples, labels):
    network = build(kind).train(form == "kept")
    optimiser = torch.optim.SGD(network.parameters(), lr=RATE)
    losses = []
    for _ in range(STEPS if form == "kept" else 1):
        optimiser.zero_grad()
        loss = torch.nn.functional.cross_entropy(network(samples), labels)
        loss.backward()
        optimiser.step()
        losses.append(loss.item())
    return losses


FILES = [  # network, exporter, opset, form, whether its weights stand beside it
    (Gated, "export", 18, "kept", False), (Gated, "export", 20, "kept", False),
    (Gated, "export", 20, "folded", False), (Gated, "export", 20, "split", True),
    (Gated, "script", 20, "kept", False),
    (Medley, "export", 18, "kept", False), (Medley, "export", 20, "folded", False),
    (Medley, "export", 23, "kept", False), (Medley, "script", 18, "folded", False),
    (Medley, "script", 23, "kept", False)]


def name_of(kind, exporter, opset, form):
    name = kind.__name__.lower()
    return f"{name}.split.onnx" if form == "split" else f"{name}.{exporter}{opset}.{form}.onnx"


def main():
    torch.manual_seed(2)
    samples, labels = torch.randn(8, 3, 8, 8), torch.arange(8) % 5
    numpy.save(HERE / "input.npy", samples.numpy())
    numpy.save(HERE / "labels.npy", labels.numpy())
    expected = {}
    for kind, exporter, opset, form, beside in FILES:
        file = HERE / name_of(kind, exporter, opset, form)
        export(build(kind), samples, str(file), opset, form, exporter, beside)
        model = strip(str(file))
        outputs, macs = modules_of(build(kind), samples)
        if form != "kept":  # batch normalisation is in the convolution before it
            outputs = {name: shape for name, shape in outputs.items() if "Batch" not in name}
        expected[file.name] = {"opset": opset, "parameters": count_parameters(model), "macs": macs,
                               "modules": outputs}
        if kind is Gated:
            expected[file.name]["losses"] = train(kind, form, samples, labels)
    (HERE / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")


if __name__ == "__main__":
    main()
