"""A grade that is late: the engine is asked over another connection before anybody calls it lost."""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterator

import msgspec
import pytest

from grader.catalog import Catalog, Deadlines
from grader.engine import client
from grader.engine.client import EngineLost, Pending
from grader.engine.messages import STARTED, Answer, Request, pack
from grader.errors import GraderFault
from grader.records import Grade, Options
from tests.engine.answers import solution


class Engine:
    """The other end: what it says on the grade's connection, and what when it is asked."""

    def __init__(self, request: Request, says: bytes) -> None:
        ours, self._theirs = socket.socketpair()
        self._kept: list[socket.socket] = []
        self._theirs.sendall(says)
        self.asked = 0
        self.sign_of_life = STARTED
        self.when_asked: Callable[[], object] = lambda: None
        self.pending = Pending(ours, request, self._ask)

    def _ask(self) -> socket.socket:
        self.asked += 1
        ours, theirs = socket.socketpair()
        theirs.sendall(self.sign_of_life)
        self._kept.append(theirs)
        self.when_asked()
        return ours

    def say(self, words: bytes) -> None:
        self._theirs.sendall(words)

    def close(self) -> None:
        for end in (*self._kept, self._theirs, self.pending.connection):
            end.close()


@pytest.fixture
def engine(catalog: Catalog, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[bytes], Engine]]:
    monkeypatch.setattr(client, "ANSWER_SECONDS", 0.1)
    monkeypatch.setattr(client, "PING_SECONDS", 0.1)
    kata = msgspec.structs.replace(catalog.get("v1"), deadlines=Deadlines(total=0.01, judge=0.01))
    request = Request.of(solution(catalog, "v1"), kata, catalog, Options())
    made: list[Engine] = []

    def make(says: bytes) -> Engine:
        made.append(Engine(request, says))
        return made[-1]

    yield make
    for one in made:
        one.close()


def test_one_that_lives_is_waited_for(
    engine: Callable[[bytes], Engine], make_grade: Callable[..., Grade]
) -> None:
    late = engine(b"")
    late.when_asked = lambda: late.say(STARTED + pack(Answer(grade=make_grade())))
    assert late.pending.result() == make_grade()
    assert late.asked == 1


def test_one_that_answers_nobody_is_lost(engine: Callable[[bytes], Engine]) -> None:
    hung = engine(b"")
    hung.sign_of_life = b""
    with pytest.raises(EngineLost) as lost:
        hung.pending.result()
    assert isinstance(lost.value.__cause__, TimeoutError)


def test_a_judge_that_is_later_than_its_own_deadline_is_the_grader_s_fault(
    engine: Callable[[bytes], Engine],
) -> None:
    """Another engine, or a cold grade, would not end either."""
    stuck = engine(STARTED)
    with pytest.raises(GraderFault, match="could not finish"):
        stuck.pending.result()
    assert stuck.asked == 1


def test_one_that_hung_in_the_middle_is_lost(engine: Callable[[bytes], Engine]) -> None:
    hung = engine(STARTED)
    hung.sign_of_life = b""
    with pytest.raises(EngineLost):
        hung.pending.result()


def test_one_that_is_quick_is_not_asked(
    engine: Callable[[bytes], Engine], make_grade: Callable[..., Grade]
) -> None:
    quick = engine(STARTED + pack(Answer(grade=make_grade())))
    assert quick.pending.result() == make_grade()
    assert quick.asked == 0
