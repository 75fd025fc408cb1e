"""Muon for the matrices of the blocks, Adam for everything else.

Muon: K. Jordan et al. 2024, https://kellerjordan.github.io/posts/muon/. The step of a matrix is its
momentum with all singular values brought near 1 by a few Newton-Schulz iterations.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch
from torch import Tensor, nn

_BETAS = (0.9, 0.98)
_EPSILON = 1e-8
_MOMENTUM = 0.95
_MATRICES = ("qkv.weight", "attn_out.weight", "mlp_in.weight", "mlp_out.weight")


def orthogonalise(matrix: Tensor, steps: int = 4) -> Tensor:
    """FP32 ``[m, n]`` → the same shape with singular values between about 0.7 and 1.2."""
    x = matrix.to(torch.bfloat16)
    wide = x.shape[0] <= x.shape[1]
    if not wide:
        x = x.T
    x = x / (x.norm() + 1e-7)
    for _ in range(steps):
        a = x @ x.T
        x = 3.4445 * x + (-4.7750 * a + 2.0315 * (a @ a)) @ x
    return (x if wide else x.T).float()


class Optimizer:
    """Steps of some of a network's parameters, each by its own rule, into shared memory.

    ``state`` holds for every parameter its moments, zero at first; all of it is shared between
    processes, which each step the parameters named to them (:meth:`part`).
    """

    def __init__(self, network: nn.Module, *, muon_rate: float, adam_rate: float) -> None:
        self.muon_rate = muon_rate
        self.adam_rate = adam_rate
        self.names = [name for name, _ in network.named_parameters()]
        self.state: dict[str, list[Tensor]] = {}
        for name, parameter in network.named_parameters():
            moments = 1 if name.endswith(_MATRICES) else 2
            self.state[name] = [
                torch.zeros_like(parameter, requires_grad=False).share_memory_()
                for _ in range(moments)
            ]

    def part(self, rank: int, ranks: int) -> list[str]:
        """The parameters that process ``rank`` steps; matrices are dealt out in turn."""
        matrices = [name for name in self.names if name.endswith(_MATRICES)]
        rest = [name for name in self.names if not name.endswith(_MATRICES)]
        # The embedding table, first of the rest, is as much work as some matrices: to the last.
        return matrices[rank::ranks] + (rest if rank == ranks - 1 else [])

    @torch.no_grad()
    def step(
        self,
        parameters: Mapping[str, Tensor],
        grads: Mapping[str, Tensor],
        factor: float,
        count: int,
    ) -> None:
        """Move parameters against their gradients.

        Args:
            factor: the schedule's share of the full rates, 0 to 1.
            count: how many steps this makes, from 1; for Adam's correction of its moments.
        """
        for name, grad in grads.items():
            parameter, moments = parameters[name], self.state[name]
            if len(moments) == 1:
                momentum = moments[0]
                momentum.lerp_(grad, 1 - _MOMENTUM)
                update = orthogonalise(grad.lerp(momentum, _MOMENTUM))
                scale = max(1.0, parameter.shape[0] / parameter.shape[1]) ** 0.5
                parameter.sub_(update, alpha=self.muon_rate * factor * scale)
                continue
            first, second = moments
            first.lerp_(grad, 1 - _BETAS[0])
            second.mul_(_BETAS[1]).addcmul_(grad, grad, value=1 - _BETAS[1])
            corrected = second.div(1 - _BETAS[1] ** count).sqrt_().add_(_EPSILON)
            rate = self.adam_rate * factor / (1 - _BETAS[0] ** count)
            parameter.addcdiv_(first, corrected, value=-rate)

    def state_dict(self) -> dict[str, Any]:
        return {name: [m.clone() for m in moments] for name, moments in self.state.items()}

    def load_state_dict(self, state: Mapping[str, Sequence[Tensor]]) -> None:
        for name, moments in state.items():
            for mine, saved in zip(self.state[name], moments, strict=True):
                mine.copy_(saved)
