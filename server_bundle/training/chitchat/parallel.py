"""One training step over several processes that share the weights.

On few CPU cores two processes of one thread each are much quicker than one of two threads. Every
process computes the gradients of its part of the batches; then each steps its part of the
parameters with the sum, in place, in shared memory.
"""

from __future__ import annotations

import os
import queue
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from threading import BrokenBarrierError
from typing import Any

import torch
import torch.multiprocessing as mp
from torch import Tensor

from server_bundle.chitchat.network import ChitchatNetwork
from server_bundle.training.chitchat.batches import Batch
from server_bundle.training.chitchat.forward import window_loss
from server_bundle.training.chitchat.optimizer import Optimizer

_PATIENCE = 600.0  # seconds for the other processes to finish a step


class WorkerLost(RuntimeError):
    """Another process of the training has ended; the message says so to a person."""


@dataclass(frozen=True)
class Task:
    """One process's part of a step. ``total`` is the loss weight of all parts together."""

    batches: Sequence[Batch]
    total: float
    factor: float
    count: int
    seed: int


@dataclass
class Shared:
    """What all processes see: weights, moments, gradients of each (``[ranks]``), losses."""

    network: ChitchatNetwork
    optimizer: Optimizer
    gradients: list[dict[str, Tensor]]
    losses: Tensor
    barrier: Any
    pad_row: int
    pad_shift: float
    dropout: float
    bf16: bool

    def work(self, task: Task, rank: int) -> None:
        """Compute, wait for the others, step. Raises :class:`WorkerLost`."""
        torch.manual_seed(task.seed + rank)  # dropout, the same after a resumption
        parameters = dict(self.network.named_parameters())
        for parameter in parameters.values():
            parameter.grad = None
        loss = 0.0
        for batch in task.batches:
            part = window_loss(
                self.network,
                *batch.tensors(),
                pad_row=self.pad_row,
                pad_shift=self.pad_shift,
                dropout=self.dropout,
                bf16=self.bf16,
            )
            (part / task.total).backward()
            loss += part.item() / task.total
        self.losses[rank] = loss
        mine = self.gradients[rank]
        for name, parameter in parameters.items():
            if parameter.grad is None:
                mine[name].zero_()
            else:
                mine[name].copy_(parameter.grad)
        self._wait()
        grads = {}
        for name in self.optimizer.part(rank, len(self.gradients)):
            grad = self.gradients[0][name]
            for other in self.gradients[1:]:
                grad = grad + other[name]
            grads[name] = grad
        self.optimizer.step(parameters, grads, task.factor, task.count)
        self._wait()

    def _wait(self) -> None:
        if self.barrier is None:
            return
        try:
            self.barrier.wait(_PATIENCE)
        except BrokenBarrierError:
            raise WorkerLost("a process of the training has ended unexpectedly") from None


def _work(shared: Shared, tasks: Any, rank: int, parent: int) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first process decides when to end
    torch.set_num_threads(1)
    while True:
        try:
            task = tasks.get(timeout=5.0)
        except queue.Empty:
            if os.getppid() != parent:
                return
            continue
        if task is None:
            return
        try:
            shared.work(task, rank)
        except BaseException:
            shared.barrier.abort()
            raise


class Crew:
    """This process and ``processes - 1`` more; a context manager that ends them.

    With one process nothing is started, and ``threads`` threads are used.
    """

    def __init__(
        self,
        network: ChitchatNetwork,
        optimizer: Optimizer,
        *,
        processes: int,
        threads: int,
        pad_row: int,
        pad_shift: float,
        dropout: float,
        bf16: bool,
    ) -> None:
        network.requires_grad_(True)
        network.share_memory()
        context = mp.get_context("spawn")
        gradients = [
            {n: torch.zeros_like(p, requires_grad=False).share_memory_() for n, p in named}
            for named in [list(network.named_parameters())] * processes
        ]
        self._shared = Shared(
            network,
            optimizer,
            gradients,
            torch.zeros(processes).share_memory_(),
            context.Barrier(processes) if processes > 1 else None,
            pad_row,
            pad_shift,
            dropout,
            bf16,
        )
        torch.set_num_threads(threads if processes == 1 else 1)
        self._tasks = [context.Queue() for _ in range(processes - 1)]
        self._others = [
            context.Process(
                target=_work, args=(self._shared, tasks, rank, os.getpid()), daemon=True
            )
            for rank, tasks in enumerate(self._tasks, 1)
        ]
        for process in self._others:
            process.start()

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *_: object) -> None:
        for tasks, process in zip(self._tasks, self._others, strict=True):
            tasks.put(None)
            process.join(10.0)
            if process.is_alive():
                process.terminate()

    def step(self, batches: Sequence[Batch], *, factor: float, count: int, seed: int) -> float:
        """Train on batches; returns the mean loss by weight. Raises :class:`WorkerLost`."""
        ranks = len(self._others) + 1
        total = max(1.0, float(sum(batch.weights.sum() for batch in batches)))
        for process in self._others:
            if not process.is_alive():
                raise WorkerLost("a process of the training has ended unexpectedly")
        parts = deal(batches, ranks)
        for rank, tasks in enumerate(self._tasks, 1):
            tasks.put(Task(parts[rank], total, factor, count, seed))
        self._shared.work(Task(parts[0], total, factor, count, seed), 0)
        return float(self._shared.losses.sum())


def deal(batches: Sequence[Batch], ranks: int) -> list[list[Batch]]:
    """Parts of about the same number of tokens, largest batches first."""
    parts: list[list[Batch]] = [[] for _ in range(ranks)]
    sizes = [0] * ranks
    for batch in sorted(batches, key=lambda b: -b.ids.size):
        rank = sizes.index(min(sizes))
        parts[rank].append(batch)
        sizes[rank] += batch.ids.size
    return parts
