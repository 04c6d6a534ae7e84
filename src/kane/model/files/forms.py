"""How constraints and loads stand in model files: which word is which record, and which key holds which of its fields.

A constraint is `{type: WORD, FIELD: …}`, with conditions under which it holds, if any. A load has its own word as a
key, `{force: [1, 0, 0], body: cart}`, which holds the field that says most of it. Everything else
follows from the fields of the records and their markers.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, is_dataclass
from functools import cached_property
from typing import Any

from ...errors import InputError
from ..constraints import (
    Backlash,
    Belt,
    BodyContact,
    Brake,
    Clutch,
    Conditions,
    ConfigurationEquations,
    Distance,
    Friction,
    Gear,
    HardStop,
    KnifeEdge,
    Latch,
    Loop,
    MotionEquations,
    PointOnCurve,
    PointOnLine,
    PointOnPlane,
    PointVelocity,
    Rack,
    Ratchet,
    Rolling,
    RollingEllipsoid,
    RollingOnSphere,
    RollingSphere,
    Rope,
)
from ..drives import Drive
from ..fields import FieldInfo, fields_of
from ..loads import Effort, Force, JointSpring, MagneticTorque, PointGravity, Spring, Stop, Thruster, Torque
from ..vehicles import RoadWheel


@dataclass(frozen=True)
class Form:
    """A kind of record in a file. `word` stands for the fields in `fixed`; the fields in `without` mean nothing for it;
    the keys in `held` hold one field or, as a list, several; any other field has a key of its own name."""

    word: str
    record: type[Any]
    fixed: tuple[tuple[str, Any], ...] = ()
    without: tuple[str, ...] = ()
    held: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @cached_property
    def keys(self) -> Mapping[str, Key]:
        """Its keys by their names, that of its word first where it has one."""
        known = {info.name: info for info in fields_of(self.record)}
        taken = {*self.without, *(name for name, _ in self.fixed), *(f for _, fields in self.held for f in fields)}
        held = {name: tuple(known[f] for f in fields) for name, fields in self.held}
        own = {name: (info,) for name, info in known.items() if name not in taken}
        return {name: Key(name, infos, any(i.required for i in infos)) for name, infos in {**held, **own}.items()}


@dataclass(frozen=True, slots=True)
class Key:
    """A key of an entry, the fields that it holds, one or several as a list, and whether it has to be there."""

    name: str
    fields: tuple[FieldInfo, ...]
    required: bool


def _loop(word: str, *without: str) -> Form:
    return Form(word, Loop, (("type", word),), without)


_CONSTRAINTS = (
    *(Form(kind.kind, kind) for kind in (MotionEquations, ConfigurationEquations, PointVelocity, KnifeEdge)),
    *(Form(kind.kind, kind) for kind in (Gear, Belt, Rack)),
    *(Form(kind.kind, kind) for kind in (Rolling, RollingSphere, RollingOnSphere, RollingEllipsoid)),
    *(Form(kind.kind, kind) for kind in (Distance, PointOnPlane, PointOnLine, PointOnCurve)),
    *(Form(kind.kind, kind) for kind in (HardStop, Backlash, Rope, Latch, Ratchet, Friction, Brake, Clutch)),
    _loop("weld", "axis", "sequence"),
    _loop("revolute", "sequence"),
    _loop("prismatic", "sequence", "along"),
    _loop("cylindrical", "sequence", "along"),
    _loop("universal", "axis"),
    _loop("spherical", "axis", "sequence"),
)
CONSTRAINTS: Mapping[str, Form] = {form.word: form for form in _CONSTRAINTS}
"""Type of a constraint → its form."""

CONTACT = Form("contact", BodyContact, held=(("between", ("first", "second")),))
"""The form of an entry of `contacts:`."""

ROAD_WHEEL = Form("wheel", RoadWheel)
"""The form of a wheel of a vehicle."""

DRIVE = Form("drive", Drive)
"""The form of the drive of a vehicle."""

CONDITIONS = Form("conditions", Conditions)
"""Keys that any constraint may have besides those of its type."""

CONTACT_CONDITIONS = Form("conditions", Conditions, without=("unilateral", "restitution"))
"""Keys that a contact may have besides its own."""

_LOADS = (
    Form("force", Force, held=(("force", ("vector",)),)),
    Form("torque", Torque, held=(("torque", ("vector",)),)),
    Form("spring", Spring, held=(("spring", ("first", "second")), ("at", ("first_at", "second_at")))),
    Form("joint_spring", JointSpring, held=(("joint_spring", ("joint",)),)),
    Form("effort", Effort, held=(("effort", ("value",)),)),
    Form("thruster", Thruster, held=(("thruster", ("thrust",)),)),
    Form("stop", Stop, held=(("stop", ("joint",)),)),
    Form("point_gravity", PointGravity, held=(("point_gravity", ("mu",)),)),
    Form("magnetic_torque", MagneticTorque, held=(("magnetic_torque", ("moment",)),)),
)
LOADS: Mapping[str, Form] = {form.word: form for form in _LOADS}
"""The key that names a load → its form."""

_BUILT_IN = {form.record: form for form in (*_CONSTRAINTS, *_LOADS, CONTACT) if form.record is not Loop}


@dataclass(frozen=True, slots=True)
class Forms:
    """The forms that a reading knows, those of the package and the user's."""

    constraints: Mapping[str, Form]
    loads: Mapping[str, Form]


def forms_with(kinds: Iterable[type[Any]]) -> Forms:
    """The forms of the package and of these kinds of the user: classes like `Constraint` or `Load`."""
    constraints, loads = dict(CONSTRAINTS), dict(LOADS)
    for kind in kinds:
        table = constraints if makes_rows(kind) else loads if hasattr(kind, "actions") else None
        if table is None or not isinstance(kind, type) or not is_dataclass(kind):
            raise InputError(f"{kind!r} is no kind: give classes, dataclasses with make_rows (or check, actions, …)")
        if unmarked := [info.name for info in fields_of(kind) if info.holds is None]:
            raise InputError(
                f"the kind {kind.__name__} cannot stand in a file: annotate {', '.join(unmarked)} "
                "with a type of kane.model.fields (Scalar, BodyName, …)"
            )
        form = own_form(kind)
        if form is None or form.word in table:
            raise InputError(f"the kind {kind.__name__} needs a word of its own: kind = 'my-kind'")
        table[form.word] = form
    return Forms(constraints, loads)


def makes_rows(kind: type[Any]) -> bool:
    """Whether a kind is one of constraints, that hold always or come and go."""
    return hasattr(kind, "make_rows") or hasattr(kind, "make_changing")


def own_form(kind: type[Any]) -> Form | None:
    """The form of a kind of the user; None where a file cannot hold it."""
    word = getattr(kind, "kind", None)
    known = fields_of(kind) if is_dataclass(kind) else ()
    if not isinstance(word, str) or not known or any(info.holds is None for info in known):
        return None
    return Form(word, kind) if makes_rows(kind) else Form(word, kind, held=((word, (known[0].name,)),))


def form_of(record: Any) -> Form | None:
    """The form that a record is written in; None where a file cannot hold it."""
    if isinstance(record, Loop):
        return CONSTRAINTS[record.type]
    return _BUILT_IN.get(type(record)) or own_form(type(record))
