"""From a relocatable WebAssembly object to a module: what LLVM leaves to a linker, for one object.

An object is a module already, but that nothing is exported and that its data begins at the address 0. Indices of
functions, types and globals in its code are valid as they are; what is left to do is to add the place of its data to
every address of data, to name the exports, and to leave out what is for linkers only. The format is that of the
WebAssembly core specification and of the tool conventions for linking.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ...errors import KaneError
from .fused import NAME

LIBRARY = ("sin", "cos", "tan", "asin", "acos", "atan2", "exp", "exp2", "log", "pow")
"""Functions of float64 that modules may ask their host for; all but exp2 are those of JavaScript's Math, by name."""

_HOST = ("__linear_memory", "__stack_pointer", "__indirect_function_table")

_CUSTOM, _TYPE, _IMPORT, _FUNCTION, _EXPORT, _CODE, _DATA = 0, 1, 2, 3, 7, 10, 11
_HEADER = b"\0asm\x01\0\0\0"
_SYMBOLS = 8  # subsection of "linking"
_UNDEFINED, _EXPLICIT_NAME = 0x10, 0x40

_INDICES = (0, 6, 7, 20)
"""Relocations by indices of functions, types, globals and tables, which are valid already."""
_LEB, _SLEB, _I32 = 3, 4, 5
"""Relocations by an address of data."""
_ADDEND = (3, 4, 5, 8, 9)


_PRODUCT_SUM = b"\x60\x03\x7c\x7c\x7c\x01\x7c"
"""The type of a function of three float64 that returns one."""


@dataclass(frozen=True, slots=True)
class FunctionPlace:
    """Where the body of a function is in a module, for whoever puts another one there: `size` bytes from `at` on, the
    LEB128 of its length among them, in a section whose length is `section_size`, written as five bytes at `section`."""

    at: int
    size: int
    section: int
    section_size: int


@dataclass(frozen=True, slots=True)
class WasmModule:
    """A module: its bytes, what it exports and what functions it imports; its data takes `data_size` bytes from the
    address that it was linked for. `fused` is the place of the function that stands for fused products (`fused.py`)."""

    code: bytes = field(repr=False)
    exports: tuple[str, ...]
    imports: tuple[str, ...]
    data_size: int = 0
    fused: FunctionPlace | None = None


class _Reader:
    """Bytes of a section, read from the front."""

    def __init__(self, content: bytes, at: int = 0):
        self.content, self.at = content, at

    @property
    def left(self) -> bool:
        return self.at < len(self.content)

    def byte(self) -> int:
        self.at += 1
        return self.content[self.at - 1]

    def whole(self) -> int:
        """An unsigned LEB128."""
        value, shift = 0, 0
        while True:
            part = self.byte()
            value |= (part & 127) << shift
            shift += 7
            if not part & 128:
                return value

    def signed_whole(self) -> int:
        """A signed LEB128."""
        start = self.at
        value = self.whole()
        bits = 7 * (self.at - start)
        return value - (1 << bits) if value >> (bits - 1) & 1 else value

    def take(self, count: int) -> bytes:
        self.at += count
        return self.content[self.at - count : self.at]

    def text(self) -> str:
        return self.take(self.whole()).decode()


def _leb(value: int, width: int = 0) -> bytes:
    """An unsigned LEB128, filled up to `width` bytes."""
    found = bytearray()
    while True:
        value, part = value >> 7, value & 127
        more = value or len(found) + 1 < width
        found.append(part | 128 if more else part)
        if not more:
            return bytes(found)


def _name_bytes(text: str) -> bytes:
    return _leb(len(text.encode())) + text.encode()


def _section(kind: int, content: bytes) -> bytes:
    return bytes([kind]) + _leb(len(content), 5) + content


def _sections(code: bytes) -> Iterator[tuple[int, str, bytes]]:
    """(kind, name of a custom one, content) of each section, in order."""
    if code[:8] != _HEADER:
        raise KaneError("LLVM made something that is no WebAssembly object")
    whole = _Reader(code, 8)
    while whole.left:
        kind = whole.byte()
        content = whole.take(whole.whole())
        name = ""
        if kind == _CUSTOM:
            inner = _Reader(content)
            name = inner.text()
            content = content[inner.at :]
        yield kind, name, content


def link(code: bytes, exports: Sequence[str], data_at: int = 0) -> WasmModule:
    """The module of an object, with its data at the address `data_at` (a multiple of 16) and these functions exported
    by their names."""
    sections = list(_sections(code))
    custom = {name: content for kind, name, content in sections if kind == _CUSTOM}
    plain = {kind: bytearray(content) for kind, _, content in sections if kind != _CUSTOM}
    index = _symbols(custom.get("linking", b""))
    missing = [name for name in exports if name not in index]
    if missing:
        raise KaneError(f"the object has no function {', '.join(missing)}")
    imports = _imported_functions(plain.get(_IMPORT, b"\0"))
    unknown = [name for name in imports if name not in LIBRARY]
    if unknown:
        raise KaneError(f"code needs {', '.join(unknown)}, which the host of a WebAssembly module does not give")
    for kind, name in ((_CODE, "reloc.CODE"), (_DATA, "reloc.DATA")):
        if name in custom:
            _relocate(plain[kind], custom[name], data_at)
    size = 0
    if _DATA in plain:
        plain[_DATA], size = _move_data(bytes(plain[_DATA]), data_at)
    listed = b"".join(_name_bytes(name) + b"\0" + _leb(index[name]) for name in exports)
    plain[_EXPORT] = bytearray(_leb(len(exports)) + listed)
    made, fused = _HEADER, None
    for kind in sorted(plain, key=_order):
        if kind == _CODE and NAME in index:
            fused = _function_place(plain, index[NAME] - len(imports), len(made) + 1)
        made += _section(kind, bytes(plain[kind]))
    return WasmModule(made, tuple(exports), imports, size, fused)


def _function_place(plain: Mapping[int, bytes | bytearray], number: int, section: int) -> FunctionPlace | None:
    """The place of a function by its number among those that are defined, in a section whose length is at `section`;
    None if LLVM has made something else of it than a function of three numbers."""
    kinds, functions, bodies = (_Reader(bytes(plain[kind])) for kind in (_TYPE, _FUNCTION, _CODE))
    known = [_take_type(kinds) for _ in range(kinds.whole())]
    if known[[functions.whole() for _ in range(functions.whole())][number]] != _PRODUCT_SUM:
        return None
    bodies.whole()
    for _ in range(number):
        bodies.take(bodies.whole())
    start = bodies.at
    bodies.take(bodies.whole())
    return FunctionPlace(section + 5 + start, bodies.at - start, section, len(bodies.content))


def _take_type(reader: _Reader) -> bytes:
    """The bytes of the next type of a function."""
    start = reader.at
    reader.byte()
    for _ in ("arguments", "results"):
        reader.take(reader.whole())
    return reader.content[start : reader.at]


def _order(kind: int) -> float:
    """Sections come by their number, but for that of the count of data (12), which is before the code (10)."""
    return 9.5 if kind == 12 else kind


def _symbols(linking: bytes) -> dict[str, int]:
    """Index of each function that is defined, by name."""
    found: dict[str, int] = {}
    whole = _Reader(linking)
    whole.whole()  # version
    while whole.left:
        kind = whole.byte()
        content = _Reader(whole.take(whole.whole()))
        if kind != _SYMBOLS:
            continue
        for _ in range(content.whole()):
            kind, flags = content.byte(), content.whole()
            if kind == 1:  # data
                content.text()
                if not flags & _UNDEFINED:
                    for _ in range(3):  # segment, start, size
                        content.whole()
            elif kind == 3:  # section
                content.whole()
            else:
                number = content.whole()
                if not flags & _UNDEFINED or flags & _EXPLICIT_NAME:
                    name = content.text()
                    if kind == 0 and not flags & _UNDEFINED:
                        found[name] = number
    return found


def _imported_functions(content: bytes | bytearray) -> tuple[str, ...]:
    """Names of the functions that are imported; memory, table and stack pointer are there always."""
    found: list[str] = []
    reader = _Reader(bytes(content))
    for _ in range(reader.whole()):
        module, name, kind = reader.text(), reader.text(), reader.byte()
        if kind == 0:
            reader.whole()
            found.append(name)
        elif kind == 3:
            reader.take(2)
        else:
            if kind == 1:
                reader.byte()
            if reader.byte() & 1:
                reader.whole()
            reader.whole()
        if module != "env" or (kind != 0 and name not in _HOST):
            raise KaneError(f"code needs '{module}.{name}', which the host of a WebAssembly module does not give")
    return tuple(found)


def _relocate(content: bytearray, entries: bytes, data_at: int) -> None:
    """Add `data_at` to every address of data in a section."""
    reader = _Reader(entries)
    reader.whole()  # which section
    for _ in range(reader.whole()):
        kind, place, _ = reader.whole(), reader.whole(), reader.whole()
        if kind in _ADDEND:
            reader.signed_whole()
        if kind in _INDICES:
            continue
        if kind in (_LEB, _SLEB):
            at = _Reader(bytes(content[place : place + 5]))
            value = (at.whole() if kind == _LEB else at.signed_whole()) + data_at
            content[place : place + 5] = _leb(value, 5)  # positive and below 2³¹, so that both forms are the same
        elif kind == _I32:
            value = int.from_bytes(content[place : place + 4], "little") + data_at
            content[place : place + 4] = value.to_bytes(4, "little")
        else:
            raise KaneError(f"a relocation of type {kind} in code for WebAssembly, which is not expected there")


def _move_data(content: bytes, data_at: int) -> tuple[bytearray, int]:
    """Segments of data moved by `data_at`, and how many bytes from there on they take."""
    reader = _Reader(content)
    count = reader.whole()
    made, end = bytearray(_leb(count)), 0
    for _ in range(count):
        if reader.whole() != 0 or reader.byte() != 0x41:
            raise KaneError("data of a WebAssembly object is not at a plain address")
        start = reader.signed_whole()
        reader.byte()  # end of the expression
        held = reader.take(reader.whole())
        made += b"\0\x41" + _leb(start + data_at, 5) + b"\x0b" + _leb(len(held)) + held
        end = max(end, start + len(held))
    return made, end
