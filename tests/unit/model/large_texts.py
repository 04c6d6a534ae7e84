"""Files of up to a megabyte in which it is the text that costs: how it is written, long words, names of any letters,
long and deep expressions, exact arithmetic, and sections of every kind beside each other. As `large_files`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping

from unit.model.large_files import BODY, CHAIN, FEW, HEAD, JOINT, ROOM, SPEEDS, LargeFile
from unit.model.large_options import LEADER, LINK

ONE = "parameters: {a: 0.5, b: 1.5}\n"
SMALL = HEAD + FEW
DEPTH = 250  # parentheses inside each other; 256 are allowed
SHAPES = {
    "point": "point: [0, 0, 1@]",
    "sphere": "sphere: 1@, at: [1, 0, p@]",
    "disc": "disc: 1@, axis: [0.6, 0, 0.8], crown: 0.1",
    "ellipsoid": "ellipsoid: [1@, 2, 3], rotation: {axis: x, angle: p@}",
    "box": "box: [1@, p@, 3], at: [p@, 0, 0], rotation: {euler: body 321, angles: [p@, 1, 2]}",
}
MARKS = "αβγδεζ"


def _primes() -> list[int]:
    sieve = range(2, 400)
    return [n for n in sieve if all(n % k for k in range(2, n) if k * k <= n)]


def _filled(line: str, start: str = SMALL) -> Callable[[int], str]:
    """A small model, and a line again and again."""
    return lambda n: start + line * ((n - len(start)) // len(line))


def _written(entry: str, section: str, others: str = "") -> Callable[[int], str]:
    """A section on one line."""

    def make(n: int) -> str:
        found: list[str] = []
        room = n - len(SMALL) - len(section) - len(others) - 6
        for k in itertools.count():
            found.append(entry.replace("@", str(k)))
            room -= len(found[-1]) + 1
            if room < 0:
                return f"{SMALL}{others}{section}: {{{','.join(found[:-1])}}}\n"
        raise AssertionError

    return make


def _parameters(expression: str) -> LargeFile:
    """Parameters that are all computed by one expression."""
    return LargeFile({"parameters": f"  p@: {expression}"}, FEW, {"parameters": "  a: 0.5\n  b: 1.5\n"})


def _joints(name: str) -> LargeFile:
    """A chain of joints and bodies of such names."""
    return LargeFile(
        {
            "bodies": f"  {name}: {{mass: 1}}",
            "joints": f"  {name}: {{type: revolute, parent: ground, child: {name}}}",
        }
    )


WRITTEN: Mapping[str, Callable[[int], str]] = {
    "comments": _filled("# nothing is said here\n"),
    "one comment": lambda n: f"{SMALL}# {'x' * (n - len(SMALL) - 3)}\n",
    "blank lines": _filled("\n"),
    "blanks at the ends of lines": _filled("   \n"),
    "about itself": lambda n: f"{SMALL}about: {'x' * (n - len(SMALL) - 8)}\n",
    "about itself in lines": lambda n: f"{SMALL}about: >\n" + "  words of it\n" * ((n - len(SMALL) - 9) // 14),
    "parameters in flow style": _written("p@: 1", "parameters"),
    "bodies in flow style": lambda n: (
        f"{HEAD}bodies: {{l: {{mass: 1}}, {', '.join(f'b{k}: {{mass: 1}}' for k in range(n // 90))}}}\n"
        "joints: {l: {type: revolute, parent: ground, child: l}, "
        f"{', '.join(f'j{k}: {{type: weld, parent: ground, child: b{k}}}' for k in range(n // 90))}}}\n"
    ),
    "bodies in block style": LargeFile(
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
    "names in any letters": _joints(f"{MARKS} @"),
    "names of many words": _joints("a b.c-d (e) @"),
    "long names": _joints(f"{'n' * 180}@"),
    "extensions of a built-in model": LargeFile({"parameters": "  p@: 1"}, "extends: pendulum\n"),
}
EXPRESSIONS: Mapping[str, Callable[[int], str]] = {
    "sums of many parameters": LargeFile(
        {"parameters": f"  p@: {'+'.join(f'c{k}*c{k + 1}' for k in range(100))}"},
        FEW,
        {"parameters": "".join(f"  c{k}: 1\n" for k in range(101))},
    ),
    "parentheses inside each other": _parameters(f"{'(' * DEPTH}a{')' * DEPTH}"),
    "calls inside each other": _parameters(f"{'sin(a*' * DEPTH}b{')' * DEPTH}"),
    "signs before each other": _parameters("-" * 4000 + "a"),
    "denials before each other": _parameters("not " * 2000 + "a"),
    "powers": _parameters("a**63 + b**-62 + (a + b)**61.5 + a**0.5 + b**2**3"),
    "conditions beside each other": _parameters(f'"{" and ".join(["a < b"] * 300)}"'),
    "conditions inside each other": _parameters(f'"{"(a < b and " * DEPTH}a < b{")" * DEPTH}"'),
    "alternatives inside each other": _parameters(f'"{"(a < b or " * DEPTH}a < b{")" * DEPTH}"'),
    "choices inside each other": _parameters(f'"{"select(a < b, a, " * DEPTH}b{")" * DEPTH}"'),
    "fractions of numbers": _parameters("+".join(f"1/{n}" for n in _primes())),
    "products of fractions": _parameters("*".join(f"1/{n}" for n in _primes())),
    "fractions inside each other": _parameters(f"{'1/(2.7 + ' * DEPTH}1{')' * DEPTH}"),
    "numbers of all sizes": _parameters("1e-300 + 1e300 - 3e-290*1e280 + 1.7976931348623157e308/2e7 - 5e-324"),
    "numbers of many digits": _parameters(f"0.{'3' * 2000} + {'7' * 300}"),
    "terms that cancel": _parameters("+".join(f"{k}*a - {k}*a" for k in range(1, 60))),
    "like terms": _parameters("+".join(f"{k}*a" for k in range(1, 300))),
    "differences of both signs": _parameters("+".join(f"(a - {k}*b)*({k}*b - a)" for k in range(1, 100))),
    "parameters from their end": lambda n: (
        f"{SMALL}parameters:\n" + "".join(f"  p{k}: p{k + 1} + 1\n" for k in range(n // 24)) + f"  p{n // 24}: 1\n"
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
        {"bodies": BODY, "joints": JOINT.replace("}", ", initial: [1, 0, 0, 0, 2*p, p, @]}")},
        "parameters: {p: 0.3}\n",
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
    **{
        f"shapes that touch with options: {kind}": LargeFile(
            {
                "parameters": "  p@: 0.3",
                "contacts": f"  k@: {{between: [a, ground], shape: {{{shape}}}, friction: p@,"
                " restitution: p@, until: t - @}",
            },
            FEW,
            most=ROOM // (24 if kind == "box" else 3),
        )
        for kind, shape in SHAPES.items()
    },
    "wheels, and equations far out": LargeFile(
        {
            "reaction_wheels": "  w@: {body: c0, inertia: 1, axis: [cos(@), sin(@), 0]}",
        },
        CHAIN
        + "constraints:\n"
        + "".join(f"  c{k}: {{type: configuration, equations: r.c139.x + r.c138.z = {k}*t}}\n" for k in range(45)),
    ),
    "wheels, and rods": LargeFile(
        {"reaction_wheels": "  w@: {body: x0, inertia: 1, axis: [cos(@), sin(@), 0]}"},
        "bodies: {"
        + ", ".join(f"x{k}: {{mass: 1}}" for k in range(1000))
        + "}\njoints:\n"
        + "".join(f"  x{k}: {{type: free, parent: ground, child: x{k}}}\n" for k in range(1000))
        + "constraints:\n"
        + "".join(
            f"  x{k}: {{type: distance, first: x{k}, second: x{k - 1}, first_at: [1, 0, 0], length: 2 + sin(t)}}\n"
            for k in range(1, 1000)
        ),
    ),
}
TEXTS: Mapping[str, Callable[[int], str]] = {**WRITTEN, **EXPRESSIONS, **MIXED}
"""Name → a correct file of just under so many characters."""

FAULTY: Mapping[str, Callable[[int], str]] = {
    "unknown names in long sums": LargeFile({"parameters": f"  p@: {'+'.join(['1'] * 1000)} + x@"}, FEW),
    "faults at the ends of expressions": LargeFile({"parameters": f"  p@: {'(1+' * DEPTH}1"}, FEW),
    "expressions that are too deep": LargeFile({"parameters": f"  p@: {'(' * 400}1{')' * 400}"}, FEW),
    "expressions that are too long": LargeFile({"parameters": f"  p@: {'1+' * 5001}1"}, FEW),
    "fractions that overflow": LargeFile({"parameters": "  p@: 1e300*1e300*@ + 1/0"}, FEW),
    "keys twice in every entry": LargeFile({"bodies": "  b@: {mass: 1, mass: 2}"}),
    "one entry of many unknown keys": LargeFile({"bodies": "    k@: 1"}, first={"bodies": "  b:\n"}),
    "a long type": lambda n: f"{SMALL}constraints: {{c: {{type: {'x' * (n - 200)}}}}}\n",
    "a long key": lambda n: f"{SMALL}? {'x' * (n - 200)}\n: 1\n",
    "a long word that is not closed": lambda n: f'{SMALL}about: "{"x " * (n // 2 - 100)}\n',
    "a long unknown name": lambda n: f"{SMALL}loads: {{l: {{force: [1, 0, 0], body: {'x' * (n - 200)}}}}}\n",
    "brackets that close nothing": lambda n: SMALL + "]" * (n - len(SMALL) - 1) + "\n",
    "mappings inside each other": lambda n: f"{SMALL}gravity: {'{a: ' * ((n - 200) // 4)}\n",
    "lines that are indented more and more": lambda n: (
        HEAD + "".join(f"{' ' * k}k:\n" for k in range(int((2 * n) ** 0.5) - 4))
    ),
    "anchors": LargeFile({"parameters": "  p@: &a@ 1"}, FEW),
    "aliases": LargeFile({"parameters": "  p@: *a"}, FEW),
    "tags": LargeFile({"parameters": "  p@: !!python/object:os.system 1"}, FEW),
    "documents": _filled("---\nkane: 1\n"),
    "characters that are none": _filled("\x07"),
    "tabs": _filled("\t- x\n"),
    "bodies that lean on lost ones": LargeFile(
        {
            "parameters": "  p@: 1 +",
            "bodies": "  b@: {mass: p@}",
            "joints": "  j@: {type: free, parent: ground, child: b@}",
        }
    ),
    "rows that are lost": LargeFile(
        {"constraints": "  c@: {type: configuration, equations: qb = @, when: lost@ + @}"},
        FEW,
        {"constraints": "".join(f"  lost{k}: {{type: configuration, equations: qb +}}\n" for k in range(90))},
        ROOM - 90,
    ),
    "speeds that depend on each other": LargeFile(
        {"extra_coordinates": "  q@: {speed: v@}", "speeds": "  u@: q0' + q@'*0"}, most=400
    ),
    "names of symbols that collide": _joints("{}@".format("é")),
}
"""Name → a file of just under so many characters that is no model."""
