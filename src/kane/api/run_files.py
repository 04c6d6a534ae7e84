"""Motions in files: .npz and .parquet with everything, the model as text among it, and .csv, a table for any program.

Columns are t, coordinates, speeds, accelerations (u1' is the rate of u1), efforts (tau_u1 acts along u1) and work; SI
units. Beside them stands what else is known of a run (how it ended, events, transitions, the description as a model
file, values of free parameters) as JSON; beside motion.csv that is the file motion.run.json. Nothing in a file is ever
executed: records are made from the names in `RECORDS`, arrays from their bytes.
"""

from __future__ import annotations

import base64
import copy
import csv
import dataclasses
import importlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..analysis.singular import Singularity
from ..errors import InputError, KaneError, ModelError, WritingError
from ..model import read_mechanism, write_mechanism
from ..simulate import Event, Outcome, Segment, Statistics, StepImpulses, Transition, Transitions, WatchedEvents
from ..simulate.solution import Crossings
from ..writing import check_writable, replacing, write_text
from .answers import Answers
from .records import Array
from .run_values import acceleration_names, state_columns, units_of
from .saturation import Saturation
from .vehicles import Crossing
from .watched import effort_names

if TYPE_CHECKING:
    from .model import Model
    from .trajectory import Trajectory

SUFFIXES = (".npz", ".parquet", ".csv")
FORMAT = 2
"""Of the JSON part; a file of another one is refused."""

MAX_ROWS = 5_000_000
"""More rows than any motion that fits into memory beside its results."""

RECORDS: dict[str, type[Any]] = {
    r.__name__: r
    for r in (Crossings, Event, Outcome, Saturation, Segment, Singularity, Statistics, StepImpulses, Transition)
}
"""What a file may hold beside numbers, texts, lists and mappings of them."""

_NUMBERS = ("float64", "int64", "int32", "bool")
_KEY = "kane"  # of the JSON part, in an .npz file and in the metadata of a Parquet schema
_PARTS = ("outcome", "statistics", "events", "singularities", "saturation", "segments", "transitions", "step_impulses")


def save_run(run: Trajectory, path: str | Path, suffix: str = "") -> Path:
    """Write a motion; the ending of the name says how, or `suffix` in its place."""
    target = Path(path)
    suffix = suffix or target.suffix.lower()
    if suffix not in SUFFIXES:
        raise WritingError(f"{path}: the ending says the format\n    fix: end it in {', '.join(SUFFIXES)}")
    check_writable(target)
    columns, facts = motion_columns(run), json.dumps(_facts(run))
    if suffix == ".csv":
        write_text(_beside(target), facts)
        write_columns(target, columns)
    elif suffix == ".npz":
        _write_npz(target, run, columns, facts)
    else:
        _write_parquet(target, columns, units_of(run.answers.mechanism, columns), facts)
    return target


def motion_columns(run: Trajectory) -> dict[str, Array]:
    """Name → values (k,) of all columns of a motion, accelerations where they are determined."""
    found, speeds = state_columns(run), run.answers.mechanism.speeds
    try:
        rates = dict(zip(acceleration_names(speeds), run.acceleration().T, strict=True))
    except KaneError:  # in a singular position, say; they follow from the rest where they exist
        rates = {}
    place = 1 + len(run.answers.mechanism.coordinates) + len(speeds)
    items = list(found.items())
    return dict([*items[:place], *rates.items(), *items[place:]])


def write_columns(path: Path, columns: Mapping[str, Array]) -> None:
    """Write columns as CSV with a header, every number with the digits that give it back to the bit."""
    rows = np.column_stack(list(columns.values())).tolist()
    write_text(path, "\n".join([",".join(columns), *(",".join(map(repr, row)) for row in rows)]) + "\n")


def _write_npz(path: Path, run: Trajectory, columns: Mapping[str, Array], facts: str) -> None:
    """Write t, q, u, udot, tau, work, the names of coordinates and speeds, and the rest as text."""
    m, found = run.answers.mechanism, {"t": run.t, "q": run.q, "u": run.u, "tau": run.tau, "work": run.work}
    names = acceleration_names(m.speeds)
    if set(names) <= columns.keys():
        found["udot"] = np.column_stack([columns[name] for name in names]) if names else np.zeros((len(run.t), 0))
    more: dict[str, Any] = {"coordinates": np.array(m.coordinates), "speeds": np.array(m.speeds), _KEY: np.array(facts)}
    with replacing(path) as stream:
        np.savez(stream, **found, **more)


def _write_parquet(path: Path, columns: Mapping[str, Array], units: Mapping[str, str], facts: str) -> None:
    arrow, parquet = _arrow(path)
    fields = [arrow.field(n, arrow.float64(), metadata={"units": units[n]} if units[n] else None) for n in columns]
    schema = arrow.schema(fields, metadata={_KEY: facts})
    with replacing(path) as stream:
        parquet.write_table(arrow.table([arrow.array(x) for x in columns.values()], schema=schema), stream)


def _arrow(path: Path) -> tuple[Any, Any]:
    try:
        return importlib.import_module("pyarrow"), importlib.import_module("pyarrow.parquet")
    except ModuleNotFoundError:
        fix = "pip install 'kane[ensemble]', or choose .npz"
        raise InputError(f"{path}: Parquet needs pyarrow, which is not installed\n    fix: {fix}") from None


def _beside(path: Path) -> Path:
    """The file with what a table has no room for: motion.csv with motion.run.json."""
    return path.with_name(f"{path.stem}.run.json")


def _facts(run: Trajectory) -> dict[str, Any]:
    """What else is known of a run, as plain data."""
    m = run.answers.mechanism
    try:
        model, fault = write_mechanism(m), ""
    except KaneError as error:  # types of the user's own
        model, fault = None, str(error)
    crossed = {v: [(float(x), x.what, x.to) for x in times] for v, times in run.ground_crossings.items()}
    return {
        "format": FORMAT,
        "name": m.name,
        "coordinates": m.coordinates,
        "speeds": m.speeds,
        "model": model,
        "no_model": fault,
        "values": run.answers.values.tolist(),
        **{name: _encode(getattr(run, name)) for name in _PARTS if name != "segments"},
        "segments": _without_rows(run),
        "ground_crossings": crossed,
    }


def _without_rows(run: Trajectory) -> list[Any]:
    """Segments, with the number of their first row in place of times and states that the motion has as well."""
    y, found = np.column_stack([run.q, run.u, run.work]), list[Any]()
    for part in run.segments:
        first = int(cast("Any", np.searchsorted(run.t, part.t[0]))) if run.t[-1] >= run.t[0] and len(part.t) else 0
        rows = slice(first, first + len(part.t))
        same = np.array_equal(run.t[rows], part.t) and np.array_equal(y[rows], part.y)
        found.append({"rows": [first, len(part.t)], **_fields(part, ("t", "y"))} if same else _encode(part))
    return found


# plain data ----------------------------------------------------------------------------------------------------------


def _encode(value: Any) -> Any:
    """A record, array, list or mapping as plain data."""
    if isinstance(value, np.ndarray):
        array = np.ascontiguousarray(cast("Array", value))
        kind, shape = str(array.dtype), array.shape
        return {"array": kind, "shape": shape, "bytes": base64.b64encode(array.tobytes()).decode()}
    if type(value).__name__ in RECORDS and dataclasses.is_dataclass(value):
        return {"record": type(value).__name__, **_fields(value)}
    if isinstance(value, Mapping):
        return {"entries": {str(k): _encode(v) for k, v in cast("Mapping[Any, Any]", value).items()}}
    if isinstance(value, tuple | list):
        return [_encode(x) for x in cast("list[Any]", value)]
    return cast("Any", value).item() if isinstance(value, np.generic) else value


def _fields(record: Any, left_out: tuple[str, ...] = ()) -> dict[str, Any]:
    names = [f.name for f in dataclasses.fields(record) if f.name not in left_out]
    return {name: _encode(getattr(record, name)) for name in names}


def _decode(data: Any) -> Any:
    """What `_encode` made plain; lists come back as tuples."""
    if isinstance(data, list):
        return tuple(_decode(x) for x in cast("list[Any]", data))
    if not isinstance(data, dict):
        return data
    known = cast("dict[str, Any]", data)
    if "array" in known:
        if known["array"] not in _NUMBERS:
            raise ValueError(f"an array of {known['array']!r}")
        flat: Any = np.frombuffer(base64.b64decode(known["bytes"]), dtype=known["array"])
        return flat.reshape(known["shape"]).copy()
    if "record" in known:
        return RECORDS[known["record"]](**{k: _decode(v) for k, v in known.items() if k != "record"})
    return {k: _decode(v) for k, v in known["entries"].items()}


# reading -------------------------------------------------------------------------------------------------------------


def load_run(path: str | Path, model: Model | None) -> dict[str, Any]:
    """The fields of the trajectory that a file holds, with the model that it names or the one that is given."""
    source = Path(path)
    suffix = source.suffix.lower()
    if suffix not in SUFFIXES:
        raise InputError(f"{path}: is no file of a run\n    fix: its name ends in {', '.join(SUFFIXES)}")
    if not source.is_file():
        raise InputError(f"{path}: there is no such file")
    read = {".npz": _read_npz, ".parquet": _read_parquet, ".csv": _read_csv}[suffix]
    try:
        columns, facts = read(source)
        return _restore(source, columns, facts, model)
    except KaneError:
        raise
    except (OSError, ValueError, TypeError, KeyError, AttributeError, EOFError, RecursionError) as error:
        raise InputError(
            f"{path}: is damaged, or no run that was saved here: {type(error).__name__}: {error}\n"
            "    fix: save it again; a table of your own goes to pandas"
        ) from None


Columns = dict[str, Array]


def _read_npz(path: Path) -> tuple[Columns, dict[str, Any]]:
    import zipfile  # the error of a file that is no archive

    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            found: dict[str, Any] = {name: archive[name] for name in archive.files}
    except zipfile.BadZipFile as error:
        raise ValueError(str(error)) from None
    coordinates, speeds = ([str(x) for x in found[name]] for name in ("coordinates", "speeds"))
    columns: Columns = {"t": found["t"], "work": found.get("work", np.zeros(len(found["t"])))}
    columns |= dict(zip(coordinates, found["q"].T, strict=True))
    columns |= dict(zip(speeds, found["u"].T, strict=True))
    columns |= dict(zip(effort_names(tuple(speeds)), found["tau"].T, strict=True))
    return columns, _json(str(found[_KEY])) if _KEY in found else {}


def _read_parquet(path: Path) -> tuple[Columns, dict[str, Any]]:
    arrow, parquet = _arrow(path)
    try:
        table = parquet.read_table(path)
    except arrow.ArrowException as error:
        raise ValueError(str(error)) from None
    columns = {name: table.column(name).to_numpy() for name in table.column_names}
    kept = cast("dict[bytes, bytes]", table.schema.metadata or {}).get(_KEY.encode())
    return columns, {} if kept is None else _json(kept.decode())


def _read_csv(path: Path) -> tuple[Columns, dict[str, Any]]:
    beside = _beside(path)
    facts = _json(beside.read_text(encoding="utf-8")) if beside.is_file() else {}
    return read_columns(path, finite=False), facts


def _json(text: str) -> dict[str, Any]:
    facts = json.loads(text)
    if not isinstance(facts, dict):
        raise ValueError("its description is no mapping")
    known = cast("dict[str, Any]", facts)
    if known["format"] != FORMAT:
        raise ValueError(f"its format is {known['format']!r}, and {FORMAT} is read here")
    return known


def _restore(path: Path, columns: Columns, facts: dict[str, Any], model: Model | None) -> dict[str, Any]:
    answers = _model_of(path, facts, model)
    m = answers.mechanism
    needed = ("t", *m.coordinates, *m.speeds)
    missing = [name for name in needed if name not in columns]
    if missing:
        raise InputError(
            f"{path}: there is no column '{missing[0]}'\n    because '{m.name}' has the columns {', '.join(needed)}\n"
            "    fix: load it with the model that it is of"
        )
    k = len(columns["t"])
    none = np.zeros(k)

    def gather(names: tuple[str, ...]) -> Array:
        found = [np.asarray(columns.get(name, none), dtype=np.float64) for name in names]
        return np.column_stack(found) if found else np.zeros((k, 0))

    fields: dict[str, Any] = {
        "answers": answers,
        "t": np.array(columns["t"], dtype=np.float64),
        "q": gather(m.coordinates),
        "u": gather(m.speeds),
        "tau": gather(effort_names(m.speeds)),
        "work": np.array(columns.get("work", none), dtype=np.float64),
    }
    if not facts:
        said = f"{path.name}: how the motion ended is not in the file"
        return fields | {"outcome": Outcome("end", float(fields["t"][-1]), said), "statistics": Statistics()}
    fields |= {name: _decode(facts[name]) for name in _PARTS if name != "segments"}
    fields["events"] = WatchedEvents(fields["events"])
    fields["transitions"] = Transitions(fields["transitions"])
    fields["segments"] = tuple(_segment(part, fields) for part in facts["segments"])
    crossed = cast("dict[str, list[Any]]", facts["ground_crossings"])
    fields["ground_crossings"] = {v: tuple(Crossing(*x) for x in times) for v, times in crossed.items()}
    return fields


def _segment(data: dict[str, Any], fields: Mapping[str, Any]) -> Segment:
    """A segment, its rows those of the motion unless it has some of its own."""
    if "record" in data:
        return cast("Segment", _decode(data))
    first, count = data["rows"]
    rows = slice(first, first + count)
    y = np.column_stack([fields[name][rows] for name in ("q", "u", "work")])
    rest = {name: _decode(value) for name, value in data.items() if name != "rows"}
    return Segment(t=fields["t"][rows], y=y, **rest)


def _model_of(path: Path, facts: Mapping[str, Any], model: Any) -> Answers:
    """What a loaded run answers with: the model that is given, or the description in the file."""
    from .model import Model  # which imports this module

    if model is not None and not isinstance(model, Model):
        raise InputError(f"model = {type(model).__name__}: give a kane.Model, or leave it out")
    # a copy of the model that is given: it may change
    own = None if model is None else copy.copy(model)._answers  # pyright: ignore[reportPrivateUsage]
    answers = _read_description(path, facts) if own is None else own
    names = (tuple(answers.mechanism.coordinates), tuple(answers.mechanism.speeds))
    if facts and names != (tuple(facts["coordinates"]), tuple(facts["speeds"])):
        raise InputError(
            f"{path}: is a motion of '{facts['name']}' with the coordinates {', '.join(facts['coordinates'])}, not of"
            f" '{answers.mechanism.name}', which has {', '.join(names[0])}\n    fix: give the model that it is of"
        )
    values = cast("list[float]", facts.get("values", []))
    return answers.with_parameters(np.array(values)) if values else answers


def _read_description(path: Path, facts: Mapping[str, Any]) -> Answers:
    """The description that a file has of its model, or a sentence about why there is none."""
    if not facts:
        lone = path.suffix.lower() == ".csv"
        why = "it holds a table, and no model" + (f" ({_beside(path).name} is not beside it)" if lone else "")
    elif facts["model"] is None:
        why = f"its model could not be written as text:\n{facts['no_model']}"
    else:
        try:
            return Answers(read_mechanism(cast("str", facts["model"]), path.name))
        except ModelError as error:  # types of the user's own, say
            why = f"the description of its model cannot be read here:\n{error}"
    why = why.replace("\n", "\n    ")
    raise InputError(f"{path}: {why}\n    fix: give the model, kane.Trajectory.load('{path.name}', model=...)")


def read_columns(path: Path, *, finite: bool = True) -> Columns:
    """The columns of a CSV file by the names in its header, every value a number, a finite one if that is asked."""
    try:
        with path.open(newline="", encoding="utf-8-sig") as stream:
            reader = csv.reader(stream)
            names = [name.strip() for name in next(reader, list[str]())]
            rows: list[list[float]] = []
            for row in reader:
                if row:
                    rows.append(_numbers(path, reader.line_num, names, row, finite))
                if len(rows) > MAX_ROWS:
                    raise InputError(f"{path}: more than {MAX_ROWS} rows; cut the file")
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path}: cannot be read as CSV: {error}") from None
    if len(set(names)) != len(names):
        raise InputError(f"{path}: two columns have the same name in the header {','.join(names)}")
    if not rows:
        raise InputError(f"{path}: has no rows; the first line is the header, then one line per time")
    return dict(zip(names, np.array(rows, dtype=float).T, strict=True))


def _numbers(path: Path, line: int, names: list[str], row: list[str], finite: bool) -> list[float]:
    if len(row) != len(names):
        raise InputError(f"{path}, line {line}: {len(row)} values under {len(names)} names")
    numbers: list[float] = []
    for name, text in zip(names, row, strict=True):
        try:
            value = float(text)
        except ValueError:
            value = None
        if value is None or (finite and not np.isfinite(value)):
            raise InputError(f"{path}, line {line}: {name} = '{text[:40]}' is not a finite number")
        numbers.append(value)
    return numbers


__all__ = ["SUFFIXES", "load_run", "motion_columns", "read_columns", "save_run", "write_columns"]
