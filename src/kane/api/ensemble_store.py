"""The store of an ensemble as a model asks for it: what it is of, in words that can be compared, and its table."""

from __future__ import annotations

import hashlib
import importlib.util
import re
from collections.abc import Mapping
from importlib.metadata import PackageNotFoundError, version
from itertools import takewhile
from pathlib import Path
from typing import Any, cast

import numpy as np

from ..boundary import describe_value
from ..ensemble import Store, block_size
from ..ensemble.blocks import spans_of
from ..ensemble.draws import Component
from ..ensemble.folder import open_folder
from ..ensemble.store import TABLE, Contents
from ..ensemble.tables import write_parquet
from ..errors import InputError, KaneError
from ..graph import Expr
from ..model import write_mechanism
from .ensemble_work import MemberWork
from .records import Array
from .run_values import unit_of

_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def contents_of(work: MemberWork, keep: str) -> Contents:
    """What there is to store of an ensemble, with units as far as the joints define them."""
    from ..viewer.units import units_by_name  # which imports what draws

    mechanism = work.answers.mechanism
    units = units_by_name(mechanism)

    def with_units(names: Any) -> tuple[tuple[str, str], ...]:
        return tuple((name, units.get(name, "")) for name in names)

    return Contents(
        with_units(mechanism.coordinates),
        with_units(mechanism.speeds),
        with_units(column.name for column in work.plan.columns),
        tuple(work.options["events"] or ()),
        tuple((name, unit_of(mechanism, expression)) for name, expression in work.watch.items()),
        tuple(cast("list[float]", work.times.tolist())),
        keep != "tallies",
        keep == "motions",
    )


def open_store(address: Any, work: MemberWork, keep: str, resume: bool) -> Store:
    """The store at an address, made, or found to be of the same ensemble."""
    if not isinstance(address, str | Path) or not str(address).strip() or "\0" in str(address):
        raise InputError(
            f"store = {describe_value(address)} is no name of a folder\n    fix: give one, say 'runs.zarr'"
        )
    missing = [name for name in ("zarr", "pyarrow") if importlib.util.find_spec(name) is None]
    if missing:
        raise InputError(f"store = '{address}': needs {' and '.join(missing)}\n    fix: pip install 'kane[ensemble]'")
    count = work.plan.count
    store = Store(open_folder(str(address)), contents_of(work, keep), count, block_size(count))
    model = _model_text(work)
    store.open(settings_of(work, keep, model), model, resume)
    return store


def finish_store(store: Store, done: int) -> None:
    """Write the table of the first `done` members, and take away what was never finished."""
    if done:
        finished = takewhile(lambda span: span.first < done, spans_of(store.count))
        blocks = (store.read(span.index) for span in finished)
        with store.folder.writing(TABLE) as stream:
            write_parquet(store.contents, (block for block in blocks if block is not None), stream)
    store.folder.tidy()


def _model_text(work: MemberWork) -> str:
    """The description as a model file, or why it cannot be one."""
    try:
        return write_mechanism(work.answers.mechanism)
    except KaneError as error:
        return "".join(f"# {line}\n" for line in str(error).splitlines())


def settings_of(work: MemberWork, keep: str, model: str) -> dict[str, Any]:
    """What an ensemble is of, by name, as plain data; a hash stands for what is long."""
    from ..simulate.compiled.store import source_digest  # imports numba, which a run does as well

    plan, options = work.plan, dict(work.options)
    try:
        sources = source_digest().hex()[:12]
    except OSError:  # not where they could be read
        sources = "unknown"
    return {
        "format": 4,
        "version": _version(),
        "kane": sources,
        "numpy": np.__version__,
        "model": f"'{work.answers.mechanism.name}' ({_hash(model.encode())}, {_plain(work.answers.values)})",
        "members": plan.count,
        "seed": plan.seed,
        "sampling": plan.sampling,
        **{str(column): _plain(column.value) for column in plan.columns},
        "times": f"{work.times[0]:g} to {work.times[-1]:g} s, {work.times.size} ({_hash(work.times.tobytes())})",
        "keep": keep,
        "events": _plain(options.pop("events") or {}),
        "watch": _plain(work.watch),
        **{name: _plain(value) for name, value in options.pop("options").items()},
        **{name: _plain(value) for name, value in options.items()},
    }


def _version() -> str:
    try:
        return version("kane")
    except PackageNotFoundError:
        return "unknown"


def _plain(value: Any) -> Any:
    """Anything that users give as text that is the same in every process."""
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, np.ndarray):
        array = cast("Array", value)
        return f"{array.shape} {array.dtype} ({_hash(np.ascontiguousarray(array).tobytes())})"
    if isinstance(value, Expr):
        return str(value)
    if isinstance(value, Mapping):
        return {str(name): _plain(x) for name, x in cast("Mapping[Any, Any]", value).items()}
    if isinstance(value, tuple | list):
        return [_plain(x) for x in cast("list[Any]", value)]
    if isinstance(value, Component):
        return [value.place, _plain(value.function)]
    code = getattr(value, "__code__", None)
    if code is not None:
        known: list[Any] = [c for c in code.co_consts if isinstance(c, int | float | str | bytes | tuple | None)]
        return f"{value.__module__}.{value.__qualname__} ({_hash(code.co_code + repr(known).encode())})"
    return _ADDRESS.sub("", str(value))


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:12]


__all__ = ["contents_of", "finish_store", "open_store", "settings_of"]
