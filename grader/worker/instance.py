"""One instance of the candidate's class, or its function: its parameters, and calls of it."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import msgspec
import torch
from torch import Tensor, nn
from torch.nn.parameter import UninitializedParameter

from grader.protocol import (
    MAX_DIMENSIONS,
    MAX_NAMES,
    Build,
    Built,
    Call,
    Called,
    Failure,
    ParameterInfo,
    TraceEntry,
)
from grader.worker.failures import describe
from grader.worker.loader import Target, fresh_rng
from grader.worker.packing import oddity, plain
from grader.worker.recorder import Calm, Dispatched, Recorder
from grader.worker.unfinished import locals_of, rates_of


@dataclass
class Instance:
    """What is called, a module or a function, and where its code lives."""

    target: Target
    file_name: str
    kept: dict[str, Any] = field(default_factory=dict)  # states that calls gave back, never looked at

    @property
    def module(self) -> nn.Module | None:
        return self.target if isinstance(self.target, nn.Module) else None

    @property
    def named(self) -> dict[str, nn.Parameter]:
        return {} if self.module is None else dict(nn.Module.named_parameters(self.module))

    def describe(self) -> Built:
        module = self.module
        if module is None:
            return Built(parameters=())
        parameters = [
            ParameterInfo(
                name=name[:120],
                shape=() if isinstance(value, UninitializedParameter) else tuple(value.shape),
                dtype=str(value.dtype).removeprefix("torch."),
                owner=_owner(module, name),
                trainable=value.requires_grad,
            )
            for name, value in nn.Module.named_parameters(module)
        ]
        lazy = any(isinstance(value, UninitializedParameter) for value in nn.Module.parameters(module))
        classes = [type(part).__name__[:80] for part in nn.Module.modules(module)][1:]
        return Built(
            parameters=tuple(parameters[:MAX_NAMES]),
            modules=tuple(classes[:MAX_NAMES]),
            lazy=lazy,
            rates=rates_of(module),
        )

    def call(self, request: Call, tensors: dict[str, Tensor]) -> tuple[Called | Failure, dict[str, Tensor]]:
        """Call it once as the request asks."""
        named = self.named
        _set_parameters(named, tensors)
        fresh_rng(request.seed)
        given = {name[2:]: value.clone() for name, value in tensors.items() if name.startswith("i:")}
        cotangent = tensors.get("cotangent")
        if cotangent is not None:
            for name in request.wanted:
                given[name].requires_grad_(True)
        watch = _Watch(self, request, given)
        values: dict[str, Any] = {**given, **request.numbers}
        values |= {name: self.kept.get(kept) for name, kept in request.states.items()}
        self.kept.pop(request.keep, None)
        try:
            parts = self._switch(request.training)
            with watch, torch.set_grad_enabled(True):
                returned = self.target(
                    *(values[name] for name in request.args),
                    **{argument: values[name] for argument, name in request.kwargs.items()},
                )
        except BaseException as error:  # noqa: BLE001 - whatever it raises is the candidate's
            told = describe(error, "forward", self.file_name, watch.entries[-12:])
            return told, locals_of(error, self.file_name) if request.locals else {}
        state = returned[1] if isinstance(returned, tuple | list) and len(returned) > 1 else None
        called, reply = _pack(returned, request.returns, training_after=_mode_after(parts, request.training))
        called = msgspec.structs.replace(called, followed=watch.followed(_first(returned)))
        if request.keep:
            self.kept[request.keep] = state
            called = msgspec.structs.replace(called, state=type(state).__name__[:80])
        if request.trace or cotangent is None:
            reply |= {f"a:{name}": plain(value) for name, value in given.items()}
        if cotangent is not None and "output" in reply:
            leaves = {f"d:{name}": given[name] for name in request.wanted}
            leaves |= {f"g:{name}": value for name, value in named.items() if value.requires_grad}
            failure = _gradients(returned, leaves, cotangent, reply, self.file_name, watch)
            if failure is not None:
                called = msgspec.structs.replace(called, backward=failure)
        return watch.told(called), reply

    def _switch(self, training: bool) -> list[nn.Module]:
        """Into the mode by the module's own `train`, which it may override; if that fails to, by torch's.

        Returns the module's parts, all in that mode.
        """
        if self.module is None:
            return []
        self.module.train(training)
        parts = list(nn.Module.modules(self.module))
        if _mode_after(parts, training) is not training:
            nn.Module.train(self.module, training)
        return parts


def build(target: Target, request: Build, file_name: str) -> Instance | Failure:
    """Construct an instance; what the constructor raises is a record. A function is called as it is."""
    if not isinstance(target, type):
        return Instance(target, file_name)
    fresh_rng(request.instance)
    try:
        module = target(*request.args, **request.kwargs)
        if request.half:
            module = module.half()
        nn.Module.named_parameters(module)
        len(list(nn.Module.modules(module)))  # fails when super().__init__() never ran
    except BaseException as error:  # noqa: BLE001 - whatever it raises is the candidate's
        return describe(error, "build", file_name)
    return Instance(module, file_name)


class _Watch(contextlib.ExitStack):
    """The recorders that a call asked for, as one context; of `forward`, and again of `backward`.

    Where no gradient is wanted, operations are recorded as they were called, above autograd: below, the
    library's attention is a product, a softmax and a product like everybody's. The code cannot tell:
    gradients are enabled as ever.
    """

    def __init__(self, instance: Instance, request: Call, given: Mapping[str, Tensor]) -> None:
        super().__init__()
        floats = [value for value in given.values() if value.is_floating_point()]
        above = not request.below and not any(value.requires_grad for value in floats)
        self._whole = request.dispatch and above
        self.recorder = Recorder(instance.file_name, instance.module) if request.trace else None
        self.dispatched = (
            Dispatched(instance.file_name, tuple(given.values()), instance.module)
            if request.dispatch
            else None
        )
        self.calm = Calm() if request.calm else None

    def __enter__(self) -> Self:
        super().__enter__()
        if self._whole:
            self.enter_context(torch._C._AutoDispatchBelowAutograd())
        for mode in (self.dispatched, self.calm, self.recorder):
            if mode is not None:
                self.enter_context(mode)
        return self

    @property
    def entries(self) -> tuple[TraceEntry, ...]:
        return tuple(self.recorder.entries) if self.recorder else ()

    def followed(self, output: object) -> bool:
        return self.dispatched is not None and self.dispatched.followed(output)

    def told(self, called: Called) -> Called:
        """The reply with what was recorded."""
        return msgspec.structs.replace(
            called,
            trace=self.entries,
            dispatched=tuple(self.dispatched.names) if self.dispatched else (),
            dispatched_lines=dict(self.dispatched.lines) if self.dispatched else {},
            largest=self.dispatched.largest if self.dispatched else 0,
            largest_line=self.dispatched.largest_line if self.dispatched else None,
            work=self.dispatched.work if self.dispatched else 0,
        )


def _owner(module: nn.Module, name: str) -> str:
    place = name.rpartition(".")[0]
    return type(nn.Module.get_submodule(module, place)).__name__[:80]


def _set_parameters(named: Mapping[str, Tensor], tensors: dict[str, Tensor]) -> None:
    with torch.no_grad():
        for name, value in tensors.items():
            if name.startswith("p:"):
                named[name[2:]].copy_(value)


def _first(returned: object) -> object:
    return returned[0] if isinstance(returned, tuple | list) and len(returned) else returned


def _mode_after(parts: Sequence[nn.Module], training: bool) -> bool:
    """The mode that was asked for, if every part is still in it; else the other one."""
    return training == all(bool(part.training) is training for part in parts)


def _pack(returned: object, wanted: int, *, training_after: bool) -> tuple[Called, dict[str, Tensor]]:
    first = _first(returned)
    several = isinstance(returned, tuple | list)
    as_asked = several and wanted > 1 and len(returned) == wanted  # type: ignore[arg-type]
    tensors: dict[str, Tensor] = {}
    odd = oddity(first) if isinstance(first, Tensor) else ""
    if returned is None:
        kind = "none"
    elif not isinstance(first, Tensor):
        kind = "other"
    elif odd:
        kind = "odd"
    else:
        kind = "tuple" if several and not as_asked else "tensor"
        tensors["output"] = plain(first)
    called = Called(
        returned=kind,  # type: ignore[arg-type]
        type=type(returned).__name__[:80],
        length=len(returned) if isinstance(returned, tuple | list) else 1,
        odd=odd,
        shape=tuple(Tensor.size(first))[:MAX_DIMENSIONS] if isinstance(first, Tensor) else (),
        training_after=training_after,
    )
    return called, tensors


def _gradients(
    returned: object,
    wanted: Mapping[str, Tensor],
    cotangent: Tensor,
    reply: dict[str, Tensor],
    file_name: str,
    watch: _Watch,
) -> Failure | None:
    """Gradients of sum(output * cotangent); an absent tensor means that no gradient arrived."""
    output = _first(returned)
    assert isinstance(output, Tensor)
    if not output.requires_grad or output.shape != cotangent.shape:
        return None
    _forget_gradients(wanted)
    try:
        # As one number: a gradient of the output would make torch import its symbolic shapes, 0.3 s.
        # By `backward`, as in training: not everything that works there works with `torch.autograd.grad`.
        with (
            watch,
            torch.enable_grad(),
        ):  # the answer may have switched it off for all that is outside of forward
            (output * cotangent.to(output.dtype)).sum().backward()
        found = [value.grad for value in wanted.values()]
    except BaseException as error:  # noqa: BLE001 - a custom backward is the candidate's code
        return describe(error, "backward", file_name)
    finally:
        _forget_gradients(wanted)
    for name, value in zip(wanted, found, strict=True):
        if value is not None and not oddity(value):
            reply[name] = plain(value)
    return None


def _forget_gradients(wanted: Mapping[str, Tensor]) -> None:
    for value in wanted.values():
        value.grad = None
