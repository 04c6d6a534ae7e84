"""`kane check` and `kane bench`: is it right, and how fast is it."""

from __future__ import annotations

import os
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

from . import FAILED, FINE, USAGE, UsageError
from .console import print_json, show
from .given import model_of


def check(arguments: Namespace) -> int:
    """Print the table of checks; fails if one of them does."""
    model = model_of(arguments)
    report = model.check()
    if arguments.json:
        print_json(report.to_dict())
    else:
        show(report)
    return FINE if report.passed else FAILED


def bench(arguments: Namespace) -> int:
    """Run the benchmarks of the checkout that the package is installed from."""
    root = next(
        (p for p in (Path.cwd(), *Path(__file__).parents) if (p / "benchmarks" / "__main__.py").is_file()), None
    )
    if root is None:
        raise UsageError(
            "the benchmarks are part of the source, not of the installed package"
            "\n    fix: get the source (git clone), and run `make bench` in its folder"
        )
    paths = os.pathsep.join(p for p in (str(root), str(root / "tests"), os.environ.get("PYTHONPATH", "")) if p)
    command = [sys.executable, "-m", "benchmarks", *arguments.parts]
    done = subprocess.run(command, cwd=root, env={**os.environ, "PYTHONPATH": paths}, check=False)
    return done.returncode if done.returncode in (FINE, USAGE) else FAILED
