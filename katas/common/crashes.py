"""Names for what went wrong when the candidate's code raised: from the exception's type, text and last calls.

Every rule reads a record; nothing here runs, imports or parses what the candidate wrote.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from kata_content.common.calls import NORMALISERS, PRODUCTS, SPLITS

from grader.authoring import Failure, Loaded, TraceEntry

LIBRARIES = frozenset({"torch", "nn", "F", "math", "np", "numpy"})
IDE_IMPORTS = frozenset({"turtle", "tkinter", "_tkinter", "pyparsing", "lib2to3", "ast", "cProfile"})

Rule = Callable[[Failure], str | None]


def name_of(failure: Failure, loaded: Loaded | None = None) -> str | None:
    """The label of the mistake behind a failure, or None when no rule knows it."""
    if loaded is not None:
        label = _of_the_class(failure, loaded)
        if label is not None:
            return label
    for rule in _RULES:
        label = rule(failure)
        if label is not None:
            return label
    return None


def _of_the_class(failure: Failure, loaded: Loaded) -> str | None:
    """What the class lacks: a constructor of its own, an argument for the width, a forward."""
    refused = failure.stage == "build" and failure.type == "TypeError"
    if refused and not loaded.own_constructor:
        return "init_misnamed"
    if refused and not loaded.constructor:
        return "hard_coded_sizes"  # the constructor takes no width at all
    if not loaded.own_forward and failure.type == "NotImplementedError":
        return "forward_missing"
    return None


def _class_level(failure: Failure) -> str | None:
    text = failure.text
    if "Module.__init__() call" in text or (failure.name in ("_modules", "_parameters")):
        return "missing_super_init"
    if failure.type == "NotImplementedError" and 'missing the required "forward"' in text:
        return "forward_missing"
    return None


def mistake_of_name(failure: Failure) -> str | None:
    """The label where something is asked for by a name that is not there."""
    if failure.type == "AttributeError" and failure.owner is not None:
        if failure.owner.startswith("module torch") or failure.owner in ("Tensor", "module math"):
            return "api_typo"
        if failure.owner == "self":
            return "attribute_error_wrong_self_name"
    if failure.type in ("NameError", "UnboundLocalError"):
        known = {near.lower() for near in failure.near} | {name.lower() for name in LIBRARIES}
        if failure.name and failure.name not in LIBRARIES and failure.name.lower() in known:
            return "api_typo"
        return "name_error_unbound_variable"
    if failure.type in ("ModuleNotFoundError", "ImportError"):
        wanted = (failure.name or "").partition(".")[0]
        if wanted in IDE_IMPORTS or "libtk" in failure.text or "tkinter" in failure.text:
            return "stray_ide_import"
        return "api_typo" if failure.near else None
    return None


def _dtypes(failure: Failure) -> str | None:
    marks = ("must have the same dtype", "to have the same dtype", "expected scalar type")
    return "wrong_dtype" if any(mark in failure.text for mark in marks) else None


def _device(failure: Failure) -> str | None:
    text = failure.text.lower()
    marks = (
        "not compiled with cuda",
        "no nvidia driver",
        "expected all tensors to be on the same device",
        "mps",
        "xpu",
    )
    if any(mark in text for mark in marks) or "cuda" in text:
        return "hard_coded_device"
    return None


def _splitting(failure: Failure) -> str | None:
    last = failure.trace[-1] if failure.trace else None
    if failure.type == "ValueError" and "unpack" in failure.text:
        splits = [entry for entry in failure.trace if entry.call in SPLITS]
        if splits and splits[-1].inputs and splits[-1].output is not None:
            split_features = splits[-1].output[-1:] != splits[-1].inputs[0][-1:]
            return "split_size_confused" if split_features else "split_wrong_dim"
        return "split_size_confused"
    if last is not None and last.raised and last.call in SPLITS:
        return (
            "split_size_confused"
            if "split_sizes" in failure.text or "size" in failure.text
            else "split_wrong_dim"
        )
    return None


def _axes(failure: Failure) -> str | None:
    last = failure.trace[-1] if failure.trace else None
    if last is None:
        return None
    if last.raised and last.call == "permute":
        return "permute_invalid"
    if last.raised and last.call == "t":
        return "T_on_3d"
    if last.raised and last.call in PRODUCTS | {"div", "masked_fill", "add", "view", "reshape"}:
        split = next((entry for entry in failure.trace if entry.call in SPLITS), None)
        if split is not None and split.inputs and split.output and split.inputs[0][-1:] == split.output[-1:]:
            return "split_wrong_dim"
        attributes = [
            entry
            for entry in failure.trace
            if entry.call in ("T", "t") and len(entry.inputs[:1] and entry.inputs[0]) == 3
        ]
        if attributes:
            return "T_on_3d"
        if any(entry.call in PRODUCTS and _of_features(entry) for entry in failure.trace):
            return "attends_over_features"
        if last.call in PRODUCTS - {"mm"} and _meets_untransposed(failure):
            return "transpose_wrong_axes"
    return None


def _of_features(entry: TraceEntry) -> bool:
    """Whether (…, seq_len, hidden_dim), turned, times itself gave (…, hidden_dim, hidden_dim)."""
    if entry.output is None or len(entry.inputs) != 2 or len(entry.inputs[0]) < 2:
        return False
    one, other = entry.inputs
    return other[-2:] == one[:-3:-1] and entry.output[-2:] == (one[-2], one[-2]) and one[-2] > one[-1]


def _meets_untransposed(failure: Failure) -> bool:
    """Whether two alike met, or an axis of the batch was moved, ahead of the product that raised."""
    last = failure.trace[-1]
    moved = any(
        entry.call in ("transpose", "permute", "swapaxes", "movedim", "moveaxis")
        and entry.output is not None
        and bool(entry.inputs)
        and entry.output[:1] != entry.inputs[0][:1]
        for entry in failure.trace
    )
    return moved or len(set(last.inputs)) == 1


def _entry_by_entry(failure: Failure) -> str | None:
    """Weights (…, seq_len, seq_len) and values (…, seq_len, hidden_dim) multiplied entry by entry."""
    last = failure.trace[-1] if failure.trace else None
    if (
        last is None
        or not last.raised
        or last.call not in ("mul", "mul_", "multiply")
        or len(last.inputs) != 2
    ):
        return None
    deepest = max(map(len, last.inputs))
    bare = [s[:-1] if s[-1:] == (1,) and len(s) == deepest > 3 else s for s in last.inputs]  # unsqueezed
    square = [shape for shape in bare if shape[-1:] == shape[-2:-1]]
    calls = {entry.call for entry in failure.trace}
    drawn = calls & {"rand", "rand_like", "bernoulli", "bernoulli_"}  # the other one may say what is kept
    return "mix_elementwise" if len(square) == 1 and calls & NORMALISERS and not drawn else None


def _sums(failure: Failure) -> str | None:
    """`e / e.sum(-1)`: divided by a tensor that has lost the axis it was summed over."""
    last = failure.trace[-1] if failure.trace else None
    if (
        last is None
        or not last.raised
        or last.call not in ("div", "true_divide", "sub", "div_", "__truediv__")
    ):
        return None
    if len(last.inputs) == 2 and len(last.inputs[0]) >= 2 and last.inputs[1] == last.inputs[0][:-1]:
        return "missing_keepdim"
    return None


def _masks(failure: Failure) -> str | None:
    text = failure.text
    if failure.type not in ("TypeError", "RuntimeError", "AttributeError", "IndexError", "ValueError"):
        return None
    if "only supports boolean masks" in text or "bitwise_not" in text or "~" in text or "logical_not" in text:
        return "mask_dtype_assumed_bool"
    if (
        "Subtraction, the `-` operator, with a bool tensor" in text
        or "Negation, the `-` operator, on a bool" in text
    ):
        return "mask_dtype_assumed_bool"
    if failure.type == "TypeError" and re.search(r"masked_fill|where\(\)|full_like", text):
        if "NoneType" in text or "mask (bool)" in text:
            return "mask_not_optional"
        return "mask_fill_wrong_type"
    if "Boolean value of Tensor with more than one value" in text:
        return "mask_asked_for_truth"
    if "0-dimensional value tensor" in text:
        return "mask_fill_wrong_type"
    if "NoneType" in text or failure.owner == "None":
        return "mask_not_optional"
    return None


def _backward(failure: Failure) -> str | None:
    if "modified by an inplace operation" in failure.text:
        return "inplace_breaks_backward"
    if "leaf Variable that requires grad is being used in an in-place operation" in failure.text:
        return "mutates_input"
    return None


def _sizes(failure: Failure) -> str | None:
    marks = (
        "invalid for input of size",
        "is invalid for input",
        "normalized_shape",
        "must match the existing size",
    )
    if any(mark in failure.text for mark in marks):
        return "hard_coded_sizes"
    return None


_RULES: Sequence[Rule] = (
    _class_level,
    mistake_of_name,
    _dtypes,
    _device,
    _splitting,
    _sums,
    _entry_by_entry,
    _axes,
    _masks,
    _backward,
    _sizes,
)
