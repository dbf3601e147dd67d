"""A grading under way that can be ended: through the user's engine, or in an interpreter of its own."""

from __future__ import annotations

import subprocess
import threading
import time
from collections.abc import Callable

import msgspec

from grader.engine.client import EngineLost, Pending
from grader.engine.messages import Request
from grader.engine.shared import SharedEngine
from grader.engine.subprocess_grade import finish, launch
from grader.records import Grade, Told


class Cancelled(Exception):
    """The grading was ended before it had an outcome."""


class Running:
    """One grading. `result` waits for it in one thread, `cancel` may end it from another."""

    def __init__(self, request: Request, engine: SharedEngine | None, told: Told | None = None) -> None:
        self._request = request
        self._engine = engine
        self._told = told
        self._lock = threading.Lock()
        self._cancelled = False
        self._under_way: Pending | subprocess.Popen[bytes] | None = None

    def result(self, meanwhile: Callable[[], None] | None = None) -> Grade:
        """The grade; raises the judge's `KataError`, or `Cancelled`.

        `meanwhile` is called once while an engine grades. Where there is none, one is started for the next
        time, when this grade no longer needs the processors.
        """
        began = time.perf_counter()
        grade = self._warm(meanwhile) or self._cold()
        total = {"total": round(time.perf_counter() - began, 4)}
        return msgspec.structs.replace(grade, seconds={**grade.seconds, **total})

    def cancel(self) -> None:
        """End it, whatever it is doing; harmless when it has ended."""
        with self._lock:
            self._cancelled = True
            if isinstance(self._under_way, Pending):
                self._under_way.cancel()
            elif self._under_way is not None:
                self._under_way.kill()

    def _warm(self, meanwhile: Callable[[], None] | None) -> Grade | None:
        if self._engine is None:
            return None
        try:
            pending = self._engine.begin(self._request, self._told)
            self._keep(pending)
            return self._engine.finish(pending, meanwhile)
        except EngineLost:
            self._check()
            return None

    def _cold(self) -> Grade:
        process = launch(self._request.options.isolation, self._request.catalog.roots)
        self._keep(process)
        try:
            return finish(process, self._request)
        finally:
            if self._engine is not None:
                self._engine.start()
            self._check()

    def _keep(self, under_way: Pending | subprocess.Popen[bytes]) -> None:
        with self._lock:
            self._under_way = under_way
            cancelled = self._cancelled
        if cancelled:
            self.cancel()

    def _check(self) -> None:
        if self._cancelled:
            raise Cancelled
