"""The 3-D view: recorded without a socket, complete in itself, and served to this machine only."""

from __future__ import annotations

import http.client
import re
import socket

import numpy as np
import pytest

import kane
from kane.api.recordings import recording
from kane.page import serving
from kane.page.serving import PageServer


@pytest.fixture(scope="module")
def motion() -> kane.Trajectory:
    return kane.load("stanford-arm").simulate(np.linspace(0, 1, 12))


def test_recording_opens_no_socket_and_prints_nothing(
    motion: kane.Trajectory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse(*_: object) -> None:
        raise AssertionError("a socket was bound")

    monkeypatch.setattr(socket.socket, "bind", refuse)
    page = recording(motion)
    assert 'id="kane-data"' in page and not capsys.readouterr().out


def test_the_recorded_page_names_no_other_host(motion: kane.Trajectory) -> None:
    page = recording(motion)
    assert not re.findall(r"https?://([\w.-]+)", page)
    assert "connect-src 'none'" in page


def answer(port: int, path: str, **headers: str) -> tuple[int, bytes]:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path, headers=headers)
    response = connection.getresponse()
    body = response.read()
    connection.close()
    return response.status, body


def test_the_page_is_given_only_to_who_knows_its_path_on_this_machine() -> None:
    with PageServer("<p>seen</p>") as server:
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
    with PageServer("") as server:
        assert server._server.server_address[0] == "127.0.0.1"


def test_two_servers_have_different_secrets() -> None:
    with PageServer("") as one, PageServer("") as two:
        assert one.url.split("/")[-2] != two.url.split("/")[-2]


def test_viewing_ends_with_an_interrupt(
    motion: kane.Trajectory, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened: list[str] = []

    monkeypatch.setattr(serving, "_wait", lambda: (_ for _ in ()).throw(KeyboardInterrupt))
    monkeypatch.setattr(serving.webbrowser, "open", opened.append)
    motion.view()
    assert opened and opened[0].startswith("http://127.0.0.1:") and opened[0] in capsys.readouterr().out
