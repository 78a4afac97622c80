"""The command `strata`, of a package that was installed by pip: the program that lies beside."""

import os
import sys

PROGRAM = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "strata")


def main() -> None:
    try:
        os.execv(PROGRAM, ["strata", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"strata: error: {PROGRAM}: {error.strerror}")
