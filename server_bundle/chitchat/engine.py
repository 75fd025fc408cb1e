"""Continuous batching: requests join and leave the running batch between two steps.

One thread owns the network and its cache. Each turn of its loop admits waiting requests, in their
order, until it has read a number of prompt tokens (each prompt in one go), so that running replies
never wait long, and then takes one step for all running replies at once. Results go to the
request's sink, which must not block.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import torch

from server_bundle import process
from server_bundle.chitchat.folder import Vocabulary
from server_bundle.chitchat.graphs import graphed
from server_bundle.chitchat.network import ChitchatNetwork, KVCache
from server_bundle.chitchat.parameters import SamplingParameters
from server_bundle.chitchat.sampling import RowState, Sampled, sample

log = logging.getLogger(__name__)

# A turn admits no further request once it has read so many prompt tokens: a few short prompts, or
# one long one. With one prompt a turn, eight chats that begin together would take seven steps more.
_PROMPT_TOKENS = 128
# Where a step takes every core, a first token would reach its client only between the next steps:
# three more processes have to wake up for it. So after reading prompts the engine rests for this
# share of the time the reading took, and at most this long, less than a step of a large model.
_REST, _REST_SECONDS = 1 / 8, 0.006


class QueueFull(Exception):
    """More requests wait than the engine accepts; the message is for a person."""


class Sink(Protocol):
    """Where one request's results go. Called from the engine's thread; must return at once."""

    def token(self, sampled: Sampled) -> None: ...

    def finish(self, reason: str) -> None:
        """The reply has ended: ``stop``, ``length`` or ``cancelled``. Nothing follows."""
        ...

    def fail(self, message: str) -> None:
        """The engine could not go on. Nothing follows."""
        ...


@dataclass
class Request:
    """One reply to make.

    Attributes:
        ids: the prompt's token ids, 1 to context - 1 of them.
        types: its token types, as many, or None for a model without.
        reply_type: the token type of every token of the reply.
        reply_prefix: the tokens at the prompt's end that belong to the reply already.
        is_cancelled: asked before every step; must be quick.
    """

    ids: Sequence[int]
    types: Sequence[int] | None
    reply_type: int
    parameters: SamplingParameters
    sink: Sink
    is_cancelled: Callable[[], bool] = lambda: False
    reply_prefix: Sequence[int] = ()


@dataclass
class _Row:
    request: Request
    state: RowState
    length: int  # tokens in the cache
    last: int  # the newest token, not in the cache yet


@dataclass
class Figures:
    """Counters since the start and gauges of now, for the metrics endpoint."""

    tokens: int = 0
    prompt_tokens: int = 0
    requests: int = 0
    cancelled: int = 0
    steps: int = 0
    step_rows: int = 0
    running: int = 0
    waiting: int = 0
    seconds_to_first_token: float = 0.0
    first_tokens: int = 0


@dataclass
class _Waiting:
    request: Request
    since: float = field(default_factory=time.monotonic)


class Engine:
    """Runs one network for many requests.

    Args:
        slots: how many replies run at once; more wait in their order of arrival.
        queue_limit: how many may wait; one more is refused.
        threads: how many compute one operation; None leaves that to torch.
        with_types: whether requests have token types.
        pace: called when a step is computed and before its results go to the sinks, and between
            first tokens and the next step where that takes every core; it may wait until what the
            sinks got is on its way, so that tokens do not pile up there and reach the client in
            bursts.
        context: longest sequence of prompt and reply, at most ``n_positions``.
    """

    def __init__(
        self,
        network: ChitchatNetwork,
        vocabulary: Vocabulary,
        *,
        slots: int,
        queue_limit: int = 256,
        threads: int | None = None,
        context: int | None = None,
        with_types: bool = True,
        pace: Callable[[], None] = lambda: None,
    ) -> None:
        self.network = network
        self.vocabulary = vocabulary
        self.context = min(context or network.config.n_positions, network.config.n_positions)
        self._device = network.wte.weight.device
        self._cache = KVCache(
            network.config, slots, self.context, device=self._device, dtype=network.compute
        )
        self._queue_limit = queue_limit
        self._threads = threads
        self._graphed: Any = None
        self._with_types = with_types
        self._pace = pace
        cores = process.cores()
        self._takes_all_cores = self._device.type == "cpu" and (threads or cores) >= cores
        self._waiting: deque[_Waiting] = deque()
        self._rows: list[_Row] = []
        self._wake = threading.Condition()
        self._stopping = False
        self.figures = Figures()
        self._thread = threading.Thread(target=self._run, name="engine", daemon=True)

    def start(self) -> None:
        self._thread.start()

    def submit(self, request: Request) -> None:
        """Queue a request. Raises :class:`QueueFull`."""
        with self._wake:
            if self._stopping:
                raise QueueFull("the chat model is being unloaded")
            if len(self._waiting) >= self._queue_limit:
                raise QueueFull(
                    f"too many chats at once: {len(self._rows)} are being answered and "
                    f"{len(self._waiting)} wait; try again in a moment"
                )
            self._waiting.append(_Waiting(request))
            self.figures.requests += 1
            self.figures.waiting = len(self._waiting)
            self._wake.notify()

    def stop(self) -> None:
        """End the loop; what runs or waits ends as cancelled. Blocks until the thread is gone."""
        with self._wake:
            self._stopping = True
            self._wake.notify()
        if self._thread.is_alive():
            self._thread.join()

    # ---- the engine's thread ----

    def _run(self) -> None:
        if self._threads is not None:
            torch.set_num_threads(self._threads)  # a setting of the calling thread
        with torch.inference_mode():
            if self._device.type == "cuda" and isinstance(self.network, ChitchatNetwork):
                self._graphed = graphed(self.network, self._cache, with_types=self._with_types)
            while True:
                with self._wake:
                    while not (self._waiting or self._rows or self._stopping):
                        self._wake.wait()
                    if self._stopping:
                        break
                try:
                    self._turn()
                except Exception as error:  # the loop must outlive any one batch
                    log.exception("engine step failed")
                    self._fail_all(f"the chat model failed: {error}")
        for row in list(self._rows):
            self._end(row, "cancelled")
        while self._waiting:
            self._waiting.popleft().request.sink.finish("cancelled")

    def _fail_all(self, message: str) -> None:
        rows, self._rows = self._rows, []
        self.figures.running = 0
        for row in rows:
            row.request.sink.fail(message)

    def _turn(self) -> None:
        for row in [r for r in self._rows if r.request.is_cancelled()]:
            self._end(row, "cancelled")
        self._drop_cancelled_waiting()
        read = 0
        began = time.monotonic()
        while self._waiting and len(self._rows) < self._cache.slots and read < _PROMPT_TOKENS:
            read += self._admit()
        if self._rows:
            if read and self._takes_all_cores:
                took = time.monotonic() - began
                self._pace()
                time.sleep(min(_REST * took, _REST_SECONDS))
            self._step()

    def _drop_cancelled_waiting(self) -> None:
        with self._wake:
            gone = [w for w in self._waiting if w.request.is_cancelled()]
            for waiting in gone:
                self._waiting.remove(waiting)
            self.figures.waiting = len(self._waiting)
        for waiting in gone:
            self.figures.cancelled += 1
            waiting.request.sink.finish("cancelled")

    def _admit(self) -> int:
        """Begin the next request; how many tokens its prompt has."""
        with self._wake:
            waiting = self._waiting.popleft()
            self.figures.waiting = len(self._waiting)
        request = waiting.request
        slot = len(self._rows)
        try:
            ids = torch.tensor(request.ids, device=self._device)
            types = None
            if request.types is not None:
                types = torch.tensor(request.types, device=self._device)
            logits = self.network.prefill(ids, types, self._cache, slot)
        except Exception as error:
            log.exception("reading a prompt failed")
            request.sink.fail(f"the chat model could not read the prompt: {error}")
            return len(request.ids)
        self.figures.prompt_tokens += len(request.ids)
        state = RowState(request.parameters, request.ids, prefix=request.reply_prefix)
        row = _Row(request, state, len(request.ids), -1)
        self._rows.append(row)
        self.figures.running = len(self._rows)
        (sampled,) = sample(logits[None], [row.state], self.vocabulary)
        self.figures.seconds_to_first_token += time.monotonic() - waiting.since
        self.figures.first_tokens += 1
        self._take(row, sampled)
        return len(request.ids)

    def _step(self) -> None:
        rows = list(self._rows)
        lengths = [row.length for row in rows]
        ids = torch.tensor([row.last for row in rows], device=self._device)
        types = None
        if rows[0].request.types is not None:
            types = torch.tensor([row.request.reply_type for row in rows], device=self._device)
        positions = torch.tensor(lengths, device=self._device)
        decode = self._graphed or self.network.decode
        logits = decode(ids, types, positions, max(lengths), self._cache)
        for row in rows:
            row.length += 1
        self.figures.steps += 1
        self.figures.step_rows += len(rows)
        results = sample(logits, [row.state for row in rows], self.vocabulary)
        self._pace()
        for row, sampled in zip(rows, results, strict=True):
            self._take(row, sampled)

    def _take(self, row: _Row, sampled: Sampled) -> None:
        if sampled.token == self.vocabulary.stop:
            self._end(row, "stop")
            return
        row.state.append(sampled.token)
        row.last = sampled.token
        self.figures.tokens += 1
        with contextlib.suppress(Exception):  # a sink's trouble is not the batch's
            row.request.sink.token(sampled)
        full = row.length >= self.context
        if len(row.state.reply) >= row.request.parameters.max_tokens or full:
            self._end(row, "length")

    def _end(self, row: _Row, reason: str) -> None:
        place = self._rows.index(row)
        last = self._rows.pop()
        if last is not row:  # the last row moves into the gap
            self._cache.move(len(self._rows), place, last.length)
            self._rows[place] = last
        self.figures.running = len(self._rows)
        if reason == "cancelled":
            self.figures.cancelled += 1
        with contextlib.suppress(Exception):
            row.request.sink.finish(reason)
