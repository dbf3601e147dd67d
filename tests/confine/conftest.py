"""Real confined processes for the tests of this room."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.confine.arena import Host, open_arena

# Root proves more (nothing but the confinement stops it); an ordinary user shows that no privilege is needed.
USERS = ("same", "nobody") if os.getuid() == 0 else ("same",)
USERS_WITH_INTERPRETER = ("same", "nobody with the interpreter") if os.getuid() == 0 else ("same",)


@pytest.fixture(scope="session")
def host() -> Iterator[Host]:
    with (
        tempfile.TemporaryDirectory() as folder,
        open_arena(Path(folder)) as host,
    ):  # pytest's are its user's alone
        yield host


@pytest.fixture(params=USERS)
def user(request: pytest.FixtureRequest) -> str:
    """Who the confined process runs as: whoever runs the tests, and as root also an ordinary user."""
    return str(request.param)


@pytest.fixture(params=USERS_WITH_INTERPRETER)
def importing_user(request: pytest.FixtureRequest) -> str:
    """Like `user`, but one who can read the interpreter even if it is installed for root alone."""
    return str(request.param)
