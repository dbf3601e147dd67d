"""What the pages of practice do: start, save, grade, hint, reset, solution."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

import msgspec
from msgspec import Meta
from starlette.responses import Response

from grader import workspace
from grader.catalog import Catalog, Kata
from grader.errors import UsageError
from grader.history import Start
from grader.interview.price import give_help
from grader.practice.attempts import Graded
from grader.practice.hints import Fix
from grader.practice.on_paper import on_paper
from grader.practice.solutions import solution
from grader.practice.targets import Target
from grader.practice.trials import try_target
from grader.practice.work import ChangedOutside, read, save
from grader.records import Grade, Options, Record, Submission
from grader.report.hand import hand_of
from grader.report.trial import trial_view
from grader.snapshot import UnreadableSubmission, read_submission
from grader.stored import Seed
from grader.web.desk import Desk
from grader.web.gradings import Gradings
from grader.web.views import Asked, Views, answer


class Starting(Record):
    blank: bool = False
    agreed: bool = False


class Agreeing(Record):
    agreed: bool = False


class Revealing(Record):
    give_up: bool = False
    agreed: bool = False


class Wanted(Record):
    """A grade: the page chooses its id, so that it knows what is told of it before it has its answer."""

    id: Annotated[str, Meta(pattern=r"\A[0-9a-f-]{36}\Z")]
    work: str
    seed: Seed | None = None
    agreed: bool = False


class Deeds:
    """Each deed as a function of what was asked; at the desk's thread."""

    def __init__(self, desk: Desk, views: Views, gradings: Gradings) -> None:
        self._desk = desk
        self._views = views
        self._gradings = gradings

    def start(self, asked: Asked) -> Response:
        """Put the kata's stub into the folder."""
        wish, desk = asked.record(Starting), self._desk
        kata, folder = desk.kata(asked.path["kata"]), desk.world.folder
        desk.agree("start", kata, agreed=wish.agreed, folder=folder)
        started = workspace.start(kata, folder, desk.history, blank=wish.blank)
        if started.warning is not None:
            raise started.warning
        return answer(outcome=started.outcome)

    def reset(self, asked: Asked) -> Response:
        """The stub again; the work is kept beside it."""
        wish, desk = asked.record(Starting), self._desk
        kata, folder = desk.kata(asked.path["kata"]), desk.world.folder
        work = desk.work(kata)
        path = None if work is None else work.path
        desk.agree("reset", kata, agreed=wish.agreed, folder=path.parent if path else folder)
        done = workspace.reset(kata, folder, desk.history, desk.world.clock(), blank=wish.blank, path=path)
        if done.warning is not None:
            raise done.warning
        return answer(backup=None if done.backup is None else done.backup.name)

    def hint(self, asked: Asked) -> Response:
        """One more step of help: how to mend what the last grade found, then the written hints."""
        wish, desk = asked.record(Agreeing), self._desk
        kata = desk.kata(asked.path["kata"])
        running = desk.agree("hint", kata, agreed=wish.agreed)
        given = give_help(kata, running, desk.history)
        if isinstance(given, Fix):
            return answer(html=self._views.part("fix", asked, fix=given), again=False, last=False)
        return answer(
            html=self._views.part("hint", asked, hint=given),
            again=given.again,
            last=given.number == given.total,
        )

    def solution(self, asked: Asked) -> Response:
        """The reference, after a pass or for who gives up."""
        wish, desk = asked.record(Revealing), self._desk
        kata = desk.kata(asked.path["kata"])
        desk.agree("solution", kata, agreed=wish.agreed)
        found = solution(kata, desk.world.folder, desk.history, give_up=wish.give_up)
        return answer(html=self._views.part("solution", asked, found=found))

    def text(self, asked: Asked) -> Response:
        """The candidate's file, as it is."""
        work = read(self._desk.start(asked.path["start"]))
        try:
            work.source.decode()
        except UnicodeDecodeError as error:
            raise UsageError("This file is not UTF-8 text.", "Save it again as UTF-8 text.") from error
        headers = {"etag": f'"{work.sha256}"'}
        if asked.headers.get("if-none-match") == headers["etag"]:
            return Response(status_code=304, headers=headers)
        return Response(work.source, media_type="text/plain", headers=headers)

    def save(self, asked: Asked) -> Response:
        """Save the text. `If-Match` is the sha256 of what was edited; `*` keeps the other text beside it."""
        try:
            asked.body.decode()
        except UnicodeDecodeError as error:
            raise UsageError("The text is not UTF-8.", "Load the page again.") from error
        seen = asked.headers.get("if-match", "").strip('"')
        start, now = self._desk.start(asked.path["start"]), self._desk.world.clock()
        try:
            saved = save(start, asked.body, None if seen == "*" else seen, now)
        except ChangedOutside as problem:
            return answer(412, message=problem.message, fix=problem.fix, sha256=problem.work.sha256)
        self._desk.running()  # an interview that is on sees the save at once
        return answer(sha256=saved.sha256, backup=None if saved.backup is None else saved.backup.name)

    def run(self, asked: Asked) -> Callable[[], Response]:
        """The file as it is on the disk, on an example: what is returned does it. It costs nothing."""
        target, world = self._target(self._desk.start(asked.path["start"])), self._desk.world

        def tried() -> Response:
            done = try_target(target, world.options, world.catalog, world.try_out, folder=world.folder)
            view = trial_view(done.trial, done.kata, file=done.file, cells=done.cells)
            return answer(html=self._views.part("trial", asked, view=view))

        return tried

    def paper(self, asked: Asked) -> Callable[[], Response]:
        """The smallest example on which what was graded is wrong: what is returned looks for it."""
        graded, world = self._result(asked.path["grading"]), self._desk.world

        def grade(
            submission: Submission, kata: Kata, catalog: Catalog, options: Options | None = None
        ) -> Grade:
            return world.begin(submission, kata, catalog, options or world.options).result()

        def found() -> Response:
            shown = on_paper(graded, world.catalog, grade, isolation=world.options.isolation)
            return answer(html=self._views.part("hand", asked, section=hand_of(shown.grade)))

        return found

    def _result(self, grading: str) -> Graded:
        graded = self._gradings.find(grading).graded
        if graded is None:
            raise UsageError("This grade has no result yet.", "Wait for it.")
        return graded

    def _target(self, start: Start) -> Target:
        read(start)  # what cannot be edited here is not graded here either
        kata = self._desk.kata(start.kata)
        try:
            return Target(path=start.path, kata=kata, submission=read_submission(start.path))
        except UnreadableSubmission as problem:
            return Target(path=start.path, kata=kata, submission=problem)

    def grade(self, asked: Asked) -> Response:
        """Begin a grade of the file as it is on the disk now."""
        wish, desk = asked.record(Wanted), self._desk
        start = desk.start(wish.work)
        desk.agree("grade", desk.kata(start.kata), agreed=wish.agreed)
        target = self._target(start)
        options = msgspec.structs.replace(desk.world.options, seed=wish.seed)
        self._gradings.begin(wish.id, target, options)
        return answer(202, id=wish.id)

    def cancel(self, asked: Asked) -> Response:
        """End a grade."""
        self._gradings.cancel(asked.path["grading"])
        return answer()

    def graded(self, asked: Asked) -> Response:
        """What came of a grade."""
        graded = self._result(asked.path["grading"])
        warning = None if graded.warning is None else f"{graded.warning.message} {graded.warning.fix}"
        return answer(html=self._views.result(graded, asked), verdict=graded.grade.verdict, warning=warning)
