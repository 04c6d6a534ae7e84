"""What the command line understands: one table of commands, their options, and an example for each."""

from __future__ import annotations

import argparse
import math
import re
from collections.abc import Sequence

from ..advice import KEEPS
from .usage import Joined, Parser

COMMANDS: dict[str, tuple[str, str]] = {
    "list": ("models", "list_models"),
    "info": ("describe", "info"),
    "ops": ("operations", "ops"),
    "derive": ("describe", "derive"),
    "explain": ("explaining", "explain"),
    "speeds": ("explaining", "speeds"),
    "inverse": ("motion", "inverse"),
    "ik": ("reach", "ik"),
    "simulate": ("motion", "simulate"),
    "sweep": ("sweep", "sweep"),
    "vehicle": ("vehicle", "vehicle"),
    "linearize": ("linear", "linearize"),
    "check": ("judge", "check"),
    "report": ("publish", "report"),
    "page": ("publish", "page"),
    "play": ("play", "play"),
    "demo": ("publish", "demo"),
    "bench": ("judge", "bench"),
    "completion": ("completion", "completion"),
}
"""Command → module of this package and function that runs it."""

METHODS = ("auto", "dop853", "rk45", "rk23", "rk4", "radau")
BASES = ("fixed", "floating")
LIMITS = ("tell", "stop")
FORMATS = ("text", "c", "latex", "sympy")
SHELLS = ("bash", "zsh", "fish")
DRAWN = ("coordinates", "speeds", "accelerations", "attitude", "efforts", "reactions", "energy")
HELD = ("hold", "none")  # words for --control where a model is shown, unless laws of the model are so called
FILES = (".yaml", ".yml", ".urdf", ".xacro")  # endings of files that describe a model
PROGRAMS = (
    "inverse_dynamics",
    "forward_dynamics",
    "mass_matrix",
    "bias",
    "kinematics",
    "energy",
    "momentum",
    "mass_center",
    "poses",
)
STEPS = ("partial_velocities", "generalized_active_forces", "generalized_inertia_forces")
EXPORTED = (*PROGRAMS, *STEPS, "constraints", "jacobian", "regressor", "control")

_ABOUT = """Equations of motion of mechanisms by Kane's method.

MODEL is the name of a built-in model (kane list), a model file (.yaml) or a robot (.urdf)."""

_EXAMPLES = """examples:
  kane list
  kane info stanford-arm
  kane ops stanford-arm --json
  kane explain cart-pole
  kane derive stanford-arm --what forward_dynamics --format c -o arm.c
  kane simulate stanford-arm --control feedback --t 10 -o motion.csv --plot motion.png
  kane sweep double-pendulum -n 1000 --q "q1=uniform(-1,1)" --time 10 --plot scatter.png
  kane ik ur5 --body flange --position 0.4,0.2,0.3
  kane check stanford-arm
  kane page double-pendulum -o pendulum.html
  kane play shopping-cart
  kane demo

exit status: 0 fine, 1 the model, a check or a motion failed, 2 the command line was not understood, 130 interrupted"""

SAMPLES = 1001
"""Times of a motion that is simulated, also for a report, which then tells of it what `kane simulate` does."""


def parser() -> argparse.ArgumentParser:
    """The parser of the whole command line."""
    top = Parser(
        prog="kane", description=_ABOUT, epilog=_EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    top.add_argument("--version", action=_Version, help="print the version and exit")
    commands = top.add_subparsers(dest="command", metavar="COMMAND", required=True)
    for add in (
        _list,
        _info,
        _ops,
        _derive,
        _explain,
        _speeds,
        _inverse,
        _ik,
        _simulate,
        _sweep,
        _vehicle,
        _linearize,
        _check,
        _report,
        _page,
        _play,
        _demo,
        _bench,
        _completion,
    ):
        add(commands)
    return top


def join_negative_values(words: Sequence[str]) -> list[str]:
    """Words in which `--position -0.3,0,1` is `--position=-0.3,0,1`: a value may start with a minus."""
    found: list[str] = []
    for word in words:
        if re.match(r"-[\d.(]", word) and found and re.fullmatch(r"--\w[\w-]*", found[-1]):
            found[-1] += f"={word}"
        else:
            found.append(word)
    return found


class _Version(argparse.Action):
    """Print `kane VERSION`; the version is looked up only when asked for."""

    def __init__(self, option_strings: list[str], dest: str, help: str | None = None):
        super().__init__(option_strings, dest, nargs=0, help=help)

    def __call__(self, parser: argparse.ArgumentParser, *_: object) -> None:
        from kane import __version__

        print(f"kane {__version__}")
        parser.exit()


def _command(commands: argparse._SubParsersAction, name: str, about: str, examples: str) -> argparse.ArgumentParser:
    return commands.add_parser(
        name,
        help=about[0].lower() + about[1:].rstrip("."),
        description=about,
        epilog=f"examples:\n{examples}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )


def _model(command: argparse.ArgumentParser, *, optional: bool = False) -> None:
    about = "a built-in model, a model file (.yaml) or a robot (.urdf)"
    command.add_argument("model", metavar="MODEL", help=about, nargs="?" if optional else None)
    command.add_argument("--base", choices=BASES, help="how the base of a .urdf stands (default fixed)")
    command.add_argument(
        "--packages",
        action="append",
        default=[],
        metavar="FOLDER",
        help="a folder with the packages that package:// in a .urdf leads to; may be given again",
    )
    command.add_argument(
        "--right-angle", type=float, metavar="RADIANS", help="of a .urdf: angles this close to 90° are taken as that"
    )
    command.add_argument(
        "--mappings", action="append", default=[], metavar="NAME=VALUE", help="arguments of a .xacro: --mappings mass=2"
    )
    command.add_argument("--limits", choices=LIMITS, help="of a .urdf: tell where they are left, or stop there")
    command.add_argument(
        "--set",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="give parameters other values: --set g=0,L1=0.2",
    )


def _json(command: argparse.ArgumentParser) -> None:
    command.add_argument("--json", action="store_true", help="print JSON")


_START = "start from other coordinates, by coordinate or joint: q1=0.1,elbow=60*deg; or JOINT=axis(z,90*deg)"
_SPEEDS = "start from other speeds, by speed or joint: u1=1,elbow=2"
_SATURATE = "keep efforts of the control within their limits"
_CONTROL = "a control law of the model, or efforts by speed or joint: u1=-2*q1-u1,elbow=0 (default: no efforts)"
_SHOWN = (
    "a control law of the model, efforts by speed or joint: u1=-2*q1-u1,elbow=0, hold (an arm, where it starts) or none"
)


def _integration(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--t",
        "--time",
        type=float,
        default=None,
        metavar="SECONDS",
        help="end of the motion (default: as the model says, or 10)",
    )
    command.add_argument("--control", action=Joined, metavar="LAW", help=_SHOWN)
    command.add_argument("--saturate", action="store_true", help=_SATURATE)
    command.add_argument(
        "--event",
        "--events",
        action="append",
        default=[],
        metavar="NAME=EXPRESSION",
        help="watch for zeros of an expression: down=q1, hard=tau_u1-5; behind it - takes those where it falls, + where"
        " it rises, and ! ends the motion there: down=q1-!",
    )
    command.add_argument(
        "--q",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help=_START,
    )
    command.add_argument(
        "--u", action="append", default=[], metavar="NAME=VALUE", help="start from other speeds: u1=1, elbow=1"
    )
    command.add_argument(
        "--rtol", type=float, default=None, help="relative tolerance of a step (default 1e-8, with constraints 1e-10)"
    )
    command.add_argument("--atol", type=float, default=None, help="absolute tolerance of a step (default rtol / 100)")
    command.add_argument(
        "--embed",
        choices=("run-time", "formulation"),
        default="run-time",
        help="where constraints are embedded (default run-time)",
    )
    command.add_argument("--method", choices=METHODS, default="auto", help="default auto: dop853, radau where stiff")
    command.add_argument(
        "--contacts",
        choices=("events", "stepping"),
        default="events",
        help="find every change of the contacts (default), or take steps of one length, with --step",
    )
    command.add_argument("--step", type=float, metavar="SECONDS", help="step of rk4 and of --contacts stepping")
    command.add_argument(
        "--max-step", type=float, default=math.inf, metavar="SECONDS", help="longest step (default: as accuracy allows)"
    )
    command.add_argument(
        "--max-steps", type=int, metavar="N", help="end after so many steps (default: where t advances no more)"
    )


def _cycloid(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--to",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="where a cycloidal motion from the start ends, by coordinate or joint: q1=60*deg,elbow=0.1",
    )
    command.add_argument("--duration", type=float, metavar="SECONDS", help="the duration of --to (default 10)")


def _list(commands: argparse._SubParsersAction) -> None:
    command = _command(
        commands, "list", "List the built-in models, with one line about each.", "  kane list\n  kane list --json"
    )
    _json(command)


def _info(commands: argparse._SubParsersAction) -> None:
    command = _command(
        commands,
        "info",
        "Show bodies, joints, coordinates, speeds, parameters and the tree of a model.",
        "  kane info stanford-arm\n  kane info my-robot.yaml --json",
    )
    _model(command)
    command.add_argument("--paths", action="store_true", help="add the path tables: which body carries which")
    _json(command)


def _ops(commands: argparse._SubParsersAction) -> None:
    command = _command(
        commands,
        "ops",
        "Count the operations of the programs, by stage, beside published counts.",
        "  kane ops stanford-arm\n  kane ops stanford-arm --free --json\n  kane ops --table --arms\n"
        "  kane ops --vehicles",
    )
    _model(command, optional=True)
    command.add_argument("--free", action="store_true", help="keep all parameters as inputs")
    command.add_argument(
        "--table", action="store_true", help="general arms of n axes: formulas of the literature, ours"
    )
    command.add_argument("--arms", action="store_true", help="well-known arms, numbers folded, beside published counts")
    command.add_argument(
        "--vehicles", action="store_true", help="vehicles with 1 to 10 links and 3 to 6 wheels, beside published bounds"
    )
    _json(command)


def _derive(commands: argparse._SubParsersAction) -> None:
    command = _command(
        commands,
        "derive",
        "Print a program of the model: one operation per line, with what it stands for.",
        "  kane derive stanford-arm | head -40\n"
        "  kane derive stanford-arm --what forward_dynamics --format c -o arm.c   (writes arm.c and arm.h)",
    )
    _model(command)
    command.add_argument("--what", choices=EXPORTED, default="inverse_dynamics", help="(default inverse_dynamics)")
    command.add_argument("--control", metavar="NAME", help="the law of --what control, where there are several")
    command.add_argument(
        "--format",
        choices=FORMATS,
        default="text",
        help="text (default), C and header, LaTeX, Python with SymPy",
    )
    command.add_argument("--free", action="store_true", help="keep all parameters as inputs")
    command.add_argument("-o", "--output", metavar="FILE", help="write to a file")


def _explain(commands: argparse._SubParsersAction) -> None:
    command = _command(
        commands,
        "explain",
        "Show Kane's method on the model step by step: partial velocities, forces, what drops out, the equations.",
        "  kane explain cart-pole\n"
        "  kane explain stanford-arm-kane --beside rates | less -S\n"
        "  kane explain spinning-top --format html -o top.html\n"
        "  kane explain double-pendulum --beside \"u1=q1', u2=q1' + q2'\"\n\n"
        "Beside it stands the same with other speeds: the cheapest that `kane speeds` finds, u = q', or your own.",
    )
    _model(command)
    command.add_argument("--format", choices=("text", "latex", "html"), help="(default text, or by the file's ending)")
    command.add_argument(
        "--beside",
        default="suggested",
        metavar="CHOICE",
        help="suggested, rates, none, or definitions NAME=EXPRESSION (default suggested)",
    )
    command.add_argument(
        "--independent", metavar="NAMES", help="speeds that the equations under constraints are written for: u1,u2"
    )
    command.add_argument("-o", "--output", metavar="FILE", help="write to a .txt, .tex or .html file")


def _speeds(commands: argparse._SubParsersAction) -> None:
    command = _command(
        commands,
        "speeds",
        "Try choices of generalized speeds and count what each takes, cheapest first.",
        "  kane speeds stanford-arm\n"
        "  kane speeds stanford-arm -o arm.yaml   (writes the model with the cheapest)\n"
        "  kane speeds ur5 --tries 50 --json",
    )
    _model(command)
    command.add_argument("--tries", type=int, metavar="N", help="choices to measure (default 200, fewer if large)")
    command.add_argument("--json", action="store_true", help="print figures as JSON")
    command.add_argument("-o", "--output", metavar="FILE", help="write the model with the cheapest to a .yaml file")


def _inverse(commands: argparse._SubParsersAction) -> None:
    command = _command(
        commands,
        "inverse",
        "Compute the efforts that produce a motion, from a CSV file or along a cycloid.",
        "  kane inverse stanford-arm --trajectory motion.csv -o efforts.csv --plot efforts.png\n"
        "  kane inverse stanford-arm --to q1=60*deg,q2=60*deg,q3=60*deg,q4=60*deg,q5=60*deg,q6=0.1 --duration 10\n\n"
        "The CSV file has a header: t, the coordinates, the speeds, the accelerations (u1', ...). Accelerations, or\n"
        "speeds and accelerations, may be missing: splines through the columns that are there replace them.",
    )
    _model(command)
    command.add_argument("--trajectory", metavar="FILE.csv", help="the motion")
    _cycloid(command)
    command.add_argument("--samples", type=int, default=201, help="times along the cycloid (default 201)")
    command.add_argument("-o", "--output", metavar="FILE.csv", help="write the efforts there (default: print them)")
    command.add_argument("--plot", metavar="FILE", help="draw them (.png, .svg or .pdf)")
    _json(command)


def _ik(commands: argparse._SubParsersAction) -> None:
    command = _command(
        commands,
        "ik",
        "Find coordinates that bring a point of a body to a pose, or along a path of poses.",
        "  kane ik stanford-arm --body F --at 0,0.07,0 --position 0.2,0.3,0.4\n"
        "  kane ik panda.urdf --body panda_hand --position 0.4,-0.1,0.5 --euler xyz:180*deg,0,0\n"
        "  kane ik ur5 --body flange --path poses.csv -o motion.csv\n\n"
        "Positions are in N, in metres; angles are radians unless marked (30*deg). Without an orientation only the\n"
        "position counts. The columns of a path are x, y, z and, where the orientation counts, qw, qx, qy, qz (a unit\n"
        "quaternion); others, such as t, are passed on. Status 1 if a pose is not reached, or the coordinates jump.",
    )
    _model(command)
    command.add_argument("--body", metavar="NAME", help="the body, or link, that is to be brought there")
    command.add_argument("--at", default="0,0,0", metavar="X,Y,Z", help="its point, in its frame (default 0,0,0)")
    command.add_argument("--position", metavar="X,Y,Z", help="where the point shall be")
    command.add_argument("--euler", metavar="AXES:A,B,C", help="orientation: body-three angles, xyz:10*deg,0,90*deg")
    command.add_argument("--quaternion", metavar="W,X,Y,Z", help="orientation: unit quaternion, scalar part first")
    command.add_argument("--path", metavar="FILE.csv", help="poses to follow, each from the one before")
    command.add_argument("--largest-step", type=float, default=0.5, metavar="RAD", help="more is a jump (default 0.5)")
    command.add_argument(
        "--start", action="append", default=[], metavar="NAME=VALUE", help="where the search starts: q1=0.1,q2=60*deg"
    )
    command.add_argument("--tolerance", type=float, default=1e-9, help="√(angle² + distance²) allowed (default 1e-9)")
    command.add_argument("-o", "--output", metavar="FILE.csv", help="write the coordinates there")
    _json(command)


def _simulate(commands: argparse._SubParsersAction) -> None:
    command = _command(
        commands,
        "simulate",
        "Simulate the motion; an interrupt (Ctrl-C) keeps what was computed.",
        "  kane simulate stanford-arm --control feedback --t 10 -o motion.csv --plot motion.png\n"
        "  kane simulate stanford-arm --q q1=0.1,q2=80*deg --rtol 1e-11 --json\n\n"
        "While a long run is under way, motion.csv.part has what was computed so far and motion.csv.resume what it\n"
        "takes to go on: after an interrupt or a kill the same command goes on from there, to the same bytes.",
    )
    _model(command)
    _integration(command)
    _cycloid(command)
    help_ = f"times written; 0: each step (default {SAMPLES})"
    command.add_argument("--samples", type=int, default=SAMPLES, help=help_)
    command.add_argument("-o", "--output", metavar="FILE", help="write the motion: .csv, .npz or .parquet")
    command.add_argument("--anew", action="store_true", help="do not go on with a run that was interrupted or killed")
    command.add_argument("--plot", metavar="FILE", help="draw it (.png, .svg or .pdf)")
    command.add_argument(
        "--of",
        action="append",
        default=[],
        metavar="WHAT",
        help=f"what --plot draws: {DRAWN[0]} (default), {', '.join(DRAWN[1:])}, reactions of NAME, a column or an"
        " expression, with commas between; in one panel with 'and' between: 'q1 and q2'",
    )
    command.add_argument("--animate", metavar="FILE", help="write a film (.gif; .mp4 if ffmpeg is installed)")
    command.add_argument("--view", action="store_true", help="show it in the browser, on this machine only")
    _json(command)


def _sweep(commands: argparse._SubParsersAction) -> None:
    command = _command(
        commands,
        "sweep",
        "Simulate many members that differ in starts and parameters; an interrupt (Ctrl-C) keeps what was computed.",
        '  kane sweep double-pendulum -n 1000 --q "q1=uniform(-1,1)" --parameter "m1=normal(1,0.05)" --time 10\n'
        '  kane sweep whipple-bicycle -n 500 --u "uroll=normal(0,0.5)" --event "fell=roll**2 - 1!" --out runs.zarr\n\n'
        "Values are numbers, normal(mean, deviation), uniform(low, high) or choice(a, b, ...). An event is an\n"
        "expression whose zeros are counted; behind it - or + counts\n"
        "only those where it falls or rises (over=tipover-), and ! ends the motion. A store is a folder with Zarr\n"
        "arrays and one row per member in members.parquet. Status 1 if a member failed.",
    )
    _model(command)
    many = {"action": "append", "default": []}
    command.add_argument("-n", type=int, required=True, metavar="MEMBERS", help="how many")
    command.add_argument("--seed", type=int, default=0, help="what is drawn depends on it and the member (default 0)")
    command.add_argument("--sampling", choices=("random", "latin", "sobol"), default="random", help="(default random)")
    command.add_argument("--q", **many, metavar="NAME=VALUE", help="coordinates at the start: q1=uniform(-1,1)")
    command.add_argument("--u", **many, metavar="NAME=VALUE", help="speeds at the start: u1=normal(0,0.1)")
    command.add_argument("--parameter", **many, metavar="NAME=VALUE", help="parameters: m1=normal(1,0.05)")
    command.add_argument(
        "--event", "--events", **many, metavar="NAME=EXPRESSION", help="count its zeros: fell=roll**2-1, hard=tau_u1-5"
    )
    command.add_argument(
        "--watch",
        **many,
        metavar="NAME=EXPRESSION",
        help="keep its extremes and distribution: height=-L1*cos(q1), effort=abs(tau_u1)",
    )
    command.add_argument("--time", "--t", type=float, metavar="SECONDS", help="end (default: as the model says, or 10)")
    command.add_argument("--samples", type=int, default=101, help="times that are kept; 0: the end alone (default 101)")
    command.add_argument("--keep", choices=KEEPS, default="ends", help="(default ends)")
    command.add_argument("--control", action=Joined, metavar="LAW", help=_CONTROL)
    command.add_argument("--saturate", action="store_true", help=_SATURATE)
    command.add_argument("--rtol", type=float, default=None, help="relative tolerance of a step, as for simulate")
    command.add_argument("--atol", type=float, default=None, help="absolute tolerance of a step (default rtol / 100)")
    command.add_argument("--method", choices=METHODS, default="auto", help="default auto: dop853, radau where stiff")
    command.add_argument("--step", type=float, metavar="SECONDS", help="step of rk4")
    command.add_argument("--out", metavar="FOLDER.zarr", help="store: a folder, or an address of fsspec")
    command.add_argument("--resume", action="store_true", help="go on with the store of an earlier run")
    command.add_argument("--processes", type=int, metavar="N", help="by N processes (default: threads, one per core)")
    command.add_argument("--dask", metavar="ADDRESS", help="by a cluster: tcp://host:8786, or its scheduler file")
    command.add_argument("--plot", metavar="FILE", help="draw (.png, .svg or .pdf)")
    command.add_argument(
        "--kind",
        choices=("scatter", "fan", "histogram", "map", "sensitivity", "sobol"),
        default="scatter",
        help="(default scatter)",
    )
    command.add_argument(
        "--over", metavar="NAME,NAME", help="what a map is over, across and up: ux,m1 (default: what matters most)"
    )
    command.add_argument("--cells", metavar="N", help="cells of a map along both axes, or NxM across and up")
    command.add_argument("--report", metavar="FILE.html", help="write all pictures and figures to one file")
    command.add_argument(
        "--sobol", type=int, metavar="N", help="in the report: Sobol indices, by N (d + 2) more members"
    )
    command.add_argument(
        "--result",
        **many,
        metavar="COLUMN",
        help="what is drawn: first_fell, high_height, end_q1, ...; fell: whether that event occurs",
    )
    _json(command)


def _vehicle(commands: argparse._SubParsersAction) -> None:
    command = _command(
        commands,
        "vehicle",
        "Simulate a vehicle: forces of the ground on its wheels, where it would slip, skid, lift a wheel or tip over.",
        "  kane vehicle tanner-mobile-manipulator\n"
        "  kane vehicle ackermann-car --control weave --plot car.png --animate car.html\n\n"
        "The picture shows the motion from above with the support polygon and the load point, forces, energy and the\n"
        "tip-over measure, unsafe spans shaded; the page plays the motion in 3-D with the forces as arrows.",
    )
    _model(command)
    _integration(command)
    command.add_argument("--vehicle", metavar="NAME", help="which one, where there are several")
    command.add_argument("--samples", type=int, default=501, help="times that are looked at (default 501)")
    command.add_argument("--plot", metavar="FILE", help="draw it (.png, .svg or .pdf)")
    command.add_argument("--animate", metavar="FILE.html", help="write a page that plays the motion with force arrows")
    _json(command)


def _linearize(commands: argparse._SubParsersAction) -> None:
    command = _command(
        commands,
        "linearize",
        "Linearize the motion about a state, constraints embedded: eigenvalues, frequencies, damping, eigenmodes.",
        "  kane linearize double-pendulum --equilibrium\n"
        "  kane linearize whipple-bicycle --at ux=5,uroll=0 --ignore --without ux --plot eigenvalues.png\n"
        "  kane linearize whipple-bicycle --at state.json --states roll,steer,uroll,usteer --json\n\n"
        "What --at does not name is as the model starts; a state off the constraints is moved onto them. A .json file\n"
        "has names and values. Status 1 if there is no equilibrium.",
    )
    _model(command)
    command.add_argument(
        "--at",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="coordinates and speeds of the state, or a .json file of them",
    )
    command.add_argument(
        "--equilibrium", action="store_true", help="find a state of rest from there first, under --control"
    )
    command.add_argument("--control", action=Joined, metavar="LAW", help=_CONTROL)
    command.add_argument(
        "--states", action=Joined, metavar="NAMES", help="coordinates and speeds that are to be independent"
    )
    command.add_argument("--ignore", action="store_true", help="leave out coordinates that nothing else depends on")
    command.add_argument(
        "--without", action=Joined, metavar="NAMES", help="leave out these states too, on which no other depends"
    )
    command.add_argument("--plot", metavar="FILE", help="draw the eigenvalues (.png, .svg or .pdf)")
    _json(command)


def _check(commands: argparse._SubParsersAction) -> None:
    command = _command(
        commands,
        "check",
        "Compare the equations with independent ones and with the laws of mechanics; status 1 if a check fails.",
        "  kane check stanford-arm\n  kane check my-robot.yaml --json",
    )
    _model(command)
    _json(command)


def _report(commands: argparse._SubParsersAction) -> None:
    command = _command(
        commands,
        "report",
        "Write one HTML file: model, equations, motion, checks and a 3-D view that plays without network.",
        "  kane report stanford-arm --control feedback -o arm.html",
    )
    _model(command)
    _integration(command)
    _cycloid(command)
    command.add_argument("-o", "--output", metavar="FILE.html", help="(default MODEL.html)")


def _page(commands: argparse._SubParsersAction) -> None:
    command = _command(
        commands,
        "page",
        "Write one HTML file that simulates the model by itself: to watch, to touch, with sliders, without network.",
        "  kane page whipple-bicycle -o bicycle.html\n"
        "  kane page pendulum --free L,g -o pendulum.html\n"
        "  kane page ur5 --to q1=60*deg,q2=-90*deg --duration 3 -o arm.html\n\n"
        "Parameters that --free names have sliders. A model that has control laws moves under the first one, unless\n"
        "--control says otherwise ('none' for no efforts). An arm that has no law is held where it starts: a model\n"
        "whose driven joints have limits, or can move the last body of a chain in all six directions. With --to it\n"
        "goes to another posture and stays there.",
    )
    _model(command)
    command.add_argument(
        "--free", action=Joined, default="", metavar="NAMES", help="parameters with sliders: L,g or all"
    )
    command.add_argument("--control", action=Joined, metavar="LAW", help=_SHOWN)
    _cycloid(command)
    command.add_argument("--q", action="append", default=[], metavar="NAME=VALUE", help="start from other coordinates")
    command.add_argument("--u", action="append", default=[], metavar="NAME=VALUE", help="start from other speeds")
    command.add_argument(
        "--contacts",
        choices=("events", "stepping"),
        help="find every change of the contacts, or take steps of one length (default where there are very many)",
    )
    command.add_argument(
        "--step", type=float, metavar="SECONDS", help="length of a step (default 0.001, stepping over contacts 0.005)"
    )
    command.add_argument("-o", "--output", metavar="FILE.html", help="(default MODEL.html)")


def _play(commands: argparse._SubParsersAction) -> None:
    command = _command(
        commands,
        "play",
        "Run the model in real time on this machine, to be seen and touched in a page of a browser beside it.",
        "  kane play shopping-cart\n"
        "  kane play whipple-bicycle --rate 2000 --t 60 -o session.npz\n\n"
        "The page has an address of this machine alone, with a token in it. Ctrl-C ends it. Control laws and --to are\n"
        "as for kane page.",
    )
    _model(command)
    command.add_argument("--control", action=Joined, metavar="LAW", help=_SHOWN)
    _cycloid(command)
    command.add_argument("--rate", type=float, default=1000.0, metavar="HZ", help="ticks in a second (default 1000)")
    command.add_argument("--steps", type=int, default=1, metavar="N", help="steps of the model in a tick (default 1)")
    command.add_argument("--t", "--time", type=float, metavar="SECONDS", help="end by itself (default: with Ctrl-C)")
    command.add_argument("--port", type=int, default=0, metavar="N", help="where to listen (default: any that is free)")
    command.add_argument("--open", action="store_true", help="open the page in the browser")
    command.add_argument("--q", action="append", default=[], metavar="NAME=VALUE", help="start from other coordinates")
    command.add_argument("--u", action="append", default=[], metavar="NAME=VALUE", help="start from other speeds")
    command.add_argument("-o", "--output", metavar="FILE.npz", help="keep the session: states, positions, forces")


def _demo(commands: argparse._SubParsersAction) -> None:
    command = _command(
        commands,
        "demo",
        "The Stanford arm of Kane & Levinson (1983): derive, count, drive, simulate, check, report.",
        "  kane demo\n  kane demo -o arm.html --json",
    )
    command.add_argument("-o", "--output", default="kane-demo/stanford-arm.html", metavar="FILE.html")
    _json(command)


def _bench(commands: argparse._SubParsersAction) -> None:
    command = _command(
        commands,
        "bench",
        "Run the benchmarks beside their peers; they are part of the source, not of the installed package.",
        "  kane bench\n  kane bench batch",
    )
    command.add_argument("parts", nargs="*", metavar="PART", help="only benchmarks whose name contains this")


def _completion(commands: argparse._SubParsersAction) -> None:
    command = _command(
        commands,
        "completion",
        "Print a script that completes commands, options, models and files in a shell.",
        '  eval "$(kane completion bash)"                                     (in ~/.bashrc)\n'
        "  kane completion zsh > ~/.zfunc/_kane                               (a folder of $fpath)\n"
        "  kane completion fish > ~/.config/fish/completions/kane.fish",
    )
    command.add_argument("shell", choices=SHELLS, help="bash, zsh or fish")
    ask = "print these of a model and nothing else, as the scripts ask for them"
    command.add_argument("--names", choices=("q", "u"), help="coordinates or speeds: " + ask)
    command.add_argument("--of", dest="named_model", metavar="MODEL", default="", help="the model that has --names")
