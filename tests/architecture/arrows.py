"""Which folder may include which, checked against the include lines and the links of targets.

A folder includes only folders that stand above it, vendor headers stay where they belong, and a
CMake target links what its folder includes and no more. `violations(root)` lists what breaks this,
in a fixed order, one line each: "FILE:LINE: what is wrong".
"""

import pathlib
import re

# In the order of the arrows: a folder may include itself and what stands before it.
SIM = [
    "base", "text", "geometry", "graph", "cluster", "strategy", "step", "plan", "timeline", "profile",
    "kernels", "cost", "engine", "simulate", "solver", "importers", "exporters", "replay", "report",
    "result", "store", "scenario", "case", "search", "trust", "explain", "measure", "train", "ask",
    "study", "json",
]
ORDER = [f"sim/{name}" for name in SIM] + [
    "exec/runtime", "exec/mpi", "exec/cpu", "exec/cuda", "exec/calibrate", "exec/machine",
    "cli", "python/core", "gui/document", "gui/models", "gui/widgets", "gui",
]
TOPS = ("sim", "exec", "cli", "gui", "python")

# Within one folder, and one target: rooms with an order of their own.
ROOMS = {
    "cli": ["output", "options", "commands", "manual"],
    "exec/cuda": ["device", "tensor", "streams", "peers", "products", "kernels", "run"],
    "sim/exporters": ["trace", "chakra", "dtensor"],
    "sim/importers": ["npy", "trace", "onnx", "topology"],
    "sim/study": ["validate", "sweep", "phase_map", "published", "report"],
}

# Arrows that the order alone would allow: (from, to) as path prefixes.
FORBIDDEN = [
    ("exec", f"sim/{name}")
    for name in ("strategy", "cost", "engine", "solver", "store", "scenario")
] + [("sim/solver", "sim/simulate"), ("exec/cpu", "exec/cuda"), ("exec/cuda", "exec/cpu"),
     ("python", "cli"), ("gui", "python")]

# A vendor's headers, the folders that may include them, and the CMake target that brings them.
VENDORS = [
    ("Qt", r"Q[A-Za-z]+(/.*)?", ["gui"], None),
    ("Graphviz", r"graphviz/.*", ["gui/models"], "PkgConfig::GVC"),
    ("SQLite", r"sqlite3.*", ["sim/store"], "SQLite::SQLite3"),
    ("xxHash", r"xxhash\.h", ["sim/store"], None),
    ("CUDA", r"(cuda|cudnn|cublas|curand|cusparse|nccl|nvml|nvToolsExt|nvtx3/|cub/|thrust/).*",
     ["exec/cuda"], None),
    ("toml++", r"toml\+\+/.*", ["sim/text"], "tomlplusplus::tomlplusplus"),
    ("simdjson", r"simdjson\.h", ["sim/text", "sim/importers", "sim/replay"], "simdjson::simdjson"),
    ("nlohmann json", r"nlohmann/.*", ["sim", "cli", "gui", "python"], "nlohmann_json::nlohmann_json"),
    ("CLI11", r"CLI/.*", ["cli"], "CLI11::CLI11"),
    ("oneDNN", r"(dnnl.*|oneapi/.*)", ["exec/cpu"], "DNNL::dnnl"),
    ("MPI", r"mpi\.h", ["exec/mpi"], "MPI::MPI_CXX"),
    ("ONNX", r"onnx/.*", ["sim/importers/onnx"], "onnx"),
    ("protobuf", r"google/protobuf/.*", ["sim/importers/onnx"], None),
    ("pugixml", r"pugixml\.hpp", ["sim/importers/topology"], "pugixml::pugixml"),
    ("hwloc", r"hwloc\.h", ["sim/importers/topology"], "PkgConfig::HWLOC"),
    ("fmt", r"fmt/.*", ["sim", "exec", "cli", "gui", "python"], "fmt::fmt"),
    ("pybind11", r"(pybind11/.*|Python\.h)", ["python"], None),
]

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
VARIABLE = re.compile(r"^set\((\w+)([^)]*)\)", re.MULTILINE)
LIBRARY = re.compile(r"strata_library\(\s*(\w+)([^)]*)\)")


def within(path, prefixes):
    return any(path == prefix or path.startswith(prefix + "/") for prefix in prefixes)


def folder_of(path):
    """The folder of ORDER that holds this path, or the path's own folder where none does."""
    matches = [folder for folder in ORDER if within(path, [folder])]
    return matches[0] if matches else path.rpartition("/")[0]


def sources(root):
    """Every C++ and CUDA file of the parts, as paths from the root, sorted."""
    suffixes = {".h", ".cpp", ".cu", ".cuh"}
    found = [path for top in TOPS for path in (root / top).rglob("*") if path.suffix in suffixes]
    return sorted(path.relative_to(root).as_posix() for path in found)


def includes(root, path):
    """(line number, quoted name or None, name in angle brackets or None) of each include line."""
    lines = (root / path).read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        if match := INCLUDE.match(line):
            yield number, match.group(1), match.group(2)


def vendor_of(header):
    return next((v for v in VENDORS if re.fullmatch(v[1], header)), None)


def wrong_arrow(path, target):
    """What is wrong with `path` including our header `target`, or None."""
    here, there = folder_of(path), folder_of(target)
    if here == there:
        return wrong_room(here, path, target)
    if here not in ORDER or there not in ORDER:
        return None
    if path.startswith(("cli/", "gui/")) and target.startswith("exec/"):
        return None if path.endswith("/main.cpp") else f"{here} includes exec; only main.cpp may"
    if ORDER.index(there) > ORDER.index(here) or (here.startswith("gui") and there == "cli"):
        return f"{here} includes {there}, which does not stand above it"
    if any(within(here, [a]) and within(there, [b]) for a, b in FORBIDDEN):
        return f"{here} must not include {there}"
    return None


def wrong_room(folder, path, target):
    """What is wrong with a file of one room of `folder` including one of another, or None."""
    rooms = ROOMS.get(folder, [])
    here, there = (name[len(folder) + 1:].partition("/")[0] for name in (path, target))
    if here in rooms and there in rooms and rooms.index(there) > rooms.index(here):
        return f"{folder}/{here} includes {folder}/{there}, which does not stand above it"
    return None


def wrong_include(root, path, quoted, angled):
    if angled is not None:
        vendor = vendor_of(angled)
        if vendor and not within(path, vendor[2]):
            return f"{vendor[0]} stays in {', '.join(vendor[2])}"
        return None
    if not quoted.startswith(tuple(top + "/" for top in TOPS)):
        return f'"{quoted}" is not a path from the root'
    if not (root / quoted).is_file():
        return f'"{quoted}" does not exist'
    return wrong_arrow(path, quoted)


def folder_violations(root):
    """Folders that no list names: a new one would be held to nothing."""
    for folder in sorted({folder_of(path) for path in sources(root)} - set(ORDER)):
        yield f"{folder}:1: has no place in the order of folders"
    for folder, rooms in sorted(ROOMS.items()):
        known = {f"{folder}/{room}" for room in rooms} | {folder}
        for path in sources(root):
            room = "/".join(path.split("/")[:folder.count("/") + 2])
            if within(path, [folder]) and room != path and room not in known:
                yield f"{room}:1: is no room of {folder}"


def include_violations(root):
    for path in sources(root):
        for number, quoted, angled in includes(root, path):
            if wrong := wrong_include(root, path, quoted, angled):
                yield f"{path}:{number}: {wrong}"


def header_violations(root):
    for path in sources(root):
        text = (root / path).read_text(encoding="utf-8")
        if path.endswith(".h") and not text.startswith("#pragma once\n"):
            yield f"{path}:1: a header starts with #pragma once"


def targets_of(root, folder):
    """The strata_library calls of a folder: {target: (its links, its sources)}; two calls for one
    target, as where a tool may be missing, count together."""
    file = root / folder / "CMakeLists.txt"
    text = file.read_text(encoding="utf-8") if file.is_file() else ""
    for name, words in VARIABLE.findall(text):
        text = text.replace("${" + name + "}", words)
    targets = {}
    for name, arguments in LIBRARY.findall(text):
        links, listed = targets.setdefault("strata_" + name, (set(), set()))
        more_links, more_listed = linked_and_listed(arguments)
        links |= more_links
        listed |= more_listed
    return targets


def linked_and_listed(arguments):
    groups, current = {"SOURCES": [], "LINKS": [], "PRIVATE_LINKS": []}, None
    for word in re.sub(r"#.*", "", arguments).split():
        if word in groups:
            current = word
        elif current:
            groups[current].append(word)
    return set(groups["LINKS"] + groups["PRIVATE_LINKS"]), set(groups["SOURCES"])


def target_of(root, path):
    """The target that holds a file: the one that lists it or the source beside it; for a header
    alone, the first with a source that includes it; else the folder's own."""
    folder = folder_of(path)
    name = path[len(folder) + 1:]
    targets = targets_of(root, folder)
    source = name.rpartition(".")[0] + ".cpp"
    for target, (_, listed) in targets.items():
        if source in listed:
            return target
    for target, (_, listed) in targets.items():
        files = [f"{folder}/{other}" for other in sorted(listed)]
        if any(path == quoted for file in files if (root / file).is_file()
               for _, quoted, _ in includes(root, file)):
            return target
    return "strata_" + folder_of(path).rpartition("/")[2]


def wanted_links(root, target, folder):
    """The targets whose headers the files of `target` include."""
    wanted = set()
    for path in sources(root):
        if folder_of(path) != folder or target_of(root, path) != target:
            continue
        for _, quoted, angled in includes(root, path):
            if quoted:
                wanted.add(target_of(root, quoted))
            elif angled and (vendor := vendor_of(angled)) and vendor[3]:
                wanted.add(vendor[3])
    return wanted - {target}


def target_violations(root, folder, target, linked):
    """What one target of a folder links too little or too much."""
    wanted = wanted_links(root, target, folder)
    vendors = tuple(vendor[3] for vendor in VENDORS if vendor[3])
    for other in sorted(wanted - linked):
        yield f"{folder}/CMakeLists.txt:1: {target} includes headers of {other}, not linked"
    for other in sorted(linked - wanted):
        if other.startswith("strata_") or other in vendors:
            yield f"{folder}/CMakeLists.txt:1: {target} links {other} and includes nothing of it"


def link_violations(root):
    for folder in sorted({folder_of(path) for path in sources(root) if path.startswith(("sim/", "exec/"))}):
        targets = targets_of(root, folder)
        if not targets:
            yield f"{folder}:1: no CMakeLists.txt with a strata_library"
            continue
        for target, (linked, _) in targets.items():
            yield from target_violations(root, folder, target, linked)
        listed = set().union(*(sources for _, sources in targets.values()))
        for path in sources(root):
            name = path[len(folder) + 1:]
            if folder_of(path) == folder and name.endswith(".cpp") and name not in listed:
                yield f"{folder}/CMakeLists.txt:1: {name} is in no target"


def violations(root):
    root = pathlib.Path(root)
    return [*folder_violations(root), *include_violations(root), *header_violations(root), *link_violations(root)]
