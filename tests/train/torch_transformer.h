#pragma once

/// A transformer in PyTorch, as a text for the programs of tests. Attention is written out, so that every version runs it.
namespace tinymp::test {

constexpr const char* torch_transformer = R"(
import torch
from torch import nn


def attention(q, k, v, causal=False, lengths=None):
    places = torch.arange(k.shape[-2])
    seen = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool)
    if causal:
        seen = places[:, None] >= places[None, :]
    if lengths is not None:
        seen = seen & (places < lengths[:, None])[:, None, None, :]
    scores = q @ k.transpose(-2, -1) / q.shape[-1] ** 0.5
    return scores.masked_fill(~seen, -float('inf')).softmax(-1) @ v


def attention_of_heads(heads, q, k, v, causal=False, lengths=None):
    q, k, v = (x.unflatten(-1, (heads, x.shape[-1] // heads)).transpose(1, 2) for x in (q, k, v))
    return attention(q, k, v, causal, lengths).transpose(1, 2).flatten(2)


class TransformerBlock(nn.Module):
    def __init__(self, width, heads, causal):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.query, self.key, self.value = (nn.Linear(width, width) for _ in range(3))
        self.out = nn.Linear(width, width)
        self.first, self.second = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)
        self.heads, self.causal = heads, causal

    def attend(self, x, lengths):
        q, k, v = self.query(x), self.key(x), self.value(x)
        return self.out(attention_of_heads(self.heads, q, k, v, self.causal, lengths))

    def change(self, x):
        return self.second(nn.functional.gelu(self.first(x)))

    def forward(self, x, lengths):
        if self.causal:
            x = x + self.attend(self.norm1(x), lengths)
            return x + self.change(self.norm2(x))
        x = self.norm1(x + self.attend(x, lengths))
        return self.norm2(x + self.change(x))


class Bias(nn.Module):
    def __init__(self, words):
        super().__init__()
        self.bias = nn.Parameter(torch.zeros(words))


class Decoder(nn.Module):
    def __init__(self, causal=True):
        super().__init__()
        self.embedding, self.positions = nn.Embedding(11, 8), nn.Embedding(6, 8)
        self.blocks = nn.ModuleList(TransformerBlock(8, 2, causal) for _ in range(2))
        self.norm = nn.LayerNorm(8)

    def embedded(self, tokens):
        return self.embedding(tokens.long()) + self.positions(torch.arange(tokens.shape[1]))

    def forward(self, tokens, lengths=None, asked=None):
        x = self.embedded(tokens)
        for block in self.blocks:
            x = block(x, lengths)
        x = self.norm(x).flatten(0, 1)
        return nn.functional.linear(x if asked is None else x[asked], self.embedding.weight)


class EncoderBody(Decoder):
    def __init__(self):
        super().__init__(causal=False)
        self.transform = nn.Linear(8, 8)

    def body(self, tokens, lengths, asked):
        x = self.norm(self.embedded(tokens))
        for block in self.blocks:
            x = block(x, lengths)
        x = x.flatten(0, 1)
        return self.transform(x if asked is None else x[asked])


class Encoder(EncoderBody):
    def __init__(self):
        super().__init__()
        self.transform_norm, self.out = nn.LayerNorm(8), Bias(11)

    def forward(self, tokens, lengths=None, asked=None):
        x = self.transform_norm(nn.functional.gelu(self.body(tokens, lengths, asked)))
        return nn.functional.linear(x, self.embedding.weight, self.out.bias)


class Classifier(EncoderBody):
    def __init__(self):
        super().__init__()
        self.out = nn.Linear(8, 3)

    def forward(self, tokens, lengths=None, asked=None):
        return self.out(torch.tanh(self.body(tokens, lengths, asked)))
)";

}  // namespace tinymp::test
