"""How a real tritonserver comes up, and that it lives as long as its last lease."""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import tritonclient.grpc as grpcclient

from desktop.cli import server as server_command
from desktop.launchers import acquire, current
from desktop.launchers.base import ServerState, ServerStatus
from desktop.launchers.stubs import process_start
from tests.triton.tiny import MODELS, numbers, wait_for

pytestmark = pytest.mark.triton


def command(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    server_command.add_parser(parser.add_subparsers())
    options = parser.parse_args(["server", *arguments])
    return int(options.func(options))


def test_progress_is_told_in_words_until_ready(fresh_home: Path) -> None:
    seen: list[ServerStatus] = []
    with acquire("embedded", models_source=MODELS) as lease:  # type: ignore[attr-defined]
        assert lease.status().state is ServerState.STARTING
        lease.subscribe(seen.append)
        status = lease.wait_ready(60)
        assert status.state is ServerState.READY
        assert status.models == {"counter": "READY", "relay": "READY"}
        assert status.launcher == "embedded"
        assert status.reason
        now = current()
        assert now is not None
        assert (now.state, now.pid) == (ServerState.READY, status.pid)
    messages = [status.message for status in seen]
    # The one that is called first, then its caller.
    order = ["starting Triton", "loading counter (1 of 2)", "loading relay (2 of 2)", "ready"]
    assert [message for message in dict.fromkeys(messages) if message in order] == order
    wait_for(lambda: current() is None, 15)


def test_both_models_answer(tiny: Any) -> None:
    assert numbers(tiny, "counter", 3) == [0, 1, 2]
    assert numbers(tiny, "relay", 3) == [0, 1, 2]


def test_a_broken_model_does_not_stop_the_others(
    fresh_server: Callable[..., Any], tmp_path: Path
) -> None:
    models = tmp_path / "models"
    shutil.copytree(MODELS, models)
    (models / "relay" / "1" / "model.py").write_text("raise RuntimeError('worn out')\n")
    (models / "unfinished").mkdir()
    server = fresh_server(models_source=models)
    status = server.status()
    assert status.state is ServerState.DEGRADED
    assert status.models["counter"] == "READY"
    assert status.models["relay"].startswith("UNAVAILABLE: ")
    assert "worn out" in status.models["relay"]
    assert status.models["unfinished"] == "UNAVAILABLE: its config.pbtxt is missing"
    assert "relay" in status.message
    assert numbers(server, "counter", 2) == [0, 1]


def test_models_loaded_and_unloaded_elsewhere_show(tiny: Any) -> None:
    client = grpcclient.InferenceServerClient(tiny.endpoint.grpc)
    client.unload_model("relay")
    wait_for(lambda: tiny.status().models["relay"].startswith("UNAVAILABLE"))
    assert tiny.status().state is ServerState.DEGRADED
    client.load_model("relay")
    wait_for(lambda: tiny.status().state is ServerState.READY)
    client.close()
    assert numbers(tiny, "relay", 2) == [0, 1]


def test_two_starts_at_once_give_one_server(
    holder: Callable[[], subprocess.Popen[str]], fresh_home: Path
) -> None:
    first, second = holder(), holder()
    assert first.stdout is not None
    assert second.stdout is not None
    pids = {int(first.stdout.readline()), int(second.stdout.readline())}
    assert len(pids) == 1
    assert len([p for p in (fresh_home / "run").iterdir() if p.is_dir()]) == 1


def test_a_start_while_the_old_server_stops_waits_for_it(
    fresh_server: Callable[..., Any],
) -> None:
    old = fresh_server(models_source=MODELS)
    old.lease.close()
    new = fresh_server(models_source=MODELS)
    assert new.launch_id != old.launch_id
    assert old.leftovers() == []
    assert numbers(new, "relay", 2) == [0, 1]


def test_the_server_lives_as_long_as_its_last_lease(fresh_server: Callable[..., Any]) -> None:
    first = fresh_server(models_source=MODELS)
    second = fresh_server(models_source=MODELS)
    assert first.status().pid == second.status().pid
    first.lease.close()
    # Longer than a stop takes.
    time.sleep(3)
    assert numbers(second, "counter", 2) == [0, 1]
    second.lease.close()
    assert second.wait_until_gone() == []


def test_kept_server_outlives_its_starter_until_stop(
    fresh_home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert command("status") == 1
    lease = acquire("embedded", models_source=MODELS)
    lease.wait_ready(60)  # else the command might be the one that starts a server
    assert command("start") == 0
    lease.close()
    time.sleep(3)
    capsys.readouterr()
    assert command("status", "--json") == 0
    found = json.loads(capsys.readouterr().out)
    assert found["state"] == "ready"
    assert found["models"] == {"counter": "READY", "relay": "READY"}
    assert set(found) == {
        "launcher", "reason", "state", "message", "grpc", "http", "metrics", "headers", "models",
        "pid",
    }  # fmt: skip
    assert command("start", "--listen", "tcp") == 1
    assert "stop" in capsys.readouterr().err
    assert command("stop") == 0
    assert process_start(found["pid"]) is None
    assert [p.name for p in (fresh_home / "run").iterdir()] == ["lock"]
    assert command("stop") == 1
    capsys.readouterr()
    assert command("logs", "-n", "5") == 0
    assert len(capsys.readouterr().out.splitlines()) == 5


def test_stop_tells_the_other_holders(tiny: Any) -> None:
    assert command("stop") == 0
    wait_for(lambda: tiny.status().state is ServerState.STOPPED, 10)
    assert "tritalk server stop" in tiny.status().message
