"""`make bundle LITE=1`: no built-in Triton, and it says so."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from server_bundle.flags import KEY_HEADER
from tests.bundle.conftest import Machine, built

pytestmark = [pytest.mark.bundle, pytest.mark.timeout(1800)]


@pytest.fixture(scope="module")
def lite(machine_base: Path) -> Iterator[str]:
    target = machine_base / "opt" / "lite"
    subprocess.run(["cp", "-r", str(built("tritalk-lite")), str(target)], check=True)
    yield "/opt/lite"
    shutil.rmtree(target)


def test_it_is_small(machine: Machine, lite: str) -> None:
    assert not (machine.root / lite[1:] / "server").exists()
    files = [path for path in (machine.root / lite[1:]).rglob("*") if not path.is_symlink()]
    assert sum(path.stat().st_size for path in files) < 300e6


@pytest.mark.parametrize("launcher", ["auto", "embedded"])
def test_it_says_what_it_lacks(machine: Machine, lite: str, launcher: str) -> None:
    done = machine.run(f"{lite}/tritalk server start --launcher {launcher}", code=1)
    assert "This edition of Tritalk has no built-in Triton" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("kind", ["chat", "address"])
def test_it_says_that_it_converts_no_models(machine: Machine, lite: str, kind: str) -> None:
    done = machine.run(
        f"cd; mkdir own; {lite}/tritalk models import --kind {kind} own --name own", code=1
    )
    assert "this edition of Tritalk has no PyTorch" in done.stderr
    assert "Traceback" not in done.stderr


def test_it_uses_a_server_elsewhere(machine: Machine, lite: str) -> None:
    """One that the full bundle runs, on a port with a key as across a network."""
    target = machine.root / "opt" / "full"
    subprocess.run(["cp", "-r", str(built("tritalk")), str(target)], check=True)
    try:
        done = machine.run(
            "cd; set -e; TRITALK_HOME=$PWD/full /opt/full/tritalk server start --listen tcp >&2\n"
            "TRITALK_HOME=$PWD/full /opt/full/tritalk server status --json > status\n"
            'field() { sed -E "s/.*\\"$1\\": \\"([^\\"]*)\\".*/\\1/" status; }\n'
            "export TRITALK_LAUNCHER=remote TRITALK_REMOTE_URL=grpc://$(field grpc)\n"
            f"export TRITALK_REMOTE_HEADER={KEY_HEADER}\n"
            f"export TRITALK_REMOTE_TOKEN=$(field {KEY_HEADER})\n"
            f"{lite}/tritalk chat 你好\n"
            "TRITALK_HOME=$PWD/full /opt/full/tritalk server stop >&2"
        )
    finally:
        shutil.rmtree(target)
    assert done.stdout.strip()
