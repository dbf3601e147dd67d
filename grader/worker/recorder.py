"""What torch was asked to do, from which line of the candidate's file.

`Recorder` is a `TorchFunctionMode`: it sees Python-level calls with their shapes. It is blind to scripted
code, to other threads and to disabled torch functions. `Dispatched` sees the operations themselves, also from
the first and the last of these, and follows x through them: what another thread or an operator of somebody
else's computed comes from nowhere. Neither can make an answer pass: they explain, they find banned calls, and
they say whether the output was seen to be made.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from types import FrameType
from typing import Any

import torch
from torch import Tensor, nn
from torch._C._profiler import gather_traceback, symbolize_tracebacks
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode

from grader.protocol import MAX_AXES, MAX_DISPATCHED, MAX_ENTRIES, TraceEntry

MAX_NUMBERS = 4
MAX_INPUTS = 4
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

# Operations that multiply their tensors with each other.
_PRODUCT = re.compile(
    r"mm(_|$)|matmul|^(mv|ger|kron|cdist|einsum)$|^addm|^addr|dot|inner|outer|linear$|^_?conv|^mul|addcmul"
)
_SQUARE = re.compile(r"^(pow|square)_?$|norm$")  # |q - k|² is a product as well
# Operations that take no more than the size of a tensor.
_SIZE_ONLY = re.compile(r"_like$|^new_")
# Products by the place of the matrix whose last axis is summed over.
_INNER = {
    "mm": 0,
    "bmm": 0,
    "mv": 0,
    "dot": 0,
    "matmul": 0,
    "linear": 0,
    "addmm": 1,
    "baddbmm": 1,
    "addmv": 1,
}
_NESTED = 2  # attention is a product (the mix) with a product (the scores) inside


class Recorder(TorchFunctionMode):
    """Notes each torch call under it; `entries` are in the order of the calls."""

    def __init__(self, file_name: str, module: nn.Module | None) -> None:
        super().__init__()
        self._file_name = file_name
        parts = [] if module is None else nn.Module.modules(module)
        named = [] if module is None else nn.Module.named_parameters(module)
        self._known = {id(part) for part in parts}
        self._parameters = {id(value): name[:120] for name, value in named}
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
        inputs = list(islice(_tensors(args, kwargs), MAX_INPUTS))
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
    """Notes the names of the operations, with the first line that led to each, and follows the inputs to the
    output.

    A tensor is known by its memory, which is kept until the end so that no other takes its place. What is
    computed from an input carries how many products of such tensors lie one inside the other.
    """

    def __init__(self, file_name: str, inputs: tuple[Tensor, ...], module: nn.Module | None) -> None:
        super().__init__()  # type: ignore[no-untyped-call]
        self._file_name = file_name
        self._kept: list[object] = []
        self._known: set[int] = {self._place(value) for value in _state(module)}
        self._nested: dict[int, int] = {
            self._place(value): 0 for value in inputs if value.is_floating_point()
        }
        self._unseen = False
        self._followed: bool | None = None  # until forward is over
        self.lines: dict[str, int] = {}
        self.names: dict[str, None] = {}
        self.largest = 0  # elements of the largest new tensor; a view is none
        self.largest_line: int | None = None
        self.work = 0  # multiplications in products of tensors

    def __torch_dispatch__(
        self,
        func: Callable[..., Any],
        types: Iterable[type],
        args: tuple[Any, ...] = (),
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        kwargs = kwargs or {}
        name = str(getattr(func, "overloadpacket", func))[:80]
        self._note(name)
        if self._followed is not None:
            return func(*args, **kwargs)
        places = [(value, self._place(value)) for value in _tensors(args, kwargs)]
        result = func(*args, **kwargs)
        self._measure(name.rpartition(".")[2], places, result)
        self._follow(name.rpartition(".")[2], places, result)
        return result

    def followed(self, output: object) -> bool:
        """Whether the output was seen to come from an input, by a product in a product, and from nothing
        else.
        """
        if self._followed is None:
            nested = self._nested.get(self._place(output), 0) if isinstance(output, Tensor) else 0
            whole = not self._unseen and len(self.names) < MAX_DISPATCHED
            self._followed = whole and nested >= _NESTED
        return self._followed

    def _note(self, name: str) -> None:
        if name in self.names or len(self.names) >= MAX_DISPATCHED:
            return
        self.names[name] = None
        line = self._line()
        if line is not None:
            self.lines[name] = line

    def _measure(self, name: str, places: list[tuple[Tensor, int]], result: Any) -> None:
        """How much is made, and how much is multiplied."""
        shared = {place for _, place in places}
        for value in _tensors((result,), {}):
            if value.numel() > self.largest and self._place(value) not in shared:
                self.largest, self.largest_line = value.numel(), self._line()
        inner = _INNER.get(name)
        if inner is not None and isinstance(result, Tensor) and len(places) > inner:
            self.work += result.numel() * int(places[inner][0].shape[-1])
        elif name.rstrip("_") == "mul" and isinstance(result, Tensor) and len(places) > 1:
            small = min(value.numel() for value, _ in places)
            self.work += result.numel() if small > 1 else 0

    def _line(self) -> int | None:
        """The innermost line of the candidate's file that is being run."""
        frame: FrameType | None = sys._getframe(3)
        while frame is not None and frame.f_code.co_filename != self._file_name:
            frame = frame.f_back
        return None if frame is None else frame.f_lineno

    def _follow(self, name: str, places: list[tuple[Tensor, int]], result: Any) -> None:
        inside = [self._nested[place] for _, place in places if place in self._nested]
        for value, place in places:
            if place not in self._nested and place not in self._known and value.grad_fn is not None:
                self._unseen = True  # computed where nobody looked
        product = len(inside) > 1 and _PRODUCT.search(name) is not None
        product = product or (bool(inside) and _SQUARE.search(name) is not None)
        if product:
            for function in _library_functions():
                self._note(function)
        for value in _tensors((result,), {}):
            place = self._place(value)
            self._known.add(place)
            if inside and not _SIZE_ONLY.search(name):
                self._nested[place] = max(self._nested.get(place, 0), max(inside) + product)

    def _place(self, value: Tensor) -> int:
        try:
            kept: object = torch.Tensor.untyped_storage(value)
            place = kept._cdata  # type: ignore[attr-defined]
        except (NotImplementedError, RuntimeError):  # sparse: no memory of its own
            kept, place = value, id(value)
        self._kept.append(kept)
        return int(place)


# torch wraps the method so that its compiler leaves it alone, and the wrapper imports the compiler: a second
# for nothing, as nothing here is compiled.
_plain_dispatch = inspect.unwrap(Dispatched.__torch_dispatch__)
type.__setattr__(Dispatched, "__torch_dispatch__", _plain_dispatch)


def _state(module: nn.Module | None) -> Iterator[Tensor]:
    if module is None:
        return
    yield from nn.Module.parameters(module)
    yield from nn.Module.buffers(module)


def _library_functions() -> Iterator[str]:
    """Attention that torch has in Python, and that is being run: as it is, scripted or traced."""
    code = nn.functional.multi_head_attention_forward.__code__
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code is not code:
        frame = frame.f_back
    last = max(line for *_, line in code.co_lines() if line is not None)
    scripted = symbolize_tracebacks([gather_traceback(python=False, script=True, cpp=False)])[0]
    if frame is not None or any(
        place["filename"] == code.co_filename and code.co_firstlineno <= int(place["line"]) <= last
        for place in scripted
    ):
        yield f"torch.{code.co_name}"


def _call_name(func: Callable[..., Any]) -> str:
    name = getattr(func, "__name__", type(func).__name__)
    if name == "__get__":
        owner = getattr(func, "__self__", None)
        return str(getattr(owner, "__name__", "attribute"))[:80]
    return str(name)[:80]


def _shape(value: Any) -> tuple[int, ...]:
    return tuple(torch.Tensor.size(value))[-MAX_AXES:]


def _tensors(args: tuple[Any, ...], kwargs: dict[str, Any]) -> Iterator[Tensor]:
    for value in (*args, *kwargs.values()):
        if isinstance(value, Tensor):
            yield value
        elif isinstance(value, list | tuple):
            yield from (item for item in value if isinstance(item, Tensor))


def _numbers(args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, float]:
    named = [*((str(place), value) for place, value in enumerate(args)), *kwargs.items()]
    numbers: dict[str, float] = {}
    for name, value in named:
        if isinstance(value, int | float) and abs(value) < 1e300 and len(numbers) < MAX_NUMBERS:
            numbers[str(name)[:40]] = float(value)
        elif isinstance(value, float) and len(numbers) < MAX_NUMBERS:  # infinities and NaN are not JSON
            numbers[str(name)[:40]] = 1e308 if value > 0 else -1e308
    return numbers
