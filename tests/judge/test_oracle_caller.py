"""The oracle as a candidate is a whole candidate: layers, training mode, gradients, crashes."""

from __future__ import annotations

import pytest
import torch

from grader.judge.inline_runner import run_plainly
from grader.judge.oracle_caller import OracleCaller
from grader.judge.plugin import run_checks
from grader.judge.session import judge_caller
from grader.protocol import Build, Built, Call, Called, Describe, Failure, Load, Loaded
from grader.records import Grade
from tests.judge.stage import SEED, content, each_level, forms, played, submission


def built(caller: OracleCaller, **settings: bool) -> dict[str, tuple[int, ...]]:
    reply, _ = caller.post(Build(instance=0, args=(6,), **settings), None, 1.0)()
    assert isinstance(reply, Built)
    assert caller.post(Describe(instance=0), None, 1.0)() == (reply, {})
    return {info.name: info.shape for info in reply.parameters}


def test_it_has_the_kata_s_signature() -> None:
    reply, _ = OracleCaller(content("v3")).post(Load(file_name="a.py", name="C"), None, 1.0)()
    assert isinstance(reply, Loaded)
    assert [(a.name, a.default) for a in reply.constructor] == [("hidden_dim", 728), ("dropout_rate", 0.1)]
    assert [(a.name, a.has_default) for a in reply.forward] == [("x", False), ("attention_mask", True)]


@pytest.mark.parametrize(
    ("kata", "fused", "names"),
    [
        ("v1", False, {"query_proj.weight": (6, 6), "key_proj.bias": (6,)}),
        ("v1", True, {"proj.weight": (18, 6), "proj.bias": (18,)}),
        ("v2", False, {"proj.weight": (18, 6)}),
        ("v3", True, {"proj.weight": (18, 6), "output_proj.weight": (6, 6)}),
    ],
)
def test_it_has_the_layers_of_its_level(kata: str, fused: bool, names: dict[str, tuple[int, ...]]) -> None:
    shapes = built(OracleCaller(content(kata), fused=fused))
    assert names.items() <= shapes.items()
    assert ("query_proj.weight" in shapes) is not ("proj.weight" in shapes)


def test_it_gets_the_layer_that_a_mistake_needs() -> None:
    extra = forms("v4", "extra_output_proj")
    assert "output_proj.weight" in built(OracleCaller(content("v4"), extra))
    assert "output_proj.weight" not in built(OracleCaller(content("v4")))


def test_two_mistakes_on_one_step_cannot_be_played() -> None:
    with pytest.raises(ValueError, match="the same step"):
        OracleCaller(content("v1"), forms("v1", "no_scale") + forms("v1", "double_scale"))


def test_nothing_it_is_given_is_changed_and_no_generator_is_moved() -> None:
    caller = OracleCaller(content("v4"))
    built(caller)
    x, mask, cotangent = torch.randn(2, 3, 6), torch.ones(2, 3, 3), torch.randn(2, 3, 6)
    kept, state = x.clone(), torch.get_rng_state()
    reply, back = caller.post(
        Call(instance=0, training=True, seed=4, wanted=("x",)),
        {"i:x": x, "i:attention_mask": mask, "cotangent": cotangent},
        1.0,
    )()
    assert isinstance(reply, Called)
    assert reply.backward is None
    assert torch.equal(x, kept)
    assert not x.requires_grad
    assert torch.equal(torch.get_rng_state(), state)
    assert {"output", "a:x", "a:attention_mask", "d:x", "g:query_proj.weight"} <= back.keys()


def test_training_drops_by_the_seed() -> None:
    caller = OracleCaller(content("v4"))
    built(caller)
    sent = {"i:x": torch.randn(4, 5, 6), "p:value_proj.weight": torch.eye(6)}

    def output(training: bool, seed: int) -> torch.Tensor:
        return caller.post(Call(instance=0, training=training, seed=seed), sent, 1.0)()[1]["output"]

    assert torch.equal(output(True, 1), output(True, 1))
    assert not torch.equal(output(True, 1), output(True, 2))
    assert torch.equal(output(False, 1), output(False, 2))


def test_gradients_are_autograd_s() -> None:
    caller = OracleCaller(content("v1"), forms("v1", "output_uses_keys")[:1])
    built(caller)
    x = torch.randn(2, 3, 6)
    parameters = {f"p:{role}_proj.weight": torch.randn(6, 6) for role in ("query", "key", "value")}
    _, back = caller.post(Call(instance=0), {"i:x": x, "cotangent": torch.ones(2, 3, 6), **parameters}, 1.0)()
    assert float(back["g:key_proj.weight"].abs().max()) > 0
    assert "g:value_proj.weight" not in back


def test_a_variant_that_crashes_is_a_failure_of_forward() -> None:
    caller = OracleCaller(content("v3"), forms("v3", "attends_over_features")[:1])
    built(caller)
    sent = {"i:x": torch.randn(2, 3, 6), "i:attention_mask": torch.ones(2, 3, 3)}
    reply, _ = caller.post(Call(instance=0), sent, 1.0)()
    assert isinstance(reply, Failure)
    assert (reply.stage, reply.type) == ("forward", "RuntimeError")


@each_level
def test_the_right_answer_passes_in_either_build_and_at_any_seed(kata: str) -> None:
    fused = (False, True)
    grades = [played(kata, fused=packed, seed=seed) for packed in fused for seed in (1, 2, 3)]
    assert {grade.verdict for grade in grades} == {"passed"}
    assert {grade.diagnosis for grade in grades} == {()}


@pytest.mark.parametrize("label", ["no_scale", "mask_inverted", "dropout_no_rescale"])
def test_a_pytest_session_and_plain_calls_of_the_checks_come_to_the_same(label: str) -> None:
    def judged(run: object) -> Grade:
        caller = OracleCaller(content("v3"), forms("v3", label)[:1])
        return judge_caller(submission(""), content("v3"), caller, SEED, run=run)  # type: ignore[arg-type]

    assert judged(run_checks) == judged(run_plainly)
