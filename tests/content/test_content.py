"""The kata folders are whole, their texts agree with `kata.toml`, and the solutions are right."""

from __future__ import annotations

import ast
import importlib.util
import math
import re
import tomllib
from pathlib import Path
from typing import Any, cast

import pytest
import torch
from torch import nn

from grader.catalog import Kata, load_catalog

CATALOG = load_catalog()
LEVELS = tuple(CATALOG.get(kata_id) for kata_id in ("v1", "v2", "v3", "v4"))
MASKED = tuple(kata for kata in LEVELS if kata.takes_mask)
CONCEPTS = {
    "interface",
    "projections",
    "scores",
    "scale",
    "mask",
    "softmax",
    "dropout",
    "mix",
    "output",
    "gradients",
    "side_effects",
    "robustness",
}
FILES = ("brief.md", "stub.py", "blank.py", "hints.md", "questions.toml", "clarify.toml")

each_level = pytest.mark.parametrize("kata", LEVELS, ids=lambda kata: kata.id)
each_masked_level = pytest.mark.parametrize("kata", MASKED, ids=lambda kata: kata.id)


def toml(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def class_of(kata: Kata, source: str) -> ast.ClassDef:
    classes = [node for node in ast.parse(source).body if isinstance(node, ast.ClassDef)]
    assert [node.name for node in classes] == [kata.class_name]
    return classes[0]


def method(owner: ast.ClassDef, name: str) -> ast.FunctionDef:
    return next(node for node in owner.body if isinstance(node, ast.FunctionDef) and node.name == name)


def signature(function: ast.FunctionDef) -> tuple[list[str], list[object]]:
    """Argument names without self, and the defaults."""
    names = [argument.arg for argument in function.args.args][1:]
    return names, [ast.literal_eval(default) for default in function.args.defaults]


def open_todos(source: str) -> list[str]:
    """The texts of the `NotImplementedError`s, from top to bottom."""
    raised = [node.exc for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Raise)]
    calls = [exc for exc in raised if isinstance(exc, ast.Call)]
    assert len(calls) == len(raised)
    calls.sort(key=lambda call: call.lineno)
    return [cast("str", ast.literal_eval(call.args[0])) for call in calls]


# --- kata.toml ------------------------------------------------------------------------------------


@each_level
def test_every_file_is_there_and_says_something(kata: Kata) -> None:
    assert [name for name in FILES if not kata.text(name).strip()] == []
    assert kata.solution.is_file()


@each_level
def test_concepts_are_known_unique_and_worth_points(kata: Kata) -> None:
    ids = [concept.id for concept in kata.concepts]
    assert set(ids) <= CONCEPTS
    assert len(ids) == len(set(ids))
    assert all(concept.points > 0 and concept.title for concept in kata.concepts)


@each_level
def test_robustness_is_the_one_optional_concept(kata: Kata) -> None:
    assert [concept.id for concept in kata.concepts if not concept.required] == ["robustness"]


@each_level
def test_concepts_follow_the_signature(kata: Kata) -> None:
    ids = {concept.id for concept in kata.concepts}
    assert ("mask" in ids) == kata.takes_mask
    assert ("dropout" in ids) == kata.has_dropout
    assert ("output" in ids) == ("output" in kata.layers.roles)


@pytest.mark.parametrize(
    ("kata_id", "trained"),
    [("v1", {"scale"}), ("v2", {"projections"}), ("v3", {"mask", "dropout"}), ("v4", {"mask"})],
)
def test_a_level_weighs_most_what_it_trains(kata_id: str, trained: set[str]) -> None:
    concepts = CATALOG.get(kata_id).concepts
    most = max(concept.points for concept in concepts)
    assert {concept.id for concept in concepts if concept.points == most} == trained


# --- Paper: stub, blank page, brief, hints --------------------------------------------------------


@each_level
@pytest.mark.parametrize("name", ["stub.py", "blank.py"])
def test_what_the_candidate_gets_has_the_signature_of_kata_toml(kata: Kata, name: str) -> None:
    owner = class_of(kata, kata.text(name))
    constructor, defaults = signature(method(owner, "__init__"))
    assert dict(zip(constructor, defaults, strict=True)) == kata.constructor
    forward, optional = signature(method(owner, "forward"))
    assert tuple(forward) == kata.forward
    assert optional == [None] * (len(kata.forward) - 1)


@each_level
def test_stub_and_blank_page_state_the_shapes_alike(kata: Kata) -> None:
    documents = {ast.get_docstring(class_of(kata, kata.text(name))) for name in ("stub.py", "blank.py")}
    assert len(documents) == 1
    assert "(batch, seq_len, hidden_dim)" in (documents.pop() or "")


@each_level
def test_every_todo_of_the_stub_is_numbered_in_order_and_raises(kata: Kata) -> None:
    todos = open_todos(kata.text("stub.py"))
    assert todos
    numbers = [re.match(r"TODO (\d+) of (\d+): \S.*\.$", todo) for todo in todos]
    assert [(m[1], m[2]) if m else None for m in numbers] == [
        (str(number), str(len(todos))) for number in range(1, len(todos) + 1)
    ]


@pytest.mark.parametrize(("kata_id", "todos"), [("v1", 5), ("v2", 2), ("v3", 4), ("v4", 2)])
def test_a_stub_leaves_only_its_own_level_open(kata_id: str, todos: int) -> None:
    assert len(open_todos(CATALOG.get(kata_id).text("stub.py"))) == todos


@each_level
def test_the_blank_page_is_blank(kata: Kata) -> None:
    owner = class_of(kata, kata.text("blank.py"))
    methods = [node for node in owner.body if isinstance(node, ast.FunctionDef)]
    assert [node.name for node in methods] == ["__init__", "forward"]
    assert all(len(node.body) == 1 and isinstance(node.body[0], ast.Raise) for node in methods)


def test_the_interview_starts_from_a_blank_page_also_as_a_stub() -> None:
    kata = CATALOG.get("v4")
    stub, blank = (
        re.sub(r"NotImplementedError\(.*\)", "", ast.unparse(class_of(kata, kata.text(name))))
        for name in ("stub.py", "blank.py")
    )
    assert stub == blank


@each_level
def test_the_brief_gives_task_signature_and_rules(kata: Kata) -> None:
    brief = kata.text("brief.md")
    shown = ", ".join(f"{name}={default}" for name, default in kata.constructor.items())
    assert f"class {kata.class_name}(nn.Module):" in brief
    assert f"def __init__(self, {shown})" in brief
    assert "(batch, seq_len, hidden_dim)" in brief
    assert "√hidden_dim" in brief
    assert "F.scaled_dot_product_attention" in brief
    assert "nn.MultiheadAttention" in brief


@each_masked_level
def test_the_brief_states_the_contract_of_the_mask(kata: Kata) -> None:
    brief = kata.text("brief.md")
    assert "def forward(self, x, attention_mask=None)" in brief
    assert "(batch, seq_len, seq_len)" in brief
    assert "0 or False means hidden" in brief
    assert "exactly 0" in brief
    assert "`None` hides nothing" in brief


@each_level
def test_there_are_at_least_three_hints_numbered_from_one(kata: Kata) -> None:
    numbers = re.findall(r"^## Hint (\d+)$", kata.text("hints.md"), flags=re.MULTILINE)
    assert len(numbers) >= 3
    assert numbers == [str(number) for number in range(1, len(numbers) + 1)]


@each_level
def test_no_hint_is_empty_and_the_first_has_no_code_block(kata: Kata) -> None:
    hints = re.split(r"^## Hint \d+$", kata.text("hints.md"), flags=re.MULTILINE)[1:]
    assert all(len(hint.strip()) > 80 for hint in hints)
    assert "```" not in hints[0]


# --- The interviewer's questions ------------------------------------------------------------------


@each_level
def test_questions_are_complete_and_unique(kata: Kata) -> None:
    questions = toml(kata.folder / "questions.toml")["questions"]
    assert len(questions) >= 5
    assert all(
        set(question) == {"id", "concept", "question", "answer", "key_points"} for question in questions
    )
    assert len({question["id"] for question in questions}) == len(questions)
    assert all(question["question"].endswith("?") or "." in question["question"] for question in questions)
    assert all(len(question["answer"]) > 150 for question in questions)
    assert all(3 <= len(question["key_points"]) <= 4 for question in questions)


@each_level
def test_each_concept_that_can_be_missed_has_a_question(kata: Kata) -> None:
    questions = toml(kata.folder / "questions.toml")["questions"]
    assert {question["concept"] for question in questions} == {concept.id for concept in kata.concepts}


@each_level
def test_clarifications_are_complete_and_unique(kata: Kata) -> None:
    clarifications = toml(kata.folder / "clarify.toml")["clarifications"]
    assert len(clarifications) >= 6
    assert all(set(entry) == {"id", "question", "answer"} for entry in clarifications)
    assert len({entry["id"] for entry in clarifications}) == len(clarifications)
    assert all(entry["question"].endswith("?") and entry["answer"] for entry in clarifications)


@each_level
def test_clarifications_do_not_give_the_solution_away(kata: Kata) -> None:
    answers = " ".join(entry["answer"] for entry in toml(kata.folder / "clarify.toml")["clarifications"])
    assert [
        word for word in ("transpose", "masked_fill", "dim=", "chunk", "finfo", "@") if word in answers
    ] == []


# --- The texts of the mistakes --------------------------------------------------------------------

MISTAKES = toml(CATALOG.root / "katas" / "common" / "mistakes.toml")
# A promise to the readers of the JSON report: labels are added, never renamed.
LABELS = """
    T_on_3d additive_inf_times_zero api_typo attends_across_batch attends_over_features
    attention_result_discarded attribute_error_wrong_self_name causal_by_default double_scale
    dropout_before_softmax dropout_in_eval dropout_module_created_in_forward dropout_no_rescale
    dropout_on_output dropout_prob_inverted dropout_rate_ignored dropout_renormalised
    eval_called_in_forward extra_nonlinearity extra_output_proj floor_division_scale forward_missing
    fp16_overflow fully_masked_row functional_dropout_without_training_flag gradient_detached
    hard_coded_device hard_coded_sizes hides_padded_queries inf_nan_fully_masked_row init_misnamed
    inplace_breaks_backward key_mask_not_expanded mask_added_as_bool mask_after_softmax_no_renorm
    mask_branch_drops_scale mask_dtype_assumed_bool mask_fill_small mask_fill_wrong_sign
    mask_fill_wrong_type mask_fill_zero mask_ignored mask_inverted mask_not_optional
    mask_on_embeddings mask_on_queries_instead_of_keys mask_wrong_broadcast_4d missing_dropout
    missing_super_init mutates_input mutates_mask_argument name_error_unbound_variable
    no_output_proj no_scale no_softmax not_single_projection output_uses_keys
    parameters_created_in_forward permute_invalid projection_unused qk_swapped qkv_interleaved
    qkv_order_wrong residual_or_norm_added returns_none_without_mask returns_tuple returns_weights
    round_output scale_after_softmax scale_by_dk scale_by_seq_len scale_multiplied scale_wrong_value
    scores_use_value shared_projection softmax_over_all softmax_over_batch softmax_over_queries
    split_size_confused split_wrong_dim stray_ide_import transpose_wrong_axes uses_builtin
    view_instead_of_transpose weights_transposed
"""
each_mistake = pytest.mark.parametrize("label", MISTAKES)


def test_no_label_was_lost_or_renamed() -> None:
    assert set(LABELS.split()) <= set(MISTAKES)


@each_mistake
def test_a_mistake_has_all_its_texts_and_a_known_concept(label: str) -> None:
    mistake = MISTAKES[label]
    assert set(mistake) == {"concept", "seen", "shows", "sentence", "fix", "why"}
    assert mistake["concept"] in CONCEPTS
    assert mistake["seen"] in {"output", "behaviour"}
    assert all(text.strip() == text != "" for text in mistake.values())


@each_mistake
def test_a_mistake_reads_as_a_clause_and_three_sentences(label: str) -> None:
    mistake = MISTAKES[label]
    assert not mistake["shows"].endswith(".")
    assert not mistake["shows"][0].isupper() or mistake["shows"].startswith("Your")
    assert all(mistake[name].endswith((".", "`?")) for name in ("sentence", "fix", "why"))


@each_mistake
def test_the_texts_of_a_mistake_are_plain(label: str) -> None:
    for text in MISTAKES[label].values():
        assert text.count("`") % 2 == 0
        prose = re.sub(r"`[^`]+`", "", text)
        assert re.search(r"[*#<>]|\]\(", prose) is None


def test_no_two_mistakes_say_the_same() -> None:
    for name in ("shows", "sentence", "why"):
        texts = [mistake[name] for mistake in MISTAKES.values()]
        assert len(texts) == len(set(texts)), name


def test_each_concept_has_its_mistakes() -> None:
    assert {mistake["concept"] for mistake in MISTAKES.values()} == CONCEPTS


# --- The solutions --------------------------------------------------------------------------------

BATCH, SEQ_LEN, HIDDEN_DIM = 3, 5, 7


def solution(kata: Kata, **arguments: float) -> nn.Module:
    spec = importlib.util.spec_from_file_location(f"solution_{kata.id}", kata.solution)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    torch.manual_seed(7)
    built = getattr(module, kata.class_name)(HIDDEN_DIM, **arguments)
    assert isinstance(built, nn.Module)
    return built


def inputs(scale: float = 2.0) -> torch.Tensor:
    return scale * torch.randn(BATCH, SEQ_LEN, HIDDEN_DIM, generator=torch.Generator().manual_seed(11))


def mask_of(*shape: int) -> torch.Tensor:
    """A random mask in which each query sees at least one key, neither symmetric nor the same per sample."""
    mask = torch.rand(*shape, generator=torch.Generator().manual_seed(13)) < 0.5
    mask[..., 0] = True
    return mask


def projected(module: nn.Module, x: torch.Tensor) -> list[torch.Tensor]:
    if hasattr(module, "proj"):
        packed = cast("nn.Linear", module.proj)(x)
        return [packed[..., part * HIDDEN_DIM : (part + 1) * HIDDEN_DIM] for part in range(3)]
    return [cast("nn.Linear", getattr(module, f"{role}_proj"))(x) for role in ("query", "key", "value")]


def expected(module: nn.Module, x: torch.Tensor, mask: torch.Tensor | None = None) -> torch.Tensor:
    """The formula, one query at a time, over the keys that it may see."""
    query, key, value = projected(module, x)
    visible = torch.ones(BATCH, SEQ_LEN, SEQ_LEN) if mask is None else mask.expand(BATCH, SEQ_LEN, SEQ_LEN)
    rows = torch.zeros(BATCH, SEQ_LEN, HIDDEN_DIM)
    for sample in range(BATCH):
        for row in range(SEQ_LEN):
            seen = [column for column in range(SEQ_LEN) if visible[sample, row, column] != 0]
            exps = [
                math.exp(float(query[sample, row] @ key[sample, column]) / HIDDEN_DIM**0.5) for column in seen
            ]
            rows[sample, row] = sum(
                (exp / sum(exps)) * value[sample, column] for exp, column in zip(exps, seen, strict=True)
            )
    return cast("nn.Linear", module.output_proj)(rows) if hasattr(module, "output_proj") else rows


@each_level
@torch.no_grad()
def test_a_solution_gives_the_formula(kata: Kata) -> None:
    module = solution(kata).eval()
    torch.testing.assert_close(module(inputs()), expected(module, inputs()), rtol=1e-4, atol=1e-5)


@each_masked_level
@pytest.mark.parametrize(
    "shape",
    [
        (BATCH, SEQ_LEN, SEQ_LEN),
        (BATCH, 1, SEQ_LEN),
        (1, SEQ_LEN, SEQ_LEN),
        (SEQ_LEN, SEQ_LEN),
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", [torch.bool, torch.int64, torch.uint8, torch.float32], ids=str)
@torch.no_grad()
def test_a_solution_hides_keys_for_any_mask_that_broadcasts(
    kata: Kata, shape: tuple[int, ...], dtype: torch.dtype
) -> None:
    module = solution(kata).eval()
    mask = mask_of(*shape).to(dtype)
    before = mask.clone()
    torch.testing.assert_close(module(inputs(), mask), expected(module, inputs(), mask), rtol=1e-4, atol=1e-5)
    assert torch.equal(mask, before)


@torch.no_grad()
def weights_of(module: nn.Module, mask: torch.Tensor | None = None) -> torch.Tensor:
    """The attention weights, made visible: one-hot tokens, value and output as the identity."""
    for name in ("value_proj", "output_proj"):
        if hasattr(module, name):
            layer = cast("nn.Linear", getattr(module, name))
            layer.weight.copy_(torch.eye(HIDDEN_DIM))
            layer.bias.zero_()
    tokens = torch.eye(HIDDEN_DIM)[:SEQ_LEN].expand(BATCH, SEQ_LEN, HIDDEN_DIM)
    return cast("torch.Tensor", module(tokens, mask))[..., :SEQ_LEN]


@each_masked_level
def test_hidden_keys_get_a_weight_of_exactly_zero(kata: Kata) -> None:
    mask = mask_of(BATCH, SEQ_LEN, SEQ_LEN)
    weights = weights_of(solution(kata).eval(), mask)
    assert torch.equal(weights[~mask], torch.zeros(int((~mask).sum())))
    torch.testing.assert_close(weights.sum(dim=-1), torch.ones(BATCH, SEQ_LEN))


@each_masked_level
def test_dropout_falls_on_the_weights_in_training_only(kata: Kata) -> None:
    module = solution(kata, dropout_rate=0.4)
    kept = weights_of(module.eval())
    dropped = weights_of(module.train())
    gone = dropped == 0
    assert 0 < int(gone.sum()) < gone.numel()
    torch.testing.assert_close(dropped[~gone], kept[~gone] / 0.6)
    assert torch.equal(weights_of(module.eval()), kept)


@each_masked_level
@torch.no_grad()
def test_a_row_with_every_key_hidden_stays_finite(kata: Kata) -> None:
    mask = mask_of(BATCH, SEQ_LEN, SEQ_LEN)
    mask[1, 2] = False
    assert solution(kata).eval()(inputs(), mask).isfinite().all()


@each_level
@torch.no_grad()
def test_float16_works_with_a_mask_where_there_is_one(kata: Kata) -> None:
    masks = [mask_of(SEQ_LEN, SEQ_LEN)] if kata.takes_mask else []
    output = solution(kata).half().eval()(inputs(0.5).half(), *masks)
    assert output.dtype == torch.float16
    assert output.isfinite().all()


@each_level
@torch.no_grad()
def test_large_scores_stay_finite(kata: Kata) -> None:
    assert solution(kata).eval()(inputs(1e4)).isfinite().all()


@each_level
def test_gradients_reach_the_input_and_every_weight(kata: Kata) -> None:
    module = solution(kata).eval()
    x = inputs().requires_grad_()
    module(x).square().sum().backward()
    tensors = [x, *(p for name, p in module.named_parameters() if name.endswith("weight"))]
    assert all(tensor.grad is not None and tensor.grad.abs().max() > 0 for tensor in tensors)


@each_level
def test_each_line_of_a_solution_says_its_shape(kata: Kata) -> None:
    source = kata.solution.read_text(encoding="utf-8")
    forward = method(class_of(kata, source), "forward")
    steps = [
        node
        for node in ast.walk(forward)
        if isinstance(node, ast.Assign | ast.Return) and "finfo" not in ast.unparse(node)
    ]
    lines = source.splitlines()
    assert [
        lines[node.lineno - 1] for node in steps if "  # (batch, seq_len, " not in lines[node.lineno - 1]
    ] == []
