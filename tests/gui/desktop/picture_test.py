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

    def start(self, *arguments):
        """Without a display, and without a word of where to draw instead."""
        environment = os.environ | {"HOME": str(self.folder), "XDG_RUNTIME_DIR": str(self.folder)}
        for variable in ("DISPLAY", "WAYLAND_DISPLAY", "QT_QPA_PLATFORM"):
            environment.pop(variable, None)
        return subprocess.run([os.environ["STRATA_GUI"], *arguments], timeout=300,
                              cwd=self.folder, env=environment, capture_output=True, text=True)

    def draw(self, picture, *files):
        return self.start("--picture", picture, *files)

    def test_the_window_is_drawn_and_the_program_ends(self):
        drawn = self.draw("window.png", "net.toml")
        self.assertEqual(0, drawn.returncode, drawn.stderr)
        png = (self.folder / "window.png").read_bytes()
        self.assertEqual(b"\x89PNG\r\n\x1a\n", png[:8])
        self.assertEqual((1440, 900), struct.unpack(">II", png[16:24]))

    def test_a_window_without_a_display_is_refused(self):
        refused = self.start("net.toml")
        self.assertEqual(3, refused.returncode, refused.stderr)
        self.assertIn("strata-gui: error: no display", refused.stderr)

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
