"""Between Triton's Python API and ours: inputs, parameters, errors. Imported inside a stub only."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import triton_python_backend_utils as pb_utils

from server_bundle.chitchat.parameters import NAMES, InvalidParameter, parse_json

# What Triton's frontends add by themselves, or what clients set for the scheduler.
_FOREIGN = frozenset(
    {"id", "priority", "timeout", "sequence_id", "sequence_start", "sequence_end"}
    | {"binary_data_output", "headers", "content_type", "return_logprobs"}
)

CANCEL_PARAMETER = "cancel_request_id"


class InvalidRequest(ValueError):
    """A request is wrong; the message is one sentence for a person."""


class Client:
    """The way back to whoever sent a request.

    Triton 24.10 dies of a segmentation fault (in ``TRITONBACKEND_ResponseFactoryIsCancelled``) when
    asked whether a request is cancelled while, or after, its final response is sent. So both go
    through one lock, and a closed request is never asked about.
    """

    def __init__(self, request: Any) -> None:
        self.request_id = str(request.request_id() or "")
        self._sender = request.get_response_sender()
        self._lock = threading.Lock()
        self._closed = False
        self._cancelled = False

    def send(self, outputs: list[Any], *, final: bool = False) -> None:
        """Send a response; nothing is sent after the final one."""
        self._respond(pb_utils.InferenceResponse(outputs), final)

    def fail(self, message: object, code: int | None = None) -> None:
        """End with an error: INVALID_ARG, or a ``TritonError`` code for other faults."""
        if code is None:
            code = pb_utils.TritonError.INVALID_ARG
        else:  # a gRPC stream carries the words only, so they must tell whose fault it is
            message = f"UNAVAILABLE: {message}"
        words = str(message).encode("utf-8", "replace").decode()  # a name may hold half a surrogate
        error = pb_utils.TritonError(words, code)
        self._respond(pb_utils.InferenceResponse(output_tensors=[], error=error), True)

    @property
    def has_ended(self) -> bool:
        """Whether the final response was sent."""
        return self._closed

    def cancel(self) -> None:
        """Count this request as taken back from now on."""
        self._cancelled = True

    def is_cancelled(self) -> bool:
        """Whether the client went away or took its request back. A round trip to Triton."""
        with self._lock:
            if not self._closed and not self._cancelled:
                self._cancelled = bool(self._sender.is_cancelled())
            return self._cancelled

    def _respond(self, response: Any, final: bool) -> None:
        flags = pb_utils.TRITONSERVER_RESPONSE_COMPLETE_FINAL if final else 0
        with self._lock:
            if self._closed:
                return
            self._closed = final
            self._sender.send(response, flags=flags)


def parameter(model_config: Mapping[str, Any], name: str, default: str = "") -> str:
    """A ``parameters`` entry of config.pbtxt."""
    entry = model_config.get("parameters", {}).get(name)
    return str(entry["string_value"]) if entry else default


def path_parameter(model_config: Mapping[str, Any], name: str) -> Path:
    value = parameter(model_config, name)
    if not value or value.startswith("@"):
        raise pb_utils.TritonModelException(
            f"config.pbtxt does not say where {name} is; was the repository rendered?"
        )
    return Path(value)


def array(request: Any, name: str) -> npt.NDArray[Any] | None:
    """An input as numpy, copied out of shared memory; None if it was not sent."""
    tensor = pb_utils.get_input_tensor_by_name(request, name)
    return None if tensor is None else np.array(tensor.as_numpy())


def strings(request: Any, name: str) -> list[str] | None:
    """A STRING input of any shape as a flat list.

    Raises:
        InvalidRequest: it is not UTF-8.
    """
    values = array(request, name)
    if values is None:
        return None
    try:
        return [bytes(v).decode("utf-8") if not isinstance(v, str) else v for v in values.flat]
    except UnicodeDecodeError:
        raise InvalidRequest(f"{name} is not valid UTF-8") from None


def string(request: Any, name: str) -> str | None:
    """A STRING ``[1]`` input."""
    values = strings(request, name)
    if values is None:
        return None
    if len(values) != 1:
        raise InvalidRequest(f"{name} must hold exactly one string, not {len(values)}")
    return values[0]


def flag(request: Any, name: str) -> bool | None:
    """A BOOL ``[1]`` input."""
    values = array(request, name)
    if values is None:
        return None
    if values.size != 1:
        raise InvalidRequest(f"{name} must hold exactly one value, not {values.size}")
    return bool(values.flat[0])


def take_back(request: Any) -> str | None:
    """The id of the request that this one takes back: its parameter ``cancel_request_id``.

    None: it has no such parameter, and is a request like any other. Triton has no call for this,
    and 24.10 may die of a segmentation fault when a client ends the gRPC call of a running request
    instead (mended in 25.01: github.com/triton-inference-server/server/pull/7840).

    Raises:
        InvalidRequest: it is no id.
    """
    parameters = parse_json(request.parameters() or "", "the request's parameters")
    if CANCEL_PARAMETER not in parameters:
        return None
    request_id = parameters[CANCEL_PARAMETER]
    if not isinstance(request_id, str) or not request_id:
        raise InvalidRequest(f"{CANCEL_PARAMETER} must be the id of a request")
    return request_id


def sampling_values(request: Any, tensor: str | None = None) -> dict[str, Any]:
    """The sampling parameters a request carries, unchecked.

    They may come as the JSON string ``sampling_parameters`` (an input where the model has one, else
    a request parameter) or as request parameters by their own names, as `generate` makes them of
    unknown JSON fields. The JSON string wins where both name the same.

    Raises:
        InvalidParameter: the string is no JSON object, or a request parameter is unknown.
    """
    loose = parse_json(request.parameters() or "", "the request's parameters")
    text = loose.pop("sampling_parameters", "")
    if not isinstance(text, str):
        raise InvalidParameter("sampling_parameters must be a JSON object in a string")
    for name in list(loose):
        if name in _FOREIGN or name.startswith("triton_"):
            del loose[name]
        elif name not in NAMES:
            raise InvalidParameter(
                f"{name[:40]!r} is no parameter of this model; known are sampling_parameters, "
                + ", ".join(NAMES)
            )
    return {**loose, **parse_json(tensor if tensor is not None else text)}
