"""Reports and queries as their users read them: what is missing is said, cases are told apart, what
goes wrong stands in its place, and a folder holds one report."""

import json
import os
import pathlib
import sqlite3
import subprocess
import tempfile
import unittest

STRATA = os.environ["STRATA"]

# Six cases of one network, cluster and strategy.
SPEEDS = """
name = "speeds"
[[sweep]]
name = "slower"
model = "lenet5"
cluster = "p100-1x2"
strategy = "data"
batch = [8, 16]
[sweep.set]
"device.gpu1.speed" = [0.25, 0.5, 1]
"""
TWO = """
name = "two"
[[sweep]]
model = "lenet5"
cluster = "p100-1x2"
strategy = ["data", "model"]
"""


class Folder(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = pathlib.Path(holder.name)

    def strata(self, *words):
        return subprocess.run([STRATA, *words], cwd=self.folder, check=False, capture_output=True,
                              text=True)

    def said(self, *words):
        done = self.strata(*words)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def sweep(self, text, *flags, name="s.toml"):
        (self.folder / name).write_text(text)
        self.said("sweep", name, "--db", "s.db", *flags)

    def read(self, name):
        return (self.folder / name).read_text()

    def rows(self, *words):
        return json.loads(self.said("query", "s.db", *words, "--json"))["rows"]

    def change(self, sql):
        """What another version of Strata may have stored."""
        database = sqlite3.connect(self.folder / "s.db")
        database.execute(sql)
        database.commit()
        database.close()


class Query(Folder):
    def test_shows_in_what_cases_differ(self):
        self.sweep(SPEEDS)
        expected = [f"batch {batch}, device.gpu1.speed={speed}"
                    for batch in (8, 16) for speed in ("0.25", "0.5", "1")]
        self.assertEqual([row["varies"] for row in self.rows("--scenario", "speeds")], expected)
        every = self.rows()
        self.assertEqual([row["varies"] for row in every], expected)
        self.assertEqual({row["sweep"] for row in every}, {"slower"})

    def test_heads_columns_with_the_names_that_sql_has(self):
        self.sweep(TWO)
        self.assertEqual(self.said("query", "s.db").splitlines()[0].split(),
                         "sweep job model cluster strategy varies step_seconds comm_bytes "
                         "peak_memory_bytes error".split())

    def test_names_the_columns_there_are(self):
        self.sweep(TWO)
        done = self.strata("query", "s.db", "SELECT speed FROM progress")
        self.assertEqual((done.returncode, done.stderr), (
            2, "strata: error: s.db: no such column: speed; progress has: scenario, file, sweep, "
            "cases, answered, failed, missing\n"))


class Report(Folder):
    def test_says_how_much_is_answered(self):
        self.sweep(SPEEDS, "--shard", "1/2")
        note = ("3 of 6 cases are answered; the rest is missing from what follows: strata sweep "
                "s.toml --db s.db goes on")
        done = self.strata("report", "s.db")
        self.assertEqual((done.returncode, done.stderr), (0, f"strata: warning: {note}\n"))
        self.assertIn(f'<h1>speeds</h1>\n<p class="note">{note}</p>', self.read("report/report.html"))
        self.assertTrue(self.read("report/report.md").startswith(f"# speeds\n\n> {note}\n\n"))
        self.sweep(SPEEDS)
        self.said("report", "s.db")
        self.assertNotIn("answered;", self.read("report/report.md"))

    def test_tells_cases_apart(self):
        self.sweep(SPEEDS)
        self.said("report", "s.db")
        page = self.read("report/report.md")
        self.assertIn("| model | cluster | batch | strategy | varies | step | peak_memory |", page)
        self.assertIn("| batch 8, device.gpu1.speed=0.25 | data |", page)

    def test_draws_what_it_can_beside_a_section_that_it_cannot(self):
        sections = """
[[report]]
title = "Broken"
sql = "SELECT json_extract(model, '$') FROM cases"
[[report]]
title = "Steps"
sql = "SELECT strategy FROM cases ORDER BY ordinal"
[[report]]
title = "Claims"
[[report.claim]]
text = "A text is a number."
said = 1
sql = "SELECT strategy FROM cases LIMIT 1"
[[report.claim]]
text = "There are two."
said = 2
sql = "SELECT count(*) FROM cases"
"""
        self.sweep(TWO + sections)
        done = self.strata("report", "s.db")
        self.assertEqual(done.returncode, 1)
        lines = done.stderr.splitlines()
        self.assertRegex(lines[0], r"^strata: error: \S*two\.toml:\d+: report 'Broken': s.db: "
                                   "malformed JSON$")
        self.assertRegex(lines[1], r"^strata: error: \S*two\.toml:\d+: report 'Claims': claim 'A "
                                   "text is a number.': a claim's sql must give a number; it gives "
                                   "'data'$")
        self.assertEqual(len(lines), 2)
        page = self.read("report/report.md")
        self.assertIn("> Error: two.toml:", page)
        self.assertIn("| data |\n| model |", page)
        self.assertIn("| There are two. | 2 | 2 |", page)
        self.assertIn('<p class="error">Error: two.toml:', self.read("report/report.html"))

    def test_lists_searches_that_found_nothing(self):
        (self.folder / "s.toml").write_text(
            'name = "s"\n[[sweep]]\njob = "solve"\nmodel = "lenet5"\ncluster = "p100-1x2"\n'
            'memory_limit = ["1 KiB", "8 GiB"]\n')
        self.strata("sweep", "s.toml", "--db", "s.db")
        self.strata("report", "s.db")
        page = self.read("report/report.md")
        self.assertRegex(page, r"## Cases without an answer\n(.*\n)*\| lenet5 \|.*1 KiB")
        # Earlier versions called it done.
        self.change("UPDATE result SET done = 1, error = '' WHERE eq1_seconds IS NULL")
        self.strata("report", "s.db")
        page = self.read("report/report.md")
        self.assertRegex(page, r"## Cases without an answer\n(.*\n)*\| lenet5 \|.*1 KiB \| no "
                               "strategy fits into the memory")

    def test_takes_the_place_of_an_earlier_one(self):
        tables = '\n[[report]]\ntitle = "{}"\nsql = "SELECT model FROM cases"\n'
        self.sweep(TWO + tables.format("First") + tables.format("Second") + tables.format("Third"))
        self.said("report", "s.db", "-o", "out")
        out = self.folder / "out"
        (out / "03-mine.csv").write_text("a,b\n")
        (out / "03-third.csv").write_text("changed since\n")
        with (out / "report.files").open("a") as names:
            names.write("0" * 32 + "  03-mine.csv\n" + "0" * 32 + "  ../s.toml\nodd\n")
        self.sweep(TWO + tables.format("Other"))
        self.said("report", "s.db", "-o", "out")
        self.assertEqual(sorted(path.name for path in out.iterdir()),
                         ["01-other.csv", "03-mine.csv", "03-third.csv", "report.files",
                          "report.html", "report.md"])
        self.assertTrue((self.folder / "s.toml").exists())

    def test_says_one_for_one(self):
        self.sweep(TWO.replace(', "model"', "") + '[[report]]\ntitle = "A"\ntext = "B"\n')
        self.assertEqual(self.said("report", "s.db"),
                         "two: 1 section in report/report.html, report.md and CSV files\n")
        self.assertIn("1 case, answered", self.read("report/report.html"))

    def test_sets_strategies_side_by_side(self):
        self.sweep(TWO)
        self.said("report", "s.db", "--strategies", "data,model")
        self.assertIn("## data beside model", self.read("report/report.md"))


if __name__ == "__main__":
    unittest.main()
