#!/usr/bin/env python3
"""Writes the folders beside it: small transformers as today's PyTorch and its libraries write them.

    python3 -m venv build/pytorch
    build/pytorch/bin/pip install torch torchvision transformers onnx onnxscript
    build/pytorch/bin/python tests/golden/onnx/make_tokens.py

Those here were written with PyTorch 2.15.0, torchvision 0.29.2, transformers
5.24.0, onnx 1.23.2 and onnxscript 0.7.2. A file's name says the exporter, of
torch.export or of TorchScript, and the opset; `one` files have a batch of 1, `free` ones a symbolic
batch, the others a batch of 2. `default` files are what torch.onnx.export writes unless it is told
otherwise.

expected.json of each folder holds what PyTorch says: parameters and multiply-accumulates of one
sample, those of causal attentions with the keys that are seen, and the losses of three steps of
plain SGD from the files' weights on input.npy and labels.npy.

training.npy, (3, parameters), follows each element of the parameters through three such steps: what
it is before, its gradient in the first step, and what it is after the last. An element is known by
what it is before: the columns ascend in it, and no two are equal, whatever a file calls the
parameters and in which order it has their elements. So that none are, the k-th element that is zero
in a file (from 1 on) is k/64 here, and no token is padding; the losses stand in training.json.
"""

import json
import pathlib
import warnings

import numpy
import torch
from torch import nn
from torch.nn import functional

from make import strip

HERE = pathlib.Path(__file__).resolve().parent
STEPS, RATE = 3, 0.1
VOCABULARY, CHANNELS, TOKENS, CLASSES = 19, 16, 6, 5


class Output(nn.Module):
    """One output of a network of transformers."""

    def __init__(self, network, **options):
        super().__init__()
        self.network, self.options = network, options

    def forward(self, x):
        return self.network(x, **self.options).logits


def gpt2():
    import transformers
    config = transformers.GPT2Config(
        vocab_size=VOCABULARY, n_positions=8, n_embd=CHANNELS, n_layer=1, n_head=2, attn_pdrop=0,
        embd_pdrop=0, resid_pdrop=0, bos_token_id=0, eos_token_id=0, attn_implementation="eager")
    return Output(transformers.GPT2LMHeadModel(config), use_cache=False,
                  position_ids=torch.arange(TOKENS)[None])


def llama():
    import transformers
    config = transformers.LlamaConfig(
        vocab_size=VOCABULARY, hidden_size=CHANNELS, intermediate_size=24, num_hidden_layers=1,
        num_attention_heads=4, num_key_value_heads=2, max_position_embeddings=8, bos_token_id=0,
        eos_token_id=0, attn_implementation="sdpa")
    return Output(transformers.LlamaForCausalLM(config), use_cache=False,
                  position_ids=torch.arange(TOKENS)[None])


def bert():
    import transformers
    config = transformers.BertConfig(
        vocab_size=VOCABULARY, hidden_size=CHANNELS, intermediate_size=24, num_hidden_layers=1,
        num_attention_heads=2, max_position_embeddings=8, hidden_dropout_prob=0,
        attention_probs_dropout_prob=0, num_labels=CLASSES, attn_implementation="sdpa")
    return Output(transformers.BertForSequenceClassification(config))


def vit():
    import torchvision
    network = torchvision.models.VisionTransformer(
        image_size=8, patch_size=2, num_layers=1, num_heads=2, hidden_dim=CHANNELS, mlp_dim=24,
        num_classes=CLASSES)
    nn.init.normal_(network.heads.head.weight, std=0.2)
    return network


class Encoder(nn.Module):
    """nn.TransformerEncoder, whose query, key and value are one product."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(VOCABULARY, CHANNELS)
        self.places = nn.Parameter(torch.randn(1, TOKENS, CHANNELS) * 0.1)
        layer = nn.TransformerEncoderLayer(CHANNELS, 2, 24, 0.0, activation="gelu",
                                           batch_first=True)
        self.layers = nn.TransformerEncoder(layer, 1, enable_nested_tensor=False)
        self.head = nn.Linear(CHANNELS, VOCABULARY)

    def forward(self, x):
        return self.head(self.layers(self.words(x) + self.places))


class Decoder(nn.Module):
    """An attention that is written out, with a mask of its own; the head has the words' weight."""

    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(VOCABULARY, CHANNELS), nn.Embedding(8, CHANNELS)
        nn.init.normal_(self.words.weight, std=0.1)
        self.norm, self.last_norm = nn.LayerNorm(CHANNELS), nn.LayerNorm(CHANNELS)
        self.attention, self.out = nn.Linear(CHANNELS, 3 * CHANNELS), nn.Linear(CHANNELS, CHANNELS)
        self.head = nn.Linear(CHANNELS, VOCABULARY, bias=False)
        self.head.weight = self.words.weight
        self.register_buffer("mask", torch.tril(torch.ones(8, 8)).view(1, 1, 8, 8))

    def forward(self, x):
        batch, tokens = x.shape
        x = self.words(x) + self.places(torch.arange(tokens))
        parts = self.attention(self.norm(x)).split(CHANNELS, dim=2)
        q, k, v = (part.view(batch, tokens, 2, CHANNELS // 2).transpose(1, 2) for part in parts)
        scores = (q @ k.transpose(-2, -1)) / (CHANNELS // 2) ** 0.5
        scores = scores.masked_fill(self.mask[:, :, :tokens, :tokens] == 0, float("-inf"))
        seen = (functional.softmax(scores, dim=-1) @ v).transpose(1, 2)
        return self.head(self.last_norm(x + self.out(seen.reshape(batch, tokens, CHANNELS))))


ALL = {"gpt2": gpt2, "llama": llama, "bert": bert, "vit": vit, "encoder": Encoder,
       "decoder": Decoder}
CAUSAL = ("gpt2", "llama", "decoder")
FORMS = {"gpt2": ["script13.one", "export18", "export23.free"],
         "llama": ["script17.one", "export18", "export23.free"],
         "bert": ["script17", "export18", "export23"],
         "vit": ["script17", "export18.free", "export23", "export20.default"],
         "encoder": ["script17.free", "export18", "export23.one"],
         "decoder": ["script13", "export18.free", "export20.default", "export23"]}


def build(name):
    """Biases are drawn, for the exporter drops those that are zero."""
    torch.manual_seed(1)
    network = ALL[name]().train()
    for tensor in network.parameters():
        if tensor.dim() == 1:
            tensor.data.uniform_(0.1, 0.6)
    return network


def samples_of(name, count):
    if name == "vit":
        return torch.randn(count, 3, 8, 8)
    return torch.randint(0, VOCABULARY, (count, TOKENS))


def export(name, form, file):
    exporter, _, kind = form.partition(".")
    opset = int(exporter[-2:])
    network, sample = build(name), samples_of(name, 1 if kind == "one" else 2)
    if exporter.startswith("script"):
        free = {"x": {0: "batch"}} if kind == "free" else None
        torch.onnx.export(network, (sample,), file, opset_version=opset, dynamo=False,
                          training=torch.onnx.TrainingMode.TRAINING, do_constant_folding=False,
                          input_names=["x"], dynamic_axes=free)
        return
    shapes = ({0: torch.export.Dim("batch", min=2, max=64)},) if kind == "free" else None
    torch.onnx.export(network, (sample,), file, opset_version=opset, optimize=kind == "default",
                      dynamic_shapes=shapes, external_data=False)


def count_macs(name, network):
    """Each product's weight once a token that it is of, and what attentions do."""
    tokens = 17 if name == "vit" else TOKENS
    total = 0
    for module, weight in network.named_parameters():
        if weight.dim() < 2 or "place" in module or "pos" in module or "wpe" in module:
            continue
        embeds = any(part in module for part in ("words", "embeddings", "wte", "embed_tokens",
                                                 "class_token"))
        if embeds and name not in ("gpt2", "decoder"):  # where the head has the words' weight
            continue
        once = any(part in module for part in ("pooler", "classifier", "heads."))
        places = 1 if once else 16 if weight.dim() == 4 else tokens
        total += places * weight.numel()
    pairs = tokens * (tokens + 1) // 2 if name in CAUSAL else tokens * tokens
    return total + 2 * pairs * CHANNELS


def train(network, samples, labels, seen=None):
    """The losses; `seen` is told of every step, before and after its gradients are added."""
    optimiser = torch.optim.SGD(network.parameters(), lr=RATE)
    losses = []
    for _ in range(STEPS):
        optimiser.zero_grad()
        output = network(samples)
        loss = functional.cross_entropy(output.flatten(0, -2), labels.flatten())
        loss.backward()
        if seen is not None:
            seen(network)
        optimiser.step()
        losses.append(loss.item())
    return losses


def without_zeros(name):
    """The network without padding, and without elements that are zero."""
    network = build(name)
    zeros = 0
    for tensor in network.parameters():
        values = tensor.data.view(-1)
        for place in (values == 0).nonzero().flatten().tolist():
            zeros += 1
            values[place] = zeros / 64
    for module in network.modules():
        if isinstance(module, nn.Embedding):
            module.padding_idx = None
    return network


def flat(tensors):
    return torch.cat([tensor.detach().flatten() for tensor in tensors]).clone()


def follow(name, samples, labels):
    """The losses, and a column for each element: before, gradient of the first step, after."""
    network, gradients = without_zeros(name), []
    before = flat(network.parameters())
    losses = train(network, samples, labels,
                   lambda it: gradients.append(flat(p.grad for p in it.parameters())))
    rows = torch.stack([before, gradients[0], flat(network.parameters())])
    rows = rows[:, rows[0].argsort()]
    assert (rows[0].diff() > 0).all(), f"{name}: two elements are equal"
    return losses, rows.numpy()


def main():
    warnings.filterwarnings("ignore")
    for name, forms in FORMS.items():
        folder = HERE / name
        folder.mkdir(exist_ok=True)
        torch.manual_seed(2)
        samples = samples_of(name, 4)
        classes = CLASSES if name in ("bert", "vit") else VOCABULARY
        labels = torch.randint(0, classes, (4,) if classes == CLASSES else (4, TOKENS))
        data = samples if name == "vit" else samples[:, None, :].to(torch.float32)
        numpy.save(folder / "input.npy", data.numpy())
        numpy.save(folder / "labels.npy", labels.numpy())
        for form in forms:
            file = str(folder / f"{form}.onnx")
            export(name, form, file)
            strip(file)
        network = build(name)
        expected = {"parameters": sum(tensor.numel() for tensor in network.parameters()),
                    "macs": count_macs(name, network), "losses": train(network, samples, labels)}
        (folder / "expected.json").write_text(json.dumps(expected, indent=1) + "\n")
        losses, rows = follow(name, samples, labels)
        numpy.save(folder / "training.npy", rows)
        (folder / "training.json").write_text(json.dumps(losses) + "\n")


if __name__ == "__main__":
    main()
