"""When a file was saved: written in place, replaced, or on a folder that gives no notice."""

from __future__ import annotations

import queue
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from grader.watch.saves import needs_polling, saves, stamp
from tests import patience

MOUNTS = r"""
/dev/sda1 / ext4 rw 0 0
server:/home /home nfs4 rw 0 0
/dev/sdb1 /home/local ext4 rw 0 0
C:\134 /mnt/c 9p rw 0 0
share /mnt/my\040files cifs rw 0 0
odd
"""


@pytest.fixture(params=[False, True], ids=["noticed", "polled"])
def told(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Callable[[], bool]]:
    """Whether a save of `answer.py` is told, within seconds."""
    (tmp_path / "answer.py").write_text("first", encoding="utf-8")
    stop, heard = threading.Event(), queue.SimpleQueue[None]()

    def listen() -> None:
        for _ in saves(tmp_path / "answer.py", stop, stamp(tmp_path / "answer.py"), poll=request.param):
            heard.put(None)

    listener = threading.Thread(target=listen)
    listener.start()

    def told() -> bool:
        try:
            heard.get(timeout=patience.SECONDS)
        except queue.Empty:
            return False
        return True

    for count in range(100):  # until the watcher is at work
        (tmp_path / "answer.py").write_text(f"begin {count}", encoding="utf-8")
        try:
            heard.get(timeout=0.3)
            break
        except queue.Empty:
            continue
    yield told
    stop.set()
    listener.join()


def test_a_file_written_in_place(told: Callable[[], bool], tmp_path: Path) -> None:
    (tmp_path / "answer.py").write_text("second version", encoding="utf-8")
    assert told()


def test_a_file_put_in_its_place(told: Callable[[], bool], tmp_path: Path) -> None:
    (tmp_path / ".answer.py.new").write_text("another version", encoding="utf-8")
    (tmp_path / ".answer.py.new").rename(tmp_path / "answer.py")
    assert told()


@pytest.mark.parametrize(
    ("folder", "answer"),
    [
        ("/home/ada", True),
        ("/home/local/ada", False),
        ("/mnt/c/x", True),
        ("/mnt/my files", True),
        ("/", False),
    ],
)
def test_network_folders_are_polled(tmp_path: Path, folder: str, answer: bool) -> None:
    mounts = tmp_path / "mounts"
    mounts.write_text(MOUNTS, encoding="utf-8")
    assert needs_polling(Path(folder) / "answer.py", mounts) is answer


def test_where_mounts_are_not_listed_the_system_is_trusted(tmp_path: Path) -> None:
    assert not needs_polling(tmp_path / "answer.py", tmp_path / "no such file")
