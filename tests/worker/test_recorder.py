"""What torch was asked to do, and from which line of the candidate's file."""

from __future__ import annotations

import pytest
import torch

from grader.protocol import Build, Call, Called, Failure, TraceEntry
from grader.worker.instance import Instance, build
from grader.worker.loader import load

HEAD = "import torch, math\nfrom torch import nn\nimport torch.nn.functional as F\n"
CLASS = """\
class A(nn.Module):
    def __init__(self, d=4):
        super().__init__()
        self.q = nn.Linear(d, d)
        self.drop = nn.Dropout(0.5)

    def forward(self, x):
{body}
"""


def instance(body: str) -> Instance:
    text = HEAD + CLASS.format(body="\n".join(f"        {line}" for line in body.splitlines()))
    found, _ = load(text.encode(), "answer.py", "A")
    made = build(found, Build(instance=0, args=(4,)), "answer.py")
    assert isinstance(made, Instance)
    return made


def trace(body: str, **settings: bool) -> dict[str, TraceEntry]:
    reply, _ = instance(body).call(
        Call(instance=0, args=("x",), trace=True, **settings), {"i:x": torch.randn(2, 3, 4)}
    )
    assert isinstance(reply, Called)
    return {entry.call: entry for entry in reply.trace}


FIRST = len(HEAD.splitlines()) + 8  # the line of forward's first statement


def test_calls_have_lines_shapes_and_parameters() -> None:
    found = trace("y = self.q(x)\nreturn y @ x.transpose(-2, -1)")
    assert found["linear"].line == FIRST
    assert found["linear"].parameters == ("q.weight", "q.bias")
    assert found["linear"].output == (2, 3, 4)
    product = next(entry for name, entry in found.items() if "matmul" in name)
    assert (product.line, product.inputs, product.output) == (FIRST + 1, ((2, 3, 4), (2, 4, 3)), (2, 3, 3))


def test_numbers_among_the_arguments_are_kept_and_infinities_made_finite() -> None:
    found = trace("s = x.masked_fill(x > 0, float('-inf'))\nreturn F.dropout(s, 0.25, True)")
    assert -1e308 in found["masked_fill"].numbers.values()
    assert 0.25 in found["dropout"].numbers.values()


def test_of_many_tensors_in_one_call_the_first_few_are_kept() -> None:
    assert trace("return torch.cat([x] * 40)")["cat"].inputs == ((2, 3, 4),) * 4


def test_a_layer_that_is_not_of_the_model_is_seen() -> None:
    assert trace("return nn.Dropout(0.5)(x)")["dropout"].fresh_module
    assert not trace("return self.drop(x)")["dropout"].fresh_module
    assert trace("return nn.Linear(4, 4)(x)")["linear"].fresh_module


def test_a_helper_in_another_file_is_laid_to_the_line_that_called_it() -> None:
    assert trace("return F.layer_norm(x, (4,))")["layer_norm"].line == FIRST


def test_the_call_that_raised_is_the_last_one() -> None:
    reply, tensors = instance("y = x + 1\nreturn y @ x").call(
        Call(instance=0, args=("x",), trace=True), {"i:x": torch.randn(2, 3, 4)}
    )
    assert isinstance(reply, Failure)
    assert tensors == {}
    assert reply.line == FIRST + 1
    assert reply.trace[-1].raised


def test_below_autograd_the_library_s_attention_is_seen() -> None:
    reply, _ = instance("return F.scaled_dot_product_attention(x, x, x)").call(
        Call(instance=0, args=("x",), dispatch=True), {"i:x": torch.randn(2, 3, 4)}
    )
    assert isinstance(reply, Called)
    assert any("scaled_dot_product" in name or "safe_softmax" in name for name in reply.dispatched)
    assert FIRST in reply.dispatched_lines.values()


def test_without_being_asked_nothing_is_recorded() -> None:
    reply, _ = instance("return x + 1").call(Call(instance=0, args=("x",)), {"i:x": torch.randn(2, 3, 4)})
    assert isinstance(reply, Called)
    assert (reply.trace, reply.dispatched) == ((), ())


@pytest.mark.parametrize("body", ["for _ in range(999):\n    x = x + 1\nreturn x"])
def test_a_trace_is_bounded(body: str) -> None:
    reply, _ = instance(body).call(Call(instance=0, args=("x",), trace=True), {"i:x": torch.randn(2, 3, 4)})
    assert isinstance(reply, Called)
    assert len(reply.trace) <= 300
