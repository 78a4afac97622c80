"""The manual page of the desktop program has every option of its --help, and is without fault."""

import os
import re
import shutil
import subprocess
import unittest

PAGE = os.environ["PAGE"]


def output(*command, **options):
    return subprocess.run(command, capture_output=True, text=True, **options)


class Manual(unittest.TestCase):
    def test_the_page_has_every_option(self):
        text = output(os.environ["STRATA_GUI"], "--help").stdout
        options = re.findall(r"(?<=[ \n])(--?[a-z][a-z-]*)(?=[ ,\n])", text.partition("Options:")[2])
        self.assertLessEqual({"-h", "--help", "--help-all", "-v", "--version"}, set(options))
        with open(PAGE, encoding="utf-8") as file:
            page = file.read().replace("\\-", "-")
        for option in options:
            self.assertIn(f"\\fB{option}\\fR", page)

    @unittest.skipUnless(shutil.which("man"), "there is no man")
    def test_the_page_is_without_fault(self):
        shown = output("man", "--warnings", "-E", "UTF-8", "-l", "-Tutf8", "-Z", PAGE)
        self.assertEqual(("", 0), (shown.stderr, shown.returncode))
        if shutil.which("mandoc"):
            self.assertEqual("", output("mandoc", "-T", "lint", "-W", "warning", PAGE).stdout)


if __name__ == "__main__":
    unittest.main()
