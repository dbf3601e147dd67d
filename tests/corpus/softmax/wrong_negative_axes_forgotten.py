import torch


def softmax(logits, dim=-1):
    order = [axis for axis in range(logits.dim()) if axis != dim]
    if dim == -1:
        dim = logits.dim() - 1
        order = order[:-1]
    rows = logits.permute(*order, dim)
    e = torch.exp(rows - rows.amax(-1, keepdim=True))
    back = [0] * logits.dim()
    for place, axis in enumerate((*order, dim)):
        back[axis] = place
    return (e / e.sum(-1, keepdim=True)).permute(*back)
