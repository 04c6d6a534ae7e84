"""How loops are compiled and kept on disk: `loop` for what Python calls, `program` for what is called by address.

numba's own cache lies beside the sources or in the user's home, fails where neither can be written, and believes what
it finds. Compiled loops are kept as compiled programs are (`backends/cache.py`): in a private folder, under a key of
the sources, the compilers and the processor, with a checksum. What cannot be read or written is compiled again.
"""

from __future__ import annotations

import functools
import hashlib
import pickle
import platform
from collections.abc import Callable
from pathlib import Path
from typing import Any

import llvmlite
import numba
from numba import njit
from numba.core import sigutils
from numba.core.caching import NullCache
from numba.core.ccallback import CFunc
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

from ...backends import cache
from ...constraints import thresholds

FOLDER = "loops"
"""The folder in the cache of compiled code where loops are kept."""


class LoopCache(NullCache):
    """What numba asks for the compiled code of one function, and gives it to."""

    def __init__(self, function: Callable[..., Any]):
        self._function = function

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function for a signature, None if it has to be compiled."""
        target_context.refresh()
        name = self._key(sig, target_context.codegen())
        stored = None if name is None else cache.load(name, FOLDER)
        if stored is None:
            return None
        try:
            return CompileResult._rebuild(target_context, *pickle.loads(stored))
        except Exception:  # sound, since the checksum holds, but not for the numba that is installed: compile it anew
            return None

    def save_overload(self, sig: Any, cres: Any) -> None:
        """Keep the compiled function."""
        name = self._key(sig, cres.codegen)
        if name is not None and not cres.lifted and not cres.library.has_dynamic_globals:  # else of use to us alone
            cache.save(name, dumps(cres._reduce()), FOLDER)

    def _key(self, sig: Any, codegen: Any) -> str | None:
        """The name of the compiled function; None where its sources cannot be read, so that nobody could tell it."""
        function = self._function
        facts = (function.__module__, function.__qualname__, sig, codegen.magic_tuple(), *_versions())
        try:
            sources = source_digest(), folder_digest(Path(function.__code__.co_filename).parent)
        except OSError:
            return None
        return cache.key(b"loop", *sources, *(str(fact).encode() for fact in facts))


def _versions() -> tuple[str, ...]:
    return numba.__version__, llvmlite.__version__, platform.python_implementation(), platform.python_version()


@functools.cache
def source_digest() -> bytes:
    """A hash of all source files that loops are made of, and of the table of thresholds that they read."""
    return hashlib.sha256(Path(thresholds.__file__).read_bytes() + folder_digest(Path(__file__).parent)).digest()


@functools.cache
def folder_digest(folder: Path) -> bytes:
    """A hash of all source files of a folder: parts of a loop are in modules beside it."""
    digest = hashlib.sha256()
    for path in sorted(folder.glob("*.py")):
        digest.update(path.read_bytes())
    return digest.digest()


def loop(function: Callable[..., Any]) -> Any:
    """A loop that Python calls: kept on disk, other threads may run, a division by zero gives inf or nan."""
    compiled: Any = njit(nogil=True, error_model="numpy")(function)
    compiled._cache = LoopCache(function)
    return compiled


def program(signature: Any) -> Callable[[Callable[..., Any]], Any]:
    """A decorator that compiles a function of this signature at once, to be called by its `address`; kept on disk."""

    def compile_function(function: Callable[..., Any]) -> Any:
        options = {"error_model": "numpy", "_nrt": False}
        compiled: Any = CFunc(function, sigutils.normalize_signature(signature), locals={}, options=options)
        compiled._cache = LoopCache(function)
        compiled.compile()
        return compiled

    return compile_function
