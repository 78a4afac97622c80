"""`strata import` from end to end: what it writes is a cluster to predict on, or a profile to predict
with."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import cases

SOURCES = pathlib.Path(__file__).resolve().parents[1] / "sim" / "importers" / "topology"


def strata(*arguments, stdin=None):
    return subprocess.run([cases.program(), *map(str, arguments)], input=stdin,
                          stdin=None if stdin else subprocess.DEVNULL, capture_output=True,
                          text=True, timeout=cases.SECONDS)


def without_comments(text):
    return [line for line in text.splitlines() if not line.startswith("#")]


class Import(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def imported(self, *arguments):
        """The file that an import wrote, and what it said."""
        file = self.folder / "c.toml"
        done = strata("import", "cluster", *arguments, "-o", file)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout, "")
        return file, done.stderr

    def predicted(self, file):
        done = strata("predict", "alexnet", "--cluster", file, "--strategy", "data", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_every_source_is_a_cluster_to_predict_on(self):
        for name, arguments, devices in [
                ("dgx1.nccl.xml", ["--kind", "p100"], 8),
                ("dgx-a100.nccl.xml", ["--hosts", "2"], 16),
                ("dgx-h100.nccl.xml", [], 8),
                ("dgx1.smi.txt", ["--kind", "p100", "--bandwidth", "100 Gb/s"], 8),
                ("pcie-box.smi.txt", ["--kind", "p100"], 6),
                ("gpus.hwloc.xml", [], 3)]:
            with self.subTest(name):
                file, _ = self.imported(SOURCES / name, *arguments)
                answer = self.predicted(file)
                self.assertEqual(answer["devices"], devices)
                self.assertGreater(answer["step_seconds"], 0)

    def test_a_tree_of_switches_is_a_cluster_to_predict_on(self):
        tree = self.folder / "topology.conf"
        tree.write_text("SwitchName=s0 Nodes=n[1-2]\nSwitchName=s1 Nodes=n[3-4]\n"
                        "SwitchName=top Switches=s[0-1]\n")
        arguments = [tree, "--node", "p100-1x4", "--bandwidth", "100 Gb/s"]
        wide = self.predicted(self.imported(*arguments)[0])
        narrow = self.predicted(self.imported(*arguments, "--uplink", "1 GB/s")[0])
        self.assertEqual(wide["devices"], 16)
        self.assertGreater(narrow["step_seconds"], 2 * wide["step_seconds"])

    def test_nvlinks_are_worth_having(self):
        with_links, _ = self.imported(SOURCES / "dgx1.nccl.xml", "--kind", "p100")
        fast = self.predicted(with_links)["step_seconds"]
        text = (SOURCES / "dgx1.nccl.xml").read_text()
        bare = self.folder / "bare.xml"
        bare.write_text("".join(line for line in text.splitlines(True) if "<nvlink" not in line))
        slow = self.predicted(self.imported(bare, "--kind", "p100")[0])["step_seconds"]
        self.assertGreater(slow, fast)

    def test_standard_output_and_input_will_do(self):
        source = SOURCES / "dgx-h100.nccl.xml"
        file, said = self.imported(source, "--name", "mine")
        done = strata("import", "cluster", "-", "--name", "mine", stdin=source.read_text())
        written = file.read_text()
        self.assertEqual(without_comments(done.stdout), without_comments(written))
        note = "taken for kind 'h100'; --kind says otherwise"
        self.assertIn(note, said)
        self.assertIn(note, written)

    def test_a_source_of_any_name_gives_a_file_that_reads_back(self):
        source = self.folder / "na\tme\n\u00e9.xml"
        source.write_bytes((SOURCES / "pcie-box.nccl.xml").read_bytes())
        file, _ = self.imported(source, "--name", "any")
        self.assertEqual(self.predicted(file)["devices"], 6)

    def test_names_of_files_that_are_not_utf8(self):
        source = os.fsencode(self.folder / "a") + b"\xff.xml"
        with open(source, "wb") as file:
            file.write((SOURCES / "dgx1.nccl.xml").read_bytes())
        done = strata("import", "cluster", os.fsdecode(source))
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("the file's name is not UTF-8", done.stderr)
        done = subprocess.run([cases.program(), "import", "cluster", source, "--name", "any",
                               "--json"], capture_output=True, timeout=cases.SECONDS)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("a\ufffd.xml: ", json.loads(done.stdout.decode())["notes"][0])

    def test_json_lists_what_was_found(self):
        done = strata("import", "cluster", SOURCES / "dgx1.nccl.xml", "--json")
        answer = json.loads(done.stdout)
        self.assertEqual([device["name"] for device in answer["devices"]],
                         [f"gpu{i}" for i in range(8)])
        nvlinks = [link for link in answer["links"] if link["kind"] == "nvlink"]
        self.assertEqual(len(nvlinks), 32)
        self.assertEqual(sum(link["bandwidth_bytes_per_second"] for link in nvlinks),
                         8 * 6 * 20e9)
        self.assertEqual(len(answer["notes"]), 1)

    def test_this_machine(self):
        done = strata("import", "cluster", "--here", "--json")
        if "hwloc" not in strata("--version").stdout:
            self.assertEqual(done.returncode, 3)
            self.assertIn("this build has no libhwloc", done.stderr)
            return
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual(answer["name"], "this-machine")
        self.assertGreaterEqual(len(answer["devices"]), 1)
        self.assertTrue(all(device["kind"] for device in answer["devices"]))


class ImportProfile(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        rows = [f"{m},{n},{k},{0.01 + m * n * k * 2e-12}" for m in (64, 128, 256, 512)
                for n in (64, 256, 1024) for k in (64, 256, 1024)]
        (self.folder / "gemm.csv").write_text("\n".join(["m,n,k,ms", *rows]) + "\n")

    def imported(self, *arguments):
        done = strata("import", "profile", *arguments, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_rows_become_costs(self):
        file = self.folder / "mine.toml"
        answer = self.imported("--kind", "p100", "-o", file, "--source", "a lab", "--licence", "MIT",
                               "--tolerance", "0", self.folder / "gemm.csv")
        self.assertEqual([(t["kernel"], t["rows_read"], t["rows_kept"]) for t in answer["tables"]],
                         [("product", 36, 36)])
        self.assertIn('source = "a lab"', file.read_text())
        self.assertEqual(len((self.folder / "mine.product-fp32.csv").read_text().splitlines()), 37)
        done = strata("predict", "lenet5", "--cluster", "p100-1x1", "--strategy", "data", "--batch", "256",
                      "--profile", file, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        sources = json.loads(done.stdout)["cost_sources"]
        self.assertGreater(sources["measured"] + sources["interpolated"], 0)
        self.assertGreater(sources["related"], 0)
        self.assertAlmostEqual(sum(sources.values()), 1)

    def test_thinned_rows_predict_the_others(self):
        file = self.folder / "mine.toml"
        kept = self.imported("--kind", "p100", "-o", file, "--tolerance", "5",
                             "--source", "a lab", self.folder / "gemm.csv")["tables"][0]
        self.assertLess(kept["rows_kept"], kept["rows_read"])
        check = self.imported("--kind", file, "--check", self.folder / "gemm.csv")["tables"][0]
        self.assertEqual(check["kept"]["rows"], 36)
        own = self.imported("--kind", file, "--check")["tables"][0]
        self.assertEqual(own["left_out"]["rows"], kept["rows_kept"])

    def test_says_what_became_of_rows(self):
        file, again = self.folder / "mine.toml", self.folder / "again.toml"
        text = (self.folder / "gemm.csv").read_text()
        (self.folder / "twice.csv").write_text("\ufeff m, n ,k,\tms\r\n" + text.split("\n", 1)[1] + "64,64,64,1\n")
        arguments = ("--source", "a lab", "--tolerance", "0", self.folder / "twice.csv")
        table = self.imported("--kind", "p100", "-o", file, *arguments)["tables"][0]
        self.assertEqual((table["rows_read"], table["rows_repeated"]), (36, 1))
        self.assertNotIn("rows_replaced", table)
        self.assertIn("1 row more of the same shapes", file.read_text())
        table = self.imported("--kind", file, "-o", again, *arguments)["tables"][0]
        self.assertEqual(table["rows_replaced"], 36)


if __name__ == "__main__":
    unittest.main()
