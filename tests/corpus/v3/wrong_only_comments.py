# self attention with mask
# 1. project q, k, v
# 2. q @ k^T / sqrt(d)
# 3. mask, softmax, dropout
# 4. @ v, then output projection
