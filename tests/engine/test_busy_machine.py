"""Right answers, and such as never end, beside programs that use up all processors."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator

import pytest

from grader.catalog import Catalog
from grader.engine.private import PrivateEngine
from grader.records import Options
from tests.engine.answers import solution, submission

BURN = "import time\nends_at = time.monotonic() + 90\nwhile time.monotonic() < ends_at: pass\n"
PRODUCT = "weights @ value"
IN_FORWARD = "# x: (batch, seq_len, hidden_dim)\n"
CHECKPOINTED = (
    f"return {PRODUCT}",
    "from torch.utils.checkpoint import checkpoint\n"
    "        return checkpoint(torch.matmul, weights, value, use_reentrant=False)",
)
OPTIMIZED = (
    "class SelfAttentionV1",
    "demo = nn.Linear(2, 2)\noptimizer = torch.optim.Adam(demo.parameters())\n"
    "demo(torch.ones(1, 2)).sum().backward()\noptimizer.step()\n\n\nclass SelfAttentionV1",
)
SCRIPTED = (
    "class SelfAttentionV1",
    "@torch.jit.script\ndef twice(x: torch.Tensor) -> torch.Tensor:\n    return 2 * x\n\n\n"
    "twice(torch.ones(2))\n\n\nclass SelfAttentionV1",
)


@pytest.fixture
def busy() -> Iterator[None]:
    burners = [subprocess.Popen([sys.executable, "-c", BURN]) for _ in range(2 * (os.cpu_count() or 1))]
    yield
    for burner in burners:
        burner.kill()
        burner.wait()


@pytest.mark.slow
@pytest.mark.usefixtures("busy")
@pytest.mark.parametrize(
    "edit", [CHECKPOINTED, OPTIMIZED, SCRIPTED], ids=["checkpoint", "optimizer", "script"]
)
def test_a_right_answer_that_imports_much_passes(
    engine: PrivateEngine, catalog: Catalog, edit: tuple[str, str]
) -> None:
    old, new = (part.encode() for part in edit)
    source = solution(catalog, "v1").source
    assert source.count(old) == 1
    grade = engine.grade(submission(source.replace(old, new)), catalog.get("v1"), catalog, Options(seed=1))
    assert grade.verdict == "passed", grade.reason


@pytest.mark.slow
@pytest.mark.usefixtures("busy")
@pytest.mark.parametrize(
    ("body", "said"),
    [
        ("import time; time.sleep(600)", "It was not computing"),
        ("import threading; threading.Lock().acquire(); threading.Event().wait()", "It was not computing"),
        ("while True: pass", "of processor time in forward and was stopped"),
        # Over all calls longer than twice the whole limit, which is as far as a busy machine moves it.
        ("import time; time.sleep(1.0)", "The time for the whole grade ran out"),
    ],
    ids=["sleeps", "deadlock", "loop", "slow"],
)
def test_one_that_never_ends_fails_with_the_limit_that_it_met(
    engine: PrivateEngine, catalog: Catalog, body: str, said: str
) -> None:
    source = solution(catalog, "v1").source
    line = IN_FORWARD.encode()
    assert source.count(line) == 1
    answer = submission(source.replace(line, line + f"        {body}\n".encode()))
    grade = engine.grade(answer, catalog.get("v1"), catalog, Options(seed=1))
    assert grade.verdict == "failed"
    assert any(said in (check.message or "") for check in grade.checks)
