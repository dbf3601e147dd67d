"""A stage for bug hunts: what the katas offer, and repairs of rooms whose outcome is known."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations

from grader.catalog import load_catalog
from grader.debugging.content import Edit, Stock, Style, has_rooms, load_stock
from grader.debugging.rooms import drawn_set, room_text
from grader.engine.private import PrivateEngine
from grader.records import Grade, Options, Planted, Submission

CATALOG = load_catalog()
KATAS = tuple(kata.id for kata in CATALOG.katas if has_rooms(kata))
SEED = 20481
SAME = ("mask_fill_small",)  # in float32 the scores are filled with what `mask_fill_zero` fills in

# Right code that says the same in other words: mends are not only what stood there before.
OTHER_WORDS = (
    ("torch.softmax(scores, dim=-1)", "scores.softmax(dim=-1)"),
    ("F.softmax(att, dim=2)", "torch.exp(att) / torch.exp(att).sum(-1, keepdim=True)"),
    ("logits.softmax(dim=-1)", "torch.softmax(logits, -1)"),
    ("torch.softmax(energy, dim=-1)", "(energy - energy.amax(-1, True)).softmax(-1)"),
    ("/ math.sqrt(self.hidden_dim)", "* self.hidden_dim**-0.5"),
    ("/ math.sqrt(keys.size(-1))", "/ queries.size(-1) ** 0.5"),
    ("s / math.sqrt(self.d)", "s * (1 / self.d**0.5)"),
    ("K.transpose(-2, -1)", "K.mT"),
    ("k.transpose(1, 2)", "k.permute(0, 2, 1)"),
    ("torch.matmul(weights, V)", "weights @ V"),
    ("torch.bmm(probs, v)", "probs.matmul(v)"),
    ("attention_mask == 0", "attention_mask.eq(0)"),
    ("mask.logical_not()", "(mask == 0)"),
    ("torch.matmul(attention_probs, value_layer)", "attention_probs @ value_layer"),
)


@cache
def stock(kata: str) -> Stock:
    return load_stock(CATALOG.get(kata), CATALOG)


@dataclass(frozen=True)
class Repair:
    """Somebody's work on a room, and what has to be said of it. `sort`: right, partial or new."""

    kata: str
    style: str
    sort: str
    text: str
    planted: tuple[Planted, ...]
    mended: tuple[str, ...]
    still: tuple[str, ...]
    new: tuple[str, ...]

    @property
    def name(self) -> str:
        labels = "+".join(one.label for one in self.planted)
        return f"{self.kata} {self.style} {labels}: {self.sort}, still {self.still}, new {self.new}"


def repairs(kata: str, rooms: int) -> Iterator[Repair]:
    """Of so many rooms of three or four bugs: all mended in other words, some mended, all and one new bug."""
    for place in range(rooms):
        size = 3 + place % 2
        styles = stock(kata).styles
        style = styles[place % len(styles)]
        edits = drawn_set(style, stock(kata), size, f"repair {place}")
        assert edits is not None, style.name
        yield _repair(kata, style, edits, "right", (), ())
        left = tuple(combinations(edits, 1 + place % (size - 1)))[place % size]
        yield _repair(kata, style, edits, "partial", left, ())
        fresh = _fresh(style, edits, place)
        if fresh is not None:
            yield _repair(kata, style, edits, "new", (), (fresh,))


def _fresh(style: Style, edits: tuple[Edit, ...], place: int) -> Edit | None:
    """A bug of another concept, to be made while mending."""
    concepts = {edit.concept for edit in edits}
    others = [edit for edit in style.edits if edit.concept not in concepts and edit.label not in SAME]
    return others[place % len(others)] if others else None


def _repair(
    kata: str,
    style: Style,
    edits: tuple[Edit, ...],
    sort: str,
    left: tuple[Edit, ...],
    new: tuple[Edit, ...],
) -> Repair:
    text = room_text(style, (*left, *new))
    for old, other in OTHER_WORDS:
        inside = any(old in edit.wrong or old in edit.right for edit in (*left, *new))
        if not inside:
            text = text.replace(old, other)
    return Repair(
        kata=kata,
        style=style.name,
        sort=sort,
        text=text,
        planted=tuple(Planted(label=edit.label, form=edit.form) for edit in edits),
        mended=tuple(edit.label for edit in edits if edit not in left),
        still=tuple(edit.label for edit in edits if edit in left),
        new=tuple(edit.label for edit in new),
    )


def graded(engine: PrivateEngine, kata: str, text: str, planted: tuple[Planted, ...]) -> Grade:
    """A text by a real worker and a real judge."""
    found, source = CATALOG.get(kata), text.encode()
    submission = Submission(name=found.file_name, source=source, sha256=hashlib.sha256(source).hexdigest())
    return engine.grade(submission, found, CATALOG, Options(seed=SEED, planted=planted))
