"""The models of a running server: which there are, loading and unloading them.

Goes through gRPC, which every kind of server of ours has, with the headers that open a restricted
one. Every method blocks; ``close`` may be called from another thread and ends a call under way.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import Any

from tritonclient.utils import InferenceServerException

from desktop.triton.connection import connect
from desktop.triton.reasons import plain
from desktop.triton.types import NOT_UNDERSTOOD, Endpoint, ServerUnavailable

# Weights of gigabytes are read from a slow disk.
_LOAD_WITHIN = 600.0
_ANSWER_WITHIN = 30.0


@dataclass(frozen=True)
class ModelInfo:
    """A model in the server's repository. ``versions``: those that are served, or were last, with
    commas; ``state``: READY, LOADING, UNLOADING or UNAVAILABLE; ``reason`` in Triton's words."""

    name: str
    versions: str
    state: str
    reason: str = ""


class ModelControl:
    """A connection of its own, so that a long load holds up nobody. A context manager."""

    def __init__(self, endpoint: Endpoint) -> None:
        self._headers = endpoint.headers or None
        self._client = connect(endpoint)

    def index(self) -> list[ModelInfo]:
        """All models of the repository, by name. Raises :class:`ServerUnavailable`."""
        try:
            answer: Any = self._client.get_model_repository_index(
                headers=self._headers, client_timeout=_ANSWER_WITHIN, as_json=True
            )
        except (InferenceServerException, ValueError) as error:
            raise ServerUnavailable("the server does not tell its models") from error
        return read_index(answer)

    def load(self, name: str) -> None:
        """Load a model, or load it anew. Raises :class:`ServerUnavailable` in words."""
        try:
            self._client.load_model(name, headers=self._headers, client_timeout=_LOAD_WITHIN)
        except (InferenceServerException, ValueError) as error:
            raise ServerUnavailable(f"{name} could not be loaded: {_why(error)}") from error

    def unload(self, name: str) -> None:
        """Unload a model; what it answers already it answers to the end. Raises
        :class:`ServerUnavailable` in words."""
        try:
            self._client.unload_model(name, headers=self._headers, client_timeout=_ANSWER_WITHIN)
        except (InferenceServerException, ValueError) as error:
            raise ServerUnavailable(f"{name} could not be unloaded: {_why(error)}") from error

    def close(self) -> None:
        with contextlib.suppress(Exception):
            self._client.close()

    def __enter__(self) -> ModelControl:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read_index(answer: Any) -> list[ModelInfo]:
    """The models of a repository index, as JSON; raises :class:`ServerUnavailable`."""
    try:
        found: dict[str, list[dict[str, str]]] = {}
        for each in answer.get("models", []):
            found.setdefault(each["name"], []).append(each)
        return [_merge(name, versions) for name, versions in sorted(found.items())]
    except NOT_UNDERSTOOD:
        raise ServerUnavailable("the server's list of models is not understood") from None


def _merge(name: str, versions: list[dict[str, str]]) -> ModelInfo:
    """One row for a model: the state of its best version; one that we do not know counts as the
    last."""
    order = ("READY", "LOADING", "UNLOADING", "UNAVAILABLE")

    def place(each: dict[str, str]) -> int:
        return order.index(each["state"]) if each.get("state") in order else len(order) - 1

    best = min(versions, key=place)
    state = best.get("state") or order[-1]
    shown = [each for each in versions if (each.get("state") or order[-1]) == state]
    numbers = sorted(int(each["version"]) for each in shown if each.get("version", "").isdecimal())
    reason = "" if state == "READY" else plain(best.get("reason", ""))
    return ModelInfo(name, ", ".join(map(str, numbers)), state, reason)


def _why(error: Exception) -> str:
    said = " ".join(str(getattr(error, "message", lambda: error)() or error).split())
    low = said.lower()
    if "explicit model load / unload is not allowed" in low:
        return "this server was not started with --model-control-mode=explicit"
    if "restricted" in low or "permission" in low or "unauthenticated" in low:
        return "this server demands a key for it"
    if "unavailable" in str(getattr(error, "status", lambda: "")()).lower() and "connect" in low:
        return "the server does not answer"
    return plain(said).removeprefix("failed to load ").rstrip(".") or type(error).__name__
