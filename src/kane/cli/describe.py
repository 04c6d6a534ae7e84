"""`kane info` and `kane derive`: a model, and its equations."""

from __future__ import annotations

import textwrap
from argparse import Namespace
from collections.abc import Iterable
from typing import Any

from ..api import Model
from ..backends import to_sympy_text
from ..errors import excerpt, suggestion
from ..graph import Program
from ..model import BuiltChanging, BuiltConstraint, body_path_table, joint_path_table
from ..model.files.describe import describe_control, describe_load
from ..model.outline import bodies_table, outline
from ..model.speeds import describe_speeds
from ..viewer.units import coordinate_units, drive_units
from ..writing import write_text
from . import FINE, UsageError
from .console import heading, print_json, show, table
from .given import check_target, file_to_write, model_of
from .streams import say

LONGEST = 110
"""Letters of what a load does that are shown."""


def info(arguments: Namespace) -> int:
    """Print what the model consists of."""
    model = model_of(arguments)
    model.mechanism.validate()
    if arguments.json:
        print_json(_info_record(model))
        return FINE
    show(f"{model.name}: {model.mechanism.about}" if model.mechanism.about else model.name)
    gravity = list(model.gravity)
    show(f"gravity {', '.join(f'{g:g}' for g in gravity)} m/s² in N")
    heading("tree")
    for line in outline(model.mechanism):
        show(line)
    if arguments.paths:
        heading("paths")
        show(f"{body_path_table(model.mechanism)}\n\n{joint_path_table(model.mechanism)}")
    heading(f"bodies ({len(model.bodies)})")
    table(*bodies_table(model.mechanism))
    heading(f"coordinates ({len(model.coordinates)}) and speeds ({len(model.speeds)})")
    start = {**{c.name: c.initial for c in model.mechanism.coordinate_records.values()}}
    table(("coordinate", "initial"), [(name, f"{value:.6g}") for name, value in start.items()])
    words, records = describe_speeds(model.mechanism), model.mechanism.speed_records.values()
    rows = [(s.name, excerpt(words[s.name]), f"{s.initial:.6g}") for s in records]
    table(("speed", "definition", "initial"), rows, words=2)
    if model.constraints:
        heading(f"constraints ({len(model.constraints)})")
        table(("constraint", "type", "between", "rows"), constraint_rows(model), words=4)
        show(model.freedom())
    if model.changing:
        heading(f"what comes and goes ({len(model.changing)})")
        table(("element", "type", "between", "rows"), changing_rows(model), words=4)
    if model.parameters:
        heading(f"parameters ({len(model.parameters)})")
        shown = [f"{p.name} = {p.value:.6g}{' (free)' if p.free else ''}" for p in model.parameters.values()]
        _columns(shown)
    if model.mechanism.limits:
        heading("limits")
        units = dict(zip(model.coordinates, coordinate_units(model.mechanism), strict=True))
        shown = [
            (name, *(_bound(x) for x in (l.lower, l.upper, l.velocity, l.effort)), drive_units(units[name]))
            for name, l in model.mechanism.limits.items()
        ]
        table(("coordinate", "lower", "upper", "speed", "effort", "in"), shown)
    if model.loads:
        heading(f"loads ({len(model.loads)})")
        rows = [
            (x.name, textwrap.shorten(describe_load(model.mechanism, x), LONGEST, placeholder=" …"))
            for x in model.loads.values()
        ]
        table(("load", "what acts"), rows, words=2)
    if model.controls:
        heading(f"controls ({len(model.controls)})")
        rows = [(name, *row) for name, law in model.controls.items() for row in describe_control(law).items()]
        table(("law", "along", "effort, N m or N"), rows, words=3)
    return FINE


def _bound(value: float) -> str:
    """A limit in SI units, nothing where there is none."""
    return f"{value:g}" if abs(value) < float("inf") else ""


def _columns(items: list[str], width: int = 96) -> None:
    """Items side by side in columns."""
    wide = max(map(len, items)) + 3
    per = max(1, width // wide)
    for start in range(0, len(items), per):
        show("".join(item.ljust(wide) for item in items[start : start + per]).rstrip())


def constraint_rows(model: Model) -> list[tuple[str, str, str, str]]:
    """(name, type, bodies, labels of rows) of every constraint."""
    return _table_rows(model.constraints.values())


def changing_rows(model: Model) -> list[tuple[str, str, str, str]]:
    """The same of every contact, stop and constraint that comes and goes."""
    return _table_rows(model.changing.values())


def _table_rows(parts: Iterable[BuiltConstraint | BuiltChanging]) -> list[tuple[str, str, str, str]]:
    found: list[tuple[str, str, str, str]] = []
    for c in parts:
        bodies = " and ".join(b.name for b in (c.first, c.second) if b is not None)
        found.append((c.name, c.kind, bodies, ", ".join(row.label for row in c.rows)))
    return found


def _info_record(model: Model) -> dict[str, Any]:
    paths, words = joint_path_table(model.mechanism), describe_speeds(model.mechanism)
    return {
        "name": model.name,
        "about": model.mechanism.about,
        "gravity": list(model.gravity),
        "bodies": {
            b.name: {
                "mass": model.mechanism.number(b.mass, b.name),
                "center": [model.mechanism.number(c, b.name) for c in b.center],
                "inertia": [[model.mechanism.number(e, b.name) for e in row] for row in b.inertia],
            }
            for b in model.bodies.values()
        },
        "joints": {
            j.name: {
                "type": j.type.kind,
                "parent": j.parent.name,
                "child": j.child.name,
                "coordinates": [c.name for c in j.coordinates],
            }
            for j in model.joints.values()
        },
        "constraints": {c.name: {"type": c.kind, "rows": list(c.row_names())} for c in model.constraints.values()},
        "changing": {
            c.name: {"type": c.kind, "holds": c.type, "rows": list(c.row_names())} for c in model.changing.values()
        },
        "degrees_of_freedom": model.freedom().degrees,
        "coordinates": {c.name: c.initial for c in model.mechanism.coordinate_records.values()},
        "speeds": {
            s.name: {"definition": words[s.name], "initial": s.initial} for s in model.mechanism.speed_records.values()
        },
        "parameters": {p.name: p.value for p in model.parameters.values()},
        "limits": {
            name: {key: x for key, x in (("lower", l.lower), ("upper", l.upper)) if abs(x) < float("inf")}
            for name, l in model.mechanism.limits.items()
        },
        "loads": list(model.loads),
        "controls": {name: describe_control(law) for name, law in model.controls.items()},
        "paths": {
            row: [c for c, crossed in zip(paths.columns, entries, strict=True) if crossed]
            for row, entries in zip(paths.rows, paths.entries, strict=True)
        },
    }


def derive(arguments: Namespace) -> int:
    """Print or write a program."""
    model = model_of(arguments)
    path = file_to_write(arguments, "output", (".c",) if arguments.format == "c" else ())
    if path is not None and arguments.format == "c":
        check_target(arguments, "output", path.with_suffix(".h"))
    equations = model.equations(free="all") if arguments.free else model.equations()
    law = _law(model, arguments.what, arguments.control)
    program = equations.program(arguments.what) if law is None else equations.control(law)
    if arguments.format == "c":
        header, source = equations.to_c(program, path.stem if path else None)
        files = {} if path is None else {path: source, path.with_suffix(".h"): header}
        text = f"{header}\n{source}"
    else:
        text = {"text": _text, "latex": equations.to_latex, "sympy": to_sympy_text}[arguments.format](program)
        files = {} if path is None else {path: text}
    for file, content in files.items():
        write_text(file, content)
    if files:
        say(f"wrote {' and '.join(map(str, files))}")
    else:
        show(text, end="")
    return FINE


def _law(model: Model, what: str, given: str | None) -> str | None:
    """The control law whose program is asked for: the one that is given, or the only one of the model."""
    if what != "control":
        if given is not None:
            raise UsageError(f"--control {given}: a law is printed with --what control, not with --what {what}")
        return None
    laws = list(model.controls)
    if not laws:
        raise UsageError(
            f"--what control: model '{model.name}' has no control laws\n"
            "    fix: write one under 'controls' of the model file, or m.control(name, efforts) in Python"
        )
    if given is None and len(laws) == 1:
        return laws[0]
    if given is None:
        raise UsageError(
            f"--what control: model '{model.name}' has {len(laws)} control laws: {', '.join(laws)}\n"
            f"    fix: name one of them: --what control --control {laws[0]}"
        )
    if given not in laws:
        raise UsageError(f"--control {given}: unknown control law of model '{model.name}'; {suggestion(given, laws)}")
    return given


def _text(program: Program) -> str:
    count = program.count()
    figures = ", ".join(f"{n} {kind}" for kind, n in count.items() if n)
    return f"{program}# {len(program.rows)} operations: {figures}\n"
