"""Networks of PyTorch. torch.export traces them, and the importer of ONNX files reads the trace, so
that they are read as any other file of PyTorch's exporter."""

from __future__ import annotations

import contextlib
import logging
import os
import shutil
import tempfile
import warnings
from typing import Any, Iterator, Mapping, Optional

from .graph import Graph

_NEEDED = ("torch", "onnx", "onnxscript")


def from_torch(module: Any, example_inputs: Any, kwargs: Optional[Mapping[str, Any]] = None, *,
               name: Optional[str] = None, allow_unsupported: bool = False) -> Graph:
    """The network of a torch.nn.Module, with its weights.

    `example_inputs` is a tensor or a tuple of them, with the samples first; how many samples they
    are does not matter, but for 1, which tracing may take for a constant: give 2. The module is
    traced as for training, with its dropout and with batch norms of their own. Of an output with
    `logits`, as transformers have it, these are what is trained.
    """
    torch = _import_torch()
    arguments = (example_inputs,) if isinstance(example_inputs, torch.Tensor) \
        else tuple(example_inputs)
    called = name or type(module).__name__
    folder = tempfile.mkdtemp(prefix="strata-torch-")
    file = os.path.join(folder, "".join(c if c.isalnum() else "_" for c in called) + ".onnx")
    try:
        with _training(module), _quiet(), _without_cache(module):
            torch.onnx.export(_one_output(torch, module), arguments, file,
                              kwargs=dict(kwargs or {}), dynamo=True, optimize=False,
                              verbose=False)
        return Graph._owning(folder, file, called, allow_unsupported)
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _import_torch() -> Any:
    missing = []
    for each in _NEEDED:
        try:
            __import__(each)
        except ModuleNotFoundError:
            missing.append(each)
    if missing:
        raise ModuleNotFoundError(f"from_torch needs {', '.join(missing)}, which "
                                  f"{'is' if len(missing) == 1 else 'are'} not installed: "
                                  f"pip install {' '.join(missing)}")
    return __import__("torch")


def _one_output(torch: Any, module: Any) -> Any:
    """The module with one tensor as its output, for torch.export gives the parts of objects no
    names by which an importer could choose."""

    class Traced(torch.nn.Module):  # type: ignore[misc,name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.network = module

        def forward(self, *args: Any, **kwargs: Any) -> Any:
            output = self.network(*args, **kwargs)
            return output.logits if hasattr(output, "logits") else output

    return Traced()


@contextlib.contextmanager
def _training(module: Any) -> Iterator[None]:
    modes = [(each, each.training) for each in module.modules()]
    module.train()
    try:
        yield
    finally:
        for each, mode in modes:
            each.training = mode


@contextlib.contextmanager
def _without_cache(module: Any) -> Iterator[None]:
    """Transformers keep keys and values for generating text, which no training step does."""
    config = getattr(module, "config", None)
    if config is None or not getattr(config, "use_cache", False):
        yield
        return
    config.use_cache = False
    try:
        yield
    finally:
        config.use_cache = True


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """The exporter's warnings are about itself; its errors pass."""
    loggers = [logging.getLogger(each) for each in ("torch.onnx", "onnxscript", "onnx_ir")]
    levels = [each.level for each in loggers]
    for each in loggers:
        each.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        for each, level in zip(loggers, levels):
            each.setLevel(level)
