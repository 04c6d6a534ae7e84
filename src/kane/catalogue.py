"""The catalogue of built-in models: their names, and one line about each.

Only the line `about` of the model files is read, and nothing is imported for it, so that the list is there at once.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from importlib import resources
from importlib.resources.abc import Traversable

_ABOUT = re.compile(r"^about: (.+)$", re.MULTILINE)
_EXTENDS = re.compile(r"^extends: ([\w-]+)$", re.MULTILINE)
_CONTROLS = re.compile(r"^controls:\n((?:[ #].*\n|\n)*)", re.MULTILINE)
_LAW = re.compile(r"^  ([\w-]+):", re.MULTILINE)
_SUFFIX = ".yaml"


class Models(Mapping[str, str]):
    """Names of models, sorted, with one line about each; prints as a table.

    >>> import kane
    >>> kane.models()["pendulum"]
    'Simple pendulum of length L with a particle of mass m'
    """

    __slots__ = ("_lines",)

    def __init__(self, lines: Mapping[str, str]):
        self._lines = dict(sorted(lines.items()))

    def __getitem__(self, name: str) -> str:
        return self._lines[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._lines)

    def __len__(self) -> int:
        return len(self._lines)

    def __repr__(self) -> str:
        width = max(map(len, self), default=0)
        return "\n".join(f"{name:<{width}}  {about}" for name, about in self.items())


def models() -> Models:
    """The built-in models: name → one line about it, sorted by name; `kane.load(name)` makes one.

    >>> import kane
    >>> print(kane.models())
    ackermann-car ...
    >>> "stanford-arm" in kane.models()
    True
    """
    return Models({name: _about(builtin_text(name)) for name in builtin_names()})


def builtin_names() -> tuple[str, ...]:
    """Names of the models shipped with the package, sorted."""
    files = (file.name for file in _folder().iterdir())
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in files if name.endswith(_SUFFIX)))


def builtin_text(name: str) -> str:
    """The model file of a built-in name."""
    return (_folder() / f"{name}{_SUFFIX}").read_text(encoding="utf-8")


def builtin_controls(name: str) -> tuple[str, ...]:
    """Names of the control laws of a built-in model, in the order of its file, after those of the one it extends.

    >>> builtin_controls("mecanum-platform")
    ('sideways', 'ahead')
    """
    text = builtin_text(name)
    extended, section = _EXTENDS.search(text), _CONTROLS.search(text)
    inherited = builtin_controls(extended[1]) if extended else ()
    own = _LAW.findall(section[1]) if section else []
    return tuple(dict.fromkeys((*inherited, *own)))


def _folder() -> Traversable:
    return resources.files("kane") / "model" / "builtin"


def _about(text: str) -> str:
    """What a model file says about itself, which for a built-in one is a line; empty where it says nothing."""
    found = _ABOUT.search(text)
    return "" if found is None else found[1].strip()


__all__ = ["Models", "builtin_controls", "builtin_names", "builtin_text", "models"]
