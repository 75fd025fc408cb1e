"""The window: rail, pages, status bar. It shows; it owns no thread and calls no server."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, Qt, Signal, SignalInstance, Slot
from PySide6.QtGui import QAction, QActionGroup, QCursor
from PySide6.QtWidgets import (
    QButtonGroup,
    QFrame,
    QHBoxLayout,
    QMainWindow,
    QMenu,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from desktop.ui import theme
from desktop.ui.address_page import AddressPage
from desktop.ui.archive import Archive
from desktop.ui.chat_page import ChatPage
from desktop.ui.icons import icon
from desktop.ui.server_page import ServerPage
from desktop.ui.session import ServerSession
from desktop.ui.shortcuts import bind, commands
from desktop.ui.status_bar import StatusBar

PAGES = ("chat", "address", "server")


class Rail(QFrame):
    """The pages at the left, the settings menu below."""

    page_chosen = Signal(int)
    theme_chosen = Signal(str)
    language_chosen = Signal(str)

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setObjectName("rail")
        theme.fit(self, width=56)
        column = QVBoxLayout(self)
        column.setContentsMargins(8, 12, 7, 12)
        column.setSpacing(4)
        self._group = QButtonGroup(self)
        self.buttons: dict[str, QToolButton] = {}
        for number, name in enumerate(PAGES):
            button = self._make_button()
            button.setCheckable(True)
            self._group.addButton(button, number)
            self.buttons[name] = button
            column.addWidget(button)
        column.addStretch(1)
        self.settings = self._make_button()
        self.settings.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        column.addWidget(self.settings)
        self.menu = QMenu(self.settings)
        self.settings.setMenu(self.menu)
        self.menu.aboutToHide.connect(self._look_for_pointer)
        self.theme_actions = self._make_choices(("system", "light", "dark"), self.theme_chosen)
        self.menu.addSeparator()
        self.language_actions = self._make_choices(("system", "zh", "en"), self.language_chosen)
        self._group.idClicked.connect(self.page_chosen)
        self._group.idToggled.connect(self._tint)
        self.retranslate()
        self._tint()

    def _make_button(self) -> QToolButton:
        button = QToolButton(self)
        theme.fit(button, width=40, height=40, icon=20)
        return button

    @Slot()
    def _look_for_pointer(self) -> None:
        """Qt tells a button nothing of a pointer that left it while its menu was open, so it would
        stay tinted as if the pointer were on it."""
        pointer = self.settings.mapFromGlobal(QCursor.pos())
        over = self.settings.rect().contains(pointer)
        self.settings.setAttribute(Qt.WidgetAttribute.WA_UnderMouse, over)
        self.settings.update()

    def _make_choices(self, values: tuple[str, ...], chosen: SignalInstance) -> dict[str, QAction]:
        title = self.menu.addAction("")
        title.setEnabled(False)
        group = QActionGroup(self)
        actions: dict[str, QAction] = {"": title}
        for value in values:
            action = self.menu.addAction("")
            action.setCheckable(True)
            action.setData(value)
            group.addAction(action)
            actions[value] = action
        group.triggered.connect(lambda action: chosen.emit(action.data()))
        return actions

    def add_to_menu(self, actions: list[QAction]) -> None:
        """Offer more below the choices."""
        self.menu.addSeparator()
        self.menu.addActions(actions)

    def select(self, page: int) -> None:
        self._group.button(page).setChecked(True)

    def retranslate(self) -> None:
        names = (self.tr("Chat"), self.tr("Addresses"), self.tr("Server"))
        for number, (button, name) in enumerate(zip(self.buttons.values(), names, strict=True)):
            button.setToolTip(f"{name} (Ctrl+{number + 1})")
            button.setAccessibleName(name)
        self.settings.setToolTip(self.tr("Settings"))
        self.settings.setAccessibleName(self.tr("Settings"))
        themes = {
            "": self.tr("Appearance"),
            "system": self.tr("Follow the system"),
            "light": self.tr("Light"),
            "dark": self.tr("Dark"),
        }
        for value, words in themes.items():
            self.theme_actions[value].setText(words)
        # The languages themselves stay readable for those who do not read the other.
        languages = {
            "": self.tr("Language"),
            "system": self.tr("Follow the system"),
            "zh": "中文",
            "en": "English",
        }
        for value, words in languages.items():
            self.language_actions[value].setText(words)

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()
        elif event.type() == QEvent.Type.PaletteChange:
            self._tint()

    @Slot()
    def _tint(self) -> None:
        look = theme.current()
        for name, button in self.buttons.items():
            button.setIcon(icon(name, look.color("accent" if button.isChecked() else "text_2")))
        self.settings.setIcon(icon("settings", look.color("text_2")))


class MainWindow(QMainWindow):
    #: End the program, also where closing the window would not.
    quit_asked = Signal()

    def __init__(self, session: ServerSession, archive: Archive) -> None:
        super().__init__()
        self.session = session
        self.rail = Rail(self)
        self.chat = ChatPage(session, archive)
        self.address = AddressPage(session)
        self.server = ServerPage(session)
        self.pages = QStackedWidget(self)
        for page in (self.chat, self.address, self.server):
            self.pages.addWidget(page)
        self.status = StatusBar(self)
        body = QHBoxLayout()
        body.setContentsMargins(0, 0, 0, 0)
        body.setSpacing(0)
        body.addWidget(self.rail)
        body.addWidget(self.pages, 1)
        whole = QWidget(self)
        column = QVBoxLayout(whole)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(body, 1)
        column.addWidget(self.status)
        self.setCentralWidget(whole)
        self.setWindowTitle("Tritalk")
        self.setMinimumSize(640, 480)
        self.resize(1280, 800)

        self.rail.page_chosen.connect(self.show_page)
        session.status_changed.connect(self.status.show_status)
        self.status.cancelled.connect(session.cancel_start)
        self.commands = bind(
            self,
            {
                "chat_page": partial(self.show_page, 0),
                "address_page": partial(self.show_page, 1),
                "server_page": partial(self.show_page, 2),
                "close": self.close,
                "quit": self.quit_asked.emit,
            },
        )
        self.status.show_status(session.status)
        self.show_page(0)

    @Slot(int)
    def show_page(self, number: int) -> None:
        self.rail.select(number)
        self.pages.setCurrentIndex(number)
        (self.chat, self.address, self.server)[number].setFocus()

    @Slot(str)
    def carry_out(self, name: str) -> None:
        """Do what a command of the catalogue names, on the page that it belongs to."""
        command = next(each for each in commands(self) if each.objectName() == name)
        for number in range(self.pages.count()):
            page = self.pages.widget(number)
            assert page is not None
            inside = command.owner is page or page.isAncestorOf(command.owner)
            if inside and number != self.pages.currentIndex():
                self.show_page(number)
        command.trigger()

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            for command in commands(self):
                command.retranslate()
