"""What can go wrong with Docker, provoked on the real engine: one sentence, and what to do."""

from __future__ import annotations

import asyncio
import dataclasses
import os
import signal
import socket
from collections.abc import Callable
from pathlib import Path

import pytest

from desktop import settings as stored
from desktop.cli.main import main
from desktop.launchers import docker_container, docker_engine, docker_gpu
from desktop.launchers.base import LaunchError, ServerState
from desktop.launchers.capture import BoundedLog
from desktop.launchers.docker import DockerLauncher
from desktop.launchers.docker_engine import Engine
from desktop.launchers.docker_server import DockerServer
from desktop.launchers.generation import Generation
from desktop.launchers.lease import SupervisorLease
from desktop.launchers.server_process import ServerOptions
from desktop.launchers.tritonserver import Folders
from desktop.settings import DockerSettings, Settings
from desktop.triton.client import TritonClient
from desktop.triton.types import TritalkError
from tests.conftest import Server
from tests.docker.conftest import Image, containers, recipe
from tests.triton.tiny import MODELS, Stream, wait_for

pytestmark = pytest.mark.docker


def with_docker(**more: str) -> Settings:
    return Settings(docker=DockerSettings(**{**vars(stored.load().docker), **more}))


def test_an_image_that_does_not_exist(lease: Callable[..., SupervisorLease]) -> None:
    settings = with_docker(image="127.0.0.1:9/nobody/nothing:never")
    with pytest.raises(LaunchError, match=r"cannot be downloaded|does not exist"):
        lease(settings).wait_ready(60)


def test_a_gpu_asked_for_and_absent(
    lease: Callable[..., SupervisorLease], image: Image, engine: Engine
) -> None:
    if engine.offers_gpu:
        pytest.skip("this engine has GPUs")
    with pytest.raises(LaunchError, match=r"NVIDIA Container Toolkit.*--device cpu"):
        lease(with_docker(image=image.tag), device="gpu").wait_ready(60)
    assert containers(engine) == []


def test_the_gpu_request_as_the_engine_understands_it(engine: Engine, image: Image) -> None:
    """The create call of a GPU launch goes through; without NVIDIA's toolkit its start fails, and
    the known error becomes guidance."""
    host = docker_container.host_config(
        engine,
        docker_container.Mounts(),
        ports=None,
        gpu=True,
        gpus=(0, 1),
        memory="",
        lock_memory=False,
    )
    made = docker_container.create(
        engine,
        image.tag,
        ["true"],
        host,
        {"tritalk.owner": docker_container.owner()},
        "tritalk-gpu",
    )
    try:
        (request,) = engine.api.inspect_container(made)["HostConfig"]["DeviceRequests"]
        assert request["DeviceIDs"] == ["0", "1"]
        assert request["Capabilities"] == [["gpu"]]
    finally:
        docker_container.remove(engine.api, made)
    (everything,) = docker_container.gpu_requests(())
    assert (everything["Count"], everything["Capabilities"]) == (-1, [["gpu"]])
    if not engine.offers_gpu:
        with pytest.raises(LaunchError, match=r"could not select device driver"):
            docker_gpu.visible_gpus(engine.api, image.tag, ())


def test_a_request_that_is_granted_without_a_gpu_inside(
    engine: Engine, image: Image, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As Podman does it: the request is accepted and ignored."""
    monkeypatch.setattr(docker_gpu, "gpu_requests", lambda gpus: None)
    with pytest.raises(LaunchError, match=r"none is visible \(libcuda\.so\.1.*--device cpu"):
        docker_gpu.visible_gpus(engine.api, image.tag, ())


def test_a_machine_with_a_gpu_but_no_toolkit_falls_back(
    engine: Engine, image: Image, fresh_home: Path
) -> None:
    """The user left the choice to the application: the built-in Triton serves, and says why."""
    options = ServerOptions(
        device="gpu",
        models_source=str(MODELS),
        image=image.tag,
        recipe=stored.load().docker.recipe(),
    )
    launcher = DockerLauncher(options, reason="a GPU and an engine found", fallback="embedded")
    with launcher.acquire() as lease:
        status = lease.wait_ready(60)
        assert status.launcher == "embedded"
        assert "NVIDIA Container Toolkit" in status.reason
        assert status.reason.endswith("using the built-in Triton")
        stream = Stream(lease, "relay", 2)
        assert stream.numbers() == [0, 1]
        stream.close()
    wait_for(lambda: not any(p.is_dir() for p in (fresh_home / "run").iterdir()), 15)


@pytest.mark.parametrize("taken", ["grpc", "http"])
def test_a_port_that_was_taken_meanwhile(
    engine: Engine, image: Image, fresh_home: Path, tmp_path: Path, taken: str
) -> None:
    folders = Folders(tmp_path / "run", tmp_path / "served")
    for folder in folders.all():
        folder.mkdir()
    options = ServerOptions(
        listen="tcp", models_source=str(MODELS), recipe=stored.load().docker.recipe()
    )
    notes: list[str] = []
    log = BoundedLog(tmp_path / "server.log")
    server = DockerServer(options, folders, "test0007", "", log=notes.append)
    rendered = server.prepare(lambda message: None)
    with socket.socket() as stranger:
        stranger.bind(("127.0.0.1", 0))
        stranger.listen()
        port = stranger.getsockname()[1]
        address = {"grpc": f"127.0.0.1:{port}", "http": f"http://127.0.0.1:{port}"}[taken]
        endpoint = dataclasses.replace(server.new_endpoint(), **{taken: address})
        generation = Generation(server, endpoint, rendered, log, lambda **changes: None)
        why = asyncio.run(generation.run())
    log.close()
    assert generation.port_taken
    assert why.startswith("Another program has taken the port")
    assert server.new_endpoint() != endpoint
    assert containers(engine) == []
    server.close()


def test_no_engine_at_the_address(
    fresh_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DOCKER_HOST", f"unix://{fresh_home}/nowhere.sock")
    assert main(["server", "build"]) == 1
    assert "install Docker" in capsys.readouterr().err
    assert main(["server", "start", "--launcher", "docker"]) == 1
    said = capsys.readouterr().err
    assert "No Docker engine is at" in said
    assert "--launcher embedded" in said
    wait_for(lambda: not any(p.is_dir() for p in (fresh_home / "run").iterdir()), 15)


def test_an_engine_that_does_not_answer(tmp_path: Path) -> None:
    path = tmp_path / "docker.sock"
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(path))
    with pytest.raises(LaunchError, match=r"does not answer; start Docker"):
        docker_engine.connect(f"unix://{path}")


@pytest.mark.skipif(os.getuid() != 0, reason="root may become another user")
def test_a_user_who_may_not_use_the_engine(engine: Engine) -> None:
    os.seteuid(65534)
    try:
        with pytest.raises(LaunchError, match=r"usermod -aG docker|No Docker engine"):
            docker_engine.connect(engine.address)
    finally:
        os.seteuid(0)


@pytest.mark.slow
def test_the_engine_stopped_in_the_middle_of_a_chat(
    container: Callable[..., Server], engine: Engine
) -> None:
    pid_file = os.environ.get("TRITALK_TEST_ENGINE_PID")
    if not pid_file:
        pytest.skip("the engine is not the tests' own (.ci/docker-engine.sh)")
    server = container()
    stream = Stream(server, "relay", 1_000_000)
    assert stream.events.get(timeout=30) == 0
    os.kill(int(Path(pid_file).read_text()), signal.SIGTERM)
    try:
        with pytest.raises(Exception, match=r"Socket closed|failed to connect|reset"):
            stream.numbers()
        wait_for(lambda: server.status().state is ServerState.FAILED, 30)
        with pytest.raises(LaunchError, match=r"engine at .* was stopped.*--launcher embedded"):
            server.wait_ready(1)
        client = TritonClient(server.endpoint)
        with pytest.raises(TritalkError):
            list(client.chat("你好"))
        client.close()
    finally:
        stream.close()
        # The tests' own engine is started again by its script.
        wait_for(docker_engine.answers, 60)
    again = container()
    assert again.status().state is ServerState.READY


def test_a_wheel_folder_without_wheels(tmp_path: Path, engine: Engine) -> None:
    with pytest.raises(LaunchError, match=r"no wheels"):
        dataclasses.replace(recipe(), wheels=str(tmp_path)).check()


@pytest.mark.parametrize("release", ["26.06", "24.10", "latest", "2607"])
def test_releases_with_the_deadlock_are_refused(release: str) -> None:
    with pytest.raises(LaunchError, match=r"26\.07"):
        dataclasses.replace(recipe(), target="gpu", triton_release=release).check()
