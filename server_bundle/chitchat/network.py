"""One decoder-only transformer that holds GPT-2 (pre-norm) and OpenAI-GPT (post-norm) weights.

Both architectures of transformers are covered, ``GPT2LMHeadModel`` and ``OpenAIGPTLMHeadModel``,
since the CDial-GPT family is published as either. Token types are looked up in the token embedding
table, as both of them do. Unlike transformers' OpenAI-GPT this one has a KV cache.

The network computes in the layout that continuous batching needs: a step takes one token for each
of ``B`` rows whose contexts have different lengths, and the cache is one block with a row a slot.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np
import torch
import torch.nn.functional as F
from torch import Tensor, nn

Function = Callable[[Tensor], Tensor]


@dataclass(frozen=True)
class NetworkConfig:
    """Sizes of a checkpoint. ``post_norm`` is true for OpenAI-GPT, false for GPT-2."""

    vocab_size: int
    n_positions: int
    n_embd: int
    n_layer: int
    n_head: int
    n_inner: int
    layer_norm_epsilon: float
    post_norm: bool
    activation: str = "gelu_new"

    @property
    def head_dim(self) -> int:
        return self.n_embd // self.n_head


class KVCache:
    """Keys and values of ``slots`` contexts of up to ``length`` tokens, one block a layer.

    ``keys[layer]`` and ``values[layer]`` are ``[slots, n_head, length, head_dim]``. The rows in use
    are always the first ones (`move` closes the gap a finished row leaves), so that a step over
    ``B`` rows works on a view, never on a copy. Pages are touched only when written: reserving many
    slots costs address space, not memory.
    """

    def __init__(
        self,
        config: NetworkConfig,
        slots: int,
        length: int | None = None,
        *,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.length = length or config.n_positions
        self.slots = slots
        shape = (slots, config.n_head, self.length, config.head_dim)
        self.keys = [_zeros(shape, device, dtype) for _ in range(config.n_layer)]
        self.values = [_zeros(shape, device, dtype) for _ in range(config.n_layer)]

    def move(self, source: int, target: int, length: int) -> None:
        """Copy the first ``length`` positions of row ``source`` over row ``target``."""
        for block in (*self.keys, *self.values):
            block[target, :, :length].copy_(block[source, :, :length])


def _zeros(shape: tuple[int, ...], device: torch.device | str, dtype: torch.dtype) -> Tensor:
    """Zeros whose pages the kernel gives when they are written; torch's own are written at once."""
    if torch.device(device).type != "cpu":
        return torch.zeros(shape, device=device, dtype=dtype)
    block = np.zeros(math.prod(shape) * dtype.itemsize, np.uint8)
    return torch.from_numpy(block).view(dtype).view(shape)


def _activation(name: str) -> Function:
    # transformers' OpenAI-GPT calls its tanh approximation "gelu"; checkpoint.py maps that name.
    if name == "gelu_new":
        return partial(F.gelu, approximate="tanh")
    if name == "gelu":
        return F.gelu
    if name == "relu":
        return torch.relu
    return F.silu


def _function(linear: nn.Module) -> Function:
    """What a linear layer does to rows ``[B, in]``, without a module's overhead at every call."""
    if isinstance(linear, nn.Linear):
        weight, bias = linear.weight.detach(), linear.bias.detach()
        return lambda x: F.linear(x, weight, bias)
    return cast(Function, linear.function())  # type: ignore[operator]


def _norm(norm: nn.Module) -> Function:
    """A layer norm over the last dimension, or nothing."""
    if not isinstance(norm, nn.LayerNorm):
        return lambda x: x
    weight, bias, shape = norm.weight.detach(), norm.bias.detach(), norm.normalized_shape
    eps = norm.eps
    return lambda x: torch.layer_norm(x, shape, weight, bias, eps)


class _FlatBlock(NamedTuple):
    """A block as a step needs it."""

    norm_1: Function
    qkv: Function
    attn_out: Function
    norm_2: Function
    mlp_in: Function
    activation: Function
    mlp_out: Function


class _Flat(NamedTuple):
    """A network as a step needs it. ``project`` gives the logits of the last block's output."""

    tokens: Tensor
    positions: Tensor
    blocks: list[_FlatBlock]
    project: Function


class Block(nn.Module):
    """Self-attention and MLP, each with a residual, normalised before (GPT-2) or after (GPT)."""

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.n_head = config.n_head
        self.post_norm = config.post_norm
        self.activation = _activation(config.activation)
        self.ln_1 = nn.LayerNorm(config.n_embd, eps=config.layer_norm_epsilon)
        self.qkv = nn.Linear(config.n_embd, 3 * config.n_embd)
        self.attn_out = nn.Linear(config.n_embd, config.n_embd)
        self.ln_2 = nn.LayerNorm(config.n_embd, eps=config.layer_norm_epsilon)
        self.mlp_in = nn.Linear(config.n_embd, config.n_inner)
        self.mlp_out = nn.Linear(config.n_inner, config.n_embd)

    def heads(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        """``[B, T, n_embd]`` → query, key, value, each ``[B, n_head, T, head_dim]``."""
        b, t, c = x.shape
        q, k, v = self.qkv(x).view(b, t, 3, self.n_head, c // self.n_head).unbind(2)
        return q.transpose(1, 2), k.transpose(1, 2), v.transpose(1, 2)

    def mlp(self, x: Tensor) -> Tensor:
        return cast(Tensor, self.mlp_out(self.activation(self.mlp_in(x))))

    def flat(self) -> _FlatBlock:
        return _FlatBlock(
            _norm(self.ln_1),
            _function(self.qkv),
            _function(self.attn_out),
            _norm(self.ln_2),
            _function(self.mlp_in),
            self.activation,
            _function(self.mlp_out),
        )

    def finish(self, x: Tensor, attended: Tensor) -> Tensor:
        """Everything after attention; ``attended`` is ``[B, n_head, T, head_dim]``.

        ``x``, the residual stream, stays FP32 whatever the matrices are in.
        """
        a = self.attn_out(attended.transpose(1, 2).reshape(x.shape))
        if self.post_norm:
            x = self.ln_1(x + a)
            return self.ln_2(x + self.mlp(x.to(attended.dtype)))
        x = x + a
        return x + self.mlp(self.ln_2(x).to(attended.dtype))


class ChitchatNetwork(nn.Module):
    """Decoder-only language model with tied input and output embeddings.

    Attributes:
        compute: dtype of the matrix products in the blocks and of the cache, see
            :mod:`server_bundle.chitchat.precision`; all else is FP32.
    """

    def __init__(self, config: NetworkConfig) -> None:
        super().__init__()
        self.config = config
        self.compute = torch.float32
        self.wte = nn.Embedding(config.vocab_size, config.n_embd)
        self.wpe = nn.Embedding(config.n_positions, config.n_embd)
        self.blocks = nn.ModuleList(Block(config) for _ in range(config.n_layer))
        # 0, 1, 2 …, of which every step needs a piece; real even where the weights are still meta.
        counting = torch.arange(max(config.n_positions, 1024), device="cpu")
        self.register_buffer("counting", counting, persistent=False)
        self._flat: _Flat | None = None
        self.projection: Tensor | None
        self.register_buffer("projection", None, persistent=False)
        self.ln_f = (
            nn.Identity()
            if config.post_norm
            else nn.LayerNorm(config.n_embd, eps=config.layer_norm_epsilon)
        )

    def transpose_table(self) -> None:
        """Keep the token table the other way round as well, ``[n_embd, vocab_size]``.

        On a CPU the logits of a step then take two thirds of the time, for the memory of a second
        table. The weights must not change any more.
        """
        self.projection = self.wte.weight.detach().t().contiguous()
        self.changed()

    def changed(self) -> None:
        """Say that a module or a tensor of weights was replaced; steps go by the new ones then."""
        self._flat = None

    def __getstate__(self) -> dict[str, Any]:  # a copy has weights of its own
        return {**super().__getstate__(), "_flat": None}

    def _apply(self, *arguments: Any, **options: Any) -> Any:  # what to(), half() and so on call
        self.changed()
        return super()._apply(*arguments, **options)

    def _first(self, n: int) -> Tensor:
        """INT64 ``[n]``: 0 to n - 1."""
        return cast(Tensor, self.counting)[:n]

    def _layers(self) -> list[Block]:
        return cast(list[Block], list(self.blocks))

    def _heads(self, block: Block, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        return block.heads((x if block.post_norm else block.ln_1(x)).to(self.compute))

    def _embed(self, ids: Tensor, types: Tensor | None, positions: Tensor) -> Tensor:
        x = self.wte(ids) + self.wpe(positions)
        return x if types is None else x + self.wte(types)

    def _logits(self, hidden: Tensor) -> Tensor:
        hidden = self.ln_f(hidden)
        if self.projection is not None:
            return (hidden @ self.projection).float()
        return F.linear(hidden, self.wte.weight).float()

    def forward(self, ids: Tensor, types: Tensor | None = None) -> Tensor:
        """Logits of every position without a cache.

        Args:
            ids: INT64 ``[B, T]``, T at most ``n_positions``; pad on the right.
            types: INT64 ``[B, T]`` token types, or None for checkpoints that use none.

        Returns:
            FP32 ``[B, T, vocab_size]``.
        """
        x = self._embed(ids, types, self._first(ids.shape[1]))
        for block in self._layers():
            q, k, v = self._heads(block, x)
            x = block.finish(x, F.scaled_dot_product_attention(q, k, v, is_causal=True))
        return self._logits(x)

    def prefill(self, ids: Tensor, types: Tensor | None, cache: KVCache, slot: int) -> Tensor:
        """Read a prompt into row ``slot`` of the cache.

        Args:
            ids: INT64 ``[T]``, 1 ≤ T ≤ ``cache.length``.
            types: INT64 ``[T]`` or None.

        Returns:
            FP32 ``[vocab_size]``, the logits after the last token.
        """
        t = ids.shape[0]
        x = self._embed(ids[None], None if types is None else types[None], self._first(t))
        for layer, block in enumerate(self._layers()):
            q, k, v = self._heads(block, x)
            cache.keys[layer][slot, :, :t] = k[0]
            cache.values[layer][slot, :, :t] = v[0]
            x = block.finish(x, F.scaled_dot_product_attention(q, k, v, is_causal=True))
        return self._logits(x[0, -1])

    def decode(
        self, ids: Tensor, types: Tensor | None, positions: Tensor, longest: int, cache: KVCache
    ) -> Tensor:
        """Append one token to each of the first ``B`` rows of the cache. Gives no gradients.

        Args:
            ids: INT64 ``[B]``, the token of each row.
            types: INT64 ``[B]`` or None.
            positions: INT64 ``[B]``, where the token stands (the row's length before it).
            longest: ``max(positions)``, known to the caller without a device synchronisation.

        Returns:
            FP32 ``[B, vocab_size]``, the logits after the new token.
        """
        b = ids.shape[0]
        span = longest + 1
        if b == 1:
            return self._step(ids, types, positions, cache, partial(_attend_alone, span))
        if self.compute != torch.float32 and ids.device.type == "cpu":
            # Over a longer context the fused kernel sums in other blocks, which BF16 shows: a row
            # would depend on its neighbours' lengths. One by one it does not.
            lengths = (positions + 1).tolist()
            attend = partial(_attend_apart, self._first(b), positions, lengths)
            return self._step(ids, types, positions, cache, attend)
        return self.decode_within(ids, types, positions, span, cache)

    def _step(
        self, ids: Tensor, types: Tensor | None, positions: Tensor, cache: KVCache, attend: _Attend
    ) -> Tensor:
        """The layers over one new token a row; the logits after it.

        The blocks are laid out flat: on a CPU, calling their modules would take another eighth of
        the time of a large network's step, and another quarter of a small one's.
        """
        flat = self._flat = self._flat or self._flatten()
        compute, post_norm, b = self.compute, self.config.post_norm, ids.shape[0]
        heads = (b, 3, self.config.n_head, 1, self.config.head_dim)
        x = torch.embedding(flat.tokens, ids) + torch.embedding(flat.positions, positions)
        if types is not None:
            x = x + torch.embedding(flat.tokens, types)
        for block, keys, values in zip(flat.blocks, cache.keys, cache.values, strict=True):
            read = x if post_norm else block.norm_1(x)
            q, k, v = block.qkv(read.to(compute)).view(heads).unbind(1)
            x = x + block.attn_out(attend(q, k, v, keys, values).reshape(b, -1))
            x = block.norm_1(x) if post_norm else x
            read = x if post_norm else block.norm_2(x)
            x = x + block.mlp_out(block.activation(block.mlp_in(read.to(compute))))
            x = block.norm_2(x) if post_norm else x
        return flat.project(x)

    def _flatten(self) -> _Flat:
        norm, table = _norm(self.ln_f), self.wte.weight.detach()
        projection = self.projection if self.projection is not None else table.t()
        return _Flat(
            table,
            self.wpe.weight.detach(),
            [block.flat() for block in self._layers()],
            lambda x: (norm(x) @ projection).float(),
        )

    def decode_within(
        self, ids: Tensor, types: Tensor | None, positions: Tensor, span: int, cache: KVCache
    ) -> Tensor:
        """:meth:`decode` with the same operations and shapes whatever the positions, as a CUDA
        graph needs it: every row attends to the first ``span`` places, under a mask.

        Args:
            span: more than the largest position, at most ``cache.length``.

        Returns:
            FP32 ``[B, vocab_size]``.
        """
        mask = (self._first(span) <= positions[:, None])[:, None, None]
        attend = partial(_attend_masked, self._first(ids.shape[0]), positions, span, mask)
        return self._step(ids, types, positions, cache, attend)


# How the new tokens of a step attend in one layer, having written themselves into the cache: their
# query, key and value, each [B, n_head, 1, head_dim], and the layer's keys and values →
# [B, n_head, 1, head_dim].
_Attend = Callable[[Tensor, Tensor, Tensor, Tensor, Tensor], Tensor]


def _attend_alone(
    span: int, q: Tensor, k: Tensor, v: Tensor, keys: Tensor, values: Tensor
) -> Tensor:
    """One row, which is ``span`` long with its new token."""
    keys, values = keys[:1, :, :span], values[:1, :, :span]
    # A copy into a view takes a fifth of what writing at indices takes.
    keys[:, :, span - 1 :] = k
    values[:, :, span - 1 :] = v
    return F.scaled_dot_product_attention(q, keys, values)


def _write(
    rows: Tensor, positions: Tensor, k: Tensor, v: Tensor, keys: Tensor, values: Tensor
) -> None:
    """Put the new token of each row into a layer's cache."""
    keys[rows, :, positions] = k[:, :, 0]
    values[rows, :, positions] = v[:, :, 0]


def _attend_masked(
    rows: Tensor,
    positions: Tensor,
    span: int,
    mask: Tensor,
    q: Tensor,
    k: Tensor,
    v: Tensor,
    keys: Tensor,
    values: Tensor,
) -> Tensor:
    """Rows ``[B]`` of different lengths over the same span, under a mask ``[B, 1, 1, span]``."""
    _write(rows, positions, k, v, keys, values)
    b = len(rows)
    return F.scaled_dot_product_attention(
        q, keys[:b, :, :span], values[:b, :, :span], attn_mask=mask
    )


def _attend_apart(
    rows: Tensor,
    positions: Tensor,
    lengths: list[int],
    q: Tensor,
    k: Tensor,
    v: Tensor,
    keys: Tensor,
    values: Tensor,
) -> Tensor:
    """Each row by itself over its own length."""
    _write(rows, positions, k, v, keys, values)
    b = len(rows)
    return torch.cat(
        [
            F.scaled_dot_product_attention(
                row, of_row.narrow(2, 0, length), its_values.narrow(2, 0, length)
            )
            for row, of_row, its_values, length in zip(
                q.split(1), keys[:b].split(1), values[:b].split(1), lengths, strict=True
            )
        ]
    )
