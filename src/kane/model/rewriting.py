"""What is written in generalized speeds, when others are chosen: each keeps its meaning.

An old speed is u = Y q̇ + Z, so whatever names it is written anew in rates of coordinates, and effort f along it becomes
efforts f ∂u/∂s along the motion variables s: the power, f u, is the same. Loads, constraints, what comes and goes, and
control laws are written anew. What makes its expressions by itself when equations are formulated cannot be, nor can
velocities of frames and points that were set; these are refused.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any, cast

from ..errors import ModelError, Problem
from ..graph import Expr, depends_on, linear_coefficients, substitute
from ..graph.passes import dependents
from ..space import Frame, Point
from .constraints import BuiltChanging, BuiltConstraint
from .loads import BuiltLoad
from .records import Body, Joint, NamedControl, Speed

if TYPE_CHECKING:
    from .mechanism import Mechanism

_PARTS = (Body, Joint, Frame, Point)  # of the mechanism: an expression of a record only names them


@dataclass(frozen=True, slots=True)
class Rewritten:
    """Loads, constraints, what comes and goes and control laws of a mechanism, by name, in terms of rates."""

    loads: dict[str, BuiltLoad]
    constraints: dict[str, BuiltConstraint]
    changing: dict[str, BuiltChanging]
    controls: dict[str, NamedControl]


def rewrite_in_rates(m: Mechanism, chosen: Mapping[str, Speed]) -> Rewritten:
    """What names speeds that other `chosen` ones replace, in terms of what they were; a speed that keeps its name and
    its definition is kept."""
    kept = {name for name, s in m.speed_records.items() if name in chosen and chosen[name].definition == s.definition}
    old = {s.symbol: s.definition for s in m.speed_records.values() if s.name not in kept}
    anew = _Replacement(old, dependents(m.graph, range(len(m.graph)), [symbol.id for symbol in old]))
    found = Rewritten(
        {name: replace(load, record=anew(load.record)) for name, load in m.loads.items()},
        {name: anew(constraint) for name, constraint in m.constraints.items()},
        {name: anew(part) for name, part in m.changing.items()},
        {name: NamedControl(name, _efforts(m, law, anew)) for name, law in m.controls.items()},
    )
    _refuse_left(m, found, old)
    return found


@dataclass(frozen=True, slots=True)
class _Replacement:
    """Called on a record, or what its fields hold, gives it with symbols replaced; itself where it names none of them.
    `live` are the nodes that depend on the symbols."""

    symbols: Mapping[Expr, Expr]
    live: set[int]

    def __call__(self, value: Any) -> Any:
        if isinstance(value, Expr):
            return substitute([value], self.symbols)[0] if value.id in self.live else value
        if isinstance(value, tuple | list):
            old = list(cast("Iterable[Any]", value))
            new = [self(part) for part in old]
            same = all(x is y for x, y in zip(new, old, strict=True))
            return value if same else tuple(new) if isinstance(value, tuple) else new
        if isinstance(value, dict):
            table = cast("dict[Any, Any]", value)
            written = {key: self(part) for key, part in table.items()}
            return table if all(written[key] is table[key] for key in table) else written
        if is_dataclass(value) and not isinstance(value, (type, *_PARTS)):
            held = {f.name: getattr(value, f.name) for f in fields(value) if f.init}
            changed = {name: new for name, part in held.items() if (new := self(part)) is not part}
            return replace(value, **changed) if changed else value
        return value


def _efforts(m: Mechanism, law: NamedControl, anew: _Replacement) -> dict[Expr, Expr]:
    """Efforts of a control law along motion variables and speeds that stay."""
    variables, found = list(m.motion_variables.values()), dict[Expr, Expr]()
    for along, effort in law.efforts.items():
        value = anew(effort)
        parts = {along: value}
        if along in anew.symbols:
            ((factors,), _) = linear_coefficients([anew.symbols[along]], variables)
            parts = {s: factor * value for s, factor in zip(variables, factors, strict=True) if not factor.is_zero}
        for variable, part in parts.items():
            found[variable] = found[variable] + part if variable in found else part
    return found


def _refuse_left(m: Mechanism, found: Rewritten, old: Mapping[Expr, Expr]) -> None:
    """Refuse what still names the old speeds."""
    for what, exprs in _find_expressions(m, found):
        if depends_on(exprs, old):
            raise ModelError(
                Problem(
                    m.where("speeds"),
                    f"{what} is written in the speeds that would be replaced, and cannot be written anew",
                    "an expression keeps its meaning",
                    "write it in rates of coordinates (q1'), or choose the speeds before it is declared",
                )
            )


def _find_expressions(m: Mechanism, found: Rewritten) -> Iterator[tuple[str, list[Expr]]]:
    """Words for each part that expressions may be left in, and these."""
    for name, load in found.loads.items():
        yield f"load '{name}'", [e for action in load.actions() for e in action.exprs()]
    for name, constraint in found.constraints.items():
        yield f"constraint '{name}'", [e for row in constraint.rows for e in row.exprs()]
    frames = {id(f): f for f in (*m.frames.values(), *(b.frame for b in m.bodies.values()))}
    for frame in frames.values():
        if frame is not None:
            yield f"the angular velocity of frame '{frame.name}'", [*(frame.w_NF or ()), *(frame.w_PF or ())]
    points = {id(p): p for p in (*m.points.values(), *(b.origin for b in m.bodies.values()))}
    for point in points.values():
        if point is not None:
            vectors = [v for v in (point.v_NP, point.offset_rate) if v is not None]
            yield f"the velocity of point '{point.name}'", [e for v in vectors for e in v.xyz]


__all__ = ["Rewritten", "rewrite_in_rates"]
