"""What torch was asked to do, from which line of the candidate's file.

`Recorder` is a `TorchFunctionMode`: it sees Python-level calls with their shapes. It is blind to scripted
code, to other threads and to disabled torch functions; `Dispatched` sees the operations below autograd,
also from the first and the last of these. Neither can make an answer pass: they explain, and they find
banned calls.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Iterable
from types import FrameType
from typing import Any

import torch
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from grader.protocol import MAX_AXES, TraceEntry

MAX_ENTRIES = 300
MAX_NUMBERS = 4
MAX_DISPATCHED = 200
DROPOUTS = frozenset(
    {
        "dropout",
        "dropout_",
        "dropout1d",
        "dropout2d",
        "dropout3d",
        "alpha_dropout",
        "alpha_dropout_",
        "feature_dropout",
        "feature_dropout_",
        "feature_alpha_dropout",
    }
)
_UNINTERESTING = frozenset({"dim", "size", "numel", "is_floating_point", "stride", "is_complex"})


class Recorder(TorchFunctionMode):
    """Notes each torch call under it; `entries` are in the order of the calls."""

    def __init__(self, file_name: str, module: nn.Module) -> None:
        super().__init__()
        self._file_name = file_name
        self._known = {id(part) for part in nn.Module.modules(module)}
        self._parameters = {id(value): name[:120] for name, value in nn.Module.named_parameters(module)}
        self.entries: list[TraceEntry] = []

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        try:
            result = func(*args, **kwargs)
        except BaseException:
            self._note(func, args, kwargs, None, raised=True)
            raise
        self._note(func, args, kwargs, result)
        return result

    def _note(
        self,
        func: Callable[..., Any],
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        result: Any,
        *,
        raised: bool = False,
    ) -> None:
        call = _call_name(func)
        if call in _UNINTERESTING or len(self.entries) >= MAX_ENTRIES:
            return
        line, fresh = self._where()
        if line is None:
            return
        first = result[0] if isinstance(result, tuple | list) and result else result
        inputs = _tensors(args, kwargs)
        self.entries.append(
            TraceEntry(
                line=line,
                call=call,
                inputs=tuple(_shape(value) for value in inputs),
                parameters=tuple(
                    self._parameters[id(value)] for value in inputs if id(value) in self._parameters
                ),
                output=_shape(first) if isinstance(first, Tensor) else None,
                outputs=len(result) if isinstance(result, tuple | list) else 1,
                numbers=_numbers(args, kwargs),
                fresh_module=fresh,
                raised=raised,
            )
        )

    def _where(self) -> tuple[int | None, bool]:
        """The innermost line of the candidate's file, and whether the call went through an unknown module."""
        frame: FrameType | None = sys._getframe(3)
        fresh = False
        while frame is not None:
            if frame.f_code.co_filename == self._file_name:
                return frame.f_lineno, fresh
            owner = frame.f_locals.get("self")
            if isinstance(owner, nn.Module) and id(owner) not in self._known:
                fresh = True
            frame = frame.f_back
        return None, False


class Calm(TorchFunctionMode):
    """Every dropout of torch gives back what it got."""

    def __torch_function__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        if _call_name(func) in DROPOUTS:
            return args[0] if args else kwargs["input"]
        return func(*args, **kwargs)


class Dispatched(TorchDispatchMode):
    """Notes the names of the operations below autograd, with the first line that led to each."""

    def __init__(self, file_name: str) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._file_name = file_name
        self.lines: dict[str, int] = {}
        self.names: dict[str, None] = {}

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        name = str(getattr(func, "overloadpacket", func)).rpartition(".")[2][:80]
        if name not in self.names and len(self.names) < MAX_DISPATCHED:
            self.names[name] = None
            frame: FrameType | None = sys._getframe(1)
            while frame is not None and frame.f_code.co_filename != self._file_name:
                frame = frame.f_back
            if frame is not None:
                self.lines[name] = frame.f_lineno
        return func(*args, **(kwargs or {}))


# torch wraps the method so that its compiler leaves it alone, and the wrapper imports the compiler: a second
# for nothing, as nothing here is compiled.
_plain_dispatch = inspect.unwrap(Dispatched.__torch_dispatch__)
type.__setattr__(Dispatched, "__torch_dispatch__", _plain_dispatch)


def _call_name(func: Callable[..., Any]) -> str:
    name = getattr(func, "__name__", type(func).__name__)
    if name == "__get__":
        owner = getattr(func, "__self__", None)
        return str(getattr(owner, "__name__", "attribute"))[:80]
    return str(name)[:80]


def _shape(value: Any) -> tuple[int, ...]:
    return tuple(torch.Tensor.size(value))[-MAX_AXES:]


def _tensors(args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Tensor]:
    found: list[Tensor] = []
    for value in (*args, *kwargs.values()):
        if isinstance(value, Tensor):
            found.append(value)
        elif isinstance(value, list | tuple):
            found.extend(item for item in value if isinstance(item, Tensor))
    return found[:4]


def _numbers(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, float]:
    named = [*((str(place), value) for place, value in enumerate(args)), *kwargs.items()]
    numbers: dict[str, float] = {}
    for name, value in named:
        if isinstance(value, int | float) and abs(value) < 1e300 and len(numbers) < MAX_NUMBERS:
            numbers[str(name)[:40]] = float(value)
        elif isinstance(value, float) and len(numbers) < MAX_NUMBERS:  # infinities and NaN are not JSON
            numbers[str(name)[:40]] = 1e308 if value > 0 else -1e308
    return numbers
