"""A function in a module's place, states that stay where they are, and what a call makes and multiplies."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from grader.protocol import Build, Call, Called, Loaded
from grader.worker.instance import Instance, build
from grader.worker.loader import LoadError, load

SOFTMAX = """\
import torch

def _helper(z):
    return torch.exp(z)

def softmax(z, dim=-1):
    grown = _helper(z)
    return grown / grown.sum(dim, keepdim=True)
"""
CACHE = """\
import torch
from torch import nn

class Sums(nn.Module):
    def forward(self, x, cache=None):
        total = x if cache is None else cache["total"] + x
        return total, {"total": total}
"""


def loaded(source: str, name: str) -> Loaded:
    return load(source.encode(), "answer.py", name, "function")[1]


def made(source: str, name: str, sort: str) -> Instance:
    target, _ = load(source.encode(), "answer.py", name, sort)  # type: ignore[arg-type]
    instance = build(target, Build(instance=0), "answer.py")
    assert isinstance(instance, Instance)
    return instance


def called(one: Instance, request: Call, **inputs: Tensor) -> tuple[Called, dict[str, Tensor]]:
    sent = {name if name == "cotangent" else f"i:{name}": value for name, value in inputs.items()}
    reply, back = one.call(request, sent)
    assert isinstance(reply, Called), reply
    return reply, back


def test_a_function_is_called_with_tensors_and_numbers() -> None:
    one = made(SOFTMAX, "softmax", "function")
    assert one.describe().parameters == ()
    z = torch.randn(3, 4)
    request = Call(instance=0, args=("z", "dim"), numbers={"dim": 0}, wanted=("z",))
    _, back = called(one, request, z=z, cotangent=torch.randn(3, 4))
    assert torch.allclose(back["output"], z.softmax(0))
    assert back["d:z"].shape == z.shape


@pytest.mark.parametrize("name", ["softmax", "Softmax", "something_else"])
def test_the_function_of_that_name_is_taken_else_the_only_public_one(name: str) -> None:
    found = loaded(SOFTMAX, name)
    assert (found.class_name, [argument.name for argument in found.forward]) == ("softmax", ["z", "dim"])


@pytest.mark.parametrize(
    ("source", "kind"),
    [
        ("softmax = 3\n", "NotAFunction"),
        ("def a(): pass\n\ndef b(): pass\n", "FunctionMissing"),
        ("x = 1\n", "FunctionMissing"),
    ],
)
def test_what_is_no_function_is_told_apart(source: str, kind: str) -> None:
    with pytest.raises(LoadError) as caught:
        loaded(source, "softmax")
    assert caught.value.failure.type == kind


def test_a_state_is_kept_under_its_name_and_handed_back_unopened() -> None:
    one = made(CACHE, "Sums", "module")
    ones = torch.ones(2, 3)
    first = Call(instance=0, args=("x",), returns=2, keep="a")
    reply, _ = called(one, first, x=ones)
    assert (reply.returned, reply.length) == ("tensor", 2)
    second = Call(instance=0, args=("x", "cache"), states={"cache": "a"}, returns=2, keep="b")
    _, back = called(one, second, x=ones)
    assert torch.equal(back["output"], 2 * ones)
    assert set(back) == {"output", "a:x"}
    _, again = called(one, second, x=5 * ones)  # the first state is as it was
    assert torch.equal(again["output"], 6 * ones)


GROWS = """\
def f(x):
    y = x.expand(100, 8, 8)
    z = x @ x
    big = z.repeat(5, 1)
    return y[0] + z
"""


def test_the_largest_new_tensor_is_told_with_its_line_and_views_are_none() -> None:
    reply, _ = called(made(GROWS, "f", "function"), dispatching(), x=torch.randn(8, 8))
    assert (reply.largest, reply.largest_line) == (5 * 64, 4)


def test_the_work_is_what_products_multiply() -> None:
    text = "def f(x):\n    return (x @ x.mT).softmax(-1) @ x\n"
    reply, _ = called(made(text, "f", "function"), dispatching(), x=torch.randn(6, 4))
    assert reply.work == 6 * 6 * 4 * 2


def dispatching() -> Call:
    return Call(instance=0, args=("x",), dispatch=True, below=True)
