"""A page on this machine: served on 127.0.0.1 behind a secret path, to whoever knows it.

Requests that name another host are refused, and nothing is accepted from the page.
"""

from __future__ import annotations

import contextlib
import secrets
import threading
import webbrowser
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class PageServer:
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

    def __enter__(self) -> PageServer:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def show_page(page: str, *, port: int = 0, open_browser: bool = True) -> None:
    """Show a page in the browser, on this machine only, until Ctrl-C."""
    with PageServer(page, port) as server:
        print(f"3-D view: {server.url}\nCtrl-C ends it", flush=True)
        if open_browser:
            webbrowser.open(server.url)
        with contextlib.suppress(KeyboardInterrupt):
            _wait()


def _wait() -> None:
    """Until the user has seen enough."""
    threading.Event().wait()


__all__ = ["PageServer", "show_page"]
