"""`kane ik`: coordinates that bring a point of a body to a pose, or along a path of poses in a file."""

from __future__ import annotations

from argparse import Namespace
from pathlib import Path
from typing import Any

import numpy as np

from ..api import Array, Model
from ..errors import suggestion
from . import FAILED, FINE, UsageError
from .console import print_json, show, table
from .files import read_columns, write_columns
from .given import coordinates_of, file_to_write, model_of, numbers
from .streams import say

PLACE = ("x", "y", "z")
QUATERNION = ("qw", "qx", "qy", "qz")
UNIT = 1e-6
"""How far from 1 the length of a quaternion in a file may be; it is then made 1."""


def ik(arguments: Namespace) -> int:
    """Print the coordinates of one pose, or write those of a path."""
    if (arguments.position is None) == (arguments.path is None):
        raise UsageError("say where to: --position X,Y,Z, or --path FILE.csv (one of the two)")
    model = model_of(arguments)
    if arguments.body not in model.bodies:
        given = (
            ""
            if arguments.body is None
            else f" {arguments.body}: unknown body; {suggestion(arguments.body, model.bodies)}"
        )
        raise UsageError(f"--body{given or ' is missing'}\n    bodies: {', '.join(model.bodies)}")
    output = file_to_write(arguments, "output", (".csv",))
    return _reach_one(model, arguments, output) if arguments.path is None else _path(model, arguments, output)


def _search(model: Model, arguments: Namespace, *, oriented: bool) -> Any:
    from ..planning import ROWS, InverseKinematics, SearchOptions

    at = numbers(model, arguments.at, 3, "--at")
    options = SearchOptions(tolerance=arguments.tolerance)
    return InverseKinematics(model, arguments.body, at, rows=ROWS if oriented else ROWS[3:], options=options)


def _start(model: Model, arguments: Namespace) -> Array | None:
    """The coordinates at which the search starts, if they are given: those not named as the model starts."""
    given = coordinates_of(model, arguments.start, "--start")
    if not given:
        return None
    initial = dict(zip(model.coordinates, model.initial_state[0].tolist(), strict=True))
    return np.array(list({**initial, **given}.values()))


def _reach_one(model: Model, arguments: Namespace, output: Path | None) -> int:
    R = _orientation(model, arguments)
    position = numbers(model, arguments.position, 3, "--position")
    target = np.array(position) if R is None else np.concatenate([R.ravel(), position])
    found = _search(model, arguments, oriented=R is not None).solve_one(target, _start(model, arguments))
    if output is not None:
        write_columns(output, model.coordinates, found.q[None])
    if arguments.json:
        q = dict(zip(model.coordinates, found.q.tolist(), strict=True))
        steps = {"steps": found.steps, "attempts": found.attempts}
        print_json({"solved": found.solved, "residual": found.residual, **steps, "q": q})
    else:
        show(found)
        table(("coordinate", "q"), [(n, f"{x:.12g}") for n, x in zip(model.coordinates, found.q, strict=True)])
    return FINE if found.solved else FAILED


def _orientation(model: Model, arguments: Namespace) -> Array | None:
    """R_NB that --euler or --quaternion gives, None where the orientation does not count."""
    if arguments.euler is not None and arguments.quaternion is not None:
        raise UsageError("give the orientation once: --euler or --quaternion")
    if arguments.quaternion is not None:
        spec: dict[str, Any] = {"quaternion": numbers(model, arguments.quaternion, 4, "--quaternion")}
        option = "--quaternion"
    elif arguments.euler is not None:
        axes, colon, angles = arguments.euler.partition(":")
        if not colon:
            raise UsageError(f"--euler {arguments.euler}: name the axes too, as in --euler xyz:10*deg,0,90*deg")
        spec = {"euler": axes.strip(), "angles": numbers(model, angles, len(axes.strip()), "--euler")}
        option = "--euler"
    else:
        return None
    return np.array(
        [[model.mechanism.number(e, option) for e in row] for row in model.mechanism.fixed_rotation(spec, option)]
    )


def _path(model: Model, arguments: Namespace, output: Path | None) -> int:
    path = Path(arguments.path)
    if not path.is_file():
        raise UsageError(f"--path {path}: there is no such file")
    if arguments.euler is not None or arguments.quaternion is not None:
        raise UsageError("with --path the file gives the orientation: columns qw, qx, qy, qz")
    columns = read_columns(path)
    targets = _targets(path, columns)
    search = _search(model, arguments, oriented=targets.shape[1] == 12)
    found = search.follow(targets, _start(model, arguments), largest_step=arguments.largest_step)
    passed = [n for n in columns if n not in (*PLACE, *QUATERNION, *model.coordinates)]
    names = [*passed, *model.coordinates]
    if arguments.json:
        missed, jumps = np.flatnonzero(~found.solved).tolist(), list(found.jumps)
        figures = {"poses": len(found), "missed": missed, "jumps": jumps, "singular": list(found.singular)}
        print_json({**figures, "largest_residual": float(found.residual.max()), "steps": int(found.steps.sum())})
    if output is not None or not arguments.json:
        write_columns(output, names, np.column_stack([*(columns[n] for n in passed), found.q]))
    say(f"{path}: {found}")
    if output is not None:
        say(f"wrote {output}: {len(found)} poses, {found.q.shape[1]} coordinates")
    return FINE if found.continuous else FAILED


def _targets(path: Path, columns: dict[str, Array]) -> Array:
    """Positions (k, 3), or poses (k, 12) where the file has quaternions."""
    missing = [n for n in PLACE if n not in columns]
    turns = [n for n in QUATERNION if n in columns]
    if missing or len(turns) not in (0, 4):
        raise UsageError(
            f"--path {path}: the header is {', '.join(columns)};"
            f" it has to have {', '.join(PLACE)}, and for orientation all of {', '.join(QUATERNION)}"
        )
    p = np.column_stack([columns[n] for n in PLACE])
    if not turns:
        return p
    wxyz = np.column_stack([columns[n] for n in QUATERNION])
    length = np.linalg.norm(wxyz, axis=1, keepdims=True)
    bad = np.flatnonzero(np.abs(length - 1.0) > UNIT)
    if bad.size:
        raise UsageError(
            f"--path {path}, line {bad[0] + 2}: a quaternion of length {length[bad[0], 0]:g}; give unit ones"
        )
    w, x, y, z = (wxyz / length).T
    R = [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)]
    R += [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)]
    R += [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]
    return np.column_stack([*R, p])
