"""`kane completion`: scripts that complete commands, options, models and files in bash, zsh and fish.

They are generated from the parser, so that they know what it knows; the shell then runs no Python to complete a word.
"""

from __future__ import annotations

import argparse
from argparse import Namespace
from dataclasses import dataclass

from ..catalogue import builtin_names
from . import FINE
from .console import show
from .parser import parser


@dataclass(frozen=True, slots=True)
class Completed:
    """What follows a command: its options with what each is for, the words that an option takes, and whether a model or
    other words come first."""

    name: str
    about: str
    options: tuple[tuple[str, str], ...]
    words: tuple[tuple[str, tuple[str, ...]], ...]
    first: tuple[str, ...]


def commands() -> list[Completed]:
    """All commands, from the parser."""
    subparsers = next(a for a in parser()._actions if isinstance(a, argparse._SubParsersAction))
    about = {action.dest: action.help or "" for action in subparsers._choices_actions}
    found: list[Completed] = []
    for name, command in subparsers.choices.items():
        options: list[tuple[str, str]] = []
        words: list[tuple[str, tuple[str, ...]]] = []
        first: tuple[str, ...] = ()
        for action in command._actions:
            choices = tuple(map(str, action.choices or ()))
            options += [(text, action.help or "") for text in action.option_strings]
            words += [(text, choices) for text in action.option_strings if choices]
            if not action.option_strings:
                first = builtin_names() if action.dest == "model" else choices or first
        found.append(Completed(name, about[name], tuple(options), tuple(words), first))
    return found


def completion(arguments: Namespace) -> int:
    """Print the script of a shell."""
    show({"bash": bash, "zsh": zsh, "fish": fish}[arguments.shell](commands()), end="")
    return FINE


def bash(known: list[Completed]) -> str:
    """For bash: words by command, files where there are none."""
    lines = [
        "_kane() {",
        '    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" words=""',
        "    if [ $COMP_CWORD -eq 1 ]; then",
        f'        words="{" ".join(c.name for c in known)} --help --version"',
        "    else",
        '        case "${COMP_WORDS[1]} $before" in',
    ]
    for c in known:
        lines += [f'            "{c.name} {option}") words="{" ".join(words)}" ;;' for option, words in c.words]
    lines += ["            *)", '                case "${COMP_WORDS[1]} $word" in']
    for c in known:
        lines.append(f'                    "{c.name} -"*) words="{" ".join(o for o, _ in c.options)}" ;;')
    for c in known:
        if c.first:
            inner = f'[ $COMP_CWORD -eq 2 ] && words="{" ".join(c.first)}"'
            lines.append(f'                    "{c.name} "*) {inner} ;;')
    lines += [
        "                esac ;;",
        "        esac",
        "    fi",
        '    COMPREPLY=($(compgen -W "$words" -- "$word"))',
        "}",
        "complete -o bashdefault -o default -F _kane kane",
    ]
    return "\n".join([*lines, ""])


def zsh(known: list[Completed]) -> str:
    """For zsh: the same with what each is for."""
    lines = ["#compdef kane", "_kane() {", "    local -a found", "    if (( CURRENT == 2 )); then", "        found=("]
    lines += [f"            {_quote(f'{c.name}:{c.about}')}" for c in known]
    lines += ["        )", "        _describe command found", "        return", "    fi"]
    lines += ['    case "$words[2] $words[CURRENT-1]" in']
    for c in known:
        for option, words in c.words:
            lines.append(f'        "{c.name} {option}") compadd -- {" ".join(words)}; return ;;')
    lines += ["    esac", '    case "$words[2]" in']
    for c in known:
        options = " ".join(_quote(f"{option}:{help}".replace("\n", " ")) for option, help in c.options)
        first = f"(( CURRENT == 3 )) && compadd -- {' '.join(c.first)}; " if c.first else ""
        lines.append(f"        {c.name}) found=({options}); {first}_describe -o option found; _files ;;")
    return "\n".join([*lines, "    esac", "}", "compdef _kane kane", ""])


def fish(known: list[Completed]) -> str:
    """For fish: one line per word."""
    lines = ["complete -c kane -n __fish_use_subcommand -l version -d 'print the version and exit'"]
    for c in known:
        lines.append(f"complete -c kane -f -n __fish_use_subcommand -a {c.name} -d {_quote(c.about)}")
    for c in known:
        seen = f"-n '__fish_seen_subcommand_from {c.name}'"
        if c.first:
            lines.append(f"complete -c kane {seen} -a {_quote(' '.join(c.first))}")
        takes = dict(c.words)
        for option, help in c.options:
            flag = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
            words = f" -x -a {_quote(' '.join(takes[option]))}" if option in takes else ""
            lines.append(f"complete -c kane {seen} {flag}{words} -d {_quote(help)}")
    return "\n".join([*lines, ""])


def _quote(text: str) -> str:
    """`text` as one word of a shell."""
    return "'" + " ".join(text.split()).replace("'", "’") + "'"


__all__ = ["Completed", "bash", "commands", "completion", "fish", "zsh"]
