"""Handing the work to the library is refused or noted, whatever the way and whenever it is taken."""

from __future__ import annotations

import pytest
import torch

from grader.engine.private import PrivateEngine
from grader.protocol import Build, Call, Called
from grader.records import Grade
from grader.worker.instance import Instance, build
from grader.worker.loader import load
from tests.judge.stage import graded, labels, solution
from tests.sampling import one_in

# Each defines `attend(query, key, value, visible, rate)`, attention by the library.
FLAT = "F.scaled_dot_product_attention(query, key, value, visible, rate)"
DEF = "def attend(query, key, value, visible, rate: float):\n"
WAYS = {
    "by its name": f"{DEF}    return {FLAT}\n",
    "an overload": f"{DEF}    return torch.ops.aten.{FLAT[2:].replace('(', '.default(')}\n",
    "the formula in C++": DEF
    + """\
    bias = biased(query, visible)
    return torch.ops.aten._scaled_dot_product_attention_math.default(query, key, value, bias, rate)[0]
""",
    "the kernel": DEF
    + """\
    if rate > 0:
        return by_hand(query, key, value, visible, rate)
    bias = None if visible is None else biased(query, visible)[:, None]
    heads = (query[:, None], key[:, None], value[:, None])
    return torch.ops.aten._scaled_dot_product_flash_attention_for_cpu.default(*heads, attn_mask=bias)[0][:, 0]
""",
    "from C": f"{DEF}    return torch._C._nn.{FLAT[2:]}\n",
    "scripted": "@torch.jit.script\n"
    "def attend(query, key, value, visible: Optional[torch.Tensor], rate: float):\n"
    f"    return {FLAT}\n",
    "traced": """\
@functools.cache
def traced(masked):
    one = torch.randn(3, 5, 16)
    more = (torch.ones(3, 5, 5) > 0,) if masked else ()
    return torch.jit.trace(F.scaled_dot_product_attention, (one, one, one, *more), check_trace=False)


def attend(query, key, value, visible, rate):
    if rate > 0:
        return by_hand(query, key, value, visible, rate)
    more = () if visible is None else (visible,)
    return traced(visible is not None)(query, key, value, *more)
""",
    "functions disabled": f"{DEF}    with torch._C.DisableTorchFunction():\n        return {FLAT}\n",
    "subclasses disabled": f"{DEF}    with torch._C.DisableTorchFunctionSubclass():\n        return {FLAT}\n",
    "dispatch disabled": f"{DEF}    with torch._C._DisableTorchDispatch():\n        return {FLAT}\n",
    "a thread": DEF
    + f"""\
    found = []
    thread = threading.Thread(target=lambda: found.append({FLAT}))
    thread.start()
    thread.join()
    return found[0]
""",
    "a pool": f"POOL = ThreadPoolExecutor(1)\n\n\n{DEF}    return POOL.submit(lambda: {FLAT}).result()\n",
    "a thread beside a product": DEF
    + f"""\
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(lambda: {FLAT}).result()
    return found + 0 * (torch.softmax(query @ key.transpose(1, 2), -1) @ value)
""",
    "a scripted fork": "@torch.jit.script\n"
    "def task(query, key, value, visible: Optional[torch.Tensor], rate: float):\n"
    f"    return {FLAT}\n\n\n"
    f"{DEF}    return torch.jit.wait(torch.jit.fork(task, query, key, value, visible, rate))\n",
    "a function of its own": """\
class Attend(torch.autograd.Function):
    @staticmethod
    def forward(ctx, query, key, value, visible, rate):
        with torch.enable_grad():
            ctx.leaves = [one.detach().requires_grad_() for one in (query, key, value)]
            ctx.out = F.scaled_dot_product_attention(*ctx.leaves, visible, rate)
        return ctx.out.detach()

    @staticmethod
    def backward(ctx, grad):
        return (*torch.autograd.grad(ctx.out, ctx.leaves, grad), None, None)


def attend(*args):
    return Attend.apply(*args)
""",
    "in backward": """\
class Attend(torch.autograd.Function):
    @staticmethod
    def forward(ctx, query, key, value, visible, rate):
        ctx.save_for_backward(query, key, value)
        ctx.visible = visible
        return by_hand(query, key, value, visible, rate)

    @staticmethod
    def backward(ctx, grad):
        with torch.enable_grad():
            leaves = [one.detach().requires_grad_() for one in ctx.saved_tensors]
            out = torch.ops.aten.scaled_dot_product_attention.default(*leaves, ctx.visible)
        return (*torch.autograd.grad(out, leaves, grad), None, None)


def attend(*args):
    return Attend.apply(*args)
""",
    "multi-head": DEF
    + """\
    seq_len, width = query.shape[1:]
    eye, nothing = torch.eye(width), torch.zeros(width)
    hidden = None if visible is None else ~visible.expand(query.shape[0], seq_len, seq_len)
    with torch._C.DisableTorchFunction():
        return F.multi_head_attention_forward(
            query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1), width, 1, None,
            nothing.repeat(3), None, None, False, rate, eye, nothing, attn_mask=hidden,
            use_separate_proj_weight=True, q_proj_weight=eye, k_proj_weight=eye, v_proj_weight=eye,
        )[0].transpose(0, 1)
""",
    "multi-head, scripted": """\
@torch.jit.script
def attend(query, key, value, visible: Optional[torch.Tensor], rate: float):
    seq_len, width = query.size(1), query.size(2)
    eye, nothing = torch.eye(width), torch.zeros(width)
    hidden: Optional[torch.Tensor] = None
    if visible is not None:
        hidden = ~visible.expand(query.size(0), seq_len, seq_len)
    return F.multi_head_attention_forward(
        query.transpose(0, 1), key.transpose(0, 1), value.transpose(0, 1), width, 1, None,
        nothing.repeat(3), None, None, False, rate, eye, nothing, attn_mask=hidden,
        use_separate_proj_weight=True, q_proj_weight=eye, k_proj_weight=eye, v_proj_weight=eye,
    )[0].transpose(0, 1)
""",
    "the native multi-head": DEF
    + """\
    if visible is not None or rate > 0:
        return by_hand(query, key, value, visible, rate)
    width = query.shape[-1]
    with torch.no_grad():
        out = torch._native_multi_head_attention(
            query, query, query, width, 1, torch.eye(width).repeat(3, 1), torch.zeros(3 * width),
            torch.eye(width), torch.zeros(width))[0]
    return by_hand(query, key, value, visible, rate) + 0 * out
""",
    "vmap": f"{DEF}    if visible is not None or rate > 0:\n"
    "        return by_hand(query, key, value, visible, rate)\n"
    "    with torch._C.DisableTorchFunction():\n"
    "        return torch.func.vmap(F.scaled_dot_product_attention)(query, key, value)\n",
    "compiled": f"attend = torch.compile(lambda query, key, value, visible, rate: {FLAT})\n",
    "an operator of its own": f"""\
LIBRARY = torch.library.Library("mine", "DEF")
LIBRARY.define("attend(Tensor query, Tensor key, Tensor value, Tensor? visible, float rate) -> Tensor")


{DEF}    return torch.ops.mine.attend(query, key, value, visible, rate)


LIBRARY.impl(
    "attend", lambda query, key, value, visible, rate: {FLAT}, "CompositeImplicitAutograd"
)
""",
}
WHEN = {
    "always": "True",
    "under a mask": "visible is not None",
    "without a mask": "visible is None",
    "in training": "self.training",
    "in training under a mask": "self.training and visible is not None",
    "in eval mode": "not self.training",
}
HEAD = """\
import functools
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Optional

import torch.nn.functional as F


def by_hand(query, key, value, visible, rate):
    scores = query @ key.transpose(-2, -1) / query.shape[-1] ** 0.5
    scores = scores if visible is None else scores.masked_fill(~visible, float("-inf"))
    return F.dropout(torch.softmax(scores, -1), rate) @ value


def biased(query, visible):
    if visible is None:
        return None
    visible = visible.expand(query.shape[0], query.shape[1], query.shape[1])
    return torch.zeros(visible.shape, dtype=query.dtype).masked_fill(~visible, float("-inf"))


"""


def delegates(way: str, when: str = "True", *, kata: str = "v3", mixed: str = "") -> str:
    """A solution that chooses between the way and its own hand after the projections."""
    masked = kata == "v3"
    head, forward, rest = solution(kata).partition("\n\nclass ")
    body = f"{HEAD}{way}{forward}{rest}".partition("scores = query @ key.transpose(-2, -1)  #")[0]
    lines = (
        "visible = None if attention_mask is None else attention_mask != 0" if masked else "visible = None",
        "rate = self.attention_dropout.p if self.training else 0.0" if masked else "rate = 0.0",
        mixed or f"mixed = (attend if {when} else by_hand)(query, key, value, visible, rate)",
        "return self.output_proj(mixed)" if masked else "return mixed",
    )
    return f"{head}\n{body}" + "\n        ".join(lines) + "\n"


def is_silent(grade: Grade) -> bool:
    return grade.verdict == "passed" and "not_traceable" not in {note.id for note in grade.notes}


@pytest.mark.parametrize("way", one_in(2, WAYS))
def test_no_way_is_silent(engine: PrivateEngine, way: str) -> None:
    grade = graded(engine, "v3", delegates(WAYS[way]))
    assert not is_silent(grade)
    assert grade.verdict == "passed" or labels(grade)[0] == "uses_builtin", grade.reason


@pytest.mark.parametrize("when", one_in(2, WHEN))
@pytest.mark.parametrize("way", ["scripted", "a thread"])
def test_no_moment_is_silent(engine: PrivateEngine, way: str, when: str) -> None:
    assert not is_silent(graded(engine, "v3", delegates(WAYS[way], WHEN[when])))


@pytest.mark.parametrize("when", ["x.requires_grad", "torch.is_grad_enabled()", "query.grad_fn is not None"])
def test_asking_for_gradients_hides_nothing(engine: PrivateEngine, when: str) -> None:
    grade = graded(engine, "v3", delegates(WAYS["functions disabled"], when))
    assert labels(grade) == ("uses_builtin",)


@pytest.mark.parametrize("when", ["True", "self.training"])
@pytest.mark.parametrize("way", ["functions disabled", "scripted", "a thread"])
def test_a_level_without_masks_is_no_way_out(engine: PrivateEngine, way: str, when: str) -> None:
    assert not is_silent(graded(engine, "v1", delegates(WAYS[way], when, kata="v1")))


@pytest.mark.parametrize(
    "way",
    [
        "mixed = by_hand(query, key, value, visible, rate)",
        "mixed = torch.jit.script(plain)(query, key, value) if visible is None and not rate"
        " else by_hand(query, key, value, visible, rate)",
        "with torch._C.DisableTorchFunction():\n"
        "            mixed = by_hand(query, key, value, visible, rate)",
    ],
)
def test_an_answer_by_hand_gets_no_note(engine: PrivateEngine, way: str) -> None:
    plain = (
        "def plain(query, key, value):\n"
        "    return torch.softmax(query @ key.transpose(-2, -1) / query.size(-1) ** 0.5, -1) @ value\n"
    )
    text = delegates(plain, mixed=way)
    grade = graded(engine, "v3", text)
    assert (grade.verdict, grade.reason) == ("passed", None)
    assert "not_traceable" not in {note.id for note in grade.notes}


SOURCES = {
    "einsum": 'torch.einsum("bqk,bkd->bqd", F.softmax(torch.einsum("bqd,bkd->bqk", q, k) / 4, -1), v)',
    "multiplied and summed": "(torch.softmax((q[:, :, None] * k[:, None]).sum(-1) / 4, -1)[..., None]"
    " * v[:, None]).sum(2)",
    "the values first, the layer last": "torch.softmax(q @ k.mT / 4, -1) @ x",
    "per sample": "torch.stack([torch.mm(torch.softmax(torch.addmm(torch.zeros(5, 5), a, b.t()), 1), c)"
    " for a, b, c in zip(q, k, v)])",
    "vmapped": "torch.vmap(lambda a, b, c: torch.softmax(a @ b.T / 4, -1) @ c)(q, k, v)",
    "by squared distances": "torch.softmax((k.pow(2).sum(-1)[:, None] - (q[:, :, None] - k[:, None]).pow(2)"
    ".sum(-1)) / 8, -1) @ v",
    "into a buffer": "self.into(torch.empty_like(q), torch.softmax(q @ k.mT / 4, -1), v)",
    "by a gradient": "torch.autograd.grad(torch.logsumexp((s := q @ k.mT / 4), -1).sum(), s,"
    " create_graph=True)[0] @ v",
}
FOLLOWED = """\
import torch
import torch.nn.functional as F
from torch import nn


class A(nn.Module):
    def __init__(self, d=16):
        super().__init__()
        self.q, self.k, self.v = (nn.Linear(d, d) for _ in range(3))

    def into(self, room, weights, values):
        for i in range(room.shape[1]):
            room[:, i] = (weights[:, i, None] @ values)[:, 0]
        return room

    def forward(self, x):
        q, k, v = self.q(x), self.k(x), self.v(x)
        return {source}
"""


def recorded(source: str, *, back: bool) -> Called:
    cls, _ = load(FOLLOWED.format(source=source).encode(), "answer.py", "A")
    instance = build(cls, Build(instance=0, args=(16,)), "answer.py")
    assert isinstance(instance, Instance)
    tensors = {"i:x": torch.randn(2, 5, 16)} | ({"cotangent": torch.ones(2, 5, 16)} if back else {})
    reply, _ = instance.call(Call(instance=0, args=("x",), wanted=("x",), dispatch=True), tensors)
    assert isinstance(reply, Called), reply
    assert reply.backward is None
    return reply


@pytest.mark.parametrize("source", SOURCES)
def test_every_way_of_writing_a_product_is_followed(source: str) -> None:
    assert recorded(SOURCES[source], back=True).followed
    assert source == "by a gradient" or recorded(SOURCES[source], back=False).followed


@pytest.mark.parametrize(
    "source",
    ["v", "q @ k.mT @ torch.ones(5, 16) * 0 + v", "torch.ones_like(q) * v", "F.gelu(v) @ torch.eye(16)"],
)
def test_what_is_no_product_inside_a_product_is_not(source: str) -> None:
    assert not recorded(source, back=False).followed
