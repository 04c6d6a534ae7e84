"""The way in from Python, as LLVM text: arrays of exactly the right kind go straight to machine code.

A kernel's call is a C function of CPython's fast calling convention. For each argument it looks whether the object is
an exact ndarray of native float64, one-dimensional, contiguous, of the right length (or, for a group of one, a float);
it copies and checks the numbers, runs the flat function and puts the results into new arrays. Anything else, a batch or
a mistake, is handed unchanged to the Python callable that is the function's `self`.

Measured for a program of 240 rows with inputs of 6 + 6 + 6 and 6 outputs, on one machine, per call from Python:

  numpy checks and ctypes      4.5 µs
  numpy gufunc                 2.1 µs
  this                         0.3 µs      (0.08 µs of it are the program)

The offsets below are those of CPython's object header and of NumPy's public `PyArrayObject`. They are checked against a
real array, once, before they are used; where they do not hold, calls take the Python way.
"""

from __future__ import annotations

import ctypes
import functools
import struct
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from ...graph import Program
from .writer import Lanes, Writer, hexadecimal

INPUT_LIMIT, OUTPUT_LIMIT = 256, 4096
"""Most numbers that are kept on the stack, inputs unrolled; for wider programs the call is the smaller part anyway."""

_TYPE, _VALUE = 8, 16  # object header: reference count, type; then the fields of the type, first that of a float
_DATA, _NDIM, _DIMENSIONS, _DESCRIPTION, _FLAGS = 16, 24, 32, 56, 64
_PLAIN = 0x0001 | 0x0100  # C-contiguous, aligned
_NEW_FROM_DESCRIPTION = 94  # place of PyArray_NewFromDescr in NumPy's table of functions
_FASTCALL = 0x0080
_DEFINITION = struct.Struct("@PPiP")  # PyMethodDef: name, function, flags, documentation
_NAME = b"kernel\0"

_CONTEXT = ("ndarray", "float64", "new_array", "call", "retain", "release", "float", "new_tuple", "set_item")


@functools.cache
def context() -> tuple[int, ...] | None:
    """Addresses that the entry needs, in the order of `_CONTEXT`; None where the layout of objects is another."""
    if sys.implementation.name != "cpython" or object.__basicsize__ != _VALUE or not _layout_holds():
        return None
    api = ctypes.pythonapi
    capsule = ctypes.PYFUNCTYPE(ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)(("PyCapsule_GetPointer", api))
    functions = ctypes.cast(capsule(np._core._multiarray_umath._ARRAY_API, None), ctypes.POINTER(ctypes.c_void_p))  # pyright: ignore

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


def _layout_holds() -> bool:
    """Whether a real array and a real float have their fields where this module reads them."""
    probe, number = np.zeros((2, 3)), 0.1
    place = id(probe)
    dimensions = ctypes.c_void_p.from_address(place + _DIMENSIONS).value or 0
    return (
        ctypes.c_void_p.from_address(place + _TYPE).value == id(np.ndarray)
        and ctypes.c_void_p.from_address(place + _DATA).value == probe.ctypes.data
        and ctypes.c_int.from_address(place + _NDIM).value == 2
        and tuple((ctypes.c_ssize_t * 2).from_address(dimensions)) == (2, 3)
        and ctypes.c_void_p.from_address(place + _DESCRIPTION).value == id(np.dtype(np.float64))
        and ctypes.c_int.from_address(place + _FLAGS).value & _PLAIN == _PLAIN
        and ctypes.c_double.from_address(id(number) + _VALUE).value == number
    )


def has_entry(program: Program) -> bool:
    """Whether `program` is narrow enough to have an entry of its own."""
    return program.input_count <= INPUT_LIMIT and program.output_count <= OUTPUT_LIMIT


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


def entry(program: Program, name: str, flat: str) -> str:
    """The text of `PyObject *name(PyObject *self, PyObject *const *args, Py_ssize_t nargs)` and of its `context`."""
    w = Writer(Lanes(1, fma=False))
    shapes = "".join(
        f"@shape_{k} = internal constant [{len(o.shape)} x i64] [{', '.join(f'i64 {n}' for n in o.shape)}]\n"
        for k, o in enumerate(program.outputs)
        if o.shape
    )
    groups = [g for g in program.inputs if g.labels]
    w.do(f"%in = alloca [{max(program.input_count, 1)} x double], align 16")
    w.do(f"%out = alloca [{max(program.output_count, 1)} x double], align 16")
    _expect(w, w.let(f"icmp eq i64 %nargs, {len(groups)}"))
    sources = [_source(w, i, len(g)) for i, g in enumerate(groups)]
    total, slot = hexadecimal(0.0), 0
    for g, source in zip(groups, sources, strict=True):
        for c in range(len(g)):
            x = w.load(source, c)
            total = w.binary("fadd", total, w.binary("fmul", x, hexadecimal(0.0)))
            w.store(x, "%in", slot)
            slot += 1
    _expect(w, w.let(f"fcmp ord double {total}, {hexadecimal(0.0)}"))
    w.do(f"call void @{flat}(ptr %in, ptr %out)")
    _results(w, program)
    w.open("slow")
    w.do(f"%slow_result = call ptr {_known(w, 'call')}(ptr %self, ptr %args, i64 %nargs, ptr null)")
    w.do("ret ptr %slow_result")
    head = f"define ptr @{name}(ptr %self, ptr %args, i64 %nargs) nounwind"
    return f"@context = global [{len(_CONTEXT)} x ptr] zeroinitializer\n{shapes}{w.text(head)}"


def _expect(w: Writer, condition: str) -> None:
    """Go the slow way unless `condition` holds."""
    after = w.label()
    w.do(f"br i1 {condition}, label %{after}, label %slow")
    w.open(after)


def _known(w: Writer, what: str) -> str:
    index = _CONTEXT.index(what)
    return w.let(f"load ptr, ptr getelementptr (ptr, ptr @context, i64 {index}), align 8")


def _field(w: Writer, kind: str, pointer: str, offset: int) -> str:
    return w.let(f"load {kind}, ptr {w.let(f'getelementptr i8, ptr {pointer}, i64 {offset}')}, align 4")


def _source(w: Writer, index: int, length: int) -> str:
    """Where the numbers of argument `index` are: in an array, or in a float for a group of one."""
    argument = _field(w, "ptr", "%args", 8 * index)
    kind = _field(w, "ptr", argument, _TYPE)
    if length > 1:
        return _array_data(w, argument, kind, length)
    number = w.let(f"getelementptr i8, ptr {argument}, i64 {_VALUE}")
    is_float = w.let(f"icmp eq ptr {kind}, {_known(w, 'float')}")
    before, otherwise, merged = w.block, w.label(), w.label()
    w.do(f"br i1 {is_float}, label %{merged}, label %{otherwise}")
    w.open(otherwise)
    data = _array_data(w, argument, kind, length)
    after = w.block
    w.do(f"br label %{merged}")
    w.open(merged)
    return w.let(f"phi ptr [{number}, %{before}], [{data}, %{after}]")


def _array_data(w: Writer, argument: str, kind: str, length: int) -> str:
    """Where the numbers of an array are, after all that has to hold of it."""
    _expect(w, w.let(f"icmp eq ptr {kind}, {_known(w, 'ndarray')}"))
    _expect(w, w.let(f"icmp eq i32 {_field(w, 'i32', argument, _NDIM)}, 1"))
    flags = w.let(f"and i32 {_field(w, 'i32', argument, _FLAGS)}, {_PLAIN}")
    _expect(w, w.let(f"icmp eq i32 {flags}, {_PLAIN}"))
    _expect(w, w.let(f"icmp eq ptr {_field(w, 'ptr', argument, _DESCRIPTION)}, {_known(w, 'float64')}"))
    dimension = _field(w, "i64", _field(w, "ptr", argument, _DIMENSIONS), 0)
    _expect(w, w.let(f"icmp eq i64 {dimension}, {length}"))
    return _field(w, "ptr", argument, _DATA)


def _results(w: Writer, program: Program) -> None:
    """Return the outputs: one array, or a tuple of them; null, with CPython's exception, if memory runs out."""
    several = len(program.outputs) != 1
    pack = ""
    if several:
        pack = w.let(f"call ptr {_known(w, 'new_tuple')}(i64 {len(program.outputs)})")
        _not_null(w, pack, "")
    array, start = "", 0
    for k, out in enumerate(program.outputs):
        description = _known(w, "float64")
        w.do(f"call void {_known(w, 'retain')}(ptr {description})")
        shape = f"@shape_{k}" if out.shape else "null"
        array = w.let(
            f"call ptr {_known(w, 'new_array')}(ptr {_known(w, 'ndarray')}, ptr {description}, i32 {len(out.shape)}, "
            f"ptr {shape}, ptr null, ptr null, i32 0, ptr null)"
        )
        _not_null(w, array, pack)
        data = _field(w, "ptr", array, _DATA)
        size = 8 * len(out.slots)
        w.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {data}, ptr {w.at('%out', start)}, i64 {size}, i1 false)")
        if several:
            w.let(f"call i32 {_known(w, 'set_item')}(ptr {pack}, i64 {k}, ptr {array})")
        start += len(out.slots)
    w.do(f"ret ptr {pack or array}")


def _not_null(w: Writer, pointer: str, pack: str) -> None:
    """Return null if `pointer` is null, after letting go of the tuple `pack`."""
    failed, after = w.label(), w.label()
    w.do(f"br i1 {w.let(f'icmp eq ptr {pointer}, null')}, label %{failed}, label %{after}")
    w.open(failed)
    if pack:
        w.do(f"call void {_known(w, 'release')}(ptr {pack})")
    w.do("ret ptr null")
    w.open(after)
