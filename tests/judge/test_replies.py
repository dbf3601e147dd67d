"""Every field of every record that a worker sends has a bound, and what is beyond it is no reply."""

from __future__ import annotations

import random
from collections.abc import Iterator
from typing import Any, get_args

import msgspec
import pytest
from msgspec import inspect

from grader.protocol import Failure, Loaded, ProtocolError, Reply, decode_reply, encode_reply
from tests.judge.liar import Lies

RECORDS = [kind for kind in inspect.multi_type_info(get_args(Reply)) if isinstance(kind, inspect.StructType)]
Path = tuple[str, ...]


def leaves(kind: inspect.Type, path: Path = ()) -> Iterator[tuple[Path, inspect.Type]]:
    """Each type in the record that is no record itself, with the names of the fields that lead there."""
    match kind:
        case inspect.StructType(fields=fields):
            for field in fields:
                yield from leaves(field.type, (*path, field.encode_name))
        case inspect.UnionType(types=types):
            for one in types:
                yield from leaves(one, path)
        case inspect.VarTupleType(item_type=item):
            yield path, kind
            yield from leaves(item, (*path, "[]"))
        case inspect.DictType(key_type=key, value_type=value):
            yield path, kind
            yield from leaves(key, (*path, "{}"))
            yield from leaves(value, (*path, "{}"))
        case _:
            yield path, kind


LEAVES = [(record, path, kind) for record in RECORDS for path, kind in leaves(record)]


def named(case: object) -> str | None:
    if isinstance(case, inspect.StructType):
        return case.cls.__name__
    return ".".join(case) if isinstance(case, tuple) else ""


def bounded(kind: inspect.Type) -> bool:
    match kind:
        case inspect.StrType(max_length=longest):
            return longest is not None
        case inspect.IntType(ge=least, le=most):
            return least is not None and most is not None
        case inspect.VarTupleType(max_length=longest) | inspect.DictType(max_length=longest):
            return longest is not None
    return isinstance(kind, inspect.LiteralType | inspect.BoolType | inspect.FloatType | inspect.NoneType)


@pytest.mark.parametrize(("record", "path", "kind"), LEAVES, ids=named)
def test_every_field_has_a_bound(record: inspect.StructType, path: Path, kind: inspect.Type) -> None:
    assert bounded(kind), f"{record.cls.__name__}.{'.'.join(path)} takes anything"


def beyond(kind: inspect.Type) -> list[Any]:
    """What is just over the bounds of a type, as JSON has it; nothing where JSON has no more."""
    match kind:
        case inspect.StrType(max_length=int(longest)):
            return ["a" * (longest + 1), "\x07" * (longest + 1), 1]
        case inspect.IntType(ge=int(least), le=int(most)):
            return [least - 1, most + 1, 2**64, "1", float("1e300")]
        case inspect.LiteralType():
            return ["none of these", "", "x" * 100_000]
        case inspect.VarTupleType(max_length=int(longest)):
            return [[None] * (longest + 1), {}]
        case inspect.DictType(max_length=int(longest)):
            return [{f"{number}": 1 for number in range(longest + 1)}, []]
        case inspect.BoolType():
            return [1, "true"]
        case inspect.FloatType():
            return ["1", [1.0]]
    return []


def with_value(kind: inspect.Type, built: Any, path: Path, value: Any) -> Any:
    """A built document with one value changed; the parts that lead there are made where they are missing."""
    if not path:
        return value
    step, rest = path[0], path[1:]
    match kind:
        case inspect.UnionType(types=types):
            inner = next(one for one in types if not isinstance(one, inspect.NoneType | inspect.FloatType))
            return with_value(inner, built if isinstance(built, dict | list) else None, path, value)
        case inspect.StructType(fields=fields):
            if not isinstance(built, dict):
                built = msgspec.to_builtins(Lies(random.Random(0)).drawn(kind))
            inner = next(field.type for field in fields if field.encode_name == step)
            return {**built, step: with_value(inner, built.get(step), rest, value)}
        case inspect.VarTupleType(item_type=item):
            return [with_value(item, None, rest, value)]
        case inspect.DictType(value_type=item):
            return {"0": with_value(item, None, rest, value)}
    raise TypeError(f"{kind} has no parts")


@pytest.mark.parametrize(("record", "path", "kind"), LEAVES, ids=named)
def test_what_is_beyond_a_bound_is_no_reply(
    record: inspect.StructType, path: Path, kind: inspect.Type
) -> None:
    honest = msgspec.to_builtins(Lies(random.Random(1)).drawn(record))
    assert isinstance(decode_reply(msgspec.json.encode(honest)), record.cls)
    key_of_a_dict = path[-1:] == ("{}",) and isinstance(kind, inspect.StrType)
    for value in beyond(kind):
        if key_of_a_dict and isinstance(value, str):
            spoilt = with_value(record, honest, path[:-1], {value: 1})
        elif key_of_a_dict:
            continue
        else:
            spoilt = with_value(record, honest, path, value)
        with pytest.raises(ProtocolError, match="is not a reply"):
            decode_reply(msgspec.json.encode(spoilt))


@pytest.mark.parametrize("seed", range(200))
def test_whatever_the_types_allow_is_a_reply(seed: int) -> None:
    chance = random.Random(seed)
    drawn: Reply = Lies(chance).drawn(chance.choice(RECORDS))
    assert decode_reply(msgspec.json.encode(drawn)) == drawn


@pytest.mark.parametrize(
    "header",
    [
        b'{"kind":"failure","stage":"load","type":"T","text":"","x":' + b"[" * 50_000 + b"]" * 50_000 + b"}",
        b'{"x":' + b'{"x":' * 50_000 + b"1" + b"}" * 50_000 + b',"kind":"built","parameters":[]}',
        b'{"kind":"built","parameters":[],"x":' + b"[" * 50_000,
        b'{"kind":"failure","stage":"load","type":"T","text":"","line":' + b"1" * 300_000 + b"}",
    ],
    ids=["arrays", "objects", "never closed", "a long number"],
)
def test_a_header_is_read_to_no_depth(header: bytes) -> None:
    with pytest.raises(ProtocolError, match="is not a reply"):
        decode_reply(header)


def test_the_worker_sends_nothing_that_the_judge_would_not_take() -> None:
    told = Loaded(class_name="C", constructor=(), forward=(), own_constructor=True, own_forward=True)
    encode_reply(told)
    with pytest.raises(ProtocolError, match="is not a reply"):
        encode_reply(msgspec.structs.replace(told, class_name="C" * 100_000))
    with pytest.raises(ProtocolError, match="is not a reply"):
        encode_reply(Failure(stage="nowhere", type="T", text=""))  # type: ignore[arg-type]


def test_no_source_text_is_among_what_a_worker_tells() -> None:
    assert "source" not in {name for _, path, _ in LEAVES for name in path}
