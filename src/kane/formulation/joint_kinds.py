"""Kinds of joints that recursions over bodies have steps for: which joint types they serve, and by which options.

Axes are turned to z by the tables of a tree (`large/tree.py`), so that joints about any axis share one kind. What
changes how a joint moves (a sequence, the axes of its velocity) makes a kind of its own. A joint type that has anything
else to it is not served.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, is_dataclass

from ..graph import Graph
from ..model.joints import (
    Cylindrical,
    Free,
    Gimbal,
    JointType,
    Planar,
    Prismatic,
    Revolute,
    Screw,
    Spherical,
    Universal,
    Weld,
)
from ..space import rotations


@dataclass(frozen=True, slots=True)
class JointKind:
    """All that steps depend on: the kind of joint, with its axis along z, its sequence or the like, and whether rotors
    are geared to it."""

    kind: str
    option: str = ""
    rotor: bool = False

    @property
    def type(self) -> JointType:
        """A joint of this kind in a graph of its own; the pitch of a screw is an input."""
        return joint_of(self, Graph())

    @property
    def extra_constants(self) -> int:
        """How many constants stand in `body` after the inertia: pitch of a screw, inertias of rotors."""
        return (self.kind == "screw") + (len(self.type.speeds) if self.rotor else 0)


def joint_kind(type: JointType, rotor: bool = False) -> JointKind | None:
    """The kind whose steps serve a joint of `type`, once its axes are turned; None where there are none for it."""
    known = _FIELDS.get(type.__class__)  # a subclass may move otherwise
    if known is None or not is_dataclass(type) or {f.name for f in fields(type)} != {*known.turned, *known.options}:
        return None
    kind = "gimbal" if isinstance(type, Gimbal) else type.kind
    option = " ".join(getattr(type, name) for name in known.options)
    return JointKind(kind, option, rotor and bool(type.speeds))


@dataclass(frozen=True, slots=True)
class _Fields:
    """The fields of a joint type: what the tables of a tree take up (axes turned, a constant of the body), and options
    that make a kind of their own. A type with a field that is neither has no steps."""

    turned: tuple[str, ...] = ()
    options: tuple[str, ...] = ()


_FIELDS: Mapping[type, _Fields] = {
    Weld: _Fields(),
    Revolute: _Fields(("axis",)),
    Prismatic: _Fields(("axis",)),
    Screw: _Fields(("axis", "pitch")),
    Cylindrical: _Fields(("axis",)),
    Gimbal: _Fields(options=("sequence",)),
    Universal: _Fields(options=("sequence",)),
    Spherical: _Fields(),
    Planar: _Fields(("normal",), ("velocity",)),
    Free: _Fields(options=("velocity",)),
}


def joint_of(kind: JointKind, graph: Graph) -> JointType:
    """A joint of this kind in a graph, its axis along z; the pitch of a screw is the input "pitch"."""
    z = rotations.unit(graph, 2)
    makers = {
        "weld": lambda: Weld(),
        "revolute": lambda: Revolute(z),
        "prismatic": lambda: Prismatic(z),
        "screw": lambda: Screw(z, graph.input("pitch")),
        "cylindrical": lambda: Cylindrical(z),
        "gimbal": lambda: Gimbal(kind.option),
        "spherical": lambda: Spherical(),
        "planar": lambda: Planar("z", kind.option),
        "free": lambda: Free(kind.option),
    }
    return makers[kind.kind]()


__all__ = ["JointKind", "joint_kind", "joint_of"]
