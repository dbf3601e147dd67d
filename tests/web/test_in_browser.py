"""The page in a real browser, with the real server and the real grader: from the first visit to a pass."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect

from grader.catalog import Catalog
from tests import patience
from tests.web.pages import button, chromium, editor, enter

pytestmark = [pytest.mark.browser, pytest.mark.usefixtures("warm")]
__all__ = ["chromium"]  # the fixture
V1 = "self_attention_v1.py"
# What a browser says of answers that are part of the game: a conflict, a question, a server that was killed.
EXPECTED = ("status of 412", "status of 409", "ERR_CONNECTION_REFUSED")
HOSTILE = '''
import torch
from torch import nn

print("<script>window.hacked = 1</script><img src=x onerror='window.hacked = 2'>\\x1b[31m\\u202e")


class SelfAttentionV1(nn.Module):
    """</code></pre><script>window.hacked = 3</script><img src=x onerror="window.hacked = 4">"""

    def __init__(self, hidden_dim: int = 728) -> None:
        super().__init__()
        self.q = nn.Linear(hidden_dim, hidden_dim)  # "><svg onload="window.hacked = 5">

    def forward(self, x):
        raise ValueError("</p><script>window.hacked = 6</script><img src=x onerror='window.hacked = 7'>")
'''


# Who is started in the background ignores Ctrl-C, and so would the server.
PROGRAM = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from grader.cli.main import main
main()
"""


class Server:
    """`kata web` in a process of its own; `kill` and `start` again are a computer's bad day."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process: subprocess.Popen[str] | None = None
        self.address = ""

    def start(self) -> str:
        """The address that it prints, alone on its line."""
        self.process = subprocess.Popen(
            [sys.executable, "-c", PROGRAM, "web", "--no-open"],
            cwd=self.folder,
            stdout=subprocess.PIPE,
            text=True,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        for line in self.process.stdout:
            if re.fullmatch(r"http://127\.0\.0\.1:\d+/\?token=[\w-]+\n", line):
                self.address = line.strip()
                return self.address
        raise AssertionError(f"the server ended with {self.process.wait()}")

    def end(self, sign: int) -> int:
        assert self.process is not None
        self.process.send_signal(sign)
        with self.process:
            return self.process.wait(patience.SECONDS)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    folder = tmp_path / "practice"
    folder.mkdir()
    made = Server(folder)
    made.start()
    yield made
    if made.process is not None and made.process.poll() is None:
        assert made.end(signal.SIGINT) == 0


@pytest.fixture
def context(chromium: Browser) -> Iterator[BrowserContext]:
    made = chromium.new_context(viewport={"width": 1400, "height": 900})
    yield made
    made.close()


@pytest.fixture
def page(context: BrowserContext, server: Server) -> Iterator[Page]:
    """The first page; whatever its scripts or its policy complain of fails the test."""
    complaints: list[str] = []
    found = context.new_page()
    found.on("console", lambda said: complaints.append(said.text) if said.type == "error" else None)
    found.on("pageerror", lambda error: complaints.append(str(error)))
    enter(found, server.address)
    yield found
    assert [said for said in complaints if not any(word in said for word in EXPECTED)] == []


def tab_to(page: Page, place: Locator) -> None:
    """Press Tab until the place has the focus: a trap on the way is never left."""
    focused = "place => place.contains(document.activeElement)"
    for _ in range(80):
        if place.evaluate(focused):
            return
        page.keyboard.press("Tab")
    raise AssertionError("the keyboard does not get there")


def press(page: Page, place: Locator) -> None:
    tab_to(page, place)
    page.keyboard.press("Enter")


def write(page: Page, text: str) -> None:
    """Into the editor, in place of what is there."""
    tab_to(page, editor(page))
    page.keyboard.press("Control+A")
    page.keyboard.insert_text(text)


def begin(page: Page, kata: str) -> None:
    page.goto(f"{page.url.split('/katas')[0].rstrip('/')}/katas/{kata}")
    button(page, "Start with the stub").click()
    editor(page)


def solution(catalog: Catalog, kata: str = "v1") -> str:
    return catalog.get(kata).solution.read_text(encoding="utf-8")


def wrong(catalog: Catalog) -> str:
    text, changes = re.subn(r"math\.sqrt\(([^()]*)\)", r"\1", solution(catalog))
    assert changes == 1
    return text


def test_from_the_first_visit_to_a_pass_by_keyboard_alone(
    page: Page, server: Server, catalog: Catalog
) -> None:
    press(page, page.get_by_role("link", name="Practise v1"))
    press(page, button(page, "Start with the stub"))
    write(page, solution(catalog))
    page.keyboard.press("Control+S")
    expect(page.locator("#saved")).to_have_text("Saved")
    assert (server.folder / V1).read_text() == solution(catalog)
    page.keyboard.press("Escape")
    expect(button(page, "Grade")).to_be_focused()
    tab_to(page, editor(page))
    page.keyboard.press("Control+Enter")
    expect(page.locator("#result h1")).to_have_text("✓ Passed")
    page.keyboard.press("Escape")  # in the editor Tab indents; Esc leaves it, and the focus goes round
    tab_to(page, button(page, "Next step of help"))
    page.goto(page.url)
    expect(page.locator("#result h1")).to_have_text("✓ Passed")
    press(page, button(page, "Show the solution"))
    expect(page.locator("#solution pre")).to_be_focused()


def test_a_wrong_answer_is_told_with_its_line_marked(page: Page, catalog: Catalog) -> None:
    begin(page, "v1")
    write(page, wrong(catalog))
    button(page, "Grade").click()
    expect(page.locator("#result")).to_contain_text("scale_by_dk")
    marker = page.locator(".cm-lint-marker-error")
    expect(marker).to_have_count(1)
    lines = zip(wrong(catalog).splitlines(), solution(catalog).splitlines(), strict=True)
    line = next(number for number, (mine, right) in enumerate(lines, 1) if mine != right)
    place = marker.evaluate("e => e.getBoundingClientRect().top")
    numbers = page.locator(".cm-lineNumbers .cm-gutterElement").all()
    beside = [
        n.inner_text() for n in numbers if abs(n.evaluate("e => e.getBoundingClientRect().top") - place) < 12
    ]
    assert str(line) in beside
    marker.hover()
    expect(page.locator(".cm-tooltip")).to_contain_text("scores are divided by hidden_dim")


def test_an_answer_is_run_and_mended_in_steps(page: Page, catalog: Catalog, server: Server) -> None:
    begin(page, "v1")
    write(page, wrong(catalog))
    button(page, "Run on an example").click()
    expect(page.locator("#trial-result")).to_contain_text("It returned a Tensor")
    expect(page.locator("#trial-result h2")).to_be_focused()
    assert (server.folder / V1).read_text() == wrong(catalog)
    button(page, "Grade").click()
    expect(page.locator("#result")).to_contain_text("Not passed yet")
    button(page, "Show it by hand, with small numbers").click()
    expect(page.locator("#paper")).to_contain_text("your code gave")
    expect(page.locator("#paper h2")).to_be_focused()
    button(page, "Next step of help").click()
    expect(page.locator("#hints")).to_contain_text("How to mend it")
    button(page, "Next step of help").click()
    expect(page.locator("#hints")).to_contain_text("Hint 1 of")


def test_two_tabs_and_an_editor_lose_nothing(page: Page, context: BrowserContext, server: Server) -> None:
    begin(page, "v1")
    other = context.new_page()
    other.goto(page.url)
    write(other, "mine = 1\n")
    button(other, "Save").click()
    expect(other.locator("#saved")).to_have_text("Saved")
    expect(page.locator(".cm-content")).to_contain_text("mine = 1")  # nothing was edited there: it follows
    write(page, "first = 1\n")
    (server.folder / V1).write_text("outside = 1\n")
    button(page, "Save").click()
    expect(page.locator("#conflict")).to_be_visible()
    assert (server.folder / V1).read_text() == "outside = 1\n"
    button(page, "Keep mine, and the other beside it").click()
    expect(page.locator("#conflict")).to_be_hidden()
    assert sorted(path.read_text() for path in server.folder.iterdir()) == ["first = 1\n", "outside = 1\n"]


def test_tabs_share_one_stream(page: Page, context: BrowserContext) -> None:
    begin(page, "v1")
    streams: list[str] = []
    context.on(
        "request", lambda asked: streams.append(asked.url) if asked.url.endswith("/progress") else None
    )
    tabs = [page, *(context.new_page() for _ in range(3))]
    for tab in tabs[1:]:
        tab.goto(page.url)
        editor(tab)
    for tab in tabs:
        tab.evaluate("document.getElementById('result').textContent = ''")
        tab.evaluate("document.getElementById('grade').click()")
    for tab in tabs:
        expect(tab.locator("#result h1")).to_have_text("Not finished yet")
    assert 1 <= len(streams) <= len(tabs)


def test_an_interview_outlives_its_page_and_its_server(page: Page, server: Server, catalog: Catalog) -> None:
    page.get_by_role("link", name="Interview", exact=True).click()
    page.get_by_role("link", name="v1 ·").click()
    button(page, "Start the clock").click()
    expect(page.get_by_role("timer")).to_be_visible()
    button(page, first_question(page)).click()
    write(page, wrong(catalog))
    button(page, "Save").click()
    expect(page.locator("#saves")).to_contain_text("1 saved")
    page.reload()
    expect(editor(page)).to_contain_text("class SelfAttentionV1")
    assert server.end(signal.SIGKILL) == -signal.SIGKILL
    enter(page, server.start())
    page.get_by_role("link", name="Back to it").click()
    expect(editor(page)).to_contain_text("class SelfAttentionV1")
    write(page, solution(catalog))
    button(page, "Hand in").click()
    button(page, "Do it").click()
    for _ in range(3):
        page.get_by_role("textbox", name=re.compile("^Your answer; about")).fill("because")
        button(page, "Answer").click()
        page.get_by_role("checkbox").first.check()
        button(page, "Go on").click()
    expect(page.locator("h1").first).to_have_text(re.compile("yes", re.IGNORECASE))
    slider = page.get_by_role("slider")
    slider.focus()
    slider.press("Home")
    expect(page.locator(".slider [role=status]")).to_have_text("The file as it was handed over")
    slider.press("ArrowRight")
    expect(page.locator(".slider code")).to_have_text(wrong(catalog))


def first_question(page: Page) -> str:
    return page.locator("[data-ask]").first.inner_text()


def test_nothing_of_the_candidates_is_run_in_the_page(page: Page, server: Server) -> None:
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    begin(page, "v1")
    (server.folder / V1).write_text(HOSTILE, encoding="utf-8")
    page.reload()
    button(page, "Grade").click()
    expect(page.locator("#result h1")).to_be_visible()
    page.reload()
    expect(page.locator("#result")).to_contain_text("<script>window.hacked")
    assert page.evaluate("window.hacked") is None
    assert page.locator("img, svg[onload], script:not([src])").count() == 0


def test_the_end_is_ctrl_c(server: Server) -> None:
    assert server.end(signal.SIGINT) == 0


def listening(port: int) -> list[str]:
    """The addresses that something listens on at the port, as the kernel writes them."""
    tables = [Path("/proc/net/tcp"), Path("/proc/net/tcp6")]
    rows = [row.split() for table in tables if table.exists() for row in table.read_text().splitlines()[1:]]
    return [row[1].rpartition(":")[0] for row in rows if row[1].endswith(f":{port:04X}") and row[3] == "0A"]


def test_it_listens_on_this_machine_only(server: Server) -> None:
    port = int(re.findall(r":(\d+)/", server.address)[0])
    assert listening(port) == ["0100007F"]
