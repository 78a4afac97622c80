"""Cases on tensor cores: attention, matrix products, grouped products of experts."""

import itertools

import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

from measure_kernels.cases import BF16, FP32, FP8, Case, training_cases

# Attention

BACKENDS = {"flash": SDPBackend.FLASH_ATTENTION, "cudnn": SDPBackend.CUDNN_ATTENTION}


def attention_of(backend, causal, grouped):
    def attention(query, key, value):
        with sdpa_kernel(BACKENDS[backend]):
            return F.scaled_dot_product_attention(query, key, value, is_causal=causal,
                                                  enable_gqa=grouped)
    return attention


def attention_pair(lab, backend, causal, heads, kv_heads, head_dim, seq, tokens):
    batch = max(1, tokens // seq)

    def make_inputs():
        """As a layer has them: (batch, seq, heads, dim) in memory."""
        return [lab.random(batch, seq, count, head_dim).transpose(1, 2).requires_grad_()
                for count in (heads, kv_heads, kv_heads)]
    flops = 4 * batch * seq**2 * heads * head_dim / (2 if causal else 1)
    queries, keys = (2 * batch * seq * count * head_dim for count in (heads, kv_heads))
    return training_cases(
        {"library": backend, "dtype": "bf16", "causal": int(causal), "window": 0, "batch": batch,
         "seq_q": seq, "seq_kv": seq, "heads": heads, "kv_heads": kv_heads, "dim_qk": head_dim,
         "dim_v": head_dim, "deterministic": 0}, attention_of(backend, causal, kv_heads != heads),
        make_inputs, (2 * queries + 2 * keys, 4 * queries + 4 * keys), flops=(flops, 2.5 * flops),
        memory_bytes=8 * (queries + keys))


def attention(lab):
    """cuDNN builds a plan for each shape, which takes long: only 32 heads, in tokens as many."""
    lengths = lab.sizes([4096, 8192, 2048, 16384, 1024], [64])
    tokens = lab.sizes(16384, 128)
    groups = lab.sizes([(32, 32), (32, 8), (16, 16), (16, 8)], [(4, 4), (4, 2)])
    for backend, head_dim, causal, seq, (heads, kv_heads) in itertools.product(
            BACKENDS, lab.sizes((128, 64), (16,)), (True, False), lengths, groups):
        if backend == "flash" or heads != 16:
            yield from attention_pair(lab, backend, causal, heads, kv_heads, head_dim, seq, tokens)


# Matrix products

# model, tensor parallelism: (columns out, columns in) of a layer's four products on one GPU
def llama(hidden, kv, ffn):
    return {"qkv": (hidden + 2 * kv, hidden), "out": (hidden, hidden), "up": (2 * ffn, hidden),
            "down": (hidden, ffn)}


MODELS = {"llama3-8b": llama(4096, 1024, 14336), "llama3-70b": llama(8192, 1024, 28672),
          "gpt3-175b": {"qkv": (36864, 12288), "out": (12288, 12288), "up": (49152, 12288),
                        "down": (12288, 49152)}}
CUT_COLUMNS = {"qkv", "up"}  # the others are cut by rows
# Which of them are measured: model, tensor parallelism, products.
CUTS = [("llama3-8b", 1, ("qkv", "out", "up", "down")),
        ("llama3-70b", 8, ("qkv", "out", "up", "down")),
        ("gpt3-175b", 8, ("qkv", "out", "up", "down")),
        ("llama3-8b", 4, ("qkv", "down")), ("llama3-70b", 2, ("up", "down"))]


def layer_shapes(lab):
    """(model, tp, layer, out, in)."""
    if lab.quick:
        return [("tiny", 1, "up", 64, 32)]
    found = []
    for model, tp, layers in CUTS:
        for layer in layers:
            columns_out, columns_in = MODELS[model][layer]
            cut = (columns_out // tp, columns_in) if layer in CUT_COLUMNS else (columns_out,
                                                                                columns_in // tp)
            found.append((model, tp, layer, *cut))
    return found


def product_shape(kind, tokens, columns_out, columns_in):
    """(m, n, k) of y[m,n] = a[m,k] b[k,n]."""
    return {"fwd": (tokens, columns_out, columns_in), "dgrad": (tokens, columns_in, columns_out),
            "wgrad": (columns_out, columns_in, tokens)}[kind]


# How operands lie in memory where nothing is copied, as cuBLAS says it: forward, both gradients.
LAYOUTS = {"fwd": "TN", "dgrad": "NN", "wgrad": "NT"}


def bf16_operands(lab, kind, m, n, k):
    """a[m,k] and b[k,n], transposed where a layer's own tensors are."""
    a = lab.random(k, m).t() if kind == "wgrad" else lab.random(m, k)
    b = lab.random(n, k).t() if kind == "fwd" else lab.random(k, n)
    return a, b


def bf16_call(lab, kind, m, n, k, output):
    a, b = bf16_operands(lab, kind, m, n, k)
    if output == "bf16":
        return lambda: torch.mm(a, b)
    if output == "fp32":
        return lambda: torch.mm(a, b, out_dtype=FP32)
    total = torch.zeros(m, n, dtype=FP32, device=a.device)
    return lambda: torch.addmm(total, a, b, out_dtype=FP32, out=total)


def scales(lab, kind, rows, columns):
    """All one: what they are costs nothing."""
    if kind == "tensor":
        return [torch.ones((), device=lab.device)] * 2
    return torch.ones(rows, 1, device=lab.device), torch.ones(1, columns, device=lab.device)


def fp8_call(lab, m, n, k, scaling, fast):
    a, b = lab.random(m, k, dtype=FP8), lab.random(n, k, dtype=FP8).t()
    scale_a, scale_b = scales(lab, scaling, m, n)
    return lambda: torch._scaled_mm(a, b, scale_a, scale_b, out_dtype=BF16, use_fast_accum=fast)


def product_case(columns, m, n, k, element, written, call):
    return Case({**columns, "m": m, "n": n, "k": k}, call,
                element * (m * k + k * n) + written * m * n, flops=2 * m * n * k,
                memory_bytes=4 * (m * k + k * n) + 8 * m * n)


# Type of the output, its bytes for each element.
OUTPUTS = {"bf16": 2, "fp32": 4, "fp32 accumulate": 8}


def bf16_cases(lab, columns, shape):
    for kind in LAYOUTS:
        m, n, k = product_shape(kind, *shape)
        for output in OUTPUTS if kind == "wgrad" else ("bf16",):
            yield product_case(
                {**columns, "dtype": "bf16", "pass": kind, "layout": LAYOUTS[kind],
                 "scales": "", "accumulation": "", "output": output}, m, n, k, 2, OUTPUTS[output],
                lambda kind=kind, m=m, n=n, k=k, output=output:
                bf16_call(lab, kind, m, n, k, output))


FP8_KINDS = [("tensor", True), ("row", True), ("tensor", False), ("row", False)]


def fp8_cases(lab, columns, shape, kinds):
    """The operands are FP8 and lie as the product wants them: rows of a, columns of b."""
    for (scaling, fast), kind in itertools.product(kinds, LAYOUTS):
        m, n, k = product_shape(kind, *shape)
        yield product_case(
            {**columns, "dtype": "fp8", "pass": kind, "layout": "TN", "scales": scaling,
             "accumulation": "fast" if fast else "split", "output": "bf16"}, m, n, k, 1, 2,
            lambda m=m, n=n, k=k, scaling=scaling, fast=fast: fp8_call(lab, m, n, k, scaling, fast))


def gemm(lab):
    """bf16 of all shapes first, then FP8."""
    every = [({"model": model, "tp": tp, "layer": layer}, (tokens, out, into))
             for tokens in lab.sizes([8192, 2048, 16384, 4096], [32])
             for model, tp, layer, out, into in layer_shapes(lab)]
    for columns, shape in every:
        yield from bf16_cases(lab, columns, shape)
    for kinds in (FP8_KINDS[:2], FP8_KINDS[2:]):
        for columns, shape in every:
            yield from fp8_cases(lab, columns, shape, kinds)


# Grouped products

ALIGNMENT = 16  # groups begin at multiples of this, as the kernels want it
WEIGHT_BYTES = 8e9  # more experts than fit here are left out
# model: (columns in, columns out) of one expert's products
EXPERTS = {"mixtral": [(4096, 14336), (14336, 4096)], "qwen3-30b-a3b": [(2048, 768), (768, 2048)],
           "deepseek-v3": [(7168, 2048), (2048, 7168)]}


def group_ends(lab, tokens, experts, distribution):
    """Where the tokens of each expert end. zipf: expert e has a share of about 1 / (e + 1)."""
    weights = [1 if distribution == "even" else 1 / (rank + 1) for rank in range(experts)]
    units, whole = tokens // ALIGNMENT, sum(weights)
    bounds, passed = [], 0.0
    for weight in weights:
        passed += weight
        bounds.append(round(units * passed / whole) * ALIGNMENT)
    return torch.tensor(bounds, dtype=torch.int32, device=lab.device)


def grouped_bf16(lab, kind, tokens, columns_in, columns_out, ends):
    experts = len(ends)
    if kind == "wgrad":
        x, gradient = lab.random(tokens, columns_in), lab.random(tokens, columns_out)
        return lambda: torch._grouped_mm(gradient.t(), x, offs=ends)
    weight = lab.random(experts, columns_out, columns_in)
    if kind == "fwd":
        x, weight = lab.random(tokens, columns_in), weight.transpose(1, 2)
    else:
        x = lab.random(tokens, columns_out)
    return lambda: torch._grouped_mm(x, weight, offs=ends)


def grouped_fp8(lab, kind, tokens, columns_in, columns_out, ends):
    """Scales for each row; operands lie as the kernel wants them."""
    experts, one = len(ends), (lambda *shape: torch.ones(shape, device=lab.device))
    if kind == "wgrad":
        a = lab.random(columns_out, tokens, dtype=FP8)
        b = lab.random(columns_in, tokens, dtype=FP8).t()
        scale_a, scale_b = one(columns_out * experts), one(columns_in * experts)
    else:
        out, into = (columns_out, columns_in) if kind == "fwd" else (columns_in, columns_out)
        a = lab.random(tokens, into, dtype=FP8)
        b = lab.random(experts, out, into, dtype=FP8).transpose(1, 2)
        scale_a, scale_b = one(tokens), one(experts, out)
    return lambda: torch._scaled_grouped_mm(a, b, scale_a, scale_b, offs=ends, out_dtype=BF16,
                                            use_fast_accum=True)


GROUPED = {"bf16": (grouped_bf16, 2), "fp8": (grouped_fp8, 1)}


def grouped_case(lab, model, dtype, kind, experts, tokens, distribution, columns_in, columns_out):
    call_of, element = GROUPED[dtype]

    def make():
        ends = group_ends(lab, tokens, experts, distribution)
        return call_of(lab, kind, tokens, columns_in, columns_out, ends)
    weights = experts * columns_in * columns_out
    moved = (element * tokens * (columns_in + columns_out) + 2 * weights if kind == "wgrad" else
             element * weights + tokens * (2 * columns_out + element * columns_in))
    return Case({"model": model, "dtype": dtype, "scales": "row" if dtype == "fp8" else "",
                 "pass": kind, "tokens": tokens, "experts": experts, "distribution": distribution,
                 "columns_in": columns_in, "columns_out": columns_out}, make, moved,
                flops=2 * tokens * columns_in * columns_out,
                memory_bytes=4 * weights + 6 * tokens * (columns_in + columns_out))


def grouped(lab):
    models = lab.sizes(EXPERTS, {"tiny": [(32, 64)]})
    for dtype, tokens, distribution, (model, products), experts in itertools.product(
            GROUPED, lab.sizes([8192, 4096, 16384], [256]), ("even", "zipf"), models.items(),
            lab.sizes([8, 16, 64, 128], [4])):
        for (columns_in, columns_out), kind in itertools.product(products, LAYOUTS):
            if 2 * experts * columns_in * columns_out <= WEIGHT_BYTES:
                yield grouped_case(lab, model, dtype, kind, experts, tokens, distribution,
                                   columns_in, columns_out)
