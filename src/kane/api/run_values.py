"""Values along a motion: columns by name, expressions, other times, tables of pandas and datasets of xarray.

A column is t, a coordinate, a speed, the rate of either (q1', u1'), an effort (tau_u1 acts along u1), the work of all
loads but gravity, λ of a row of a constraint, or a reaction that an auxiliary speed brings into evidence. Expressions
know all of these, parameters and measure numbers (r.BODY.x). SI units.
"""

from __future__ import annotations

import importlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..backends import Kernel, compile
from ..boundary import describe_value
from ..errors import InputError, suggestion
from ..formulation import acceleration_symbols, evaluation_program, joint_symbols, power_program, reaction_symbols
from ..graph import Expr
from ..large import refuse_if_too_large
from ..model import Mechanism
from ..model.attitude import unit_quaternions
from ..model.measures import MotionNames
from .answers import Answers
from .records import Array
from .vehicles import refuse_planar_watch
from .watched import effort_names, effort_symbols, force_symbols, watch_expression

if TYPE_CHECKING:
    from .trajectory import Trajectory


def acceleration_names(speeds: tuple[str, ...]) -> tuple[str, ...]:
    """Names of the columns of accelerations."""
    return tuple(f"{name}'" for name in speeds)


def find_coordinate(m: Mechanism, name: str) -> str:
    """The coordinate of a joint that has one alone, by the name of the joint; any other text as it is."""
    joint = None if name in m.known_names else m.joints.get(name)
    if joint is None or len(joint.coordinates) != 1 or joint.coordinates[0].name not in m.coordinates:
        return name
    return joint.coordinates[0].name


def state_columns(run: Trajectory) -> dict[str, Array]:
    """Name → values (k,) of what a motion keeps: t, coordinates, speeds, efforts and work."""
    m = run.answers.mechanism
    return {
        "t": run.t,
        **dict(zip(m.coordinates, run.q.T, strict=True)),
        **dict(zip(m.speeds, run.u.T, strict=True)),
        **dict(zip(effort_names(m.speeds), run.tau.T, strict=True)),
        "work": run.work,
    }


def column(run: Trajectory, name: Any) -> Array:
    """Values (k,) of a column by its name."""
    known = state_columns(run)
    if isinstance(name, str) and name in known:
        return known[name]
    m = run.answers.mechanism
    rates = acceleration_names(m.speeds)
    if isinstance(name, str) and name in rates:
        return run.acceleration()[:, rates.index(name)]
    if isinstance(name, str) and name in m.all_row_names:
        return run.multipliers[:, m.all_row_names.index(name)]
    named = (*acceleration_names(m.coordinates), *reaction_symbols(m), *joint_symbols(m))
    if isinstance(name, str) and name in named:
        return evaluate(run, name)
    names = [*known, *rates, *m.all_row_names, *named]
    near = suggestion(name, names) if isinstance(name, str) else f"known: {', '.join(names[:12])}"
    raise InputError(
        f"run[{describe_value(name)}]: the motion of '{m.name}' has no such column\n"
        f"    fix: {near}; of expressions ask run.evaluate('...')"
    )


def evaluate(run: Trajectory, expression: Any) -> Array:
    """Values (k,) of an expression along a motion."""
    answers, kernel = run.answers, _kernel_of(run, expression)
    inputs: dict[str, Any] = {"t": run.t[:, None], "q": run.q, "u": run.u, "work": run.work[:, None], "tau": run.tau}
    for group in kernel.program.inputs:
        if group.name == "udot":
            inputs["udot"] = run.acceleration()
        elif group.name == "multipliers":
            inputs["multipliers"] = run.multipliers
        elif group.name == "parameters":
            inputs["parameters"] = answers.values
    return np.asarray(kernel(*(inputs[g.name] for g in kernel.program.inputs)))[:, 0]


def read_expression(answers: Answers, expression: Any) -> Expr:
    """An expression over the columns of a motion, in the graph of the description."""
    m = answers.mechanism
    refuse_if_too_large(m, "evaluate")
    with answers.cache.lock:  # a text becomes part of the graph of the description
        watched = watch_expression(m, expression, "evaluate", column_symbols(m))
        refuse_planar_watch(m, [watched])
    return watched


def column_symbols(m: Mechanism) -> dict[str, Expr]:
    """Names and symbols of columns that expressions know and events do not: accelerations and the work."""
    accelerations = dict(zip(acceleration_names(m.speeds), acceleration_symbols(m), strict=True))
    return accelerations if "work" in m.known_names else {**accelerations, "work": m.graph.input("work")}


def unit_of(mechanism: Mechanism, expression: Expr, measured: Mapping[Expr, str] | None = None) -> str:
    """The unit of an expression over columns, as far as the joints define it, with that of `measured` parts of it."""
    from ..viewer.units import expression_unit, units_by_name, variable_units  # which imports what draws

    symbols = force_symbols(mechanism) | effort_symbols(mechanism) | column_symbols(mechanism)
    units = units_by_name(mechanism)
    known = {symbol: units.get(name, "") for name, symbol in MotionNames(mechanism, symbols).plain.items()}
    return expression_unit(expression, {**(measured or {}), **variable_units(mechanism), **known})


_MEASURED = {"r": "m", "v": "m/s", "w": "rad/s"}
"""Units of measure numbers, by what is measured."""


def unit_of_text(answers: Answers, text: str) -> str:
    """The same of a text, in which measure numbers (r.BODY.x) have theirs."""
    names = re.findall(r"(?<![\w.])[rvw]\.[\w.]+\.[xyz]\b", text)
    measured = {read_expression(answers, name): _MEASURED[name[0]] for name in names}
    return unit_of(answers.mechanism, read_expression(answers, text), measured)


def has_values_between(run: Trajectory, expression: Any) -> bool:
    """Whether an expression has values between the samples of a motion as its states have: where it follows from these
    alone, or, while nothing comes and goes, from efforts too. Accelerations follow from both where nothing holds but
    joints; multipliers are known at samples alone."""
    needs, m = {group.name for group in _kernel_of(run, expression).program.inputs}, run.answers.mechanism
    if needs <= {"t", "q", "u", "parameters"}:
        return True
    return not m.changing and "multipliers" not in needs and ("udot" not in needs or not m.constraints)


def _kernel_of(run: Trajectory, expression: Any) -> Kernel:
    """The compiled program of an expression, made once."""
    answers = run.answers
    watched = read_expression(answers, expression)
    return answers.make_once(("evaluation", watched), lambda: _evaluation(answers, watched))


def _evaluation(answers: Answers, expression: Expr) -> Kernel:
    """The program of an expression; where constraints come and go, of the twin in which every row holds."""
    return compile(evaluation_program(answers.all_rows_held().fresh_equations(), [expression]))


# other times ---------------------------------------------------------------------------------------------------------


def resample(run: Trajectory, times: Any) -> Trajectory:
    """The motion at other times within its span: so many at equal distances, or those of an array.

    Between two samples coordinates and speeds are cubics through both states with the rates that the equations of
    motion give there, so the error falls with the fourth power of their distance; efforts are those of the compiled
    control law there, else linear. At the time of a transition the state is the one before it.
    """
    t = _times(run, times)
    sign = 1.0 if run.t[-1] >= run.t[0] else -1.0
    left = np.clip(np.searchsorted(sign * run.t, sign * t, side="left") - 1, 0, len(run.t) - 2)
    _refuse_jumps(run, t, left)
    span = run.t[left + 1] - run.t[left]
    return _between(run, left, np.divide(t - run.t[left], span, out=np.zeros_like(t), where=span != 0.0), t)


@dataclass(frozen=True, slots=True)
class EffortLaw:
    """Efforts (k, n) that a compiled control law gives at times (k,) and states, with the `constant` ones beside it."""

    kernel: Kernel
    values: tuple[Array, ...]
    constant: Array

    @classmethod
    def of(cls, answers: Answers, kernel: Kernel, constant: Array) -> EffortLaw:
        """With the values of parameters, where the law has any."""
        takes = any(group.name == "parameters" for group in kernel.program.inputs)
        return cls(kernel, (answers.values,) if takes else (), constant)

    def __call__(self, t: Array, q: Array, u: Array) -> Array:
        return self.constant + np.atleast_2d(self.kernel(t[:, None], q, u, *self.values))


@dataclass(frozen=True, slots=True)
class Finer:
    """A motion with more samples: those of a coarser one and, in its steps, shares of the way from one to the next."""

    run: Trajectory
    left: Any
    share: Array

    def join(self, values: Array) -> Array:
        """Values at the coarser samples, joined by straight lines."""
        share, before = self.share.reshape(-1, *(1,) * (values.ndim - 1)), values[self.left]
        return np.where(share == 0.0, before, (1.0 - share) * before + share * values[self.left + 1])


def smooth(run: Trajectory) -> Finer | None:
    """The motion with more samples in every step where there are few, so that lines between them look like curves; what
    jumps still does. None where there are samples enough."""
    steps = len(run.t) - 1
    parts = -(-SMOOTH // max(1, steps))
    if steps < 1 or parts < 2:
        return None
    left, share = np.repeat(np.arange(steps), parts), np.tile(np.arange(parts) / parts, steps)
    left, share = np.append(left, steps - 1), np.append(share, 1.0)
    jumps = np.array([x.t for x in run.transitions[1:]])
    inside = (run.t[:-1, None] < jumps) & (jumps < run.t[1:, None])  # times that were asked for, not those of steps
    plain = inside.any(axis=1) | (run.t[1:] == run.t[:-1])
    kept = (share == 0.0) | (share == 1.0) | ~plain[left]
    left, share = left[kept], share[kept]
    return Finer(_between(run, left, share, (1.0 - share) * run.t[left] + share * run.t[left + 1]), left, share)


SMOOTH = 400
"""Steps from which on lines between their ends look like curves on a page."""


def _between(run: Trajectory, before: Any, share: Array, t: Array) -> Trajectory:
    """The motion at times t (s), each a share of the way from one sample to the next."""
    after, span, share = before + 1, (run.t[before + 1] - run.t[before])[:, None], share[:, None]
    qdot = np.asarray(run.model.qdot(run.q, run.u, t=run.t[:, None]))
    q = unit_quaternions(run.answers.mechanism, cubic(run.q, qdot, before, after, share, span))
    u = cubic(run.u, run.acceleration(), before, after, share, span)
    tau = (1.0 - share) * run.tau[before] + share * run.tau[after]
    if run.law is not None and np.any(inside := (share[:, 0] > 0.0) & (share[:, 0] < 1.0)):
        tau[inside] = run.law(t[inside], q[inside], u[inside])
    work = cubic(run.work[:, None], _power(run), before, after, share, span)[:, 0]
    return replace(run, t=t, q=q, u=u, tau=tau, work=work, segments=(), step_impulses=None)


def _times(run: Trajectory, times: Any) -> Array:
    """The times (s) that are asked for, in the span of the motion."""
    if len(run.t) < 2:
        raise InputError("the motion has one time alone: there is nothing between\n    fix: simulate for longer")
    if np.ndim(times) == 0 and np.asarray(times).dtype.kind in "iu":
        if times < 2:
            raise InputError(f"resample({times}): give two times or more")
        return np.linspace(float(run.t[0]), float(run.t[-1]), int(times))
    t = np.asarray(times, dtype=np.float64)
    low, high = sorted((float(run.t[0]), float(run.t[-1])))
    if t.ndim != 1 or not t.size:
        raise InputError(f"resample: times have shape {t.shape}\n    fix: give how many, or an array of times (s)")
    if not np.all((t >= low) & (t <= high)):
        raise InputError(
            f"resample: times from {t.min():g} to {t.max():g} s leave the motion, which is from {low:g} to {high:g} s\n"
            "    fix: ask within it, or simulate for longer"
        )
    return t


def _refuse_jumps(run: Trajectory, t: Array, left: Any) -> None:
    """Refuse to draw a curve across a transition that lies between two samples."""
    for change in run.transitions[1:]:
        across = (run.t[left] < change.t) & (change.t < run.t[left + 1]) & (t > run.t[left]) & (t < run.t[left + 1])
        if np.any(across):
            raise InputError(
                f"resample: t = {t[across][0]:g} s lies between two samples with a transition at {change.t:g} s between"
                " them\n    because speeds may jump there\n"
                "    fix: simulate with a span, (t0, t1), whose samples are all steps and transitions"
            )


def cubic(x: Array, rates: Array, a: Any, b: Any, s: Array, h: Array) -> Array:
    """The cubic of Hermite between samples a and b, at shares s of the time h between them."""
    r = 1.0 - s
    ends = r * r * (1.0 + 2.0 * s) * x[a] + s * s * (1.0 + 2.0 * r) * x[b]
    return ends + h * s * r * (r * rates[a] - s * rates[b])


def _power(run: Trajectory) -> Array:
    """Rate of the work (W), (k, 1); by differences where reactions and friction do some of it."""
    answers, m = run.answers, run.answers.mechanism
    if m.changing or answers.recursive() or (m.constraints and answers.equations().constraints.driven):
        flat = np.unique(run.t, return_index=True)[1]
        rates = np.gradient(run.work[flat], run.t[flat]) if len(flat) > 1 else np.zeros(len(flat))
        return np.interp(run.t, run.t[flat], rates)[:, None]
    power = answers.compile_once("power", lambda: power_program(answers.fresh_equations()))
    return np.asarray(power(run.t[:, None], (run.q, run.u, run.tau), answers.values))


# tables of others ----------------------------------------------------------------------------------------------------


def to_pandas(run: Trajectory) -> Any:
    """A DataFrame of pandas over t: coordinates, speeds, efforts and work; units in its `attrs`."""
    pandas = _extra("pandas", "to_pandas")
    found = state_columns(run)
    t = pandas.Index(found.pop("t"), name="t")
    table = pandas.DataFrame(found, index=t)
    table.attrs = {"units": units_of(run.answers.mechanism, found), **_about(run)}
    return table


def to_xarray(run: Trajectory) -> Any:
    """A Dataset of xarray over t: coordinates, speeds, efforts and work, each with its unit."""
    xarray = _extra("xarray", "to_xarray")
    found = state_columns(run)
    t = found.pop("t")
    units = units_of(run.answers.mechanism, found)
    named = {name: ("t", values, {"units": units[name]} if units[name] else {}) for name, values in found.items()}
    return xarray.Dataset(named, {"t": ("t", t, {"units": "s"})}, _about(run))


def units_of(mechanism: Mechanism, names: Any) -> dict[str, str]:
    """Name → unit of columns, empty where the joints do not define it."""
    from ..viewer.units import units_by_name  # which imports what draws

    known = units_by_name(mechanism)
    return {name: known.get(name, "") for name in names}


def _about(run: Trajectory) -> dict[str, str]:
    return {"model": run.answers.mechanism.name, "outcome": str(run.outcome)}


def _extra(package: str, question: str) -> Any:
    """A package that an extra brings."""
    try:
        return importlib.import_module(package)
    except ModuleNotFoundError:
        raise InputError(
            f"{question} needs {package}, which is not installed\n    fix: pip install 'kane[ensemble]'"
        ) from None


__all__ = [
    "EffortLaw",
    "acceleration_names",
    "column",
    "column_symbols",
    "evaluate",
    "read_expression",
    "resample",
    "state_columns",
    "to_pandas",
    "to_xarray",
    "unit_of",
    "units_of",
]
