"""One row per member: what it was given or drawn, why it ended and where, events and extremes; as a table, or Parquet.

Parquet files are written in groups of rows, so that no more than one group is in memory.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, BinaryIO

import numpy as np

from ..simulate import ENDS
from .blocks import MemberBlock
from .store import Contents

GROUP = 1 << 16
"""Rows of a group of a Parquet file."""


START = "start_"
"""How columns of coordinates and speeds begin that members start with; those of parameters have their names."""


def column_of(contents: Contents, name: str) -> str:
    """The column of what was given or drawn under a name."""
    return f"{START}{name}" if name in dict((*contents.coordinates, *contents.speeds)) else name


def columns_of(contents: Contents, block: MemberBlock) -> dict[str, Any]:
    """Name → values (b,) of the members of a block: `start_q`, parameters by their names, `reason`, `end_t`, `end_q`,
    …, `first_event`, `crossings_event`, `low_w`, `high_w`, `end_w`."""
    members = block.members
    states = {name for name, _ in (*contents.coordinates, *contents.speeds)}
    found: dict[str, Any] = {"member": np.arange(block.first, block.first + len(block))}
    for c, (name, _) in enumerate(contents.columns):
        found[column_of(contents, name)] = block.numbers[:, c]
    found["reason"] = np.array(ENDS)[members.reason]
    found["message"] = [""] * len(block)
    for i, text in members.messages.items():
        found["message"][i] = text
    if not contents.ends:
        return found
    found["end_t"] = members.t
    for k, (name, _) in enumerate((*contents.coordinates, *contents.speeds)):
        found[f"end_{name}"] = members.y[:, k]
    for e, name in enumerate(contents.events):
        found[f"first_{name}"], found[f"crossings_{name}"] = members.first[:, e], members.crossings[:, e]
    for w, (name, _) in enumerate(contents.watch):
        found[f"low_{name}"], found[f"high_{name}"] = block.low[:, w], block.high[:, w]
        if name not in states:  # which have one column for where they ended
            found[f"end_{name}"] = block.end[:, w]
    return found


def units_of(contents: Contents) -> dict[str, str]:
    """Column → unit, where there is one."""
    states = dict((*contents.coordinates, *contents.speeds))
    found = {"end_t": "s"} | {f"end_{name}": unit for name, unit in states.items()}
    for name, unit in contents.columns:
        found[column_of(contents, name)] = unit
    found |= {f"first_{name}": "s" for name in contents.events}
    found |= {f"{which}_{name}": unit for name, unit in contents.watch for which in ("low", "high", "end")}
    return {name: unit for name, unit in found.items() if unit}


def table_of(contents: Contents, block: MemberBlock) -> Any:
    """The same as a table of pyarrow, units in the metadata of the fields."""
    import pyarrow as pa  # an extra

    units = units_of(contents)
    columns = columns_of(contents, block)
    reasons = pa.array(ENDS).take(pa.array(block.members.reason))  # texts one by one take longer than all numbers
    arrays = [reasons if name == "reason" else pa.array(values) for name, values in columns.items()]
    fields = [
        pa.field(name, array.type, metadata={"unit": units[name]} if name in units else None)
        for name, array in zip(columns, arrays, strict=True)
    ]
    return pa.table(arrays, schema=pa.schema(fields))


def write_parquet(contents: Contents, blocks: Iterable[MemberBlock], stream: BinaryIO) -> None:
    """A Parquet file with one row per member, to a stream."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    writer, waiting, rows = None, [], 0
    for block in blocks:
        waiting.append(table_of(contents, block))
        rows += len(block)
        writer = writer or pq.ParquetWriter(stream, waiting[0].schema)
        if rows >= GROUP:
            writer.write_table(pa.concat_tables(waiting), row_group_size=GROUP * 2)
            waiting, rows = [], 0
    if writer is not None:
        if waiting:
            writer.write_table(pa.concat_tables(waiting), row_group_size=GROUP * 2)
        writer.close()


__all__ = ["columns_of", "table_of", "units_of", "write_parquet"]
