"""The arrows of the house, read from the include lines and held to the rules of the design.

A folder includes only folders that stand above it, vendor headers stay where they belong, and a
CMake target links what its folder includes and no more. `violations(root)` lists what breaks this,
in a fixed order, one line each: "FILE:LINE: what is wrong".
"""

import pathlib
import re

# In the order of the arrows: a folder may include itself and what stands before it.
SIM = [
    "base", "text", "geometry", "graph", "cluster", "strategy", "plan", "timeline", "profile",
    "cost", "engine", "simulate", "solver", "formats", "store", "scenario", "study",
]
ORDER = [f"sim/{name}" for name in SIM] + [
    "exec/runtime", "exec/cpu", "exec/cuda", "exec/calibrate", "cli", "gui/models", "gui/widgets",
]
TOPS = ("sim", "exec", "cli", "gui")

# Arrows that the order alone would allow: (from, to) as path prefixes.
FORBIDDEN = [
    ("exec", f"sim/{name}")
    for name in ("strategy", "cost", "engine", "solver", "store", "scenario")
] + [("sim/solver", "sim/simulate"), ("exec/cpu", "exec/cuda"), ("exec/cuda", "exec/cpu")]

# A vendor's headers, the folders that may include them, and the CMake target that brings them.
VENDORS = [
    ("Qt", r"Q[A-Za-z]+(/.*)?", ["gui"], None),
    ("SQLite", r"sqlite3.*", ["sim/store"], None),
    ("CUDA", r"(cuda|cudnn|cublas|curand|cusparse|nccl|nvml|nvToolsExt|cub/|thrust/).*",
     ["exec/cuda"], None),
    ("toml++", r"toml\+\+/.*", ["sim/text"], "tomlplusplus::tomlplusplus"),
    ("simdjson", r"simdjson\.h", ["sim/text", "sim/formats"], "simdjson::simdjson"),
    ("nlohmann json", r"nlohmann/.*", ["sim", "cli", "gui"], "nlohmann_json::nlohmann_json"),
    ("CLI11", r"CLI/.*", ["cli"], "CLI11::CLI11"),
    ("fmt", r"fmt/.*", ["sim", "exec", "cli", "gui"], "fmt::fmt"),
]

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<([^>]+)>)')
LIBRARY = re.compile(r"strata_library\(\s*(\w+)([^)]*)\)")


def within(path, prefixes):
    return any(path == prefix or path.startswith(prefix + "/") for prefix in prefixes)


def folder_of(path):
    """The folder of ORDER that holds this path, or the path's own folder where none does."""
    matches = [folder for folder in ORDER if within(path, [folder])]
    return matches[0] if matches else path.rpartition("/")[0]


def sources(root):
    """Every C++ and CUDA file of the four parts, as paths from the root, sorted."""
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
        return None
    if here not in ORDER or there not in ORDER:
        return f"{here if here not in ORDER else there} has no place in the order of folders"
    if path.startswith(("cli/", "gui/")) and target.startswith("exec/"):
        return None if path.endswith("/main.cpp") else f"{here} includes exec; only main.cpp may"
    if ORDER.index(there) > ORDER.index(here) or (here.startswith("gui") and there == "cli"):
        return f"{here} includes {there}, which does not stand above it"
    if any(within(here, [a]) and within(there, [b]) for a, b in FORBIDDEN):
        return f"{here} must not include {there}"
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


def linked_and_listed(arguments):
    """The links and the sources of one strata_library call."""
    groups, current = {"SOURCES": [], "LINKS": [], "PRIVATE_LINKS": []}, None
    for word in re.sub(r"#.*", "", arguments).split():
        if word in groups:
            current = word
        elif current:
            groups[current].append(word)
    return set(groups["LINKS"] + groups["PRIVATE_LINKS"]), set(groups["SOURCES"])


def wanted_links(root, folder):
    """The targets whose headers the files of `folder` include."""
    wanted = set()
    for path in sources(root):
        if folder_of(path) != folder:
            continue
        for _, quoted, angled in includes(root, path):
            if quoted and folder_of(quoted) != folder:
                wanted.add("strata_" + folder_of(quoted).rpartition("/")[2])
            elif angled and (vendor := vendor_of(angled)) and vendor[3]:
                wanted.add(vendor[3])
    return wanted


def library_violations(root, folder):
    """What the strata_library call of one folder links or lists wrongly."""
    file = f"{folder}/CMakeLists.txt"
    name = folder.rpartition("/")[2]
    calls = dict(LIBRARY.findall((root / file).read_text(encoding="utf-8")))
    if name not in calls:
        yield f"{file}:1: has no strata_library({name} ...)"
        return
    linked, listed = linked_and_listed(calls[name])
    known = {"strata_" + other.rpartition("/")[2] for other in ORDER}
    known |= {vendor[3] for vendor in VENDORS if vendor[3]}
    wanted = wanted_links(root, folder)
    for target in sorted(wanted - linked):
        yield f"{file}:1: {folder} includes headers of {target} and does not link it"
    for target in sorted((linked & known) - wanted):
        yield f"{file}:1: {folder} links {target} and includes none of its headers"
    present = {path[len(folder) + 1:] for path in sources(root)
               if folder_of(path) == folder and path.endswith(".cpp")}
    for source in sorted(present - listed):
        yield f"{file}:1: {source} is in no target"


def link_violations(root):
    folders = sorted({folder_of(path) for path in sources(root) if path.startswith("sim/")})
    for folder in folders:
        if not (root / folder / "CMakeLists.txt").is_file():
            yield f"{folder}:1: has no CMakeLists.txt, so no target"
        else:
            yield from library_violations(root, folder)


def violations(root):
    root = pathlib.Path(root)
    return [*include_violations(root), *header_violations(root), *link_violations(root)]
