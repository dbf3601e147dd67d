"""Which answers are nearly the same: by their words and their order, not by layout, comments or the task."""

from __future__ import annotations

import pytest

from grader.cohort.similarity import MOST_TOKENS, alike, fingerprints

ONE = """
class SelfAttentionV1(nn.Module):
    '''Mine.'''
    def forward(self, x):
        queries = self.to_queries(x)  # (b, s, d)
        weights = (queries @ self.to_keys(x).mT / math.sqrt(self.width)).softmax(-1)
        return weights @ self.to_values(x)
"""
LAID_OUT = (
    ONE.replace("    ", "  ").replace("# (b, s, d)", "").replace("'''Mine.'''", "'''Yours, of course.'''")
)
OTHER = """
class SelfAttentionV1(nn.Module):
    def forward(self, inputs):
        q, k, v = (layer(inputs) for layer in (self.q, self.k, self.v))
        s = torch.einsum("bqd,bkd->bqk", q, k) * self.d ** -0.5
        p = torch.exp(s - s.amax(-1, keepdim=True))
        return torch.einsum("bqk,bkd->bqd", p / p.sum(-1, keepdim=True), v)
"""


def pairs(*sources: str, given: str = "") -> list[tuple[int, int]]:
    found = alike([fingerprints(source) for source in sources], [fingerprints(given)])
    return [(pair.first, pair.second) for pair in found]


def test_comments_documentation_and_layout_do_not_count() -> None:
    assert fingerprints(ONE) == fingerprints(LAID_OUT)


def test_a_copy_is_found_among_others() -> None:
    assert pairs(ONE, OTHER, LAID_OUT) == [(0, 2)]


def test_what_the_task_gives_is_nobodys_own() -> None:
    assert pairs(ONE, LAID_OUT, given=ONE) == []


def test_what_many_wrote_says_nothing() -> None:
    assert pairs(*[ONE] * 20) == []


def test_an_empty_answer_is_like_nothing() -> None:
    assert pairs("", "", "x = 1") == []


def test_strings_count_and_documentation_does_not() -> None:
    code = "a = f(b, c, 'one') + g(d, e) * h(k)\n"
    assert fingerprints(code) != fingerprints(code.replace("one", "two"))
    documented = f"r'''What\n# it does.'''\n{code}"
    assert fingerprints(documented) == fingerprints(code)


MEGABYTES = 4 * 1024 * 1024


@pytest.mark.parametrize(
    "piece",
    [
        *(
            "x = 1\n",
            "abc ",
            "(",
            '"',
            "'",
            '"""a',
            "'''",
            '"\\"',
            "\\",
            "\\\n",
            "#",
            "# a\n",
            " ",
            "\n",
            "f'{",
        ),
        *("rb", "rb'", "1_", "@a.", "\u00e9", "\x00"),
    ],
)
def test_megabytes_of_anything_are_compared_by_their_beginning(piece: str) -> None:
    found = fingerprints(piece * (MEGABYTES // len(piece)))
    assert len(found) <= MOST_TOKENS


def test_a_long_beginning_is_enough_to_be_alike() -> None:
    own = "".join(f"x{number} = y{number % 97} + z{number % 89}\n" for number in range(MOST_TOKENS))
    assert pairs(own + "a = 1\n" * 1000, OTHER, own) == [(0, 2)]


@pytest.mark.parametrize(("moved", "shares"), [(0, [1.0]), (5, [pytest.approx(90 / 100)]), (6, [])])
def test_nine_tenths_of_both_are_alike_and_less_is_not(moved: int, shares: list[float]) -> None:
    """Of the hundred marks that either has."""
    size = 100 - moved
    one, other = frozenset(range(size)), frozenset(range(moved, size + moved))
    assert [pair.share for pair in alike([one, other])] == shares
