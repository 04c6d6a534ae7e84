"""The data of a page: what is described, what is seen, and a motion that goes on in the page or was recorded."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ..backends.mathml import text_name
from ..errors import visible
from ..graph import Program
from ..model import Mechanism
from ..model.limits import SLACK, limits_by_column, limits_by_speed
from ..simulate import Transition
from ..simulate.changing import CAUSES, FAULTS, STATES
from ..simulate.compiled.records import REASONS_OF_LOOPS
from ..simulate.live import LiveMotion
from ..viewer.shapes import Array, size
from ..viewer.units import coordinate_units, effort_units, speed_units
from .document import document, pack
from .scene import describe_scene

FORMAT = 1
"""Of the data; the component refuses any other."""

MOST_LINES = 10_000
"""Of a program that is listed in a page; longer ones would be most of the file."""

_FAR = 1e3
"""Places further from the origin than this many sizes of a mechanism are recorded as float64: float32 has 7 digits."""


@dataclass(frozen=True, slots=True)
class Described:
    """A mechanism for a page: poses (k, bodies, 12) that the camera is to show, Jacobians (k, bodies, 6, n) of some
    states, the free parameters with their values."""

    model: Mechanism
    poses: Array
    jacobians: Array
    parameters: Mapping[str, float]

    def data(self) -> dict[str, Any]:
        model, limits = self.model, limits_by_column(self.model)
        return {
            "format": FORMAT,
            "name": visible(model.name),
            "about": visible(model.about),
            "scene": describe_scene(model, self.poses, self.jacobians),
            "coordinates": _describe_columns(model.coordinates, coordinate_units(model), limits),
            "speeds": _describe_columns(model.speeds, speed_units(model), limits),
            "slack": SLACK,
            "parameters": [{"name": visible(name), "value": value} for name, value in self.parameters.items()],
        }


@dataclass(frozen=True, slots=True)
class MarkedPlace:
    """A place at which a constraint acts: its name, its number among all constraints, and its first row and how many it
    has among the rows of all of them, those that come and go behind the others."""

    name: str
    index: int
    first: int
    rows: int


@dataclass(frozen=True, slots=True)
class MarkedWheels:
    """Wheels on the ground: their names, `outlines`, the wheels at the corners of support polygons, by number and in
    order, and `vehicles`, whose polygons these are. Of every body `carried_by` is the number of the vehicle kept level
    that carries it, −1 for none, and `platforms` are the bodies, by number, that these vehicles consist in."""

    names: tuple[str, ...]
    outlines: tuple[tuple[int, ...], ...] = ()
    vehicles: tuple[str, ...] = ()
    carried_by: tuple[int, ...] = ()
    platforms: tuple[int, ...] = ()

    def names_behind(self, places: Sequence[MarkedPlace]) -> dict[str, Any]:
        """Names of places and outlines, as data: the wheels come after the places of constraints."""
        outlines = [[len(places) + i for i in outline] for outline in self.outlines]
        return mark_names([*(p.name for p in places), *self.names], outlines, self.vehicles)


def live_page(
    described: Described,
    motion: LiveMotion,
    places: Sequence[MarkedPlace] = (),
    wheels: MarkedWheels | None = None,
    law: str = "",
    efforts: Sequence[float] = (),
) -> str:
    """A page in which the motion is simulated. Forces of constraints are drawn at `places`, and those of the ground on
    `wheels`; `law` is what the control law is called that it moves under, `efforts` (n,) act along speeds beside it."""
    every = [*motion.codes, *(code for _, codes in motion.laws for code in codes)]
    parts = [*(code.module.code for code in every), motion.image]
    starts = np.cumsum([0, *map(len, parts)]).tolist()
    codes = [
        {"name": visible(c.name), "export": c.export, "slot": c.slot, "at": starts[i], "size": len(c.module.code)}
        | {"fused": None if c.module.fused is None else asdict(c.module.fused)}
        for i, c in enumerate(every)
    ]
    laws, first = list[dict[str, Any]](), len(motion.codes)
    for name, own in motion.laws:
        laws.append({"name": visible(name), "codes": codes[first : first + len(own)]})
        first += len(own)
    live = {
        "codes": codes[: len(motion.codes)],
        "law": visible(law),
        "laws": laws,
        "marks": _live_marks(described.model, motion, places, wheels),
        "program": {"text": _program_listing(motion.program), "count": motion.program.count_text()},
        "image": {"at": starts[-2], "size": len(motion.image), "to": motion.image_at, "clear": motion.data_at},
        "pages": motion.pages,
        "places": dict(motion.places),
        "step": motion.step,
        "efforts": _drives(described.model, efforts),
        "stepping": motion.stepping,
        "elements": [visible(name) for name in motion.elements],
        "states": list(STATES),
        "causes": list(CAUSES),
        "faults": list(FAULTS),
        "reasons": list(REASONS_OF_LOOPS),
        "blob": pack(b"".join(parts)),
    }
    return document(described.model.name, described.data() | {"live": live})


def _drives(model: Mechanism, efforts: Sequence[float]) -> list[dict[str, Any]]:
    """Efforts that can be set in a page: along the speeds of drives whose largest effort is known."""
    units = effort_units(model)
    return [
        {
            "speed": place,
            "name": visible(text_name(f"tau_{model.speeds[place]}")),
            "unit": units[place],
            "most": limit.effort,
            "value": efforts[place] if len(efforts) else 0.0,
        }
        for _, place, limit in limits_by_speed(model)
        if math.isfinite(limit.effort)
    ]


def _program_listing(program: Program) -> str:
    """The text of a program, packed; nothing where it is too long to be read."""
    text = str(program)
    return pack(text.encode()) if text.count("\n") <= MOST_LINES else ""


def _live_marks(
    model: Mechanism, motion: LiveMotion, places: Sequence[MarkedPlace], wheels: MarkedWheels | None
) -> dict[str, Any] | None:
    if motion.marks is None:
        return None
    wheels = wheels or MarkedWheels(())
    return wheels.names_behind(places) | {
        "slot": motion.marks.slot,
        "reactions": motion.marks.reactions,
        "ground": motion.marks.ground,
        "rates": motion.marks.rates,
        "constraints": len(model.constraints) + len(model.changing),
        "mirrored": [list(x) for x in motion.marks.mirrored],
        "places": [{"index": p.index, "first": p.first, "rows": p.rows} for p in places],
        "carried_by": list(wheels.carried_by),
        "platforms": list(wheels.platforms),
    }


@dataclass(frozen=True, slots=True)
class Marks:
    """What is drawn over a motion: `velocity` (k, bodies, 3) of mass centres (m/s), and forces `force` (k, n, 3) (N) at
    places `at` (k, n, 3) (m) with `names`, all in N. A force of zero is none. `outlines` are polygons on which the
    mechanism stands, each by the numbers of its places, in order: those of `vehicles`. `measure` (k,
    outlines) says how near these are to tipping over (N rad), negative where they would."""

    names: tuple[str, ...]
    velocity: Array
    at: Array
    force: Array
    outlines: tuple[tuple[int, ...], ...] = ()
    vehicles: tuple[str, ...] = ()
    measure: Array = field(default_factory=lambda: np.zeros((0, 0)))

    def data(self) -> dict[str, Any]:
        return mark_names(self.names, self.outlines, self.vehicles) | {
            "velocities": pack(self.velocity.astype("<f4").tobytes()),
            "at": pack(self.at.astype("<f8").tobytes()),
            "forces": pack(self.force.astype("<f4").tobytes()),
            "measures": pack(self.measure.astype("<f4").tobytes()),
        }


def mark_names(names: Sequence[str], outlines: Sequence[Sequence[int]], vehicles: Sequence[str]) -> dict[str, Any]:
    """Names of places, the outlines among them and whose these are, as data."""
    return {
        "names": [visible(name) for name in names],
        "outlines": [list(x) for x in outlines],
        "vehicles": [visible(name) for name in vehicles],
    }


def recorded_page(
    described: Described,
    t: Array,
    q: Array,
    u: Array,
    *,
    marks: Marks | None = None,
    transitions: Sequence[Transition] = (),
    panel: bool = True,
) -> str:
    """A page that plays a motion: t (k,), q and u at these times, with the poses of `described`, which are at the same
    times. With a single time it is a picture to turn. The panel beside it is folded away at first unless `panel`."""
    far = float(np.abs(described.poses[..., 9:]).max(initial=0.0)) > _FAR * size(described.model)
    recording = {
        "times": len(t),
        "numbers": pack(np.concatenate([t[:, None], q, u], axis=1).astype("<f8").tobytes()),
        "double": far,
        "poses": pack(described.poses.astype("<f8" if far else "<f4").tobytes()),
        "marks": None if marks is None else marks.data(),
        "transitions": [
            {"t": x.t, "cause": x.cause, "which": [visible(n) for n in x.constraints], "states": list(x.mode.values())}
            for x in transitions
        ],
        "elements": [visible(name) for name in transitions[0].mode] if transitions else [],
    }
    return document(described.model.name, described.data() | {"panel": panel, "recording": recording})


def remote_page(
    described: Described,
    elements: Sequence[str],
    places: Sequence[MarkedPlace],
    wheels: MarkedWheels | None,
    path: str,
    sources: Sequence[str],
    laws: Sequence[str] = (),
) -> str:
    """A page that shows a motion which goes on elsewhere, with forces at `places` and on `wheels`, and touches it
    there: by a WebSocket at `path` of the host that the page comes from, one of `sources`. `laws` are the names of the
    control laws that it can be moved under."""
    marks = (wheels or MarkedWheels(())).names_behind(places)
    remote = {"path": path, "elements": [visible(name) for name in elements], "marks": marks}
    remote |= {"laws": [visible(name) for name in laws]}
    return document(described.model.name, described.data() | {"remote": remote}, " ".join(sources))


def _describe_columns(
    names: Sequence[str], units: Sequence[str], limits: Mapping[str, tuple[float, float]]
) -> list[dict[str, Any]]:
    """Names with units, and limits where there are some: the least and the largest value, null where there is none."""
    found = list[dict[str, Any]]()
    for name, unit in zip(names, units, strict=True):
        ends = [x if math.isfinite(x) else None for x in limits.get(name, ())]
        found.append({"name": visible(name), "unit": unit} | ({"limits": ends} if ends else {}))
    return found
