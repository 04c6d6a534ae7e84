"""The animated 3-D view: a recorded scene in one HTML page that plays without network, and the same page served here.

Recording needs no socket: the scene is handed to viser's recorder directly. Serving is a page on 127.0.0.1 behind a
secret path; requests that name another host are refused, and nothing is accepted from the page.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import threading
import webbrowser
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import numpy as np

from ..model import Mechanism
from .arrows import Arrows, vehicle_arrows
from .shapes import Array, Piece, center_view, is_followed, pieces, points_in_N, turn_points, up_direction

FRAMES_PER_SECOND = 30
MOST_FRAMES = 1200
"""Frames of a recording; a longer motion gets fewer per second."""

LINE_RADIUS = 0.006
"""Radius of a line, as a part of the size of the scene."""


def recorded_scene(trajectory: Any, *, arrows: Sequence[Arrows] | None = None, dark: bool = False) -> str:
    """A self-contained HTML page that plays the motion, t (k,), q (k, n) and model.poses(q) of `trajectory`, with
    `arrows`, by default the forces of the ground on vehicles."""
    model: Mechanism = trajectory.model.mechanism
    t, poses = _frames(trajectory)
    parts = pieces(model)
    low, high = _extent(model, parts, poses)
    recorder = _recorder()
    scene, camera = recorder.scene, recorder.initial_camera
    reach = float(np.max(high - low))
    up = np.array(up_direction(model))
    scene.set_up_direction(tuple(float(c) for c in up))
    _stage(scene, model, low, high, reach, up)
    nodes = node_names(model)
    for piece in parts:
        _add(scene, piece, nodes[piece.body], LINE_RADIUS * reach)
    _add_traces(scene, model, poses)
    middle = (low + high) / 2
    side = _sideways(up)
    camera.look_at = tuple(middle)
    camera.position = tuple(middle + reach * (0.9 * side + 0.65 * np.cross(side, up) + 0.4 * up))
    camera.fov = 0.8
    shown = vehicle_arrows(trajectory) if arrows is None else arrows
    moving = [_add_arrows(scene, k, each, t, _view_origin(trajectory, t), reach) for k, each in enumerate(shown)]
    return _record_frames(recorder, model, t, poses, moving).as_html(dark_mode=dark)


def _frames(trajectory: Any) -> tuple[Array, Array]:
    """Frame times and poses (frames, bodies, 12) along the motion."""
    t, q = np.asarray(trajectory.t, dtype=float), np.asarray(trajectory.q, dtype=float)
    if t[-1] < t[0]:
        t, q = t[::-1], q[::-1]
    span = t[-1] - t[0]
    count = int(min(MOST_FRAMES, max(2, round(span * FRAMES_PER_SECOND) + 1)))
    times = np.linspace(t[0], t[-1], count)
    shown = np.column_stack([np.interp(times, t, column) for column in q.T])
    return times, center_view(trajectory.model.mechanism, trajectory.model.poses(shown, t=times))


def _view_origin(trajectory: Any, times: Array) -> Array:
    """What is subtracted from places at each time (frames, 3): the middle of the bodies where they are followed."""
    t, q = np.asarray(trajectory.t, dtype=float), np.asarray(trajectory.q, dtype=float)
    shown = np.column_stack([np.interp(times, t, column) for column in q.T])
    poses = trajectory.model.poses(shown, t=times)
    followed = is_followed(trajectory.model.mechanism, poses)
    return poses[..., 9:].mean(axis=-2) if followed else np.zeros((len(times), 3))


def _add_arrows(scene: Any, number: int, arrows: Arrows, times: Array, origin: Array, reach: float) -> tuple[Any, Any]:
    """The node of some arrows, and their ends (frames, n, 2, 3) as the view sees them."""
    at, vector = arrows.between(times)
    start = at - origin[:, None, :]
    ends = np.stack([start, start + arrows.scale() * vector], axis=2).astype(np.float32)
    handle = scene.add_arrows(
        f"/arrows-{number}",
        ends[0],
        _rgb(arrows.color),
        shaft_radius=0.004 * reach,
        head_radius=0.011 * reach,
        head_length=0.025 * reach,
    )
    return handle, ends


def _extent(model: Mechanism, parts: tuple[Piece, ...], poses: Array) -> tuple[Array, Array]:
    """Lowest and highest corner (m, in N) of everything that is seen during the motion, the origin included."""
    index = {name: i for i, name in enumerate(model.bodies)}
    points = [np.zeros((1, 3))]
    for piece in parts:
        reach = np.array([piece.shape.at, piece.shape.size[:3] if piece.shape.kind == "line" else piece.shape.at])
        half = 0.0 if piece.shape.kind == "line" else max(piece.shape.size) / 2
        for row in poses[:: max(1, len(poses) // 60)]:
            center = points_in_N(row, index[piece.body], reach)
            points += [center - half, center + half]
    all_points = np.concatenate(points)
    low, high = all_points.min(axis=0), all_points.max(axis=0)
    flat = max(1e-3, 0.05 * float(np.max(high - low)))
    return low - flat, high + flat


def _sideways(up: Array) -> Array:
    """A horizontal unit vector."""
    other = np.array([1.0, 0.0, 0.0]) if abs(up[0]) < 0.8 else np.array([0.0, 1.0, 0.0])
    side = other - up * (other @ up)
    return side / np.linalg.norm(side)


def _recorder() -> Any:
    """A viser scene that is recorded and never served."""
    import viser
    from viser import _viser, infra
    from viser.infra._async_message_buffer import AsyncMessageBuffer

    class Deaf(infra.WebsockServer):
        """Takes messages and opens no port."""

        def __init__(self, loop: asyncio.AbstractEventLoop):
            super().__init__("127.0.0.1", 0)
            self._broadcast_buffer = AsyncMessageBuffer(loop, persistent_messages=True)

    class Recorder(viser.ViserServer):
        """The scene, camera and recorder of a server without its server."""

        def __init__(self) -> None:
            loop = asyncio.new_event_loop()
            loop.close()
            self._websock_server = Deaf(loop)
            self._scene_lifecycle_lock = threading.RLock()
            self._initial_camera = _viser.InitialCameraConfig(broadcast=self._websock_server.queue_message)
            self.scene = viser.SceneApi(self, ThreadPoolExecutor(max_workers=1), loop)

    return Recorder()


def _stage(scene: Any, model: Mechanism, low: Array, high: Array, reach: float, up: Array) -> None:
    """Lights, the floor under the mechanism and the axes of N."""
    scene.configure_default_lights(True, cast_shadow=True)
    axis = int(np.argmax(np.abs(up)))
    if abs(up[axis]) > 0.999:
        floor = (low + high) / 2
        floor[axis] = 0.0 if model.vehicles else low[axis] if up[axis] > 0 else high[axis]
        cell = 10.0 ** np.floor(np.log10(max(reach, 1e-9) / 2))
        scene.add_grid(
            "/floor",
            width=float(3 * reach),
            height=float(3 * reach),
            plane=("yz", "xz", "xy")[axis],
            cell_size=float(cell),
            section_size=float(5 * cell),
            position=tuple(floor),
            cell_color=(205, 210, 215),
            section_color=(160, 168, 176),
            shadow_opacity=0.2,
        )
    scene.add_frame("/N", axes_length=0.12 * reach, axes_radius=0.003 * reach)
    for node in node_names(model).values():
        scene.add_frame(node, show_axes=False)


def node_names(model: Mechanism) -> dict[str, str]:
    """Body → its node in the scene. A path of nodes has slashes, names of bodies may: numbers tell them apart."""
    return {name: f"/{i + 1} {name.replace('/', '∕')}" for i, name in enumerate(model.bodies)}


def _rgb(color: str) -> tuple[int, int, int]:
    from matplotlib.colors import to_rgb

    try:
        r, g, b = to_rgb(color)
    except ValueError:  # a name that only some palettes know
        return (122, 133, 148)
    return (round(255 * r), round(255 * g), round(255 * b))


def _add(scene: Any, piece: Piece, node: str, radius: float) -> None:
    shape, color = piece.shape, _rgb(piece.color)
    name = f"{node}/{shape.kind}-{len(scene._handle_from_node_name)}"
    if shape.kind == "box":
        scene.add_box(name, color=color, dimensions=shape.size, position=shape.at, wxyz=shape.wxyz)
    elif shape.kind == "sphere":
        scene.add_icosphere(name, radius=shape.size[0], color=color, position=shape.at)
    elif shape.kind == "cylinder":
        along = turn_points(shape, np.eye(3)["xyz".index(shape.axis)])
        scene.add_cylinder(
            name, radius=shape.size[0], height=shape.size[1], color=color, position=shape.at, wxyz=_turn_from_z(along)
        )
    else:
        start, end = np.array(shape.at), np.array(shape.size[:3])
        length = float(np.linalg.norm(end - start))
        if length > 0:
            scene.add_cylinder(
                name,
                radius=radius,
                height=length,
                color=color,
                position=tuple((start + end) / 2),
                wxyz=_turn_from_z((end - start) / length),
            )


def _turn_from_z(direction: Array) -> tuple[float, float, float, float]:
    """The quaternion (wxyz) of the shortest turn from z to a unit vector."""
    x, y, z = (float(c) for c in direction)
    if z < -1 + 1e-12:
        return (0.0, 1.0, 0.0, 0.0)
    w = np.sqrt((1 + z) / 2)
    return (float(w), float(-y / (2 * w)), float(x / (2 * w)), 0.0)


def _add_traces(scene: Any, model: Mechanism, poses: Array) -> None:
    """The path of the mass centre of each body at the end of a branch."""
    parents = {j.parent.name for j in model.joints.values()}
    nodes = node_names(model)
    for i, (name, body) in enumerate(model.bodies.items()):
        if name in parents or len(poses) < 3:
            continue
        center = np.array([[model.number(c, name) for c in body.center]])
        path = np.concatenate([points_in_N(row, i, center) for row in poses])
        if np.ptp(path, axis=0).max() > 0:
            segments = np.stack([path[:-1], path[1:]], axis=1).astype(np.float32)
            scene.add_line_segments(
                f"/path of {nodes[name][1:]}", segments, (150, 110, 60), thickness=2.0, thickness_units="screen"
            )


def _record_frames(
    recorder: Any, model: Mechanism, t: Array, poses: Array, arrows: Sequence[tuple[Any, Any]] = ()
) -> Any:
    """The recording of all frames; `arrows` are nodes and their ends (frames, n, 2, 3)."""
    from scipy.spatial.transform import Rotation

    handles = [recorder.scene._handle_from_node_name[node] for node in node_names(model).values()]
    matrices = poses[:, :, :9].reshape(-1, 3, 3)
    wxyz = Rotation.from_matrix(matrices).as_quat(scalar_first=True).reshape(*poses.shape[:2], 4)
    for i, handle in enumerate(handles):
        handle.wxyz, handle.position = wxyz[0, i], poses[0, i, 9:]
    serializer = recorder.get_scene_serializer()
    for k, wait in enumerate(np.diff(t), start=1):
        serializer.insert_sleep(float(wait))
        for i, handle in enumerate(handles):
            if not np.array_equal(poses[k, i], poses[k - 1, i]):
                handle.wxyz, handle.position = wxyz[k, i], poses[k, i, 9:]
        for node, ends in arrows:
            node.points = ends[k]
    return serializer


class SceneServer:
    """A page on 127.0.0.1 at a secret path; use as a context, `url` is where it is."""

    def __init__(self, page: str, port: int = 0):
        self._page = page.encode()
        self._token = secrets.token_urlsafe(24)
        self._server = ThreadingHTTPServer(("127.0.0.1", port), self._handler())
        self._server.daemon_threads = True
        self.port = int(self._server.server_address[1])
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}/{self._token}/"

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        owner = self

        class Handler(BaseHTTPRequestHandler):
            """Gives the page to those who know its path."""

            def do_GET(self) -> None:
                hosts = {f"127.0.0.1:{owner.port}", f"localhost:{owner.port}"}
                origin = self.headers.get("Origin")
                if self.headers.get("Host") not in hosts or (
                    origin is not None and origin.removeprefix("http://") not in hosts
                ):
                    self.send_error(HTTPStatus.FORBIDDEN, "this page is for this machine only")
                elif not secrets.compare_digest(self.path.encode(), f"/{owner._token}/".encode()):
                    self.send_error(HTTPStatus.NOT_FOUND)
                else:
                    self._send()

            def _send(self) -> None:
                self.send_response(HTTPStatus.OK)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(owner._page)))
                self.send_header("Cache-Control", "no-store")
                self.send_header("Referrer-Policy", "no-referrer")
                self.send_header("X-Content-Type-Options", "nosniff")
                self.end_headers()
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):  # the window was closed
                    self.wfile.write(owner._page)

            def log_message(self, format: str, *args: object) -> None:
                """Nothing: the terminal belongs to the user."""

        return Handler

    def __enter__(self) -> SceneServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def view(trajectory: Any, *, port: int = 0, open_browser: bool = True) -> None:
    """Show the motion in the browser, on this machine only, until Ctrl-C."""
    with SceneServer(recorded_scene(trajectory), port) as server:
        print(f"3-D view: {server.url}\nCtrl-C ends it", flush=True)
        if open_browser:
            webbrowser.open(server.url)
        with contextlib.suppress(KeyboardInterrupt):
            _wait()


def _wait() -> None:
    """Until the user has seen enough."""
    threading.Event().wait()
