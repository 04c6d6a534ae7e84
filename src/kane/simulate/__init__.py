"""Motion from a compiled right-hand side: integrators, events, control, constraints, and why a simulation stopped."""

from ..constraints.diagnosis import Names
from .changing import IMPACT_LAWS, ChangingRun, ChangingSet, Element, mode_number
from .embedding import Accelerations, Embedding, Workspace, multipliers_of
from .integrate import integrate
from .problem import Mode, MotionProblem, Switch, simulate
from .routine import Routine
from .settings import METHODS, STEPPING
from .solution import (
    REASONS,
    Control,
    Crossings,
    Event,
    Events,
    HeldControl,
    Outcome,
    Segment,
    Solution,
    Statistics,
    Transition,
)

__all__ = [
    "IMPACT_LAWS",
    "METHODS",
    "REASONS",
    "STEPPING",
    "Accelerations",
    "ChangingRun",
    "ChangingSet",
    "Control",
    "Crossings",
    "Element",
    "Embedding",
    "Event",
    "Events",
    "HeldControl",
    "Mode",
    "MotionProblem",
    "Names",
    "Outcome",
    "Routine",
    "Segment",
    "Solution",
    "Statistics",
    "Switch",
    "Transition",
    "Workspace",
    "integrate",
    "mode_number",
    "multipliers_of",
    "simulate",
]
