"""Who may speak to the server. Every request passes here first, before anything is routed or read.

The address with the token is what the user was given; it is traded for a cookie that no script can read and
no other site's page can send. `Host` keeps a name that was bent to this machine out (DNS rebinding), `Origin`
and `Sec-Fetch-Site` other sites' pages; a write needs a second token as well, which only our pages have.
"""

from __future__ import annotations

import hmac
import secrets
from collections.abc import Sequence
from urllib.parse import parse_qs

from starlette.responses import PlainTextResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from grader.records import Record
from grader.snapshot import MAX_SOURCE

HOST = "127.0.0.1"
MAX_BODY = MAX_SOURCE
WRITE_HEADER = "x-kata-token"
ENTRANCE = "/enter"  # shown to whoever has just got the cookie: from there on, our own pages ask

_READS = ("GET", "HEAD")
_OWN_SITES = ("same-origin", "none")
_SECURITY = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
}


class Keys(Record):
    """The secrets of one run, and the port that they are good for."""

    port: int
    token: str  # in the address that is printed
    cookie: str
    write: str  # in every page, for its writes

    @classmethod
    def fresh(cls, port: int) -> Keys:
        token, cookie, write = (secrets.token_urlsafe(32) for _ in range(3))
        return cls(port=port, token=token, cookie=cookie, write=write)

    @property
    def origin(self) -> str:
        return f"http://{HOST}:{self.port}"

    @property
    def address(self) -> str:
        """What the user opens."""
        return f"{self.origin}/?token={self.token}"

    @property
    def cookie_name(self) -> str:
        """Cookies know no ports: another run must not take this one's place."""
        return f"kata-{self.port}"


class Gate:
    """Lets in what comes from our own pages, and puts the same headers on everything that leaves."""

    def __init__(self, app: ASGIApp, keys: Keys) -> None:
        self._app = app
        self._keys = keys

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":  # a WebSocket: there is none here
            await send({"type": "websocket.close", "code": 1008})
            return
        nonce = scope["nonce"] = secrets.token_urlsafe(18)
        leave = _with_headers(send, nonce)
        answer = self._answer(scope)
        if answer is not None:
            await answer(scope, receive, leave)
            return
        body = await _body(receive)
        if body is None:
            await _refused(413, "Too much at once.")(scope, receive, leave)
            return
        await self._app(scope, _once(body, receive), leave)

    def _answer(self, scope: Scope) -> Response | None:
        """A refusal, or the cookie for the token; None for what may go on."""
        found = _Headers(scope)
        if found.all("host") != [f"{HOST}:{self._keys.port}"]:
            return _refused(403, "Not this host.")
        if found.all("origin") not in ([], [self._keys.origin]):
            return _refused(403, "Not this origin.")
        length = found.one("content-length") or "0"
        if not length.isdecimal() or int(length) > MAX_BODY:
            return _refused(413, "Too much at once.")
        reads = scope["method"] in _READS
        if reads and scope["path"] == "/" and b"token=" in scope["query_string"]:
            return self._entering(scope["query_string"])
        if (
            reads and scope["path"] == ENTRANCE
        ):  # says nothing, and may be asked for by whoever sent the token
            return None
        if found.one("sec-fetch-site") not in (None, *_OWN_SITES):
            return _refused(403, "Not from another site.")
        if not self._knows(found.all("cookie")):
            return _refused(403, "Open the address that `kata web` printed.")
        if not reads and not _same(found.one(WRITE_HEADER) or "", self._keys.write):
            return _refused(403, "This page is from another run of `kata web`: load it again.")
        if not reads and found.all("origin") != [self._keys.origin]:
            return _refused(403, "Not this origin.")
        return None

    def _entering(self, query: bytes) -> Response:
        given = parse_qs(query.decode("latin-1")).get("token", [""])
        if len(given) != 1 or not _same(given[0], self._keys.token):
            return _refused(403, "Open the address that `kata web` printed.")
        answer = RedirectResponse(ENTRANCE, 303)
        answer.set_cookie(
            self._keys.cookie_name, self._keys.cookie, path="/", httponly=True, samesite="strict"
        )
        return answer

    def _knows(self, headers: Sequence[str]) -> bool:
        """Whether the cookie is among them. Other servers of this machine may have set some of any form."""
        pairs = (pair.strip().partition("=") for header in headers for pair in header.split(";"))
        given = [value for name, _, value in pairs if name == self._keys.cookie_name]
        return any(_same(value, self._keys.cookie) for value in given)


class _Headers:
    def __init__(self, scope: Scope) -> None:
        self._pairs = [(name.decode("latin-1"), value.decode("latin-1")) for name, value in scope["headers"]]

    def all(self, name: str) -> list[str]:
        return [value for known, value in self._pairs if known == name]

    def one(self, name: str) -> str | None:
        """The value; of a header that comes more than once, all of them, which is no value that is known."""
        values = self.all(name)
        return ", ".join(values) if values else None


def _same(given: str, known: str) -> bool:
    return hmac.compare_digest(given.encode("utf-8", "surrogatepass"), known.encode())


def _refused(status: int, words: str) -> Response:
    return PlainTextResponse(f"{words}\n", status)


def _with_headers(send: Send, nonce: str) -> Send:
    """The same headers for all; an answer's own policy stays."""
    policy = (
        f"default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}';"
        " style-src-attr 'unsafe-inline'; img-src data:; connect-src 'self'; base-uri 'none';"
        " form-action 'none'; frame-ancestors 'none'"
    )

    async def leave(message: Message) -> None:
        if message["type"] == "http.response.start":
            own = {name.lower() for name, _ in message["headers"]}
            added = {**_SECURITY, "content-security-policy": policy}
            message["headers"] = [
                *message["headers"],
                *((n.encode(), v.encode()) for n, v in added.items() if n.encode() not in own),
            ]
        await send(message)

    return leave


async def _body(receive: Receive) -> bytes | None:
    """All of a request's body; None where it is over the bound, or its sender has gone."""
    parts = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return None
        parts += message.get("body", b"")
        if len(parts) > MAX_BODY:
            return None
        if not message.get("more_body", False):
            return bytes(parts)


def _once(body: bytes, receive: Receive) -> Receive:
    """What was read already, then what else comes: the sender's leaving."""
    left: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> Message:
        return left.pop() if left else await receive()

    return again
