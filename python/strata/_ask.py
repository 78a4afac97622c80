"""The questions. Keyword arguments are settings, named as the command's options with `_` for `-`;
what they mean, and what is allowed, is the library's to say."""

from __future__ import annotations

import contextlib
import datetime
import json
import numbers
import os
import shutil
import socket
import tempfile
import weakref
from typing import (TYPE_CHECKING, Any, Callable, Iterator, Mapping, Optional, Sequence, Union,
                    overload)

from . import _core
from ._answers import (Difference, Explanation, Prediction, Predictions, Query, Replay, Run,
                       Solution, Sweep, Validation)
from ._errors import Error, InputError
from ._progress import Line, Progress, line_of
from .cluster import Cluster
from .graph import Graph
from .strategy import Strategy

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ._settings import (DiffSettings, ExplainSettings, PredictSettings, RunSettings,
                            SolveSettings, ValidateSettings)

_Path = Union[str, "os.PathLike[str]"]
Model = Union[_Path, Graph]
AnyCluster = Union[_Path, Cluster]
AnyStrategy = Union[_Path, Strategy]
Strategies = Union[list[AnyStrategy], tuple[AnyStrategy, ...]]
WhatIfs = Mapping[str, Any]


class _Files:
    """Objects as the files that the library reads, for the time of one question or of an answer."""

    def __init__(self) -> None:
        self._folder: Optional[str] = None
        self._names: dict[str, str] = {}  # what messages call the files

    def __enter__(self) -> "_Files":
        return self

    def __exit__(self, *_: Any) -> None:
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)

    def stay_with(self, answer: _core.Answer) -> None:
        if self._folder is not None:
            weakref.finalize(answer, shutil.rmtree, self._folder, ignore_errors=True)
            self._folder = None

    def text(self, key: str, value: Any) -> str:
        """A setting's value as text."""
        if isinstance(value, bool):
            return "true" if value else "false"
        if isinstance(value, numbers.Integral):  # also of numpy
            return repr(int(value))
        if isinstance(value, numbers.Real):
            return repr(float(value))
        if isinstance(value, (str, os.PathLike)):
            return os.fspath(value)
        if isinstance(value, Graph):
            return value._model or self._write(repr(value), value.name, ".toml", value.to_toml())
        if isinstance(value, Cluster):
            return value._source or self._write(repr(value), value.name, ".toml", value.to_toml())
        if isinstance(value, Strategy):
            return self._write(repr(value), value.name, ".json", value.to_json())
        if isinstance(value, (list, tuple)):
            return ",".join(self.text(key, each) for each in value)
        if isinstance(value, Mapping):
            return ",".join(f"{name}={self.text(key, each)}" for name, each in value.items())
        raise TypeError(f"{key}: {value!r} is a {type(value).__name__}; allowed: a text, a number, "
                        "True or False, an object of Strata, or a list of them")

    def _write(self, called: str, name: str, ending: str, text: str) -> str:
        if self._folder is None:
            self._folder = tempfile.mkdtemp(prefix="strata-")
        plain = "".join(c if c.isalnum() or c in "-_." else "_" for c in name) or "it"
        folder = os.path.join(self._folder, str(len(self._names)))
        os.mkdir(folder)
        path = os.path.join(folder, plain + ending)
        with open(path, "w", encoding="utf-8") as out:
            out.write(text)
        self._names[path] = plain + ending
        return path

    def renamed(self, message: str) -> str:
        """A message with the objects' names for those of the files that nobody will find."""
        for path, name in self._names.items():
            message = message.replace(path, name)
        return message


@contextlib.contextmanager
def _files() -> Iterator[_Files]:
    with _Files() as files:
        try:
            yield files
        except Error as error:
            renamed = files.renamed(error.message)
            if renamed == error.message:
                raise
            raise type(error)(renamed) from None


def _is_given(value: Any) -> bool:
    return value is not None and not (isinstance(value, (list, tuple, Mapping)) and not value)


def _pairs(files: _Files, settings: Mapping[str, Any], set: Optional[WhatIfs]
           ) -> list[tuple[str, str]]:
    model = settings.get("model")
    if isinstance(model, Graph):
        settings = {**model._options, **settings}
    # `as` is a word of Python's own: it is written as_.
    pairs = [(key.rstrip("_"), files.text(key, value)) for key, value in settings.items()
             if _is_given(value)]
    # Values of a list are set one after another.
    return pairs + [(f"set.{key}", files.text(key, each)) for key, value in dict(set or {}).items()
                    for each in (value if isinstance(value, (list, tuple)) else [value])]


def _caller() -> _core.Caller:
    now = datetime.datetime.now(datetime.timezone.utc)
    return _core.Caller(socket.gethostname(), f"{now:%Y-%m-%d}", f"{now:%Y-%m-%dT%H:%M:%SZ}",
                        "import strata")


def _told(progress: Progress, work: Callable[[Optional[Callable[[str], None]]], Any]) -> Any:
    line = line_of(progress)
    try:
        return work(line)
    finally:
        if isinstance(line, Line):
            line.clear()


def _ask(kind: str, settings: Mapping[str, Any], set: Optional[WhatIfs], progress: Progress
         ) -> _core.Answer:
    """The answer may be asked for more later, so that its files stay as long as it does."""
    with _files() as files:
        pairs = _pairs(files, settings, set)
        answer = _told(progress, lambda line: _core.ask(kind, pairs, _caller(), line))
        files.stay_with(answer)
        return answer


@overload
def predict(model: Model, *, cluster: AnyCluster, strategy: AnyStrategy = "data",
            set: Optional[WhatIfs] = None, progress: Progress = None,
            **settings: "Unpack[PredictSettings]") -> Prediction: ...
@overload
def predict(model: Model, *, cluster: AnyCluster, strategy: Strategies,
            set: Optional[WhatIfs] = None, progress: Progress = None,
            **settings: "Unpack[PredictSettings]") -> Predictions: ...
def predict(model: Model, *, cluster: AnyCluster,
            strategy: Union[AnyStrategy, Strategies] = "data",
            set: Optional[WhatIfs] = None, progress: Progress = None,
            **settings: "Unpack[PredictSettings]") -> Union[Prediction, Predictions]:
    """Simulates a training step: its time, communication and memory.

    `strategy` is a name, a file or a Strategy; of several, the answer has them side by side.
    `set` holds what-ifs: {"link.inter.bandwidth": "0.5x"}.
    """
    answer = _ask("predict", {"model": model, "cluster": cluster, "strategy": strategy,
                              **settings}, set, progress)
    several = isinstance(strategy, (list, tuple)) or answer.predictions() > 1
    return Predictions(answer) if several else Prediction(answer)


def solve(model: Model, *, cluster: AnyCluster, set: Optional[WhatIfs] = None,
          progress: Progress = None, **settings: "Unpack[SolveSettings]") -> Solution:
    """Searches the fastest strategy that fits in memory, with a bound for all others."""
    answer = _ask("solve", {"model": model, "cluster": cluster, **settings}, set, progress)
    return Solution(answer)


def explain(model: Model, *, cluster: AnyCluster, strategy: AnyStrategy,
            layer: Optional[str] = None, set: Optional[WhatIfs] = None, progress: Progress = None,
            **settings: "Unpack[ExplainSettings]") -> Explanation:
    """Says what a step is made of or, of a `layer`, what each of its configs would cost."""
    answer = _ask("explain", {"model": model, "cluster": cluster, "strategy": strategy,
                              "layer": layer, **settings}, set, progress)
    return Explanation(answer)


def diff(before: AnyStrategy, after: AnyStrategy, *, model: Optional[Model] = None,
         cluster: Optional[AnyCluster] = None, set: Optional[WhatIfs] = None,
         progress: Progress = None, **settings: "Unpack[DiffSettings]") -> Difference:
    """Compares two strategies layer by layer."""
    answer = _ask("diff", {"model": model, "cluster": cluster, "before": before,
                           "after": after, **settings}, set, progress)
    return Difference(answer)


def run(model: Model, *, devices: str, strategy: AnyStrategy = "data",
        progress: Progress = None, **settings: "Unpack[RunSettings]") -> Run:
    """Trains on this machine's devices ("cpu:2") and times the steps."""
    answer = _ask("run", {"model": model, "devices": devices, "strategy": strategy, **settings},
                  None, progress)
    return Run(answer)


def _validated(files: _Files, model: Model) -> str:
    """Of a network's options, only `seq` is part of its name."""
    name = files.text("model", model)
    options = dict(model._options) if isinstance(model, Graph) else {}
    seq = options.pop("seq", None)
    if options:
        raise InputError(f"{name}: validate takes no network that was loaded with "
                         f"{', '.join(options)}; allowed: seq")
    return name if seq is None else f"{name}{',' if ':' in name else ':'}seq={seq}"


def validate(models: Union[Model, Sequence[Model]], *, devices: str, progress: Progress = None,
             **settings: "Unpack[ValidateSettings]") -> Validation:
    """Predicts steps from measured shards, runs the steps, and compares."""
    with _files() as files:
        listed = models if isinstance(models, (list, tuple)) else [models]
        names = [_validated(files, each) for each in listed]
        pairs = _pairs(files, {"devices": devices, **settings}, None)
        return Validation(_told(progress, lambda line: _core.validate(names, pairs, _caller(),
                                                                       line)))


def sweep(scenario: _Path, *, db: Optional[_Path] = None, threads: int = 0,
          shard: tuple[int, int] = (1, 1), progress: Progress = None) -> Sweep:
    """Answers every case of a scenario file into a database; what is there is not asked again.

    Without `db`, the database is named as the scenario, in this folder. `threads` is 0 for all
    cores. `shard` is (i, n): only every n-th case, from the i-th on.
    """
    file = os.fspath(scenario)
    database = os.fspath(db) if db is not None \
        else os.path.splitext(os.path.basename(file))[0] + ".db"
    if os.path.exists(database) and os.path.exists(file) and os.path.samefile(database, file):
        raise InputError(f"{database} is read and would be written; allowed: another file")
    if not 1 <= shard[0] <= shard[1]:
        raise InputError(f"shard {shard}: allowed: (i, n) with i from 1 to n")
    return Sweep(_told(progress, lambda line: _core.sweep(file, database, threads, shard,
                                                          _caller(), line)))


def query(db: _Path, sql: str = "") -> Query:
    """What SQL finds in a sweep's database; without it, one row a case."""
    return Query(_core.query(os.fspath(db), sql))


def replay(plan: Union[_Path, Sequence[Mapping[str, Any]]], *, cluster: AnyCluster,
           set: Optional[WhatIfs] = None) -> Replay:
    """Runs activities on the engine alone: a file, or a list of objects as such files have them."""
    with _files() as files:
        if isinstance(plan, (str, os.PathLike)):
            path = os.fspath(plan)
        else:
            path = files._write("activities", "activities", ".json",
                                json.dumps({"activities": list(plan)}, indent=1))
        whats = [(key, files.text(key, value)) for key, value in dict(set or {}).items()]
        return Replay(_core.replay(path, files.text("cluster", cluster), whats))


def shown(graph: Graph) -> str:
    """A network as `strata show --json` prints it."""
    with _files() as files:
        return _core.show(_pairs(files, {"model": graph}, None))


def described(cluster: Cluster) -> str:
    """A cluster's devices, switches and links."""
    with _files() as files:
        return _core.cluster(files.text("cluster", cluster))
