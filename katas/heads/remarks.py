"""What the report says of the ways in which heads may be cut and numbered: all of them are right."""

from __future__ import annotations

from collections.abc import Mapping

from grader.authoring import Candidate, Remark, Slot

BLOCKS = "Each head is a block of neighbouring features."
EVERY = "The heads are interleaved: a head has every num_heads-th feature. Usual are blocks; both are right."
CUTS = {
    "H d": BLOCKS,
    "R H d": BLOCKS,
    "d H": EVERY,
    "R d H": EVERY,
    "H R d": "The fused projection is cut head by head, each with its query, key and value, like GPT-NeoX.",
    "H d R": "In the fused projection, query, key and value alternate from feature to feature of a head.",
    "d R H": "The fused projection is cut feature by feature, each with query, key and value of all heads.",
    "d H R": "In the fused projection, query, key and value alternate from feature to feature.",
}
NUMBERED = {
    "H": "Some layers number the heads in another order than others: the same function, other parameters.",
    "d": "Some layers number a head's features in another order: the same function, other parameters.",
}


def how_heads_are_cut(candidate: Candidate) -> Remark | None:
    """How the features of each layer lie, as the outputs showed; where layers differ, of which."""
    roles: dict[str, list[str]] = {}
    for role, slot in _slots(candidate).items():
        if slot.cut in CUTS:
            roles.setdefault(CUTS[slot.cut], []).append(role)
    told = [f"{', '.join(of).capitalize()}: {text}" for text, of in roles.items()]
    return Remark(id="cut", text=" ".join(roles if len(roles) == 1 else told)) if roles else None


def how_they_are_numbered(candidate: Candidate) -> Remark | None:
    """Whether some layers number heads, or features, otherwise than the rest."""
    axes = {slot.renumbered.axis for slot in _slots(candidate).values() if slot.renumbered is not None}
    return Remark(id="numbering", text=" ".join(NUMBERED[axis] for axis in sorted(axes))) if axes else None


def _slots(candidate: Candidate) -> Mapping[str, Slot]:
    return {} if candidate.layout is None else candidate.layout.slots


REMARKS = (how_heads_are_cut, how_they_are_numbered)
