"""Model files: a YAML text becomes a Mechanism, or one ModelError that lists every fault with its file and line.

The schema is in docs/model-files.md. Sections are read in the order in which they depend on each other, whatever their
order in the file; entries may name what is declared further down. Nothing in a file is executed, and files are only
read from the folder of the model or from the built-in ones.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from ...catalogue import builtin_names, builtin_text
from ...errors import ModelError, Problem
from ..bulk import without_collections
from ..mechanism import Mechanism, suggestion
from ..urdf import UrdfOptions, read_urdf
from ..urdf.xml import MAX_BYTES as MAX_URDF_BYTES
from .forms import forms_with
from .nodes import MAX_BYTES, Node, compose, merge_sections, problem
from .reader import build_mechanism

SUFFIXES = (".yaml", ".yml")
URDF = ".urdf"
MAX_EXTENDS = 8
"""How many files may extend each other in a row."""

Kinds = Iterable[type[Any]]
"""Classes of the user's own constraints and loads."""


def load_mechanism(model: str | Path, *, kinds: Kinds = (), **options: Any) -> Mechanism:
    """The mechanism of a built-in name, a .yaml model file or a .urdf.

    `kinds` are the classes of the user's own constraints and loads that a model file may name by their `kind`.
    A URDF takes the options of `UrdfOptions`: base, gravity, mimic, damping, friction, packages, strict, shapes,
    right_angle.
    """
    path = Path(model)
    if path.suffix == URDF:
        return _robot(path, options)
    if options:
        what = f"the options {', '.join(sorted(options))} are those of a URDF"
        raise ModelError(Problem(f"model '{model}'", what, fix="leave them out; a model file says everything itself"))
    if isinstance(model, str) and model in builtin_names():
        mechanism = _build(builtin_text(model), f"{model}.yaml", None, kinds)
        mechanism.mark_builtin(model)
        return mechanism
    if path.suffix not in SUFFIXES:
        fix = f"{suggestion(str(model), builtin_names())} (a model file ends in .yaml or .urdf)"
        raise ModelError(Problem(f"model '{model}'", "there is no such built-in model", fix=fix))
    return _build(_file_text(path), path.name, path.parent, kinds)


def read_mechanism(text: str, source_name: str, *, kinds: Kinds = ()) -> Mechanism:
    """The mechanism that `text` describes; errors call the text `source_name`. `kinds` are as
    for `load_mechanism`."""
    return _build(text, source_name, None, kinds)


def _robot(path: Path, options: Mapping[str, Any]) -> Mechanism:
    where = f"model file '{path}'"
    try:
        chosen = UrdfOptions(**options)
    except (TypeError, ValueError) as error:
        known = ", ".join(f.name for f in fields(UrdfOptions))
        raise ModelError(Problem(where, str(error).removeprefix("UrdfOptions."), fix=f"options: {known}")) from None
    data = _file_bytes(path, MAX_URDF_BYTES)
    mechanism = read_urdf(data, path.name, folder=path.parent, options=chosen)
    mechanism.sign(repr((data, path.name, chosen)))
    return mechanism


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
    with without_collections():
        own = compose(text, source)
        tree = _extend(own, folder)
        mechanism = build_mechanism(tree, folder, forms)
    if not classes:  # what a kind of the user does is not in the text
        mechanism.sign(text if tree is own else repr(tree))
    return mechanism


def _extend(node: Node, folder: Path | None) -> Node:
    """The tree of a file laid over the trees of those it extends."""
    layers = [node]
    while isinstance(layers[-1].value, Mapping) and "extends" in layers[-1].value:
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
        below, folder = _load_parent(reference, folder)
        layers.append(below)
    result = layers.pop()
    while layers:
        result = merge_sections(result, layers.pop())
    return result


def _load_parent(reference: Node, folder: Path | None) -> tuple[Node, Path | None]:
    """What `extends` names: a built-in model, or a file in the same folder."""
    name, line = reference.value, reference.line
    if not isinstance(name, str):
        fault = problem(reference.source, line, "extends", f"expected the name of a model, found {reference.kind}")
        raise ModelError(fault)
    if name in builtin_names():
        return _require_sections(compose(builtin_text(name), f"{name}.yaml")), None
    if folder is None or Path(name).name != name or Path(name).suffix not in SUFFIXES:
        fault = problem(
            reference.source,
            line,
            "extends",
            f"{reference.kind} is not a built-in model and not a .yaml file in the same folder",
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
        raise ModelError(
            problem(reference.source, line, "extends", f"{reference.kind} leads out of the folder of the model")
        )
    return _require_sections(compose(_file_text(path), name)), folder


def _require_sections(node: Node) -> Node:
    if not isinstance(node.value, Mapping):
        raise ModelError(problem(node.source, node.line, "", f"expected sections, found {node.kind}"))
    return node
