"""`make wheel`: everything is in it, and it works in a virtual environment of its own."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bundle.conftest import ROOT, built

pytestmark = [pytest.mark.bundle, pytest.mark.timeout(3600)]


@pytest.fixture(scope="module")
def wheel() -> Path:
    return built("tritalk-*.whl")


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory, wheel: Path) -> Iterator[Path]:
    """A virtual environment with ``tritalk[server]`` in it, the way pipx makes one."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)
    pip = [str(folder / "venv/bin/python"), "-m", "pip", "install", "-q"]
    pip += ["--disable-pip-version-check", "-c", str(ROOT / "constraints.txt")]
    subprocess.run([*pip, f"{wheel}[server]"], check=True, cwd=folder)
    yield folder
    shutil.rmtree(folder)


def tritalk(environment: Path, *words: str) -> str:
    """What a command prints, away from the repository."""
    env = {**os.environ, "TRITALK_HOME": str(environment / "home")}
    for name in ("PYTHONPATH", "VIRTUAL_ENV"):
        env.pop(name, None)
    done = subprocess.run(
        [str(environment / "venv/bin/tritalk"), *words],
        cwd=environment,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=900,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_nothing_is_missing_from_it(wheel: Path) -> None:
    """Every file of the packages and of the resources, and no other."""
    command = ["git", "ls-files", "desktop", "server_bundle", "resources"]
    listed = set(subprocess.check_output(command, cwd=ROOT, text=True).splitlines())
    if not listed:
        pytest.skip("not a git checkout")
    inside = zipfile.ZipFile(wheel).namelist()
    names = {n for n in inside if ".dist-info/" not in n and ".data/" not in n}
    assert names == listed
    # For the container that it can build: the tested versions.
    assert any(n.endswith(".data/data/share/tritalk/constraints.txt") for n in inside)


def test_it_chats_and_parses(environment: Path) -> None:
    assert json.loads(tritalk(environment, "chat", "你好", "--json").splitlines()[-1])["reply"]
    parsed = json.loads(tritalk(environment, "parse", "杭州市余杭区文一西路969号", "--json"))
    assert parsed["division"]["district"] == "余杭区"


def test_its_environment_is_healthy(environment: Path) -> None:
    assert "MISSING" not in tritalk(environment, "doctor")
    python = str(environment / "venv/bin/python")
    code = "import desktop, server_bundle; print(desktop.__file__)"
    place = subprocess.check_output([python, "-c", code], cwd=environment, text=True)
    assert str(environment) in place


def test_its_licence_and_its_versions_are_found(environment: Path) -> None:
    python = str(environment / "venv/bin/python")
    code = (
        "from desktop.launchers.docker_image import bundle_files\n"
        "from desktop.ui.settings_about import licence_file\n"
        "print(licence_file().read_text()[:200])\n"
        "print(dict(bundle_files())['constraints.txt'].read_text())"
    )
    said = subprocess.check_output([python, "-c", code], cwd=environment, text=True)
    assert "Apache License" in said
    assert "torch==" in said
