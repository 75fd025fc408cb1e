"""Settings: the update check, which only tells."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QDateTime, QUrl, Slot
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QPushButton

from desktop import updates
from desktop.ui.controls import label, set_level
from desktop.ui.phrases import sentence
from desktop.ui.server_fields import Flag, Text
from desktop.ui.settings_section import Section

if TYPE_CHECKING:
    from desktop.ui.application import Application


class UpdatesSection(Section):
    name = "updates"

    def __init__(self, app: Application) -> None:
        super().__init__(app)
        self._error: Exception | None = None
        self.check = Flag("updates")
        self.url = Text("updates_url", self._check_url)
        self.check_button = QPushButton(self)
        self.page_button = QPushButton(self)
        self.result = label(self, "progress", wrap=True)
        self.privacy = label(self, "small", wrap=True)
        row = QHBoxLayout()
        row.setSpacing(12)
        row.addWidget(self.check_button)
        row.addWidget(self.result, 1)
        row.addWidget(self.page_button)
        self.card(self.check, self.url, row, self.privacy)
        self._box.addStretch(1)
        self.check.edited.connect(lambda _, value: app.preferences.set_updates(value))
        self.url.edited.connect(lambda _, value: app.preferences.set_updates_url(value))
        self.check_button.clicked.connect(self._check_now)
        self.page_button.clicked.connect(self._open_page)
        app.preferences.changed.connect(self.refresh)
        app.updates.ended.connect(self._ended)
        self.retranslate()

    def title(self) -> str:
        return self.tr("Updates")

    @Slot()
    def refresh(self) -> None:
        preferences, checker = self.app.preferences, self.app.updates
        self.check.show_value(preferences.updates)
        self.url.show_value(preferences.updates_url)
        self.check_button.setEnabled(bool(preferences.updates_url) and not checker.busy)
        found = checker.found()
        self.page_button.setVisible(found is not None and bool(found.page))
        words, level = "", ""
        if checker.busy:
            words = self.tr("Asking…")
        elif self._error is not None:
            words, level = sentence(str(self._error)), "warn"
        elif found is not None:
            words = self.tr("Version {0} is there; this is {1}.").format(
                found.version, checker.version
            )
            level = "warn"
        elif preferences.updates_asked:
            when = QDateTime.fromSecsSinceEpoch(int(preferences.updates_asked))
            words = self.tr("No newer version than {0} was found on {1}.").format(
                checker.version, when.toString("yyyy-MM-dd HH:mm")
            )
        self.result.setText(words)
        set_level(self.result, level)

    @Slot()
    def _check_now(self) -> None:
        self.url.finish()
        self._error = None
        self.app.updates.check()
        self.refresh()

    @Slot(object)
    def _ended(self, error: Exception | None) -> None:
        self._error = error
        self.refresh()

    @Slot()
    def _open_page(self) -> None:
        found = self.app.updates.found()
        if found is not None and found.page:
            QDesktopServices.openUrl(QUrl(found.page))

    def _check_url(self, url: str) -> str:
        return sentence(updates.check_url(url)) if url else ""

    def retranslate(self) -> None:
        self.check.show_words(
            self.tr("Check"),
            self.tr("Off until you switch it on. It only tells; nothing is downloaded."),
            (self.tr("Look for a newer version once a day"),),
        )
        self.url.show_words(
            self.tr("Address"),
            self.tr("The list of releases as JSON; it may be one of your own."),
            ("https://example.org/releases.json",),
        )
        self.check_button.setText(self.tr("Check now"))
        self.page_button.setText(self.tr("Open its page"))
        self.privacy.setText(
            self.tr(
                "Nothing is sent but the request itself: no version, no system, no identifier. "
                "Without a network nothing is said."
            )
        )
        self.refresh()
