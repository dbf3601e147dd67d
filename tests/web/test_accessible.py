"""Every page: axe finds nothing, in both schemes; and none is wider than a desk's or a phone's window."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator, Sequence
from itertools import cycle, islice, product
from typing import Literal

import pytest
import uvicorn
from axe_playwright_python.sync_playwright import Axe
from msgspec.structs import replace
from playwright.sync_api import Browser, BrowserContext, Page, expect

from grader.catalog import Catalog, Kata
from grader.grading import Options, Told
from grader.records import Grade, Submission
from grader.web.app import make_app
from grader.web.desk import World
from grader.web.gate import Keys
from grader.web.server import listening
from tests.report.conftest import SOURCE, environment, failing, source
from tests.report.conftest import kata as report_kata
from tests.sampling import some
from tests.web.conftest import Underway
from tests.web.pages import button, chromium, editor, enter

pytestmark = pytest.mark.browser
__all__ = ["chromium", "environment", "failing", "report_kata", "source"]  # fixtures
kata = report_kata

Way = tuple[int, Literal["light", "dark"]]  # the window's width in pixels, and the colour scheme
WAYS: tuple[Way, ...] = tuple(product((1400, 400), ("light", "dark")))


class Named:
    """A grader that finds the same mistake in every text."""

    def __init__(self, grade: Grade) -> None:
        self._grade = grade

    def __call__(
        self, submission: Submission, kata: Kata, catalog: Catalog, options: Options, told: Told | None = None
    ) -> Underway:
        assert kata in catalog.katas
        assert self._grade.source is not None
        seen = replace(self._grade.source, sha256=submission.sha256, text=submission.source.decode())
        may_end = threading.Event()
        may_end.set()
        grade = replace(self._grade, source=seen, seed=options.seed or 0)
        return Underway(grade, may_end, told or (lambda *_: None))


@pytest.fixture
def address(world: World, failing: Grade, faults: list[Exception]) -> Iterator[str]:
    """A server in this process, at its address."""
    with listening(0) as listener:
        keys = Keys.fresh(listener.getsockname()[1])
        app = make_app(replace(world, begin=Named(failing)), keys, threading.Event())
        server = uvicorn.Server(uvicorn.Config(app, log_config=None, ws="none", timeout_graceful_shutdown=1))
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
        thread.start()
        yield keys.address
        server.should_exit = True
        thread.join()
    assert faults == []


class Look:
    """Looks at a page in one of the ways in turn, and keeps what is wrong with it by its name."""

    def __init__(self, page: Page, ways: Sequence[Way] = ()) -> None:
        self._page = page
        self._ways = cycle(ways)
        self.found: dict[str, str] = {}

    def __call__(self, name: str) -> None:
        for width, scheme in islice(self._ways, 1):
            self._page.set_viewport_size({"width": width, "height": 900})
            self._page.emulate_media(color_scheme=scheme)
            name = f"{name} at {width}, {scheme}"
        violations = Axe().run(self._page)
        if violations.violations_count:
            self.found[name] = violations.generate_report()
        beyond = self._page.evaluate("document.documentElement.scrollWidth - window.innerWidth")
        if beyond > 0:
            self.found[f"{name}: width"] = f"{beyond} pixels too wide"


def look_alone(context: BrowserContext, address: str) -> None:
    """At a report as a page of its own: in its sandbox nothing runs, axe neither."""
    page = context.new_page()
    page.set_content(context.request.get(address).text())
    look = Look(page)
    look("report")
    assert look.found == {}
    page.close()


# Every page in one way or the other; the slow run has each way for all of them.
@pytest.mark.parametrize("ways", some(1, [[(1400, "light"), (400, "dark")], *([way] for way in WAYS)]))
def test_every_page_is_accessible_and_fits(chromium: Browser, address: str, ways: Sequence[Way]) -> None:
    with chromium.new_context(reduced_motion="reduce") as context:
        page = context.new_page()
        enter(page, address)
        origin, look = page.url.rstrip("/"), Look(page, ways)
        look("first visit")
        page.goto(f"{origin}/katas/v3")
        look("kata, not started")
        button(page, "Start with the stub").click()
        editor(page).press("Control+A")
        page.keyboard.insert_text(SOURCE)
        button(page, "Next step of help").click()
        button(page, "Run on an example").click()
        expect(page.locator("#trial-result")).to_contain_text("It returned")
        look("kata, run")
        button(page, "Grade").click()
        expect(page.locator("#result")).to_contain_text("scale_by_dk")
        page.locator(".cm-lint-marker-error").wait_for()
        look("kata, graded")
        for path in (
            "/",
            "/history",
            "/statistics",
            "/nowhere",
            "/katas/zz",
            "/interview",
            "/interview?kata=v3",
        ):
            page.goto(origin + path)
            look(path)
        page.goto(f"{origin}/history")
        report = page.get_by_role("link", name=re.compile("^Report of")).first.get_attribute("href")
        look_alone(context, f"{origin}{report}")
        page.goto(f"{origin}/interview?kata=v3")
        button(page, "Start the clock").click()
        editor(page).press("Control+A")
        page.keyboard.insert_text(SOURCE)
        button(page, "Save").click()
        expect(page.locator("#saves")).to_contain_text("1 saved")
        look("interview")
        button(page, "Hand in").click()
        look("a question before what costs")
        page.route("**/interview/state", lambda asked: asked.abort())  # it would go on by itself
        button(page, "Do it").click()
        page.get_by_role("heading", name="The clock has stopped").wait_for()
        look("grading")
        page.unroute("**/interview/state")
        page.get_by_role("heading", name="A question").wait_for()
        for _ in range(3):
            page.get_by_role("textbox", name="Your answer").wait_for()  # not the section of that name
            look("follow-up")
            button(page, "Answer").click()
            button(page, "Go on").wait_for()
            look("marks")
            button(page, "Go on").click()
        page.get_by_role("slider").wait_for()
        look("debrief")
        page.goto(f"{origin}/history")
        look("history with an interview")
    assert look.found == {}
