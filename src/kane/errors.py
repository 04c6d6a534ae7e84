"""Errors that teach: where, what, which principle is violated, how to fix it.

Every error a user can provoke derives from `KaneError`. A `ModelError` collects all problems of a model
in the user's order and is raised once.
"""

from __future__ import annotations

from dataclasses import dataclass


class KaneError(Exception):
    """Any fault that the user can fix; its text says how."""


class ExpressionError(KaneError):
    """An expression that has no meaning: a pole among constants, a nonlinear term where a linear one is needed."""


class ProgramError(KaneError):
    """A program, or the text of one, that violates the definition of a valid program."""


class InputError(KaneError):
    """Arrays of the wrong shape or with values that are not finite."""


class SingularError(KaneError):
    """A state at which the equations have no finite answer: a division by zero on the way."""


SHOWN = 60  # characters of a value that an error repeats


def excerpt(value: object) -> str:
    """A value as an error repeats it: on one line, cut to `SHOWN` characters, without control characters."""
    text = "".join(c if c.isprintable() else " " for c in str(value)[: SHOWN + 1])
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault of a model: where it is, what is there, what it violates, how to fix it."""

    where: str
    what: str
    because: str = ""
    fix: str = ""

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}"
        if self.because:
            text += f"\n    because {self.because}"
        if self.fix:
            text += f"\n    fix: {self.fix}"
        return text


class ModelError(KaneError):
    """All problems found in a model, in the user's order."""

    def __init__(self, problems: Problem | list[Problem] | tuple[Problem, ...]):
        self.problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
        head = "" if len(self.problems) == 1 else f"{len(self.problems)} problems\n"
        super().__init__(head + "\n".join(str(p) for p in self.problems))
