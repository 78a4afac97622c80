"""Views of JSON documents: objects whose attributes are the documents' keys. A view computes
nothing of its own."""

from __future__ import annotations

import json
import os
from typing import Any, Iterator, Mapping, Optional, Sequence

from . import _html


def _view(value: Any) -> Any:
    if isinstance(value, dict):
        return Record(value)
    if isinstance(value, list):
        return Rows(value) if value and all(isinstance(v, dict) for v in value) else value
    return value


def _plain(value: Any) -> Any:
    return value._document if isinstance(value, Record) else value


class Record:
    """An object of a document: `record.step_seconds`, or `record["set"]` for any key."""

    def __init__(self, document: Mapping[str, Any]):
        self._document = dict(document)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return _view(self._document[name])
        except KeyError:
            raise AttributeError(
                f"{type(self).__name__} has no '{name}'; it has {', '.join(self._document)}"
            ) from None

    def __getitem__(self, key: str) -> Any:
        return _view(self._document[key])

    def __contains__(self, key: object) -> bool:
        return key in self._document

    def __iter__(self) -> Iterator[str]:
        return iter(self._document)

    def __len__(self) -> int:
        return len(self._document)

    def keys(self) -> Any:
        return self._document.keys()

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._document]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Record) and self._document == other._document

    __hash__ = None  # type: ignore[assignment]

    def to_dict(self) -> dict[str, Any]:
        """The object as Python's own types."""
        return self._document

    def to_json(self) -> str:
        return json.dumps(self._document, indent=2, ensure_ascii=False)

    def __repr__(self) -> str:
        shown = ", ".join(f"{key}={_html.short(value)}" for key, value in self._document.items())
        return f"{type(self).__name__}({shown})"

    def _repr_html_(self) -> str:
        return _html.facts(self._document)


class Rows(Sequence[Record]):
    """Objects of one kind, such as the layers of a prediction."""

    def __init__(self, rows: Sequence[Mapping[str, Any]]):
        self._rows = list(rows)

    def __getitem__(self, index: Any) -> Any:
        return Rows(self._rows[index]) if isinstance(index, slice) else Record(self._rows[index])

    def __len__(self) -> int:
        return len(self._rows)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Rows) and self._rows == other._rows

    __hash__ = None  # type: ignore[assignment]

    def to_list(self) -> list[Any]:
        return self._rows

    def to_json(self) -> str:
        return json.dumps(self._rows, indent=2, ensure_ascii=False)

    def to_frame(self) -> Any:
        """A pandas frame with a column for each key; those of inner objects are `outer.inner`."""
        return frame(self._rows)

    def __repr__(self) -> str:
        return f"Rows({len(self._rows)} of {', '.join(self._rows[0]) if self._rows else 'nothing'})"

    def _repr_html_(self) -> str:
        return _html.table(self._rows)


def written_at(file: Optional[str]) -> Optional[int]:
    """When a file was last written; None of what is no file."""
    try:
        return os.stat(file).st_mtime_ns if file is not None else None
    except OSError:
        return None


def frame(rows: Sequence[Mapping[str, Any]]) -> Any:
    try:
        import pandas
    except ModuleNotFoundError as error:
        raise ModuleNotFoundError(
            "frames need pandas, which is not installed: pip install pandas") from error
    return pandas.json_normalize(list(rows))
