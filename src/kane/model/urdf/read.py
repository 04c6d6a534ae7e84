"""From the elements of a URDF robot to a Mechanism, collecting every fault on the way.

Links become bodies and joints joints, under their own names; the coordinate of joint `elbow` is `q_elbow`, its speed
`u_elbow`. The child link's frame is the joint's, so nothing is converted but orientations, which become matrices.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from ...errors import ModelError
from ..document import shortened
from ..joints import Coupled
from ..mechanism import Mechanism
from ..records import Joint
from ..symbols import is_name
from ..tree import symbol_stem
from .values import Faults, Lost, turn_z_to
from .visuals import Packages, Visuals
from .xml import Element, parse_xml

AnyMechanism = TypeVar("AnyMechanism", bound=Mechanism)

TYPES: Mapping[str, str] = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "weld",
    "floating": "free",
    "planar": "planar",
}
BASES = ("fixed", "floating")
FRICTIONS = ("smooth", "sign", "none")
SMOOTH = 1e-3
"""Rate (rad/s or m/s) at which smooth friction has reached 71 % of its full value."""

_TAKEN = ("ground", "N", "O")  # names of the ground, which a link cannot have


@dataclass(frozen=True, slots=True)
class UrdfOptions:
    """What a URDF leaves open.

    base: `fixed` welds the root link to the ground, `floating` leaves it free (six speeds, components in the link).
    gravity: m/s², in the root's axes at rest. damping: whether <dynamics damping> acts. friction: how <dynamics
    friction> f acts: `smooth` is −f r / √(r² + v²) with v = 1 mm/s or mrad/s, `sign` −f sign(r), `none` not at all.
    packages: folders of the packages that package:// may lead to. strict: refuse inertias that no rigid body has,
    instead of noting them in `Mechanism.remarks`.
    """

    base: str = "fixed"
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    damping: bool = True
    friction: str = "smooth"
    packages: Packages = field(default_factory=tuple)
    strict: bool = False

    def __post_init__(self) -> None:
        for key, value, known in (("base", self.base, BASES), ("friction", self.friction, FRICTIONS)):
            if value not in known:
                raise ValueError(f"{key}={value!r} is not one of {', '.join(known)}")


def read_urdf(
    data: bytes | str,
    source: str,
    into: type[AnyMechanism] = Mechanism,
    *,
    folder: Path | None = None,
    options: UrdfOptions | None = None,
) -> AnyMechanism:
    """The robot that a URDF text describes, as an instance of `into`; errors call the text `source`."""
    root = parse_xml(data.encode() if isinstance(data, str) else data, source)
    return Robot(root, source, folder, options or UrdfOptions()).mechanism(into)


class Robot:
    """One reading of one robot."""

    def __init__(self, root: Element, source: str, folder: Path | None, options: UrdfOptions):
        self.root = root
        self.faults = Faults(source)
        self.folder = folder
        self.options = options
        self.links: dict[str, Element] = {}
        self.joints: dict[str, Element] = {}
        self.inboard: dict[str, str] = {}  # link → its inboard joint
        self.ends: dict[str, tuple[str, str]] = {}  # joint → parent, child
        self.symbols: set[str] = set()
        self.m = Mechanism()

    def mechanism(self, into: type[AnyMechanism]) -> AnyMechanism:
        faults = self.faults
        if self.root.tag != "robot":
            mend = "expand the macros first: xacro file.xacro > file.urdf" if "xacro" in self.root.tag else ""
            faults.note(self.root.line, "", f"the root element is <{shortened(self.root.tag)}>, not <robot>", mend=mend)
            faults.raise_all()
        self.collect()
        start = self.check_tree()
        faults.raise_all()
        name = self.root.attributes.get("name", "").strip() or "robot"
        self.m = m = into(name, gravity=self.options.gravity)
        visuals = Visuals(self.root, faults, self.folder, self.options.packages)
        for name, link in self.links.items():
            self.attempt(link.line, self.read_link, name, link, visuals)
        faults.raise_all()
        self.attempt(self.links[start].line, self.read_base, start)
        mimics = {n: j for n, j in self.joints.items() if j.first("mimic") is not None and self.moves(j)}
        for name, joint in self.joints.items():
            if name not in mimics:
                self.attempt(joint.line, self.read_joint, name, joint)
        self.read_mimics(mimics)
        faults.raise_all()
        self.attempt(self.root.line, m.validate)
        faults.raise_all()
        return m

    def attempt(self, line: int, function: Any, *args: Any) -> None:
        """Call `function`; what is wrong is noted at `line`."""
        try:
            function(*args)
        except ModelError as error:
            self.faults.located(error, line, self.m.where(""))
        except Lost:
            return

    # the tree --------------------------------------------------------------------------------------------------------

    def collect(self) -> None:
        """All links and joints by name."""
        for element in self.root.children:
            if element.tag.startswith("xacro:"):
                mend = "expand the macros first: xacro file.xacro > file.urdf"
                self.faults.note(element.line, "", f"<{shortened(element.tag)}> is a macro", mend=mend)
            table = {"link": self.links, "joint": self.joints}.get(element.tag)
            if table is None:
                continue
            name = element.attributes.get("name", "").strip()
            where = f"{element.tag} '{shortened(name)}'"
            if not is_name(name):
                self.faults.note(element.line, element.tag, f"'{shortened(name)}' is not a name", mend='write name="…"')
            elif name in table:
                first = table[name].line
                law, mend = "names are unique", "rename one of the two"
                self.faults.note(element.line, where, f"the name is there already, on line {first}", law, mend)
            else:
                table[name] = element

    def check_tree(self) -> str:
        """The root link; notes whatever keeps the joints from forming one tree."""
        faults = self.faults
        for name, joint in self.joints.items():
            try:
                self.ends[name] = self.end(joint, "parent", name), self.end(joint, "child", name)
            except Lost:
                continue
            child = self.ends[name][1]
            if child in self.inboard:
                what = f"link '{child}' is already the child of joint '{self.inboard[child]}'"
                law = "in a URDF every link has one parent; loops cannot be written"
                faults.note(joint.line, f"joint '{name}'", what, law)
            else:
                self.inboard[child] = name
        if faults.found:
            return ""
        roots = [name for name in self.links if name not in self.inboard]
        if len(roots) != 1:
            if not self.links:
                faults.note(self.root.line, "", "the robot has no link", mend="is this the expanded file?")
            elif not roots:
                faults.note(self.root.line, "", "every link is the child of a joint", "a robot has one root, no cycle")
            for name in roots[1:]:
                what = f"is a root like '{roots[0]}'"
                law, mend = "a robot has one root link", "join the two by a fixed joint, or split the file"
                faults.note(self.links[name].line, f"link '{name}'", what, law, mend)
            return ""
        self.check_reached(roots[0])
        return roots[0]

    def end(self, joint: Element, which: str, name: str) -> str:
        where = f"joint '{name}'"
        element = joint.first(which)
        if element is None:
            raise self.faults.note(joint.line, where, f"<joint> has no <{which}>", mend=f'write <{which} link="…"/>')
        link = self.faults.word(element, "link", where)
        if link not in self.links:
            raise self.faults.note(element.line, where, f"unknown link '{shortened(link)}'", mend="declare the link")
        return link

    def check_reached(self, root: str) -> None:
        """Note the links that do not hang on the root: they form a cycle."""
        children: dict[str, list[str]] = {}
        for parent, child in self.ends.values():
            children.setdefault(parent, []).append(child)
        reached, stack = {root}, [root]
        while stack:
            for child in children.get(stack.pop(), ()):
                reached.add(child)
                stack.append(child)
        for name, link in self.links.items():
            if name not in reached:
                what = f"follows '{self.leader(joint)}', which follows it"
                law = "a chain of mimics ends at a joint that follows none"
                self.faults.note(joint.line, f"joint '{name}'", what, law)
                return
            for name, joint in ready.items():
                self.attempt(joint.line, self.read_mimic, name, joint)
                del left[name]

    @staticmethod
    def leader(joint: Element) -> str:
        mimic = joint.first("mimic")
        return "" if mimic is None else mimic.attributes.get("joint", "").strip()

    def read_mimic(self, name: str, joint: Element) -> None:
        where, mimic = f"joint '{name}'", joint.first("mimic")
        assert mimic is not None
        kind = self.kind(name, joint)
        parent, child = (self.body(link) for link in self.ends[name])
        follows = self.faults.word(mimic, "joint", where)
        options = self.placement(name, joint, kind)
        options["ratio"] = self.faults.number(mimic, "multiplier", where, 1.0)
        options["offset"] = self.faults.number(mimic, "offset", where, 0.0)
        if follows not in self.joints:
            raise self.faults.note(mimic.line, where, f"mimics the unknown joint '{shortened(follows)}'")
        if follows not in self.m.joints:
            raise Lost  # its own fault has been noted
        record = self.m.joint(name, "coupled", parent, child, moves=kind, follows=follows, **options)
        assert isinstance(record.type, Coupled)
        self.read_dynamics(record, joint, self.m.joints[record.type.follows])
