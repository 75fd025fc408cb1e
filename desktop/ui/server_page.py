"""The server page: how the server is and why, its models and figures, its log and its settings."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QEvent, Qt, QTimer, Signal, Slot
from PySide6.QtGui import QFontMetrics, QGuiApplication
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from desktop import paths, settings
from desktop.launchers import capture
from desktop.launchers.base import ServerState, ServerStatus
from desktop.ui import theme
from desktop.ui.chat_models import ChatModelsCard
from desktop.ui.controls import frame, label, primary_button, scrolled, set_level
from desktop.ui.server_charts import ChartsPanel
from desktop.ui.server_diagnostics import LOG_LINES, diagnostics
from desktop.ui.server_log import LogView
from desktop.ui.server_models import ModelsTable
from desktop.ui.server_progress import StartCard
from desktop.ui.server_settings import ServerSettingsForm
from desktop.ui.session import ENDED, SERVING, ServerSession
from desktop.ui.tasks import Task
from desktop.ui.words import launcher_words, message_words, reason_words, state_words

SECTIONS = ("overview", "log", "settings")
_WIDEST = 1080
_WIDEST_FORM = 760


class Facts(QFrame):
    """A card of names and values."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self.title = label(self, "cardTitle")
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(24)
        self._grid.setVerticalSpacing(8)
        self._grid.setColumnMinimumWidth(0, 120)
        self._grid.setColumnStretch(1, 1)
        box = QVBoxLayout(self)
        box.setContentsMargins(16, 16, 16, 16)
        box.setSpacing(12)
        box.addWidget(self.title)
        box.addLayout(self._grid)
        self.footer = QHBoxLayout()
        box.addLayout(self.footer)
        self._rows: list[tuple[QLabel, QLabel]] = []

    def show_rows(self, rows: list[tuple[str, str, str]]) -> None:
        """Name, value, and a level that the style sheet colours by."""
        while len(self._rows) < len(rows):
            name = label(self, "small")
            value = label(self, "fact", wrap=True)
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            top = Qt.AlignmentFlag.AlignTop
            self._grid.addWidget(name, len(self._rows), 0, top)
            self._grid.addWidget(value, len(self._rows), 1)
            self._rows.append((name, value))
        for number, (name, value) in enumerate(self._rows):
            used = number < len(rows)
            name.setVisible(used)
            value.setVisible(used)
            if used:
                name.setText(rows[number][0])
                value.setText(rows[number][1])
                set_level(value, rows[number][2])

    def rows(self) -> list[tuple[str, str]]:
        return [(n.text(), v.text()) for n, v in self._rows if n.isVisibleTo(self)]


class Segments(QWidget):
    """The parts of the page, one chosen."""

    chosen = Signal(int)

    def __init__(self, count: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._group = QButtonGroup(self)
        self._group.idClicked.connect(self.chosen)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        self.buttons: list[QPushButton] = []
        for number in range(count):
            button = QPushButton(self)
            button.setCheckable(True)
            button.setObjectName("segment")
            last = number == count - 1
            button.setProperty("place", "last" if last else "middle" if number else "first")
            self._group.addButton(button, number)
            row.addWidget(button)
            self.buttons.append(button)

    def show_names(self, names: Sequence[str]) -> None:
        bold = theme.font("small", bold=True)
        for button, name in zip(self.buttons, names, strict=True):
            button.setText(name)
            # The chosen one is bold, and none may change its width by being chosen.
            button.setMinimumWidth(QFontMetrics(bold).horizontalAdvance(name) + 26)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.FontChange:
            self.show_names([button.text() for button in self.buttons])

    def choose(self, number: int) -> None:
        self.buttons[number].setChecked(True)


class ServerPage(QWidget):
    def __init__(self, session: ServerSession, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self._session = session
        self._server = ("", 0)
        self.server = Facts()
        self.builtin_button = QPushButton(self.server)
        self.server.footer.addWidget(self.builtin_button)
        self.server.footer.addStretch(1)
        self.progress = StartCard()
        self.models = ModelsTable(session)
        self.chats = ChatModelsCard(session)
        self.charts = ChartsPanel(session)
        self.log = LogView(session)
        self.settings = ServerSettingsForm(session)
        self.parts = QStackedWidget(self)
        cards = (self.progress, self.server, self.models, self.chats, self.charts)
        self.parts.addWidget(self._column(_WIDEST, *cards))
        self.parts.addWidget(self._whole(self.log))
        self.parts.addWidget(self._column(_WIDEST_FORM, self.settings))
        page = QVBoxLayout(self)
        page.setContentsMargins(0, 0, 0, 0)
        page.setSpacing(0)
        page.addWidget(self._make_header())
        page.addWidget(self.parts, 1)
        self.segments.chosen.connect(self.show_section)
        self.start_button.clicked.connect(self._start)
        self.stop_button.clicked.connect(self._stop)
        self.restart_button.clicked.connect(self._restart)
        self.builtin_button.clicked.connect(session.use_builtin)
        self.copy_button.clicked.connect(self._copy)
        self.progress.cancelled.connect(session.cancel_start)
        session.status_changed.connect(self.show_status)
        self.setFocusProxy(self.segments.buttons[0])
        self.show_section(0)
        self.retranslate()

    def _column(self, widest: int, *cards: QWidget) -> QWidget:
        """Cards below one another, scrolled."""
        column = QWidget(self)
        box = QVBoxLayout(column)
        box.setContentsMargins(20, 16, 20, 24)
        box.setSpacing(16)
        for card in cards:
            box.addWidget(card)
        box.addStretch(1)
        theme.fit(column, max_width=widest)
        return scrolled(self, column)

    def _whole(self, card: QWidget) -> QWidget:
        """A card that takes all the room and scrolls by itself."""
        part = QWidget(self)
        part.setObjectName("page")
        box = QVBoxLayout(part)
        box.setContentsMargins(20, 16, 20, 16)
        box.addWidget(card)
        return part

    def _make_header(self) -> QFrame:
        header = frame(self, "header")
        theme.fit(header, height=52)
        self.title = label(header, "pageTitle")
        self.segments = Segments(len(SECTIONS), header)
        self.start_button = primary_button(header)
        self.restart_button = QPushButton(header)
        self.stop_button = QPushButton(header)
        self.copy_button = QPushButton(header)
        row = QHBoxLayout(header)
        row.setContentsMargins(20, 0, 20, 0)
        row.setSpacing(8)
        row.addWidget(self.title)
        row.addSpacing(8)
        row.addWidget(self.segments)
        row.addStretch(1)
        row.addWidget(self.copy_button)
        row.addWidget(self.restart_button)
        row.addWidget(self.stop_button)
        row.addWidget(self.start_button)
        return header

    def retranslate(self) -> None:
        self.title.setText(self.tr("Server"))
        names = (self.tr("Overview"), self.tr("Log"), self.tr("Settings"))
        self.segments.show_names(names)
        self.start_button.setText(self.tr("Start"))
        self.restart_button.setText(self.tr("Restart"))
        self.restart_button.setToolTip(self.tr("Stop the server and start it as it is set"))
        self.builtin_button.setText(self.tr("Use the built-in Triton"))
        self._offer_copy()
        self.copy_button.setToolTip(
            self.tr("Versions, state, settings and the end of the log, without keys and tokens")
        )
        self.server.title.setText(self.tr("Status"))
        self.show_status(self._session.status)

    @Slot(int)
    def show_section(self, number: int) -> None:
        self.segments.choose(number)
        self.parts.setCurrentIndex(number)

    @Slot(object)
    def show_status(self, status: ServerStatus) -> None:
        remote = status.launcher == "remote"
        running = status.state not in ENDED and status.state is not ServerState.STOPPING
        self.start_button.setVisible(not running)
        self.start_button.setEnabled(status.state is not ServerState.STOPPING)
        # A start is ended by the button beside its progress.
        self.stop_button.setVisible(status.state in SERVING)
        self.stop_button.setText(self.tr("Disconnect") if remote else self.tr("Stop"))
        if remote:
            self.stop_button.setToolTip(self.tr("The server itself goes on"))
        else:
            self.stop_button.setToolTip(self.tr("Stops it for every program that uses it"))
        self.restart_button.setVisible(status.state in SERVING and not remote)
        # The session may know more by now; what is offered fits what is shown.
        ended = status.state in ENDED
        self.builtin_button.setVisible(ended and self._session.can_use_builtin())
        self.progress.show_status(status)
        self._show_facts(status)
        self.models.show_status(status)
        self.chats.show_status(status)
        server = (status.endpoint.metrics, status.pid)
        if status.state in SERVING and server != self._server:
            self._server = server
            self.charts.clear()
        self.charts.setVisible(status.state in SERVING and bool(status.endpoint.metrics))

    def _show_facts(self, status: ServerStatus) -> None:
        levels = {
            ServerState.READY: "ok",
            ServerState.DEGRADED: "warn",
            ServerState.FAILED: "danger",
        }
        level = levels.get(status.state, "plain")
        now = "" if status.state in (ServerState.READY, ServerState.STARTING) else "now"
        rows = [
            (self.tr("State"), state_words(status.state), level),
            (self.tr("Now"), message_words(status) if now else "", "plain"),
            (self.tr("Launcher"), launcher_words(status.launcher), "plain"),
            (self.tr("Why this launcher"), reason_words(status), "plain"),
            ("gRPC", status.endpoint.grpc, "plain"),
            ("HTTP", status.endpoint.http, "plain"),
            (self.tr("Metrics"), status.endpoint.metrics, "plain"),
            (self.tr("Process"), str(status.pid) if status.pid else "", "plain"),
        ]
        self.server.show_rows([row for row in rows if row[1]])

    @Slot()
    def _start(self) -> None:
        if self.settings.needs_restart():
            self._session.restart()
        else:
            self._session.start()

    @Slot()
    def _restart(self) -> None:
        # Who goes on with the built-in Triton keeps it, unless the settings have changed.
        self._session.restart(as_set=self.settings.needs_restart())

    @Slot()
    def _stop(self) -> None:
        self._session.stop()

    @Slot()
    def _copy(self) -> None:
        status, models = self._session.status, self.models.models()

        def collect(task: Task) -> str:
            try:
                wanted = settings.load()
            except settings.SettingsError:
                wanted = None
            log = capture.tail(paths.log_dir() / "server.log", LOG_LINES)
            return diagnostics(status, wanted, models, log)

        self._session.background.run(collect, succeeded=self._copied)

    def _copied(self, text: str) -> None:
        QGuiApplication.clipboard().setText(text)
        self.copy_button.setText(self.tr("Copied"))
        QTimer.singleShot(2000, self.copy_button, self._offer_copy)

    @Slot()
    def _offer_copy(self) -> None:
        self.copy_button.setText(self.tr("Copy diagnostics"))

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()
