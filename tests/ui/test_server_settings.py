"""The server's settings in the window: read, written, decided by the environment, applied."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, QPointF, Qt
from PySide6.QtGui import QWheelEvent
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QAbstractSpinBox,
    QApplication,
    QComboBox,
    QLineEdit,
    QPushButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from desktop import settings
from desktop.launchers.base import ServerState
from desktop.settings import DockerSettings, RemoteSettings, Settings
from desktop.ui.server_fields import Flag, Numbers, Options, Secret, Text
from desktop.ui.server_settings import ServerSettingsForm
from desktop.ui.session import ServerSession
from desktop.ui.tasks import Background
from tests.ui.fakes import READY, FakeLease
from tests.ui.keyboard import type_text

Make = Callable[[], ServerSettingsForm]


@pytest.fixture
def stops() -> list[str]:
    return []


@pytest.fixture
def session(qtbot: QtBot, fresh_home: Path, stops: list[str]) -> Iterator[ServerSession]:
    made = ServerSession(Background(), FakeLease, stop=stops.append)
    made.start()
    qtbot.waitUntil(lambda: made.status.state is ServerState.READY)
    yield made
    made.close()


@pytest.fixture
def make(qtbot: QtBot, session: ServerSession) -> Iterator[Make]:
    forms: list[ServerSettingsForm] = []

    def make() -> ServerSettingsForm:
        form = ServerSettingsForm(session)
        form.resize(700, 900)
        qtbot.addWidget(form)
        form.show()
        forms.append(form)
        return form

    yield make
    for form in forms:
        form.hide()


def choose(form: ServerSettingsForm, name: str, value: str) -> None:
    field = form.fields[name]
    assert isinstance(field, Options)
    number = field.input.findData(value)
    field.input.setCurrentIndex(number)
    field.input.activated.emit(number)


def write(form: ServerSettingsForm, name: str, text: str) -> Text:
    field = form.fields[name]
    assert isinstance(field, Text)
    field.input.setFocus()
    field.input.selectAll()
    QTest.keyClick(field.input, Qt.Key.Key_Delete)
    type_text(field.input, text)
    QTest.keyClick(field.input, Qt.Key.Key_Return)
    return field


def saved(qtbot: QtBot, wanted: Settings) -> None:
    qtbot.waitUntil(lambda: settings.load({}) == wanted)


def test_what_is_set_is_shown(make: Make) -> None:
    settings.save(
        Settings(
            launcher="docker",
            device="gpu",
            keep_running=True,
            gpus=(0, 2),
            instances={"multitask_model": 3, "somebody_elses": 2},
            docker=DockerSettings(memory="8g", image="tritalk:1", engine="unix:///x.sock"),
            remote=RemoteSettings("grpcs://a:1", "", "x-key", "秘"),
        )
    )
    form = make()
    shown = {name: field.value() for name, field in form.fields.items()}
    assert shown["launcher"] == "docker"
    assert shown["gpus"] == (0, 2)
    assert shown["keep_running"] is True
    assert shown["instances"] == {"multitask_model": 3, "somebody_elses": 2}
    assert shown["docker.memory"] == "8g"
    assert shown["remote.header"] == "x-key"


def test_each_change_is_written(qtbot: QtBot, make: Make) -> None:
    settings.save(Settings(docker=DockerSettings(base_image="debian:12")))
    form = make()
    choose(form, "launcher", "docker")
    choose(form, "device", "gpu")
    keep = form.fields["keep_running"]
    assert isinstance(keep, Flag)
    keep.input.click()
    write(form, "gpus", "0，1")
    instances = form.fields["instances"]
    assert isinstance(instances, Numbers)
    instances.spins["ibuddha_chitchat"].setValue(2)
    write(form, "docker.memory", "6g")
    write(form, "docker.image", "registry.example.org/tritalk:1")
    saved(
        qtbot,
        Settings(
            launcher="docker",
            device="gpu",
            keep_running=True,
            gpus=(0, 1),
            instances={"ibuddha_chitchat": 2},
            docker=DockerSettings(
                memory="6g", image="registry.example.org/tritalk:1", base_image="debian:12"
            ),
        ),
    )
    # A default is not written, so that a later default is not overruled.
    instances.spins["ibuddha_chitchat"].setValue(1)
    choose(form, "device", "auto")
    qtbot.waitUntil(lambda: settings.load({}).device == "auto" and not form._under_way)
    assert {"device", "instances"} & set(json.loads(settings.path().read_text())) == set()


def test_a_remote_server_is_described(qtbot: QtBot, make: Make, tmp_path: Path) -> None:
    ca_file = tmp_path / "ca.pem"
    ca_file.write_text("x")
    form = make()
    assert not form.sections["remote"].isVisible()
    choose(form, "launcher", "remote")
    assert form.sections["remote"].isVisible()
    assert not form.sections["docker"].isVisible()
    assert not form.fields["device"].isVisible()
    write(form, "remote.url", "grpcs://triton.example.org:8001")
    write(form, "remote.ca_file", str(ca_file))
    write(form, "remote.header", "x-access")
    write(form, "remote.token", "s3cret")
    saved(
        qtbot,
        Settings(
            launcher="remote",
            remote=RemoteSettings(
                "grpcs://triton.example.org:8001", str(ca_file), "x-access", "s3cret"
            ),
        ),
    )


@pytest.mark.parametrize(
    ("launcher", "name", "text"),
    [
        ("docker", "docker.memory", "lots"),
        ("docker", "docker.engine", "my machine"),
        ("docker", "docker.image", "two words"),
        ("docker", "gpus", "first"),
        ("remote", "remote.url", "http://a:1/path"),
        ("remote", "remote.url", "grpc://a:port"),
        ("remote", "remote.ca_file", "/nowhere/ca.pem"),
        ("remote", "remote.header", "x key"),
    ],
)
def test_what_cannot_be_is_said_and_not_written(
    qtbot: QtBot, make: Make, launcher: str, name: str, text: str
) -> None:
    form = make()
    choose(form, "launcher", launcher)
    qtbot.waitUntil(lambda: settings.load({}).launcher == launcher)
    field = write(form, name, text)
    assert field.wrong.isVisible()
    assert len(field.wrong.text().split(". ")) == 1
    assert field.input.text() == text  # to be mended, not to be typed again
    form.hide()
    form.show()
    assert field.input.text() == text
    assert settings.load({}) == Settings(launcher=launcher)
    write(form, name, "")
    assert not field.wrong.isVisible()


def test_what_the_environment_decides_cannot_be_changed(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.save(Settings(device="gpu", docker=DockerSettings(memory="4g")))
    monkeypatch.setenv("TRITALK_DEVICE", "cpu")
    monkeypatch.setenv("TRITALK_DOCKER_MEMORY", "2g")
    form = make()
    for name, value in (("device", "cpu"), ("docker.memory", "2g")):
        field = form.fields[name]
        assert field.value() == value
        assert not any(each.isEnabled() for each in field.inputs if each.isVisible())
        assert field.variable.isVisible()
        assert f"TRITALK_{name.replace('.', '_').upper()}" in field.variable.text()
    assert form.fields["launcher"].inputs[0].isEnabled()
    # Changing another setting does not write the environment into the file.
    choose(form, "launcher", "docker")
    form.hide()
    assert settings.load({}) == Settings(
        launcher="docker", device="gpu", docker=DockerSettings(memory="4g")
    )


def test_a_token_is_hidden_until_asked_for(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.save(Settings(launcher="remote", remote=RemoteSettings(token="s3cret")))
    form = make()
    field = form.fields["remote.token"]
    assert isinstance(field, Secret)
    assert field.input.echoMode() is QLineEdit.EchoMode.Password
    field.button.click()
    assert field.input.echoMode() is QLineEdit.EchoMode.Normal
    field.button.click()
    assert field.input.echoMode() is QLineEdit.EchoMode.Password
    field.button.click()
    monkeypatch.setenv("TRITALK_REMOTE_TOKEN", "other")
    form.reload()
    assert field.input.echoMode() is QLineEdit.EchoMode.Password
    assert not field.button.isEnabled()


def test_one_click_applies(
    qtbot: QtBot, make: Make, session: ServerSession, stops: list[str]
) -> None:
    form = make()
    assert not form.restart_bar.isVisible()
    write(form, "docker.memory", "6g")
    assert form.restart_bar.isVisible()
    saved(qtbot, Settings(docker=DockerSettings(memory="6g")))
    form.restart_button.click()
    qtbot.waitUntil(lambda: not form.restart_bar.isVisible())
    qtbot.waitUntil(lambda: session.status == READY)
    assert stops == ["it is restarted"]
    # With what the environment says besides.
    assert session.started_with == settings.load()
    assert settings.load().docker.memory == "6g"
    # What the running kind of server does not use needs no restart.
    settings.save(Settings(docker=DockerSettings(memory="6g"), remote=RemoteSettings("grpc://a:1")))
    form.reload()
    assert not form.restart_bar.isVisible()
    write(form, "docker.memory", "")
    assert form.restart_bar.isVisible()
    write(form, "docker.memory", "6g")
    assert not form.restart_bar.isVisible()


def test_a_wrong_file_is_told_and_can_be_set_aside(make: Make) -> None:
    settings.path().parent.mkdir(parents=True)
    settings.path().write_text('{"launcher": ')
    form = make()
    assert form.problem.isVisible()
    assert str(settings.path()) in form.problem.text()
    assert not form.fields["launcher"].isEnabled()
    form.aside_button.click()
    assert not form.problem.isVisible()
    assert form.fields["launcher"].isEnabled()
    kept = settings.path().with_name("settings.json.damaged")
    assert kept.read_text() == '{"launcher": '
    choose(form, "launcher", "embedded")
    form.hide()
    assert settings.load({}) == Settings(launcher="embedded")


def test_a_wrong_variable_is_told(make: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TRITALK_KEEP_RUNNING", "perhaps")
    form = make()
    assert "TRITALK_KEEP_RUNNING" in form.problem.text()
    assert not form.aside_button.isVisible()


def test_a_full_disk_is_told_and_nothing_lost(
    qtbot: QtBot, make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.save(Settings(device="gpu"))
    form = make()
    real = settings.os.fsync

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(settings.os, "fsync", full)
    choose(form, "launcher", "docker")
    qtbot.waitUntil(form.problem.isVisible)
    assert "No space left" in form.problem.text()
    assert form.fields["launcher"].value() == "docker"
    monkeypatch.setattr(settings.os, "fsync", real)
    choose(form, "device", "cpu")
    saved(qtbot, Settings(launcher="docker", device="cpu"))
    qtbot.waitUntil(lambda: not form.problem.isVisible())


def test_what_is_being_typed_is_kept_when_the_window_closes(
    make: Make, session: ServerSession
) -> None:
    form = make()
    field = form.fields["docker.memory"]
    assert isinstance(field, Text)
    QTest.keyClicks(field.input, "3g")
    form.hide()
    session.close()
    assert settings.load({}).docker.memory == "3g"


def test_the_wheel_scrolls_and_changes_nothing(make: Make) -> None:
    form = make()
    field = form.fields["launcher"]
    assert isinstance(field, Options)
    field.input.clearFocus()
    at = QPointF(field.input.rect().center())
    event = QWheelEvent(
        at,
        field.input.mapToGlobal(at),
        QPoint(),
        QPoint(0, -120),
        Qt.MouseButton.NoButton,
        Qt.KeyboardModifier.NoModifier,
        Qt.ScrollPhase.NoScrollPhase,
        False,
    )
    QApplication.sendEvent(field.input, event)
    assert field.value() == "auto"


def test_everything_has_a_name_and_fits(make: Make) -> None:
    form = make()
    for launcher in ("docker", "remote"):
        choose(form, "launcher", launcher)
        for widget in form.findChildren(QWidget):
            if isinstance(widget, QLineEdit | QComboBox) and widget.isVisible():
                inner = isinstance(widget.parent(), QAbstractSpinBox)
                assert inner or widget.accessibleName(), widget
            if isinstance(widget, QPushButton) and widget.isVisible():
                assert widget.text(), widget
    form.resize(480, 900)
    assert form.minimumSizeHint().width() <= 480
