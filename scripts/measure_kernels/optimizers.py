"""Cases of optimiser steps: all parameters of a transformer at once."""

import itertools

import torch

from measure_kernels.cases import BF16, FP32, Case

# Hidden size by the number of parameters: 3, 8 and 5 blocks.
HIDDEN = {10**7: 512, 10**8: 1024, 10**9: 4096, 10**5: 64}


def shapes(parameters):
    """Matrices and vectors of transformer blocks of about so many parameters."""
    hidden = HIDDEN[parameters]
    block = [(3 * hidden, hidden), (hidden, hidden), (4 * hidden, hidden), (hidden, 4 * hidden),
             (hidden,), (hidden,), (4 * hidden,), (hidden,)]
    blocks = max(1, round(parameters / (12 * hidden**2)))
    return block * blocks


def count(all_shapes):
    return sum(torch.Size(shape).numel() for shape in all_shapes)


def tensors(lab, all_shapes, dtype):
    """Parameters that have a gradient."""
    made = [torch.nn.Parameter(lab.random(*shape, dtype=dtype)) for shape in all_shapes]
    for each in made:
        each.grad = torch.randn_like(each)
    return made


def adamw(lab, parameters, how):
    capturable = how == "fused" and lab.device == "cuda"  # foreach steps differ where it is set
    return torch.optim.AdamW(parameters, lr=1e-4, weight_decay=0.1, capturable=capturable,
                             **{how: True})


def sgd(_lab, parameters, how):
    return torch.optim.SGD(parameters, lr=1e-4, momentum=0.9, **{how: True})


# optimiser: how it is made; arrays read and written in a step, and held
OPTIMIZERS = {"adamw": (adamw, 7, 4), "sgd_momentum": (sgd, 5, 3)}


def step_call(lab, make, how, dtype, all_shapes):
    return make(lab, tensors(lab, all_shapes, dtype), how).step


def mixed_call(lab, make, how, all_shapes):
    """Steps fp32 copies by fp32 gradients, then casts them into the bf16 weights."""
    masters = tensors(lab, all_shapes, FP32)
    weights = [each.detach().to(BF16) for each in masters]
    sources = [each.detach() for each in masters]
    optimizer = make(lab, masters, how)

    def step():
        optimizer.step()
        torch._foreach_copy_(weights, sources)
    return step


def optimizer_case(lab, name, how, dtype, parameters):
    make, arrays, held = OPTIMIZERS[name]
    all_shapes = shapes(parameters)
    kind = BF16 if dtype == "bf16" else FP32
    mixed = dtype == "mixed"

    def call():
        if mixed:
            return mixed_call(lab, make, how, all_shapes)
        return step_call(lab, make, how, kind, all_shapes)
    exact = count(all_shapes)
    bytes_each = kind.itemsize * arrays + (6 if mixed else 0)
    # A foreach step holds two more arrays for what lies between its kernels.
    held_each = kind.itemsize * (held + (2 if how == "foreach" else 0)) + (2 if mixed else 0)
    return Case({"optimizer": name, "library": how, "dtype": dtype, "parameters": exact,
                 "tensors": len(all_shapes), "bytes_per_parameter": bytes_each}, call,
                exact * bytes_each, memory_bytes=exact * held_each, capture=how == "fused")


def optimizers(lab):
    sizes = lab.sizes([10**7, 10**8, 10**9], [10**5])
    for name, how, dtype, parameters in itertools.product(
            OPTIMIZERS, ("fused", "foreach"), ("fp32", "bf16", "mixed"), sizes):
        yield optimizer_case(lab, name, how, dtype, parameters)
