"""A recursion over bodies as LLVM text: one function per step, one loop per pass, one call per block of samples.

All numbers of a sample live in one array of T, `work`; the rows of `table` (int32, one per body) say where: the kind of
the body's joint, where its constants start in `data`, where each group of its steps' inputs and outputs starts in
`work`. Steps load all they read before they store, so groups may overlap.

  int64 batch(int64 n, const double *const *in, const int64 *in_stride, double *const *out)     returns 1 if not finite
  void flat(const double *in, double *out)                                                      one sample
  int64 checked(const double *in, double *out)                                        the same, returns 1 if not finite
  void unit(const double *in, double *out)                     the state that follows t in `in`, its quaternions unit

Sizes, places and constants come from `context`, which its owner fills: the code depends on the kinds of joints alone.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...graph import Program
from ..llvm.rows import EMIT, definitions, fuse_products, sines
from ..llvm.writer import Lanes, Writer
from .records import CONSTANTS, Pass, Recursion

CONTEXT = (
    "bodies",  # how many
    "table",
    "data",
    "work",  # a workspace of the owner's, taken by one caller at a time; others make their own
    "busy",  # 1 while it is taken
    "bytes",  # of a workspace
    "inputs",  # per group: how many numbers, where in `work` each goes
    "outputs",
    "presets",  # how many numbers are set before each pass, where, to what
    "preset_places",
    "preset_values",
    "springs",  # how many; where each finds effort, coordinate and speed; stiffness, rest and damping
    "spring_places",
    "spring_values",
    "loads",  # null or a flat program: further efforts of one sample; where they are added
    "load_count",
    "load_places",
    "speeds",  # how many; where effort and speed are; where the power of all efforts goes
    "power_places",
    "power",
    "states",  # size of the state that `unit` copies; how many quaternions, where the four numbers of each are
    "quaternions",
    "quaternion_places",
)
"""What the code finds in its global array `context`, all 64 bits wide."""


def module(recursion: Recursion, inputs: int, outputs: int, lanes: Lanes) -> str:
    """The text of all functions, for a recursion with so many groups of inputs and outputs."""
    programs = [step for run in recursion.passes for step in run.steps if step is not None]
    turning = [p for p in programs if any(row.op in ("sin", "cos") for row in p.rows)]
    text = definitions((turning or programs)[0], lanes)
    text += f"@context = global [{len(CONTEXT)} x i64] zeroinitializer\n"
    for k, run in enumerate(recursion.passes):
        for kind, step in enumerate(run.steps):
            if step is not None:
                text += _step(step, recursion.columns, lanes, f"step_{k}_{kind}")
        text += _pass(run, len(recursion.columns) + 1, f"pass_{k}")
    text += _sample(recursion, inputs, outputs, lanes)
    text += _batch(inputs, outputs, lanes)
    return text + (_checking_entry(inputs, outputs) + _flat() + _unit() if lanes.width == 1 else "")


# steps and passes ----------------------------------------------------------------------------------------------------


def _step(program: Program, columns: Sequence[str], lanes: Lanes, name: str) -> str:
    """The text of one step: void name(double *data, T *work, int32 *row)."""
    w = Writer(lanes)
    starts: dict[str, str] = {}

    def start(group: str) -> str:
        if group not in starts:
            place = w.let(f"getelementptr i32, ptr %row, i64 {1 + columns.index(group)}")
            wide = w.let(f"sext i32 {w.let(f'load i32, ptr {place}, align 4')} to i64")
            kind, pointer = ("double", "%data") if group == CONSTANTS else (lanes.type, "%work")
            starts[group] = w.let(f"getelementptr {kind}, ptr {pointer}, i64 {wide}")
        return starts[group]

    where = [(g.name, i) for g in program.inputs for i in range(len(g))]
    values: dict[int, str] = {}

    def value(slot: int) -> str:
        if slot not in values:
            if slot < len(where):
                group, index = where[slot]
                values[slot] = _constant(w, start(group), index) if group == CONSTANTS else w.load(start(group), index)
            else:
                values[slot] = lanes.number(program.constants[slot - len(where)])
        return values[slot]

    rows = fuse_products(program) if lanes.fma else list(enumerate(program.rows, start=program.first_row))
    mine = {slot for slot, _ in rows}
    for i, (slot, row) in enumerate(rows):
        if slot in values:
            continue
        if row.op in ("sin", "cos"):
            ready = [r for r in rows[i:] if r[1].args[0] in values or r[1].args[0] not in mine]
            values.update(sines(w, ready, value, quick=False))
        else:
            values[slot] = EMIT[row.op](w, *(value(a) for a in row.args))
    results = [(out.name, i, value(slot)) for out in program.outputs for i, slot in enumerate(out.slots)]
    for group, index, result in results:
        w.store(result, start(group), index)
    w.do("ret void")
    return w.text(f"define internal void @{name}(ptr noalias %data, ptr %work, ptr noalias %row) noinline nounwind")


def _constant(w: Writer, pointer: str, index: int) -> str:
    """A double of memory in all lanes."""
    place = pointer if index == 0 else w.let(f"getelementptr double, ptr {pointer}, i64 {index}")
    return _spread(w, w.let(f"load double, ptr {place}, align 8"))


def _spread(w: Writer, scalar: str) -> str:
    if w.lanes.width == 1:
        return scalar
    t = w.lanes.type
    first = w.let(f"insertelement {t} poison, double {scalar}, i32 0")
    return w.let(f"shufflevector {t} {first}, {t} poison, <{w.lanes.width} x i32> zeroinitializer")


def _pass(run: Pass, stride: int, name: str) -> str:
    """The text of one pass: void name(int64 bodies, int32 *table, double *data, T *work)."""
    w = Writer(Lanes(1, fma=False))

    def body(index: str) -> None:
        row = index if not run.inward else w.let(f"sub i64 {w.let('sub i64 %bodies, 1')}, {index}")
        row = w.let(f"getelementptr i32, ptr %table, i64 {w.let(f'mul i64 {row}, {stride}')}")
        constants = w.let(f"sext i32 {w.let(f'load i32, ptr {row}, align 4')} to i64")
        done = w.label()
        labels = [w.label() for _ in run.steps]
        cases = " ".join(f"i64 {k}, label %{label}" for k, label in enumerate(labels))
        w.do(f"switch i64 {constants}, label %{done} [{cases}]")
        for k, (label, step) in enumerate(zip(labels, run.steps, strict=True)):
            w.open(label)
            if step is not None:
                w.do(f"call void @{name.replace('pass', 'step')}_{k}(ptr %data, ptr %work, ptr {row})")
            w.do(f"br label %{done}")
        w.open(done)

    _loop(w, "%bodies", body)
    w.do("ret void")
    return w.text(f"define internal void @{name}(i64 %bodies, ptr %table, ptr %data, ptr %work) noinline nounwind")


def _loop(w: Writer, count: str, body: Callable[[str], None]) -> None:
    """`body` for each index from 0 to `count` − 1."""

    def plain(index: str, carried: str) -> str:
        body(index)
        return carried

    _carry(w, count, plain, w.lanes.number(0.0))


def _carry(w: Writer, count: str, body: Callable[[str, str], str], start: str) -> str:
    """What `body(index, value)` makes of `start`, a T, when it has been called for each index from 0 to `count` − 1."""
    before, loop, latch, after = w.block, w.label(), w.label(), w.label()
    index, following, carried = (f"%{loop}.{what}" for what in ("index", "next", "carried"))
    t = w.lanes.type
    w.do(f"br i1 {w.let(f'icmp sgt i64 {count}, 0')}, label %{loop}, label %{after}")
    w.open(loop)
    w.do(f"{index} = phi i64 [0, %{before}], [{following}, %{latch}]")
    place = len(w.lines)  # the value that comes round names what the loop computes, so it is written last
    result = body(index, carried)
    w.lines.insert(place, f"  {carried} = phi {t} [{start}, %{before}], [{result}, %{latch}]")
    w.do(f"br label %{latch}")
    w.open(latch)
    w.do(f"{following} = add i64 {index}, 1")
    w.do(f"br i1 {w.let(f'icmp slt i64 {following}, {count}')}, label %{loop}, label %{after}")
    w.open(after)
    return w.let(f"phi {t} [{start}, %{before}], [{result}, %{latch}]")


# one block of samples ------------------------------------------------------------------------------------------------


def _load_context(w: Writer, what: str, kind: str = "ptr") -> str:
    return w.let(f"load {kind}, ptr getelementptr (i64, ptr @context, i64 {CONTEXT.index(what)}), align 8")


def _element(w: Writer, kind: str, pointer: str, index: int | str) -> str:
    return w.let(f"load {kind}, ptr {w.let(f'getelementptr {kind}, ptr {pointer}, i64 {index}')}, align 4")


def _place(w: Writer, places: str, index: int | str) -> str:
    """The place that entry `index` of an int32 array names, as int64."""
    return w.let(f"sext i32 {_element(w, 'i32', places, index)} to i64")


def _sample(recursion: Recursion, inputs: int, outputs: int, lanes: Lanes) -> str:
    """void sample(double **in, double **out, T *work, T *seen, double *flat): one row pointer per group and lane.

    Zero times every input is added to `seen`; `flat` is null or has all inputs of the one sample side by side.
    """
    w = Writer(lanes)
    for g in range(inputs):
        _gather(w, g)
    if recursion.springs > 0:
        _springs(w, 1)
    if lanes.width == 1:
        _loads(w)
    if recursion.power:
        _power(w)
    bodies, table, data = _load_context(w, "bodies", "i64"), _load_context(w, "table"), _load_context(w, "data")
    for k in range(len(recursion.passes)):
        _presets(w)
        w.do(f"call void @pass_{k}(i64 {bodies}, ptr {table}, ptr {data}, ptr %work)")
    if recursion.springs < 0:
        _springs(w, -1)
    for k in range(outputs):
        _scatter(w, k)
    w.do("ret void")
    return w.text("define internal void @sample(ptr %in, ptr %out, ptr %work, ptr %seen, ptr %flat) noinline nounwind")


def _table_of(w: Writer, what: str, group: int) -> tuple[str, str]:
    """(how many numbers, where each is) of a group of inputs or outputs."""
    entries = _load_context(w, what)
    return _element(w, "i64", entries, 2 * group), _element(w, "ptr", entries, 2 * group + 1)


def _gather(w: Writer, group: int) -> None:
    count, places = _table_of(w, "inputs", group)
    width = w.lanes.width
    rows = [_element(w, "ptr", "%in", group * width + lane) for lane in range(width)]

    def one(index: str, seen: str) -> str:
        scalars = [_element(w, "double", row, index) for row in rows]
        x = scalars[0] if width == 1 else "poison"
        if width > 1:
            for lane, scalar in enumerate(scalars):
                x = w.let(f"insertelement {w.lanes.type} {x}, double {scalar}, i32 {lane}")
        w.store(x, "%work", _place(w, places, index))
        return w.fma(x, w.lanes.number(0.0), seen)

    w.store(_carry(w, count, one, w.load("%seen", 0)), "%seen", 0)


def _scatter(w: Writer, group: int) -> None:
    count, places = _table_of(w, "outputs", group)
    width = w.lanes.width
    rows = [_element(w, "ptr", "%out", group * width + lane) for lane in range(width)]

    def one(index: str) -> None:
        x = w.load("%work", _place(w, places, index))
        for lane, row in enumerate(rows):
            scalar = x if width == 1 else w.let(f"extractelement {w.lanes.type} {x}, i32 {lane}")
            w.do(f"store double {scalar}, ptr {w.let(f'getelementptr double, ptr {row}, i64 {index}')}, align 8")

    _loop(w, count, one)


def _presets(w: Writer) -> None:
    places, values = _load_context(w, "preset_places"), _load_context(w, "preset_values")

    def one(index: str) -> None:
        w.store(_spread(w, _element(w, "double", values, index)), "%work", _place(w, places, index))

    _loop(w, _load_context(w, "presets", "i64"), one)


def _springs(w: Writer, sign: int) -> None:
    """Add sign (−stiffness (q − rest) − damping u) to efforts."""
    places, values = _load_context(w, "spring_places"), _load_context(w, "spring_values")

    def one(index: str) -> None:
        first = w.let(f"mul i64 {index}, 3")
        at = [_place(w, places, w.let(f"add i64 {first}, {i}")) for i in range(3)]
        constants = w.let(f"getelementptr double, ptr {values}, i64 {first}")
        stiffness, rest, damping = (_constant(w, constants, i) for i in range(3))
        stretch = w.binary("fsub", w.load("%work", at[1]), rest)
        pull = w.fma(damping, w.load("%work", at[2]), w.binary("fmul", stiffness, stretch))
        effort = w.load("%work", at[0])
        w.store(w.binary("fsub" if sign > 0 else "fadd", effort, pull), "%work", at[0])

    _loop(w, _load_context(w, "springs", "i64"), one)


def _loads(w: Writer) -> None:
    """Add the efforts that the program `loads` computes, where there is one and the inputs stand side by side."""
    program, count, places = (
        _load_context(w, "loads"),
        _load_context(w, "load_count", "i64"),
        _load_context(w, "load_places"),
    )
    there, after = w.label(), w.label()
    both = w.let(f"and i1 {w.let(f'icmp ne ptr {program}, null')}, {w.let('icmp ne ptr %flat, null')}")
    w.do(f"br i1 {both}, label %{there}, label %{after}")
    w.open(there)
    room = w.let(f"call ptr @malloc(i64 {w.let(f'mul i64 {count}, 8')})")
    w.do(f"call void {program}(ptr %flat, ptr {room})")

    def one(index: str) -> None:
        place = _place(w, places, index)
        w.store(w.binary("fadd", w.load("%work", place), w.load(room, index)), "%work", place)

    _loop(w, count, one)
    w.do(f"call void @free(ptr {room})")
    w.do(f"br label %{after}")
    w.open(after)


def _power(w: Writer) -> None:
    """The sum of efforts times speeds."""
    places = _load_context(w, "power_places")

    def one(index: str, total: str) -> str:
        first = w.let(f"mul i64 {index}, 2")
        effort = w.load("%work", _place(w, places, first))
        speed = w.load("%work", _place(w, places, w.let(f"add i64 {first}, 1")))
        return w.fma(effort, speed, total)

    total = _carry(w, _load_context(w, "speeds", "i64"), one, w.lanes.number(0.0))
    w.store(total, "%work", _load_context(w, "power", "i64"))


# samples -------------------------------------------------------------------------------------------------------------


def _take_work(w: Writer) -> tuple[str, str]:
    """(a workspace, whether it is the owner's): the owner's if no other caller has it, else a new one."""
    busy = f"getelementptr (i64, ptr @context, i64 {CONTEXT.index('busy')})"
    taken = w.let(f"cmpxchg ptr {busy}, i64 0, i64 1 acquire monotonic")
    mine = w.let(f"extractvalue {{ i64, i1 }} {taken}, 1")
    first, fresh, other = w.block, w.label(), w.label()
    shared = _load_context(w, "work")
    w.do(f"br i1 {mine}, label %{other}, label %{fresh}")
    w.open(fresh)
    size = _load_context(w, "bytes", "i64")
    made = w.let(f"call ptr @malloc(i64 {size})")
    w.do(f"br label %{other}")
    w.open(other)
    return w.let(f"phi ptr [{shared}, %{first}], [{made}, %{fresh}]"), mine


def _release_memory(w: Writer, work: str, mine: str) -> None:
    own, made, after = w.label(), w.label(), w.label()
    w.do(f"br i1 {mine}, label %{own}, label %{made}")
    w.open(own)
    busy = f"getelementptr (i64, ptr @context, i64 {CONTEXT.index('busy')})"
    w.do(f"store atomic i64 0, ptr {busy} release, align 8")
    w.do(f"br label %{after}")
    w.open(made)
    w.do(f"call void @free(ptr {work})")
    w.do(f"br label %{after}")
    w.open(after)


def _batch(inputs: int, outputs: int, lanes: Lanes) -> str:
    """The loop over samples; spare lanes of the last block repeat the last sample."""
    w = Writer(lanes)
    t, width = lanes.type, lanes.width
    seen = w.let(f"alloca {t}, align {8 * width}")
    w.store(lanes.number(0.0), seen, 0)
    rows_in = w.let(f"alloca [{max(1, inputs * width)} x ptr], align 8")
    rows_out = w.let(f"alloca [{max(1, outputs * width)} x ptr], align 8")
    work, mine = _take_work(w)
    final = w.let("sub i64 %n, 1")
    blocks = w.let(f"sdiv i64 {w.let(f'add i64 %n, {width - 1}')}, {width}")
    sources = [(_element(w, "ptr", "%in", g), _element(w, "i64", "%in_stride", g)) for g in range(inputs)]
    targets = [(_element(w, "ptr", "%out", k), _table_of(w, "outputs", k)[0]) for k in range(outputs)]

    def one(index: str) -> None:
        first = w.let(f"mul i64 {index}, {width}")
        for lane in range(width):
            sample = w.let(f"call i64 @llvm.smin.i64(i64 {w.let(f'add i64 {first}, {lane}')}, i64 {final})")
            for rows, pairs in ((rows_in, sources), (rows_out, targets)):
                for g, (pointer, stride) in enumerate(pairs):
                    row = w.let(f"getelementptr double, ptr {pointer}, i64 {w.let(f'mul i64 {sample}, {stride}')}")
                    place = w.let(f"getelementptr ptr, ptr {rows}, i64 {g * width + lane}")
                    w.do(f"store ptr {row}, ptr {place}, align 8")
        w.do(f"call void @sample(ptr {rows_in}, ptr {rows_out}, ptr {work}, ptr {seen}, ptr null)")

    _loop(w, blocks, one)
    _release_memory(w, work, mine)
    bad = w.let(f"fcmp uno {t} {w.load(seen, 0)}, {lanes.number(0.0)}")
    if width > 1:
        bits = w.let(f"bitcast {lanes.vector_type('i1')} {bad} to i{width}")
        bad = w.let(f"icmp ne i{width} {bits}, 0")
    w.do(f"ret i64 {w.let(f'zext i1 {bad} to i64')}")
    return w.text("define i64 @batch(i64 %n, ptr %in, ptr %in_stride, ptr %out) nounwind")


def _checking_entry(inputs: int, outputs: int) -> str:
    w = Writer(Lanes(1, fma=False))
    seen = w.let("alloca double, align 8")
    w.store(w.lanes.number(0.0), seen, 0)
    rows = []
    for what, count, pointer in (("inputs", inputs, "%in"), ("outputs", outputs, "%out")):
        starts = w.let(f"alloca [{max(1, count)} x ptr], align 8")
        for g in range(count):
            w.do(f"store ptr {pointer}, ptr {w.let(f'getelementptr ptr, ptr {starts}, i64 {g}')}, align 8")
            pointer = w.let(f"getelementptr double, ptr {pointer}, i64 {_table_of(w, what, g)[0]}")
        rows.append(starts)
    work, mine = _take_work(w)
    w.do(f"call void @sample(ptr {rows[0]}, ptr {rows[1]}, ptr {work}, ptr {seen}, ptr %in)")
    _release_memory(w, work, mine)
    bad = w.let(f"fcmp uno double {w.load(seen, 0)}, {w.lanes.number(0.0)}")
    w.do(f"ret i64 {w.let(f'zext i1 {bad} to i64')}")
    return w.text("define i64 @checked(ptr %in, ptr %out) nounwind")


def _flat() -> str:
    w = Writer(Lanes(1, fma=False))
    w.let("call i64 @checked(ptr %in, ptr %out)")
    w.do("ret void")
    return w.text("define void @flat(ptr %in, ptr %out) nounwind")


def _unit() -> str:
    w = Writer(Lanes(1, fma=False))
    state = w.let("getelementptr double, ptr %in, i64 1")
    places = _load_context(w, "quaternion_places")
    _loop(w, _load_context(w, "states", "i64"), lambda i: w.store(w.load(state, i), "%out", i))

    def one(index: str) -> None:
        first = w.let(f"mul i64 {index}, 4")
        at = [_place(w, places, w.let(f"add i64 {first}, {i}")) for i in range(4)]
        parts = [w.load("%out", i) for i in at]
        squares = [w.binary("fmul", x, x) for x in parts]
        total = w.binary("fadd", w.binary("fadd", squares[0], squares[1]), w.binary("fadd", squares[2], squares[3]))
        norm = w.call("sqrt", total)
        for i, x in zip(at, parts, strict=True):
            w.store(w.binary("fdiv", x, norm), "%out", i)

    _loop(w, _load_context(w, "quaternions", "i64"), one)
    w.do("ret void")
    return w.text("define void @unit(ptr %in, ptr %out) nounwind")


__all__ = ["CONTEXT", "module"]
