"""Files are written whole or not at all, whatever happens meanwhile; faults are sentences that say what was kept."""

from __future__ import annotations

import errno
import os
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import kane
from disks import mounted_disk
from kane.errors import WritingError
from kane.writing import check_writable, replacing, write_text

OLD = "what was there before\n"

WRITER = """
import os, sys
from kane.writing import replacing
with replacing(sys.argv[1]) as stream:
    for k in range(1000):
        stream.write(b"half of the new content" * 1000)
        if k == 500:
            stream.flush()
            print("half", flush=True)
            sys.stdin.read()
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "file.txt"
    path.write_text(OLD)
    return path


@pytest.fixture
def small_disk() -> Iterator[Path]:
    """A disk of 64 kB."""
    with tempfile.TemporaryDirectory() as folder, mounted_disk(Path(folder), "64k"):
        yield Path(folder)


def test_a_file_is_replaced_and_nothing_else_is_left(file: Path) -> None:
    write_text(file, "ẋ\n")
    assert file.read_text(encoding="utf-8") == "ẋ\n"
    assert list(file.parent.iterdir()) == [file]


def test_a_new_file_has_the_rights_that_any_program_gives(tmp_path: Path) -> None:
    write_text(tmp_path / "ours", "")
    (tmp_path / "usual").write_text("")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_rights_of_an_old_file_are_kept(file: Path) -> None:
    file.chmod(0o640)
    write_text(file, "new")
    assert stat.S_IMODE(file.stat().st_mode) == 0o640


def test_a_link_stays_one_and_its_target_is_written(file: Path) -> None:
    link = file.with_name("link")
    link.symlink_to(file.name)
    write_text(link, "new")
    assert link.is_symlink() and file.read_text() == "new"


def test_a_device_is_written_as_it_is() -> None:
    write_text(os.devnull, "into nowhere")
    check_writable(os.devnull)
    assert stat.S_ISCHR(Path(os.devnull).stat().st_mode)


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_an_error_in_between_leaves_the_old_file(file: Path, error: type[BaseException]) -> None:
    with pytest.raises(error), replacing(file) as stream:
        stream.write(b"half")
        raise error
    assert file.read_text() == OLD
    assert list(file.parent.iterdir()) == [file]


@pytest.mark.parametrize("there", [True, False])
def test_a_process_that_is_killed_while_writing_leaves_the_old_file(there: bool, file: Path) -> None:
    if not there:
        file.unlink()
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(file)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None and writer.stdout.readline() == "half\n"
    writer.send_signal(signal.SIGKILL)
    writer.communicate()
    assert writer.returncode == -signal.SIGKILL
    assert file.read_text() == OLD if there else not file.exists()


def test_a_full_disk_leaves_the_old_file_and_is_a_sentence(small_disk: Path) -> None:
    file = small_disk / "file.txt"
    file.write_text(OLD)
    with pytest.raises(WritingError) as caught:
        write_text(file, "x" * 200_000)
    assert file.read_text() == OLD
    assert list(small_disk.iterdir()) == [file]
    text = str(caught.value)
    assert "No space left on device" in text and "kept: the file as it was before" in text and "fix:" in text


def test_a_disk_that_is_full_at_the_last_moment_leaves_the_old_file(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(handle: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(WritingError, match="kept: the file as it was before"):
        write_text(file, "new")
    assert file.read_text() == OLD
    assert list(file.parent.iterdir()) == [file]


def test_a_file_in_a_folder_that_takes_no_other_is_written_in_place(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = os.open

    def refused(path: Path, flags: int, *mode: int) -> int:
        if flags & os.O_CREAT:
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
        return usual(path, flags, *mode)

    monkeypatch.setattr(os, "open", refused)
    check_writable(file)
    write_text(file, "new")
    assert file.read_text() == "new"
    with pytest.raises(WritingError, match="Permission denied"):
        check_writable(file.with_name("another"))


def test_a_file_that_may_not_be_changed_is_not_replaced_either(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # root may change everything
    for ask in (check_writable, lambda path: write_text(path, "new")):
        with pytest.raises(WritingError, match="Permission denied"):
            ask(file)
    assert file.read_text() == OLD


def test_asking_beforehand_changes_nothing(file: Path) -> None:
    before = file.stat()
    check_writable(file)
    check_writable(file.with_name("another"))
    assert file.stat() == before
    assert list(file.parent.iterdir()) == [file]


def test_what_cannot_be_a_file_is_refused_beforehand(tmp_path: Path) -> None:
    with pytest.raises(WritingError, match="is a folder"):
        check_writable(tmp_path)
    with pytest.raises(WritingError, match="there is no folder"):
        check_writable(tmp_path / "no" / "file")


def test_a_model_that_cannot_be_saved_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "model.yaml"
    file.write_text(OLD)

    def full(self: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(WritingError, match="No space left"):
        kane.load("pendulum").save(file)
    assert file.read_text() == OLD
