"""The interview in the browser: the same session as the room and the plain commands, as pages and deeds."""

from __future__ import annotations

import secrets
from typing import Annotated, Any, TypeVar

from msgspec import Meta
from starlette.responses import RedirectResponse, Response

from grader.catalog import Kata
from grader.errors import UsageError
from grader.interview import followups, hunting, opening, round_grading
from grader.interview.clarify import clarifications
from grader.interview.debrief import build_debrief
from grader.interview.records import Plan
from grader.interview.sections import debrief_view
from grader.interview.session import Session
from grader.interview.status import status
from grader.interview.wording import load_wording
from grader.practice.hints import hint_texts
from grader.records import Record
from grader.web.desk import Desk
from grader.web.pages import shown
from grader.web.settle import Settling
from grader.web.views import Asked, Views, answer

T = TypeVar("T")
LADDER, RANDOM = "ladder:", "random"

Text = Annotated[str, Meta(max_length=20_000)]


class Wish(Record):
    """What the form says."""

    kata: str  # an id, or "ladder:" and a track, or "random"
    minutes: Annotated[float, Meta(gt=0, le=24 * 60)] | None = None
    practice: bool = False
    guided: bool = False
    seed: Annotated[int, Meta(ge=0, lt=2**32)] | None = None


class Asking(Record):
    id: str


class Answering(Record):
    id: str
    text: Text
    took: Annotated[float, Meta(ge=0, le=1e6)]


class Marking(Record):
    id: str
    points: Annotated[list[bool], Meta(max_length=50)]


class Interviews:
    """Pages and deeds of the interview in the candidate's folder; at the desk's thread."""

    def __init__(self, desk: Desk, views: Views) -> None:
        self._desk = desk
        self._views = views
        self._open: dict[str, Session] = {}
        self._settling = Settling(desk, self._session)

    def close(self) -> None:
        """End what is graded in the background."""
        self._settling.close()

    # Pages

    def page(self, asked: Asked) -> Response:
        """Where the interview is; the way into one when none is on."""
        session = self._current()
        if session is None:
            return self._entrance(asked)
        session.observe()
        kata = self._desk.kata(session.round.kata)
        common: dict[str, Any] = {"session": session, "kata": kata, "found": status(session)}
        if session.phase == "writing":
            return self._writing(asked, session, kata)
        if session.phase == "between":
            following = self._following(session)
            return self._views.page(
                "interview_between", asked, **common, following=following, brief=following.text("brief.md")
            )
        if session.phase == "grading":
            self._settling.begin(session.plan)
            return self._views.page("interview_grading", asked, **common, problem=self._settling.problem)
        if session.phase == "questions":
            self._settling.begin(session.plan)
            entry = next((one for one in followups.ask(session, self._desk.catalog) if not one.done), None)
            if entry is not None:
                return self._views.page(
                    "interview_question", asked, **common, entry=entry, seconds=followups.SECONDS
                )
            session.finish()
        self._open.pop(session.plan.uuid, None)
        return RedirectResponse(f"/interviews/{session.plan.uuid}", 303)

    def state(self, asked: Asked) -> Response:  # noqa: ARG002
        """The clock and the saves, looked at now: what the page asks while it is open."""
        session = self._current()
        if session is None:
            return answer(phase="over")
        session.observe()
        if session.plan.practice or session.phase != "writing":
            self._settling.begin(session.plan)
        found = status(session)
        tested = session.round.of("tested")
        return answer(
            phase=found.phase,
            round=found.level,
            remaining=found.remaining,
            saves=found.saves,
            last_save=found.last_save,
            problem=found.problem or "",
            tested=f"{tested[-1].data['points']}/{tested[-1].data['max_points']}" if tested else "",
            failed="" if (problem := self._settling.problem) is None else problem.message,
        )

    def debrief(self, asked: Asked) -> Response:
        """The debrief with its timeline, and a slider over the saves."""
        session = self._session(self._plan(asked))
        self._settling.begin(session.plan)
        desk = self._desk
        debrief = build_debrief(
            session, desk.history, desk.interviews, desk.catalog, load_wording(desk.catalog)
        )
        return self._views.page(
            "debrief",
            asked,
            view=debrief_view(debrief, desk.catalog),
            plan=session.plan,
            rounds=session.interview.rounds,
            waiting=any(True for _ in round_grading.timeline_jobs(session, desk.interviews)),
        )

    def save(self, asked: Asked) -> Response:
        """One save of an interview: its text, and when it was made."""
        session = self._session(self._plan(asked))
        one = _numbered(session.interview.rounds, asked.path["round"])
        kept = _numbered(one.saves, asked.path["save"])
        text = self._desk.interviews.source(kept.sha256).decode("utf-8-sig", "replace")
        grade = self._desk.interviews.grades(session.plan, one.number).get(kept.sha256)
        return answer(
            text=text,
            seconds=kept.seconds,
            late=kept.late,
            points=None if grade is None else grade.points,
            max_points=None if grade is None else grade.max_points,
        )

    # Deeds

    def begin(self, asked: Asked) -> Response:
        """Start the clock."""
        wish, desk = asked.record(Wish), self._desk
        seed = secrets.randbelow(2**32) if wish.seed is None else wish.seed
        session = opening.open_interview(
            opening.Wish(
                katas=self._katas(wish.kata, seed),
                minutes=wish.minutes,
                practice=wish.practice,
                guided=wish.guided,
                seed=seed,
            ),
            desk.world.folder,
            desk.history,
            desk.interviews,
            desk.world.moment,
        )
        self._open[session.plan.uuid] = session
        return answer()

    def ask(self, asked: Asked) -> Response:
        """A clarifying question."""
        session, wanted = self._on(), asked.record(Asking)
        for entry in clarifications(self._desk.kata(session.round.kata)):
            if entry.id == wanted.id:
                session.ask(entry.id)
                return answer(answer=entry.answer)
        raise UsageError("There is no such question.", "Load the page again.")

    def submit(self, asked: Asked) -> Response:  # noqa: ARG002
        """Hand in."""
        self._on().submit()
        return answer()

    def give_up(self, asked: Asked) -> Response:  # noqa: ARG002
        """Stop the clock; what there is, is graded."""
        self._on().give_up()
        return answer()

    def abort(self, asked: Asked) -> Response:  # noqa: ARG002
        """End it without a grade."""
        self._on().abort()
        return answer()

    def go_on(self, asked: Asked) -> Response:  # noqa: ARG002
        """The ladder's next level."""
        desk = self._desk
        opening.go_on(self._on(), desk.catalog, desk.history, desk.world.moment)
        return answer()

    def again(self, asked: Asked) -> Response:  # noqa: ARG002
        """Grade once more what could not be graded."""
        self._settling.again(self._on().plan)
        return answer()

    def reply(self, asked: Asked) -> Response:
        """An answer to a follow-up question."""
        wanted = asked.record(Answering)
        self._on().answer(wanted.id, wanted.text, wanted.took)
        return answer()

    def mark(self, asked: Asked) -> Response:
        """The candidate's own marks."""
        wanted = asked.record(Marking)
        self._on().mark(wanted.id, wanted.points)
        return answer()

    # How it is done

    def _entrance(self, asked: Asked) -> Response:
        wanted, desk = asked.query.get("kata"), self._desk
        kata = None if wanted in (None, RANDOM) else self._katas(str(wanted), 0)[0]
        return self._views.page(
            "interview_begin",
            asked,
            tracks=[(track, desk.catalog.in_track(track.id)) for track in desk.catalog.tracks.tracks],
            wanted=wanted,
            kata=kata,
            brief="" if kata is None else kata.text("brief.md"),
            folder=desk.world.folder,
        )

    def _writing(self, asked: Asked, session: Session, kata: Kata) -> Response:
        texts = hint_texts(kata) if session.round.room is None else ()
        one = session.round
        questions = {event.data["id"] for event in one.of("asked")}
        return self._views.page(
            "interview_writing",
            asked,
            session=session,
            found=status(session),
            kata=kata,
            brief=hunting.brief(session.round.room, kata, load_wording(self._desk.catalog)),
            work=shown(self._desk.history.starts(path=one.path, kata=one.kata)[0]),
            folder=self._desk.world.folder,
            clarifications=clarifications(kata),
            asked=questions,
            hints=texts[: one.hints],
            hint_count=len(texts),
            backup=one.backup,
        )

    def _current(self) -> Session | None:
        """The interview of the folder; one that another run had begun is taken over, and that is noted."""
        plan = self._desk.interviews.open_in(self._desk.world.folder.resolve())
        if plan is None:
            return None
        taken_over = plan.uuid in self._open
        session = self._session(plan)
        if not taken_over:
            session.resume()
            self._open[plan.uuid] = session
        return session

    def _on(self) -> Session:
        session = self._current()
        if session is None:
            raise UsageError("No interview is on in this folder.", "Begin one.")
        session.refresh()
        return session

    def _session(self, plan: Plan) -> Session:
        session = self._open.get(plan.uuid) or Session(self._desk.interviews, plan, self._desk.world.moment)
        session.refresh()
        return session

    def _plan(self, asked: Asked) -> Plan:
        for plan in self._desk.interviews.plans():
            if plan.uuid == asked.path["interview"]:
                return plan
        raise UsageError("There is no such interview in this history.", "All of them: the history page.")

    def _following(self, session: Session) -> Kata:
        return self._desk.kata(session.plan.katas[len(session.interview.rounds)])

    def _katas(self, wanted: str, seed: int) -> tuple[Kata, ...]:
        if wanted.startswith(LADDER):
            catalog = self._desk.catalog
            return catalog.in_track(catalog.tracks.get(wanted.removeprefix(LADDER)).id)
        if wanted == RANDOM:
            return opening.at_random(self._desk.catalog, seed)
        return (self._desk.kata(wanted),)


def _numbered(found: tuple[T, ...], number: str) -> T:
    if number.isdecimal() and int(number) < len(found):
        return found[int(number)]
    raise UsageError("There is no such save.", "Load the page again.")
