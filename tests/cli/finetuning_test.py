#!/usr/bin/env python3
"""Networks of which a step trains adapters or some layers alone compute what PyTorch does: a small
Llama with LoRA modules written out by hand. Losses of several steps, gradients of what is trained,
and every other parameter as it was, to the bit, on one device and on several.

    STRATA=build/dev/bin/strata /usr/bin/python3 tests/cli/finetuning_test.py

Exits with 77 where PyTorch is not installed. STRATA_TORCH_PYTHON names a Python that has it, and
that then runs this test.
"""

import importlib.util
import json
import os
import pathlib
import sys
import tempfile
import unittest

import cases

NEEDED = ("numpy", "torch")
LAYERS, HIDDEN, HEADS, KV_HEADS, FFN, SEQ, VOCAB, BATCH = 2, 32, 4, 2, 48, 12, 50, 4
MODEL = (f"llama:layers={LAYERS},hidden={HIDDEN},heads={HEADS},kv_heads={KV_HEADS},ffn={FFN},"
         f"seq={SEQ},vocab={VOCAB},epsilon=1e-5")
STEPS, RATE, TOLERANCE = 3, 0.03125, 1e-4
ENDS = ("query", "key", "value", "attention_out", "ffn_gate", "ffn_up", "ffn_out")
WORDS = dict(zip(("q", "k", "v", "o", "gate", "up", "down"), ENDS))
RUNS = (("cpu:1", "data", ""), ("cpu:2", "data", ""), ("cpu:2", "hybrid:tp=2", ""),
        ("cpu:2", "hybrid:tp=2,sp=1", ""), ("cpu:2", "hybrid:pp=2", "--micro-batch 2"),
        ("cpu:2", "hybrid:tp=2", "--recompute full"), ("cpu:2", "data", "--zero 1"),
        ("cpu:2", "data", "--zero 2"), ("cpu:2", "data", "--zero 3"),
        ("cpu:4", "hybrid:tp=2", "--zero 3"))


class Llama:
    """The network by its formulas; `lora` is the rank, the scale, and the layers with adapters."""

    def __init__(self, lora=None):
        import torch
        self.rank, self.scale, self.adapted = lora or (0, 0, ())
        torch.manual_seed(5)
        size = HIDDEN // HEADS
        shapes = {"embedding": (VOCAB, HIDDEN), "norm": (HIDDEN,), "head": (VOCAB, HIDDEN)}
        for block in range(1, LAYERS + 1):
            into = {"query": HIDDEN, "key": KV_HEADS * size, "value": KV_HEADS * size,
                    "attention_out": HIDDEN, "ffn_gate": FFN, "ffn_up": FFN, "ffn_out": HIDDEN}
            for end, out in into.items():
                shapes[f"block{block}_{end}"] = (out, FFN if end == "ffn_out" else HIDDEN)
            shapes[f"block{block}_attention_norm"] = shapes[f"block{block}_ffn_norm"] = (HIDDEN,)
            for end in self.adapted:
                out, of = shapes[f"block{block}_{end}"]
                shapes[f"block{block}_{end}_lora_a"] = (self.rank, of)
                shapes[f"block{block}_{end}_lora_b"] = (out, self.rank)
        self.weights = {}
        for name in sorted(shapes):
            shape = shapes[name]
            spread = 0.2 if len(shape) == 1 else shape[-1] ** -0.5
            start = 1.0 if len(shape) == 1 else 0.0
            self.weights[name] = (start + spread * torch.randn(shape)).double()

    def linear(self, name, x):
        y = x @ self.weights[name].T
        if name.split("_", 1)[-1] not in self.adapted:
            return y
        down, up = self.weights[name + "_lora_a"], self.weights[name + "_lora_b"]
        return y + self.scale * ((x @ down.T) @ up.T)

    def norm(self, name, x):
        return self.weights[name] * x * (x.pow(2).mean(-1, keepdim=True) + 1e-5).rsqrt()

    @staticmethod
    def turned(x):
        import torch
        half = x.shape[-1] // 2
        angles = torch.arange(SEQ).double()[:, None] * 10000.0 ** (-torch.arange(half) / half)
        a, b = x[..., :half], x[..., half:]
        return torch.cat((a * angles.cos() - b * angles.sin(),
                          b * angles.cos() + a * angles.sin()), -1)

    def attention(self, block, x):
        import torch
        size = HIDDEN // HEADS
        def heads(end, count):
            return self.linear(block + end, x).unflatten(-1, (count, size)).transpose(1, 2)
        q, k = self.turned(heads("query", HEADS)), self.turned(heads("key", KV_HEADS))
        v = heads("value", KV_HEADS)
        k, v = (each.repeat_interleave(HEADS // KV_HEADS, 1) for each in (k, v))
        later = torch.ones(SEQ, SEQ, dtype=torch.bool).triu(1)
        scores = (q @ k.transpose(-1, -2) * size ** -0.5).masked_fill(later, float("-inf"))
        return (scores.softmax(-1) @ v).transpose(1, 2).flatten(2)

    def loss(self, tokens, labels):
        import torch
        x = self.weights["embedding"][tokens]
        for number in range(1, LAYERS + 1):
            block = f"block{number}_"
            seen = self.attention(block, self.norm(block + "attention_norm", x))
            x = x + self.linear(block + "attention_out", seen)
            y = self.norm(block + "ffn_norm", x)
            gate = torch.nn.functional.silu(self.linear(block + "ffn_gate", y))
            x = x + self.linear(block + "ffn_out", gate * self.linear(block + "ffn_up", y))
        logits = self.linear("head", self.norm("norm", x))
        return torch.nn.functional.cross_entropy(logits.flatten(0, 1), labels.flatten())


class Reference:
    """What some steps of SGD make of a network, in doubles, and a folder for runs of it."""

    def __init__(self, folder, network, trained):
        import numpy
        import torch
        self.folder = folder
        tokens, labels = torch.randint(VOCAB, (BATCH, SEQ)), torch.randint(VOCAB, (BATCH, SEQ))
        numpy.save(folder / "input.npy", tokens.float().numpy()[:, None])
        numpy.save(folder / "labels.npy", labels.numpy())
        (folder / "weights").mkdir()
        for name, weight in network.weights.items():
            numpy.save(folder / "weights" / f"{name}.weight.npy", weight.float().numpy())
        self.before = {name: weight.float().numpy().copy() for name, weight in network.weights.items()}
        self.trained = [name for name in network.weights if trained(name)]
        self.losses = []
        for _ in range(STEPS):
            for name in self.trained:
                network.weights[name].requires_grad_(True)
            loss = network.loss(tokens, labels)
            loss.backward()
            self.losses.append(loss.item())
            for name in self.trained:
                weight = network.weights[name]
                network.weights[name] = (weight - RATE * weight.grad).detach()
        self.after = {name: network.weights[name].float().numpy() for name in self.trained}

    def run(self, train, devices, strategy, more):
        import numpy
        after = f"after{len(list(self.folder.iterdir()))}"
        outcome = cases.run(
            f"strata run {MODEL} --train {train} --devices {devices} --strategy {strategy} {more} "
            f"--batch {BATCH} --steps {STEPS} --lr {RATE} --data . --weights weights "
            f"--save-weights {after} --json", self.folder)
        if outcome.exit_code != 0:
            raise AssertionError(outcome.stderr)
        return json.loads(outcome.stdout)["losses"], {
            name: numpy.load(self.folder / after / f"{name}.weight.npy") for name in self.before}


class Finetuning(unittest.TestCase):
    def check(self, train, network, trained):
        import numpy
        with tempfile.TemporaryDirectory() as folder:
            reference = Reference(pathlib.Path(folder), network, trained)
            for devices, strategy, more in RUNS:
                where = f"{train} {devices} {strategy} {more}"
                losses, after = reference.run(train, devices, strategy, more)
                for ours, theirs in zip(losses, reference.losses):
                    self.assertLessEqual(abs(ours - theirs), TOLERANCE * theirs, where)
                for name, before in reference.before.items():
                    if name not in reference.trained:
                        self.assertEqual(before.tobytes(), after[name].tobytes(), f"{where} {name}")
                        continue
                    change = reference.after[name] - before
                    off = numpy.abs(after[name] - reference.after[name]).max()
                    self.assertGreater(numpy.abs(change).max(), 0)
                    self.assertLessEqual(off, TOLERANCE * max(1e-2, numpy.abs(change).max()),
                                         f"{where} {name}")

    def check_lora(self, train, rank, scale, words, also=()):
        network = Llama((rank, scale, [WORDS[word] for word in words]))
        self.check(train, network, lambda name: "_lora_" in name or name in also)

    def test_adapters_of_attention(self):
        self.check_lora("lora:r=4", 4, 2, "qkvo")

    def test_adapters_of_all_products(self):
        self.check_lora("lora:r=3,alpha=5,targets=all", 3, 5 / 3, WORDS)

    def test_adapters_without_a_scale(self):
        self.check_lora("lora:r=2,alpha=2,targets=v+down", 2, 1, ("v", "down"))

    def test_layers_trained_beside_adapters(self):
        self.check_lora("lora:r=2,targets=q,also=embedding+head+norm", 2, 2, "q",
                        ("embedding", "head", "norm"))

    def test_frozen_layers(self):
        self.check("frozen:embedding+block1", Llama(),
                   lambda name: not name.startswith(("embedding", "block1_")))


if __name__ == "__main__":
    other = os.environ.pop("STRATA_TORCH_PYTHON", "")
    if other:
        os.execv(other, [other, "-B", *sys.argv])
    absent = [name for name in NEEDED if importlib.util.find_spec(name) is None]
    if absent:
        print(f"skipped: {', '.join(absent)}: not installed; "
              f"pip install {' '.join(NEEDED)}, or STRATA_TORCH_PYTHON names a Python that has them")
        sys.exit(77)
    unittest.main()
