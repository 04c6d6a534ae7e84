"""The 3-D view: recorded without a socket, complete in itself, and served to this machine only."""

from __future__ import annotations

import http.client
import re
import socket
from types import SimpleNamespace

import numpy as np
import pytest

import kane
from kane.viewer import recorded_scene, scene
from kane.viewer.scene import SceneServer, _frames, _turn_from_z


@pytest.fixture(scope="module")
def motion() -> SimpleNamespace:
    """A motion without a simulation: the viewer needs t, q and a model that knows its poses."""
    model = kane.load("stanford-arm")
    t = np.linspace(0, 1, 12)
    return SimpleNamespace(model=model, t=t, q=np.tile(t[:, None], 6))


def test_recording_opens_no_socket_and_prints_nothing(
    motion: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a socket was bound")

    monkeypatch.setattr(socket.socket, "bind", refuse)
    page = recorded_scene(motion)
    assert "__VISER_EMBED_DATA__" in page and not capsys.readouterr().out


def test_the_recorded_page_names_no_other_host(motion: SimpleNamespace) -> None:
    assert set(re.findall(r"https?://([\w.-]+)", recorded_scene(motion))) <= {"www.w3.org"}


def test_every_body_has_a_node_of_its_own_whatever_its_name(monkeypatch: pytest.MonkeyPatch) -> None:
    model = kane.Model("names")
    names = ("a", "a/b", "a∕b", "floor", "path of a", "/", "a/b/box-3")
    for i, name in enumerate(names):
        model.body(name, mass=1.0, center=(0.5, 0.0, 0.0))
        model.joint(
            f"pin {name}", "prismatic", parent="ground", child=name, axis="x", coordinates=[f"q{i}"], speeds=[f"u{i}"]
        )
    made = []
    recorder = scene._recorder
    monkeypatch.setattr(scene, "_recorder", lambda: made.append(recorder()) or made[-1])
    q = np.linspace(0.0, 1.0, 3)[:, None] * np.arange(1.0, 1.0 + len(names))
    recorded_scene(SimpleNamespace(model=model, t=np.linspace(0, 1, 3), q=q))
    nodes = scene.node_names(model.mechanism)
    assert len(set(nodes.values())) == len(names)
    assert all(node.rindex("/") == 0 for node in nodes.values())  # none is a part of another
    handles = made[0].scene._handle_from_node_name
    at = [float(handles[nodes[name]].position[0]) for name in names]
    assert at == pytest.approx(list(range(1, 1 + len(names))))  # where each is at the end, in N


def test_frames_cover_the_motion_and_are_rigid(motion: SimpleNamespace) -> None:
    t, poses = _frames(motion)
    assert t[0] == 0.0 and t[-1] == 1.0 and len(t) == 31
    R = poses[:, :, :9].reshape(-1, 3, 3)
    assert np.abs(R @ R.transpose(0, 2, 1) - np.eye(3)).max() < 1e-12


def test_the_shortest_turn_takes_z_to_the_direction() -> None:
    for d in (*np.eye(3), *-np.eye(3), np.array([0.6, 0.0, -0.8])):
        w, x, y, z = _turn_from_z(d)
        turned = [2 * (x * z + w * y), 2 * (y * z - w * x), w * w - x * x - y * y + z * z]
        assert np.abs(np.array(turned) - d).max() < 1e-12


def answer(port: int, path: str, **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path, headers=headers)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, body


def test_the_page_is_given_only_to_who_knows_its_path_on_this_machine() -> None:
    with SceneServer("<p>seen</p>") as server:
        path = "/" + server.url.partition("/")[2].partition("/")[2].partition("/")[2]
        assert answer(server.port, path) == (200, b"<p>seen</p>")
        assert answer(server.port, "/")[0] == 404
        assert answer(server.port, path[:-2] + "/")[0] == 404
        assert answer(server.port, path, Host=f"evil.example:{server.port}")[0] == 403
        assert answer(server.port, path, Origin="http://evil.example")[0] == 403
        assert answer(server.port, path, Origin=f"http://127.0.0.1:{server.port}")[0] == 200
    with pytest.raises(OSError):
        answer(server.port, path)


def test_the_server_listens_on_the_loopback_interface_only() -> None:
    with SceneServer("") as server:
        assert server._server.server_address[0] == "127.0.0.1"


def test_two_servers_have_different_secrets() -> None:
    with SceneServer("") as one, SceneServer("") as two:
        assert one.url.split("/")[-2] != two.url.split("/")[-2]


def test_viewing_ends_with_an_interrupt(
    motion: SimpleNamespace, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []

    monkeypatch.setattr(scene, "recorded_scene", lambda trajectory: "<p>seen</p>")
    monkeypatch.setattr(scene, "_wait", lambda: (_ for _ in ()).throw(KeyboardInterrupt))
    monkeypatch.setattr(scene.webbrowser, "open", opened.append)
    scene.view(motion)
    assert opened and opened[0].startswith("http://127.0.0.1:") and opened[0] in capsys.readouterr().out
