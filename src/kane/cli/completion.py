"""`kane completion`: scripts that complete commands, options, models and files in bash, zsh and fish.

They are generated from the parser, so that they know what it knows. The shell then runs no Python to complete a word,
but for names of coordinates and speeds, which the model has to be read for (`--names`).
"""

from __future__ import annotations

import argparse
import contextlib
from argparse import Namespace
from dataclasses import dataclass

from ..catalogue import builtin_controls, builtin_names
from ..errors import KaneError
from . import FINE
from .console import show
from .parser import DRAWN, FILES, HELD, parser


@dataclass(frozen=True, slots=True)
class Completed:
    """What follows a command: its options with what each is for, the words that an option takes, words that come first,
    and whether these are models, beside which there are files. `laws` are options that take a control law of the
    model, `named` those that take its coordinates (q) or speeds (u) by name."""

    name: str
    about: str
    options: tuple[tuple[str, str], ...]
    words: tuple[tuple[str, tuple[str, ...]], ...]
    first: tuple[str, ...]
    models: bool = False
    laws: tuple[str, ...] = ()
    named: tuple[tuple[str, str], ...] = ()


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
            choices = tuple(map(str, action.choices or _usual_words(action)))
            options += [(text, action.help or "") for text in action.option_strings]
            words += [(text, choices) for text in action.option_strings if choices]
            if not action.option_strings:
                first = builtin_names() if action.dest == "model" else choices or first
        laws = tuple(text for text, _ in options if text == "--control")
        has_model = any(action.dest == "model" for action in command._actions)
        named = tuple((text, text[2:]) for text, _ in options if has_model and text in ("--q", "--u"))
        found.append(Completed(name, about[name], tuple(options), tuple(words), first, has_model, laws, named))
    return found


def _usual_words(action: argparse.Action) -> tuple[str, ...]:
    """Words that an option takes among others."""
    if action.dest == "control" and "none" in (action.help or ""):
        return HELD
    return DRAWN if action.dest == "of" else ()


def _laws() -> dict[str, tuple[str, ...]]:
    """Control laws of the built-in models that have some."""
    return {name: laws for name in builtin_names() if (laws := builtin_controls(name))}


def completion(arguments: Namespace) -> int:
    """Print the script of a shell, or the names that it asks for."""
    if arguments.names:
        from ..model import load_mechanism

        with contextlib.suppress(KaneError):  # whoever completes a word is told nothing else
            mechanism = load_mechanism(arguments.named_model)
            show("\n".join(mechanism.coordinates if arguments.names == "q" else mechanism.speeds))
        return FINE
    show({"bash": bash, "zsh": zsh, "fish": fish}[arguments.shell](commands()), end="")
    return FINE


_BASH_NAMES = [
    "_kane_names() {",  # of coordinates or speeds, with = behind them, also after a comma
    '    local before="" rest="$word"',
    '    case "$word" in *,*) before="${word%,*},"; rest="${word##*,}" ;; esac',
    '    local names="$(kane completion bash --names $1 --of "${COMP_WORDS[2]}" 2>/dev/null)"',
    '    COMPREPLY=($(compgen -P "$start$before" -S = -W "$names" -- "$rest"))',
    "    compopt -o nospace 2>/dev/null",
    "}",
]
_BASH_WORD = [
    '    local word="${COMP_WORDS[COMP_CWORD]}" before="${COMP_WORDS[COMP_CWORD-1]}" words="" files="" start="" at',
    '    case "$word" in',  # --option=value is one word or three, as COMP_WORDBREAKS says
    '        =) word="" ;;',
    '        --*=*) before="${word%%=*}"; start="$before="; word="${word#*=}" ;;',
    '        *) [ "$before" = "=" ] && before="${COMP_WORDS[COMP_CWORD-2]}" ;;',
    "    esac",
    '    case "$word" in',  # a further name after --q a=1,
    "        *,*) for ((at = COMP_CWORD; at > 2; at--)); do",
    '            case "${COMP_WORDS[at]}" in --q|--u) before="${COMP_WORDS[at]}"; break ;; --*) break ;; esac',
    "        done ;;",
    "    esac",
]


def bash(known: list[Completed]) -> str:
    """For bash: words by command, files where there are none."""
    lines = ["_kane_laws() {", '    case "$1" in']
    lines += [f'        {name}) echo "{" ".join(laws)}" ;;' for name, laws in _laws().items()]
    lines += ["    esac", "}", *_BASH_NAMES, "_kane() {", *_BASH_WORD]
    lines += [
        "    if [ $COMP_CWORD -eq 1 ]; then",
        f'        words="{" ".join(c.name for c in known)} --help --version"',
        "    else",
        '        case "${COMP_WORDS[1]} $before" in',
    ]
    for c in known:
        takes = dict.fromkeys(c.laws, ()) | dict(c.words)
        for option, words in takes.items():
            more = '$(_kane_laws "${COMP_WORDS[2]}") ' if option in c.laws else ""
            lines.append(f'            "{c.name} {option}") words="{more}{" ".join(words)}" ;;')
        lines += [f'            "{c.name} {option}") _kane_names {what}; return ;;' for option, what in c.named]
    lines += ["            *)", '                case "${COMP_WORDS[1]} $word" in']
    for c in known:
        lines.append(f'                    "{c.name} -"*) words="{" ".join(o for o, _ in c.options)}" ;;')
    for c in known:
        if c.first:
            inner = f'words="{" ".join(c.first)}"{" files=yes" if c.models else ""}'
            lines.append(f'                    "{c.name} "*) [ $COMP_CWORD -eq 2 ] && {inner} ;;')
    found = " ".join(f'"$word"*{ending}' for ending in FILES)
    lines += [
        "                esac ;;",
        "        esac",
        "    fi",
        '    COMPREPLY=($(compgen -P "$start" -W "$words" -- "$word"))',
        '    if [ -n "$files" ]; then',
        "        local file",
        "        compopt -o filenames 2>/dev/null",
        f'        for file in {found} "$word"*/; do',
        '            [ -e "$file" ] && COMPREPLY+=("${file%/}")',
        "        done",
        "    fi",
        "}",
        "complete -o bashdefault -o default -F _kane kane",
    ]
    return "\n".join([*lines, ""])


def zsh(known: list[Completed]) -> str:
    """For zsh: the same with what each is for."""
    lines = ["#compdef kane", "_kane_laws() {", '    case "$1" in']
    lines += [f"        {name}) compadd -- {' '.join(laws)} ;;" for name, laws in _laws().items()]
    lines += ["    esac", "}"]
    lines += ["_kane() {", "    local -a found", "    if (( CURRENT == 2 )); then", "        found=("]
    lines += [f"            {_quote(f'{c.name}:{c.about}')}" for c in known]
    lines += ["        )", "        _describe command found", "        return", "    fi"]
    lines += [
        '    local before="$words[CURRENT-1]"',
        '    if [[ "$words[CURRENT]" == --*=* ]]; then',
        '        before="${words[CURRENT]%%=*}"',
        "        compset -P 1 '*='",
        "    fi",
        '    case "$words[2] $before" in',
    ]
    for c in known:
        takes = dict.fromkeys(c.laws, ()) | dict(c.words)
        for option, words in takes.items():
            more = '_kane_laws "$words[3]"; ' if option in c.laws else ""
            lines.append(f'        "{c.name} {option}") {more}compadd -- {" ".join(words)}; return ;;')
        for option, what in c.named:
            asked = f'${{=$(kane completion zsh --names {what} --of "$words[3]" 2>/dev/null)}}'
            lines.append(f"        \"{c.name} {option}\") compset -P '*,'; compadd -S = -- {asked}; return ;;")
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
        takes = dict.fromkeys(c.laws, ()) | dict(c.words)
        for option, help in c.options:
            flag = f"-l {option[2:]}" if option.startswith("--") else f"-s {option[1:]}"
            words = f" -x -a {_quote(' '.join(takes[option]))}" if option in takes else ""
            if option in dict(c.named):
                asked = f"kane completion fish --names {option[2:]} --of (commandline -opc)[3] 2>/dev/null"
                words = f" -x -a {_quote(f'({asked})=')}"
            lines.append(f"complete -c kane {seen} {flag}{words} -d {_quote(help)}")
        for model, laws in _laws().items() if c.laws else ():
            both = f"-n '__fish_seen_subcommand_from {c.name}; and contains -- {model} (commandline -opc)'"
            lines.append(f"complete -c kane {both} -l control -x -a {_quote(' '.join(laws))}")
    return "\n".join([*lines, ""])


def _quote(text: str) -> str:
    """`text` as one word of a shell."""
    return "'" + " ".join(text.split()).replace("'", "’") + "'"


__all__ = ["Completed", "bash", "commands", "completion", "fish", "zsh"]
