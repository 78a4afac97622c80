"""The wheel works where nothing of Strata's build is: in a fresh environment, without a compiler.

Makes the wheel by scripts/wheel, unless STRATA_WHEEL names one. Exits with 77 where that is not to
be had, without PyPI for example.
"""

import glob
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
NOT_ABLE = 3


def made_wheel():
    """Its path, or None where this machine lacks what makes it."""
    if "STRATA_WHEEL" in os.environ:
        return pathlib.Path(os.environ["STRATA_WHEEL"]).resolve()
    folder = tempfile.mkdtemp()
    done = subprocess.run([ROOT / "scripts" / "wheel", folder])
    if done.returncode == NOT_ABLE:
        return None
    done.check_returncode()
    return pathlib.Path(glob.glob(f"{folder}/strata-*.whl")[0])


class Wheel(unittest.TestCase):
    wheel = None

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.folder.cleanup)
        fresh = pathlib.Path(cls.folder.name) / "fresh"
        python = os.environ.get("PYTHON", "/usr/bin/python3")
        subprocess.run([python, "-m", "venv", fresh], check=True)
        cls.bin = fresh / "bin"
        # Neither compilers nor libraries' folders: what the wheel needs, it has.
        cls.environment = {"PATH": str(cls.bin), "HOME": cls.folder.name, "LANG": "C.UTF-8"}
        cls.output(cls.bin / "pip", "install", "-q", "--no-index", cls.wheel)

    @classmethod
    def output(cls, *command):
        return subprocess.run([str(word) for word in command], env=cls.environment, text=True,
                              cwd=cls.folder.name, stdout=subprocess.PIPE, check=True).stdout

    def python(self, code):
        return json.loads(self.output(self.bin / "python", "-c",
                                      f"import json, strata\nprint(json.dumps({code}))"))

    def test_the_name_says_what_it_runs_on(self):
        self.assertRegex(self.wheel.name, r"^strata-[0-9.]+-cp3\d+-cp3\d+-manylinux_2_\d+_x86_64")

    def test_it_holds_its_libraries_and_no_others(self):
        names = zipfile.ZipFile(self.wheel).namelist()
        self.assertTrue(any(name.startswith("strata.libs/libdnnl") for name in names))
        for word in ("Qt", "cudart", "cudnn", "libmpi", "libc.so", "libpthread"):
            self.assertEqual([name for name in names if word in name], [])

    def test_questions(self):
        step = self.python('strata.predict("vgg16", cluster="p100-4x4", strategy="owt").to_dict()')
        self.assertEqual((step["devices"], step["strategy"]), (16, "owt"))
        self.assertEqual(self.python(
            'len(strata.run("lenet5", devices="cpu:1", batch=4, steps=2).losses)'), 2)
        self.assertGreater(self.python('strata.solve("lenet5", cluster="p100-1x2").step_seconds'),
                           0)

    def test_the_command(self):
        said = self.output(self.bin / "strata", "--version")
        self.assertIn("onnx", said)
        printed = json.loads(self.output(
            self.bin / "strata", "predict", "vgg16", "--cluster", "p100-4x4", "--strategy", "owt",
            "--json"))
        self.assertEqual(printed, self.python(
            'strata.predict("vgg16", cluster="p100-4x4", strategy="owt").to_dict()'))

    def test_the_commands_exit_code(self):
        done = subprocess.run([self.bin / "strata", "predict", "nothing"], env=self.environment,
                              stderr=subprocess.PIPE, text=True)
        self.assertEqual(done.returncode, 2)
        self.assertIn("strata: error: ", done.stderr)


if __name__ == "__main__":
    Wheel.wheel = made_wheel()
    if Wheel.wheel is None:
        print("skipped: scripts/wheel cannot make a wheel here")
        sys.exit(77)
    unittest.main()
