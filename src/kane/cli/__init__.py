"""The command line: `kane COMMAND MODEL ...`, its exit status, and how faults are shown.

Exit status: 0 when all went well, 1 when the model or a check failed, 2 for a command line that cannot be understood,
130 after an interrupt. Figures go to standard output, words about the work to standard error. Commands import what they
need when they run, so that help is there at once.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Sequence

from ..errors import KaneError
from .parser import COMMANDS, join_negative_values, parser

FINE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


class UsageError(KaneError):
    """A command line that names something that is not there."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):  # a terminal without the letters of mathematics still shows the figures
            stream.reconfigure(errors="replace")  # type: ignore[union-attr]
    try:
        status = _run(argv)
        sys.stdout.flush()
        return status
    except BrokenPipeError:  # `kane derive ... | head`: the reader has seen enough
        sys.stdout = open(os.devnull, "w")  # noqa: SIM115, PTH123 - lives until the interpreter ends
        return FINE
    except KeyboardInterrupt:
        print("kane: interrupted", file=sys.stderr)
        return INTERRUPTED


def _run(argv: Sequence[str] | None) -> int:
    try:
        arguments = parser().parse_args(join_negative_values(sys.argv[1:] if argv is None else argv))
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else USAGE
    module, function = COMMANDS[arguments.command]
    try:
        command = getattr(importlib.import_module(f".{module}", __package__), function)
        return command(arguments)
    except UsageError as error:
        print(f"kane {arguments.command}: {error}", file=sys.stderr)
        return USAGE
    except KaneError as error:
        print(f"kane {arguments.command}: {error}", file=sys.stderr)
        return FAILED
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "kane":
            raise
        print(f"kane {arguments.command}: needs the package '{error.name}', which is not installed", file=sys.stderr)
        print(f"    fix: {_extra(error.name or '')}", file=sys.stderr)
        return FAILED


def _extra(package: str) -> str:
    """How to install an optional package."""
    extras = {"matplotlib": "viewer", "viser": "viewer", "sympy": "peers"}
    stem = package.partition(".")[0]
    return f"pip install 'kane[{extras[stem]}]'" if stem in extras else f"pip install {stem}"


__all__ = ["FAILED", "FINE", "INTERRUPTED", "USAGE", "UsageError", "main"]
