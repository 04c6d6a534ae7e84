"""From the elements of a URDF robot to a Mechanism, collecting every fault on the way.

Links become bodies and joints joints, under their own names; the coordinate of joint `elbow` is `q_elbow`, its speed
`u_elbow`. The child link's frame is the joint's, so nothing is converted but orientations, which become matrices.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from ...errors import ExpressionError, ModelError, excerpt, suggestion
from ...space import rotations
from ..bulk import without_collections
from ..constraints import HardStop
from ..files.faults import Lost, TooManyFaults
from ..joints import Coupled
from ..loads import Effort, JointSpring
from ..mechanism import Mechanism
from ..records import Joint
from ..right_angles import name_list
from ..size import MOST_SPEEDS
from ..symbols import KnownRotation, is_name
from ..tree import symbol_stem
from .losses import SMOOTH
from .options import UrdfOptions
from .spelling import correct_spelling
from .values import Array, Faults, each_of, turn_inertia, turn_z_to
from .visuals import Visuals
from .xml import Element, parse_xml

TYPES: Mapping[str, str] = {
    "revolute": "revolute",
    "continuous": "revolute",
    "prismatic": "prismatic",
    "fixed": "weld",
    "floating": "free",
    "planar": "planar",
}
JOINT_OF_BASE: Mapping[str, str] = {"fixed": "weld", "floating": "free", "planar": "planar"}
WORLD = "world"
"""The parent that a robot may hang on without declaring it."""

_TAKEN = ("ground", "N", "O")  # names of the ground, which a link cannot have


def read_urdf(
    data: bytes | str,
    source: str,
    *,
    folder: Path | None = None,
    options: UrdfOptions | None = None,
) -> Mechanism:
    """The robot that a URDF text describes; errors call the text `source`."""
    root = parse_xml(data.encode() if isinstance(data, str) else data, source)
    robot = Robot(root, source, folder, options or UrdfOptions())
    try:
        with without_collections(len(data)):
            return robot.mechanism()
    except TooManyFaults:
        robot.faults.raise_all()
        raise
    except ExpressionError as error:  # of the whole: what one link or joint is about has been noted there
        robot.faults.locate(error, root.line, robot.m.where(""))
        robot.faults.raise_all()
        raise


class Robot:
    """One reading of one robot."""

    def __init__(self, root: Element, source: str, folder: Path | None, options: UrdfOptions):
        self.root = root
        self.faults = Faults(source, options.right_angle)
        self.folder = folder
        self.options = options
        self.links: dict[str, Element] = {}
        self.joints: dict[str, Element] = {}
        self.inboard: dict[str, str] = {}  # link → its inboard joint
        self.ends: dict[str, tuple[str, str]] = {}  # joint → parent, child
        self.symbols: set[str] = set()
        self.stems: dict[str, int] = {}  # stem of symbols → how often it was taken already
        self.m = Mechanism()

    def mechanism(self) -> Mechanism:
        faults = self.faults
        if self.root.tag != "robot":
            fix = "expand the macros first: xacro file.xacro > file.urdf" if "xacro" in self.root.tag else ""
            faults.note(self.root.line, "", f"the root element is <{excerpt(self.root.tag)}>, not <robot>", fix=fix)
            faults.raise_all()
        correct_spelling(self.root, faults)
        self.collect()
        start = self.check_tree()
        self.check_size()
        name = self.root.attributes.get("name", "").strip() or "robot"
        self.m = m = Mechanism(name, gravity=self.options.gravity)
        visuals = Visuals(self.root, faults, self.folder, self.options.packages, self.options.shapes)
        for name, link in self.links.items():
            self.attempt(link.line, self.read_link, name, link, visuals)
        if faults.found:  # what is wrong with joints by themselves is told in the same run
            for name, joint in self.joints.items():
                self.attempt(joint.line, self.check_joint, name, joint)
            faults.raise_all()
        if self.options.base is not None and not self.options.wheels:
            self.attempt(self.links[start].line, self.read_base, start)
        mimics = {n: j for n, j in self.joints.items() if self.is_mimic(j)}
        for name, joint in self.joints.items():
            if name not in mimics:
                self.attempt(joint.line, self.read_joint, name, joint)
        self.read_mimics(mimics)
        faults.raise_all()
        if self.options.wheels:
            self.attempt(self.links[start].line, self.read_wheels, start)
            faults.raise_all()
        if not m.speeds and self.options.base is not None:
            fix = "load it with base='floating'" if self.options.base == "fixed" else "add a joint that moves"
            faults.note(self.root.line, "", "nothing can move", "equations of motion need a speed", fix)
        faults.raise_all()
        self.remark_limits()
        faults.remark_right_angles()
        m.remarks.extend(faults.remarks)
        if self.options.base is not None:
            m.validate()
        return m

    def attempt(self, line: int, function: Any, *args: Any) -> None:
        """Call `function`; what is wrong is noted at `line`."""
        try:
            function(*args)
        except (ModelError, ExpressionError) as error:
            self.faults.locate(error, line, self.m.where(""))
        except Lost:
            return

    # the tree --------------------------------------------------------------------------------------------------------

    def collect(self) -> None:
        """All links and joints by name."""
        for element in self.root.children:
            if element.tag.startswith("xacro:"):
                fix = "expand the macros first: xacro file.xacro > file.urdf"
                self.faults.note(element.line, "", f"<{excerpt(element.tag)}> is a macro", fix=fix)
            table = {"link": self.links, "joint": self.joints}.get(element.tag)
            if table is None:
                continue
            name = element.attributes.get("name", "").strip()
            where = f"{element.tag} '{excerpt(name)}'"
            if not is_name(name):
                self.faults.note(element.line, element.tag, f"'{excerpt(name)}' is not a name", fix='write name="…"')
            elif name in table:
                first = table[name].line
                because, fix = "names are unique", "rename one of the two"
                self.faults.note(element.line, where, f"the name is there already, on line {first}", because, fix)
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
                because = "in a URDF every link has one parent; loops cannot be written"
                faults.note(joint.line, f"joint '{name}'", what, because)
            else:
                self.inboard[child] = name
        if faults.found:
            return ""
        roots = [name for name in self.links if name not in self.inboard]
        if len(roots) != 1:
            if not self.links:
                faults.note(self.root.line, "", "the robot has no link", fix="is this the expanded file?")
            elif not roots:
                faults.note(self.root.line, "", "every link is the child of a joint", "a robot has one root, no cycle")
            for name in roots[1:]:
                what = f"is a root like '{roots[0]}'"
                because, fix = "a robot has one root link", "join the two by a fixed joint, or split the file"
                faults.note(self.links[name].line, f"link '{name}'", what, because, fix)
            return ""
        self.check_reached(roots[0])
        return roots[0]

    def end(self, joint: Element, which: str, name: str) -> str:
        where = f"joint '{name}'"
        element = joint.first(which)
        if element is None:
            raise self.faults.note(joint.line, where, f"<joint> has no <{which}>", fix=f'write <{which} link="…"/>')
        link = self.faults.word(element, "link", where)
        if link == WORLD and which == "parent" and link not in self.links:
            because = "many robots are mounted on a world that they do not declare"
            self.faults.remark(element.line, where, f"link '{WORLD}' is not declared and taken as the ground", because)
            self.links[WORLD] = Element("link", element.line, {"name": WORLD})
        if link not in self.links:
            fix = f"{suggestion(link, self.links)}; or declare the link"
            raise self.faults.note(element.line, where, f"unknown link '{excerpt(link)}'", fix=fix)
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
                what, because = f"does not hang on the root link '{root}'", "joints form a tree, without cycles"
                self.faults.note(link.line, f"link '{name}'", what, because)

    def check_size(self) -> None:
        """Note a robot of more speeds than a file may have."""
        own = (joint for joint in self.joints.values() if not self.is_mimic(joint))
        kinds = (TYPES.get(joint.attributes.get("type", "").strip()) for joint in own)
        speeds = sum({"free": 6, "planar": 3, "weld": 0}.get(kind, 1) for kind in kinds if kind is not None)
        if speeds > MOST_SPEEDS:
            because = f"a robot has {MOST_SPEEDS} at most"
            self.faults.note(self.root.line, "", f"the joints have {speeds} speeds", because, "divide the robot")

    # links and joints ------------------------------------------------------------------------------------------------

    def body(self, link: str) -> str:
        """The name of a link's body: its own, unless that is the ground's."""
        return f"{link}_link" if link in _TAKEN else link

    def read_link(self, name: str, link: Element, visuals: Visuals) -> None:
        where = f"link '{name}'"
        options: dict[str, Any] = {}
        inertial = link.first("inertial")
        if inertial is not None:
            mass = inertial.first("mass")
            if mass is None:
                raise self.faults.note(inertial.line, where, "<inertial> has no <mass>", fix='write <mass value="…"/>')
            (options["center"], R), options["mass"], own = each_of(
                lambda: self.faults.pose(inertial, where),
                lambda: self.faults.number(mass, "value", where),
                lambda: self.faults.inertia(inertial, where),
            )
            options["inertia"] = turn_inertia(own, R)
        options["shapes"] = visuals.shapes(link, where)
        self.m.body(self.body(name), checked=self.options.strict, **options)

    def read_base(self, root: str) -> None:
        name = self.fresh("root_joint", self.joints)
        assert self.options.base is not None
        kind = JOINT_OF_BASE[self.options.base]
        self.m.joint(name, kind, "ground", self.body(root), **self.names(name, kind))

    def read_wheels(self, root: str) -> None:
        """The vehicle that the root link is the platform of."""
        wheels: dict[str, Any] = {}
        for link, value in self.options.wheels.items():
            if link not in self.links:
                what, fix = f"wheel '{excerpt(link)}' is no link", suggestion(link, [*self.links])
                raise self.faults.note(self.root.line, "wheels", what, fix=fix)
            options = dict(value) if isinstance(value, Mapping) else {"radius": value}
            wheels[link] = {"body": self.body(link), **options}
        kind = JOINT_OF_BASE[str(self.options.base)]
        self.m.vehicle(self.body(root), wheels, **{"root": kind, **self.options.vehicle})

    @staticmethod
    def fresh(name: str, taken: Mapping[str, Any] | set[str]) -> str:
        while name in taken:
            name += "_"
        return name

    def names(self, joint: str, kind: str) -> dict[str, Any]:
        """Symbols of the coordinates and speeds of a joint, different from all others."""
        made = self.m.joint_type(kind, {}, "")
        first = stem = symbol_stem(joint)
        while True:
            q, u = (
                [f"{letter}_{stem}_{e}" if e else f"{letter}_{stem}" for e in endings]
                for letter, endings in (("q", made.coordinates), ("u", made.speeds))
            )
            if self.symbols.isdisjoint((*q, *u)):
                self.symbols.update((*q, *u))
                return {"coordinates": q, "speeds": u}
            again = self.stems[first] = self.stems.get(first, 0) + 1
            stem = f"{first}_" if again == 1 else f"{first}_{again}"

    def kind(self, name: str, joint: Element) -> str:
        kind = self.faults.word(joint, "type", f"joint '{name}'")
        if kind not in TYPES:
            fix = suggestion(kind, TYPES)
            raise self.faults.note(joint.line, f"joint '{name}'", f"unknown type '{excerpt(kind)}'", fix=fix)
        return TYPES[kind]

    def is_mimic(self, joint: Element) -> bool:
        kind = TYPES.get(joint.attributes.get("type", "").strip())
        return self.options.mimic and kind in ("revolute", "prismatic") and joint.first("mimic") is not None

    def placement(self, name: str, joint: Element, kind: str) -> dict[str, Any]:
        """Where a joint sits, and its axis, as Mechanism.joint takes them."""
        where = f"joint '{name}'"
        xyz, R = self.faults.pose(joint, where)
        options: dict[str, Any] = {"at": xyz}
        if kind in ("revolute", "prismatic", "planar"):
            axis = np.array(self.faults.triple(joint.first("axis"), "xyz", where, (1.0, 0.0, 0.0)))
            length = float(np.linalg.norm(axis))
            if length == 0.0:
                raise self.faults.note(joint.line, where, "the axis is zero", "an axis has a direction")
            axis = axis / length
            if kind == "planar":
                if np.array_equal(axis, np.eye(3)[2]):
                    options["normal"] = "z"
                else:  # turned so that the plane is that of x and y
                    T = turn_z_to(axis)
                    R = R @ T
                    options["child_rotation"] = self.turn(T)
            else:
                options["axis"] = axis.tolist()
        if not np.array_equal(R, np.eye(3)):
            options["rotation"] = self.turn(R)
        return options

    def turn(self, R: Array) -> KnownRotation:
        """A rotation that was made of angles, as Mechanism.joint takes it."""
        a, b, c = (rotations.triple(self.m.graph, row) for row in R.tolist())
        return KnownRotation((a, b, c), fixed=True)

    def check_joint(self, name: str, joint: Element) -> tuple[str, dict[str, Any]]:
        """The kind of a joint and where it sits; notes all that is wrong with its own values."""
        where, said = f"joint '{name}'", TYPES.get(joint.attributes.get("type", "").strip(), "")
        readers: list[Callable[[], Any]] = [
            lambda: self.kind(name, joint),
            lambda: self.placement(name, joint, said),
        ]
        if said in ("revolute", "prismatic"):
            readers += [lambda: self.bounds(joint, where), lambda: self.losses(joint, where)]
        if self.is_mimic(joint):
            readers.append(lambda: self.following(joint, where))
        kind, options, *more = each_of(*readers)
        return kind, options | (more[-1] if self.is_mimic(joint) else {})

    def read_joint(self, name: str, joint: Element) -> None:
        kind, options = self.check_joint(name, joint)
        parent, child = (self.body(link) for link in self.ends[name])
        record = self.m.joint(name, kind, parent, child, **options, **self.names(name, kind))
        if kind in ("revolute", "prismatic"):
            self.read_limit(record, joint)
            self.read_dynamics(record, joint, record)

    def bounds(self, joint: Element, where: str) -> dict[str, float]:
        """What <limit> says, by name; nothing where there is none."""
        limit = joint.first("limit")
        if limit is None:
            return {}
        usual = {"lower": 0.0, "upper": 0.0, "velocity": math.inf, "effort": math.inf}
        if joint.attributes.get("type", "").strip() == "continuous":
            usual = {"velocity": math.inf, "effort": math.inf}
        readers = (partial(self.faults.bound, limit, key, where, x) for key, x in usual.items())
        return {"lower": -math.inf, "upper": math.inf, **dict(zip(usual, each_of(*readers), strict=True))}

    def read_limit(self, record: Joint, joint: Element) -> None:
        found = self.bounds(joint, f"joint '{record.name}'")
        if not found:
            return
        lower, upper = found["lower"], found["upper"]
        name = record.coordinates[0].name
        self.m.limit(name, **found)
        if not lower <= 0.0 <= upper:
            middle = 0.5 * (lower + upper) if math.isfinite(upper - lower) else max(lower, min(upper, 0.0))
            self.m.set_initial({name: middle})
        if self.options.limits == "stop" and lower < upper:
            ends = {k: x for k, x in (("lower", lower), ("upper", upper)) if math.isfinite(x)}
            if ends:
                self.m.constrain(f"{record.name} stop", HardStop(name, **ends))

    def remark_limits(self) -> None:
        """Tell, once, of the joints whose range URDF demands and the file does not give."""
        bounded = ("revolute", "prismatic")
        open_ends = [
            (name, joint)
            for name, joint in self.joints.items()
            if joint.attributes["type"].strip() in bounded and joint.first("limit") is None and not self.is_mimic(joint)
        ]
        if open_ends:
            names = name_list(f"'{name}'" for name, _ in open_ends)
            kind = open_ends[0][1].attributes["type"].strip()
            what = f"no <limit>: {names} {'move' if len(open_ends) > 1 else 'moves'} without ends"
            fix = "give their ranges" + (
                ', or type="continuous" to those that turn freely' if kind == "revolute" else ""
            )
            because = "URDF demands one of revolute and prismatic joints"
            self.faults.remark(open_ends[0][1].line, "joints" if len(open_ends) > 1 else "joint", what, because, fix)

    def losses(self, joint: Element, where: str) -> tuple[float, float]:
        """(damping, friction) of <dynamics>, zero where nothing is said."""
        dynamics = joint.first("dynamics")
        if dynamics is None:
            return 0.0, 0.0
        damping, friction = each_of(
            lambda: self.faults.number(dynamics, "damping", where, 0.0),
            lambda: self.faults.number(dynamics, "friction", where, 0.0),
        )
        if damping < 0 or friction < 0:
            what = f"damping {damping:g}, friction {friction:g}"
            raise self.faults.note(dynamics.line, where, what, "losses take energy from the motion: none is negative")
        return damping, friction

    def read_dynamics(self, record: Joint, joint: Element, leader: Joint) -> None:
        """Damping and friction as loads, along the coordinate of the joint or of the one that it follows."""
        damping, friction = self.losses(joint, f"joint '{record.name}'")
        rate = record.drive[1]
        share = record.type.ratio if isinstance(record.type, Coupled) else 1.0
        if damping and self.options.damping:
            if record is leader:
                self.m.load(f"{record.name} damping", JointSpring(leader, damping=damping))
            else:
                self.m.load(f"{record.name} damping", Effort(leader, -(share * (damping * rate))))
        if friction and self.options.friction != "none":
            smooth = self.options.friction == "smooth"
            sense = rate / (rate * rate + SMOOTH * SMOOTH).sqrt() if smooth else rate.sign()
            self.m.load(f"{record.name} friction", Effort(leader, -(share * (friction * sense))))

    def read_mimics(self, mimics: Mapping[str, Element]) -> None:
        """Joints that follow others, each after the one that it follows."""
        followers: dict[str, list[str]] = {}
        for name, joint in mimics.items():
            followers.setdefault(self.leader(joint), []).append(name)
        ready = [name for name, joint in mimics.items() if self.leader(joint) not in mimics]
        for name in ready:  # which grows on the way
            self.attempt(mimics[name].line, self.read_mimic, name, mimics[name])
            ready += followers.get(name, ())
        if len(ready) < len(mimics):
            name, joint = next((n, j) for n, j in mimics.items() if n not in set(ready))
            what = f"follows '{self.leader(joint)}', which follows it"
            because = "a chain of mimics ends at a joint that follows none"
            self.faults.note(joint.line, f"joint '{name}'", what, because)

    @staticmethod
    def leader(joint: Element) -> str:
        mimic = joint.first("mimic")
        return "" if mimic is None else mimic.attributes.get("joint", "").strip()

    def following(self, joint: Element, where: str) -> dict[str, Any]:
        """Which joint a mimic follows, and how, as Mechanism.joint takes it."""
        mimic = joint.first("mimic")
        assert mimic is not None
        follows, ratio, offset = each_of(
            lambda: self.faults.word(mimic, "joint", where),
            lambda: self.faults.number(mimic, "multiplier", where, 1.0),
            lambda: self.faults.number(mimic, "offset", where, 0.0),
        )
        if follows not in self.joints:
            fix = f"{suggestion(follows, self.joints)}; or load with mimic=False"
            raise self.faults.note(mimic.line, where, f"mimics the unknown joint '{excerpt(follows)}'", fix=fix)
        return {"follows": follows, "ratio": ratio, "offset": offset}

    def read_mimic(self, name: str, joint: Element) -> None:
        kind, options = self.check_joint(name, joint)
        parent, child = (self.body(link) for link in self.ends[name])
        if options["follows"] not in self.m.joints:
            raise Lost  # its own fault has been noted
        record = self.m.joint(name, "coupled", parent, child, moves=kind, **options)
        assert isinstance(record.type, Coupled)
        self.read_dynamics(record, joint, self.m.joints[record.type.follows])
