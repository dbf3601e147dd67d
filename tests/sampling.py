"""Tests of many cases: a few in every run, spread over all of them, and the whole in the slow run."""

from __future__ import annotations

from collections.abc import Collection

import pytest
from _pytest.mark import ParameterSet


def some(number: int, cases: Collection[object]) -> list[ParameterSet]:
    """So many of the cases always, the first among them; the others are slow.

    A case that is a tuple is the values of several arguments.
    """
    always = {place * len(cases) // number for place in range(number)}
    return [
        pytest.param(
            *(case if isinstance(case, tuple) else (case,)), marks=() if place in always else pytest.mark.slow
        )
        for place, case in enumerate(cases)
    ]


def one_in(number: int, cases: Collection[object]) -> list[ParameterSet]:
    """Every so many-th of the cases always."""
    return some(-(-len(cases) // number), cases)
