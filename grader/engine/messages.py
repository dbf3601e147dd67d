"""What a client and a judge of the engine say to each other: a request, a sign of life, an answer.

Both sides are ours and belong to one user; nothing of the worker's ever comes this way. Frames are a length
and a MessagePack document, bounded.
"""

from __future__ import annotations

import random
import struct
from collections.abc import Callable, Sequence
from enum import Enum
from pathlib import Path
from typing import Any, TypeVar, get_args

import msgspec

from grader.catalog import Catalog, Kata, Pack
from grader.errors import ConfinementUnavailable, GraderFault, KataError, UsageError
from grader.records import Extra, Grade, Isolation, Options, Record, Submission, Trial

HEAD_BYTES = 4  # of a connection to the user's engine
STARTED = b"\x06"  # one byte ahead of the answer: a judge has the request in hand
LENGTH = struct.Struct("<I")
MAX_MESSAGE = 64 * 1024 * 1024


class Command(Enum):
    """What a connection to the user's engine is for."""

    GRADE = b"g"
    PING = b"p"
    STATUS = b"s"
    STOP = b"q"

    def head(self, isolation: Isolation = "standard") -> bytes:
        """The first bytes of the connection."""
        return self.value + isolation[: HEAD_BYTES - 1].encode()

    @classmethod
    def of(cls, head: bytes) -> tuple[Command, Isolation]:
        """Command and isolation; raises `ValueError` when that is no head."""
        levels: tuple[Isolation, ...] = get_args(Isolation)
        known = {level[: HEAD_BYTES - 1].encode(): level for level in levels}
        if head[1:] not in known:
            raise ValueError("no such isolation")
        return cls(head[:1]), known[head[1:]]


class Request(Record):
    """One grading. `root` and `packs` are where content lies; `progress` asks to be told of every check."""

    submission: Submission
    kata: Kata
    root: Path
    packs: tuple[Pack, ...]
    options: Options
    trial: bool = False  # not to be graded: forward is called once, on an example
    measured: bool = False  # and some more times, for the numbers of a trial
    progress: bool = False

    @classmethod
    def of(
        cls,
        submission: Submission,
        kata: Kata,
        catalog: Catalog,
        options: Options,
        *,
        trial: bool = False,
        measured: bool = False,
        progress: bool = False,
    ) -> Request:
        return cls(
            submission=submission,
            kata=kata,
            root=catalog.root,
            packs=catalog.packs,
            options=options,
            trial=trial,
            measured=measured,
            progress=progress,
        )

    @property
    def total_seconds(self) -> float:
        """For all of it: what was asked for, else the kata's."""
        wanted = self.options.total_seconds
        return self.kata.deadlines.total if wanted is None else wanted

    def seed(self) -> int:
        """The one that was asked for, else one drawn afresh."""
        wanted = self.options.seed
        return random.SystemRandom().randrange(1, 2**31) if wanted is None else wanted

    def extra(self) -> Extra:
        """What a grade is to hold beside the verdict."""
        return Extra(planted=self.options.planted, by_hand=self.options.by_hand)

    @property
    def catalog(self) -> Catalog:
        """As much of the catalog as a judge looks at."""
        return Catalog(katas=(self.kata,), root=self.root, packs=self.packs)


class Fault(Record):
    """An error that people see, on its way to them."""

    message: str
    fix: str = ""
    usage: bool = False
    missing: tuple[str, ...] = ()  # what strict isolation lacks here

    @classmethod
    def of(cls, error: KataError) -> Fault:
        missing = error.missing if isinstance(error, ConfinementUnavailable) else ()
        return cls(message=error.message, fix=error.fix, usage=isinstance(error, UsageError), missing=missing)

    def error(self) -> KataError:
        if self.missing:
            return ConfinementUnavailable(self.missing)
        return (UsageError if self.usage else GraderFault)(self.message, self.fix)


class Answer(Record):
    """The outcome of a request, or how far it has got: exactly one of the four is there."""

    grade: Grade | None = None
    trial: Trial | None = None
    fault: Fault | None = None
    checks: tuple[int, int] | None = None  # done, and how many there are; another answer follows


M = TypeVar("M", Request, Answer)


class Garbled(Exception):
    """What arrived is not a message of this kind."""


def encoded(roots: Sequence[Path]) -> str:
    """Folders as one word of a command line."""
    return msgspec.json.encode([str(root) for root in roots]).decode()


def decoded(word: str) -> tuple[Path, ...]:
    """What `encoded` gave."""
    return tuple(Path(root) for root in msgspec.json.decode(word, type=list[str]))


def pack(message: Request | Answer) -> bytes:
    """The message as one frame."""
    document = msgspec.msgpack.encode(message, enc_hook=_encode)
    return LENGTH.pack(len(document)) + document


def read_request(read: Callable[[int], bytes]) -> Request:
    """The request that `read` yields; `read(n)` returns at most n bytes, none at the end."""
    return _decode(_read_frame(read), Request)


def read_answer(read: Callable[[int], bytes]) -> Answer:
    """The answer that `read` yields; raises `Garbled` when it ends early or is none."""
    return _decode(_read_frame(read), Answer)


def read_exactly(read: Callable[[int], bytes], count: int) -> bytes:
    """`count` bytes; raises `Garbled` when there are fewer."""
    parts = bytearray()
    while len(parts) < count:
        part = read(min(count - len(parts), 1 << 20))
        if not part:
            raise Garbled(f"it ended after {len(parts)} of {count} bytes")
        parts += part
    return bytes(parts)


def _read_frame(read: Callable[[int], bytes]) -> bytes:
    (length,) = LENGTH.unpack(read_exactly(read, LENGTH.size))
    if length > MAX_MESSAGE:
        raise Garbled(f"a message of {length} bytes is over the bound")
    return read_exactly(read, length)


def _decode(document: bytes, kind: type[M]) -> M:
    try:
        return msgspec.msgpack.decode(document, type=kind, dec_hook=_path)
    except msgspec.DecodeError as error:
        raise Garbled(str(error)) from error


def _encode(value: Any) -> str:
    if isinstance(value, Path):
        return str(value)
    raise NotImplementedError(type(value).__name__)


def _path(kind: type, value: Any) -> Any:
    if kind is Path:
        return Path(value)
    raise NotImplementedError(kind.__name__)
