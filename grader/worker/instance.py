"""One instance of the candidate's class: its parameters, and calls of its forward."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

import msgspec
import torch
from torch import Tensor, nn
from torch.nn.parameter import UninitializedParameter

from grader.protocol import (
    DTYPES,
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
from grader.worker.loader import fresh_rng
from grader.worker.recorder import Calm, Dispatched, Recorder

MAX_ELEMENTS = 2_000_000


@dataclass
class Instance:
    """A constructed module and where its code lives."""

    module: nn.Module
    file_name: str
    half: bool = False

    def describe(self) -> Built:
        parameters = [
            ParameterInfo(
                name=name[:120],
                shape=() if isinstance(value, UninitializedParameter) else tuple(value.shape),
                dtype=str(value.dtype).removeprefix("torch."),
                owner=_owner(self.module, name),
                trainable=value.requires_grad,
            )
            for name, value in nn.Module.named_parameters(self.module)
        ]
        lazy = any(isinstance(value, UninitializedParameter) for value in nn.Module.parameters(self.module))
        classes = [type(part).__name__[:80] for part in nn.Module.modules(self.module)][1:]
        return Built(parameters=tuple(parameters[:MAX_NAMES]), modules=tuple(classes[:MAX_NAMES]), lazy=lazy)

    def call(self, request: Call, tensors: dict[str, Tensor]) -> tuple[Called | Failure, dict[str, Tensor]]:
        """Run forward once as the request asks."""
        named = dict(nn.Module.named_parameters(self.module))
        _set_parameters(named, tensors)
        fresh_rng(request.seed)
        x = tensors["x"].clone()
        mask = tensors["mask"].clone() if "mask" in tensors else None
        cotangent = tensors.get("cotangent")
        leaf = x.requires_grad_(True) if cotangent is not None else x
        watch = _Watch(self, request, leaf)
        try:
            parts = self._switch(request.training)
            with watch, torch.set_grad_enabled(True):
                returned = _forward(self.module, leaf, mask, request.mask_keyword)
        except BaseException as error:  # noqa: BLE001 - whatever it raises is the candidate's
            return describe(error, "forward", self.file_name, watch.entries[-12:]), {}
        called, reply = _pack(returned, training_after=_mode_after(parts, request.training))
        called = msgspec.structs.replace(called, followed=watch.followed(_first(returned)))
        if request.trace or cotangent is None:
            reply["x_after"] = _plain(x)
            if mask is not None:
                reply["mask_after"] = _plain(mask)
        if cotangent is not None and "output" in reply:
            failure = _gradients(returned, leaf, named, cotangent, reply, self.file_name, watch)
            if failure is not None:
                called = msgspec.structs.replace(called, backward=failure)
        return watch.told(called), reply

    def _switch(self, training: bool) -> list[nn.Module]:
        """Into the mode by the module's own `train`, which it may override; if that fails to, by torch's.

        Returns the module's parts, all in that mode.
        """
        self.module.train(training)
        parts = list(nn.Module.modules(self.module))
        if _mode_after(parts, training) is not training:
            nn.Module.train(self.module, training)
        return parts


def build(cls: type[nn.Module], request: Build, file_name: str) -> Instance | Failure:
    """Construct an instance; what the constructor raises is a record."""
    fresh_rng(request.instance)
    try:
        module = cls(*request.args, **request.kwargs)
        if request.half:
            module = module.half()
        nn.Module.named_parameters(module)
        len(list(nn.Module.modules(module)))  # fails when super().__init__() never ran
    except BaseException as error:  # noqa: BLE001 - whatever it raises is the candidate's
        return describe(error, "build", file_name)
    return Instance(module=module, file_name=file_name, half=request.half)


class _Watch(contextlib.ExitStack):
    """The recorders that a call asked for, as one context; of `forward`, and again of `backward`.

    Where no gradient is wanted, operations are recorded as they were called, above autograd: below, the
    library's attention is a product, a softmax and a product like everybody's. The code cannot tell:
    gradients are enabled as ever.
    """

    def __init__(self, instance: Instance, request: Call, x: Tensor) -> None:
        super().__init__()
        self._whole = request.dispatch and not x.requires_grad
        self.recorder = Recorder(instance.file_name, instance.module) if request.trace else None
        self.dispatched = Dispatched(instance.file_name, x, instance.module) if request.dispatch else None
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
        )


def _owner(module: nn.Module, name: str) -> str:
    place = name.rpartition(".")[0]
    return type(nn.Module.get_submodule(module, place)).__name__[:80]


def _set_parameters(named: Mapping[str, Tensor], tensors: dict[str, Tensor]) -> None:
    with torch.no_grad():
        for name, value in tensors.items():
            if name.startswith("p:"):
                named[name[2:]].copy_(value)


def _forward(module: nn.Module, x: Tensor, mask: Tensor | None, keyword: str | None) -> object:
    if mask is None:
        return module(x)
    if keyword is not None:
        return module(x, **{keyword: mask})
    return module(x, mask)


def _first(returned: object) -> object:
    return returned[0] if isinstance(returned, tuple | list) and len(returned) else returned


def _mode_after(parts: Sequence[nn.Module], training: bool) -> bool:
    """The mode that was asked for, if every part is still in it; else the other one."""
    return training == all(bool(part.training) is training for part in parts)


def _pack(returned: object, *, training_after: bool) -> tuple[Called, dict[str, Tensor]]:
    first = _first(returned)
    tensors: dict[str, Tensor] = {}
    odd = _oddity(first) if isinstance(first, Tensor) else ""
    if returned is None:
        kind = "none"
    elif not isinstance(first, Tensor):
        kind = "other"
    elif odd:
        kind = "odd"
    else:
        kind = "tuple" if isinstance(returned, tuple | list) else "tensor"
        tensors["output"] = _plain(first)
    called = Called(
        returned=kind,  # type: ignore[arg-type]
        type=type(returned).__name__[:80],
        length=len(returned) if isinstance(returned, tuple | list) else 1,
        odd=odd,
        shape=tuple(Tensor.size(first))[:MAX_DIMENSIONS] if isinstance(first, Tensor) else (),
        training_after=training_after,
    )
    return called, tensors


def _oddity(value: Tensor) -> str:
    if value.layout is not torch.strided:
        return "a sparse tensor"
    if value.is_meta:
        return "a tensor on the meta device, which holds no numbers"
    if value.device.type != "cpu":
        return f"a tensor on {value.device.type}"
    if value.dtype not in DTYPES.values():
        return f"a tensor of {str(value.dtype).removeprefix('torch.')}"
    if value.numel() > MAX_ELEMENTS or value.dim() > MAX_DIMENSIONS:
        return f"a tensor of shape {tuple(value.shape)}"
    return ""


def _plain(value: Tensor) -> Tensor:
    """A dense copy of plain class: what a subclass claims about itself stays behind."""
    return torch.Tensor.as_subclass(value.detach(), torch.Tensor).clone().contiguous()


def _gradients(
    returned: object,
    x: Tensor,
    named: Mapping[str, Tensor],
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
    wanted = {"x": x, **{name: value for name, value in named.items() if value.requires_grad}}
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
        if value is not None and not _oddity(value):
            reply[f"g:{name}"] = _plain(value)
    return None


def _forget_gradients(wanted: Mapping[str, Tensor]) -> None:
    for value in wanted.values():
        value.grad = None
