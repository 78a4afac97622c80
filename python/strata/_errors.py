"""What Strata raises. Each error says what is wrong and what is allowed; where a file is to blame,
`places` says which, and on which line."""

import re
from typing import NamedTuple, Optional

_PLACE = re.compile(r"^(?:.*?: )??([^\s:][^:\n]*\.[A-Za-z0-9]+):(\d+): ", re.MULTILINE)


class Place(NamedTuple):
    """A line of a file."""

    file: str
    line: int


class Error(Exception):
    """The base of all errors of Strata. `message` has a line for each thing that is wrong."""

    def __init__(self, message: str):
        super().__init__(message)
        self.message = message
        self.places = [Place(file, int(line)) for file, line in _PLACE.findall(message)]

    @property
    def file(self) -> Optional[str]:
        """The first file that is to blame, or None."""
        return self.places[0].file if self.places else None

    @property
    def line(self) -> Optional[int]:
        """The line of that file, counted from 1, or None."""
        return self.places[0].line if self.places else None


class InputError(Error, ValueError):
    """A setting, a name or a file is wrong."""


class EnvironmentError(Error, OSError):  # noqa: A001  the name that the library has
    """A device, a library or the file system is missing or not able."""

    def __str__(self) -> str:
        return self.message


class RunFailed(Error, RuntimeError):
    """A training went wrong, or its result is not that of one device."""


class Infeasible(Error):
    """No strategy fits in the devices' memory."""


class InternalError(Error, RuntimeError):
    """Strata broke one of its own promises."""


class Cancelled(Error):
    """The work was stopped before it was done."""
