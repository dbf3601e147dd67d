"""A trial through the user's engine if it runs, else in an interpreter of its own: no grade, no verdict."""

from __future__ import annotations

from grader.engine.client import EngineLost
from grader.engine.messages import Answer, Request
from grader.engine.shared import SharedEngine
from grader.engine.subprocess_grade import answered, launch
from grader.errors import GraderFault
from grader.records import Trial


def trial(request: Request, engine: SharedEngine | None) -> Trial:
    """What the answer does on the example; raises the judge's `KataError`."""
    found = (_warm(request, engine) or _cold(request, engine)).trial
    if found is None:
        raise GraderFault("The run came to nothing.", "Run it again; `kata doctor` may tell why.")
    return found


def _warm(request: Request, engine: SharedEngine | None) -> Answer | None:
    if engine is None:
        return None
    try:
        return engine.begin(request).answer()
    except EngineLost:
        return None


def _cold(request: Request, engine: SharedEngine | None) -> Answer:
    try:
        return answered(launch(request.options.isolation, request.catalog.roots), request)
    finally:
        if engine is not None:
            engine.start()
