"""The remote launcher: a Triton that somebody else runs, reached by its address."""

from __future__ import annotations

import contextlib
import dataclasses
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from desktop.launchers.base import LaunchError, ServerState, ServerStatus, StatusCallback
from desktop.triton.types import Endpoint

if TYPE_CHECKING:
    from desktop.settings import RemoteSettings

_SCHEMES = {"grpc": 8001, "grpcs": 8001, "http": 8000, "https": 8000}
_INTERVAL = 3.0
_ANSWER_WITHIN = 5.0


def endpoint_of(settings: RemoteSettings) -> Endpoint:
    """Where to connect. Raises :class:`LaunchError` for an address that cannot be one."""
    url = settings.url.strip()
    if not url:
        raise LaunchError(
            "No address of a remote Triton is set; put it into the settings (remote.url) or "
            "TRITALK_REMOTE_URL, such as grpc://triton.example.org:8001"
        )
    if url.startswith("unix:"):
        return Endpoint(url, "", "", _headers(settings))
    parts = urlsplit(url if "://" in url else f"grpc://{url}")
    try:
        port = parts.port
    except ValueError:
        port = -1
    if parts.scheme not in _SCHEMES or not parts.hostname or port == -1 or parts.path not in "/":
        raise LaunchError(
            f"{url!r} is no address of a Triton server; write grpc://host:8001 (grpcs:// with TLS) "
            "or http://host:8000 (https:// with TLS), without a path."
        )
    tls = parts.scheme in ("grpcs", "https")
    if settings.ca_file and not Path(settings.ca_file).is_file():
        raise LaunchError(f"The CA file {settings.ca_file} does not exist.")
    if settings.ca_file and not tls:
        raise LaunchError(f"A CA file is set, but {url} is an address without TLS (grpcs://).")
    number = port or _SCHEMES[parts.scheme]
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    http = ""
    if parts.scheme in ("http", "https"):
        http = f"{parts.scheme}://{host}:{number}"
        number += 1  # Triton's own convention: 8000 and 8001
    headers = _headers(settings)
    return Endpoint(f"{host}:{number}", http, "", headers, tls, settings.ca_file)


def _headers(settings: RemoteSettings) -> dict[str, str]:
    if not settings.token:
        return {}
    name = settings.header.strip().lower() or "authorization"
    bearer = name == "authorization" and " " not in settings.token
    return {name: f"Bearer {settings.token}" if bearer else settings.token}


class RemoteLauncher:
    """Connects to the server of the settings; starts and stops nothing."""

    name = "remote"

    def __init__(self, settings: RemoteSettings, *, reason: str = "chosen by the user") -> None:
        self._endpoint = endpoint_of(settings)
        self._reason = reason

    def acquire(self) -> RemoteLease:
        """Returns at once, in STARTING."""
        return RemoteLease(self._endpoint, self._reason)


class RemoteLease:
    """Looks at the server every few seconds, and goes on when it does not answer."""

    def __init__(self, endpoint: Endpoint, reason: str) -> None:
        self._status = ServerStatus(
            "remote", reason, ServerState.STARTING, f"connecting to {endpoint.grpc}", endpoint
        )
        self._changed = threading.Condition()
        self._callbacks: list[StatusCallback] = []
        self._closed = threading.Event()
        self._thread = threading.Thread(target=self._run, name="remote-lease", daemon=True)
        self._thread.start()

    def status(self) -> ServerStatus:
        """The last known status; never blocks."""
        return self._status

    def wait_ready(self, timeout: float = 120.0) -> ServerStatus:
        """Block until READY or DEGRADED. Raises :class:`LaunchError` on failure or time-out."""
        with self._changed:
            self._changed.wait_for(
                lambda: self._status.state is not ServerState.STARTING or self._closed.is_set(),
                timeout,
            )
            status = self._status
        if status.state in (ServerState.READY, ServerState.DEGRADED):
            return status
        raise LaunchError(status.message)

    def subscribe(self, callback: StatusCallback) -> None:
        """Call ``callback`` on every later change, from the lease's thread."""
        self._callbacks.append(callback)

    def close(self) -> None:
        """Stop looking; the server goes on."""
        self._closed.set()
        with self._changed:
            self._changed.notify_all()
        if threading.current_thread() is not self._thread:
            self._thread.join(2)

    def __enter__(self) -> RemoteLease:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _run(self) -> None:
        while not self._closed.is_set():
            status = look(self._status)
            if not self._closed.is_set() and status != self._status:
                with self._changed:
                    self._status = status
                    self._changed.notify_all()
                for callback in list(self._callbacks):
                    callback(status)
            self._closed.wait(_INTERVAL)


def look(status: ServerStatus) -> ServerStatus:
    """``status`` as it is now. Never raises."""
    from tritonclient.utils import InferenceServerException

    from desktop.triton.connection import connect

    client: Any = None
    try:
        client = connect(status.endpoint)
        headers = status.endpoint.headers or None
        index = client.get_model_repository_index(
            headers=headers, client_timeout=_ANSWER_WITHIN, as_json=True
        )
        ready = client.is_server_ready(headers=headers, client_timeout=_ANSWER_WITHIN)
    except (InferenceServerException, OSError, ValueError) as error:
        message = problem(error, status.endpoint)
        return dataclasses.replace(status, state=ServerState.FAILED, message=message, models={})
    finally:
        if client is not None:
            with contextlib.suppress(Exception):
                client.close()
    models = {m["name"]: _state(m) for m in index.get("models", [])}
    missing = sorted(name for name, state in models.items() if state != "READY")
    if not models or missing or not ready:
        what = f"running without {', '.join(missing)}" if missing else "not ready"
        return dataclasses.replace(status, state=ServerState.DEGRADED, message=what, models=models)
    return dataclasses.replace(status, state=ServerState.READY, message="ready", models=models)


def _state(model: dict[str, str]) -> str:
    state, reason = model.get("state") or "UNAVAILABLE", model.get("reason")
    return f"{state}: {reason}" if reason and state != "READY" else state


def problem(error: Exception, endpoint: Endpoint) -> str:
    """Why the server cannot be used, in one sentence with what to do."""
    said = " ".join(str(error).split())
    low = said.lower()
    where = f"The Triton server at {endpoint.grpc}"
    if "certificate" in low or "ssl" in low or "tls" in low or "handshake" in low:
        if not endpoint.tls:
            return f"{where} speaks TLS; write its address with grpcs://"
        return (
            f"{where} cannot be trusted, or speaks no TLS; give the CA file that signed its "
            f"certificate (remote.ca_file). ({said[:200]})"
        )
    if "unauthenticated" in low or "permission" in low or "restricted" in low or "401" in low:
        return f"{where} refuses the access token; check remote.token and remote.header."
    if "name resolution" in low or "dns" in low or "resolve" in low:
        return f"{where} is unknown to the network; check the address (remote.url)."
    if "deadline" in low or "timed out" in low or "timeout" in low:
        return f"{where} does not answer in time; check the address and the firewall."
    return f"{where} does not answer; is it running, and is the address right? ({said[:200]})"
