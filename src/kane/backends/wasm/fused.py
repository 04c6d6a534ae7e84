"""x y + z with one rounding, for a machine that has no such instruction: the bits of a native run in WebAssembly.

The product is exact as a sum of two, x y = p + q (Dekker's, with Veltkamp's splitting), and so is p + z = h + l. What
is left is h + (l + q). With t the rounded sum of l and q, l + q is between t − m and t + m for m = 2⁻⁵² |t|, a unit of
its last place or more; rounding is monotone, so where h + (t − m) and h + (t + m) round to the same number, that is it.

Elsewhere, which is rare, all is added exactly but for what is rounded to odd, so that the last rounding is the only one
that counts [BM08]. Both hold while nothing overflows or is subnormal; outside these bounds product and sum round one by
one, where the smaller of them is beyond the last digit of the other, or both are beyond any use.

Relaxed SIMD has a product and sum of which a browser may choose whether it rounds once. Where it does, a page puts that
instruction in the place of this function before it loads a module (`web/src/fused.ts`).
"""

from __future__ import annotations

import re
import struct

NAME = "fused"
"""Of the function `double fused(double x, double y, double z)`."""

_RARE = f"{NAME}_rare"

_LEAST, _LARGEST = 2.0**-900, 2.0**900
"""Sizes of a product between which its halves are neither subnormal nor too large to be split."""

_SPLIT = 2.0**27 + 1.0
_DIGIT = 2.0**-52


def _number(value: float) -> str:
    """A double as LLVM writes it, exactly."""
    return "0x" + struct.pack(">d", value).hex().upper()


def _two_sum(x: str, y: str, to: str) -> list[str]:
    """Lines that set %{to}h, the rounded sum, and %{to}l, what it misses."""
    return [
        f"%{to}h = fadd double %{x}, %{y}",
        f"%{to}a = fsub double %{to}h, %{y}",
        f"%{to}b = fsub double %{to}h, %{to}a",
        f"%{to}c = fsub double %{x}, %{to}a",
        f"%{to}d = fsub double %{y}, %{to}b",
        f"%{to}l = fadd double %{to}c, %{to}d",
    ]


def _split(x: str) -> list[str]:
    """Lines that set %{x}h and %{x}l, halves of the digits of x."""
    return [
        f"%{x}s = fmul double %{x}, {_number(_SPLIT)}",
        f"%{x}t = fsub double %{x}s, %{x}",
        f"%{x}h = fsub double %{x}s, %{x}t",
        f"%{x}l = fsub double %{x}, %{x}h",
    ]


def _exact_product() -> list[str]:
    """Lines that set %q so that x y = p + q, with %p the rounded product."""
    lines = [*_split("x"), *_split("y")]
    lines += ["%hh = fmul double %xh, %yh", "%e1 = fsub double %hh, %p", "%hl = fmul double %xh, %yl"]
    lines += ["%e2 = fadd double %e1, %hl", "%lh = fmul double %xl, %yh", "%e3 = fadd double %e2, %lh"]
    return [*lines, "%ll = fmul double %xl, %yl", "%q = fadd double %e3, %ll"]


def _function(name: str, lines: list[str]) -> str:
    """A function of x, y and z."""
    head = f"define internal double @{name}(double %x, double %y, double %z)"
    body = "\n".join(f"  {line}" if not line.endswith(":") else line for line in lines)
    return f"{head} nounwind noinline {{\n{body}\n}}\n"


def _definition() -> str:
    """The text of the function, and of the one that it calls where two numbers may be the right one."""
    lines = ["%p = fmul double %x, %y", "%size = call double @llvm.fabs.f64(double %p)"]
    lines += [f"%small = fcmp olt double %size, {_number(_LARGEST)}"]
    lines += [f"%some = fcmp ogt double %size, {_number(_LEAST)}", "%ok = and i1 %small, %some"]
    lines += ["br i1 %ok, label %exact, label %plain", "plain:", "%two = fadd double %p, %z", "ret double %two"]
    lines += ["exact:", *_exact_product(), *_two_sum("p", "z", "v")]
    lines += ["%t = fadd double %vl, %q", "%part = call double @llvm.fabs.f64(double %t)"]
    lines += [f"%m = fmul double %part, {_number(_DIGIT)}", "%t0 = fsub double %t, %m", "%t1 = fadd double %t, %m"]
    lines += ["%low = fadd double %vh, %t0", "%high = fadd double %vh, %t1"]
    lines += ["%same = fcmp oeq double %low, %high", "br i1 %same, label %done, label %doubt"]
    lines += [
        "done:",
        "ret double %low",
        "doubt:",
        f"%rare = call double @{_RARE}(double %x, double %y, double %z)",
        "ret double %rare",
    ]
    return _function(NAME, lines) + _rare_definition()


def _rare_definition() -> str:
    """The text of the function that rounds to odd."""
    lines = ["%p = fmul double %x, %y", *_exact_product()]
    lines += [*_two_sum("z", "q", "u"), *_two_sum("p", "uh", "v"), *_two_sum("ul", "vl", "w")]
    lines += ["%bits = bitcast double %wh to i64", "%last = and i64 %bits, 1", "%even = icmp eq i64 %last, 0"]
    lines += ["%left = fcmp one double %wl, 0.0", "%turn = and i1 %even, %left", "%up = fcmp ogt double %wl, 0.0"]
    lines += ["%plus = fcmp ogt double %wh, 0.0", "%apart = xor i1 %up, %plus", "%by = select i1 %apart, i64 -1, i64 1"]
    lines += ["%moved = add i64 %bits, %by", "%odd = select i1 %turn, i64 %moved, i64 %bits"]
    lines += ["%rest = bitcast i64 %odd to double", "%sum = fadd double %vh, %rest"]
    # a factor or z that is too large has become nan in the halves
    lines += ["%good = fcmp ord double %sum, 0.0", "br i1 %good, label %done, label %plain"]
    lines += ["plain:", "%two = fadd double %p, %z", "ret double %two", "done:", "ret double %sum"]
    return _function(_RARE, lines)


def _group_definition(count: int) -> str:
    """The function for a vector of so many: one by one."""
    kind = f"<{count} x double>"
    lines = [f"define internal {kind} @{NAME}{count}({kind} %x, {kind} %y, {kind} %z) nounwind alwaysinline {{"]
    last = "undef"
    for i in range(count):
        lines += [f"  %{name}{i} = extractelement {kind} %{name}, i32 {i}" for name in "xyz"]
        lines.append(f"  %r{i} = call double @{NAME}(double %x{i}, double %y{i}, double %z{i})")
        lines.append(f"  %v{i} = insertelement {kind} {last}, double %r{i}, i32 {i}")
        last = f"%v{i}"
    return "\n".join([*lines, f"  ret {kind} {last}", "}\n"])


def replace_fma(text: str) -> str:
    """LLVM text in which calls of the intrinsic are calls of this function."""
    groups = sorted({int(count) for count in re.findall(r"@llvm\.fma\.v(\d+)f64\(", text)})
    if not groups and "@llvm.fma.f64(" not in text:
        return text
    text = re.sub(r"^declare [^\n]*@llvm\.fma\.(?:v\d+)?f64\([^\n]*\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"@llvm\.fma\.v(\d+)f64\(", rf"@{NAME}\1(", text).replace("@llvm.fma.f64(", f"@{NAME}(")
    needed = "" if "@llvm.fabs.f64(double)" in text else "declare double @llvm.fabs.f64(double)\n"
    return text + needed + _definition() + "".join(map(_group_definition, groups))


__all__ = ["NAME", "replace_fma"]
