"""Files of up to a megabyte whose parts have costly options: any axes and orientations, parameters in them, prescribed
motions, and measure numbers far out on a chain. As `large_files`, which has the plain parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from unit.model.large_files import BODY, CHAIN, EQUATIONS, FEW, JOINT, ROOM, SPEEDS, LargeFile

PARAMETERS = "parameters: {p: 0.3, s: 0.6, c: 0.8}\n"
LEADER = {
    "bodies": "  leader: {mass: 1}\n",
    "joints": "  first: {type: revolute, axis: z, parent: ground, child: leader, coordinate: ql}\n",
}
LINK = "  j@: {type: revolute, axis: y, parent: BEFORE, child: b@, at: [1, 0, 0]}"

ORIENTATIONS = {
    "an axis": "{axis: [0.6, 0, 0.8], angle: 0.@}",
    "Euler angles": "{euler: body 321, angles: [0.@, p, 1]}",
    "a quaternion": "{quaternion: [0.5, 0.5, 0.5, 0.5]}",
    "a matrix": "{matrix: [[c, -s, 0], [s, c, 0], [0, 0, 1]]}",
    "a parameter": "{axis: x, angle: p*@}",
}
WHEELS = {
    "along one axis": "axis: [0.6, 0, 0.8]",
    "along any axes": "axis: [cos(@), sin(@), 0]",
    "along axes in parameters": "axis: [c, s, 0], at: [1, 0, @]",
    "with all options": "axis: x, at: [1, 0, @], coordinate: n@, speed: v@, shapes: [{sphere: 1}]",
}
AXES = {"any axes": "[cos(@), sin(@), 0]", "an axis in parameters": "[c, s, 0]"}
MOTIONS = {
    "gimbal": ("gimbal", "[t, 2*t, t]"),
    "gimbals of their own": ("gimbal", "[@*t, 2*t, t]"),
    "free": ("free", "[1, 0, 0, 0, t, t, t]"),
    "spherical": ("spherical", "[cos(t), sin(t), 0, 0]"),
    "spherical of their own": ("spherical", "[cos(@*t), sin(@*t), 0, 0]"),
    "prismatic": ("prismatic", "1"),
}
ALONG = {
    "springs": "{spring: [b@, ground], stiffness: 1, damping: 1, at: [[1, 0, 0], [0, 1, 0]]}",
    "forces": "{force: [1, 0, 0], body: b@, at: [1, 0, 0], frame: ground, reaction: BEFORE}",
    "torques": "{torque: [1, 0, 0], body: b@, frame: b@, reaction: BEFORE}",
    "thrusters": "{thruster: 1, body: b@, direction: x, at: [1, 0, 0]}",
    "magnets": "{magnetic_torque: [0, 0, 1], body: b@, dipole: [0, 0, 1], center: O}",
    "joint springs": "{joint_spring: j@, stiffness: 1, damping: 2}",
    "stops": "{stop: j@, lower: -1, upper: 1, stiffness: 1, damping: 2}",
    "efforts": "{effort: -u_j@*sin(q_j@), joint: j@}",
}

OPTIONS: Mapping[str, Callable[[int], str]] = {
    **{
        f"spinning wheels {how}": LargeFile(
            {"reaction_wheels": f"  w@: {{body: a, inertia: 1, {options}}}"}, PARAMETERS + FEW
        )
        for how, options in WHEELS.items()
    },
    **{
        f"joints turned by {how}": LargeFile(
            {"bodies": BODY, "joints": f"  j@: {{type: revolute, parent: ground, child: b@, rotation: {turn}}}"},
            PARAMETERS,
        )
        for how, turn in ORIENTATIONS.items()
    },
    **{
        f"joints along {what}": LargeFile(
            {"bodies": BODY, "joints": f"  j@: {{type: revolute, parent: ground, child: b@, axis: {axis}}}"},
            PARAMETERS,
        )
        for what, axis in AXES.items()
    },
    "joints turned in their children": LargeFile(
        {
            "bodies": BODY,
            "joints": "  j@: {type: weld, parent: BEFORE, child: b@, child_at: [p, 0, @],"
            f" child_rotation: {ORIENTATIONS['Euler angles']}}}",
        },
        PARAMETERS,
        LEADER,
    ),
    "joints with names": LargeFile(
        {
            "bodies": BODY,
            "joints": "  j@: {type: gimbal, sequence: space 313, parent: ground, child: b@,"
            " coordinates: [x@, y@, z@], speeds: [u@, v@, w@], initial: [1, 2, p]}",
        },
        PARAMETERS,
    ),
    **{
        f"prescribed: {what}": LargeFile(
            {"bodies": BODY, "joints": f"  j@: {{type: {kind}, parent: ground, child: b@, prescribed: {motion}}}"},
            first=LEADER,
        )
        for what, (kind, motion) in MOTIONS.items()
    },
    **{
        f"Hartenberg-Denavit rows, {convention}": LargeFile(
            {"bodies": BODY, "dh": f"    j@: {{body: b@, a: p, alpha: p, {offset}: p, theta: p*@}}"},
            PARAMETERS,
            {"dh": f"  convention: {convention}\n  rows:\n"},
        )
        for convention, offset in (("standard", "d"), ("hd", "b"))
    },
    "one vehicle of many wheels": LargeFile(
        {"vehicle": "    w@: {at: [1, @, 0], radius: 1, mass: 1}"},
        "bodies: {p: {mass: 1}}\n",
        {"vehicle": "  platform: p\n  wheels:\n"},
        ROOM // 2,
    ),
    "heavy bodies about their origins": LargeFile(
        {
            "bodies": "  b@: {mass: p, center: [p, p, 0], inertia: {xx: 9, yy: 9, zz: 9, xy: 0.1}, about: origin}",
            "joints": JOINT,
        },
        "parameters: {p: 0.3}\n",
        most=SPEEDS // 7,
    ),
    "loads on every body": LargeFile(
        {"bodies": BODY, "joints": LINK}, "loads: {e: {point_gravity: 3e14, center: O, gradient: true}}\n"
    ),
    **{
        f"loads along a chain: {what}": LargeFile({"bodies": BODY, "joints": LINK, "loads": f"  l@: {load}"})
        for what, load in ALONG.items()
    },
    "rotors along a chain": LargeFile(
        {"bodies": BODY, "joints": LINK, "rotors": "  r@: {joint: j@, inertia: 1, ratio: 50}"}
    ),
    "control along a chain": LargeFile(
        {"bodies": BODY, "joints": LINK, "controls": "    j@: -q_j@ - 2*q_j@'"}, first={"controls": "  c:\n"}
    ),
    "initial values in parameters": LargeFile(
        {"bodies": BODY, "joints": LINK, "initial": "  q_j@: 90*deg\n  u_j@: p"}, PARAMETERS
    ),
    "frames by Euler angles": LargeFile(
        {"frames": "  f@: {parent: N, rotation: {euler: body 321, angles: [qb, @, qb]}}"}, FEW
    ),
    "frames along any axis": LargeFile(
        {"frames": "  b@: {parent: BEFORE, rotation: {axis: [0.6, 0, 0.8], angle: qb*@}}"}, FEW
    ),
    "parameters with conditions": LargeFile(
        {"parameters": '  p@: "select(a > @ and a < 2, min(a, 2), max(a, @))"'}, FEW, {"parameters": "  a: 1\n"}
    ),
    "long products": LargeFile({"parameters": f"  p@: {'*'.join(['a'] * 4000)}"}, FEW, {"parameters": "  a: 1\n"}),
    "constraints in positions far out": LargeFile(
        {"constraints": "  c@: {type: configuration, equations: r.c139.x + r.c138.z = @*t}"}, CHAIN, most=EQUATIONS
    ),
    "constraints in velocities far out": LargeFile(
        {"constraints": "  c@: {type: motion, equations: v.c139.x + w.c138.z = @*t}"}, CHAIN, most=EQUATIONS
    ),
    "constraints of loops that are turned": LargeFile(
        {
            "bodies": BODY,
            "joints": JOINT,
            "constraints": "  r@: {type: revolute, first: b@, second: BEFORE, first_at: [1, 0, 0],"
            " first_rotation: {axis: x, angle: @}}",
        },
        most=ROOM // 5,
    ),
}
"""Name → a correct file of just under so many characters."""

DEEP_OPTIONS = ("constraints in positions far out", "constraints in velocities far out", "long products")
"""As `DEEP` of `large_files`."""
