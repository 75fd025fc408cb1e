"""settings.json, and the environment over it."""

from __future__ import annotations

import json
from collections.abc import Iterable

from desktop import settings as stored
from desktop.settings import DockerSettings, RemoteSettings, Settings, SettingsError
from tests.fuzz.harness import allowed, json_or_deep, kinds, text

mutate = kinds(json_or_deep)


def seeds() -> Iterable[bytes]:
    wanted = Settings(
        "docker", "gpu", "tcp", True, (0, 1), {"ibuddha_chitchat": 2}, "int8",
        DockerSettings(memory="8g"), RemoteSettings("grpcs://h:1", "/ca.pem", "x-key", "secret"),
    )  # fmt: skip
    content = json.dumps(stored.to_data(wanted)).encode()
    yield b"\x00" + content
    for place in (3, 4, 5, 6):
        yield bytes([place]) + b"0,1,x=2\xff" + content


def one(data: bytes) -> None:
    """The first byte: which setting the environment overrides with what comes before a byte 255."""
    value, mark, content = data[1:].partition(b"\xff")
    environment = {}
    if mark:
        name = stored.names_of()[data[0] % len(stored.names_of())]
        environment[f"TRITALK_{name.replace('.', '_').upper()}"] = text(value)
    else:
        content = data[1:]
    file = stored.path()
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    with allowed(SettingsError):
        found = stored.load(environment)
        stored.save(found)
        assert stored.load({}) == found, "what was saved reads otherwise"
        assert stored.from_data(json.loads(json.dumps(stored.to_data(found)))) == found
        assert stored.with_environment(found, {}) == found
