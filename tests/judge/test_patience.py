"""Which limit a worker meets, by what it used: a clock and a process whose times the test sets."""

from __future__ import annotations

from dataclasses import dataclass

import pytest

from grader.handles import ExitStatus, Times
from grader.judge.patience import LOOK_SECONDS, OutOfTime, Patience

CALL, TOTAL = 4.0, 10.0


@dataclass
class World:
    """A worker, and the time. Each second goes to what the test says, the rest is waited."""

    now: float = 100.0
    processor: float = 7.0  # of the process before the test: nothing that counts
    starved: float = 3.0
    counted: bool = True

    def clock(self) -> float:
        return self.now

    def times(self) -> Times | None:
        return Times(self.processor, self.starved) if self.counted else None

    def kill(self) -> None:
        raise AssertionError

    def status(self, seconds: float) -> ExitStatus | None:
        raise AssertionError(seconds)

    def overflows(self) -> bool:
        raise AssertionError


@dataclass
class Judge:
    """Waits for calls of a worker, in steps of a look."""

    world: World
    patience: Patience

    def call(
        self, *, spins: float = 0.0, waits: float = 0.0, starves: float = 0.0, first: bool = False
    ) -> None:
        """One call that takes so much of each, evenly."""
        self.patience.next(CALL, first=first)
        steps = max(1, round((spins + waits + starves) / LOOK_SECONDS))
        for _ in range(steps):
            self.patience.check()
            self.world.now += (spins + waits + starves) / steps
            self.world.processor += spins / steps
            self.world.starved += starves / steps
        self.patience.check()
        self.patience.heard()

    def calls(self, count: int, **use: float) -> None:
        for _ in range(count):
            self.call(**use)


@pytest.fixture
def judge() -> Judge:
    world = World()
    patience = Patience(world, world.clock)
    patience.start(TOTAL)
    return Judge(world, patience)


@pytest.mark.parametrize(
    ("use", "why", "allowed"),
    [
        ({"spins": 4.5}, "spins", CALL),
        ({"spins": 4.5, "starves": 4.0}, "spins", CALL),
        ({"waits": 4.5}, "waits", CALL),
        ({"waits": 4.5, "starves": 4.5}, "waits", CALL),
        ({"waits": 2.0, "spins": 0.3, "starves": 30.0}, "crowded", TOTAL),
        ({"spins": 1.0, "waits": 3.9, "starves": 16.0}, "total", TOTAL),
        ({"starves": 100.0}, "crowded", TOTAL),
    ],
)
def test_one_call_has_its_processor_time_and_its_waiting(
    judge: Judge, use: dict[str, float], why: str, allowed: float
) -> None:
    with pytest.raises(OutOfTime) as over:
        judge.call(**use)
    assert (over.value.why, over.value.seconds) == (why, allowed)


@pytest.mark.parametrize(
    "use",
    [{"spins": 3.5}, {"waits": 3.5}, {"spins": 3.5, "waits": 3.5}, {"spins": 3.0, "starves": 14.0}],
    ids=str,
)
def test_what_stays_within_them_is_heard(judge: Judge, use: dict[str, float]) -> None:
    judge.call(**use)


@pytest.mark.parametrize("use", [{"spins": 1.9}, {"waits": 1.9}])
def test_the_total_ends_calls_of_which_each_is_quick_enough(judge: Judge, use: dict[str, float]) -> None:
    for _ in range(5):
        judge.call(**use)
    with pytest.raises(OutOfTime) as over:
        judge.call(**use)
    assert (over.value.why, over.value.seconds) == ("total", TOTAL)


def test_the_total_is_looked_at_between_calls(judge: Judge) -> None:
    judge.world.now += TOTAL
    judge.patience.next(CALL)
    with pytest.raises(OutOfTime, match="total"):
        judge.patience.check()


def test_time_without_a_processor_moves_the_total_to_the_double_and_no_further(judge: Judge) -> None:
    for _ in range(9):
        judge.call(spins=1.0, starves=1.0)
    judge.call(spins=0.9, starves=0.9)
    with pytest.raises(OutOfTime, match="total"):
        judge.call(spins=1.0, starves=1.0)
    assert judge.world.now == pytest.approx(100.0 + 2 * TOTAL)


@pytest.mark.parametrize(("spins", "starves", "why"), [(0.3, 1.7, "crowded"), (0.5, 1.5, "total")])
def test_a_machine_that_gave_too_little_is_told_from_an_answer_that_is_slow(
    judge: Judge, spins: float, starves: float, why: str
) -> None:
    with pytest.raises(OutOfTime, match=why):
        judge.calls(20, spins=spins, starves=starves)


def test_an_answer_whose_own_threads_starve_it_is_slow(judge: Judge) -> None:
    """The first thread waits for the others: the process has the processors all the same."""
    judge.patience.next(CALL)
    judge.world.now += 2 * TOTAL
    judge.world.starved += 15.0
    judge.world.processor += 39.0
    judge.patience.next(CALL)
    with pytest.raises(OutOfTime, match="total"):
        judge.patience.check()


def test_first_calls_move_the_total_by_their_processor_time(judge: Judge) -> None:
    for _ in range(4):
        judge.call(spins=2.2, first=True)
    judge.call(spins=2.2)
    judge.call(spins=2.2)
    for _ in range(2):
        judge.call(spins=2.2)
    with pytest.raises(OutOfTime, match="total"):
        judge.call(spins=2.2)


def test_first_calls_that_wait_move_nothing(judge: Judge) -> None:
    for _ in range(4):
        judge.call(waits=2.2, first=True)
    with pytest.raises(OutOfTime, match="total"):
        judge.call(waits=2.2, first=True)


def test_a_first_call_under_way_counts_as_one(judge: Judge) -> None:
    for _ in range(3):
        judge.call(waits=3.0)
    judge.call(spins=2.0, first=True)


@pytest.mark.parametrize(("seconds", "why"), [(4.5, "hang"), (3.5, None)])
def test_where_nobody_counts_the_clock_decides(judge: Judge, seconds: float, why: str | None) -> None:
    judge.world.counted = False
    judge.patience.start(TOTAL)
    if why is None:
        judge.call(waits=seconds)
        return
    with pytest.raises(OutOfTime, match=why):
        judge.call(waits=seconds)


def test_a_call_that_is_over_at_once_costs_no_look(judge: Judge, monkeypatch: pytest.MonkeyPatch) -> None:
    looks: list[int] = []
    monkeypatch.setattr(World, "times", lambda _: looks.append(1))
    for _ in range(50):
        judge.call(spins=0.01, first=True)
    assert not looks


def test_it_is_worth_while_to_look_when_a_limit_may_be_near(judge: Judge) -> None:
    judge.patience.next(CALL)
    assert judge.patience.look_in() == LOOK_SECONDS
    judge.world.now += CALL - 0.05
    assert judge.patience.look_in() == pytest.approx(0.05)
    judge.world.now += 1.0
    assert judge.patience.look_in() == LOOK_SECONDS
