"""The server of one run: its socket, the address to open, and its end."""

from __future__ import annotations

import contextlib
import html
import os
import secrets
import socket
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

import uvicorn

from grader.errors import UsageError
from grader.web.app import make_app
from grader.web.desk import World
from grader.web.gate import HOST, Keys

LAST_SECONDS = 2  # for a stream that is open when the end comes
_MOST_CONNECTIONS = 256

_DOOR = """\
<!doctype html><html lang="en"><head><meta charset="utf-8"><title>kata web</title>
<meta name="referrer" content="no-referrer"><meta http-equiv="refresh" content="0; url={address}"></head>
<body><p><a href="{address}">Open the page</a></p></body></html>
"""


def serve(world: World, port: int, told: Callable[[Keys], None]) -> None:
    """Listen until Ctrl-C. `told` is called when the server can be asked, before it is."""
    with listening(port) as listener:
        keys = Keys.fresh(listener.getsockname()[1])
        ending = threading.Event()
        config = uvicorn.Config(
            make_app(world, keys, ending),
            log_config=None,
            access_log=False,
            ws="none",
            server_header=False,
            date_header=False,
            proxy_headers=False,
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_graceful_shutdown=LAST_SECONDS,
        )
        with contextlib.suppress(KeyboardInterrupt):  # from when the address can be seen
            told(keys)
            _Server(config, ending).run(sockets=[listener])


class _Server(uvicorn.Server):
    """Says that it ends before it waits for what is open."""

    def __init__(self, config: uvicorn.Config, ending: threading.Event) -> None:
        super().__init__(config)
        self._ending = ending

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self._ending.set()
        super().handle_exit(sig, frame)


@contextlib.contextmanager
def listening(port: int) -> Iterator[socket.socket]:
    """A socket on this machine's own address, which connections wait at from now on."""
    with socket.socket() as listener:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((HOST, port))
        except (OSError, OverflowError) as error:
            raise UsageError(
                f"Port {port} cannot be used: {getattr(error, 'strerror', None) or error}.",
                "Name another, or none: kata web",
            ) from error
        listener.listen(128)
        yield listener


@contextlib.contextmanager
def door(keys: Keys, home: Path) -> Iterator[Path]:
    """A page that leads to the address, for the user's eyes only: a browser's command line is public."""
    home.mkdir(parents=True, exist_ok=True)
    path = home / f"open-{secrets.token_hex(8)}.html"
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(_DOOR.format(address=html.escape(keys.address)))
        yield path
    finally:
        path.unlink(missing_ok=True)
