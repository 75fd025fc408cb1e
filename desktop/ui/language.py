"""The language of the window: by choice, else by ``TRITALK_LANG``, else by the system."""

from __future__ import annotations

import os
from typing import Literal

from PySide6.QtCore import QLibraryInfo, QLocale, QTranslator
from PySide6.QtWidgets import QApplication

from desktop.ui.theme import RESOURCES

LanguageChoice = Literal["system", "en", "zh"]


class LanguageManager:
    """Installs the translators; a change reaches every widget as a LanguageChange event."""

    def __init__(self, app: QApplication, choice: LanguageChoice = "system") -> None:
        self._app = app
        self._installed: list[QTranslator] = []
        self.choice: LanguageChoice = choice
        self.apply(choice)

    def apply(self, choice: LanguageChoice) -> None:
        """Raises :class:`RuntimeError` when a translation of ours does not load."""
        self.choice = choice
        self.remove()
        name = "zh_CN" if resolve(choice) == "zh" else "en"
        QLocale.setDefault(QLocale(name))
        ours = QTranslator()
        if not ours.load(str(RESOURCES / "translations" / f"tritalk_{name}.qm")):
            raise RuntimeError(f"the translation tritalk_{name}.qm does not load")
        qt = QTranslator()
        folder = QLibraryInfo.path(QLibraryInfo.LibraryPath.TranslationsPath)
        # Qt's own words (context menus) may be missing in a slim installation; ours may not.
        wanted = [qt, ours] if qt.load(f"qtbase_{name}", folder) else [ours]
        for translator in wanted:
            self._app.installTranslator(translator)
            self._installed.append(translator)

    def remove(self) -> None:
        """Back to the language of the sources."""
        for translator in self._installed:
            self._app.removeTranslator(translator)
        self._installed.clear()


def resolve(choice: LanguageChoice) -> Literal["en", "zh"]:
    """The language meant by a choice on this system."""
    if choice != "system":
        return choice
    wanted = os.environ.get("TRITALK_LANG", "") or QLocale.system().uiLanguages()[0]
    return "zh" if wanted.lower().startswith("zh") else "en"
