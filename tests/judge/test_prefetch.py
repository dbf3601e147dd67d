"""What is sent ahead is what the checks ask for, once, and changes no grade."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest
import torch
from torch import Tensor

from grader.judge import session
from grader.judge.channel import Answer, Pending, WorkerLost
from grader.judge.instruments import Bench
from grader.judge.oracle_caller import OracleCaller
from grader.judge.plugin import run_checks
from grader.judge.prefetch import ask_ahead
from grader.judge.sanitize import plain_grade
from grader.protocol import Build, Call, Failure, Request
from grader.records import Grade
from tests.judge.stage import SEED, candidate, content, each_level, forms, submission

MISTAKES = [("v1", "no_scale"), ("v2", "qkv_interleaved"), ("v3", "dropout_in_eval"), ("v4", "mask_inverted")]


def honest(_: Request, answer: Answer) -> Answer:
    return answer


class Counting:
    """Passes requests on and counts: what was sent, and what somebody waited for."""

    def __init__(self, kata: str, spoil: Callable[[Request, Answer], Answer] = honest) -> None:
        self._caller = OracleCaller(content(kata))
        self._spoil = spoil
        self.sent: list[Request] = []
        self.heard: Counter[int] = Counter()

    def post(self, request: Request, tensors: dict[str, Tensor] | None, seconds: float) -> Pending:
        answer = self._spoil(request, self._caller.post(request, tensors, seconds)())
        number = len(self.sent)
        self.sent.append(request)

        def wait() -> Answer:
            self.heard[number] += 1
            return answer

        return wait

    @property
    def calls(self) -> int:
        return sum(isinstance(request, Call) for request in self.sent)


def stage(kata: str, caller: Counting) -> Bench:
    return Bench.around(candidate(kata, caller=caller), "")


@each_level
def test_all_that_a_right_answer_is_asked_is_asked_ahead(kata: str) -> None:
    caller = Counting(kata)
    bench = stage(kata, caller)
    ask_ahead(bench)
    before = len(caller.sent)
    raised = {outcome.info.concept for outcome in run_checks(content(kata).checks, bench) if outcome.raised}
    assert not raised & {concept.id for concept in content(kata).kata.concepts if concept.required}
    assert len(caller.sent) == before


@each_level
def test_nothing_is_asked_in_vain_and_nothing_twice(kata: str) -> None:
    caller = Counting(kata)
    bench = stage(kata, caller)
    ask_ahead(bench)
    run_checks(content(kata).checks, bench)
    unheard = [request for number, request in enumerate(caller.sent) if not caller.heard[number]]
    # only the call whose answer nobody wants: it shows forward other tokens between two equal calls; and what
    # is asked for the state that it leaves
    assert [type(request) for request in unheard if not getattr(request, "keep", "")] == [Call]
    assert set(caller.heard.values()) == {1}


@pytest.mark.parametrize(("kata", "label"), MISTAKES)
def test_it_changes_no_grade(kata: str, label: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def graded() -> Grade:
        caller = OracleCaller(content(kata), forms(kata, label)[:1])
        return plain_grade(session.judge_caller(submission(b""), content(kata), caller, SEED))

    ahead = graded()
    monkeypatch.setattr(session, "ask_ahead", lambda _: None)
    assert graded() == ahead
    assert label in ahead.diagnosis[0].mistakes


def test_a_forward_that_gives_nothing_is_asked_no_further() -> None:
    nothing = Failure(stage="forward", type="ValueError", text="no")
    caller = Counting("v3", lambda request, answer: (nothing, {}) if isinstance(request, Call) else answer)
    ask_ahead(stage("v3", caller))
    assert caller.calls == 4  # with a mask and without, twice


def test_nor_one_whose_output_has_another_shape() -> None:
    def flat(_: Request, answer: Answer) -> Answer:
        reply, back = answer
        return reply, {name: value.flatten() for name, value in back.items()}

    caller = Counting("v1", flat)
    ask_ahead(stage("v1", caller))
    assert caller.calls == 2


def test_an_instance_that_does_not_build_is_not_called() -> None:
    def narrow(request: Request, answer: Answer) -> Answer:
        if isinstance(request, Build) and 16 not in request.args and request.kwargs.get("hidden_dim") != 16:
            return Failure(stage="build", type="ValueError", text="only 16"), {}
        return answer

    caller = Counting("v3", narrow)
    bench = stage("v3", caller)
    ask_ahead(bench)
    refused = {number for number, request in enumerate(caller.sent) if isinstance(request, Build)}
    assert len(refused) > 3
    by_name = {seen.probe.name: seen for seen in bench.candidate.observations}
    assert isinstance(by_name["longer_than_wide"].problem, Failure)
    assert by_name["six_tokens"].output is not None


def test_layers_that_cannot_be_told_apart_are_asked_without_an_xray() -> None:
    caller = Counting("v3")
    bench = stage("v3", caller)
    rig = bench.candidate.rig()
    bench.candidate._rigs = {key: replace(value, units=()) for key, value in bench.candidate._rigs.items()}
    assert rig.units
    ask_ahead(bench)
    whole = Counting("v3")
    ask_ahead(stage("v3", whole))
    assert caller.calls < whole.calls
    assert torch.is_tensor(bench.variations.large_input.seen.output)


def test_a_lost_worker_is_a_problem_of_each_call() -> None:
    class Gone(Counting):
        def post(self, request: Request, tensors: dict[str, Tensor] | None, seconds: float) -> Pending:
            if isinstance(request, Call):

                def lost() -> Answer:
                    raise WorkerLost("ended", 0.1, None)

                return lost
            return super().post(request, tensors, seconds)

    bench = stage("v1", Gone("v1"))
    ask_ahead(bench)
    assert all(isinstance(seen.problem, WorkerLost) for seen in bench.candidate.observations)
