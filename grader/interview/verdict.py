"""The final verdict, by the rule in docs/interview.md: from points, time and hints, and from nothing else."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from grader.interview.wording import Wording, clock, count
from grader.records import Record

VerdictId = Literal["strong", "lean_yes", "lean_no", "no", "none"]

STRONG_SHARE = 0.95  # of the required points, hints paid
LEAN_YES_SHARE = 0.75
LEAN_NO_SHARE = 0.60
STRONG_TIME = 0.80  # of the time


class Facts(Record):
    """What the rule looks at, of one round. `points` and `required` are of the required concepts."""

    passed: bool
    points: int
    required: int
    hint_cost: int  # points, all hints together
    hints: int
    used: float  # seconds
    limit: float
    ending: Literal["submitted", "deadline", "gave_up"]
    solution_seen: bool = False
    task: Literal["write", "hunt"] = "write"  # in a hunt points are bugs that were mended
    broken: bool = False  # of a hunt: something is wrong that was right


class Judgement(Record):
    """The verdict and the facts it follows from, in words."""

    id: VerdictId
    word: str
    sentence: str
    reasons: tuple[str, ...]


def judge(rounds: Sequence[Facts], *, practice: bool, wording: Wording) -> Judgement:
    """The verdict on all rounds together; practice gets none."""
    verdict: VerdictId = "none" if practice else rule(rounds)
    words = wording.verdict[verdict]
    reasons = tuple(reason for facts in rounds for reason in _reasons(facts, wording.reasons))
    hunted = any(facts.task == "hunt" for facts in rounds)
    sentence = (words.hunt or words.sentence) if hunted else words.sentence
    return Judgement(id=verdict, word=words.word, sentence=sentence, reasons=reasons)


def rule(rounds: Sequence[Facts]) -> VerdictId:
    """The rule itself. Rounds count together: all have to pass, and points and times are added up."""
    required = sum(facts.required for facts in rounds)
    net = sum(max(0, facts.points - facts.hint_cost) for facts in rounds)
    share = net / required if required else 0.0
    used = sum(facts.used for facts in rounds) / sum(facts.limit for facts in rounds)
    helped = any(facts.ending == "gave_up" or facts.solution_seen for facts in rounds)
    if helped:
        return "no"
    if not all(facts.passed for facts in rounds):
        return "lean_no" if share >= LEAN_NO_SHARE else "no"
    submitted = all(facts.ending == "submitted" for facts in rounds)
    if share >= STRONG_SHARE and used <= STRONG_TIME and submitted:
        return "strong"
    return "lean_yes" if share >= LEAN_YES_SHARE else "lean_no"


def _reasons(facts: Facts, texts: dict[str, str]) -> list[str]:
    net = max(0, facts.points - facts.hint_cost)
    values = {
        "points": facts.points,
        "max_points": facts.required,
        "hints": count(facts.hints, "hint"),
        "cost": facts.hint_cost,
        "net": net,
        "used": clock(round(facts.used)),
        "limit": clock(facts.limit),
    }
    if facts.task == "hunt":
        keys = ["hunt_done" if facts.passed else "hunt_broken" if facts.broken else "hunt_not_done"]
    else:
        keys = ["passed" if facts.passed else "not_passed"]
    if facts.hint_cost:
        keys.append("hint_cost")
    keys.append({"submitted": "early", "deadline": "late", "gave_up": "gave_up"}[facts.ending])
    if facts.solution_seen:
        keys.append("solution")
    return [texts[key].format_map(values) for key in keys]
