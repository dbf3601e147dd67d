"""The candidate's file through the page: by the id of its start, never through a link, and never lost."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import pytest

from grader.history import History
from tests.web.conftest import Browser

V1 = "self_attention_v1.py"


def kept_beside(folder: Path) -> list[str]:
    """The texts of the backups."""
    return sorted(path.read_text() for path in folder.iterdir() if path.name != V1)


def test_a_start_puts_the_stub_there_and_a_save_replaces_it(browser: Browser, folder: Path) -> None:
    start = browser.begin("v1")
    text, seen = browser.text(start)
    assert (folder / V1).read_text() == text
    answer = browser.save(start, "mine\n", seen)
    assert answer.status_code == 200
    assert (folder / V1).read_text() == "mine\n"
    assert browser.text(start) == ("mine\n", answer.json()["sha256"])
    assert kept_beside(folder) == []


def test_line_ends_and_mode_stay_as_they_were(browser: Browser, folder: Path) -> None:
    start = browser.begin("v1")
    (folder / V1).chmod(0o640)
    browser.write(start, "a\r\nb\r\n")
    assert (folder / V1).read_bytes() == b"a\r\nb\r\n"
    assert (folder / V1).stat().st_mode & 0o777 == 0o640


def test_a_change_from_outside_is_never_overwritten(browser: Browser, folder: Path) -> None:
    start = browser.begin("v1")
    _, seen = browser.text(start)
    (folder / V1).write_text("theirs\n")
    answer = browser.save(start, "mine\n", seen)
    assert answer.status_code == 412
    assert "changed by another program" in answer.json()["message"]
    assert (folder / V1).read_text() == "theirs\n"


def test_who_keeps_their_own_text_keeps_the_other_beside_it(browser: Browser, folder: Path) -> None:
    start = browser.begin("v1")
    (folder / V1).write_text("theirs\n")
    answer = browser.save(start, "mine\n", "*")
    assert answer.status_code == 200
    assert (folder / V1).read_text() == "mine\n"
    assert (folder / answer.json()["backup"]).read_text() == "theirs\n"


def test_tabs_that_save_at_once_lose_nothing(browser: Browser) -> None:
    start = browser.begin("v1")
    _, seen = browser.text(start)
    answers = []
    tabs = [
        threading.Thread(
            target=lambda n=n: answers.append(browser.save(start, f"tab {n}\n", seen).status_code)
        )
        for n in range(8)
    ]
    for tab in tabs:
        tab.start()
    for tab in tabs:
        tab.join()
    assert sorted(answers) == [200] + [412] * 7


def test_the_page_hears_of_a_change_without_the_text_where_there_is_none(
    browser: Browser, folder: Path
) -> None:
    start = browser.begin("v1")
    _, seen = browser.text(start)
    assert browser.get(f"/answers/{start}", **{"if-none-match": f'"{seen}"'}).status_code == 304
    (folder / V1).write_text("theirs\n")
    assert browser.get(f"/answers/{start}", **{"if-none-match": f'"{seen}"'}).text == "theirs\n"


def test_a_reset_keeps_the_work(browser: Browser, folder: Path) -> None:
    start = browser.begin("v1")
    stub = browser.text(start)[0]
    browser.write(start, "mine\n")
    assert browser.post("/katas/v1/reset").status_code == 200
    assert (folder / V1).read_text() == stub
    assert kept_beside(folder) == ["mine\n"]


@pytest.mark.parametrize("name", ["unknown", "%2e%2e%2fetc%2fpasswd", "/etc/passwd"])
def test_a_file_has_no_other_name_than_the_id_of_its_start(browser: Browser, name: str) -> None:
    assert browser.get(f"/answers/{name}").status_code in (400, 404)


def test_a_link_in_the_place_of_the_file_is_not_followed(
    browser: Browser, folder: Path, tmp_path: Path
) -> None:
    secret = tmp_path / "secret.py"
    secret.write_text("secret\n")
    start = browser.begin("v1")
    _, seen = browser.text(start)
    (folder / V1).unlink()
    (folder / V1).symlink_to(secret)
    answers = [
        browser.get(f"/answers/{start}"),
        browser.save(start, "mine\n", seen),
        browser.save(start, "mine\n", "*"),
        browser.post("/gradings", id="0" * 36, work=start),
        browser.post("/katas/v1/reset"),
    ]
    assert [answer.status_code for answer in answers] == [422, 422, 422, 422, 400]
    assert "secret" not in "".join(answer.text for answer in answers).replace("secret.py", "")
    assert secret.read_text() == "secret\n"
    assert browser.get("/katas/v1").status_code == 200


def test_a_link_in_the_place_of_the_folder_is_not_followed(
    browser: Browser, folder: Path, tmp_path: Path
) -> None:
    start = browser.begin("v1")
    _, seen = browser.text(start)
    folder.rename(tmp_path / "moved")
    folder.symlink_to(tmp_path / "moved")
    assert browser.get(f"/answers/{start}").status_code == 400
    assert browser.save(start, "mine\n", seen).status_code == 400


def test_a_start_of_anything_else_than_python_is_not_opened(
    browser: Browser, folder: Path, remembered: History
) -> None:
    """An imported history may name any path."""
    (folder / ".profile").write_text("export A=1\n")
    start = remembered.record_start("v1", folder / ".profile", "found")
    assert browser.get(f"/answers/{start.uuid}").status_code == 400
    assert browser.save(start.uuid, "mine\n", "*").status_code == 400
    assert (folder / ".profile").read_text() == "export A=1\n"


def test_a_file_that_cannot_be_read_is_said_on_its_page(browser: Browser, folder: Path) -> None:
    start = browser.begin("v1")
    (folder / V1).write_bytes(b"\xff\xfe")
    assert browser.get(f"/answers/{start}").status_code == 400
    (folder / V1).unlink()
    os.mkfifo(folder / V1)
    assert "Begin" in browser.get("/katas/v1").text


def test_a_text_that_is_not_utf8_is_refused(browser: Browser, folder: Path) -> None:
    start = browser.begin("v1")
    text, seen = browser.text(start)
    assert browser.save(start, b"\xff", seen).status_code == 400
    assert (folder / V1).read_text() == text
