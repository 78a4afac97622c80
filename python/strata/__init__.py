"""Strata predicts, finds and runs the best way to train a neural network on many devices.

    import strata
    step = strata.predict("vgg16", cluster="p100-4x4", strategy="owt")
    step.step_seconds, step.layers.to_frame()
    best = strata.solve("vgg16", cluster="p100-4x4")
    strata.predict("vgg16", cluster="p100-4x4", strategy=best.strategy, batch=1024)

Keyword arguments are the command's options, with `_` for `-`. The guide is docs/python.md.
"""

from . import _core
from ._answers import (Answer, Difference, Explanation, Prediction, Predictions, Query, Replay, Run,
                       Solution, Sweep, Validation)
from ._ask import diff, explain, predict, query, replay, run, solve, sweep, validate
from ._errors import (Cancelled, EnvironmentError, Error, Infeasible, InputError, InternalError,
                      Place, RunFailed)
from ._lists import clusters, frameworks, models
from ._records import Record, Rows
from ._torch import from_torch
from .cluster import Cluster
from .graph import Graph
from .strategy import Strategy
from .timeline import Timeline

__version__ = _core.version

__all__ = [
    "Answer", "Cancelled", "Cluster", "Difference", "EnvironmentError", "Error", "Explanation",
    "Graph", "Infeasible", "InputError", "InternalError", "Place", "Prediction", "Predictions",
    "Query", "Record", "Replay", "Rows", "Run", "RunFailed", "Solution", "Strategy", "Sweep",
    "Timeline", "Validation", "clusters", "diff", "explain", "frameworks", "from_torch",
    "models", "predict", "query", "replay", "run", "solve", "sweep", "validate",
]
