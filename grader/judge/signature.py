"""How to call what the candidate wrote: which of its arguments is which of those that the kata asks for."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from grader.protocol import Argument
from grader.signature import Construct, Input, Signature, Sizes

RATE_NAMES = frozenset({"p", "rate", "prob", "p_drop"})

Numbers = dict[str, int | float]


def constructor_arguments(
    arguments: Sequence[Argument], asked: Signature, sizes: Sizes, rate: float | None
) -> tuple[tuple[int, ...], Numbers]:
    """The first size by position where it comes first, else by name; all else under the candidate's names.

    A constructor that takes anything (`**kwargs`, a wrapped one) gets the names that the kata asks for.
    """
    takes_any = any(argument.variadic and argument.keyword_only for argument in arguments)
    takes_more = any(argument.variadic and not argument.keyword_only for argument in arguments)
    named = [argument for argument in arguments if not argument.variadic]
    values = {
        wanted.name: sizes[wanted.axis]
        for wanted in asked.construct
        if wanted.kind == "size" and wanted.axis in sizes
    }
    if not values:
        return (), {}
    chosen = claimed(named, [wanted for wanted in asked.construct if wanted.kind != "flag"])
    first, *others = values
    args: tuple[int, ...] = ()
    kwargs: Numbers = {}
    argument = chosen.get(first)
    if argument is None and not named and takes_any and not takes_more:
        kwargs[first] = values[first]
    elif argument is None or (argument is named[0] and not argument.keyword_only):
        args = (values[first],)
    else:
        kwargs[argument.name] = values[first]
    later: Numbers = {name: values[name] for name in others}
    if asked.rate is not None and rate is not None:
        later[asked.rate.name] = rate
    for name, value in later.items():
        argument = chosen.get(name)
        if argument is not None and argument.name not in kwargs:
            kwargs[argument.name] = value
        elif argument is None and takes_any:
            kwargs[name] = value
        elif argument is None and isinstance(value, int):
            args = (*args, value)  # a size that the constructor has no place for: Python says so
    return args, kwargs


def claimed(arguments: Sequence[Argument], wanted: Sequence[Construct]) -> dict[str, Argument]:
    """Which argument takes what the kata asks for: by its name, else those that are left, in order."""
    found: dict[str, Argument] = {}
    for one in wanted:
        by_name = (argument for argument in arguments if _is_called(argument, one))
        argument = next((argument for argument in by_name if argument not in found.values()), None)
        if argument is not None:
            found[one.name] = argument
    for place, one in enumerate(wanted):
        free = [argument for argument in arguments if argument not in found.values()]
        if one.name not in found and free:
            at_its_place = arguments[place] if place < len(arguments) and arguments[place] in free else None
            if at_its_place is not None:
                found[one.name] = at_its_place
    return found


def _is_called(argument: Argument, wanted: Construct) -> bool:
    name = argument.name.lower()
    if wanted.kind == "rate":
        return "drop" in name or name in RATE_NAMES
    return name == wanted.name or name in wanted.aliases


def call_arguments(
    arguments: Sequence[Argument], asked: Signature, given: Collection[str]
) -> tuple[tuple[str, ...], dict[str, str]]:
    """The inputs that go by position, and those that go by name: the candidate's name, and the kata's."""
    named = [argument for argument in arguments if not argument.variadic]
    args: list[str] = []
    kwargs: dict[str, str] = {}
    for place, wanted in enumerate(asked.inputs):
        if wanted.name not in given:
            continue
        in_line = len(args) == place
        here = named[place] if place < len(named) else None
        if in_line and (place == 0 or (here is not None and _takes(here, wanted) and not here.keyword_only)):
            args.append(wanted.name)
            continue
        keyword = next((argument.name for argument in named[1:] if _takes(argument, wanted)), None)
        if keyword is not None:
            kwargs[keyword] = wanted.name
        elif in_line:
            args.append(wanted.name)
        else:
            kwargs[here.name if here is not None else wanted.name] = wanted.name
    return tuple(args), kwargs


def _takes(argument: Argument, wanted: Input) -> bool:
    name = argument.name.lower()
    return name == wanted.name or name in wanted.aliases or (wanted.kind == "mask" and "mask" in name)
