"""The server's settings as a form: saved as they are changed, in force after a restart."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

from PySide6.QtCore import QEvent, Signal, Slot
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import (
    QFileDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from desktop import settings as stored
from desktop.launchers.base import LaunchError, ServerState, ServerStatus
from desktop.launchers.remote import endpoint_of
from desktop.settings import RemoteSettings, Settings, SettingsError
from desktop.ui.controls import frame, label, primary_button
from desktop.ui.phrases import sentence
from desktop.ui.server_fields import Field, Flag, Numbers, Options, Secret, Text
from desktop.ui.session import ServerSession
from server_bundle.chitchat.precisions import PRECISIONS

#: The models whose number of instances may be chosen.
MODELS = (
    "ibuddha_chitchat",
    "ibuddha_chitchat_bls",
    "ibuddha_chitchat_stream",
    "multitask_model",
    "address_parser",
)
_MEMORY = re.compile(r"\d+(\.\d+)?\s*([kmgt]?b?)", re.IGNORECASE)
_HEADER = re.compile(r"[A-Za-z0-9-]+")


class ServerSettingsForm(QWidget):
    """Reads and writes :mod:`desktop.settings`. What a variable of the environment decides is
    shown with its name and cannot be changed here. ``saved``: the settings as they are now."""

    saved = Signal(object)

    def __init__(self, session: ServerSession, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._session = session
        self._file = Settings()
        self._waiting: dict[str, Any] = {}
        self._under_way: dict[str, Any] = {}
        self.fields: dict[str, Field] = {}
        self.sections: dict[str, QFrame] = {}
        self._titles: dict[str, QLabel] = {}
        self.problem = label(self, "error", wrap=True)
        self.aside_button = QPushButton(self)
        self.restart_words = label(self, "noticeText", wrap=True)
        self.restart_button = primary_button(self)
        self._make_fields()
        self._lay_out()
        self.restart_button.clicked.connect(self._restart)
        self.aside_button.clicked.connect(self._set_aside)
        session.status_changed.connect(self._status_changed)
        self.setFocusProxy(self.fields["launcher"])
        self.retranslate()
        self.reload()

    # -- what there is ------------------------------------------------------------------------

    def _make_fields(self) -> None:
        self._section("general")
        self._add("general", Options("launcher", ("auto", "docker", "embedded", "remote")))
        self._add("general", Options("device", ("auto", "gpu", "cpu")))
        self._add("general", Flag("keep_running"))
        self._section("models")
        self._add("models", Text("gpus", self._check_gpus))
        self._add("models", Options("precision", PRECISIONS))
        self._add("models", Numbers("instances", MODELS))
        self._section("docker")
        self._add("docker", Text("docker.memory", self._check_memory))
        self._add("docker", Text("docker.image", self._check_image))
        self._add("docker", Text("docker.engine", self._check_engine))
        self._section("remote")
        self._add("remote", Text("remote.url", self._check_url))
        self._add("remote", Text("remote.ca_file", self._check_ca_file, browse=self._browse))
        self._add("remote", Text("remote.header", self._check_header))
        self._add("remote", Secret("remote.token", self._check_token))

    def _section(self, name: str) -> None:
        section = frame(self, "card")
        box = QVBoxLayout(section)
        box.setContentsMargins(16, 14, 16, 16)
        box.setSpacing(12)
        self._titles[name] = label(section, "cardTitle")
        box.addWidget(self._titles[name])
        self.sections[name] = section

    def _add(self, section: str, field: Field) -> None:
        self.fields[field.name] = field
        layout = self.sections[section].layout()
        assert layout is not None
        layout.addWidget(field)
        field.edited.connect(self._edited)

    def _lay_out(self) -> None:
        self.restart_bar = frame(self, "notice")
        row = QHBoxLayout(self.restart_bar)
        row.setContentsMargins(12, 6, 8, 6)
        row.setSpacing(12)
        row.addWidget(self.restart_words, 1)
        row.addWidget(self.restart_button)
        wrong = QHBoxLayout()
        wrong.setSpacing(12)
        wrong.addWidget(self.problem, 1)
        wrong.addWidget(self.aside_button)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(16)
        box.addWidget(self.restart_bar)
        box.addLayout(wrong)
        for section in self.sections.values():
            box.addWidget(section)

    # -- reading and writing ------------------------------------------------------------------

    @Slot()
    def reload(self) -> None:
        """Show the settings as the file and the environment have them."""
        try:
            self._file = stored.load({})
            for name, value in (self._under_way | self._waiting).items():
                self._file = stored.changed(self._file, name, value)
            stored.with_environment(self._file)
            problem = ""
        except SettingsError as error:
            problem = sentence(str(error))
        self._show_problem(problem)
        self._show()

    def in_force(self) -> Settings:
        """The settings as they are after the next start. Raises :class:`SettingsError`."""
        return stored.with_environment(self._file)

    def needs_restart(self) -> bool:
        """Whether the running server was started with other settings."""
        running = self._session.started_with
        ended = self._session.status.state in (ServerState.STOPPED, ServerState.STOPPING)
        if running is None or ended:
            return False
        try:
            return _decisive(self.in_force()) != _decisive(running)
        except SettingsError:
            return False

    @Slot(str, object)
    def _edited(self, name: str, value: object) -> None:
        """A field holds another, valid value."""
        self._file = stored.changed(self._file, name, value)
        self._waiting[name] = value
        self._show_sections()
        self._show_restart()
        self._save()

    def _save(self) -> None:
        """Write what waits, in the background, one file after the other."""
        if self._under_way or not self._waiting:
            return
        changes, self._waiting = self._waiting, {}
        self._under_way = changes

        def done(found: Settings) -> None:
            self._under_way = {}
            self._show_problem("")
            self.saved.emit(found)
            self._save()

        def failed(error: Exception) -> None:
            self._under_way = {}
            self._waiting = changes | self._waiting  # the next change tries again
            self._say_unsaved(error)

        self._session.background.run(lambda task: _write(changes), succeeded=done, failed=failed)

    def flush(self) -> None:
        """Take what is being typed and write what is not certain to be written yet: nobody may be
        there to do it later. Blocks for a moment."""
        for field in self.fields.values():
            if isinstance(field, Text):
                field.finish()
        changes = self._under_way | self._waiting
        if changes:
            try:
                _write(changes)
                self._waiting = {}
            except (SettingsError, OSError) as error:
                self._say_unsaved(error)

    def _say_unsaved(self, error: Exception) -> None:
        if isinstance(error, SettingsError):
            self._show_problem(sentence(str(error)))
            return
        self._show_problem(self.tr("The settings cannot be saved: {0}").format(error))
        self.aside_button.hide()

    @Slot()
    def _set_aside(self) -> None:
        """Keep a file that cannot be read under another name, and begin with the defaults."""
        path = stored.path()
        try:
            path.replace(path.with_name(path.name + ".damaged"))
        except OSError as error:
            self.problem.setText(str(error))
            return
        self.reload()

    @Slot()
    def _restart(self) -> None:
        self._session.restart()

    # -- showing ------------------------------------------------------------------------------

    def _show(self) -> None:
        variables = stored.overridden()
        try:
            found = self.in_force()
        except SettingsError:
            found = self._file
        for name, field in self.fields.items():
            field.show_value(stored.value_of(found, name))
            field.show_variable(variables.get(name, ""))
            field.setEnabled(not self.aside_button.isVisibleTo(self))
        self._show_sections()
        self._show_restart()

    def _show_sections(self) -> None:
        """Only what the chosen launcher uses."""
        launcher = self.fields["launcher"].value()
        remote, docker = launcher == "remote", launcher in ("auto", "docker")
        self.sections["remote"].setVisible(remote)
        self.sections["docker"].setVisible(docker)
        self.sections["models"].setVisible(not remote)
        self.fields["device"].setVisible(docker)
        self.fields["keep_running"].setVisible(not remote)
        self.fields["gpus"].setVisible(docker and self.fields["device"].value() != "cpu")

    def _show_problem(self, words: str) -> None:
        """What is wrong with the file or a variable; only the file can be set aside."""
        self.problem.setText(words)
        self.problem.setVisible(bool(words))
        self.aside_button.setVisible(str(stored.path()) in words)

    def _show_restart(self) -> None:
        self.restart_bar.setVisible(self.needs_restart())

    @Slot(object)
    def _status_changed(self, status: ServerStatus) -> None:
        self._show_restart()

    def showEvent(self, event: QShowEvent) -> None:
        self.reload()

    def hideEvent(self, event: QHideEvent) -> None:
        self.flush()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()

    # -- what a value may be ------------------------------------------------------------------

    def _check_gpus(self, text: str) -> str:
        if re.fullmatch(r"[\d\s,，]*", text):
            return ""
        return self.tr("Write the numbers of the GPUs with commas, such as 0, 1; none for all.")

    def _check_memory(self, text: str) -> str:
        if not text or _MEMORY.fullmatch(text):
            return ""
        return self.tr("Write a size such as 8g or 512m; nothing for no limit.")

    def _check_image(self, text: str) -> str:
        return self.tr("The name of an image has no spaces.") if re.search(r"\s", text) else ""

    def _check_engine(self, text: str) -> str:
        if not text or re.match(r"(unix|tcp|npipe|https?|ssh)://", text):
            return ""
        return self.tr("Write an address such as unix:///var/run/docker.sock.")

    def _check_url(self, text: str) -> str:
        return self._complaint(RemoteSettings(url=text)) if text else ""

    def _check_ca_file(self, text: str) -> str:
        return "" if not text or Path(text).is_file() else self.tr("There is no such file.")

    def _check_header(self, text: str) -> str:
        if not text or _HEADER.fullmatch(text):
            return ""
        return self.tr("The name of a header has only letters, digits and hyphens.")

    def _check_token(self, text: str) -> str:
        if text.isascii() and text.isprintable():
            return ""
        return self.tr("A token has only ASCII characters.")

    def _complaint(self, settings: RemoteSettings) -> str:
        try:
            endpoint_of(settings)
        except LaunchError as error:
            return sentence(str(error))
        return ""

    def _browse(self, begin: str, chosen: Callable[[str], None]) -> None:
        title, kinds = self.tr("CA file"), self.tr("Certificates (*.pem *.crt);;All files (*)")
        path, _ = QFileDialog.getOpenFileName(self, title, begin, kinds)
        if path:
            chosen(path)

    # -- words --------------------------------------------------------------------------------

    def retranslate(self) -> None:
        titles = {
            "general": self.tr("How the server runs"),
            "models": self.tr("Models and devices"),
            "docker": self.tr("Docker container"),
            "remote": self.tr("Remote server"),
        }
        for name, title in titles.items():
            self._titles[name].setText(title)
        self.restart_words.setText(self.tr("The running server was started with other settings."))
        self.restart_button.setText(self.tr("Restart to apply"))
        self.aside_button.setText(self.tr("Set the file aside"))
        self.aside_button.setToolTip(
            self.tr("Keeps it as settings.json.damaged and begins with the defaults")
        )
        automatic = self.tr("Automatic")
        launcher = self.fields["launcher"]
        launcher.show_words(
            self.tr("Launcher"),
            self.tr(
                "Automatic takes Docker where a GPU is visible in it, else the built-in Triton."
            ),
            (
                automatic,
                self.tr("Docker"),
                self.tr("Built-in Triton"),
                self.tr("Remote server"),
            ),
        )
        self.fields["device"].show_words(
            self.tr("Device"),
            self.tr("What the models run on; the built-in Triton runs on the CPU."),
            (automatic, "GPU", "CPU"),
        )
        self.fields["keep_running"].show_words(
            self.tr("Keep running"),
            self.tr("The server stays when the window is closed, until it is stopped."),
            (self.tr("Keep the server running when the window is closed"),),
        )
        self.fields["gpus"].show_words(
            self.tr("GPUs"), self.tr("Numbers with commas; nothing for all of them."), ("0, 1",)
        )
        self.fields["precision"].show_words(
            self.tr("Precision"),
            self.tr("What the chat model computes in; int8 on CPUs only, float16 on GPUs only."),
            (automatic, *PRECISIONS[1:]),
        )
        self.fields["instances"].show_words(
            self.tr("Instances"),
            self.tr("How many instances of a model run, on each device."),
        )
        self.fields["docker.memory"].show_words(
            self.tr("Memory"),
            self.tr("The most that the container may use, such as 8g."),
            (self.tr("no limit"),),
        )
        self.fields["docker.image"].show_words(
            self.tr("Image"),
            self.tr("Run this image; nothing builds one where it is missing."),
            (self.tr("built here"),),
        )
        self.fields["docker.engine"].show_words(
            self.tr("Engine"),
            self.tr("The address of a Docker engine; nothing takes the one that docker uses."),
            (self.tr("as docker finds it"),),
        )
        self.fields["remote.url"].show_words(
            self.tr("Address"),
            self.tr(
                "grpc://host:8001, or grpcs:// with TLS; http(s):// with gRPC on the next port."
            ),
            ("grpc://triton.example.org:8001",),
        )
        self.fields["remote.ca_file"].show_words(
            self.tr("CA file"),
            self.tr("Certificates (PEM) to trust; nothing takes the system's."),
            (self.tr("the system's certificates"), self.tr("Choose…")),
        )
        self.fields["remote.header"].show_words(
            self.tr("Header"),
            self.tr("The header that carries the token."),
            ("authorization",),
        )
        self.fields["remote.token"].show_words(
            self.tr("Token"),
            self.tr("Sent with each call; kept in settings.json, which only you can read."),
            ("", self.tr("Show"), self.tr("Hide")),
        )
        self._show_restart()


def _write(changes: dict[str, Any]) -> Settings:
    """Change the file; the settings that are in it then. Raises :class:`SettingsError`, OSError."""
    found = stored.load({})  # somebody else may have changed other settings meanwhile
    for name, value in changes.items():
        found = stored.changed(found, name, value)
    stored.save(found)
    return found


def _decisive(settings: Settings) -> tuple[object, ...]:
    """What of the settings a server is started with."""
    if settings.launcher == "remote":
        return settings.launcher, settings.remote
    names = ("device", "listen", "keep_running", "gpus", "instances", "precision", "docker")
    return settings.launcher, *(getattr(settings, name) for name in names)
