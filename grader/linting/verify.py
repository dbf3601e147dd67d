"""Everything that is graded to find out whether a kata's checks bite, and what the outcomes say."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

import torch

from grader.catalog import Catalog, Kata
from grader.engine.private import private_engine
from grader.errors import GraderFault
from grader.judge.checks import ATTRIBUTE, END_TO_END, CheckInfo
from grader.judge.content import KataContent, load_content
from grader.linting.answers import (
    Answer,
    EditMisses,
    answers,
    difference,
    gates_of,
    problems_of_gate,
    problems_of_paper,
    problems_of_solution,
    trial_of_example,
)
from grader.linting.expected import (
    UNREACHED,
    Exceptions,
    is_named,
    load_exceptions,
    strangers,
    wrongly_blamed,
)
from grader.linting.oracle_pool import parts, play_apart
from grader.linting.oracle_trials import concept_ids, own_concept_of_label, places
from grader.linting.records import Problem, Tally, Trial
from grader.linting.rooms import problems_of_rooms
from grader.linting.shares import some_answers, some_places
from grader.records import Options

SEED = 20481
PROCESSES = 2


def try_katas(
    catalog: Catalog,
    katas: Sequence[Kata],
    tell: Callable[[int, int | None], None] = lambda _, __: None,
    *,
    quick: bool = False,
) -> tuple[list[Problem], tuple[Tally, ...]]:
    """Grade everything that these katas declare, or on a `quick` look each mistake once;
    problems in the order of the katas.

    `tell` hears of each answer that was tried, and of how many there are.
    """
    problems: list[Problem] = []
    contents: list[KataContent] = []
    for kata in katas:
        try:
            content = load_content(kata, catalog)
            found = list(problems_of_code(content))
        except GraderFault as error:
            found = [Problem(path=kata.folder, message=error.message, fix="Mend its code.")]
        problems += found
        if not found:
            contents.append(content)
    if not contents:
        return problems, ()
    tallies = []
    for content, trials, more in _tried(catalog, contents, tell, quick=quick):
        exceptions = load_exceptions(catalog, content.kata.pack)
        problems += more
        problems += problems_of_trials(content, trials, exceptions)
        tallies.append(tally(content, trials, exceptions))
    return problems, tuple(tallies)


def problems_of_code(content: KataContent) -> Iterator[Problem]:
    """Checks without a concept, concepts without a check, gates that are not there or without a proof, labels
    without words, rules that ban nothing.
    """
    kata = content.kata
    ids = concept_ids(kata)
    infos: dict[str, CheckInfo] = {
        name: getattr(check, ATTRIBUTE)
        for name, check in vars(content.checks).items()
        if hasattr(check, ATTRIBUTE)
    }
    for info in infos.values():
        if info.concept not in {*ids, END_TO_END}:
            yield Problem(
                path=kata.folder / "checks.py",
                message=f"The check “{info.title}” is about `{info.concept}`, no concept of this kata.",
                fix=f"The concepts are: {', '.join(sorted(ids))}, and {END_TO_END} for a gate.",
            )
    gates = gates_of(content)
    for example in gates:
        if example.label not in infos:
            yield Problem(
                path=kata.folder / "checks.py",
                message=f"There is no gate {example.label}, though it must reject: {difference(example)}.",
                fix="Put the check back; a kata that cannot have it says so by GATES of its own.",
            )
    proved = {example.label for example in gates}
    for name, info in infos.items():
        if info.concept == END_TO_END and name not in proved:
            yield Problem(
                path=kata.folder / "checks.py",
                message=f"Nothing proves that the gate {name} bites.",
                fix="Add an answer that it rejects to GATES, in mistakes.py or katas/common/examples.py.",
            )
    for concept in kata.concepts:
        if concept.id not in {info.concept for info in infos.values()}:
            yield Problem(
                path=kata.folder / "checks.py",
                message=f"No check is about the concept {concept.id}.",
                fix="Write one, or take the concept out of kata.toml.",
            )
    forms = {form.label for form in (*content.values, *content.training)}
    used = forms | {example.label for example in content.examples}
    for label in sorted(used - content.labels.keys()):
        yield Problem(
            path=kata.folder / "mistakes.py",
            message=f"The label {label} has no words.",
            fix="Add it to katas/common/mistakes.toml.",
        )
    for name in kata.rules.banned:
        rooms = (torch, torch.nn, torch.nn.functional, torch.Tensor, torch.special)
        if not any(hasattr(room, name.removeprefix("special_")) for room in rooms):
            yield Problem(
                path=kata.folder / "kata.toml",
                message=f"The banned call {name} does not exist in torch.",
                fix="Check its spelling.",
            )


def _tried(
    catalog: Catalog,
    contents: Sequence[KataContent],
    tell: Callable[[int, int | None], None],
    *,
    quick: bool,
) -> Iterator[tuple[KataContent, list[Trial], list[Problem]]]:
    """Plays in processes of their own, answers through an engine, side by side."""
    options = Options(seed=SEED)
    count = min(PROCESSES, os.cpu_count() or 1)
    wanted = some_places(contents) if quick else {content.kata.id: places(content) for content in contents}
    files_of, missing = _answers(contents)
    if quick:
        files_of = some_answers(files_of)
    with private_engine(catalog) as engine, ThreadPoolExecutor(2 * PROCESSES) as threads:
        total = sum(map(len, wanted.values()))

        def tried(_: object = None) -> None:
            tell(1, total)

        playing = [threads.submit(play_apart, part, tried) for part in parts(catalog, wanted, count, SEED)]
        grading = []
        for content in contents:
            files = files_of[content.kata.id]
            grades = [threads.submit(engine.grade, f.submission, f.kata, catalog, options) for f in files]
            total += len(files)
            for pending in grades:
                pending.add_done_callback(tried)
            grading.append((content, files, grades, missing[content.kata.id]))
        played = [trial for part in playing for trial in part.result()]
        for content, files, grades, problems in grading:
            trials = [trial for trial in played if trial.kata == content.kata.id]
            for file, future in zip(files, grades, strict=True):
                grade = future.result()
                if file.gate:
                    problems.extend(problems_of_gate(file, grade))
                elif file.example is not None:
                    trials.append(trial_of_example(content, file, grade))
                else:
                    judge_file = problems_of_solution if file.right else problems_of_paper
                    problems.extend(judge_file(file, grade))
            problems.extend(problems_of_rooms(content.kata, catalog, engine, quick=quick))
            yield content, trials, problems


def _answers(contents: Sequence[KataContent]) -> tuple[dict[str, list[Answer]], dict[str, list[Problem]]]:
    """What each kata has to be graded; nothing, and a problem, where an example misses."""
    found: dict[str, list[Answer]] = {}
    problems: dict[str, list[Problem]] = {}
    for content in contents:
        kata = content.kata
        try:
            found[kata.id], problems[kata.id] = list(answers(content)), []
        except EditMisses as error:
            path = kata.folder / "mistakes.py"
            problem = Problem(path=path, message=str(error), fix="Take the text from the solution.")
            found[kata.id], problems[kata.id] = [], [problem]
    return found, problems


def problems_of_trials(
    content: KataContent, trials: Sequence[Trial], exceptions: Exceptions
) -> Iterator[Problem]:
    """Right answers that are not accepted; wrong ones that are, or are misnamed, or cost another's points."""
    path = content.kata.folder / "mistakes.py"
    examples = {example.label for example in content.examples}
    for trial in trials:
        if trial.label is None:
            if trial.verdict != "passed":
                yield Problem(
                    path=path,
                    message=f"Right ({trial.what}), and {trial.verdict}: {trial.reason}",
                    fix="Mend the check that rejects it: nothing is worse than to reject a right answer.",
                )
        elif never_ran(trial) and not trial.named:
            if trial.label not in examples:
                yield Problem(
                    path=path,
                    message=f"{trial.label} ({trial.what}) runs on no input, so it shows in no value.",
                    fix="Give an example of it that real code makes.",
                )
        else:
            for message, fix in _faults(content, trial, exceptions):
                yield Problem(path=path, message=f"{trial.label} ({trial.what}) {message}", fix=fix)


def _faults(content: KataContent, trial: Trial, exceptions: Exceptions) -> Iterator[tuple[str, str]]:
    if trial.verdict == "passed":
        yield "is accepted.", "Write a check that tells it from a right answer."
        return
    if trial.verdict == "grader_error":
        yield f"breaks the grader: {trial.reason}", "Please report this."
        return
    if not is_named(trial, exceptions):
        first = ", ".join(trial.named[0]) if trial.named else "nothing"
        yield f"is named as {first}.", "Sharpen its form, or declare a synonym in exceptions.toml."
        return
    if others := strangers(trial, exceptions):
        yield f"is also named as {', '.join(others)}.", "That check blames it for what another step did."
    if others := blamed(content, trial, exceptions):
        yield f"also costs {', '.join(others)}.", "Those checks must say “not reached”, or see past it."
    own = own_concepts(content, trial, exceptions)
    if trial.verdict == "failed" and not own & {*trial.failed, *trial.not_reached}:
        yield f"does not cost {' or '.join(sorted(own))}.", "A check of its own concept must reject it."


def own_concepts(content: KataContent, trial: Trial, exceptions: Exceptions) -> set[str]:
    """The concepts of the mistake under each of its names."""
    assert trial.label is not None
    own = {
        own_concept_of_label(content, name)
        for name in exceptions.names(trial.label) - {trial.label}
        if name in content.labels
    }
    return own | {trial.own or own_concept_of_label(content, trial.label)}


def blamed(content: KataContent, trial: Trial, exceptions: Exceptions) -> tuple[str, ...]:
    """The concepts that a mistake costs and that are not its own."""
    return wrongly_blamed(trial, exceptions, own_concepts(content, trial, exceptions))


def never_ran(trial: Trial) -> bool:
    """No call gave an output, so all but the interface was out of reach."""
    return trial.failed == (UNREACHED,) and bool(trial.not_reached)


def tally(content: KataContent, trials: Sequence[Trial], exceptions: Exceptions) -> Tally:
    """The trials in numbers; a form that runs on no input does not count."""
    wrong = [
        trial for trial in trials if trial.label is not None and not (never_ran(trial) and not trial.named)
    ]
    rights = [trial for trial in trials if trial.label is None]
    return Tally(
        kata=content.kata.id,
        mistakes=len(wrong),
        rejected=sum(trial.verdict in ("failed", "unrunnable") for trial in wrong),
        named=sum(is_named(trial, exceptions) for trial in wrong),
        blamed=sum(len(blamed(content, trial, exceptions)) for trial in wrong),
        rights=len(rights),
        accepted=sum(trial.verdict == "passed" for trial in rights),
    )
