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


_KNOWN = {tag: {inner: frozenset(names.split()) for inner, names in known.items()} for tag, known in ATTRIBUTES.items()}


def correct_spelling(root: Element, faults: Faults) -> None:
    """Note each mistyped name under <robot>, and put what was meant in its place, so that what follows is read."""
    _correct_inside(root, faults, None)


def _correct_inside(parent: Element, faults: Faults, part: Element | None) -> None:
    """Correct what is inside an element, in a link or joint, which is its `part` of the robot. Large files are read
    here: nothing is called for an element in order."""
    if parent.tag not in _KNOWN:
        return
    known = _KNOWN[parent.tag]
    for element in parent.children:
        if element.tag not in known:
            _correct_tags(parent, faults, part)
            break
    for element in parent.children:
        if element.tag in known:
            for name in element.attributes:
                if name not in known[element.tag]:
                    _correct_attributes(element, known[element.tag], faults, part)
                    break
        if element.children:
            _correct_inside(element, faults, part or element)


def _correct_tags(parent: Element, faults: Faults, part: Element | None) -> None:
    known = _KNOWN[parent.tag]
    unknown = [element for element in parent.children if element.tag not in known]
    present = {child.tag for child in parent.children} - _SEVERAL
    for element in unknown:
        meant = _find_meant(element.tag, [tag for tag in known if tag not in present])
        if meant is not None:
            what, fix = f"unknown element <{excerpt(element.tag)}> in <{parent.tag}>", f"did you mean <{meant}>?"
            faults.note(element.line, _place_of(part), what, fix=fix)
            element.tag = meant


def _correct_attributes(element: Element, names: frozenset[str], faults: Faults, part: Element | None) -> None:
    for name in [name for name in element.attributes if name not in names]:
        meant = _find_meant(name, [n for n in sorted(names) if n not in element.attributes])
        if meant is not None:
            what, fix = f"unknown attribute {excerpt(name)} of <{element.tag}>", f"did you mean {meant}?"
            faults.note(element.line, _place_of(part), what, fix=fix)
            element.attributes = {**element.attributes, meant: element.attributes[name]}


def _place_of(part: Element | None) -> str:
    """The link or joint that a fault is in, in words."""
    return "" if part is None else f"{part.tag} '{excerpt(part.attributes.get('name', '').strip())}'"


def _find_meant(name: str, missing: list[str]) -> str | None:
    """The missing name for which another was probably written; names of other namespaces mean themselves."""
    if ":" in name:
        return None
    return closest(name, [n for n in missing if abs(len(n) - len(name)) <= _LETTERS])
