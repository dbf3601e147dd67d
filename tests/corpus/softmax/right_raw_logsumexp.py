import torch


def softmax(logits, dim=-1):
    wide = logits.float() if logits.dtype in (torch.half, torch.bfloat16) else logits
    return torch.exp(wide - torch.logsumexp(wide, dim, True)).to(logits.dtype)
