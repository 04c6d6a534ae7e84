"""Descriptions written as YAML that loads back to the same model.

Sections and their entries stand in block style, an entry on one line where it fits. Words that YAML could take for
something else are quoted, with everything unprintable escaped.
"""

from __future__ import annotations

import re
from typing import Any

from ..mechanism import Mechanism
from ..normal import number_text

WIDTH = 110  # columns an entry may take before it is broken up
_PLAIN = re.compile(r"(?:[A-Za-z0-9_.(]|-(?=[A-Za-z0-9_.(]))[A-Za-z0-9_.'()*/+<=-]*(?: [A-Za-z0-9_.'()*/+<=-]+)*")


def write_mechanism(mechanism: Mechanism) -> str:
    """The model file of a mechanism, in normal form: `read_mechanism` makes the same description of it."""
    lines: list[str] = []
    for section, value in mechanism.description().items():
        if isinstance(value, dict):
            lines += ["", f"{section}:"]
            for name, entry in value.items():
                lines += _entry(_word(name), entry, 2)
        else:
            lines += _entry(section, value, 0)
    return "\n".join(lines) + "\n"


def _entry(key: str, value: Any, indent: int) -> list[str]:
    """`key: value` on one line, or broken up one level further where that is too long."""
    margin = " " * indent
    line = f"{margin}{key}: {_flow(value)}"
    if len(line) <= WIDTH or not isinstance(value, (dict, list)):
        return [line]
    if isinstance(value, dict):
        return [f"{margin}{key}:", *(part for k, v in value.items() for part in _entry(_word(k), v, indent + 2))]
    return [f"{margin}{key}:", *(f"{margin}  - {_flow(item)}" for item in value)]


def _flow(value: Any) -> str:
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_word(k)}: {_flow(v)}" for k, v in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(_flow(item) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return _word(value) if isinstance(value, str) else number_text(float(value))


def _word(text: str) -> str:
    if _PLAIN.fullmatch(text):
        return text
    return '"' + "".join(_escape(c) for c in text) + '"'


def _escape(c: str) -> str:
    if c in '"\\':
        return f"\\{c}"
    if c.isprintable() and c != "\ufeff":
        return c
    return f"\\x{ord(c):02x}" if ord(c) < 0x100 else f"\\u{ord(c):04x}" if ord(c) < 0x10000 else f"\\U{ord(c):08x}"
