"""LeNet-5 and small transformers in plain PyTorch, whose modules have the names of the zoo's
layers: those of scripts/check-dtensor."""

import math

import torch
from torch import nn
from torch.nn import functional

BATCH = 4
HIDDEN, HEADS, TOKENS, VOCABULARY = 32, 4, 8, 48


class Add(nn.Module):
    def forward(self, a, b):
        return a + b


class Gate(nn.Module):
    def forward(self, gate, up):
        return functional.silu(gate) * up


class Positions(nn.Module):
    """Adds a vector to each token, by its place."""

    def __init__(self, tokens):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(tokens, HIDDEN) * 0.5)

    def forward(self, x):
        return x + self.weight[:x.shape[1]]


class Tokens(nn.Module):
    """(n, c, h, w) to (n, h w, c)."""

    def forward(self, x):
        return x.flatten(2).transpose(1, 2)


class ClassToken(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(1, 1, HIDDEN))

    def forward(self, x):
        return torch.cat([self.weight.expand(x.shape[0], -1, -1), x], 1)


class FirstToken(nn.Module):
    def forward(self, x):
        return x[:, 0]


class Attention(nn.Module):
    def __init__(self, causal=False, rotary=0):
        super().__init__()
        self.causal, self.rotary = causal, rotary

    def turned(self, x):
        """Channels i and i + half of each head, by an angle that grows with the position."""
        half = x.shape[-1] // 2
        rates = self.rotary ** (-torch.arange(half, dtype=x.dtype) / half)
        angles = torch.arange(x.shape[-2], dtype=x.dtype)[:, None] * rates
        a, b = x.split(half, -1)
        return torch.cat([a * angles.cos() - b * angles.sin(),
                          b * angles.cos() + a * angles.sin()], -1)

    def forward(self, query, key, value):
        size = HIDDEN // HEADS
        q, k, v = (x.unflatten(-1, (-1, size)).transpose(1, 2) for x in (query, key, value))
        if self.rotary:
            q, k = self.turned(q), self.turned(k)
        k, v = (x.repeat_interleave(q.shape[1] // k.shape[1], 1) for x in (k, v))
        seen = functional.scaled_dot_product_attention(q, k, v, is_causal=self.causal)
        return seen.transpose(1, 2).flatten(2)


class Network(nn.Module):
    """Modules by the names of layers, each with the names of what it reads; the last is the loss,
    which reads labels, too."""

    def __init__(self):
        super().__init__()
        self.reads = {}

    def add(self, name, module, *inputs):
        self.add_module(name, module)
        self.reads[name] = inputs
        return name

    def add_linear(self, name, read, inputs, outputs, bias=True):
        return self.add(name, nn.Linear(inputs, outputs, bias), read)

    def add_norm(self, name, read, rms=False):
        norm = nn.RMSNorm(HIDDEN, eps=1e-5) if rms else nn.LayerNorm(HIDDEN)
        return self.add(name, norm, read)

    def add_attention(self, at, attention, keys=HEADS, bias=True):
        """A block's, from its query on to its output's product."""
        width = HIDDEN * keys // HEADS
        parts = [self.add_linear("block1_query", at, HIDDEN, HIDDEN, bias),
                 self.add_linear("block1_key", at, HIDDEN, width, bias),
                 self.add_linear("block1_value", at, HIDDEN, width, bias)]
        at = self.add("block1_attention", attention, *parts)
        return self.add_linear("block1_attention_out", at, HIDDEN, HIDDEN, bias)

    def add_feed_forward(self, at):
        at = self.add_linear("block1_ffn_in", at, HIDDEN, 4 * HIDDEN)
        at = self.add("block1_ffn_act", nn.GELU(), at)
        return self.add_linear("block1_ffn_out", at, 4 * HIDDEN, HIDDEN)

    def add_gated_feed_forward(self, at, width=48):
        gate = self.add_linear("block1_ffn_gate", at, HIDDEN, width, False)
        up = self.add_linear("block1_ffn_up", at, HIDDEN, width, False)
        at = self.add("block1_ffn_act", Gate(), gate, up)
        return self.add_linear("block1_ffn_out", at, width, HIDDEN, False)

    def forward(self, labels, **data):
        values = dict(data)
        for name, inputs in self.reads.items():
            read = [values[read] for read in inputs]
            more = [labels] if name == "loss" else []
            values[name] = self.get_submodule(name)(*read, *more)
        return values["loss"]


def pre_norm_block(net, at, attention):
    out = net.add_attention(net.add_norm("block1_attention_norm", at), attention)
    at = net.add("block1_attention_add", Add(), at, out)
    out = net.add_feed_forward(net.add_norm("block1_ffn_norm", at))
    return net.add("block1_ffn_add", Add(), at, out)


def tied_head(net, at):
    net.add_linear("head", at, HIDDEN, VOCABULARY, False)
    net.head.weight = net.embedding.weight


def gpt(loss):
    net = Network()
    at = net.add("embedding", nn.Embedding(VOCABULARY, HIDDEN), "input")
    at = net.add("positions", Positions(TOKENS), at)
    tied_head(net, net.add_norm("norm", pre_norm_block(net, at, Attention(causal=True))))
    net.add("loss", loss, "head")
    return net


def llama(loss):
    net = Network()
    start = net.add("embedding", nn.Embedding(VOCABULARY, HIDDEN), "input")
    out = net.add_attention(net.add_norm("block1_attention_norm", start, True),
                        Attention(causal=True, rotary=10000.0), 2, False)
    at = net.add("block1_attention_add", Add(), start, out)
    out = net.add_gated_feed_forward(net.add_norm("block1_ffn_norm", at, True))
    at = net.add_norm("norm", net.add("block1_ffn_add", Add(), at, out), True)
    net.add_linear("head", at, HIDDEN, VOCABULARY, False)
    net.add("loss", loss, "head")
    return net


def bert(loss):
    net = Network()
    words = net.add("embedding", nn.Embedding(VOCABULARY, HIDDEN), "input")
    types = net.add("type_embedding", nn.Embedding(2, HIDDEN), "token_types")
    at = net.add("positions", Positions(TOKENS), net.add("embedding_add", Add(), words, types))
    start = net.add_norm("embedding_norm", at)
    sum_of = net.add("block1_attention_add", Add(), start, net.add_attention(start, Attention()))
    at = net.add_norm("block1_attention_norm", sum_of)
    sum_of = net.add("block1_ffn_add", Add(), at, net.add_feed_forward(at))
    tied_head(net, net.add_norm("block1_ffn_norm", sum_of))
    net.add("loss", loss, "head")
    return net


def vit(loss):
    net = Network()
    at = net.add("patches", nn.Conv2d(3, HIDDEN, 4, 4), "input")
    at = net.add("class_token", ClassToken(), net.add("tokens", Tokens(), at))
    at = pre_norm_block(net, net.add("positions", Positions(10), at), Attention())
    at = net.add("first_token", FirstToken(), net.add_norm("norm", at))
    net.add_linear("head", at, HIDDEN, 12)
    net.add("loss", loss, "head")
    return net


def lenet5(loss):
    net, at = Network(), "input"
    for number, (inputs, outputs) in enumerate(((1, 6), (6, 16)), 1):
        at = net.add(f"conv{number}", nn.Conv2d(inputs, outputs, 5), at)
        at = net.add(f"pool{number}", nn.AvgPool2d(2), net.add(f"tanh{number}", nn.Tanh(), at))
    at = net.add("flatten", nn.Flatten(), at)
    at = net.add("tanh3", nn.Tanh(), net.add_linear("fc1", at, 400, 120))
    at = net.add("tanh4", nn.Tanh(), net.add_linear("fc2", at, 120, 84))
    net.add_linear("fc3", at, 84, 10)
    net.add("loss", loss, "fc3")
    return net


def build(name, loss):
    """The network, in double precision, with weights that leave no gradient small."""
    torch.manual_seed(1)
    net = {"gpt": gpt, "llama": llama, "bert": bert, "vit": vit, "lenet5": lenet5}[name](loss)
    for tensor in net.parameters():
        if tensor.dim() == 1:
            tensor.data.uniform_(0.5, 1.5)
        else:
            tensor.data.normal_(std=1 / math.sqrt(tensor[0].numel()))
    return net.double()


def data_of(name):
    """The labels, and inputs by name."""
    torch.manual_seed(2)
    if name == "vit":
        return torch.randint(0, 12, (BATCH,)), {"input": torch.randn(BATCH, 3, 12, 12).double()}
    if name == "lenet5":
        return torch.randint(0, 10, (BATCH,)), {"input": torch.randn(BATCH, 1, 32, 32).double()}
    data = {"input": torch.randint(0, VOCABULARY, (BATCH, TOKENS))}
    if name == "bert":
        data["token_types"] = torch.randint(0, 2, (BATCH, TOKENS))
    return torch.randint(0, VOCABULARY, (BATCH, TOKENS)), data
