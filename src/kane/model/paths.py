"""Path tables of a tree: is this body, is this joint, in the path from the ground to that body? [STON08]"""

from __future__ import annotations

from dataclasses import dataclass

from .mechanism import Mechanism

MARK = "x"


@dataclass(frozen=True, slots=True)
class PathTable:
    """Rows are bodies; columns are bodies or joints; `entries[r][c]` says whether column c is in the path of row r."""

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    entries: tuple[tuple[bool, ...], ...]

    def __str__(self) -> str:
        left = max((len(r) for r in self.rows), default=0)
        head = " " * left + "".join(f"  {c}" for c in self.columns)
        lines = [self.title, head.rstrip()]
        for row, marks in zip(self.rows, self.entries, strict=True):
            cells = (f"  {(MARK if m else ''):^{len(c)}}" for c, m in zip(self.columns, marks, strict=True))
            lines.append(f"{row:<{left}}{''.join(cells)}".rstrip())
        return "\n".join(lines)


def body_path_table(mechanism: Mechanism) -> PathTable:
    """Is this body (column) in the path of that body (row)? A body is in its own path."""
    names = tuple(mechanism.bodies)
    paths = {name: set(_path(mechanism, name)) for name in names}
    entries = tuple(tuple(c in paths[r] for c in names) for r in names)
    return PathTable("Body path table: is this body in the path of that body?", names, names, entries)


def joint_path_table(mechanism: Mechanism) -> PathTable:
    """Is this joint (column) in the path of that body (row)?"""
    rows, columns = tuple(mechanism.bodies), tuple(mechanism.joints)
    crossed = {}
    for row in rows:
        inboard = (mechanism.bodies[b].joint for b in _path(mechanism, row))
        crossed[row] = {j.name for j in inboard if j is not None}
    entries = tuple(tuple(c in crossed[r] for c in columns) for r in rows)
    return PathTable("Joint path table: is this joint in the path of that body?", rows, columns, entries)


def _path(mechanism: Mechanism, body: str) -> list[str]:
    """Names of the bodies from `body` inwards to the one that hangs on the ground."""
    found = []
    at = mechanism.bodies.get(body)
    while at is not None and at is not mechanism.ground:
        found.append(at.name)
        at = at.joint.parent if at.joint is not None else None
    return found
