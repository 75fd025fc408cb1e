"""Size, place, page, panels and colours of the window from one start to the next."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QEvent, QObject, QRect, QSettings, QTimer
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QSplitter

from desktop.ui.coloring import Coloring
from desktop.ui.main_window import PAGES, MainWindow

# How long after the last change it is kept, so that a window that is killed loses little.
_KEEP_MS = 1000
_CHANGES = (
    QEvent.Type.Move,
    QEvent.Type.Resize,
    QEvent.Type.WindowStateChange,
    QEvent.Type.Hide,
)


class Keeper(QObject):
    """Keeps the state whenever the window has come to rest, not only at the end."""

    def __init__(self, window: MainWindow, settings: QSettings) -> None:
        super().__init__(window)
        self._window, self._settings = window, settings
        self._timer = QTimer(self, singleShot=True, interval=_KEEP_MS)
        self._timer.timeout.connect(self._keep)
        window.installEventFilter(self)
        window.pages.currentChanged.connect(self._timer.start)
        for splitter in _splitters(window):
            splitter.splitterMoved.connect(self._timer.start)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        if event.type() in _CHANGES:
            self._timer.start()
        return False

    def _keep(self) -> None:
        save(self._window, self._settings)

    def stop(self) -> None:
        self._timer.stop()
        self._window.removeEventFilter(self)


def _splitters(window: MainWindow) -> list[QSplitter]:
    """Those with a name to be kept under."""
    return [each for each in window.findChildren(QSplitter) if each.objectName()]


def save(window: MainWindow, settings: QSettings) -> None:
    chat = window.chat
    settings.setValue("geometry", window.saveGeometry())
    for splitter in _splitters(window):
        settings.setValue(f"splitter/{splitter.objectName()}", splitter.saveState())
    settings.setValue("page", PAGES[window.pages.currentIndex()])
    settings.setValue("list", int(chat.list_wanted))
    settings.setValue("sampling", int(chat.sampling_wanted))
    settings.setValue("coloring", str(chat.view.delegate.coloring))


def restore(window: MainWindow, settings: QSettings) -> None:
    """What is missing or unreadable stays as it is."""
    geometry = settings.value("geometry")
    if isinstance(geometry, QByteArray):
        window.restoreGeometry(geometry)
        _bring_on_screen(window)
    for splitter in _splitters(window):
        state = settings.value(f"splitter/{splitter.objectName()}")
        if isinstance(state, QByteArray):
            splitter.restoreState(state)
    page = settings.value("page")
    if page in PAGES:
        window.show_page(PAGES.index(str(page)))
    window.chat.restore_panels(
        str(settings.value("list", "1")) != "0", str(settings.value("sampling", "1")) != "0"
    )
    coloring = settings.value("coloring")
    if coloring in list(Coloring):
        window.chat.set_coloring(Coloring(str(coloring)))


def _bring_on_screen(window: MainWindow) -> None:
    """Screens come and go: a window that would not be wholly on one is moved, and made smaller
    where it has to be."""
    if window.isMaximized() or window.isFullScreen():
        return
    place = window.geometry()
    screen = QGuiApplication.screenAt(place.center()) or QGuiApplication.primaryScreen()
    window.setGeometry(fitted(place, screen.availableGeometry()))


def fitted(place: QRect, room: QRect) -> QRect:
    """``place``, moved and cut as little as makes it lie within ``room``."""
    size = place.size().boundedTo(room.size())
    left = max(room.left(), min(place.left(), room.right() + 1 - size.width()))
    top = max(room.top(), min(place.top(), room.bottom() + 1 - size.height()))
    return QRect(left, top, size.width(), size.height())
