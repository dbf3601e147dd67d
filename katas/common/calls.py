"""The recorder's names of torch calls, by what they do in attention."""

from __future__ import annotations

PRODUCTS = frozenset({"matmul", "bmm", "mm", "einsum", "baddbmm", "tensordot", "__matmul__", "__rmatmul__"})
SCALINGS = frozenset(
    {
        "div",
        "div_",
        "mul",
        "mul_",
        "multiply",
        "true_divide",
        "floor_divide",
        "floor_divide_",
        "__rdiv__",
        "rsqrt",
    }
)
NORMALISERS = frozenset({"softmax", "exp", "exp_", "log_softmax", "sigmoid", "_softmax", "logsumexp"})
# What is written where softmax belongs.
STAND_INS = frozenset(
    {
        "sigmoid",
        "relu",
        "tanh",
        "softplus",
        "elu",
        "exp",
        "exp2",
        "pow",
        "__rpow__",
        "square",
        "abs",
        "log_softmax",
    }
)
DROPS = frozenset(
    {"dropout", "dropout_", "feature_dropout", "alpha_dropout", "bernoulli", "bernoulli_", "rand_like"}
)
MASKINGS = frozenset(
    {"masked_fill", "masked_fill_", "where", "add", "add_", "mul", "mul_", "sub", "masked_scatter"}
)
SPLITS = frozenset({"split", "chunk", "tensor_split", "unbind"})
TURNS = frozenset(
    {"transpose", "permute", "mT", "T", "mH", "adjoint", "swapaxes", "swapdims", "movedim", "moveaxis"}
)
