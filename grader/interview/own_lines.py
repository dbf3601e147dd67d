"""A follow-up question made from the answer itself: on one of its lines, answered by a run's numbers."""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator

from grader.catalog import Catalog, load_own_lines
from grader.errors import KataError
from grader.interview.records import Round
from grader.interview.store import InterviewStore
from grader.practice.questions import Question
from grader.records import Submission, Trial

OWN = "own:"  # how the id of such a question begins
MOST_CODE = 120
_NAMES = re.compile(r"\{(\w{1,40})\}")

Measure = Callable[[str, Submission], Trial]  # of a kata's id and an answer


def own_question(
    one: Round, store: InterviewStore, catalog: Catalog, measure: Measure, rng: random.Random
) -> Question | None:
    """One question on the answer that counted: on a concept that was missed, if there is one for it.

    `None` where nothing can be measured: then the kata's own questions are asked.
    """
    submission = Submission(
        name=one.path.name, source=store.source(one.counts.sha256), sha256=one.counts.sha256
    )
    try:
        trial = measure(one.kata, submission)
    except KataError:  # a question less is no reason to stop the interview
        return None
    found = list(_possible(trial, catalog))
    if not found:
        return None
    missed = set(one.graded.data["missed"]) if one.graded else set()
    lost = [question for question in found if question.concept in missed]
    return rng.choice(lost or found)


def _possible(trial: Trial, catalog: Catalog) -> Iterator[Question]:
    """A question for each concept whose line is known, and whose numbers the run gave."""
    lines = [] if trial.source is None else trial.source.text.split("\n")
    for concept, template in load_own_lines(catalog).items():
        number = trial.lines.get(concept, 0)
        code = lines[number - 1].partition("  #")[0].strip() if 0 < number <= len(lines) else ""
        known = {**trial.numbers, "line": str(number), "code": code[:MOST_CODE]}
        wanted = set(_NAMES.findall(template.question + template.answer))
        if code and wanted <= known.keys():
            yield Question(
                id=f"{OWN}{concept}",
                concept=concept,
                question=_filled(template.question, known),
                answer=_filled(template.answer, known),
                key_points=template.key_points,
            )


def _filled(text: str, known: dict[str, str]) -> str:
    """Each name once: braces in the candidate's code stay as they are."""
    return _NAMES.sub(lambda name: known.get(name[1], name[0]), text)
