"""From the tree of a model file to a Mechanism, collecting every fault on the way.

An entry that is faulty is left out or replaced by a harmless stand-in, so that one fault is reported once and the
rest of the file is still judged. Sections are read in the order in which they depend on each other.
"""

from __future__ import annotations

import re
import warnings
from collections.abc import Callable, Iterable, Mapping
from graphlib import CycleError, TopologicalSorter
from typing import Any, TypeVar

from ..errors import ModelError
from .attitude import attitudes
from .document import Node, words
from .geometry import Geometry
from .guides import CONSTRAINTS
from .mechanism import JOINT_TYPES, Mechanism, suggestion
from .parts import PART_LOADS
from .values import WORD, Entry, Lost

AnyMechanism = TypeVar("AnyMechanism", bound=Mechanism)

Read = Callable[[str, Node, int], None]
"""Reads one entry: its name, its value, the line of its name."""

SECTIONS = (
    "kane",
    "extends",
    "name",
    "about",
    "gravity",
    "parameters",
    "coordinates",
    "extra_coordinates",
    "bodies",
    "joints",
    "wheels",
    "dh",
    "frames",
    "points",
    "speeds",
    "loads",
    "constraints",
    "rotors",
    "controls",
    "limits",
    "initial",
    "duration",
)
NAMED = (
    *("parameters", "extra_coordinates", "bodies", "joints", "wheels", "frames", "points"),
    *("loads", "constraints", "rotors", "controls", "limits", "initial"),
)
VERSION = "1"
BODY = ("mass", "center", "inertia", "about", "checked", "shapes", "particle", "frame", "origin")
ROTOR = ("joint", "inertia", "ratio", "index")
LIMIT = ("lower", "upper", "velocity", "effort")
DH = ("convention", "parent", "at", "rotation", "rows")
DH_ROW = ("type", "body", "a", "alpha", "d", "b", "theta", "coordinate", "speed", "initial")
PLACEMENT = ("at", "rotation", "child_at", "child_rotation")
JOINT_OPTIONS = ("axis", "pitch", "sequence", "normal", "velocity", "moves", "follows", "ratio", "offset")
JOINT = (
    *("type", "parent", "child", *PLACEMENT, *JOINT_OPTIONS),
    *("coordinate", "coordinates", "speed", "speeds", "initial", "prescribed"),
)
LOADS: Mapping[str, tuple[str, ...]] = {
    "force": ("body", "at", "frame", "reaction"),
    "torque": ("body", "frame", "reaction"),
    "spring": ("at", "stiffness", "damping", "rest"),
    "joint_spring": ("stiffness", "damping", "rest", "index"),
    "effort": ("joint", "index"),
    **PART_LOADS,
}


class Reader(Geometry):
    """One reading of one file."""

    def mechanism(self, into: type[AnyMechanism]) -> AnyMechanism:
        """The whole file as an instance of `into`; raises ModelError with everything that is wrong with it."""
        file = Entry(self, self.root, "", self.root.line, SECTIONS)
        if not isinstance(self.root.value, Mapping):
            self.raise_problems()
        self.version(file)
        self.check_sections(file)
        name = file.take("name", self.text) or "model"
        about = file.take("about", self.text) or ""
        self.m = m = into(name, about=about)
        self.read_parameters(file)
        self.each(file, "bodies", self.read_body)
        self.each(file, "extra_coordinates", self.read_coordinate)
        self.read_joints(file)
        file.take("dh", lambda n, w: self.read_dh(n))
        self.each(file, "wheels", self.read_wheel)
        gravity = file.take("gravity", self.triple)
        if gravity is not None:
            file.take("gravity", lambda n, w: self.attempt(n, m.set_gravity, gravity))
        self.read_geometry(file)
        file.take("coordinates", lambda n, w: self.read_order(n))
        file.take("speeds", lambda n, w: self.read_speeds(n))
        self.read_velocities(file)
        self.each(file, "loads", self.read_load)
        self.each(file, "constraints", self.read_constraint)
        self.each(file, "rotors", self.read_rotor)
        self.each(file, "controls", self.read_control)
        self.each(file, "limits", self.read_limit)
        self.each(file, "initial", self.read_initial)
        duration = file.take("duration", self.number)
        if duration is not None:
            file.take("duration", lambda n, w: self.attempt(n, m.set_duration, duration))
        self.judge()
        self.raise_problems()
        return m

    def version(self, file: Entry) -> None:
        node = file.fields.get("kane")
        if node is None or node.value != VERSION:
            where = file.node if node is None else node
            found = "the version is missing" if node is None else f"version {node.kind}"
            law, mend = f"this program reads model files of version {VERSION}", f"write 'kane: {VERSION}' at the top"
            self.note(where.source, where.line, "kane", found, law, mend)

    def check_sections(self, file: Entry) -> None:
        for section in NAMED:
            node = file.fields.get(section)
            if node is not None and node.value != "" and not isinstance(node.value, Mapping):
                what = f"expected named entries, found {node.kind}"
                self.note(node.source, node.line, section, what, mend="write one 'name: …' per entry")

    def each(self, file: Entry, section: str, read: Read) -> None:
        self.all(section, self.entries(file, section), read)

    def all(self, section: str, entries: Iterable[tuple[str, Node, int]], read: Read) -> None:
        for name, node, line in entries:
            try:
                read(name, node, line)
            except ModelError as error:
                self.located(error, node.source, line)
                self.lose(section, name, node)
            except Lost:
                self.lose(section, name, node)

    def lose(self, section: str, name: str, node: Node) -> None:
        """Remember what an entry that was left out would have declared, so that its users are not blamed."""
        kind = {"bodies": "body"}.get(section, section.removesuffix("s"))
        self.lost.add((kind, name))
        if section == "wheels":
            self.lost.update((("body", name), ("joint", name)))
        if section in ("parameters", "extra_coordinates", "joints", "wheels"):
            self.lost_words.update(w for word in (name, *words(node)) for w in WORD.findall(word))
            if section in ("joints", "wheels"):
                stem = re.sub(r"\W", "_", name)
                self.lost_words.update(f"{x}_{stem}" for x in ("q", "u"))

    def read_parameters(self, file: Entry) -> None:
        """Parameters, each after those it is computed from; their order stays that of the file."""
        given = {name: (name, node, line) for name, node, line in self.entries(file, "parameters")}
        needs = {
            name: {w for text in words(g[1]) for w in WORD.findall(text) if w in given} for name, g in given.items()
        }
        try:
            order = list(TopologicalSorter(needs).static_order())
        except CycleError as error:
            cycle = error.args[1]
            _, node, line = given[cycle[0]]
            what = f"is computed from itself: {' → '.join(cycle)}"
            self.note(node.source, line, f"parameter '{cycle[0]}'", what, mend="give one of them a number")
            self.lost_words.update(given)
            return
        self.all("parameters", (given[name] for name in order), self.read_parameter)
        self.m.parameters = {name: self.m.parameters[name] for name in given if name in self.m.parameters}

    def read_parameter(self, name: str, node: Node, line: int) -> None:
        where = f"parameter '{name}'"
        if isinstance(node.value, Mapping):
            given = Entry(self, node, where, line, ("value", "free"))
            value, free = given.need("value", self.number), given.take("free", self.truth)
            given.finish()
        else:
            value, free = self.number(node, where), False
        self.m.parameter(name, value or 0.0, free=bool(free))

    def read_coordinate(self, name: str, node: Node, line: int) -> None:
        given = Entry(self, node, f"coordinate '{name}'", line, ("initial", "speed"), optional=True)
        initial, speed = given.take("initial", self.number), given.take("speed", self.text)
        given.finish()
        self.m.coordinate(name, initial or 0.0, speed=speed)

    def read_body(self, name: str, node: Node, line: int) -> None:
        self.places[f"body '{name}'"] = (node.source, line)
        try:
            self.m.body(name, **self.body_options(name, node, line))
        except (ModelError, Lost) as error:
            if isinstance(error, ModelError):
                self.located(error, node.source, line)
            try:
                self.m.body(name)  # a massless stand-in: joints may still name it
            except ModelError:
                raise Lost from None

    def body_options(self, name: str, node: Node, line: int) -> dict[str, Any]:
        given = Entry(self, node, f"body '{name}'", line, BODY, optional=True)
        options = {
            "mass": given.take("mass", self.quantity),
            "center": given.take("center", self.triple),
            "inertia": given.take("inertia", self.inertia),
            "about": given.take("about", self.text),
            "checked": given.take("checked", self.truth),
            "shapes": given.take("shapes", self.shapes),
        }
        particle = given.take("particle", self.quantity)
        if particle is not None:
            if options["mass"] is not None or options["inertia"] is not None:
                raise self.refuse(node, given.where, "a particle has neither mass: nor inertia:", mend="particle: MASS")
            options["mass"] = particle
        given.finish()
        return {k: v for k, v in options.items() if v is not None}

    def read_joints(self, file: Entry) -> None:
        """All joints, those that follow others last."""
        entries = list(self.entries(file, "joints"))
        coupled = [isinstance(n.value, Mapping) and "follows" in n.value for _, n, _ in entries]
        self.all("joints", [e for e, follows in zip(entries, coupled, strict=True) if not follows], self.read_joint)
        self.all("joints", [e for e, follows in zip(entries, coupled, strict=True) if follows], self.read_joint)

    def read_dh(self, node: Node) -> None:
        """The joints of a table of Hartenberg-Denavit parameters."""
        given = Entry(self, node, "dh", node.line, DH)
        convention = given.take("convention", self.text) or ""
        parent, at = given.take("parent", self.body), given.take("at", self.triple)
        rotation, table = given.take("rotation", self.rotation), given.fields.get("rows")
        rows: dict[str, dict[str, Any]] = {}
        entries = table.value if table is not None and isinstance(table.value, Mapping) else {}
        for name, row in entries.items():
            self.places[f"joint '{name}'"] = (row.source, row.line)
            fields = Entry(self, row, f"dh / {name}", row.line, DH_ROW)
            values: dict[str, Any] = {key: fields.take(key, self.text) for key in ("type", "coordinate", "speed")}
            values["body"] = fields.need("body", self.body)
            values.update(
                {key: fields.take(key, self.quantity) for key in ("a", "alpha", "d", "b", "theta", "initial")}
            )
            rows[name] = {key: value for key, value in values.items() if value is not None}
            given.lost = given.lost or fields.lost
        if given.lost:
            self.lost_words.update(
                str(row[key]) for row in rows.values() for key in ("coordinate", "speed") if key in row
            )
            self.lost.update(("joint", name) for name in rows)
            raise Lost
        self.attempt(
            node, self.m.dh, convention, rows, parent=parent or "ground", at=at or (0.0, 0.0, 0.0), rotation=rotation
        )

    def read_joint(self, name: str, node: Node, line: int) -> None:
        where = f"joint '{name}'"
        self.places[where] = (node.source, line)
        given = Entry(self, node, where, line, JOINT)
        kind = given.need("type", self.text)
        parent, child = given.need("parent", self.body), given.need("child", self.body)
        if kind is not None and kind not in JOINT_TYPES:
            type_node = given.fields["type"]
            raise self.refuse(type_node, where, f"unknown joint type '{kind}'", mend=suggestion(kind, JOINT_TYPES))
        options: dict[str, Any] = {
            "at": given.take("at", self.triple),
            "rotation": given.take("rotation", self.rotation),
            "child_at": given.take("child_at", self.triple),
            "child_rotation": given.take("child_rotation", self.rotation),
            "coordinates": self.one_or_more(given, "coordinate", self.text),
            "speeds": self.one_or_more(given, "speed", self.text),
            "initial": given.take("initial", self.one_or_list),
            "axis": given.take("axis", self.axis),
            "pitch": given.take("pitch", self.quantity),
            "sequence": given.take("sequence", self.text),
            "normal": given.take("normal", self.text),
            "velocity": given.take("velocity", self.text),
            "moves": given.take("moves", self.text),
            "follows": given.take("follows", self.joint),
            "ratio": given.take("ratio", self.quantity),
            "offset": given.take("offset", self.quantity),
            "prescribed": given.take("prescribed", self.one_or_list),
        }
        given.finish()
        self.m.joint(name, kind, parent, child, **{k: v for k, v in options.items() if v is not None})  # type: ignore[arg-type]

    # order, speeds, loads, controls ------------------------------------------------------------------------------

    def read_order(self, node: Node) -> None:
        names = self.names(node, "coordinates")
        if not self.found:  # otherwise coordinates may be missing for reasons that have been noted
            self.attempt(node, self.m.order_coordinates, names)

    def read_speeds(self, node: Node) -> None:
        if not isinstance(node.value, Mapping):
            raise self.refuse(node, "speeds", f"expected name: definition, found {node.kind}")
        if any(kind == "joint" for kind, _ in self.lost):
            raise Lost
        definitions = {}
        for name, definition in node.value.items():
            definitions[name] = self.text(definition, f"speed '{name}'")
        try:
            self.m.set_speeds(definitions)
        except ModelError as error:
            for p in error.problems:
                blamed = next((n for n in definitions if f"speed '{n}'" in p.where), None)
                line = node.line if blamed is None else node.line_of(blamed)
                source = node.source if blamed is None else node.value[blamed].source
                self.note(source, line, p.where.removeprefix(self.m.where("")), p.what, p.law, p.mend)
            raise Lost from None

    def read_load(self, name: str, node: Node, line: int) -> None:
        where = f"load '{name}'"
        keys = node.value if isinstance(node.value, Mapping) else {}
        kinds = [kind for kind in LOADS if kind in keys]
        if len(kinds) != 1:
            self.note(
                node.source,
                line,
                where,
                f"a load is one of {', '.join(LOADS)}",
                "",
                f"found {', '.join(keys) or node.kind}",
            )
            raise Lost
        given = Entry(self, node, where, line, (kinds[0], *LOADS[kinds[0]]))
        part = self.part_load(kinds[0])
        if part is not None:
            part(name, given)
        elif kinds[0] in ("force", "torque"):
            self.read_action(kinds[0], name, given)
        elif kinds[0] == "spring":
            self.read_spring(name, given)
        elif kinds[0] == "joint_spring":
            joint, options = given.need("joint_spring", self.joint), self.spring_options(given)
            index = given.take("index", self.index) or 0
            given.finish()
            self.m.joint_spring(name, joint or "", index=index, **options)
        else:
            joint, value = given.need("joint", self.joint), given.need("effort", self.quantity)
            index = given.take("index", self.index) or 0
            given.finish()
            self.m.effort(name, joint or "", value if value is not None else 0.0, index=index)

    def read_action(self, kind: str, name: str, given: Entry) -> None:
        vector, body = given.need(kind, self.triple), given.need("body", self.body)
        options = {
            "at": given.take("at", self.triple) if kind == "force" else None,
            "frame": given.take("frame", self.frame),
            "reaction": given.take("reaction", self.body),
        }
        given.finish()
        add = self.m.force if kind == "force" else self.m.torque
        add(name, body or "", vector or (), **{k: v for k, v in options.items() if v is not None})  # type: ignore[arg-type]

    def read_spring(self, name: str, given: Entry) -> None:
        ends = given.need("spring", lambda n, w: [self.body(item, w) for item in self.items(n, w, 2)])
        at = given.take("at", lambda n, w: [self.triple(item, w) for item in self.items(n, w, 2)])
        options = self.spring_options(given)
        given.finish()
        first, second = ends or ("", "")
        if at is not None:
            options.update(first_at=at[0], second_at=at[1])
        self.m.spring(name, first, second, **options)

    def spring_options(self, given: Entry) -> dict[str, Any]:
        options = {key: given.take(key, self.quantity) for key in ("stiffness", "damping", "rest")}
        return {k: v for k, v in options.items() if v is not None}

    def read_control(self, name: str, node: Node, line: int) -> None:
        where = f"control '{name}'"
        if not isinstance(node.value, Mapping):
            raise self.refuse(node, where, f"expected efforts along speeds, rates or joints, found {node.kind}")
        if self.lost & {("joint", target) for target in node.value}:
            raise Lost
        law = {}
        for target, value in node.value.items():
            law[target] = self.quantity(value, f"{where} / {target}")
        self.m.control(name, law)

    def read_rotor(self, name: str, node: Node, line: int) -> None:
        given = Entry(self, node, f"rotor '{name}'", line, ROTOR)
        joint, inertia = given.need("joint", self.joint), given.need("inertia", self.quantity)
        ratio, index = given.take("ratio", self.quantity), given.take("index", self.index)
        given.finish()
        own = inertia if inertia is not None else 0.0
        self.m.rotor(name, joint or "", own, ratio=1.0 if ratio is None else ratio, index=index or 0)

    def read_limit(self, name: str, node: Node, line: int) -> None:
        if name in self.lost_words:
            return
        given = Entry(self, node, f"limit of '{name}'", line, LIMIT)
        values = {key: given.take(key, self.number) for key in LIMIT}
        given.finish()
        self.m.limit(name, **{k: v for k, v in values.items() if v is not None})

    def read_initial(self, name: str, node: Node, line: int) -> None:
        if name in self.lost_words:
            return
        self.m.set_initial({name: self.quantity(node, f"initial '{name}'")})

    def judge(self) -> None:
        """What can only be said about the whole; only where nothing else is wrong."""
        if self.found:
            return
        try:
            self.m.validate()
        except ModelError as error:
            for p in error.problems:
                where = p.where.removeprefix(self.m.where(""))
                source, line = self.places.get(where, (self.root.source, self.root.line))
                self.note(source, line, where, p.what, p.law, p.mend)
            return
        starts = {c.name: c.initial for c in self.m.coordinate_records.values()}
        for attitude in attitudes(self.m, starts):
            if attitude.doubtful:
                warnings.warn(str(attitude.problem(self.m)), stacklevel=2)
                self.m.set_initial(dict(zip(attitude.names, attitude.unit, strict=True)))


__all__ = ["CONSTRAINTS", "LOADS", "SECTIONS", "VERSION", "Reader"]
