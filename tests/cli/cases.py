"""Cases of the command line as text: files, a shell line, and what it must say.

A file of cases reads like this; text before the first heading is its explanation:

    ==== the title of a case
    ---- net.toml
    name = "a file that the case needs"
    ---- $ strata show net.toml
    exit 2
    strata: error: net.toml:1: what it must say on standard error

The shell runs in a folder that holds the case's files and nothing else; `strata` is the program
under test. A file "NAME (escaped)" holds bytes that a text file should not: \\x00, \\xff. A file
"NAME (from toy.toml)" is that file of this folder with each "- line" replaced by the "+ lines"
below it.
"""

import dataclasses
import os
import pathlib
import re
import subprocess

HEADING = re.compile(r"^==== (.*)$", re.MULTILINE)
SECTION = re.compile(r"^---- (.*)\n", re.MULTILINE)
ESCAPED = " (escaped)"
DERIVED = re.compile(r"(.*) \(from (.*)\)")
CHANGE = re.compile(r"^- (.*\n)((?:\+ .*\n)*)", re.MULTILINE)
HERE = pathlib.Path(__file__).resolve().parent
SECONDS = 60


@dataclasses.dataclass
class Case:
    title: str
    files: dict  # name: bytes
    command: str
    expected: str
    span: tuple  # where `expected` stands in the text


@dataclasses.dataclass
class Outcome:
    exit_code: int
    stdout: bytes
    stderr: str

    def said(self):
        return f"exit {self.exit_code}\n{self.stderr}"


def contents(name, text):
    if name.endswith(ESCAPED):
        return name[: -len(ESCAPED)], text.encode().decode("unicode_escape").encode("latin-1")
    if derived := DERIVED.fullmatch(name):
        return derived[1], changed((HERE / derived[2]).read_text(), text).encode()
    return name, text.encode()


def changed(text, changes):
    for change in CHANGE.finditer(changes):
        if text.count(change[1]) != 1:
            raise ValueError(f"'{change[1]}' does not stand once in the original")
        text = text.replace(change[1], re.sub(r"^\+ ", "", change[2], flags=re.MULTILINE))
    return text


def parse(text):
    """The cases of a text, in order."""
    headings = list(HEADING.finditer(text)) + [None]
    for heading, following in zip(headings, headings[1:]):
        end = following.start() if following else len(text)
        sections = [m for m in SECTION.finditer(text, heading.end(), end)] + [None]
        files, command = {}, None
        for section, after in zip(sections, sections[1:]):
            span = (section.end(), after.start() if after else end)
            body = text[slice(*span)]
            if section[1].startswith("$ "):
                command = Case(heading[1], files, section[1][2:], body, span)
            else:
                name, data = contents(section[1], body)
                files[name] = data
        if command is None:
            raise ValueError(f"case '{heading[1]}' has no line '---- $ COMMAND'")
        yield command


def program():
    """The program under test, from the environment variable STRATA."""
    return pathlib.Path(os.environ["STRATA"]).resolve()


def reads_onnx():
    """Whether the program under test was built with ONNX."""
    said = subprocess.run([program(), "--version"], capture_output=True, text=True, check=True)
    return ", onnx" in said.stdout


def run(command, folder, environment=None):
    """Runs a shell line in a folder."""
    variables = dict(os.environ, PATH=f"{program().parent}:{os.environ['PATH']}")
    variables.update(environment or {})
    done = subprocess.run(["sh", "-c", command], cwd=folder, env=variables, timeout=SECONDS,
                          stdin=subprocess.DEVNULL, capture_output=True)
    return Outcome(done.returncode, done.stdout, done.stderr.decode(errors="backslashreplace"))


def tree(folder):
    """Every path under a folder, with what a file holds."""
    return {str(path.relative_to(folder)): path.read_bytes() if path.is_file() else None
            for path in sorted(pathlib.Path(folder).rglob("*"))}


def replaced(text, cases, outcomes):
    """The text with what the cases really said in place of what was expected."""
    for case, outcome in reversed(list(zip(cases, outcomes))):
        begin, end = case.span
        gap = "\n" if end < len(text) else ""
        text = text[:begin] + outcome.said() + gap + text[end:]
    return text
