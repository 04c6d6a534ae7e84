"""LLVM text, one instruction at a time: `Lanes` is the type that instructions work on, `Writer` the function's body."""

from __future__ import annotations

import re
import struct
from dataclasses import dataclass, field

STACK = 64 * 1024
"""Bytes that one array may take from the stack; more comes from the heap, since threads may have small stacks."""


@dataclass(frozen=True, slots=True)
class Lanes:
    """The type T of all values: how many samples are computed at once, and whether the machine fuses multiply-add.

    Without `heap` all memory that a function works in comes from the stack.
    """

    width: int
    fma: bool
    heap: bool = True
    type: str = field(init=False)
    suffix: str = field(init=False)
    """The type's name in the name of an intrinsic."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "type", self.vector_type("double"))
        object.__setattr__(self, "suffix", "f64" if self.width == 1 else f"v{self.width}f64")

    def vector_type(self, scalar: str) -> str:
        """The type that has a `scalar` in each lane."""
        return scalar if self.width == 1 else f"<{self.width} x {scalar}>"

    def all(self, scalar: str, value: str) -> str:
        """The constant with the same `value` in each lane."""
        return value if self.width == 1 else "<" + ", ".join([f"{scalar} {value}"] * self.width) + ">"

    def number(self, value: float) -> str:
        """The float64 `value` in each lane, exact to the bit."""
        return self.all("double", hexadecimal(value))


_BITS = re.compile("0x[0-9A-F]{16}")


def hexadecimal(value: float) -> str:
    """A float64 as LLVM writes it: the 16 hexadecimal digits of its bits."""
    return f"0x{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"


@dataclass(slots=True)
class Writer:
    """The growing body of one function; values and labels are numbered as they come."""

    lanes: Lanes
    lines: list[str] = field(default_factory=list)
    names: int = 0
    block: str = "start"
    negatives: dict[str, str] = field(default_factory=dict)

    def let(self, instruction: str) -> str:
        """The name of the value that `instruction` computes."""
        self.names += 1
        name = f"%v{self.names}"
        self.lines.append(f"  {name} = {instruction}")
        return name

    def do(self, instruction: str) -> None:
        self.lines.append("  " + instruction)

    def label(self) -> str:
        """A new label, to be opened by `open`."""
        self.names += 1
        return f"b{self.names}"

    def open(self, label: str) -> None:
        self.lines.append(f"{label}:")
        self.block = label

    def binary(self, op: str, x: str, y: str) -> str:
        return self.let(f"{op} {self.lanes.type} {x}, {y}")

    def negate(self, x: str) -> str:
        """−x, computed once; of a number it is another number."""
        if self.is_number(x):
            return _BITS.sub(lambda bits: f"0x{int(bits[0], 16) ^ 1 << 63:016X}", x)
        if x not in self.negatives:
            self.negatives[x] = self.let(f"fneg {self.lanes.type} {x}")
        return self.negatives[x]

    def has_negative(self, x: str) -> bool:
        """Whether −x costs nothing."""
        return x in self.negatives or self.is_number(x)

    def is_number(self, x: str) -> bool:
        return not x.startswith("%")

    def call(self, intrinsic: str, *args: str) -> str:
        """The value of `llvm.intrinsic` of arguments of type T."""
        t = self.lanes.type
        return self.let(f"call {t} @llvm.{intrinsic}.{self.lanes.suffix}({', '.join(f'{t} {a}' for a in args)})")

    def fma(self, x: str, y: str, z: str) -> str:
        """x y + z, rounded once if the machine can, else twice."""
        if self.lanes.fma:
            t = self.lanes.type
            return self.let(f"call {t} @llvm.fma.{self.lanes.suffix}({t} {x}, {t} {y}, {t} {z})")
        return self.binary("fadd", self.binary("fmul", x, y), z)

    def at(self, pointer: str, index: int | str) -> str:
        """The address of element `index`, a number or the name of one, of an array of T."""
        return pointer if index == 0 else self.let(f"getelementptr {self.lanes.type}, ptr {pointer}, i64 {index}")

    def load(self, pointer: str, index: int | str) -> str:
        return self.let(f"load {self.lanes.type}, ptr {self.at(pointer, index)}, align 8")

    def store(self, value: str, pointer: str, index: int | str) -> None:
        self.do(f"store {self.lanes.type} {value}, ptr {self.at(pointer, index)}, align 8")

    def reserve(self, count: int) -> str:
        """The address of room for `count` values of type T, to be let go by `release`."""
        if self._from_heap(count):
            size = count * self.lanes.width * 8
            return self.let(f"call ptr @malloc(i64 {size})")
        return self.let(f"alloca [{max(count, 1)} x {self.lanes.type}], align {self.lanes.width * 8}")

    def release(self, pointer: str, count: int) -> None:
        if self._from_heap(count):
            self.do(f"call void @free(ptr {pointer})")

    def _from_heap(self, count: int) -> bool:
        return self.lanes.heap and count * self.lanes.width * 8 > STACK

    def text(self, head: str) -> str:
        return "\n".join([head + " {", "start:", *self.lines, "}\n"])
