"""Right in one mode, or for one kind of input only, is not right: properties are asked in all of them."""

from __future__ import annotations

import pytest

from grader.engine.private import PrivateEngine
from tests.judge.stage import graded, labels, solution

RETURN = "return weights @ value"
BOTH = "(weights @ value, weights)"
LOUD = f"{RETURN} if not self.training else"
DROP = "weights = self.attention_dropout(weights)"
MASK = "if attention_mask is not None:"
SCORES = "scores = query @ key.transpose(-2, -1)"
MODES = "the_module_stays_in_its_mode"
UNCHANGED = "the_input_and_the_mask_are_not_modified"
GRADIENTS = "gradients_reach_the_input_and_every_projection"
DROPPED = "in_training_weights_are_dropped_at_the_rate_and_the_kept_ones_grow"
ONE_TENSOR = "forward_returns_one_tensor_of_the_shape_and_dtype_of_x"
TRAINS = "forward_runs_in_training_mode_too"
UNUSUAL = "unusual_inputs_give_the_formula_as_well"

# what is changed in v4's solution, the check that sees it, and the mistake that is named, if any
CASES = [
    (f"if attention_mask is None:\n            {DROP}", DROP, DROPPED, "missing_dropout"),
    (
        f"if attention_mask is not None:\n            {RETURN.replace('weights @ value', '')}"
        f"self.attention_dropout(before @ value)\n        {RETURN}",
        RETURN,
        DROPPED,
        "dropout_on_output",
    ),
    (f"{RETURN} if attention_mask is None else {BOTH}", RETURN, ONE_TENSOR, "returns_tuple"),
    (f"{LOUD} {BOTH}", RETURN, ONE_TENSOR, "returns_tuple"),
    (f"{LOUD} weights.double() @ value.double()", RETURN, ONE_TENSOR, None),
    (f"{MASK} self.eval()\n        {RETURN}", RETURN, MODES, "eval_called_in_forward"),
    (f"self.attention_dropout.eval()\n        {RETURN}", RETURN, MODES, "eval_called_in_forward"),
    (f"if self.training: x.clamp_(-3, 3)\n        {SCORES}", SCORES, UNCHANGED, "mutates_input"),
    (
        f"if self.training and attention_mask is not None: attention_mask[:, 0] = 1\n        {RETURN}",
        RETURN,
        UNCHANGED,
        "mutates_mask_argument",
    ),
    (
        f"{SCORES}\n        if attention_mask is None: scores = scores.detach()",
        SCORES,
        GRADIENTS,
        "gradient_detached",
    ),
    (
        "if self.training and self.attention_dropout.p: weights = weights.detach()\n        " + DROP,
        DROP,
        GRADIENTS,
        "gradient_detached",
    ),
    (f"{SCORES}\n        assert not self.training", SCORES, TRAINS, None),
    (f"if self.training: return None\n        {RETURN}", RETURN, TRAINS, None),
    (
        "if attention_mask is not None and attention_mask.dtype != torch.uint8:",
        MASK,
        UNUSUAL,
        "mask_dtype_assumed_bool",
    ),
    ("if attention_mask is not None and not bool(attention_mask[0].bool().all()):", MASK, UNUSUAL, None),
    (
        "if attention_mask is not None and attention_mask.shape == x.shape[:2]:\n"
        f"            attention_mask = attention_mask.unsqueeze(1)\n        {MASK}",
        MASK,
        UNUSUAL,
        None,
    ),
    (f"if x.shape[1] == self.hidden_dim: query = query.mT\n        {SCORES}", SCORES, UNUSUAL, None),
    (f"{SCORES}\n        scores[..., 64:] = 0", SCORES, UNUSUAL, None),
    (f"scores = scores.clamp(max=40)\n        {MASK}", MASK, UNUSUAL, None),
]  # fmt: skip


@pytest.mark.parametrize(("new", "old", "check", "mistake"), CASES)
def test_a_fault_in_one_mode_or_for_one_kind_of_input_is_seen(
    engine: PrivateEngine, new: str, old: str, check: str, mistake: str | None
) -> None:
    text = solution("v4", (old, new)).replace("weights = torch.softmax", "before = weights = torch.softmax")
    grade = graded(engine, "v4", text)
    assert grade.verdict == "failed"
    failed = {found.id: found for found in grade.checks if found.status == "failed"}
    assert check in failed, [(found.id, found.message) for found in failed.values()]
    assert mistake is None or mistake in labels(grade)


def test_a_crash_in_training_is_told_with_its_line(engine: PrivateEngine) -> None:
    grade = graded(
        engine, "v4", solution("v4", (SCORES, f"{SCORES}\n        assert not self.training, 'later'"))
    )
    assert grade.reason is not None
    assert "In training mode" in grade.reason
    assert "later" in grade.reason


def test_the_headline_is_a_check_that_failed(engine: PrivateEngine) -> None:
    grade = graded(engine, "v1", solution("v1", (RETURN, "return weights @ value + 0.1 * x.mean(0)")))
    messages = {check.message for check in grade.checks if check.status == "failed"}
    assert grade.reason in messages


@pytest.mark.parametrize(
    ("kata", "edits"),
    [
        ("v4", [("def __init__(self, hidden_dim: int = 728, dropout_rate: float = 0.1) -> None:",
                 "def __init__(self, *args, **kwargs):\n        self.build(*args, **kwargs)\n\n"
                 "    def build(self, hidden_dim=728, dropout_rate=0.1):"),
                ("super().__init__()", "nn.Module.__init__(self)")]),
        ("v4", [(DROP, "weights = torch.dropout(weights, self.p_now, True)"),
                ("def forward(", "def train(self, mode=True):\n        self.p_now = self.p * mode\n"
                 "        return super().train(mode)\n\n    def forward("),
                ("self.hidden_dim = hidden_dim", "self.hidden_dim, self.p = hidden_dim, dropout_rate")]),
        ("v1", [("import math", "import math\nimport torch\ntorch.set_grad_enabled(False)")]),
        ("v1", [(RETURN, "return torch.utils.checkpoint.checkpoint(\n"
                 "            torch.matmul, weights, value, use_reentrant=True)"),
                ("import math", "import math\nimport torch.utils.checkpoint")]),
    ],
)  # fmt: skip
def test_right_answers_with_a_frame_of_their_own_pass(
    engine: PrivateEngine, kata: str, edits: list[tuple[str, str]]
) -> None:
    grade = graded(engine, kata, solution(kata, *edits))
    assert grade.verdict == "passed", grade.reason
