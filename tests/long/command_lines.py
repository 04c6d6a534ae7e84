"""Random command lines: exit status 0, 1 or 2, words where it is not 0, and JSON where JSON was asked for."""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import re
from functools import cache
from pathlib import Path

import numpy as np

import kane
from kane.cli import main
from kane.cli.parser import COMMANDS, parser
from long.block import Disagreement
from long.hostile_files import hostile_text
from long.odd_arguments import elsewhere
from long.tries import draws

LINES = (*(c for c in COMMANDS if c != "bench"), "nothing")
BENCHES = 0.003
"""How often a line is one of `kane bench`, which imports all benchmarks and says that there is none of that name."""

GOOD = ("pendulum", "double-pendulum", "four-bar", "cart-pole", "tanner-mobile-manipulator", "four-bar-stop")
MODELS = (*GOOD, "pendlum", "hostile.yaml", "hostile.urdf", "coloured.yaml", "missing.yaml")
COLOURED = r"""kane: 1
name: "\e[31mred"
bodies: {"\e[2Ja": {mass: 1, inertia: {xx: 1, yy: 1, zz: 1}}}
joints: {"\e[31mj": {type: revolute, parent: ground, child: "\e[2Ja", axis: z, coordinate: q}}
"""
PARTS = ("pendlum", "é", "no benchmark", "-1", "../x")
"""For `kane bench`: names of no benchmark, since one takes minutes."""

FITTING = {
    "set": ("{p}=0.9", "{p}=1.1,{p}=1", "g=0", "m=-1"),
    "q": ("{q}=0.3", "{q}=0.1", "{q}=170*deg", "{q}=uniform(-1,1)"),
    "u": ("{u}=1", "{u}=-2", "{u}=normal(0,0.1)"),
    "to": ("{q}=1", "{q}=90*deg"),
    "at": ("{q}=0.1", "0,0.07,0", "{u}=1"),
    "output": ("out.csv", "out.npz", "out.html", "out.c", "out.txt", "there.csv"),
    "plot": ("out.png", "out.svg", "out.pdf"),
    "trajectory": ("there.csv", "out.csv"),
    "path": ("there.csv",),
    "body": ("{b}", "ground"),
    "position": ("0.4,0.2,0.3", "0,-1,0"),
    "quaternion": ("1,0,0,0", "0,0,0,0"),
    "euler": ("xyz:10*deg,0,0",),
    "states": ("{q},{u}",),
    "start": ("{q}=0.2",),
    "free": ("{p},g", "all", "nobody"),
    "animate": ("out.html", "out.csv"),
    "packages": (".", "nowhere"),
    "control": ("{u}=-{q}", "none", "balance", "nobody"),
    "event": ("e={q} - 0.1", "e={u}!", "e=t - 0.05", "{q}=1"),
    "watch": ("w={q}**2", "w={u}"),
    "parameter": ("{p}=normal(1,0.05)", "{p}=uniform(0.5,1)", "{p}=choice(1,2)"),
    "of": ("coordinates", "speeds", "accelerations", "efforts", "reactions", "energy", "{q}", "{q}**2"),
    "beside": ("suggested", "rates", "none", "{u}={q}'"),
    "result": ("end_{q}", "first_e", "high_w"),
    "out": ("out.zarr",),
    "report": ("out.html",),
    "dask": ("nowhere.json",),
    "vehicle": ("vehicle", "nobody"),
    "processes": ("0", "-1", "1"),
    "sobol": ("0", "3", "2"),
    "n": ("1", "3", "7", "0", "-1"),
}
"""Option → values that some model and command take; {q}, {u}, {p}, {b} stand for names of the model."""

NEEDED = {"sweep": ("-n", "3"), "inverse": ("--to", "{q}=0.4"), "ik": ("--body", "{b}", "--position", "0,-1,0")}
"""What a command is not understood without."""

TIME = {"simulate": "--t", "report": "--t", "vehicle": "--t", "play": "--t", "sweep": "--time"}
"""Commands that would go on for long, or for ever → the option that says how long."""

THERE = "t,q,q1,q2,x,y,z\n0,0,0,0,0,-1,0\n1,0.1,0.1,0,0.1,-0.9,0\n2,0.3,0,0.2,0,-1,0\n3,0.2,0,0.1,0,-1,0\n"
VALUES = re.findall(
    r"\S+",
    "0 -1 1 nan inf 1e400 x '' q q=1 q=nan q=1/0 u=2 nobody=1 q=q q=__import__ L=0 L=-1 m=nan g=1.62 text c latex "
    "sympy motion.csv motion.npz out.png /nowhere/x.csv ../x.csv . forward_dynamics energy kinematics rk4 radau dop853 "
    "0,0,0 1,2 a,b,c xyz:1,2,3 1,0,0,0 floating fixed é",
)


def _fitting(action: argparse.Action) -> tuple[str, ...]:
    if action.nargs == 0:
        return ()
    if action.choices is not None:
        return tuple(map(str, action.choices))
    if action.dest in FITTING:
        return FITTING[action.dest]
    return {int: ("0", "-1", "1", "7"), float: ("0", "-1", "0.5", "nan", "inf")}.get(action.type, tuple(VALUES))  # type: ignore[arg-type]


@cache
def options_of(command: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """(option, values that have its type, none where it is a flag); no option opens a window."""
    tables = [a.choices for a in parser()._actions if isinstance(a.choices, dict)]
    known = tables[0].get(command) if tables else None
    actions = known._actions if known is not None else []
    named = [a for a in actions if a.option_strings and a.dest not in ("view", "open", "help")]
    return (*((a.option_strings[-1], _fitting(a)) for a in named), ("--nonsense", ()))


@cache
def names_of(model: str) -> dict[str, tuple[str, ...]]:
    """Names that values may speak of: coordinates, speeds, parameters and bodies of a built-in model."""
    if model not in GOOD:
        return {"q": ("q",), "u": ("u_j",), "p": ("L",), "b": ("a",)}
    m = kane.load(model)
    return {"q": m.coordinates, "u": m.speeds, "p": tuple(m.parameters), "b": tuple(m.bodies)}


def drawn_line(rng: np.random.Generator) -> list[str]:
    """A command, mostly with a model, and up to four options. Half of the lines are meant to be understood: values fit
    their options, and what the command needs is there."""
    if rng.random() < BENCHES:
        return ["bench", *(PARTS[int(k)] for k in rng.integers(len(PARTS), size=int(rng.integers(1, 3))))]
    command, sensible = LINES[int(rng.integers(len(LINES)))], bool(rng.random() < 0.5)
    line = [command]
    models = ("tanner-mobile-manipulator",) if sensible and command == "vehicle" else GOOD if sensible else MODELS
    model = models[int(rng.integers(len(models)))]
    if command == "completion" and sensible:
        line.append(str(rng.choice(["bash", "zsh", "fish"])))
    elif command not in ("demo", "list") and (sensible or rng.random() < 0.95):
        line.append(model)
    if sensible:
        line += NEEDED.get(command, ())
    known = options_of(command)
    for _ in range(int(rng.integers(0, 5))):
        option, fitting = known[int(rng.integers(max(1, len(known) - (sensible or rng.random() < 0.8))))]
        pool = fitting if sensible or rng.random() < 0.8 else VALUES
        line += [option, pool[int(rng.integers(len(pool)))]] if fitting else [option]
    if command in TIME:
        times = ["0.01", "0.1"] if sensible else ["0.01", "0.1", "0", "-1", "nan", "1e-300"]
        line += [TIME[command], str(rng.choice(times))]
    names = {kind: str(rng.choice(found)) for kind, found in names_of(model).items()}
    return [word.format(**names) if "{" in word else word for word in line]


def _hostile(folder: Path, number: int) -> None:
    kind, text = hostile_text(1000 + number)
    other = "yaml" if kind == "urdf" else "urdf"
    (folder / f"hostile.{kind}").write_bytes(text.encode("utf-8", "surrogatepass"))
    (folder / "there.csv").write_text(THERE, encoding="utf-8")
    (folder / "coloured.yaml").write_text(COLOURED, encoding="utf-8")
    (folder / f"hostile.{other}").write_text("kane: 1\n", encoding="utf-8")


def search(number: int) -> str:
    """One command line, in a folder of its own with hostile files."""
    line = drawn_line(draws("commands", number))
    out, words = io.StringIO(), io.StringIO()
    try:
        with elsewhere() as folder, contextlib.redirect_stdout(out), contextlib.redirect_stderr(words):
            _hostile(folder, number)
            status = main(line)
        if status not in (0, 1, 2):
            raise Disagreement(f"status {status}")
        silent = not words.getvalue().strip() and not out.getvalue().strip()
        if status and silent and line[0] != "bench":  # whose words are another process's
            raise Disagreement(f"status {status} without a word")
        if "\x1b" in words.getvalue() + out.getvalue():
            raise Disagreement("an escape sequence of the user's text reaches the terminal")
        if "--json" in line and status == 0 and not {"-o", "--output"} & set(line):
            json.loads(out.getvalue(), parse_constant=_no_json)
    except Exception as error:
        error.add_note(f"kane {line}")
        raise
    return f"{line[0]}: status {status}"


def _no_json(word: str) -> None:
    raise Disagreement(f"{word} is no JSON")
