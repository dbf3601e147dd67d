"""Answers made from the solutions with several heads, wrong ones and unusual right ones."""

from __future__ import annotations

from kata_content.common.examples import edited, instead

from grader.authoring import Example

INIT = "        super().__init__()\n"
BEGIN = "        # x: (batch, seq_len, hidden_dim)"
JOIN = "mixed.transpose(1, 2).flatten(2)"
SOFTMAX = "weights = torch.softmax(scores, dim=-1)"
SCALE = "scores = scores / math.sqrt(self.head_dim)"
DROP = "self.attention_dropout(weights)"
MIX = "weights @ value"
RETURN = "return self.output_proj(joined)"
CHECKED = """\
        if hidden_dim % num_heads:
            raise ValueError(f"hidden_dim {hidden_dim} is not divisible by num_heads {num_heads}")
"""

EXAMPLES: tuple[Example, ...] = (
    edited("missing_super_init", (INIT, "")),
    edited("init_misnamed", ("def __init__(", "def __init(")),
    edited("forward_missing", ("def forward(", "def foward(")),
    edited("api_typo", ("nn.Linear(", "nn.Lineer(")),
    edited("api_typo", ("torch.softmax(", "torch.sofmax(")),
    edited("name_error_unbound_variable", (MIX, "weights @ values")),
    edited("attribute_error_wrong_self_name", ("self.split(self.key_proj(", "self.split(self.k_proj(")),
    edited("eval_called_in_forward", (BEGIN, f"        self.eval()\n{BEGIN}")),
    *instead(
        SOFTMAX,
        "gradient_detached",
        "weights = torch.softmax(scores.detach(), dim=-1)",
        f"{SOFTMAX}.data",
    ),
    edited("inplace_breaks_backward", (SOFTMAX, f"{SOFTMAX}\n        weights *= 1.0")),
    edited("mutates_input", (SOFTMAX, f"{SOFTMAX}\n        x.zero_()")),
    edited("hard_coded_device", (SOFTMAX, f"{SOFTMAX}.cuda()")),
    edited("returns_tuple", (RETURN, f"{RETURN}, weights")),
    edited("dropout_module_created_in_forward", (DROP, "nn.Dropout(self.attention_dropout.p)(weights)")),
    edited(
        "functional_dropout_without_training_flag",
        (DROP, "nn.functional.dropout(weights, self.attention_dropout.p)"),
    ),
    edited("dropout_in_eval", (DROP, "nn.functional.dropout(weights, self.attention_dropout.p, True)")),
)
GATES: tuple[Example, ...] = (
    edited("the_output_equals_the_formula_on_every_probe", (BEGIN, f"        x = x + 1\n{BEGIN}")),
    edited(
        "unusual_inputs_give_the_formula_as_well",
        (BEGIN, f"        x = x if x.shape[1] < 64 else x.flip(1)\n{BEGIN}"),
    ),
    edited("samples_of_a_batch_do_not_see_each_other", (BEGIN, f"        x = x - x.mean(0)\n{BEGIN}")),
    edited(
        "training_without_dropout_gives_the_same_output",
        (BEGIN, f"        x = 2 * x if self.training else x\n{BEGIN}"),
    ),
    edited("eval_mode_is_deterministic", (BEGIN, f"        x = x + torch.rand_like(x)\n{BEGIN}")),
)
ORDER = edited(
    "permuting_the_tokens_permutes_the_output",
    (BEGIN, f"        x = x + torch.arange(x.shape[1]).unsqueeze(-1)\n{BEGIN}"),
)
RIGHT: tuple[Example, ...] = (
    edited("softmax by hand", (SOFTMAX, "weights = scores.exp() / scores.exp().sum(-1, keepdim=True)")),
    edited("heads joined by reshape", (JOIN, "mixed.transpose(1, 2).reshape(*x.shape)")),
    edited("heads joined every num_heads-th feature", (JOIN, "mixed.permute(0, 2, 3, 1).flatten(2)")),
    edited("the exponent in place of the root", (SCALE, "scores = scores * self.head_dim**-0.5")),
    edited("names that say nothing", ("query_proj", "a"), ("key_proj", "b"), ("value_proj", "c")),
    edited("prints in forward", (SOFTMAX, f"{SOFTMAX}\n        print(weights.shape)")),
    edited("an assertion", (CHECKED, "        assert hidden_dim % num_heads == 0\n")),
    *instead(
        DROP,
        "another way to drop",
        "nn.functional.dropout(weights, self.attention_dropout.p, self.training)",
        f"{DROP} if self.training else weights",
    ),
)
