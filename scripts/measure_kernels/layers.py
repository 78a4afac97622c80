"""Cases of a layer's smaller kernels: norms, losses, casts, pointwise ops, embeddings, routers."""

import itertools

import torch
import torch.nn.functional as F

from measure_kernels.cases import (BF16, FP32, FP8, NAMES, Case, Compiled, forward_case,
                                   training_cases)

FP8_MOST = 448.0


# Norms

def layer_norm(x, weight, bias):
    return F.layer_norm(x, weight.shape, weight, bias, 1e-5)


def rms_norm(x, weight):
    return F.rms_norm(x, weight.shape, weight, 1e-5)


NORMS = {"layer_norm": (layer_norm, 2), "rms_norm": (rms_norm, 1)}  # function, vectors of weights


def norm_pair(lab, norm, rows, columns, dtype, compiled=False):
    function, vectors = NORMS[norm]

    def make_inputs():
        return [lab.random(rows, columns, trained=True)] + [
            lab.random(columns, dtype=dtype, trained=True) for _ in range(vectors)]
    described = {"library": "torch_compile" if compiled else "pytorch", "norm": norm,
                 "bias": vectors - 1, "dtype": "bf16", "weight_dtype": NAMES[dtype], "rows": rows,
                 "columns": columns}
    cells = rows * columns * 2
    return training_cases(described, Compiled(function) if compiled else function, make_inputs,
                          (2 * cells, 3 * cells), compiled=compiled)


def norms(lab):
    tokens = lab.sizes([2048, 8192, 32768], [64])
    hidden = lab.sizes([1024, 4096, 8192, 12288, 16384], [128])
    for dtype, norm, rows, columns in itertools.product((BF16, FP32), NORMS, tokens, hidden):
        yield from norm_pair(lab, norm, rows, columns, dtype)
    for norm, (rows, columns) in itertools.product(NORMS, lab.sizes([(8192, 4096), (8192, 12288)],
                                                                    [(64, 128)])):
        yield from norm_pair(lab, norm, rows, columns, BF16, compiled=True)


# Losses

def widened_loss(logits, target):
    return F.cross_entropy(logits.float(), target)


# How logits are stored, and the type in which the loss is computed.
LOSSES = {"bf16": (BF16, F.cross_entropy), "fp32": (FP32, F.cross_entropy),
          "bf16, cast to fp32": (BF16, widened_loss)}


def loss_pair(lab, name, tokens, vocabulary, compiled=False):
    dtype, function = LOSSES[name]

    def make_inputs():
        return [lab.random(tokens, vocabulary, dtype=dtype, trained=True),
                lab.integers(vocabulary, tokens)]
    cells = tokens * vocabulary
    logits = cells * dtype.itemsize
    # Logits, their gradient, the logarithms and the gradient of these; wider where they are cast.
    peak = 4 * logits if function is F.cross_entropy else 2 * logits + 3 * cells * 4
    return training_cases(
        {"kernel": "cross_entropy", "library": "torch_compile" if compiled else "pytorch",
         "dtype": name, "tokens": tokens, "vocabulary": vocabulary},
        Compiled(function) if compiled else function, make_inputs, (logits, 2 * logits),
        memory_bytes=peak, compiled=compiled)


def losses(lab):
    tokens = lab.sizes([2048, 8192, 16384], [32])
    vocabularies = lab.sizes([32000, 50304, 128256], [512])
    for name, count, vocabulary in itertools.product(LOSSES, tokens, vocabularies):
        yield from loss_pair(lab, name, count, vocabulary)
    tokens, vocabulary = lab.sizes((8192, 128256), (32, 512))
    yield from loss_pair(lab, "bf16, cast to fp32", tokens, vocabulary, compiled=True)


# Casts

def copied(x, dtype):
    return lambda: x.to(dtype, copy=True)


def largest(x):
    return torch.linalg.vector_norm(x, float("inf"))


def scaled_cast(x, scale):
    return (x * scale).to(FP8)


def scaled_cast_transposed(x, scale):
    y = (x * scale).to(FP8)
    return y, y.t().contiguous()


def measured_cast(x):
    """Scale from x's own largest value, and the cast by it."""
    scale = FP8_MOST / x.abs().amax().float()
    return (x * scale).to(FP8), scale


def cast_case(lab, kernel, source, elements, bytes_each, call_of, compiled=False):
    """`call_of(x)` returns the call on x, a matrix of `elements`."""
    columns = 1024 if elements < 2**26 else 8192

    def make():
        return call_of(lab.random(elements // columns, columns, dtype=source))
    return Case({"kernel": kernel, "library": "torch_compile" if compiled else "pytorch",
                 "rows": elements // columns, "columns": columns, "elements": elements}, make,
                elements * bytes_each, memory_bytes=elements * (bytes_each + 6), compiled=compiled)


def cast_kernels(lab):
    """kernel, type of its input, bytes moved for each element, call, whether it is compiled."""
    scale = torch.tensor(0.5, device=lab.device)
    compiled = {function: Compiled(function)
                for function in (scaled_cast, scaled_cast_transposed, measured_cast)}
    return [
        ("cast fp32 to bf16", FP32, 6, lambda x: copied(x, BF16), False),
        ("cast bf16 to fp32", BF16, 6, lambda x: copied(x, FP32), False),
        ("cast bf16 to fp8", BF16, 3, lambda x: copied(x, FP8), False),
        ("scale, cast bf16 to fp8", BF16, 3, lambda x: lambda: scaled_cast(x, scale), False),
        ("largest value bf16", BF16, 2, lambda x: lambda: largest(x), False),
        ("copy bf16", BF16, 4, lambda x: x.clone, False),
        ("copy fp32", FP32, 8, lambda x: x.clone, False),
        ("zero fp32", FP32, 4, lambda x: x.zero_, False),
        ("transpose bf16", BF16, 4, lambda x: lambda: x.t().contiguous(), False),
        ("transpose fp8", FP8, 2, lambda x: lambda: x.t().contiguous(), False),
        ("accumulate bf16 into fp32", BF16, 10, accumulated, False),
        ("scale, cast bf16 to fp8", BF16, 3,
         lambda x: lambda: compiled[scaled_cast](x, scale), True),
        ("largest value, cast bf16 to fp8", BF16, 5,
         lambda x: lambda: compiled[measured_cast](x), True),
        ("scale, cast bf16 to fp8, and transposed", BF16, 4,
         lambda x: lambda: compiled[scaled_cast_transposed](x, scale), True),
    ]


def accumulated(x):
    total = torch.zeros(x.shape, dtype=FP32, device=x.device)
    return lambda: total.add_(x)


def casts(lab):
    sizes = lab.sizes([2**20, 2**23, 2**26, 2**29, 2**30], [2**14])
    for kernel, source, bytes_each, call_of, compiled in cast_kernels(lab):
        for elements in lab.sizes([2**26], sizes) if compiled else sizes:
            yield cast_case(lab, kernel, source, elements, bytes_each, call_of, compiled)


# Pointwise ops

def swiglu(gate, up):
    return F.silu(gate) * up


def tanh_gelu(x):
    return F.gelu(x, approximate="tanh")


def bias_gelu(x, bias):
    return F.gelu(x + bias, approximate="tanh")


def dropout(x):
    return F.dropout(x, 0.1, training=True)


def dropout_add(x, residual):
    return F.dropout(x, 0.1, training=True) + residual


def add(x, residual):
    return x + residual


def rotary(x, cosine, sine):
    """x of (tokens, heads, head_dim); the halves of a head are turned against one another."""
    first, second = x.chunk(2, dim=-1)
    return x * cosine + torch.cat((-second, first), dim=-1) * sine


# kernel: function, inputs of that size, vectors of a bias, arrays moved forward and backward,
# bytes of masks for each element forward and backward
POINTWISE = {
    "gelu": (F.gelu, 1, 0, (2, 3), 0), "gelu_tanh": (tanh_gelu, 1, 0, (2, 3), 0),
    "relu": (F.relu, 1, 0, (2, 3), 0), "swiglu": (swiglu, 2, 0, (3, 5), 0),
    "add": (add, 2, 0, (3, 1), 0), "dropout": (dropout, 1, 0, (2, 2), 1),
}
POINTWISE_COMPILED = {"bias_gelu": (bias_gelu, 1, 1, (2, 3), 0),
                      "swiglu": (swiglu, 2, 0, (3, 5), 0),
                      "dropout_add": (dropout_add, 2, 0, (3, 2), 1)}


def pointwise_pair(lab, kernel, elements, compiled=False):
    function, arrays, vectors, moved, mask = (POINTWISE_COMPILED if compiled else POINTWISE)[kernel]
    columns = lab.sizes(4096, 128)

    def make_inputs():
        return ([lab.random(elements // columns, columns, trained=True) for _ in range(arrays)]
                + [lab.random(columns, trained=True) for _ in range(vectors)])
    pair = training_cases(
        {"op": kernel, "library": "torch_compile" if compiled else "pytorch", "dtype": "bf16",
         "rows": elements // columns, "columns": columns, "elements": elements},
        Compiled(function) if compiled else function, make_inputs,
        tuple(elements * (2 * count + mask) for count in moved), compiled=compiled)
    return pair[:1] if kernel == "add" else pair  # its backward pass has no kernel


def rotary_pair(lab, tokens, heads, compiled):
    def make_inputs():
        angles = [lab.random(tokens, 1, 128) for _ in range(2)]
        return [lab.random(tokens, heads, 128, trained=True), *angles]
    elements = tokens * heads * 128
    return training_cases(
        {"op": "rotary", "library": "torch_compile" if compiled else "pytorch", "dtype": "bf16",
         "rows": tokens, "columns": heads * 128, "elements": elements},
        Compiled(rotary) if compiled else rotary, make_inputs, (4 * elements, 4 * elements),
        compiled=compiled)


def pointwise(lab):
    for kernel, elements in itertools.product(POINTWISE, lab.sizes([2**22, 2**24, 2**26, 2**28],
                                                                   [2**14])):
        yield from pointwise_pair(lab, kernel, elements)
    for tokens, heads in lab.sizes([(4096, 32), (16384, 32), (16384, 8)], [(16, 2)]):
        yield from rotary_pair(lab, tokens, heads, False)
    for kernel in POINTWISE_COMPILED:
        yield from pointwise_pair(lab, kernel, lab.sizes(2**26, 2**14), compiled=True)
    yield from rotary_pair(lab, *lab.sizes((16384, 32), (16, 2)), True)


# Embeddings, permuting, routers

def drawn_ids(lab, vocabulary, tokens, distribution):
    """zipf: the id of rank r comes with a chance of about 1 / r."""
    if distribution == "uniform":
        return lab.integers(vocabulary, tokens)
    draws = torch.rand(tokens, device=lab.device, dtype=torch.float64)
    ranks = (vocabulary ** draws).long().clamp_(1, vocabulary) - 1
    return torch.randperm(vocabulary, device=lab.device)[ranks]


def embedding_pair(lab, vocabulary, hidden, tokens, distribution):
    def make_inputs():
        return [drawn_ids(lab, vocabulary, tokens, distribution),
                lab.random(vocabulary, hidden, trained=True)]
    rows = tokens * hidden * 2
    return training_cases(
        {"kernel": "embedding", "dtype": "bf16", "distribution": distribution, "tokens": tokens,
         "hidden": hidden, "vocabulary": vocabulary}, F.embedding, make_inputs,
        (2 * rows, rows + vocabulary * hidden * 2), capture=False)


def permute_cases(lab, tokens, hidden, topk):
    """Tokens to their experts in order, and back into their sums."""
    rows = tokens * topk
    described = {"dtype": "bf16", "tokens": tokens, "hidden": hidden, "topk": topk}

    def order():
        return torch.randperm(rows, device=lab.device) // topk

    def gather():
        return [lab.random(tokens, hidden), order()]

    def scatter(dtype):
        return lambda: [torch.zeros(tokens, hidden, dtype=dtype, device=lab.device), order(),
                        lab.random(rows, hidden, dtype=dtype)]
    moved = (tokens + rows) * hidden
    yield forward_case({"kernel": "index_select", **described},
                       lambda x, index: x.index_select(0, index), gather, 2 * moved)
    for dtype in (BF16, FP32):
        yield forward_case({"kernel": "index_add", **described, "dtype": NAMES[dtype]},
                           lambda total, index, x: total.index_add_(0, index, x), scatter(dtype),
                           moved * dtype.itemsize)
    yield forward_case({"kernel": "weighted sum of sorted rows", **described},
                       lambda x, weights: torch.bmm(weights, x),
                       lambda: [lab.random(tokens, topk, hidden), lab.random(tokens, 1, topk)],
                       2 * moved)


def router_cases(lab, tokens, experts, topk):
    described = {"dtype": "fp32", "tokens": tokens, "experts": experts, "topk": topk}

    def scores():
        return [lab.random(tokens, experts, dtype=FP32)]

    def choices():
        return [lab.integers(experts, tokens * topk)]
    for kernel, function, make_inputs, moved in (
            ("softmax", lambda x: x.softmax(-1), scores, 8 * tokens * experts),
            ("topk", lambda x: x.topk(topk, dim=-1), scores, 4 * tokens * experts),
            ("sort of experts", lambda x: x.sort(stable=True), choices, 24 * tokens * topk),
            ("count of experts", lambda x: torch.zeros(experts, dtype=torch.int64, device=x.device)
             .index_add_(0, x, torch.ones_like(x)), choices, 8 * tokens * topk)):
        yield forward_case({"kernel": kernel, **described}, function, make_inputs, moved)


def embedding(lab):
    for vocabulary, hidden, tokens, distribution in itertools.product(
            lab.sizes([50304, 128256], [256]), lab.sizes([4096, 8192], [64]),
            lab.sizes([8192, 16384], [32]), ("uniform", "zipf")):
        yield from embedding_pair(lab, vocabulary, hidden, tokens, distribution)
    for tokens, hidden, topk in itertools.product(lab.sizes([4096, 16384], [32]),
                                                  lab.sizes([2048, 4096, 7168], [64]), (2, 8)):
        yield from permute_cases(lab, tokens, hidden, topk)
    for tokens, (experts, topk) in itertools.product(lab.sizes([4096, 16384], [32]),
                                                     [(8, 2), (128, 8), (256, 8)]):
        yield from router_cases(lab, tokens, experts, topk)
