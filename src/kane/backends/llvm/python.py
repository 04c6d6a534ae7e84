"""The entry from Python seen from CPython's side: where objects keep their fields, and a C function made callable.

The offsets are those of CPython's object header and of NumPy's public `PyArrayObject`. They are checked against a real
array and a real float, once, before they are used; where they do not hold, calls take the Python way.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import struct
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

TYPE, VALUE = 8, 16  # object header: reference count, type; then the fields of the type, first that of a float
DATA, NDIM, DIMENSIONS, DESCRIPTION, FLAGS = 16, 24, 32, 56, 64
PLAIN = 0x0001 | 0x0100  # C-contiguous, aligned
_NEW_FROM_DESCRIPTION = 94  # place of PyArray_NewFromDescr in NumPy's table of functions
_FASTCALL = 0x0080
_DEFINITION = struct.Struct("@PPiP")  # PyMethodDef: name, function, flags, documentation
_NAME = b"kernel\0"

CONTEXT = ("ndarray", "float64", "new_array", "call", "retain", "release", "float", "new_tuple", "set_item")
"""What an entry has to know of this process."""


@functools.cache
def context() -> tuple[int, ...] | None:
    """Addresses that the entry needs, in the order of `CONTEXT`; None where the layout of objects is another."""
    if sys.implementation.name != "cpython" or object.__basicsize__ != VALUE or not _layout_holds():
        return None
    api = ctypes.pythonapi
    capsule = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", api))
    functions = ctypes.cast(capsule(_array_api(), None), ctypes.POINTER(ctypes.c_void_p))

    def address(name: str) -> int:
        return ctypes.cast(getattr(api, name), ctypes.c_void_p).value or 0

    return (
        id(np.ndarray),
        id(np.dtype(np.float64)),
        functions[_NEW_FROM_DESCRIPTION] or 0,
        address("PyObject_Vectorcall"),
        address("Py_IncRef"),
        address("Py_DecRef"),
        id(float),
        address("PyTuple_New"),
        address("PyTuple_SetItem"),
    )


def _array_api() -> Any:
    """The capsule that holds NumPy's table of functions."""
    try:
        module = importlib.import_module("numpy._core._multiarray_umath")
    except ModuleNotFoundError:  # NumPy before 2
        module = importlib.import_module("numpy.core._multiarray_umath")
    return module._ARRAY_API


def _layout_holds() -> bool:
    """Whether a real array and a real float have their fields where this module reads them."""
    probe, number = np.zeros((2, 3)), 0.1
    place = id(probe)
    dimensions = ctypes.c_void_p.from_address(place + DIMENSIONS).value or 0
    return (
        ctypes.c_void_p.from_address(place + TYPE).value == id(np.ndarray)
        and ctypes.c_void_p.from_address(place + DATA).value == probe.ctypes.data
        and ctypes.c_int.from_address(place + NDIM).value == 2
        and tuple((ctypes.c_ssize_t * 2).from_address(dimensions)) == (2, 3)
        and ctypes.c_void_p.from_address(place + DESCRIPTION).value == id(np.dtype(np.float64))
        and ctypes.c_int.from_address(place + FLAGS).value & PLAIN == PLAIN
        and ctypes.c_double.from_address(id(number) + VALUE).value == number
    )


def builtin(address: int, slow: Callable[..., Any]) -> Callable[..., Any]:
    """The C function at `address` as a Python callable that falls back to `slow`, which must keep the code alive.

    CPython reads a function's definition (name, address, flags, text) until the very end of the function's life, when
    the garbage collector may have emptied `slow` already. So the definition lives in a bytes object, which the
    collector does not empty, and the function owns that object in the place of its module.
    """
    definition = bytes(_DEFINITION.size + len(_NAME))
    place = id(definition) + bytes.__basicsize__ - 1  # the byte that `__basicsize__` counts in is the closing zero
    content = _DEFINITION.pack(place + _DEFINITION.size, address, _FASTCALL, 0) + _NAME
    ctypes.memmove(place, content, len(content))
    new = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.py_object, ctypes.py_object)(
        ("PyCFunction_NewEx", ctypes.pythonapi)
    )
    return new(place, slow, definition)
