"""The image: built with real progress, cancelled, pulled; and what is in it."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

import docker
import pytest
from docker.utils.build import exclude_paths

from desktop import settings as stored
from desktop.launchers import current, docker_image
from desktop.launchers.base import LaunchError
from desktop.launchers.docker_engine import Engine
from desktop.launchers.docker_image import Recipe
from desktop.launchers.docker_progress import Cancel, Cancelled, Progress
from desktop.launchers.lease import SupervisorLease
from desktop.settings import Settings
from tests.docker.conftest import ROOT, Image, recipe
from tests.docker.registry import Registry
from tests.triton.tiny import wait_for

pytestmark = pytest.mark.docker


def run(engine: Engine, image: str, command: str) -> tuple[int, str]:
    made = engine.api.create_container(image, ["sh", "-c", command])["Id"]
    try:
        engine.api.start(made)
        status = engine.api.wait(made)["StatusCode"]
        return status, engine.api.logs(made).decode().strip()
    finally:
        engine.api.remove_container(made, force=True)


def test_progress_of_a_build(image: Image) -> None:
    uploads = [each for each in image.progress if each.phase == "upload"]
    assert uploads[-1].bytes_done == uploads[-1].bytes_total > 0
    sent = [each.bytes_done for each in uploads]
    assert sent == sorted(sent)
    # What a step prints comes besides, and belongs to the step under way.
    told = [each for each in image.progress if each.phase == "build"]
    assert [each.step for each in told] == sorted(each.step for each in told)
    steps = [each for each in told if not each.detail]
    assert [each.step for each in steps] == list(range(1, steps[-1].steps + 1))
    assert all(each.message for each in steps)
    assert "ENTRYPOINT" in str(steps[-3]) + str(steps[-2])


def test_what_is_in_it(engine: Engine, image: Image) -> None:
    found = engine.api.inspect_image(image.tag)
    assert found["Config"]["User"] == "1000:1000"
    assert found["Config"]["Labels"][docker_image.BUNDLE_LABEL] == image.recipe.digest()
    assert docker_image.exists(engine.api, image.tag) == found["Id"]
    tools = "gcc cc g++ make cmake pip pip3 git curl"
    assert run(engine, image.tag, f"command -v {tools}") == (127, "")
    code, said = run(
        engine,
        image.tag,
        "id -u; python3 -c 'import numpy, torch, safetensors; print(numpy.__version__[0])';"
        # Imported chat models need these.
        "python3 -c 'import jinja2, tokenizers, transformers; print(transformers.__name__)';"
        "find /opt/tritalk -name '*.pyc'; find / -xdev -name '*.whl' -not -path '/usr/*' "
        "2>/dev/null; ls /opt/tritalk/server_bundle",
    )
    assert code == 0
    lines = said.splitlines()
    assert lines[:3] == ["1000", "1", "transformers"]
    assert {"chitchat", "address", "repository.py"} <= set(lines[3:])
    assert not {"training", "deploy", "__pycache__"} & set(lines[3:])
    assert not [line for line in lines if line.endswith((".whl", ".pyc"))]


def test_the_context_is_what_dockerignore_leaves() -> None:
    patterns = (ROOT / ".dockerignore").read_text().splitlines()
    kept = {
        name
        for name in exclude_paths(ROOT, [p for p in patterns if p and not p.startswith("#")])
        if (ROOT / name).is_file() and not name.startswith("wheels/")
    }
    sent = {name for name, _ in docker_image.bundle_files()}
    assert kept - {"Dockerfile", ".dockerignore"} == sent


def test_a_changed_bundle_is_another_image(tmp_path: Path) -> None:
    first = recipe()
    again = recipe()
    other = dataclasses.replace(first, time_zone="Asia/Shanghai")
    assert first.digest() == again.digest()
    assert first.tag != other.tag
    # Where the packages come from makes no other image.
    assert dataclasses.replace(first, apt_mirror="http://mirror.example.org").tag == first.tag
    assert dataclasses.replace(first, target="gpu").tag.startswith("tritalk-server:gpu-")


def test_only_the_stages_of_the_target() -> None:
    text = (ROOT / "server_bundle" / "docker" / "Dockerfile").read_text()
    cpu, gpu = (docker_image.stages_for(text, target) for target in ("cpu", "gpu"))
    assert "nvcr.io" not in cpu
    assert [line.split()[-1] for line in cpu.splitlines() if line.startswith("FROM ")] == [
        "system",
        "packages",
        "cpu",
    ]
    assert [line for line in gpu.splitlines() if line.startswith("FROM ")] == [
        "FROM nvcr.io/nvidia/tritonserver:${TRITON_RELEASE}-py3 AS gpu"
    ]


@pytest.mark.slow
def test_cancelling_a_build(engine: Engine, image: Image, tmp_path: Path) -> None:
    # Another CA file makes the long step of the packages anew.
    ca_file = tmp_path / "ca.pem"
    ca_file.write_text("# nobody's certificate\n")
    changed = dataclasses.replace(image.recipe, ca_file=str(ca_file), time_zone="Etc/GMT+1")
    cancel = Cancel()
    seen: list[Progress] = []
    before = {each["Id"] for each in engine.api.containers(all=True)}

    def watch(progress: Progress) -> None:
        seen.append(progress)
        if progress.message.startswith("RUN") and "/build/ca.pem" in progress.message:
            threading.Timer(1, cancel).start()

    begun = time.monotonic()
    with pytest.raises(Cancelled):
        docker_image.build(engine.api, changed, watch, cancel)
    assert time.monotonic() - begun < 60
    assert seen[-1].step < seen[-1].steps
    assert docker_image.exists(engine.api, changed.tag) == ""
    end = time.monotonic() + 20
    while {each["Id"] for each in engine.api.containers(all=True)} - before:
        assert time.monotonic() < end, "the engine goes on building"
        time.sleep(0.2)
    # The connection is still good for other calls.
    assert engine.api.ping()


@pytest.mark.slow
def test_a_lease_that_is_closed_while_the_image_is_built(
    lease: Callable[..., SupervisorLease], engine: Engine, image: Image, tmp_path: Path
) -> None:
    ca_file = tmp_path / "ca.pem"
    ca_file.write_text(f"# nobody's certificate, {tmp_path}\n")
    settings = stored.load().docker
    settings = dataclasses.replace(settings, ca_file=str(ca_file), time_zone="Etc/GMT+3")
    before = {each["Id"] for each in engine.api.containers(all=True)}
    made = lease(Settings(docker=settings))
    wait_for(lambda: "/build/ca.pem" in made.status().message, 60)
    made.close()
    wait_for(lambda: current() is None, 15)
    wait_for(lambda: {each["Id"] for each in engine.api.containers(all=True)} == before, 20)
    assert docker_image.exists(engine.api, Recipe(**settings.recipe()).tag) == ""


def test_cancelling_before_it_begins(engine: Engine, image: Image) -> None:
    cancel = Cancel()
    cancel()
    with pytest.raises(Cancelled):
        docker_image.build(engine.api, image.recipe, lambda progress: None, cancel)


@pytest.fixture
def registry(engine: Engine) -> Registry:
    if not engine.shares_sockets:
        pytest.skip("the engine does not see this machine's ports")
    return Registry()


def test_pulling_with_progress(engine: Engine, registry: Registry) -> None:
    with registry:
        reference = registry.offer("tritalk-test", layers=3, size=6 << 20)
        seen: list[Progress] = []
        try:
            found = docker_image.pull(engine.api, reference, seen.append, Cancel())
            assert found == docker_image.exists(engine.api, reference) != ""
            again = docker_image.ensure(engine.api, recipe(), reference, seen.append, Cancel())
            assert again == found
        finally:
            engine.api.remove_image(reference)
    last = seen[-1]
    assert (last.phase, last.layers_done, last.layers) == ("pull", 3, 3)
    assert last.bytes_done == last.bytes_total > 2 * (6 << 20)
    assert any(0 < each.bytes_done < each.bytes_total for each in seen)
    assert "of 3 layers" in str(last)


def test_cancelling_a_pull(engine: Engine, registry: Registry) -> None:
    with registry:
        reference = registry.offer("tritalk-test", layers=2, size=64 << 20, slowly=True)
        cancel = Cancel()

        def watch(progress: Progress) -> None:
            if progress.bytes_done:
                cancel()

        begun = time.monotonic()
        with pytest.raises(Cancelled):
            docker_image.pull(engine.api, reference, watch, cancel)
        assert time.monotonic() - begun < 30
        assert docker_image.exists(engine.api, reference) == ""


def test_what_a_registry_may_answer(engine: Engine, registry: Registry) -> None:
    with registry:
        reference = registry.offer("tritalk-test", layers=1, size=1 << 20)
        absent = reference.replace(":latest", ":absent")
        with pytest.raises(LaunchError, match=r"does not exist.*tritalk server build"):
            docker_image.pull(engine.api, absent, lambda progress: None, Cancel())
        registry.refuse = True
        with pytest.raises(LaunchError, match=r"docker login"):
            docker_image.pull(engine.api, reference, lambda progress: None, Cancel())
    with pytest.raises(LaunchError, match=r"cannot be downloaded"):
        docker_image.pull(engine.api, reference, lambda progress: None, Cancel())


def test_a_package_that_does_not_exist(engine: Engine, image: Image, tmp_path: Path) -> None:
    """The build's own error, out of a folder of wheels that lacks what is needed."""
    source = Path(image.recipe.wheels or "/nowhere")
    wheel = next(source.glob("filelock-*.whl"), None)
    if wheel is None:
        pytest.skip("there is no folder of wheels (TRITALK_DOCKER_WHEELS)")
    (tmp_path / wheel.name).symlink_to(wheel)
    lacking = dataclasses.replace(image.recipe, wheels=str(tmp_path), time_zone="Etc/GMT+2")
    with pytest.raises(LaunchError, match=r"pip does not find a package of the image.*wheels"):
        docker_image.build(engine.api, lacking, lambda progress: None, Cancel())
    with pytest.raises(docker.errors.ImageNotFound):
        engine.api.inspect_image(lacking.tag)


def test_build_on_the_command_line(engine: Engine, image: Image) -> None:
    def build(*more: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "desktop", "server", "build", *more]
        return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)

    done = build()
    assert image.tag in done.stdout
    assert "sending" not in done.stderr
    done = build("--force")
    assert "MiB to Docker" in done.stderr
    assert "building: step 1 of " in done.stderr
