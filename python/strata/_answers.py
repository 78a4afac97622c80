"""Answers: views of the documents that the command prints with --json. What a key means is in the
guide of its command; the annotations name those that always are there."""

from __future__ import annotations

import json
from typing import Any, Mapping, Optional, Sequence, Union

from . import _core, _html
from ._records import Record, Rows, frame
from .strategy import Strategy
from .timeline import Timeline


class Answer(Record):
    """A document, and the text of it, which is made when it is first looked at."""

    _rows_key: Optional[str] = None  # what to_frame() and notebooks show
    _facts: Sequence[str] = ()

    def __init__(self, source: Union[str, _core.Answer]):
        self._source = source

    def __getattr__(self, name: str) -> Any:
        if name == "_source":  # while it is copied
            raise AttributeError(name)
        if name == "_document":
            self._document = json.loads(self.to_json())
            return self._document
        return super().__getattr__(name)

    def __reduce__(self) -> Any:
        return type(self), (self.to_json(),)

    def to_json(self) -> str:
        """The text that the command prints with --json, but for its last newline."""
        return self._source if isinstance(self._source, str) else self._source.json()

    def to_frame(self) -> Any:
        """The answer's rows as a pandas frame."""
        rows = self._document.get(self._rows_key) if self._rows_key else None
        return frame(rows if rows is not None else [self._document])

    def __repr__(self) -> str:
        shown = ", ".join(f"{key}={_html.short(self._document[key])}" for key in self._facts
                          if self._document.get(key) is not None)
        return f"{type(self).__name__}({shown})"

    def _chart(self) -> str:
        return ""

    def _shown_rows(self) -> Sequence[Mapping[str, Any]]:
        return (self._document.get(self._rows_key) or []) if self._rows_key else []

    def _repr_html_(self) -> str:
        rows = self._shown_rows()
        warnings = self._document.get("warnings", [])
        notes = "".join(f"<p>{_html.escape(each)}</p>" for each in warnings)
        return (_html.facts(self._document, self._facts or None) + notes + self._chart()
                + (_html.table(rows) if rows else ""))


def _parts(breakdown: Mapping[str, Any]) -> dict[str, float]:
    """The parts of a step, one level deep, without those that take no time."""
    flat: dict[str, float] = {}
    for key, value in breakdown.items():
        if isinstance(value, Mapping):
            flat.update({f"exposed {_html.name(k)}": v for k, v in value.items()})
        elif isinstance(value, (int, float)):
            flat[_html.name(key)] = value
    return {key: value for key, value in flat.items() if value > 0}


class Prediction(Answer):
    """A training step that was simulated: `strata predict`."""

    model: str
    cluster: str
    strategy: str
    devices: int
    batch: int
    step_seconds: float
    makespan_seconds: float
    eq1_seconds: float
    throughput: float
    comm_bytes: int
    transfer_bytes: int
    sync_bytes: int
    mfu: Optional[float]
    hfu: Optional[float]
    plausible: Optional[bool]
    peak_memory_bytes: int
    peak_memory_bytes_by_device: list[int]
    fits: str
    interval_seconds: Record
    interval_from: Record
    memory: Record
    settings: Record
    what_ifs: Record
    warnings: list[str]
    cost_sources: Record
    critical_path: Record
    breakdown: Record
    utilisation: Record
    layers: Rows

    _rows_key = "layers"
    _facts = ("model", "cluster", "strategy", "devices", "batch", "step_seconds", "eq1_seconds",
              "throughput", "comm_bytes", "peak_memory_bytes", "mfu")

    def __getattr__(self, name: str) -> Any:
        # A figure is there before the document is.
        source = self.__dict__.get("_source")
        if source is not None and not name.startswith("_") and not isinstance(source, str) and "_document" not in self.__dict__:
            figure = source.figure(name)
            if figure is not None:
                return figure
        return super().__getattr__(name)

    def timeline(self) -> Timeline:
        """When each task ran."""
        if isinstance(self._source, str):
            raise ValueError("one of several predictions has no timeline; ask for it alone")
        return Timeline(self._source.trace())

    def _shown_rows(self) -> Sequence[Mapping[str, Any]]:
        """The layers that cost most come first."""
        return sorted(self._document["layers"], reverse=True, key=lambda layer: (
            layer["compute_seconds"] + layer["transfer_seconds"] + layer["sync_seconds"]))

    def _chart(self) -> str:
        parts = _parts(self._document["breakdown"])
        return _html.bars(list(parts), {self._document["strategy"]: list(parts.values())},
                          "of a step (s)")


class Predictions(Sequence[Prediction]):
    """Several strategies side by side."""

    def __init__(self, source: Union[str, _core.Answer], warnings: Sequence[str] = ()):
        """Of an answer, or of its text and its warnings."""
        self._source = source
        self._warnings = list(warnings)
        document = json.loads(self.to_json())
        self._all = [Prediction(json.dumps(each, indent=2, ensure_ascii=False))
                     for each in (document if isinstance(document, list) else [document])]

    def __getitem__(self, index: Any) -> Any:
        return self._all[index]

    def __len__(self) -> int:
        return len(self._all)

    def __reduce__(self) -> Any:
        return type(self), (self.to_json(), self.warnings)

    @property
    def warnings(self) -> list[str]:
        return self._warnings if isinstance(self._source, str) else self._source.warnings()

    @property
    def fastest(self) -> Prediction:
        return min(self._all, key=lambda each: each.step_seconds)

    def to_json(self) -> str:
        return self._source if isinstance(self._source, str) else self._source.json()

    def _rows(self) -> list[dict[str, Any]]:
        keys = ("strategy", "step_seconds", "eq1_seconds", "throughput", "comm_bytes",
                "sync_bytes", "peak_memory_bytes")
        return [{key: each._document[key] for key in keys} for each in self._all]

    def to_frame(self) -> Any:
        """A row for each strategy."""
        return frame(self._rows())

    def __repr__(self) -> str:
        return f"Predictions({', '.join(repr(each) for each in self._all)})"

    def _repr_html_(self) -> str:
        rows = self._rows()
        chart = _html.bars([row["strategy"] for row in rows],
                           {"simulated": [row["step_seconds"] for row in rows],
                            "Eq. 1": [row["eq1_seconds"] for row in rows]}, "step time (s)")
        return _html.table(rows) + chart


class Solution(Answer):
    """The fastest strategy that a search found: `strata solve`."""

    model: str
    cluster: str
    devices: int
    batch: int
    objective: str
    step_seconds: Optional[float]
    eq1_seconds: float
    comm_bytes: Optional[int]
    optimal: bool
    lower_bound_seconds: float
    gap: Optional[float]
    table_seconds: float
    solve_seconds: float
    final_nodes: int
    max_configs: int
    baselines: Record
    best: Rows
    settings: Record
    what_ifs: Record
    warnings: list[str]

    _facts = ("model", "cluster", "devices", "batch", "objective", "step_seconds", "eq1_seconds",
              "lower_bound_seconds", "gap", "optimal", "comm_bytes")

    @property
    def strategy(self) -> Strategy:
        """What `predict` and `run` take as their strategy."""
        return Strategy.from_document(self._document["strategy"])

    def _compared(self) -> list[dict[str, Any]]:
        found = {"strategy": "found", **self._document}
        rows = [found] + [{"strategy": name, **scored}
                          for name, scored in self._document["baselines"].items()]
        keys = ("eq1_seconds", "step_seconds", "comm_bytes", "peak_memory_bytes")
        return [{"strategy": row["strategy"] if row is not found else "found",
                 **{key: row.get(key) for key in keys}} for row in rows]

    def to_frame(self) -> Any:
        """The answer beside the usual strategies."""
        return frame(self._compared())

    def _chart(self) -> str:
        rows = [row for row in self._compared() if row["eq1_seconds"] is not None]
        key = "step_seconds" if all(row["step_seconds"] is not None for row in rows) \
            else "eq1_seconds"
        return _html.bars([row["strategy"] for row in rows],
                          {_html.name(key): [row[key] for row in rows]}, "step time (s)") \
            + _html.table(rows)


class Explanation(Answer):
    """What a step is made of, or why a layer is cut as it is: `strata explain`."""

    model: str
    cluster: str
    strategy: str
    step_seconds: Optional[float]
    settings: Record
    what_ifs: Record
    warnings: list[str]

    _facts = ("model", "cluster", "strategy", "layer", "step_seconds", "optimum_seconds",
              "eq1_seconds", "lower_bound_seconds", "lasts_seconds", "exposed_seconds",
              "peak_memory_bytes", "fits")

    @property
    def _rows_key(self) -> str:  # type: ignore[override]
        return "configs" if "configs" in self._document else "communication"

    def _chart(self) -> str:
        if "breakdown" not in self._document:
            return ""
        told = "".join(f"<p>{_html.escape(each)}</p>" for each in self._document["story"])
        parts = _parts(self._document["breakdown"])
        return told + _html.bars(list(parts), {self._document["strategy"]: list(parts.values())},
                                 "of a step (s)")


class Difference(Answer):
    """Two strategies, layer by layer: `strata diff`."""

    settings: Record
    what_ifs: Record
    warnings: list[str]

    _rows_key = "layers"


class Run(Answer):
    """A training on this machine's devices: `strata run`."""

    model: str
    devices: int
    strategy: str
    batch: int
    steps: int
    step_seconds: Record
    throughput: float
    losses: list[float]
    comm_bytes: int
    settings: Record
    warnings: list[str]

    _facts = ("model", "device_names", "machine", "strategy", "batch", "steps", "step_seconds",
              "throughput", "comm_bytes", "max_relative_difference")

    def to_frame(self) -> Any:
        """The loss of each step."""
        return frame([{"step": i, "loss": loss} for i, loss in enumerate(self.losses)])

    def _chart(self) -> str:
        steps = [float(i) for i in range(len(self.losses))]
        return _html.lines("step", "loss", {self.strategy: (steps, self.losses)})


class Validation(Answer):
    """Predicted beside measured steps: `strata validate`."""

    cases: Rows
    mean_absolute_error: float
    max_absolute_error: float
    rank_agreement: Optional[float]

    _rows_key = "cases"
    _facts = ("mean_absolute_error", "max_absolute_error", "rank_agreement")

    def _chart(self) -> str:
        cases = self._document["cases"]
        return _html.bars(
            [f"{case['model']} {case['strategy']} x{case['devices']}" for case in cases],
            {"predicted": [case["predicted_seconds"] for case in cases],
             "measured": [case["measured_seconds"] for case in cases]}, "step time (s)")


class Sweep(Answer):
    """Every case of a scenario, answered in a database: `strata sweep`."""

    scenario: str
    database: str
    cases: int
    before: int
    done: int
    failed: int
    unanswered: int

    def query(self, sql: str = "") -> "Query":
        """What SQL finds in the database; without it, one row a case."""
        return Query(_core.query(self.database, sql))

    def to_frame(self) -> Any:
        """A row for each case, in the scenario's order."""
        return self.query().to_frame()

    def _repr_html_(self) -> str:
        return _html.facts(self._document) + _html.table(self.query()._document["rows"])


class Query(Answer):
    """Rows of a database: `strata query`."""

    columns: list[str]
    rows: Rows

    _rows_key = "rows"

    def _repr_html_(self) -> str:
        return _html.table(self._document["rows"], self._document["columns"])


class Replay(Answer):
    """Activities that the engine ran: `strata replay`."""

    makespan_seconds: float
    engine_seconds: float
    activities: Rows

    _rows_key = "activities"
    _facts = ("makespan_seconds", "engine_seconds")
