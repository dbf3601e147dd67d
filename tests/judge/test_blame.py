"""The line that is shown for a mistake is the line it stands on, on real answers."""

from __future__ import annotations

import pytest

from grader.engine.private import PrivateEngine
from grader.judge.source import Source
from tests.judge.stage import graded, labels, solution

SCALE = "scores = scores / math.sqrt(self.hidden_dim)"
SOFTMAX = "weights = torch.softmax(scores, dim=-1)"
CASES = (
    ("v1", SCALE, "scores = scores / self.hidden_dim", "scale_by_dk"),
    ("v1", SOFTMAX, "weights = torch.softmax(scores, dim=1)", "softmax_over_queries"),
    ("v1", SOFTMAX, "weights = torch.softmax(scores.detach(), dim=-1)", "gradient_detached"),
    ("v1", "scores = query @ key.transpose", "scores = key @ query.transpose", "qk_swapped"),
    ("v1", "return weights @ value", "return weights.transpose(1, 2) @ value", "weights_transposed"),
    ("v1", "return weights @ value", "return weights @ value + x", "residual_or_norm_added"),
    ("v2", "packed.chunk(3, dim=-1)", "packed.unflatten(-1, (-1, 3)).unbind(-1)", "qkv_interleaved"),
    ("v3", "attention_mask == 0", "attention_mask != 0", "mask_inverted"),
    (
        "v3",
        "self.attention_dropout(weights)",
        "nn.Dropout(0.1)(weights)",
        "dropout_module_created_in_forward",
    ),
    ("v3", "nn.Dropout(dropout_rate)", "nn.Dropout(0.1)", "dropout_rate_ignored"),
    ("v4", "self.attention_dropout(weights)", "nn.functional.dropout(weights, 0.2)", "functional_dropout"),
)


@pytest.mark.parametrize(("kata", "old", "new", "label"), CASES, ids=[case[3] for case in CASES])
def test_the_line_is_where_the_mistake_stands(
    engine: PrivateEngine, kata: str, old: str, new: str, label: str
) -> None:
    text = solution(kata, (old, new))
    grade = graded(engine, kata, text)
    assert labels(grade)[0].startswith(label)
    wrong = next(n for n, code in enumerate(text.splitlines(), 1) if new in code)
    near = (
        {wrong, wrong - 1, wrong + 1} if label in ("dropout_rate_ignored", "functional_dropout") else {wrong}
    )
    uses = next((n for n, code in enumerate(text.splitlines(), 1) if "attention_dropout(" in code), wrong)
    assert grade.diagnosis[0].line in near | ({uses} if label == "dropout_rate_ignored" else set())


TEXT = """\
class A:
    # x += 1 in a comment
    def _forwrd(self, x):
        return x

    def forward(self, x, mask=None):
        x += 1
        y = x.view(4, 64)
        if mask is None:
            return y
        return x  # the last one

    def other(self):
        return 1
"""


def test_the_text_is_searched_without_its_comments() -> None:
    source = Source(TEXT)
    assert source.find(r"\+= 1") == 7
    assert source.find("nothing of this") is None
    assert source.find_in_forward("view") == 8
    assert Source("x = 1").find_in_forward("x") is None


def test_places_in_the_text() -> None:
    source = Source(TEXT)
    assert source.text(7) == "        x += 1"
    assert source.text(None) == source.text(99) == ""
    assert source.last_return() == 11
    assert source.changes_in_place("x") == 7
    assert source.changes_in_place("mask") is None
    assert source.written_size() == 8
    assert source.definition_like("forward") == 3


SEVERAL = """\
def softmax_of(z):
    e = z.exp()
    return e / e.sum(-1, keepdim=True), e

class A:
    def __init__(self):
        pass

    def helper(self, x):
        return x, x

    def call(
        self,
        x,
        mask=None,
    ):
        if self.training:
            return softmax_of(x)[0]
        weights = softmax_of(softmax_of(x))
        query, key, value = weights
        return {}
"""


@pytest.mark.parametrize(
    ("returned", "several"),
    [
        ("a, b", True),
        ("(a @ b, c)", True),
        ("[a, b]", True),
        ('{"output": a, "weights": b}', True),
        ("f(a, b)", False),
        ("(a + b) @ f(c, d)", False),
        ("(f(a, b)) @ (c)", False),
        ("x[..., 0]", False),
        ("", False),
    ],
)
def test_a_return_of_several_things_is_told_from_one_of_one(returned: str, several: bool) -> None:
    source = Source(SEVERAL.replace("def call", "def forward").replace("return {}", f"return {returned}"))
    assert source.returns() == [18, 21]
    assert source.returns_several() == (21 if several else None)


def test_what_has_other_names_is_found_by_its_place() -> None:
    source = Source(SEVERAL)
    assert source.definition_like("forward") == 12  # no name is near: the last plain method
    assert source.last_use_of_helper(3) == 19
    assert source.last_use_of_helper(7) is None  # a constructor is called by torch
    assert source.unpacks_three(1) == 20


def test_the_body_of_forward_starts_behind_its_signature() -> None:
    source = Source(SEVERAL.replace("def call", "def forward"))
    assert source.find("mask") == 15
    assert source.find_in_forward("mask") is None
    assert source.find_in_forward("training") == 17


def test_data_is_a_way_to_the_argument() -> None:
    assert Source("    def forward(self, x):\n        x.data.mul_(2)").changes_in_place("x") == 2


def test_what_a_docstring_or_a_comment_says_is_no_code() -> None:
    text = '''def attend(x, window):
    """Softmax of the scores.

    x *= 2 is what nobody should write.
    """
    text = "# softmax"  # x += 1
    x[0] = softmax(x)
'''
    source = Source(text)
    assert source.find("[sS]oftmax") == 6  # a string may be an equation
    assert source.find(r"softmax\(") == 7
    assert source.changes_in_place("x") == 7
    assert [source.code(line) for line in (0, 2, 6, 9)] == ["", "    ", '    text = "# softmax"  ', ""]


def test_a_string_that_is_never_closed_hides_what_follows() -> None:
    source = Source('x = 1\n"""\ny = 2')
    assert (source.find("x"), source.find("y")) == (1, None)
