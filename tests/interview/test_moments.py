"""What sleep, a changed clock and a reboot do to the time that counts."""

from __future__ import annotations

import pytest

from grader.interview import moments
from grader.interview.moments import Gap
from tests.interview.conftest import Clocks


def test_ordinary_time_counts_and_leaves_no_gap(clocks: Clocks) -> None:
    before = clocks()
    clocks.pass_time(90)
    assert moments.step(before, clocks()) == 90
    assert moments.gap(before, clocks()) is None


def test_sleep_does_not_count_and_is_seen(clocks: Clocks) -> None:
    before = clocks()
    clocks.pass_time(10)
    clocks.sleep(600)
    assert moments.step(before, clocks()) == 10
    assert moments.gap(before, clocks()) == Gap(kind="slept", seconds=600)


@pytest.mark.parametrize("seconds", [3600, -3600])
def test_a_clock_that_was_set_changes_no_time_and_is_seen(clocks: Clocks, seconds: float) -> None:
    before = clocks()
    clocks.pass_time(10)
    clocks.set_wall(seconds)
    assert moments.step(before, clocks()) == 10
    assert moments.gap(before, clocks()) == Gap(kind="clock_set", seconds=seconds)


@pytest.mark.parametrize(("seconds", "kind"), [(60, "slept"), (-60, "clock_set")])
def test_where_sleep_is_not_told_a_clock_that_ran_ahead_is_taken_for_sleep(
    clocks: Clocks, seconds: float, kind: str
) -> None:
    clocks.slept = None
    before = clocks()
    clocks.set_wall(seconds)
    found = moments.gap(before, clocks())
    assert found is not None
    assert (found.kind, found.seconds) == (kind, seconds)


def test_a_small_drift_is_no_gap(clocks: Clocks) -> None:
    before = clocks()
    clocks.set_wall(1.5)
    assert moments.gap(before, clocks()) is None


@pytest.mark.parametrize("seconds", [2.0, -2.0])
def test_two_seconds_are_a_gap(clocks: Clocks, seconds: float) -> None:
    before = clocks()
    clocks.set_wall(seconds)
    assert moments.gap(before, clocks()) == Gap(kind="clock_set", seconds=seconds)


def test_across_a_reboot_the_wall_clock_counts(clocks: Clocks) -> None:
    before = clocks()
    clocks.reboot(240)
    assert moments.step(before, clocks()) == 240
    assert moments.gap(before, clocks()) is None


def test_a_wall_clock_that_went_back_across_a_reboot_takes_no_time_away(clocks: Clocks) -> None:
    before = clocks()
    clocks.reboot(-240)
    assert moments.step(before, clocks()) == 0


def test_the_computers_own_clocks_can_be_read() -> None:
    first, second = moments.now(), moments.now()
    assert first.boot == second.boot
    assert 0 <= moments.step(first, second) < 60
    assert moments.gap(first, second) is None


def test_without_a_boot_id_only_this_process_shares_its_clock(
    monkeypatch: pytest.MonkeyPatch, tmp_path: object
) -> None:
    monkeypatch.setattr(moments, "_BOOT_ID", moments.Path(f"{tmp_path}/none"))
    moments._boot.cache_clear()
    try:
        assert moments.now().boot.startswith("process ")
        assert moments.now().boot == moments.now().boot
    finally:
        moments._boot.cache_clear()
