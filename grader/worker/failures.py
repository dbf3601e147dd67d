"""What the candidate's code raised, as a record: its own frames only, texts bounded."""

from __future__ import annotations

import difflib
import itertools
import sys
import types
from collections.abc import Iterable

from torch import Tensor, nn

from grader.protocol import MAX_FRAMES, MAX_NAME, MAX_TEXT, Failure, Frame, Stage, TraceEntry

MODULE_CUTOFF = 0.8  # packages that are not here look like some of the standard library
MAX_KNOWN = 20_000  # names that a missing one is compared with


def describe(
    error: BaseException, stage: Stage, file_name: str, trace: tuple[TraceEntry, ...] = ()
) -> Failure:
    """The failure record of an exception that came out of the candidate's code."""
    frames = _own_frames(error, file_name)
    line = frames[-1].line if frames else None
    column = None
    if isinstance(error, SyntaxError):
        line, column = _number(error.lineno), _number(error.offset)
    name, owner, near = _missing_name(error)
    return Failure(
        stage=stage,
        type=short(type(error).__name__),
        text=_text(error),
        line=line,
        column=column,
        frames=frames,
        name=None if name is None else short(name),
        owner=None if owner is None else short(owner),
        near=tuple(map(short, near)),
        trace=trace[-MAX_FRAMES:],
    )


def short(name: object, limit: int = MAX_NAME) -> str:
    """A name as far as a record holds it; whatever the candidate made of it, text that can be sent."""
    return str(name)[:limit].encode("utf-8", "backslashreplace").decode()[:limit]


def _number(value: object) -> int | None:
    """A line or column as the candidate's exception tells it: it may hold anything."""
    return value if type(value) is int and 0 <= value < 2**31 else None


def _text(error: BaseException) -> str:
    if isinstance(error, SyntaxError):
        return short(error.msg, MAX_TEXT)
    try:
        return short(error, MAX_TEXT)
    except BaseException as second:  # noqa: BLE001 - a candidate's __str__ may raise anything
        return f"(the message itself raised {short(type(second).__name__)})"


def _own_frames(error: BaseException, file_name: str) -> tuple[Frame, ...]:
    frames: list[Frame] = []
    entry = error.__traceback__
    while entry is not None:
        if entry.tb_frame.f_code.co_filename == file_name:
            frames.append(Frame(line=entry.tb_lineno or 0, function=short(entry.tb_frame.f_code.co_name)))
        entry = entry.tb_next
    return tuple(frames[-MAX_FRAMES:])


def _missing_name(error: BaseException) -> tuple[str | None, str | None, tuple[str, ...]]:
    """Which name is missing, from what, and which existing names look like it."""
    if isinstance(error, ModuleNotFoundError):
        wanted = error.name or ""
        known = {*sys.stdlib_module_names, *_top_level_modules()}
        if "." in wanted:
            parent = sys.modules.get(wanted.rpartition(".")[0])
            known = {f"{wanted.rpartition('.')[0]}.{part}" for part in dir(parent)} if parent else known
        return wanted, "import", _near(wanted, known, MODULE_CUTOFF)
    if isinstance(error, ImportError):
        wanted = getattr(error, "name_from", None) or _imported_name(error)  # the attribute came with 3.12
        module = sys.modules.get(error.name or "")
        return wanted, f"module {error.name}", _near(wanted, dir(module) if module else ())
    if isinstance(error, AttributeError) and isinstance(error.name, str):
        return error.name, _owner(error.obj), _near(error.name, _names(error.obj))
    if isinstance(error, NameError):
        # A local name that has no value yet stands in the text alone.
        wanted = (
            error.name if isinstance(error.name, str) else _text(error).partition("'")[2].partition("'")[0]
        )
        return wanted, "scope", _near(wanted, _scope(error))
    return None, None, ()


def _imported_name(error: ImportError) -> str:
    before, _, rest = _text(error).partition("'")
    return rest.partition("'")[0] if before == "cannot import name " else ""


def _names(thing: object) -> list[str]:
    names = dir(type(thing)) if isinstance(thing, Tensor) else dir(thing)
    if isinstance(thing, nn.Module):
        names = [*names, *thing._parameters, *thing._modules, *thing._buffers]
    return [str(name) for name in names]


def _owner(thing: object) -> str:
    if isinstance(thing, types.ModuleType):
        return f"module {thing.__name__}"
    if isinstance(thing, Tensor):
        return "Tensor"
    if thing is None:
        return "None"
    if isinstance(thing, nn.Module) and not type(thing).__module__.startswith("torch."):
        return "self"
    return type(thing).__name__


def _scope(error: BaseException) -> set[str]:
    names: set[str] = set()
    entry = error.__traceback__
    while entry is not None:
        names = {*entry.tb_frame.f_locals, *entry.tb_frame.f_globals, *entry.tb_frame.f_builtins}
        entry = entry.tb_next
    return names


def _top_level_modules() -> set[str]:
    return {name.partition(".")[0] for name in sys.modules} | {"torch", "numpy", "einops", "math"}


def _near(wanted: str, known: Iterable[object], cutoff: float = 0.7) -> tuple[str, ...]:
    if len(wanted) > MAX_NAME:
        return ()
    some = (str(name) for name in itertools.islice(known, MAX_KNOWN))
    names = [name for name in some if len(name) <= MAX_NAME and not name.startswith("__") and name != wanted]
    same = [name for name in names if name.lower() == wanted.lower()]
    close = difflib.get_close_matches(wanted, names, n=3, cutoff=cutoff)
    return tuple(dict.fromkeys([*same, *close]))[:3]
