"""The submitted bytes become a module, and the module's class is found.

Line numbers in every record refer to the text that `grader/answer_text.py` makes of the bytes.
"""

from __future__ import annotations

import difflib
import inspect
import linecache
import re
import sys
import types
from collections.abc import Callable, Sequence
from typing import Any, Literal

import msgspec
import torch
from torch import nn

from grader.answer_text import Chunk, NotANotebook, chunks, joined
from grader.protocol import Argument, Failure, Loaded
from grader.worker.failures import describe, short
from grader.worker.unfinished import open_todos

MODULE_NAME = "candidate"


class LoadError(Exception):
    """The file holds nothing that can be graded; carries the record for the judge."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.text)
        self.failure = failure


Target = Callable[..., Any]  # a class of modules, or a function


def load(
    source: bytes, file_name: str, name: str, sort: Literal["module", "function"] = "module"
) -> tuple[Target, Loaded]:
    """Run the submission and return its class, or its function, with what the judge may know about it.

    Code after it that raises (a scratch cell, a demo that wants a GPU) is a note, not a failure.
    """
    try:
        pieces = chunks(source, file_name)
    except (NotANotebook, UnicodeDecodeError) as error:
        raise LoadError(describe(error, "load", file_name)) from error
    text = joined(pieces)
    linecache.cache[file_name] = (len(text), None, [f"{line}\n" for line in text.split("\n")], file_name)
    module = types.ModuleType(MODULE_NAME)
    module.__file__ = file_name
    sys.modules[MODULE_NAME] = module
    raised = _run(pieces, module, file_name)
    if raised is not None and not isinstance(raised, Exception):
        raise LoadError(describe(raised, "load", file_name))
    later = None if raised is None else describe(raised, "load", file_name)
    if sort == "function":
        function = _find_function(module, name, later)
        return function, _with_todos(_loaded_function(function, later), text)
    found = _find_class(module, name, later)
    return found, _with_todos(_loaded(found, module, later), text)


def _with_todos(loaded: Loaded, text: str) -> Loaded:
    return msgspec.structs.replace(loaded, open_todos=open_todos(text))


def _run(pieces: tuple[Chunk, ...], module: types.ModuleType, file_name: str) -> BaseException | None:
    """Run every chunk; the first thing raised is returned. Later cells of a notebook run all the same."""
    first: BaseException | None = None
    for piece in pieces:
        try:
            code = compile("\n" * (piece.first_line - 1) + piece.text, file_name, "exec", dont_inherit=True)
            exec(code, module.__dict__)
        except BaseException as error:  # noqa: BLE001 - whatever it raises is the candidate's
            first = first or error
    return first


def _find_class(module: types.ModuleType, class_name: str, later: Failure | None) -> type[nn.Module]:
    found = module.__dict__.get(class_name)
    own = [
        thing
        for thing in module.__dict__.values()
        if isinstance(thing, type) and issubclass(thing, nn.Module) and thing.__module__ == MODULE_NAME
    ]
    if isinstance(found, type) and issubclass(found, nn.Module):
        return found
    if later is not None:
        raise LoadError(later)
    if found is not None:
        raise LoadError(_missing("NotAModule", class_name, own, _line_of(module, class_name)))
    near = [thing for thing in own if _nearly(thing.__name__, class_name)]
    fitting = near or own
    if len({id(thing) for thing in fitting}) == 1:
        return fitting[0]
    raise LoadError(_missing("ClassMissing", class_name, own, None))


def _find_function(module: types.ModuleType, name: str, later: Failure | None) -> Target:
    """The function of that name, else the only one that looks like it, else the only public one."""
    found: object = module.__dict__.get(name)
    if callable(found) and not isinstance(found, type):
        return found
    if later is not None:
        raise LoadError(later)
    own = [
        thing
        for thing in module.__dict__.values()
        if isinstance(thing, types.FunctionType) and thing.__module__ == MODULE_NAME
    ]
    if found is not None:
        raise LoadError(_missing("NotAFunction", name, own, _line_of(module, name)))
    near = [thing for thing in own if thing.__name__.lower() == name.lower()]
    public = [thing for thing in own if not thing.__name__.startswith("_")]
    fitting = near or public
    if len({id(thing) for thing in fitting}) == 1:
        return fitting[0]
    raise LoadError(_missing("FunctionMissing", name, own, None))


def _nearly(name: str, wanted: str) -> bool:
    """Whether a class was meant to be called so: the same digits, and nearly the same letters."""
    one, other = (re.sub(r"[\W_]", "", some[:100]).lower() for some in (name, wanted))
    digits = re.sub(r"\D", "", one) == re.sub(r"\D", "", other)
    return digits and difflib.SequenceMatcher(None, one, other).ratio() > 0.9


def _line_of(module: types.ModuleType, class_name: str) -> int | None:
    pattern = re.compile(rf"^\s*(?:class|def)\s+{re.escape(class_name)}\b|^{re.escape(class_name)}\s*=")
    lines = linecache.getlines(str(module.__file__))
    return next((number for number, line in enumerate(lines, 1) if pattern.match(line)), None)


def _missing(
    kind: str, name: str, own: Sequence[type[nn.Module] | types.FunctionType], line: int | None
) -> Failure:
    names = tuple(dict.fromkeys(short(thing.__name__) for thing in own))[:8]
    return Failure(stage="load", type=kind, text=name, name=name, classes=names, line=line)


def _loaded(found: type[nn.Module], module: types.ModuleType, later: Failure | None) -> Loaded:
    classes = [
        name
        for name, thing in module.__dict__.items()
        if isinstance(thing, type) and issubclass(thing, nn.Module)
    ]
    return Loaded(
        class_name=short(found.__name__),
        constructor=_arguments(getattr(found, "__init__", None), bound=True),
        forward=_arguments(getattr(found, "forward", None), bound=True),
        own_constructor=_has_own(found, "__init__"),
        own_forward=_has_own(found, "forward"),
        raised_later=later,
        classes=tuple(short(name) for name in classes[:16]),
    )


def _loaded_function(found: Target, later: Failure | None) -> Loaded:
    return Loaded(
        class_name=short(getattr(found, "__name__", "")),
        constructor=(),
        forward=_arguments(found, bound=False),
        own_constructor=True,
        own_forward=True,
        raised_later=later,
    )


def _has_own(found: type[nn.Module], name: str) -> bool:
    """Whether a class before nn.Module in the resolution order defines it."""
    for base in found.__mro__:
        if base is nn.Module:
            return False
        if name in base.__dict__:
            return True
    return False


def _arguments(function: Any, *, bound: bool) -> tuple[Argument, ...]:
    """The signature, of a method without `self`; empty when Python cannot tell, as of a scripted one."""
    try:
        parameters = list(inspect.signature(function).parameters.values())[int(bound) :]
    except (TypeError, ValueError, AttributeError):
        return ()
    return tuple(
        Argument(
            name=short(parameter.name),
            has_default=parameter.default is not parameter.empty,
            keyword_only=parameter.kind in (parameter.KEYWORD_ONLY, parameter.VAR_KEYWORD),
            variadic=parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD),
            default=_number(parameter.default),
        )
        for parameter in parameters[:24]
    )


def _number(value: object) -> int | float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return value if abs(value) < 1e18 else None


def fresh_rng(seed: int) -> None:
    """Set every generator that an honest answer may draw from."""
    import random

    random.seed(seed)
    torch.default_generator.manual_seed(seed)  # torch.manual_seed also asks every accelerator: 1 ms
