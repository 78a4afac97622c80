"""What has a name: networks, clusters and frameworks."""

import json

from . import _core
from ._records import Rows


def models() -> Rows:
    """The networks that come with Strata."""
    return Rows(json.loads(_core.models())["models"])


def clusters() -> Rows:
    """The families of clusters that come with Strata."""
    return Rows(json.loads(_core.clusters())["clusters"])


def frameworks() -> Rows:
    """The frameworks whose ways of training `as_=` names."""
    return Rows(json.loads(_core.frameworks())["frameworks"])
