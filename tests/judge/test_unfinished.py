"""Half-done work: for every stub and every subset of its TODOs done, each is called what it is."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import msgspec
import pytest

from grader.engine.private import PrivateEngine
from grader.records import Grade
from tests.judge import stage
from tests.sampling import some

Edits = tuple[tuple[str, str], ...]

LAYERS = """super().__init__()
        self.hidden_dim = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)"""
PROJECT = """query = self.query_proj(x)
        key = self.key_proj(x)
        value = self.value_proj(x)"""
MASK = """if attention_mask is not None:
            scores = scores.masked_fill(attention_mask == 0, torch.finfo(scores.dtype).min)"""
SOFTMAX = "weights = torch.softmax(scores, dim=-1)"
SCORE = "scores = query @ key.transpose(-2, -1) / x.size(-1) ** 0.5"
DROPOUT = "self.attention_dropout = nn.Dropout(dropout_rate)"
OUTPUT = "self.output_proj = nn.Linear(hidden_dim, hidden_dim)"
FORWARD = f"{PROJECT}\n        {SCORE}\n        {{mask}}{SOFTMAX}\n        {{drop}}return weights @ value"

HEADS = """batch, seq_len, _ = projected.shape
        return projected.view(batch, seq_len, self.num_heads, self.head_dim).transpose(1, 2)"""
HEAD_SCORES = "scores = query @ key.transpose(-2, -1) / math.sqrt(self.head_dim)"
HEAD_MASK = """if attention_mask is not None:
            scores = scores.masked_fill(attention_mask.unsqueeze(-3) == 0, torch.finfo(scores.dtype).min)"""
HEAD_WEIGHTS = "weights = self.attention_dropout(torch.softmax(scores, dim=-1))"
TRIANGLE = "torch.ones(max_seq_len, max_seq_len, dtype=torch.bool).triu(1)"
LATER = """length = x.shape[1]
        scores = scores.masked_fill(self.later[:length, :length], float("-inf"))"""
CONTEXT_LAYERS = """source = hidden_dim if context_dim is None else context_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(source, hidden_dim)
        self.value_proj = nn.Linear(source, hidden_dim)"""
CONTEXT_SCORES = f"""query = self.split(self.query_proj(x))
        key = self.split(self.key_proj(context))
        value = self.split(self.value_proj(context))
        {HEAD_SCORES}"""
CONTEXT_MASK = """if context_mask is not None:
            scores = scores.masked_fill(context_mask[:, None, None, :] == 0, torch.finfo(scores.dtype).min)"""
BLOCK = """keys = key[..., start : start + block_size, :]
        values = value[..., start : start + block_size, :]
        scores = query @ keys.transpose(-2, -1) / math.sqrt(head_dim)"""
RUNNING = """new_max = torch.maximum(running_max, scores.amax(dim=-1, keepdim=True))
        shrink = torch.exp(running_max - new_max)
        weights = torch.exp(scores - new_max)"""
CARRIED = """running_sum = running_sum * shrink + weights.sum(dim=-1, keepdim=True)
        mixed = mixed * shrink + weights @ values
        running_max = new_max"""
GROUP_LAYERS = """self.key_proj = nn.Linear(hidden_dim, num_kv_heads * self.head_dim)
        self.value_proj = nn.Linear(hidden_dim, num_kv_heads * self.head_dim)"""
GROUPS = """key = self.split(self.key_proj(x), self.num_kv_heads)
        value = self.split(self.value_proj(x), self.num_kv_heads)"""
SHARED = """group = self.num_heads // self.num_kv_heads
        key = key.repeat_interleave(group, dim=1)
        value = value.repeat_interleave(group, dim=1)"""
FREQUENCIES = """head_dim = x.shape[-1]
    exponents = torch.arange(0, head_dim, 2, dtype=torch.float32, device=x.device) / head_dim
    frequencies = base ** (-exponents)"""
ANGLES = """angles = positions[..., None] * frequencies  # (seq_len, pairs) or (batch, seq_len, pairs)
    if positions.dim() == 2:
        angles = angles.unsqueeze(1)"""
TURNED = """first, second = x[..., 0::2], x[..., 1::2]
    cosine, sine = angles.cos(), angles.sin()
    turned = torch.stack((first * cosine - second * sine, first * sine + second * cosine), dim=-1)
    return turned.flatten(-2).to(x.dtype)"""
OLD_KEYS = """if cache is not None:
            key = torch.cat((cache[0], key), dim=2)
            value = torch.cat((cache[1], value), dim=2)"""
OFFSET = """queries, keys = scores.shape[-2:]
        later = torch.ones(queries, keys, dtype=torch.bool, device=x.device).triu(keys - queries + 1)
        scores = scores.masked_fill(later, float("-inf"))"""
BAND = """place = torch.arange(query.shape[-2], device=query.device)
    back = place[:, None] - place[None, :]
    scores = scores.masked_fill((back < 0) | (back >= window), float("-inf"))"""

# How each TODO of a stub is done: what stands in the place of its `raise`, and other edits.
DONE: dict[str, tuple[tuple[str, Edits], ...]] = {
    "v1": ((LAYERS, ()), (PROJECT, ()), (SCORE, ()), (SOFTMAX, ()), ("return weights @ value", ())),
    "v2": (
        ("self.proj = nn.Linear(hidden_dim, 3 * hidden_dim)", ()),
        ("query, key, value = self.proj(x).chunk(3, dim=-1)", ()),
    ),
    "v3": (
        (f"{DROPOUT}\n        {OUTPUT}", ()),
        (MASK, ()),
        ("pass", ((SOFTMAX, "weights = self.attention_dropout(torch.softmax(scores, dim=-1))"),)),
        ("return self.output_proj(mixed)", ()),
    ),
    "v4": (
        (f"{LAYERS}\n        {DROPOUT}", ()),
        (
            FORWARD.format(
                mask=f"{MASK}\n        ", drop="weights = self.attention_dropout(weights)\n        "
            ),
            (),
        ),
    ),
    "softmax": (
        ("shifted = logits - logits.amax(dim=dim, keepdim=True)", ()),
        ("numerators = torch.exp(shifted)", ()),
        ("return numerators / numerators.sum(dim=dim, keepdim=True)", ()),
    ),
    "padding": (
        ("keys = padding_mask.unsqueeze(1)", ()),
        ("return keys.expand(-1, padding_mask.shape[1], -1)", ()),
    ),
    "mha": (
        (HEADS, ()),
        (HEAD_SCORES, ()),
        (HEAD_MASK, ()),
        (f"{HEAD_WEIGHTS}\n        mixed = weights @ value", ()),
        ("return self.output_proj(mixed.transpose(1, 2).flatten(2))", ()),
    ),
    "causal": (
        (f'self.register_buffer("later", {TRIANGLE})', ()),
        (LATER, ()),
        (f"{HEAD_WEIGHTS}\n        return self.join(weights @ value)", ()),
    ),
    "cross": (
        (CONTEXT_LAYERS, ()),
        (CONTEXT_SCORES, ()),
        (f"{CONTEXT_MASK}\n        return self.attend(scores, value)", ()),
    ),
    "gqa": ((GROUP_LAYERS, ()), (GROUPS, ()), (SHARED, ())),
    "rope": ((FREQUENCIES, ()), (ANGLES, ()), (TURNED, ())),
    "cache": (
        (OLD_KEYS, ()),
        (OFFSET, ()),
        ("mixed = torch.softmax(scores, dim=-1) @ value", ()),
        ("return self.join(mixed), (key, value)", ()),
    ),
    "window": (
        ("scores = query @ key.transpose(-2, -1) / math.sqrt(query.shape[-1])", ()),
        (BAND, ()),
        ("return torch.softmax(scores, dim=-1) @ value", ()),
    ),
    "online": ((BLOCK, ()), (RUNNING, ()), (CARRIED, ()), ("return mixed / running_sum", ())),
}
# TODOs whose work shows only once a later one is done, or never by itself: one block of several, and a mask
# that is kept for later.
SHOWS_WITH = {("causal", 1): 4, ("online", 1): 3, ("online", 2): 3, ("cache", 1): 5}


def when_done(kata: str, number: int, first: int) -> str:
    """What a TODO that is done is called, where `first` is the first one that is not."""
    return "right" if SHOWS_WITH.get((kata, number), number) < first else "written"


def raises(page: str) -> list[str]:
    return [line.strip() for line in page.splitlines() if line.strip().startswith("raise NotImpl")]


def written(page: str, done: dict[int, tuple[str, Edits]]) -> str:
    """The page with these TODOs done, numbered from 1."""
    waiting = raises(page)
    for number, (code, edits) in done.items():
        for old, new in ((waiting[number - 1], code), *edits):
            assert old in page, old
            page = page.replace(old, new, 1)
    return page


def subsets(kata: str) -> Iterator[tuple[str, tuple[int, ...]]]:
    numbers = range(1, len(DONE[kata]) + 1)
    for many in range(len(numbers)):
        yield from ((kata, chosen) for chosen in itertools.combinations(numbers, many))


def statuses(grade: Grade) -> dict[int, str]:
    return {todo.number: todo.status for todo in grade.todos}


@pytest.mark.parametrize(("kata", "chosen"), some(28, [case for kata in DONE for case in subsets(kata)]))
def test_every_subset_of_the_todos_is_called_what_it_is(
    engine: PrivateEngine, kata: str, chosen: tuple[int, ...]
) -> None:
    page = stage.CATALOG.get(kata).text("stub.py")
    text = written(page, {number: DONE[kata][number - 1] for number in chosen})
    numbers = range(1, len(DONE[kata]) + 1)
    first = next(number for number in numbers if number not in chosen)
    expected = {number: when_done(kata, number, first) if number in chosen else "open" for number in numbers}
    grade = stage.graded(engine, kata, text)
    assert grade.verdict != "passed"
    assert grade.points == 0
    assert statuses(grade) == expected
    lines = text.splitlines()
    assert all("raise" in lines[todo.line - 1] for todo in grade.todos if todo.status == "open" and todo.line)


@pytest.mark.parametrize("kata", DONE)
def test_the_whole_is_no_longer_unfinished(engine: PrivateEngine, kata: str) -> None:
    page = stage.CATALOG.get(kata).text("stub.py")
    grade = stage.graded(engine, kata, written(page, dict(enumerate(DONE[kata], start=1))))
    assert (grade.verdict, grade.todos) == ("passed", ())


def test_every_kata_says_what_its_todos_ask_for_and_is_tried() -> None:
    assert {kata.id for kata in stage.CATALOG.katas if kata.todos} == DONE.keys()
    assert all(len(stage.CATALOG.get(kata).todos) == len(done) for kata, done in DONE.items())


@pytest.mark.parametrize("kata", [kata for kata in DONE if not stage.CATALOG.get(kata).signature.is_module])
def test_the_blank_page_of_a_function_is_one_todo(engine: PrivateEngine, kata: str) -> None:
    assert statuses(stage.graded(engine, kata, stage.CATALOG.get(kata).text("blank.py"))) == {1: "open"}


@pytest.mark.parametrize("kata", [kata for kata in DONE if stage.CATALOG.get(kata).signature.is_module])
def test_a_blank_page_has_a_constructor_and_a_forward(engine: PrivateEngine, kata: str) -> None:
    page = stage.CATALOG.get(kata).text("blank.py")
    assert statuses(stage.graded(engine, kata, page)) == {1: "open", 2: "open"}
    init = page.replace('raise NotImplementedError("__init__ is still a blank page.")', "super().__init__()")
    assert statuses(stage.graded(engine, kata, init))[2] == "open"


def broken(kata: str, number: int, code: str) -> str:
    """The stub with TODO `number` done in another way, and all before it rightly."""
    page = stage.CATALOG.get(kata).text("stub.py")
    done = {place: DONE[kata][place - 1] for place in range(1, number)}
    return written(page, {**done, number: (code, ())})


RIGHT_IN_OTHER_WAYS = {
    "the key is turned at once": ("v1", 2, PROJECT + ".clone()\n        key = key.transpose(-2, -1)"),
    "other names": ("v1", 2, "q, k, v = self.query_proj(x), self.key_proj(x), self.value_proj(x)"),
    "in a list": ("v1", 2, "parts = [self.query_proj(x), self.key_proj(x), self.value_proj(x)]"),
    "einsum": ("v1", 3, "s = torch.einsum('bqd,bkd->bqk', query, key) * x.shape[-1] ** -0.5"),
    "softmax by hand": (
        "v1",
        4,
        "e = scores.exp()\n        w = e / e.sum(-1, True)",
    ),
    "heads by a permutation": (
        "mha",
        1,
        "return projected.unflatten(-1, (self.num_heads, self.head_dim)).permute(0, 2, 1, 3)",
    ),
    "keys of another type": ("padding", 1, "keys = (padding_mask != 0)[:, None]"),
    "the shift in other words": ("softmax", 1, "z = logits - logits.max(dim, keepdim=True).values"),
    "a mask of -inf": (
        "v3",
        2,
        "if attention_mask is not None:\n"
        "            scores = scores.masked_fill(attention_mask == 0, float('-inf'))",
    ),
}


@pytest.mark.parametrize("name", RIGHT_IN_OTHER_WAYS)
def test_another_right_way_is_right(engine: PrivateEngine, name: str) -> None:
    kata, number, code = RIGHT_IN_OTHER_WAYS[name]
    grade = stage.graded(engine, kata, broken(kata, number, code))
    assert statuses(grade)[number] == "right"


WRONG = {
    "not scaled": ("v1", 3, "scores = query @ key.transpose(-2, -1)"),
    "the wrong axis": ("v1", 4, "weights = torch.softmax(scores, dim=-2)"),
    "it raises": ("v1", 3, "scores = query @ key / x.size(-1) ** 0.5"),
    "the mask is inverted": (
        "v3",
        2,
        "if attention_mask is not None:\n            scores = scores.masked_fill(attention_mask != 0, -1e30)",
    ),
    "the mask must be bool": (
        "v3",
        2,
        "if attention_mask is not None:\n            scores = scores.masked_fill(~attention_mask, -1e30)",
    ),
    "heads cut from positions": (
        "mha",
        1,
        "return projected.view(len(projected), self.num_heads, -1, self.head_dim)",
    ),
    "scaled by the model's width": (
        "mha",
        2,
        "scores = query @ key.transpose(-2, -1) / math.sqrt(self.hidden_dim)",
    ),
    "keys of x": ("cross", 2, CONTEXT_SCORES.replace("key_proj(context)", "key_proj(x)")),
    "later scores are zeroed": ("causal", 2, LATER.replace('float("-inf")', "0.0")),
    "one maximum for all": ("softmax", 1, "shifted = logits - logits.amax()"),
    "the mix never shrinks": ("online", 3, CARRIED.replace("mixed * shrink", "mixed")),
    "the dropout is forgotten": ("v3", 3, "pass"),
    "a layer is missing": ("v3", 1, DROPOUT),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_is_wrong_is_said_and_what_stands_before_it_stays_right(
    engine: PrivateEngine, name: str
) -> None:
    kata, number, code = WRONG[name]
    grade = stage.graded(engine, kata, broken(kata, number, code))
    found = statuses(grade)
    assert found.pop(number) == "wrong"
    before = {place: when_done(kata, place, number) for place in range(1, number)}
    assert found == {**before, **{place: "open" for place in found if place > number}}
    assert next(todo.sentence for todo in grade.todos if todo.number == number)


UNPROVED = {
    "a rate of its own": ("v3", 1, f"self.attention_dropout = nn.Dropout(0.1)\n        {OUTPUT}"),
    "kept in one piece": ("v1", 2, "both = torch.cat([self.query_proj(x), self.key_proj(x)], -1)"),
}


@pytest.mark.parametrize("name", UNPROVED)
def test_what_no_run_proves_is_not_called_right(engine: PrivateEngine, name: str) -> None:
    kata, number, code = UNPROVED[name]
    grade = stage.graded(engine, kata, broken(kata, number, code))
    assert statuses(grade)[number] == "written"


def test_a_raise_behind_a_return_is_not_open(engine: PrivateEngine) -> None:
    page = stage.CATALOG.get("v1").text("stub.py")
    whole = f"{PROJECT}\n        {SCORE}\n        {SOFTMAX}\n        return weights @ value"
    right = written(page, {1: DONE["v1"][0], 2: (whole, ())})
    assert stage.graded(engine, "v1", right).verdict == "passed"
    wrong = right.replace("dim=-1", "dim=-2")
    grade = stage.graded(engine, "v1", wrong)
    assert (grade.verdict, grade.todos) == ("failed", ())
    assert grade.diagnosis[0].mistakes == ("softmax_over_queries",)


def test_a_raise_of_ones_own_is_no_todo(engine: PrivateEngine) -> None:
    text = stage.solution("v1", ("# x: (batch", 'raise NotImplementedError("later")\n        # x: (batch'))
    assert stage.graded(engine, "v1", text).todos == ()


def test_it_is_in_the_json_and_old_documents_lack_it(engine: PrivateEngine) -> None:
    grade = stage.graded(engine, "v1", stage.CATALOG.get("v1").text("stub.py"))
    document = msgspec.json.decode(msgspec.json.encode(grade))
    assert document["todos"][0]["status"] == "open"
    del document["todos"]
    assert msgspec.convert(document, Grade).todos == ()
