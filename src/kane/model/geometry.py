"""The level of the analyst in a model file: frames, points, bodies attached to them, velocities in terms of speeds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter

from ..errors import ModelError
from ..space import Vector
from .document import Node
from .guides import Guides
from .values import Entry, Lost


class Geometry(Guides):
    """Reads frames and points, each after what it is built on."""

    def entries(self, file: Entry, section: str) -> Iterator[tuple[str, Node, int]]:
        """(name, node, line of the name) of each entry of a section."""
        node = file.fields.get(section)
        if node is not None and isinstance(node.value, Mapping):
            for name, entry in node.value.items():
                yield name, entry, node.line_of(name)

    def read_geometry(self, file: Entry) -> None:
        """Frames, points and the bodies attached to them, each after what it is built on."""
        tasks: dict[tuple[str, str], tuple[Callable[[], None], Node, int]] = {}
        needs: dict[tuple[str, str], list[tuple[str, str]]] = {}
        frames = {name for name, _, _ in self.entries(file, "frames")}
        points = {name for name, _, _ in self.entries(file, "points")}
        for section, read, links in (
            ("frames", self.read_frame, (("parent", "frame"),)),
            ("points", self.read_point, (("parent", "point"), ("frame", "frame"))),
            ("bodies", self.read_attachment, (("frame", "frame"), ("origin", "point"))),
        ):
            for name, node, line in self.entries(file, section):
                kind = {"bodies": "body"}.get(section, section.removesuffix("s"))
                tasks[kind, name] = (lambda r=read, n=name, d=node, k=line: r(n, d, k)), node, line
                fields = node.value if isinstance(node.value, Mapping) else {}
                needs[kind, name] = [
                    (sort if other.value in (frames if sort == "frame" else points) else "body", other.value)
                    for key, sort in links
                    if (other := fields.get(key)) is not None and isinstance(other.value, str)
                ]
        for body in self.m.bodies.values():
            if body.joint is not None:
                needs.setdefault(("body", body.name), []).append(("body", body.joint.parent.name))
        self.in_order(tasks, needs)

    def in_order(self, tasks: Mapping[tuple[str, str], tuple[Callable[[], None], Node, int]], needs: Mapping) -> None:
        try:
            order = list(TopologicalSorter(needs).static_order())
        except CycleError as error:
            cycle = [f"{kind} '{name}'" for kind, name in error.args[1]]
            _, node, line = next(tasks[key] for key in error.args[1] if key in tasks)
            law, mend = "frames, points and bodies start at the ground", "attach one of them to N, O or the ground"
            self.note(node.source, line, cycle[0], f"is built on itself: {' → '.join(cycle)}", law, mend)
            return
        for key in order:
            if key in tasks:
                run, node, line = tasks[key]
                try:
                    run()
                except ModelError as error:
                    self.located(error, node.source, line)
                    self.lost.add(key)
                except Lost:
                    self.lost.add(key)

    def read_frame(self, name: str, node: Node, line: int) -> None:
        given = Entry(self, node, f"frame '{name}'", line, ("parent", "rotation", "angular_velocity"))
        parent, rotation = given.need("parent", self.frame), given.take("rotation", self.rotation)
        given.finish()
        self.m.frame(name, parent or "N", **(rotation or {}))

    def read_point(self, name: str, node: Node, line: int) -> None:
        given = Entry(self, node, f"point '{name}'", line, ("parent", "offset", "frame", "velocity"))
        parent = given.need("parent", lambda n, w: self.point(n, w))
        offset = given.take("offset", self.triple)
        frame = given.take("frame", lambda n, w: self.attempt(n, self.m.frame_named, self.frame(n, w), w))
        given.finish()
        carrier = frame or self.m.N
        vector = carrier.vector(0, 0, 0) if offset is None else Vector(carrier, offset)
        self.m.point(name, parent or "O", vector)

    def read_attachment(self, name: str, node: Node, line: int) -> None:
        fields = node.value if isinstance(node.value, Mapping) else {}
        if "frame" not in fields and "origin" not in fields:
            return
        where = f"body '{name}'"
        if "frame" not in fields or "origin" not in fields:
            there = "frame" if "frame" in fields else "origin"
            self.note(node.source, line, where, f"{there}: alone", "a body has a frame and an origin", "give both")
            raise Lost
        frame = self.frame(fields["frame"], where)
        origin = self.point(fields["origin"], where)
        self.m.attach(name, frame, origin)

    def read_velocities(self, file: Entry) -> None:
        """Velocities that the analyst sets, in terms of the speeds."""
        for name, node, _ in self.entries(file, "frames"):
            value = node.value.get("angular_velocity") if isinstance(node.value, Mapping) else None
            if value is not None and name in self.m.declared_frames:
                try:
                    frame = self.m.declared_frames[name]
                    frame.set_angular_velocity(Vector(frame, self.triple(value, f"frame '{name}' / angular_velocity")))
                except Lost:
                    continue
        for name, node, _ in self.entries(file, "points"):
            value = node.value.get("velocity") if isinstance(node.value, Mapping) else None
            if value is not None and name in self.m.declared_points:
                try:
                    self.read_point_velocity(name, value)
                except Lost:
                    continue

    def read_point_velocity(self, name: str, node: Node) -> None:
        given = Entry(self, node, f"point '{name}' / velocity", node.line, ("frame", "components"))
        frame = given.take("frame", lambda n, w: self.attempt(n, self.m.frame_named, self.frame(n, w), w))
        components = given.need("components", self.triple)
        given.finish()
        if components is not None:
            self.m.declared_points[name].set_velocity(Vector(frame or self.m.N, components))
