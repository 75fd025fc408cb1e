"""The numbers a network computes in: FP32, or half the bytes, or a quarter, in its matrix products.

On a CPU a step for one chat reads every weight once, so its time is the time to read them. Only
the four matrices of each block change; embeddings, norms, the residual stream and the projection
to the vocabulary stay in FP32, since the probabilities shown to people come from there.

No row of a batch may depend on the others. BF16 products here give each row the same bits however
many rows there are; of INT8 only the weights are quantised, one scale an output channel, so that
activations need no scale that rows would share.
"""

from __future__ import annotations

from typing import cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from server_bundle.chitchat.network import Block, ChitchatNetwork, Function
from server_bundle.chitchat.precisions import PRECISIONS

_MATRICES = ("qkv", "attn_out", "mlp_in", "mlp_out")
# Below this many weights a step's time is overhead, not reading, and exactness is free.
SMALL = 20_000_000


class _RowLinear(nn.Module):
    """A linear layer over rows."""

    def function(self) -> Function:
        """What the layer does to rows ``[B, in]``, with as little overhead as possible."""
        raise NotImplementedError

    def forward(self, x: Tensor) -> Tensor:
        return self.function()(x.reshape(-1, x.shape[-1])).view(*x.shape[:-1], -1)


class Int8Linear(_RowLinear):
    """``y = x Wᵀ + b`` with INT8 weights; symmetric, one scale an output channel.

    Weights are INT8 ``[out, in]``, scales BF16 ``[out]``; takes and gives BF16 ``[..., in]`` and
    ``[..., out]``. Source of the scheme: LLM.int8() and its successors quantise weights absmax per
    output channel (Dettmers et al. 2022, arXiv:2208.07339, section 2.1).
    """

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        weight = linear.weight.detach().float()
        # Rounded before it is used, so that rounding the scale costs no accuracy.
        scale = (weight.abs().amax(dim=1).clamp_min(1e-12) / 127).to(torch.bfloat16)
        quantised = (weight / scale.float()[:, None]).round().clamp(-127, 127).to(torch.int8)
        self.register_buffer("weight", quantised.contiguous())
        self.register_buffer("scale", scale)
        self.register_buffer("bias", linear.bias.detach().to(torch.bfloat16))

    def function(self) -> Function:
        weight, scale, bias = (cast(Tensor, each) for each in (self.weight, self.scale, self.bias))
        return lambda rows: torch._weight_int8pack_mm(rows, weight, scale) + bias


class PackedLinear(_RowLinear):
    """``y = x Wᵀ + b`` in BF16 with the weights in the blocks that oneDNN multiplies by.

    Takes two thirds of the time of ``nn.Linear``, which lays them out anew at every call. This is
    what torch's compiler does to frozen weights, by the same operations of torch.

    Raises:
        RuntimeError, AttributeError: this torch has no such operation.
    """

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        # Blocks for one row: those for more give a row other bits when it is alone.
        self._packed = torch.ops.mkldnn._reorder_linear_weight(linear.weight.detach(), 1)
        self.register_buffer("bias", linear.bias.detach())

    def function(self) -> Function:
        multiply = torch.ops.mkldnn._linear_pointwise.default
        packed, bias = self._packed, cast(Tensor, self.bias)
        return lambda rows: cast(Tensor, multiply(rows, packed, bias, "none", [], ""))


class TransposedLinear(_RowLinear):
    """``y = x Wᵀ + b`` in FP32 with the weights as ``[in, out]``, as GPT-2's own layers have them.

    A step for one chat takes nine tenths of the time of ``nn.Linear``, one for eight or a prompt
    four fifths; one for two or three chats takes half as long again.
    """

    def __init__(self, linear: nn.Linear) -> None:
        super().__init__()
        self.register_buffer("weight", linear.weight.detach().t().contiguous())
        self.register_buffer("bias", linear.bias.detach())

    def function(self) -> Function:
        weight, bias = cast(Tensor, self.weight), cast(Tensor, self.bias)
        transposed = weight.t()

        def multiply(rows: Tensor) -> Tensor:
            if rows.shape[0] == 1:
                return torch.addmv(bias, transposed, rows[0])[None]
            return torch.addmm(bias, rows, weight)

        return multiply


def pack(network: ChitchatNetwork) -> None:
    """Lay the matrices of a network out for this CPU, in place; it cannot be moved or changed
    afterwards.

    Those in BF16 where that keeps their promises: near ``nn.Linear``, and each row with the same
    bits however many rows there are. Those in FP32 of networks that are not small.
    """
    network.changed()
    large = sum(p.numel() for p in network.parameters()) >= SMALL
    tried: dict[tuple[int, ...], bool] = {}
    for block in cast(list[Block], list(network.blocks)):
        for name in _MATRICES:
            linear = getattr(block, name)
            if not isinstance(linear, nn.Linear):
                continue
            if linear.weight.dtype == torch.float32:
                if large:
                    setattr(block, name, TransposedLinear(linear))
                continue
            shape = tuple(linear.weight.shape)
            if shape not in tried:
                tried[shape] = _can_be_packed(linear)
            if tried[shape]:
                setattr(block, name, PackedLinear(linear))


# Up to the most rows of a step, by default.
_ROWS = (2, 3, 4, 5, 8, 9, 15, 16, 17, 31, 32, 33, 40, 48, 55, 63, 64)


def _can_be_packed(linear: nn.Linear) -> bool:
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(64, linear.in_features, generator=generator).to(torch.bfloat16)
    with torch.inference_mode():
        try:
            packed = PackedLinear(linear)
            alone = torch.cat([packed(row[None]) for row in x])
            alike = all(torch.equal(packed(x[:n]), alone[:n]) for n in _ROWS)
        except (RuntimeError, AttributeError):
            return False
        exact = F.linear(x.float(), linear.weight.float(), linear.bias.float())
        error, bound = (((y.float() - exact).abs().max()) for y in (alone, linear(x)))
    return alike and bool(error <= 1.5 * bound)


def choose(requested: str, network: ChitchatNetwork, device: str) -> str:
    """What ``auto`` means for this network on this machine; any other request as it is.

    Args:
        requested: one of ``PRECISIONS``.
        device: ``cpu`` or ``cuda``.

    Raises:
        ValueError: the request is unknown, or not for this device.
    """
    if requested not in PRECISIONS:
        raise ValueError(f"precision is one of {', '.join(PRECISIONS)}, not {requested!r}")
    if requested == "auto":
        if device != "cpu":
            return "float16"
        weights = sum(p.numel() for p in network.parameters())
        return "bfloat16" if weights >= SMALL and fast_bfloat16() else "float32"
    if requested == "int8" and device != "cpu":
        raise ValueError("precision int8 is for CPUs; on a GPU choose float16 or bfloat16")
    if requested == "float16" and device == "cpu":
        raise ValueError("precision float16 is for GPUs; on a CPU choose bfloat16")
    return requested


def fast_bfloat16() -> bool:
    """Whether this CPU multiplies BF16 itself; elsewhere it is slower than FP32."""
    capabilities = torch.cpu.get_capabilities()
    return any(capabilities.get(name) for name in ("avx512_bf16", "amx_bf16", "bf16", "sve_bf16"))


def apply(network: ChitchatNetwork, precision: str) -> ChitchatNetwork:
    """Change a network in place (and return it); FP32 leaves it as it is.

    Args:
        precision: ``float32``, ``bfloat16``, ``float16`` or ``int8``.
    """
    if precision == "float32":
        return network
    network.changed()
    for block in cast(list[Block], list(network.blocks)):
        for name in _MATRICES:
            linear = cast(nn.Linear, getattr(block, name))
            if precision == "int8":
                setattr(block, name, Int8Linear(linear))
            else:
                linear.to(getattr(torch, precision))
    network.compute = torch.bfloat16 if precision == "int8" else getattr(torch, precision)
    return network
