"""A strategy: how each layer is cut, and on which devices its shards lie."""

from __future__ import annotations

import json
import os
from typing import Any, Mapping, Optional, Sequence, Union

from . import _html
from ._records import Rows, frame

_Path = Union[str, "os.PathLike[str]"]


class Strategy:
    """A strategy file as an object. Layers that have no config of their own have the default one.

        mine = strata.Strategy("mine", default={"n": 4})
        mine.cut("fc1", c=4)
        strata.predict("alexnet", cluster="p100-1x4", strategy=mine)
    """

    def __init__(self, name: str = "mine", default: Optional[Mapping[str, int]] = None):
        self._document: dict[str, Any] = {"strategy": name}
        if default is not None:
            self._document["default"] = dict(default)
        self._document["layers"] = []

    @classmethod
    def from_document(cls, document: Mapping[str, Any]) -> "Strategy":
        """Of an object as strategy files have it."""
        strategy = cls()
        strategy._document = {"layers": [], **document}
        return strategy

    @classmethod
    def load(cls, file: _Path) -> "Strategy":
        """Of a file that `strata solve -o` or save() wrote."""
        with open(file, encoding="utf-8") as text:
            return cls.from_document(json.load(text))

    @property
    def name(self) -> str:
        return self._document.get("strategy", "")

    @property
    def layers(self) -> Rows:
        """The layers that have a config of their own."""
        return Rows(self._document["layers"])

    def cut(self, layer: str, *, devices: Optional[Sequence[str]] = None,
            scatter: Optional[str] = None, recompute: Optional[str] = None,
            **degrees: int) -> "Strategy":
        """Gives a layer its degrees, n, c, d, h, w and r; again replaces what it had."""
        entry: dict[str, Any] = {"name": layer, "config": dict(degrees)}
        if scatter is not None:
            entry["config"]["scatter"] = scatter
        if devices is not None:
            entry["devices"] = list(devices)
        if recompute is not None:
            entry["recompute"] = recompute
        others = [each for each in self._document["layers"] if each["name"] != layer]
        self._document["layers"] = [*others, entry]
        return self

    def to_json(self) -> str:
        return json.dumps(self._document, indent=2, ensure_ascii=False) + "\n"

    def save(self, file: _Path) -> None:
        with open(file, "w", encoding="utf-8") as out:
            out.write(self.to_json())

    def to_frame(self) -> Any:
        return frame(self._document["layers"])

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Strategy) and self._document == other._document

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Strategy({self.name!r}, {len(self._document['layers'])} layers)"

    def _repr_html_(self) -> str:
        return _html.heading(self.name) + _html.table(self._document["layers"])
