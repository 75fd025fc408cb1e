"""The models of the server: version, state, why one is not there, loading and unloading."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QHideEvent, QShowEvent
from PySide6.QtWidgets import QFrame, QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from desktop import memory
from desktop.launchers.base import ServerState, ServerStatus
from desktop.memory import MemoryShort
from desktop.triton.control import ModelControl, ModelInfo
from desktop.triton.types import Endpoint
from desktop.ui import theme
from desktop.ui.controls import frame, label
from desktop.ui.session import SERVING, ServerSession
from desktop.ui.status_bar import StateDot
from desktop.ui.tasks import Task
from desktop.ui.words import error_words, model_words

_INTERVAL_MS = 2000
_DOTS = {
    "READY": ServerState.READY,
    "LOADING": ServerState.STARTING,
    "UNLOADING": ServerState.STOPPING,
}
# What Triton says of a model that somebody has unloaded.
_UNLOADED = "unloaded"


class ModelRow(QFrame):
    """One model. ``asked``: it is to be loaded (True) or unloaded."""

    asked = Signal(str, bool)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("modelRow")
        self.model = ModelInfo("", "", "")
        self.dot = StateDot(self)
        self.name = QLabel(self)
        self.name.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.version = label(self, "small")
        self.state = label(self, "small")
        self.button = QPushButton(self)
        theme.fit(self.button, min_width=84)
        self.reason = label(self, "error", wrap=True)
        self.reason.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        line = QHBoxLayout()
        line.setSpacing(12)
        line.addWidget(self.dot)
        line.addWidget(self.name, 1)
        line.addWidget(self.version)
        line.addWidget(self.state)
        line.addWidget(self.button)
        theme.fit(self.state, min_width=80)
        self.reason.setContentsMargins(24, 0, 0, 0)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 6, 0, 6)
        box.setSpacing(4)
        box.addLayout(line)
        box.addWidget(self.reason)
        self.button.clicked.connect(self._ask)

    def show_model(self, model: ModelInfo, doing: str, problem: str, *, allowed: bool) -> None:
        """``doing``: "load" or "unload" while that is under way. ``problem``: why the last such
        attempt failed."""
        self.model = model
        state = {"load": "LOADING", "unload": "UNLOADING"}.get(doing, model.state)
        self.dot.show_state(_DOTS.get(state, ServerState.STOPPED))
        self.name.setText(model.name)
        self.version.setText(
            self.tr("version {0}").format(model.versions) if model.versions else ""
        )
        unloaded = state == "UNAVAILABLE" and model.reason == _UNLOADED
        self.state.setText(self.tr("unloaded") if unloaded else model_words(state))
        reason = problem or ("" if unloaded or state in ("READY", "LOADING") else model.reason)
        self.reason.setText(reason)
        self.reason.setVisible(bool(reason))
        ready = model.state == "READY"
        words = self.tr("Unload") if ready else self.tr("Load")
        self.button.setText(words)
        self.button.setAccessibleName(f"{words} {model.name}")
        if ready:
            told = self.tr("Frees its memory; what needs it does not work until it is loaded again")
        else:
            told = self.tr("Load it into memory")
        self.button.setToolTip(told)
        self.button.setEnabled(allowed and not doing and state not in ("LOADING", "UNLOADING"))

    @Slot()
    def _ask(self) -> None:
        self.asked.emit(self.model.name, self.model.state != "READY")


class ModelsTable(QFrame):
    """Asks the server for its models every two seconds while it is visible."""

    def __init__(self, session: ServerSession, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self._session = session
        self._status = session.status
        self._index: dict[str, ModelInfo] = {}
        self._doing: dict[str, str] = {}
        self._problems: dict[str, Exception] = {}
        self._task: Task | None = None
        self._rows: list[ModelRow] = []
        self._dividers: list[QFrame] = []
        self.title = label(self, "cardTitle")
        self._column = QVBoxLayout()
        self._column.setSpacing(0)
        box = QVBoxLayout(self)
        box.setContentsMargins(16, 16, 16, 10)
        box.setSpacing(6)
        box.addWidget(self.title)
        box.addLayout(self._column)
        self._timer = QTimer(self, interval=_INTERVAL_MS)
        self._timer.timeout.connect(self.look)
        self.retranslate()

    def retranslate(self) -> None:
        self.title.setText(self.tr("Models"))
        self._show()

    @Slot(object)
    def show_status(self, status: ServerStatus) -> None:
        if status.endpoint != self._status.endpoint or status.state not in SERVING:
            self._index = {}
            self._problems = {}
        self._status = status
        self._show()
        if self.isVisible():
            self.look()

    def models(self) -> list[ModelInfo]:
        """What is known: the server's own index where it has been asked, the status else."""
        found = {}
        for name, words in self._status.models.items():
            state, _, reason = words.partition(": ")
            found[name] = ModelInfo(name, "", state, reason)
        for name, model in self._index.items():
            told = found.get(name)
            # A model that never was in the repository's index has only the launcher's reason.
            if told and model.state == told.state == "UNAVAILABLE" and not model.reason:
                continue
            found[name] = model
        return [found[name] for name in sorted(found)]

    def rows(self) -> list[tuple[str, str]]:
        """Names and states as shown."""
        shown = [row for row in self._rows if row.isVisibleTo(self)]
        return [(row.name.text(), row.state.text()) for row in shown]

    def row(self, name: str) -> ModelRow:
        return next(row for row in self._rows if row.model.name == name)

    # -- asking the server --------------------------------------------------------------------

    @Slot()
    def look(self) -> None:
        """Ask for the index, in the background, unless that is under way."""
        if self._task is not None or self._status.state not in SERVING:
            return
        endpoint = self._status.endpoint

        def arrived(models: list[ModelInfo]) -> None:
            self._task = None
            if endpoint == self._status.endpoint and self._status.state in SERVING:
                self._index = {model.name: model for model in models}
                self._show()

        def failed(error: Exception) -> None:
            self._task = None  # the status tells what is wrong with the server

        self._task = self._call(endpoint, ModelControl.index, arrived, failed)

    @Slot(str, bool)
    def change(self, name: str, load: bool) -> None:
        """Load or unload a model, in the background."""
        if name in self._doing or self._status.state not in SERVING:
            return
        self._doing[name] = "load" if load else "unload"

        # Warned once, a person who asks again knows.
        warn = load and not isinstance(self._problems.get(name), MemoryShort)
        self._problems.pop(name, None)

        def work(control: ModelControl) -> list[ModelInfo]:
            if warn:
                memory.check_load(name)
            (control.load if load else control.unload)(name)
            return control.index()

        self._show()

        def succeeded(models: list[ModelInfo]) -> None:
            self._doing.pop(name, None)
            self._index = {model.name: model for model in models}
            self._show()

        def failed(error: Exception) -> None:
            self._doing.pop(name, None)
            self._problems[name] = error
            self._show()
            self.look()

        self._call(self._status.endpoint, work, succeeded, failed)

    def _call(
        self,
        endpoint: Endpoint,
        ask: Callable[[ModelControl], list[ModelInfo]],
        succeeded: Callable[[list[ModelInfo]], None],
        failed: Callable[[Exception], None],
    ) -> Task:
        def work(task: Task) -> list[ModelInfo]:
            with ModelControl(endpoint) as control:
                task.on_cancel(control.close)
                return ask(control)

        return self._session.background.run(work, succeeded=succeeded, failed=failed)

    # -- showing ------------------------------------------------------------------------------

    def _show(self) -> None:
        models = self.models()
        while len(self._rows) < len(models):
            row = ModelRow(self)
            row.asked.connect(self.change)
            if self._rows:
                self._dividers.append(frame(self, "divider"))
                self._column.addWidget(self._dividers[-1])
            self._column.addWidget(row)
            self._rows.append(row)
        allowed = self._status.state in SERVING
        for number, row in enumerate(self._rows):
            used = number < len(models)
            row.setVisible(used)
            if number:
                self._dividers[number - 1].setVisible(used)
            if used:
                model = models[number]
                problem = self._problems.get(model.name)
                row.show_model(
                    model,
                    self._doing.get(model.name, ""),
                    error_words(problem) if problem else "",
                    allowed=allowed,
                )
        self.setVisible(bool(models))

    def showEvent(self, event: QShowEvent) -> None:
        self._timer.start()
        self.look()

    def hideEvent(self, event: QHideEvent) -> None:
        self._timer.stop()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()
