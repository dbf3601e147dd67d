"""The frames between judge and worker: a JSON header and a safetensors body, both bounded. Never pickle.

    magic "AK2\\0" | header bytes: u32 | body bytes: u32 | header (JSON) | body (safetensors, or nothing)

The judge trusts nothing that arrives: `decode` checks lengths before it allocates, types and bounds of every
field before it builds, and dtype, shape and count of every tensor. What a worker says about itself (names,
lines, texts) explains a verdict, and is never evidence for a pass. No source text comes from there.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Annotated, Literal, dataclass_transform

import msgspec
import torch
from msgspec import Meta
from safetensors import SafetensorError, TensorSpec, deserialize, serialize
from torch import Tensor

MAGIC = b"AK2\0"
PREFIX = struct.Struct("<4sII")
MAX_HEADER = 512 * 1024
MAX_BODY = 16 * 1024 * 1024
MAX_TENSORS = 64
MAX_DIMENSIONS = 6
MAX_TEXT = 4000
MAX_NAME = 120
MAX_AXES = 16  # of a shape that is told; tensors that are sent have fewer
MAX_NAMES = 64  # parameters or submodules of an instance
MAX_ENTRIES = 300  # of a trace
MAX_FRAMES = 12
MAX_DISPATCHED = 200
MAX_LOCALS = 24  # tensors of the frames that an exception came through

# What fields of a reply are made of: each has a bound, and a test looks for one that has none.
Name = Annotated[str, Meta(max_length=MAX_NAME)]
Text = Annotated[str, Meta(max_length=MAX_TEXT)]
Count = Annotated[int, Meta(ge=0, le=2**62)]
Line = Annotated[int, Meta(ge=0, le=2**31)]
Shape = Annotated[tuple[Count, ...], Meta(max_length=MAX_AXES)]
Few = Meta(max_length=8)
Stage = Literal["load", "build", "forward", "backward", "reply"]
Level = Literal["strict", "standard", "process"]

DTYPES: dict[str, torch.dtype] = {
    "F64": torch.float64,
    "F32": torch.float32,
    "F16": torch.float16,
    "BF16": torch.bfloat16,
    "I64": torch.int64,
    "I32": torch.int32,
    "I16": torch.int16,
    "I8": torch.int8,
    "U8": torch.uint8,
    "BOOL": torch.bool,
}

# What safetensors calls a dtype where it writes.
_WRITTEN = {dtype: str(dtype).removeprefix("torch.") for dtype in DTYPES.values()}


class ProtocolError(Exception):
    """The other side sent something that is not a frame of this protocol."""


@dataclass_transform(frozen_default=True, kw_only_default=True, field_specifiers=(msgspec.field,))
class Message(msgspec.Struct, frozen=True, kw_only=True, tag_field="kind"):
    """Base of all headers."""


# judge -> worker ------------------------------------------------------------------------------------------


class Load(Message, tag="load"):
    """Turn the bytes in tensor `source` (uint8) into a module and find the class, or the function."""

    file_name: str
    name: str
    sort: Literal["module", "function"] = "module"


class Build(Message, tag="build"):
    """Construct an instance under the number `instance`; of a function there is nothing to construct."""

    instance: int
    args: tuple[int | float, ...] = ()
    kwargs: dict[str, int | float] = {}
    half: bool = False  # convert to float16 afterwards


class Describe(Message, tag="describe"):
    """Report the parameters of an instance again (lazy layers appear after the first call)."""

    instance: int


class Call(Message, tag="call"):
    """Set parameters (tensors `p:<name>`), then call forward, or the function, with the inputs.

    An input is a tensor `i:<name>`, a number, or a state that an earlier call gave back. With tensor
    `cotangent` the gradients of sum(output * cotangent) are sent back, for parameters and for the inputs
    `wanted`. With `dispatch` the operations are recorded: as they are called, or with a cotangent those
    below autograd, also of backward.
    """

    instance: int
    args: tuple[str, ...] = ()  # the names of the inputs that go by position
    kwargs: dict[str, str] = {}  # argument of the candidate's -> name of the input
    numbers: dict[str, int | float] = {}
    states: dict[str, str] = {}  # name of the input -> what it was kept under
    returns: int = 1  # so many things, in a tuple where they are several
    keep: str = ""  # the second of them is kept under this name, and stays where it is
    wanted: tuple[str, ...] = ()
    training: bool = False
    seed: int = 0
    trace: bool = False
    dispatch: bool = False
    below: bool = False  # with `dispatch`: those below autograd, without any gradient being asked for
    calm: bool = False  # dropout gives back what it gets, so that everything else can be judged
    locals: bool = False  # with a failure come the tensors of its frames, `l:0`, `l:1` …


class Paste(Message, tag="paste"):
    """Run these lines behind the candidate's module, in its names; what they print is the reply."""

    lines: tuple[str, ...]


Request = Load | Build | Describe | Call | Paste

# worker -> judge ------------------------------------------------------------------------------------------


class Frame(msgspec.Struct, frozen=True, kw_only=True):
    """One frame of a traceback that lies in the candidate's file."""

    line: Line
    function: Name


class Failure(Message, tag="failure"):
    """Something that the candidate's code raised, with its own frames only."""

    stage: Stage
    type: Name
    text: Text
    line: Line | None = None
    column: Line | None = None
    frames: Annotated[tuple[Frame, ...], Meta(max_length=MAX_FRAMES)] = ()
    name: Name | None = None  # the attribute, variable or module that is missing
    owner: Name | None = None  # what lacks the attribute: "module torch.nn", "Tensor", "self"
    near: Annotated[tuple[Name, ...], Few] = ()  # names that exist and look alike
    classes: Annotated[
        tuple[Name, ...], Few
    ] = ()  # classes found in the file, when the wanted one is missing
    trace: Annotated[tuple[TraceEntry, ...], Meta(max_length=MAX_FRAMES)] = ()


class Argument(msgspec.Struct, frozen=True, kw_only=True):
    """One parameter of a signature."""

    name: Name
    has_default: bool
    keyword_only: bool = False
    variadic: bool = False  # `*args`, or with keyword_only `**kwargs`
    default: float | None = None


class Confined(Message, tag="confined"):
    """The worker's first frame, sent before it has heard of any file: what binds it from now on.

    `refused` is the one answer of a worker that could not bind itself as it was told to, and ended.
    """

    level: Level
    mechanisms: Annotated[tuple[Name, ...], Meta(max_length=32)] = ()
    missing: Annotated[tuple[Text, ...], Meta(max_length=32)] = ()
    refused: bool = False


class OpenTodo(msgspec.Struct, frozen=True, kw_only=True):
    """A `raise NotImplementedError("…")` that is still in the file."""

    line: Line
    text: Name


class Loaded(Message, tag="loaded"):
    """The class was found, or the function: `forward` are its arguments."""

    class_name: Name
    constructor: Annotated[tuple[Argument, ...], Meta(max_length=24)]
    forward: Annotated[tuple[Argument, ...], Meta(max_length=24)]
    own_constructor: bool
    own_forward: bool
    raised_later: Failure | None = None  # module code after the class raised
    classes: Annotated[tuple[Name, ...], Meta(max_length=16)] = ()
    open_todos: Annotated[tuple[OpenTodo, ...], Meta(max_length=MAX_FRAMES)] = ()


class ParameterInfo(msgspec.Struct, frozen=True, kw_only=True):
    """A parameter as the instance reports it."""

    name: Name
    shape: Shape
    dtype: Name
    owner: Name  # class of the module that holds it: "Linear", "Conv1d", the candidate's class ...
    trainable: bool = True


class Built(Message, tag="built"):
    """An instance exists."""

    parameters: Annotated[tuple[ParameterInfo, ...], Meta(max_length=MAX_NAMES)]
    modules: Annotated[tuple[Name, ...], Meta(max_length=MAX_NAMES)] = ()  # class names of the submodules
    lazy: bool = False
    rates: Annotated[dict[Name, float], Meta(max_length=MAX_FRAMES)] = {}  # of torch's dropouts among them


class TraceEntry(msgspec.Struct, frozen=True, kw_only=True):
    """One torch call made from a line of the candidate's file."""

    line: Line
    call: Name
    inputs: Annotated[tuple[Shape, ...], Few] = ()
    output: Shape | None = None
    outputs: Count = 1
    numbers: Annotated[dict[Name, float], Few] = {}  # scalar arguments by position or keyword
    parameters: Annotated[tuple[Name, ...], Few] = ()  # names of the model's parameters among the arguments
    fresh_module: bool = False  # called through a module that is not part of the model
    raised: bool = False


class Called(Message, tag="called"):
    """It returned. Tensors: `output`, and every input as it is now, `a:<name>`; with a cotangent the
    gradients of parameters, `g:<name>`, and of inputs, `d:<name>`.
    """

    returned: Literal["tensor", "tuple", "none", "other", "odd"]
    type: Name  # type of what forward returned, for the message
    length: Count = 1  # of a tuple
    odd: Text = ""  # what is odd about the tensor: "sparse", "meta", "complex64", "10 000 000 elements"
    shape: Shape = ()
    state: Name = ""  # the type of what was kept, where something was to be
    training_after: bool = False  # another mode than the call's: forward switched the module or a part of it
    trace: Annotated[tuple[TraceEntry, ...], Meta(max_length=MAX_ENTRIES)] = ()
    # names of the operations ("aten.bmm"), and the line that led to each
    dispatched: Annotated[tuple[Name, ...], Meta(max_length=MAX_DISPATCHED)] = ()
    dispatched_lines: Annotated[dict[Name, Line], Meta(max_length=MAX_DISPATCHED)] = {}
    followed: bool = False  # the output was seen to come from the inputs, by products one inside the other
    largest: Count = 0  # elements of the largest new tensor that was seen, a view not being one
    largest_line: Line | None = None
    work: Count = 0  # multiplications in products of tensors that were seen
    backward: Failure | None = None


class Pasted(Message, tag="pasted"):
    """What pasted lines printed, up to what they raised."""

    text: Text


Reply = Confined | Loaded | Built | Called | Pasted | Failure

_encoder = msgspec.json.Encoder()
_requests: msgspec.json.Decoder[Request] = msgspec.json.Decoder(Request)
_replies: msgspec.json.Decoder[Reply] = msgspec.json.Decoder(Reply)


def encode(message: Request | Reply, tensors: dict[str, Tensor] | None = None) -> bytes:
    """One frame. Tensors are copied; they must be dense and on the CPU."""
    header = _encoder.encode(message)
    body = _body(tensors) if tensors else b""
    if len(header) > MAX_HEADER or len(body) > MAX_BODY:
        raise ProtocolError(f"a frame of {len(header)} + {len(body)} bytes is over the bound")
    return PREFIX.pack(MAGIC, len(header), len(body)) + header + body


def encode_reply(reply: Reply, tensors: dict[str, Tensor] | None = None) -> bytes:
    """One frame that the judge will take; raises `ProtocolError` for a record that is over a bound."""
    frame = encode(reply, tensors)
    header_length, _ = frame_lengths(frame[: PREFIX.size])
    decode_reply(frame[PREFIX.size : PREFIX.size + header_length])
    return frame


def _body(tensors: Mapping[str, Tensor]) -> bytes:
    """As `safetensors.torch.save` writes, without its way over numpy, which takes six times as long."""
    kept = {name: value.resolve_neg().contiguous() for name, value in tensors.items()}  # alive until copied
    specs = {
        name: TensorSpec(
            dtype=_WRITTEN[value.dtype],
            shape=list(value.shape),
            data_ptr=value.data_ptr(),
            data_len=value.nbytes,
        )
        for name, value in kept.items()
    }
    return bytes(serialize(specs))


def frame_lengths(prefix: bytes) -> tuple[int, int]:
    """Lengths of header and body from the first `PREFIX.size` bytes, checked against the bounds."""
    magic, header, body = PREFIX.unpack(prefix)
    if magic != MAGIC:
        raise ProtocolError("the frame does not start as a frame")
    if not 0 < header <= MAX_HEADER or body > MAX_BODY:
        raise ProtocolError(f"a frame announces {header} + {body} bytes, over the bound")
    return header, body


def decode_request(header: bytes) -> Request:
    return _requests.decode(header)


def decode_reply(header: bytes) -> Reply:
    """A reply's header; raises `ProtocolError` on anything else."""
    try:
        return _replies.decode(header)
    except (msgspec.DecodeError, RecursionError) as error:
        raise ProtocolError(f"the header of a frame is not a reply: {str(error)[:200]}") from error


def decode_tensors(body: bytes) -> dict[str, Tensor]:
    """The tensors of a body, each a copy of its own; raises `ProtocolError` on anything unexpected."""
    if not body:
        return {}
    try:
        entries = deserialize(body)
    except SafetensorError as error:
        raise ProtocolError(f"the body of a frame is not safetensors: {str(error)[:200]}") from error
    if len(entries) > MAX_TENSORS:
        raise ProtocolError(f"a frame has {len(entries)} tensors, over the bound")
    tensors: dict[str, Tensor] = {}
    for name, entry in entries:
        shape, kind, data = entry["shape"], entry["dtype"], entry["data"]
        if kind not in DTYPES or len(shape) > MAX_DIMENSIONS:
            raise ProtocolError(f"a tensor of dtype {kind} with {len(shape)} axes is not accepted")
        if max(shape, default=0) > MAX_BODY:  # beside a size of 0 any other fits into no bytes
            raise ProtocolError(f"a tensor of shape {shape} is not accepted")
        dtype = DTYPES[kind]
        if data:
            tensors[name] = torch.frombuffer(bytearray(data), dtype=dtype).reshape(shape)
        else:
            tensors[name] = torch.empty(shape, dtype=dtype)
    return tensors
