"""Rules for what headers declare: one meaning for each type's name, definitions in the folder of the
declaration, and classes that a reader can hold in mind.

`violations(root)` lists what breaks them, one line each.
"""

import pathlib
import re

from arrows import TOPS

MOST_METHODS = 20

# Public methods of these are more, and why that is so.
LARGE = {
    "Backend": "what executors ask of any device, a method for each",
    "CpuBackend": "a Backend",
    "CudaBackend": "a Backend, with what recorded steps and streams need",
    "NetworkMap": "answers every question of one painter",
    "OnnxNetwork": "what each reader of an op makes of a network",
    "OnnxNode": "a getter for each form of an attribute",
    "Plan": "the centre: every reader asks it",
    "PlanBuilder": "the only maker of plans, an adder for each kind of thing in them",
    "Table": "a getter for each form of a value",
    "TimelineCanvas": "events of Qt, a handler each",
    "View": "what each view may say of itself",
    "Workload": "what an engine is told, an adder each",
    "Workspace": "what each view may ask for",
}

# Names that mean one thing in strata:: and another in a namespace within it.
SHADOWED = {
    "cuda": {"Range", "Stream"},
    "mpi": {"Part"},
    "gui": {"Document", "Drawing", "LayerTable", "LegendEntry", "Part", "PartKind", "Slice", "Turns",
            "View"},
}

NAMESPACE = re.compile(r"namespace ([\w:]+) \{")
TYPE = re.compile(r"(?:struct|class|enum class) (\w+)\s*(?:final)?\s*(?::[^;{]*)?\{")
DECLARED = re.compile(r"^(?!using|typedef|#|\s|extern|friend|template)[\w:<>,&*\[\] ]+?[ &*>](\w+)"
                      r"\([^;{}]*\)\s*;", re.MULTILINE)
DEFINED = re.compile(r"^(namespace \{|\}  // namespace$|(?!using|typedef|#|\s|\}|namespace|template|"
                     r"struct|class|enum|//)[\w:<>,&*\[\] ]+?[ &*>](\w+)\()", re.MULTILINE)
CLASS = re.compile(r"^\s*(struct|class)\s+(\w+)\s*(?:final\s*)?(?::[^;{]*)?\{", re.MULTILINE)
ACCESS = re.compile(r"\b(public|private|protected|signals|public slots|private slots)\s*:(?!:)")
METHOD = re.compile(r"([~\w]+|operator\S+)\s*\(")


def files(root, suffixes):
    found = [path for top in TOPS for path in (root / top).rglob("*") if path.suffix in suffixes]
    return sorted(path.relative_to(root).as_posix() for path in found)


def code(root, path):
    """The text without comments and literals."""
    text = re.sub(r"//(?!  ?namespace)[^\n]*", "", (root / path).read_text(encoding="utf-8"))
    return re.sub(r'"(\\.|[^"\\\n])*"', '""', text)


def header_types(root):
    """(namespace, name, header) of every type that a header defines in a namespace."""
    for path in files(root, {".h"}):
        within = []
        for line in code(root, path).splitlines():
            if match := NAMESPACE.match(line):
                within.append(match.group(1))
            elif line.startswith("}  // namespace"):
                within.pop()
            elif match := TYPE.match(line):
                yield "::".join(within), match.group(1), path


def type_violations(root):
    known = {}
    for namespace, name, path in header_types(root):
        if (other := known.setdefault((namespace, name), path)) != path:
            yield f"{path}:1: {namespace}::{name} is another type in {other}"
    for namespace, name in sorted(known):
        room = namespace.partition("strata::")[2]
        if room and ("strata", name) in known and name not in SHADOWED.get(room, ()):
            yield f"{known[namespace, name]}:1: strata::{name} means another thing"


def definitions(text):
    """The functions that a source defines outside of unnamed namespaces."""
    unnamed = False
    for match in DEFINED.finditer(text):
        if match.group(0).startswith(("namespace {", "}  // namespace")):
            unnamed = match.group(0) == "namespace {"
        elif not unnamed and re.match(r"[^;{}]*\{", text[match.end():match.end() + 3000]):
            yield match.group(2)


def folder_of(path):
    return "/".join(path.split("/")[:2])


def definition_violations(root):
    """Functions that a header declares and only other folders define."""
    defined = {}
    for path in files(root, {".cpp", ".cu"}):
        for name in definitions(code(root, path)):
            defined.setdefault(name, set()).add(folder_of(path))
    for path in files(root, {".h"}):
        for name in DECLARED.findall(code(root, path)):
            folders = defined.get(name, set())
            if folders and folder_of(path) not in folders:
                yield f"{path}:1: {name} is defined in {', '.join(sorted(folders))}"


def bodies(text):
    """(kind, name, body) of every class."""
    for match in CLASS.finditer(text):
        end, depth = match.end(), 1
        while depth and end < len(text):
            depth += {"{": 1, "}": -1}.get(text[end], 0)
            end += 1
        yield match.group(1), match.group(2), text[match.end():end - 1]


def flattened(body):
    """A class's body without what stands in braces."""
    text, depth = [], 0
    for letter in body:
        if letter == "{":
            text.append(";" if depth == 0 else "")
            depth += 1
        elif letter == "}":
            depth -= 1
        elif depth == 0:
            text.append(letter)
    return "".join(text)


def public_methods(kind, name, body):
    """Those without constructors, operators and what is deleted."""
    access, methods = "public" if kind == "struct" else "private", []
    for part in ACCESS.split(flattened(body)):
        if re.fullmatch(r"public|private|protected|signals|public slots|private slots", part):
            access = part
            continue
        if not access.startswith(("public", "signals")):
            continue
        for statement in part.split(";"):
            statement = re.sub(r"^template <.*?> (?=\w)", "", " ".join(statement.split()))
            match = METHOD.search(statement)
            if not match or re.match(r"using|friend|typedef|static_assert|struct|class|enum", statement):
                continue
            method = match.group(1)
            special = method in (name, "~" + name) or method.startswith("operator")
            if not special and "= delete" not in statement and "=" not in statement[:match.start()]:
                methods.append(method)
    return methods


def size_violations(root):
    large = set()
    for path in files(root, {".h", ".cpp", ".cu"}):
        for kind, name, body in bodies(code(root, path)):
            count = len(public_methods(kind, name, body))
            if count > MOST_METHODS:
                large.add(name)
                if name not in LARGE:
                    yield f"{path}:1: {name} has {count} public methods; allowed: {MOST_METHODS}"
    if (pathlib.Path(__file__).resolve().parents[2]) == root:
        for name in sorted(set(LARGE) - large):
            yield f"tests/architecture/names.py:1: {name} is no longer large"


def violations(root):
    root = pathlib.Path(root)
    return [*type_violations(root), *definition_violations(root), *size_violations(root)]
