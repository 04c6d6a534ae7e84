"""Wheels that lift and slide, and what becomes of their vehicle: one record of a motion, in one set of sentences.

Outcomes, printed answers, the shell and reports all tell this. Times are those of transitions, whatever times of the
motion were asked for. A vehicle tips while all wheels that touch the ground lie on one edge of its support polygon, or
none touches. It tips over if in such a span its mass centre, with all that it carries, goes beyond an edge, along
gravity: as far as the sampled states show, of which the last is always one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import TYPE_CHECKING

import numpy as np

from ..formulation import contacts_program, hull_edges
from ..model import BuiltVehicle, Mechanism, carrying_platform
from ..model.constraints.changing import CONTACT
from ..simulate import Transition
from .records import Array
from .tipping import Crossing, Judgement, name_of
from .whole import poses

if TYPE_CHECKING:
    from .trajectory import Trajectory

_CONTACT = {"sticks": "gripping", "slips": "sliding", "open": "open"}
SAID = {"sliding": "slides", "open": "is off the ground"}
"""What is told of a wheel whose contact is like that."""
_ON_LINE = 1e-6
"""Share of the size of a support polygon within which a wheel lies on the line of one of its edges."""
_UPRIGHT = math.radians(0.05)
"""Tilt below which a vehicle stands upright, in words: that of a print."""
_ON_ITS_SIDE = 0.5 * math.pi + _UPRIGHT
"""Tilt beyond which a vehicle has turned over, and is upside down."""
_NO_BODY = (
    "its body has no contact with the ground: what follows after it turned over is not physical;"
    " give the body a contact, or end the run there by an event"
)


@dataclass(frozen=True, slots=True)
class VehicleEnd:
    """A vehicle at the end of a motion, `t` (s): the `place` (x, y) (m) of its platform, how far that is tilted from
    upright, `tilt` (rad), and the wheels that touch the ground, `standing`."""

    t: float
    place: tuple[float, float]
    tilt: float
    standing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Lifting:
    """What the `wheels` of a vehicle that may lift and slide did along a motion, and what became of it.

    `contacts` says what the contact of each wheel is at the start, and every change after that: gripping, sliding, open
    or closed. Where some wheel was off the ground `end` tells where the vehicle ended, and `over` the edge that it
    tipped over, or the wheel, and the time (s) from which it did: since when it tipped as its mass centre went beyond
    the edge; None if it did not. `through` says that it turned over, and no contact of its body keeps it from the
    ground. `name` is that of the vehicle, in words, where there are several.
    """

    contacts: tuple[Crossing, ...]
    wheels: tuple[str, ...]
    name: str = ""
    over: Crossing | None = None
    end: VehicleEnd | None = None
    through: bool = False

    @property
    def changes(self) -> tuple[Crossing, ...]:
        """The contacts without those at the start."""
        first = {c.what: c for c in reversed(self.contacts)}
        return tuple(c for c in self.contacts if c is not first[c.what])

    @property
    def sentences(self) -> tuple[str, ...]:
        """What there is to say: from when wheels slide and are off the ground and, where some were, whether the vehicle
        tips over, and where it ends."""
        return (*self.of_wheels, *self.of_vehicle)

    @property
    def of_vehicle(self) -> tuple[str, ...]:
        """Whether the vehicle tips over, where it ends, and whether that can be."""
        return tuple(said for said in (self.tips_over, self.ends, _NO_BODY if self.through else "") if said)

    @property
    def of_wheels(self) -> tuple[str, ...]:
        """From when each wheel slides, and is off the ground."""
        first: dict[tuple[str, str], Crossing] = {}
        for c in self.contacts:
            if c.to in SAID:
                first.setdefault((c.what, c.to), c)
        return tuple(f"wheel {wheel_of(c)} {SAID[c.to]} from t = {float(c):.6g} s" for c in first.values())

    @property
    def tips_over(self) -> str:
        """What the vehicle tips over, and from when; nothing where it does not."""
        if self.over is None:
            return ""
        return f"{self.name}tips over {self.over.what.split(' ', 1)[1]} from t = {float(self.over):.6g} s"

    @property
    def ends(self) -> str:
        """Where and how the vehicle ends; nothing where no wheel was off the ground."""
        if self.end is None:
            return ""
        x, y = (round(value, 3) + 0.0 for value in self.end.place)
        place, tilt = f"at ({x:g}, {y:g}) m", f"tilted by {math.degrees(self.end.tilt):.1f}°"
        on = "all wheels" if self.end.standing == self.wheels else ", ".join(self.end.standing)
        if self.end.tilt > _ON_ITS_SIDE:  # wheels touch it from above, or from below
            return f"{self.name}ends upside down, {tilt}, {place}" + ("" if on else ", no wheel on the ground")
        leans = "upright" if self.end.tilt < _UPRIGHT else tilt
        return f"{self.name}ends {leans} {place}, {f'on {on}' if on else 'no wheel on the ground'}"


def wheel_of(change: Crossing) -> str:
    """The wheel whose contact changes."""
    return change.what.removeprefix("contact of ")


def contact_states(vehicle: BuiltVehicle, transitions: Sequence[Transition]) -> tuple[Crossing, ...]:
    """What the contacts of a vehicle's wheels are at the start, and every change of them, in the order of time."""
    found: list[Crossing] = []
    for wheel in vehicle.wheels:
        words = _CONTACT if wheel.constraint is not None else dict.fromkeys(_CONTACT, "closed") | {"open": "open"}
        states = [(x.t, words[x.mode[wheel.name]]) for x in transitions if wheel.name in x.mode]
        kept = states[:1] + [now for before, now in pairwise(states) if before[1] != now[1]]
        found += [Crossing(t, f"contact of {wheel.name}", state) for t, state in kept]
    return tuple(sorted(found))


def judge_contacts(run: Trajectory) -> Judgement:
    """When contacts of wheels that lift and slide changed, by vehicle, and what there is to tell of them."""
    crossings: dict[str, tuple[Crossing, ...]] = {}
    told: list[str] = []
    for name, vehicle in run.answers.mechanism.vehicles.items():
        if vehicle.unilateral:
            lifting = find_lifting(run, vehicle)
            crossings[name] = lifting.changes
            told += lifting.sentences
    return Judgement(crossings, tuple(told))


def find_lifting(run: Trajectory, vehicle: BuiltVehicle) -> Lifting:
    """What the wheels of a vehicle did along a motion, and what became of it."""
    contacts = contact_states(vehicle, run.transitions)
    wheels = tuple(wheel.name for wheel in vehicle.wheels)
    name = f"vehicle {vehicle.name} " if len(run.answers.mechanism.vehicles) > 1 else ""
    if not any(c.to == "open" for c in contacts):
        return Lifting(contacts, wheels, name)
    seen = _Positions.of(run, vehicle)
    touching = _touching(contacts)
    x, y = seen.place[-1, :2].tolist()
    standing = tuple(w for w in wheels if w in touching[-1][1])
    end = VehicleEnd(float(run.t[-1]), (x, y), float(seen.tilt[-1]), standing)
    through = bool(np.any(seen.tilt > _ON_ITS_SIDE)) and not _body_touches(run.answers.mechanism, vehicle)
    return Lifting(contacts, wheels, name, _tips_over(run.t, seen, touching), end, through)


def _body_touches(mechanism: Mechanism, vehicle: BuiltVehicle) -> bool:
    """Whether a vehicle, or what it carries, has a contact with the ground beside its wheels; one that equations
    describe may be that."""
    platform, wheels = [vehicle.platform.name], {wheel.name for wheel in vehicle.wheels}
    for contact in mechanism.changing.values():
        if contact.kind != CONTACT or contact.name in wheels:
            continue
        ends = [body.name for body in (contact.first, contact.second) if body is not None]
        own = any(carrying_platform(mechanism, name, platform) == 0 for name in ends)
        if contact.conditions.unilateral or (own and mechanism.ground.name in ends):
            return True
    return False


@dataclass(frozen=True, slots=True)
class _Positions:
    """Positions of a vehicle at each time: the `place` (k, 3) (m) of its platform, its `tilt` (k,) (rad), and how far
    its mass centre is `inside` each of the `edges` (k, e) (m), along gravity; `lines` are the wheels on each edge."""

    place: Array
    tilt: Array
    inside: Array
    edges: tuple[tuple[str, str], ...]
    lines: tuple[frozenset[str], ...]

    @staticmethod
    def of(run: Trajectory, vehicle: BuiltVehicle) -> _Positions:
        answers, mechanism = run.answers, run.answers.mechanism
        program = answers.compile_once(
            ("contacts", vehicle.name), lambda: contacts_program(answers.fresh_equations(), vehicle.name)
        )
        contact = program(run.t[:, None], (run.q,), answers.values)[0]
        bodies, pose = list(mechanism.bodies), poses(answers, run.q, t=run.t)
        R, p = pose[..., :9].reshape(*pose.shape[:2], 3, 3), pose[..., 9:]
        k = bodies.index(vehicle.platform.name)
        mounted = np.einsum("ij,wi->wj", R[0, k], contact[0] - p[0, k])
        pairs = hull_edges(mounted.tolist(), (0.0, 0.0, 1.0))
        wheels = [wheel.name for wheel in vehicle.wheels]
        return _Positions(
            p[:, k],
            np.arccos(np.clip(R[:, k, 2, 2], -1.0, 1.0)),
            _arms(contact, pairs, _mass_center(mechanism, vehicle, R, p), _down(mechanism)),
            tuple((wheels[i], wheels[j]) for i, j in pairs),
            tuple(frozenset(w for w, d in zip(wheels, _distances(mounted, *e), strict=True) if d) for e in pairs),
        )

    def line_of(self, touching: frozenset[str]) -> str | None:
        """What the vehicle tips about while these wheels touch the ground: an edge, or a wheel where that is on two of
        them; nothing ("") in the air, None where it stands."""
        if not touching:
            return ""
        found = [edge for edge, line in zip(self.edges, self.lines, strict=True) if touching <= line]
        return name_of(found[0]) if len(found) == 1 else f"wheel {min(touching)}" if found else None


def _distances(points: Array, i: int, j: int) -> list[bool]:
    """Which points lie on the line through two of them."""
    along = points[j] - points[i]
    off = np.linalg.norm(np.cross(points - points[i], along), axis=1) / np.linalg.norm(along)
    return (off <= _ON_LINE * np.ptp(points, axis=0).max()).tolist()


def _down(mechanism: Mechanism) -> Array:
    """The direction of gravity (3,), zero where there is none."""
    g = np.array([mechanism.number(c, "gravity") for c in mechanism.gravity])
    return g / (float(np.linalg.norm(g)) or 1.0)


def _mass_center(mechanism: Mechanism, vehicle: BuiltVehicle, R: Array, p: Array) -> Array:
    """The mass centre (k, 3) (m) of a vehicle and all that it carries, other vehicles apart."""
    platforms = [v.platform.name for v in mechanism.vehicles.values()]
    own, total, moment = platforms.index(vehicle.platform.name), 0.0, np.zeros_like(p[:, 0])
    for k, (name, body) in enumerate(mechanism.bodies.items()):
        if carrying_platform(mechanism, name, platforms) == own:
            mass = mechanism.number(body.mass, name)
            center = np.array([mechanism.number(c, name) for c in body.center])
            total, moment = total + mass, moment + mass * (p[:, k] + R[:, k] @ center)
    return moment / total


def _arms(contact: Array, pairs: Sequence[tuple[int, int]], center: Array, down: Array) -> Array:
    """How far (k, e) (m) a mass centre is inside each edge, along gravity: the lever arm with which weight holds the
    vehicle down about it, e · (g × (c − a)) for the unit vectors e of the edge from a on and g of gravity."""
    found = np.ones((len(center), len(pairs)))
    for n, (i, j) in enumerate(pairs):
        edge = contact[:, j] - contact[:, i]
        edge /= np.linalg.norm(edge, axis=1, keepdims=True)
        found[:, n] = np.einsum("ki,ki->k", edge, np.cross(down, center - contact[:, i]))
    return found


def _touching(contacts: Sequence[Crossing]) -> list[tuple[float, frozenset[str]]]:
    """(from when (s), which wheels touch the ground) for each change of that."""
    found: list[tuple[float, frozenset[str]]] = []
    now: frozenset[str] = frozenset()
    for t, changes in groupby(contacts, key=float):
        for c in changes:
            now = now - {wheel_of(c)} if c.to == "open" else now | {wheel_of(c)}
        found.append((t, now))
    return found


def _tips_over(t: Array, seen: _Positions, touching: Sequence[tuple[float, frozenset[str]]]) -> Crossing | None:
    """Over what and from when a vehicle tips over; None if it does not."""
    lines = [(start, seen.line_of(wheels)) for start, wheels in touching]
    at = np.searchsorted([start for start, _ in lines], t, side="right") - 1
    tips = np.array([lines[k][1] is not None for k in np.maximum(at, 0).tolist()])
    beyond = (seen.inside.min(axis=1, initial=np.inf) < 0.0) & (tips | (seen.tilt > 0.5 * math.pi))
    if not beyond.any():
        return None
    row = int(np.argmax(beyond))
    last = int(at[row])
    while last > 0 and lines[last][1] is None:  # it stands on its wheels again, upside down
        last -= 1
    first = last
    while first > 0 and lines[first - 1][1] is not None:
        first -= 1
    about = [what for _, what in lines[first : last + 1] if what]
    edges = [what for what in about if what.startswith("edge")]
    passed = name_of(seen.edges[int(np.argmin(seen.inside[row]))])
    return Crossing(lines[first][0], (edges or about or [passed])[0], "passed")


__all__ = ["Lifting", "VehicleEnd", "contact_states", "find_lifting", "judge_contacts", "wheel_of"]
