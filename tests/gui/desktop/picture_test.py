"""strata-gui --picture: the window as a file, from the command line, or no file and the reason."""

import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

NETWORK = """name = "small"
[[layer]]
name = "image"
op = "input"
shape = [3, 8, 8]
[[layer]]
name = "classes"
op = "fc"
out_features = 10
"""


class Picture(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "net.toml").write_text(NETWORK)

    def draw(self, picture, *files):
        environment = os.environ | {"QT_QPA_PLATFORM": "offscreen", "HOME": str(self.folder),
                                    "XDG_RUNTIME_DIR": str(self.folder)}
        return subprocess.run([os.environ["STRATA_GUI"], "--picture", picture, *files], timeout=300,
                              cwd=self.folder, env=environment, capture_output=True, text=True)

    def test_the_window_is_drawn_and_the_program_ends(self):
        drawn = self.draw("window.png", "net.toml")
        self.assertEqual(0, drawn.returncode, drawn.stderr)
        png = (self.folder / "window.png").read_bytes()
        self.assertEqual(b"\x89PNG\r\n\x1a\n", png[:8])
        self.assertEqual((1440, 900), struct.unpack(">II", png[16:24]))

    def test_what_cannot_be_drawn_leaves_no_file(self):
        (self.folder / "bad.toml").write_text(NETWORK.replace("10", "-10"))
        for picture, file, reason, code in (
                ("window.jpg", "net.toml", "window.jpg: unknown kind of picture; allowed: .png", 2),
                ("window.png", "bad.toml", "bad.toml:6: layer classes", 2),
                ("none/window.png", "net.toml", "none/window.png: cannot be written", 3)):
            drawn = self.draw(picture, file)
            self.assertEqual(code, drawn.returncode, drawn.stderr)
            self.assertIn("strata-gui: error: ", drawn.stderr)
            self.assertIn(reason, drawn.stderr)
            self.assertFalse((self.folder / picture).exists())


if __name__ == "__main__":
    unittest.main()
