"""How to call what the candidate wrote: which argument is the width, the dropout rate, the mask."""

from __future__ import annotations

from collections.abc import Sequence

from grader.protocol import Argument

WIDTH_NAMES = frozenset(
    {"hidden_dim", "hidden_size", "embed_dim", "emb_dim", "d_model", "model_dim", "hidden", "dim", "n_embd"}
)


def constructor_arguments(
    signature: Sequence[Argument], wanted: Sequence[str], width: int, rate: float | None
) -> tuple[tuple[int, ...], dict[str, float]]:
    """hidden_dim by position where it comes first, else by name; the rate under the signature's name.

    A signature that takes anything (`**kwargs`, a wrapped constructor) gets the names that the kata asks for:
    `wanted`, the width's and the rate's.
    """
    takes_any = any(argument.variadic and argument.keyword_only for argument in signature)
    named = [argument for argument in signature if not argument.variadic]
    by_name = width_by_name(named)
    if not named and takes_any and not any(not argument.keyword_only for argument in signature):
        by_name = wanted[0]
    args: tuple[int, ...] = () if by_name else (width,)
    kwargs: dict[str, float] = {by_name: width} if by_name else {}
    argument = rate_argument(named) if rate is not None else None
    if argument is not None and rate is not None and argument.name != by_name:
        return args, {**kwargs, argument.name: rate}
    if argument is None and rate is not None and takes_any:
        return args, {**kwargs, wanted[1]: rate}
    return args, kwargs


def mask_keyword(signature: Sequence[Argument]) -> str | None:
    """The name to pass the mask under; None: by position, as usual."""
    forward = [argument for argument in signature if not argument.variadic]
    if len(forward) >= 2 and "mask" in forward[1].name.lower() and not forward[1].keyword_only:
        return None
    return next((argument.name for argument in forward[1:] if "mask" in argument.name.lower()), None)


def width_by_name(arguments: Sequence[Argument]) -> str | None:
    """The name to pass the width under, when it cannot go by position: keyword-only, or not the first."""
    named = next((argument for argument in arguments if argument.name.lower() in WIDTH_NAMES), None)
    if named is None:
        return arguments[0].name if arguments and arguments[0].keyword_only else None
    return named.name if named is not arguments[0] or named.keyword_only else None


def rate_argument(arguments: Sequence[Argument]) -> Argument | None:
    """The constructor argument that takes the dropout rate, by its name, else the second position."""
    for argument in arguments:
        if "drop" in argument.name.lower() or argument.name.lower() in ("p", "rate", "prob", "p_drop"):
            return argument
    return arguments[1] if len(arguments) > 1 else None
