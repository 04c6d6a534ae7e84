"""Symbols and functions of time of a SymPy description: their names in the model, and the values given for them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping
from typing import Any

from ...errors import InputError

_NOT_IN_NAMES = re.compile(r"[^A-Za-z0-9_]+")
_LONGEST = 150  # characters of a name, with room for an ending
_RESERVED = {"t", "pi", "deg", "and", "or", "not"}  # of expressions in model files


class SymbolNames:
    """One name for each SymPy object: its own, of letters, digits and _, with an ending where it is taken."""

    def __init__(self, of: Mapping[Any, str] | None = None) -> None:
        """`of` are names that some objects have already."""
        self.of: dict[Any, str] = dict(of or {})
        self._taken: set[str] = set(self.of.values())

    def __getitem__(self, symbol: Any) -> str:
        if symbol not in self.of:
            self.of[symbol] = self.fresh(symbol_name(symbol))
        return self.of[symbol]

    def fresh(self, stem: str) -> str:
        """A name that is not in use, like `stem`."""
        stem = _NOT_IN_NAMES.sub("_", stem).strip("_") or "x"
        stem = f"_{stem}" if stem[0].isdigit() else stem
        name, k = stem, 1
        while name in self._taken or name in _RESERVED:
            name, k = f"{stem}_{k + 1}", k + 1
        self._taken.add(name)
        return name


def part_name(name: object) -> str:
    """What a body, frame or point is called here: on one line, printable, with something in it, and not too long."""
    text = "".join(c if c.isprintable() else " " for c in str(name))
    return " ".join(text.split())[:_LONGEST].strip() or "unnamed"


def unused_name(name: object, taken: Collection[str]) -> str:
    """A name like `name` that is not in use."""
    stem = chosen = part_name(name)
    k = 1
    while chosen in taken:
        chosen, k = f"{stem}_{k + 1}", k + 1
    return chosen


def symbol_name(symbol: Any) -> str:
    """What a symbol, or a function of time, is called."""
    return symbol.func.__name__ if symbol.args else str(symbol)


class GivenValues:
    """What the user gave for symbols: a mapping from symbols, functions of time or their names."""

    def __init__(self, given: Mapping[Any, Any] | None, what: str):
        self._what = what
        self._by_symbol: dict[Any, Any] = {}
        self._by_name: dict[str, Any] = {}
        self.order: list[Any] = []
        if given is not None and not isinstance(given, Mapping):
            raise InputError(f"{what} of the symbols: give a mapping, symbol → value; {given!r} is none")
        for key, value in (given or {}).items():
            (self._by_name if isinstance(key, str) else self._by_symbol)[key] = self._check_value(key, value)
            self.order.append(key)

    def _check_value(self, key: Any, value: Any) -> Any:
        """A SymPy expression, or a float."""
        import sympy as sp

        if isinstance(value, bool | str | bytes):
            raise InputError(f"{self._what} of {key}: {value!r} is neither a number nor a SymPy expression")
        if isinstance(value, sp.Expr):
            return float(value) if value.is_number and value.is_real else value
        try:
            return float(value)
        except (TypeError, ValueError):
            raise InputError(f"{self._what} of {key}: {value!r} is neither a number nor a SymPy expression") from None

    def __contains__(self, symbol: Any) -> bool:
        return symbol in self._by_symbol or symbol_name(symbol) in self._by_name

    def of(self, symbol: Any) -> Any:
        """A float, a SymPy expression, or None where nothing is given."""
        return self._by_symbol[symbol] if symbol in self._by_symbol else self._by_name.get(symbol_name(symbol))

    def place(self, symbol: Any) -> int:
        """Where in the user's order a symbol stands; behind all others where it has no value."""
        keys = [k for k in (symbol, symbol_name(symbol)) if k in self.order]
        return self.order.index(keys[0]) if keys else len(self.order)

    def unknown(self, symbols: Iterable[Any]) -> list[str]:
        """Keys that are none of these symbols."""
        known = list(symbols)
        names = {symbol_name(s) for s in known}
        return [str(k) for k in self.order if (k not in names if isinstance(k, str) else k not in known)]


def is_free(free: Iterable[Any] | str, symbol: Any) -> bool:
    """Whether a user's choice of free parameters, "all" or a list of symbols and names, has this one."""
    return free == "all" or any(f == symbol or f == symbol_name(symbol) for f in free)


__all__ = ["GivenValues", "SymbolNames", "is_free", "part_name", "symbol_name", "unused_name"]
