"""A store has the same bytes whoever computed it, however often it was killed, and says what it is of."""

from __future__ import annotations

import contextlib
import errno
import io
import json
import multiprocessing
import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import xarray as xr
import zarr

import kane
from dask_cluster import dask_cluster
from disks import mounted_disk
from kane.api.ensemble_store import open_store
from kane.ensemble import Enough, block_size, tables
from kane.ensemble.blocks import MemberBlock, spans_of
from kane.ensemble.folder import LocalFolder
from kane.errors import InputError, WritingError
from sampled import digest, draw

COUNT = 1100  # 18 blocks
TIMES = np.linspace(0.0, 1.0, 5)
KILLS = 3


def motions(store: Path | str | None, **options: Any) -> Any:
    """Pendulums that differ in angle, mass and length; some masses are negative, which is refused."""
    asked: dict[str, Any] = {"seed": 3, "q": {"q": draw}, "t": TIMES, "n": COUNT, "events": {"down": "q"}, **options}
    return kane.load("pendulum").ensemble(
        asked.pop("t"),
        parameters={"m": "uniform(-0.05, 1)", "L": np.linspace(0.5, 2.0, asked["n"])},
        watch={"height": "-L*cos(q)"},
        store=store,
        **asked,
    )


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, Any]]:
    """A store that nothing disturbed, and the same ensemble without one."""
    folder = tmp_path_factory.mktemp("whole") / "runs.zarr"
    motions(folder)
    yield folder, motions(None)


def test_arrays_are_what_an_ensemble_in_memory_holds(whole: tuple[Path, Any]) -> None:
    folder, expected = whole
    group: Any = zarr.open_group(folder, mode="r")
    assert np.array_equal(group["q"][:], expected.q, equal_nan=True)
    assert np.array_equal(group["u"][:], expected.u, equal_nan=True)
    assert np.array_equal(group["end_t"][:], expected.end_t)
    assert np.array_equal(group["first"][:, 0], expected.first["down"], equal_nan=True)
    for w, name in enumerate(group["end_watched"].attrs["names"]):
        assert np.array_equal(group["end_watched"][:, w], expected.end[name], equal_nan=True)
    reasons = np.array(group["reason"].attrs["meanings"])[group["reason"][:]]
    assert np.array_equal(reasons, expected.reasons)
    assert group["q"].chunks[0] == block_size(COUNT)  # a worker writes chunks of its own
    data = xr.open_zarr(folder)
    assert data["q"].dims == ("member", "time", "coordinate")
    assert data["q"].attrs["units"] == ["rad"]
    assert np.array_equal(data["time"], TIMES)


def test_the_table_has_one_row_per_member(whole: tuple[Path, Any]) -> None:
    folder, expected = whole
    table = pq.read_table(folder / "members.parquet")
    assert table.num_rows == COUNT
    assert np.array_equal(table["start_q"], expected.numbers["q"])
    assert np.array_equal(table["m"], expected.numbers["m"])
    assert np.array_equal(table["end_q"], expected.end_q[:, 0], equal_nan=True)
    assert table["reason"].to_pylist() == expected.reasons.tolist()
    refused = expected.reasons.tolist().index("refused")
    assert table["message"][refused].as_py() == expected.messages[refused]
    assert table.schema.field("end_q").metadata == {b"unit": b"rad"}
    pd.testing.assert_frame_equal(expected.to_table().to_pandas(), table.to_pandas())


def test_groups_of_the_table_are_written_while_blocks_are_still_read(
    whole: tuple[Path, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "GROUP", COUNT // 4)
    store = open_store(whole[0], whole[1].work, "motions", resume=True)
    stream, sizes = io.BytesIO(), list[int]()

    def blocks() -> Iterator[MemberBlock]:
        for span in spans_of(COUNT):
            sizes.append(stream.tell())
            block = store.read(span.index)
            assert block is not None
            yield block

    tables.write_parquet(store.contents, blocks(), stream)
    assert sizes[0] == 0 and len(set(sizes)) >= 4
    written: Any = pq.read_table(stream).to_pandas()
    pd.testing.assert_frame_equal(written, pq.read_table(whole[0] / "members.parquet").to_pandas())


def test_what_the_store_is_of_lies_beside(whole: tuple[Path, Any]) -> None:
    folder, _ = whole
    settings = json.loads((folder / "settings.json").read_text())
    assert settings["seed"] == 3 and settings["members"] == COUNT and settings["parameters m"] == "uniform(-0.05, 1)"
    again = folder.parent / "again.yaml"
    again.write_bytes((folder / "model.yaml").read_bytes())
    assert kane.load(str(again)).coordinates == ("q",)


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_threads_write_the_same_bytes(whole: tuple[Path, Any], tmp_path: Path, threads: int) -> None:
    with ThreadPoolExecutor(threads) as pool:
        motions(tmp_path / "runs.zarr", executor=pool)
    assert digest(tmp_path / "runs.zarr") == digest(whole[0])


def test_processes_write_the_same_bytes(whole: tuple[Path, Any], tmp_path: Path) -> None:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        motions(tmp_path / "runs.zarr", executor=pool)
    assert digest(tmp_path / "runs.zarr") == digest(whole[0])


def test_a_dask_cluster_writes_the_same_bytes(whole: tuple[Path, Any], tmp_path: Path) -> None:
    with dask_cluster(tmp_path) as cluster:
        motions(tmp_path / "runs.zarr", executor=cluster.client.get_executor())
    assert digest(tmp_path / "runs.zarr") == digest(whole[0])


def test_an_address_of_fsspec_holds_the_same_bytes(whole: tuple[Path, Any]) -> None:
    import fsspec

    found = motions("memory://runs.zarr")
    system = fsspec.filesystem("memory")
    files = {name.partition("/runs.zarr/")[2]: system.cat_file(name) for name in system.find("/runs.zarr")}
    expected = {p.relative_to(whole[0]).as_posix(): p.read_bytes() for p in whole[0].rglob("*") if p.is_file()}
    assert files == expected
    assert np.array_equal(found.q[:], whole[1].q, equal_nan=True)


def test_a_finished_store_is_read_and_nothing_is_computed(
    whole: tuple[Path, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    from kane.api.ensemble_work import MemberWork

    folder, expected = whole
    before = digest(folder)
    monkeypatch.setattr(MemberWork, "run", None)
    found = motions(folder, resume=True)
    assert digest(folder) == before
    assert np.array_equal(found.end_q, expected.end_q, equal_nan=True)
    assert np.array_equal(found.q[:], expected.q, equal_nan=True)
    assert dict(found.messages) == dict(expected.messages)
    for field in ("count", "mean", "squares", "bins", "offset", "exponent"):
        tally = getattr(found.tallies["height"], field)
        assert np.array_equal(tally, getattr(expected.tallies["height"], field))
    assert np.array_equal(found.covariance(), expected.covariance(), equal_nan=True)


SWEEP = """
import sys, numpy as np
import kane
from sampled import draw
kane.load("pendulum").ensemble(
    np.linspace(0.0, 1.0, 5), n=1100, seed=3, q={"q": draw}, events={"down": "q"},
    parameters={"m": "uniform(-0.05, 1)", "L": np.linspace(0.5, 2.0, 1100)}, watch={"height": "-L*cos(q)"},
    store=sys.argv[1], resume=True, progress=lambda p: print(p, flush=True),
)
"""


def test_killed_anywhere_and_resumed_it_ends_with_the_same_bytes(whole: tuple[Path, Any], tmp_path: Path) -> None:
    folder = tmp_path / "runs.zarr"
    chance = random.Random(7)
    environment = os.environ | {"PYTHONPATH": str(Path(__file__).parents[2])}
    for _ in range(KILLS):
        child = subprocess.Popen([sys.executable, "-c", SWEEP, str(folder)], env=environment, stdout=subprocess.PIPE)
        assert child.stdout is not None
        child.stdout.readline()
        time.sleep(chance.uniform(0.0, 0.03))
        child.send_signal(signal.SIGKILL)
        child.communicate()
    motions(folder, resume=True)
    assert digest(folder) == digest(whole[0])


def test_a_block_that_is_damaged_is_computed_again(whole: tuple[Path, Any], tmp_path: Path) -> None:
    folder = tmp_path / "runs.zarr"
    motions(folder)
    (folder / "end_q/c/3/0").write_bytes(b"")
    (folder / "q/c/5/0/0").unlink()
    (folder / "blocks/000000007.json").write_text("{")
    motions(folder, resume=True)
    assert digest(folder) == digest(whole[0])


def test_a_store_of_another_ensemble_is_refused_with_what_differs(whole: tuple[Path, Any]) -> None:
    folder, _ = whole
    before = digest(folder)
    with pytest.raises(InputError, match=r"(?s)another ensemble\n    seed: 3 there, 4 here\n    fix: choose another"):
        motions(folder, seed=4, resume=True)
    with pytest.raises(InputError, match=r"(?s)q q: \"sampled.draw .* there, \"uniform\(0, 1\)\" here"):
        motions(folder, q={"q": "uniform(0, 1)"}, resume=True)
    with pytest.raises(InputError, match=r"(?s)events: .*\"down\": \"q\".* here\n    rtol: null there, \"1e-06\" here"):
        motions(folder, events={"down": "q - 1"}, rtol=1e-6, resume=True)
    with pytest.raises(InputError, match=r"(?s)18 of 18 blocks finished\n    fix: go on with resume=True"):
        motions(folder)
    assert digest(folder) == before


def test_a_folder_of_other_files_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "thesis.txt").write_text("all of it")
    with pytest.raises(InputError, match="it is no store of an ensemble"):
        motions(tmp_path)
    with pytest.raises(InputError, match="is a file"):
        motions(tmp_path / "thesis.txt")
    assert [p.name for p in tmp_path.iterdir()] == ["thesis.txt"]


def test_a_full_disk_is_a_sentence_and_the_store_goes_on(
    whole: tuple[Path, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    replace = os.replace

    def full(source: Any, target: Any) -> None:
        if "/c/9" in str(target):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        replace(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full)
        with pytest.raises(WritingError, match=r"(?s)No space left.*kept: all blocks.*make room.*resume=True"):
            motions(tmp_path / "runs.zarr")
    assert LocalFolder(str(tmp_path / "runs.zarr")).names("blocks")
    motions(tmp_path / "runs.zarr", resume=True)
    assert digest(tmp_path / "runs.zarr") == digest(whole[0])


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[tuple[Path, Any]]:
    """A disk that holds a part of a store, and what gives it room."""
    folder = tmp_path / "disk"
    folder.mkdir()
    with mounted_disk(folder, "400k") as resize:
        yield folder, lambda: resize("64m")


@pytest.mark.parametrize("processes", [0, 2])
def test_a_disk_that_is_full_is_named_and_with_room_the_store_goes_on_to_the_same_bytes(
    whole: tuple[Path, Any], small_disk: tuple[Path, Any], processes: int
) -> None:
    disk, make_room = small_disk
    with contextlib.ExitStack() as stack:
        pool = None
        if processes:
            context = multiprocessing.get_context("spawn")
            pool = stack.enter_context(ProcessPoolExecutor(processes, mp_context=context))
        with pytest.raises(WritingError, match=r"(?s)No space left.*kept: all blocks.*make room.*resume=True"):
            motions(disk / "runs.zarr", executor=pool)
        assert 0 < len(LocalFolder(str(disk / "runs.zarr")).names("blocks")) < COUNT // block_size(COUNT)
        make_room()
        motions(disk / "runs.zarr", resume=True, executor=pool)
    assert digest(disk / "runs.zarr") == digest(whole[0])


def test_enough_members_leave_the_same_bytes_whoever_was_ahead(tmp_path: Path) -> None:
    until = Enough("down", 0.08)
    kept = [tmp_path / name for name in ("one.zarr", "four.zarr")]
    for threads, folder in zip((1, 4), kept, strict=True):
        with ThreadPoolExecutor(threads) as pool:
            found = motions(folder, until=until, executor=pool)
        assert len(found) < COUNT
    assert digest(kept[0]) == digest(kept[1])


def test_tallies_alone_are_a_fraction_of_the_bytes(tmp_path: Path, whole: tuple[Path, Any]) -> None:
    found = motions(tmp_path / "tallies.zarr", keep="tallies")
    assert found.end_q is None
    assert {p.name for p in (tmp_path / "tallies.zarr").iterdir() if p.is_dir()} == {
        "bins", "blocks", "joint", "numbers", "occurred", "reason", "tallies", "time",
    }  # fmt: skip
    known = float(np.mean(whole[1].crossings["down"] > 0))
    assert 0.0 < known < 1.0 and found.share("down") == known == whole[1].share("down")
    assert motions(tmp_path / "tallies.zarr", keep="tallies", resume=True).share("down") == known
