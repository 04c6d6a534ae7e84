"""Files of up to a megabyte that are meant to cost much: many faults, many names, long chains, many equations."""

from __future__ import annotations

from collections.abc import Callable, Mapping

HEAD = "kane: 1\nname: large\n"


def _lines(count: int, line: Callable[[int], str]) -> str:
    return "".join(f"  {line(i)}\n" for i in range(count))


def _symbols(n: int) -> str:
    """Unknown symbols among as many known ones."""
    known = _lines(n // 30, lambda i: f"p{i}: {i}")
    return f"{HEAD}parameters:\n{known}bodies:\n{_lines(n // 30, lambda i: f'b{i}: {{mass: q{i}}}')}"


def _bodies(n: int) -> str:
    """Joints of bodies that are called otherwise."""
    known = _lines(n // 90, lambda i: f"body{i}: {{mass: 1}}")
    joint = "j{0}: {{type: revolute, axis: z, parent: bdy{0}, child: bodi{0}}}"
    return f"{HEAD}bodies:\n{known}joints:\n{_lines(n // 90, joint.format)}"


def _chain(n: int) -> str:
    """A chain of joints: a model like any other."""
    bodies = _lines(n // 90, lambda i: f"b{i}: {{mass: 1}}")
    joint = "j{0}: {{type: revolute, axis: z, parent: {1}, child: b{0}}}"
    joints = _lines(n // 90, lambda i: joint.format(i, f"b{i - 1}" if i else "ground"))
    return f"{HEAD}bodies:\n{bodies}joints:\n{joints}"


def _cycle(n: int) -> str:
    count = n // 16
    return f"{HEAD}parameters:\n{_lines(count, lambda i: f'p{i}: p{(i + 1) % count}')}"


def _speeds(n: int) -> str:
    """As many chosen speeds as extra coordinates."""
    coordinates = _lines(n // 45, lambda i: f"q{i}: {{speed: v{i}}}")
    return f"{HEAD}extra_coordinates:\n{coordinates}speeds:\n" + _lines(n // 45, lambda i: f"u{i}: q{i}'")


def _dense_speeds(n: int) -> str:
    """Speeds that are sums of many rates."""
    count = int((n / 3) ** 0.5)
    coordinates = _lines(count, lambda i: f"q{i}: {{speed: v{i}}}")
    sums = _lines(count, lambda i: f"u{i}: " + "+".join(f"q{k}'" for k in range(i + 1)))
    return f"{HEAD}extra_coordinates:\n{coordinates}speeds:\n{sums}"


def _equations(n: int) -> str:
    """As many constraints as coordinates."""
    count = n // 100
    coordinates = _lines(count, lambda i: f"q{i}: {{speed: v{i}}}")
    row = "c{0}: {{type: configuration, equations: [q{0}**2 - q{1}]}}"
    rows = _lines(count, lambda i: row.format(i, (i + 1) % count))
    return f"{HEAD}extra_coordinates:\n{coordinates}constraints:\n{rows}"


def _between_bodies(n: int, section: str, entry: str) -> str:
    """As many parts between two bodies as there are bodies and parameters."""
    count = n // 160
    parameters = _lines(count, lambda i: f"p{i}: 1")
    bodies = _lines(count, lambda i: f"b{i}: {{mass: 1}}")
    joints = _lines(count, lambda i: f"j{i}: {{type: spherical, parent: ground, child: b{i}}}")
    parts = _lines(count, lambda i: f"c{i}: {entry.format(i, (i + 1) % count)}")
    return f"{HEAD}parameters:\n{parameters}bodies:\n{bodies}joints:\n{joints}{section}:\n{parts}"


ROD = "{{type: distance, first: b{0}, second: b{1}, first_at: [1, p{0}, 0], length: 2 + p{0}*sin(t)}}"
WHEEL = "{{type: rolling, body: b{0}, radius: p{0}, axis: x, on: b{1}, normal: z}}"
FORCE = "{{force: [p{0}*sin(t), 0, 1], body: b{0}, at: [0, p{0}, 0]}}"

LARGE: Mapping[str, Callable[[int], str]] = {
    "unknown symbols": _symbols,
    "unknown bodies": _bodies,
    "one key many times": lambda n: f"{HEAD}parameters:\n{_lines(n // 7, lambda i: 'p: 1')}",
    "unknown keys": lambda n: f"{HEAD}bodies:\n{_lines(n // 40, lambda i: f'b{i}: {{mas: 1, centre: 2, inrtia: 3}}')}",
    "unknown sections": lambda n: HEAD + "".join(f"body{i}: 1\n" for i in range(n // 13)),
    "parameters in a chain": lambda n: (
        f"{HEAD}parameters:\n  p0: 1\n{_lines(n // 20, lambda i: f'p{i + 1}: p{i} + 1')}"
    ),
    "parameters in a cycle": _cycle,
    "bodies without joints": lambda n: f"{HEAD}bodies:\n{_lines(n // 20, lambda i: f'b{i}: {{mass: 1}}')}",
    "negative masses": lambda n: f"{HEAD}bodies:\n{_lines(n // 20, lambda i: f'b{i}: {{mass: -1}}')}",
    "chain of joints": _chain,
    "unknown order": lambda n: f"{HEAD}coordinates: [{','.join(f'q{i}' for i in range(n // 7))}]\n",
    "unknown starts": lambda n: f"{HEAD}initial:\n{_lines(n // 12, lambda i: f'q{i}: 1')}",
    "one long sum": lambda n: f"{HEAD}bodies: {{b: {{mass: '{'+'.join(['a'] * (n // 2))}'}}}}\n",
    "one long name": lambda n: f"{HEAD}bodies:\n  ? {'b' * n}\n  : {{mass: 1}}\n",
    "chosen speeds": _speeds,
    "chosen speeds of many rates": _dense_speeds,
    "equations": _equations,
    "rods": lambda n: _between_bodies(n, "constraints", ROD),
    "forces": lambda n: _between_bodies(n, "loads", FORCE),
}
"""Name → a file of about so many characters."""

GEOMETRY: Mapping[str, Callable[[int], str]] = {"wheels": lambda n: _between_bodies(n, "constraints", WHEEL)}
"""The same, of parts that are short to write and take much algebra."""
