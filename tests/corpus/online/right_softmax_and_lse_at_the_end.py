import torch


def online_attention(query, key, value, block_size):
    """Each block's softmax and log-sum-exp; a softmax over the log-sum-exps weighs the blocks."""
    outs, logs = [], []
    for a in range(0, key.size(2), block_size):
        s = query @ key[:, :, a:a + block_size].mT / query.size(-1) ** 0.5
        outs.append(s.softmax(-1) @ value[:, :, a:a + block_size])
        logs.append(s.logsumexp(-1))
    share = torch.stack(logs, -1).softmax(-1)
    return sum(share[..., n:n + 1] * out for n, out in enumerate(outs))
