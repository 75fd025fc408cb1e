"""Tells the running server of chat models that came or went, without restarting it."""

from __future__ import annotations

import time

from desktop.launchers import supervised, wire
from desktop.launchers.base import LaunchError
from desktop.models import ModelError
from desktop.triton.control import ModelControl
from desktop.triton.models import DEFAULT, stream_model
from desktop.triton.types import Endpoint, TritalkError

_WITHIN = 60.0
_UNLOADED_WITHIN = 20.0
_STILL_THERE = ("READY", "UNLOADING")


def refresh() -> Endpoint | None:
    """Have the running server know the models that are installed now; where it listens, or None
    where no server of this user's own runs. Raises :class:`ModelError`."""
    try:
        connection = supervised.connect_running()
    except LaunchError as error:
        raise ModelError(str(error)) from error
    if connection is None:
        return None
    with connection:
        connection.settimeout(_WITHIN)
        try:
            wire.send(connection, {"do": "models"})
            for message in wire.messages(connection):
                if "error" in message:
                    raise ModelError(str(message["error"]))
                if "status" in message:
                    endpoint = wire.status_from_json(message["status"]).endpoint
                    return endpoint if endpoint.grpc else None
        except (OSError, ValueError) as error:
            raise ModelError(f"the server does not answer ({error})") from error
    return None


def load(name: str) -> str:
    """Load a chat model, engine first; what that means, in a sentence. One that is loaded already
    is loaded anew, since its prompt.toml may have been edited."""
    endpoint = refresh()
    if endpoint is None:
        return f"{name} is served from the server's next start on"
    try:
        with ModelControl(endpoint) as control:
            states = {model.name: model.state for model in control.index()}
            if name != DEFAULT and "READY" in (states.get(name), states.get(stream_model(name))):
                _unload(control, name)
            control.load(name)
            try:
                control.load(stream_model(name))
            except TritalkError:
                control.unload(name)
                raise
    except TritalkError as error:
        raise ModelError(str(error)) from error
    return f"{name} is served now"


def unload(name: str) -> str:
    """Unload a chat model and free its memory."""
    endpoint = refresh()
    if endpoint is not None:
        try:
            with ModelControl(endpoint) as control:
                if not _unload(control, name):
                    return f"{name} is not served any more once its last reply has ended"
        except TritalkError as error:
            raise ModelError(str(error)) from error
    return f"{name} is not served any more"


def _unload(control: ModelControl, name: str) -> bool:
    """Whether nothing of it is left."""
    known = {model.name for model in control.index()}
    pair = [each for each in (stream_model(name), name) if each in known]
    for each in pair:
        control.unload(each)
    # Triton answers before it has ended what the model has under way.
    end = time.monotonic() + _UNLOADED_WITHIN
    while any(m.name in pair and m.state in _STILL_THERE for m in control.index()):
        if time.monotonic() > end:
            return False
        time.sleep(0.1)
    return True
