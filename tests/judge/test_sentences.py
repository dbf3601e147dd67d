"""What is said of unusual slips: a label that a run proves, a true sentence, the line, its own points."""

from __future__ import annotations

from dataclasses import dataclass

import pytest
import torch

from grader.engine.private import PrivateEngine
from grader.judge.dropout import _together
from grader.records import CheckRecord, Grade
from tests.judge.stage import failed, graded, labels, solution
from tests.sampling import one_in

SOFTMAX = "weights = torch.softmax(scores, dim=-1)"
SCALE = "scores = scores / math.sqrt(self.hidden_dim)"
KEY_T = "key.transpose(-2, -1)"
SCORES = f"query @ {KEY_T}"
MIX = "weights @ value"
WIDTH = "self.hidden_dim = hidden_dim"
QUERY_LAYER = "self.query_proj = nn.Linear(hidden_dim, hidden_dim)"
KEY_LAYER = "self.key_proj = nn.Linear(hidden_dim, hidden_dim)"
CHUNK = "packed.chunk(3, dim=-1)"
DROP = "self.attention_dropout(weights)"
HIDE = "scores.masked_fill(attention_mask == 0, lowest)"
GIVEN = "if attention_mask is not None:"
INDENT = "\n        "
LAYER = "nn.Linear(hidden_dim, hidden_dim)"


@dataclass(frozen=True)
class Slip:
    """An edit of a level's solution, what it must be called, said and charged, and where it stands."""

    kata: str
    edits: tuple[tuple[str, str], ...]
    label: str
    says: str  # a part of the headline
    line: str  # a part of the blamed line
    costs: str


def slip(kata: str, old: str, new: str, label: str, says: str, line: str, costs: str) -> Slip:
    return Slip(kata, ((old, new),), label, says, line, costs)


BY_HAND = f"e = torch.exp(scores - scores.max(-1, keepdim=True).values){INDENT}weights = e / e.sum"
SLIPS = {
    "softmax by hand, sums of the columns": slip(
        "v1",
        SOFTMAX,
        f"{BY_HAND}(-2, keepdim=True)",
        "softmax_over_queries",
        "sums of the columns",
        "e.sum",
        "softmax",
    ),
    "softmax by hand, sum of the matrix": slip(
        "v1",
        SOFTMAX,
        f"{BY_HAND}((1, 2), keepdim=True)",
        "softmax_over_all",
        "whole matrix",
        "e.sum",
        "softmax",
    ),
    "softmax by hand, sum of everything": slip(
        "v1", SOFTMAX, f"{BY_HAND}()", "softmax_over_all", "whole tensor", "e.sum", "softmax"
    ),
    "sigmoids over their sum": slip(
        "v1",
        SOFTMAX,
        f"weights = torch.sigmoid(scores){INDENT}weights = weights / weights.sum(-1, keepdim=True)",
        "no_softmax",
        "sigmoids",
        "torch.sigmoid",
        "softmax",
    ),
    "relu over its sum": slip(
        "v1",
        SOFTMAX,
        f"weights = torch.relu(scores){INDENT}weights = weights / (weights.sum(-1, keepdim=True) + 1e-9)",
        "no_softmax",
        "relu",
        "torch.relu",
        "softmax",
    ),
    "powers of two": slip(
        "v1",
        SOFTMAX,
        f"weights = 2**scores{INDENT}weights = weights / weights.sum(-1, keepdim=True)",
        "no_softmax",
        "powers of 2",
        "2**scores",
        "softmax",
    ),
    "softmax twice": slip(
        "v1",
        SOFTMAX,
        f"scores = torch.softmax(scores, dim=-1){INDENT}{SOFTMAX}",
        "extra_nonlinearity",
        "Softmax of a softmax",
        "weights = torch.softmax",
        "softmax",
    ),
    "the packed projection viewed": slip(
        "v2",
        CHUNK,
        "packed.reshape(3, x.shape[0], x.shape[1], self.hidden_dim)",
        "split_wrong_dim",
        "samples are mixed up",
        "packed.reshape",
        "projections",
    ),
    "slices off by one": slip(
        "v2",
        f"query, key, value = {CHUNK}",
        f"d = self.hidden_dim{INDENT}query, key, value = packed[..., :d], packed[..., d + 1 : 2 * d + 1],"
        " packed[..., 2 * d :]",
        "split_wrong_dim",
        "one feature",
        "packed[..., :d]",
        "projections",
    ),
    "four parts": Slip(
        "v2",
        (
            ("3 * hidden_dim", "4 * hidden_dim"),
            (f"query, key, value = {CHUNK}", "query, key, value, _ = packed.chunk(4, -1)"),
        ),
        "not_single_projection",
        "makes more than that",
        "4 * hidden_dim",
        "projections",
    ),
    "tensordot over the batch": slip(
        "v1",
        SCORES,
        "torch.tensordot(query, key, dims=([2], [2])).sum(2)",
        "attends_across_batch",
        "share their keys",
        "tensordot",
        "scores",
    ),
    "tied layers": slip(
        "v1",
        KEY_LAYER,
        "self.key_proj = self.query_proj",
        "shared_projection",
        "of their own",
        "= self.query_proj",
        "projections",
    ),
    "a chain of layers": slip(
        "v1",
        "self.key_proj(x)",
        "self.key_proj(query)",
        "shared_projection",
        "made from the query",
        "key_proj(query)",
        "projections",
    ),
    "the raw input as value": slip(
        "v1", "self.value_proj(x)", "x", "projection_unused", "never applied", "value = x", "projections"
    ),
    "a wrong size, defined above": slip(
        "v1",
        SCALE,
        f"d_k = key.size(1){INDENT}scores = scores / math.sqrt(d_k)",
        "scale_by_seq_len",
        "sequence axis",
        "d_k = key.size(1)",
        "scale",
    ),
    "a wrong scale, kept in the constructor": Slip(
        "v1",
        ((WIDTH, f"{WIDTH}{INDENT}self.scale = 1 / hidden_dim"), (SCALE, "scores = scores * self.scale")),
        "scale_by_dk",
        "root of the width",
        "self.scale = 1 / hidden_dim",
        "scale",
    ),
    "a rounded root": slip(
        "v1",
        "math.sqrt(self.hidden_dim)",
        "math.isqrt(self.hidden_dim)",
        "scale_wrong_value",
        "whole number",
        "isqrt",
        "scale",
    ),
    "a number under the root": slip(
        "v1",
        "math.sqrt(self.hidden_dim)",
        "math.sqrt(100)",
        "scale_wrong_value",
        "not by the root",
        "sqrt(100)",
        "scale",
    ),
    "a centred residual": slip(
        "v1",
        f"return {MIX}",
        f"return {MIX} + x - x.mean(-1, keepdim=True)",
        "residual_or_norm_added",
        "Nothing is added",
        "x.mean",
        "mix",
    ),
    "half precision inside": slip(
        "v1",
        f"return {MIX}",
        "return (weights.bfloat16() @ value.bfloat16()).float()",
        "wrong_dtype",
        "half precision",
        "bfloat16",
        "interface",
    ),
    "another dtype comes out": slip(
        "v1",
        f"return {MIX}",
        "return weights.double() @ value.double()",
        "wrong_dtype",
        "dtype of what went in",
        "double",
        "interface",
    ),
    "dropout where none is asked": slip(
        "v1",
        MIX,
        "nn.functional.dropout(weights, 0.1, self.training) @ value",
        "dropout_unasked",
        "no dropout",
        "dropout",
        "mix",
    ),
    "dropout where none is asked, always": slip(
        "v1",
        MIX,
        "nn.functional.dropout(weights, 0.1) @ value",
        "dropout_unasked",
        "no dropout",
        "dropout",
        "mix",
    ),
    "something kept from call to call": slip(
        "v1",
        "key = self.key_proj(x)",
        "if not hasattr(self, 'kept') or self.kept.shape != x.shape:\n            self.kept ="
        " self.key_proj(x)"
        f"{INDENT}key = self.kept",
        "state_across_calls",
        "keeps something",
        "self.kept = ",
        "side_effects",
    ),
    "a fill of -7": slip("v3", "lowest)", "-7.0)", "mask_fill_too_weak", "exp(-7)", "-7.0", "mask"),
    "a fill of -30": slip("v3", "lowest)", "-30.0)", "mask_fill_too_weak", "not low enough", "-30.0", "mask"),
    "a fill that is scaled down": Slip(
        "v3",
        (
            (SCALE, "pass"),
            ("lowest)", "-20.0)"),
            ("softmax(scores", "softmax(scores / math.sqrt(self.hidden_dim)"),
        ),
        "mask_fill_too_weak",
        "shrinks the fill",
        "-20.0",
        "mask",
    ),
    "a fill of -1e-9": slip(
        "v3", "lowest)", "-1e-9)", "mask_fill_small", "practically zero", "-1e-9", "mask"
    ),
    "-inf turned back into zero": slip(
        "v3",
        HIDE,
        'scores.masked_fill(attention_mask == 0, float("-inf"))'
        f"{INDENT}scores = scores.nan_to_num(neginf=0.0)",
        "mask_fill_zero",
        "not a weight of zero",
        "nan_to_num",
        "mask",
    ),
    "the mask of the first sample": slip(
        "v3",
        "attention_mask == 0",
        "attention_mask[0] == 0",
        "mask_first_sample_only",
        "first one for the whole",
        "attention_mask[0]",
        "mask",
    ),
    "a mask in training only": slip(
        "v3",
        GIVEN,
        "if attention_mask is not None and self.training:",
        "mask_only_in_one_mode",
        "in both modes",
        "self.training",
        "mask",
    ),
    "an inverted additive mask": slip(
        "v3", HIDE, "scores + attention_mask.float() * -1e4", "mask_inverted", "hid the ones", "-1e4", "mask"
    ),
    "the output projection twice": slip(
        "v3",
        "self.output_proj(mixed)",
        "self.output_proj(self.output_proj(mixed))",
        "output_proj_twice",
        "twice",
        "output_proj(self",
        "output",
    ),
    "dropout without the mode": slip(
        "v3",
        DROP,
        "nn.functional.dropout(weights, 0.1)",
        "functional_dropout_without_training_flag",
        "training=True",
        "functional.dropout",
        "dropout",
    ),
    "the mode of the constructor": Slip(
        "v3",
        (
            (WIDTH, f"{WIDTH}{INDENT}self.drop_now = self.training"),
            (DROP, "nn.functional.dropout(weights, 0.2, self.drop_now)"),
        ),
        "dropout_in_eval",
        "does not know about `eval()`",
        "self.drop_now)",
        "dropout",
    ),
    "dropout twice": slip(
        "v3",
        DROP,
        "self.attention_dropout(self.attention_dropout(weights))",
        "dropout_twice",
        "twice",
        "dropout(self",
        "dropout",
    ),
    "dropout by sample": slip(
        "v3",
        DROP,
        "weights * (torch.rand(len(x), 1, 1) > self.attention_dropout.p) / (1 - self.attention_dropout.p)"
        " if self.training else weights",
        "dropout_not_elementwise",
        "by itself",
        "torch.rand",
        "dropout",
    ),
    "dropout on x": Slip(
        "v3",
        ((DROP, "weights"), ("query = self", f"x = self.attention_dropout(x){INDENT}query = self")),
        "dropout_on_output",
        "features of x",
        "attention_dropout(x)",
        "dropout",
    ),
    "dropout under a mask only": slip(
        "v3",
        f"weights = {DROP}",
        f"if attention_mask is not None:\n            weights = {DROP}",
        "missing_dropout",
        "under one it is",
        DROP,
        "dropout",
    ),
    "a rate made whole": slip(
        "v3",
        "nn.Dropout(dropout_rate)",
        "nn.Dropout(int(dropout_rate))",
        "dropout_rate_ignored",
        "fixed rate",
        "int(",
        "dropout",
    ),
    "dropout as in 2014": slip(
        "v3",
        DROP,
        "weights * (torch.rand_like(weights) > self.attention_dropout.p) if self.training"
        " else weights * (1 - self.attention_dropout.p)",
        "dropout_no_rescale",
        "2014",
        "rand_like",
        "dropout",
    ),
    "output projection before the mix": Slip(
        "v3",
        ((MIX, "weights @ self.output_proj(value)"), ("return self.output_proj(mixed)", "return mixed")),
        "output_proj_before_mix",
        "comes after the mix",
        "self.output_proj(value)",
        "dropout",
    ),
}


def blamed(grade: Grade) -> str:
    assert grade.source is not None
    line = grade.diagnosis[0].line
    return "" if line is None else grade.source.text.splitlines()[line - 1]


@pytest.mark.parametrize("name", one_in(3, SLIPS))
def test_a_slip_is_named_said_and_charged_for_what_it_is(engine: PrivateEngine, name: str) -> None:
    made = SLIPS[name]
    grade = graded(engine, made.kata, solution(made.kata, *made.edits))
    assert grade.verdict == "failed"
    assert grade.diagnosis[0].mistakes[0] == made.label
    assert made.says in (grade.reason or "")
    assert made.line in blamed(grade)
    assert failed(grade) == {made.costs}


CRASHES = {
    "a sum that lost its axis": (
        (SOFTMAX, f"e = scores.exp(){INDENT}weights = e / e.sum(-1)"),
        "missing_keepdim",
        "lost the axis",
        "e.sum(-1)",
    ),
    "no transpose": (
        (KEY_T, "key"),
        "transpose_wrong_axes",
        "two axes of the key must be swapped",
        "query @ key",
    ),
    "the query transposed": (
        (SCORES, "query.transpose(-2, -1) @ key"),
        "attends_over_features",
        "wrong way round",
        "query.transpose",
    ),
    "entry by entry": ((MIX, "weights * value"), "mix_elementwise", "matrix product", "weights * value"),
    "layers in a plain list": (
        (QUERY_LAYER, "self.made = [nn.Linear(hidden_dim, hidden_dim)]"),
        "layers_not_registered",
        "plain list",
        "self.made = [",
    ),
    "a misspelt local name": (
        (SOFTMAX, "weigths = torch.softmax(scores, dim=-1)"),
        "name_error_unbound_variable",
        "`weigths` is very like it",
        MIX,
    ),
    "a module that was never imported": (
        ("torch.softmax", "F.softmax"),
        "name_error_unbound_variable",
        "`F` is used here and was never imported",
        "F.softmax",
    ),
    "a name that is nowhere": (
        (MIX, "attn_probs @ value"),
        "name_error_unbound_variable",
        "There is no `attn_probs` here",
        "attn_probs",
    ),
    "a name without a value on this path": (
        (f"return {MIX}", f"if x is None:\n            mixed = {MIX}{INDENT}return mixed"),
        "name_error_unbound_variable",
        "`mixed` has no value yet",
        "return mixed",
    ),
    "an attribute that nobody stored": (
        (MIX, f"{MIX} + self.noise"),
        "attribute_error_wrong_self_name",
        "nothing of that name was stored",
        "self.noise",
    ),
    "an old class name": (
        ("super().__init__()", "super(SelfAttention, self).__init__()"),
        "name_error_unbound_variable",
        "SelfAttentionV1",
        "super(",
    ),
}


@pytest.mark.parametrize("name", CRASHES)
def test_what_does_not_run_says_why(engine: PrivateEngine, name: str) -> None:
    edit, label, says, line = CRASHES[name]
    edits = [edit] if "self.made" not in edit[1] else [edit, ("self.query_proj(x)", "self.made[0](x)")]
    grade = graded(engine, "v1", solution("v1", *edits))
    assert label in labels(grade)
    assert says in (grade.reason or "")
    assert line in blamed(grade)


@pytest.mark.parametrize(
    ("edit", "label", "says"),
    [
        ((GIVEN, "if attention_mask:"), "mask_asked_for_truth", "neither true nor false"),
        (("torch.Tensor | None = None", "torch.Tensor"), "mask_not_optional", "optional"),
        (("lowest)", "torch.tensor([-1e9]))"), "mask_fill_wrong_type", "needs a number"),
    ],
)
def test_a_mask_that_stops_forward_is_told_by_its_own_mistake(
    engine: PrivateEngine, edit: tuple[str, str], label: str, says: str
) -> None:
    grade = graded(engine, "v3", solution("v3", edit))
    assert labels(grade) == (label,)
    assert says in (grade.reason or "")


def test_three_mistakes_of_which_one_hides_in_the_others_tie(engine: PrivateEngine) -> None:
    text = solution(
        "v3", (SCALE, "scores = scores / 27.0"), (SOFTMAX, SOFTMAX.replace("-1", "1")), ("lowest)", "-1e-9)")
    )
    grade = graded(engine, "v3", text)
    assert {"scale_wrong_value", "softmax_over_queries", "mask_fill_small"} <= set(labels(grade))
    assert failed(grade) == {"scale", "softmax", "mask"}


@pytest.mark.parametrize(
    ("kata", "edit"),
    [
        ("v1", ("value = self.value_proj(x)", "value = self.key_proj(x)")),
        ("v1", (f"return {MIX}", f"return {MIX} + x")),
        ("v1", (f"return {MIX}", "return weights.mT @ value")),
        ("v3", ("return self.output_proj(mixed)", "return torch.relu(self.output_proj(mixed))")),
    ],
)
def test_no_picture_is_shown_of_what_is_not_the_weights(
    engine: PrivateEngine, kata: str, edit: tuple[str, str]
) -> None:
    assert graded(engine, kata, solution(kata, edit)).maps == ()


def test_what_nothing_explains_is_told_in_the_words_of_the_measurement(engine: PrivateEngine) -> None:
    odd = solution("v1", (SOFTMAX, "weights = torch.softmax(scores, dim=-1) + 0.1 * torch.sin(scores)"))
    grade = graded(engine, "v1", odd)
    assert labels(grade) == ()
    assert grade.reason is not None
    assert grade.reason.startswith("Measured by itself: the rows of the attention weights sum to ")


@pytest.mark.parametrize("kata", ["v1", "v2"])
def test_a_failed_grade_costs_a_point(engine: PrivateEngine, kata: str) -> None:
    """What only a gate finds is charged to the concept that it breaks."""
    long = solution(
        kata, (SOFTMAX, f"scores = scores * torch.ones(64, 64)[: x.shape[1], : x.shape[1]]{INDENT}{SOFTMAX}")
    )
    grade = graded(engine, kata, long)
    assert grade.verdict == "failed"
    assert labels(grade) == ("hard_coded_sizes",)
    assert failed(grade) == {"interface"}


def check_of(grade: Grade, name: str) -> CheckRecord:
    return next(check for check in grade.checks if name in check.id)


def test_dropout_by_hand_is_not_told_about_a_module_that_it_does_not_use(engine: PrivateEngine) -> None:
    kept = "weights * (torch.rand_like(weights) < self.rate) / self.rate"
    by_hand = f"{kept} if self.training and self.rate > 0 else weights"
    text = solution("v3", (WIDTH, f"{WIDTH}{INDENT}self.rate = dropout_rate"), (DROP, by_hand))
    grade = graded(engine, "v3", text)
    assert labels(grade) == ("dropout_prob_inverted",)
    assert "you keep with that probability" in (grade.reason or "")


@pytest.mark.parametrize(
    "edits",
    [
        ((f"return {MIX}", f"return self.out({MIX})"), (WIDTH, f"{WIDTH}{INDENT}self.out = {LAYER}")),
        (
            (CHUNK, "self.q(x), self.k(x), self.v(x)"),
            (WIDTH, INDENT.join([WIDTH, *(f"self.{role} = {LAYER}" for role in "qkv")])),
        ),
    ],
)
def test_calls_of_other_layers_are_not_counted_as_products_of_the_fused_one(
    engine: PrivateEngine, edits: tuple[tuple[str, str], ...]
) -> None:
    grade = graded(engine, "v2", solution("v2", *edits))
    assert grade.verdict == "failed"
    assert "projection_calls" not in {note.id for note in grade.notes}


def test_what_a_wrong_softmax_makes_of_large_logits_is_not_charged_twice(engine: PrivateEngine) -> None:
    columns = solution("v1", (SOFTMAX, f"{BY_HAND}(1, keepdim=True)"))
    assert check_of(graded(engine, "v1", columns), "large_logits").status == "passed"
    right = solution("v1", (SOFTMAX, f"e = scores.exp(){INDENT}weights = e / e.sum(-1, keepdim=True)"))
    assert check_of(graded(engine, "v1", right), "large_logits").status == "failed"


def test_nothing_is_said_of_weights_that_could_not_be_set(engine: PrivateEngine) -> None:
    edits = [
        (
            f"self.{role}_proj = nn.Linear(hidden_dim, hidden_dim)",
            f"self.{role}_w = torch.randn(hidden_dim, hidden_dim)",
        )
        for role in ("query", "key", "value")
    ]
    edits += [(f"self.{role}_proj(x)", f"x @ self.{role}_w") for role in ("query", "key", "value")]
    grade = graded(engine, "v1", solution("v1", *edits))
    assert labels(grade) == ("layers_not_registered",)
    assert check_of(grade, "equals_the_formula").status == "not_reached"


def test_a_mask_that_got_another_shape_is_not_said_to_have_other_values(engine: PrivateEngine) -> None:
    flat = "if attention_mask.dim() == 2:\n                attention_mask.unsqueeze_(0)\n            "
    grade = graded(engine, "v3", solution("v3", (f"scores = {HIDE}", f"{flat}scores = {HIDE}")))
    assert labels(grade) == ("mutates_mask_argument",)
    assert "has another shape" in (check_of(grade, "not_modified").message or "")


@pytest.mark.parametrize(
    ("condition", "where"),
    [
        ("attention_mask is not None", "Under a mask: "),
        ("attention_mask is None", "Without a mask: "),
        ("self.training", "In training mode: "),
        ("True", "The output depends on "),
    ],
)
def test_a_gradient_is_missed_where_it_was_missed(engine: PrivateEngine, condition: str, where: str) -> None:
    cut = f"if {condition}:\n            weights = weights.detach(){INDENT}mixed = {MIX}"
    grade = graded(engine, "v3", solution("v3", (f"mixed = {MIX}", cut)))
    assert labels(grade) == ("gradient_detached",)
    assert (check_of(grade, "gradients_reach").message or "").startswith(where)


def test_a_rate_turned_round_is_not_called_a_rate_at_which_nothing_is_dropped(engine: PrivateEngine) -> None:
    text = solution("v3", ("nn.Dropout(dropout_rate)", "nn.Dropout(1 - dropout_rate)"))
    said = check_of(graded(engine, "v3", text), "training_without_dropout").message or ""
    assert said.startswith("In training mode at dropout rate 0 the output differs")


def test_rows_that_are_not_a_number_are_counted(engine: PrivateEngine) -> None:
    both = "attention_mask.float() * attention_mask.float().mT == 0"
    edits = [(HIDE, f'scores.masked_fill({both}, float("-inf"))')]
    found = check_of(graded(engine, "v3", solution("v3", *edits)), "hidden_keys_get")
    assert "rows are NaN under the mask" in (found.actual or "")


def test_a_way_of_dropping_that_the_level_cannot_have_is_not_tried(engine: PrivateEngine) -> None:
    """Beside another mistake each known way is played, and v4 has no output projection to play with."""
    kept = "weights * (torch.rand_like(weights) > self.attention_dropout.p)"
    odd = f"{kept}.float().cumsum(-1).clamp(max=1) if self.training else weights"
    grade = graded(engine, "v4", solution("v4", (SCALE, "pass"), (DROP, odd)))
    assert grade.verdict == "failed"
    assert "no_scale" in labels(grade)


def test_an_answer_that_crashes_without_a_mask_and_overflows_under_one_is_graded(
    engine: PrivateEngine,
) -> None:
    """With nothing but masked outputs to explain, the search keeps to the sets that it tries elsewhere."""
    hidden = "hidden = scores.masked_fill(attention_mask == 0, -1e20)"
    edits = [(f"scores = {HIDE}", hidden), (DROP, "self.attention_dropout(hidden)")]
    grade = graded(engine, "v3", solution("v3", *edits))
    assert grade.verdict == "failed"
    assert labels(grade)[0] == "name_error_unbound_variable"


def test_single_draws_that_agree_on_few_whole_rows_are_chance() -> None:
    zero = torch.zeros(18, 8, 8, dtype=torch.bool)
    kept = zero.clone()
    zero[0, 0], kept[1, 3, :4] = True, True
    assert not _together(zero, kept, -1, 0.6)
    zero[:, :4], kept[:, 4:] = True, True
    kept[1, 3] = False
    assert _together(zero, kept, -1, 0.6)
    kept[0, 5, 2], zero[0, 5, 2] = False, True
    assert not _together(zero, kept, -1, 0.6)
