"""Answers made from the solutions by editing text: wrong ones whose mistake is behaviour, unusual right ones.

What shows in values has its form in `mistakes.py`; here stands what only real code can do: crash, mutate,
return something else, misspell a name. `kata lint` grades each of them through a real worker.
"""

from __future__ import annotations

from grader.authoring import Example


def edited(label: str, *edits: tuple[str, str]) -> Example:
    """The solution with every `old` replaced by its `new`."""
    return Example(label=label, edits=edits)


def instead(old: str, label: str, *news: str) -> tuple[Example, ...]:
    """One example for each text that may stand where `old` stands in the solution."""
    return tuple(edited(label, (old, new)) for new in news)


BEGIN = "# x: (batch, seq_len, hidden_dim)\n"  # the first line of every forward
INIT = "        super().__init__()\n"
SEPARATE = """\
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)
"""
PROJECT = """\
        query = self.query_proj(x)  # (batch, seq_len, hidden_dim)
        key = self.key_proj(x)  # (batch, seq_len, hidden_dim)
        value = self.value_proj(x)  # (batch, seq_len, hidden_dim)
"""
FUSED = "        self.proj = nn.Linear(hidden_dim, 3 * hidden_dim)\n"
PACK = """\
        packed = self.proj(x)  # (batch, seq_len, 3 * hidden_dim)
        query, key, value = packed.chunk(3, dim=-1)  # (batch, seq_len, hidden_dim)
"""
SPLIT = "packed.chunk(3, dim=-1)"
KEY_T = "key.transpose(-2, -1)"
SCORE = "query @ key.transpose(-2, -1)"
SCALE = "        scores = scores / math.sqrt(self.hidden_dim)  # (batch, seq_len, seq_len)\n"
HIDDEN = "attention_mask == 0"
MASKED = "if attention_mask is not None:\n"
FILL = "scores.masked_fill(attention_mask == 0, lowest)"
SOFTMAX = "weights = torch.softmax(scores, dim=-1)"
DROP = "self.attention_dropout(weights)"
MIX = "weights @ value"
RETURN_MIX = f"return {MIX}"
RETURN_OUTPUT = "return self.output_proj(mixed)"
BUILTIN = "nn.functional.scaled_dot_product_attention(query, key, value{})"
BUILTIN_MASKED = BUILTIN.format(
    ", None if attention_mask is None else attention_mask != 0, self.attention_dropout.p * self.training"
)

# wrong answers: every level -------------------------------------------------------------------------------

EVERY_LEVEL = (
    edited("missing_super_init", (INIT, "")),
    *instead("def __init__(", "init_misnamed", "def __init(", "def _init_("),
    edited("forward_missing", ("def forward(", "def foward(")),
    edited("api_typo", ("nn.Linear(", "nn.Lineer(")),
    edited("api_typo", ("torch.softmax(", "torch.sofmax(")),
    edited("api_typo", ("key.transpose(", "key.tranpose(")),
    edited("api_typo", ("(nn.Module)", "(nn.module)")),
    edited("api_typo", ("import torch\n", "import torhc\n")),
    edited("name_error_unbound_variable", (MIX, "weights @ values")),
    edited("eval_called_in_forward", (BEGIN, "self.eval()\n")),
    *instead(
        SOFTMAX,
        "gradient_detached",
        "weights = torch.softmax(scores.detach(), dim=-1)",
        f"{SOFTMAX}.data",
        f"with torch.no_grad():\n            {SOFTMAX}",
    ),
    *instead(
        SOFTMAX,
        "inplace_breaks_backward",
        f"{SOFTMAX}\n        weights *= 1.0",
        f"{SOFTMAX}\n        weights[:, 0] += 0.0",
    ),
    edited("mutates_input", (SOFTMAX, f"{SOFTMAX}\n        x.zero_()")),
    edited("hard_coded_sizes", ("nn.Linear(hidden_dim, ", "nn.Linear(728, ")),
    edited("hard_coded_sizes", ("proj(x)", "proj(x.view(3, 5, self.hidden_dim))")),
    edited("hard_coded_device", (SOFTMAX, f"{SOFTMAX}.cuda()")),
    *instead(KEY_T, "T_on_3d", "key.T", "key.t()"),
    edited("permute_invalid", (KEY_T, "key.permute(0, 2, 2)")),
    *instead(KEY_T, "transpose_wrong_axes", "key.transpose(0, 1)", "key.transpose(0, 2)", "key"),
)

# wrong answers: where query, key and value have layers of their own ----------------------------------------

SEPARATE_LAYERS = (
    edited("attribute_error_wrong_self_name", ("self.key_proj(x)", "self.k_proj(x)")),
    edited("parameters_created_in_forward", ("self.key_proj(x)", "nn.Linear(x.shape[-1], x.shape[-1])(x)")),
    edited(
        "parameters_created_in_forward",
        (SEPARATE, ""),
        (BEGIN, f"hidden_dim = self.hidden_dim\n{SEPARATE}"),
    ),
    edited("split_wrong_dim", (SEPARATE, FUSED), (PROJECT, PACK), (SPLIT, "packed.chunk(3)")),
    edited("split_wrong_dim", (SEPARATE, FUSED), (PROJECT, PACK), (SPLIT, "packed.chunk(3, dim=1)")),
)

# wrong answers: level 2 -----------------------------------------------------------------------------------

FUSED_LAYER = (
    edited("attribute_error_wrong_self_name", ("self.proj(x)", "self.qkv(x)")),
    edited("not_single_projection", (FUSED, SEPARATE), (PACK, PROJECT)),
    *instead(SPLIT, "split_size_confused", "packed.split(3, dim=-1)", "torch.split(packed, 3, -1)"),
    *instead(SPLIT, "split_wrong_dim", "packed.chunk(3)", "packed.chunk(3, dim=1)"),
)

# wrong answers: mask and dropout --------------------------------------------------------------------------

MASK_AND_DROPOUT = (
    *instead(
        HIDDEN, "mask_dtype_assumed_bool", "~attention_mask", "attention_mask.logical_not() & ~attention_mask"
    ),
    edited("mask_dtype_assumed_bool", (FILL, "scores + (1 - attention_mask) * lowest")),
    *instead(
        FILL,
        "mask_fill_wrong_type",
        'scores.masked_fill(attention_mask == 0, "-inf")',
        "scores.masked_fill(attention_mask == 0, None)",
    ),
    *instead(
        HIDDEN,
        "key_mask_not_expanded",
        "attention_mask.view(scores.shape) == 0",
        "attention_mask.reshape(x.shape[0], x.shape[1], x.shape[1]) == 0",
    ),
    edited("mask_not_optional", (MASKED, "if True:\n")),
    edited("mask_not_optional", (MASKED, "if True:\n"), (HIDDEN, "attention_mask.eq(0)")),
    edited(
        "mask_not_optional", ("attention_mask: torch.Tensor | None = None", "attention_mask: torch.Tensor")
    ),
    edited(
        "mutates_mask_argument",
        (HIDDEN, "attention_mask.logical_not_() == 1"),
    ),
    edited("dropout_module_created_in_forward", (DROP, "nn.Dropout(self.attention_dropout.p)(weights)")),
    edited(
        "functional_dropout_without_training_flag",
        (DROP, "nn.functional.dropout(weights, self.attention_dropout.p)"),
    ),
    edited("dropout_in_eval", (DROP, "nn.functional.dropout(weights, self.attention_dropout.p, True)")),
)

# wrong answers: what is returned --------------------------------------------------------------------------

RETURNS_MIX = (edited("returns_tuple", (RETURN_MIX, f"{RETURN_MIX}, weights")),)
RETURNS_OUTPUT = (edited("returns_tuple", (RETURN_OUTPUT, f"{RETURN_OUTPUT}, weights")),)
CALLS_BUILTIN = (edited("uses_builtin", (MIX, BUILTIN.format(""))),)
CALLS_BUILTIN_MASKED = (edited("uses_builtin", (MIX, BUILTIN_MASKED)),)
RETURNS_ONLY_MASKED = (
    edited("returns_none_without_mask", (RETURN_MIX, f"{MASKED}            {RETURN_MIX}")),
)
RETURNS_OUTPUT_ONLY_MASKED = (
    edited("returns_none_without_mask", (RETURN_OUTPUT, f"{MASKED}            {RETURN_OUTPUT}")),
)

# what each gate rejects, by the gate's name; a kata with other gates has `GATES` of its own ----------------

GATES = (
    edited("the_output_equals_the_formula_on_every_probe", (BEGIN, "x = x + 1\n")),
    edited("unusual_inputs_give_the_formula_as_well", (BEGIN, "x = x if x.shape[1] < 64 else x.flip(1)\n")),
    edited("samples_of_a_batch_do_not_see_each_other", (BEGIN, "x = x - x.mean(0)\n")),
    edited(
        "permuting_the_tokens_permutes_the_output",
        (BEGIN, "x = x + torch.arange(x.shape[1]).unsqueeze(-1)\n"),
    ),
    edited("training_without_dropout_gives_the_same_output", (BEGIN, "x = 2 * x if self.training else x\n")),
    edited("eval_mode_is_deterministic", (BEGIN, "x = x + torch.rand_like(x)\n")),
)

# right answers that look unusual --------------------------------------------------------------------------

RIGHT_EVERY_LEVEL = (
    edited("softmax by hand", (SOFTMAX, "weights = scores.exp() / scores.exp().sum(-1, keepdim=True)")),
    edited("log_softmax and exp", (SOFTMAX, "weights = scores.log_softmax(2).exp()")),
    edited("scale on the query", (SCALE, ""), (SCORE, f"(query * self.hidden_dim**-0.5) @ {KEY_T}")),
    edited(
        "scale shared by query and key",
        (SCALE, ""),
        (SCORE, f"(query / self.hidden_dim**0.25) @ ({KEY_T} / self.hidden_dim**0.25)"),
    ),
    edited(
        "einsum and bmm", (SCORE, 'torch.einsum("bqd,bkd->bqk", query, key)'), (MIX, "weights.bmm(value)")
    ),
    edited("key.mT", (KEY_T, "key.mT")),
    edited(
        "another name and default for the width",
        ("hidden_dim: int = 728", "embed_dim: int = 512"),
        (INIT, f"{INIT}        hidden_dim = embed_dim\n"),
    ),
    edited("no default for the width", ("hidden_dim: int = 728", "hidden_dim: int")),
    edited("layers without bias", ("hidden_dim)\n", "hidden_dim, bias=False)\n")),
    edited("a detached copy is kept", (SOFTMAX, f"{SOFTMAX}\n        self.seen = weights.detach()")),
    edited("prints in forward", (SOFTMAX, f"{SOFTMAX}\n        print(weights.shape)")),
    edited("a demo at import", ("class ", "print(torch.ones(2))\n\n\nclass ")),
    edited(
        "another name for x",
        ("def forward(self, x: ", "def forward(self, hidden_states: "),
        (BEGIN, "x = hidden_states\n"),
    ),
)
RIGHT_SEPARATE_LAYERS = (
    edited("names that say nothing", ("query_proj", "a"), ("key_proj", "b"), ("value_proj", "c")),
    edited("one fused layer", (SEPARATE, FUSED), (PROJECT, PACK)),
    edited(
        "parameters used as x @ w",
        *(
            (
                f"self.{role}_proj = nn.Linear(hidden_dim, hidden_dim)",
                f"self.{role}_proj = nn.Parameter(torch.randn(hidden_dim, hidden_dim))",
            )
            for role in ("query", "key", "value")
        ),
        *((f"self.{role}_proj(x)", f"x @ self.{role}_proj") for role in ("query", "key", "value")),
    ),
    edited("layers in another order", (SEPARATE, "".join(reversed(SEPARATE.splitlines(keepends=True))))),
)
RIGHT_FUSED_LAYER = (
    *instead(
        SPLIT,
        "another way to split",
        "packed.split(self.hidden_dim, dim=-1)",
        "(packed[..., i * self.hidden_dim : (i + 1) * self.hidden_dim] for i in range(3))",
        "packed.unflatten(-1, (3, self.hidden_dim)).unbind(2)",
        "packed.view(*x.shape[:2], 3, -1).permute(2, 0, 1, 3)",
    ),
    edited(
        "the weight is cut, not the output",
        (
            PACK,
            """\
        parts = zip(self.proj.weight.chunk(3), self.proj.bias.chunk(3))
        query, key, value = (nn.functional.linear(x, weight, bias) for weight, bias in parts)
""",
        ),
    ),
)
RIGHT_MASK_AND_DROPOUT = (
    *instead(
        FILL,
        "another way to hide",
        'scores.masked_fill(attention_mask == 0, float("-inf"))',
        "scores.masked_fill(attention_mask == 0, -1e9)",
        "scores + (attention_mask == 0).float() * -1e9",
        "scores + attention_mask.float().log()",
        "torch.where(attention_mask.bool(), scores, lowest)",
    ),
    edited(
        "masked after softmax and renormalised",
        (FILL, "scores"),
        (
            SOFTMAX,
            f"""\
{SOFTMAX}
        if attention_mask is not None:
            weights = weights * (attention_mask != 0)
            weights = weights / weights.sum(dim=-1, keepdim=True)""",
        ),
    ),
    *instead(
        DROP,
        "another way to drop",
        "nn.functional.dropout(weights, self.attention_dropout.p, self.training)",
        f"{DROP} if self.training else weights",
    ),
)
