"""The page's server with a stand-in for the grader, asked as a browser asks; no socket, no browser."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from msgspec.structs import replace
from starlette.testclient import TestClient

from grader.catalog import Catalog, Kata
from grader.engine.running import Cancelled
from grader.history import History
from grader.records import Diagnosis, Grade, Options, Printed, Submission, Told, Trial
from grader.web.app import make_app
from grader.web.desk import World
from grader.web.gate import Keys
from tests import patience
from tests.interview.conftest import Clocks

PORT = 8765


class Underway:
    """A grade that waits until it may end, and can be cancelled."""

    def __init__(self, grade: Grade, may_end: threading.Event, told: Told) -> None:
        self._grade = grade
        self._told = told
        self._may_end = may_end
        self._cancelled = False

    def result(self) -> Grade:
        self._told(1, 2)
        assert self._may_end.wait(patience.SECONDS)
        self._told(2, 2)
        if self._cancelled:
            raise Cancelled
        return self._grade

    def cancel(self) -> None:
        self._cancelled = True
        self._may_end.set()


class Grader:
    """Finds missed what the text says is missed (`# missed: scale`); remembers what it was asked."""

    def __init__(self, make_grade: Callable[..., Grade]) -> None:
        self._make_grade = make_grade
        self.asked: list[tuple[Submission, Options]] = []
        self.may_end = threading.Event()
        self.may_end.set()
        self.found: tuple[Diagnosis, ...] = ()

    def __call__(
        self,
        submission: Submission,
        kata: Kata,
        catalog: Catalog,
        options: Options,
        told: Told | None = None,
    ) -> Underway:
        assert kata in catalog.katas
        self.asked.append((submission, options))
        text = submission.source.decode()
        said = re.search(r"# missed: ?(.*)", text)
        missed = tuple(said[1].split()) if said else ()
        if said is None:
            missed = tuple(concept.id for concept in kata.concepts)
        grade = self._make_grade(kata.id, missed=missed, source=text)
        grade = replace(grade, diagnosis=self.found)
        return Underway(grade, self.may_end, told or (lambda *_: None))


def tried(submission: Submission, kata: Kata, *_: object) -> Trial:
    """It returns what the text holds."""
    text = submission.source.decode()
    return Trial(
        kata=kata.id, example="x (1, 3, 4)", returned="a Tensor (1, 3, 4)", printed=Printed(text=text)
    )


class Browser:
    """Asks as the page does: with cookie, origin and write token."""

    def __init__(self, client: TestClient, keys: Keys) -> None:
        self.client = client
        self.keys = keys
        self.headers = {"origin": keys.origin, "sec-fetch-site": "same-origin", "x-kata-token": keys.write}

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self.client.get(path, headers=headers, follow_redirects=False)

    def post(self, path: str, **body: object) -> httpx.Response:
        return self.client.post(path, json=body, headers=self.headers)

    def save(self, start: str, text: str | bytes, seen: str) -> httpx.Response:
        headers = {**self.headers, "if-match": seen if seen == "*" else f'"{seen}"'}
        return self.client.put(f"/answers/{start}", content=text, headers=headers)

    def text(self, start: str) -> tuple[str, str]:
        """The file's text and its sha256."""
        answer = self.get(f"/answers/{start}")
        assert answer.status_code == 200, answer.text
        return answer.text, answer.headers["etag"].strip('"')

    def begin(self, kata: str) -> str:
        """Start a kata; returns the id of its start."""
        assert self.post(f"/katas/{kata}/start").status_code == 200
        found = re.search(r'data-work="([\w-]+)"', self.get(f"/katas/{kata}").text)
        assert found is not None
        return found[1]

    def write(self, start: str, text: str) -> None:
        """Save over what is there."""
        assert self.save(start, text, self.text(start)[1]).status_code == 200

    def told(self) -> str:
        """The stream, until nothing is under way."""
        return self.get("/progress").text

    def grade(self, start: str, number: int = 1, **more: object) -> dict[str, Any]:
        """Grade, and wait for the result."""
        name = f"00000000-0000-4000-8000-{number:012}"
        asked = self.post("/gradings", id=name, work=start, **more)
        assert asked.status_code == 202, asked.text
        assert f'"id":"{name}"' in self.told()
        result: dict[str, Any] = self.get(f"/gradings/{name}").json()
        return result


@pytest.fixture
def keys() -> Keys:
    return Keys.fresh(PORT)


@pytest.fixture
def grader(make_grade: Callable[..., Grade]) -> Grader:
    return Grader(make_grade)


@pytest.fixture
def clocks() -> Clocks:
    return Clocks()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "practice"
    made.mkdir()
    return made.resolve()


@pytest.fixture
def faults() -> list[Exception]:
    """What went wrong on our side; a test that expects none has none."""
    return []


@pytest.fixture
def world(
    catalog: Catalog, home: Path, folder: Path, clocks: Clocks, grader: Grader, faults: list[Exception]
) -> World:
    def fault(error: Exception) -> str:
        faults.append(error)
        return f"a fault of ours: {error!r}"

    return World(
        catalog=catalog,
        home=home / "kata",
        folder=folder,
        clock=lambda: clocks().wall,
        moment=clocks,
        begin=grader,
        try_out=tried,
        options=Options(),
        fault=fault,
    )


@pytest.fixture
def client(world: World, keys: Keys, faults: list[Exception]) -> Iterator[TestClient]:
    """Somebody on this machine who knows the port, and nothing else."""
    with TestClient(make_app(world, keys, threading.Event()), base_url=keys.origin) as found:
        yield found
    assert faults == []


@pytest.fixture
def browser(client: TestClient, keys: Keys) -> Browser:
    """A browser that has opened the address."""
    assert client.get(f"/?token={keys.token}", follow_redirects=False).status_code == 303
    return Browser(client, keys)


@pytest.fixture
def remembered(home: Path, clocks: Clocks) -> Iterator[History]:
    """The history as another process sees it."""
    with History(home / "kata" / "history.db", lambda: clocks().wall) as found:
        yield found
