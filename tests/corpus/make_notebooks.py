"""Write the corpus' notebooks: `python tests/corpus/make_notebooks.py` makes every .ipynb beside it anew.

The notebooks are kept in the repository; this script is how they came about, so that a change is readable.
Each is a tuple of cells: ("code" | "markdown" | "raw", source). Outputs and execution counts are made up.
"""

from __future__ import annotations

import json
from pathlib import Path

HERE = Path(__file__).parent
Cell = tuple[str, str]

IMPORTS = "import math\nimport torch\nimport torch.nn as nn\nimport torch.nn.functional as F"

V1 = """class SelfAttentionV1(nn.Module):
    def __init__(self, hidden_dim: int = 728) -> None:
        super().__init__()
        self.hidden_dim = hidden_dim
        self.query_proj = nn.Linear(hidden_dim, hidden_dim)
        self.key_proj = nn.Linear(hidden_dim, hidden_dim)
        self.value_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, X):
        Q, K, V = self.query_proj(X), self.key_proj(X), self.value_proj(X)
        attention_value = torch.matmul(Q, K.transpose(-1, -2))
        attention_weight = torch.softmax(attention_value / math.sqrt(self.hidden_dim), dim=-1)
        print(attention_weight)
        return torch.matmul(attention_weight, V)"""

V2 = """class SelfAttentionV2(nn.Module):
    def __init__(self, hidden_dim: int = 728) -> None:
        super().__init__()
        self.hidden_dim = hidden_dim
        self.proj = nn.Linear(hidden_dim, hidden_dim * 3)

    def forward(self, X):
        QKV = self.proj(X)
        Q, K, V = torch.split(QKV, self.hidden_dim, dim=-1)
        print(Q.shape, K.shape, V.shape)
        att_weight = torch.softmax(Q @ K.transpose(-1, -2) / math.sqrt(self.hidden_dim), dim=-1)
        return att_weight @ V"""

V3 = """class SelfAttentionV3(nn.Module):
    def __init__(self, hidden_dim: int = 728, dropout_rate: float = 0.1, *args, **kwargs) -> None:
        super().__init__(*args, **kwargs)
        self.hidden_dim = hidden_dim
        self.proj = nn.Linear(hidden_dim, hidden_dim * 3)
        self.attention_dropout = nn.Dropout(dropout_rate)
        self.output_proj = nn.Linear(hidden_dim, hidden_dim)

    def forward(self, X, attention_mask=None):
        Q, K, V = self.proj(X).split(self.hidden_dim, dim=-1)
        att_weight = Q @ K.transpose(-1, -2) / math.sqrt(self.hidden_dim)
        if attention_mask is not None:
            att_weight = att_weight.masked_fill(attention_mask == 0, float("-1e20"))
        att_weight = torch.softmax(att_weight, dim=-1)
        print(att_weight)
        att_weight = self.attention_dropout(att_weight)
        return self.output_proj(att_weight @ V)"""

V4 = """class SelfAttentionV4(nn.Module):
    def __init__(self, hidden_dim: int = 728, dropout_rate: float = 0.1) -> None:
        super().__init__()
        self.hidden_dim = hidden_dim
        self.query = nn.Linear(hidden_dim, hidden_dim)
        self.key = nn.Linear(hidden_dim, hidden_dim)
        self.value = nn.Linear(hidden_dim, hidden_dim)
        self.attention_dropout = nn.Dropout(dropout_rate)

    def forward(self, X, attention_mask=None):
        Q = self.query(X)
        K = self.key(X)
        V = self.value(X)
        attention_weight = Q @ K.transpose(-1, -2) / math.sqrt(self.hidden_dim)
        if attention_mask is not None:
            attention_weight = attention_weight.masked_fill(attention_mask == 0, float("-inf"))
        attention_weight = torch.softmax(attention_weight, dim=-1)
        print(attention_weight)
        attention_weight = self.attention_dropout(attention_weight)
        return attention_weight @ V"""

ALL_FOUR: tuple[Cell, ...] = (
    ("markdown", "# Self-attention, vier Versionen\n\nErst die Formel, dann schneller, dann vollständig."),
    ("code", "%load_ext autoreload\n%autoreload 2\n!pip install -q torch"),
    ("code", IMPORTS),
    ("markdown", "## Version 1"),
    ("code", V1 + "\n\nX = torch.rand(3, 2, 4)\nself_attention = SelfAttentionV1(4)\nself_attention(X)"),
    ("code", V2),
    ("code", V3),
    ("code", V4),
    (
        "code",
        "X = torch.rand(3, 4, 2)\nmask = torch.tensor([[1, 1, 1, 0], [1, 1, 0, 0], [1, 0, 0, 0]])\nmask.shape",
    ),
    ("code", "SelfAttentionV3(2)(X, mask.unsqueeze(1).repeat(1, 4, 1)).shape"),
    ("code", "SelfAttentionV4(2)(X, mask)  # does not broadcast: raises"),
)

NOTEBOOKS: dict[str, tuple[Cell, ...]] = {
    "v1/right_notebook_magics_and_failing_cell.ipynb": (
        ("raw", "title: attention"),
        ("code", "%matplotlib inline\nimport math\nimport torch\nfrom torch import nn"),
        ("code", "%%bash\nls -la | head\nfor f in *.py; do echo $f; done"),
        ("code", "nn.Linear?"),
        ("code", V1),
        ("code", "%timeit -n 1 -r 1 SelfAttentionV1(8)(torch.rand(1, 2, 8))"),
        ("code", "files = !ls\nSelfAttentionV1(8)(torch.rand(1, 2, 7))"),
    ),
    "v1/right_notebook_all_four_classes.ipynb": ALL_FOUR,
    "v2/right_notebook_all_four_classes.ipynb": ALL_FOUR,
    "v3/right_notebook_all_four_classes.ipynb": ALL_FOUR,
    "v4/right_notebook_all_four_classes.ipynb": ALL_FOUR,
    "v2/right_notebook_timed_class_cell.ipynb": (
        ("code", IMPORTS),
        ("code", "%%time\n" + V2),
        ("code", "net = SelfAttentionV2(4)\nprint(net(torch.rand(3, 2, 4)))\ndisplay(net)"),
    ),
    "v3/right_notebook_defined_twice.ipynb": (
        ("code", IMPORTS),
        ("code", V3.replace(" / math.sqrt(self.hidden_dim)", "")),
        ("markdown", "Skalierung vergessen, noch einmal:"),
        ("code", V3),
        ("code", "SelfAttentionV3(6)(torch.rand(2, 3, 6), torch.ones(2, 3, 3)).shap"),
    ),
    "v4/right_notebook_helpers_in_cells.ipynb": (
        ("code", IMPORTS + "\nfrom typing import Optional"),
        (
            "code",
            "def attend(q, k, v, mask=None, drop=None):\n"
            "    s = q @ k.mT / math.sqrt(q.shape[-1])\n"
            "    if mask is not None:\n"
            "        s = s.masked_fill(mask == 0, -1e9)\n"
            "    w = F.softmax(s, -1)\n"
            "    return (drop(w) if drop else w) @ v",
        ),
        (
            "code",
            "class SelfAttentionV4(nn.Module):\n"
            "    def __init__(self, hidden_dim=728, dropout_rate=0.1):\n"
            "        super().__init__()\n"
            "        self.qkv = nn.Linear(hidden_dim, 3 * hidden_dim)\n"
            "        self.drop = nn.Dropout(dropout_rate)\n"
            "\n"
            "    def forward(self, x, attention_mask: Optional[torch.Tensor] = None):\n"
            "        return attend(*self.qkv(x).chunk(3, -1), attention_mask, self.drop)",
        ),
        ("code", "assert SelfAttentionV4(4)(torch.rand(2, 3, 4)).shape == (2, 3, 5)"),
    ),
    "v1/wrong_notebook_no_scale.ipynb": (
        ("code", IMPORTS),
        ("code", V1.replace(" / math.sqrt(self.hidden_dim)", "")),
        ("code", "SelfAttentionV1(4)(torch.rand(3, 2, 4))"),
    ),
    "v2/wrong_notebook_split_into_three.ipynb": (
        ("code", "%pip install torch\n" + IMPORTS),
        ("code", V2.replace("torch.split(QKV, self.hidden_dim, dim=-1)", "torch.split(QKV, 3, dim=-1)")),
        ("code", "SelfAttentionV2(3)(torch.rand(3, 2, 3))  # fits by chance"),
    ),
    "v3/wrong_notebook_mask_inverted.ipynb": (
        ("code", IMPORTS),
        ("code", V3.replace("attention_mask == 0", "attention_mask == 1")),
        ("code", "SelfAttentionV3(4)(torch.rand(3, 2, 4), torch.ones(2, 2).tril())"),
    ),
    "v4/wrong_notebook_last_definition_is_wrong.ipynb": (
        ("code", IMPORTS),
        ("code", V4),
        ("markdown", "Schneller ohne Dropout?"),
        ("code", V4.replace("        attention_weight = self.attention_dropout(attention_weight)\n", "")),
    ),
}


def notebook(cells: tuple[Cell, ...], *, one_string: bool) -> str:
    """The JSON text of a notebook; sources as one string or as a list of lines, as both occur."""
    made = []
    for count, (kind, source) in enumerate(cells, start=1):
        text: str | list[str] = source if one_string else source.splitlines(keepends=True)
        cell: dict[str, object] = {"cell_type": kind, "metadata": {}, "source": text}
        if kind == "code":
            cell |= {"execution_count": count, "outputs": []}
        made.append(cell)
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    document = {"cells": made, "metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 2}
    return json.dumps(document, indent=1, ensure_ascii=False) + "\n"


def main() -> None:
    for number, (name, cells) in enumerate(NOTEBOOKS.items()):
        (HERE / name).write_text(notebook(cells, one_string=number % 2 == 1), encoding="utf-8")


if __name__ == "__main__":
    main()
