"""The way in from Python, as LLVM text: arrays of exactly the right kind go straight to machine code.

A kernel's call is a C function of CPython's fast calling convention. For each argument it looks whether the object is
an exact ndarray of native float64, contiguous, of shape (n,) or (batch, n), or a float for a group of one. One sample
is copied, checked and given to the body; a batch that is not worth a thread goes to the batch function, once
that is compiled. Anything else, large batches and mistakes included, is handed unchanged to the Python callable that is
the function's `self`.

Measured on a busy machine for 240 rows with inputs of 6 + 6 + 6 and 6 outputs, per call from Python: one sample
0.25 µs (a C++ rigid-body library called likewise 1.4 to 1.9 µs), ten samples 0.5 to 0.7 µs. The Python way, with its
checks and ctypes, took tens of microseconds for either, of which four `array.ctypes.data` alone are 7 µs.
"""

from __future__ import annotations

from dataclasses import dataclass

from ...graph import Program
from . import python
from .writer import Lanes, Writer, hexadecimal

INPUT_LIMIT, OUTPUT_LIMIT = 256, 4096
"""Most numbers that are kept on the stack, inputs unrolled; for wider programs the call is the smaller part anyway."""

CONTEXT = (*python.CONTEXT, "batch", "limit")
"""The words of the entry's `context`: facts of the process, the batch function or null, samples it may be given."""


HELD = 2_000_000
"""Rows times samples of a batch that comes in here: about 0.2 ms, for Python's lock is kept meanwhile."""


@dataclass(frozen=True, slots=True)
class _Source:
    """Names of values: where an argument's numbers are, and how many doubles it is from one sample to the next."""

    data: str
    stride: str


def has_entry(program: Program) -> bool:
    """Whether `program` is narrow enough to have an entry of its own."""
    return program.input_count <= INPUT_LIMIT and program.output_count <= OUTPUT_LIMIT


def entry(program: Program, name: str, body: str) -> str:
    """The text of `PyObject *name(PyObject *self, PyObject *const *args, Py_ssize_t nargs)` and of its `context`."""
    w = Writer(Lanes(1, fma=False))
    groups = [g for g in program.inputs if g.labels]
    w.do("%context = getelementptr i8, ptr @context, i64 0")  # by name, LLVM's quick translation cannot reach it
    w.do(f"%in = alloca [{max(program.input_count, 1)} x double], align 16")
    w.do(f"%out = alloca [{max(program.output_count, 1)} x double], align 16")
    w.do(f"%data = alloca [{max(len(program.inputs), 1)} x ptr], align 8")
    w.do(f"%strides = alloca [{max(len(program.inputs), 1)} x i64], align 8")
    w.do(f"%results = alloca [{max(len(program.outputs), 1)} x ptr], align 8")
    w.do(f"%shape = alloca [{1 + max((len(o.shape) for o in program.outputs), default=0)} x i64], align 8")
    _expect(w, w.let(f"icmp eq i64 %nargs, {len(groups)}"))
    sources, batch = [], "-1"
    for i, g in enumerate(groups):
        source, batch = _source(w, i, len(g), batch)
        sources.append(source)
    single, many = w.label(), w.label()
    w.do(f"br i1 {w.let(f'icmp slt i64 {batch}, 0')}, label %{single}, label %{many}")
    w.open(single)
    _one_sample(w, program, sources, body)
    w.open(many)
    _many_samples(w, program, sources, batch)
    w.open("slow")
    w.do(f"%slow_result = call ptr {_load_context(w, 'call')}(ptr %self, ptr %args, i64 %nargs, ptr null)")
    w.do("ret ptr %slow_result")
    head = f"define ptr @{name}(ptr %self, ptr %args, i64 %nargs) nounwind"
    return f"@context = global [{len(CONTEXT)} x ptr] zeroinitializer\n{w.text(head)}"


def _expect(w: Writer, condition: str) -> None:
    """Go the slow way unless `condition` holds."""
    after = w.label()
    w.do(f"br i1 {condition}, label %{after}, label %slow")
    w.open(after)


def _load_context(w: Writer, what: str, kind: str = "ptr") -> str:
    return _field(w, kind, "%context", 8 * CONTEXT.index(what))


def _field(w: Writer, kind: str, pointer: str, offset: int) -> str:
    return w.let(f"load {kind}, ptr {w.let(f'getelementptr i8, ptr {pointer}, i64 {offset}')}, align 4")


def _set(w: Writer, kind: str, value: str, array: str, index: int) -> None:
    w.do(f"store {kind} {value}, ptr {w.let(f'getelementptr {kind}, ptr {array}, i64 {index}')}, align 8")


def _source(w: Writer, index: int, length: int, batch: str) -> tuple[_Source, str]:
    """(numbers of argument `index`, size of the batch after it or −1): an array, or a float for a group of one."""
    argument = _field(w, "ptr", "%args", 8 * index)
    kind = _field(w, "ptr", argument, python.TYPE)
    if length > 1:
        return _array(w, argument, kind, length, batch)
    number = w.let(f"getelementptr i8, ptr {argument}, i64 {python.VALUE}")
    is_float = w.let(f"icmp eq ptr {kind}, {_load_context(w, 'float')}")
    before, otherwise, merged = w.block, w.label(), w.label()
    w.do(f"br i1 {is_float}, label %{merged}, label %{otherwise}")
    w.open(otherwise)
    array, array_batch = _array(w, argument, kind, length, batch)
    after = w.block
    w.do(f"br label %{merged}")
    w.open(merged)
    data = w.let(f"phi ptr [{number}, %{before}], [{array.data}, %{after}]")
    stride = w.let(f"phi i64 [0, %{before}], [{array.stride}, %{after}]")
    return _Source(data, stride), w.let(f"phi i64 [{batch}, %{before}], [{array_batch}, %{after}]")


def _array(w: Writer, argument: str, kind: str, length: int, batch: str) -> tuple[_Source, str]:
    """(numbers of an array, size of the batch after it), when all holds that has to hold of it."""
    _expect(w, w.let(f"icmp eq ptr {kind}, {_load_context(w, 'ndarray')}"))
    flags = w.let(f"and i32 {_field(w, 'i32', argument, python.FLAGS)}, {python.PLAIN}")
    _expect(w, w.let(f"icmp eq i32 {flags}, {python.PLAIN}"))
    _expect(w, w.let(f"icmp eq ptr {_field(w, 'ptr', argument, python.DESCRIPTION)}, {_load_context(w, 'float64')}"))
    dimensions = _field(w, "ptr", argument, python.DIMENSIONS)
    dimension = _field(w, "i32", argument, python.NDIM)
    row, table, merged = w.label(), w.label(), w.label()
    w.do(f"br i1 {w.let(f'icmp eq i32 {dimension}, 1')}, label %{row}, label %{table}")
    w.open(row)
    _expect(w, w.let(f"icmp eq i64 {_field(w, 'i64', dimensions, 0)}, {length}"))
    row_end = w.block
    w.do(f"br label %{merged}")
    w.open(table)
    _expect(w, w.let(f"icmp eq i32 {dimension}, 2"))
    _expect(w, w.let(f"icmp eq i64 {_field(w, 'i64', dimensions, 8)}, {length}"))
    samples = _field(w, "i64", dimensions, 0)
    first = w.let(f"icmp slt i64 {batch}, 0")
    _expect(w, w.let(f"or i1 {first}, {w.let(f'icmp eq i64 {batch}, {samples}')}"))
    table_end = w.block
    w.do(f"br label %{merged}")
    w.open(merged)
    stride = w.let(f"phi i64 [0, %{row_end}], [{length}, %{table_end}]")
    after = w.let(f"phi i64 [{batch}, %{row_end}], [{samples}, %{table_end}]")
    return _Source(_field(w, "ptr", argument, python.DATA), stride), after


def _one_sample(w: Writer, program: Program, sources: list[_Source], body: str) -> None:
    """Copy and check the inputs, run the body, check its outputs, return them in new arrays."""
    total, slot = hexadecimal(0.0), 0
    for g, source in zip((g for g in program.inputs if g.labels), sources, strict=True):
        for c in range(len(g)):
            x = w.load(source.data, c)
            total = w.binary("fadd", total, w.binary("fmul", x, hexadecimal(0.0)))
            w.store(x, "%in", slot)
            slot += 1
    _expect(w, w.let(f"fcmp ord double {total}, {hexadecimal(0.0)}"))
    w.do(f"call void @{body}(ptr %in, ptr %out, ptr null)")
    _expect(w, _all_finite(w, "%out", program.output_count))
    result, arrays = _new_arrays(w, program, "")
    start = 0
    for out, data in zip(program.outputs, arrays, strict=True):
        size = 8 * len(out.slots)
        w.do(f"call void @llvm.memcpy.p0.p0.i64(ptr {data}, ptr {w.at('%out', start)}, i64 {size}, i1 false)")
        start += len(out.slots)
    w.do(f"ret ptr {result}")


def _all_finite(w: Writer, data: str, count: int) -> str:
    """Whether none of `count` doubles is nan or infinite: a loop that sums x * 0."""
    before, body, after = w.block, w.label(), w.label()
    if count == 0:
        return "true"
    w.do(f"br label %{body}")
    w.open(body)
    k, total = f"%k.{body}", f"%total.{body}"
    w.do(f"{k} = phi i64 [0, %{before}], [{k}.next, %{body}]")
    w.do(f"{total} = phi double [{hexadecimal(0.0)}, %{before}], [{total}.next, %{body}]")
    x = w.let(f"load double, ptr {w.let(f'getelementptr double, ptr {data}, i64 {k}')}, align 8")
    w.do(f"{total}.next = fadd double {total}, {w.binary('fmul', x, hexadecimal(0.0))}")
    w.do(f"{k}.next = add i64 {k}, 1")
    w.do(f"br i1 {w.let(f'icmp eq i64 {k}.next, {count}')}, label %{after}, label %{body}")
    w.open(after)
    return w.let(f"fcmp ord double {total}.next, {hexadecimal(0.0)}")


def _many_samples(w: Writer, program: Program, sources: list[_Source], batch: str) -> None:
    """Run the batch function into new arrays and return them; the slow way says what is wrong if an input is."""
    function = _load_context(w, "batch")
    _expect(w, w.let(f"icmp ne ptr {function}, null"))
    _expect(w, w.let(f"icmp slt i64 {batch}, {_load_context(w, 'limit', 'i64')}"))
    given = iter(sources)
    for i, g in enumerate(program.inputs):
        source = next(given) if g.labels else _Source("null", "0")
        _set(w, "ptr", source.data, "%data", i)
        _set(w, "i64", source.stride, "%strides", i)
    result, arrays = _new_arrays(w, program, batch)
    for k, data in enumerate(arrays):
        _set(w, "ptr", data, "%results", k)
    bad = w.let(f"call i64 {function}(i64 {batch}, ptr %data, ptr %strides, ptr %results)")
    fine, refused = w.label(), w.label()
    w.do(f"br i1 {w.let(f'icmp eq i64 {bad}, 0')}, label %{fine}, label %{refused}")
    w.open(fine)
    w.do(f"ret ptr {result}")
    w.open(refused)
    w.do(f"call void {_load_context(w, 'release')}(ptr {result})")
    w.do("br label %slow")


def _new_arrays(w: Writer, program: Program, batch: str) -> tuple[str, list[str]]:
    """(object to return, where each output goes): one array or a tuple of them, with `batch` as first dimension if any.

    Where memory runs out, null is returned to CPython, which has set its exception then.
    """
    several = len(program.outputs) != 1
    result = ""
    if several:
        result = w.let(f"call ptr {_load_context(w, 'new_tuple')}(i64 {len(program.outputs)})")
        _not_null(w, result, "")
    places = []
    for k, out in enumerate(program.outputs):
        dimensions = [batch, *map(str, out.shape)] if batch else [*map(str, out.shape)]
        for i, n in enumerate(dimensions):
            _set(w, "i64", n, "%shape", i)
        description = _load_context(w, "float64")
        w.do(f"call void {_load_context(w, 'retain')}(ptr {description})")
        array = w.let(
            f"call ptr {_load_context(w, 'new_array')}(ptr {_load_context(w, 'ndarray')}, ptr {description}, "
            f"i32 {len(dimensions)}, ptr %shape, ptr null, ptr null, i32 0, ptr null)"
        )
        _not_null(w, array, result)
        places.append(_field(w, "ptr", array, python.DATA))
        if several:
            w.let(f"call i32 {_load_context(w, 'set_item')}(ptr {result}, i64 {k}, ptr {array})")
        else:
            result = array
    return result, places


def _not_null(w: Writer, pointer: str, pack: str) -> None:
    """Return null if `pointer` is null, after letting go of the tuple `pack`."""
    failed, after = w.label(), w.label()
    w.do(f"br i1 {w.let(f'icmp eq ptr {pointer}, null')}, label %{failed}, label %{after}")
    w.open(failed)
    if pack:
        w.do(f"call void {_load_context(w, 'release')}(ptr {pack})")
    w.do("ret ptr null")
    w.open(after)
