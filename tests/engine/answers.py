"""Answers to be graded in the tests of the engine, and what must be the same however they are graded."""

from __future__ import annotations

import hashlib

import msgspec

from grader.catalog import Catalog, Deadlines, Kata
from grader.records import Grade, Submission
from tests import patience

HANGS = b"import time\ntime.sleep(60)\n"


def submission(source: bytes, name: str = "answer.py") -> Submission:
    return Submission(name=name, source=source, sha256=hashlib.sha256(source).hexdigest())


def solution(catalog: Catalog, kata: str) -> Submission:
    found = catalog.get(kata)
    return submission(found.solution.read_bytes(), found.file_name)


def wrong(catalog: Catalog) -> Submission:
    """v3 with another scale."""
    right = solution(catalog, "v3")
    source = right.source.replace(b"math.sqrt(self.hidden_dim)", b"self.hidden_dim")
    assert source != right.source
    return submission(source, right.name)


def patient(kata: Kata) -> Kata:
    """The kata with deadlines that no busy machine reaches; for answers whose time is no matter."""
    deadlines = Deadlines(call=patience.SECONDS, total=patience.SECONDS)
    return msgspec.structs.replace(kata, deadlines=deadlines)


def timeless(grade: Grade) -> Grade:
    """All of a grade but how long it took."""
    return msgspec.structs.replace(grade, seconds={})
