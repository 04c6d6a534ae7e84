"""Files of up to a megabyte that are meant to cost much: every section, every kind of part, as many as will go in.

A kind of file is a text and lines that are repeated, section by section, as often as a model may have such parts;
then come parameters. In a line `@` is the number of the repetition and `BEFORE` the body of the one before, the ground
for the first.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from kane.model.size import MOST_COORDINATES, MOST_PARTS, MOST_ROWS, MOST_SPEEDS, MOST_STEPS, TURN

HEAD = "kane: 1\nname: large\n"
LIMITS = MOST_ROWS, MOST_COORDINATES, MOST_SPEEDS
ROOM, COORDINATES, SPEEDS = LIMITS  # the most that a model may have of rows, coordinates outside joints, and speeds


@dataclass(frozen=True, slots=True)
class LargeFile:
    """The line of each section that is repeated, `most` times at most; what stands before it in its section; and other
    sections."""

    lines: Mapping[str, str]
    start: str = ""
    first: Mapping[str, str] = field(default_factory=dict)
    most: int | None = None

    def __call__(self, size: int) -> str:
        """The file with as many repetitions as there is room for in `size` characters."""
        found = {section: [f"{section}:\n", self.first.get(section, "")] for section in self.lines}
        used = len(HEAD) + len(self.start) + sum(len(text) for texts in found.values() for text in texts)
        number, most = 0, self._most()
        while number != most:
            before = f"b{number - 1}" if number else "ground"
            new = [line.replace("BEFORE", before).replace("@", str(number)) + "\n" for line in self.lines.values()]
            used += sum(len(line) for line in new)
            if used > size:
                break
            for lines, line in zip(found.values(), new, strict=True):
                lines.append(line)
            number += 1
        else:
            section, line = POINTS if "parameters:" in self.start else FILLING
            found.setdefault(section, [f"{section}:\n"]).extend(_filling(line, size - used - 20))
        return "".join((HEAD, self.start, *(text for lines in found.values() for text in lines)))

    def _most(self) -> int | None:
        """How often the lines may be repeated."""
        parts = sum(_parts_of(section, line) for section, line in self.lines.items())
        allowed = [] if self.most is None else [self.most]
        return min([*allowed, (MOST_PARTS - OTHERS) // parts] if parts else allowed, default=None)


OTHERS = 500
"""Bodies, joints and coordinates that stand before the repeated lines, at most."""


def _parts_of(section: str, line: str) -> int:
    """What one line counts as, of the bodies, frames, joints, coordinates and rotations that a file may have."""
    kind = re.search(r"type: (\w+)", line)
    coordinates = {"weld": 0, "coupled": 0, **JOINT_SPEEDS}.get(kind[1] if kind else "", 1)
    turns = TURN * len(re.findall(r"rotation: |axis: \[", line))
    joint = 1 + coordinates * (2 if "prescribed" in line else 1) + turns
    return {"bodies": 1, "joints": joint, "reaction_wheels": 3 + turns, "dh": 3, "frames": 1 + turns}.get(section, 0)


FILLING = "parameters", "  filling@: 1\n"
POINTS = "points", "  filling@: {parent: O, offset: [1, 0, 0]}\n"
"""What files are filled with where no more of their lines are allowed; points, where the parameters stand already."""


def _filling(line: str, size: int) -> Iterator[str]:
    """Lines that take so many characters."""
    for number in itertools.count():
        filled = line.replace("@", str(number))
        size -= len(filled)
        if size < 0:
            return
        yield filled


LINKS = 150
"""Of a chain whose speeds are measured from the ground."""

BODY = "  b@: {mass: 1}"
JOINT = "  j@: {type: free, parent: ground, child: b@}"
TREE = {"bodies": BODY, "joints": JOINT}
FEW = """bodies: {a: {mass: 1}, b: {mass: 1, center: [1, 0, 0]}}
joints:
  ja: {type: free, parent: ground, child: a}
  jb: {type: revolute, parent: ground, child: b, axis: y, coordinate: qb, speed: ub}
"""
"""Two bodies, to put thousands of parts on."""

CHAIN = (
    "bodies: {"
    + ", ".join(f"c{k}: {{mass: 1}}" for k in range(140))
    + "}\njoints:\n"
    + "".join(
        f"  k{k}: {{type: revolute, axis: {'xyz'[k % 3]}, parent: {f'c{k - 1}' if k else 'ground'}, child: c{k},"
        " at: [1, 0, 0]}\n"
        for k in range(140)
    )
)
"""As long a chain as is still written out."""

EQUATIONS = MOST_STEPS // (6 * 130)
"""In positions at its end, as many as are: of 140 speeds ten take little, and each counts six times."""

JOINT_KINDS = {
    "weld": "",
    "revolute": ", axis: [0.6, 0, 0.8]",
    "prismatic": ", axis: z",
    "screw": ", axis: z, pitch: 0.1",
    "cylindrical": ", axis: z",
    "universal": "",
    "gimbal": "",
    "spherical": "",
    "planar": "",
    "free": "",
    "coupled": ", follows: first, ratio: 2",
}
JOINT_SPEEDS = {"cylindrical": 2, "universal": 2, "gimbal": 3, "spherical": 3, "planar": 3, "free": 6}
"""Speeds of kinds of joints, where that is not one."""

LOAD_KINDS = {
    "force": "{force: [1, qb, @], body: a}",
    "torque": "{torque: [1, qb, @], body: a, reaction: b}",
    "spring": "{spring: [a, b], at: [[@, 1, 0], [0, 0, 0]], stiffness: 1}",
    "joint_spring": "{joint_spring: jb, stiffness: @}",
    "effort": "{effort: -@*ub, joint: jb}",
    "thruster": "{thruster: @, body: a, direction: x}",
    "stop": "{stop: jb, lower: -1, stiffness: 1@}",
    "point_gravity": "{point_gravity: 1@}",
    "magnetic_torque": "{magnetic_torque: [1, 0, @], body: a, field: [0, 0, 1]}",
}

CONSTRAINT_KINDS = {
    "motion": "equations: ub = @*t",
    "configuration": "equations: qb**2 - @*t",
    "velocity": "body: a, direction: x, value: @",
    "knife-edge": "body: a, at: [@, 0, 0]",
    "gear": "first: j@, second: first, ratio: 2",
    "belt": "first: j@, second: first, first_radius: 1, second_radius: 2",
    "rack": "pinion: first, rack: j@, radius: 1",
    "rolling": "body: a, radius: 1@",
    "rolling-sphere": "body: a, radius: 1@",
    "rolling-on-sphere": "body: a, radius: 1@, on_radius: 3",
    "rolling-ellipsoid": "body: a, semi_axes: [1, 2, 1@]",
    "distance": "first: a, second: b, length: 1@",
    "point-on-plane": "first: a, second: b, height: @",
    "point-on-line": "first: a, second: b, first_at: [@, 0, 0]",
    "point-on-curve": "first: a, second: b, equations: x**2 + y = @",
    "stop": "of: qb, lower: -1@, upper: 1@",
    "backlash": "of: qb, play: 1@",
    "rope": "first: a, second: b, length: 1@",
    "latch": "of: qb - @",
    "ratchet": "of: ub*1@",
    "friction": "of: ub, bound: 1@",
    "brake": "joint: jb, bound: 1@",
    "clutch": "first: j@, second: first, bound: 1",
    "weld": "first: a, second: b, first_at: [@, 0, 0]",
    "revolute": "first: a, second: b, first_at: [@, 0, 0]",
    "prismatic": "first: a, second: b, first_at: [@, 0, 0]",
    "cylindrical": "first: a, second: b, first_at: [@, 0, 0]",
    "universal": "first: a, second: b, first_at: [@, 0, 0]",
    "spherical": "first: a, second: b, first_at: [@, 0, 0]",
}
ROWS = {
    **dict.fromkeys(("stop", "backlash", "point-on-line"), 2),
    **dict.fromkeys(("rolling", "rolling-sphere", "rolling-on-sphere", "rolling-ellipsoid", "spherical"), 3),
    **dict.fromkeys(("cylindrical", "universal"), 4),
    **dict.fromkeys(("revolute", "prismatic"), 5),
    "weld": 6,
}
"""Rows of kinds of constraints, where that is not one."""

TIES = ("gear", "belt", "rack", "clutch")
"""Kinds of constraints between joints, of which each has its own."""

CONTACT_ROWS = {"cylinder": 6, "capsule": 6, "box": 24, "vertices": 12}
"""Rows of contacts of shapes, where that is not three."""

CONTACT_KINDS = {
    "point": "point: [0, 0, @]",
    "sphere": "sphere: 1@",
    "disc": "disc: 1@",
    "cylinder": "cylinder: [1@, 2]",
    "capsule": "capsule: [1@, 2]",
    "box": "box: [1@, 2, 3]",
    "ellipsoid": "ellipsoid: [1@, 2, 3]",
    "vertices": "vertices: [[1@, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]]",
}


def _joints(kind: str, options: str) -> LargeFile:
    """Thousands of bodies on joints of one kind."""
    joint = f"  j@: {{type: {kind}, parent: ground, child: b@{options}}}"
    leader = {"bodies": "  leader: {mass: 1}\n", "joints": f"  first: {_LEADER}\n"}
    most = SPEEDS // JOINT_SPEEDS.get(kind, 1) - 1
    return LargeFile({"bodies": BODY, "joints": joint}, first=leader, most=most)


_LEADER = "{type: revolute, axis: z, parent: ground, child: leader, coordinate: ql}"


def _constraints(kind: str, options: str) -> LargeFile:
    """Thousands of constraints of one kind: on two bodies or, where they tie joints, on as many."""
    line = {"constraints": f"  r@: {{type: {kind}, {options}}}"}
    most = ROOM // ROWS.get(kind, 1)
    if kind not in TIES:
        return LargeFile(line, FEW, most=most)
    moves = "prismatic" if kind == "rack" else "revolute"
    tree = {"bodies": BODY, "joints": f"  j@: {{type: {moves}, axis: z, parent: ground, child: b@}}"}
    leader = {"bodies": "  leader: {mass: 1}\n", "joints": f"  first: {_LEADER}\n"}
    return LargeFile({**tree, **line}, first=leader, most=most)


def _dense_speeds(n: int) -> str:
    """Speeds that are sums of many rates."""
    count = int((n / 3) ** 0.5)
    coordinates = "".join(f"  q{i}: {{speed: v{i}}}\n" for i in range(count))
    sums = "".join(f"  u{i}: " + "+".join(f"q{k}'" for k in range(i + 1)) + "\n" for i in range(count))
    return f"{HEAD}extra_coordinates:\n{coordinates}speeds:\n{sums}"[:n].rpartition("\n")[0]


def _cycle(n: int) -> str:
    count = n // 17
    lines = "".join(f"  p{i}: p{(i + 1) % count}\n" for i in range(count))
    return f"{HEAD}parameters:\n{lines}"


def _order(n: int) -> str:
    """All coordinates in another order."""
    joints = {"bodies": BODY, "joints": "  j@: {type: prismatic, parent: ground, child: b@}"}
    made = LargeFile(joints, most=SPEEDS)((n * 8) // 9)
    count = made.count("prismatic")
    return f"{made}coordinates: [{','.join(f'q_j{k}' for k in reversed(range(count)))}]\n"


PARTS: Mapping[str, Callable[[int], str]] = {
    "parameters": LargeFile({"parameters": "  p@: 1"}, FEW),
    "parameters on one line": lambda n: (
        f"{HEAD}{FEW}parameters: {{{','.join(f'p{k:x}: 1' for k in range(n // 10))}}}\n"
    ),
    "free parameters": LargeFile({"parameters": "  p@: {value: 1, free: true}"}, FEW),
    "parameters of parameters": LargeFile({"parameters": "  p@: 2*a + sin(a)"}, FEW, {"parameters": "  a: 1\n"}),
    "coordinates": LargeFile({"extra_coordinates": "  q@:"}, most=COORDINATES),
    "coordinates with speeds": LargeFile({"extra_coordinates": "  q@: {speed: v@, initial: 1}"}, most=COORDINATES),
    "coordinates in order": _order,
    "chosen speeds": LargeFile({"extra_coordinates": "  q@: {speed: v@}", "speeds": "  u@: q@'"}, most=COORDINATES),
    "chosen speeds of many rates": _dense_speeds,
    "measure numbers": LargeFile(
        {
            "bodies": BODY,
            "joints": "  j@: {type: revolute, axis: z, parent: BEFORE, child: b@, at: [1, 0, 0]}",
            "speeds": "  u@: w.b@.z",
        },
        most=LINKS,
    ),
    "velocities as speeds": LargeFile(
        {
            "bodies": BODY,
            "joints": "  j@: {type: prismatic, axis: z, parent: BEFORE, child: b@}",
            "speeds": "  u@: v.b@.z",
        },
        most=LINKS,
    ),
    "heavy bodies": LargeFile(
        {
            "parameters": "  p@: 1",
            "bodies": "  b@: {mass: p@, center: [p@, 0, @], inertia: {xx: 1, yy: p@, zz: 1}, about: center}",
            "joints": JOINT,
        },
        most=SPEEDS // 6,
    ),
    "shapes": LargeFile(
        {"bodies": "  b@: {shapes: [{box: [1, 1, 1], at: [0, 0, 1], color: red}, {sphere: 1}]}", "joints": JOINT},
        most=SPEEDS // 6,
    ),
    "chain of joints": LargeFile(
        {"bodies": BODY, "joints": "  j@: {type: revolute, axis: z, parent: BEFORE, child: b@}"}
    ),
    "chain of joints from its end": lambda n: _reversed_joints(PARTS["chain of joints"](n)),
    "turned joints": LargeFile(
        {
            "bodies": BODY,
            "joints": "  j@: {type: revolute, parent: BEFORE, child: b@, at: [1, 0, @], rotation: {axis: x, angle: @}}",
        }
    ),
    "prescribed joints": LargeFile(
        {"bodies": BODY, "joints": "  j@: {type: revolute, parent: ground, child: b@, prescribed: [sin(@*t)]}"},
        first={"bodies": "  leader: {mass: 1}\n", "joints": f"  first: {_LEADER}\n"},
    ),
    **{f"joints: {kind}": _joints(kind, options) for kind, options in JOINT_KINDS.items()},
    "vehicles": LargeFile(
        {
            "bodies": "  p@: {mass: 1}",
            "vehicles": "  v@: {platform: p@, wheels: {w@: {at: [1, 0, 0], radius: 1, mass: 1}}}",
        },
        most=ROOM // 2,
    ),
    "spinning wheels": LargeFile({"reaction_wheels": "  w@: {body: a, axis: x, inertia: 1}"}, FEW, most=SPEEDS - 7),
    "Hartenberg-Denavit rows": LargeFile(
        {"bodies": BODY, "dh": "    j@: {body: b@, a: 1, alpha: 1, d: 0, theta: 0}"},
        first={"dh": "  convention: modified\n  rows:\n"},
    ),
    "frames": LargeFile({"frames": "  f@: {parent: N, rotation: {axis: z, angle: @*qb}}"}, FEW),
    "frames in a chain": LargeFile(
        {"frames": "  b@: {parent: BEFORE, rotation: {axis: z, angle: qb}, angular_velocity: [0, 0, ub]}"}, FEW
    ),
    "points": LargeFile({"points": "  p@: {parent: O, offset: [@, qb, 0], frame: a}"}, FEW),
    "points in a chain": LargeFile(
        {"points": "  b@: {parent: BEFORE, offset: [@, qb, 0], velocity: {components: [ub, 0, 0]}}"}, FEW
    ),
    "bodies on frames": LargeFile(
        {
            "frames": "  f@: {parent: N, rotation: {axis: z, angle: qb}}",
            "bodies": "  b@: {mass: 1, frame: f@, origin: O}",
        },
        "extra_coordinates: {qb: {speed: ub}}\n",
    ),
    **{f"loads: {kind}": LargeFile({"loads": f"  l@: {line}"}, FEW) for kind, line in LOAD_KINDS.items()},
    "forces on many bodies": LargeFile(
        {
            "parameters": "  p@: 1",
            **TREE,
            "loads": "  l@: {force: [p@*sin(t), 0, 1], body: b@, at: [0, p@, 0], reaction: BEFORE}",
        },
        most=SPEEDS // 6,
    ),
    **{f"constraints: {kind}": _constraints(kind, options) for kind, options in CONSTRAINT_KINDS.items()},
    "constraints of one equation each": LargeFile(
        {
            "extra_coordinates": "  q@: {speed: v@}",
            "constraints": "  c@: {type: configuration, equations: [q@**2 - 2*q@]}",
        },
        most=ROOM,
    ),
    "one constraint of many equations": LargeFile(
        {"constraints": "    - sin(qb) - @"},
        FEW,
        {"constraints": "  c:\n   type: configuration\n   equations:\n"},
        ROOM,
    ),
    "conditions": LargeFile(
        {"constraints": "  c@: {type: configuration, equations: qb = @, when: t - 1, until: l - @}"},
        FEW,
        {"constraints": "  l: {type: configuration, equations: qb = t}\n"},
        ROOM - 1,
    ),
    "rods between many bodies": LargeFile(
        {
            **TREE,
            "constraints": "  r@: {type: distance, first: b@, second: BEFORE, first_at: [1, 0, 0], length: 2 + sin(t)}",
        },
        most=ROOM,
    ),
    "wheels on many bodies": LargeFile(
        {**TREE, "constraints": "  r@: {type: rolling, body: b@, radius: 1, axis: x, on: BEFORE, normal: z}"},
        most=ROOM // 3,
    ),
    "wheels at the end of a chain": LargeFile(
        {"constraints": "  r@: {type: rolling, body: c139, radius: 1@}"}, CHAIN, most=70
    ),
    "rods along a chain": LargeFile(
        {"constraints": "  r@: {type: distance, first: ground, second: c139, first_at: [0, @, 1], length: 1}"},
        CHAIN,
        most=70,
    ),
    "rods at the end of welds": LargeFile(
        {
            "bodies": BODY,
            "joints": "  j@: {type: weld, parent: BEFORE, child: b@, at: [1, 0, 0], rotation: {axis: x, angle: 0.1}}",
            "constraints": "  r@: {type: distance, first: foot, second: BEFORE, length: 1}",
        },
        first={"bodies": "  foot: {mass: 1}\n", "joints": "  foot: {type: free, parent: ground, child: foot}\n"},
        most=110,
    ),
    **{
        f"contacts: {kind}": LargeFile(
            {"contacts": f"  k@: {{between: [a, ground], shape: {{{shape}}}, friction: 1}}"},
            FEW,
            most=ROOM // CONTACT_ROWS.get(kind, 3),
        )
        for kind, shape in CONTACT_KINDS.items()
    },
    "contacts of drawn shapes": LargeFile(
        {"bodies": "     - {sphere: 1, at: [0, @, 0]}"},
        "joints: {ja: {type: free, parent: ground, child: a}}\ncontacts: {k: {between: [a, ground]}}\n",
        {"bodies": "  a:\n    shapes:\n"},
        ROOM // 3,
    ),
    "contacts of a surface": LargeFile(
        {"contacts": '  k@: {between: [a, ground], shape: {point: [0, 0, 1]}, surface: {surface: "z - @*sin(x)"}}'},
        FEW,
        most=ROOM // 3,
    ),
    "contacts between bodies": LargeFile(
        {**TREE, "contacts": "  k@: {between: [b@, BEFORE], shape: {sphere: 1}, surface: {sphere: 2}, friction: 1}"},
        most=ROOM // 3,
    ),
    "contacts of bare bodies": LargeFile({**TREE, "contacts": "  c@: {between: [b@, ground]}"}, most=ROOM // 3),
    "contacts along a chain": LargeFile(
        {
            "bodies": BODY,
            "joints": "  j@: {type: revolute, axis: y, parent: BEFORE, child: b@, at: [1, 0, 0]}",
            "contacts": "  k@: {between: [b@, ground], shape: {sphere: 0.1, at: [1, 0, 0]}}",
        },
        most=140,
    ),
    "contacts at the end of a chain": LargeFile(
        {"contacts": "  k@: {between: [c139, ground], shape: {sphere: 1@}}"}, CHAIN, most=70
    ),
    "rotors": LargeFile({"rotors": "  r@: {joint: jb, inertia: 1}"}, FEW),
    "control laws": LargeFile({"controls": "  c@: {ub: -@*qb}"}, FEW),
    "one law of many efforts": LargeFile(
        {**TREE, "controls": "    u_j@_wx: -q_j@_px"}, first={"controls": "  c:\n"}, most=SPEEDS // 6
    ),
    "limits": LargeFile(
        {"extra_coordinates": "  q@:", "limits": "  q@: {lower: -1, upper: 1, velocity: 2}"}, most=COORDINATES
    ),
    "initial values": LargeFile(
        {"extra_coordinates": "  q@: {speed: v@}", "initial": "  q@: 1\n  v@: 0.5"}, most=COORDINATES
    ),
    "long expressions": LargeFile(
        {"parameters": f"  p@: {'a + sin(' * 60}a{')' * 60}"}, FEW, {"parameters": "  a: 1\n"}
    ),
    "long sums": LargeFile({"parameters": f"  p@: {'+'.join(['a'] * 4000)}"}, FEW, {"parameters": "  a: 1\n"}),
    "parameters in a chain": LargeFile({"parameters": "  b@: BEFORE + 1"}, FEW, {"parameters": "  ground: 1\n"}),
    "numbers": LargeFile(
        {"bodies": "  b@: {center: [0, 0, 1]}", "joints": "  j@: {type: weld, parent: ground, child: b@}"},
        first={"bodies": "  leader: {mass: 1}\n", "joints": f"  first: {_LEADER}\n"},
    ),
}
"""Name → a correct file of just under so many characters."""

DEEP = (
    *("measure numbers", "velocities as speeds", "rods at the end of welds", "contacts along a chain"),
    *("contacts of drawn shapes", "coordinates in order", "long sums"),
    *("wheels at the end of a chain", "rods along a chain", "contacts at the end of a chain"),
)
"""Files whose work is not in proportion to small sizes: parts far out on a chain, or places of one contact that are
compared with each other, both up to a limit; an order; and lines that are longer than a small file."""


def _reversed_joints(text: str) -> str:
    """The joints of a file in the opposite order."""
    start, joints = text.split("joints:\n")
    return f"{start}joints:\n" + "".join(reversed(joints.splitlines(keepends=True)))


HOSTILE: Mapping[str, Callable[[int], str]] = {
    "too many wheels that roll": LargeFile({"constraints": "  r@: {type: rolling, body: a, radius: 1}"}, FEW),
    "too many rods and bodies": LargeFile(
        {
            "bodies": BODY,
            "joints": "  j@: {type: prismatic, parent: ground, child: b@}",
            "constraints": "  r@: {type: distance, first: b@, second: BEFORE, length: 1}",
        }
    ),
    "too many equations": LargeFile(
        {"constraints": "    - sin(qb) - @"}, FEW, {"constraints": "  c:\n   type: configuration\n   equations:\n"}
    ),
    "too many contacts": LargeFile({"contacts": "  k@: {between: [a, ground], shape: {box: [1, 1, 1]}}"}, FEW),
    "too many drawn shapes that touch": LargeFile(
        {"bodies": "     - {box: [1, 2, 3], at: [0, @, 0]}"},
        "joints: {ja: {type: free, parent: ground, child: a}}\ncontacts: {k: {between: [a, ground]}}\n",
        {"bodies": "  a:\n    shapes:\n"},
    ),
    "too many shapes that touch each other": LargeFile(
        {"bodies": "     - {sphere: 1, at: [0, @, 0]}"},
        "joints: {ja: {type: free, parent: ground, child: a}, jb: {type: free, parent: ground, child: b}}\n"
        "contacts: {k: {between: [a, b], surface: {sphere: 1}}}\n",
        {"bodies": "  b: {mass: 1}\n  a:\n    shapes:\n"},
    ),
    "too many coordinates": LargeFile({"extra_coordinates": "  q@:"}),
    "too many chosen speeds": LargeFile({"extra_coordinates": "  q@: {speed: v@}", "speeds": "  u@: q@'"}),
    "too many measure numbers": LargeFile(
        {
            "bodies": BODY,
            "joints": "  j@: {type: revolute, axis: z, parent: BEFORE, child: b@}",
            "speeds": "  u@: w.b@.z",
        },
        most=1000,
    ),
    "too many free bodies": LargeFile(TREE),
    "too many contacts far out": LargeFile(
        {"contacts": "  k@: {between: [c139, ground], shape: {sphere: 1@}}"}, CHAIN, most=300
    ),
    "too many rods far out": LargeFile(
        {
            "bodies": BODY,
            "joints": "  j@: {type: weld, parent: BEFORE, child: b@, rotation: {axis: x, angle: 0.1}}",
            "constraints": "  r@: {type: distance, first: foot, second: b@, length: 1}",
        },
        first={"bodies": "  foot: {mass: 1}\n", "joints": "  foot: {type: free, parent: ground, child: foot}\n"},
        most=900,
    ),
    "unknown symbols": LargeFile({"parameters": "  p@: @", "bodies": "  b@: {mass: q@}"}),
    "unknown symbol in the end": LargeFile(
        {"bodies": "  b@: {mass: p@}", "parameters": "  p@: 1", "joints": "  j@: {type: x}"}
    ),
    "unknown bodies": LargeFile(
        {
            "bodies": "  body@: {mass: 1}",
            "joints": "  j@: {type: revolute, axis: z, parent: bdy@, child: bodi@}",
        }
    ),
    "unknown types of constraints": LargeFile({"constraints": "  c@: {type: roling, body: a}"}, FEW),
    "unknown bodies of constraints": LargeFile(
        {"bodies": BODY, "constraints": "  c@: {type: rolling, body: d@, radius: 1}"}
    ),
    "unknown bodies of loads": LargeFile({**TREE, "loads": "  c@: {force: [0, 0, 1], body: d@}"}),
    "unknown bodies of contacts": LargeFile({**TREE, "contacts": "  c@: {between: [d@, b@]}"}),
    "unknown joints of rotors": LargeFile({**TREE, "rotors": "  r@: {joint: k@, inertia: 1}"}),
    "unknown targets of controls": LargeFile({**TREE, "controls": "  c@: {v@: 1}"}),
    "unknown limits": LargeFile({"extra_coordinates": "  q@:", "limits": "  r@: {lower: 1}"}),
    "unknown parents of frames": LargeFile({"frames": "  f@: {parent: g@}"}, FEW),
    "frames in a cycle": LargeFile({"frames": "  b@: {parent: BEFORE}"}, FEW, {"frames": "  ground: {parent: b9}\n"}),
    "joints in a cycle": LargeFile(
        {"bodies": BODY, "joints": "  j@: {type: free, parent: b@, child: BEFORE}"},
        first={"bodies": "  a: {mass: 1}\n"},
    ),
    "one key many times": LargeFile({"parameters": "  p: 1"}),
    "one body many times": LargeFile({"bodies": "  b: {mass: 1}"}),
    "names of each other": LargeFile({"parameters": "  p@: 1", "extra_coordinates": "  p@:"}),
    "unknown keys": LargeFile({"bodies": "  b@: {mas: 1, centre: 2, inrtia: 3}"}),
    "unknown keys of contacts": LargeFile({"contacts": "  b@: {betwen: [a, b], frction: 2}"}, FEW),
    "unknown sections": lambda n: HEAD + "".join(f"body{i}: 1\n" for i in range(n // 13)),
    "parameters in a cycle": _cycle,
    "bodies without joints": LargeFile({"bodies": BODY}),
    "negative masses": LargeFile({"bodies": "  b@: {mass: -1}"}),
    "mad inertias": LargeFile({"bodies": "  b@: {mass: 1, inertia: {xx: 1, yy: 1, zz: @9}}"}),
    "unknown order": lambda n: f"{HEAD}coordinates: [{','.join(f'q{i}' for i in range(n // 8))}]\n",
    "short words": lambda n: f"{HEAD}coordinates: [{'q,' * (n // 2 - 40)}q]\n",
    "unknown starts": LargeFile({"initial": "  q@: 1"}),
    "one long sum": lambda n: f"{HEAD}bodies: {{b: {{mass: '{'+'.join(['a'] * (n // 2 - 40))}'}}}}\n",
    "one long name": lambda n: f"{HEAD}bodies:\n  ? {'b' * (n - 60)}\n  : {{mass: 1}}\n",
    "deep lists": lambda n: f"{HEAD}gravity: {'[' * (n - 40)}\n",
    "lists of lists": LargeFile({"gravity": "  - [[[[[[[[[]]]]]]]]]"}),
    "wrong kinds of values": LargeFile({"bodies": "  b@: [1, 2]"}),
}
"""Name → a file of just under so many characters that is no model."""

LARGE: Mapping[str, Callable[[int], str]] = {**PARTS, **HOSTILE}
"""Name → a file of just under so many characters."""
