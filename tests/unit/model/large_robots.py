"""URDF files of up to a megabyte that are meant to cost much: as `large_files` for model files.

A kind of robot is elements that are repeated as often as there is room. In them `@` is the number of the repetition and
`BEFORE` the link of the one before, the root for the first; `MARKS` are four characters that no symbol has.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from kane.model.size import MOST_SPEEDS

HEAD = '<robot name="large">\n<link name="base"/>\n'
TAIL = "</robot>\n"


@dataclass(frozen=True, slots=True)
class LargeRobot:
    """Elements that are repeated, `most` times at most; what stands before and after them; whether the last of them
    comes first."""

    text: str
    first: str = ""
    last: str = ""
    most: int | None = None
    backwards: bool = False

    def __call__(self, size: int) -> str:
        """The file with as many repetitions as there is room for in `size` characters."""
        found: list[str] = []
        used = len(HEAD) + len(self.first) + len(self.last) + len(TAIL)
        while len(found) != self.most:
            number = len(found)
            before, marks = (
                f"l{number - 1}" if number else "base",
                "".join(MARKS[number >> 4 * k & 15] for k in range(4)),
            )
            new = self.text.replace("BEFORE", before).replace("MARKS", marks).replace("@", str(number)) + "\n"
            used += len(new)
            if used > size:
                break
            found.append(new)
        return "".join((HEAD, self.first, *(reversed(found) if self.backwards else found), self.last, TAIL))


MARKS = "+*~!?;:,|$%^()[]"
"""What no symbol has: joints whose names consist of them would have the same symbols."""

LINK = '<link name="l@"/>'
ENDS = '<parent link="base"/><child link="l@"/>'
HEAVY = (
    '<inertial><origin xyz="0 0 @" rpy="0.1 0 0"/><mass value="1"/>'
    '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/></inertial>'
)
FIRST = '<link name="leader"/><joint name="first" type="revolute"><parent link="base"/><child link="leader"/></joint>\n'
LIMIT = '<limit lower="-1" upper="1" velocity="2" effort="3"/>'


JOINT = '<joint name="j@" type="revolute">'
ONE = '<joint name="j" type="revolute"><parent link="base"/><child link="l"/></joint>\n'
FOLLOWER = f'{LINK}<joint name="jl@" type="revolute">{ENDS}<mimic joint="jBEFORE"/></joint>'
LEADER = '<link name="r"/><joint name="jbase" type="revolute"><parent link="base"/><child link="r"/></joint>\n'
CHAIN = f'{LINK}{JOINT}<parent link="BEFORE"/><child link="l@"/></joint>'


def _joints(kind: str, options: str = "", speeds: int = 1) -> LargeRobot:
    """Links on joints of one type from the root, and one that moves."""
    text = f'{LINK}<joint name="j@" type="{kind}">{ENDS}{options}</joint>'
    return LargeRobot(text, FIRST, most=MOST_SPEEDS // speeds - 1)


def _one_link(text: str) -> LargeRobot:
    """One link full of elements."""
    return LargeRobot(text, '<link name="l">', f"</link>{ONE}")


GOOD: Mapping[str, Callable[[int], str]] = {
    "revolute joints": _joints("revolute"),
    "continuous joints": _joints("continuous", '<axis xyz="0 1 0"/>'),
    "prismatic joints": _joints("prismatic", '<axis xyz="0 3 4"/>'),
    "fixed joints": _joints("fixed"),
    "floating joints": _joints("floating", speeds=6),
    "planar joints": _joints("planar", '<axis xyz="0 3 4"/>', speeds=3),
    "turned joints": _joints("revolute", '<origin xyz="1 2 @" rpy="1 2 @"/>'),
    "limits": _joints("revolute", '<limit lower="-1" upper="1" velocity="2" effort="3"/>'),
    "losses": _joints("revolute", '<dynamics damping="1" friction="1@"/>'),
    "chain": LargeRobot(CHAIN),
    "chain from its end": LargeRobot(CHAIN, backwards=True),
    "heavy links": LargeRobot(f'<link name="l@">{HEAVY}</link>{JOINT}{ENDS}</joint>'),
    "followers": _joints("revolute", '<mimic joint="first" multiplier="2" offset="@"/>'),
    "followers of followers": LargeRobot(FOLLOWER, LEADER),
    "followers before their leaders": LargeRobot(FOLLOWER, LEADER, backwards=True),
    "names alike": LargeRobot(f'{LINK}<joint name="MARKS" type="revolute">{ENDS}</joint>'),
    "shapes": _one_link('<visual><origin rpy="0.5 0 0"/><geometry><box size="1 2 @1"/></geometry></visual>'),
    "meshes": _one_link('<visual><geometry><mesh filename="m@.stl"/></geometry></visual>'),
    "visuals of nothing": _one_link("<visual/>"),
    "materials": LargeRobot('<material name="m@"><color rgba="0.1 0.2 0.3 1"/></material>', FIRST),
    "other elements": LargeRobot('<gazebo reference="l@"><x/></gazebo>', FIRST),
}
"""Name → a robot of just under so many characters."""

BAD: Mapping[str, Callable[[int], str]] = {
    "unknown links": LargeRobot('<joint name="j@" type="revolute"><parent link="x@"/><child link="y@"/></joint>'),
    "unknown types": LargeRobot(f'{LINK}<joint name="j@" type="hinge">{ENDS}</joint>'),
    "unknown leaders": _joints("revolute", '<mimic joint="x@"/>'),
    "leaders in a cycle": LargeRobot(FOLLOWER, LEADER.replace("</joint>", '<mimic joint="jl0"/></joint>')),
    "many roots": LargeRobot(LINK),
    "links in a cycle": LargeRobot(
        CHAIN,
        '<link name="a"/><joint name="a" type="fixed"><parent link="l0"/><child link="base"/></joint>',
    ),
    "one child": LargeRobot(
        '<joint name="j@" type="fixed"><parent link="base"/><child link="l"/></joint>', '<link name="l"/>'
    ),
    "one name": LargeRobot('<link name="l"/>'),
    "no names": LargeRobot("<link/>"),
    "bad numbers": LargeRobot(f'<link name="l@"><inertial><mass value="x"/></inertial></link>{JOINT}{ENDS}</joint>'),
    "negative masses": LargeRobot(
        f'<link name="l@">{HEAVY}</link>{JOINT}{ENDS}</joint>'.replace('mass value="1"', 'mass value="-1"')
    ),
    "bad colors": LargeRobot('<material name="m@"><color rgba="red"/></material>', FIRST),
    "macros": LargeRobot("<xacro:x/>"),
    "too many floating joints": LargeRobot(f'{LINK}<joint name="j@" type="floating">{ENDS}</joint>'),
    "deep elements": LargeRobot("<a>"),
    "open elements": LargeRobot("<a></b>"),
}
"""Name → a file of just under so many characters that is no robot."""

ROBOTS: Mapping[str, Callable[[int], str]] = {**GOOD, **BAD}
"""Name → a file of just under so many characters."""
