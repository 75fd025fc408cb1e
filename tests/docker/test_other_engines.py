"""Engines that grant less or have no room, and people who are not root."""

from __future__ import annotations

import asyncio
import contextlib
import os
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop import settings as stored
from desktop.launchers import docker_container, docker_engine, docker_image
from desktop.launchers.base import LaunchError
from desktop.launchers.capture import BoundedLog
from desktop.launchers.docker_engine import Engine
from desktop.launchers.docker_progress import Cancel
from desktop.launchers.docker_server import DockerServer
from desktop.launchers.generation import Generation
from desktop.launchers.server_process import ServerOptions
from desktop.launchers.tritonserver import Folders
from tests.docker.conftest import Image, recipe
from tests.triton.tiny import MODELS, wait_for

pytestmark = [
    pytest.mark.docker,
    pytest.mark.skipif(os.getuid() != 0, reason="only root can be somebody else"),
]

SOMEBODY = 4242


def folders_in(tmp_path: Path) -> Folders:
    folders = Folders(tmp_path / "run", tmp_path / "served")
    for folder in folders.all():
        folder.mkdir(mode=0o700)
    return folders


def test_somebody_who_is_not_root(
    engine: Engine,
    image: Image,
    fresh_home: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """With the folders of another user, and as that user inside: the sockets come up in a folder
    that nobody else may enter, and the models are read."""
    if not engine.shares_sockets:
        pytest.skip("this engine shares no sockets")
    monkeypatch.setattr(docker_container, "user_of", lambda engine: f"{SOMEBODY}:{SOMEBODY}")
    folders = folders_in(tmp_path)
    options = ServerOptions(models_source=str(MODELS), recipe=stored.load().docker.recipe())
    server = DockerServer(options, folders, "test0009", "", log=lambda line: None)
    rendered = server.prepare(lambda message: None)
    endpoint = server.new_endpoint()
    for folder in folders.all():
        for path in (folder, *folder.rglob("*")):
            os.chown(path, SOMEBODY, SOMEBODY)
    log = BoundedLog(tmp_path / "server.log")
    published: list[str] = []

    async def until_ready() -> None:
        ready = asyncio.Event()

        def publish(**changes: object) -> None:
            published.append(str(changes.get("state")))
            if changes.get("state") == "ready":
                ready.set()

        generation = Generation(server, endpoint, rendered, log, publish)
        running = asyncio.create_task(generation.run())
        await asyncio.wait_for(ready.wait(), 60)
        owner = Path(endpoint.http.removeprefix("unix:")).stat().st_uid
        assert owner == SOMEBODY
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running

    asyncio.run(until_ready())
    log.close()
    server.close()
    assert docker_container.of_owner(engine.api) == []


@contextlib.contextmanager
def private_engine(*before: str, size: str = "") -> Iterator[tuple[Engine, str]]:
    """An engine for one test: ``before`` are the words its daemon is started through, ``size``
    that of the disk it has."""
    if not all(map(shutil.which, ("dockerd", "setpriv", "unshare", "prlimit"))):
        pytest.skip("needs dockerd and util-linux")
    state = Path("/tmp") / f"tritalk-test-{os.getpid()}"
    (state / "data").mkdir(parents=True, mode=0o700)
    address = f"unix://{state}/s"
    if size:
        mount = ["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", str(state / "data")]
        subprocess.run(mount, check=True)
    command = f"dockerd --host {address} --data-root {state}/data --exec-root {state}/exec "
    command += f"--pidfile {state}/pid --iptables=false"
    process = subprocess.Popen(
        # In a network of its own, where it makes and removes what it likes.
        ["unshare", "--net", *before, *command.split()],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        wait_for(lambda: _answers(address), 60)
        found = docker_engine.connect(address)
        yield found, address
        found.close()
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(30)
        mounts = [line.split()[1] for line in Path("/proc/mounts").read_text().splitlines()]
        for path in sorted(mounts, reverse=True):
            if path.startswith(f"{state}/"):
                subprocess.run(["umount", path], check=False)
        shutil.rmtree(state)


def _answers(address: str) -> bool:
    try:
        docker_engine.connect(address, timeout=2).close()
    except LaunchError:
        return False
    return True


@pytest.fixture
def poor_engine(engine: Engine, image: Image) -> Iterator[tuple[Engine, str]]:
    """An engine that may lift no limits, with an image whose tritonserver only sleeps."""
    if not image.recipe.base_image:
        pytest.skip("needs a base image of the tests' own")
    few = "setpriv --bounding-set -sys_resource --inh-caps -sys_resource"
    with private_engine("prlimit", "--memlock=8388608:8388608", *few.split()) as (poor, address):
        base = engine.api.create_container(image.recipe.base_image, ["true"])["Id"]
        try:
            poor.api.import_image_from_data(b"".join(engine.api.export(base)), "sleeper", "base")
        finally:
            engine.api.remove_container(base)
        script = "mkdir -p /opt/tritonserver/bin; cd /opt/tritonserver/bin; "
        script += "printf '#!/bin/sh\\nexec sleep 60\\n' > tritonserver; chmod 755 tritonserver"
        made = poor.api.create_container("sleeper:base", ["sh", "-c", script])["Id"]
        poor.api.start(made)
        assert poor.api.wait(made)["StatusCode"] == 0
        poor.api.commit(made, "sleeper", "latest")
        poor.api.remove_container(made)
        yield poor, address


@pytest.mark.slow
def test_an_engine_that_may_not_lift_the_limit_of_locked_memory(
    poor_engine: tuple[Engine, str], fresh_home: Path, tmp_path: Path
) -> None:
    poor, address = poor_engine
    notes: list[str] = []
    options = ServerOptions(models_source=str(MODELS), engine=address, image="sleeper:latest")
    server = DockerServer(options, folders_in(tmp_path), "test0010", "", log=notes.append)
    server.prepare(lambda message: None)
    process = asyncio.run(server.spawn(server.new_endpoint()))
    (found,) = docker_container.of_owner(poor.api)
    limits = poor.api.inspect_container(found["Id"])["HostConfig"]["Ulimits"]
    assert [each["Name"] for each in limits] == ["stack"]
    assert found["State"] == "running"
    (note,) = notes
    assert "may not lift the limit of locked memory" in note
    assert "rlimit type 8" in note
    asyncio.run(process.kill())
    assert docker_container.of_owner(poor.api) == []
    server.close()


def test_an_engine_whose_disk_is_full(engine: Engine) -> None:
    if not recipe().wheels:
        pytest.skip("what the image is built from is too small (TRITALK_DOCKER_WHEELS)")
    with private_engine(size="24m") as (small, _):
        with pytest.raises(LaunchError, match=r"disk of the Docker engine is full.*docker system"):
            docker_image.build(small.api, recipe(), lambda progress: None, Cancel())
        assert docker_image.exists(small.api, recipe().tag) == ""
