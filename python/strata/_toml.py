"""Writes the little of TOML that networks and clusters need, for Python only reads it."""

from __future__ import annotations

import json
import os
from typing import Any, Mapping


def value(thing: Any) -> str:
    if isinstance(thing, bool):
        return "true" if thing else "false"
    if isinstance(thing, (int, float)):
        return repr(thing)
    if isinstance(thing, (str, os.PathLike)):
        # A basic string of TOML has the escapes of a JSON string.
        return json.dumps(os.fspath(thing), ensure_ascii=False)
    if isinstance(thing, (list, tuple)):
        return "[" + ", ".join(value(each) for each in thing) + "]"
    raise TypeError(f"{thing!r} is a {type(thing).__name__}; allowed: texts, numbers, true and "
                    "false, and lists of them")


def table(entries: Mapping[str, Any], heading: str = "") -> str:
    """`key = value` lines; those that are None are left out, and inner tables come last."""
    lines = [heading] if heading else []
    lines += [f"{key} = {value(each)}" for key, each in entries.items()
              if each is not None and not isinstance(each, Mapping)]
    return "\n".join(lines) + "\n"
