"""The command line: `kane COMMAND MODEL ...`, its exit status, and how faults are shown.

Exit status: 0 when all went well, 1 when the model or a check failed, 2 for a command line that cannot be understood,
130 after an interrupt. Figures go to standard output, words about the work to standard error. Commands import what they
need when they run, so that help is there at once.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from ..errors import KaneError
from . import streams
from .parser import COMMANDS, join_negative_values, parser
from .streams import say

FINE, FAILED, USAGE, INTERRUPTED = 0, 1, 2, 130


class UsageError(KaneError):
    """A command line that names something that is not there."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command; returns the exit status."""
    try:
        streams.prepare()
        with streams.insistent_interrupts(), streams.patient_output():
            return _run(argv)
    except KeyboardInterrupt:
        say("kane: interrupted")
        return INTERRUPTED
    except OSError as error:
        if error.filename is None:  # no file, so standard output: full, or gone
            streams.discard("stdout")
        what = "standard output" if error.filename is None else error.filename
        say(f"kane: {what}: {error.strerror or error}")
        return FAILED


def _run(argv: Sequence[str] | None) -> int:
    try:
        words = join_negative_values(sys.argv[1:] if argv is None else argv)
        arguments = parser().parse_args(words, Namespace(words=words))
    except SystemExit as stop:
        return stop.code if isinstance(stop.code, int) else USAGE
    module, function = COMMANDS[arguments.command]
    try:
        command = getattr(importlib.import_module(f".{module}", __package__), function)
        with _warnings_said(arguments.command):
            return command(arguments)
    except UsageError as error:
        say(f"kane {arguments.command}: {error}")
        return USAGE
    except KaneError as error:
        say(f"kane {arguments.command}: {_in_shell(error, arguments.command)}")
        return FAILED
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] == "kane":
            raise
        say(f"kane {arguments.command}: needs the package '{error.name}', which is not installed")
        say(f"    fix: {_extra(error.name or '')}")
        return FAILED


@contextmanager
def _warnings_said(command: str) -> Iterator[None]:
    """Within the block warnings are words about the work, each said once, without a line of Python."""
    said = set[str]()

    def show(message: Warning | str, *_: object) -> None:
        if str(message) not in said:
            said.add(str(message))
            say(f"kane {command}: {_in_shell(message, command)}")

    with warnings.catch_warnings():
        warnings.showwarning = show
        yield


def _in_shell(text: object, command: str) -> str:
    from .wording import in_shell

    return in_shell(text, command)


def _extra(package: str) -> str:
    """How to install an optional package."""
    extras = {"matplotlib": "viewer", "sympy": "peers", "trimesh": "meshes", "distributed": "dask"} | dict.fromkeys(
        ("zarr", "pyarrow", "xarray", "fsspec"), "ensemble"
    )
    stem = package.partition(".")[0]
    return f"pip install 'kane[{extras[stem]}]'" if stem in extras else f"pip install {stem}"


__all__ = ["FAILED", "FINE", "INTERRUPTED", "USAGE", "UsageError", "main"]
