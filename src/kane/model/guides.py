"""Constraints of a model file, read into a Mechanism: each has a type and the options of that type, in one table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ..graph import Expr
from .closing import CALLED, CLOSING
from .document import Node
from .parts import Parts
from .symbols import suggestion
from .values import WORD, Entry, Lost


@dataclass(frozen=True, slots=True)
class Kind:
    """What a type of constraint is called in Python, and which options it needs and takes, each with what reads it."""

    method: str
    needs: Mapping[str, str]
    takes: Mapping[str, str] = field(default_factory=dict)

    @property
    def options(self) -> Mapping[str, str]:
        return {**self.needs, **self.takes}


_PLANE = {"on": "body", "at": "triple", "normal": "axis", "normal_row": "truth"}
_BODIES = {"first": "body", "second": "body"}
_PLACES = {"first_at": "triple", "second_at": "triple"}
_JOINTS = {"first": "joint", "second": "joint"}
_TURNED = {"first_rotation": "rotation", "second_rotation": "rotation"}
_LOOP = {**_PLACES, **_TURNED, "along": "text", "rows": "names"}
_SLIDING = {**_PLACES, **_TURNED, "axis": "axis", "rows": "names"}
CONSTRAINTS: Mapping[str, Kind] = {
    "motion": Kind("motion_constraint", {"equations": "equations"}),
    "configuration": Kind("configuration_constraint", {"equations": "equations"}),
    "velocity": Kind(
        "velocity_constraint",
        {"body": "body", "direction": "direction"},
        {"at": "triple", "at_frame": "frame", "frame": "frame", "relative_to": "body", "value": "quantity"},
    ),
    "knife-edge": Kind("knife_edge", {"body": "body"}, {"at": "triple", "direction": "axis", "on": "body"}),
    "gear": Kind("gear", {**_JOINTS, "ratio": "quantity"}, {"offset": "quantity"}),
    "belt": Kind(
        "belt",
        {**_JOINTS, "first_radius": "quantity", "second_radius": "quantity"},
        {"crossed": "truth", "offset": "quantity"},
    ),
    "rack": Kind(
        "rack",
        {"pinion": "joint", "rack": "joint", "radius": "quantity"},
        {"opposite": "truth", "offset": "quantity"},
    ),
    "rolling": Kind(
        "rolling",
        {"body": "body", "radius": "quantity"},
        {"axis": "axis", "center": "triple", "crown": "quantity", **_PLANE},
    ),
    "rolling-sphere": Kind("rolling_sphere", {"body": "body", "radius": "quantity"}, {"center": "triple", **_PLANE}),
    "rolling-on-sphere": Kind(
        "rolling_on_sphere",
        {"body": "body", "radius": "quantity", "on_radius": "quantity"},
        {"center": "triple", "inside": "truth", **_PLANE},
    ),
    "rolling-ellipsoid": Kind(
        "rolling_ellipsoid",
        {"body": "body", "semi_axes": "triple"},
        {"center": "triple", "rotation": "rotation", **_PLANE},
    ),
    "distance": Kind("distance", {**_BODIES, "length": "quantity"}, _PLACES),
    "point-on-plane": Kind("point_on_plane", _BODIES, {**_PLACES, "normal": "axis", "height": "quantity"}),
    "point-on-line": Kind("point_on_line", _BODIES, {**_PLACES, "axis": "axis", "rows": "names"}),
    "point-on-curve": Kind("point_on_curve", {**_BODIES, "equations": "equations"}, {"second_at": "triple"}),
    "weld": Kind("close", _BODIES, _LOOP),
    "revolute": Kind("close", _BODIES, {**_LOOP, "axis": "axis"}),
    "prismatic": Kind("close", _BODIES, _SLIDING),
    "cylindrical": Kind("close", _BODIES, _SLIDING),
    "universal": Kind("close", _BODIES, {**_LOOP, "sequence": "text"}),
    "spherical": Kind("close", _BODIES, _LOOP),
}
_CALLED = {
    **CALLED,
    **dict.fromkeys(("nonholonomic", "pfaffian"), "motion"),
    **dict.fromkeys(("holonomic", "position"), "configuration"),
    **dict.fromkeys(("rope", "rod", "string", "link"), "distance"),
    **dict.fromkeys(("skate", "blade"), "knife-edge"),
    **dict.fromkeys(("wheel", "disc", "disk"), "rolling"),
    **dict.fromkeys(("chain", "pulley"), "belt"),
    "sphere": "rolling-sphere",
}


class Guides(Parts):
    """Reads constraints."""

    def read_constraint(self, name: str, node: Node, line: int) -> None:
        where = f"constraint '{name}'"
        self.places[where] = (node.source, line)
        fields = node.value if isinstance(node.value, Mapping) else {}
        if "type" not in fields:
            what = "'type' is missing" if fields else f"expected a type and its options, found {node.kind}"
            self.note(node.source, line, where, what, mend=f"type is one of {', '.join(CONSTRAINTS)}")
            raise Lost
        kind = self.text(fields["type"], f"{where} / type")
        if kind not in CONSTRAINTS:
            what = f"unknown type '{kind}' of a constraint"
            raise self.refuse(fields["type"], where, what, mend=suggestion(_CALLED.get(kind, kind), CONSTRAINTS))
        known = CONSTRAINTS[kind]
        given = Entry(self, node, where, line, ("type", *known.options))
        values: dict[str, Any] = {key: given.need(key, self._read(how)) for key, how in known.needs.items()}
        values.update((key, given.take(key, self._read(how))) for key, how in known.takes.items())
        given.finish()
        options = {key: value for key, value in values.items() if value is not None}
        if kind in CLOSING:
            options["type"] = kind
        getattr(self.m, known.method)(name, **options)

    def _read(self, how: str) -> Callable[[Node, str], Any]:
        readers: dict[str, Callable[[Node, str], Any]] = {
            "axis": self.axis,
            "body": self.body,
            "direction": self.direction,
            "equations": self.equations,
            "frame": self.frame,
            "joint": self.joint,
            "names": lambda n, w: self.names(n, w) if isinstance(n.value, tuple) else [self.text(n, w)],
            "quantity": self.quantity,
            "rotation": self.rotation,
            "text": self.text,
            "triple": self.triple,
            "truth": self.truth,
        }
        return readers[how]

    def direction(self, node: Node, where: str) -> str | tuple[Expr, Expr, Expr]:
        """A letter, or three components that may depend on the configuration."""
        return node.value if isinstance(node.value, str) else self.triple(node, where)

    def equations(self, node: Node, where: str) -> list[str]:
        """One equation or a list of them, as text."""
        items = node.value if isinstance(node.value, tuple) else (node,)
        texts = [self.text(item, where) for item in items]
        if any(not self.lost_words.isdisjoint(WORD.findall(text)) for text in texts):
            raise Lost  # one of its names has a fault of its own, which has been noted
        return texts
