"""Sweeps as their users have them: every case once, whatever is killed and however many work on a
database; the same rows whatever the threads; and reports of them. No time is tested."""

import contextlib
import json
import os
import pathlib
import random
import resource
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import unittest

from json_test import said

STRATA = os.environ["STRATA"]
# Where all is tested 200 of one sweep and 1,000 of four, of 2,002 cases.
KILLS = int(os.environ.get("STRATA_KILLS", "12"))
SPEEDS = 111 if KILLS >= 100 else 55

SMALL = """
name = "small"
[[sweep]]
name = "speeds"
model = "lenet5"
cluster = ["p100-1x1", "p100-1x2", "p100-2x2"]
strategy = ["data", "model", "eq1"]
batch_per_device = [8, 16]
[sweep.set]
"device.gpu0.speed" = { from = 0.25, to = 1, count = %d }
[[sweep]]
name = "solves"
job = "solve"
model = ["lenet5", "alexnet"]
cluster = "p100-1x2"
memory_limit = ["1 GiB", "8 GiB"]
"""
# All but what is measured and where it was.
ROWS = """
SELECT hex(key), job, model, cluster, strategy, sync, dtype, devices, batch, settings, done, error,
  step_seconds, eq1_seconds, throughput, comm_bytes, transfer_bytes, sync_bytes, peak_memory_bytes,
  fits, measured_share, interpolated_share, analytic_share, optimal, lower_bound_seconds,
  final_nodes, max_configs FROM result ORDER BY key"""


def rows(database, sql=ROWS):
    with contextlib.closing(sqlite3.connect(database)) as connection:
        return connection.execute(sql).fetchall()


def write(folder, name, text):
    path = pathlib.Path(folder) / name
    path.write_text(text)
    return path


def start(folder, *arguments, limit=None):
    """`limit`: the bytes that a file of its may have."""
    def restrict():
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
    return subprocess.Popen([STRATA, "sweep", *arguments], cwd=folder, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, preexec_fn=None if limit is None else restrict)


class Writers:
    """Four sweeps of one database, each of which begins again whenever it ends."""

    def __init__(self, folder, order, cases):
        self.folder, self.order, self.cases = pathlib.Path(folder), order, cases
        self.database = f"{folder}/small.db"
        self.killed = self.full = self.sweeps = 0
        self.unexpected = []
        self.seen = {}
        self.crew = [start(folder, "small.toml") for _ in range(4)]

    def size(self):
        return os.path.getsize(self.database) if os.path.exists(self.database) else 0

    def start(self):
        limit = None
        if self.order.random() < 0.2:
            limit = self.size() + self.order.randrange(1 << 17)
        return start(self.folder, "small.toml", limit=limit)

    def disturb(self):
        """Kills a writer, where it does not end by itself, and starts another in its place."""
        i = self.order.randrange(4)
        full = self.fill() if self.order.random() < 0.1 else None
        try:
            self.note_end(self.crew[i], *self.crew[i].communicate(
                timeout=self.order.uniform(0.01, 0.15)))
        except subprocess.TimeoutExpired:
            self.crew[i].send_signal(signal.SIGKILL)
            self.crew[i].communicate()
            self.killed += 1
        if full is not None:
            full.unlink()
        self.crew[i] = self.start()

    def fill(self):
        """A file that leaves a few pages of a small disk, or none; nothing on any other disk."""
        if "STRATA_SMALL_DISK" not in os.environ:
            return None
        ballast = self.folder / "ballast"
        free = shutil.disk_usage(self.folder).free
        with contextlib.suppress(OSError):
            ballast.write_bytes(bytes(max(0, free - self.order.randrange(1 << 16))))
        return ballast

    def note_end(self, process, _, errors):
        if process.returncode == 3 and b"error: small.db: " in errors:
            self.full += 1
        elif process.returncode != 0:
            self.unexpected.append((process.returncode, errors))

    def lost(self):
        """Keys of rows that were there and are not, or are others now."""
        if self.size() == 0:
            return []
        now = {row[0]: row for row in rows(self.database)}
        gone = [key for key, row in self.seen.items() if now.get(key) != row]
        self.seen = now
        return gone

    def end_of_a_sweep(self):
        count = "SELECT count(*) FROM result"
        return self.size() > 0 and rows(self.database, count) == [(self.cases,)]

    def wait(self):
        for process in self.crew:
            self.note_end(process, *process.communicate())

    def begin_again(self):
        self.wait()
        for file in self.folder.glob("small.db*"):
            file.unlink()
        self.sweeps += 1
        self.seen = {}
        self.crew = [self.start() for _ in range(4)]


class Sweep(unittest.TestCase):
    def test_counts_answers_and_goes_on(self):
        with tempfile.TemporaryDirectory() as folder:
            write(folder, "small.toml", SMALL % 2)
            self.assertEqual(said("strata sweep small.toml --dry-run --json", folder)["cases"], 40)
            self.assertFalse((pathlib.Path(folder) / "small.db").exists())
            done = said("strata sweep small.toml --json", folder)
            self.assertEqual((done["before"], done["done"], done["failed"]), (0, 40, 0))
            again = said("strata sweep small.toml --json", folder)
            self.assertEqual((again["before"], again["done"]), (40, 0))
            write(folder, "small.toml", SMALL % 3)  # 0.25, 0.625, 1
            more = said("strata sweep small.toml --json", folder)
            self.assertEqual((more["before"], more["done"]), (40, 18))

    def test_rows_do_not_depend_on_threads_or_shards(self):
        with tempfile.TemporaryDirectory() as folder:
            write(folder, "small.toml", SMALL % 3)
            for threads in (1, 3):
                said(f"strata sweep small.toml --db {threads}.db -j {threads} --json", folder)
            for shard in (1, 2, 3):
                said(f"strata sweep small.toml --db s{shard}.db --shard {shard}/3 --json", folder)
            subprocess.run([STRATA, "merge", "all.db", "s1.db", "s2.db", "s3.db"], cwd=folder,
                           check=True, stdout=subprocess.DEVNULL)
            expected = rows(f"{folder}/1.db")
            self.assertEqual(len(expected), 58)
            self.assertEqual(rows(f"{folder}/3.db"), expected)
            self.assertEqual(rows(f"{folder}/all.db"), expected)

    def check_whole(self, database, cases):
        self.assertEqual(rows(database, "SELECT count(*), count(DISTINCT key) FROM result"),
                         [(cases, cases)])
        self.assertEqual(rows(database, "PRAGMA integrity_check"), [("ok",)])

    def test_kills_lose_nothing_and_double_nothing(self):
        seed = random.randrange(1 << 30)
        print(f"seed {seed}")
        order = random.Random(seed)
        with tempfile.TemporaryDirectory() as folder:
            write(folder, "small.toml", SMALL % SPEEDS)  # 18 predictions each, and 4 solves
            cases = 18 * SPEEDS + 4
            database = f"{folder}/small.db"
            killed = 0
            while killed < KILLS:
                process = start(folder, "small.toml")
                try:
                    process.communicate(timeout=order.uniform(0.01, 0.25))
                    self.check_whole(database, cases)
                    os.remove(database)
                except subprocess.TimeoutExpired:
                    process.send_signal(signal.SIGKILL)
                    process.communicate()
                    killed += 1
            last = said("strata sweep small.toml --json", folder)
            self.assertEqual(last["before"] + last["done"], cases)
            self.check_whole(database, cases)
            said("strata sweep small.toml --db whole.db --json", folder)
            self.assertEqual(rows(database), rows(f"{folder}/whole.db"))

    def test_four_writers_survive_kills_and_a_full_disk(self):
        """At random moments one of four writers is killed, may write no more than a few pages, or,
        where STRATA_SMALL_DISK names a folder on a small disk of its own, finds that full."""
        seed = random.randrange(1 << 30)
        print(f"seed {seed}")
        order = random.Random(seed)
        with tempfile.TemporaryDirectory(dir=os.environ.get("STRATA_SMALL_DISK")) as folder:
            write(folder, "small.toml", SMALL % SPEEDS)
            writers = Writers(folder, order, 18 * SPEEDS + 4)
            while writers.killed < KILLS:
                writers.disturb()
                if writers.killed % 10 == 0:
                    self.assertEqual(writers.lost(), [])
                if writers.end_of_a_sweep():
                    self.check_whole(writers.database, writers.cases)
                    writers.begin_again()
            writers.wait()
            print(f"{writers.killed} killed, {writers.full} found no space, {writers.sweeps} sweeps")
            self.assertEqual(writers.unexpected, [])
            last = said("strata sweep small.toml --json", folder)
            self.assertEqual(last["before"] + last["done"], writers.cases)
            self.assertEqual(writers.lost(), [])
            self.check_whole(writers.database, writers.cases)
            for table in ("claim", "owner"):  # nothing stale
                self.assertEqual(rows(writers.database, f"SELECT count(*) FROM {table}"), [(0,)])
            said("strata sweep small.toml --db whole.db --json", folder)
            self.assertEqual(rows(writers.database), rows(f"{folder}/whole.db"))

    def test_four_processes_share_a_database(self):
        with tempfile.TemporaryDirectory() as folder:
            write(folder, "small.toml", SMALL % 20)
            crew = [start(folder, "small.toml", "--json", "-j", "1") for _ in range(4)]
            counts = [json.loads(process.communicate()[0]) for process in crew]
            self.assertEqual([process.returncode for process in crew], [0] * 4)
            self.assertEqual(sum(count["done"] for count in counts), 364)
            database = f"{folder}/small.db"
            self.assertEqual(rows(database, "SELECT count(*) FROM result"), [(364,)])
            self.assertEqual(rows(database, "PRAGMA integrity_check"), [("ok",)])

    def test_what_cannot_be_answered_is_a_row(self):
        with tempfile.TemporaryDirectory() as folder:
            write(folder, "odd.toml", 'name = "odd"\n[[sweep]]\nmodel = "lenet5"\n'
                  'cluster = ["p100-1x1", "p100-1x2"]\nstrategy = "data"\n'
                  '[sweep.set]\n"link.intra.bandwidth" = ["2x", "1x"]\n')
            process = subprocess.run([STRATA, "sweep", "odd.toml"], cwd=folder, check=False,
                                     capture_output=True, text=True)
            # One device has no links: wrong by itself, so it is found before anything is stored.
            self.assertEqual(process.returncode, 2)
            self.assertIn("odd.toml:", process.stderr)
            self.assertFalse((pathlib.Path(folder) / "odd.db").exists())

    def test_a_search_without_a_strategy_is_a_failure(self):
        with tempfile.TemporaryDirectory() as folder:
            write(folder, "tight.toml", '[[sweep]]\njob = "solve"\nmodel = "lenet5"\n'
                  'cluster = "p100-1x2"\nmemory_limit = "1 KiB"\n')
            process = subprocess.run([STRATA, "sweep", "tight.toml"], cwd=folder, check=False,
                                     capture_output=True, text=True)
            self.assertEqual(process.returncode, 1)
            [(done, error)] = rows(f"{folder}/tight.db", "SELECT done, error FROM result")
            self.assertEqual(done, 0)
            self.assertIn("no strategy within memory_limit 1024 (1.02 kB)", error)

    def test_an_empty_file_becomes_the_database(self):
        with tempfile.TemporaryDirectory() as folder:
            write(folder, "small.toml", SMALL % 2)
            (pathlib.Path(folder) / "made.db").touch()
            dry = said("strata sweep small.toml --db made.db --dry-run --json", folder)
            self.assertEqual((dry["cases"], dry["before"]), (40, 0))
            self.assertEqual(said("strata sweep small.toml --db made.db --json", folder)["done"], 40)

    def test_runs_are_swept_and_reported(self):
        with tempfile.TemporaryDirectory() as folder:
            write(folder, "real.toml", 'name = "real"\n[[sweep]]\njob = "run"\nmodel = "lenet5"\n'
                  'devices = ["cpu:1", "cpu:2"]\nbatch = 8\nstrategy = "data"\nsteps = 3\n')
            self.assertEqual(said("strata sweep real.toml --json", folder)["done"], 2)
            measured = said('strata query real.db "SELECT measured_seconds, moved_bytes, comm_bytes '
                            'FROM runs ORDER BY devices" --json', folder)["rows"]
            self.assertEqual(len(measured), 2)
            for row in measured:
                self.assertGreater(row["measured_seconds"], 0)
                self.assertEqual(row["moved_bytes"], row["comm_bytes"])


class Report(unittest.TestCase):
    def test_draws_what_is_there(self):
        with tempfile.TemporaryDirectory() as folder:
            write(folder, "small.toml", SMALL % 2)
            said("strata sweep small.toml --json", folder)
            done = subprocess.run([STRATA, "report", "small.db", "--strategies", "data,eq1",
                                   "-o", "out"], cwd=folder, check=True, capture_output=True,
                                  text=True)
            self.assertIn("sections in out/report.html", done.stdout)
            page = (pathlib.Path(folder) / "out" / "report.html").read_text()
            for part in ("<svg", "Throughput", "Time against memory", "Solver times",
                         "data beside eq1"):
                self.assertIn(part, page)
            self.assertNotIn("http://", page.replace("http://www.w3.org", ""))
            self.assertTrue(list((pathlib.Path(folder) / "out").glob("*.csv")))

    def test_compares_two_databases(self):
        with tempfile.TemporaryDirectory() as folder:
            write(folder, "small.toml", SMALL % 2)
            for name in ("a", "b"):
                said(f"strata sweep small.toml --db {name}.db --json", folder)
            subprocess.run([STRATA, "report", "a.db", "b.db", "-o", "out"], cwd=folder, check=True,
                           stdout=subprocess.DEVNULL)
            self.assertIn("a.db beside b.db", (pathlib.Path(folder) / "out/report.md").read_text())


if __name__ == "__main__":
    unittest.main()
