"""`python -m kane` is the command `kane`."""

import sys

from kane.cli import main

if __name__ == "__main__":
    sys.exit(main())
