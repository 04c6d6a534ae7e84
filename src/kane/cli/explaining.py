"""`kane explain` and `kane speeds`: Kane's method to be read, and which speeds make it short."""

from __future__ import annotations

import copy
import shutil
from argparse import Namespace
from collections.abc import Callable, Mapping
from pathlib import Path

from ..api import Explanation, Model
from ..errors import suggestion
from ..model.files.loading import SUFFIXES
from ..writing import write_text
from . import FINE, UsageError
from .console import bar, can_draw, print_json, show
from .given import file_to_write, model_of
from .streams import say

_WRITTEN: Mapping[str, Callable[[Explanation], str]] = {
    "text": Explanation.to_text,
    "latex": lambda told: told.to_latex(document=True),
    "html": Explanation.to_html,
}
_BY_ENDING = {".txt": "text", ".tex": "latex", ".html": "html"}


def explain(arguments: Namespace) -> int:
    """Print or write the derivation of a model's equations."""
    model = model_of(arguments)
    path = file_to_write(arguments, "output", tuple(_BY_ENDING))
    form = arguments.format or ("text" if path is None else _BY_ENDING[path.suffix])
    told = model.explain(beside=_beside(arguments.beside), independent=_independent(model, arguments.independent))
    if path is None and form == "text" and can_draw():
        text = told.to_text(width=shutil.get_terminal_size().columns)
    else:
        text = _WRITTEN[form](told)
    if path is None:
        show(text, end="")
    else:
        write_text(path, text)
        say(f"wrote {path}")
    return FINE


def _beside(text: str) -> str | Mapping[str, str] | None:
    """Another choice of speeds, from a word or from NAME=EXPRESSION, with commas between them."""
    if text in ("suggested", "rates"):
        return text
    if text == "none":
        return None
    found: dict[str, str] = {}
    for part in text.split(","):
        name, equals, definition = (x.strip() for x in part.partition("="))
        if not equals or not name or not definition:
            raise UsageError(f"--beside {part.strip()}: expected suggested, rates, none or NAME=EXPRESSION, …")
        found[name] = definition
    return found


def _independent(model: Model, text: str | None) -> list[str] | None:
    """Names of speeds, with commas between them."""
    if text is None:
        return None
    names = [name.strip() for name in text.split(",") if name.strip()]
    for name in names:
        if name not in model.speeds:
            raise UsageError(f"--independent {name}: unknown speed; {suggestion(name, model.speeds)}")
    return names


def speeds(arguments: Namespace) -> int:
    """Print what choices of speeds cost; write the model with the cheapest, if asked."""
    model = model_of(arguments)
    path: Path | None = file_to_write(arguments, "output", SUFFIXES)
    if arguments.tries is not None and arguments.tries < 1:
        raise UsageError(f"--tries {arguments.tries}: at least one choice is measured")
    chosen = copy.copy(model)
    with bar("choices of speeds") as progress:
        found = chosen.suggest_speeds(apply=path is not None, tries=arguments.tries, progress=progress)
    if arguments.json:
        print_json(found.to_dict())
    else:
        show(found)
    if path is not None:
        chosen.save(path)
        say(f"wrote {path}")
    return FINE
