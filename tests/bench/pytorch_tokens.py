"""GPT-2 and BERT in PyTorch as Strata's zoo has them (docs/models.md): without dropout, the weight of
the embedding telling the tokens. For pytorch_step.py; needs PyTorch 2.0 for its fused attention.
"""

import torch
from torch import nn
from torch.nn import functional

if not hasattr(functional, "scaled_dot_product_attention"):
    raise SystemExit(f"pytorch_tokens.py: error: PyTorch {torch.__version__} has no fused attention; "
                     "allowed: 2.0 or newer (compare-pytorch --python)")


class Attention(nn.Module):
    """One product for queries, keys and values, as these networks' own code has it."""

    def __init__(self, hidden, heads, causal):
        super().__init__()
        self.heads, self.causal = heads, causal
        self.qkv = nn.Linear(hidden, 3 * hidden)
        self.out = nn.Linear(hidden, hidden)

    def forward(self, x):
        batch, tokens, hidden = x.shape
        parts = self.qkv(x).view(batch, tokens, 3, self.heads, -1).permute(2, 0, 3, 1, 4)
        seen = functional.scaled_dot_product_attention(*parts, is_causal=self.causal)
        return self.out(seen.transpose(1, 2).reshape(batch, tokens, hidden))


def feed_forward(hidden):
    return nn.Sequential(nn.Linear(hidden, 4 * hidden), nn.GELU(), nn.Linear(4 * hidden, hidden))


class Block(nn.Module):
    def __init__(self, hidden, heads, causal, norm_first, epsilon):
        super().__init__()
        self.norm_first = norm_first
        self.attention, self.ffn = Attention(hidden, heads, causal), feed_forward(hidden)
        self.norm1, self.norm2 = (nn.LayerNorm(hidden, epsilon) for _ in range(2))

    def forward(self, x):
        if self.norm_first:
            x = x + self.attention(self.norm1(x))
            return x + self.ffn(self.norm2(x))
        x = self.norm1(x + self.attention(x))
        return self.norm2(x + self.ffn(x))


class Gpt(nn.Module):
    vocabulary = 50257

    def __init__(self, layers=12, hidden=768, heads=12, positions=1024):
        super().__init__()
        self.words = nn.Embedding(self.vocabulary, hidden)
        self.positions = nn.Embedding(positions, hidden)
        self.blocks = nn.Sequential(*(Block(hidden, heads, True, True, 1e-5) for _ in range(layers)))
        self.norm = nn.LayerNorm(hidden)

    def forward(self, tokens):
        x = self.words(tokens) + self.positions(torch.arange(tokens.shape[1]))
        return functional.linear(self.norm(self.blocks(x)), self.words.weight)


class Bert(nn.Module):
    vocabulary = 30522

    def __init__(self, layers=12, hidden=768, heads=12, positions=512):
        super().__init__()
        self.words = nn.Embedding(self.vocabulary, hidden)
        self.positions, self.types = nn.Embedding(positions, hidden), nn.Embedding(2, hidden)
        self.norm = nn.LayerNorm(hidden, 1e-12)
        self.blocks = nn.Sequential(
            *(Block(hidden, heads, False, False, 1e-12) for _ in range(layers)))
        self.pooler = nn.Sequential(nn.Linear(hidden, hidden), nn.Tanh())

    def forward(self, tokens):
        x = self.words(tokens) + self.positions(torch.arange(tokens.shape[1]))
        x = self.blocks(self.norm(x + self.types(torch.zeros_like(tokens))))
        self.pooler(x[:, 0])
        return functional.linear(x, self.words.weight)
