"""The boundary between a caller and the package: whatever is given, what comes out is an error of `kane.errors`.

Arguments are judged where they are used, with an error that teaches. What nobody foresaw (a set for a name, a function
for a number) fails somewhere inside with an error of Python's; it leaves the package as an `InputError` that names the
question and what was given, the original error being its cause. Functions of the caller's own are not called in here:
their errors are theirs.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from functools import wraps
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from .errors import InputError, suggestion

P = ParamSpec("P")
S = TypeVar("S")
R = TypeVar("R")

FAULTS = (TypeError, ValueError, OverflowError, AttributeError, LookupError, ArithmeticError, RecursionError)
"""What Python raises where an argument is of a kind that an operation does not take."""

_UNKNOWN = re.compile(r"got an unexpected keyword argument '(\w+)'")
_SHOWN, _LISTED = 40, 8  # characters of an argument, and arguments, that an error repeats


def refuse_odd(question: Callable[Concatenate[S, P], R]) -> Callable[Concatenate[S, P], R]:
    """`question`, which refuses odd arguments with an InputError; the first, whose method it is, is not judged."""
    noun, _, verb = question.__qualname__.rpartition(".")
    name = noun if verb.startswith("__") else question.__qualname__

    @wraps(question)
    def ask(of: S, *args: P.args, **options: P.kwargs) -> R:
        try:
            return question(of, *args, **options)
        except FAULTS as error:
            raise odd_argument(name, args, options, error, question) from error

    return ask


def odd_argument(
    name: str,
    args: tuple[Any, ...],
    options: Mapping[str, Any],
    error: Exception,
    question: Callable[..., Any] | None = None,
) -> InputError:
    """The error that says what `name`, which asks `question`, was given where Python raised `error`; an unknown name
    says that itself."""
    if isinstance(error, InputError):
        return error
    unknown = _UNKNOWN.search(str(error)) if isinstance(error, TypeError) else None
    if question is not None and unknown is not None and unknown[1] in options:
        _, *taken = inspect.signature(question).parameters  # the first is the object whose question it is
        if unknown[1] not in taken:
            return InputError(f"{name}: there is no option '{unknown[1]}'\n    fix: {suggestion(unknown[1], taken)}")
    if question is not None and isinstance(error, TypeError):
        try:
            inspect.signature(question).bind(None, *args, **options)
        except TypeError as wrong:
            return InputError(f"{name}: {wrong}\n    fix: call {_call(name, question)}")
    given = [describe_value(a) for a in args] + [
        f"{key}={describe_value(value)}" for key, value in options.items() if value is not None
    ]
    listed = ", ".join(given[:_LISTED]) + (", …" if len(given) > _LISTED else "")
    return InputError(
        f"{name}: cannot take what it was given: {listed}\n"
        f"    because {type(error).__name__}: {error}\n"
        f"    fix: give what help() says of {name}; if that is what was given, the fault is in kane: report it"
        f" with the traceback above"
    )


def _call(name: str, question: Callable[..., Any]) -> str:
    """How a question is asked: `name` and what it takes, options beyond some left out."""
    _, *taken = inspect.signature(question).parameters.values()
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in taken]
    words = str(inspect.Signature(bare[:_LISTED]))
    return f"{name}{words if len(bare) <= _LISTED else f'{words[:-1]}, …)'}"


def check_choice(name: str, value: Any) -> None:
    """Refuse what is given for `name` unless it is True or False."""
    if not isinstance(value, bool):
        raise InputError(f"{name} = {describe_value(value)}\n    fix: give True or False")


def check_text(name: str, value: Any) -> None:
    """Refuse what is given for `name` unless it is a text."""
    if not isinstance(value, str):
        raise InputError(f"{name} = {describe_value(value)} is no text\n    fix: give one")


def check_path(name: str, value: Any) -> None:
    """Refuse what is given for `name` unless it is a path."""
    if not isinstance(value, str | Path):
        raise InputError(f"{name} = {describe_value(value)} is no path\n    fix: give one, as a text or a Path")


def check_function(name: str, function: Any, takes: str, count: int) -> None:
    """Refuse what is given for `name` unless it is a function that takes so many arguments, or None."""
    if function is None:
        return
    if not callable(function):
        raise InputError(f"{name} = {describe_value(function)} is no function\n    fix: write a function of {takes}")
    try:
        inspect.signature(function).bind(*[None] * count)
    except ValueError:
        return  # some functions in C say nothing about themselves
    except TypeError as error:
        what = f"{name} {describe_value(function)} does not take {takes}: {error}"
        raise InputError(f"{what}\n    fix: write a function of {takes}") from None


def describe_value(value: Any) -> str:
    """A value on one line, or its kind where it is long or cannot be shown."""
    try:
        text = repr(value)
    except Exception:  # whatever its own repr raises is no business of this package
        text = ""
    plain = "".join(c if c.isprintable() else " " for c in text[:_SHOWN])
    return plain if text and len(text) <= _SHOWN else f"<{type(value).__name__}>"


__all__ = [
    "FAULTS",
    "check_choice",
    "check_function",
    "check_path",
    "check_text",
    "describe_value",
    "odd_argument",
    "refuse_odd",
]
