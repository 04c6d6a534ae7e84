"""Motion from a compiled right-hand side: integrators, events, control, constraints, and why a simulation stopped."""

from ..constraints.diagnosis import Names
from .embedding import Embedding
from .integrate import integrate
from .settings import METHODS
from .solution import REASONS, Control, Crossings, Event, Events, Held, Outcome, Solution, Statistics

__all__ = [
    "METHODS",
    "REASONS",
    "Control",
    "Crossings",
    "Embedding",
    "Event",
    "Events",
    "Held",
    "Names",
    "Outcome",
    "Solution",
    "Statistics",
    "integrate",
]
