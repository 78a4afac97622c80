"""What `cmake --install` leaves: a program that works under any prefix, every file in its place, and
a library that another project finds, compiles against and links.

BUILD is the build's folder, CMAKE the cmake that made it.
"""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["BUILD"])
CMAKE = os.environ["CMAKE"]
HERE = pathlib.Path(__file__).resolve().parent


def output(*command, **options):
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command}: exit {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def install(component, prefix, **options):
    output(CMAKE, "--install", BUILD, "--component", component, "--prefix", prefix, **options)


def files(folder):
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}


class Package(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))

    def test_the_command_and_what_belongs_to_it_have_their_places(self):
        install("strata", "/usr", env=os.environ | {"DESTDIR": str(self.folder)})
        there = files(self.folder / "usr")
        wanted = {
            "bin/strata", "share/man/man1/strata.1", "share/man/man1/strata-predict.1",
            "share/bash-completion/completions/strata", "share/zsh/site-functions/_strata",
            "share/fish/vendor_completions.d/strata.fish", "share/doc/strata/LICENSE",
            "share/doc/strata/docs/solve.md", "share/strata/scenarios/what-if.toml",
            "share/strata/profiles/p100.toml",
        }
        self.assertEqual(set(), wanted - there)
        self.assertEqual([], [name for name in there if "strata-gui" in name or name.endswith(".h")])

    def test_each_file_is_installed_once_so_that_the_list_takes_them_off(self):
        for component in ("strata", "libstrata-dev"):
            install(component, self.folder / component)
            installed = (BUILD / f"install_manifest_{component}.txt").read_text().splitlines()
            self.assertEqual(sorted(installed), sorted(str(self.folder / component / name)
                                                       for name in files(self.folder / component)))

    def test_an_installed_program_needs_nothing_of_its_build(self):
        install("strata", self.folder / "here")
        strata = self.folder / "here/bin/strata"
        self.assertNotRegex(output("readelf", "-d", strata), "RPATH|RUNPATH")
        scenario = self.folder / "here/share/strata/scenarios/what-if.toml"
        counted = output(strata, "sweep", scenario, "--dry-run", cwd=self.folder)
        self.assertIn("case", counted)
        output(strata, "predict", "lenet5", "--cluster", "p100-1x4", "--strategy", "data",
               cwd=self.folder)

    def test_another_project_finds_the_library_and_predicts_what_the_command_does(self):
        install("strata", self.folder / "prefix")
        install("libstrata-dev", self.folder / "prefix")
        build = self.folder / "build"
        output(CMAKE, "-S", HERE / "example", "-B", build, "-G", "Ninja",
               f"-DCMAKE_PREFIX_PATH={self.folder / 'prefix'}")
        output(CMAKE, "--build", build)
        predicted = dict(line.split() for line in output(build / "predict_step").splitlines())
        self.assertGreater(float(predicted["small"]), 0)
        command = json.loads(output(
            self.folder / "prefix/bin/strata", "predict", "lenet5", "--cluster", "p100-1x4",
            "--strategy", "data", "--json"))
        self.assertEqual(command["step_seconds"], float(predicted["lenet5"]))

    def test_a_project_that_asks_for_another_version_is_refused(self):
        install("libstrata-dev", self.folder / "prefix")
        (self.folder / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(other LANGUAGES CXX)\n"
            "find_package(strata 99 REQUIRED)\n")
        with self.assertRaisesRegex(AssertionError, r"compatible\s+with\s+requested\s+version"):
            output(CMAKE, "-S", self.folder, "-B", self.folder / "build", "-G", "Ninja",
                   f"-DCMAKE_PREFIX_PATH={self.folder / 'prefix'}")


if __name__ == "__main__":
    unittest.main()
