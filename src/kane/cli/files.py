"""Motions in files, as `api/run_files.py` has them. What `kane simulate` writes, `kane inverse` reads."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..api import Array, Model, Trajectory, run_files
from ..api.run_files import read_columns
from ..api.run_values import acceleration_names
from ..errors import InputError, suggestion
from ..report.motions import Motion, motion_through
from ..writing import write_text
from .console import show
from .streams import say


def write_columns(path: Path | None, names: Sequence[str], columns: Array) -> None:
    """Write columns (k, m) as CSV with every digit, to a file or to standard output."""
    if path is None:
        show("\n".join([",".join(names), *(",".join(map(repr, row)) for row in columns.tolist())]))
    else:
        run_files.write_columns(path, dict(zip(names, columns.T, strict=True)))


def write_motion(path: Path, trajectory: Trajectory, ending: str = "") -> None:
    """Write a trajectory as .csv, .npz or .parquet; with an `ending` behind the name of the file."""
    target = path.with_name(path.name + ending)
    suffix = path.suffix.lower()
    if suffix == ".csv":
        run_files.write_columns(target, run_files.motion_columns(trajectory))
    else:
        run_files.save_run(trajectory, target, suffix)


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
    udot = _all_or_none(path, columns, acceleration_names(model.speeds))
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
