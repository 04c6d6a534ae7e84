"""Command lines that are not understood: what was probably meant, and the usage of the command in one line."""

from __future__ import annotations

import argparse
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NoReturn

from ..errors import closest, suggestion, visible

_UNITS = ("SECONDS", "RADIANS", "RAD", "HZ")  # that options stand for


class Parser(argparse.ArgumentParser):
    """A parser that says which command, option or choice was probably meant.

    Its words cannot command a terminal: names of files that it repeats may be anybody's.
    """

    def _print_message(self, message: str, file: Any = None) -> None:
        super()._print_message(visible(message), file)

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        """The value of an option; of a number that is none it says what is expected, and in which unit."""
        if action.type not in (float, int):
            return super()._get_value(action, arg_string)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
        try:
            return action.type(arg_string)
        except ValueError:
            kind = "a number" if action.type is float else "a whole number"
            unit = f" of {str(action.metavar).lower()}, without a unit" if action.metavar in _UNITS else ""
            raise argparse.ArgumentError(action, f"'{arg_string}' is not {kind}; give {kind}{unit}") from None

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        known = list(action.choices)
        if isinstance(action, argparse._SubParsersAction):
            meant = action.choices.get(closest(value, known) or "", self)
            self._refuse(f"there is no command '{value}'; {suggestion(value, known)}", meant)
        raise argparse.ArgumentError(action, f"there is no '{value}'; {suggestion(value, known)}")

    def parse_args(self, args: Sequence[str] | None = None, namespace: Any = None) -> Any:  # pyright: ignore[reportIncompatibleMethodOverride]
        """What the words say; ends the program where some are not understood."""
        found, unknown = self.parse_known_args(args, namespace)
        if unknown:
            command = next((c for name, c in _commands(self) if name == found.command), self)
            command.error(_about_unknown(unknown, [*command._option_string_actions, *self._option_string_actions]))
        return found

    def error(self, message: str) -> NoReturn:
        self._refuse(message, self)

    def _refuse(self, message: str, command: argparse.ArgumentParser) -> NoReturn:
        """End the program with a message and the usage of a command."""
        self.exit(2, f"{self.prog}: {message}\n    usage: {_usage(command)}; {command.prog} --help says more\n")


class Joined(argparse.Action):
    """A list with commas of which parts may be given by options of their own: none takes the place of another."""

    def __call__(self, parser: Any, namespace: Any, values: Any, option_string: str | None = None) -> None:
        before = getattr(namespace, self.dest)
        setattr(namespace, self.dest, f"{before},{values}" if before else values)


def _usage(command: argparse.ArgumentParser) -> str:
    """A command with what it needs, without its options one by one."""
    places = [(f"{a.metavar or a.dest}", a.nargs) for a in command._actions if not a.option_strings]
    return " ".join([command.prog, *(f"[{p}]" if n == "?" else p for p, n in places), "[OPTION ...]"])


def _commands(parser: argparse.ArgumentParser) -> Iterator[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def _about_unknown(words: Sequence[str], options: Iterable[str]) -> str:
    """What is wrong with words that are left over."""
    option = next((word.partition("=")[0] for word in words if word.startswith("-")), None)
    if option is None:
        return f"'{words[0]}' is not expected here"
    named = {name.lstrip("-"): name for name in options}  # dashes, which all have, are no likeness
    meant = closest(option.lstrip("-"), named)
    return f"there is no option {option}" + (f"; did you mean {named[meant]}?" if meant else "")
