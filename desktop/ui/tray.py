"""The icon in the system tray: the state of the models in colour, shape and words, a menu, and
notices of what has ended while the person was elsewhere.

Closing the window leaves the program in the tray only where the person has chosen so and a tray is
there; if the tray goes away meanwhile, the window comes back.
"""

from __future__ import annotations

import enum
from collections.abc import Callable

from PySide6.QtCore import QCoreApplication, QEvent, QObject, QSettings, QTimer, Signal, Slot
from PySide6.QtGui import QAction, QColor, QGuiApplication, QIcon, QWindow
from PySide6.QtWidgets import QApplication, QMenu, QSystemTrayIcon

from desktop.launchers.base import ServerState, ServerStatus
from desktop.ui import theme
from desktop.ui.icons import sized_icon
from desktop.ui.main_window import MainWindow
from desktop.ui.session import ServerSession
from desktop.ui.words import status_words

# What trays of common desktops ask for, at single and double density.
_SIZES = (16, 22, 24, 32, 44, 48, 64)
# How soon a window hidden in a tray that has gone is shown again.
_WATCH_MS = 2000
# Characters of the menu's first line.
_LINE = 80
_SETTING = "close_to_tray"
_TOLD = "close_to_tray_told"


class TrayState(enum.StrEnum):
    STARTING = "starting"
    READY = "ready"
    BUSY = "busy"
    DEGRADED = "degraded"
    STOPPED = "stopped"
    FAILED = "failed"


def tray_state(status: ServerStatus, busy: bool) -> TrayState:
    """``busy``: something is being computed. A degraded server stays degraded while it computes."""
    if status.state is ServerState.READY:
        return TrayState.BUSY if busy else TrayState.READY
    if status.state is ServerState.STOPPING:
        return TrayState.STARTING
    return TrayState(str(status.state))


def tray_icon(state: TrayState) -> QIcon:
    """Each state has a colour and a shape of its own; the colours read on light and dark panels."""
    return sized_icon(f"tray_{state}", QColor(theme.tokens()["tray"][str(state)]), _SIZES)


class Tray(QObject):
    """Lives as long as the application; without a tray it only keeps the taskbar informed."""

    state_changed = Signal(object)

    def __init__(
        self,
        window: MainWindow,
        session: ServerSession,
        settings: QSettings,
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self._window = window
        self._status = session.status
        self._settings = settings
        self._busy: set[str] = set()
        self._clicked: Callable[[], object] | None = None
        self.icon = QSystemTrayIcon(self)
        self.menu = QMenu()
        self.status_line = self.menu.addAction("")
        self.status_line.setEnabled(False)
        self.menu.addSeparator()
        self.show_action = self._add(self.toggle_window)
        self.new_action = self._add(lambda: self._carry_out("new"))
        self.clipboard_action = self._add(lambda: self._carry_out("parse_clipboard"))
        self.menu.addSeparator()
        self.server_action = self._add(self._start_or_stop)
        self.menu.addSeparator()
        self.keep_action = self._add(self.toggle_close_to_tray)
        self.keep_action.setCheckable(True)
        self.quit_action = self._add(window.quit_asked.emit)
        self.icon.setContextMenu(self.menu)
        self.icon.activated.connect(self._activated)
        self.icon.messageClicked.connect(self._message_clicked)
        session.status_changed.connect(self._status_changed)
        self._watch = QTimer(self, interval=_WATCH_MS)
        self._watch.timeout.connect(self._look_for_tray)
        window.installEventFilter(self)
        self._shown: TrayState | None = None
        self._refresh()
        self.icon.show()

    def _add(self, run: Callable[[], object]) -> QAction:
        action = self.menu.addAction("")
        action.triggered.connect(lambda: run())  # noqa: PLW0108 - without the checked state
        return action

    # State.

    @property
    def state(self) -> TrayState:
        return tray_state(self._status, bool(self._busy))

    def set_busy(self, what: str, busy: bool) -> None:
        """Something is computed, or no longer: replies, an address file."""
        (self._busy.add if busy else self._busy.discard)(what)
        self._refresh()

    @Slot(object)
    def _status_changed(self, status: ServerStatus) -> None:
        self._status = status
        self._refresh()

    @Slot()
    def _refresh(self) -> None:
        status, state = self._status, self.state
        if state is not self._shown:
            self._shown = state
            self.icon.setIcon(tray_icon(state))
            self.state_changed.emit(state)
        words = status_words(status)
        if state is TrayState.BUSY:
            words = self.tr("Computing")
        self.icon.setToolTip(f"Tritalk · {words}")
        # A failure may tell a whole story; the server page has it in full.
        self.status_line.setText(words if len(words) <= _LINE else f"{words[: _LINE - 1]}…")
        hidden = not self._window.isVisible()
        self.show_action.setText(self.tr("Show Tritalk") if hidden else self.tr("Hide Tritalk"))
        # Hidden in a tray that is not there it could not be found again.
        self.show_action.setEnabled(hidden or self.available())
        self.new_action.setText(self.tr("New conversation"))
        self.clipboard_action.setText(self.tr("Parse the address in the clipboard"))
        runs = status.state not in (ServerState.STOPPED, ServerState.FAILED)
        self.server_action.setText(
            self.tr("Stop the server") if runs else self.tr("Start the server")
        )
        self.server_action.setEnabled(status.state is not ServerState.STOPPING)
        self.keep_action.setText(self.tr("Keep running when the window is closed"))
        self.keep_action.setChecked(self.close_to_tray)
        self.quit_action.setText(self.tr("Quit"))

    # Hiding and showing.

    @staticmethod
    def available() -> bool:
        return QSystemTrayIcon.isSystemTrayAvailable()

    @property
    def close_to_tray(self) -> bool:
        """Whether the person wants it; it also takes a tray."""
        return str(self._settings.value(_SETTING, "0")) == "1"

    def set_close_to_tray(self, wanted: bool) -> None:
        self._settings.setValue(_SETTING, int(wanted))
        self._refresh()

    def toggle_close_to_tray(self) -> None:
        self.set_close_to_tray(not self.close_to_tray)

    def show_window(self) -> None:
        """Bring the window to the person, whatever it was: hidden, minimised, or behind others."""
        window = self._window
        if window.isMinimized():
            window.showNormal()
        window.show()
        # A dialog that the window waits for must not end up behind it.
        front = QApplication.activeModalWidget() or window
        for each in (window, front):
            each.raise_()
        front.activateWindow()

    def toggle_window(self) -> None:
        if self._window.isVisible() and not self._window.isMinimized() and self.available():
            self._window.hide()
        else:
            self.show_window()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        kind = event.type()
        if kind == QEvent.Type.Close and self._stays():
            event.ignore()
            self._window.hide()
            self._tell_once()
            return True
        if kind in (QEvent.Type.Show, QEvent.Type.Hide):
            hidden = kind == QEvent.Type.Hide
            # A dialog or a balloon that closes while the window is hidden must not end it all.
            QGuiApplication.setQuitOnLastWindowClosed(not hidden)
            (self._watch.start if hidden else self._watch.stop)()
            QTimer.singleShot(0, self, self._refresh)
        elif kind == QEvent.Type.LanguageChange:
            self._refresh()
        return False

    def _stays(self) -> bool:
        # A session that ends is not kept from ending by a program in the tray.
        app = QApplication.instance()
        ending = isinstance(app, QGuiApplication) and app.isSavingSession()
        return self.close_to_tray and self.available() and not ending

    def _tell_once(self) -> None:
        if str(self._settings.value(_TOLD, "0")) != "1":
            self._settings.setValue(_TOLD, 1)
            self._show_message(
                self.tr("Tritalk goes on in the tray"),
                self.tr(
                    "Replies and files go on. The icon's menu brings the window back or quits."
                ),
            )

    @Slot()
    def _look_for_tray(self) -> None:
        if not self.available():
            self.show_window()

    # Notices.

    def notify(self, title: str, body: str, clicked: Callable[[], object] | None = None) -> bool:
        """Tell of something that ended, if the window is not in use; whether it was told.

        ``clicked``: done besides showing the window when the person clicks the notice.
        """
        if self._in_use():
            return False
        self._clicked = clicked
        QApplication.alert(self._window)
        return self._show_message(title, body)

    @staticmethod
    def _in_use() -> bool:
        focus: QWindow | None = QGuiApplication.focusWindow()
        return focus is not None

    def _show_message(self, title: str, body: str) -> bool:
        if not (self.available() and QSystemTrayIcon.supportsMessages()):
            return False
        self.icon.showMessage(title, body, tray_icon(TrayState.READY), 10_000)
        return True

    @Slot()
    def _message_clicked(self) -> None:
        clicked, self._clicked = self._clicked, None
        self.show_window()
        if clicked is not None:
            clicked()

    # What the menu does.

    @Slot(QSystemTrayIcon.ActivationReason)
    def _activated(self, reason: QSystemTrayIcon.ActivationReason) -> None:
        if reason == QSystemTrayIcon.ActivationReason.Trigger:
            self.toggle_window()

    def _carry_out(self, name: str) -> None:
        self.show_window()
        self._window.carry_out(name)

    def _start_or_stop(self) -> None:
        ended = self._status.state in (ServerState.STOPPED, ServerState.FAILED)
        self._window.carry_out("start_server" if ended else "stop_server")

    def close(self) -> None:
        """Take the icon away."""
        self._watch.stop()
        self._window.removeEventFilter(self)
        QCoreApplication.removePostedEvents(self)
        self.icon.hide()
        # Now and here: Python might get rid of them on another thread.
        self.icon.deleteLater()
        self.menu.deleteLater()
