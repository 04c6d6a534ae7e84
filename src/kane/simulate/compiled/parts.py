"""How a part of a loop is compiled: into LLVM's language and no further.

Left to itself numba optimises every function together with all that it calls, and makes machine code of it, before it
goes on to the caller: what lies deep is worked on again for everything above it. Only loops call a part, so
parts are only put together, and all of them are optimised once, with the loop.
"""

from __future__ import annotations

from typing import Any

from numba import version_info
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompilerBase, DefaultPassBuilder

KNOWN = ((0, 62), (0, 63), (0, 64), (0, 65), (0, 66), (0, 67), (0, 68))
"""Versions of numba in which code is kept in the way that `_Part` changes. Others compile parts as they do anything
else, which gives the same and takes about three times as long."""


class _Part(JITCodeLibrary):
    """The code of a part and of what it calls, for whoever calls it; there is no machine code of it."""

    def finalize(self) -> None:
        """Join the parts that this one calls, where numba would also optimise and make machine code."""
        for library in dict.fromkeys(self._linking_libraries):
            self._final_module.link_in(library._get_module_for_linking(), preserve=True)
        self._finalized = True

    def get_pointer_to_function(self, name: str) -> int:
        """0: Python cannot call a part."""
        self._ensure_finalized()
        return 0

    @property
    def codegen(self) -> Any:
        return self

    def set_env(self, name: str, environment: Any) -> None:
        """Nothing: the objects of Python that an exception would need are never needed, since parts raise none."""


class _PartCompiler(CompilerBase):
    """numba's own compiler but for where the code goes."""

    def define_pipelines(self) -> list[Any]:
        state = self.state
        state.library = _Part(state.targetctx.codegen(), state.func_id.func_qualname)
        return [DefaultPassBuilder.define_nopython_pipeline(state)]


part_compiler: type[CompilerBase] = _PartCompiler if version_info.short in KNOWN else Compiler
"""What compiles the parts of loops."""
