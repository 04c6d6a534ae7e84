"""The loop over a batch as LLVM text: samples gathered into lanes, computed, scattered.

  int64 name(int64 n, const double *const *in, const int64 *in_stride, double *const *out)

The last block of a batch that does not divide by the number of lanes repeats the last sample in its spare lanes and
stores it again: the same bits to the same place. So there is no second code for the remainder, and a sample's result
does not depend on where in the batch it stands. Every input is multiplied by zero and summed on the way, which is nan
if and only if one of them is not finite; the function returns 1 then, else 0.
"""

from __future__ import annotations

from ...graph import Program
from .writer import Lanes, Writer


def batch_loop(program: Program, lanes: Lanes, name: str, body: str) -> str:
    """The text of the batch function that calls `body(T *in, T *out, T *tmp)` once per block of samples."""
    w = Writer(lanes)
    t = lanes.type
    vin = w.let(f"alloca [{max(program.input_count, 1)} x {t}], align {lanes.width * 8}")
    vout = w.let(f"alloca [{max(program.output_count, 1)} x {t}], align {lanes.width * 8}")
    sources = [(_element(w, "ptr", "%in", g), _element(w, "i64", "%in_stride", g)) for g in range(len(program.inputs))]
    targets = [_element(w, "ptr", "%out", k) for k in range(len(program.outputs))]
    final = w.let("sub i64 %n, 1")
    before, loop, done = w.block, w.label(), w.label()
    w.do(f"br i1 {w.let('icmp sgt i64 %n, 0')}, label %{loop}, label %{done}")
    w.open(loop)
    w.do(f"%i = phi i64 [0, %{before}], [%next, %{loop}]")
    w.do(f"%seen = phi {t} [zeroinitializer, %{before}], [%sum, %{loop}]")
    samples = [_clamped(w, k, final) for k in range(lanes.width)]
    total, slot = "%seen", 0
    for group, (pointer, stride) in zip(program.inputs, sources, strict=True):
        rows = [_row(w, pointer, w.let(f"mul i64 {s}, {stride}")) for s in samples] if group.labels else []
        for c in range(len(group)):
            x = _gathered(w, rows, c)
            total = w.fma(x, lanes.number(0.0), total)
            w.store(x, vin, slot)
            slot += 1
    w.do(f"%sum = fadd {t} {total}, {lanes.number(-0.0)}")
    w.do(f"call void @{body}(ptr {vin}, ptr {vout}, ptr null)")
    place = 0
    for out, pointer in zip(program.outputs, targets, strict=True):
        rows = [_row(w, pointer, w.let(f"mul i64 {s}, {len(out.slots)}")) for s in samples] if out.slots else []
        for c in range(len(out.slots)):
            _scattered(w, w.load(vout, place), rows, c)
            place += 1
    w.do(f"%next = add i64 %i, {lanes.width}")
    w.do(f"br i1 {w.let('icmp slt i64 %next, %n')}, label %{loop}, label %{done}")
    w.open(done)
    w.do(f"%last = phi {t} [zeroinitializer, %{before}], [%sum, %{loop}]")
    bad = w.let(f"fcmp uno {t} %last, {lanes.number(0.0)}")
    if lanes.width > 1:
        bits = w.let(f"bitcast {lanes.like('i1')} {bad} to i{lanes.width}")
        bad = w.let(f"icmp ne i{lanes.width} {bits}, 0")
    w.do(f"ret i64 {w.let(f'zext i1 {bad} to i64')}")
    return w.text(f"define i64 @{name}(i64 %n, ptr %in, ptr %in_stride, ptr %out) nounwind")


def _element(w: Writer, kind: str, pointer: str, index: int) -> str:
    return w.let(f"load {kind}, ptr {w.let(f'getelementptr {kind}, ptr {pointer}, i64 {index}')}, align 8")


def _clamped(w: Writer, lane: int, final: str) -> str:
    """The sample of a lane: i + lane, but not beyond the last one."""
    return w.let(f"call i64 @llvm.smin.i64(i64 {w.let(f'add i64 %i, {lane}')}, i64 {final})")


def _row(w: Writer, pointer: str, offset: str) -> str:
    return w.let(f"getelementptr double, ptr {pointer}, i64 {offset}")


def _gathered(w: Writer, rows: list[str], column: int) -> str:
    """Element `column` of each row, one per lane."""
    scalars = [w.let(f"load double, ptr {_row(w, row, str(column))}, align 8") for row in rows]
    if w.lanes.width == 1:
        return scalars[0]
    vector = "poison"
    for i, x in enumerate(scalars):
        vector = w.let(f"insertelement {w.lanes.type} {vector}, double {x}, i32 {i}")
    return vector


def _scattered(w: Writer, vector: str, rows: list[str], column: int) -> None:
    for i, row in enumerate(rows):
        x = vector if w.lanes.width == 1 else w.let(f"extractelement {w.lanes.type} {vector}, i32 {i}")
        w.do(f"store double {x}, ptr {_row(w, row, str(column))}, align 8")
