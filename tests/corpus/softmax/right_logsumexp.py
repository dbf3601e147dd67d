import torch


def softmax(logits, dim=-1):
    shifted = logits - logits.amax(dim, keepdim=True)
    return (shifted - shifted.logsumexp(dim, keepdim=True)).exp()
