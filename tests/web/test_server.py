"""The address that is opened: a secret that no command line shows, and that is gone with the server."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from grader.errors import UsageError
from grader.web.desk import World
from grader.web.gate import Keys
from grader.web.server import door, serve
from tests import patience

OPENER = """\
#!/bin/sh
printf '%s' "$1" > "$OPENED.part"
cp "${1#file://}" "$OPENED.page"
mv "$OPENED.part" "$OPENED"
"""


def test_the_door_is_for_the_user_alone_and_is_gone_at_the_end(tmp_path: Path) -> None:
    keys = Keys.fresh(8765)
    with door(keys, tmp_path / "home") as page:
        assert stat.S_IMODE(page.stat().st_mode) == 0o600
        assert f'content="0; url={keys.address}"' in page.read_text()
        assert keys.token not in page.name
    assert list((tmp_path / "home").iterdir()) == []


def test_two_runs_share_no_secret() -> None:
    one, other = Keys.fresh(8765), Keys.fresh(8765)
    secrets = {one.token, one.cookie, one.write, other.token, other.cookie, other.write}
    assert len(secrets) == 6
    assert min(len(secret) for secret in secrets) >= 40


@pytest.mark.parametrize("port", [None, 70_000])
def test_a_port_that_cannot_be_used_is_said(world: World, port: int | None) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        with pytest.raises(UsageError, match="cannot be used"):
            serve(world, port or taken.getsockname()[1], lambda _: pytest.fail("it listens"))


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system opens the page")
def test_the_browser_gets_a_file_whose_name_says_nothing(tmp_path: Path) -> None:
    opener, opened = tmp_path / "opener", tmp_path / "opened"
    opener.write_text(OPENER)
    opener.chmod(0o755)
    environment = {**os.environ, "BROWSER": str(opener), "OPENED": str(opened)}
    words = [Path(sys.executable).with_name("kata"), "web"]
    with subprocess.Popen(words, cwd=tmp_path, env=environment, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = next(line.strip() for line in server.stdout if line.startswith("http"))
        patience.until(opened.exists)
        server.send_signal(signal.SIGINT)
        assert server.wait(patience.SECONDS) == 0
    page = Path(opened.read_text().removeprefix("file://"))
    assert address.partition("token=")[2] not in str(page)
    assert address in (tmp_path / "opened.page").read_text()
    assert not page.exists()
