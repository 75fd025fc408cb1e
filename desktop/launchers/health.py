"""Small HTTP calls to a Triton server with the standard library alone: live, index, load."""

from __future__ import annotations

import http.client
import json
import socket
from typing import Any
from urllib.parse import urlsplit

from desktop.triton.reasons import plain
from desktop.triton.types import Endpoint


class UnixConnection(http.client.HTTPConnection):
    """HTTP over a Unix socket."""

    def __init__(self, path: str, timeout: float) -> None:
        super().__init__("localhost", timeout=timeout)
        self._path = path

    def connect(self) -> None:
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self._path)


def request(
    address: str,
    method: str,
    path: str,
    headers: dict[str, str] | None = None,
    body: Any = None,
    timeout: float = 5.0,
) -> tuple[int, bytes]:
    """One call to ``unix:PATH`` or ``http://host:port``: its status code and body.

    Raises OSError or http.client.HTTPException where no server answers.
    """
    connection: http.client.HTTPConnection
    if address.startswith("unix:"):
        connection = UnixConnection(address.removeprefix("unix:"), timeout)
    else:
        connection = http.client.HTTPConnection(urlsplit(address).netloc, timeout=timeout)
    try:
        data = None if body is None else json.dumps(body).encode()
        connection.request(method, path, body=data, headers=headers or {})
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def is_live(endpoint: Endpoint, timeout: float = 1.0) -> bool:
    try:
        status, _ = request(
            endpoint.http, "GET", "/v2/health/live", endpoint.headers, timeout=timeout
        )
    except (OSError, http.client.HTTPException):
        return False
    return status == 200


def is_live_by_grpc(endpoint: Endpoint, timeout: float = 1.0) -> bool:
    # Only here, where it is rarely needed: importing it costs a supervisor its smallness.
    from tritonclient.utils import InferenceServerException

    from desktop.triton.connection import connect

    client = connect(endpoint)
    try:
        headers = endpoint.headers or None
        return bool(client.is_server_live(headers=headers, client_timeout=timeout))
    except InferenceServerException:
        return False
    finally:
        client.close()


def model_states(endpoint: Endpoint, timeout: float = 5.0) -> dict[str, str]:
    """Each model in the served repository: READY, LOADING, UNLOADING or UNAVAILABLE, with the
    reason after a colon where Triton gives one. Raises OSError where no server answers."""
    try:
        status, body = request(
            endpoint.http, "POST", "/v2/repository/index", endpoint.headers, {}, timeout
        )
    except http.client.HTTPException as error:
        raise OSError(str(error)) from error
    if status != 200:
        raise OSError(f"the model index answered with HTTP status {status}")
    states: dict[str, str] = {}
    for model in json.loads(body):
        state = model.get("state") or "UNAVAILABLE"
        reason = plain(model.get("reason") or "")
        # One entry a version: a version that comes or goes does not make the model unready.
        if states.get(model["name"]) != "READY":
            states[model["name"]] = f"{state}: {reason}" if reason and state != "READY" else state
    return states


def load_model(endpoint: Endpoint, name: str, timeout: float = 300.0) -> str:
    """Load a model; the reason in Triton's words where that failed, else an empty string."""
    try:
        status, body = request(
            endpoint.http,
            "POST",
            f"/v2/repository/models/{name}/load",
            endpoint.headers,
            {},
            timeout,
        )
    except (OSError, http.client.HTTPException) as error:
        return f"the server did not answer ({error or type(error).__name__})"
    if status == 200:
        return ""
    try:
        return plain(str(json.loads(body)["error"]))
    except (ValueError, KeyError, TypeError):
        return f"HTTP status {status}"
