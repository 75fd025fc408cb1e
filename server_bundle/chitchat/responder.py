"""Sends an engine's results to Triton from a thread of its own, beside the engine's next step.

One thread: of several that send at once in one process, Triton 24.10 forgets to wake some for ever.

The engine waits (:meth:`Responder.pace`) where sending takes longer than a step. Where even that
wait is too short, several tokens of one reply go out in one response. The tokens of all replies to
one calling model go out in one response as well, see :mod:`server_bundle.chitchat.steps`.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from collections.abc import Sequence
from typing import Any

import numpy as np
import triton_python_backend_utils as pb_utils

from server_bundle.chitchat.cancel import parts
from server_bundle.chitchat.sampling import Sampled
from server_bundle.chitchat.steps import Addressed, pack
from server_bundle.chitchat.triton_io import Client

# The engine waits no longer than this for a client that does not take its responses, in seconds.
_PACE_SECONDS = 0.25
_CLOSE_SECONDS = 5.0


class ResponseSink:
    """One request's way out. Implements :class:`server_bundle.chitchat.engine.Sink`.

    Attributes:
        caller: the calling model, empty where the request came from elsewhere.
        reply: the caller's number for this reply.
    """

    def __init__(self, client: Client, responder: Responder, key: str) -> None:
        self._client = client
        self._responder = responder
        self.caller, self.reply = parts(key) if key else ("", 0)
        self._tokens: deque[Sampled] = deque()
        self._sent = 0
        self._end: tuple[str, str] | None = None  # ("finish", reason) or ("fail", message)
        self._queued = False
        self._lock = threading.Lock()
        self._cancelled = False

    def token(self, sampled: Sampled) -> None:
        self._push(sampled, None)

    def finish(self, reason: str) -> None:
        self._push(None, ("finish", reason))

    def fail(self, message: str) -> None:
        self._push(None, ("fail", message))

    def is_cancelled(self) -> bool:
        """What the last poll found; never asks Triton itself, since that is a round trip."""
        return self._cancelled

    def poll(self) -> None:
        self._cancelled = self._client.is_cancelled()

    def _push(self, sampled: Sampled | None, end: tuple[str, str] | None) -> None:
        with self._lock:
            if sampled is not None:
                self._tokens.append(sampled)
            if end is not None:
                self._end = end
            if self._queued:
                return
            self._queued = True
        self._responder.put(self)

    def flush(self) -> list[Addressed]:
        """Send what there is; instead, what may go with any response to the caller is returned."""
        with self._lock:
            self._queued = False
            tokens, self._tokens = list(self._tokens), deque()
            end = self._end
        if end is not None:
            self._responder.forget(self)
            kind, text = end
            if kind == "fail":
                self._client.fail(text, pb_utils.TritonError.INTERNAL)
            elif self.caller:
                outputs = _packed(self._addressed(tokens or [None]))
                self._client.send([*outputs, _finish_reason(text)], final=True)
            else:
                self._client.send([*_outputs(tokens), _finish_reason(text)], final=True)
        elif tokens and self.caller:
            return self._addressed(tokens)
        elif tokens:
            self._client.send(_outputs(tokens))
        return []

    def carry(self, steps: list[Addressed]) -> None:
        """Send steps of this caller's replies; of this reply at least one, as it is open then."""
        self._client.send(_packed(steps))

    def _addressed(self, tokens: Sequence[Sampled | None]) -> list[Addressed]:
        first = self._sent
        self._sent += len(tokens)
        return [Addressed(self.reply, i, token) for i, token in enumerate(tokens, start=first)]


def _outputs(tokens: list[Sampled]) -> list[Any]:
    if not tokens:
        return []
    top_ids = [i for t in tokens for i in t.top_ids]
    top_shares = [p for t in tokens for p in t.top_probabilities]
    return [
        pb_utils.Tensor("OUTPUT__0", np.array([t.token for t in tokens], np.int32)),
        pb_utils.Tensor("OUTPUT__1", np.array([t.confidence for t in tokens], np.float32)),
        pb_utils.Tensor("TOKEN_PROBABILITY", np.array([t.probability for t in tokens], np.float32)),
        pb_utils.Tensor("TOKEN_RANK", np.array([t.rank for t in tokens], np.int32)),
        pb_utils.Tensor("TOP_IDS", np.array(top_ids, np.int32)),
        pb_utils.Tensor("TOP_PROBABILITIES", np.array(top_shares, np.float32)),
    ]


def _packed(steps: list[Addressed]) -> list[Any]:
    return [pb_utils.Tensor("STEPS", pack(steps))]


def _finish_reason(reason: str) -> Any:
    return pb_utils.Tensor("FINISH_REASON", np.array([reason.encode()], np.object_))


def _carry(due: list[tuple[ResponseSink, list[Addressed]]]) -> None:
    """Send the steps of all these replies to one caller on the first that takes them."""
    steps = [step for _, own in due for step in own]
    for sink, _ in due:
        try:
            sink.carry(steps)
        except Exception as error:  # that request is gone; its caller's others are not
            pb_utils.Logger.log_warn(f"a response could not be sent: {error}")
        else:
            return


class Responder:
    """The sending thread, and another that asks Triton which requests were cancelled."""

    def __init__(self, poll_seconds: float = 0.1) -> None:
        self._queue: queue.SimpleQueue[ResponseSink | None] = queue.SimpleQueue()
        self._unsent = 0
        self._sent_all = threading.Condition()
        self._open: set[ResponseSink] = set()
        self._lock = threading.Lock()
        self._poll_seconds = poll_seconds
        self._stopped = threading.Event()
        self._threads = [
            threading.Thread(target=self._send, name="responses", daemon=True),
            threading.Thread(target=self._poll, name="cancel-poll", daemon=True),
        ]
        for thread in self._threads:
            thread.start()

    def sink(self, client: Client, key: str) -> ResponseSink:
        """A way out for one request.

        Args:
            key: its cancel key (cancel.py), which tells the caller and its number for the reply; a
                request without one is polled for a cancel.
        """
        sink = ResponseSink(client, self, key)
        if not key:
            with self._lock:
                self._open.add(sink)
        return sink

    def forget(self, sink: ResponseSink) -> None:
        with self._lock:
            self._open.discard(sink)

    def put(self, sink: ResponseSink) -> None:
        """Have what ``sink`` holds sent."""
        with self._sent_all:
            self._unsent += 1
        self._queue.put(sink)

    def pace(self) -> None:
        """Wait until everything is sent, or for a quarter of a second."""
        with self._sent_all:
            self._sent_all.wait_for(lambda: self._unsent == 0, timeout=_PACE_SECONDS)

    def close(self) -> None:
        """Send what is queued, then end both threads."""
        self._stopped.set()
        self._queue.put(None)
        deadline = time.monotonic() + _CLOSE_SECONDS
        for thread in self._threads:
            thread.join(timeout=max(0.0, deadline - time.monotonic()))

    def _send(self) -> None:
        while self._send_queued():
            pass

    def _send_queued(self) -> bool:
        """Send what waits, or else what comes next; false at the end. Apart from the loop, whose
        variables would keep a request, and so the model, alive while it waits."""
        sinks = [self._queue.get()]
        while not self._queue.empty():
            sinks.append(self._queue.get())
        queued = [sink for sink in sinks if sink is not None]
        together: dict[str, list[tuple[ResponseSink, list[Addressed]]]] = {}
        for sink in queued:
            try:
                if own := sink.flush():
                    together.setdefault(sink.caller, []).append((sink, own))
            except Exception as error:  # the client may be gone; the others are not
                pb_utils.Logger.log_warn(f"a response could not be sent: {error}")
        for of_one_caller in together.values():
            _carry(of_one_caller)
        with self._sent_all:
            self._unsent -= len(queued)
            if not self._unsent:
                self._sent_all.notify()
        return len(queued) == len(sinks)

    def _poll(self) -> None:
        while not self._stopped.wait(self._poll_seconds):
            self._poll_all()

    def _poll_all(self) -> None:  # apart from the loop, whose variables would keep the last sink
        with self._lock:
            sinks = list(self._open)
        for sink in sinks:
            try:
                sink.poll()
            except Exception as error:
                self.forget(sink)
                pb_utils.Logger.log_warn(f"asking for cancellation failed: {error}")
