"""From LLVM text to functions in memory: this machine's target, the compiler, the loader, the cache in between."""

from __future__ import annotations

import functools
import hashlib
import pkgutil
from dataclasses import dataclass
from typing import Any

import llvmlite
import llvmlite.binding as llvm

from .. import cache

QUICK, GOOD = 0, 1
"""LLVM's levels for code generation, without passes on the text: the graph has done their work. What Python calls one
sample at a time is made quickly, what loops call is made well. Measured on 240 rows: level 0 compiles in 27 ms and
takes 42 ns per sample, level 1 34 ms and 25 ns, levels 2 and 3 the same as 1; on 910 rows 20 ms against 57 ms. Both
give the same bits: what is fused is chosen before."""

_SOURCES = ("writer.py", "trig.py", "rows.py", "batch.py", "entry.py", "python.py", "machine.py")


@dataclass(frozen=True, slots=True)
class Host:
    """The processor that code is made for: name, features as LLVM writes them, doubles per register, fused multiply."""

    triple: str
    cpu: str
    features: str
    width: int
    fma: bool


@functools.cache
def host() -> Host:
    """This machine."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    triple = llvm.get_process_triple()
    try:
        features = llvm.get_host_cpu_features()
    except RuntimeError:  # LLVM cannot tell on some systems; the plain instruction set always works
        return Host(triple, "", "", 2, False)
    width = 8 if features.get("avx512f") else 4 if features.get("avx") else 2
    fma = bool(features.get("fma")) or triple.startswith(("aarch64", "arm64"))
    return Host(triple, llvm.get_host_cpu_name(), features.flatten(), width, fma)


@functools.cache
def fingerprint() -> bytes:
    """What compiled code depends on besides the program: the emitter's own text, LLVM, the processor."""
    h = host()
    digest = hashlib.sha256()
    for source in _SOURCES:
        digest.update(pkgutil.get_data(__package__ or "", source) or b"")
    for fact in (llvmlite.__version__, str(llvm.llvm_version_info), h.triple, h.cpu, h.features):
        digest.update(fact.encode() + b"\0")
    return digest.digest()


def _target_machine(level: int) -> Any:
    h = host()
    target = llvm.Target.from_triple(h.triple)
    return target.create_target_machine(cpu=h.cpu, features=h.features, opt=level, jit=True)


def assemble(text: str, level: int = GOOD) -> bytes:
    """The object code of LLVM text."""
    host()
    module = llvm.parse_assembly(text, llvm.create_context())  # a context of its own, so that all of it is freed again
    try:
        return _target_machine(level).emit_object(module)
    finally:
        module.close()


class Library:
    """Object code in memory; functions stay valid as long as this lives."""

    __slots__ = ("_engine", "_found")

    def __init__(self, code: bytes):
        host()
        self._found: dict[str, int] = {}
        empty = llvm.parse_assembly("")  # belongs to the engine, so its context has to outlive it: the process's own
        self._engine = llvm.create_mcjit_compiler(empty, _target_machine(GOOD))
        self._engine.add_object_file(llvm.ObjectFileRef.from_data(code))
        self._engine.finalize_object()

    def address(self, name: str) -> int:
        """Where a function is; the engine is asked once, which takes a while."""
        if name not in self._found:
            self._found[name] = self._engine.get_function_address(name)
        return self._found[name]

    def data_address(self, name: str) -> int:
        return self._engine.get_global_value_address(name)


def library(program_text: str, kind: str, text: Any, level: int = GOOD) -> Library:
    """The loaded code of `text()`, from the cache if it has been compiled before on this machine."""
    key = cache.key(fingerprint(), f"{kind} {level}".encode(), program_text.encode())
    code = cache.load(key)
    if code is None:
        code = assemble(text(), level)
        cache.save(key, code)
    return Library(code)
