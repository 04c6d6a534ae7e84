"""From LLVM text to a relocatable WebAssembly object."""

from __future__ import annotations

import functools
import hashlib
import pkgutil
from typing import Any

import llvmlite
import llvmlite.binding as llvm

TRIPLE = "wasm32-unknown-unknown"
FEATURES = "+bulk-memory,+mutable-globals,+nontrapping-fptoint,+sign-ext"
"""What every browser since 2021 has."""

_SOURCES = ("wasm/machine.py", "wasm/__init__.py", "wasm/fused.py", "llvm/writer.py", "llvm/trig.py", "llvm/rows.py")


@functools.cache
def _target() -> Any:
    llvm.initialize_all_targets()
    llvm.initialize_all_asmprinters()
    return llvm.Target.from_triple(TRIPLE)


@functools.cache
def fingerprint() -> bytes:
    """What objects depend on besides the text they are made from: the emitter's own text and LLVM."""
    digest = hashlib.sha256()
    for source in _SOURCES:
        digest.update(pkgutil.get_data("kane.backends", source) or b"")
    for fact in (llvmlite.__version__, str(llvm.llvm_version_info), TRIPLE, FEATURES):
        digest.update(fact.encode() + b"\0")
    return digest.digest()


def assemble(text: str, *, keep: str = "", optimise: bool = False) -> bytes:
    """The object of LLVM text, whatever target it was written for.

    With `keep` only this function can be seen from outside, and what it does not need is left out. With `optimise`
    LLVM's passes go over it first: of use for what numba wrote, not for programs, which the graph has shortened.
    """
    machine = _target().create_target_machine(cpu="mvp", features=FEATURES, opt=2)
    module = llvm.parse_assembly(text, llvm.create_context())  # a context of its own, so that all of it is freed again
    try:
        module.triple, module.data_layout = TRIPLE, str(machine.target_data)
        if keep:
            for value in (*module.functions, *module.global_variables):
                if not value.is_declaration and value.name != keep:
                    value.linkage = "internal"
        if optimise:
            passes = llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options(speed_level=2))
            passes.getModulePassManager().run(module, passes)
        return machine.emit_object(module)
    finally:
        module.close()
