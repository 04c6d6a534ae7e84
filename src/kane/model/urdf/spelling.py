"""Names of elements and attributes that are read from a URDF, and what a file has mistyped in place of them.

Programs add elements and attributes of their own to URDF, and those are left alone. A name that nothing knows is a
fault only where it is much like one that belongs there and is missing: `<axes>` in a joint without `<axis>`.
"""

from __future__ import annotations

from collections.abc import Mapping

from ...errors import closest, excerpt
from .values import Faults
from .xml import Element

_ORIGIN = {"origin": "xyz rpy"}
_FORMS = {"box": "size", "cylinder": "radius length", "sphere": "radius", "mesh": "filename scale"}
ATTRIBUTES: Mapping[str, Mapping[str, str]] = {
    "robot": {"link": "name", "joint": "name type", "material": "name"},
    "link": {"inertial": "", "visual": "", "collision": ""},
    "inertial": {**_ORIGIN, "mass": "value", "inertia": "ixx iyy izz ixy ixz iyz"},
    "visual": {**_ORIGIN, "geometry": "", "material": "name"},
    "collision": {**_ORIGIN, "geometry": ""},
    "geometry": _FORMS,
    "material": {"color": "rgba"},
    "joint": {
        **_ORIGIN,
        "parent": "link",
        "child": "link",
        "axis": "xyz",
        "dynamics": "damping friction",
        "limit": "lower upper effort velocity",
        "mimic": "joint multiplier offset",
    },
}
"""Element → the elements that are read inside it → the attributes of those that are read."""

_SEVERAL = frozenset({"link", "joint", "visual", "collision"})  # one of them does not make up for another, mistyped
_LETTERS = 1  # by which a mistyped name may be longer or shorter: friction_loss is another word than friction


def correct_spelling(root: Element, faults: Faults) -> None:
    """Note each mistyped name under <robot>, and put what was meant in its place, so that what follows is read."""
    for element in root.children:
        _correct(element, "robot", root, faults, "")
    for element in root.children:
        name = excerpt(element.attributes.get("name", "").strip())
        _descend(element, faults, f"{element.tag} '{name}'")


def _descend(parent: Element, faults: Faults, where: str) -> None:
    if parent.tag not in ATTRIBUTES:
        return
    for element in parent.children:
        _correct(element, parent.tag, parent, faults, where)
        _descend(element, faults, where)


def _correct(element: Element, inside: str, parent: Element, faults: Faults, where: str) -> None:
    known = ATTRIBUTES[inside]
    if element.tag not in known:
        present = {child.tag for child in parent.children} - _SEVERAL
        meant = _find_meant(element.tag, [tag for tag in known if tag not in present])
        if meant is None:
            return
        what, fix = f"unknown element <{excerpt(element.tag)}> in <{inside}>", f"did you mean <{meant}>?"
        faults.note(element.line, where, what, fix=fix)
        element.tag = meant
    names = known[element.tag].split()
    for name in [name for name in element.attributes if name not in names]:
        meant = _find_meant(name, [n for n in names if n not in element.attributes])
        if meant is not None:
            what, fix = f"unknown attribute {excerpt(name)} of <{element.tag}>", f"did you mean {meant}?"
            faults.note(element.line, where, what, fix=fix)
            element.attributes = {**element.attributes, meant: element.attributes[name]}


def _find_meant(name: str, missing: list[str]) -> str | None:
    """The missing name for which another was probably written; names of other namespaces mean themselves."""
    if ":" in name:
        return None
    return closest(name, [n for n in missing if abs(len(n) - len(name)) <= _LETTERS])
