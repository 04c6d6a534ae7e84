"""What a command line gives: the model, values by name, a motion."""

from __future__ import annotations

import contextlib
import math
import re
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from ..api import Model, load
from ..api.run_values import find_coordinate
from ..catalogue import builtin_names
from ..errors import WritingError, excerpt, nearest, suggestion
from ..model import ROBOTS, Mechanism, missing_meshes
from ..model.attitude import QUATERNIONS, start_of_attitude
from ..model.files.loading import SUFFIXES
from ..space.rotations import UNIT_TOLERANCE
from ..viewer.units import coordinate_units
from ..writing import check_writable
from . import UsageError
from .parser import HELD
from .streams import say
from .wording import in_shell


def model_of(arguments: Namespace) -> Model:
    """The model that the command line names, its parameters set as asked."""
    name = arguments.model
    _refuse_what_is_no_model(name)
    model = load(name, **_robot_options(arguments))
    if name not in builtin_names() or arguments.command == "info":  # files of built-in models explain what is doubtful
        for remark in model.mechanism.remarks:
            say(in_shell(remark, arguments.command))
    missing = missing_meshes(model.mechanism, arguments.packages) if _draws_bodies(arguments) else ""
    if missing:
        say(missing)
    values = assignments(model, arguments.set, model.parameters, "--set")
    if values:
        model.set_parameters(**values)
    _remark_degrees(model, arguments)
    return model


_TURN = 6.5  # rad: a little more than a turn, from which on an angle that is given is looked at
_ROUND = 5.0  # what degrees that people write are multiples of


def _remark_degrees(model: Model, arguments: Namespace) -> None:
    """Tell angles that look like degrees: plain numbers beyond a turn that are multiples of five."""
    angles = {c for c, unit in zip(model.coordinates, coordinate_units(model.mechanism), strict=True) if unit == "rad"}
    for option in ("q", "to", "start", *(["at"] if arguments.command == "linearize" else [])):
        for part in separate(getattr(arguments, option, None) or (), None):
            name, _, text = (x.strip() for x in part.partition("="))
            value = float(text) if _PLAIN.fullmatch(text) else 0.0
            if find_coordinate(model.mechanism, name) in angles and abs(value) >= _TURN and value % _ROUND == 0.0:
                turns = abs(value) / (2.0 * math.pi)
                say(f"--{option} {name} = {value:g} rad is {turns:.3g} turns; for degrees write {name}={value:g}*deg")


_PLAIN = re.compile(r"[+-]?\d+(\.\d*)?")


def _refuse_what_is_no_model(name: str) -> None:
    """Refuse a name of no built-in model and no file that could describe one; whether such a file does is seen when it
    is read, and a fault of the model."""
    if name in builtin_names():
        return
    path, endings = Path(name), (*SUFFIXES, *ROBOTS)
    there = bool(name) and _exists(path)
    if there and path.is_file() and path.suffix in endings:
        return
    if there:
        what = "a folder" if path.is_dir() else f"no model file: these end in {', '.join(endings)}"
        raise UsageError(f"'{name}' is {what}\n    fix: name a model file, or a built-in model (kane list)")
    beside = [str(f) for f in path.parent.glob("*") if f.suffix in endings and f.is_file()] if _is_folder(path) else []
    near = nearest(name, [*sorted(beside), *builtin_names()])
    raise UsageError(
        f"there is no built-in model and no file '{excerpt(name)}'"
        f"\n    fix: {near}{' ' * bool(near)}`kane list` names the built-in models; a file ends in {', '.join(endings)}"
    )


def _exists(path: Path) -> bool:
    """Whether a path leads to anything; one that no system could have does not."""
    try:
        return path.exists()
    except (OSError, ValueError):
        return False


def _is_folder(path: Path) -> bool:
    """Whether the folder of a file is there."""
    return _exists(path.parent) and path.parent.is_dir()


def _robot_options(arguments: Namespace) -> dict[str, Any]:
    """Options of a .urdf or .xacro, as `load` takes them."""
    keys = ("base", "limits", "packages", "right_angle", "mappings")
    robot = {key: value for key in keys if (value := getattr(arguments, key)) not in (None, [])}
    if robot and Path(arguments.model).suffix not in ROBOTS:
        key, value = next(iter(robot.items()))
        option = f"--{key.replace('_', '-')} {value}"
        raise UsageError(f"{option}: only a .urdf leaves that open; a model file says it itself")
    for folder in arguments.packages:
        if not Path(folder).is_dir():
            raise UsageError(f"--packages {folder}: there is no such folder")
    if arguments.mappings:
        given = [part.partition("=") for part in separate(arguments.mappings, None)]
        for name, equals, value in given:
            if not name.strip() or not equals:
                raise UsageError(f"--mappings {name}{equals}{value}: expected NAME=VALUE, as in --mappings mass=2")
        robot["mappings"] = {name.strip(): value.strip() for name, _, value in given}
    return robot


def _draws_bodies(arguments: Namespace) -> bool:
    """Whether a command shows bodies, or says what they are."""
    asked = any(getattr(arguments, option, None) for option in ("animate", "view"))
    return asked or arguments.command in ("info", "report", "page", "play")


def assignments(model: Model, texts: Sequence[str], known: Any, option: str) -> dict[str, float]:
    """Name → number from texts like `q1=0.1,q2=60*deg`; values are expressions in the model's parameters."""
    found: dict[str, float] = {}
    for part in separate(texts, option):
        name, equals, value = (x.strip() for x in part.partition("="))
        if not equals or not value:
            example = f"as in {option} {next(iter(known), 'q1')}=0.1"
            raise UsageError(f"{option} {part}: expected NAME=VALUE, {example}{_about_comma(part)}")
        if name not in known:
            raise UsageError(f"{option} {part}: unknown name '{name}'; {suggestion(name, known)}")
        found[name] = model.mechanism.number_of_text(value, f"{option} {name}")
    return found


def coordinates_of(model: Model, texts: Sequence[str], option: str = "--q") -> dict[str, float]:
    """Coordinates at the start, by name; a joint that turns freely may have an orientation, `flight=axis(z,90*deg)`."""
    mechanism = model.mechanism
    found: dict[str, float] = {}
    for part in separate(texts, option):
        name, equals, value = (x.strip() for x in part.partition("="))
        joint = None if name in mechanism.coordinate_records else mechanism.joints.get(name)
        if joint is None and name not in mechanism.coordinate_records and "(" in value:
            turned = [j.name for j in mechanism.joints.values() if j.type.kind in QUATERNIONS]
            raise UsageError(f"{option} {part}: no joint '{name}' that turns freely; {suggestion(name, turned)}")
        alone = find_coordinate(mechanism, name)
        if joint is None or not equals or alone != name:
            part = part.replace(name, alone, 1) if joint is not None else part
            for own, number in assignments(model, [part], mechanism.coordinate_records, option).items():
                if own in found:
                    raise UsageError(f"{option} {part}: '{own}' is given twice")
                found[own] = number
            continue
        own = [c.name for c in joint.coordinates]
        orientation = _orientation(value) if joint.type.kind in QUATERNIONS else None
        if orientation is None:
            turned = f"{name}={_ORIENTATIONS}; or " if joint.type.kind in QUATERNIONS else ""
            fix = f"{turned}its coordinates by name: {', '.join(own)}"
            raise UsageError(f"{option} {part}: '{name}' is a {joint.type.kind} joint\n    fix: {fix}")
        _refuse_long_axis(model, orientation, f"{option} {part}")
        found |= start_of_attitude(mechanism, name, orientation, f"{option} {name}")
    return found


def _refuse_long_axis(model: Model, orientation: dict[str, Any], where: str) -> None:
    """Refuse an axis that is no unit vector, with the one along it as the command line has it."""
    parts = orientation.get("axis", "z")
    if isinstance(parts, str):
        return
    axis = [model.mechanism.number_of_text(part, where) for part in parts]
    length = math.hypot(*axis)
    if abs(length - 1.0) > UNIT_TOLERANCE:
        unit = ",".join(f"{x / length:.9g}" for x in axis) if length > 0.0 else "1,0,0"
        raise UsageError(
            f"{where}: the axis has length {length:g}\n    because an axis is a unit vector\n"
            f"    fix: axis({unit},{orientation['angle']})"
        )


def speeds_of(model: Model, texts: Sequence[str], option: str = "--u") -> dict[str, float]:
    """Speeds at the start, by name; a joint that has one alone may be named instead."""
    found: dict[str, float] = {}
    for part in separate(texts, option):
        name, equals, value = (x.strip() for x in part.partition("="))
        text = f"{find_speed(model.mechanism, name)}={value}" if equals else part
        found |= assignments(model, [text], model.mechanism.speed_records, option)
    return found


def find_speed(m: Mechanism, name: str) -> str:
    """The speed that is the rate of a joint's one coordinate, by the name of the joint; any other text as it is."""
    joint = None if name in m.known_names else m.joints.get(name)
    if joint is None or len(joint.rates) != 1:
        return name
    return next((speed.name for speed in m.speed_records.values() if speed.definition == joint.rates[0]), name)


_ORIENTATIONS = "axis(z,90*deg), euler(body 321,YAW,PITCH,ROLL) or quaternion(W,X,Y,Z)"
_CALL = re.compile(r"(axis|euler|quaternion)\((.*)\)")


def _orientation(text: str) -> dict[str, Any] | None:
    """What `axis(z,90*deg)` and the like mean, as Python takes it; None for what is no orientation."""
    call = _CALL.fullmatch(text)
    if call is None:
        return None
    parts = [part.strip() for part in _parts(call[2])]
    if call[1] == "quaternion" and len(parts) == 4:
        return {"quaternion": parts}
    if call[1] == "euler" and len(parts) == 4:
        return {"euler": parts[0], "angles": parts[1:]}
    if call[1] == "axis" and len(parts) in (2, 4):
        return {"axis": parts[0] if len(parts) == 2 else parts[:3], "angle": parts[-1]}
    return None


def numbers(model: Model, text: str, count: int, option: str) -> list[float]:
    """`count` numbers from a text like `0.1,-30*deg,2`; each is an expression in the model's parameters."""
    parts = separate([text], option)
    if len(parts) != count:
        raise UsageError(f"{option} {text}: expected {count} values with commas between them, found {len(parts)}")
    return [model.mechanism.number_of_text(part.strip(), option) for part in parts]


def separate(texts: Sequence[str], option: str | None) -> list[str]:
    """What texts list, cut at commas that stand outside parentheses; one that is missing is told as a fault of the
    option, where there is one that has expressions."""
    for text in texts if option is not None else ():
        _refuse_open(text, f"{option}")
    return [part.strip() for text in texts for part in _parts(text)]


def _refuse_open(text: str, option: str) -> None:
    """Refuse a text in which a parenthesis is missing: what it lists could not be told apart."""
    opened: list[int] = []
    for i, letter in enumerate(text):
        if letter == "(":
            opened.append(i)
        elif letter == ")" and not opened:
            raise UsageError(f"{option}: a '(' is missing before this ')'\n    {text}\n    {' ' * i}^")
        elif letter == ")":
            opened.pop()
    if opened:
        raise UsageError(f"{option}: a ')' is missing: nothing closes this '('\n    {text}\n    {' ' * opened[-1]}^")


def _about_comma(part: str) -> str:
    """What to say of a part that looks like the digits behind a comma."""
    return "\n    because a comma ends a VALUE; a decimal point is '.'" if re.fullmatch(r"\d+", part) else ""


def _parts(text: str) -> list[str]:
    """The text cut at commas that stand outside parentheses."""
    parts, depth, start = [], 0, 0
    for i, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    return [p for p in (*parts, text[start:]) if p.strip()]


def _named_control(model: Model, name: str | None) -> str | None:
    """The control law of the model that the command line names."""
    if name is not None and name not in model.controls:
        known = suggestion(name, model.controls) if model.controls else "the model has none"
        fix = "give efforts by speed or joint: --control u1=-2*q1-u1"
        if name in HELD:
            fix = f"`kane simulate`, report, page and play know {name}; here leave it out, or {fix}"
        raise UsageError(f"--control {name}: unknown control law; {known}\n    fix: {fix}")
    return name


def control_of(model: Model, given: str | None) -> str | dict[str, str] | None:
    """The control law that the command line gives: by its name, or as expressions by speed or joint, with commas
    between: `u1=-2*q1-u1,elbow=0.5`."""
    if given is None or "=" not in given:
        return _named_control(model, given)
    _refuse_mixed_laws(model, given)
    found = _expressions([given], "--control", "u1=-2*q1")
    known = [*model.mechanism.speed_records, *model.mechanism.joints]
    for name in found:
        if name not in known:
            raise UsageError(f"--control {name}={found[name]}: unknown name '{name}'; {suggestion(name, known)}")
    return found


def _refuse_mixed_laws(model: Model, given: str) -> None:
    """Refuse a law by its name beside expressions."""
    parts = separate([given], "--control")
    expressions = ",".join(part for part in parts if "=" in part)
    for name in parts:
        if name in (*model.controls, *HELD):
            raise UsageError(
                f"--control {given}: a law by its name and expressions cannot be mixed\n"
                f"    fix: --control {name} alone, or --control '{expressions}' with an expression for each effort"
            )


def events_of(arguments: Namespace) -> dict[str, Any] | None:
    """What the command line watches: name → expression, which ends the motion where ! stands behind it."""
    texts = _expressions(arguments.event, "--event", "down=q1")
    return {name: event_of(text, name) for name, text in texts.items()} or None


def event_of(text: str, name: str) -> Any:
    """An event that is counted; with `!` behind it one that ends a motion, with `+` or `-` only zeros at which the
    expression rises or falls."""
    _refuse_no_zero(text, f"--event {name}={text}", name)
    expression, terminal = text.removesuffix("!").rstrip(), text.endswith("!")
    direction = {"+": 1, "-": -1}.get(expression[-1:], 0)
    if not terminal and not direction:
        return text
    found: dict[str, Any] = {"expression": expression[:-1].strip() if direction else expression}
    return found | ({"terminal": True} if terminal else {}) | ({"direction": direction} if direction else {})


def _refuse_no_zero(text: str, where: str, name: str) -> None:
    """Refuse an event whose marks stand in another order, that has nothing but marks, or that is an equation."""
    bare = text.rstrip("!+- ")
    if not bare:
        raise UsageError(f"{where}: there is no expression before the marks\n    fix: --event {name}=q1{text}")
    marks = text[len(bare) :].replace(" ", "")
    if "!" in marks[:-1]:
        ordered = marks.replace("!", "") + "!"
        raise UsageError(f"{where}: ! stands last\n    fix: --event '{name}={bare}{ordered}'")
    sides = re.split(r"(?<![<>=!])=(?!=)", bare)
    if len(sides) == 2 and all(side.strip() for side in sides):
        left, right = (side.strip() for side in sides)
        zero = left if right == "0" else f"{left} - ({right})"
        raise UsageError(
            f"{where}: an event is an expression, and is where it is zero\n    fix: --event '{name}={zero}{marks}'"
        )


def _expressions(texts: Sequence[str], option: str, example: str) -> dict[str, str]:
    """Name → expression from texts like `u1=-2*q1,u2=0`."""
    found: dict[str, str] = {}
    for part in separate(texts, option):
        name, equals, value = (x.strip() for x in part.partition("="))
        if not equals or not value or not name:
            raise UsageError(f"{option} {part}: expected NAME=EXPRESSION, as in {option} {example}{_about_comma(part)}")
        if name in found:
            raise UsageError(f"{option} {part}: '{name}' is given twice")
        found[name] = value
    return found


def file_to_write(arguments: Namespace, option: str, suffixes: Sequence[str] = ()) -> Path | None:
    """The path that an option names: of a file that can be written, is no input, and ends in one of `suffixes`.

    To be asked before anything is computed: work whose result cannot be kept is not begun.
    """
    path = getattr(arguments, option)
    if path is None:
        return None
    file = Path(path)
    if suffixes and file.suffix.lower() not in suffixes:
        raise UsageError(f"--{option} {path}: the ending says the format; choose one of {', '.join(suffixes)}")
    check_target(arguments, option, file)
    return file


def check_target(arguments: Namespace, option: str, file: Path) -> None:
    """Refuse a file that the command reads, and one that cannot be written."""
    for given in _inputs(arguments):
        with contextlib.suppress(OSError, ValueError):
            if file.samefile(given):
                raise UsageError(f"--{option} {file}: is what the command reads\n    fix: choose another name")
    try:
        check_writable(file)
    except WritingError as error:
        raise UsageError(f"--{option} {error}") from None


def _inputs(arguments: Namespace) -> list[str]:
    """Files that the command line names to be read; names of other things among them are no files."""
    named = [getattr(arguments, name, None) for name in ("model", "trajectory", "path")]
    return [name for name in (*named, *getattr(arguments, "at", ())) if name]
