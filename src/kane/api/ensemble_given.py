"""What is given for the members of an ensemble: columns of numbers, distributions and functions, and how many."""

# pyright: reportUnnecessaryIsInstance=false
# What callers give is judged, whatever its type was declared to be.

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping
from typing import Any, cast

import numpy as np

from ..boundary import check_function, describe_value
from ..ensemble import Distribution
from ..ensemble.draws import KINDS, Column, Component
from ..errors import InputError, closest
from ..model import Mechanism
from ..model.expression import FUNCTIONS
from . import given

_TEXT = re.compile(r"\s*(\w+)\s*\((.*)\)\s*\Z", re.DOTALL)


def read_columns(mechanism: Mechanism, q: Any, u: Any, parameters: Any) -> list[Column]:
    """What differs between members, in the order in which it is drawn."""
    found: list[Column] = []
    for kind, value, names in (
        ("q", q, mechanism.coordinates),
        ("u", u, mechanism.speeds),
        ("parameters", parameters, tuple(mechanism.parameters)),
    ):
        if value is None:
            continue
        if kind != "parameters" and callable(value):
            check_function(kind, value, "a numpy.random.Generator", 1)
            found += [Column(kind, name, Component(value, k, len(names))) for k, name in enumerate(names)]
            continue
        if kind != "parameters" and not isinstance(value, Mapping):
            array = np.asarray(value)
            if array.dtype.kind not in "fiu" or array.ndim not in (1, 2) or array.shape[-1] != len(names):
                shape = f", of shape {array.shape}" if array.ndim else ""
                raise InputError(
                    f"{kind} = {describe_value(value)}{shape}\n    fix: give a mapping name → value, an array"
                    f" (n, {len(names)}) of {', '.join(names)}, or a function of a generator that gives ({len(names)},)"
                )
            value = {name: array[..., k] for k, name in enumerate(names)}
        if not isinstance(value, Mapping):
            raise InputError(f"{kind} = {describe_value(value)}\n    fix: give a mapping name → value")
        for name, what in cast("Mapping[str, Any]", value).items():
            noun = {"q": "coordinate", "u": "speed", "parameters": "parameter"}[kind]
            given.require_known(mechanism, noun, name, names, kind)
            found.append(Column(kind, name, _value(mechanism, f"{kind} / {name}", what)))
    return found


def _value(mechanism: Mechanism, where: str, value: Any) -> Any:
    """A number, an array (n,), a distribution, or a function."""
    if isinstance(value, Distribution) or callable(value):
        check_function(where, None if isinstance(value, Distribution) else value, "a numpy.random.Generator", 1)
        return value
    if isinstance(value, str):
        return _read_distribution(mechanism, where, value)
    try:
        array = np.asarray(value)
        if array.dtype.kind in "fiu" and array.ndim > 1:
            raise InputError(f"{where} has shape {array.shape}\n    fix: give one number for each member, (n,)")
        if array.dtype.kind not in "fiu":
            raise TypeError
    except (TypeError, ValueError):
        fix = "give a number, an array (n,), a distribution, or a function of a generator"
        raise InputError(f"{where} = {describe_value(value)}\n    fix: {fix}") from None
    return np.array(array, dtype=np.float64) if array.ndim else given.number(mechanism, where, value)


def _read_distribution(mechanism: Mechanism, where: str, text: str) -> Any:
    """The distribution that a text names, or the number that it is."""
    if fault := fault_of_distribution(text):
        raise InputError(f"{where} = '{text}': {fault}")
    named = _TEXT.match(text)
    if named is None or named[1] not in KINDS:
        try:
            return given.number(mechanism, where, text)
        except InputError as error:
            known = ", ".join(f"{kind}(…)" for kind in KINDS)
            raise InputError(f"{error}\n    fix: give a number, or a distribution: {known}") from None
    numbers = [given.number(mechanism, where, part) for part in named[2].split(",") if part.strip()]
    try:
        return KINDS[named[1]](*numbers)
    except TypeError:
        meant = ", ".join(str(p) for p in inspect.signature(KINDS[named[1]]).parameters)
        what = f"{named[1]} does not take {len(numbers)} numbers"
        raise InputError(f"{where} = '{text}': {what}\n    fix: give {named[1]}({meant})") from None


def fault_of_distribution(text: str) -> str:
    """What to say of a text that names a distribution that there is not, or one that is not written as a call alone;
    nothing of any other."""
    named, begun = _TEXT.match(text), _BEGUN.search(text)
    if named is not None and named[1] not in (*KINDS, *FUNCTIONS):
        close = closest(named[1], list(KINDS))
        known = f"give {', '.join(f'{kind}(…)' for kind in KINDS)}, or in Python a function of a generator"
        fix = known if close is None else f"did you mean '{close}'?"
        return f"there is no distribution '{named[1]}'\n    fix: {fix}"
    if begun is None:
        return ""
    form = f"{begun[1]}({', '.join(inspect.signature(KINDS[begun[1]]).parameters)})"
    opened, closed = text.count("("), text.count(")")
    if opened != closed:
        return f"a '{')' if opened > closed else '('}' is missing\n    fix: give {form}"
    if named is None or named[1] != begun[1]:
        return f"a distribution stands by itself, its numbers in parentheses\n    fix: give {form}; {_FACTORS}"
    return ""


_BEGUN = re.compile(rf"\b({'|'.join(KINDS)})\s*[\[({{\d]")
_FACTORS = "factors belong inside, as in uniform(-30*deg, 30*deg)"


def count_members(n: Any, columns: list[Column]) -> int:
    """How many members there are: as was said, or as arrays have values."""
    sizes = [c.size for c in columns if c.size is not None]
    if n is not None:
        return whole_number("n", n, 1)
    if not sizes:
        raise InputError("how many members?\n    fix: give n=…, or an array of values")
    return whole_number("n", min(sizes), 1)


def whole_number(name: str, value: Any, least: int) -> int:
    """The number of members `n`, or a `seed`."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise InputError(f"{name} = {describe_value(value)} is not a whole number\n    fix: give one, {least} at least")
    if value < least:
        law = "an ensemble has one member at least" if name == "n" else "a seed is not negative"
        raise InputError(f"{name} = {value}: {law}\n    fix: give {name} ≥ {least}")
    return int(cast("int", value))


__all__ = ["count_members", "fault_of_distribution", "read_columns", "whole_number"]
