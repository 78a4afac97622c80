"""The include graph by folder, read from the include lines and drawn in docs/architecture.md.

    python3 tests/architecture/include_graph.py [--accept]

prints the drawings (flowcharts in Mermaid's language, an arrow for each folder that another
includes, those that follow from others left out); with --accept it puts them into the page.
"""

import argparse
import pathlib
import re

from arrows import ORDER, ROOMS, folder_of, includes, sources, within

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "architecture.md"
DRAWING = re.compile(r"```mermaid\n(.*?)```\n", re.DOTALL)
SENTENCE = re.compile(r"^\| `([\w/]+)/` \| (.+) \|$", re.MULTILINE)


def room_of(folder, path):
    """The room of `folder` that holds this path, or the folder itself."""
    rooms = [f"{folder}/{room}" for room in ROOMS.get(folder, [])]
    return next((room for room in rooms if within(path, [room])), folder)


def direct_includes(root, place_of):
    """{place: the other places that its files include}, where `place_of` may give None."""
    graph = {}
    for path in sources(root):
        if not (here := place_of(path)):
            continue
        there = {place_of(quoted) for _, quoted, _ in includes(root, path) if quoted}
        graph.setdefault(here, set()).update(there - {here, None})
    return graph


def reached(graph, start):
    """All places that `start` includes, directly or not."""
    found, waiting = set(), list(graph.get(start, ()))
    while waiting:
        place = waiting.pop()
        if place not in found:
            found.add(place)
            waiting += graph.get(place, ())
    return found


def reduced(graph):
    """The graph, without cycles, with the fewest arrows that have all others follow from them."""
    return {place: targets - set().union(*(reached(graph, target) for target in targets))
            for place, targets in graph.items()}


def flowchart(graph, order):
    """The graph in Mermaid's language: a line for each place, in this order."""
    lines = ["flowchart BT"]
    for place in sorted(graph, key=order.index):
        targets = " & ".join(sorted(graph[place], key=order.index))
        lines.append(f"  {place} --> {targets}" if targets else f"  {place}")
    return "\n".join(lines) + "\n"


def drawings(root):
    """All folders, then the rooms of each folder in which one includes another."""
    yield flowchart(reduced(direct_includes(root, folder_of)), ORDER)
    for folder, rooms in sorted(ROOMS.items()):
        graph = direct_includes(root, lambda path: room_of(folder, path) if within(path, [folder]) else None)
        if any(graph.values()):
            yield flowchart(reduced(graph), [f"{folder}/{room}" for room in rooms] + [folder])


def folders(root):
    """Every folder that holds a source."""
    return sorted({path.rpartition("/")[0] for path in sources(root)})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--accept", action="store_true", help="put the drawings into docs/architecture.md")
    drawn = list(drawings(ROOT))
    if not parser.parse_args().accept:
        return print("\n".join(drawn), end="")
    text = PAGE.read_text(encoding="utf-8")
    if len(DRAWING.findall(text)) != len(drawn):
        raise SystemExit(f"{PAGE}: wants {len(drawn)} blocks ```mermaid, in the order of the drawings")
    left = iter(drawn)
    PAGE.write_text(DRAWING.sub(lambda _: f"```mermaid\n{next(left)}```\n", text), encoding="utf-8")


if __name__ == "__main__":
    main()
