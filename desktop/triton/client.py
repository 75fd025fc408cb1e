"""The one client of a Triton server: chat streams and address requests.

Every method blocks and may be called from any thread but a GUI thread.
"""

from __future__ import annotations

import json
import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any

from tritonclient.utils import InferenceServerException

from desktop.triton.chat_stream import ChatStream
from desktop.triton.connection import (
    GONE,
    STRANGE,
    Connections,
    connect,
    string_input,
    to_error,
)
from desktop.triton.models import ModelLimits, read_limits, stream_model
from desktop.triton.types import (
    NOT_UNDERSTOOD,
    Endpoint,
    ParsedAddress,
    Sampling,
    ServerUnavailable,
    TritalkError,
)

_STREAM_MODEL = stream_model("")
_ADDRESS_MODEL = "address_parser"
# How many single addresses are under way at once: enough for full batches on the server.
_WINDOW = 128
# How often, and after what pause in seconds, a text is sent again to a server that came back.
_TRIES = 4
_PAUSE = 0.7
# Seconds for one address, among as many as may be under way; and for one that is sent again.
_ANSWER_WITHIN = 180.0
_AGAIN_WITHIN = 20.0


class TritonClient:
    """A connection to one server. Thread-safe; close it, or use it as a context manager.

    Args:
        recover: waits until a server that went away is back and says where it listens; with it,
            addresses that met a dying server are sent again.
    """

    def __init__(self, endpoint: Endpoint, recover: Callable[[], Endpoint] | None = None) -> None:
        self.endpoint = endpoint
        self._client = connect(endpoint)
        self._streams = Connections(endpoint)
        self._recover = recover
        self._in_vain = False
        self._came_back = False
        self._renewing = threading.Lock()

    def chat(
        self,
        text: str,
        history: Sequence[str] = (),
        sampling: Sampling | None = None,
        model: str = _STREAM_MODEL,
        reply_prefix: str = "",
        opening: Sequence[str] = (),
        system: str = "",
    ) -> ChatStream:
        """A reply to ``text`` after ``history`` (oldest first, user and bot in turn).

        ``opening``: turns before the history that are kept when that is shortened.
        ``system``: a system message, for models that take one.
        ``reply_prefix`` is how the reply begins; the stream brings what follows it. Nothing is
        sent before the stream is iterated.
        """
        return ChatStream(
            self._streams, model, text, history, sampling, reply_prefix, opening, system
        )

    def limits(self, model: str = _STREAM_MODEL) -> ModelLimits | None:
        """What may be asked of a chat model; None where it does not tell.

        Raises :class:`ServerUnavailable` where it is not there.
        """
        try:
            answer: Any = self._client.get_model_config(
                model, headers=self.endpoint.headers or None, client_timeout=10.0, as_json=True
            )
        except InferenceServerException as error:
            raise to_error(error) from None
        return read_limits(answer.get("config", {}))

    def parse(self, texts: Sequence[str]) -> list[ParsedAddress]:
        """Parse addresses, answers in order; one wrong text raises :class:`InvalidInput`."""
        results = []
        for answer in self.parse_each(texts):
            if isinstance(answer, TritalkError):
                raise answer
            results.append(answer)
        return results

    def parse_each(self, texts: Iterable[str]) -> Iterator[ParsedAddress | TritalkError]:
        """Parse addresses one by one, answers in order; a wrong text costs only its own answer.

        ``texts`` is read by a thread of its own, a bounded number ahead of the answers: requests
        overlap, so that the server can batch them, and yet each answer comes as soon as it is
        there, also where the texts come slowly (somebody typing).
        """
        pending: queue.Queue[tuple[str, queue.SimpleQueue[Any]] | Exception | None]
        pending = queue.Queue(_WINDOW)
        abandoned = threading.Event()

        def put(item: tuple[str, queue.SimpleQueue[Any]] | Exception | None) -> None:
            while not abandoned.is_set():
                try:
                    pending.put(item, timeout=0.2)
                except queue.Full:
                    continue
                return

        def send() -> None:
            try:
                for text in texts:
                    put((text, self._send_address(text)))
                    if abandoned.is_set():
                        return
                put(None)
            except Exception as error:
                put(error)

        threading.Thread(target=send, name="addresses", daemon=True).start()
        try:
            while (item := pending.get()) is not None:
                if isinstance(item, Exception):
                    raise item
                text, reply = item
                answer = _address(reply.get())
                if isinstance(answer, ServerUnavailable) and self._recover is not None:
                    answer = self._send_again(text, answer)
                yield answer
        finally:
            abandoned.set()

    def _send_address(self, text: str, within: float = _ANSWER_WITHIN) -> queue.SimpleQueue[Any]:
        answer: queue.SimpleQueue[Any] = queue.SimpleQueue()
        try:
            self._client.async_infer(
                _ADDRESS_MODEL,
                [string_input("text_input", [text], [1, 1])],
                lambda result, error: answer.put(error if error is not None else result),
                headers=self.endpoint.headers or None,
                client_timeout=within,
            )
        except InferenceServerException:
            answer.put(ServerUnavailable(GONE))
        return answer

    def _send_again(self, text: str, error: ServerUnavailable) -> ParsedAddress | TritalkError:
        """Another try for a text that met a server going down, once that is up again."""
        assert self._recover is not None
        for attempt in range(1 if self._in_vain else _TRIES):
            # Its end may not have been noticed yet, unless others have been answered again.
            at_once = self._in_vain or (attempt == 0 and self._came_back)
            time.sleep(0 if at_once else _PAUSE)
            endpoint = self._recover()
            with self._renewing:
                if endpoint != self.endpoint or not self.is_ready():
                    self._client.close()
                    self._streams.close()
                    self.endpoint, self._client = endpoint, connect(endpoint)
                    self._streams = Connections(endpoint)
            answer = _address(self._send_address(text, _AGAIN_WITHIN).get())
            if not isinstance(answer, ServerUnavailable):
                self._in_vain, self._came_back = False, True
                return answer
            error, self._came_back = answer, False
        self._in_vain = True  # it is up and yet does not serve addresses: wait no more
        return error

    def is_ready(self) -> bool:
        """Whether the server answers and says that it is ready."""
        try:
            return bool(
                self._client.is_server_ready(
                    headers=self.endpoint.headers or None, client_timeout=5.0
                )
            )
        except InferenceServerException:
            return False

    def close(self) -> None:
        self._streams.close()
        self._client.close()

    def __enter__(self) -> TritonClient:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


def _address(answer: Any) -> ParsedAddress | TritalkError:
    if isinstance(answer, TritalkError):
        return answer
    if isinstance(answer, InferenceServerException):
        return to_error(answer)
    try:
        return ParsedAddress.from_json(json.loads(answer.as_numpy("result").flat[0].decode()))
    except NOT_UNDERSTOOD:
        return ServerUnavailable(STRANGE)
