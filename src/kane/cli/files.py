"""Motions in files: CSV with a header, or NPZ.

A motion has the columns t, coordinates, speeds, accelerations (u1' is the rate of u1) and efforts (tau_u1 acts along
u1); SI units. What `kane simulate` writes, `kane inverse` reads.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..api import Array, Model, Trajectory
from ..errors import InputError
from ..model.mechanism import suggestion
from ..report.motions import Motion, motion_through
from ..writing import replacing, write_text
from .console import show
from .streams import say

MAX_ROWS = 5_000_000
"""More rows than any motion that fits into memory beside its results."""


def write_columns(path: Path | None, names: Sequence[str], columns: Array) -> None:
    """Write columns (k, m) as CSV with every digit, to a file or to standard output."""
    lines = [",".join(names), *(",".join(repr(float(x)) for x in row) for row in columns)]
    if path is None:
        show("\n".join(lines))
    else:
        write_text(path, "\n".join(lines) + "\n")


def write_motion(path: Path, trajectory: Trajectory, ending: str = "") -> None:
    """Write t, q, u, u', tau of a trajectory as .csv or .npz; with an `ending` behind the name of the file."""
    target = path.with_name(path.name + ending)
    model, udot = trajectory.model, trajectory.acceleration()
    if path.suffix.lower() == ".npz":
        names = (np.array(model.coordinates), np.array(model.speeds))
        motion = (trajectory.t, trajectory.q, trajectory.u, trajectory.tau)
        t, q, u, tau = motion
        with replacing(target) as stream:
            np.savez(stream, t=t, q=q, u=u, udot=udot, tau=tau, coordinates=names[0], speeds=names[1])
        return
    names = ["t", *model.coordinates, *model.speeds, *acceleration_names(model), *effort_names(model)]
    table = np.column_stack([trajectory.t, trajectory.q, trajectory.u, udot, trajectory.tau])
    write_columns(target, names, table)


def transitions_path(path: Path) -> Path:
    """Where the transitions of a motion are written: beside it, motion.csv with motion.transitions.csv."""
    return path.with_name(f"{path.stem}.transitions.csv")


def write_transitions(path: Path, trajectory: Trajectory) -> None:
    """Write the transitions of a motion as CSV: time, cause and constraints, change of energy, how many motions were
    possible, what each changing constraint does afterwards, impulses along all its rows, speeds before and after."""
    model = trajectory.model
    parts = list(model.changing.values())
    header = ["t", "cause", "constraints", "energy_change", "possible", *model.changing]
    header += [f"impulse {row}" for part in parts for row in part.row_names()]
    header += [f"{s} {when}" for when in ("before", "after") for s in model.speeds]
    with io.StringIO() as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(header)
        for x in trajectory.transitions:
            assert x.u_before is not None and x.u_after is not None
            impulses = [x.impulse.get(part.name, np.zeros(len(part.rows))) for part in parts]
            numbers = np.concatenate([*impulses, x.u_before, x.u_after])
            words = [x.cause, " ".join(x.constraints), repr(x.energy_change), x.possible]
            writer.writerow(
                [repr(x.t), *words, *(x.mode[name] for name in model.changing), *map(repr, numbers.tolist())]
            )
        write_text(path, stream.getvalue())


def acceleration_names(model: Model) -> list[str]:
    return [f"{s}'" for s in model.speeds]


def effort_names(model: Model) -> list[str]:
    return [f"tau_{s}" for s in model.speeds]


def read_motion(model: Model, path: Path) -> Motion:
    """The motion in a CSV file; missing accelerations, or speeds and accelerations, come from splines."""
    columns = read_columns(path)
    for name in ("t", *model.coordinates):
        if name not in columns:
            needed = ", ".join(("t", *model.coordinates))
            raise InputError(
                f"{path}: there is no column '{name}' ({suggestion(name, columns)})\n"
                f"    fix: the header of a motion of '{model.name}' has {needed},"
                f" then the speeds and their rates ({model.speeds[0]}') if known"
            )
    t = columns["t"]
    gaps = np.flatnonzero(np.diff(t) <= 0)
    if gaps.size:
        raise InputError(f"{path}, line {gaps[0] + 3}: t = {t[gaps[0] + 1]:g} does not increase")
    q = np.column_stack([columns[name] for name in model.coordinates])
    u = _all_or_none(path, columns, model.speeds)
    udot = _all_or_none(path, columns, acceleration_names(model))
    if u is not None and udot is not None:
        return Motion(t, q, u, udot)
    say(f"{path}: {'accelerations' if u is not None else 'speeds and accelerations'} by quintic splines")
    return motion_through(model, t, q, u)


def _all_or_none(path: Path, columns: dict[str, Array], names: Sequence[str]) -> Array | None:
    present = [name for name in names if name in columns]
    if not present:
        return None
    missing = [name for name in names if name not in columns]
    if missing:
        raise InputError(f"{path}: has {', '.join(present)} but not {', '.join(missing)}; give all of them or none")
    return np.column_stack([columns[name] for name in names])


def read_columns(path: Path) -> dict[str, Array]:
    """The columns of a CSV file by the names in its header, every value a finite number."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            reader = csv.reader(stream)
            names = [name.strip() for name in next(reader, [])]
            rows = []
            for row in reader:
                if row:
                    rows.append(_numbers(path, reader.line_num, names, row))
                if len(rows) > MAX_ROWS:
                    raise InputError(f"{path}: more than {MAX_ROWS} rows; cut the file")
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read as CSV: {error}") from None
    if len(set(names)) != len(names):
        raise InputError(f"{path}: two columns have the same name in the header {','.join(names)}")
    if not rows:
        raise InputError(f"{path}: has no rows; the first line is the header, then one line per time")
    return dict(zip(names, np.array(rows, dtype=float).T, strict=True))


def _numbers(path: Path, line: int, names: list[str], row: list[str]) -> list[float]:
    if len(row) != len(names):
        raise InputError(f"{path}, line {line}: {len(row)} values under {len(names)} names")
    numbers = []
    for name, text in zip(names, row, strict=True):
        try:
            value = float(text)
        except ValueError:
            value = float("nan")
        if not np.isfinite(value):
            raise InputError(f"{path}, line {line}: {name} = '{text[:40]}' is not a finite number")
        numbers.append(value)
    return numbers
