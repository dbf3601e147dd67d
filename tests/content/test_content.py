"""The kata folders are whole, and their texts agree with `kata.toml`."""

from __future__ import annotations

import ast
import re
from typing import cast

import pytest

from grader.catalog import Catalog, Kata
from grader.errors import UsageError
from tests.content.levels import (
    CATALOG,
    CONCEPTS,
    ONE_HEAD,
    OPTIONAL,
    asked_of,
    class_of,
    each_function,
    each_level,
    each_masked_level,
    each_module,
    function_of,
    method,
    toml,
)

FILES = ("brief.md", "stub.py", "blank.py", "hints.md", "questions.toml", "clarify.toml")


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
def test_only_what_a_right_answer_may_lack_is_optional(kata: Kata) -> None:
    optional = {concept.id for concept in kata.concepts if not concept.required}
    assert optional == OPTIONAL & {concept.id for concept in kata.concepts}
    assert ("robustness" in optional) == kata.signature.is_module


@each_module
def test_concepts_follow_the_signature(kata: Kata) -> None:
    ids = {concept.id for concept in kata.concepts}
    assert ("mask" in ids) == (kata.takes_mask or kata.id in ("causal", "cache"))
    assert ("dropout" in ids) == kata.has_dropout
    assert ("output" in ids) == ("self.output_proj =" in kata.solution.read_text(encoding="utf-8"))
    assert ("heads" in ids) == any(wanted.name == "num_heads" for wanted in kata.signature.construct)


@pytest.mark.parametrize(
    ("kata_id", "trained"),
    [
        ("v1", {"scale"}),
        ("v2", {"projections"}),
        ("v3", {"mask", "dropout"}),
        ("v4", {"mask"}),
        ("mha", {"heads", "scale"}),
        ("causal", {"mask"}),
        ("cross", {"projections", "mask"}),
        ("gqa", {"groups"}),
        ("window", {"window"}),
        ("softmax", {"axis", "stability"}),
        ("padding", {"mask"}),
        ("online", {"stability", "rescale"}),
        ("rope", {"angles", "rotation", "positions"}),
        ("cache", {"cache"}),
    ],
)
def test_a_level_weighs_most_what_it_trains(kata_id: str, trained: set[str]) -> None:
    concepts = CATALOG.get(kata_id).concepts
    most = max(concept.points for concept in concepts)
    assert {concept.id for concept in concepts if concept.points == most} == trained


# --- Paper: stub, blank page, brief, hints --------------------------------------------------------


@each_function
@pytest.mark.parametrize("name", ["stub.py", "blank.py"])
def test_what_the_candidate_gets_takes_the_inputs_of_kata_toml(kata: Kata, name: str) -> None:
    function = function_of(kata, kata.text(name))
    inputs = kata.signature.inputs
    assert [argument.arg for argument in function.args.args] == [wanted.name for wanted in inputs]
    assert len(function.args.defaults) == sum(wanted.optional for wanted in inputs)


@each_module
@pytest.mark.parametrize("name", ["stub.py", "blank.py"])
def test_what_the_candidate_gets_has_the_signature_of_kata_toml(kata: Kata, name: str) -> None:
    owner = class_of(kata, kata.text(name))
    constructor, defaults = signature(method(owner, "__init__"))
    assert dict(zip(constructor, defaults, strict=True)) == {
        wanted.name: wanted.default for wanted in kata.signature.construct
    }
    forward, optional = signature(method(owner, "forward"))
    inputs = kata.signature.inputs
    assert tuple(forward) == tuple(wanted.name for wanted in inputs)
    assert optional == [None] * sum(wanted.optional for wanted in inputs)


@each_level
def test_stub_and_blank_page_state_the_shapes_alike(kata: Kata) -> None:
    documents = {ast.get_docstring(asked_of(kata, kata.text(name))) for name in ("stub.py", "blank.py")}
    assert len(documents) == 1
    said = documents.pop() or ""
    assert all(f"{wanted.name}: " in said for wanted in kata.signature.inputs)
    assert "returns: " in said


@each_level
def test_every_todo_of_the_stub_is_numbered_in_order_and_raises(kata: Kata) -> None:
    todos = open_todos(kata.text("stub.py"))
    assert todos
    numbers = [re.match(r"TODO (\d+) of (\d+): \S.*\.$", todo) for todo in todos]
    assert [(m[1], m[2]) if m else None for m in numbers] == [
        (str(number), str(len(todos))) for number in range(1, len(todos) + 1)
    ]


@pytest.mark.parametrize(("kata_id", "todos"), [("v1", 5), ("v2", 2), ("v3", 4), ("v4", 2), ("gqa", 3)])
def test_a_stub_leaves_only_its_own_level_open(kata_id: str, todos: int) -> None:
    assert len(open_todos(CATALOG.get(kata_id).text("stub.py"))) == todos


@each_function
def test_the_blank_page_of_a_function_is_blank(kata: Kata) -> None:
    document, body = function_of(kata, kata.text("blank.py")).body
    assert isinstance(document, ast.Expr)
    assert isinstance(body, ast.Raise)


@each_module
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


@each_function
def test_the_brief_of_a_function_gives_its_signature(kata: Kata) -> None:
    brief = kata.text("brief.md")
    asked = function_of(kata, kata.text("blank.py")).args
    required = len(asked.args) - len(asked.defaults)
    defaults = ["", *(f"={ast.unparse(default)}" for default in asked.defaults)]
    shown = ", ".join(
        argument.arg + defaults[max(0, place - required + 1)] for place, argument in enumerate(asked.args)
    )
    assert f"def {kata.signature.name}({shown})" in brief


@each_module
def test_the_brief_gives_task_signature_and_rules(kata: Kata) -> None:
    brief = kata.text("brief.md")
    defaults = [(wanted.name, wanted.default) for wanted in kata.signature.construct]
    shown = ", ".join(f"{name}={default}" for name, default in defaults)
    assert f"class {kata.class_name}(nn.Module):" in brief
    assert f"def __init__(self, {shown})" in brief
    assert "(batch, seq_len, hidden_dim)" in brief
    assert ("√hidden_dim" if kata in ONE_HEAD else "√head_dim") in brief
    assert "F.scaled_dot_product_attention" in brief
    assert "nn.MultiheadAttention" in brief


@each_masked_level
def test_the_brief_states_the_contract_of_the_mask(kata: Kata) -> None:
    brief = kata.text("brief.md")
    mask = kata.signature.mask
    assert mask is not None
    assert f"{mask.name}=None): ..." in brief
    names = (kata.signature.axes[axis] for axis in mask.axes.split())
    assert f"({', '.join(names)})" in brief
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


def test_an_id_that_is_like_many_is_answered_with_the_two_nearest(catalog: Catalog) -> None:
    with pytest.raises(UsageError) as raised:
        catalog.get("v99")
    assert "Did you mean v" in raised.value.message
    assert raised.value.message.count(" or ") == 1
