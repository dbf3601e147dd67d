"""The hidden checks of online, in the order of the report."""

from __future__ import annotations

import torch
from kata_content.common.checks.functions import (
    a_call_changes_nothing_for_the_next,
    crash_label,
    inputs_are_left_alone,
    it_is_written_by_hand,
    require_one_tensor,
    the_result_is_right_on_every_probe,
    unusual_inputs_are_right_as_well,
)
from kata_content.common.checks.preconditions import require_some_output
from kata_content.online.family import LONG, measured, plain, sizes
from torch import Tensor

from grader.authoring import (
    Asked,
    Blame,
    Candidate,
    Failure,
    NotReached,
    Observation,
    Steps,
    apart,
    check,
    fail,
    problem_line,
    problem_text,
    require,
)

BAR = 24  # signs for S·T
GRADIENTS = (
    plain("gradients", 3, sizes(2, 2, 4, 7, 3)),
    plain(
        "gradients_double",
        5,
        sizes(1, 2, 3, 5, 4),
        dtypes=dict.fromkeys(("query", "key", "value"), torch.float64),
    ),
)


def _is_crowded(seen: Observation) -> bool:
    """Whether the one block is longer than there are keys."""
    return seen.probe.numbers["block_size"] > seen.drawn.sizes["T"]


@check(
    "interface",
    why="The next layer goes on computing with what your function returns, in the type that it has.",
)
def the_function_returns_one_tensor_like_the_query(candidate: Candidate, steps: Steps, blame: Blame) -> None:
    observed = candidate.observations
    if all(seen.problem is not None for seen in observed):
        require_one_tensor(candidate, observed[0], steps, blame)
    for seen in observed:
        if seen.problem is not None or (seen.output is None and _is_crowded(seen)):
            continue  # that is about blocks
        require_one_tensor(candidate, seen, steps, blame)
        require(
            seen.dtype == seen.drawn.x.dtype,
            f"On {seen.drawn.says} the result has another dtype.",
            expected=str(seen.drawn.x.dtype),
            actual=str(seen.dtype),
            mistake="wrong_dtype",
            line=blame.last(),
        )


@check("blocks", why="The last block is nearly always shorter than the others, and nobody tests with it.")
def every_length_and_every_block_size_runs(candidate: Candidate, steps: Steps) -> None:
    require_some_output(candidate)
    failed = [seen for seen in candidate.observations if seen.output is None]
    if not failed:
        return
    first = failed[0]
    found = () if steps.explanation is None else steps.explanation.labels
    if "online_tail_dropped" in found and all(_is_crowded(seen) for seen in failed):
        raise NotReached("no block is read where one block is longer than the keys")
    if any(steps.explains_crash(seen) for seen in failed):
        raise NotReached("the mistake that was found makes such calls crash as well")
    happened = "nothing is returned." if first.problem is None else problem_text(candidate, first.problem)
    fail(
        f"On {first.drawn.says}: {happened}",
        expected="any number of keys, and any block size",
        actual=f"{len(failed)} of {len(candidate.observations)} calls fail",
        mistake=_mistake_of_blocks(candidate, failed),
        line=None if first.problem is None else problem_line(first.problem),
    )


def _mistake_of_blocks(candidate: Candidate, failed: list[Observation]) -> str | None:
    """What it is called when some lengths and block sizes fail and others do not."""
    ragged = [_is_ragged(seen) for seen in candidate.observations]
    lost = [seen.output is None for seen in candidate.observations]
    label = crash_label(candidate, failed[0])
    if label in (None, "hard_coded_sizes", "transpose_wrong_axes", "online_empty_block_crash"):
        if lost == ragged:
            return "online_needs_whole_blocks"
        if all(not _is_ragged(seen) for seen in failed):
            return "online_empty_block_crash"
        if all(_is_crowded(seen) for seen in failed):
            return "online_needs_whole_blocks"
        if all(seen.drawn.sizes["S"] != seen.drawn.sizes["T"] for seen in failed):
            return "online_key_length_from_query"
    return label


def _is_ragged(seen: Observation) -> bool:
    """Whether the last block is a short one."""
    return bool(seen.drawn.sizes["T"] % seen.probe.numbers["block_size"])


@check("blocks", why="A key that is left out, or counted twice, takes its share of every weight along.")
def every_key_is_read_once_with_its_own_value(candidate: Candidate, steps: Steps) -> None:
    require_some_output(candidate)
    steps.expect("blocks", "the keys 0 … T-1, each once, with the value at the same place")


@check("scale", why="Large dot products saturate softmax, and the gradients vanish.")
def scores_are_divided_by_sqrt_head_dim(candidate: Candidate, steps: Steps) -> None:
    require_some_output(candidate)
    steps.expect("scale", "scores divided by √head_dim, once")


@check(
    "stability", why="exp overflows at 89 in float32, and a row far below the maximum's start becomes 0/0."
)
def a_running_maximum_is_taken_away(candidate: Candidate, steps: Steps) -> None:
    require_some_output(candidate)
    steps.expect(
        "stability", "the largest score of all blocks so far, each row its own, begun below everything"
    )


@check("rescale", why="What was summed under an old maximum counts too much once a larger one comes.")
def the_old_sums_follow_the_new_maximum(candidate: Candidate, steps: Steps) -> None:
    require_some_output(candidate)
    steps.expect("rescale", "old sum and old mix times exp(m_old - m_new), divided once at the end")


@check(
    "memory",
    why="Scores of S·T numbers are what blocks are there to avoid: at 32,768 tokens they take 4 GB a head.",
    asks=measured,
)
def the_scores_of_all_keys_never_exist_at_once(candidate: Candidate) -> None:
    seen = candidate.once(measured).seen
    if seen.called is None or seen.output is None:
        raise NotReached("the function did not run on a long input")
    queries, keys = LONG.sizes["S"], LONG.sizes["T"]
    block = int(LONG.numbers["block_size"])
    made, most = seen.called.largest, queries * keys
    require(
        made < most,
        f"With {queries} queries and {keys} keys in blocks of {block}, the largest tensor that was made has"
        f" {made:,} numbers: the blocks save nothing.",
        expected=f"{bar(queries * block, most)} the scores of one block are {queries * block:,},"
        f" and S·T is {most:,}",
        actual=f"{bar(made, most)} {made:,}",
        mistake="online_full_scores",
        line=seen.called.largest_line,
    )


def bar(made: int, most: int) -> str:
    """How much of S·T it is, as a bar."""
    full = min(BAR, -(-made * BAR // most))
    return "█" * full + "░" * (BAR - full)


def _backward(candidate: Candidate) -> tuple[tuple[Asked, Tensor], ...]:
    """The calls whose gradients are compared, each with what goes back."""
    calls = []
    for probe in GRADIENTS:
        drawn = candidate.draw(probe)
        generator = torch.Generator().manual_seed(candidate.seed ^ 0xC07A)
        back = torch.randn(drawn.x.shape, generator=generator).to(drawn.x.dtype)
        calls.append((candidate.ask(candidate.rig(), drawn, cotangent=back), back))
    return tuple(calls)


@check(
    "gradients",
    why="A factor that is detached has the right values, and trains something else.",
    asks=_backward,
)
def gradients_are_those_of_attention(candidate: Candidate, steps: Steps, blame: Blame) -> None:
    if not steps.right:
        raise NotReached("the result is not right, so its gradients cannot be compared")
    for asked, back in candidate.once(_backward):
        seen = asked.seen
        if seen.called is None or seen.output is None:
            raise NotReached("the function did not run on inputs that want gradients")
        raised = seen.called.backward
        if raised is not None:
            fail(
                problem_text(candidate, raised),
                expected="gradients at query, key and value",
                actual="an error in backward",
                mistake=crash_of_backward(candidate, raised),
                line=blame.in_place() or blame.cut(),
            )
        for name, right in _right_gradients(seen, back).items():
            found = seen.gradients.get(name)
            if found is None:
                fail(
                    f"No gradient arrives at {name}.",
                    expected="gradients at query, key and value",
                    actual="none",
                    mistake="gradient_detached",
                    line=blame.cut(),
                )
            require(
                torch.allclose(found, right, rtol=2e-3, atol=2e-4),
                f"The values are right and the gradient at {name} is not.",
                expected="that of softmax(QKᵀ/√head_dim)V",
                actual=apart(found, right),
                mistake="gradient_detached",
                line=blame.cut(),
            )


def crash_of_backward(candidate: Candidate, raised: Failure) -> str | None:
    return crash_label(candidate, Observation(candidate.draw(GRADIENTS[0]), problem=raised))


def _right_gradients(seen: Observation, back: Tensor) -> dict[str, Tensor]:
    given = {name: value.clone().requires_grad_() for name, value in seen.drawn.floats.items()}
    query, key, value = given.values()
    scores = query @ key.mT / query.shape[-1] ** 0.5
    (torch.softmax(scores, -1) @ value).backward(back)
    return {name: tensor.grad for name, tensor in given.items() if tensor.grad is not None}


@check("side_effects", why="Keys and values live in a cache that the next token reads again.")
def query_key_and_value_stay_as_they_were(candidate: Candidate) -> None:
    inputs_are_left_alone(candidate, "mutates_input")


__all__ = [
    "a_call_changes_nothing_for_the_next",
    "a_running_maximum_is_taken_away",
    "every_key_is_read_once_with_its_own_value",
    "every_length_and_every_block_size_runs",
    "gradients_are_those_of_attention",
    "it_is_written_by_hand",
    "query_key_and_value_stay_as_they_were",
    "scores_are_divided_by_sqrt_head_dim",
    "the_function_returns_one_tensor_like_the_query",
    "the_old_sums_follow_the_new_maximum",
    "the_result_is_right_on_every_probe",
    "the_scores_of_all_keys_never_exist_at_once",
    "unusual_inputs_are_right_as_well",
]
