"""The one client of a Triton server: chat streams and address requests.

Every method blocks and may be called from any thread but a GUI thread.
"""

from __future__ import annotations

import json
import queue
import re
import secrets
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from types import TracebackType
from typing import Any

import numpy as np
import tritonclient.grpc as grpcclient
from tritonclient.utils import InferenceServerException

from desktop.triton.models import ModelLimits, read_limits, stream_model
from desktop.triton.types import (
    NOT_UNDERSTOOD,
    Alternative,
    Endpoint,
    Finished,
    InvalidInput,
    ParsedAddress,
    Sampling,
    ServerUnavailable,
    Token,
    TritalkError,
    share_of,
    str_of,
)

_STREAM_MODEL = stream_model("")
_ADDRESS_MODEL = "address_parser"
_RETURNS = ("return_finish_reason", "return_logprobs", "return_num_input_tokens")
# How many single addresses are under way at once: enough for full batches on the server.
_WINDOW = 128
# How often, and after what pause in seconds, a text is sent again to a server that came back.
_TRIES = 4
_PAUSE = 0.7


# A stream's errors arrive without a status. (Triton can be asked for one with the header
# ``triton_grpc_error``, but 24.10 then dies of a segmentation fault now and again.) Our models
# begin what is not the request's fault with the first of these; the others are Triton's words.
_NOT_THE_REQUEST = (
    "UNAVAILABLE: ",
    "Request for unknown model",
    "Stub process",
    "Failed to",
    "failed to",
    "Internal",
)


# gRPC waits up to two minutes between its attempts to reach a server that restarted. Own arguments
# replace tritonclient's defaults, so its unlimited message sizes are repeated here.
_CHANNEL = [
    ("grpc.max_reconnect_backoff_ms", 2000),
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
]
_NO_TOKEN = -1
# How long a server may take to end a request that was taken back, and then the stream, in seconds.
_LEAVE_WITHIN = 2.0
_AT_ONCE = 0.05
_STRANGE = "the server's answer is not understood; it is another Triton or an older one"
_GONE = "the Triton server does not answer; it may be restarting"


def to_error(error: InferenceServerException) -> TritalkError:
    """Triton's error as one of ours, told by its gRPC status or, on a stream, by its words."""
    status = str(error.status() or "")
    message = str(error.message() or "").strip()
    message = re.sub(r"^\[request id: [^\]]*\] ", "", message)
    if not status and not message.startswith(_NOT_THE_REQUEST):
        return InvalidInput(message)
    message = message.removeprefix("UNAVAILABLE: ")
    if "INVALID_ARGUMENT" in status:
        return InvalidInput(message)
    if "CANCELLED" in status:
        return ServerUnavailable("the server ended the request")
    if "UNAVAILABLE" in status and not str(error.message()).startswith("UNAVAILABLE: "):
        return ServerUnavailable(_GONE)  # gRPC's own words: Socket closed, Stream removed, ...
    if "NOT_FOUND" in status or message.startswith("Request for unknown model"):
        return ServerUnavailable(f"the server does not have the model ready: {message}")
    return ServerUnavailable(message or f"the Triton server failed ({status or 'no reason given'})")


def connect(endpoint: Endpoint) -> grpcclient.InferenceServerClient:
    """A gRPC client of Triton's own; the caller closes it."""
    if not endpoint.tls:
        return grpcclient.InferenceServerClient(endpoint.grpc, channel_args=_CHANNEL)
    return grpcclient.InferenceServerClient(
        endpoint.grpc,
        ssl=True,
        root_certificates=endpoint.ca_file or None,
        channel_args=_CHANNEL,
    )


def _string_input(name: str, values: Sequence[str], shape: list[int]) -> grpcclient.InferInput:
    tensor = grpcclient.InferInput(name, shape, "BYTES")
    data = np.array([v.encode("utf-8", "surrogatepass") for v in values], dtype=np.object_)
    tensor.set_data_from_numpy(data.reshape(shape))
    return tensor


def _bool_input(name: str, value: bool) -> grpcclient.InferInput:
    tensor = grpcclient.InferInput(name, [1], "BOOL")
    tensor.set_data_from_numpy(np.array([value]))
    return tensor


class ChatStream:
    """One reply being streamed: iterate for :class:`Token` events, then one :class:`Finished`.

    ``cancel()`` may be called from any thread, any number of times; the iteration then ends with a
    ``Finished`` whose reason is ``cancelled``, holding what had arrived.
    Raises :class:`InvalidInput` or :class:`ServerUnavailable` out of the iteration.
    """

    def __init__(
        self,
        endpoint: Endpoint,
        model: str,
        text: str,
        history: Sequence[str],
        sampling: Sampling | None,
        reply_prefix: str = "",
        opening: Sequence[str] = (),
        system: str = "",
    ) -> None:
        inputs = [_string_input("text_input", [text], [1]), _bool_input("stream", True)]
        inputs += [_bool_input(name, True) for name in _RETURNS]
        if history:
            inputs.append(_string_input("history", history, [len(history)]))
        if opening:
            inputs.append(_string_input("opening", opening, [len(opening)]))
        if reply_prefix:
            inputs.append(_string_input("reply_prefix", [reply_prefix], [1]))
        if system:
            inputs.append(_string_input("system", [system], [1]))
        parameters = json.dumps((sampling or Sampling()).to_json())
        inputs.append(_string_input("sampling_parameters", [parameters], [1]))
        self._endpoint = endpoint
        self._model = model
        self._inputs = inputs
        self._id = secrets.token_hex(16)
        self._events: queue.SimpleQueue[Any] = queue.SimpleQueue()
        self._cancelled = threading.Event()

    def cancel(self) -> None:
        self._cancelled.set()
        # Wakes the iterating thread, which alone touches the connection.
        self._events.put((0.0, None))

    def __iter__(self) -> Iterator[Token | Finished]:
        started = time.monotonic()
        first: float | None = None
        last = started
        reply: list[str] = []
        num_input_tokens = dropped_turns = 0
        reason = "cancelled"
        if not self._cancelled.is_set():
            client = connect(self._endpoint)
            open_on_server = False
            try:
                self._start(client)
                open_on_server = True
                while True:
                    arrived, event = self._events.get()
                    if self._cancelled.is_set():
                        break
                    if isinstance(event, InferenceServerException):
                        open_on_server = False
                        raise to_error(event)
                    num_input_tokens, dropped_turns, token, ended = _read(event)
                    open_on_server = not ended
                    if token is not None:
                        last = arrived
                        first = first or last
                        reply.append(token.text)
                        yield token
                    if ended:
                        reason = ended
                        break
            finally:
                self._leave(client, open_on_server and not self._take_back(client))
        n = len(reply)
        yield Finished(
            finish_reason=reason,
            reply="".join(reply),
            tokens=n,
            num_input_tokens=num_input_tokens,
            seconds_to_first_token=None if first is None else first - started,
            # The first token's wait is told apart; the rate is that of the tokens after it.
            tokens_per_second=(n - 1) / (last - first)
            if first and n > 1 and last > first
            else None,
            dropped_turns=dropped_turns,
        )

    def _start(self, client: grpcclient.InferenceServerClient) -> None:
        events = self._events

        def receive(result: Any, error: InferenceServerException | None) -> None:
            events.put((time.monotonic(), error if error is not None else result))

        try:
            client.start_stream(receive, headers=self._endpoint.headers or None)
            client.async_stream_infer(self._model, self._inputs, request_id=self._id)
        except InferenceServerException:  # the connection broke before the request was out
            raise ServerUnavailable(_GONE) from None

    def _take_back(self, client: grpcclient.InferenceServerClient) -> bool:
        """Ask the server to end the request; whether it did.

        Ending the gRPC call instead would be simpler, but Triton 24.10 may die of it.
        """
        try:
            client.async_stream_infer(
                self._model,
                [_string_input("text_input", [""], [1])],
                request_id=f"{self._id}-",
                parameters={"cancel_request_id": self._id},
            )
            until = time.monotonic() + _LEAVE_WITHIN
            while True:
                _, event = self._events.get(timeout=max(0.0, until - time.monotonic()))
                if isinstance(event, InferenceServerException):
                    return False  # the connection broke, or the server is an older one
                if event is None or event.get_response().id != self._id:
                    continue
                if _read(event)[-1]:
                    return True
        except (queue.Empty, InferenceServerException, ServerUnavailable):
            return False

    def _leave(self, client: grpcclient.InferenceServerClient, abruptly: bool) -> None:
        """Wait for the server's own end of the stream; ``abruptly``, end the call without it."""
        wait = _AT_ONCE if abruptly else _LEAVE_WITHIN
        end_call = threading.Timer(wait, client.stop_stream, kwargs={"cancel_requests": True})
        end_call.daemon = True
        end_call.start()
        try:
            # In any case, since without it the thread that sends requests would wait for ever.
            client.stop_stream(cancel_requests=False)
        finally:
            end_call.cancel()
            client.close()


def _read(result: Any) -> tuple[int, int, Token | None, str]:
    """A response of the stream model: the prompt's length, the turns left out of it, the token if
    any, the finish reason. Raises :class:`ServerUnavailable` where it is none."""
    try:
        return _understood(result)
    except NOT_UNDERSTOOD:
        raise ServerUnavailable(_STRANGE) from None


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


class TritonClient:
    """A connection to one server. Thread-safe; close it, or use it as a context manager.

    Args:
        recover: waits until a server that went away is back and says where it listens; with it,
            addresses that met a dying server are sent again.
    """

    def __init__(self, endpoint: Endpoint, recover: Callable[[], Endpoint] | None = None) -> None:
        self.endpoint = endpoint
        self._client = connect(endpoint)
        self._recover = recover
        self._in_vain = False
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
            self.endpoint, model, text, history, sampling, reply_prefix, opening, system
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

    def _send_address(self, text: str) -> queue.SimpleQueue[Any]:
        answer: queue.SimpleQueue[Any] = queue.SimpleQueue()
        try:
            self._client.async_infer(
                _ADDRESS_MODEL,
                [_string_input("text_input", [text], [1, 1])],
                lambda result, error: answer.put(error if error is not None else result),
                headers=self.endpoint.headers or None,
            )
        except InferenceServerException:
            answer.put(ServerUnavailable(_GONE))
        return answer

    def _send_again(self, text: str, error: ServerUnavailable) -> ParsedAddress | TritalkError:
        """Another try for a text that met a server going down, once that is up again."""
        assert self._recover is not None
        for _ in range(1 if self._in_vain else _TRIES):
            time.sleep(0 if self._in_vain else _PAUSE)  # its end may not have been noticed yet
            endpoint = self._recover()
            with self._renewing:
                if endpoint != self.endpoint or not self.is_ready():
                    self._client.close()
                    self.endpoint, self._client = endpoint, connect(endpoint)
            answer = _address(self._send_address(text).get())
            if not isinstance(answer, ServerUnavailable):
                self._in_vain = False
                return answer
            error = answer
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
        return ServerUnavailable(_STRANGE)
