"""The keyword arguments of each question, for editors and type checkers; the program itself takes
what the library knows, and a test holds the two together. Sizes are bytes, or a text as "8 GiB";
`as_` is the option --as, which is a word of Python's own."""

from __future__ import annotations

import os
from typing import Mapping, Sequence, TypedDict, Union

Size = Union[int, str]
File = Union[str, "os.PathLike[str]"]
Files = Union[File, Sequence[File]]


class Step(TypedDict, total=False):
    """How a step trains."""

    batch: int
    batch_per_device: int
    sync: str
    bucket: Size
    zero: int
    zero_group: int
    offload: str
    dtype: str
    gradients: str
    optimizer: str
    micro_batch: int
    schedule: File
    overlap: str
    recompute: str
    train: str


class Training(Step, total=False):
    """Also the tokens of a sequence, the numbers of dims that an .onnx file leaves open, and measured
    costs."""

    seq: int
    dim: Union[str, Mapping[str, int]]
    profile: Files


class Case(Training, total=False):
    """What every simulated step is made of."""

    as_: File
    allow_unsupported: bool


class Space(TypedDict, total=False):
    """Which configs a search considers."""

    degrees: str
    reductions: str
    placement: str
    free_elementwise: bool


class PredictSettings(Case, Space, total=False):
    memory_limit: Size
    jitter: int
    steps: int


class SolveSettings(Case, Space, total=False):
    memory_limit: Size
    objective: str
    algorithm: str
    k_best: int
    evaluations: int
    gap: float
    no_simulation: bool
    time_limit: float
    threads: int
    steps: int
    jitter: int
    keep: str


class ExplainSettings(Case, Space, total=False):
    pass


class DiffSettings(Case, total=False):
    pass


class RunSettings(Training, Space, total=False):
    steps: int
    warmup: int
    lr: float
    beta1: float
    beta2: float
    epsilon: float
    weight_decay: float
    seed: int
    data: File
    test_data: File
    weights: File
    check: bool
    tolerance: float
    serial: bool
    graph: bool


class ValidateSettings(Step, total=False):
    strategies: Union[str, Sequence[str]]
    rounds: int
    seconds: float
    only: bool
    graph: bool
