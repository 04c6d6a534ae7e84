"""Whether definitions of generalized speeds, u = Y(q) s + Z, can be solved for the motion variables s.

Judged by the rank of Y in a generic state, block by block: speeds that share no motion variable have nothing to do with
each other, so that many definitions of a few rates each cost little.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..errors import ExpressionError, ModelError, Problem
from ..graph import Expr, evaluate, linear_coefficients
from ..space import rotations
from .joints import Free, Planar, Spherical
from .measures import measure_numbers
from .records import Joint, Speed

if TYPE_CHECKING:
    from .symbols import Symbols
    from .tree import Tree

_GENERIC_SEED = 7  # of the state at which definitions of speeds are judged
_INVOLVED = 1e-6  # smallest part of a speed in a combination that is named
_LARGEST_BLOCK = 600  # rows whose rank takes a fraction of a second; larger blocks are judged by the formulation
_NAMED = 10  # speeds that an error names


def check_definitions(m: Symbols, speeds: Sequence[Speed]) -> None:
    """Refuse definitions that are not linear in the motion variables or cannot be solved for them."""
    rows = _coefficients(m, speeds)
    values = m.values_of([e for row in rows for e in row.values()])
    generic = np.random.default_rng(_GENERIC_SEED)
    values.update((name, float(generic.uniform(0.2, 1.3))) for name in ("t", *m.coordinate_records))
    numbers = iter(evaluate([e for row in rows for e in row.values()], values))
    known = [{name: next(numbers) for name in row} for row in rows]
    for members, variables in _blocks(known):
        if max(len(members), len(variables)) > _LARGEST_BLOCK and len(members) == len(variables):
            continue
        left = _vanishing_combination([known[k] for k in members], variables)
        if left is not None:
            involved = [speeds[k].name for k, c in zip(members, left, strict=True) if abs(c) > _INVOLVED]
            named = ", ".join(involved[:_NAMED]) + (
                "" if len(involved) <= _NAMED else f" and {len(involved) - _NAMED} more"
            )
            what = f"{named} cannot be solved for the rates of the coordinates"
            if len(involved) == 1:
                because = "it does not depend on them, as the velocity of a point that does not move"
                fix = "write rates (q1'), w.BODY.x, v.BODY.x of a body's origin or v.BODY.center.x of its mass centre"
            else:
                because = "generalized speeds determine the rates"
                fix = "define them so that none is a combination of the others"
            raise ModelError(Problem(m.where("speeds"), what, because, fix))


def start_alike(m: Symbols, chosen: Mapping[str, Speed]) -> dict[str, Speed]:
    """Chosen speeds with the initial values that they have in the initial motion of a mechanism; zero where its own
    speeds do not determine that."""
    own = list(m.speed_records.values())
    if not any(s.initial for s in own):
        return dict(chosen)
    variables = list(m.motion_variables.values())
    Y, Z = linear_coefficients([s.definition for s in own], variables)
    exprs = [*(e for row in Y for e in row), *Z]
    definitions = [s.definition for s in chosen.values()]
    values = {**m.values_of([*exprs, *definitions]), "t": 0.0}
    values.update((c.name, c.initial) for c in m.coordinate_records.values())
    numbers = np.array(evaluate(exprs, values))
    left = np.array([s.initial for s in own]) - numbers[-len(own) :]
    try:
        rates = np.linalg.solve(numbers[: -len(own)].reshape(len(own), -1), left)
    except np.linalg.LinAlgError:
        return dict(chosen)
    values.update(zip(map(repr, variables), rates.tolist(), strict=True))
    starts = evaluate(definitions, values)
    if not np.all(np.isfinite(starts)):
        return dict(chosen)
    return {s.name: replace(s, initial=x) for s, x in zip(chosen.values(), starts, strict=True)}


def _coefficients(m: Symbols, speeds: Sequence[Speed]) -> list[dict[str, Expr]]:
    """Motion variable → its factor, for each speed."""
    rows = []
    for speed in speeds:
        used = [name for name in m.inputs_of([speed.definition]) if name in m.motion_variables]
        try:
            ((factors,), _) = linear_coefficients([speed.definition], [m.motion_variables[name] for name in used])
        except ExpressionError as error:
            because = "a generalized speed is linear in the rates of the coordinates"
            raise ModelError(Problem(m.where(f"speed '{speed.name}'"), str(error), because)) from None
        rows.append({name: e for name, e in zip(used, factors, strict=True) if not e.is_zero})
    return rows


def _blocks(rows: Sequence[Mapping[str, float]]) -> list[tuple[list[int], list[str]]]:
    """(rows, variables) of each group of rows that hang together by the variables in them."""
    having: dict[str, list[int]] = {}
    for k, row in enumerate(rows):
        for name in row:
            having.setdefault(name, []).append(k)
    found, seen = [], set()
    for start in range(len(rows)):
        if start in seen:
            continue
        seen.add(start)
        members, variables = [start], {}
        for k in members:
            for name in rows[k]:
                if name not in variables:
                    variables[name] = None
                    new = [other for other in having[name] if other not in seen]
                    seen.update(new)
                    members += new
        found.append((sorted(members), list(variables)))
    return found


def _vanishing_combination(rows: Sequence[Mapping[str, float]], variables: Sequence[str]) -> Sequence[float] | None:
    """Weights of rows whose sum is zero; None where there are none, or where a generic state has no value."""
    if len(rows) > len(variables) and len(rows) > _LARGEST_BLOCK:
        return [1.0] * len(rows)  # more rows than variables: some of them
    Y = np.zeros((len(rows), len(variables)))
    column = {name: j for j, name in enumerate(variables)}
    for i, row in enumerate(rows):
        for name, value in row.items():
            Y[i, column[name]] = value
    if not np.all(np.isfinite(Y)):
        return None  # the equations are judged when they are formulated
    if not variables:
        return [1.0] * len(rows)
    return None if np.linalg.matrix_rank(Y) == len(rows) else np.linalg.svd(Y)[0][:, -1].tolist()


def describe_speeds(tree: Tree) -> dict[str, str]:
    """Name → definition of every speed in words of the field: q1' is the rate of a coordinate, w.bus.x a component of
    the angular velocity of a body along its axes, v.bus.x one of the velocity of its origin; "in base" where the joint
    is not on the ground."""
    return describe_definitions(tree, {name: repr(speed.definition) for name, speed in tree.speed_records.items()})


def describe_definitions(tree: Tree, definitions: Mapping[str, str]) -> dict[str, str]:
    """Definitions of speeds, in motion variables, with those variables in words of the field."""
    words = _variable_words(tree)
    if not words:
        return dict(definitions)
    names = "|".join(re.escape(name) for name in sorted(words, key=len, reverse=True))
    place = re.compile(rf"(?<![\w.'])(?:{names})(?![\w'])")
    return {name: place.sub(lambda match: words[match[0]], text) for name, text in definitions.items()}


def are_rates(tree: Tree, definitions: Collection[Expr]) -> bool:
    """Whether speeds that are defined so are the rates of the coordinates, one each: u = q̇."""
    rates = set(tree.coordinate_rates.values())
    return len(rates) == len(definitions) == len(tree.coordinate_records) and rates == set(definitions)


def _variable_words(tree: Tree) -> dict[str, str]:
    """Motion variables that are no rates of coordinates, or not named as these → what they are."""
    known = set(tree.coordinate_records)
    found = _words_outside_joints(tree)
    for joint in tree.joints.values():
        where = "" if joint.parent is tree.ground else f" in {joint.parent.name}"
        if joint.child_mount != tree.unturned:
            where += f", axes of joint {joint.name}"
        for variable, meaning in zip(map(repr, joint.rates), _meanings(joint), strict=False):
            if meaning.endswith("'"):
                found[variable] = meaning
            elif variable.rstrip("'") not in known:
                found[variable] = f"{meaning}{where}"
    return found


def _words_outside_joints(tree: Tree) -> dict[str, str]:
    """What the motion variables are that no joint has, where rates of coordinates are written in them: such a rate, a
    measure number of a body, or else a name for what stands in the rates."""
    left = set(tree.motion_variables) - {repr(v) for joint in tree.joints.values() for v in joint.rates}
    left -= {f"{name}'" for name in tree.coordinate_records}
    if not left:
        return {}
    rates = {symbol: f"{symbol!r}'" for symbol in tree.coordinate_rates}
    words = {expr: ".".join(measured) for expr, measured in measure_numbers(tree, tree.bodies.values()).items()}
    words |= {expr: rates[symbol] for symbol, expr in tree.coordinate_rates.items()}
    found: dict[str, str] = {}
    for name in left:
        used = [rates[q] for q, expr in tree.coordinate_rates.items() if name in tree.inputs_of([expr])]
        found[name] = words.get(tree.motion_variables[name], f"motion variable in {', '.join(used) or 'no rate'}")
    return found


def _meanings(joint: Joint) -> list[str]:
    """What the motion variables of a joint are, where they are not all rates of its coordinates."""
    kind, child = joint.type, joint.child.name
    angular, linear = ([f"{letter}.{child}.{axis}" for axis in "xyz"] for letter in "wv")
    if isinstance(kind, Spherical):
        return angular
    if isinstance(kind, Free):
        along = [f"{c.name}'" for c in joint.coordinates[4:]]
        return angular + (linear if kind.velocity == "body" else along)
    if isinstance(kind, Planar) and kind.velocity == "body":
        k = rotations.AXES[kind.normal]
        return [linear[(k + 1) % 3], linear[(k + 2) % 3], f"{joint.coordinates[2].name}'"]
    return []


__all__ = ["are_rates", "check_definitions", "describe_definitions", "describe_speeds", "start_alike"]
