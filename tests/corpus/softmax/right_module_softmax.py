import torch


def softmax(logits, dim=-1):
    return torch.nn.Softmax(dim)(logits)
