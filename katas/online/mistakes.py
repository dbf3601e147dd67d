"""What can go wrong in online: forms of its steps, and what only real code does."""

from __future__ import annotations

from collections.abc import Sequence

from kata_content.blocks import known
from kata_content.blocks.reading import BLOCKS, SCALE, STABILITY
from kata_content.blocks.rescaling import RESCALE
from kata_content.common.examples import edited, instead

from grader.authoring import Example, Fitted, Form, Numbers


def _divisor(numbers: Numbers, written: Sequence[int]) -> Form:
    """The scores are divided by these numbers instead of √head_dim."""
    each = {width: number for (width,), number in sorted(numbers.items())}
    same = len(each) > 1 and max(each.values()) <= 1.01 * min(each.values())
    found = next(iter(each.values()))
    fixed = {round(found), round(found**2)} & set(written)
    told = ", ".join(f"{number:.4g} at head_dim {width}" for width, number in each.items())
    return Form(
        "scale_wrong_value",
        {},
        shows=f"scores are always divided by {found:.4g}, whatever head_dim is"
        if same
        else f"scores are divided by {told}",
        entails=("hard_coded_sizes",) if same and fixed else (),
    )


VALUES = (*SCALE, *BLOCKS, *STABILITY, *RESCALE)
NEUTRAL: tuple[Form, ...] = ()
TRAINING: tuple[Form, ...] = ()
FITTED = (
    Fitted("scale", lambda c, number: c.but(scaled=c.query / number), _divisor, ("d",), low=1e-2, high=1e3),
)
KNOWN = known.KNOWN

SLICE = "start : start + block_size"
LOOP = "for start in range(0, key_len, block_size):\n"
SCORES = "scores = query @ keys.transpose(-2, -1) / math.sqrt(head_dim)"
WEIGHTS = "torch.exp(scores - new_max)"
RETURN = "return mixed / running_sum"
WHOLE = """\
    if key_len % block_size:
        raise ValueError("key_len is no multiple of block_size")
"""
VIEWED = """\
    key = key.reshape(*key.shape[:2], -1, block_size, head_dim).flatten(2, 3)
"""
ONE_MORE = "for start in range(0, (key_len // block_size + 1) * block_size, block_size):\n"
ALL_SCORES = """\
    scores = query @ key.transpose(-2, -1) / math.sqrt(head_dim)
    weights = torch.softmax(scores, dim=-1)
"""
BANNED = "torch.nn.functional.scaled_dot_product_attention(query, key, value)"

EXAMPLES: tuple[Example, ...] = (
    edited("online_full_scores", (RETURN, f"{ALL_SCORES}    return weights @ value")),
    edited(
        "online_full_scores",
        ("    for start", f"{ALL_SCORES}    for start"),
        (SCORES, f"scores = (query @ key.transpose(-2, -1) / math.sqrt(head_dim))[..., {SLICE}]"),
    ),
    edited("online_needs_whole_blocks", ("    for start", f"{WHOLE}    for start")),
    edited("online_needs_whole_blocks", ("    for start", f"{VIEWED}    for start")),
    edited("online_empty_block_crash", (LOOP, ONE_MORE)),
    edited("api_typo", (WEIGHTS, "torch.expp(scores - new_max)")),
    edited("name_error_unbound_variable", (WEIGHTS, "torch.exp(scores - peak)")),
    edited("max_returns_pair", ("scores.amax(dim=-1", "scores.max(dim=-1")),
    *instead(RETURN, "returns_tuple", f"{RETURN}, running_max", "return (mixed / running_sum, running_sum)"),
    edited(
        "wrong_dtype", (RETURN, f"{RETURN}.float()".replace("mixed / running_sum", "(mixed / running_sum)"))
    ),
    edited(
        "wrong_dtype",
        (RETURN, "out = torch.empty(query.shape)\n    out[:] = mixed / running_sum\n    return out"),
    ),
    *instead(
        WEIGHTS,
        "gradient_detached",
        "torch.exp(scores - new_max).detach()",
        "torch.exp((scores - new_max).data)",
        "torch.exp(scores.detach() - new_max)",
    ),
    edited("gradient_detached", ("shrink = torch", "with torch.no_grad():\n            shrink = torch")),
    edited("gradient_detached", ("running_max = new_max", "running_max = new_max.detach()")),
    edited("inplace_breaks_backward", (WEIGHTS, f"{WEIGHTS}\n        weights *= 1.0")),
    *instead(
        "    for start",
        "mutates_input",
        "    query /= math.sqrt(head_dim)\n    query *= math.sqrt(head_dim)\n    key += 1e-3\n    for start",
        "    query.mul_(1.0 / math.sqrt(head_dim))\n    head_dim = 1\n    for start",
    ),
    edited("uses_builtin", (RETURN, f"return {BANNED}")),
)
RIGHT: tuple[Example, ...] = (
    edited("the maximum detached", ("keepdim=True))\n        #", "keepdim=True)).detach()\n        #")),
    *instead(
        "-math.inf)  #",
        "a low start",
        "torch.finfo(query.dtype).min)  #",
        "-1e9)  #",
        "-1e4)  #",
    ),
    edited("the query scaled", (SCORES, "scores = (query / head_dim**0.5) @ keys.mT")),
    edited("a constant added", (SCORES, f"{SCORES} + 3.0")),
    edited(
        "powers of two",
        (SCORES, f"{SCORES} * math.log2(math.e)"),
        ("torch.exp(", "torch.exp2("),
    ),
    edited("a tiny epsilon", (RETURN, f"{RETURN.replace('running_sum', '(running_sum + 1e-9)')}")),
)
GATES: tuple[Example, ...] = (
    edited(
        "the_result_is_right_on_every_probe",
        ("    for start", "    query = query + 0.3 * key[..., :1, :]\n    for start"),
    ),
    edited(
        "unusual_inputs_are_right_as_well",
        ("    for start", "    query = query if key_len < 50 else query * 2\n    for start"),
    ),
)
