"""The manual pages and the shells' completions hold every command and every option of `--help`, and
what they offer the program takes."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

MANUAL = pathlib.Path(os.environ["MANUAL"])
STRATA = os.environ["STRATA"]
BASH = MANUAL / "bash/strata"
FISH = MANUAL / "fish/strata.fish"
ZSH = MANUAL / "zsh/_strata"

# For each line, words between tabs, prints what the completion offers at their end, as bash would
# ask for it.
ASK_BASH = """
source "$1"
while IFS=$'\\t' read -r -a COMP_WORDS; do
  COMP_CWORD=$((${#COMP_WORDS[@]} - 1)) COMP_WORDS[COMP_CWORD]=${COMP_WORDS[COMP_CWORD]%.}
  _strata
  (IFS=$'\\t'; printf '%s\\n' "${COMPREPLY[*]}")
done
"""


def run(*command, **options):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)


def strata(*arguments, **options):
    return run(STRATA, *arguments, **options)


def section(text, title):
    """The first words of the lines of a section of --help; those that go on are left out."""
    found = re.search(rf"^{title}:\n((?:  .*\n|\n(?=  ))*)", text, re.MULTILINE)
    return re.findall(r"^  (\S+)(?: (.*))?$", found[1], re.MULTILINE) if found else []


def commands(path=()):
    """(the words of a command, its --help), of all of them."""
    text = strata(*path, "--help").stdout
    yield path, text
    for name, _ in section(text, "Subcommands"):
        yield from commands((*path, name))


def options(text):
    """(names, whether it takes a value) of each option of a --help, whatever group it is in."""
    for names, rest in re.findall(r"^  (-\S+)(.*)$", text, re.MULTILINE):
        yield names.split(","), bool(re.match(r" (TEXT|U?INT|FLOAT)\b", rest))


ALL = list(commands())


def page(path):
    return MANUAL / "man1" / ("-".join(("strata", *path)) + ".1")


def plain(text):
    """Text of a page without what roff reads."""
    text = re.sub(r"\\f[BIR]|\\[&:]", "", text)
    return text.replace("\\-", "-").replace("\\e", "\\").replace("\\(ti", "~").replace("\\(ha", "^")


class Pages(unittest.TestCase):
    def test_each_command_has_a_page_and_no_page_is_of_anything_else(self):
        self.assertGreater(len(ALL), 15)
        self.assertEqual({page(path).name for path, _ in ALL},
                         {file.name for file in (MANUAL / "man1").iterdir()})

    def test_a_page_has_every_option_with_what_help_says_of_it(self):
        for path, text in ALL:
            manual = " ".join(plain(page(path).read_text()).split())
            for names, _ in options(text):
                self.assertIn(", ".join(names), manual, path)
            said = re.findall(r"^ {34}(.*)$|^  -\S.{30} (\S.*)$", text, re.MULTILINE)
            for line in (" ".join("".join(both).split()) for both in said):
                self.assertIn(line, manual, path)

    @unittest.skipUnless(shutil.which("man"), "there is no man")
    def test_pages_are_without_fault(self):
        for file in (MANUAL / "man1").iterdir():
            shown = run("man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", file)
            self.assertEqual(("", 0), (shown.stderr, shown.returncode), file)
            if shutil.which("mandoc"):
                self.assertEqual("", run("mandoc", "-T", "lint", "-W", "warning", file).stdout)

    def test_the_examples_work_as_they_stand(self):
        text = page(()).read_text()
        lines = [plain(line) for line in re.findall(r"^\.nf\n(.*)\n\.fi$", text, re.MULTILINE)]
        self.assertEqual(3, len(lines))
        with tempfile.TemporaryDirectory() as folder:
            for line in lines:
                name, *arguments = line.split()
                done = strata(*arguments, cwd=folder)
                self.assertEqual((name, 0), ("strata", done.returncode), line + done.stderr)


def bash_all(lines, **more):
    """What bash offers at the end of each line of words; a dot keeps an empty last word alive."""
    asked = run("bash", "--norc", "-c", ASK_BASH, "bash", BASH, **more,
                input="".join("\t".join(("strata", *words)) + ".\n" for words in lines))
    assert asked.returncode == 0 and asked.stderr == "", asked.stderr
    return [line.split("\t") if line else [] for line in asked.stdout.split("\n")[:-1]]


def bash(*words, **more):
    return bash_all([words], **more)[0]


class Bash(unittest.TestCase):
    def test_every_command_and_every_option_is_offered(self):
        for path, text in ALL:
            wanted = {name for names, _ in options(text) for name in names}
            self.assertEqual(wanted, set(bash(*path, "-")), path)
            below = {name for name, _ in section(text, "Subcommands")}
            self.assertEqual(below, below & set(bash(*path, "")), path)

    def test_only_the_values_of_an_option_stand_after_it(self):
        asked = {(*path, name, "--"): takes_value for path, text in ALL
                 for names, takes_value in options(text) for name in names}
        self.assertGreater(sum(asked.values()), 50)
        for (words, takes_value), offered in zip(asked.items(), bash_all(asked), strict=True):
            self.assertEqual(takes_value, offered == [], words)

    def test_what_a_list_allows_is_what_is_offered(self):
        lists = {"--sync": "predict", "--dtype": "predict", "--algorithm": "solve",
                 "--objective": "solve", "--degrees": "solve", "--placement": "solve"}
        case = {"predict": ["--strategy", "data"], "solve": []}
        for option, command in lists.items():
            refused = strata(command, "lenet5", "--cluster", "p100-1x2", *case[command],
                             option, "nonsense").stderr
            allowed = re.search(r"allowed: (.*)", refused)[1].split(", ")
            self.assertEqual(allowed, bash(command, option, ""), option)

    def test_models_clusters_and_strategies_are_those_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            known = json.loads(strata("models", "--json").stdout)["models"]
            self.assertEqual([model["name"] for model in known], bash("show", "", cwd=folder))
            clusters = bash("predict", "lenet5", "--cluster", "", cwd=folder)
            self.assertIn("p100-4x4", clusters)
            cases = [(cluster, "data") for cluster in clusters]
            cases += [("p100-1x2", name) for name in bash("predict", "--strategy", "", cwd=folder)]
        self.assertGreater(len(cases), len(clusters))
        for cluster, strategy in cases:
            done = strata("predict", "lenet5", "--cluster", cluster, "--strategy", strategy)
            # The cores of this machine are a cluster that only a measured profile gives costs.
            fault = "" if cluster.startswith("cpu:") and "no profile" in done.stderr else done.stderr
            self.assertEqual("", fault if done.returncode else "", (cluster, strategy))

    def test_files_are_offered_where_a_file_fits_and_by_their_ending(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("net.toml", "net.onnx", "best one.json", "notes.txt"):
                (pathlib.Path(folder) / name).touch()
            (pathlib.Path(folder) / "nets").mkdir()
            self.assertEqual(["net.toml", "net.onnx", "nets"], bash("show", "net", cwd=folder))
            self.assertEqual(["best one.json"],
                             bash("predict", "net.toml", "--strategy", "b", cwd=folder))
            self.assertEqual(["nets"], bash("run", "--data", "n", cwd=folder))

    def test_words_that_bash_splits_are_read_whole(self):
        self.assertEqual(["2"], bash("run", "--devices", "cpu", ":", "2"))
        self.assertEqual(["p100-1x4"], bash("predict", "--cluster", "=", "p100-1"))
        self.assertEqual(["data,owt"], bash("predict", "--strategy", "data,ow"))
        # Neither the value of an option nor what is before a colon is a MODEL.
        self.assertEqual(["lenet5"], bash("run", "--devices", "cpu", ":", "2", "len"))
        self.assertEqual([], bash("run", "lenet5", "--seed", "len"))


class Others(unittest.TestCase):
    def test_zsh_reads_its_own_and_has_every_option(self):
        if shutil.which("zsh"):
            self.assertEqual("", run("zsh", "-n", ZSH).stderr)
        for path, text in ALL:
            body = ZSH.read_text().partition("\n_" + "_".join(("strata", *path)) + "() {")[2]
            body = body.partition("\n}\n")[0]
            for names, takes_value in options(text):
                for name in names:
                    self.assertRegex(body, re.escape(name) + r"[=+]?[\[,}]", path)

    @unittest.skipUnless(shutil.which("zsh"), "there is no zsh")
    def test_zsh_completes_as_one_types(self):
        for typed, whole in (("strata pred", "strata predict "), ("strata show resnet15", "resnet152"),
                             ("strata predict lenet5 --clus", "--cluster="),
                             ("strata predict lenet5 --cluster k8", "k80-4x4"),
                             ("strata predict lenet5 --strategy data,ow", "data,owt")):
            self.assertIn(whole, zsh(typed), typed)

    @unittest.skipUnless(shutil.which("fish"), "there is no fish")
    def test_fish_offers_every_command_and_every_option(self):
        for path, text in ALL:
            wanted = {name for names, _ in options(text) for name in names}
            self.assertEqual(wanted, fish(" ".join(("strata", *path, "-"))), path)
            below = {name for name, _ in section(text, "Subcommands")}
            self.assertEqual(below, below & fish(" ".join(("strata", *path, ""))), path)

    @unittest.skipUnless(shutil.which("fish"), "there is no fish")
    def test_fish_offers_values(self):
        self.assertEqual({"ps", "ring", "tree", "hierarchical", "auto"},
                         fish("strata predict lenet5 --sync "))
        self.assertIn("data,owt", fish("strata predict lenet5 --strategy data,o"))
        self.assertIn("resnet152", fish("strata show res"))


def fish(line):
    with tempfile.TemporaryDirectory() as home:
        asked = run("fish", "--no-config", "-c", 'source $argv[1]; complete -C $argv[2]', FISH, line,
                    cwd=home, env=os.environ | {"HOME": home})
    assert asked.stderr == "", asked.stderr
    return {line.partition("\t")[0] for line in asked.stdout.splitlines()}


# A terminal of zsh's own, in which a line is typed, completed and printed.
ASK_ZSH = r"""
zmodload zsh/zpty
zpty -b asked zsh -f -i
zpty -w asked "PS1=; fpath=($1 \$fpath); autoload -Uz compinit; compinit -D -u"
zpty -w asked "print-line() { print -r -- \"<<\$BUFFER>>\"; }; zle -N print-line"
zpty -w asked "bindkey '^I' complete-word; bindkey '^X' print-line; unsetopt auto_menu auto_list"
zpty -w asked "print -r -- READY'!'"
until zpty -r asked line '*READY!*'; do :; done
zpty -n -w asked "$2"$'\t\x18'
zpty -r asked line '*>>*'
print -r -- $line
"""


def zsh(line):
    with tempfile.TemporaryDirectory() as home:
        asked = run("zsh", "-f", "-c", ASK_ZSH, "zsh", ZSH.parent, line, timeout=60,
                    cwd=home, env=os.environ | {"HOME": home, "TERM": "dumb"})
    return asked.stdout.rpartition("<<")[2]


if __name__ == "__main__":
    unittest.main()
