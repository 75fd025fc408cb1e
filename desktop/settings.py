"""The person's settings: a JSON file in the configuration folder, overridden by the environment.

Every setting has a variable named after it: ``device`` is ``TRITALK_DEVICE``, ``remote.url`` is
``TRITALK_REMOTE_URL``. Lists are written with commas (``TRITALK_GPUS=0,1``), instances as
``TRITALK_INSTANCES=ibuddha_chitchat=2,multitask_model=1``.
"""

from __future__ import annotations

import dataclasses
import json
import os
import reprlib
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from desktop import paths
from desktop.launchers.base import LaunchError
from server_bundle.chitchat.precisions import PRECISIONS

_FILE = "settings.json"
_TRUE = frozenset({"1", "true", "yes", "on"})
_FALSE = frozenset({"0", "false", "no", "off", ""})
_CHOICES = {
    "launcher": ("auto", "docker", "embedded", "remote"),
    "device": ("auto", "gpu", "cpu"),
    "listen": ("unix", "tcp"),
    "precision": PRECISIONS,
}


# What was found instead, in a few words however much it is.
_shown = reprlib.Repr()
_shown.maxstring = 80


class SettingsError(LaunchError):
    """A setting cannot be used: one sentence that names it and says what it may be."""


@dataclass(frozen=True)
class DockerSettings:
    """``engine``: an address instead of the one that ``docker`` uses. ``image``: run (and pull)
    this instead of building one. ``memory``: the container's limit, such as ``8g``. The rest say
    how an image is built, see :class:`desktop.launchers.docker_image.Recipe`."""

    engine: str = ""
    image: str = ""
    memory: str = ""
    base_image: str = ""
    triton_release: str = ""
    pytriton_version: str = ""
    wheels: str = ""
    pip_index_url: str = ""
    torch_index_url: str = ""
    apt_mirror: str = ""
    time_zone: str = ""
    ca_file: str = ""
    network: str = ""

    def recipe(self) -> dict[str, str]:
        """What of it says how an image is built."""
        mine = {"engine", "image", "memory"}
        return {k: v for k, v in dataclasses.asdict(self).items() if v and k not in mine}


@dataclass(frozen=True)
class RemoteSettings:
    """A Triton that somebody else runs. ``url``: ``grpc://host:8001``, ``grpcs://…`` with TLS, or
    ``http(s)://host:8000`` with gRPC on the next port. ``token`` is sent in ``header``, after
    ``Bearer`` where that is ``authorization``."""

    url: str = ""
    ca_file: str = ""
    header: str = "authorization"
    token: str = ""


@dataclass(frozen=True)
class Settings:
    """``gpus``: numbers of the GPUs to use, none for all. ``instances``: instances of a model, on
    each device. ``precision``: what the chat engine computes in (int8 on CPUs only, float16 on GPUs
    only; auto: FP32 for small models, else BF16 where the CPU has it, FP16 on a GPU).
    ``keep_running``: the server outlives the application."""

    launcher: str = "auto"
    device: str = "auto"
    listen: str = "unix"
    keep_running: bool = False
    gpus: tuple[int, ...] = ()
    instances: dict[str, int] = field(default_factory=dict)
    precision: str = "auto"
    docker: DockerSettings = field(default_factory=DockerSettings)
    remote: RemoteSettings = field(default_factory=RemoteSettings)


def path() -> Path:
    return paths.config_dir() / _FILE


def load(environment: Mapping[str, str] | None = None) -> Settings:
    """The settings of the file, then of the environment. Raises :class:`SettingsError`."""
    data: dict[str, Any] = {}
    try:
        data = json.loads(path().read_text(encoding="utf-8"))
    except FileNotFoundError:
        pass
    except (OSError, ValueError, RecursionError) as error:
        raise SettingsError(f"{path()} cannot be read ({error}); mend or remove it.") from error
    if not isinstance(data, dict):
        raise SettingsError(f"{path()} does not hold a JSON object; mend or remove it.")
    env = os.environ if environment is None else environment
    found: Settings = _read(Settings, data, "", env)
    return found


def save(settings: Settings) -> None:
    """Write the file whole or not at all; it is the person's alone, since it may hold a token."""
    target = path()
    target.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    descriptor, name = tempfile.mkstemp(dir=target.parent, prefix=_FILE)
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            json.dump(to_data(settings), file, ensure_ascii=False, indent=2)
            file.write("\n")
            file.flush()
            os.fsync(file.fileno())
        Path(name).replace(target)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def to_data(settings: Settings) -> dict[str, Any]:
    """What the file holds: the settings that are not the defaults."""
    default = dataclasses.asdict(Settings())
    return {k: v for k, v in dataclasses.asdict(settings).items() if v != default[k]}


def from_data(data: dict[str, Any]) -> Settings:
    """The settings that :func:`to_data` gave. Raises :class:`SettingsError`."""
    found: Settings = _read(Settings, data, "", {})
    return found


def _read(kind: type, data: dict[str, Any], prefix: str, env: Mapping[str, str]) -> Any:
    fields = {each.name: each for each in dataclasses.fields(kind)}
    if unknown := sorted(set(data) - set(fields)):
        raise SettingsError(f"{path()}: there is no setting {prefix}{unknown[0][:80]}.")
    values = {}
    for name in fields:
        default = getattr(kind(), name)
        where = f"{prefix}{name}"
        if dataclasses.is_dataclass(default):
            inner = data.get(name, {})
            if not isinstance(inner, dict):
                raise SettingsError(f"{path()}: {where} is a JSON object.")
            values[name] = _read(type(default), inner, f"{where}.", env)
            continue
        variable = f"TRITALK_{where.replace('.', '_').upper()}"
        if variable in env:
            values[name] = _value(variable, default, _parse(variable, default, env[variable]))
        elif name in data:
            values[name] = _value(f"{path()}: {where}", default, data[name])
        if (
            name in values
            and not prefix
            and values[name] not in _CHOICES.get(name, (values[name],))
        ):
            source = variable if variable in env else f"{path()}: {where}"
            raise SettingsError(
                f"{source} is one of {', '.join(_CHOICES[name])}, not {_shown.repr(values[name])}."
            )
    return kind(**values)


def _parse(variable: str, default: Any, text: str) -> Any:
    words = [word.strip() for word in text.split(",") if word.strip()]
    if isinstance(default, bool):
        if text.lower() not in _TRUE | _FALSE:
            raise SettingsError(f"{variable} is true or false, not {_shown.repr(text)}.")
        return text.lower() in _TRUE
    try:
        if isinstance(default, tuple):
            return [int(word) for word in words]
        if isinstance(default, dict):
            return {name: int(n) for name, _, n in (word.partition("=") for word in words)}
    except ValueError:
        raise SettingsError(f"{variable} holds no numbers: {_shown.repr(text)}.") from None
    return text


def _value(where: str, default: Any, value: Any) -> Any:
    def whole(number: Any, least: int) -> bool:
        return isinstance(number, int) and not isinstance(number, bool) and number >= least

    if isinstance(default, tuple):
        if not isinstance(value, list) or not all(whole(n, 0) for n in value):
            raise SettingsError(
                f"{where} is a list of numbers such as [0, 1], not {_shown.repr(value)}."
            )
        return tuple(value)
    if isinstance(default, dict):
        if not isinstance(value, dict) or not all(whole(n, 1) for n in value.values()):
            raise SettingsError(
                f"{where} gives each model a number from 1, not {_shown.repr(value)}."
            )
        return {_text(where, name): number for name, number in value.items()}
    if type(value) is not type(default):
        wanted = "true or false" if isinstance(default, bool) else "a text"
        raise SettingsError(f"{where} is {wanted}, not {_shown.repr(value)}.")
    return _text(where, value) if isinstance(value, str) else value


def _text(where: str, value: str) -> str:
    """Half a surrogate, which JSON and the environment may hold, could not be saved."""
    try:
        value.encode()
    except UnicodeEncodeError:
        raise SettingsError(f"{where} is not valid Unicode text: {_shown.repr(value)}.") from None
    return value


def overridden(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """The settings that the environment decides, such as ``docker.memory``, and its variables."""
    env = os.environ if environment is None else environment
    names = {name: f"TRITALK_{name.replace('.', '_').upper()}" for name in names_of()}
    return {name: variable for name, variable in names.items() if variable in env}


def names_of() -> list[str]:
    """The names of all settings: ``device``, ``docker.memory`` and so on."""
    names = []
    for each in dataclasses.fields(Settings):
        default = getattr(Settings(), each.name)
        if dataclasses.is_dataclass(default):
            names += [f"{each.name}.{inner.name}" for inner in dataclasses.fields(default)]
        else:
            names.append(each.name)
    return names


def value_of(settings: Settings, name: str) -> Any:
    """The value of ``docker.memory`` and the like."""
    value: Any = settings
    for part in name.split("."):
        value = getattr(value, part)
    return value


def changed(settings: Settings, name: str, value: Any) -> Settings:
    """``settings`` with another value of ``docker.memory`` and the like."""
    outer, _, inner = name.partition(".")
    if inner:
        value = dataclasses.replace(getattr(settings, outer), **{inner: value})
    return dataclasses.replace(settings, **{outer: value})


def with_environment(settings: Settings, environment: Mapping[str, str] | None = None) -> Settings:
    """``settings`` as they are in force here. Raises :class:`SettingsError`."""
    env = os.environ if environment is None else environment
    data = json.loads(json.dumps(dataclasses.asdict(settings)))
    found: Settings = _read(Settings, data, "", env)
    return found
