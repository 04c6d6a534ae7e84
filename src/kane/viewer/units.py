"""Units of coordinates, speeds and efforts, as far as the joints define them, and of expressions that are sums of what
has one; empty elsewhere."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping

from ..formulation.ground_symbols import ground_symbols
from ..graph import Expr, reachable
from ..graph.rules import CONST, INPUT
from ..model import Joint, Mechanism

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
    known: dict[str, str] = {}
    for joint in model.joints.values():
        known.update(zip(map(repr, joint.rates), _rate_units(joint), strict=False))
    angles = {name for name, unit in zip(model.coordinates, coordinate_units(model), strict=True) if unit == "rad"}
    return [
        known.get(repr(s.definition)) or _made_of(s.definition, known, angles) for s in model.speed_records.values()
    ]


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


def units_by_name(model: Mechanism) -> dict[str, str]:
    """The unit of every column of a motion, by its name: t, coordinates, speeds, accelerations (u1'), efforts (tau_u1),
    work, λ of rows of constraints, and reactions that auxiliary speeds bring into evidence; empty where the description
    does not define it."""
    speeds = dict(zip(model.speeds, speed_units(model), strict=True))
    reactions = () if model.auxiliary is None else model.auxiliary.reactions
    held = (*model.constraints.values(), *model.changing.values())
    return {
        **{name: row.unit for part in held for name, row in zip(part.row_names(), part.rows, strict=True)},
        **{reaction.name: reaction.unit for reaction in reactions},
        "t": "s",
        **dict(zip(model.coordinates, coordinate_units(model), strict=True)),
        **speeds,
        **{f"{name}'": _ACCELERATIONS.get(unit, "") for name, unit in speeds.items()},
        **{f"tau_{name}": _EFFORTS.get(unit, "") for name, unit in speeds.items()},
        "work": "J",
    }


_MEASURED = {"r": "m", "v": "m/s", "w": "rad/s"}
_GROUND = {"longitudinal": "N", "lateral": "N", "normal": "N", "friction": "", "tipover": "N rad"}


def unit_of_expression(model: Mechanism, text: str) -> str:
    """The unit of a column, or of an expression that is a name or a sum of names of one unit: columns, rates of
    coordinates, measure numbers (r.BODY.x) and what the ground does (normal.WHEEL); empty where it is not known."""
    known = units_by_name(model)
    known |= {
        f"{name}'": f"{unit}/s" for name, unit in zip(model.coordinates, coordinate_units(model), strict=True) if unit
    }
    if text in known:
        return known[text]
    names = [name.strip() for name in re.split(r"[+-]", text.strip().removeprefix("-"))]
    units = {known.get(name, _unit_of_name(model, name)) for name in names}
    return units.pop() if len(units) == 1 else ""


def _unit_of_name(model: Mechanism, name: str) -> str:
    """The unit of a measure number or of what the ground does; empty of anything else."""
    if re.fullmatch(r"[rvw]\.[\w.]+\.[xyz]", name):
        return _MEASURED[name[0]]
    return _GROUND.get(name.partition(".")[0], "") if name in ground_symbols(model) else ""
