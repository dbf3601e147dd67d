"""Several calls in turn: states are handed on unopened, and what they give is judged as one output."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch

from grader.engine.private import PrivateEngine, private_engine
from grader.judge.candidate import Candidate
from grader.judge.in_turns import ask_in_turns, expected_in_turns
from grader.judge.oracle import same
from grader.judge.turns import AskedInTurns
from grader.judge.xray import XRay
from tests.judge.stage import CATALOG, candidate, content, failed, forms, graded, labels, played, solution

FAMILY = content("cache").family
TURNED = [probe for probe in FAMILY.standard if probe.turns]
JOIN = "key = torch.cat((cache[0], key), dim=2)"
HANDED_ON = "return self.output_proj(joined), (key, value)"


@pytest.fixture(scope="module")
def engine() -> Iterator[PrivateEngine]:
    with private_engine(CATALOG) as running:
        yield running


@pytest.fixture
def right() -> Candidate:
    return candidate("cache")


@pytest.mark.parametrize("probe", TURNED, ids=lambda probe: probe.name)
def test_what_the_turns_give_is_what_one_call_gives(right: Candidate, probe) -> None:  # type: ignore[no-untyped-def]
    assert right.layout is not None
    seen = right.observe(probe)
    assert right.has_right_shape(seen)
    assert right.reproduces(seen, right.layout)
    parts = [call.seen.output for call in ask_in_turns(right, right.rig(probe.sizes), probe)]
    expected = expected_in_turns(right, probe, right.layout)
    assert expected is not None
    for part, wanted in zip(parts, expected, strict=True):
        assert part is not None
        assert same(part, wanted)


def test_a_probe_says_in_which_calls_it_comes(right: Candidate) -> None:
    says = right.draw(TURNED[0]).says
    assert says == "x (3, 7, 32), in calls of 3, 1 and 3"
    asked = right.ask_whole(right.rig(), right.draw(TURNED[0]))
    assert isinstance(asked, AskedInTurns)
    assert [call.seen.drawn.says for call in asked.calls] == ["x (3, 3, 32)", "x (3, 1, 32)", "x (3, 3, 32)"]


@pytest.mark.parametrize(
    ("label", "seen"),
    [
        ("kv_cache_not_used", [[1, 0, 0, 0], [0, 0, 0, 1]]),
        ("kv_only_last_step_kept", [[1, 0, 0, 0], [0, 0, 0, 1]]),
        ("kv_prefill_unmasked", [[1, 0, 0, 0], [1, 1, 1, 1]]),
        ("kv_causal_alignment", [[1, 0, 0, 0], [1, 0, 0, 0]]),
    ],
)
def test_the_map_over_several_calls_shows_which_keys_each_token_saw(
    label: str, seen: list[list[int]]
) -> None:
    """Of the first token, and of the fourth, which is a call by itself or the first of a chunk."""
    drawn = XRay(candidate("cache", forms("cache", label)[0])).turned
    shown = (drawn.actual[0, 0] > 1e-6).int()
    assert shown[0, :4].tolist() == seen[0]
    if label != "kv_only_last_step_kept":
        assert shown[3, :4].tolist() == seen[1] or label == "kv_prefill_unmasked"
    assert bool((drawn.expected[0, 0] > 1e-6).int().equal(torch.ones(7, 7, dtype=torch.int32).tril()))


def test_a_failed_answer_is_drawn_in_its_calls() -> None:
    grade = played("cache", forms("cache", "kv_cache_order")[0])
    assert {drawn.title.partition(", head")[0] for drawn in grade.maps} == {
        "What each token saw, in calls of 3, 1 and 3"
    }


def test_a_cache_that_is_none_is_seen_though_nobody_opens_it(engine: PrivateEngine) -> None:
    text = solution("cache", (HANDED_ON, "return self.output_proj(joined), cache"))
    grade = graded(engine, "cache", text)
    assert "kv_cache_not_returned" in labels(grade)
    assert failed(grade) == {"cache"}


def test_old_tokens_that_are_projected_again_cost_their_own_concept_with_the_line(
    engine: PrivateEngine,
) -> None:
    whole = "old = x if cache is None else torch.cat((cache, x), dim=1)"
    again = f"{whole}\n        key = self.split(self.key_proj(old))"
    text = solution(
        "cache",
        ("key = self.split(self.key_proj(x))", again),
        ("value = self.split(self.value_proj(x))", "value = self.split(self.value_proj(old))"),
        (JOIN, "pass"),
        ("value = torch.cat((cache[1], value), dim=2)", "pass"),
        ("(key, value)", "old"),
    )  # fmt: skip
    grade = graded(engine, "cache", text)
    assert failed(grade) == {"work"}
    assert labels(grade) == ("kv_recomputed",)
    line = grade.diagnosis[0].line
    assert line is not None
    assert "key_proj(old)" in text.splitlines()[line - 1]


def test_a_state_of_an_earlier_call_is_not_left_over(engine: PrivateEngine) -> None:
    """Where the second call gives no cache, the third is handed None, and not what another probe left."""
    text = solution(
        "cache",
        (HANDED_ON, "return self.output_proj(joined), (key, value) if cache is None else None"),
    )
    grade = graded(engine, "cache", text)
    assert grade.verdict == "failed"
    assert failed(grade) == {"cache"}


@pytest.mark.parametrize(("rows", "verdict"), [(1024, "passed"), (1023, "failed"), (300, "failed")])
def test_a_buffer_holds_as_many_tokens_as_may_come(engine: PrivateEngine, rows: int, verdict: str) -> None:
    made = (
        "if cache is None:\n"
        f"            empty = key.new_zeros(*key.shape[:2], {rows}, key.shape[3])\n"
        "            cache = empty, empty, 0\n"
        "        filled = cache[2] + key.shape[2]\n"
        "        keys, values = cache[0].clone(), cache[1].clone()\n"
        "        keys[:, :, cache[2] : filled] = key\n"
        "        values[:, :, cache[2] : filled] = value\n"
        "        key, value = keys[:, :, :filled], values[:, :, :filled]"
    )
    text = solution(
        "cache",
        ("if cache is not None:", made),
        (f"            {JOIN}\n", ""),
        ("            value = torch.cat((cache[1], value), dim=2)\n", ""),
        (HANDED_ON, "return self.output_proj(joined), (keys, values, filled)"),
    )
    grade = graded(engine, "cache", text)
    assert grade.verdict == verdict
    assert labels(grade) == (() if verdict == "passed" else ("kv_old_tokens_evicted",))
