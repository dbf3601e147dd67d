"""The report as HTML and Markdown: self-contained, balanced, and deaf to what a candidate writes into it."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from pathlib import Path
from typing import ClassVar

import pytest
from markdown_it import MarkdownIt
from msgspec.structs import replace

from grader.catalog import Kata
from grader.records import (
    AttentionMap,
    CheckRecord,
    Diagnosis,
    Grade,
    Note,
    Printed,
    ShapeComment,
    SourceRecord,
    TraceStep,
)
from grader.report.context import ReportContext
from grader.report.render import FORMATS, Format, Renderer, render
from grader.report.sections import Section
from grader.report.view import View, build_view

VOID = {"meta", "br", "circle", "hr", "img", "input", "link"}
VERDICTS = ("failing", "passing", "unrunnable", "grader_error", "consistent")


class Outline(HTMLParser):
    """Reads a page: its tags in order, whether they are balanced, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text: list[str] = []
        self.wrong: list[str] = []
        self.feed(page)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open.pop() != tag:
            self.wrong.append(tag)

    def handle_data(self, data: str) -> None:
        if "style" not in self.open:
            self.text.append(data)

    def names(self) -> list[str]:
        return [tag for tag, _ in self.tags]

    def said(self) -> str:
        return " ".join("".join(self.text).split())


@pytest.fixture(params=VERDICTS)
def any_view(request: pytest.FixtureRequest, kata: Kata, context: ReportContext) -> View:
    grade: Grade = request.getfixturevalue(request.param)
    return build_view(grade, kata, replace(context, show_printed=True, questions=("Why?",), next_kata="v4"))


def hostile(grade: Grade, text: str) -> Grade:
    """The grade with the text everywhere a candidate could have put one."""
    check = CheckRecord(
        id="x",
        concept="scale",
        title=text,
        status="failed",
        message=text,
        expected=text,
        actual=text,
        why=text,
        line=1,
    )
    skipped = CheckRecord(id="y", concept="scale", title=text, status="not_reached", message=text)
    passed = CheckRecord(id="z", concept="scale", title=text, status="passed")
    return replace(
        grade,
        reason=text,
        checks=(check, skipped, passed),
        diagnosis=(
            Diagnosis(
                mistakes=(text,),
                concept="scale",
                sentence=text,
                fix=text,
                why=text,
                line=1,
                certainty="consistent",
                alternatives=((text,),),
            ),
        ),
        notes=(Note(id="n", text=text, line=1),),
        trace=(TraceStep(line=1, call=text, inputs=((1,),), output=(1,)),),
        shape_comments=(ShapeComment(line=1, text=text, claimed=(text,), actual=(1,), right=False),),
        maps=(AttentionMap(title=text, expected=((1.0,),), actual=((None,),)),),
        printed=Printed(text=text),
        source=SourceRecord(name=text, sha256="", text=f"name = '{text}'"),
    )


def hostile_context(text: str) -> ReportContext:
    return ReportContext(hints=(text,), when=text, command=text, file=text, show_printed=True, verbose=True)


@pytest.mark.parametrize("format", FORMATS)
def test_every_verdict_is_rendered_in_every_format(any_view: View, format: Format) -> None:  # noqa: A002
    page = render(any_view, format)

    assert page.strip()
    assert "20481" in page
    said = Outline(page).said() if format == "html" else page
    assert "None" not in re.sub(r"attention_mask=None|is not None", "", said)


def test_the_page_is_balanced_html(any_view: View) -> None:
    outline = Outline(render(any_view, "html"))

    assert outline.wrong == []
    assert outline.open == []


def test_the_page_loads_nothing_and_runs_nothing(any_view: View) -> None:
    page = render(any_view, "html")
    outline = Outline(page)

    assert "://" not in page
    assert "url(" not in page
    assert "@import" not in page
    assert not {"script", "link", "img", "iframe", "object", "form"} & set(outline.names())
    assert not [
        name
        for _, attrs in outline.tags
        for name in attrs
        if name.startswith("on") or name in ("src", "href")
    ]
    policy = next(attrs["content"] for tag, attrs in outline.tags if attrs.get("http-equiv"))
    assert policy == "default-src 'none'; style-src 'unsafe-inline'"


def test_the_page_is_made_for_dark_rooms_paper_phones_and_readers(failing: Grade, kata: Kata) -> None:
    page = render(build_view(failing, kata), "html")
    outline = Outline(page)

    for rule in ("prefers-color-scheme: dark", "prefers-reduced-motion", "@media print", "max-width: 640px"):
        assert rule in page
    assert ("html", {"lang": "en"}) in outline.tags
    assert any(attrs.get("name") == "viewport" for _, attrs in outline.tags)
    assert outline.names().count("h1") == 1
    labelled = [attrs.get("aria-labelledby") for tag, attrs in outline.tags if tag == "section"]
    ids = [attrs["id"] for _, attrs in outline.tags if "id" in attrs]
    assert set(labelled) <= set(ids)
    assert len(ids) == len(set(ids))
    assert all(attrs.get("aria-label") for _, attrs in outline.tags if attrs.get("role") == "img")


def test_the_diagnosis_is_read_before_everything_else(failing: Grade, kata: Kata) -> None:
    said = Outline(render(build_view(failing, kata), "html")).said()
    order = [
        said.index(words)
        for words in (
            "Not passed yet",
            "instead of √hidden_dim (4).",
            "Divide by the root",
            "Your attention, measured",
            "Points by concept",
            "2 failed checks",
            "1 not reached",
            "13 checks passed",
            "What ran here",
        )
    ]

    assert order == sorted(order)


def test_two_thirds_of_a_failing_report_are_about_the_mistake(failing: Grade, kata: Kata) -> None:
    text = render(build_view(failing, kata), "text")
    about = text[text.index("What went wrong") : text.index("Worth knowing")]

    assert len(about) > len(text) * 2 / 3
    assert "Builds with a given width" not in text


def test_the_map_says_its_numbers_on_hover(failing: Grade, kata: Kata) -> None:
    outline = Outline(render(build_view(failing, kata), "html"))
    titles = [attrs["title"] or "" for tag, attrs in outline.tags if tag == "td" and "title" in attrs]

    assert len(titles) == 2 * 36
    assert "query 1 → key 0: 0.383, expected 0.858" in titles
    assert "query 0 → key 4: 0.000 (hidden by the mask)" in titles


def test_the_blamed_line_is_marked_in_the_excerpt_and_in_the_code(failing: Grade, kata: Kata) -> None:
    outline = Outline(render(build_view(failing, kata), "html"))

    blamed = [tag for tag, attrs in outline.tags if "blamed" in (attrs.get("class") or "").split()]
    assert blamed == ["span", "tr"]


def test_a_shape_comment_is_held_against_the_truth(failing: Grade, kata: Kata) -> None:
    said = Outline(render(build_view(failing, kata), "html")).said()

    assert "✓ your shape comment is true" in said
    assert "✕ your comment says (batch, seq_len, hidden_dim), it was (3, 6, 6)" in said


def test_text_between_backticks_is_code(unrunnable: Grade, kata: Kata) -> None:
    page = render(build_view(unrunnable, kata), "html")

    assert "there is no module <code>torhc</code>." in page


@pytest.mark.parametrize("format", FORMATS)
def test_a_fault_of_the_grader_never_blames_the_candidate(
    grader_error: Grade,
    kata: Kata,
    context: ReportContext,
    format: Format,  # noqa: A002
) -> None:
    page = render(build_view(grader_error, kata, context), format).lower()

    assert "the grader failed, not you" in page
    assert "your mistake" not in page
    assert "went wrong" not in page
    assert "kata doctor" in page


@pytest.mark.parametrize("format", FORMATS)
def test_without_a_diagnosis_the_failed_checks_are_pointed_to(
    failing: Grade,
    kata: Kata,
    format: Format,  # noqa: A002
) -> None:
    page = " ".join(render(build_view(replace(failing, diagnosis=()), kata), format).split())

    assert "No mistake known to us explains all of it; the failed checks below show what is not right" in page


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "</code></pre></style><script>alert(1)</script>",
        "' onmouseover='alert(1)",
        '" onmouseover="alert(1)',
        "`<img src=x onerror=alert(1)>`",
        "{{ 7 * 7 }}{% raw %}",
        "]]><!--",
    ],
)
def test_markup_of_a_candidate_arrives_as_text_in_html(failing: Grade, kata: Kata, text: str) -> None:
    page = render(build_view(hostile(failing, text), kata, hostile_context(text)), "html")
    clean = Outline(
        render(build_view(hostile(failing, "harmless"), kata, hostile_context("harmless")), "html")
    )
    outline = Outline(page)

    assert "script" not in outline.names()
    assert "img" not in outline.names()
    assert outline.wrong == []
    assert outline.names().count("section") == clean.names().count("section")
    assert not [name for _, attrs in outline.tags for name in attrs if name.startswith("on")]
    assert text.replace("`", "") in "".join(outline.text)


@pytest.mark.parametrize(
    "text",
    [
        "<script>alert(1)</script>",
        "```\n# out\n````\n<b>",
        "[x](javascript:alert(1)) ![](x)",
        "# heading\n\n- item",
        "`` ` ``` tick",
    ],
)
def test_markup_of_a_candidate_arrives_as_text_in_markdown(failing: Grade, kata: Kata, text: str) -> None:
    def structure(words: str) -> list[str]:
        page = render(build_view(hostile(failing, words), kata, hostile_context(words)), "md")
        return [token.type for token in MarkdownIt("commonmark").enable("table").parse(page)]

    page = render(build_view(hostile(failing, text), kata, hostile_context(text)), "md")
    tokens = MarkdownIt("commonmark").enable("table").parse(page)
    inline = {child.type for token in tokens for child in token.children or []}

    assert structure(text) == structure("harmless")
    assert "html_block" not in structure(text)
    assert not {"html_inline", "link_open", "image"} & inline


@pytest.mark.parametrize("format", FORMATS)
def test_control_characters_of_a_candidate_reach_no_format(
    failing: Grade,
    kata: Kata,
    format: Format,  # noqa: A002
) -> None:
    text = "a\x1b[31mb\rc\u202ed\x02bold\x03e\x04\x00\x05\tf\x9b"
    page = render(build_view(hostile(failing, text), kata, hostile_context(text)), format)

    assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", page)
    assert "␛[31mb" in page


def test_one_renderer_serves_many_reports_and_widths(failing: Grade, passing: Grade, kata: Kata) -> None:
    renderer = Renderer()

    for grade in (failing, passing, failing):
        view = build_view(grade, kata)
        for format in FORMATS:  # noqa: A001
            assert renderer.render(view, format) == render(view, format)
        assert renderer.text(view, 120) != renderer.text(view, 60)


def test_another_folder_of_templates_can_add_a_section(tmp_path: Path) -> None:
    class Timeline(Section):
        kind: ClassVar[str] = "timeline"

        saves: int

    (tmp_path / "html").mkdir()
    (tmp_path / "html" / "timeline.j2").write_text("<p>{{ section.saves }} saves</p>")
    (tmp_path / "report.html.j2").write_text(
        '{% for section in view.sections %}{% include "html/" ~ section.kind ~ ".j2" %}{% endfor %}'
    )
    view = View(title="t", tone="calm", sections=(Timeline(saves=4),))

    assert render(view, "html", templates=tmp_path) == "<p>4 saves</p>"


def test_every_section_has_a_template_in_every_format() -> None:
    templates = Path(__file__).resolve().parents[2] / "templates"

    for section in Section.__subclasses__():
        if section.__module__ == Section.__module__:
            for folder in ("html", "md", "txt"):
                assert (templates / folder / f"{section.kind}.j2").is_file(), (section.kind, folder)


@pytest.mark.parametrize("verdict", VERDICTS)
def test_no_heading_of_a_table_is_empty(request: pytest.FixtureRequest, kata: Kata, verdict: str) -> None:
    page = render(build_view(request.getfixturevalue(verdict), kata), "html")
    assert not re.search(r"<th[^>]*>\s*</th>", page)


def test_what_differs_by_much_is_outlined_above_the_fill(failing: Grade, kata: Kata) -> None:
    page = render(build_view(failing, kata), "html")
    [rule] = re.findall(r"\.heat td\.far \{([^}]*)\}", page)
    assert "outline:" in rule  # an inner shadow lies below the fill, which is a child of the cell
    assert "darker" not in page  # in the dark scheme more weight is lighter
