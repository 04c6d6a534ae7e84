"""Model files: a YAML text becomes a Mechanism, or one ModelError that lists every fault with its file and line.

The schema is in docs/model-files.md. Sections are read in the order in which they depend on each other, whatever their
order in the file; entries may name what is declared further down. Nothing in a file is executed, and files are only
read from the folder of the model or from the built-in ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import Any

from ...catalogue import builtin_names, builtin_text
from ...errors import ModelError, Problem, excerpt, nearest, suggestion
from ..bulk import without_collections
from ..mechanism import Mechanism
from ..urdf import UrdfOptions, read_urdf
from ..urdf.xml import MAX_BYTES as MAX_URDF_BYTES
from .forms import forms_with
from .nodes import MAX_BYTES, Node, compose, merge_sections, problem
from .reader import build_mechanism

SUFFIXES = (".yaml", ".yml")
URDF = ".urdf"
XACRO = ".xacro"
ROBOTS = (URDF, XACRO)
"""Endings of robot descriptions of ROS."""
MAX_EXTENDS = 8
"""How many files may extend each other in a row."""

Kinds = Iterable[type[Any]]
"""Classes of the user's own constraints and loads."""


def load_mechanism(model: str | Path, *, kinds: Kinds = (), **options: Any) -> Mechanism:
    """The mechanism of a built-in name, a .yaml model file or a .urdf.

    `kinds` are the classes of the user's own constraints and loads that a model file may name by their `kind`.
    A URDF, or a .xacro that becomes one, takes the options of `UrdfOptions`: base, gravity, mimic, limits, damping,
    friction, packages, strict, shapes, right_angle, wheels, vehicle; a .xacro mappings too.
    """
    path = Path(model)
    if path.suffix in ROBOTS:
        return _robot(path, options)
    if options:
        what = f"the options {', '.join(sorted(options))} are those of a URDF"
        raise ModelError(Problem(f"model '{model}'", what, fix="leave them out; a model file says everything itself"))
    if isinstance(model, str) and model in builtin_names():
        mechanism = _build(builtin_text(model), f"{model}.yaml", None, kinds)
        mechanism.mark_builtin(model)
        return mechanism
    if path.suffix not in SUFFIXES:
        raise ModelError(_no_model(model))
    return _build(_file_text(path), path.name, path.parent, kinds)


def _no_model(model: str | Path) -> Problem:
    """What is wrong with a name that is neither that of a built-in model nor one that a model file could have."""
    try:
        is_file = Path(model).is_file()
    except (OSError, ValueError):
        is_file = False
    if is_file:
        what = f"its ending is none of {', '.join((*SUFFIXES, *ROBOTS))}, so it is no model file"
        return Problem(f"file '{model}'", what, fix="name a model file, or a built-in model")
    near = nearest(str(model), builtin_names())
    fix = f"{near} kane.models() lists all; a model file ends in .yaml or .urdf".strip()
    return Problem(f"model '{model}'", "there is no such built-in model", fix=fix)


def read_mechanism(text: str, source_name: str, *, kinds: Kinds = ()) -> Mechanism:
    """The mechanism that `text` describes; errors call the text `source_name`. `kinds` are as
    for `load_mechanism`."""
    return _build(text, source_name, None, kinds)


def _robot(path: Path, options: Mapping[str, Any]) -> Mechanism:
    where = f"model file '{path}'"
    known = [f.name for f in fields(UrdfOptions)]
    unknown = [Problem(where, f"there is no option '{n}'", fix=suggestion(n, known)) for n in options if n not in known]
    if unknown:
        raise ModelError(unknown)
    try:
        chosen = UrdfOptions(**options)
    except (TypeError, ValueError) as error:
        raise ModelError(Problem(where, str(error), fix=f"options: {', '.join(known)}")) from None
    data = _file_bytes(path, MAX_URDF_BYTES)
    if chosen.mappings and path.suffix != XACRO:
        raise ModelError(
            Problem(where, "mappings are arguments of macros, of which a .urdf has none", fix="leave them")
        )
    if path.suffix == XACRO:
        data = _expand_macros(path, chosen, where)
    mechanism = read_urdf(data, path.name, folder=path.parent, options=chosen)
    mechanism.sign(repr((data, path.name, chosen)))
    return mechanism


def _expand_macros(path: Path, chosen: UrdfOptions, where: str) -> bytes:
    """The URDF that a xacro file stands for, by the package xacrodoc. Expressions in such a file are evaluated."""
    try:
        import xacrodoc
    except ImportError:
        fix = "pip install 'kane[xacro]', or expand them yourself: xacro robot.urdf.xacro > robot.urdf"
        raise ModelError(
            Problem(where, "its macros are expanded by xacrodoc, which is not installed", fix=fix)
        ) from None
    known = chosen.packages
    try:
        if isinstance(known, Mapping):
            xacrodoc.packages.update_package_cache({name: str(folder) for name, folder in known.items()})
        elif known:
            xacrodoc.packages.look_in([str(folder) for folder in known])
        given = _Arguments((name, str(value)) for name, value in chosen.mappings.items())
        document = xacrodoc.XacroDoc.from_file(str(path), resolve_packages=False, subargs=given)
        expanded = document.to_urdf_string().encode()
    except Exception as error:  # whatever xacro and its expressions raise
        fix = "name the folders of its packages, packages=[…] or --packages, or expand it yourself with xacro"
        raise ModelError(Problem(where, f"its macros cannot be expanded: {excerpt(str(error))}", fix=fix)) from None
    unknown = [name for name in chosen.mappings if name not in given.asked]
    if unknown:
        what = f"its macros ask for no argument '{unknown[0]}'"
        fix = suggestion(unknown[0], sorted(given.asked)) if given.asked else "leave mappings out: there are none"
        raise ModelError(Problem(where, what, "mappings are arguments of macros, which <xacro:arg> declares", fix))
    return expanded


class _Arguments(dict[str, str]):
    """Arguments of macros, which notes the names that the macros ask for: xacro ignores the others."""

    def __init__(self, given: Iterable[tuple[str, str]]):
        super().__init__(given)
        self.asked: set[str] = set()

    def __contains__(self, name: object) -> bool:
        self.asked.add(str(name))
        return super().__contains__(name)

    def __getitem__(self, name: str) -> str:
        self.asked.add(name)
        return super().__getitem__(name)


def _file_bytes(path: Path, largest: int) -> bytes:
    where = f"model file '{path}'"
    try:
        if not path.is_file():
            what = "is not a file" if path.exists() else "does not exist"
            raise ModelError(Problem(where, what, fix="check the path, or name a built-in model"))
        with path.open("rb") as stream:
            data = stream.read(largest + 1)
    except (OSError, ValueError) as error:
        raise ModelError(Problem(where, f"cannot be read: {error}")) from None
    if len(data) > largest:
        raise ModelError(problem(path.name, 1, "", "the file is too large", f"at most {largest} bytes are read"))
    return data


def _file_text(path: Path) -> str:
    data = _file_bytes(path, MAX_BYTES)
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        fault = problem(path.name, line, "", "not UTF-8 text", "model files are text", "save the file as UTF-8")
        raise ModelError(fault) from None


def _build(text: str, source: str, folder: Path | None, kinds: Kinds) -> Mechanism:
    classes = tuple(kinds)
    forms = forms_with(classes)
    with without_collections(len(text)):
        own = compose(text, source)
        whole = _extend(own, folder)
        mechanism = build_mechanism(whole.tree, folder, forms, whole.robot)
    if not classes:  # what a kind of the user does is not in the text
        mechanism.sign(text if whole.tree is own and whole.robot is None else repr(whole.tree) + whole.signature)
    return mechanism


@dataclass(frozen=True, slots=True)
class _Layered:
    """What a file says on top of those that it extends, and the robot of a URDF at the bottom, if there is one, with
    its text and options."""

    tree: Node
    robot: Mechanism | None = None
    signature: str = ""


def _extend(node: Node, folder: Path | None) -> _Layered:
    """The tree of a file laid over the trees of those it extends."""
    layers = [node]
    robot: _Robot | None = None
    while robot is None and isinstance(layers[-1].value, Mapping) and "extends" in layers[-1].value:
        reference = layers[-1].value["extends"]
        if len(layers) > MAX_EXTENDS:
            raise ModelError(
                problem(
                    reference.source,
                    reference.line,
                    "extends",
                    f"more than {MAX_EXTENDS} files extend each other",
                    "a model does not extend itself",
                )
            )
        robot = _urdf_of(reference, folder)
        if robot is None:
            below, folder = _load_parent(reference, folder)
            layers.append(below)
    result = layers.pop()
    while layers:
        result = merge_sections(result, layers.pop())
    if robot is None:
        return _Layered(result)
    chosen = robot.options
    if "base" not in robot.named and isinstance(result.value, Mapping) and not _VEHICLES.isdisjoint(result.value):
        chosen = replace(chosen, base=None)  # the vehicle stands it on its wheels
    data = _file_bytes(robot.path, MAX_URDF_BYTES)
    made = read_urdf(data, robot.path.name, folder=robot.path.parent, options=chosen)
    return _Layered(result, made, repr((data, chosen)))


_VEHICLES = {"vehicle", "vehicles"}
_URDF_OPTIONS = {
    "base": str,
    "limits": str,
    "mimic": bool,
    "damping": bool,
    "friction": str,
    "strict": bool,
    "shapes": str,
}
"""Options of a URDF that `extends: {file: robot.urdf, …}` may give."""


@dataclass(frozen=True, slots=True)
class _Robot:
    """A URDF that a file extends: where it is, how it is read, and which options were named."""

    path: Path
    options: UrdfOptions
    named: tuple[str, ...]


def _urdf_of(reference: Node, folder: Path | None) -> _Robot | None:
    """The URDF in the same folder that `extends` names, by its name or with options; None for any other model."""
    source, line, value = reference.source, reference.line, reference.value
    given: Mapping[str, Node] = value if isinstance(value, Mapping) else {"file": reference}
    name = given["file"].value if "file" in given else None
    if isinstance(value, Mapping) and not (isinstance(name, str) and Path(name).suffix == URDF):
        fault = problem(
            source, line, "extends", "expected a URDF with its options", "", "{file: robot.urdf, base: planar}"
        )
        raise ModelError(fault)
    if not isinstance(name, str) or Path(name).suffix != URDF:
        return None
    options: dict[str, Any] = {key: _option(node, key) for key, node in given.items() if key != "file"}
    try:
        return _Robot(_neighbour(reference, name, folder), UrdfOptions(**options), tuple(options))
    except ValueError as error:
        raise ModelError(problem(source, line, "extends", str(error))) from None


def _option(node: Node, key: str) -> str | bool:
    """The value of an option of a URDF."""
    if key not in _URDF_OPTIONS:
        fix = suggestion(key, ["file", *_URDF_OPTIONS])
        raise ModelError(problem(node.source, node.line, "extends", f"unknown option '{key}' of a URDF", fix=fix))
    known = {"true": True, "false": False} if _URDF_OPTIONS[key] is bool else {}
    if not isinstance(node.value, str) or (known and node.value not in known):
        what = f"expected {'true or false' if known else 'a word'}, found {node.kind}"
        raise ModelError(problem(node.source, node.line, f"extends / {key}", what))
    return known.get(node.value, node.value)


def _load_parent(reference: Node, folder: Path | None) -> tuple[Node, Path | None]:
    """What `extends` names: a built-in model, or a model file in the same folder."""
    name, line = reference.value, reference.line
    if not isinstance(name, str):
        fault = problem(reference.source, line, "extends", f"expected the name of a model, found {reference.kind}")
        raise ModelError(fault)
    if name in builtin_names():
        return _require_sections(compose(builtin_text(name), f"{name}.yaml")), None
    return _require_sections(compose(_file_text(_neighbour(reference, name, folder)), name)), folder


def _neighbour(reference: Node, name: str, folder: Path | None) -> Path:
    """The path of a file that `extends` names, in the folder of the model."""
    source, line = reference.source, reference.line
    if folder is None or Path(name).name != name or Path(name).suffix not in (*SUFFIXES, URDF):
        fault = problem(
            source,
            line,
            "extends",
            f"'{excerpt(name)}' is not a built-in model and not a .yaml or .urdf file in the same folder",
            "a model file reads only its own folder",
            f"of the built-in models: {suggestion(name, builtin_names())}",
        )
        raise ModelError(fault)
    path = folder / name
    try:
        inside = path.resolve().parent == folder.resolve()
    except (OSError, ValueError, RuntimeError):
        inside = False
    if not inside:
        raise ModelError(problem(source, line, "extends", f"'{excerpt(name)}' leads out of the folder of the model"))
    return path


def _require_sections(node: Node) -> Node:
    if not isinstance(node.value, Mapping):
        raise ModelError(problem(node.source, node.line, "", f"expected sections, found {node.kind}"))
    return node
