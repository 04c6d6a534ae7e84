"""`kane list`: the built-in models."""

from __future__ import annotations

from argparse import Namespace

from ..catalogue import models
from . import FINE
from .console import print_json, table


def list_models(arguments: Namespace) -> int:
    """Print the names of the built-in models, with one line about each."""
    known = models()
    if arguments.json:
        print_json(dict(known))
    else:
        table(("model", "about"), list(known.items()), words=2)
    return FINE
