import torch


def softmax(logits, dim=-1):
    entries = logits.unbind(dim)
    top = torch.full_like(entries[0], float("-inf"))
    total = torch.zeros_like(entries[0])
    for entry in entries:
        higher = torch.maximum(top, entry)
        old = torch.where(top == float("-inf"), torch.zeros_like(top), torch.exp(top - higher))
        new = torch.where(higher == float("-inf"), torch.zeros_like(top), torch.exp(entry - higher))
        total = total * old + new
        top = higher
    return torch.exp(logits - top.unsqueeze(dim)) / total.unsqueeze(dim)
