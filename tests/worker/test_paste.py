"""Lines that are pasted behind the candidate's module: its names are there, what they print comes back."""

from __future__ import annotations

import sys
import types

import pytest

from grader.protocol import MAX_TEXT
from grader.worker.loader import MODULE_NAME
from grader.worker.paste import pasted


@pytest.fixture(autouse=True)
def candidate(monkeypatch: pytest.MonkeyPatch) -> types.ModuleType:
    module = types.ModuleType(MODULE_NAME)
    module.__dict__["mine"] = 7
    monkeypatch.setitem(sys.modules, MODULE_NAME, module)
    return module


def test_its_names_and_torch_are_there_and_stay_as_they_were(candidate: types.ModuleType) -> None:
    assert pasted(["print(mine, torch.ones(1).item())", "mine = 8"]) == "7 1.0\n"
    assert candidate.__dict__["mine"] == 7


def test_what_they_raise_is_the_last_line() -> None:
    assert pasted(["print(1)", "1 / 0"]) == "1\nZeroDivisionError: division by zero"
    assert pasted(["raise SystemExit(3)"]) == "SystemExit: 3"


def test_what_they_print_is_bounded() -> None:
    assert len(pasted(["print('x' * 10_000_000)"])) == MAX_TEXT
