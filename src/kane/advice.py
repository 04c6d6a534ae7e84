"""Options that sentences advise: one record, which Python and the shell word in their own ways.

A sentence of an outcome or an error names an option as a call in Python has it (`saturate=True`). That is how it is
kept, stored and passed between processes. Whoever shows it elsewhere reads the records back and words them anew.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

KEEPS = ("motions", "ends", "tallies")
"""Values of the option `keep` of an ensemble: the states of each member at all times, at its end, or only why it
ended."""

SATURATION = "run.saturation"
"""Where a motion has all efforts that were at their limits; the shell has options in its place."""


@dataclass(frozen=True, slots=True)
class Option:
    """An option by its name in Python and the values that are advised, one of them; any value where there are none.

    >>> print(Option("saturate", (True,)), Option("method", ("auto", "radau")), Option("step"))
    saturate=True method='auto' or 'radau' step=...
    """

    name: str
    values: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return f"{self.name}={' or '.join(map(repr, self.values)) or '...'}"


def terminal_event(name: str, expression: str) -> Option:
    """The option that ends a motion where an expression is zero."""
    return Option("events", ({name: {"expression": expression, "terminal": True}},))


def values_to_give(parameters: Sequence[str]) -> str:
    """The call that gives parameters other values; the shell has an option in its place.

    >>> values_to_give(["mu", "m"])
    'set_parameters(mu=..., m=...)'
    """
    return f"set_parameters({', '.join(f'{name}=...' for name in parameters)})"


_VALUES = re.compile(r"set_parameters\(((?:\w+=\.\.\.(?:, )?)+)\)")


def reword_values(text: str, word: Callable[[Sequence[str]], str]) -> str:
    """A sentence in which calls that give parameters values are in the words that `word` has for their names.

    >>> reword_values("fix: give one ≥ 0, by set_parameters(mu=...)", lambda names: f"--set {names[0]}=VALUE")
    'fix: give one ≥ 0, by --set mu=VALUE'
    """
    return _VALUES.sub(lambda found: word([part.partition("=")[0] for part in found[1].split(", ")]), text)


_QUOTED = r"'[^'\n]*'"
_MAPPING = r"\{(?:[^{}\n]|\{[^{}\n]*\})*\}"
_OPTION = re.compile(rf"(?<![\w.-])([a-z_]+)=(True|False|\.\.\.|…|{_MAPPING}|{_QUOTED}(?: or {_QUOTED})*)")


def reword(text: str, word: Callable[[Option], str]) -> str:
    """A sentence with its options in the words that `word` has for them.

    >>> reword("stiff; fix: method='auto' or 'radau'", lambda option: f"--{option.name} {' or '.join(option.values)}")
    'stiff; fix: --method auto or radau'
    """
    return _OPTION.sub(lambda found: word(_read(found)) if _is_value(found[2]) else found[0], text)


def _read(found: re.Match[str]) -> Option:
    value = found[2]
    if value in ("...", "…"):
        return Option(found[1])
    if value.startswith("'"):
        return Option(found[1], tuple(quoted[1:-1] for quoted in re.findall(_QUOTED, value)))
    return Option(found[1], (ast.literal_eval(_plain(value)),))


def _is_value(text: str) -> bool:
    """Whether a text is a value of Python; braces may hold anything."""
    if not text.startswith("{"):
        return True
    try:
        ast.literal_eval(_plain(text))
    except (ValueError, SyntaxError):
        return False
    return True


def _plain(value: str) -> str:
    return value.replace("…", "...")


__all__ = ["SATURATION", "Option", "reword", "reword_values", "terminal_event", "values_to_give"]
