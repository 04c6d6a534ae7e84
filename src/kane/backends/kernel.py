"""A Kernel: a program that can be called on arrays, one sample or a batch, with every input checked.

In come one array per group of inputs that is not empty, in the program's order: shape (n,) for one sample, (batch, n)
for many; a single sample among batches is shared by all of them. Out comes one array per output, of the output's shape
or (batch, *shape); several outputs come as a tuple.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from ..errors import InputError, KaneError, SingularError
from ..graph import Inputs, Program

Floats = NDArray[np.float64]

LANES = 8
"""Samples that the function at `Kernel.lanes_address` computes side by side, on every machine."""


class Code(Protocol):
    """What a backend makes of a program."""

    def run(self, arrays: Sequence[Floats], batch: int) -> tuple[list[Floats], bool]:
        """(each output as (batch, size), whether all inputs were finite).

        `arrays` has one array per group of inputs with contiguous rows: (n,) if shared by all samples, else (batch, n).
        """
        ...

    @property
    def address(self) -> int:
        """Of `void f(const double *in, double *out)`."""
        ...

    @property
    def batch_address(self) -> int:
        """Of the function over a batch, see `docs/architecture.md`."""
        ...


class NoAddress:
    """A backend whose code has no address, since it is not machine code."""

    backend: str

    @property
    def address(self) -> int:
        raise KaneError(
            f"the backend '{self.backend}' makes no machine code, so there is no address\n"
            f"    fix: compile the program with backend='llvm'"
        )

    batch_address = address


def all_finite(arrays: Sequence[Floats]) -> bool:
    """Whether no value is nan or infinite."""
    return all(bool(np.isfinite(a).all()) for a in arrays)


class Call:
    """The checked call of a program, in Python: any arrays, lists or numbers, with errors that say what is wrong."""

    __slots__ = ("code", "program")

    def __init__(self, program: Program, code: Code):
        self.program = program
        self.code = code

    def __call__(self, *arrays: ArrayLike) -> Floats | tuple[Floats, ...]:
        program = self.program
        groups = [g for g in program.inputs if g.labels]
        if len(arrays) != len(groups):
            raise InputError(
                f"program '{program.name}': {len(arrays)} arrays given, {len(groups)} needed\n"
                f"    fix: call it as kernel({', '.join(g.name for g in groups)})"
            )
        given = iter(arrays)
        checked = [_check_input(program, g, next(given)) if g.labels else np.empty(0) for g in program.inputs]
        batch = _batch(program, checked)
        results, finite = self.code.run(checked, 1 if batch is None else batch)
        if not finite:
            raise _not_finite(program, checked)
        if batch is None and not all_finite(results):
            raise _singular(program, results)
        lead = () if batch is None else (batch,)
        shaped = tuple(r.reshape(lead + o.shape) for r, o in zip(results, program.outputs, strict=True))
        return shaped[0] if len(shaped) == 1 else shaped


class Kernel:
    """A program ready to run; call it with one array per group of inputs."""

    __slots__ = ("_call", "_code", "_source", "backend", "program")

    program: Program
    backend: str

    if TYPE_CHECKING:

        def __call__(self, *arrays: ArrayLike) -> Any: ...

    def __init__(
        self,
        program: Program,
        backend: str,
        code: Code,
        call: Callable[..., Any] | None = None,
        source: tuple[Any, ...] | None = None,
    ):
        """`source` is a function and its arguments that make such a kernel, where `compile` does not."""
        object.__setattr__(self, "program", program)
        object.__setattr__(self, "_source", source)
        object.__setattr__(self, "backend", backend)
        object.__setattr__(self, "_code", code)
        object.__setattr__(self, "_call", Call(program, code) if call is None else call)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"a kernel does not change: compile another one instead of setting '{name}'")

    @property
    def address(self) -> int:
        """Address of `void f(const double *in, double *out)`: all inputs in order, all outputs in order, no overlap.

        Valid as long as the kernel lives. It does not check its inputs.
        """
        return self._code.address

    @property
    def lanes_address(self) -> int:
        """Address of the same function for LANES samples side by side: input i of sample l is in[LANES * i + l], and so
        are the outputs. Each sample comes out with the bits that it has alone. 0 where a backend has no such function.
        """
        return getattr(self._code, "lanes_address", 0)

    @property
    def batch_address(self) -> int:
        """Address of `int64 f(int64 n, const double *const *in, const int64 *in_stride, double *const *out)`.

        One pointer per group of inputs, `in_stride[g]` doubles from one sample to the next (0 for a group shared by
        all), outputs dense and row-major. Returns 1 if an input was not finite, else 0. Valid while the kernel lives.
        """
        return self._code.batch_address

    def __reduce__(self) -> tuple[Any, ...]:
        """A kernel travels to another process as its program, and is compiled, or found in the cache, there."""
        from . import compile  # the package imports this module first

        return self._source or (compile, (self.program, self.backend))

    def __repr__(self) -> str:
        groups = ", ".join(f"{g.name} ({len(g)})" for g in self.program.inputs if g.labels)
        outputs = ", ".join(f"{o.name} {o.shape}" for o in self.program.outputs)
        return f"<Kernel '{self.program.name}' by {self.backend}: {groups} -> {outputs}, {len(self.program.rows)} rows>"


# To call a kernel is to call what is in its slot, machine code where the backend has that, with no frame in between.
Kernel.__call__ = Kernel._call  # pyright: ignore[reportAttributeAccessIssue]


def _check_input(program: Program, group: Inputs, given: ArrayLike) -> Floats:
    """`given` as float64 of shape (n,) or (batch, n) with contiguous rows."""
    n = len(group)
    where = f"program '{program.name}', input '{group.name}'"
    try:
        array = np.asarray(given)
        if array.dtype != np.float64:
            array = array.astype(np.float64, casting="same_kind" if array.dtype.kind == "f" else "safe")
    except (TypeError, ValueError):
        raise InputError(
            f"{where}: {_describe_value(given)} was given, {_describe_group(group)} needed as real numbers\n"
            f"    fix: pass an array of float64 of shape ({n},) for one sample or (batch, {n}) for many"
        ) from None
    if array.ndim == 0 and n == 1:
        array = array.reshape(1)
    if array.ndim not in (1, 2) or array.shape[-1] != n:
        fix = f"pass shape ({n},) for one sample or (batch, {n}) for many"
        if array.ndim == 2 and array.shape[0] == n:
            fix += "; transposing it would fit"
        elif n == 1 and array.ndim == 1:
            fix += "; a batch of numbers x is x[:, None]"
        raise InputError(f"{where}: shape {array.shape} was given, {_describe_group(group)} needed\n    fix: {fix}")
    if array.strides[-1] != 8 or array.strides[0] % 8 or not array.flags.aligned:
        array = np.ascontiguousarray(array)
    return array


def _describe_group(group: Inputs) -> str:
    if len(group) == 1:
        return f"one value, {group.labels[0]}, is"
    shown = ", ".join(group.labels) if len(group) <= 12 else f"{group.labels[0]} … {group.labels[-1]}"
    return f"{len(group)} values, {shown}, are"


def _describe_value(given: object) -> str:
    kind = getattr(given, "dtype", None)
    return f"an array of {kind}" if kind is not None else f"{type(given).__name__} {given!r:.60}"


def _batch(program: Program, arrays: Sequence[Floats]) -> int | None:
    """The number of samples, None for a single one."""
    sizes = {g.name: len(a) for g, a in zip(program.inputs, arrays, strict=True) if a.ndim == 2}
    if len(set(sizes.values())) > 1:
        shown = ", ".join(f"'{name}' has {size}" for name, size in sizes.items())
        raise InputError(
            f"program '{program.name}': batches of different size were given: {shown}\n"
            f"    fix: give all the same number of rows, or a single sample of shape (n,) to be shared by all"
        )
    return next(iter(sizes.values()), None)


def _singular(program: Program, results: Sequence[Floats]) -> SingularError:
    """The error that names the first output that is nan or infinite although all inputs are finite."""
    names = [(o.name, k) for o in program.outputs for k in range(len(o.slots))]
    flat = np.concatenate([r.reshape(-1) for r in results])
    (name, k), value = next((n, x) for n, x in zip(names, flat, strict=True) if not np.isfinite(x))
    divisions = sum(row.op == "div" for row in program.rows)
    return SingularError(
        f"program '{program.name}': output '{name}'[{k}] is {value} although all inputs are finite\n"
        f"    because one of its {divisions} divisions, or a function beyond its range, has no finite value there\n"
        f"    fix: move off the singular configuration, or choose speeds that are not singular there; "
        f"in a batch such samples are given back as they are"
    )


def _not_finite(program: Program, arrays: Sequence[Floats]) -> InputError:
    """The error that names the first input that is nan or infinite."""
    for group, array in zip(program.inputs, arrays, strict=True):
        bad = np.argwhere(~np.isfinite(array))
        if len(bad):
            first = tuple(int(i) for i in bad[0])
            sample = f", sample {first[0]}" if array.ndim == 2 else ""
            more = f" (and {len(bad) - 1} more in '{group.name}')" if len(bad) > 1 else ""
            return InputError(
                f"program '{program.name}', input '{group.name}', '{group.labels[first[-1]]}'{sample}: "
                f"{array[first]} was given{more}, a finite number is needed\n"
                f"    fix: look where this value came from, a division by zero or a diverged simulation perhaps"
            )
    return InputError(f"program '{program.name}': an input changed to a value that is not finite during the call")
