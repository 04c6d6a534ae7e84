"""Motion from a compiled right-hand side: integrators, events, control, constraints, and why a simulation stopped."""

from .embedding import Embedding
from .integrate import METHODS, integrate
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
    "Outcome",
    "Solution",
    "Statistics",
    "integrate",
]
