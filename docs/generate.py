"""Writes what of the documentation follows from the code: the pages `shell.md` and `models.md`, and a picture of every
built-in model. `python docs/generate.py` writes all of it; a test finds pages that are not as the code is."""

from __future__ import annotations

import argparse
import io
from pathlib import Path

import kane
from kane.catalogue import builtin_names
from kane.cli.parser import parser

HERE = Path(__file__).parent
PICTURES = HERE / "images" / "models"
_DOTS, _COLORS = 52, 48  # per inch, and of the palette: a picture is a few kilobytes

SHELL = """# From the shell

`kane COMMAND MODEL …`, where MODEL is a built-in model ([list](models.md)), a model file (.yaml) or a robot (.urdf).
`kane COMMAND --help` says what is on this page, with examples. Figures go to standard output, words about the work to
standard error, so that `--json` can be piped on. A value that starts with a minus may stand by itself:
`--position -0.3,0,1`.

| exit status | |
|---|---|
| 0 | fine: all was done, checks passed, the motion reached its end or an event that ends it |
| 1 | the model, a check, a motion or one of many members failed; an expression over the model, or a file, is wrong |
| 2 | the command line was not understood: an unknown model, option or name, no such file, one that cannot be written |
| 130 | interrupted by Ctrl-C; what was computed is kept, and said so |

A MODEL that could be none, a folder or a file with another ending, is not understood (2). A model file that is empty,
binary or not what its ending says is a model that failed (1). It is the same with every command.

A motion that leaves limits of its joints is fine, and tells it. One in which a wheel that rolls passes through lying
flat fails: what follows is no motion of the model.

Words are completed after `eval "$(kane completion bash)"`, or with the script of `kane completion zsh` or `fish`.

This page is written by `docs/generate.py`.
"""

MODELS = """# Built-in models

`kane.load("pendulum")` loads one, `kane list` and `kane.models()` name them, `kane info pendulum` says what it is made
of and `kane play pendulum` lets you touch it. They are model files, and good ones to start from:
`kane.load("pendulum").save("mine.yaml")`. Each is drawn as it starts.

This page and its pictures are written by `docs/generate.py`.

| | model | |
|---|---|---|
"""


def shell_page() -> str:
    """Every command with its options, from the parser itself."""
    commands = next(a for a in parser()._actions if isinstance(a, argparse._SubParsersAction))
    lines = [SHELL]
    for name, command in commands.choices.items():
        positional = [a.metavar or a.dest for a in command._actions if not a.option_strings]
        lines += [f"## kane {' '.join([name, *map(str, positional)])}", "", f"{command.description}", ""]
        lines += ["| option | |", "|---|---|"]
        for action in command._actions:
            if action.dest == "help":
                continue
            takes = action.metavar or ("|".join(map(str, action.choices)) if action.choices else "")
            takes = "" if action.nargs == 0 else takes or (action.dest.upper() if action.option_strings else "")
            words = [f"`{o}{' ' + str(takes) if takes else ''}`" for o in action.option_strings] or [f"`{takes}`"]
            lines.append(f"| {', '.join(words)} | {action.help or ''} |")
        lines.append("")
    text = "\n".join(lines)
    return "\n".join(_escape_bars(line) for line in text.splitlines()) + "\n"


def _escape_bars(line: str) -> str:
    """A row of a table, bars inside code escaped."""
    pieces = line.split("`")
    pieces[1::2] = [piece.replace("|", "\\|") for piece in pieces[1::2]]
    return "`".join(pieces)


def models_page() -> str:
    """Every built-in model with its picture and its line."""
    about = kane.models()
    rows = [f"| ![{name}](images/models/{name}.png) | `{name}` | {about[name]} |" for name in builtin_names()]
    return MODELS + "\n".join(rows) + "\n"


def picture(name: str) -> bytes:
    """A small picture of a model as it starts."""
    from matplotlib import rc_context
    from PIL import Image

    from kane.viewer import drawings
    from kane.viewer.style import STYLE

    model = kane.load(name)
    q = model.project()[0] if model.constraints else model.initial_state[0]
    stream, small = io.BytesIO(), io.BytesIO()
    with rc_context(STYLE):
        drawings.mechanism(model, q).savefig(stream, format="png", dpi=_DOTS, facecolor="white")
    with Image.open(stream) as drawn:
        drawn.convert("RGB").quantize(_COLORS).save(small, format="png", optimize=True)
    return small.getvalue()


def main() -> None:
    """Write all of it."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    (HERE / "shell.md").write_text(shell_page(), encoding="utf-8")
    (HERE / "models.md").write_text(models_page(), encoding="utf-8")
    for name in builtin_names():
        (PICTURES / f"{name}.png").write_bytes(picture(name))


if __name__ == "__main__":
    main()
