"""`python -m kane` is the command `kane`, and this is where the command starts.

Until the command line is there, and after it has answered, an interrupt ends the process at once and without a word.
"""

import contextlib
import signal
import sys


def run() -> int:
    """Run the command that the process was started with; returns its exit status."""
    handled = signal.getsignal(signal.SIGINT) is signal.default_int_handler
    with contextlib.suppress(KeyboardInterrupt):
        if handled:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        from kane.cli import main

        if handled:
            signal.signal(signal.SIGINT, signal.default_int_handler)
        status = main()
        if handled:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
        return status
    return 130


if __name__ == "__main__":
    sys.exit(run())
