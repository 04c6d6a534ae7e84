"""Random orders of questions: an answer has the same bits whatever was asked before it, of the model or of others."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

import kane
from long.block import Disagreement
from long.tries import draws

MODELS = ("pendulum", "double-pendulum", "cart-pole", "spinning-top", "four-bar", "rolling-disc", "dual-spin")
Question = Callable[[kane.Model], Any]


def start(model: kane.Model) -> tuple[np.ndarray, np.ndarray]:
    """A state that every question is asked at."""
    return model.project() if model.constraints else model.initial_state


def _efforts(model: kane.Model) -> np.ndarray:
    return np.linspace(-0.3, 0.4, len(model.speeds))


QUESTIONS: dict[str, Question] = {
    "inverse_dynamics": lambda m: m.inverse_dynamics(*start(m), np.zeros(len(m.speeds))),
    "forward_dynamics": lambda m: m.forward_dynamics(*start(m), _efforts(m)),
    "mass_matrix": lambda m: m.mass_matrix(start(m)[0]),
    "bias": lambda m: m.bias(*start(m)),
    "qdot": lambda m: m.qdot(*start(m)),
    "energy": lambda m: m.energy(*start(m)),
    "poses": lambda m: m.poses(start(m)[0]),
    "mass_center": lambda m: m.mass_center(start(m)[0]),
    "reactions": lambda m: m.reactions(*start(m), _efforts(m)).multipliers,
    "simulate": lambda m: m.simulate(np.linspace(0.0, 0.2, 5)).q,
    "count": lambda m: str(m.equations().count()),
    "program": lambda m: str(m.equations().program("forward_dynamics")),
}


def bits(answer: Any) -> bytes:
    """All that an answer holds."""
    if isinstance(answer, str):
        return answer.encode()
    if isinstance(answer, tuple):
        return b"|".join(bits(part) for part in answer)
    return np.ascontiguousarray(answer, dtype=float).tobytes()


@cache
def alone(name: str, question: str) -> bytes:
    """The answer of a model that is asked nothing else."""
    return bits(QUESTIONS[question](kane.load(name)))


def search(number: int) -> str:
    """A model is asked some questions in some order, some of them twice, other models between."""
    rng = draws("orders", number)
    name, other = (MODELS[int(k)] for k in rng.integers(len(MODELS), size=2))
    asked = [list(QUESTIONS)[int(k)] for k in rng.integers(len(QUESTIONS), size=int(rng.integers(2, 6)))]
    model = kane.load(name)
    for k, question in enumerate(asked):
        if rng.random() < 0.2:
            QUESTIONS["mass_matrix"](kane.load(other))
        if bits(QUESTIONS[question](model)) != alone(name, question):
            raise Disagreement(f"{name}: {question} after {asked[:k]} differs from {question} alone")
    return "the same bits in any order"
