"""The multitask address network: one BERT encoder, an area head and a GlobalPointer entity head.

Parameter names follow the published PyTorch BERT, so that its weights load unchanged. Sizes stay
symbolic and every constant is a buffer: a trace of the module runs on any device, at any batch size
and at any length up to ``max_position_embeddings``.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from torch import Tensor, nn
from torch.nn import functional

# Below any score the network gives, and finite in fp16 (unlike 1e12).
MASKED = -1e4


@dataclass(frozen=True)
class AddressConfig:
    """``config.json`` of an address checkpoint. ``scale`` multiplies the entity scores (the
    sigmoid confidences depend on it): 1.0 in older checkpoints, ``inner_dim ** -0.5`` in ours."""

    vocab_size: int
    num_labels_cls: int
    num_labels_ner: int = 13
    hidden_size: int = 192
    num_hidden_layers: int = 4
    num_attention_heads: int = 4
    intermediate_size: int = 768
    max_position_embeddings: int = 128
    type_vocab_size: int = 2
    layer_norm_eps: float = 1e-12
    hidden_dropout_prob: float = 0.0
    inner_dim: int = 32
    rope: bool = True
    scale: float = 32**-0.5

    @classmethod
    def load(cls, path: Path) -> AddressConfig:
        """Reads a config.json; keys that are not ours (transformers writes many) are ignored."""
        data = json.loads(path.read_text(encoding="utf-8"))
        return cls(**{k: v for k, v in data.items() if k in cls.__dataclass_fields__})

    def save(self, path: Path, **more: object) -> None:
        path.write_text(json.dumps({**asdict(self), **more}, indent=2) + "\n", encoding="utf-8")


class Embeddings(nn.Module):
    position_ids: Tensor

    def __init__(self, config: AddressConfig) -> None:
        super().__init__()
        hidden = config.hidden_size
        self.word_embeddings = nn.Embedding(config.vocab_size, hidden)
        self.position_embeddings = nn.Embedding(config.max_position_embeddings, hidden)
        self.token_type_embeddings = nn.Embedding(config.type_vocab_size, hidden)
        self.LayerNorm = nn.LayerNorm(hidden, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        self.register_buffer(
            "position_ids", torch.arange(config.max_position_embeddings)[None], persistent=False
        )

    def forward(self, input_ids: Tensor, segment_ids: Tensor) -> Tensor:
        positions = self.position_ids.narrow(1, 0, input_ids.size(1))
        total = self.word_embeddings(input_ids) + self.token_type_embeddings(segment_ids)
        total = total + self.position_embeddings(positions)
        out: Tensor = self.dropout(self.LayerNorm(total))
        return out


class SelfAttention(nn.Module):
    def __init__(self, config: AddressConfig) -> None:
        super().__init__()
        self.heads = config.num_attention_heads
        self.scale = (config.hidden_size // config.num_attention_heads) ** -0.5
        self.query = nn.Linear(config.hidden_size, config.hidden_size)
        self.key = nn.Linear(config.hidden_size, config.hidden_size)
        self.value = nn.Linear(config.hidden_size, config.hidden_size)

    def _split(self, x: Tensor) -> Tensor:
        return x.unflatten(-1, (self.heads, -1)).transpose(1, 2)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        query, key, value = (self._split(f(x)) for f in (self.query, self.key, self.value))
        # Written out: at these lengths the CPU's fused kernel trains several times slower.
        weights = query @ key.transpose(-1, -2) * self.scale
        weights = weights.masked_fill(mask, MASKED).softmax(-1)
        return (weights @ value).transpose(1, 2).flatten(2)


class ResidualOutput(nn.Module):
    """Dense, dropout, then LayerNorm over the sum with the input (post-norm, as in BERT)."""

    def __init__(self, width: int, config: AddressConfig) -> None:
        super().__init__()
        self.dense = nn.Linear(width, config.hidden_size)
        self.LayerNorm = nn.LayerNorm(config.hidden_size, eps=config.layer_norm_eps)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)

    def forward(self, x: Tensor, residual: Tensor) -> Tensor:
        out: Tensor = self.LayerNorm(self.dropout(self.dense(x)) + residual)
        return out


class Layer(nn.Module):
    def __init__(self, config: AddressConfig) -> None:
        super().__init__()
        self.attention = nn.ModuleDict(
            {"self": SelfAttention(config), "output": ResidualOutput(config.hidden_size, config)}
        )
        self.intermediate = nn.ModuleDict(
            {"dense": nn.Linear(config.hidden_size, config.intermediate_size)}
        )
        self.output = ResidualOutput(config.intermediate_size, config)

    def forward(self, x: Tensor, mask: Tensor) -> Tensor:
        x = self.attention["output"](self.attention["self"](x, mask), x)
        out: Tensor = self.output(functional.gelu(self.intermediate["dense"](x)), x)
        return out


class BertEncoder(nn.Module):
    """[B, L] ids → ([B, L, H] last layer, [B, H] pooled ``tanh(dense([CLS]))``)."""

    def __init__(self, config: AddressConfig) -> None:
        super().__init__()
        self.embeddings = Embeddings(config)
        self.encoder = nn.ModuleDict(
            {"layer": nn.ModuleList(Layer(config) for _ in range(config.num_hidden_layers))}
        )
        self.pooler = nn.ModuleDict({"dense": nn.Linear(config.hidden_size, config.hidden_size)})

    def forward(
        self, input_ids: Tensor, segment_ids: Tensor, input_mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        x = self.embeddings(input_ids, segment_ids)
        padding = input_mask.eq(0).unsqueeze(1).unsqueeze(1)
        layers = self.encoder["layer"]
        assert isinstance(layers, nn.ModuleList)
        for layer in layers:
            x = layer(x, padding)
        return x, torch.tanh(self.pooler["dense"](x.select(1, 0)))


class BertFourLevelArea(nn.Module):
    """``forward(input_ids, segment_ids, input_mask)``, all INT64 [B, L], in this order.

    Returns area logits FP32 [B, num_labels_cls] and span scores FP32 [B, num_labels_ner, L, L]:
    ``scores[b, t, i, j] > 0`` reads tokens i..j (inclusive) as an entity of type t. Spans that end
    before they begin or touch padding score ``MASKED``.
    """

    sin: Tensor
    cos: Tensor
    below: Tensor

    def __init__(self, config: AddressConfig) -> None:
        super().__init__()
        self.config = config
        self.bert = BertEncoder(config)
        self.dense_ner = nn.Linear(config.hidden_size, config.num_labels_ner * config.inner_dim * 2)
        self.dense_cls = nn.Linear(config.hidden_size, config.num_labels_cls)
        self.dropout = nn.Dropout(config.hidden_dropout_prob)
        size, dim = config.max_position_embeddings, config.inner_dim
        # RoPE (Su et al., arXiv 2104.09864): pairs (2k, 2k+1) turn by position * 10000^(-2k/dim).
        angle = torch.arange(size)[:, None] * 10000.0 ** (-torch.arange(0, dim, 2) / dim)
        self.register_buffer("sin", angle.sin().repeat_interleave(2, -1), persistent=False)
        self.register_buffer("cos", angle.cos().repeat_interleave(2, -1), persistent=False)
        below = torch.ones(size, size, dtype=torch.bool).tril(-1)
        self.register_buffer("below", below, persistent=False)
        self.apply(self._initialise)

    @staticmethod
    def _initialise(module: nn.Module) -> None:
        if isinstance(module, nn.Linear | nn.Embedding):
            nn.init.normal_(module.weight, std=0.02)
        if isinstance(module, nn.Linear):
            nn.init.zeros_(module.bias)

    def _rotate(self, x: Tensor) -> Tensor:
        """``x`` [B, L, types, inner_dim]."""
        even, odd = x.unflatten(-1, (-1, 2)).unbind(-1)
        turned = torch.stack([-odd, even], dim=-1).flatten(-2)
        cos, sin = (t.narrow(0, 0, x.size(1)).unsqueeze(1) for t in (self.cos, self.sin))
        return x * cos + turned * sin

    def forward(
        self, input_ids: Tensor, segment_ids: Tensor, input_mask: Tensor
    ) -> tuple[Tensor, Tensor]:
        sequence, pooled = self.bert(input_ids, segment_ids, input_mask)
        length = input_ids.size(1)
        dense = self.dense_ner(sequence).unflatten(-1, (self.config.num_labels_ner, -1))
        query, key = dense.chunk(2, dim=-1)
        if self.config.rope:
            query, key = self._rotate(query), self._rotate(key)
        scores = torch.einsum("bmhd,bnhd->bhmn", query, key) * self.config.scale
        below = self.below.narrow(0, 0, length).narrow(1, 0, length)
        invalid = input_mask.eq(0).unsqueeze(1).unsqueeze(1) | below
        scores = scores.float().masked_fill(invalid, MASKED)
        return self.dense_cls(self.dropout(pooled)).float(), scores
