"""Work that is not finished: which TODOs are open, and what was there when one of them was met.

Both explain a verdict and are never part of it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from torch import Tensor, nn

from grader.protocol import MAX_FRAMES, MAX_LOCALS, OpenTodo
from grader.worker.failures import short
from grader.worker.packing import oddity, plain

LOCAL_ELEMENTS = 4096  # of a tensor that is sent along: the judge's inputs are small


def open_todos(text: str) -> tuple[OpenTodo, ...]:
    """Every `raise NotImplementedError("…")` that can still be met, in order."""
    try:
        tree = ast.parse(text)
        found = [
            OpenTodo(line=node.lineno, text=short(message))
            for node in _raises(tree.body)
            if (message := _message(node)) is not None
        ]
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ()
    return tuple(sorted(found, key=lambda todo: todo.line)[:MAX_FRAMES])


def _raises(body: Iterable[ast.stmt]) -> Iterator[ast.Raise]:
    """What stands behind a `return` of the same block is never met."""
    for statement in body:
        if isinstance(statement, ast.Raise):
            yield statement
        for field in ("body", "orelse", "finalbody"):
            yield from _raises(getattr(statement, field, ()))
        for block in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            yield from _raises(block.body)
        if isinstance(statement, ast.Return):
            return


def _message(node: ast.Raise) -> str | None:
    made = node.exc
    if not isinstance(made, ast.Call) or not isinstance(made.func, ast.Name) or not made.args:
        return None
    first = made.args[0]
    if made.func.id != "NotImplementedError" or not isinstance(first, ast.Constant):
        return None
    return first.value if isinstance(first.value, str) else None


def locals_of(error: BaseException, file_name: str) -> dict[str, Tensor]:
    """The small tensors in the frames of the candidate's file that the exception came through.

    A tuple's or a list's tensors count one by one. Names are made up: what a tensor is, its values tell.
    """
    found: dict[str, Tensor] = {}
    entry = error.__traceback__
    while entry is not None:
        if entry.tb_frame.f_code.co_filename == file_name:
            for value in _tensors(entry.tb_frame.f_locals.values()):
                if len(found) < MAX_LOCALS and value.numel() <= LOCAL_ELEMENTS and not oddity(value):
                    found[f"l:{len(found)}"] = plain(value)
        entry = entry.tb_next
    return found


def rates_of(module: nn.Module) -> dict[str, float]:
    """The rate of each dropout of torch's among the parts of the module."""
    rates = {
        short(name): float(part.p)
        for name, part in nn.Module.named_modules(module)
        if type(part) is nn.Dropout and isinstance(part.p, int | float) and 0 <= part.p <= 1
    }
    return dict(list(rates.items())[:MAX_FRAMES])


def _tensors(values: Iterable[object]) -> Iterator[Tensor]:
    for value in values:
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from (part for part in value if isinstance(part, Tensor))
