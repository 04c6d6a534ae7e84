"""The tree of a mechanism in lines of text, and its bodies as a table, for the shell and for reports."""

from __future__ import annotations

from .joints import Coupled
from .mechanism import Mechanism
from .records import Joint


def outline(model: Mechanism) -> list[str]:
    """The tree of bodies as lines of text, joints and coordinates beside them."""
    below: dict[str, list[Joint]] = {}
    for joint in model.joints.values():
        below.setdefault(joint.parent.name, []).append(joint)
    lines = ["ground"]
    stack = [(joint, "", i == len(below["ground"]) - 1) for i, joint in enumerate(below.get("ground", []))][::-1]
    while stack:
        joint, indent, last = stack.pop()
        names = ", ".join(c.name for c in joint.coordinates)
        if isinstance(joint.type, Coupled):
            names = f"to {joint.type.follows}, {_law_of_coupling(joint.type)}"
        kind = joint.type.kind
        if joint.name in model.reaction_wheels:
            wheel = model.reaction_wheels[joint.name]
            along = ", ".join(f"{model.number(e, joint.name):.6g}" for e in wheel.axis)
            kind, names = "reaction wheel", f"{names} about ({along}) of {wheel.carrier.name}"
        label = f"{joint.child.name}   {joint.name}: {kind}" + (f" {names}" if names else "")
        lines.append(f"{indent}{'└─ ' if last else '├─ '}{label}")
        children = below.get(joint.child.name, [])
        deeper = indent + ("   " if last else "│  ")
        stack += [(child, deeper, i == len(children) - 1) for i, child in enumerate(children)][::-1]
    loose = [b.name for b in model.bodies.values() if b.joint is None]
    lines += [f"{name}   attached to frame '{model.bodies[name].frame!s}'" for name in loose]
    return lines


def _law_of_coupling(coupled: Coupled) -> str:
    """What a coupled joint does with the coordinate of the other."""
    offset = "" if coupled.offset.is_zero else f" + {coupled.offset}"
    return f"{coupled.ratio}*{coupled.q}{offset}"


_ROUNDING = 1e-12  # share of the largest moment of inertia of a body below which a product is none


def bodies_table(model: Mechanism) -> tuple[tuple[str, ...], list[tuple[str, ...]]]:
    """(head, rows) of masses, mass centres and entries of the matrices of inertia about them; products of inertia where
    some body has one."""
    products = ((0, 1), (0, 2), (1, 2))
    rows, crossed = list[tuple[str, ...]](), False
    for body in model.bodies.values():
        where = f"body '{body.name}'"
        inertia = [[model.number(entry, where) for entry in row] for row in body.inertia]
        least = _ROUNDING * max(abs(inertia[i][i]) for i in range(3))
        mixed = [inertia[i][j] if abs(inertia[i][j]) > least else 0.0 for i, j in products]
        crossed = crossed or any(mixed)
        center = ", ".join(f"{model.number(c, where):g}" for c in body.center)
        entries = [*(inertia[i][i] for i in range(3)), *mixed]
        rows.append((body.name, f"{model.number(body.mass, where):g}", center, *(f"{x:g}" for x in entries)))
    head = ("body", "mass kg", "mass centre m", "Ixx kg m²", "Iyy", "Izz", "Ixy", "Ixz", "Iyz")
    return (head, rows) if crossed else (head[:6], [row[:6] for row in rows])


__all__ = ["bodies_table", "outline"]
