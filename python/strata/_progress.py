"""How far long work is, on standard error: one line that is written anew, on a terminal or in a
notebook, and only of work that takes longer than a moment."""

from __future__ import annotations

import sys
import time
from typing import Callable, Optional, Union

Progress = Union[None, bool, Callable[[str], None]]

_QUIET_SECONDS = 1.0
_PAUSE_SECONDS = 0.1


class Line:
    """One line of a terminal."""

    def __init__(self) -> None:
        self._began = time.monotonic()
        self._last = 0.0
        self._width = 0

    def __call__(self, text: str) -> None:
        now = time.monotonic()
        if now - self._began < _QUIET_SECONDS or now - self._last < _PAUSE_SECONDS:
            return
        self._last = now
        sys.stderr.write("\r" + text.ljust(self._width))
        sys.stderr.flush()
        self._width = len(text)

    def clear(self) -> None:
        if self._width:
            sys.stderr.write("\r" + " " * self._width + "\r")
            sys.stderr.flush()


def line_of(progress: Progress) -> Optional[Callable[[str], None]]:
    """The function that is told how far the work is. None means a line where a person sees it."""
    if callable(progress):
        return progress
    if progress is None:
        progress = "ipykernel" in sys.modules or bool(sys.stderr and sys.stderr.isatty())
    return Line() if progress else None
