"""Clusters: those that have a name, files, and clusters that are built here."""

from __future__ import annotations

import json
import os
from typing import Any, Mapping, Optional, Sequence, Union

from . import _core, _html, _toml
from ._records import Rows, frame, written_at

_Path = Union[str, "os.PathLike[str]"]


class Cluster:
    """Devices, switches and links. The keys are those of cluster files:

        two = strata.Cluster("two-boxes")
        two.device("gpu0", kind="p100", host="box0")
        two.device("gpu1", kind="p100", host="box1")
        two.link("gpu0", "gpu1", bandwidth="12.5 GB/s", latency="1 us", duplex=True)
    """

    def __init__(self, name: str = "cluster"):
        self._name = name
        self._tables: list[tuple[str, dict[str, Any]]] = []
        self._source: Optional[str] = None  # the name or file of one that was not built here
        self._shown: Optional[dict[str, Any]] = None
        self._written: Optional[int] = None  # when its file was

    @classmethod
    def load(cls, cluster: _Path) -> "Cluster":
        """A cluster by its name ("p100-4x4", "cpu:2"), or from a .toml file."""
        loaded = cls()
        loaded._source = os.fspath(cluster)
        loaded._name = loaded._document["name"]
        return loaded

    @classmethod
    def grid(cls, name: str, *, hosts: int, devices_per_host: int, kind: str,
             intra: Optional[Mapping[str, Any]] = None, inter: Optional[Mapping[str, Any]] = None,
             **keys: Any) -> "Cluster":
        """A regular machine; `intra` and `inter` have a topology, a bandwidth and a latency."""
        built = cls(name)
        built._add("[grid]", {"hosts": hosts, "devices_per_host": devices_per_host, "kind": kind,
                              **keys})
        if intra is not None:
            built._add("[grid.intra]", dict(intra))
        if inter is not None:
            built._add("[grid.inter]", dict(inter))
        return built

    def _add(self, heading: str, keys: dict[str, Any]) -> "Cluster":
        if self._source is not None:
            raise ValueError(f"{self._name} was loaded; allowed: parts for a cluster that is built")
        self._tables.append((heading, keys))
        self._shown = None
        return self

    def device(self, name: str, *, kind: Optional[str] = None, host: Optional[str] = None,
               **keys: Any) -> "Cluster":
        return self._add("[[device]]", {"name": name, "kind": kind, "host": host, **keys})

    def switch(self, name: str) -> "Cluster":
        return self._add("[[switch]]", {"name": name})

    def link(self, from_: str, to: str, *, bandwidth: str, latency: Optional[str] = None,
             duplex: bool = False, name: Optional[str] = None, kind: Optional[str] = None
             ) -> "Cluster":
        """A link in one direction, or with `duplex` one each way."""
        return self._add("[[link]]", {"name": name, "from": from_, "to": to,
                                      "bandwidth": bandwidth, "latency": latency, "kind": kind,
                                      "duplex": duplex or None})

    def route(self, from_: str, to: str, over: Sequence[str]) -> "Cluster":
        """The links between two devices, where that is not the shortest path."""
        return self._add("[[route]]", {"from": from_, "to": to, "over": list(over)})

    def to_toml(self) -> str:
        """A cluster file; of one that was loaded, with its devices and links spelled out."""
        if self._source is not None:
            return _core.cluster_toml(self._source)
        return _toml.table({"name": self._name}) + "".join(
            "\n" + _toml.table(keys, heading) for heading, keys in self._tables)

    def save(self, file: _Path) -> None:
        with open(file, "w", encoding="utf-8") as out:
            out.write(self.to_toml())

    @property
    def _document(self) -> dict[str, Any]:
        written = written_at(self._source)
        if self._shown is None or written != self._written:
            self._written = written
            from ._ask import described
            self._shown = json.loads(described(self))
        return self._shown

    @property
    def name(self) -> str:
        return self._name

    @property
    def devices(self) -> Rows:
        return Rows(self._document["devices"])

    @property
    def links(self) -> Rows:
        return Rows(self._document["links"])

    @property
    def switches(self) -> list[str]:
        return self._document["switches"]

    def to_json(self) -> str:
        return json.dumps(self._document, indent=2, ensure_ascii=False)

    def to_frame(self) -> Any:
        """A row for each link."""
        return frame(self._document["links"])

    def __repr__(self) -> str:
        return f"Cluster({self._name!r})"

    def _repr_html_(self) -> str:
        document = self._document
        return (_html.heading(self._name) + _html.table(document["devices"])
                + _html.table(document["links"]))
