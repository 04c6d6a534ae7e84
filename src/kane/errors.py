"""Errors that teach: where, what, which principle is violated, how to fix it.

Every error a user can provoke derives from `KaneError`. A `ModelError` collects all problems of a model
in the user's order and is raised once.
"""

from __future__ import annotations

import difflib
import itertools
import re
import sys
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

V = TypeVar("V")
_HOME = str(Path(__file__).parent)


class KaneError(Exception):
    """Any fault that the user can fix; its text says how. What it repeats of a file cannot command a terminal.

    >>> try:
    ...     kane.load("pendulm")
    ... except kane.KaneError as error:
    ...     print(error)
    model 'pendulm': there is no such built-in model
        fix: did you mean 'pendulum'? kane.models() lists all; a model file ends in .yaml or .urdf
    """

    def __str__(self) -> str:
        return visible(super().__str__())


def visible(text: str) -> str:
    """Text in which control characters are written out as numbers, but for ends of lines and tabs.

    Escape sequences would command a terminal, and marks of direction show text in another order than it has.
    """
    return text if _UNSEEN.search(text) is None else _UNSEEN.sub(_escape, text)


_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
"""C0 and C1 control characters but for tab and end of line, marks of direction, separators of lines, surrogates."""


def _escape(found: re.Match[str]) -> str:
    return f"\\u{ord(found.group()):04x}"


class ExpressionError(KaneError):
    """An expression that has no meaning: a pole among constants, a nonlinear term where a linear one is needed."""


class ProgramError(KaneError):
    """A program, or the text of one, that violates the definition of a valid program."""


class InputError(KaneError):
    """Arrays of the wrong shape or with values that are not finite.

    >>> kane.load("pendulum").mass_matrix([0, 0])
    Traceback (most recent call last):
        ...
    kane.errors.InputError: q has shape (2,); model 'pendulum' needs (1,) or (batch, 1): q
    """


class UnknownNameError(InputError, KeyError):
    """A name that a table by name does not have, with what was meant perhaps.

    >>> kane.load("ur5").joints["elbo"]
    Traceback (most recent call last):
        ...
    kane.errors.UnknownNameError: no joint 'elbo'
        fix: did you mean 'elbow'?
    """

    def __init__(self, kind: str, name: object, known: Iterable[object]):
        super().__init__(f"no {kind} '{excerpt(name)}'\n    fix: {suggestion(str(name), [str(k) for k in known])}")

    def __str__(self) -> str:
        return visible(str(self.args[0]))

    def __reduce__(self) -> tuple[Any, ...]:
        return _unknown_name, self.args


def _unknown_name(text: str) -> UnknownNameError:
    """The error with a text, from another process."""
    found = UnknownNameError.__new__(UnknownNameError)
    found.args = (text,)
    return found


class NamedTable(dict[str, V]):
    """Parts of one kind by name; a name that there is not is told with the one that was meant.

    >>> NamedTable("joint", {"elbow": 1}).get("elbo") is None
    True
    """

    def __init__(self, kind: str = "name", parts: Mapping[str, V] | Iterable[tuple[str, V]] = ()):
        super().__init__(parts)
        self.kind = kind

    def __missing__(self, name: object) -> V:
        raise UnknownNameError(self.kind, name, self)


class SingularError(KaneError):
    """A state at which the equations have no finite answer: a division by zero on the way.

    >>> m = kane.load("pendulum")
    >>> coil = kane.Spring("ground", "bob", first_at=(0, -1, 0), second_at=(0, -1, 0), stiffness=1, rest=1)
    >>> built = m.load("coil", coil)
    >>> m.forward_dynamics([0], [0], [0])
    Traceback (most recent call last):
        ...
    kane.errors.SingularError: ...
    """


class WritingError(KaneError):
    """A file that cannot be written; its text says what was kept.

    >>> kane.load("pendulum").save("no/such/folder/mine.yaml")
    Traceback (most recent call last):
        ...
    kane.errors.WritingError: no/such/folder/mine.yaml: cannot be written...
    """


class ExecutorError(KaneError):
    """An executor that takes no more work, or has dropped some: a scheduler that is gone; its text says what was kept.

    >>> from concurrent.futures import ThreadPoolExecutor
    >>> pool = ThreadPoolExecutor(1)
    >>> pool.shutdown()
    >>> kane.load("pendulum").ensemble(1.0, n=8, executor=pool)
    Traceback (most recent call last):
        ...
    kane.errors.ExecutorError: executor ThreadPoolExecutor: takes no work any more...
    """


SHOWN = 60  # characters of a value that an error repeats


def excerpt(value: object) -> str:
    """A value as an error repeats it: on one line, cut to `SHOWN` characters, without control characters."""
    text = "".join(c if c.isprintable() else " " for c in str(value)[: SHOWN + 1])
    return text if len(text) <= SHOWN else text[:SHOWN] + "…"


@dataclass(frozen=True, slots=True)
class Problem:
    """One fault of a model: where it is, what is there, what it violates, how to fix it. `parameters` are those whose
    new values made it, by name."""

    where: str
    what: str
    because: str = ""
    fix: str = ""
    parameters: tuple[str, ...] = ()

    def __str__(self) -> str:
        text = f"{self.where}: {self.what}"
        if self.because:
            text += f"\n    because {self.because}"
        if self.fix:
            text += f"\n    fix: {self.fix}"
        return text


class ModelError(KaneError):
    """All problems found in a model, in the user's order.

    >>> kane.load("pendulm")
    Traceback (most recent call last):
        ...
    kane.errors.ModelError: model 'pendulm': there is no such built-in model
    fix: did you mean 'pendulum'? kane.models() lists all; a model file ends in .yaml or .urdf
    """

    def __init__(self, problems: Problem | list[Problem] | tuple[Problem, ...]):
        self.problems = (problems,) if isinstance(problems, Problem) else tuple(problems)
        head = "" if len(self.problems) == 1 else f"{len(self.problems)} problems\n"
        super().__init__(head + "\n".join(str(p) for p in self.problems))

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.problems,)


def warn(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn, at the line of the caller's own that led to it: the first outside this package."""
    level, frame = 2, sys._getframe(1)  # pyright: ignore[reportPrivateUsage]
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_HOME):
        level, frame = level + 1, frame.f_back
    warnings.warn(text, category, stacklevel=level)


# names that were meant ------------------------------------------------------------------------------------------------

_WRITTEN, _LISTED = 72, 30  # characters of a name that is compared, names that an error shows
_COMPARED = 100  # names that an unknown one is compared with letter by letter, some 50 µs each
_FEW, _PIECE = 3, 3  # names that a question has, letters of a piece of one from which on it was meant by that
_LETTERS = 2  # by which a name may be longer or shorter where there are more
_BEGINNING = 4  # letters from which on a name was meant by its beginning
_ALIKE = 0.65  # share of letters in common from which on one name was meant by another: 'radius' is not by 'axis'


def closest(name: str, known: Iterable[str]) -> str | None:
    """The known name that was probably meant: the same in other letters, small or capital, or with two letters beside
    each other exchanged, ux for vx or wx, as speeds are called u here and v or ω elsewhere, one much like it, or else
    the only one that begins so.

    Letters are compared with at most `_COMPARED` names: among more, with those that begin alike and are about as long.
    """
    names, wanted = list(known), name[:_WRITTEN]
    folded = wanted.casefold()
    exchanged = {f"{wanted[:k]}{wanted[k + 1]}{wanted[k]}{wanted[k + 2 :]}" for k in range(len(wanted) - 1)}
    swapped = next((k for k in names if k in exchanged), None)
    begun = [k for k in names if k.startswith(wanted)] if len(wanted) >= _BEGINNING else []
    if len(names) > _COMPARED:
        first = (wanted[:1].lower(), wanted[:1].upper())
        near = (k for k in names if k[:1] in first and -_LETTERS <= len(k) - len(wanted) <= _LETTERS)
        names = list(itertools.islice(near, _COMPARED))
    alike = next((k for k in names if k.casefold() == folded), None)
    if alike is not None:
        return alike
    if swapped is not None:
        return swapped
    if wanted[:1] in ("v", "w") and len(wanted) > 1 and f"u{wanted[1:]}" in names:
        return f"u{wanted[1:]}"
    much_alike = difflib.get_close_matches(wanted, names, n=1, cutoff=_ALIKE)
    return much_alike[0] if much_alike else begun[0] if len(begun) == 1 else None


def nearest(name: str, known: Iterable[str]) -> str:
    """The few known names that were probably meant, as a question: the closest, those that have it within, and those
    much like it; nothing where there are none.

    >>> nearest("arm", ["stanford-arm", "panda", "thomas-tesar-arm"])
    "did you mean 'stanford-arm' or 'thomas-tesar-arm'?"
    """
    names, wanted = list(known), name[:_WRITTEN]
    within = [n for n in names if len(wanted) >= _PIECE and wanted.casefold() in n.casefold()]
    much_alike = difflib.get_close_matches(wanted, names, n=_FEW, cutoff=_ALIKE)
    meant = [repr(n) for n in dict.fromkeys([closest(name, names), *within, *much_alike]) if n is not None][:_FEW]
    return f"did you mean {' or '.join(filter(None, [', '.join(meant[:-1]), meant[-1]]))}?" if meant else ""


def suggestion(name: str, known: Iterable[str]) -> str:
    """How to fix an unknown name: the closest known one, or the list of them."""
    names = list(known)
    close = closest(name, names)
    if close is not None:
        return f"did you mean '{close}'?"
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return f"known: {', '.join(excerpt(n) for n in names[:_LISTED]) or 'none'}{more}"
