"""Settings: the file, the environment, and what is wrong in them."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from desktop import settings
from desktop.settings import DockerSettings, RemoteSettings, Settings, SettingsError


@pytest.fixture
def file(fresh_home: Path) -> Path:
    path = settings.path()
    path.parent.mkdir(parents=True)
    return path


def test_nothing_is_set(fresh_home: Path) -> None:
    assert settings.load({}) == Settings()


def test_what_is_saved_is_loaded(fresh_home: Path) -> None:
    wanted = Settings(
        launcher="docker",
        device="gpu",
        keep_running=True,
        gpus=(0, 2),
        instances={"ibuddha_chitchat": 2},
        docker=DockerSettings(memory="8g", base_image="python:3.12-slim"),
        remote=RemoteSettings(url="grpcs://a:1", token="秘密"),
    )
    settings.save(wanted)
    assert settings.load({}) == wanted
    # Only the person may read it, and nothing half-written lies about.
    assert settings.path().stat().st_mode & 0o777 == 0o600
    assert os.listdir(settings.path().parent) == ["settings.json"]  # noqa: PTH208
    assert "listen" not in json.loads(settings.path().read_text())


def test_a_failed_save_leaves_the_old_file(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.save(Settings(device="cpu"))

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(settings.os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        settings.save(Settings(device="gpu"))
    assert settings.load({}).device == "cpu"
    assert [path.name for path in file.parent.iterdir()] == ["settings.json"]


def test_the_environment_comes_after_the_file(file: Path) -> None:
    file.write_text('{"device": "gpu", "docker": {"memory": "4g"}, "gpus": [1]}')
    found = settings.load(
        {
            "TRITALK_DEVICE": "cpu",
            "TRITALK_KEEP_RUNNING": "yes",
            "TRITALK_GPUS": "0, 3",
            "TRITALK_INSTANCES": "a=2,b=1",
            "TRITALK_DOCKER_WHEELS": "/wheels",
            "TRITALK_REMOTE_URL": "grpc://host",
        }
    )
    assert found == Settings(
        device="cpu",
        keep_running=True,
        gpus=(0, 3),
        instances={"a": 2, "b": 1},
        docker=DockerSettings(memory="4g", wheels="/wheels"),
        remote=RemoteSettings(url="grpc://host"),
    )
    assert found.docker.recipe() == {"wheels": "/wheels"}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "cannot be read"),
        ("[]", "does not hold a JSON object"),
        ('{"devise": "cpu"}', "there is no setting devise"),
        ('{"docker": {"imaeg": ""}}', "there is no setting docker.imaeg"),
        ('{"docker": "x"}', "docker is a JSON object"),
        ('{"device": "tpu"}', "one of auto, gpu, cpu, not 'tpu'"),
        ('{"launcher": 3}', "launcher is a text"),
        ('{"keep_running": 1}', "keep_running is true or false"),
        ('{"gpus": [-1]}', "list of numbers"),
        ('{"gpus": [true]}', "list of numbers"),
        ('{"instances": {"a": 0}}', "a number from 1"),
    ],
)
def test_what_is_wrong_is_named(file: Path, text: str, words: str) -> None:
    file.write_text(text)
    with pytest.raises(SettingsError, match=words) as caught:
        settings.load({})
    assert str(file) in str(caught.value)


@pytest.mark.parametrize(
    ("variable", "value"),
    [
        ("TRITALK_DEVICE", "tpu"),
        ("TRITALK_LISTEN", "pigeon"),
        ("TRITALK_KEEP_RUNNING", "perhaps"),
        ("TRITALK_GPUS", "all"),
        ("TRITALK_INSTANCES", "a=many"),
    ],
)
def test_a_wrong_variable_is_named(fresh_home: Path, variable: str, value: str) -> None:
    with pytest.raises(SettingsError, match=variable):
        settings.load({variable: value})
