"""Constraints: one frozen record per kind, and what they are made into, rows of A u + c = 0."""

from .changing import BuiltChanging, Changing, ChangingLaw, ChangingRows, Conditions
from .equations import ConfigurationEquations, MotionEquations
from .friction import Brake, Clutch, Friction
from .guides import Distance, KnifeEdge, PointOnCurve, PointOnLine, PointOnPlane, PointVelocity
from .loops import Loop
from .places import BodyPlace
from .rolling import Rolling, RollingEllipsoid, RollingOnSphere, RollingSphere
from .rows import BuiltConstraint, Constraint, GivenRows, Row, RowSet
from .shapes import ContactShape
from .stops import Backlash, HardStop, Latch, Ratchet, Rope
from .ties import Belt, Gear, Rack
from .touching import BodyContact
from .wheel_contact import WheelContact

__all__ = [
    "Backlash",
    "Belt",
    "BodyContact",
    "BodyPlace",
    "Brake",
    "BuiltChanging",
    "BuiltConstraint",
    "Changing",
    "ChangingLaw",
    "ChangingRows",
    "Clutch",
    "Conditions",
    "ConfigurationEquations",
    "Constraint",
    "ContactShape",
    "Distance",
    "Friction",
    "Gear",
    "GivenRows",
    "HardStop",
    "KnifeEdge",
    "Latch",
    "Loop",
    "MotionEquations",
    "PointOnCurve",
    "PointOnLine",
    "PointOnPlane",
    "PointVelocity",
    "Rack",
    "Ratchet",
    "Rolling",
    "RollingEllipsoid",
    "RollingOnSphere",
    "RollingSphere",
    "Rope",
    "Row",
    "RowSet",
    "WheelContact",
]
