"""The level of the analyst in a model file: frames, points, bodies attached to them, velocities in terms of speeds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from graphlib import CycleError, TopologicalSorter

from ...errors import ExpressionError, ModelError
from ...space import Vector
from .faults import Lost
from .nodes import Node
from .values import Entry, NodeValues, entries

Task = tuple[Callable[[], None], Node, int]
"""What reads an entry, its node, and the line of its name."""


def read_geometry(r: NodeValues, file: Entry) -> None:
    """Frames, points and the bodies attached to them, each after what it is built on."""
    tasks: dict[tuple[str, str], Task] = {}
    needs: dict[tuple[str, str], list[tuple[str, str]]] = {}
    frames = {name for name, _, _ in entries(file, "frames")}
    points = {name for name, _, _ in entries(file, "points")}
    for section, read, links in (
        ("frames", _read_frame, (("parent", "frame"),)),
        ("points", _read_point, (("parent", "point"), ("frame", "frame"))),
        ("bodies", _read_attachment, (("frame", "frame"), ("origin", "point"))),
    ):
        for name, node, line in entries(file, section):
            kind = {"bodies": "body"}.get(section, section.removesuffix("s"))
            fields = node.value if isinstance(node.value, dict) else {}
            if kind == "body" and "frame" not in fields and "origin" not in fields:
                continue  # attached by a joint
            tasks[kind, name] = partial(read, r, name, node, line), node, line
            needs[kind, name] = [
                (sort if other.value in (frames if sort == "frame" else points) else "body", other.value)
                for key, sort in links
                if (other := fields.get(key)) is not None and isinstance(other.value, str)
            ]
    if not tasks:
        return
    for body in r.m.bodies.values():
        if body.joint is not None:
            needs.setdefault(("body", body.name), []).append(("body", body.joint.parent.name))
    _run_in_order(r, tasks, needs)


def _run_in_order(r: NodeValues, tasks: Mapping[tuple[str, str], Task], needs: Mapping) -> None:
    try:
        order = list(TopologicalSorter(needs).static_order())
    except CycleError as error:
        cycle = [f"{kind} '{name}'" for kind, name in error.args[1]]
        _, node, line = next(tasks[key] for key in error.args[1] if key in tasks)
        because, fix = "frames, points and bodies start at the ground", "attach one of them to N, O or the ground"
        r.faults.note(node.source, line, cycle[0], f"is built on itself: {' → '.join(cycle)}", because, fix)
        return
    for key in order:
        if key in tasks:
            run, node, line = tasks[key]
            try:
                run()
            except (ModelError, ExpressionError) as error:
                r.locate(error, node.source, line)
                r.faults.lost.add(key)
            except Lost:
                r.faults.lost.add(key)


def _read_frame(r: NodeValues, name: str, node: Node, line: int) -> None:
    given = Entry(r, node, f"frame '{name}'", line, ("parent", "rotation", "angular_velocity"))
    parent, rotation = given.need("parent", r.frame), given.take("rotation", r.rotation)
    given.finish()
    r.m.frame(name, parent or "N", None if rotation is None else rotation.matrix)


def _read_point(r: NodeValues, name: str, node: Node, line: int) -> None:
    given = Entry(r, node, f"point '{name}'", line, ("parent", "offset", "frame", "velocity"))
    parent = given.need("parent", lambda n, w: r.point(n, w))
    offset = given.take("offset", r.triple)
    frame = given.take("frame", lambda n, w: r.attempt(n, r.m.find_frame, r.frame(n, w), w))
    given.finish()
    carrier = frame or r.m.N
    vector = carrier.vector(0, 0, 0) if offset is None else Vector(carrier, offset)
    r.m.point(name, parent or "O", vector)


def _read_attachment(r: NodeValues, name: str, node: Node, line: int) -> None:
    fields = node.value if isinstance(node.value, dict) else {}
    where = f"body '{name}'"
    if "frame" not in fields or "origin" not in fields:
        there = "frame" if "frame" in fields else "origin"
        r.faults.note(node.source, line, where, f"{there}: alone", "a body has a frame and an origin", "give both")
        raise Lost
    frame = r.frame(fields["frame"], where)
    origin = r.point(fields["origin"], where)
    r.m.attach(name, frame, origin)


def read_velocities(r: NodeValues, file: Entry) -> None:
    """Velocities that the analyst sets, in terms of the speeds."""
    for name, node, _ in entries(file, "frames"):
        value = node.value.get("angular_velocity") if isinstance(node.value, dict) else None
        if value is not None and name in r.m.declared_frames:
            try:
                frame = r.m.declared_frames[name]
                frame.set_angular_velocity(Vector(frame, r.triple(value, f"frame '{name}' / angular_velocity")))
            except Lost:
                continue
    for name, node, _ in entries(file, "points"):
        value = node.value.get("velocity") if isinstance(node.value, dict) else None
        if value is not None and name in r.m.declared_points:
            try:
                _read_point_velocity(r, name, value)
            except Lost:
                continue


def _read_point_velocity(r: NodeValues, name: str, node: Node) -> None:
    given = Entry(r, node, f"point '{name}' / velocity", node.line, ("frame", "components"))
    frame = given.take("frame", lambda n, w: r.attempt(n, r.m.find_frame, r.frame(n, w), w))
    components = given.need("components", r.triple)
    given.finish()
    if components is not None:
        r.m.declared_points[name].set_velocity(Vector(frame or r.m.N, components))
