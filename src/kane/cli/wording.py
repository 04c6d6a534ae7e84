"""Sentences about a motion or a fault in the words of the shell: with its options in place of those of Python."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Mapping, Sequence
from typing import Any, cast

from ..advice import SATURATION, Option, reword, reword_values, values_to_give
from .parser import parser

SPELLED = {"events": "--event", "store": "--out", "parameters": "--parameter", "what": "--of"}
"""Options that have another name in the shell than in Python."""

STATE, AT = ("q", "u"), "--at"
"""Options of Python that some commands have as one."""

TOLD = {SATURATION: "--json or a report"}
"""Where the shell tells what an attribute of a motion has in Python."""


def in_shell(text: object, command: str) -> str:
    """A sentence as a command says it; options of Python that the command has not are left, and said to be such.

    >>> in_shell("q1 (9 of 5); saturate=True holds them there", "simulate")
    'q1 (9 of 5); --saturate holds them there'
    """
    known = _options_of(command)

    def assign(parameters: Sequence[str]) -> str:
        given = ",".join(f"{name}=VALUE" for name in parameters)
        return f"--set {given}" if "--set" in known else values_to_give(parameters)

    def word(option: Option) -> str:
        spelled = SPELLED.get(option.name, f"--{option.name.replace('_', '-')}")
        action = known.get(spelled)
        if action is None and option.name in STATE and AT in known:
            spelled, action = AT, known[AT]
        if action is None:
            return f"{option} (in Python)"
        if action.nargs == 0:
            return spelled if option.values == (True,) else f"no {spelled}"
        return f"{spelled} {_value(option, action)}"

    said = reword(reword_values(str(text), assign), word)
    for attribute, place in TOLD.items():
        said = said.replace(attribute, place)
    return said


def _options_of(command: str) -> Mapping[str, argparse.Action]:
    """The options of a command by how they are spelled."""
    top = parser()
    commands = next(a for a in top._actions if isinstance(a, argparse._SubParsersAction))  # pyright: ignore[reportPrivateUsage]
    return commands.choices[command]._option_string_actions  # pyright: ignore[reportPrivateUsage]


def _value(option: Option, action: argparse.Action) -> str:
    """What follows an option: one of its values, or what stands for any in the help."""
    if not option.values:
        return str(action.metavar or action.dest.upper())
    return " or ".join(_quote(_text(value)) for value in option.values)


def _text(value: Any) -> str:
    if not isinstance(value, Mapping):
        return str(value)
    named = cast("Mapping[str, Any]", value)
    return ",".join(f"{name}={_expression(x)}" for name, x in named.items())


def _expression(value: Any) -> str:
    """An expression, with ! behind it where it ends the motion."""
    if isinstance(value, Mapping):
        spec = cast("Mapping[str, Any]", value)
        return f"{spec['expression']}{'!' if spec.get('terminal') else ''}"
    return "EXPRESSION" if value is ... else str(value)


def _quote(text: str) -> str:
    """A word that a shell takes as it is, in quotes of the kind that documentation has where it needs some."""
    quoted = shlex.quote(text)
    return f'"{text}"' if quoted != text and not set(text) & set('"$`\\') else quoted


__all__ = ["in_shell"]
