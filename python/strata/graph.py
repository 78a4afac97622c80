"""Networks: those that have a name, files, and networks that are built layer by layer."""

from __future__ import annotations

import json
import os
import shutil
import weakref
from typing import Any, Mapping, Optional, Sequence, Union

from . import _core, _html, _toml
from ._records import Rows, frame, written_at

_Path = Union[str, "os.PathLike[str]"]


class Graph:
    """A network. An empty one is built with add(), whose keys are those of network files:

        net = strata.Graph("small")
        net.add("input", shape=[3, 32, 32])
        net.add("conv2d", out_channels=32, kernel=3, padding=1)
        net.add("relu")
        net.add("flatten")
        net.add("fc", out_features=10)
        net.add("softmax_cross_entropy")

    A layer reads the one that was added before it, unless `inputs` names others.
    """

    def __init__(self, name: str = "network"):
        self._name = name
        self._layers: list[dict[str, Any]] = []
        self._model: Optional[str] = None  # the name or file of one that was not built here
        self._options: dict[str, Any] = {}
        self._shown: Optional[dict[str, Any]] = None
        self._written: Optional[int] = None  # when its file was

    @classmethod
    def load(cls, model: _Path, *, seq: Optional[int] = None,
             dim: Optional[Mapping[str, int]] = None,
             allow_unsupported: bool = False) -> "Graph":
        """A network by its name ("vgg16", "gpt2"), or from a .toml or .onnx file.

        `seq` is how many tokens a sequence of a transformer has, by name; `dim` has numbers for
        dims that an .onnx file leaves open, by their names there.
        """
        graph = cls()
        graph._model = os.fspath(model)
        options = {"seq": seq, "dim": dim, "allow_unsupported": allow_unsupported}
        graph._options = {key: value for key, value in options.items() if value}
        graph._name = graph._document["model"]
        return graph

    @classmethod
    def _owning(cls, folder: str, file: str, name: str, allow_unsupported: bool) -> "Graph":
        """A network from a file in a folder that lives as long as the network."""
        graph = cls.load(file, allow_unsupported=allow_unsupported)
        weakref.finalize(graph, shutil.rmtree, folder, ignore_errors=True)
        graph._name = name
        return graph

    def add(self, op: str, name: Optional[str] = None,
            inputs: Union[None, str, Sequence[str]] = None, **keys: Any) -> str:
        """Adds a layer and returns its name, by which others read it."""
        if self._model is not None:
            raise ValueError(f"{self._name} was loaded; only a network that is built takes layers")
        if name is None:
            name = f"{op}{sum(layer['op'] == op for layer in self._layers) + 1}"
        layer: dict[str, Any] = {"name": name, "op": op}
        if inputs is not None:
            layer["inputs"] = [inputs] if isinstance(inputs, str) else list(inputs)
        self._layers.append({**layer, **keys})
        self._shown = None
        return name

    def to_toml(self) -> str:
        """A network file, of a network that was built."""
        if self._model is not None:
            raise ValueError(f"{self._name} was loaded from {self._model}")
        return _toml.table({"name": self._name}) + "".join(
            "\n" + _toml.table(layer, "[[layer]]") for layer in self._layers)

    def save(self, file: _Path) -> None:
        with open(file, "w", encoding="utf-8") as out:
            out.write(self.to_toml())

    @property
    def _document(self) -> dict[str, Any]:
        written = written_at(self._model)
        if self._shown is None or written != self._written:
            self._written = written
            from ._ask import shown
            self._shown = json.loads(shown(self))
        return self._shown

    @property
    def name(self) -> str:
        return self._name

    @property
    def layers(self) -> Rows:
        """Name, op, inputs, output, parameters and multiply-accumulates of each layer."""
        return Rows(self._document["layers"])

    @property
    def parameters(self) -> int:
        return self._document["parameters"]

    @property
    def macs(self) -> int:
        """Multiply-accumulates of one sample's forward pass."""
        return self._document["macs"]

    def to_json(self) -> str:
        """What `strata show --json` prints."""
        return json.dumps(self._document, indent=2, ensure_ascii=False)

    def to_frame(self) -> Any:
        return frame(self._document["layers"])

    def __repr__(self) -> str:
        if self._model is None:
            return f"Graph({self._name!r}, {len(self._layers)} layers)"
        return f"Graph({self._name!r}, {len(self.layers)} layers, {self.parameters:,} parameters)"

    def _repr_html_(self) -> str:
        document = self._document
        facts = {"layers": len(document["layers"]), "parameters": document["parameters"],
                 "macs": document["macs"]}
        return (_html.heading(self._name) + _html.facts(facts)
                + _html.table(document["layers"],
                              ["name", "op", "output", "parameters", "macs", "inputs"]))
