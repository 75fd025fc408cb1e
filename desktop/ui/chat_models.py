"""The person's own chat models on the server page: importing, serving, removing them."""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import QEvent, Signal, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QFrame,
    QHBoxLayout,
    QLabel,
    QMessageBox,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from desktop.launchers.base import ServerState, ServerStatus
from desktop.models import Installed, chat
from desktop.triton.models import stream_model
from desktop.ui import theme
from desktop.ui.controls import frame, label
from desktop.ui.import_dialog import ImportDialog
from desktop.ui.phrases import sentence
from desktop.ui.session import ServerSession
from desktop.ui.status_bar import StateDot
from desktop.ui.tasks import Task
from desktop.ui.words import error_words

_UNLOADED = "UNAVAILABLE: unloaded"


class ChatModelRow(QFrame):
    """One imported model. ``asked``: its name and ``use``, ``unuse`` or ``remove``."""

    asked = Signal(str, str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("modelRow")
        self.model: Installed | None = None
        self._ready = False
        self.dot = StateDot(self)
        self.name = QLabel(self)
        self.state = label(self, "small")
        self.serve_button = QPushButton(self)
        self.remove_button = QPushButton(self)
        self.about = label(self, "small", wrap=True)
        self.problem = label(self, "error", wrap=True)
        theme.fit(self.serve_button, min_width=104)
        theme.fit(self.remove_button, min_width=84)
        theme.fit(self.state, min_width=80)
        line = QHBoxLayout()
        line.setSpacing(12)
        line.addWidget(self.dot)
        line.addWidget(self.name, 1)
        line.addWidget(self.state)
        line.addWidget(self.serve_button)
        line.addWidget(self.remove_button)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 6, 0, 6)
        box.setSpacing(2)
        box.addLayout(line)
        for each in (self.about, self.problem):
            each.setContentsMargins(24, 0, 0, 0)
            box.addWidget(each)
        self.serve_button.clicked.connect(self._serve)
        self.remove_button.clicked.connect(self._remove)

    def show_model(
        self, model: Installed, states: dict[str, str], doing: str, problem: str, running: bool
    ) -> None:
        """``states``: the server's models. ``doing``: what is under way with it."""
        self.model = model
        engine, text = states.get(model.name, ""), states.get(stream_model(model.name), "")
        self._ready = engine == text == "READY"
        loading = doing == "use" or "LOADING" in (engine, text)
        if self._ready and not doing:
            dot, words = ServerState.READY, self.tr("served")
        elif loading:
            dot, words = ServerState.STARTING, self.tr("loading")
        elif doing:
            dot, words = ServerState.STOPPING, self.tr("unloading")
        else:
            dot, words = ServerState.STOPPED, self.tr("not served")
        self.dot.show_state(dot)
        self.name.setText(model.name)
        self.state.setText(words)
        self.about.setText(model.about)
        reasons = [s for s in (engine, text) if s.startswith("UNAVAILABLE: ") and s != _UNLOADED]
        if not problem and reasons and not doing:
            problem = sentence(reasons[0].removeprefix("UNAVAILABLE: "))
        self.problem.setText(problem)
        self.problem.setVisible(bool(problem))
        serve = self.tr("Stop serving") if self._ready else self.tr("Serve")
        self.serve_button.setText(serve)
        self.serve_button.setToolTip(
            self.tr("Frees its memory; it stays on this machine")
            if self._ready
            else self.tr("Load it now and at every start; then it can be chosen in a chat")
        )
        self.remove_button.setText(self.tr("Remove…"))
        self.remove_button.setToolTip(self.tr("Delete it from this machine"))
        for button in (self.serve_button, self.remove_button):
            button.setAccessibleName(f"{button.text()} {model.name}")
            button.setEnabled(not doing and not loading)
        self.serve_button.setVisible(running)

    @Slot()
    def _serve(self) -> None:
        if self.model is not None:
            self.asked.emit(self.model.name, "unuse" if self._ready else "use")

    @Slot()
    def _remove(self) -> None:
        if self.model is not None:
            self.asked.emit(self.model.name, "remove")


class ChatModelsCard(QFrame):
    """Reads the models folder when it is shown and after each change; states come with the
    server's status."""

    def __init__(self, session: ServerSession, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self._session = session
        self._status = session.status
        self._models: list[Installed] = []
        self._doing: dict[str, str] = {}
        self._problems: dict[str, Exception] = {}
        self._task: Task | None = None
        self._rows: list[ChatModelRow] = []
        self.dialog: ImportDialog | None = None
        self.title = label(self, "cardTitle")
        self.import_button = QPushButton(self)
        self.hint = label(self, "small", wrap=True)
        self._column = QVBoxLayout()
        self._column.setSpacing(0)
        head = QHBoxLayout()
        head.addWidget(self.title, 1)
        head.addWidget(self.import_button)
        box = QVBoxLayout(self)
        box.setContentsMargins(16, 12, 16, 12)
        box.setSpacing(6)
        box.addLayout(head)
        box.addWidget(self.hint)
        box.addLayout(self._column)
        self.import_button.clicked.connect(self.open_import)
        self.retranslate()

    def retranslate(self) -> None:
        self.title.setText(self.tr("Chat models of your own"))
        self.import_button.setText(self.tr("Import…"))
        self.import_button.setAccessibleName(self.tr("Import a chat model"))
        self.hint.setText(
            self.tr(
                "None yet. Import one from a folder or from the Hugging Face hub, and choose it "
                "in a chat."
            )
        )
        self._show()

    def rows(self) -> list[tuple[str, str, str]]:
        """Names, states and problems as shown."""
        shown = [row for row in self._rows if row.isVisibleTo(self)]
        return [(row.name.text(), row.state.text(), row.problem.text()) for row in shown]

    def row(self, name: str) -> ChatModelRow:
        return next(row for row in self._rows if row.model is not None and row.model.name == name)

    @Slot(object)
    def show_status(self, status: ServerStatus) -> None:
        self._status = status
        self.setVisible(status.launcher != "remote")  # another machine has models of its own
        self._show()

    @Slot()
    def look(self) -> None:
        """Read the folder, in the background."""
        if self._task is None:
            self._task = self._session.background.run(
                lambda _: [m for m in chat.installed() if not m.shipped],
                succeeded=self._found,
                failed=lambda _: self._found(self._models),
            )

    def _found(self, models: list[Installed]) -> None:
        self._task = None
        self._models = models
        self._show()

    @Slot()
    def open_import(self) -> None:
        if self.dialog is None:
            self.dialog = ImportDialog(self._session, self.window())
            self.dialog.imported.connect(self._imported)
        self.dialog.show()
        self.dialog.raise_()
        self.dialog.source.setFocus()

    @Slot(str)
    def _imported(self, name: str) -> None:
        self.look()
        self.change(name, "use")

    @Slot(str, str)
    def change(self, name: str, action: str) -> None:
        """``use``, ``unuse`` or, once the person has confirmed it, ``remove`` a model."""
        if name in self._doing:
            return
        if action == "remove" and not self._confirmed(name):
            return
        actions: dict[str, Callable[[str], str]] = {
            "use": chat.use,
            "unuse": chat.unuse,
            "remove": chat.remove,
        }
        self._doing[name] = action
        self._problems.pop(name, None)
        self._show()

        def ended(error: Exception | None) -> None:
            self._doing.pop(name, None)
            if error is not None:
                self._problems[name] = error
            self._show()
            self.look()

        self._session.background.run(
            lambda _: actions[action](name), succeeded=lambda _: ended(None), failed=ended
        )

    def _confirmed(self, name: str) -> bool:
        box = QMessageBox(self.window())
        box.setIcon(QMessageBox.Icon.Question)
        box.setWindowTitle(self.tr("Remove a chat model"))
        box.setText(self.tr("Delete {0} from this machine?").format(name))
        box.setInformativeText(self.tr("Conversations stay as they are."))
        yes = box.addButton(self.tr("Delete"), QMessageBox.ButtonRole.DestructiveRole)
        box.addButton(self.tr("Keep"), QMessageBox.ButtonRole.RejectRole)
        box.exec()
        return box.clickedButton() is yes

    def _show(self) -> None:
        while len(self._rows) < len(self._models):
            if self._rows:
                self._column.addWidget(frame(self, "divider"))
            row = ChatModelRow(self)
            row.asked.connect(self.change)
            self._column.addWidget(row)
            self._rows.append(row)
        self.hint.setVisible(not self._models)
        running = self._status.launcher != "remote"
        for number, row in enumerate(self._rows):
            row.setVisible(number < len(self._models))
            if number < len(self._models):
                model = self._models[number]
                error = self._problems.get(model.name)
                row.show_model(
                    model,
                    self._status.models,
                    self._doing.get(model.name, ""),
                    error_words(error) if error else "",
                    running,
                )

    def showEvent(self, event: QShowEvent) -> None:
        self.look()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()
