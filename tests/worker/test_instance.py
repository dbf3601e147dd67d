"""One instance: parameters set by the judge, modes, seeds, gradients, odd results."""

from __future__ import annotations

import pytest
import torch

from grader.protocol import Build, Call, Called, Failure
from grader.worker.instance import Instance, build
from grader.worker.loader import load

HEAD = "import torch\nfrom torch import nn\n\n\n"
CLASS = """\
class A(nn.Module):
    def __init__(self, d=4, rate=0.5):
        super().__init__()
        self.q = nn.Linear(d, d)
        self.drop = nn.Dropout(rate)

    def forward(self, x, mask=None):
        return self.drop(self.q(x))
"""


def made(text: str, **settings: object) -> Instance | Failure:
    found, _ = load((HEAD + text).encode(), "answer.py", "A")
    return build(found, Build(instance=0, args=(4,), **settings), "answer.py")  # type: ignore[arg-type]


def instance(text: str = CLASS, **settings: object) -> Instance:
    built = made(text, **settings)
    assert isinstance(built, Instance)
    return built


def called(
    one: Instance, *, mask: torch.Tensor | None = None, **more: object
) -> tuple[Called, dict[str, torch.Tensor]]:
    cotangent = more.pop("cotangent", None)
    tensors = {"i:x": torch.arange(24.0).reshape(2, 3, 4)}
    tensors |= {} if mask is None else {"i:mask": mask}
    tensors |= {} if cotangent is None else {"cotangent": cotangent}  # type: ignore[dict-item]
    keyword = more.pop("keyword", None)
    args = ("x",) if mask is None or keyword else ("x", "mask")
    kwargs = {keyword: "mask"} if keyword else {}
    request = Call(instance=0, args=args, kwargs=kwargs, wanted=("x",), **more)  # type: ignore[arg-type, dict-item]
    reply, back = one.call(request, tensors)
    assert isinstance(reply, Called), reply
    return reply, back


def returning(expression: str) -> Instance:
    return instance(CLASS.replace("self.drop(self.q(x))", expression))


def test_parameters_are_described_with_their_owner() -> None:
    found = instance().describe()
    assert [(info.name, info.shape, info.owner) for info in found.parameters] == [
        ("q.weight", (4, 4), "Linear"),
        ("q.bias", (4,), "Linear"),
    ]
    assert found.modules == ("Linear", "Dropout")


def test_keyword_arguments_and_half_precision() -> None:
    assert {info.dtype for info in instance(half=True).describe().parameters} == {"float16"}
    assert instance(kwargs={"rate": 0.25}).module.drop.p == 0.25  # type: ignore[union-attr]


def test_a_lazy_layer_appears_after_the_first_call() -> None:
    lazy = instance(CLASS.replace("nn.Linear(d, d)", "nn.LazyLinear(d)"))
    assert lazy.describe().lazy
    called(lazy)
    assert not lazy.describe().lazy


def test_what_a_constructor_raises_is_a_record() -> None:
    failure = made(CLASS.replace("super().__init__()", "pass"))
    assert isinstance(failure, Failure)
    assert (failure.stage, failure.type) == ("build", "AttributeError")
    refused = made(CLASS, kwargs={"p": 0.1})
    assert isinstance(refused, Failure)
    assert refused.type == "TypeError"


def test_modes_and_seeds_are_the_judge_s() -> None:
    one = instance()
    assert torch.equal(
        called(one, training=True, seed=5)[1]["output"], called(one, training=True, seed=5)[1]["output"]
    )
    assert not torch.equal(
        called(one, training=True, seed=5)[1]["output"], called(one, training=True, seed=6)[1]["output"]
    )
    assert called(one, training=True)[0].training_after
    assert not called(one, training=False)[0].training_after


def test_a_train_of_the_candidate_s_own_that_switches_nothing_is_not_relied_upon() -> None:
    one = instance(CLASS + "\n    def train(self, mode=True):\n        return self\n")
    still, first = called(one, training=False, seed=5)
    _, second = called(one, training=False, seed=6)
    assert not still.training_after
    assert torch.equal(first["output"], second["output"])
    moved, dropped = called(one, training=True, seed=5)
    assert moved.training_after
    assert not torch.equal(first["output"], dropped["output"])


def test_the_judge_s_parameters_are_used() -> None:
    one = instance()
    sent = {"i:x": torch.eye(4).unsqueeze(0), "p:q.weight": 2 * torch.eye(4), "p:q.bias": torch.zeros(4)}
    _, back = one.call(Call(instance=0, args=("x",)), sent)
    assert torch.equal(back["output"], 2 * torch.eye(4).unsqueeze(0))


def test_changed_arguments_come_back_and_leave_the_judge_s_alone() -> None:
    _, back = called(returning("x.mul_(2) + 0 * mask.zero_().sum()"), mask=torch.ones(2, 3), trace=True)
    assert torch.equal(back["a:x"], 2 * torch.arange(24.0).reshape(2, 3, 4))
    assert not back["a:mask"].any()


def test_a_mask_by_keyword() -> None:
    keyword = instance(
        CLASS.replace("mask=None", "other=None, *, mask=None").replace("self.drop(self.q(x))", "x * mask")
    )
    _, back = called(keyword, mask=torch.zeros(1), keyword="mask")
    assert not back["output"].any()


def test_gradients_of_input_and_parameters() -> None:
    _, back = called(instance(), cotangent=torch.ones(2, 3, 4))
    assert back["d:x"].shape == (2, 3, 4)
    assert torch.equal(back["g:q.bias"], torch.full((4,), 6.0))
    _, cut = called(returning("self.q(x).detach()"), cotangent=torch.ones(2, 3, 4))
    assert "g:x" not in cut


def test_a_backward_that_raises_is_told_beside_the_output() -> None:
    reply, back = called(returning("self.q(x).sigmoid().mul_(2).sigmoid_()"), cotangent=torch.ones(2, 3, 4))
    assert "output" in back
    assert reply.backward is not None
    assert "inplace" in reply.backward.text


@pytest.mark.parametrize(
    ("expression", "returned", "says"),
    [
        ("None", "none", ""),
        ("(x, x)", "tuple", ""),
        ("[x]", "tuple", ""),
        ("'text'", "other", ""),
        ("x.to_sparse()", "odd", "sparse"),
        ("torch.empty(2, device='meta')", "odd", "meta"),
        ("x + 1j", "odd", "complex64"),
        ("x.to(torch.float8_e4m3fn)", "odd", "float8_e4m3fn"),
        ("torch.zeros(3_000_000)", "odd", "3000000"),
        ("torch.zeros(1, 1, 1, 1, 1, 1, 1)", "odd", "(1, 1, 1"),
    ],
)
def test_what_is_returned_is_told_by_kind(expression: str, returned: str, says: str) -> None:
    reply, back = called(returning(expression))
    assert reply.returned == returned
    assert says in reply.odd
    assert ("output" in back) is (returned in ("tensor", "tuple"))


def test_a_subclass_is_sent_as_a_plain_tensor() -> None:
    _, back = called(returning("x.as_subclass(type('T', (torch.Tensor,), {}))"))
    assert type(back["output"]) is torch.Tensor
