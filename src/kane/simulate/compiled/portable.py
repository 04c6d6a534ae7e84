"""Compiled loops for WebAssembly: the same functions that run natively, translated once more.

numba writes LLVM text of a loop and of all that it calls (`parts`); the text depends on this machine in nothing but its
target, which is replaced. All that loops pass to each other are numbers and addresses as int64, in records without
pointers, so that 32-bit addresses fit. Functions that are called by address have the types that `call` gives them.
"""

from __future__ import annotations

import gzip
import hashlib
import re
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from typing import Any

from numba import njit, types

from ...backends import cache
from ...backends.llvm.machine import host
from ...backends.wasm import WasmModule, assemble, fingerprint, link, replace_fma
from .call import PART
from .store import FOLDER, source_digest

SHIPPED, KEY = "translated", "sources.sha256"
"""The folder beside this module for loops that come with a wheel (`make wheel`), and the file that says of what."""

WHOLE, REAL = types.int64, types.float64
_TEXT = {WHOLE: "i64", REAL: "double", types.void: "void"}


@dataclass(frozen=True, slots=True)
class LoopEntry:
    """A function that is reached by address: what Python calls it natively, its types, and whether it is called as a
    flat program is, `void f(ptr in, ptr out, i64 memory)`."""

    function: Callable[..., Any]
    result: Any
    arguments: tuple[Any, ...]
    flat: bool = False


def _touch() -> LoopEntry:
    from .coupler import touch

    return LoopEntry(touch, WHOLE, (WHOLE,) * 4)


def _steps() -> LoopEntry:
    from .stepping_coupler import touch_steps

    return LoopEntry(touch_steps, WHOLE, (WHOLE,) * 4)


def _watch() -> LoopEntry:
    from .events import watch

    return LoopEntry(watch._pyfunc, WHOLE, (WHOLE, REAL))


def _embedding() -> LoopEntry:
    from .embedded import embedding_program

    return LoopEntry(embedding_program._pyfunc, types.void, (WHOLE,) * 3, flat=True)


def _multipliers() -> LoopEntry:
    from .multipliers import multiplier_program

    return LoopEntry(multiplier_program._pyfunc, types.void, (WHOLE,) * 3, flat=True)


def _changing() -> LoopEntry:
    from .changing import changing_program

    return LoopEntry(changing_program._pyfunc, types.void, (WHOLE,) * 3, flat=True)


def _transition() -> LoopEntry:
    from .transitions import transition_program

    return LoopEntry(transition_program._pyfunc, WHOLE, (WHOLE,) * 3)


def _contacts() -> LoopEntry:
    from .contact_programs import contact_program

    return LoopEntry(contact_program._pyfunc, REAL, (WHOLE,) * 12)


LOOPS: dict[str, Callable[[], LoopEntry]] = {
    "touch": _touch,
    "steps": _steps,
    "watch": _watch,
    "embedding": _embedding,
    "multipliers": _multipliers,
    "changing": _changing,
    "transition": _transition,
    "contacts": _contacts,
}
"""Loops and programs of this package by the name under which their module exports them. Whatever imports one compiles
it natively too, so that is done when it is asked for."""


def loop_module(name: str, data_at: int = 0) -> WasmModule:
    """The module of one of `LOOPS`, with its data at `data_at`: as it came with the package, or translated here and
    kept on disk like native ones."""
    code = _shipped_loop(name)
    if code is None:
        key = cache.key(b"wasm loop", fingerprint(), source_digest(), name.encode())
        code = cache.load(key, FOLDER)
        if code is None:
            code = translate_loop(name)
            cache.save(key, code, FOLDER)
    return link(code, (name,), data_at)


def translate_loop(name: str) -> bytes:
    """The object of one of `LOOPS`."""
    return assemble(_text(LOOPS[name](), name), keep=name, optimise=True)


def shipped_key() -> str:
    """What translated loops that come with the package are made of: these sources, and whether products are fused."""
    return hashlib.sha256(source_digest() + bytes([host().fma])).hexdigest()


def _shipped_loop(name: str) -> bytes | None:
    """The object that came with the package, if it is one of these sources for this kind of processor."""
    folder = resources.files(__package__ or "") / SHIPPED
    try:
        if (folder / KEY).read_text(encoding="utf-8") != shipped_key():
            return None
        return gzip.decompress((folder / f"{name}.wasm.gz").read_bytes())
    except (OSError, EOFError, zlib.error):  # none came, or it is damaged
        return None


def _text(entry: LoopEntry, name: str) -> str:
    """LLVM text of an entry, exported as `name`, and of all that it calls."""
    compiled: Any = njit(**PART)(entry.function)
    compiled.compile(entry.arguments)
    found = next(iter(compiled.overloads.values()))
    text = str(found.library._final_module)
    # the C function and the instruction give the same bits; the instruction needs nobody
    text = re.sub(r"^declare double @sqrt\(.*\n", "", text, flags=re.MULTILINE).replace("@sqrt(", "@llvm.sqrt.f64(")
    if "declare double @llvm.sqrt.f64" not in text:
        text += "\ndeclare double @llvm.sqrt.f64(double)\n"
    return replace_fma(text) + _wrapper(entry, name, found.fndesc.llvm_func_name)


def _wrapper(entry: LoopEntry, name: str, inner: str) -> str:
    """The function `name` around numba's own, which returns a status and takes places for its result and a fault."""
    kinds = [_TEXT[kind] for kind in entry.arguments]
    outer = ["ptr", "ptr", "i64"] if entry.flat else kinds
    result = _TEXT[entry.result]
    room = "i64" if result == "void" else result
    lines = [f"define {result} @{name}({', '.join(f'{k} %a{i}' for i, k in enumerate(outer))}) {{"]
    lines += [f"  %result = alloca {room}", "  %fault = alloca ptr"]
    given = []
    for i, kind in enumerate(outer):
        if kind == "ptr":
            lines.append(f"  %w{i} = ptrtoint ptr %a{i} to i64")
        given.append(f"i64 %w{i}" if kind == "ptr" else f"{kind} %a{i}")
    lines.append(f'  %status = call i32 @"{inner}"(ptr %result, ptr %fault, {", ".join(given)})')
    if result == "void":
        lines.append("  ret void")
    else:
        lines += [f"  %value = load {result}, ptr %result", f"  ret {result} %value"]
    return "\n".join([*lines, "}\n"])
