"""The right steps of single-head self-attention: softmax(QKᵀ/√d)V (Vaswani et al. 2017, section 3.2.1)."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from grader.authoring import Context, Plan


def project(c: Context) -> Context:
    """Query, key and value from their own layers."""
    return c.but(query=c.layers["query"](c.x), key=c.layers["key"](c.x), value=c.layers["value"](c.x))


def scores(c: Context) -> Context:
    """Every query against every key: (batch, seq_len, seq_len)."""
    return c.but(scores=c.query @ c.key.transpose(-2, -1))


def scale(c: Context) -> Context:
    """Divide by √hidden_dim, so that the logits keep variance one."""
    return c.but(scores=c.scores / math.sqrt(c.hidden_dim))


def mask(c: Context) -> Context:
    """A hidden key gets the score -∞, so softmax gives it weight zero."""
    if c.visible is None:
        return c
    return c.but(scores=c.scores.masked_fill(~c.visible, float("-inf")))


def normalise(c: Context) -> Context:
    """Softmax over the keys."""
    return c.but(weights=torch.softmax(c.scores, dim=-1))


def drop(c: Context) -> Context:
    """Dropout on the attention weights, in training only (the place that common code gives it)."""
    return c.but(weights=F.dropout(c.weights, c.rate, c.training))


def mix(c: Context) -> Context:
    """Output i is the mean of the values under row i of the weights."""
    return c.but(mixed=c.weights @ c.value)


def output(c: Context) -> Context:
    """The output projection, where the level has one."""
    return c.but(output=c.layers["output"](c.mixed))


def pass_on(c: Context) -> Context:
    """The last step of a level without an output projection."""
    return c.but(output=c.mixed)


FORMULA: Plan = {
    "project": project,
    "scores": scores,
    "scale": scale,
    "normalise": normalise,
    "mix": mix,
    "output": pass_on,
}

MASKED: Plan = {
    "project": project,
    "scores": scores,
    "scale": scale,
    "mask": mask,
    "normalise": normalise,
    "drop": drop,
    "mix": mix,
    "output": pass_on,
}

MASKED_WITH_OUTPUT: Plan = {**MASKED, "output": output}
