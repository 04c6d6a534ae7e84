"""Motion from a compiled right-hand side: integrators, events, control, constraints, and why a simulation stopped."""

from ..constraints.diagnosis import Names
from .changing import IMPACT_LAWS, ChangingElement, ChangingRun, ChangingSet, mode_number
from .embedding import Accelerations, Embedding, Workspace, multipliers_of
from .integrate import integrate
from .members import ENDS, Members, run_members
from .problem import Mode, MotionProblem, Switch, simulate
from .routine import Routine
from .settings import AUTO, METHODS, STEPPING
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
    StepImpulses,
    Transition,
    Transitions,
    WatchedEvents,
)

__all__ = [
    "AUTO",
    "ENDS",
    "IMPACT_LAWS",
    "METHODS",
    "REASONS",
    "STEPPING",
    "Accelerations",
    "ChangingElement",
    "ChangingRun",
    "ChangingSet",
    "Control",
    "Crossings",
    "Embedding",
    "Event",
    "Events",
    "HeldControl",
    "Members",
    "Mode",
    "MotionProblem",
    "Names",
    "Outcome",
    "Routine",
    "Segment",
    "Solution",
    "Statistics",
    "StepImpulses",
    "Switch",
    "Transition",
    "Transitions",
    "WatchedEvents",
    "Workspace",
    "integrate",
    "mode_number",
    "multipliers_of",
    "run_members",
    "simulate",
]
