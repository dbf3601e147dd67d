import torch
from torch.nn.functional import softmax as soft


def softmax(logits, dim=-1):
    return soft(logits, dim=dim)
