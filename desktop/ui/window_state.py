"""Size, page, panels and colours of the window from one start to the next."""

from __future__ import annotations

from PySide6.QtCore import QByteArray, QSettings

from desktop.ui.coloring import Coloring
from desktop.ui.main_window import PAGES, MainWindow


def save(window: MainWindow, settings: QSettings) -> None:
    chat = window.chat
    settings.setValue("geometry", window.saveGeometry())
    settings.setValue("page", PAGES[window.pages.currentIndex()])
    settings.setValue("list", int(chat.list_wanted))
    settings.setValue("sampling", int(chat.sampling_wanted))
    settings.setValue("coloring", str(chat.view.delegate.coloring))


def restore(window: MainWindow, settings: QSettings) -> None:
    """What is missing or unreadable stays as it is."""
    geometry = settings.value("geometry")
    if isinstance(geometry, QByteArray):
        window.restoreGeometry(geometry)
    page = settings.value("page")
    if page in PAGES:
        window.show_page(PAGES.index(str(page)))
    window.chat.restore_panels(
        str(settings.value("list", "1")) != "0", str(settings.value("sampling", "1")) != "0"
    )
    coloring = settings.value("coloring")
    if coloring in list(Coloring):
        window.chat.set_coloring(Coloring(str(coloring)))
