"""Units of coordinates, speeds and efforts, as far as the joints define them, and of expressions that are made of what
has one; empty elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from ..formulation import joint_symbols
from ..formulation.ground_symbols import ground_symbols
from ..graph import Expr, reachable
from ..graph.rules import CONST, INPUT
from ..model import Joint, Mechanism
from .unit_powers import NUMBER, Powers, invert, multiply, read_unit, square_root, write_unit

_COORDINATES = {
    "revolute": ("rad",),
    "screw": ("rad",),
    "prismatic": ("m",),
    "cylindrical": ("rad", "m"),
    "universal": ("rad", "rad"),
    "gimbal": ("rad", "rad", "rad"),
    "spherical": ("", "", "", ""),
    "planar": ("m", "m", "rad"),
    "free": ("", "", "", "", "m", "m", "m"),
}
_SPEEDS = {
    "spherical": ("rad/s", "rad/s", "rad/s"),
    "free": ("rad/s", "rad/s", "rad/s", "m/s", "m/s", "m/s"),
}
_EFFORTS = {"rad/s": "N m", "m/s": "N", "": ""}
_ACCELERATIONS = {"rad/s": "rad/s²", "m/s": "m/s²"}
_GROUND = {"longitudinal": "N", "lateral": "N", "normal": "N", "friction": "", "tipover": "N rad"}
_REACTIONS = {"force": "N", "moment": "N m"}


def coordinate_units(model: Mechanism) -> list[str]:
    """The unit of each coordinate, in the order of q."""
    known: dict[str, str] = {}
    for joint in model.joints.values():
        names = [c.name for c in joint.coordinates]
        known.update(zip(names, _COORDINATES.get(joint.type.kind, ("",) * len(names)), strict=False))
    return [known.get(name, "") for name in model.coordinates]


def drive_units(unit: str) -> str:
    """Units of a coordinate, of its rate and of the effort along it."""
    return {"rad": "rad, rad/s, N m", "m": "m, m/s, N"}.get(unit, "")


def speed_units(model: Mechanism) -> list[str]:
    """The unit of each speed, in the order of u: that of the motion variables it is made of by angles alone, as measure
    numbers of ω are; empty where lengths or numbers are in it, which may have units of their own."""
    known = {repr(variable): unit for variable, unit in variable_units(model).items()}
    angles = {name for name, unit in zip(model.coordinates, coordinate_units(model), strict=True) if unit == "rad"}
    return [
        known.get(repr(s.definition)) or _made_of(s.definition, known, angles) for s in model.speed_records.values()
    ]


def variable_units(model: Mechanism) -> dict[Expr, str]:
    """Motion variables of joints, in the graph of the description, each with its unit."""
    return {
        variable: unit
        for joint in model.joints.values()
        for variable, unit in zip(joint.rates, _rate_units(joint), strict=False)
    }


def _made_of(definition: Expr, known: Mapping[str, str], angles: Collection[str]) -> str:
    """The one unit of the rates in an expression with nothing else in it than angles; empty otherwise."""
    graph = definition.graph
    leaves = [graph.args[node][0] for node in reachable(graph, [definition.id]) if graph.ops[node] in _LEAVES]
    units = {known.get(leaf, "") for leaf in leaves if leaf not in angles and leaf not in _SIGNS}
    return units.pop() if len(units) == 1 else ""


_LEAVES = (CONST, INPUT)
_SIGNS = (1.0, -1.0)


def _rate_units(joint: Joint) -> tuple[str, ...]:
    kind = joint.type.kind
    if kind in _SPEEDS:
        return _SPEEDS[kind]
    return tuple(f"{unit}/s" if unit else "" for unit in _COORDINATES.get(kind, ("",) * len(joint.rates)))


def effort_units(model: Mechanism) -> list[str]:
    """The unit of the effort along each speed, in the order of u."""
    return [_EFFORTS.get(unit, "") for unit in speed_units(model)]


def expression_unit(expression: Expr, known: Mapping[Expr, str]) -> str:
    """The unit of an expression, as far as it follows from those that are `known`. Sums, sizes and extremes have that
    of their terms; products, quotients and roots that of their factors, none where one is not known: parameters may
    have any, and numbers too, as the 180/pi of degrees."""
    graph = expression.graph
    given = {e.id: read_unit(unit) for e, unit in known.items()}
    units = {node: unit for node, unit in given.items() if graph.ops[node] != CONST or node == expression.id}
    for node in reachable(graph, [expression.id], units):
        op, args = graph.ops[node], graph.args[node]
        rule = _RULES.get(op)
        units[node] = None if rule is None else rule(*(units[a] for a in args))
    return write_unit(units[expression.id])


def _of_terms(*terms: Powers | None) -> Powers | None:
    """The one unit that some terms have; what is not known, or is a number, has the same."""
    found = set(terms) - {None, NUMBER}
    return found.pop() if len(found) == 1 else None


def _of_product(a: Powers | None, b: Powers | None) -> Powers | None:
    return None if a is None or b is None else multiply(a, b)


def _of_quotient(a: Powers | None, b: Powers | None) -> Powers | None:
    return None if a is None or b is None else multiply(a, invert(b))


def _of_root(a: Powers | None) -> Powers | None:
    return None if a is None else square_root(a)


_RULES: Mapping[str, Callable[..., Powers | None]] = {
    **dict.fromkeys(("add", "sub", "neg", "abs", "min", "max"), _of_terms),
    **dict.fromkeys(("sin", "cos", "tan", "exp", "log", "sign"), lambda _: NUMBER),
    **dict.fromkeys(("asin", "acos", "atan2"), lambda *_: read_unit("rad")),
    "mul": _of_product,
    "div": _of_quotient,
    "sqrt": _of_root,
}
"""What the unit of a result is, by operation, given those of what it takes."""


def units_by_name(model: Mechanism) -> dict[str, str]:
    """The unit of every column of a motion, by its name: t, coordinates, their rates (q1'), speeds, accelerations
    (u1'), efforts (tau_u1), work, λ of rows of constraints, reactions that auxiliary speeds bring into evidence or of
    joints and constraints (force.JOINT.x), and what the ground does (normal.WHEEL); empty where the description does
    not define it."""
    speeds = dict(zip(model.speeds, speed_units(model), strict=True))
    reactions = () if model.auxiliary is None else model.auxiliary.reactions
    held = (*model.constraints.values(), *model.changing.values())
    return {
        **{name: row.unit for part in held for name, row in zip(part.row_names(), part.rows, strict=True)},
        **{reaction.name: reaction.unit for reaction in reactions},
        **{name: _GROUND.get(name.partition(".")[0], "") for name in ground_symbols(model)},
        **{name: _REACTIONS[name.partition(".")[0]] for name in joint_symbols(model)},
        "t": "s",
        **dict(zip(model.coordinates, coordinate_units(model), strict=True)),
        **speeds,
        **{f"{c}'": f"{unit}/s" for c, unit in zip(model.coordinates, coordinate_units(model), strict=True) if unit},
        **{f"{name}'": _ACCELERATIONS.get(unit, "") for name, unit in speeds.items()},
        **{f"tau_{name}": _EFFORTS.get(unit, "") for name, unit in speeds.items()},
        "work": "J",
    }
