"""The decode step as CUDA graphs: one launch for the hundreds of kernels of a small network's step.

A graph replays fixed shapes on fixed memory (CUDA Graphs in PyTorch,
docs.pytorch.org/docs/stable/notes/cuda.html#cuda-graphs), so there is one for each of a few batch
sizes and spans of context, and a step takes the smallest that holds it. Rows of a graph beyond the
step's own are free slots of the cache: what is computed there is thrown away, and a new prompt
overwrites them from its first place on.
"""

from __future__ import annotations

import logging
from typing import Any

import torch
from torch import Tensor

from server_bundle.chitchat.network import ChitchatNetwork, KVCache

log = logging.getLogger(__name__)

_SHORTEST = 128  # the smallest span; each further one is twice as long
_WARM_UPS = 2  # libraries choose their kernels and allocate before anything is recorded


def sizes(smallest: int, largest: int) -> list[int]:
    """``smallest``, twice that … and ``largest`` itself."""
    found = []
    while smallest < largest:
        found.append(smallest)
        smallest *= 2
    return [*found, largest]


class GraphedDecode:
    """Takes the place of :meth:`ChitchatNetwork.decode` for one network and one cache on a GPU.

    To be made and called by one thread, in inference mode, made while no row is in use.

    Args:
        with_types: whether steps have token types.
    """

    def __init__(self, network: ChitchatNetwork, cache: KVCache, *, with_types: bool) -> None:
        self._network = network
        self._cache = cache
        self._batches = sizes(1, cache.slots)
        self._spans = sizes(min(_SHORTEST, cache.length), cache.length)
        device = cache.keys[0].device
        # What a step is told; every graph reads the first of them.
        self._told = torch.zeros((3, cache.slots), dtype=torch.long, device=device)
        self._with_types = with_types
        self._graphs: dict[tuple[int, int], tuple[Any, Tensor]] = {}
        pool = None
        # Largest first: the smaller ones then fit into the memory that it took.
        for batch in reversed(self._batches):
            for span in reversed(self._spans):
                graph, logits = self._record(batch, span, pool)
                self._graphs[batch, span] = graph, logits
                pool = pool or graph.pool()

    def _step(self, batch: int, span: int) -> Tensor:
        ids, types, positions = self._told[:, :batch]
        return self._network.decode_within(
            ids, types if self._with_types else None, positions, span, self._cache
        )

    def _record(self, batch: int, span: int, pool: Any) -> tuple[Any, Tensor]:
        stream = torch.cuda.Stream()
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            for _ in range(_WARM_UPS):
                self._step(batch, span)
        torch.cuda.current_stream().wait_stream(stream)
        graph = torch.cuda.CUDAGraph()
        # Other threads of the process (another model's engine) may go on using the GPU.
        with torch.cuda.graph(graph, pool=pool, capture_error_mode="thread_local"):
            logits = self._step(batch, span)
        return graph, logits

    def __call__(
        self, ids: Tensor, types: Tensor | None, positions: Tensor, longest: int, cache: KVCache
    ) -> Tensor:
        """As :meth:`ChitchatNetwork.decode`; the answer is valid until the next call."""
        n = ids.shape[0]
        batch = next(size for size in self._batches if size >= n)
        span = next(size for size in self._spans if size > longest)
        graph, logits = self._graphs[batch, span]
        self._told[0, :n].copy_(ids)
        if types is not None:
            self._told[1, :n].copy_(types)
        self._told[2, :n].copy_(positions)
        self._told[2, n:batch] = 0
        graph.replay()
        return logits[:n]


def graphed(network: ChitchatNetwork, cache: KVCache, *, with_types: bool) -> Any:
    """The decode step to use on a GPU: graphs, or, where they cannot be recorded, the plain one."""
    try:
        return GraphedDecode(network, cache, with_types=with_types)
    except RuntimeError as error:  # too little memory, or a kernel that cannot be recorded
        log.warning("no CUDA graphs, steps are launched one by one: %s", error)
        torch.cuda.synchronize()
        return network.decode
