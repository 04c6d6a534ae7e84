"""Results of an ensemble in a folder: Zarr arrays whose chunks are the blocks, and beside them what they are of.

    settings.json     what the ensemble is of: model, numbers, seed, times, options, versions
    model.yaml        the description
    zarr.json, NAME/  arrays over the members; `occurred`, `tallies`, `bins` and `joint` are those of each block
    blocks/I.json     written when all of block I is: its messages, and sizes and checksums of its chunks
    members.parquet   one row per member, at the end

A block is in the store when its file in `blocks` is; others are computed again. Nothing tells when or where the files
were written, so that the same ensemble gives the same bytes.
"""

from __future__ import annotations

import dataclasses
import json
import warnings
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..simulate import ENDS, Members
from .blocks import MemberBlock
from .folder import Folder
from .tallies import BINS, JointTally, Tally

LEVEL = 1
"""Of Zstandard: states are almost random bits, and more effort finds no more in them."""

LARGEST_CHUNK = 1 << 24
"""Bytes of a chunk, before it is compressed; motions are cut along time where a block has more."""

VERSIONS = ("format", "kane", "version", "numpy")
"""Settings that say what wrote a store: of its files, the sources of this package by a hash, its version, NumPy's."""

SETTINGS, MODEL, TABLE = "settings.json", "model.yaml", "members.parquet"
_FIELDS = ("count", "mean", "squares", "low", "high", "exponent", "offset")


@dataclass(frozen=True, slots=True)
class Part:
    """An array of the store: its name, those of its dimensions, its shape behind the first, kind of number, attributes.

    The first dimension counts members, or blocks."""

    name: str
    dimensions: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: str
    attributes: Mapping[str, Any]

    @property
    def by_block(self) -> bool:
        """Whether there is one row for each block."""
        return self.dimensions[0] == "block"

    @property
    def fill(self) -> Any:
        """What stands for what is missing."""
        return np.nan if self.dtype == "float64" else 0 if self.name != "reason" else -1

    def chunk(self, size: int) -> tuple[int, ...]:
        """The shape of a chunk; motions (members, times, …) are cut along time."""
        rows = 1 if self.by_block else size
        if self.dimensions[1:2] != ("time",) or self.by_block:
            return (rows, *self.shape)
        each = rows * int(np.prod(self.shape[1:])) * np.dtype(self.dtype).itemsize
        return (rows, max(1, min(self.shape[0], LARGEST_CHUNK // max(1, each))), *self.shape[1:])


@dataclass(frozen=True, slots=True)
class Contents:
    """What there is to store: names and units of coordinates, speeds, events, watched quantities and columns, the times
    (s), whether ends and motions are kept."""

    coordinates: tuple[tuple[str, str], ...]
    speeds: tuple[tuple[str, str], ...]
    columns: tuple[tuple[str, str], ...]
    events: tuple[str, ...]
    watch: tuple[tuple[str, str], ...]
    times: tuple[float, ...]
    ends: bool
    motions: bool

    def parts(self) -> tuple[Part, ...]:
        """The arrays of the store."""

        def with_units(pairs: Sequence[tuple[str, str]]) -> dict[str, Any]:
            return {"names": [name for name, _ in pairs], "units": [unit for _, unit in pairs]}

        k = len(self.times)
        seconds = {"units": "s"}
        found = [
            Part("reason", ("member",), (), "int8", {"meanings": list(ENDS)}),
            _axis("numbers", "column", with_units(self.columns)),
        ]
        if self.ends:
            found += [
                Part("end_t", ("member",), (), "float64", seconds),
                _axis("end_q", "coordinate", with_units(self.coordinates)),
                _axis("end_u", "speed", with_units(self.speeds)),
                Part("end_work", ("member",), (), "float64", {"units": "J"}),
                Part("steps", ("member",), (), "int64", {}),
                _axis("first", "event", {"names": list(self.events), **seconds}),
                _axis("crossings", "event", {"names": list(self.events)}, "int64"),
                _axis("low", "watched", with_units(self.watch)),
                _axis("high", "watched", with_units(self.watch)),
                _axis("end_watched", "watched", with_units(self.watch)),
            ]
        if self.motions:
            found += [
                Part(
                    "q",
                    ("member", "time", "coordinate"),
                    (k, len(self.coordinates)),
                    "float64",
                    with_units(self.coordinates),
                ),
                Part("u", ("member", "time", "speed"), (k, len(self.speeds)), "float64", with_units(self.speeds)),
                Part("work", ("member", "time"), (k,), "float64", {"units": "J"}),
            ]
        found.append(Part("occurred", ("block", "event"), (len(self.events),), "int64", {"names": list(self.events)}))
        w = len(self.watch)
        fields = {"fields": list(_FIELDS), **with_units(self.watch)}
        found += [
            Part("tallies", ("block", "watched", "field", "time"), (w, len(_FIELDS), k), "float64", fields),
            Part("bins", ("block", "watched", "time", "bin"), (w, k, BINS), "int32", with_units(self.watch)),
            Part(
                "joint",
                ("block", "time", "joint_field", "watched"),
                (k, 2 + w, w),
                "float64",
                _joint_fields(self.watch),
            ),
        ]
        return tuple(p for p in found if 0 not in p.shape)


def _joint_fields(watch: Sequence[tuple[str, str]]) -> dict[str, Any]:
    """Names along the two last dimensions of `joint`."""
    names = [name for name, _ in watch]
    return {"fields": ["count", "mean", *(f"products with {name}" for name in names)], "names": names}


def _axis(name: str, dimension: str, attributes: dict[str, Any], dtype: str = "float64") -> Part:
    return Part(name, ("member", dimension), (len(attributes["names"]),), dtype, attributes)


@dataclass(frozen=True, slots=True)
class Store:
    """The folder of an ensemble of `count` members in blocks of `size`."""

    folder: Folder
    contents: Contents
    count: int
    size: int

    # a store as a whole ------------------------------------------------------------------------------------------

    def open(self, settings: Mapping[str, Any], model: str, resume: bool) -> None:
        """Make the store, or see that the one that is there is of the same ensemble."""
        present = self.folder.read(SETTINGS)
        if present is None:
            if self.folder.names():
                raise InputError(
                    f"store {_name(self.folder)}: there are files, and no {SETTINGS}: it is no store of an ensemble\n"
                    f"    fix: choose another name"
                )
            self.folder.put(SETTINGS, _json(settings))
        else:
            self._compare(present, settings)
            if not resume:
                raise InputError(
                    f"store {_name(self.folder)}: there is one of this ensemble already,"
                    f" {len(self.blocks_there())} of {-(-self.count // self.size)} blocks finished\n"
                    f"    fix: go on with resume=True, or choose another name"
                )
        self.folder.tidy()
        self.folder.put(MODEL, model.encode())
        for key, data in self._metadata().items():
            self.folder.put(key, data)

    def _compare(self, present: bytes, settings: Mapping[str, Any]) -> None:
        """Refuse a store of another ensemble, with all that differs."""
        try:
            there = json.loads(present)
        except ValueError:
            there = None
        if not isinstance(there, dict):
            raise InputError(
                f"store {_name(self.folder)}: {SETTINGS} is damaged, or of something else\n    fix: choose another name"
            )
        here = json.loads(_json(settings))
        other = [
            f"    {name}: {_short(there.get(name))} there, {_short(here.get(name))} here"
            for name in dict.fromkeys([*here, *there])
            if there.get(name) != here.get(name)
        ]
        if not other:
            return
        what, fix = "is of another ensemble", "choose another name, or ask for the same"
        if all(there.get(name) == here.get(name) for name in dict.fromkeys([*here, *there]) if name not in VERSIONS):
            what = "was written by another version, whose members may differ in their last bits"
            fix = "go on with that version, or choose another name"
        raise InputError(f"store {_name(self.folder)}: {what}\n" + "\n".join(other) + f"\n    fix: {fix}")

    def _metadata(self) -> dict[str, bytes]:
        """The files that describe the arrays, by their keys."""
        import zarr  # an extra
        from zarr.codecs import ZstdCodec
        from zarr.storage import MemoryStore

        memory = MemoryStore()
        group = zarr.open_group(memory, mode="w", zarr_format=3)
        blocks = -(-self.count // self.size)
        for part in self.contents.parts():
            group.create_array(
                part.name,
                shape=(blocks if part.by_block else self.count, *part.shape),
                chunks=part.chunk(self.size),
                dtype=part.dtype,
                fill_value=part.fill,
                compressors=ZstdCodec(level=LEVEL),
                dimension_names=part.dimensions,
                attributes=dict(part.attributes),
            )
        times = np.array(self.contents.times)
        group.create_array(
            "time", data=times, compressors=ZstdCodec(level=LEVEL), dimension_names=["time"], attributes={"units": "s"}
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that all descriptions in one file are not in the standard yet
            zarr.consolidate_metadata(memory)
        return {key: value.to_bytes() for key, value in sorted(memory._store_dict.items())}

    def blocks_there(self) -> frozenset[int]:
        """Indices of the blocks that are in the store."""
        return frozenset(int(name[:-5]) for name in self.folder.names("blocks") if name.endswith(".json"))

    def trim(self, done: int) -> None:
        """Take away blocks beyond the first `done` members, which were under way when there were enough."""
        for index in sorted(i for i in self.blocks_there() if i * self.size >= done):
            marker = json.loads(self.folder.read(_marker(index)) or b"{}")
            self.folder.remove(_marker(index))
            for key in marker.get("chunks", ()):
                self.folder.remove(key)

    def array(self, name: str) -> Any:
        """An array of the store, to be read in slices."""
        import zarr

        where = getattr(self.folder, "address", self.folder.path)
        return zarr.open_array(f"{where}/{name}", mode="r")

    # blocks ------------------------------------------------------------------------------------------------------

    def write(self, index: int, block: MemberBlock) -> MemberBlock:
        """Write a block; what is returned has no motions, which are in the store."""
        from numcodecs import Zstd  # comes with zarr

        rows, codec = self._rows(block), Zstd(level=LEVEL)
        chunks: dict[str, list[int]] = {}
        for part in self.contents.parts():
            for key, values in _cut(part, index, self.size, rows[part.name]):
                data = codec.encode(np.ascontiguousarray(values, dtype=part.dtype).tobytes())
                self.folder.put(key, data)
                chunks[key] = [len(data), zlib.crc32(data)]
        messages = {str(i): text for i, text in block.members.messages.items()}
        self.folder.put(_marker(index), _json({"members": len(block), "chunks": chunks, "messages": messages}))
        return dataclasses.replace(block, members=dataclasses.replace(block.members, outputs=None))

    def read(self, index: int) -> MemberBlock | None:
        """A block without its motions; None where it is damaged, or not there."""
        from numcodecs import Zstd

        data = self.folder.read(_marker(index))
        try:
            marker = json.loads(data or b"")
        except ValueError:
            return None
        found: dict[str, Any] = {}
        for part in self.contents.parts():
            shape = part.chunk(self.size)
            cut = part.dimensions[1:2] == ("time",) and not part.by_block
            for key, _ in _cut(part, index, self.size, np.empty((0, *part.shape))):
                chunk = self.folder.read(key)
                if chunk is None or [len(chunk), zlib.crc32(chunk)] != marker["chunks"].get(key):
                    return None
                if not cut:
                    array = np.frombuffer(Zstd().decode(chunk), dtype=part.dtype).reshape(shape)
                    found[part.name] = array[: 1 if part.by_block else marker["members"]]
        messages = {int(i): text for i, text in marker["messages"].items()}
        return self._block(index, marker["members"], found, messages)

    def _rows(self, block: MemberBlock) -> dict[str, Any]:
        """The arrays of a block by the names of the parts."""
        members, nq = block.members, len(self.contents.coordinates)
        rows: dict[str, Any] = {
            "reason": members.reason,
            "numbers": block.numbers,
            "end_t": members.t,
            "end_q": members.y[:, :nq],
            "end_u": members.y[:, nq:-1],
            "end_work": members.y[:, -1],
            "steps": members.steps,
            "first": members.first,
            "crossings": members.crossings,
            "low": block.low,
            "high": block.high,
            "end_watched": block.end,
            "occurred": block.occurred[None],
        }
        if self.contents.motions:
            assert members.outputs is not None
            rows |= {
                "q": members.outputs[:, :, :nq],
                "u": members.outputs[:, :, nq:-1],
                "work": members.outputs[..., -1],
            }
        if block.tallies:
            fields = [[getattr(tally, name) for name in _FIELDS] for tally in block.tallies]
            rows["tallies"] = np.array(fields, dtype=float)[None]
            rows["bins"] = np.array([tally.bins for tally in block.tallies])[None]
            joint = block.joint
            count = np.broadcast_to(joint.count[:, None, None], (len(joint.count), 1, len(block.tallies)))
            rows["joint"] = np.concatenate([count, joint.mean[:, None], joint.products], axis=1)[None]
        return rows

    def _block(self, index: int, members: int, found: Mapping[str, Any], messages: dict[int, str]) -> MemberBlock:
        """A block from the arrays of the parts."""
        contents = self.contents

        def array_of(name: str, *shape: int, fill: float = np.nan, kind: Any = np.float64) -> Any:
            array = found.get(name)
            return np.full((members, *shape), fill, dtype=kind) if array is None else np.array(array, dtype=kind)

        y = np.column_stack(
            [
                array_of("end_q", len(contents.coordinates)),
                array_of("end_u", len(contents.speeds)),
                array_of("end_work"),
            ]
        )
        events, watched = len(contents.events), len(contents.watch)
        whole = Members(
            array_of("reason", kind=np.int64),
            array_of("end_t"),
            y,
            None,
            array_of("first", events),
            array_of("crossings", events, fill=0, kind=np.int64),
            array_of("steps", fill=0, kind=np.int64),
            messages,
        )
        tallies = tuple(_tally(found["tallies"][0, w], found["bins"][0, w]) for w in range(watched))
        return MemberBlock(
            index * self.size,
            whole,
            array_of("low", watched),
            array_of("high", watched),
            array_of("end_watched", watched),
            np.array(found["occurred"][0], np.int64) if events else np.zeros(0, np.int64),
            tallies,
            _joint_tally(found["joint"][0]) if watched else JointTally.of(np.empty((0, len(contents.times), 0))),
            array_of("numbers", len(contents.columns)),
        )


def _tally(fields: Any, bins: Any) -> Tally:
    whole = {"count", "exponent", "offset"}
    taken = {name: np.array(fields[i], np.int64 if name in whole else float) for i, name in enumerate(_FIELDS)}
    return Tally(**taken, bins=np.array(bins, np.int64))


def _joint_tally(fields: Any) -> JointTally:
    return JointTally(fields[:, 0, 0].astype(np.int64), np.array(fields[:, 1]), np.array(fields[:, 2:]))


def _cut(part: Part, index: int, size: int, rows: Any) -> list[tuple[str, Any]]:
    """(key, values) of the chunks of a block, filled up to their shape."""
    shape = part.chunk(size)
    zeros = "/0" * (len(shape) - 1)
    if part.dimensions[1:2] != ("time",) or part.by_block:
        return [(f"{part.name}/c/{index}{zeros}", _fill_up(part, rows, shape))]
    found = []
    for k, first in enumerate(range(0, part.shape[0], shape[1])):
        key = f"{part.name}/c/{index}/{k}{'/0' * (len(shape) - 2)}"
        found.append((key, _fill_up(part, rows[:, first : first + shape[1]], shape)))
    return found


def _fill_up(part: Part, rows: Any, shape: tuple[int, ...]) -> Any:
    if rows.shape == shape:
        return rows
    whole = np.full(shape, part.fill, dtype=part.dtype)
    whole[tuple(slice(0, n) for n in rows.shape)] = rows
    return whole


def _marker(index: int) -> str:
    return f"blocks/{index:09d}.json"


def _json(value: Any) -> bytes:
    return (json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False) + "\n").encode("utf-8", "backslashreplace")


def _name(folder: Any) -> str:
    return f"'{getattr(folder, 'address', folder.path)}'"


def _short(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 80 else text[:77] + "…"


__all__ = ["MODEL", "SETTINGS", "TABLE", "Contents", "Store"]
