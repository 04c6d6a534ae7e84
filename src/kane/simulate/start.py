"""What an integration starts from, checked: state, times, parameters, and addresses of the programs that it calls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from .routine import Routine


@dataclass(frozen=True, slots=True)
class Start:
    """Checked initial data."""

    y0: Any
    parameters: Any
    t0: float
    t1: float
    times: Any
    width: int


def _numbers(name: str, values: Any) -> Any:
    """`values` as a fresh vector of float64, all finite."""
    array = np.array(values, dtype=np.float64)
    if array.ndim != 1:
        raise InputError(f"{name} has shape {array.shape}; one vector is needed")
    bad = np.flatnonzero(~np.isfinite(array))
    if bad.size:
        raise InputError(f"{name}[{bad[0]}] = {array[bad[0]]} is not finite; every entry must be a number")
    return array


def check_start(rhs: Any, y0: Any, t: Any, parameters: Any, extra_outputs: int) -> Start:
    """State, times (s) and parameters as they are needed, finite and of the right shape."""
    state = _numbers("y0", y0)
    if state.size == 0:
        raise InputError("y0 is empty; a motion needs at least one state")
    if extra_outputs < 0:
        raise InputError(f"extra_outputs = {extra_outputs} is negative")
    times = _numbers("t", t)
    if times.size < 2:
        raise InputError(f"t has {times.size} entries; give (t0, t1) or an array of output times")
    if times.size > 2:
        gaps = np.diff(times)
        wrong = np.flatnonzero(gaps * np.sign(times[-1] - times[0]) <= 0)
        if wrong.size:
            i = int(wrong[0])
            raise InputError(
                f"t[{i}] = {times[i]} and t[{i + 1}] = {times[i + 1]}: output times must be strictly increasing"
                f" or strictly decreasing; sort them and drop repeated ones (numpy.unique does both)"
            )
    requested = times if times.size > 2 else np.empty(0)
    width = state.size + extra_outputs
    program = getattr(rhs, "program", None)
    if program is not None:
        width = max(width, program.output_count)
    held = _numbers("parameters", parameters)
    return Start(state, held, float(times[0]), float(times[-1]), requested, width)


def check_address(name: str, kernel: Any, start: Start, outputs: int, optional: bool = False) -> int:
    """The address of a kernel, checked to fit the state and parameters, or the address itself; 0 for none."""
    if kernel is None and optional:
        return 0
    program = getattr(kernel, "program", None)
    if program is not None:
        inputs = 1 + start.y0.size + start.parameters.size
        if program.input_count != inputs:
            raise InputError(
                f"{name}: program '{program.name}' reads {program.input_count} numbers, but t, y0 and parameters are"
                f" 1 + {start.y0.size} + {start.parameters.size} = {inputs}; its inputs must be [t, y, p]"
            )
        if program.output_count < outputs or (program.output_count > outputs and name != "rhs"):
            raise InputError(
                f"{name}: program '{program.name}' writes {program.output_count} numbers, {outputs} are needed"
            )
    address = getattr(kernel, "address", kernel)
    if not isinstance(address, int | np.integer) or address <= 0:
        raise InputError(f"{name} = {kernel!r} is neither a kernel nor the address of a flat program")
    return int(address)


def memory_of(program: Any) -> int:
    """The address of the memory that a program works in, 0 for none."""
    return program.memory if isinstance(program, Routine) else 0
