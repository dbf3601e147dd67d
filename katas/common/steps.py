"""The right steps of single-head self-attention: softmax(QKᵀ/√d)V (Vaswani et al. 2017, section 3.2.1)."""

from __future__ import annotations

import math

import torch
import torch.nn.functional as F

from grader.authoring import Context, Plan, Step


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


PROJECT = Step(project, "projections", {"query": "B S D", "key": "B S D", "value": "B S D"})
SCORES = Step(scores, "scores", {"scores": "B S T"})
SCALE = Step(scale, "scale", {"scores": "B S T"})
MASK = Step(mask, "mask", {"scores": "B S T"})
NORMALISE = Step(normalise, "softmax", {"weights": "B S T"})
DROP = Step(drop, "dropout", {"weights": "B S T"})
MIX = Step(mix, "mix", {"mixed": "B S D"})
OUTPUT = Step(output, "mix", {"output": "B S D"}, role="output", without=pass_on)
PASS_ON = Step(pass_on, "mix", {"output": "B S D"})

FORMULA: Plan = {
    "project": PROJECT,
    "scores": SCORES,
    "scale": SCALE,
    "normalise": NORMALISE,
    "mix": MIX,
    "output": PASS_ON,
}

MASKED: Plan = {
    "project": PROJECT,
    "scores": SCORES,
    "scale": SCALE,
    "mask": MASK,
    "normalise": NORMALISE,
    "drop": DROP,
    "mix": MIX,
    "output": PASS_ON,
}

MASKED_WITH_OUTPUT: Plan = {**MASKED, "output": OUTPUT}
