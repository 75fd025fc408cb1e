"""One reply as Triton streams it: begun, read, and taken back."""

from __future__ import annotations

import json
import queue
import secrets
import threading
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import tritonclient.grpc as grpcclient
from tritonclient.utils import InferenceServerException

from desktop.triton.connection import (
    GONE,
    STRANGE,
    Connections,
    bool_input,
    string_input,
    to_error,
)
from desktop.triton.types import (
    NOT_UNDERSTOOD,
    Alternative,
    Finished,
    Sampling,
    ServerUnavailable,
    Token,
    share_of,
    str_of,
)

_RETURNS = ("return_finish_reason", "return_logprobs", "return_num_input_tokens")
_NO_TOKEN = -1
# How long a server may take to end a request that was taken back, and then the stream, in seconds.
_LEAVE_WITHIN = 2.0
_AT_ONCE = 0.05


class ChatStream:
    """One reply being streamed: iterate for :class:`Token` events, then one :class:`Finished`.

    ``cancel()`` may be called from any thread, any number of times; the iteration then ends with a
    ``Finished`` whose reason is ``cancelled``, holding what had arrived.
    Raises :class:`InvalidInput` or :class:`ServerUnavailable` out of the iteration.
    """

    def __init__(
        self,
        connections: Connections,
        model: str,
        text: str,
        history: Sequence[str],
        sampling: Sampling | None,
        reply_prefix: str = "",
        opening: Sequence[str] = (),
        system: str = "",
    ) -> None:
        inputs = [string_input("text_input", [text], [1]), bool_input("stream", True)]
        inputs += [bool_input(name, True) for name in _RETURNS]
        if history:
            inputs.append(string_input("history", history, [len(history)]))
        if opening:
            inputs.append(string_input("opening", opening, [len(opening)]))
        if reply_prefix:
            inputs.append(string_input("reply_prefix", [reply_prefix], [1]))
        if system:
            inputs.append(string_input("system", [system], [1]))
        parameters = json.dumps((sampling or Sampling()).to_json())
        inputs.append(string_input("sampling_parameters", [parameters], [1]))
        self._connections = connections
        self._model = model
        self._inputs = inputs
        self._id = secrets.token_hex(16)
        # When it came, on which connection, and what: a response, an error, or None to wake up.
        self._events: queue.SimpleQueue[tuple[float, Any, Any]] = queue.SimpleQueue()
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        self._cancelled.set()
        # Wakes the iterating thread, which alone touches the connection.
        self._events.put((0.0, None, None))

    def __iter__(self) -> Iterator[Token | Finished]:
        started = time.monotonic()
        first: float | None = None
        last = started
        reply: list[str] = []
        num_input_tokens = dropped_turns = 0
        reason = "cancelled"
        if not self._cancelled.is_set():
            client, used = self._connections.take()
            open_on_server = well = False
            try:
                self._start(client)
                open_on_server = True
                while True:
                    arrived, event = self._next(client)
                    if isinstance(event, InferenceServerException):
                        open_on_server = False
                        if self._cancelled.is_set():
                            break
                        if not used or "UNAVAILABLE" not in str(event.status()):
                            raise to_error(event)
                        # The connection broke before any answer, most likely because its server
                        # has ended since the last reply; there may be another now.
                        self._leave(client, abruptly=True)
                        client, used = self._connections.take_new(), False
                        self._start(client)
                        open_on_server = True
                        continue
                    if event is not None:
                        used = False
                        num_input_tokens, dropped_turns, token, ended = read(event)
                        open_on_server = not ended
                    if self._cancelled.is_set():
                        break
                    if token is not None:
                        last = arrived
                        first = first or last
                        reply.append(token.text)
                        yield token
                    if ended:
                        reason = ended
                        well = True
                        break
            finally:
                abruptly = open_on_server and not self._take_back(client)
                self._leave(client, abruptly, keep=well)
        n = len(reply)
        yield Finished(
            finish_reason=reason,
            reply="".join(reply),
            tokens=n,
            num_input_tokens=num_input_tokens,
            seconds_to_first_token=None if first is None else first - started,
            tokens_per_second=_rate(n, first - started, last - first) if first else None,
            dropped_turns=dropped_turns,
        )

    def _start(self, client: grpcclient.InferenceServerClient) -> None:
        events = self._events

        def receive(result: Any, error: InferenceServerException | None) -> None:
            events.put((time.monotonic(), client, error if error is not None else result))

        try:
            client.start_stream(receive, headers=self._connections.endpoint.headers or None)
            client.async_stream_infer(self._model, self._inputs, request_id=self._id)
        except InferenceServerException:  # the connection broke before the request was out
            receive(None, InferenceServerException(GONE, status="UNAVAILABLE"))

    def _next(
        self, client: grpcclient.InferenceServerClient, until: float | None = None
    ) -> tuple[float, Any]:
        """What comes next, and when, but for what the connection tried before still brought.

        Raises :class:`queue.Empty` where ``until`` passes.
        """
        while True:
            timeout = None if until is None else max(0.0, until - time.monotonic())
            arrived, origin, event = self._events.get(timeout=timeout)
            if origin in (client, None):
                return arrived, event

    def _take_back(self, client: grpcclient.InferenceServerClient) -> bool:
        """Ask the server to end the request; whether it did.

        Ending the gRPC call instead would be simpler, but Triton 24.10 may die of it.
        """
        try:
            client.async_stream_infer(
                self._model,
                [string_input("text_input", [""], [1])],
                request_id=f"{self._id}-",
                parameters={"cancel_request_id": self._id},
            )
            until = time.monotonic() + _LEAVE_WITHIN
            while True:
                _, event = self._next(client, until)
                if isinstance(event, InferenceServerException):
                    return False  # the connection broke, or the server is an older one
                if event is None:
                    continue
                if event.get_response().id != self._id:
                    (said,) = event.as_numpy("finish_reason")
                    if said == b"not_found":  # it has ended meanwhile
                        return True
                elif read(event)[-1]:
                    return True
        except (queue.Empty, InferenceServerException, ServerUnavailable, *NOT_UNDERSTOOD):
            return False

    def _leave(
        self, client: grpcclient.InferenceServerClient, abruptly: bool, keep: bool = False
    ) -> None:
        """Wait for the server's own end of the stream; ``abruptly``, end the call without it.

        ``keep``: the client is kept for another stream if the server did end this one.
        """
        decided = threading.Lock()  # by whoever gets it: how the stream ends
        stopped = False

        def end() -> None:
            if decided.acquire(blocking=False):
                client.stop_stream(cancel_requests=True)

        end_call = threading.Timer(_AT_ONCE if abruptly else _LEAVE_WITHIN, end)
        end_call.daemon = True
        end_call.start()
        try:
            # In any case, since without it the thread that sends requests would wait for ever.
            client.stop_stream(cancel_requests=False)
            stopped = True
        finally:
            end_call.cancel()
            if decided.acquire(blocking=False) and keep and stopped:
                self._connections.give_back(client)
            else:
                client.close()


def _rate(n: int, wait: float, rest: float) -> float | None:
    """Tokens a second after the first, whose wait is told apart. None where all came so soon after
    it that a busy machine's delivery was measured, not the model."""
    return (n - 1) / rest if n > 1 and rest > 0 and rest >= wait / 10 else None


def read(result: Any) -> tuple[int, int, Token | None, str]:
    """A response of the stream model: the prompt's length, the turns left out of it, the token if
    any, the finish reason. Raises :class:`ServerUnavailable` where it is none."""
    try:
        return _understood(result)
    except NOT_UNDERSTOOD:
        raise ServerUnavailable(STRANGE) from None


def _understood(result: Any) -> tuple[int, int, Token | None, str]:
    num_input_tokens = int(result.as_numpy("num_input_tokens")[0])
    dropped = result.as_numpy("dropped_turns")
    dropped_turns = 0 if dropped is None else int(dropped[0])
    text = result.as_numpy("text_output")[0].decode()
    reason = result.as_numpy("finish_reason")[0].decode()
    ids = result.as_numpy("token_id")
    token = None
    if ids is not None and len(ids):
        (entry,) = json.loads(result.as_numpy("logprobs")[0].decode())
        alternatives = sorted(
            (
                Alternative(
                    str_of(v["decoded_token"]), int(k), share_of(float(np.exp(v["logprob"])))
                )
                for k, v in entry.items()
            ),
            key=lambda a: -a.probability,
        )
        token = Token(
            text=text,
            token_id=int(ids[0]),
            confidence=share_of(float(result.as_numpy("confidence")[0])),
            probability=share_of(float(result.as_numpy("probability")[0])),
            alternatives=tuple(alternatives),
        )
    elif text:  # a fixed answer
        token = Token(text, _NO_TOKEN, 1.0, 1.0)
    return num_input_tokens, dropped_turns, token, "" if reason == "None" else reason
