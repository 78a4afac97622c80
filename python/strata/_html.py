"""Tables and charts of answers as HTML, for notebooks. Numbers are written as the command writes
them, and charts are drawn by the report's code."""

from __future__ import annotations

import base64
import html
from typing import Any, Iterable, Mapping, Optional, Sequence

from . import _core

_MOST_ROWS = 20


def short(value: Any) -> str:
    """What a repr shows of a value."""
    if isinstance(value, dict):
        return "{...}" if len(value) > 5 else repr(value)
    if isinstance(value, list):
        return repr(value) if len(value) <= 4 and not any(
            isinstance(v, (dict, list)) for v in value) else f"[{len(value)}]"
    return repr(value)


def text(key: str, value: Any) -> str:
    """A value as people write it; the key says its unit."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (int, float)):
        return _core.format_value(key, value)
    if isinstance(value, dict):
        cut = {k: v for k, v in value.items() if v != 1}
        return ", ".join(f"{k} {text(k, v)}" for k, v in cut.items()) or "1"
    if isinstance(value, list):
        return ", ".join(text(key, v) for v in value[:8]) + (" ..." if len(value) > 8 else "")
    return str(value)


def name(key: str) -> str:
    return _core.plain_name(key)


def escape(content: str) -> str:
    return html.escape(content)


def _cell(tag: str, content: str) -> str:
    return f"<{tag}>{html.escape(content)}</{tag}>"


def _simple(value: Any) -> bool:
    return not isinstance(value, (dict, list))


def facts(document: Mapping[str, Any], keys: Optional[Iterable[str]] = None) -> str:
    """Two columns: what, and how much. Without `keys` these are all that are a single value."""
    chosen = [k for k in (keys or document) if k in document and document[k] is not None
              and (keys is not None or _simple(document[k]))]
    lines = "".join(f"<tr>{_cell('th', name(k))}{_cell('td', text(k, document[k]))}</tr>"
                    for k in chosen)
    return f"<table>{lines}</table>"


def table(rows: Sequence[Mapping[str, Any]], keys: Optional[Sequence[str]] = None,
          most: int = _MOST_ROWS) -> str:
    """A row for each object, the first `most` of them."""
    if not rows:
        return "<p>no rows</p>"
    columns = keys or list(rows[0])
    head = "".join(_cell("th", name(key)) for key in columns)
    body = "".join(
        "<tr>" + "".join(_cell("td", text(key, row.get(key))) for key in columns) + "</tr>"
        for row in rows[:most])
    rest = f"<p>and {len(rows) - most} more</p>" if len(rows) > most else ""
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{rest}"


def bars(categories: Sequence[str], series: Mapping[str, Sequence[float]], y_label: str) -> str:
    """A bar of each series for each category."""
    places = [float(i) for i in range(len(categories))]
    return _picture(_core.chart("bars", "", y_label, list(categories),
                                [(label, places, [float(v) for v in values])
                                 for label, values in series.items()]))


def lines(x_label: str, y_label: str, series: Mapping[str, tuple[Sequence[float],
                                                                 Sequence[float]]]) -> str:
    return _picture(_core.chart("lines", x_label, y_label, [],
                                [(label, [float(v) for v in x], [float(v) for v in y])
                                 for label, (x, y) in series.items()]))


def _picture(svg: str) -> str:
    """A picture of its own, so that its style is not that of the page around it."""
    data = base64.b64encode(svg.encode()).decode()
    return (f'<p><img src="data:image/svg+xml;base64,{data}" alt="a chart" '
            'style="width:720px;background:#fff"></p>')


def heading(content: str) -> str:
    return f"<h4>{html.escape(content)}</h4>"
