"""Nobody but our own pages is answered: no other site, no other name of this machine, no other program."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import httpx2 as httpx
import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from grader.history import History
from grader.web.gate import MAX_BODY, Keys
from tests.web.conftest import PORT, Browser

PAGES = (
    "/",
    "/katas/v1",
    "/history",
    "/statistics",
    "/interview",
    "/progress",
    "/static/page.js",
    "/nowhere",
)
START = "4f0c9c3e-0000-4000-8000-000000000000"
WRITES = (
    ("POST", "/katas/v1/start"),
    ("POST", "/katas/v1/reset"),
    ("POST", "/katas/v1/hint"),
    ("POST", "/answers/00000000-0000-4000-8000-000000000000/run"),
    ("POST", "/katas/v1/solution"),
    ("PUT", f"/answers/{START}"),
    ("POST", "/gradings"),
    ("POST", f"/gradings/{START}/cancel"),
    ("POST", "/interview/begin"),
    ("POST", "/interview/submit"),
    ("DELETE", "/"),
)
FOREIGN = (
    {"host": "localhost:8765"},
    {"host": "evil.example:8765"},
    {"host": "127.0.0.1"},
    {"host": "127.0.0.1:8766"},
    {"host": "127.0.0.1:8765.evil.example"},
    {"origin": "http://evil.example"},
    {"origin": "null"},
    {"origin": "http://127.0.0.1:8766"},
    {"origin": "http://localhost:8765"},
    {"origin": "https://127.0.0.1:8765"},
    {"sec-fetch-site": "cross-site"},
    {"sec-fetch-site": "same-site"},
)


def test_the_token_is_traded_for_a_cookie_that_is_for_us_alone(client: TestClient, keys: Keys) -> None:
    answer = client.get(f"/?token={keys.token}", follow_redirects=False)
    assert answer.status_code == 303
    assert answer.headers["location"] == "/enter"
    name, *attributes = answer.headers["set-cookie"].split("; ")
    assert name == f"kata-{PORT}={keys.cookie}"
    assert sorted(word.lower() for word in attributes) == ["httponly", "path=/", "samesite=strict"]
    assert keys.token not in answer.headers["set-cookie"]
    assert client.get("/").status_code == 200


def test_the_way_in_may_be_a_link_of_a_local_file(client: TestClient, keys: Keys) -> None:
    headers = {"sec-fetch-site": "cross-site"}
    assert client.get(f"/?token={keys.token}", headers=headers, follow_redirects=False).status_code == 303
    answer = client.get("/enter", headers=headers)
    assert answer.status_code == 200
    assert keys.write not in answer.text


@pytest.mark.parametrize("query", ["token=", "token=wrong", "token=a&token=b", "token=%00", "token=%ff%fe"])
def test_another_token_is_refused(client: TestClient, query: str) -> None:
    answer = client.get(f"/?{query}", follow_redirects=False)
    assert answer.status_code == 403
    assert "set-cookie" not in answer.headers


def test_the_right_token_twice_is_no_token(client: TestClient, keys: Keys) -> None:
    answer = client.get(f"/?token={keys.token}&token=x", follow_redirects=False)
    assert answer.status_code == 403


@pytest.mark.parametrize("path", PAGES)
def test_without_the_cookie_nothing_is_shown(client: TestClient, path: str) -> None:
    assert client.get(path).status_code == 403


@pytest.mark.parametrize("cookie", ["kata-8766=%s", "kata=%s", "kata-8765=x%s", "kata-8765=", "=;,\x01"])
def test_another_cookie_is_none(client: TestClient, keys: Keys, cookie: str) -> None:
    value = cookie.replace("%s", keys.cookie)
    assert client.get("/", headers={"cookie": value}).status_code == 403


def test_cookies_of_other_servers_of_this_machine_are_no_matter(client: TestClient, keys: Keys) -> None:
    others = f'a="b; c=\x01; kata-{PORT}=theirs; {{}}=1; ;; kata-{PORT}={keys.cookie}; last'
    assert client.get("/", headers={"cookie": others}).status_code == 200


@pytest.mark.parametrize("headers", FOREIGN, ids=str)
@pytest.mark.parametrize("path", ["/", "/progress", "/static/page.js", f"/answers/{START}"])
def test_a_foreign_reader_is_refused_before_anything_is_routed(
    browser: Browser, path: str, headers: dict[str, str]
) -> None:
    assert browser.get(path, **headers).status_code == 403


@pytest.mark.parametrize("name", ["host", "origin"])
def test_a_header_that_comes_twice_is_refused(browser: Browser, name: str) -> None:
    right = {"host": f"127.0.0.1:{PORT}", "origin": browser.keys.origin}[name]
    request = browser.client.build_request("GET", "/")
    request.headers = httpx.Headers([*request.headers.multi_items(), (name, right), (name, right)])
    assert browser.client.send(request).status_code == 403


@pytest.mark.parametrize(("method", "path"), WRITES)
@pytest.mark.parametrize(
    "changed",
    [
        {"x-kata-token": None},
        {"x-kata-token": "wrong"},
        {"origin": None},
        *({**foreign} for foreign in FOREIGN),
    ],
    ids=str,
)
def test_a_foreign_writer_is_refused(
    browser: Browser, folder: Path, method: str, path: str, changed: dict[str, str | None]
) -> None:
    headers = {name: value for name, value in {**browser.headers, **changed}.items() if value is not None}
    assert browser.client.request(method, path, headers=headers, content=b"{}").status_code == 403
    assert list(folder.iterdir()) == []


def test_the_cookie_alone_writes_nothing(client: TestClient, browser: Browser, folder: Path) -> None:
    assert client.post("/katas/v1/start", headers={"origin": browser.keys.origin}).status_code == 403
    assert client.post("/katas/v1/start", data={"blank": "true"}).status_code == 403
    assert list(folder.iterdir()) == []


def test_there_is_no_websocket(browser: Browser) -> None:
    with pytest.raises(WebSocketDisconnect), browser.client.websocket_connect("/progress"):
        pass


def pieces(size: int) -> Iterator[bytes]:
    for _ in range(size // 1024 + 1):
        yield b"#" * 1024


@pytest.mark.parametrize("chunked", [False, True])
def test_a_body_over_the_bound_is_not_read_on(browser: Browser, chunked: bool) -> None:
    start = browser.begin("v1")
    text, seen = browser.text(start)
    body = pieces(MAX_BODY) if chunked else b"#" * (MAX_BODY + 1)
    headers = {**browser.headers, "if-match": f'"{seen}"'}
    answer = browser.client.put(f"/answers/{start}", content=body, headers=headers)
    assert answer.status_code == 413
    assert browser.text(start) == (text, seen)


@pytest.mark.parametrize(
    "path", ["/", "/katas/v1", "/static/page.js", "/nowhere", "/katas/zz", "/enter", "/?token=x"]
)
def test_every_answer_has_the_headers_that_keep_the_browser_in(browser: Browser, path: str) -> None:
    answer = browser.get(path)
    policy = answer.headers["content-security-policy"]
    directives = dict(part.strip().split(" ", 1) for part in policy.split(";"))
    assert directives["default-src"] == "'none'"
    assert directives["script-src"] == "'self'"
    assert directives["frame-ancestors"] == directives["base-uri"] == directives["form-action"] == "'none'"
    assert "unsafe" not in policy.replace("style-src-attr 'unsafe-inline'", "")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["cross-origin-resource-policy"] == "same-origin"
    assert answer.headers["cache-control"] == "no-store"


def test_each_page_has_a_nonce_of_its_own(browser: Browser) -> None:
    nonces = set()
    for _ in range(3):
        answer = browser.get("/")
        [nonce] = re.findall(r"'nonce-([\w-]+)'", answer.headers["content-security-policy"])
        assert f'<style nonce="{nonce}">' in answer.text
        nonces.add(nonce)
    assert len(nonces) == 3


def test_no_page_asks_anybody_else(browser: Browser) -> None:
    browser.grade(browser.begin("v1"))
    for path in ("/", "/katas/v1", "/history", "/statistics", "/interview"):
        assert re.findall(r"(?:src|href|action)=\"(?!/|#|data:,|\")([^\"]*)", browser.get(path).text) == []


def test_a_report_is_in_a_sandbox(browser: Browser, remembered: History) -> None:
    browser.grade(browser.begin("v1"))
    [attempt] = remembered.attempts()
    policy = browser.get(f"/history/{attempt.uuid}").headers["content-security-policy"]
    assert policy.split(";")[0] == "sandbox"
    assert "script-src" not in policy


@pytest.mark.parametrize(
    "path", ["/static/../page.css", "/static/%2e%2e/page.css", "/static/..%2fpage.css", "/static/"]
)
def test_static_files_are_those_of_one_folder(browser: Browser, path: str) -> None:
    assert browser.get(path).status_code == 404
