"""How soon a save shows in the room, and what the room costs when nothing happens.

    python benchmarks/interview_latency.py [--saves 50] [--idle 30]

Opens a real room without a screen in a temporary folder. A save is a write, or a replacement as editors do
it; its latency is from the end of the write until the room's log has its line. Idle cost is the processor
time of the whole process, as a share of one core.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from pathlib import Path

from textual.widgets import RichLog

from grader.catalog import Catalog, Kata, load_catalog
from grader.history import History
from grader.interview.moments import now
from grader.interview.opening import Wish, open_interview
from grader.interview.room.app import RoomApp
from grader.interview.store import InterviewStore
from grader.records import Grade, Options, Submission

POLL_SECONDS = 0.002


def grade(submission: Submission, kata: Kata, catalog: Catalog, options: Options | None = None) -> Grade:
    """Nothing is graded here."""
    raise NotImplementedError


async def measure(room: RoomApp, path: Path, saves: int, idle: float) -> tuple[list[float], float]:
    """Latencies in seconds, and the share of one core when idle."""
    async with room.run_test(size=(120, 40)) as pilot:
        await pilot.pause(1.0)
        latencies = []
        for number in range(1, saves + 1):
            latencies.append(await _save(room, path, number, replace=bool(number % 2)))
            await asyncio.sleep(0.15)
        before, began = time.process_time(), time.monotonic()
        await asyncio.sleep(idle)
        return latencies, (time.process_time() - before) / (time.monotonic() - began)


async def _save(room: RoomApp, path: Path, number: int, *, replace: bool) -> float:
    assert room.writing is not None
    log = room.writing.query_one("#log", RichLog)
    text = f"class SelfAttentionV3: ...  # {number}\n"
    if replace:
        beside = path.with_suffix(".tmp")
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    else:
        path.write_text(text, encoding="utf-8")
    written = time.monotonic()
    while not any(f"Save {number}" in line.text for line in log.lines[-3:]):
        await asyncio.sleep(POLL_SECONDS)
    return time.monotonic() - written


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--saves", type=int, default=50)
    parser.add_argument("--idle", type=float, default=30.0)
    wanted = parser.parse_args()
    with tempfile.TemporaryDirectory() as place:
        home, folder = Path(place, "home"), Path(place, "desk")
        folder.mkdir()
        catalog = load_catalog()
        with (
            History(home / "history.db", lambda: now().wall) as history,
            InterviewStore(history.path) as store,
        ):
            session = open_interview(Wish(katas=(catalog.get("v3"),)), folder, history, store, now)
            room = RoomApp(session, history, store, catalog, grade, now, browse=lambda _: None, pages=home)
            latencies, idle = asyncio.run(measure(room, session.round.path, wanted.saves, wanted.idle))
    latencies.sort()
    print(
        f"save to screen, {len(latencies)} saves: median {1000 * statistics.median(latencies):.0f} ms, ",
        end="",
    )
    print(f"95 % within {1000 * latencies[int(0.95 * len(latencies))]:.0f} ms, ", end="")
    print(f"slowest {1000 * latencies[-1]:.0f} ms (goal: 200 ms)")
    print(f"idle: {100 * idle:.2f} % of one core (goal: 2 %)")


if __name__ == "__main__":
    main()
