"""What somebody who is asked for help needs to know, as text without secrets."""

from __future__ import annotations

import dataclasses
import importlib.metadata
import json
import platform
import re
from collections.abc import Iterable, Sequence

from PySide6.QtCore import qVersion

from desktop import interpreter
from desktop.launchers.base import ServerStatus
from desktop.settings import Settings
from desktop.triton.control import ModelInfo

_HIDDEN = "<secret>"
_PACKAGES = ("tritalk", "nvidia-pytriton", "tritonclient", "torch", "numpy", "docker")
#: So many lines of the log go along.
LOG_LINES = 100
# Names and passwords within addresses: https://name:password@host
_IN_ADDRESS = re.compile(r"(?<=://)[^/@\s\"']+(?=@)")


def secrets_of(status: ServerStatus, settings: Settings | None) -> set[str]:
    """What must not be shown: the keys of this launch and the token of a remote server."""
    found = set(status.endpoint.headers.values())
    if settings is not None and settings.remote.token:
        found.add(settings.remote.token)
    # The token of a "Bearer" header may stand alone elsewhere.
    found |= {value.partition(" ")[2] for value in found if " " in value}
    return {value for value in found if value}


def redacted(text: str, secrets: Iterable[str]) -> str:
    """``text`` without the secrets, and without passwords in addresses."""
    for secret in sorted(secrets, key=len, reverse=True):
        # Within JSON a secret may stand with its quotation marks and backslashes escaped.
        for plain in (True, False):
            text = text.replace(json.dumps(secret, ensure_ascii=plain)[1:-1], _HIDDEN)
        text = text.replace(secret, _HIDDEN)
    return _IN_ADDRESS.sub(_HIDDEN, text)


def diagnostics(
    status: ServerStatus,
    settings: Settings | None,
    models: Sequence[ModelInfo] = (),
    log: Sequence[str] = (),
) -> str:
    """Versions, the server's status, the settings, the models and the end of the log."""
    secrets = secrets_of(status, settings)
    state = status.to_json()
    state["headers"] = sorted(state["headers"])
    parts = [("Tritalk", _versions()), ("Server", _json(state))]
    if settings is not None:
        shown = dataclasses.asdict(settings)
        if shown["remote"]["token"]:
            shown["remote"]["token"] = _HIDDEN
        parts.append(("Settings", _json(shown)))
    if models:
        rows = (f"{m.name}  {m.versions or '-'}  {m.state}  {m.reason}".rstrip() for m in models)
        parts.append(("Models", "\n".join(rows)))
    if log:
        parts.append(("Log", "\n".join(log[-LOG_LINES:])))
    return redacted("\n\n".join(f"## {name}\n{text}" for name, text in parts) + "\n", secrets)


def _json(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, indent=2)


def _versions() -> str:
    lines = [f"{platform.platform()}  Python {platform.python_version()}  Qt {qVersion()}"]
    for name in _PACKAGES:
        try:
            lines.append(f"{name} {interpreter.distribution(name).version}")
        except importlib.metadata.PackageNotFoundError:
            continue
    return "\n".join(lines)
