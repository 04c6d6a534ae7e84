"""Constraints: one frozen record per kind, and what they are made into, rows of A u + c = 0."""

from .equations import ConfigurationEquations, MotionEquations
from .guides import Distance, KnifeEdge, PointOnCurve, PointOnLine, PointOnPlane, PointVelocity
from .loops import Loop
from .places import BodyPlace
from .rolling import Rolling, RollingEllipsoid, RollingOnSphere, RollingSphere
from .rows import BuiltConstraint, Constraint, GivenRows, Row, RowSet
from .ties import Belt, Gear, Rack

__all__ = [
    "Belt",
    "BodyPlace",
    "BuiltConstraint",
    "ConfigurationEquations",
    "Constraint",
    "Distance",
    "Gear",
    "GivenRows",
    "KnifeEdge",
    "Loop",
    "MotionEquations",
    "PointOnCurve",
    "PointOnLine",
    "PointOnPlane",
    "PointVelocity",
    "Rack",
    "Rolling",
    "RollingEllipsoid",
    "RollingOnSphere",
    "RollingSphere",
    "Row",
    "RowSet",
]
