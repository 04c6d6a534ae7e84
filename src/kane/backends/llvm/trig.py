"""Sine and cosine as LLVM text: one reduction, two polynomials, a test for huge arguments.

  k = nearest integer to 2x/π,   r = ((x − k P1) − k P2) − k P3   with P1 + P2 + P3 = π/2 to 160 bits   (Cody–Waite)
  sin r = r + r³ S(r²),   cos r = 1 + r² (−1/2 + r² C(r²)),   quadrant k mod 4 swaps and signs them.

With fused multiply-add the first step of the reduction is exact: k P1 is a multiple of 2⁻⁵², and so is x once
|x| ≥ 1. The two others round once each, so r carries at most one unit in the last place whatever x is, and the results
stay within two. Without it the first two parts of π/2 have 33 bits each, so that their products with k are exact up to
|x| = 2²⁰, and so are the differences but for one rounding each. Arguments beyond the bound (`argument_bound`) go to the
C library, lane by lane, so that a sample's result does not depend on its neighbours.

The coefficients interpolate (sin r / r − 1)/r² and (cos r − 1 + r²/2)/r⁴ at the Chebyshev nodes of r² on [0, (π/4)²];
their error is below 2⁻⁵⁵ in either function.
"""

from __future__ import annotations

from collections.abc import Sequence

from .writer import Lanes, Writer

BOUND = 2.0**30
"""Largest argument of the inline reduction: 2x/π then has an error of at most 2⁻²², so |r| stays within the fit."""

BOUND_UNFUSED = 2.0**20
"""The same without fused multiply-add: k has 20 bits, and 33 + 20 bits are exact."""

_TWO_OVER_PI = 0.6366197723675814
_HALF_PI = (1.5707963267948966, 6.123233995736766e-17, -1.4973849048591698e-33)
_HALF_PI_UNFUSED = (1.5707963267341256, 6.077100506303966e-11, 2.0222662487959506e-21)  # 33, 33 and 53 bits
_ROUND = 1.5 * 2.0**52  # adding it leaves the nearest integer in the low bits of the sum
_SINE = (
    -0.16666666666666666,
    0.008333333333330946,
    -0.0001984126983675497,
    2.755731610068303e-06,
    -2.5051131455427946e-08,
    1.591810123027412e-10,
)
_COSINE = (
    0.041666666666666664,
    -0.0013888888888887395,
    2.4801587298763433e-05,
    -2.7557317270560326e-07,
    2.0876146024689747e-09,
    -1.1382614868556325e-11,
)


def argument_bound(lanes: Lanes) -> float:
    """The largest argument of the inline reduction."""
    return BOUND if lanes.fma else BOUND_UNFUSED


def sine_cosine(w: Writer, angles: Sequence[str], *, alone: bool = False) -> list[tuple[str, str]]:
    """The pairs (sin x, cos x) of `angles`; one branch for huge arguments serves them all. If `alone`, there is one
    angle in one lane: it is the one that is huge there."""
    lanes = w.lanes
    t, mask = lanes.type, lanes.vector_type("i1")
    quick = [_inline(w, x) for x in angles]
    huge = ""
    for x in angles:
        this = w.let(f"fcmp uge {t} {w.call('fabs', x)}, {lanes.number(argument_bound(lanes))}")
        huge = w.let(f"or {mask} {huge}, {this}") if huge else this
    if lanes.width > 1:
        bits = w.let(f"bitcast {mask} {huge} to i{lanes.width}")
        huge = w.let(f"icmp ne i{lanes.width} {bits}, 0")
    before, rare, usual = w.block, w.label(), w.label()
    w.do(f"br i1 {huge}, label %{rare}, label %{usual}, !prof !0")
    w.open(rare)
    if alone:
        corrected = [(library(w, "sin", angles[0]), library(w, "cos", angles[0]))]
    else:
        corrected = [
            (
                w.let(f"call {t} @sin_mended_{lanes.suffix}({t} {x}, {t} {s})"),
                w.let(f"call {t} @cos_mended_{lanes.suffix}({t} {x}, {t} {c})"),
            )
            for x, (s, c) in zip(angles, quick, strict=True)
        ]
    w.do(f"br label %{usual}")
    w.open(usual)
    return [
        (w.let(f"phi {t} [{s}, %{before}], [{s2}, %{rare}]"), w.let(f"phi {t} [{c}, %{before}], [{c2}, %{rare}]"))
        for (s, c), (s2, c2) in zip(quick, corrected, strict=True)
    ]


def sine_cosine_definition(lanes: Lanes) -> str:
    """The function that `called_sine_cosine` calls."""
    w = Writer(lanes)
    t = lanes.type
    sine, cosine = sine_cosine(w, ["%x"], alone=True)[0]
    half = w.let(f"insertvalue {{{t}, {t}}} poison, {t} {sine}, 0")
    w.do(f"ret {{{t}, {t}}} {w.let(f'insertvalue {{{t}, {t}}} {half}, {t} {cosine}, 1')}")
    return w.text(f"define internal {{{t}, {t}}} @sine_cosine({t} %x) noinline nounwind")


def called_sine_cosine(w: Writer, angles: Sequence[str]) -> list[tuple[str, str]]:
    """As `sine_cosine`, to the bit, by calls of one function: less to translate."""
    t = w.lanes.type
    found = []
    for x in angles:
        pair = w.let(f"call {{{t}, {t}}} @sine_cosine({t} {x})")
        found.append((w.let(f"extractvalue {{{t}, {t}}} {pair}, 0"), w.let(f"extractvalue {{{t}, {t}}} {pair}, 1")))
    return found


def _inline(w: Writer, x: str) -> tuple[str, str]:
    """(sin x, cos x) for |x| below the bound."""
    lanes = w.lanes
    t, number, whole = lanes.type, lanes.number, lanes.vector_type("i64")
    size = w.call("fabs", x)  # sine is odd and cosine even, to the bit: the sign of x is put back at the end
    shifted = w.fma(size, number(_TWO_OVER_PI), number(_ROUND))
    k = w.binary("fsub", shifted, number(_ROUND))
    r = size
    for part in _HALF_PI if lanes.fma else _HALF_PI_UNFUSED:
        r = w.fma(k, number(-part), r)
    z = w.binary("fmul", r, r)
    s, c = number(_SINE[-1]), number(_COSINE[-1])
    for a, b in zip(_SINE[-2::-1], _COSINE[-2::-1], strict=True):
        s, c = w.fma(s, z, number(a)), w.fma(c, z, number(b))
    sine = w.fma(w.binary("fmul", r, z), s, r)
    cosine = w.fma(w.fma(c, z, number(-0.5)), z, number(1.0))
    # the low bits of `shifted` are those of k: bit 0 swaps, bit 1 (of k for sin, of k + 1 for cos) signs
    bits = w.let(f"bitcast {t} {shifted} to {whole}")
    x_bits = w.let(f"bitcast {t} {x} to {whole}")
    x_sign = w.let(f"and {whole} {x_bits}, {lanes.all('i64', str(-(2**63)))}")
    parity = w.let(f"shl {whole} {bits}, {lanes.all('i64', '63')}")
    swap = w.let(f"icmp slt {whole} {parity}, {lanes.all('i64', '0')}")
    mask = lanes.vector_type("i1")
    pair = []
    after = w.let(f"add {whole} {bits}, {lanes.all('i64', '1')}")
    for quadrant, even, odd in ((bits, sine, cosine), (after, cosine, sine)):
        high = w.let(f"and {whole} {quadrant}, {lanes.all('i64', '2')}")
        sign = w.let(f"shl {whole} {high}, {lanes.all('i64', '62')}")
        if quadrant == bits:
            sign = w.let(f"xor {whole} {sign}, {x_sign}")
        value = w.let(f"select {mask} {swap}, {t} {odd}, {t} {even}")
        signed = w.let(f"xor {whole} {w.let(f'bitcast {t} {value} to {whole}')}, {sign}")
        pair.append(w.let(f"bitcast {whole} {signed} to {t}"))
    return pair[0], pair[1]


def library(w: Writer, name: str, *args: str) -> str:
    """The C library's function of `args`, by the function that `library_definition` gives."""
    t = w.lanes.type
    shown = ", ".join(f"{t} {a}" for a in args)
    return w.let(f"call {t} @{name if w.lanes.width == 1 else f'{name}_{w.lanes.suffix}'}({shown})")


def library_definition(name: str, arity: int, lanes: Lanes) -> str:
    """The text that makes `library` calls of `name` possible: its declaration and, for vectors, a call per lane."""
    text = f"declare double @{name}({', '.join(['double'] * arity)}) nounwind\n"
    if lanes.width == 1:
        return text
    w = Writer(lanes)
    t = lanes.type
    result = "poison"
    for i in range(lanes.width):
        scalars = (w.let(f"extractelement {t} %x{k}, i32 {i}") for k in range(arity))
        value = w.let(f"call double @{name}({', '.join(f'double {s}' for s in scalars)})")
        result = w.let(f"insertelement {t} {result}, double {value}, i32 {i}")
    w.do(f"ret {t} {result}")
    parameters = ", ".join(f"{t} %x{k}" for k in range(arity))
    return text + w.text(f"define internal {t} @{name}_{lanes.suffix}({parameters}) noinline nounwind")


def mended_definition(name: str, lanes: Lanes) -> str:
    """`name`_mended(x, y): y where |x| is below the bound, elsewhere what the C library says of x."""
    w = Writer(lanes)
    t, mask = lanes.type, lanes.vector_type("i1")
    huge = w.let(f"fcmp uge {t} {w.call('fabs', '%x')}, {lanes.number(argument_bound(lanes))}")
    exact = library(w, name, "%x")
    w.do(f"ret {t} {w.let(f'select {mask} {huge}, {t} {exact}, {t} %y')}")
    return w.text(f"define internal {t} @{name}_mended_{lanes.suffix}({t} %x, {t} %y) noinline cold nounwind")
