"""What is missing is said in one sentence, with what to do."""

from __future__ import annotations

import argparse
import json
import socket
from pathlib import Path

import pytest

from desktop.cli import doctor
from desktop.launchers import acquire, choice, current, embedded, prerequisites
from desktop.launchers.base import LaunchError


def test_the_wheels_parts_are_found() -> None:
    wheel = prerequisites.find_triton()
    assert wheel.binary.name == "tritonserver"
    assert list(wheel.libraries.glob("libtritonserver*"))
    assert list(wheel.libpython_dir.glob("libpython3*")) or wheel.libpython_dir == Path("/usr/lib")


@pytest.fixture
def no_docker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(choice, "docker_engine", lambda: False)


@pytest.mark.usefixtures("no_docker")
def test_without_the_wheel(fresh_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prerequisites.importlib.util, "find_spec", lambda name: None)
    with pytest.raises(LaunchError, match=r"nvidia-pytriton.* pip install"):
        acquire()


def test_with_another_python(fresh_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prerequisites, "PYTHONS", ((3, 8),))
    with pytest.raises(LaunchError, match=r"Python 3\.11 or 3\.12.*make setup"):
        acquire("embedded")


@pytest.mark.usefixtures("no_docker")
def test_with_an_old_glibc(fresh_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prerequisites.os, "confstr", lambda name: "glibc 2.31")
    with pytest.raises(LaunchError, match=r"glibc 2\.35 or newer \(found: glibc 2\.31\)"):
        acquire()


@pytest.mark.usefixtures("no_docker")
def test_on_another_system(fresh_home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prerequisites.platform, "machine", lambda: "riscv64")
    with pytest.raises(LaunchError, match="Docker"):
        acquire()


def test_without_libpython(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prerequisites.sysconfig, "get_config_var", lambda name: None)
    monkeypatch.setattr(prerequisites.sys, "base_prefix", "/nowhere")

    def missing(name: str) -> None:
        raise OSError(name)

    monkeypatch.setattr(prerequisites.ctypes, "CDLL", missing)
    monkeypatch.setattr(prerequisites.Path, "exists", lambda self: False)
    with pytest.raises(LaunchError, match="apt install libpython3"):
        prerequisites.find_libpython()


def test_unknown_choices_are_refused(fresh_home: Path) -> None:
    with pytest.raises(LaunchError, match="no launcher 'abacus'"):
        acquire("abacus")
    with pytest.raises(LaunchError, match="unix or tcp"):
        embedded.EmbeddedLauncher(listen="pigeon")


def test_nothing_runs_in_a_fresh_home(fresh_home: Path) -> None:
    assert current() is None


def test_an_unsafe_runtime_folder_is_a_launch_error(fresh_home: Path) -> None:
    fresh_home.mkdir()
    (fresh_home / "run").mkdir()
    (fresh_home / "run").chmod(0o777)
    with pytest.raises(LaunchError, match="chmod 700"):
        acquire()


@pytest.mark.parametrize(
    ("gpu", "docker", "words"),
    [
        (False, False, "no NVIDIA GPU and no Docker engine found; using the built-in Triton"),
        (False, True, "no NVIDIA GPU found"),
        (True, False, "no Docker engine found"),
        (True, True, "on the CPU"),
    ],
)
def test_the_choice_has_a_reason(
    gpu: bool, docker: bool, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(choice, "nvidia_gpu", lambda: gpu)
    monkeypatch.setattr(choice, "docker_engine", lambda: docker)
    assert words in choice.reason_for_embedded()


def test_an_engine_is_one_that_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "docker.sock"
    monkeypatch.setenv("DOCKER_HOST", f"unix://{path}")
    assert not choice.docker_engine()
    with socket.socket(socket.AF_UNIX) as silent:
        silent.bind(str(path))
        silent.listen()
        assert not choice.docker_engine(timeout=0.2)


def test_doctor_passes_where_servers_run_and_says_what_is_missing(
    fresh_home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("DISPLAY", raising=False)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    options = argparse.Namespace(json=True)
    assert doctor.doctor(options) == 0
    found = json.loads(capsys.readouterr().out)
    checks = {check["name"]: check for check in found["checks"]}
    assert checks["Python"]["ok"]
    assert checks["Triton"]["ok"]
    assert not checks["Docker engine"]["needed"]

    monkeypatch.setattr(prerequisites, "PYTHONS", ((3, 8),))
    assert doctor.doctor(argparse.Namespace(json=False)) == 1
    line = next(x for x in capsys.readouterr().out.splitlines() if " Python " in x)
    assert line.startswith("MISSING")
    assert "make setup" in line
