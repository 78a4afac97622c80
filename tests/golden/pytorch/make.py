#!/usr/bin/env python3
"""Writes the goldens beside it: one training step of each model as PyTorch computes it.

    /usr/bin/python3 tests/golden/pytorch/make.py      # Debian's python3-torch (1.13.1)

For every tensor of a step one line "LAYER WHAT PROBE NORM", where WHAT is output, gradient (of the
loss in the output), weight or bias (of the loss in it); PROBE is the tensor's product with a fixed
pseudo-random tensor, so that an element out of place shows; NORM is its Euclidean length. The first
line is the loss. All in double precision. The values come from names alone, by `uniform`, which
tests/exec/reference/pytorch_test.cpp repeats.
"""

import math
import pathlib
import tomllib

import torch
import torch.nn.functional as F

HERE = pathlib.Path(__file__).resolve().parent
BATCH = 3
MASK = (1 << 64) - 1


def uniform(name, count):
    """Values in [-1, 1): Steele et al.'s SplitMix64 seeded with the FNV-1a hash of a name."""
    state = 0xCBF29CE484222325
    for byte in name.encode():
        state = (state ^ byte) * 0x100000001B3 & MASK
    values = []
    for _ in range(count):
        state = state + 0x9E3779B97F4A7C15 & MASK
        z = (state ^ state >> 30) * 0xBF58476D1CE4E5B9 & MASK
        z = (z ^ z >> 27) * 0x94D049BB133111EB & MASK
        values.append(((z ^ z >> 31) >> 11) * 2.0**-52 - 1)
    return values


def tensor(name, shape):
    return torch.tensor(uniform(name, math.prod(shape)), dtype=torch.float64).reshape(shape)


class Step:
    """One model's step; `outputs` and `parameters` by layer."""

    def __init__(self, model):
        self.outputs, self.parameters, self.loss = {}, {}, None
        above = None
        for layer in model["layer"]:
            reads = [self.outputs[name] for name in layer.get("inputs", [above] if above else [])]
            result = self.compute(layer, reads)
            if result.requires_grad:
                result.retain_grad()
            self.outputs[layer["name"]] = result
            above = layer["name"]
        self.loss.backward()

    def weights(self, layer, shape, inputs):
        """Scaled so that activations keep their size, as the test does."""
        name = layer["name"]
        weight = (tensor(f"{name}.weight", shape) * math.sqrt(3 / inputs)).requires_grad_()
        bias = None
        if layer.get("bias", True):
            bias = (tensor(f"{name}.bias", shape[:1]) * 0.1).requires_grad_()
        self.parameters[name] = (weight, bias)
        return weight, bias

    def compute(self, layer, reads):
        op, name = layer["op"], layer["name"]
        x = reads[0] if reads else None
        rank = int(op[-2]) if op.endswith("d") and op[-2].isdigit() else 0
        if op == "input":
            return tensor(name, [BATCH, *layer["shape"]]).requires_grad_()
        if op.startswith("conv"):
            return self.convolution(layer, x, rank)
        if op == "fc":
            x = x.flatten(1)
            return F.linear(x, *self.weights(layer, [layer["out_features"], x.shape[1]], x.shape[1]))
        if op == "batch_norm":
            weight = (1 + 0.5 * tensor(f"{name}.weight", x.shape[1:2])).requires_grad_()
            bias = (0.1 * tensor(f"{name}.bias", x.shape[1:2])).requires_grad_()
            self.parameters[name] = (weight, bias)
            return F.batch_norm(x, None, None, weight, bias, True, 0, layer.get("epsilon", 1e-5))
        if op == "dropout":
            p = layer["probability"]
            kept = tensor(f"{name}.mask", x.shape) >= 2 * p - 1
            return x * kept / (1 - p)
        if op == "softmax_cross_entropy":
            labels = torch.tensor([7 * n % x.shape[1] for n in range(BATCH)])
            self.loss = F.cross_entropy(x, labels)
            return torch.softmax(x, 1).detach()
        if op == "concat":
            return torch.cat(reads, 1)
        if op == "add":
            return sum(reads[1:], reads[0])
        if op == "multiply":
            return reads[0] * reads[1]
        if op == "flatten":
            return x.flatten(1)
        if op == "lrn":
            return F.local_response_norm(x, layer.get("size", 5), layer.get("alpha", 1e-4),
                                         layer.get("beta", 0.75), layer.get("k", 1.0))
        if op == "hard_sigmoid":
            return F.relu6(x + 3) / 6  # F.hardsigmoid multiplies by a 1/6 of single precision
        return self.pooling(layer, x, rank) if rank else self.activation(layer, x)

    def convolution(self, layer, x, rank):
        kernel, groups = layer["kernel"], layer.get("groups", 1)
        kernel = kernel if isinstance(kernel, list) else [kernel] * rank
        shape = [layer["out_channels"], x.shape[1] // groups, *kernel]
        weight, bias = self.weights(layer, shape, math.prod(shape[1:]))
        function = getattr(F, layer["op"])
        return function(x, weight, bias, layer.get("stride", 1), layer.get("padding", 0),
                        layer.get("dilation", 1), groups)

    @staticmethod
    def pooling(layer, x, rank):
        function = getattr(F, layer["op"])
        if layer["op"].startswith("adaptive"):
            return function(x, layer.get("output", 1))
        keys = ("stride", "padding", "dilation", "ceil_mode", "count_include_pad")
        return function(x, layer["kernel"], **{key: layer[key] for key in keys if key in layer})

    @staticmethod
    def activation(layer, x):
        op = layer["op"].replace("hard_swish", "hardswish")
        function = getattr(torch, op, None) or getattr(F, op)
        constants = [layer[key] for key in ("slope", "alpha") if key in layer]
        return function(x, *constants)


def line(layer, what, value):
    probe = (value * tensor(f"{layer}.{what}.probe", value.shape)).sum()
    return f"{layer} {what} {probe.item():.15e} {value.norm().item():.15e}\n"


def golden(model):
    step = Step(model)
    text = f"loss {step.loss.item():.15e}\n"
    for layer in model["layer"]:
        name = layer["name"]
        output = step.outputs[name]
        text += line(name, "output", output.detach())
        if output.grad is not None:
            text += line(name, "gradient", output.grad)
        for what, value in zip(("weight", "bias"), step.parameters.get(name, ())):
            if value is not None:
                text += line(name, what, value.grad)
    return text


if __name__ == "__main__":
    for path in sorted(HERE.glob("*.toml")):
        model = tomllib.loads(path.read_text())
        path.with_suffix(".txt").write_text(golden(model))
