"""From the tree of a model file to a Mechanism, collecting every fault on the way.

An entry that is faulty is left out or replaced by a harmless stand-in, so that one fault is reported once and the
rest of the file is still judged. Sections are read in the order in which they depend on each other: `STEPS` has them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from ...errors import ExpressionError, ModelError, NamedTable, closest, warn
from ..attitude import attitudes
from ..mechanism import Mechanism
from ..size import MOST_COORDINATES, MOST_PARTS, MOST_ROWS, MOST_SPEEDS, TURN
from .faults import FaultCollector, Lost, TooManyFaults
from .forms import Forms
from .geometry import read_geometry, read_velocities
from .kinds import read_constraint, read_contact, read_load, read_vehicle
from .nodes import MAX_FAULTS, Node, problem, words
from .parts import (
    read_body,
    read_control,
    read_coordinate,
    read_dh,
    read_initial,
    read_joint,
    read_limit,
    read_parameter,
    read_reaction_wheel,
    read_rotor,
    read_speeds,
)
from .values import WORD, Entry, NodeValues, entries

Read = Callable[[NodeValues, str, Node, int], None]
"""Reads one entry: its name, its value, the line of its name."""
Step = Callable[[NodeValues, Entry, Forms], None]
"""Reads one section, or what of it can be read at this point."""

SECTIONS = (
    *("kane", "extends", "name", "about", "gravity", "parameters", "coordinates", "extra_coordinates", "bodies"),
    *(
        "joints",
        "reaction_wheels",
        "dh",
        "vehicle",
        "vehicles",
        "frames",
        "points",
        "speeds",
        "loads",
        "contacts",
        "constraints",
        "rotors",
    ),
    *("controls", "limits", "initial", "duration"),
)
NAMED = (
    *("parameters", "extra_coordinates", "bodies", "joints", "reaction_wheels", "vehicles", "frames", "points"),
    *("loads", "contacts", "constraints", "rotors", "controls", "limits", "initial"),
)
"""Sections whose entries have names."""
VERSION = "1"
_CYCLE = 12  # names of a cycle that an error shows


def build_mechanism(root: Node, folder: Path | None, forms: Forms, robot: Mechanism | None = None) -> Mechanism:
    """The whole file as a mechanism, added to `robot` where there is one; raises ModelError with everything that is
    wrong with it."""
    faults = FaultCollector()
    try:
        m = _read_sections(root, folder, forms, faults, robot)
    except TooManyFaults:
        m = None
    faults.raise_all()
    assert m is not None
    return m


def _read_sections(
    root: Node, folder: Path | None, forms: Forms, faults: FaultCollector, robot: Mechanism | None
) -> Mechanism:
    start = NodeValues(Mechanism(), faults, folder)
    file = Entry(start, root, "", root.line, SECTIONS)
    if not isinstance(root.value, dict):
        faults.raise_all()
    _check_version(faults, file)
    _check_sections(faults, file)
    _check_counts(faults, file)
    name, about = file.take("name", start.text), file.take("about", start.text) or ""
    m = Mechanism(name or "model", about=about) if robot is None else robot
    m.name, m.about = name or m.name, about or m.about
    r = file.reader = NodeValues(m, faults, folder)
    for section, step in (*STEPS, ("", lambda r, file, forms: _check_whole(r, file))):
        try:
            step(r, file, forms)
        except ExpressionError as error:
            node = file.fields.get(section, root)
            r.locate(error, node.source, node.line)
    return m


def _check_version(faults: FaultCollector, file: Entry) -> None:
    node = file.fields.get("kane")
    if node is None or node.value != VERSION:
        where = file.node if node is None else node
        found = "the version is missing" if node is None else f"version {node.kind}"
        because, fix = f"this program reads model files of version {VERSION}", f"write 'kane: {VERSION}' at the top"
        faults.note(where.source, where.line, "kane", found, because, fix)


def _check_sections(faults: FaultCollector, file: Entry) -> None:
    for section in NAMED:
        node = file.fields.get(section)
        if node is not None and node.value != "" and not isinstance(node.value, dict):
            what = f"expected named entries, found {node.kind}"
            faults.note(node.source, node.line, section, what, fix="write one 'name: …' per entry")


COUNTED = (
    (("extra_coordinates",), MOST_COORDINATES, "coordinates outside joints", "move bodies by joints"),
    (("speeds",), MOST_COORDINATES, "chosen speeds", "leave the speeds to the joints"),
    (("constraints", "contacts"), MOST_ROWS, "constraints and contacts", "leave some out, or divide the model"),
)
"""Sections that have a largest number of entries together, what these are, and what to do about more of them."""


def _check_counts(faults: FaultCollector, file: Entry) -> None:
    """Refuse a file with more of something than equations can be written out for, and read no more of it."""
    for sections, most, what, fix in COUNTED:
        nodes = {name: node for name in sections if (node := file.fields.get(name)) is not None}
        count = sum(len(node.value) for node in nodes.values() if not isinstance(node.value, str))
        if count > most:
            section, node = next(iter(nodes.items()))
            because = f"equations with more than {most} cannot be written out"
            faults.note(node.source, node.line, section, f"{count} {what}", because, fix)
            raise TooManyFaults
    joints = [entry for _, entry, _ in entries(file, "joints")]
    wheels = [entry for _, entry, _ in entries(file, "reaction_wheels")]
    coordinates = [_coordinates_of(entry) for entry in joints]
    speeds = sum(n for n, entry in zip(coordinates, joints, strict=True) if not _is_prescribed(entry))
    prescribed = sum(coordinates) - speeds
    parts = {
        "bodies": len(list(entries(file, "bodies"))),
        "frames": sum(1 + TURN * _turns_of(entry) for _, entry, _ in entries(file, "frames")),
        "joints": len(joints) + speeds + 2 * prescribed + TURN * sum(map(_turns_of, joints)),
        "reaction_wheels": 3 * len(wheels) + TURN * sum(map(_turns_of, wheels)),
        "dh": 3 * _rows_of(file),
    }
    speeds_of = {"joints": speeds, "reaction_wheels": len(wheels)}
    _check_sum(faults, file, speeds_of, MOST_SPEEDS, "speeds of joints and wheels")
    _check_sum(faults, file, parts, MOST_PARTS, "bodies, frames, joints, coordinates and rotations")


def _check_sum(faults: FaultCollector, file: Entry, counts: Mapping[str, int], most: int, what: str) -> None:
    """Refuse a file that has more of something in its sections together."""
    if sum(counts.values()) > most:
        section = max(counts, key=lambda name: counts[name])
        node = file.fields[section]
        because, fix = f"a model file has {most} at most", "divide the model, or make it in Python"
        faults.note(node.source, node.line, section, f"there are {sum(counts.values())} {what}", because, fix)
        raise TooManyFaults


_COORDINATES = {
    "weld": 0,
    "coupled": 0,
    "cylindrical": 2,
    "universal": 2,
    "gimbal": 3,
    "spherical": 3,
    "planar": 3,
    "free": 6,
}
"""Independent coordinates of joints by their types, as many as speeds, where that is not one."""


def _coordinates_of(entry: Node) -> int:
    """Independent coordinates that a joint has at most."""
    fields = entry.value if isinstance(entry.value, dict) else {}
    kind = fields["type"].value if "type" in fields else ""
    return _COORDINATES.get(kind, 1) if isinstance(kind, str) else 0


def _is_prescribed(entry: Node) -> bool:
    return isinstance(entry.value, dict) and "prescribed" in entry.value


def _turns_of(entry: Node) -> int:
    """Rotations that a frame, a joint or a wheel has, and axes along any direction."""
    fields = entry.value if isinstance(entry.value, dict) else {}
    along = "axis" in fields and not isinstance(fields["axis"].value, str)
    return along + ("rotation" in fields) + ("child_rotation" in fields)


def _rows_of(file: Entry) -> int:
    """Rows of the Hartenberg–Denavit table."""
    arm = file.fields.get("dh")
    table = arm.value.get("rows") if arm is not None and isinstance(arm.value, dict) else None
    return len(table.value) if table is not None and isinstance(table.value, dict) else 0


# steps ---------------------------------------------------------------------------------------------------------------


def _read_all(r: NodeValues, section: str, found: Iterable[tuple[str, Node, int]], read: Read) -> None:
    """Entries one by one; a faulty one is left out."""
    for name, node, line in found:
        try:
            read(r, name, node, line)
        except (ModelError, ExpressionError) as error:
            r.locate(error, node.source, line)
            if r.m.is_full:
                raise TooManyFaults from None  # any further constraint would be refused for the same reason
            _note_lost(r.faults, section, name, node)
        except Lost:
            _note_lost(r.faults, section, name, node)


_PARTS = "angle slide 1 2 3 w x y z px py pz wx wy wz vx vy vz"  # of default names, in docs/model-files.md
_ENDINGS = ("", *(f"_{part}" for part in _PARTS.split()))


def _note_lost(faults: FaultCollector, section: str, name: str, node: Node) -> None:
    """Remember what an entry that was left out would have declared: entries that name it are not at fault."""
    kind = {"bodies": "body"}.get(section, section.removesuffix("s"))
    faults.lost.add((kind, name))
    if section == "reaction_wheels":
        faults.lost.update((("body", name), ("joint", name)))
    if section in ("parameters", "extra_coordinates", "joints", "reaction_wheels", "vehicles"):
        faults.lost_words.update(w for word in (name, *words(node)) for w in WORD.findall(word))
        if section in ("joints", "reaction_wheels"):
            stem = re.sub(r"\W", "_", name)
            faults.lost_words.update(f"{x}_{stem}{end}" for x in ("q", "u") for end in _ENDINGS)


def _entry_by_entry(section: str, read: Read) -> tuple[str, Step]:
    """The step that reads a section entry by entry."""
    return section, lambda r, file, forms: _read_all(r, section, entries(file, section), read)


def _read_initial_values(r: NodeValues, file: Entry, forms: Forms) -> None:
    """Initial values, the first ones last: what is given later wins."""
    _read_all(r, "initial", reversed([*entries(file, "initial")]), read_initial)


def _read_parameters(r: NodeValues, file: Entry, forms: Forms) -> None:
    """Parameters, each after those it is computed from; their order stays that of the file."""
    given = {name: (name, node, line) for name, node, line in entries(file, "parameters")}
    needs = {name: {w for text in words(g[1]) for w in WORD.findall(text) if w in given} for name, g in given.items()}
    order = _order_by_needs(needs)
    if len(order) < len(given):
        cycle = _find_cycle(needs, order)
        _, node, line = given[cycle[0]]
        told = cycle if len(cycle) <= _CYCLE else [*cycle[: _CYCLE - 2], "…", cycle[-1]]
        what = f"is computed from itself: {' → '.join(told)}"
        r.faults.note(node.source, line, f"parameter '{cycle[0]}'", what, fix="give one of them a number")
        r.faults.lost_words.update(given)
        return
    _read_all(r, "parameters", (given[name] for name in order), read_parameter)
    r.m.parameters = NamedTable("parameter", {name: r.m.parameters[name] for name in given if name in r.m.parameters})


def _order_by_needs(needs: Mapping[str, set[str]]) -> list[str]:
    """The names, each after those that it needs, else in their order; those in a cycle, or after one, are left out."""
    order = [name for name, needed in needs.items() if not needed]
    if len(order) == len(needs):
        return order
    missing = {name: len(needed) for name, needed in needs.items()}
    users: dict[str, list[str]] = {name: [] for name in needs}
    for name, needed in needs.items():
        for other in needed:
            users[other].append(name)
    for name in order:  # which grows on the way
        for user in users[name]:
            missing[user] -= 1
            if not missing[user]:
                order.append(user)
    return order


def _find_cycle(needs: Mapping[str, set[str]], ordered: Sequence[str]) -> list[str]:
    """Names of which each is computed from the next, the last being the first again."""
    known, path = set(ordered), dict[str, None]()
    name = next(n for n in needs if n not in known)
    while name not in path:
        path[name] = None
        name = min(needs[name] - known)
    names = list(path)
    return [*names[names.index(name) :], name]


def _read_joints(r: NodeValues, file: Entry, forms: Forms) -> None:
    """All joints, those that follow others last."""
    found = list(entries(file, "joints"))
    coupled = [isinstance(n.value, dict) and "follows" in n.value for _, n, _ in found]
    for last in (False, True):
        _read_all(r, "joints", [e for e, follows in zip(found, coupled, strict=True) if follows is last], read_joint)


def _read_gravity(r: NodeValues, file: Entry, forms: Forms) -> None:
    gravity = file.take("gravity", r.triple)
    if gravity is not None:
        file.take("gravity", lambda n, w: r.attempt(n, r.m.set_gravity, gravity))


def _read_order(r: NodeValues, node: Node, where: str) -> None:
    names = r.names(node, "coordinates")
    if not r.faults.found:  # otherwise coordinates may be missing for reasons that have been noted
        r.attempt(node, r.m.order_coordinates, names)


def _read_duration(r: NodeValues, file: Entry, forms: Forms) -> None:
    duration = file.take("duration", r.number)
    if duration is not None:
        file.take("duration", lambda n, w: r.attempt(n, r.m.set_duration, duration))


def _as_one_node(section: str, read: Callable[[NodeValues, Node, str], None]) -> tuple[str, Step]:
    """The step that reads a section as one node."""
    return section, lambda r, file, forms: file.take(section, partial(read, r)) and None


def _read_vehicle(r: NodeValues, file: Entry, forms: Forms) -> None:
    """The only vehicle, which has no name of its own."""
    if (node := file.fields.get("vehicle")) is not None:
        _read_all(r, "vehicles", [("vehicle", node, file.node.line_of("vehicle"))], read_vehicle)


def _read_loads(r: NodeValues, file: Entry, forms: Forms) -> None:
    _read_all(r, "loads", entries(file, "loads"), lambda r, *entry: read_load(r, forms, *entry))


def _read_constraints(r: NodeValues, file: Entry, forms: Forms) -> None:
    """All constraints, those whose conditions may name rows of others last."""
    found = list(entries(file, "constraints"))
    later = [isinstance(n.value, dict) and ("when" in n.value or "until" in n.value) for _, n, _ in found]
    for last in (False, True):
        chosen = [e for e, waits in zip(found, later, strict=True) if waits is last]
        _read_all(r, "constraints", chosen, lambda r, *entry: read_constraint(r, forms, *entry))


STEPS: tuple[tuple[str, Step], ...] = (
    ("parameters", _read_parameters),
    _entry_by_entry("bodies", read_body),
    _entry_by_entry("extra_coordinates", read_coordinate),
    ("joints", _read_joints),
    _as_one_node("dh", read_dh),
    _entry_by_entry("reaction_wheels", read_reaction_wheel),
    ("vehicle", _read_vehicle),
    _entry_by_entry("vehicles", read_vehicle),
    ("gravity", _read_gravity),
    ("frames", lambda r, file, forms: read_geometry(r, file)),  # and points, and bodies attached to them
    _as_one_node("coordinates", _read_order),
    _as_one_node("speeds", read_speeds),
    ("points", lambda r, file, forms: read_velocities(r, file)),  # velocities of frames and points, in speeds
    ("loads", _read_loads),
    _entry_by_entry("contacts", read_contact),
    ("constraints", _read_constraints),  # in conditions of which rows of contacts may occur
    _entry_by_entry("rotors", read_rotor),
    _entry_by_entry("controls", read_control),
    _entry_by_entry("limits", read_limit),
    ("initial", _read_initial_values),
    ("duration", _read_duration),
)
"""Every section with what reads it, in the order in which they depend on each other."""


def _check_whole(r: NodeValues, file: Entry) -> None:
    """What can only be said about the whole; only where nothing else is wrong."""
    if r.faults.found:
        return
    try:
        r.m.validate()
    except ModelError as error:
        places = _places_of_parts(file)
        for p in error.problems:
            where = p.where.removeprefix(r.m.where(""))
            source, line = places.get(where, (file.node.source, file.node.line))
            r.faults.note(source, line, where, p.what, p.because, p.fix)
        return
    starts = {c.name: c.initial for c in r.m.coordinate_records.values()}
    for attitude in attitudes(r.m, starts):
        if attitude.doubtful:
            warn(str(attitude.problem(r.m)))
            r.m.set_initial(dict(zip(attitude.names, attitude.unit, strict=True)))
    if "extends" in file.fields:
        _doubt_unused_parameters(r, file)


def _doubt_unused_parameters(r: NodeValues, file: Entry) -> None:
    """Warn of parameters that no value names and that are much like others: over those of another file a mistyped name
    is a new one."""
    told = (node for section, node in file.fields.items() if section not in ("name", "about"))
    used = {w for node in told for text in words(node) for w in WORD.findall(text)}
    known = [name for name in r.m.parameters if name in used]
    unused = [given for given in entries(file, "parameters") if given[0] not in used]
    for name, node, line in unused[:MAX_FAULTS]:
        meant = closest(name, known)
        if meant is not None:
            fix = f"did you mean '{meant}'?"
            warn(str(problem(node.source, line, f"parameter '{name}'", "is used nowhere", fix=fix)))


def _places_of_parts(file: Entry) -> dict[str, tuple[str, int]]:
    """File and line of every body and joint, by what errors call them."""
    found: dict[str, tuple[str, int]] = {}
    for section, kinds in (("bodies", ("body",)), ("joints", ("joint",)), ("reaction_wheels", ("body", "joint"))):
        for name, node, line in entries(file, section):
            found.update((f"{kind} '{name}'", (node.source, line)) for kind in kinds)
    table = file.fields.get("dh")
    rows = table.value.get("rows") if table is not None and isinstance(table.value, dict) else None
    if rows is not None and isinstance(rows.value, dict):
        found.update((f"joint '{name}'", (row.source, row.line)) for name, row in rows.value.items())
    return found
