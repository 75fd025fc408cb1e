"""An image's progress: added up, kept from flooding, and carried to whoever watches."""

from __future__ import annotations

import dataclasses
import io
from typing import Any

import pytest

from desktop.cli import image
from desktop.launchers import docker_progress, wire
from desktop.launchers.base import Progress, ServerState, ServerStatus
from desktop.launchers.docker_progress import Cancel, Cancelled, Layers, Throttled, Upload


def layer(name: str, status: str, current: int = 0, total: int = 0) -> dict[str, Any]:
    detail = {"current": current, "total": total} if total else {}
    return {"id": name, "status": status, "progressDetail": detail}


def test_layers_add_up() -> None:
    layers = Layers()
    assert layers.take({"id": "latest", "status": "Pulling from library/debian"}) is None
    assert layers.take({"status": "Digest: sha256:1"}) is None
    layers.take(layer("a", "Pulling fs layer"))
    layers.take(layer("b", "Already exists"))
    layers.take(layer("a", "Downloading", 1 << 20, 4 << 20))
    seen = layers.take(layer("c", "Downloading", 2 << 20, 6 << 20))
    assert seen == Progress("pull", "", 3 << 20, 10 << 20, layers_done=1, layers=3)
    assert seen.share() == pytest.approx(0.3)
    assert str(seen) == "pulling: 3 MiB of 10 MiB, 1 of 3 layers"
    layers.take(layer("a", "Download complete"))
    layers.take(layer("a", "Pull complete"))
    seen = layers.take(layer("c", "Pull complete"))
    assert seen is not None
    assert (seen.bytes_done, seen.layers_done, seen.share()) == (10 << 20, 3, 1.0)


def test_the_share_is_known_or_not() -> None:
    assert Progress("build").share() is None
    assert Progress("pull", layers=3).share() is None
    assert Progress("build", step=1, steps=4).share() == 0
    assert Progress("build", step=4, steps=4).share() == 0.75
    assert Progress("upload", bytes_done=9, bytes_total=8).share() == 1.0


def test_an_upload_can_be_cancelled() -> None:
    told: list[Progress] = []
    cancel = Cancel()
    upload = Upload(io.BytesIO(bytes(3 << 24)), told.append, cancel)
    blocks = iter(upload)
    next(blocks)
    cancel()
    with pytest.raises(Cancelled):
        next(blocks)


def test_steps_are_told_at_once_and_bytes_now_and_then(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(docker_progress.time, "monotonic", lambda: now[0])
    told: list[tuple[str, Progress | None]] = []

    def report(message: str, progress: Progress | None = None) -> None:
        told.append((message, progress))

    throttled = Throttled(report, "cpu")
    for number in range(100):  # ten seconds of a layer's bytes
        now[0] = number / 10
        throttled(Progress("pull", bytes_done=number << 20, bytes_total=100 << 20, layers=1))
    assert 40 <= len(told) <= 55
    assert told[0][0] == "CPU image: pulling: 0 MiB of 100 MiB, 0 of 1 layers"
    told.clear()
    for step in range(1, 6):
        throttled(Progress("build", "RUN x", step=step, steps=5))
    assert [p.step for _, p in told if p] == [1, 2, 3, 4, 5]


def test_a_status_carries_the_progress() -> None:
    progress = Progress("build", "RUN x", step=2, steps=5, detail="Collecting torch")
    status = ServerStatus("docker", "why", ServerState.STARTING, "x", progress=progress)
    assert wire.status_from_json(status.to_json()) == status
    without = dataclasses.replace(status, progress=None)
    assert "progress" not in without.to_json()
    assert wire.status_from_json(without.to_json()) == without


def test_the_command_line_tells_each_step_once(capsys: pytest.CaptureFixture[str]) -> None:
    lines = image._Lines()
    for step in (1, 2):
        lines(Progress("build", "RUN x", step=step, steps=2))
        for number in range(3):
            lines(Progress("build", "RUN x", step=step, steps=2, detail=f"said {number}"))
    assert capsys.readouterr().err.splitlines() == [
        "building: step 1 of 2 (RUN x)",
        "building: step 2 of 2 (RUN x)",
    ]
