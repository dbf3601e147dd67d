"""What can go wrong in cross."""

from __future__ import annotations

import math
from collections.abc import Callable

import torch
from kata_content.common.examples import edited
from kata_content.common.step_variants import divided, keep, layer_norm
from kata_content.heads import examples
from kata_content.heads import mistakes as heads
from torch import Tensor

from grader.authoring import Context, Example, Form


def read(
    query: Callable[[Context], Tensor], key: Callable[[Context], Tensor], value: Callable[[Context], Tensor]
) -> Callable[[Context], Context]:
    """Query, key and value made of other inputs."""
    return lambda c: c.but(
        query=c.layers["query"](query(c)), key=c.layers["key"](key(c)), value=c.layers["value"](value(c))
    )


def _x(c: Context) -> Tensor:
    tensor: Tensor = c.x
    return tensor


def _context(c: Context) -> Tensor:
    tensor: Tensor = c.context
    return tensor


def _first(c: Context) -> Tensor:
    return _context(c)[:1].expand(_context(c).shape)


def _over_samples(c: Context) -> Tensor:
    return _context(c).mean(0, keepdim=True).expand(_context(c).shape)


def _pooled(c: Context) -> Tensor:
    return _context(c).mean(-2, keepdim=True).expand(_context(c).shape)


def _normed(c: Context) -> Tensor:
    return layer_norm(_context(c))


def _zeroed(c: Context) -> Tensor:
    if c.visible is None:
        return _context(c)
    return _context(c) * c.visible[:, 0, 0, :, None].to(c.context.dtype)


def mask_axes(lay: Callable[[Tensor], Tensor], fill: float) -> Callable[[Context], Context]:
    """The context's mask, (batch, context_len), laid on other axes."""

    def step(c: Context) -> Context:
        if c.visible is None:
            return c
        return c.but(scores=c.scores.masked_fill(~lay(c.visible[:, 0, 0]), fill))

    return step


def layers(key: str, value: str) -> Callable[[Context], Context]:
    """Keys and values from the layers of those names."""
    return lambda c: c.but(
        query=c.layers["query"](c.x), key=c.layers[key](c.context), value=c.layers[value](c.context)
    )


def bent(function: Callable[[Tensor], Tensor], role: str) -> Callable[[Context], Context]:
    """A nonlinearity on one of query, key and value."""

    def step(c: Context) -> Context:
        made = {"query": c.x, "key": c.context, "value": c.context}
        given = {name: c.layers[name](source) for name, source in made.items()}
        return c.but(**given | {role: function(given[role])})

    return step


FILLS = (float("-inf"), -1e9)
INPUTS = (
    Form("cross_keys_from_x", {"project": read(_x, _x, _context)}),
    Form("cross_values_from_x", {"project": read(_x, _context, _x)}),
    Form("cross_context_ignored", {"project": read(_x, _x, _x)}),
    Form("cross_queries_from_context", {"project": read(_context, _context, _context)}),
    Form("cross_roles_swapped", {"project": read(_context, _x, _x)}),
    Form("context_batch_ignored", {"project": read(_x, _first, _first)}),
    Form(
        "context_batch_ignored",
        {"project": read(_x, _over_samples, _over_samples)},
        shows="every sample reads the mean of all contexts of the batch",
    ),
    Form("context_averaged", {"project": read(_x, _pooled, _pooled)}),
    Form("context_averaged", {"project": read(_x, _pooled, _context)}),
    Form(
        "cross_attends_to_x_too",
        {
            "project": read(
                _x, lambda c: torch.cat([c.context, c.x], -2), lambda c: torch.cat([c.context, c.x], -2)
            )
        },
    ),
    Form(
        "cross_attends_to_x_too",
        {
            "project": read(
                _x, lambda c: torch.cat([c.x, c.context], -2), lambda c: torch.cat([c.x, c.context], -2)
            )
        },
    ),
    Form("mask_on_embeddings", {"project": read(_x, _zeroed, _zeroed), "mask": keep}),
    Form("mask_on_embeddings", {"project": read(_x, _context, _zeroed), "mask": keep}),
)
SCALE = (
    Form(
        "scale_wrong_value",
        {"scale": divided(lambda c: math.sqrt(c.context_dim))},
        shows="the scores are divided by √context_dim, the width of the context",
        sentence="The width of the context is gone once keys are projected; a head is head_dim wide.",
    ),
)
LAYERS = (
    Form(
        "shared_projection",
        {"project": layers("value", "value")},
        shows="the keys come from the layer of the values",
    ),
    Form(
        "shared_projection",
        {"project": layers("key", "key")},
        shows="the values come from the layer of the keys",
    ),
    *(
        Form(
            "extra_nonlinearity",
            {"project": bent(function, role)},
            shows=f"{function.__name__} is applied to the {role}",
        )
        for role in ("query", "key", "value")
        for function in (torch.relu, torch.tanh, torch.sigmoid)
    ),
    Form(
        "residual_or_norm_added",
        {"project": read(_x, _normed, _normed)},
        shows="the context goes through LayerNorm before the projections",
        sentence="The norm belongs to the blocks around the attention; the task asks for the formula only.",
        fix="Project the context as it comes, without the LayerNorm.",
    ),
)
MASKS = tuple(
    Form(label, {"mask": mask_axes(lay, fill)})
    for label, lay in (
        ("mask_on_queries_instead_of_keys", lambda visible: visible[:, None, :, None]),
        ("mask_without_head_axis", lambda visible: visible[:, None, :]),
        ("mask_without_head_axis", lambda visible: visible),
        ("mask_without_head_axis", lambda visible: visible[:, :, None]),
    )
    for fill in FILLS
)
SQUARE = (
    "mask_on_queries_instead_of_keys",
    "mask_without_head_axis",
    "hides_padded_queries",
    "inf_nan_fully_masked_row",
    "split_wrong_dim",
    "qk_swapped",
    "weights_transposed",
    "projection_unused",
)

VALUES = (*INPUTS, *LAYERS, *SCALE, *MASKS, *heads.without(heads.BESIDE_PROJECTIONS, *SQUARE))
NEUTRAL = heads.NEUTRAL
TRAINING = heads.TRAINING
FITTED = heads.FITTED
EXAMPLES: tuple[Example, ...] = (
    *examples.EXAMPLES,
    edited("mask_dtype_assumed_bool", ("context_mask == 0", "~context_mask")),
    edited("mask_not_optional", ("if context_mask is not None:\n", "if True:\n")),
    edited("mutates_mask_argument", ("context_mask == 0", "context_mask.logical_not_() == 1")),
    edited("context_dim_ignored", ("nn.Linear(context_dim, ", "nn.Linear(hidden_dim, ")),
    edited(
        "context_dim_default_missing",
        ("context_dim = hidden_dim if context_dim is None else context_dim", "pass"),
    ),
)
RIGHT: tuple[Example, ...] = examples.RIGHT
GATES: tuple[Example, ...] = examples.GATES
