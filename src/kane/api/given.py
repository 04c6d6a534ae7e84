"""What a caller gives: states, efforts, times and parameters in any usual form, made arrays or refused with a reason.

A vector is an array or list (n,) or (batch, n), or a mapping name → value, the others staying at their initial value
(q, u) or zero (tau, udot). Wherever a number is taken, an expression in parameters will do: "30*deg". Every fault is an
`InputError` that says what was given, to which model, and what is needed.
"""

# pyright: reportUnnecessaryIsInstance=false
# What callers give is judged, whatever its type was declared to be.

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import numpy as np

from ..advice import values_to_give
from ..errors import InputError, ModelError, Problem, excerpt, suggestion
from ..model import Mechanism
from ..model.attitude import QUATERNIONS, start_of_attitude
from .records import Array


def vector(mechanism: Mechanism, what: str, value: Any, *, single: bool = False) -> Array:
    """`value` of q, u, udot or tau as finite numbers, (n,) or, unless `single`, (batch, n)."""
    names = mechanism.coordinates if what == "q" else mechanism.speeds
    if isinstance(value, Mapping):
        value = _from_names(mechanism, what, cast("Mapping[str, Any]", value), names)
    return _finite(mechanism, what, _numbers(mechanism, what, value), names, single)


def start(mechanism: Mechanism, what: str, value: Any) -> Array:
    """The same for one state, the initial one if None."""
    return initial(mechanism, what) if value is None else vector(mechanism, what, value, single=True)


def initial(mechanism: Mechanism, what: str) -> Array:
    """q or u as the description states them; zero for tau and udot."""
    if what in ("tau", "udot"):
        return np.zeros(len(mechanism.speeds))
    records = mechanism.coordinate_records if what == "q" else mechanism.speed_records
    return np.array([record.initial for record in records.values()], dtype=float)


def clock(t: Any) -> Any:
    """Times as programs take them: a number, or one per sample as a column (batch, 1)."""
    if type(t) is float:
        times = np.float64(t)
    else:
        try:
            times = np.asarray(t, dtype=float)
        except (TypeError, ValueError, OverflowError):
            raise InputError(f"t is not a number of seconds: {_excerpt(t)}; give a number, or one per sample") from None
    if times.ndim > 2 or (times.ndim == 2 and times.shape[1] != 1):
        raise InputError(f"t has shape {times.shape}; give a number (s), or one per sample, (batch,)")
    if not np.all(np.isfinite(times)):
        raise InputError(f"t is not finite: {_excerpt(t)}; give seconds")
    return float(times) if times.ndim == 0 else times.reshape(-1, 1)


def parameters(mechanism: Mechanism, values: Any) -> Array | None:
    """Values of the free parameters, (p,) or (batch, p), from an array in their order or a mapping name → value, the
    others as they are; None stays None."""
    if values is None:
        return None
    free = {p.name: p.value for p in mechanism.parameters.values() if p.free}
    if not free:
        raise InputError(
            f"model '{mechanism.name}': no parameter is free, so parameters=… has nothing to set\n"
            f"    fix: declare some with keep_free(...) or load(free=...), or use set_parameters"
        )
    if isinstance(values, Mapping):
        by_name = cast("Mapping[str, Any]", values)
        for name in by_name:
            if name in mechanism.parameters and name not in free:
                raise InputError(
                    f"model '{mechanism.name}': parameter '{name}' is fixed\n    fix: keep_free(['{name}'])"
                )
            require_known(mechanism, "free parameter", name, free, "parameters")
        values = _columns(mechanism, "parameters", [by_name.get(name, value) for name, value in free.items()])
    return _finite(mechanism, "parameters", _numbers(mechanism, "parameters", values), tuple(free), False)


def number(mechanism: Mechanism, what: str, value: Any) -> float:
    """A finite number, or an expression in parameters at their values."""
    if isinstance(value, str):
        try:
            value = mechanism.number_of_text(value, what)
        except ModelError as error:
            raise InputError(str(error)) from None
    try:
        if np.ndim(value) or isinstance(value, (bool, np.bool_, bytes)):
            raise TypeError
        found = float(value)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what} is not a number: {_excerpt(value)}") from None
    if not np.isfinite(found):
        raise InputError(f"{what} is not finite: {_excerpt(value)}; give a finite number")
    return found


def triple(what: str, value: Any) -> Array:
    """Three finite numbers: a point (m) or a direction."""
    try:
        array = np.asarray(value, dtype=float)
    except (TypeError, ValueError, OverflowError):
        array = np.empty(0)
    if array.shape != (3,) or not np.all(np.isfinite(array)):
        raise InputError(f"{what} is not a point: {_excerpt(value)}\n    fix: give three finite numbers, (x, y, z)")
    return array


def names_of(names: Iterable[str]) -> tuple[str, ...]:
    """Names, each once; one that stands alone is one name, not its letters."""
    if isinstance(names, str):
        return (names,)
    found = tuple(names) if isinstance(names, Iterable) else (names,)
    for name in found:
        if not isinstance(name, str):
            raise InputError(f"names are given as {_excerpt(names)}\n    fix: give a name, or a list of names")
    return tuple(dict.fromkeys(found))


def require_known(mechanism: Mechanism, kind: str, name: Any, table: Iterable[str], where: str) -> None:
    """Refuse a name that is not in a table, and suggest the closest one."""
    names = tuple(table)
    if name not in names:
        raise InputError(
            f"model '{mechanism.name}' / {where}: unknown {kind} '{_excerpt(name)}'\n"
            f"    fix: {suggestion(str(name), names)}"
        )


def speed_names(mechanism: Mechanism, names: Iterable[str], what: str) -> tuple[str, ...]:
    """Names of speeds, each once, all known."""
    found = names_of(names)
    for name in found:
        require_known(mechanism, "speed", name, mechanism.speed_records, what)
    return found


def _from_names(mechanism: Mechanism, what: str, values: Mapping[Any, Any], names: Sequence[str]) -> Any:
    row: dict[str, Any] = dict(zip(names, initial(mechanism, what).tolist(), strict=True))
    for name, value in values.items():
        if what == "q" and name not in row and isinstance(value, Mapping):
            try:
                row |= start_of_attitude(mechanism, name, cast("Mapping[str, Any]", value), f"q / {name}")
            except ModelError as error:
                raise InputError(str(error)) from None
            continue
        joint = mechanism.joints.get(name) if what == "q" and name not in row else None
        if joint is not None and len(joint.coordinates) > 1:
            own = ", ".join(c.name for c in joint.coordinates)
            turned = ", or give an orientation: {'axis': 'z', 'angle': 0.1}" if joint.type.kind in QUATERNIONS else ""
            raise InputError(
                f"model '{mechanism.name}' / q: '{name}' is a joint of {len(joint.coordinates)} coordinates\n"
                f"    fix: name them, {own}{turned}"
            )
        require_known(mechanism, "coordinate" if what == "q" else "speed", name, row, what)
        row[name] = value
    return _columns(mechanism, what, list(row.values()))


def _columns(mechanism: Mechanism, what: str, values: list[Any]) -> Any:
    """Values by name, some perhaps one per sample, as (n,) or (batch, n)."""
    if all(np.ndim(value) == 0 for value in values):
        return values
    columns = [_numbers(mechanism, what, value) for value in values]
    try:
        return np.stack(np.broadcast_arrays(*columns), axis=-1)
    except ValueError:
        sizes = sorted({len(c) for c in columns if c.ndim})
        raise InputError(f"{what}: values of {' and '.join(map(str, sizes))} samples are given together") from None


def _numbers(mechanism: Mechanism, what: str, value: Any) -> Array:
    if isinstance(value, (list, tuple)):
        items = cast("Sequence[Any]", value)
        if any(isinstance(item, str) for item in items):
            value = [number(mechanism, what, item) for item in items]
    elif isinstance(value, str):
        value = number(mechanism, what, value)
    try:
        array: np.ndarray[Any, Any] = np.asarray(cast("Any", value))
        if array.dtype.kind not in "fiub" or array.dtype.kind == "b":
            raise TypeError
        return np.asarray(array, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"{what} of model '{mechanism.name}' is not an array of numbers: {_excerpt(value)}") from None


def _finite(mechanism: Mechanism, what: str, array: Array, names: Sequence[str], single: bool) -> Array:
    n = len(names)
    if array.ndim == 0 and n == 1:
        array = array.reshape(1)
    if array.ndim not in ((1,) if single else (1, 2)) or array.shape[-1] != n:
        needed = f"({n},)" if single else f"({n},) or (batch, {n})"
        listed = ", ".join(names) if n <= 12 else f"{names[0]} … {names[-1]}"
        hint = "; transposing it would fit" if array.ndim == 2 and not single and array.shape[0] == n else ""
        raise InputError(
            f"{what} has shape {array.shape}; model '{mechanism.name}' needs {needed}: {listed or 'nothing'}{hint}"
        )
    if not np.all(np.isfinite(array)):
        bad = np.argwhere(~np.isfinite(array))
        sample = f", sample {int(bad[0][0])}" if array.ndim == 2 else ""
        raise InputError(
            f"{what} is not finite in {names[int(bad[0][-1])]}{sample} (model '{mechanism.name}'):"
            f" {array[tuple(bad[0])]} is given; give finite numbers"
        )
    return array


def _excerpt(value: Any) -> str:
    return excerpt(value if isinstance(value, str) else repr(value))


def with_parameters(problem: Problem) -> Problem:
    """A fault that new values of parameters made, whose fix names these parameters."""
    if not problem.parameters:
        return problem
    advice = values_to_give(problem.parameters)
    return replace(problem, fix=f"{problem.fix}, by {advice}" if problem.fix else f"other values, by {advice}")


__all__ = [
    "clock",
    "initial",
    "names_of",
    "number",
    "parameters",
    "require_known",
    "speed_names",
    "start",
    "triple",
    "vector",
    "with_parameters",
]
