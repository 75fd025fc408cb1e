"""Sends an engine's results to Triton from a thread of its own, beside the engine's next step.

One thread: of several that send at once in one process, Triton 24.10 forgets to wake some for ever.

The engine waits (:meth:`Responder.pace`) where sending takes longer than a step. Where even that
wait is too short, several tokens of one reply go out in one response.
"""

from __future__ import annotations

import queue
import threading
import time
from collections import deque
from typing import Any

import numpy as np
import triton_python_backend_utils as pb_utils

from server_bundle.chitchat.sampling import Sampled
from server_bundle.chitchat.triton_io import Client

# The engine waits no longer than this for a client that does not take its responses, in seconds.
_PACE_SECONDS = 0.25
_CLOSE_SECONDS = 5.0


class ResponseSink:
    """One request's way out. Implements :class:`server_bundle.chitchat.engine.Sink`."""

    def __init__(self, client: Client, responder: Responder) -> None:
        self._client = client
        self._responder = responder
        self._tokens: deque[Sampled] = deque()
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

    def flush(self) -> None:
        with self._lock:
            self._queued = False
            tokens, self._tokens = list(self._tokens), deque()
            end = self._end
        if end is None:
            if tokens:
                self._client.send(_outputs(tokens, None))
            return
        self._responder.forget(self)
        kind, text = end
        if kind == "fail":
            self._client.fail(text, pb_utils.TritonError.INTERNAL)
        else:
            self._client.send(_outputs(tokens, text), final=True)


def _outputs(tokens: list[Sampled], finish_reason: str | None) -> list[Any]:
    outputs = []
    if tokens:
        top_ids = [i for t in tokens for i in t.top_ids]
        top_shares = [p for t in tokens for p in t.top_probabilities]
        outputs = [
            pb_utils.Tensor("OUTPUT__0", np.array([t.token for t in tokens], np.int32)),
            pb_utils.Tensor("OUTPUT__1", np.array([t.confidence for t in tokens], np.float32)),
            pb_utils.Tensor(
                "TOKEN_PROBABILITY", np.array([t.probability for t in tokens], np.float32)
            ),
            pb_utils.Tensor("TOKEN_RANK", np.array([t.rank for t in tokens], np.int32)),
            pb_utils.Tensor("TOP_IDS", np.array(top_ids, np.int32)),
            pb_utils.Tensor("TOP_PROBABILITIES", np.array(top_shares, np.float32)),
        ]
    if finish_reason is not None:
        outputs.append(
            pb_utils.Tensor("FINISH_REASON", np.array([finish_reason.encode()], np.object_))
        )
    return outputs


class Responder:
    """The sending thread, and another that asks Triton which requests were cancelled."""

    def __init__(self, poll_seconds: float = 0.05) -> None:
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

    def sink(self, client: Client, *, poll: bool) -> ResponseSink:
        """A way out for one request; ``poll`` for requests without a cancel key."""
        sink = ResponseSink(client, self)
        if poll:
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
        while (sink := self._queue.get()) is not None:
            try:
                sink.flush()
            except Exception as error:  # the client may be gone; the others are not
                pb_utils.Logger.log_warn(f"a response could not be sent: {error}")
            with self._sent_all:
                self._unsent -= 1
                if not self._unsent:
                    self._sent_all.notify()
            del sink  # while this waits it must not keep a request, and so the model, alive

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
