"""What is to be measured: a case is one kernel at one size."""

import dataclasses
import functools
import typing

import torch

BF16, FP32, FP8 = torch.bfloat16, torch.float32, torch.float8_e4m3fn
NAMES = {BF16: "bf16", FP32: "fp32", FP8: "fp8"}
Call = typing.Callable[[], object]


@dataclasses.dataclass(frozen=True)
class Case:
    """One kernel. `make` allocates a set of inputs and returns a call that works on them."""

    columns: dict  # what describes it in the table
    make: typing.Callable[[], Call]
    moved_bytes: float  # the fewest that the kernel must read and write
    flops: float = 0
    memory_bytes: float = 0  # at its peak, where that is not about twice what is moved
    compiled: bool = False
    capture: bool = True  # whether a CUDA graph can hold it

    def peak_bytes(self):
        return self.memory_bytes or 2 * self.moved_bytes


@dataclasses.dataclass(frozen=True)
class Lab:
    """Where kernels are measured, and whether only tiny sizes are."""

    device: str
    gpu: str
    quick: bool

    def sizes(self, full, quick):
        return quick if self.quick else full

    def random(self, *shape, dtype=BF16, trained=False):
        """Normal numbers; FP8 has no generator of its own."""
        if dtype == FP8:
            return torch.randn(shape, dtype=BF16, device=self.device).to(FP8)
        return torch.randn(shape, dtype=dtype, device=self.device, requires_grad=trained)

    def integers(self, limit, *shape):
        return torch.randint(limit, shape, device=self.device)


class Compiled:
    """A function that torch.compile compiles when it is first called."""

    def __init__(self, function):
        self._function = function

    @functools.cached_property
    def _compiled(self):
        import torch._dynamo
        import torch._functorch.config
        torch._dynamo.config.recompile_limit = 64  # each size is compiled for itself
        torch._functorch.config.donated_buffer = False  # a backward pass runs many times
        return torch.compile(self._function, dynamic=False)

    def __call__(self, *inputs):
        return self._compiled(*inputs)


def forward_case(columns, function, make_inputs, moved_bytes, **rest):
    def make():
        inputs = make_inputs()
        return lambda: function(*inputs)
    return Case(columns, make, moved_bytes, **rest)


def backward_case(columns, function, make_inputs, moved_bytes, **rest):
    """Gradients of all inputs that ask for one; the forward pass is not timed."""
    def make():
        inputs = make_inputs()
        output = function(*inputs)
        trained = [each for each in inputs if each.requires_grad]
        gradient = torch.randn_like(output)
        return lambda: torch.autograd.grad(output, trained, gradient, retain_graph=True)
    return Case(columns, make, moved_bytes, **rest)


def training_cases(columns, function, make_inputs, moved_bytes, flops=(0, 0), **rest):
    """Forward and backward; `moved_bytes` and `flops` are pairs of theirs."""
    return [make({**columns, "pass": name}, function, make_inputs, moved, flops=count, **rest)
            for make, name, moved, count in zip((forward_case, backward_case), ("fwd", "bwd"),
                                                moved_bytes, flops)]
