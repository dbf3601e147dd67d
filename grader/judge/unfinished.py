"""Half-done work: which TODOs are right, wrong, open, or written and not reached yet.

What ran before the first open TODO is judged by the tensors in the frames that raised: a step is right when
what the oracle has after it was there, in every call. It is wrong when its code raised, or when what was
there is what a known mistake gives. Whatever is neither is only called written. Nothing here gives points.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import msgspec
import torch
from torch import Tensor

from grader.catalog import Todo
from grader.judge import probes
from grader.judge.candidate import Candidate
from grader.judge.channel import WorkerLost
from grader.judge.family import Reveal
from grader.judge.observations import Observation
from grader.judge.oracle import ATOL, CRASHES, RTOL, Context, Plan, Variant
from grader.judge.probes import Probe
from grader.judge.roles import Layout
from grader.judge.seeds import seeded
from grader.judge.wording import sentence
from grader.protocol import MAX_NAME, Failure, OpenTodo
from grader.records import Grade, TodoRecord

MOST_LAYOUTS = 24
GONE = -104.0  # a score so far below its row's largest has weight 0 in float32
MISSING = "The layers that the level needs are not all there, or not of its width."
NOT_FUSED = "One layer for query, key and value together was asked for."

Found = Mapping[str, bool]  # step -> what the oracle has after it was there


@dataclass(frozen=True)
class _Task:
    """One TODO: what it asks for, its text, and where it waits if it is open."""

    number: int
    text: str
    todo: Todo
    open: OpenTodo | None


@dataclass(frozen=True)
class _Call:
    """A call that met an open TODO, or raised something else."""

    seen: Observation
    training: bool


def with_todos(grade: Grade, candidate: Candidate) -> Grade:
    """The grade with its TODOs, while one of them is open; as it is where none is."""
    if grade.verdict == "passed" or candidate.loaded is None or not candidate.loaded.open_todos:
        return grade
    tasks = tuple(_tasks(candidate, candidate.loaded.open_todos))
    if not any(task.open for task in tasks):
        return grade
    return msgspec.structs.replace(grade, todos=tuple(_judged(candidate, tasks)))


def _tasks(candidate: Candidate, met: Sequence[OpenTodo]) -> Iterator[_Task]:
    """The TODOs of the page that the answer began as: the one that has the open ones."""
    kata, family = candidate.kata, candidate.family
    stepped = {step.role for step in family.plan.values()}
    roles = (*family.required, *(role for role in family.optional if role in stepped))
    waiting = {todo.text: todo for todo in reversed(met)}
    layers = Todo(layers=(*roles, *(("dropout",) if kata.has_dropout else ())))
    whole = (*((layers,) if kata.signature.is_module else ()), Todo(steps=tuple(family.plan)))
    for page, known in (("stub.py", kata.todos), ("blank.py", whole)):
        texts = _texts(kata.text(page))
        todos = known or (Todo(),) * len(texts)  # of which only can be said whether they are open
        if len(texts) == len(todos) and any(text[:MAX_NAME] in waiting for text in texts):
            for number, (text, todo) in enumerate(zip(texts, todos, strict=True), start=1):
                yield _Task(number, text.partition(": ")[2] or text, todo, waiting.get(text[:MAX_NAME]))
            return


def _texts(page: str) -> list[str]:
    """The texts of a page's `raise NotImplementedError("…")`, from top to bottom: ours, so that it may be
    parsed here.
    """
    found = {
        node.lineno: node.exc.args[0].value
        for node in ast.walk(ast.parse(page))
        if isinstance(node, ast.Raise)
        and isinstance(node.exc, ast.Call)
        and isinstance(node.exc.args[0], ast.Constant)
        and isinstance(node.exc.args[0].value, str)
    }
    return [found[line] for line in sorted(found)]


def _judged(candidate: Candidate, tasks: Sequence[_Task]) -> Iterator[TodoRecord]:
    problem = candidate.rig().problem
    work = None if problem is not None else _Forward(candidate, tasks)
    for task in tasks:
        status = TodoRecord(number=task.number, text=task.text, status="written")
        if task.open is not None:
            status = msgspec.structs.replace(status, status="open", line=task.open.line)
        elif task.todo.layers:
            status = msgspec.structs.replace(status, **_of_layers(candidate, task.todo, tasks))
        elif task.todo.steps and work is not None:
            status = msgspec.structs.replace(status, **work.of(task))
        yield status


def _of_layers(candidate: Candidate, todo: Todo, tasks: Sequence[_Task]) -> dict[str, object]:
    """The status of a constructor that was written."""
    rig = candidate.rig()
    if rig.problem is not None:
        return {} if _is_open(rig.problem, tasks) else _raised(rig.problem, candidate)
    assert rig.built is not None
    roles = set(todo.layers) - {"dropout"}
    if not any(roles <= layout.slots.keys() and not layout.borrowed for layout in candidate.hypotheses):
        if rig.built.lazy or not rig.built.parameters:
            return {}  # made by the first call that comes to its end
        return {"status": "wrong", "sentence": MISSING}
    if candidate.family.packed and not any(layout.fused for layout in candidate.hypotheses):
        return {"status": "wrong", "sentence": NOT_FUSED}
    rates = [
        (one.built, one.rate) for one in (rig, candidate.rig(_other(candidate).sizes, probes.OTHER_RATE))
    ]
    kept = all(built is not None and _has(built.rates.values(), rate) for built, rate in rates)
    return {"status": "right"} if "dropout" not in todo.layers or kept else {}


def _has(rates: Iterable[float], wanted: float | None) -> bool:
    return wanted is not None and any(math.isclose(rate, wanted) for rate in rates)


def _is_open(problem: Failure | WorkerLost | None, tasks: Sequence[_Task]) -> bool:
    return isinstance(problem, Failure) and any(
        task.open is not None and task.open.line == problem.line for task in tasks
    )


def _raised(problem: Failure | WorkerLost, candidate: Candidate) -> dict[str, object]:
    line = problem.line if isinstance(problem, Failure) else None
    return {"status": "wrong", "sentence": sentence(problem, candidate.file_name), "line": line}


class _Forward:
    """What forward had come to when it met an open TODO, in several calls."""

    def __init__(self, candidate: Candidate, tasks: Sequence[_Task]) -> None:
        self._candidate = candidate
        self._tasks = tasks
        self._calls = tuple(_calls(candidate))
        self._other = next(
            (call.seen.problem for call in self._calls if not _is_open(call.seen.problem, tasks)), None
        )
        layouts = candidate.hypotheses[:MOST_LAYOUTS]
        found = [(layout, self._found(layout, {})) for layout in layouts]
        self._layout: Layout | None = None
        self._right: Found = {}
        if found:
            self._layout, self._right = max(found, key=lambda one: sum(one[1].values()))

    def of(self, task: _Task) -> dict[str, object]:
        """The status of a TODO that was written."""
        if all(self._right.get(step, False) for step in task.todo.steps):
            return {"status": "right"}
        if self._other is not None:
            first = next(t for t in self._tasks if self._is_unproved(t))
            return _raised(self._other, self._candidate) if task is first else {}
        return self._mistaken(task) if self._ran(task) else {}

    def _is_unproved(self, task: _Task) -> bool:
        steps = task.todo.steps
        return task.open is None and bool(steps) and not all(self._right.get(step, False) for step in steps)

    def _ran(self, task: _Task) -> bool:
        """Whether the open TODO that was met comes after it."""
        met = self._calls[0].seen.problem
        return isinstance(met, Failure) and any(
            other.open is not None and other.open.line == met.line and other.number > task.number
            for other in self._tasks
        )

    def _mistaken(self, task: _Task) -> dict[str, object]:
        """The known mistake that gives what was there."""
        content = self._candidate.content
        if self._layout is None:
            return {}
        for form in (*content.values, *content.training):
            if form.neutral or not form.steps.keys() & set(task.todo.steps):
                continue
            found = self._found(self._layout, form.steps)
            if all(found.get(step, False) for step in task.todo.steps):
                said = form.sentence or content.labels[form.label].sentence
                return {"status": "wrong", "sentence": said}
        return {}

    def _found(self, layout: Layout, variant: Variant) -> Found:
        """Which steps were there in every call."""
        every = [self._in(call, layout, variant) for call in self._calls]
        return {step: all(found.get(step, False) for found in every) for step in self._candidate.content.plan}

    def _in(self, call: _Call, layout: Layout, variant: Variant) -> Found:
        context = self._candidate.context(call.seen.drawn, layout)
        if context is None:
            return {}
        context = context.but(training=call.training)
        orders = _orders(self._candidate.plan_for(layout))
        given = context.inputs().values()  # what came in proves nothing
        there = [one for one in call.seen.locals if not any(_alike(one, value) for value in given)]
        reveal = self._candidate.family.reveal or Reveal()
        every = [_proved(order, context, variant, there, self._candidate.seed, reveal) for order in orders]
        return {step: any(found.get(step, False) for found in every) for step in self._candidate.content.plan}


def _calls(candidate: Candidate) -> Iterator[_Call]:
    """In two sizes, with a mask as bool and as another type, and in training."""
    family = candidate.family
    wanted = [family.base, _other(candidate)]
    if family.masked is not None:
        others = (probe for probe in family.standard if probe.mask is not None)
        typed = next((probe for probe in others if probe.mask and probe.mask.dtype != torch.bool), None)
        wanted += [family.masked, *([] if typed is None else [typed])]
    for probe in wanted:
        rig = candidate.rig(probe.sizes, candidate.rate_of(probe))
        yield _Call(candidate.ask(rig, candidate.draw(probe), locals=True).seen, False)
    drawn = candidate.draw(family.masked or family.base)
    asked = candidate.ask(candidate.rig(), drawn, training=True, locals=True)
    yield _Call(asked.seen, True)


def _other(candidate: Candidate) -> Probe:
    """A standard probe for an instance of other sizes than the first; the first where there is none."""
    family = candidate.family
    usual = candidate.signature.built(family.base.sizes)
    others = (probe for probe in family.standard if candidate.signature.built(probe.sizes) != usual)
    return next(others, family.base)


def _orders(plan: Plan) -> Iterator[Plan]:
    """As it is, and with the mask ahead of the scale: before softmax either is right."""
    yield plan
    if {"scale", "mask"} <= plan.keys():
        names = list(plan)
        names.remove("mask")
        names.insert(names.index("scale"), "mask")
        yield {name: plan[name] for name in names}


def _proved(
    plan: Plan,
    context: Context,
    variant: Variant,
    there: Sequence[Tensor],
    seed: int,
    reveal: Reveal,
) -> Found:
    """The steps that were there, or without which a later one could not have been there."""
    matched: dict[str, bool] = {}
    idle: set[str] = set()  # steps that had nothing to do here
    value_is_there = False
    try:
        with torch.inference_mode(), seeded(seed):  # as the worker's generator was: dropout draws the same
            for name, step in plan.items():
                done = variant.get(name, step.run)(context)
                made = [f for f in context.makes if getattr(done, f) is not getattr(context, f)]
                matched[name] = bool(made) and all(_is_there(getattr(done, f), there) for f in made)
                value_is_there = value_is_there or (
                    reveal.value in made and _is_there(getattr(done, reveal.value), there)
                )
                if not made and done.visible is context.visible:
                    idle.add(name)
                context = done
    except CRASHES:
        return {}
    names = list(plan)
    found: dict[str, bool] = {}
    for place, name in enumerate(names):
        before = found[names[place - 1]] if place else False
        found[name] = before if name in idle else any(matched[later] for later in names[place:])
    mixed = any(matched[name] for name in reveal.after if name in matched)
    for name, step in plan.items():
        if reveal.value in step.makes:  # it is not needed for weights, only for what is mixed
            found[name] = found[name] and (value_is_there or mixed)
    return found


def _is_there(expected: Tensor, there: Sequence[Tensor]) -> bool:
    return any(_alike(one, expected) or (one.dim() > 1 and _alike(one.mT, expected)) for one in there)


def _alike(actual: Tensor, expected: Tensor) -> bool:
    """Equal within the tolerance; of scores that are hidden only that their weight is 0. A mask may have any
    type.
    """
    if actual.shape != expected.shape or actual.is_complex():
        return False
    expected = expected if expected.is_floating_point() else expected.float()
    actual = actual.to(expected.dtype)
    hidden = torch.isneginf(expected)
    if bool(hidden.any()):
        top = expected.amax(dim=-1, keepdim=True)
        if not bool(((actual - top)[hidden] < GONE).all()):
            return False
        actual = actual.masked_fill(hidden, 0.0)
        expected = expected.masked_fill(hidden, 0.0)
    return bool(torch.allclose(actual, expected, rtol=RTOL, atol=ATOL, equal_nan=True))
