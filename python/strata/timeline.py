"""Timelines: when each task of a step ran."""

from __future__ import annotations

import html
import json
import os
from typing import Any, Mapping, Optional, Union

from . import _core
from ._records import Rows, frame

_Path = Union[str, "os.PathLike[str]"]

_COLOURS = {"compute": "#4878a8", "sync": "#c8823c", "statistics": "#8c6bb1"}
_OTHER_COLOUR = "#5a9e6f"
_MOST_ROWS, _ROW_HEIGHT, _NAMES_WIDTH, _WIDTH = 32, 18, 190, 720


class Timeline:
    """Trace events, as `strata predict --trace` writes them, for the eye and for frames.

        strata.predict("vgg16", cluster="p100-1x4", strategy="data").timeline()
    """

    def __init__(self, trace: str):
        self._text = trace
        self._read: Optional[list[dict[str, Any]]] = None

    @classmethod
    def load(cls, file: _Path) -> "Timeline":
        """A file that --trace or save() wrote."""
        with open(file, encoding="utf-8") as text:
            return cls(text.read())

    @property
    def _spans(self) -> list[dict[str, Any]]:
        if self._read is None:
            self._read = _spans_of(json.loads(self._text))
        return self._read

    @property
    def spans(self) -> Rows:
        """Each task with its device, its stream, and when it started and ended."""
        return Rows(self._spans)

    @property
    def seconds(self) -> float:
        """From the start of the first task to the end of the last one."""
        return max((span["end_seconds"] for span in self._spans), default=0.0)

    def save(self, file: _Path) -> None:
        """A file that Perfetto opens."""
        with open(file, "w", encoding="utf-8") as out:
            out.write(self._text)

    def to_json(self) -> str:
        """The trace events."""
        return self._text

    def to_frame(self) -> Any:
        return frame(self._spans)

    def __repr__(self) -> str:
        return f"Timeline({len(self._spans)} tasks, {_core.format_value('seconds', self.seconds)})"

    def _repr_html_(self) -> str:
        """One step, drawn: a row for each stream of each device."""
        return _svg(_one_step(self._spans))


def _spans_of(trace: Mapping[str, Any]) -> list[dict[str, Any]]:
    events = trace["traceEvents"]
    named = {"process_name": {}, "thread_name": {}}  # type: dict[str, dict[Any, str]]
    for event in events:
        if event.get("ph") == "M" and event["name"] in named:
            whole = event["name"] == "process_name"
            place = event["pid"] if whole else (event["pid"], event.get("tid"))
            named[event["name"]][place] = event["args"]["name"]
    spans = []
    for event in events:
        if event.get("ph") != "X":
            continue
        start = event["ts"] / 1e6
        spans.append({"device": named["process_name"].get(event["pid"], str(event["pid"])),
                      "stream": named["thread_name"].get((event["pid"], event["tid"]), ""),
                      "name": event["name"], "start_seconds": start,
                      "end_seconds": start + event["dur"] / 1e6, **event.get("args", {})})
    return spans


def _one_step(spans: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The second of several steps, which found no device idle; all of a trace without steps."""
    second = [span for span in spans if span.get("step") == 1]
    return second or spans


def _colour(stream: str) -> str:
    for word, colour in _COLOURS.items():
        if word in stream:
            return colour
    return _OTHER_COLOUR


def _svg(spans: list[dict[str, Any]]) -> str:
    """The first devices; what is left out is counted."""
    begin = min((span["start_seconds"] for span in spans), default=0.0)
    seconds = max((span["end_seconds"] for span in spans), default=0.0) - begin
    rows = list(dict.fromkeys((span["device"], span["stream"]) for span in spans))
    shown = {row: i for i, row in enumerate(rows[:_MOST_ROWS])}
    scale = _WIDTH / seconds if seconds > 0 else 0.0
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" width="{_NAMES_WIDTH + _WIDTH}" '
             f'height="{(len(shown) + 1) * _ROW_HEIGHT}" font-family="sans-serif" '
             'font-size="11" fill="currentColor">']
    for (device, stream), i in shown.items():
        parts.append(f'<text x="0" y="{i * _ROW_HEIGHT + 13}">'
                     f'{html.escape(f"{device} {stream}")}</text>')
    for span in spans:
        if (span["device"], span["stream"]) not in shown:
            continue
        i = shown[span["device"], span["stream"]]
        start, end = span["start_seconds"] - begin, span["end_seconds"] - begin
        title = (f"{span['name']}: {_core.format_value('seconds', end - start)} "
                 f"from {_core.format_value('seconds', start)}")
        parts.append(
            f'<rect x="{_NAMES_WIDTH + start * scale:.2f}" y="{i * _ROW_HEIGHT + 2}" '
            f'width="{max((end - start) * scale, 0.3):.2f}" height="{_ROW_HEIGHT - 4}" '
            f'fill="{_colour(span["stream"])}"><title>{html.escape(title)}</title></rect>')
    foot = len(shown) * _ROW_HEIGHT + 13
    parts.append(f'<text x="{_NAMES_WIDTH}" y="{foot}">0</text>'
                 f'<text x="{_NAMES_WIDTH + _WIDTH}" y="{foot}" text-anchor="end">'
                 f'{_core.format_value("seconds", seconds)}</text></svg>')
    rest = f"<p>and {len(rows) - len(shown)} more streams</p>" if len(rows) > len(shown) else ""
    return "".join(parts) + rest
