"""`python -m rustomize`: the program that comes with this package."""

import os
import subprocess
import sys

from . import program


def main() -> None:
    """Becomes the program, with the arguments of this process."""
    line = [str(program()), *sys.argv[1:]]
    if os.name == "nt":
        # There a process cannot become another one.
        sys.exit(subprocess.call(line))
    os.execv(line[0], line)


if __name__ == "__main__":
    main()
