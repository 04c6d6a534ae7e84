"""Runs that are kept in a file while they are under way: what a run is of, by name, and what is shown of it.

Two runs are the same where programs, start, times and settings are, to the bit, on the same processor and by the same
version; then one goes on from what was kept of the other, and ends with the same bits.
"""

from __future__ import annotations

import dataclasses
import hashlib
import platform
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from ..backends import Kernel
from ..backends.llvm.machine import host
from ..boundary import describe_value
from ..errors import InputError
from ..graph import Program
from ..simulate import Solution
from ..simulate.checkpoints import Checkpoints
from ..writing import check_writable
from .answers import Answers
from .simulation import Setup
from .trajectory import Trajectory, present_so_far

_SHOWN = 12  # letters of a hash that are enough to tell two runs from each other


@dataclass(slots=True)
class Keep:
    """Where a run is kept and who is told: `path` of the file; `show` is called now and then with the trajectory so
    far, `tell` with a sentence about what was kept, or cannot be. `checkpoints` are those of the run, once it has
    begun; whoever gives this record takes the file away in the end."""

    path: Path
    show: Callable[[Trajectory], object] | None = None
    tell: Callable[[str], object] | None = None
    checkpoints: Checkpoints | None = None


def checkpoints_of(keep: Any, answers: Answers, ready: Setup) -> Checkpoints | None:
    """How a run is kept, from a path or a `Keep`; None for None."""
    if keep is None:
        return None
    if isinstance(keep, str | Path) and str(keep).strip() and "\0" not in str(keep):
        keep = Keep(Path(keep))
    if not isinstance(keep, Keep):
        raise InputError(f"keep = {describe_value(keep)} is no name of a file\n    fix: give one, say 'run.resume'")
    if ready.control is not None:
        raise InputError(
            "a run with a control in Python cannot be kept: nobody knows what the function remembers\n"
            "    fix: give the control as expressions or a law of kane.planning, or leave keep out"
        )
    check_writable(keep.path)
    show = keep.show

    def show_part(solution: Solution) -> None:
        assert show is not None
        show(present_so_far(answers, ready.problem, solution))

    keep.checkpoints = Checkpoints(keep.path, identity(answers, ready), None if show is None else show_part, keep.tell)
    return keep.checkpoints


def identity(answers: Answers, ready: Setup) -> dict[str, str]:
    """What a run is of, by name, in words that can be compared; a hash stands for what is long."""
    from ..simulate.compiled.store import source_digest  # imports numba, which a run does as well

    mechanism, times, problem = answers.mechanism, ready.times, ready.problem
    names = (mechanism.name, *mechanism.coordinates, *mechanism.speeds, *mechanism.all_row_names)
    machine = host()
    try:
        sources = source_digest().hex()[:_SHOWN]
    except OSError:  # not where they could be read, so that only the package as a whole can be another one
        sources = "unknown"
    facts = {
        "version": f"kane {sources}, numpy {np.__version__}",
        "processor": f"{platform.machine()} {machine.cpu} ({_hash(machine.features)})",
        "model": f"'{mechanism.name}' ({_hash((names, problem))})",
        "parameters": _hash((answers.values, {name: p.value for name, p in mechanism.parameters.items()})),
        "start": _hash(ready.start),
        "times": f"{times.flat[0]:g} to {times.flat[-1]:g} s, {times.size} given ({_hash(times)})",
    }
    for name, value in ready.settings.items():
        if name == "chunk":  # which changes no bit
            continue
        facts[name] = _hash(value) if isinstance(value, np.ndarray) else repr(value)
    return facts


def _hash(value: Any) -> str:
    """A hash of anything that a problem is made of, the same in every process."""
    digest = hashlib.sha256()
    for part in _parts(value):
        digest.update(len(part).to_bytes(8, "little"))
        digest.update(part)
    return digest.hexdigest()[:_SHOWN]


def _parts(value: Any) -> Iterator[bytes]:
    """What a value consists of, in order, without what differs from process to process."""
    yield type(value).__name__.encode()
    if isinstance(value, np.ndarray):
        array = cast("np.ndarray[Any, Any]", value)
        yield f"{array.dtype} {array.shape}".encode()
        yield np.ascontiguousarray(array).tobytes()
    elif isinstance(value, Kernel):
        _, arguments = value.__reduce__()[:2]
        yield from _parts(arguments)
    elif isinstance(value, Program | str):
        yield str(value).encode("utf-8", "backslashreplace")
    elif isinstance(value, bytes):
        yield value
    elif isinstance(value, float):
        yield value.hex().encode()
    elif value is None or isinstance(value, bool | int | np.integer):
        yield str(cast("int | None", value)).encode()
    elif isinstance(value, Mapping):
        for item in cast("Mapping[Any, Any]", value).items():
            yield from _parts(item)
    elif isinstance(value, tuple | list):
        for item in cast("tuple[Any, ...]", value):
            yield from _parts(item)
    elif dataclasses.is_dataclass(value):
        for item in dataclasses.fields(value):
            if item.compare:
                yield from _parts(getattr(value, item.name))
    else:
        raise InputError(f"a run with {describe_value(value)} in it cannot be kept\n    fix: leave keep out")


__all__ = ["Keep", "checkpoints_of", "identity"]
