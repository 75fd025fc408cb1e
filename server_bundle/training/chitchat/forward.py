"""The chat network's forward pass for training: dropout, its own attention, a fused loss.

The layers are those of :class:`server_bundle.chitchat.network.ChitchatNetwork`. Attention is
written out because the backward pass of PyTorch's fused one is slow on CPUs at these lengths.
"""

from __future__ import annotations

import math
from typing import Any, cast

import torch
from torch import Tensor
from torch.nn import functional

from server_bundle.chitchat.network import Block, ChitchatNetwork


def hidden_states(
    network: ChitchatNetwork, ids: Tensor, types: Tensor | None, dropout: float = 0.0
) -> Tensor:
    """The states that the output table is applied to.

    Args:
        ids: INT64 ``[B, T]``, padded on the right.
        types: INT64 ``[B, T]`` or None.
        dropout: share of embeddings and of what each sublayer adds that is dropped.

    Returns:
        ``[B, T, n_embd]``, already normalised by the last layer norm.
    """
    length = ids.shape[1]
    x = network.wte(ids) + network.wpe.weight[:length]
    if types is not None:
        x = x + network.wte(types)
    x = functional.dropout(x, dropout, dropout > 0)
    future = torch.full((length, length), -torch.inf, dtype=torch.float32).triu(1)
    for block in cast(list[Block], list(network.blocks)):
        x = _block(block, x, future, dropout)
    return cast(Tensor, network.ln_f(x))


def _block(block: Block, x: Tensor, future: Tensor, dropout: float) -> Tensor:
    q, k, v = block.heads(x if block.post_norm else block.ln_1(x))
    scores = (q / math.sqrt(q.shape[-1])) @ k.transpose(-1, -2)
    attended = (scores + future.to(scores.dtype)).softmax(-1).to(v.dtype) @ v
    a = block.attn_out(attended.transpose(1, 2).reshape(x.shape))
    x = x + functional.dropout(a, dropout, dropout > 0)
    if block.post_norm:
        x = block.ln_1(x)
        return cast(Tensor, block.ln_2(x + functional.dropout(block.mlp(x), dropout, dropout > 0)))
    return x + functional.dropout(block.mlp(block.ln_2(x)), dropout, dropout > 0)


class _TableCrossEntropy(torch.autograd.Function):
    """Weighted cross-entropy of ``hidden @ table.T`` whose logits never exist all at once.

    The gradients are computed with the loss, a chunk of rows at a time.
    """

    CHUNK = 384

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        table: Tensor,
        targets: Tensor,
        weights: Tensor,
        shifted: int,
        shift: float,
        dtype: torch.dtype,
    ) -> Tensor:
        small, rows = hidden.to(dtype), table.to(dtype)
        grad_hidden = torch.empty_like(small)
        grad_table = torch.zeros_like(table)
        loss = torch.zeros((), dtype=torch.float32)
        for start in range(0, len(small), _TableCrossEntropy.CHUNK):
            part = slice(start, start + _TableCrossEntropy.CHUNK)
            h, target, weight = small[part], targets[part, None], weights[part, None]
            logits = (h @ rows.T).float()
            logits[:, shifted] += shift
            top = logits.amax(1, keepdim=True)
            chosen = logits.gather(1, target)
            logits.sub_(top).exp_()
            total = logits.sum(1, keepdim=True)
            loss += ((total.log() + top - chosen) * weight).sum()
            logits.mul_(weight / total)
            logits.scatter_add_(1, target, -weight)
            error = logits.to(dtype)
            grad_hidden[part] = error @ rows
            grad_table += error.T @ h
        ctx.save_for_backward(grad_hidden, grad_table)
        ctx.hidden_dtype = hidden.dtype
        return loss

    @staticmethod
    def backward(ctx: Any, *grads: Tensor) -> tuple[Tensor | None, ...]:
        grad_hidden, grad_table = ctx.saved_tensors
        (grad,) = grads
        return (
            grad_hidden.to(ctx.hidden_dtype) * grad,
            grad_table * grad,
            None,
            None,
            None,
            None,
            None,
        )


def window_loss(
    network: ChitchatNetwork,
    ids: Tensor,
    types: Tensor | None,
    targets: Tensor,
    weights: Tensor,
    *,
    pad_row: int,
    pad_shift: float,
    dropout: float = 0.0,
    bf16: bool = False,
) -> Tensor:
    """FP32 scalar: the sum over all tokens of weight times negative log-likelihood.

    Args:
        ids, types, targets: INT64 ``[B, T]``, in places of the trained part of the table.
        weights: FP32 ``[B, T]``; 0 where nothing is to be learned.
        pad_row, pad_shift: see :class:`server_bundle.training.chitchat.rows.Rows`.
    """
    with torch.autocast("cpu", dtype=torch.bfloat16, enabled=bf16):
        x = hidden_states(network, ids, types, dropout)
    wanted = weights > 0
    result = _TableCrossEntropy.apply(
        x[wanted],
        network.wte.weight,
        targets[wanted],
        weights[wanted],
        pad_row,
        pad_shift,
        torch.bfloat16 if bf16 else torch.float32,
    )
    return cast(Tensor, result)
