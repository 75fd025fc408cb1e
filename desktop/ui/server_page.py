"""The server page: how the server is, why this launcher was chosen, and its models."""

from __future__ import annotations

import json

from PySide6.QtCore import QEvent, Qt, Slot
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import (
    QFrame,
    QGridLayout,
    QHBoxLayout,
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from desktop.launchers.base import ServerState, ServerStatus
from desktop.ui.controls import frame, label, primary_button, scrolled
from desktop.ui.session import ServerSession
from desktop.ui.words import launcher_words, message_words, model_words, reason_words, state_words


class Facts(QFrame):
    """A card of names and values."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("card")
        self.title = label(self, "cardTitle")
        self._grid = QGridLayout()
        self._grid.setHorizontalSpacing(24)
        self._grid.setVerticalSpacing(8)
        self._grid.setColumnMinimumWidth(0, 160)
        self._grid.setColumnStretch(1, 1)
        box = QVBoxLayout(self)
        box.setContentsMargins(16, 16, 16, 16)
        box.setSpacing(12)
        box.addWidget(self.title)
        box.addLayout(self._grid)
        self._rows: list[tuple[QLabel, QLabel]] = []

    def show_rows(self, rows: list[tuple[str, str]]) -> None:
        while len(self._rows) < len(rows):
            name = label(self, "small")
            value = QLabel(self)
            value.setWordWrap(True)
            value.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
            top = Qt.AlignmentFlag.AlignTop
            self._grid.addWidget(name, len(self._rows), 0, top)
            self._grid.addWidget(value, len(self._rows), 1, top)
            self._rows.append((name, value))
        for number, (name, value) in enumerate(self._rows):
            used = number < len(rows)
            name.setVisible(used)
            value.setVisible(used)
            if used:
                name.setText(rows[number][0])
                value.setText(rows[number][1])

    def rows(self) -> list[tuple[str, str]]:
        return [(n.text(), v.text()) for n, v in self._rows if n.isVisibleTo(self)]


class ServerPage(QWidget):
    def __init__(self, session: ServerSession, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("page")
        self._session = session
        column = QWidget(self)
        box = QVBoxLayout(column)
        box.setContentsMargins(20, 16, 20, 24)
        box.setSpacing(16)
        self.server = Facts(column)
        self.models = Facts(column)
        box.addWidget(self.server)
        box.addWidget(self.models)
        box.addStretch(1)
        column.setMaximumWidth(920)
        scroll = scrolled(self, column)
        page = QVBoxLayout(self)
        page.setContentsMargins(0, 0, 0, 0)
        page.setSpacing(0)
        page.addWidget(self._make_header())
        page.addWidget(scroll, 1)
        self.retry_button.clicked.connect(session.start)
        self.builtin_button.clicked.connect(session.use_builtin)
        self.copy_button.clicked.connect(self._copy)
        session.status_changed.connect(self.show_status)
        self.setFocusProxy(self.copy_button)
        self.retranslate()

    def _make_header(self) -> QFrame:
        header = frame(self, "header")
        header.setFixedHeight(52)
        self.title = label(header, "pageTitle")
        self.retry_button = primary_button(header)
        self.builtin_button = QPushButton(header)
        self.copy_button = QPushButton(header)
        row = QHBoxLayout(header)
        row.setContentsMargins(20, 0, 20, 0)
        row.setSpacing(8)
        row.addWidget(self.title)
        row.addStretch(1)
        row.addWidget(self.copy_button)
        row.addWidget(self.builtin_button)
        row.addWidget(self.retry_button)
        return header

    def retranslate(self) -> None:
        self.title.setText(self.tr("Server"))
        self.retry_button.setText(self.tr("Start again"))
        self.builtin_button.setText(self.tr("Use the built-in Triton"))
        self.copy_button.setText(self.tr("Copy diagnostics"))
        self.server.title.setText(self.tr("Overview"))
        self.models.title.setText(self.tr("Models"))
        self.show_status(self._session.status)

    @Slot(object)
    def show_status(self, status: ServerStatus) -> None:
        self.retry_button.setVisible(status.state in (ServerState.STOPPED, ServerState.FAILED))
        self.builtin_button.setVisible(self._session.can_use_builtin())
        ready = status.state is ServerState.READY
        rows = [
            (self.tr("State"), state_words(status.state)),
            (self.tr("Now"), "" if ready else message_words(status)),
            (self.tr("Launcher"), launcher_words(status.launcher)),
            (self.tr("Why this launcher"), reason_words(status)),
            ("gRPC", status.endpoint.grpc),
            ("HTTP", status.endpoint.http),
            (self.tr("Metrics"), status.endpoint.metrics),
            (self.tr("Process"), str(status.pid) if status.pid else ""),
        ]
        self.server.show_rows([(name, value) for name, value in rows if value])
        self.models.show_rows(
            [(name, model_words(state)) for name, state in sorted(status.models.items())]
        )
        self.models.setVisible(bool(status.models))

    @Slot()
    def _copy(self) -> None:
        # The key is a secret of this launch; diagnostics get pasted into public places.
        data = self._session.status.to_json()
        data["headers"] = sorted(data["headers"])
        text = json.dumps(data, ensure_ascii=False, indent=2)
        QGuiApplication.clipboard().setText(text)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()
