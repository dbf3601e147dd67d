"""Which address is what, and what becomes of an error."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Awaitable, Callable

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp

from grader.errors import GraderFault, KataError
from grader.snapshot import UnreadableSubmission
from grader.web.deeds import Deeds
from grader.web.desk import Costs, Desk, World
from grader.web.gate import ENTRANCE, Gate, Keys
from grader.web.gradings import Gradings
from grader.web.interviews import Interviews
from grader.web.pages import Pages
from grader.web.views import Asked, Views, answer

Handler = Callable[[Asked], Response]
Errand = Callable[[Asked], Callable[[], Response]]
Refusal = Callable[[Asked, int, dict[str, str]], Response]
Endpoint = Callable[[Request], Awaitable[Response]]


class Doors:
    """Makes a page, a deed or an errand into an endpoint, its errors made into answers."""

    def __init__(self, desk: Desk, views: Views) -> None:
        self._desk = desk
        self._views = views

    def page(self, show: Handler) -> Endpoint:
        """An error is a page, too."""
        return self._endpoint(show, self._error_page)

    def deed(self, do: Handler) -> Endpoint:
        """An error is told to the page that asked."""
        return self._endpoint(do, _refused)

    def errand(self, prepare: Errand) -> Endpoint:
        """A deed that takes its time: prepared at the desk's thread, done in another."""

        async def do(asked: Asked) -> Response:
            return await asyncio.to_thread(await self._desk.do(lambda: prepare(asked)))

        return self._answered(do, _refused)

    def _endpoint(self, handle: Handler, refuse: Refusal) -> Endpoint:
        return self._answered(lambda asked: self._desk.do(lambda: handle(asked)), refuse)

    def _answered(self, handle: Callable[[Asked], Awaitable[Response]], refuse: Refusal) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            asked = Asked(
                path=dict(request.path_params),
                query=dict(request.query_params),
                headers=dict(request.headers),
                body=await request.body(),
                nonce=request.scope["nonce"],
            )
            try:
                return await handle(asked)
            except Costs as cost:
                return answer(409, cost=cost.message)
            except KataError as problem:
                status = 500 if isinstance(problem, GraderFault) else 400
                status = 422 if isinstance(problem, UnreadableSubmission) else status
                return refuse(asked, status, {"message": problem.message, "fix": problem.fix})
            except Exception as error:  # noqa: BLE001 -- the last resort, for what is our fault
                return refuse(asked, 500, {"message": self._desk.world.fault(error), "fix": ""})

        return endpoint

    def _error_page(self, asked: Asked, status: int, values: dict[str, str]) -> Response:
        return self._views.page("error", asked, status=status, **values)


def _refused(_: Asked, status: int, values: dict[str, str]) -> Response:
    return answer(status, **values)


def make_app(world: World, keys: Keys, ending: threading.Event) -> ASGIApp:
    """The whole server, behind its gate. When it is `ending`, no stream is kept open."""
    desk, views = Desk(world), Views(world.catalog.templates, keys)
    gradings = Gradings(desk, ending)
    doors = Doors(desk, views)
    pages, deeds = Pages(desk, views), Deeds(desk, views, gradings)
    interviews = Interviews(desk, views)

    async def progress(_: Request) -> Response:
        return StreamingResponse(_events(gradings), media_type="text/event-stream")

    async def enter(request: Request) -> Response:
        return views.page("enter", Asked(nonce=request.scope["nonce"]))

    async def missing(request: Request, _: Exception) -> Response:
        return views.page("missing", Asked(nonce=request.scope["nonce"]), status=404)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        await desk.do(views.prepare)
        yield
        gradings.close()
        interviews.close()
        desk.close()

    def get(path: str, handler: Handler) -> Route:
        return Route(path, doors.page(handler), methods=["GET"])

    def ask(path: str, handler: Handler) -> Route:
        return Route(path, doors.deed(handler), methods=["GET"])

    def post(path: str, handler: Handler) -> Route:
        return Route(path, doors.deed(handler), methods=["POST"])

    routes = [
        Route(ENTRANCE, enter, methods=["GET"]),
        get("/", pages.home),
        get("/katas/{kata}", pages.kata),
        post("/katas/{kata}/start", deeds.start),
        post("/katas/{kata}/reset", deeds.reset),
        post("/katas/{kata}/hint", deeds.hint),
        post("/katas/{kata}/solution", deeds.solution),
        ask("/answers/{start}", deeds.text),
        Route("/answers/{start}", doors.deed(deeds.save), methods=["PUT"]),
        Route("/answers/{start}/run", doors.errand(deeds.run), methods=["POST"]),
        post("/gradings", deeds.grade),
        ask("/gradings/{grading}", deeds.graded),
        post("/gradings/{grading}/cancel", deeds.cancel),
        Route("/gradings/{grading}/paper", doors.errand(deeds.paper), methods=["POST"]),
        Route("/progress", progress, methods=["GET"]),
        get("/history", pages.history),
        get("/history/{attempt}", pages.report),
        get("/statistics", pages.statistics),
        get("/interview", interviews.page),
        ask("/interview/state", interviews.state),
        post("/interview/begin", interviews.begin),
        post("/interview/ask", interviews.ask),
        post("/interview/submit", interviews.submit),
        post("/interview/give-up", interviews.give_up),
        post("/interview/abort", interviews.abort),
        post("/interview/next", interviews.go_on),
        post("/interview/again", interviews.again),
        post("/interview/answer", interviews.reply),
        post("/interview/mark", interviews.mark),
        get("/interviews/{interview}", interviews.debrief),
        ask("/interviews/{interview}/saves/{round}/{save}", interviews.save),
        Mount("/static", StaticFiles(directory=world.catalog.templates / "web" / "static")),
    ]
    inside = Starlette(routes=routes, exception_handlers={404: missing}, lifespan=lifespan)
    return Gate(inside, keys)


async def _events(gradings: Gradings) -> AsyncIterator[bytes]:
    """Server-sent events until nothing is under way; the last says so, for a browser would come again."""
    async for told in gradings.listen():
        yield b"data: " + msgspec.json.encode(told) + b"\n\n"
    yield b"event: end\ndata:\n\n"
