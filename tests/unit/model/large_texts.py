"""Files of up to a megabyte in which it is the text that costs: how it is written, names of any letters, long and deep
expressions, exact arithmetic, and sections of every kind beside each other. As `large_files`, which has the parts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from kane.model.size import MOST_PARTS, TURN
from unit.model.large_files import BODY, CHAIN, EQUATIONS, FEW, HEAD, JOINT, ROOM, SPEEDS, LargeFile
from unit.model.large_options import LEADER, LINK

SMALL = HEAD + FEW
DEPTH = 250  # parentheses inside each other; 256 are allowed
PRIMES = [n for n in range(2, 400) if all(n % k for k in range(2, 20) if k < n)]
RODS = 1000


def _filled(line: str) -> Callable[[int], str]:
    """A small model, and a line again and again."""
    return lambda n: SMALL + line * ((n - len(SMALL)) // len(line))


def _parameters(expression: str) -> LargeFile:
    """Parameters that are all computed by one expression."""
    return LargeFile({"parameters": f"  p@: {expression}"}, FEW, {"parameters": "  a: 0.5\n  b: 1.5\n"})


def _named(name: str) -> LargeFile:
    """Bodies and joints of such names."""
    joint = f"  {name}: {{type: revolute, parent: ground, child: {name}}}"
    return LargeFile({"bodies": f"  {name}: {{mass: 1}}", "joints": joint})


WRITTEN: Mapping[str, Callable[[int], str]] = {
    "comments": _filled("# nothing is said here\n"),
    "blank lines": _filled("   \n"),
    "a text about itself": lambda n: f"{SMALL}about: >\n" + "  words of it\n" * ((n - len(SMALL) - 9) // 14),
    "bodies on one line": lambda n: (
        f"{HEAD}bodies: {{l: {{mass: 1}}, {', '.join(f'b{k}: {{mass: 1}}' for k in range(n // 90))}}}\n"
        "joints: {l: {type: revolute, parent: ground, child: l}, "
        f"{', '.join(f'j{k}: {{type: weld, parent: ground, child: b{k}}}' for k in range(n // 90))}}}\n"
    ),
    "bodies on many lines": LargeFile(
        {
            "bodies": "  b@:\n    mass: 1\n    center:\n      - 1\n      - 0\n      - 0",
            "joints": "  j@:\n    type: revolute\n    axis: z\n    parent: BEFORE\n    child: b@",
        }
    ),
    "quoted words": LargeFile(
        {
            "bodies": '  "b@": {"mass": "1"}',
            "joints": '  "j@": {"type": "revolute", "axis": "\\x7a", "parent": "ground", "child": "b@"}',
        }
    ),
    "names in any letters": _named("αβγδ @"),
    "names of signs": _named("a b.c-d (e) @"),
    "more of a built-in model": LargeFile({"parameters": "  p@: 1"}, "extends: pendulum\n"),
}
EXPRESSIONS: Mapping[str, Callable[[int], str]] = {
    "sums of many parameters": LargeFile(
        {"parameters": f"  p@: {'+'.join(f'c{k}*c{k + 1}' for k in range(100))}"},
        FEW,
        {"parameters": "".join(f"  c{k}: 1\n" for k in range(101))},
    ),
    "calls inside each other": _parameters(f"{'sin(a*' * DEPTH}b{')' * DEPTH}"),
    "signs before each other": _parameters("-" * 4000 + "a"),
    "powers": _parameters("a**63 + b**-62 + (a + b)**61.5 + a**0.5 + b**2**3"),
    "many powers": _parameters("+".join(["a**63"] * 100)),
    "conditions inside each other": _parameters(f'"{"(a < b and " * DEPTH}a < b{")" * DEPTH}"'),
    "alternatives inside each other": _parameters(f'"{"(a < b or " * DEPTH}a < b{")" * DEPTH}"'),
    "choices inside each other": _parameters(f'"{"select(a < b, a, " * DEPTH}b{")" * DEPTH}"'),
    "fractions": _parameters("+".join(f"1/{n}" for n in PRIMES)),
    "fractions inside each other": _parameters(f"{'1/(2.7 + ' * DEPTH}1{')' * DEPTH}"),
    "numbers of all sizes": _parameters("1e-300 + 1e300 - 3e-290*1e280 + 1.7976931348623157e308/2e7 - 5e-324"),
    "like terms": _parameters("+".join(f"{k}*a" for k in range(1, 300))),
    "differences of both signs": _parameters("+".join(f"(a - {k}*b)*({k}*b - a)" for k in range(1, 100))),
    "parameters from their end": lambda n: (
        f"{SMALL}parameters:\n" + "".join(f"  p{k}: p{k + 1} + 1\n" for k in range(n // 21)) + f"  p{n // 21}: 1\n"
    ),
}
MIXED: Mapping[str, Callable[[int], str]] = {
    "parts of every section": LargeFile(
        {
            "parameters": "  p@: 0.@1",
            "bodies": "  b@: {mass: p@, center: [0, p@, 0], inertia: {xx: 1, yy: 1, zz: 1}, shapes: [{sphere: p@}]}",
            "joints": "  j@: {type: revolute, axis: [0.6, 0, 0.8], parent: ground, child: b@, at: [p@, 0, 1]}",
            "reaction_wheels": "  w@: {body: b@, axis: z, inertia: p@}",
            "frames": "  f@: {parent: b@, rotation: {axis: z, angle: 2*q_j@}}",
            "points": "  x@: {parent: b@, offset: [p@, 0, 0], frame: f@}",
            "loads": "  l@: {force: [p@*sin(t), 0, -u_j@], body: b@, at: [0, 0, p@]}",
            "rotors": "  r@: {joint: j@, inertia: p@, ratio: 50}",
            "controls": "  c@: {j@: -p@*q_j@}",
            "limits": "  q_j@: {lower: -p@, upper: 1}",
            "initial": "  q_j@: 30*deg\n  u_j@: 2*p@",
        }
    ),
    "starts of free bodies": LargeFile(
        {
            "parameters": "  p@: 0.3",
            "bodies": BODY,
            "joints": JOINT.replace("}", ", initial: [1, 0, 0, 0, 2*p@, p@, @]}"),
        },
        most=SPEEDS // 6,
    ),
    "laws of long expressions": LargeFile(
        {
            "bodies": BODY,
            "joints": LINK,
            "controls": '  c@: {j@: "-10*(q_j@ - sin(2*t)) - 2*(u_j@ - 2*cos(2*t)) + select(q_j@ > 1, -1, 1)"}',
        }
    ),
    "drawings of every shape": LargeFile(
        {
            "bodies": "  b@: {shapes: [{box: [1, 2, 3]}, {cylinder: [1, 2], axis: x}, {sphere: 1, color: red}, {line:"
            " [1, 2, 3]}, {mesh: a.stl, scale: [1, 1, 2], quaternion: [0.5, 0.5, 0.5, 0.5]}]}",
            "joints": "  j@: {type: weld, parent: ground, child: b@}",
        },
        first=LEADER,
    ),
}
TEXTS: Mapping[str, Callable[[int], str]] = {**WRITTEN, **EXPRESSIONS, **MIXED}
"""Name → a correct file of just under so many characters."""

_WHEELS = {"reaction_wheels": "  w@: {body: c0, inertia: 1, axis: [cos(@), sin(@), 0]}"}
TOGETHER: Mapping[str, Callable[[int], str]] = {
    "wheels along any axes, and equations far out": LargeFile(
        _WHEELS,
        CHAIN
        + "constraints:\n"
        + "".join(
            f"  e{k}: {{type: configuration, equations: r.c139.x + r.c138.z = {k}*t}}\n" for k in range(EQUATIONS)
        ),
    ),
    "wheels along any axes, and rods": LargeFile(
        _WHEELS,
        "bodies: {"
        + ", ".join(f"c{k}: {{mass: 1}}" for k in range(RODS))
        + "}\njoints:\n"
        + "".join(f"  c{k}: {{type: free, parent: ground, child: c{k}}}\n" for k in range(RODS))
        + "constraints:\n"
        + "".join(
            f"  c{k}: {{type: distance, first: c{k}, second: c{k - 1}, first_at: [1, 0, 0], length: 2 + sin(t)}}\n"
            for k in range(1, RODS)
        ),
        most=(MOST_PARTS - 8 * RODS) // (3 + TURN),  # a rod's body has a joint and six coordinates
    ),
    "contacts with all options": LargeFile(
        {
            "parameters": "  p@: 0.3",
            "contacts": "  k@: {between: [a, ground], shape: {ellipsoid: [1@, 2, 3], at: [p@, 0, 0],"
            " rotation: {euler: body 321, angles: [p@, 1, 2]}}, friction: p@, restitution: p@, until: t - @}",
        },
        FEW,
        most=ROOM // 3,
    ),
}
"""Name → a file of as many parts as a model may have that cost much each, and of others: it takes the sum of both. Too
long for tests that count calls."""

FAULTY: Mapping[str, Callable[[int], str]] = {
    "unknown names in long sums": LargeFile({"parameters": f"  p@: {'+'.join(['1'] * 1000)} + x@"}, FEW),
    "groups that are not closed": LargeFile({"parameters": f"  p@: {'(1+' * DEPTH}1"}, FEW),
    "arithmetic that overflows": LargeFile({"parameters": "  p@: 1e300*1e300*@ + 1/0"}, FEW),
    "one entry of many unknown keys": LargeFile({"bodies": "    k@: 1"}, first={"bodies": "  b:\n"}),
    "a long type": lambda n: f"{SMALL}constraints: {{c: {{type: {'x' * (n - 300)}}}}}\n",
    "a long word that is not closed": lambda n: f'{SMALL}about: "{"x " * (n // 2 - 200)}\n',
    "mappings inside each other": lambda n: f"{SMALL}gravity: {'{a: ' * ((n - 300) // 4)}\n",
    "anchors": LargeFile({"parameters": "  p@: &a@ 1"}, FEW),
    "bodies that lean on lost parameters": LargeFile(
        {
            "parameters": "  p@: 1 +",
            "bodies": "  b@: {mass: p@}",
            "joints": "  j@: {type: weld, parent: ground, child: b@}",
        }
    ),
    "conditions that lean on lost rows": LargeFile(
        {"constraints": "  c@: {type: configuration, equations: qb = @, when: lost@ + @}"},
        FEW,
        {"constraints": "".join(f"  lost{k}: {{type: configuration, equations: qb +}}\n" for k in range(90))},
        ROOM - 90,
    ),
}
"""Name → a file of just under so many characters that is no model."""
