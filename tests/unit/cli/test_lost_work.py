"""No command loses work: inputs stay, results that cannot be kept are not begun, interrupts keep what there is."""

from __future__ import annotations

import errno
import json
import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import numpy as np
import pytest

import kane
from kane.cli import main
from kane.cli.console import Bar
from kane.cli.files import read_columns, write_columns

MODEL = """kane: 1
name: {name}
bodies:
  rod: {{mass: 2, center: [0, -1, 0]}}
joints:
  pin: {{type: revolute, parent: ground, child: rod, axis: z, coordinate: q, speed: u}}
"""

SINGULAR = (
    MODEL.format(name="singular")
    + """loads:
  pull: {effort: "1/(q - 1)", joint: pin}
"""
)


def model_file(folder: Path, name: str = "rod", text: str = MODEL) -> Path:
    path = folder / "model.yaml"
    path.write_text(text.format(name=json.dumps(name)) if text is MODEL else text, encoding="utf-8")
    return path


@pytest.fixture
def idle(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing may be computed."""

    def computed(*_: object, **__: object) -> None:
        raise AssertionError("work was begun whose result cannot be kept")

    for question in ("simulate", "equations", "inverse_dynamics", "linearize", "check"):
        monkeypatch.setattr(kane.Model, question, computed)


@pytest.mark.usefixtures("idle")
@pytest.mark.parametrize("style", ["same name", "a link", "a second name"])
def test_a_command_does_not_overwrite_its_own_model(style: str, tmp_path: Path, capsys) -> None:
    path = model_file(tmp_path)
    before, target = path.read_bytes(), path
    if style == "a link":
        target = tmp_path / "link.yaml"
        target.symlink_to(path)
    elif style == "a second name":
        target = tmp_path / "hard.yaml"
        target.hardlink_to(path)
    assert main(["derive", str(path), "-o", str(target)]) == 2
    assert "is what the command reads" in capsys.readouterr().err
    assert path.read_bytes() == before


@pytest.mark.usefixtures("idle")
@pytest.mark.parametrize("command", ["inverse --trajectory", "ik --body rod --path"])
def test_a_command_does_not_overwrite_the_table_that_it_reads(command: str, tmp_path: Path, capsys) -> None:
    table = tmp_path / "table.csv"
    table.write_text("t,q,u,u',x,y,z\n0,0,0,0,0,0,0\n")
    before = table.read_bytes()
    name, *options = command.split()
    assert main([name, str(model_file(tmp_path)), *options, str(table), "-o", str(table)]) == 2
    assert "is what the command reads" in capsys.readouterr().err
    assert table.read_bytes() == before


@pytest.mark.usefixtures("idle")
@pytest.mark.parametrize(
    "line",
    [
        "simulate pendulum -o {}/m.csv",
        "simulate pendulum -o {}/m.npz",
        "simulate pendulum --plot {}/m.png",
        "inverse pendulum --to q=1 -o {}/m.csv",
        "derive pendulum -o {}/m.txt",
        "derive pendulum --format c -o {}/m.c",
        "report pendulum -o {}/m.html",
        "linearize pendulum --plot {}/m.svg",
    ],
)
def test_a_target_that_cannot_be_written_is_refused_before_any_work(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    usual = os.open

    def read_only(path: str, flags: int, *mode: int, **more: int) -> int:
        if flags & os.O_CREAT and str(path).startswith(str(tmp_path)):
            raise OSError(errno.EROFS, os.strerror(errno.EROFS))
        return usual(path, flags, *mode, **more)

    monkeypatch.setattr(os, "open", read_only)
    assert main(line.format(tmp_path).split()) == 2
    said = capsys.readouterr()
    assert "cannot be written: Read-only file system" in said.err and "fix:" in said.err and not said.out


def test_figures_are_printed_although_the_file_cannot_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    file = tmp_path / "m.csv"
    file.write_text("before")

    def full(self: Path, target: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(Path, "replace", full)
    assert main(["simulate", "pendulum", "--t", "1", "--json", "-o", str(file)]) == 1
    said = capsys.readouterr()
    assert json.loads(said.out)["success"] and "kept: the file as it was before" in said.err
    assert file.read_text() == "before"


def test_standard_output_that_is_full_is_a_sentence() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no full device")
    with Path("/dev/full").open("w") as full:
        line = [sys.executable, "-m", "kane", "info", "pendulum"]
        done = subprocess.run(line, stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert done.stderr == "kane: standard output: No space left on device\n"


def test_files_are_written_though_nobody_reads_the_figures(tmp_path: Path) -> None:
    """As behind `| head`, which leaves when it has seen enough."""
    files = [tmp_path / "run.csv", tmp_path / "run.png"]
    line = [sys.executable, "-m", "kane", "simulate", "pendulum", "--t", "0.1", "-o", str(files[0])]
    running = subprocess.Popen([*line, "--plot", str(files[1])], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert running.stdout is not None and running.stderr is not None
    running.stdout.close()
    said = running.stderr.read().decode()
    running.stderr.close()
    assert running.wait() == 0 and "Traceback" not in said and "Broken" not in said
    assert all(file.stat().st_size > 1000 for file in files)


@pytest.mark.parametrize("closed", ["2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(("line", "status"), [("simulate pendulum --t 0.1", 0), ("info nothing", 2), ("info", 2)])
def test_commands_do_without_standard_streams(line: str, status: int, closed: str) -> None:
    done = subprocess.run(f'"{sys.executable}" -m kane {line} {closed}', shell=True, capture_output=True, text=True)
    assert done.returncode == status
    assert not done.stderr and (status == 0 or not done.stdout)  # words about a fault are no figures


def test_times_without_finite_efforts_have_status_one_and_json_says_null(tmp_path: Path, capsys) -> None:
    path, table = model_file(tmp_path, text=SINGULAR), tmp_path / "m.csv"
    q = np.array([0.0, 1.0, 2.0])
    write_columns(table, ["t", "q", "u", "u'"], np.column_stack([np.arange(3.0), q, 0 * q, 0 * q]))
    assert main(["inverse", str(path), "--trajectory", str(table), "--json", "-o", str(tmp_path / "e.csv")]) == 1
    said = capsys.readouterr()

    def refuse(word: str) -> None:
        raise AssertionError(f"{word} is not JSON")

    efforts = json.loads(said.out, parse_constant=refuse)["tau_u"]
    assert efforts == [1.0, None, -1.0]  # tau = −1/(q − 1): no inertia, no gravity in this motion
    assert "1 of 3 times have no finite efforts, the first t = 1 s" in said.err


def test_finite_efforts_have_status_zero(tmp_path: Path, capsys) -> None:
    path, table = model_file(tmp_path, text=SINGULAR), tmp_path / "m.csv"
    write_columns(table, ["t", "q", "u", "u'"], np.array([[0.0, 0.0, 0.0, 0.0], [1.0, 2.0, 0.0, 0.0]]))
    assert main(["inverse", str(path), "--trajectory", str(table)]) == 0


@pytest.mark.parametrize("name", ["/{}/elsewhere/index", "../index", "a/b", "CON\\x", "\x1b[31m"])
def test_what_a_model_calls_itself_is_no_place_to_write(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys
) -> None:
    here = tmp_path / "here"
    (tmp_path / "elsewhere").mkdir()
    here.mkdir()
    monkeypatch.chdir(here)
    path = model_file(tmp_path, name.format(tmp_path))
    before = set(tmp_path.rglob("*"))
    assert main(["report", str(path), "--t", "0.1"]) == 0
    assert set(tmp_path.rglob("*")) - before == {here / "model.html"}
    assert capsys.readouterr().out == "model.html\n"


def test_an_interrupted_simulation_keeps_what_there_is_and_has_status_130(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys
) -> None:
    def interrupt(self: object, fraction: float) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Bar, "__call__", interrupt)
    file = tmp_path / "m.csv"
    assert main(["simulate", "double-pendulum", "--t", "1e6", "--json", "-o", str(file)]) == 130
    said = capsys.readouterr()
    assert json.loads(said.out)["outcome"] == "interrupt"
    assert "m.csv.part has what was computed" in said.err and "the same command goes on from there" in said.err
    assert len(read_columns(tmp_path / "m.csv.part")["t"]) > 0
    assert not file.exists()  # a part is not the whole


INTERRUPTED_START = """
import signal, sys

class Interrupt:
    @staticmethod
    def find_spec(name, path=None, target=None):
        if name == MODULE:
            sys.meta_path.remove(Interrupt)
            signal.raise_signal(signal.SIGINT)

sys.meta_path.insert(0, Interrupt)
from kane.__main__ import run
sys.exit(run())
"""
"""The command, interrupted when it begins to import a module."""


@pytest.mark.parametrize(
    "module", ["kane.cli", "kane.cli.parser", "kane.cli.motion", "numpy", "numba", "kane.simulate"]
)
def test_an_interrupt_while_starting_has_no_traceback(module: str) -> None:
    code = INTERRUPTED_START.replace("MODULE", repr(module))
    line = [sys.executable, "-c", code, "simulate", "pendulum", "--t", "0.1"]
    done = subprocess.run(line, capture_output=True, text=True)
    assert done.returncode in (130, -signal.SIGINT)  # by itself, or by the signal, which a shell calls 130 too
    assert not done.stdout and done.stderr in ("", "kane: interrupted\n")


def test_an_interrupt_that_a_library_drops_comes_again() -> None:
    code = """
import ctypes, signal, sys, time
from kane.cli.streams import insistent_interrupts
callback = ctypes.CFUNCTYPE(None)(lambda: signal.raise_signal(signal.SIGINT))
try:
    with insistent_interrupts():
        callback()
        time.sleep(5)
except KeyboardInterrupt:
    sys.exit(0)
sys.exit("lost")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def test_the_installed_command_starts_where_interrupts_are_minded() -> None:
    project = Path(__file__).parents[3] / "pyproject.toml"
    assert tomllib.loads(project.read_text(encoding="utf-8"))["project"]["scripts"]["kane"] == "kane.__main__:run"
