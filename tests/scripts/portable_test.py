"""What scripts/portable packs, and what it says of the archive's size, with programs and packages that
are small."""

import os
import pathlib
import shutil
import subprocess
import tarfile
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parent.parent.parent / "scripts" / "portable"
PROGRAMS = ("strata", "exec_cuda_gpu_test", "exec_cuda_gpu_networks_test", "exec_cuda_gpu_overheads")
TOOLS = {"dpkg": "#!/bin/sh\necho /usr/include/stdio.h\n", "strip": "#!/bin/sh\ncp \"$3\" \"$2\"\n"}


class Portable(unittest.TestCase):
    def setUp(self):
        temporary = tempfile.TemporaryDirectory()
        self.addCleanup(temporary.cleanup)
        self.folder = pathlib.Path(temporary.name)
        self.file = self.folder / "out" / "portable.tar.xz"
        for program in PROGRAMS:
            (self.folder / "build" / "bin").mkdir(parents=True, exist_ok=True)
            shutil.copy("/bin/true", self.folder / "build" / "bin" / program)
        for name, text in TOOLS.items():
            (self.folder / name).write_text(text)
            (self.folder / name).chmod(0o755)

    def pack(self, **variables):
        return subprocess.run(
            [SCRIPT, self.file], text=True, capture_output=True,
            env={**os.environ, "PATH": f"{self.folder}:{os.environ['PATH']}",
                 "STRATA_PORTABLE_BUILD": str(self.folder / "build"), **variables})

    def test_it_says_how_large_the_archive_is(self):
        done = self.pack()
        self.assertEqual(done.returncode, 0, done.stderr)
        first = done.stdout.splitlines()[0]
        self.assertEqual(first, f"{self.file}: {self.file.stat().st_size / 2**20:.1f} MiB, of 50.0 MiB allowed")
        with tarfile.open(self.file) as archive:
            names = archive.getnames()
        for program in PROGRAMS:
            self.assertIn(f"bin/{program}", names)
        self.assertIn("prefix/usr/include/stdio.h", names)

    def test_one_that_is_too_large_fails_and_stays(self):
        done = self.pack(STRATA_PORTABLE_MIB="0")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "^scripts/portable: error: .*portable.tar.xz has 0.. MiB; allowed: 0.0 MiB\n$")
        self.assertTrue(self.file.exists())


if __name__ == "__main__":
    unittest.main()
