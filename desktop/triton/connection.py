"""A gRPC connection to Triton, its inputs, and its errors as ours."""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Sequence

import numpy as np
import tritonclient.grpc as grpcclient
from tritonclient.utils import InferenceServerException

from desktop.triton.types import Endpoint, InvalidInput, ServerUnavailable, TritalkError

GONE = "the Triton server does not answer; it may be restarting"
STRANGE = "the server's answer is not understood; it is another Triton or an older one"

# gRPC waits up to two minutes between its attempts to reach a server that restarted. Own arguments
# replace tritonclient's defaults, so its unlimited message sizes are repeated here.
_CHANNEL = [
    ("grpc.max_reconnect_backoff_ms", 2000),
    ("grpc.max_send_message_length", -1),
    ("grpc.max_receive_message_length", -1),
]
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
        return ServerUnavailable(GONE)  # gRPC's own words: Socket closed, Stream removed, ...
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


class Connections:
    """The clients of one endpoint whose streams have ended, kept for the next ones. Thread-safe.

    A client carries one stream at a time, and making one anew costs the first token of a reply some
    milliseconds (more on a machine that was idle). Those of another machine are kept for a minute:
    after a suspend or in another network nothing would say that such a connection is dead.
    """

    _KEPT = 8
    _KEPT_SECONDS = 60.0

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        # With the time of day when each was given back: other clocks stop in a suspend.
        self._idle: list[tuple[grpcclient.InferenceServerClient, float]] = []
        self._local = endpoint.grpc.startswith("unix:")
        self._lock = threading.Lock()
        self._closed = False

    def take(self) -> tuple[grpcclient.InferenceServerClient, bool]:
        """A client without a stream, and whether it was used before: its server may then have ended
        unnoticed. The caller gives it back or closes it."""
        while True:
            with self._lock:
                if not self._idle:
                    break
                client, since = self._idle.pop()
            if self._local or 0 <= time.time() - since < self._KEPT_SECONDS:
                return client, True
            client.close()
        return connect(self.endpoint), False

    def take_new(self) -> grpcclient.InferenceServerClient:
        """A client that was never used; what was kept is closed, since its server has ended."""
        self._close_idle()
        return connect(self.endpoint)

    def give_back(self, client: grpcclient.InferenceServerClient) -> None:
        """Keep a client whose stream was stopped and whose server was well."""
        with self._lock:
            if not self._closed and len(self._idle) < self._KEPT:
                self._idle.append((client, time.time()))
                return
        client.close()

    def close(self) -> None:
        """Close those that are kept; those in use are closed when they are given back."""
        with self._lock:
            self._closed = True
        self._close_idle()

    def _close_idle(self) -> None:
        with self._lock:
            idle, self._idle = self._idle, []
        for client, _ in idle:
            client.close()


def string_input(name: str, values: Sequence[str], shape: list[int]) -> grpcclient.InferInput:
    """A BYTES input of UTF-8 texts; half a surrogate is sent as it is, for the server to refuse."""
    tensor = grpcclient.InferInput(name, shape, "BYTES")
    data = np.array([v.encode("utf-8", "surrogatepass") for v in values], dtype=np.object_)
    tensor.set_data_from_numpy(data.reshape(shape))
    return tensor


def bool_input(name: str, value: bool) -> grpcclient.InferInput:
    """A BOOL ``[1]`` input."""
    tensor = grpcclient.InferInput(name, [1], "BOOL")
    tensor.set_data_from_numpy(np.array([value]))
    return tensor
