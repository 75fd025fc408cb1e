"""Every preference of the application, by section; each is in force as soon as it is chosen."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, Qt, Slot
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QListWidget,
    QScrollArea,
    QSizePolicy,
    QStackedWidget,
    QVBoxLayout,
    QWidget,
)

from desktop.ui import theme
from desktop.ui.controls import label, scrolled
from desktop.ui.server_settings import ServerSettingsForm
from desktop.ui.settings_about import AboutSection
from desktop.ui.settings_data import DataSection
from desktop.ui.settings_general import AppearanceSection, ChatSection, TraySection
from desktop.ui.settings_section import Section
from desktop.ui.settings_updates import UpdatesSection

if TYPE_CHECKING:
    from desktop.ui.application import Application

_SIZE = (860, 620)


class ServerSection(Section):
    """The form of the server page, which follows the file, so that both show the same."""

    name = "server"

    def __init__(self, app: Application) -> None:
        super().__init__(app)
        self.form = ServerSettingsForm(app.session, self)
        self._box.addWidget(self.form)
        self._box.addStretch(1)

    def title(self) -> str:
        return self.tr("Server")

    def retranslate(self) -> None:
        """The form sees to its own words."""


class SettingsDialog(QDialog):
    """Not modal: what changes is seen in the window beside it."""

    def __init__(self, app: Application) -> None:
        super().__init__(app.window)
        self.setModal(False)
        self._app = app
        self.list = QListWidget(self)
        self.list.setObjectName("sections")
        self.list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.list.setFrameShape(QFrame.Shape.NoFrame)
        theme.fit(self.list, width=196)
        self.pages = QStackedWidget(self)
        self.sections: dict[str, Section] = {}
        self._titles: list[QLabel] = []
        self._areas: list[QScrollArea] = []
        for section in (
            AppearanceSection(app),
            ChatSection(app),
            ServerSection(app),
            TraySection(app),
            DataSection(app),
            UpdatesSection(app),
            AboutSection(app),
        ):
            self.sections[section.name] = section
            self.list.addItem("")
            self.pages.addWidget(self._page(section))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(0)
        row.addWidget(self.list)
        row.addWidget(self.pages, 1)
        self.list.currentRowChanged.connect(self._section_chosen)
        app.theme.scaled.connect(self._fit)
        self.retranslate()
        self.list.setCurrentRow(0)
        self.resize(theme.px(_SIZE[0]), theme.px(_SIZE[1]))

    def _page(self, section: Section) -> QWidget:
        page = QWidget(self)
        title = label(page, "pageTitle")
        self._titles.append(title)
        # Margins of the label itself would go with the next change of the style sheet.
        head = QHBoxLayout()
        head.setContentsMargins(24, 0, 24, 0)
        head.addWidget(title)
        holder = QWidget(page)
        inside = QVBoxLayout(holder)
        inside.setContentsMargins(24, 4, 24, 24)
        section.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Preferred)
        inside.addWidget(section)
        area = scrolled(page, holder)
        area.setAlignment(Qt.AlignmentFlag.AlignLeft)
        area.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._areas.append(area)
        box = QVBoxLayout(page)
        box.setContentsMargins(0, 20, 0, 0)
        box.setSpacing(12)
        box.addLayout(head)
        box.addWidget(area, 1)
        return page

    def open_at(self, name: str = "") -> None:
        """Show the dialog, at a section where one is named."""
        if name:
            self.list.setCurrentRow(list(self.sections).index(name))
        if not self.isVisible():
            self._fit()
            window = self._app.window
            if window.isVisible():
                self.move(window.frameGeometry().center() - self.rect().center())
        self.show()
        self.raise_()
        self.activateWindow()
        self.list.setFocus()

    @Slot()
    def _fit(self) -> None:
        """As large as the font asks for, and no larger than the screen has room for."""
        room = self.screen().availableGeometry().size()
        wanted = (theme.px(_SIZE[0]), theme.px(_SIZE[1]))
        self.resize(min(wanted[0], room.width() - 40), min(wanted[1], room.height() - 60))

    @Slot(int)
    def _section_chosen(self, row: int) -> None:
        self.pages.setCurrentIndex(row)
        if self.isVisible():
            list(self.sections.values())[row].refresh()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        for section in self.sections.values():
            section.refresh()

    def retranslate(self) -> None:
        self.setWindowTitle(self.tr("Settings"))
        self.list.setAccessibleName(self.tr("Sections"))
        for row, section in enumerate(self.sections.values()):
            self.list.item(row).setText(section.title())
            self._titles[row].setText(section.title())

    def changeEvent(self, event: QEvent) -> None:
        super().changeEvent(event)
        if event.type() == QEvent.Type.LanguageChange:
            self.retranslate()
