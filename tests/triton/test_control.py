"""Loading and unloading models of a real server, with its key and without."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import pytest

from desktop.triton.control import ModelControl, ModelInfo
from desktop.triton.types import ServerUnavailable
from tests.triton.tiny import MODELS, numbers

pytestmark = pytest.mark.triton

COUNTER = ModelInfo("counter", "1", "READY")
RELAY = ModelInfo("relay", "1", "READY")


def states(control: ModelControl) -> dict[str, str]:
    return {model.name: model.state for model in control.index()}


def test_models_are_unloaded_and_loaded_again(tiny: Any) -> None:
    with ModelControl(tiny.endpoint) as control:
        assert control.index() == [COUNTER, RELAY]
        control.unload("relay")
        left = {model.name: model for model in control.index()}
        assert left["counter"] == COUNTER
        assert left["relay"].state in ("UNLOADING", "UNAVAILABLE")
        assert numbers(tiny, "counter", 2) == [0, 1]
        control.load("relay")
        assert control.index() == [COUNTER, RELAY]
    assert numbers(tiny, "relay", 2) == [0, 1]


def test_what_cannot_be_loaded_is_said(tiny: Any) -> None:
    with ModelControl(tiny.endpoint) as control:
        with pytest.raises(ServerUnavailable, match="nonsense could not be loaded: ") as failure:
            control.load("nonsense")
        assert "\n" not in str(failure.value)
        assert states(control) == {"counter": "READY", "relay": "READY"}


def test_only_the_key_opens_it(fresh_server: Callable[..., Any]) -> None:
    server = fresh_server(listen="tcp", models_source=MODELS)
    with ModelControl(server.endpoint) as control:
        control.unload("relay")
        control.load("relay")
        assert states(control) == {"counter": "READY", "relay": "READY"}
    without = dataclasses.replace(server.endpoint, headers={})
    with ModelControl(without) as control:
        with pytest.raises(ServerUnavailable, match="demands a key"):
            control.unload("relay")
        with pytest.raises(ServerUnavailable):
            control.index()
    assert numbers(server, "relay", 2) == [0, 1]


def test_no_server(tmp_path: Any) -> None:
    from desktop.triton.types import Endpoint

    with ModelControl(Endpoint(f"unix:{tmp_path}/g:1")) as control:
        with pytest.raises(ServerUnavailable, match="the server does not answer"):
            control.load("x")
        with pytest.raises(ServerUnavailable):
            control.index()
