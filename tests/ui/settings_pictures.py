"""The settings for the gallery: every section, some of them twice as large too; the questions
before restoring and deleting."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from desktop import backup
from desktop.inventory import Entry, Kind
from desktop.ui.settings_about import AboutSection
from desktop.ui.settings_data import DataSection
from desktop.ui.settings_delete import DeleteDialog
from desktop.updates import Release

if TYPE_CHECKING:
    from tests.ui.screenshots import Gallery

# Sizes of a machine that was used for a while; the real ones differ from run to run.
ENTRIES = [
    Entry(Kind.CONVERSATIONS, 48_300_000),
    Entry(Kind.ADDRESSES, 21_400_000),
    Entry(Kind.BACKUPS, 6_100_000),
    Entry(Kind.SETTINGS, 2_100),
    Entry(Kind.LOGS, 1_900_000),
    Entry(Kind.CACHE, 310_000_000),
    Entry(Kind.MODELS, 412_000_000),
]

_LAID_OUT_MS = 250


def take_settings(gallery: Gallery) -> None:
    """Photograph every section; the dialog is closed and the font as it was afterwards."""
    from PySide6.QtTest import QTest

    app = gallery.app
    dialog = app.settings_dialog
    data, about = dialog.sections["data"], dialog.sections["about"]
    assert isinstance(data, DataSection)
    assert isinstance(about, AboutSection)
    app.preferences.set_update(Release("9.0.0", "https://example.org/tritalk"))

    def tidy() -> None:
        """Wrapped words need another round when another language needs other lines."""
        QTest.qWait(_LAID_OUT_MS)
        data.path.setText("/home/li/.local/share/tritalk")
        data._show_entries(ENTRIES)
        QTest.qWait(_LAID_OUT_MS)

    for percent, names in ((100, list(dialog.sections)), (200, ["appearance", "server", "data"])):
        app.set_font_size(percent)
        for name in names:
            dialog.open_at(name)
            gallery.until(lambda: bool(about._components))
            gallery.shoot(f"settings_{name}_{percent}", tidy, of=lambda: dialog)
    app.set_font_size(100)
    dialog.open_at("data")
    _ask(gallery, data)
    _delete(gallery)
    about._read("chitchat-tiny", about_card())
    gallery.shoot("settings_model_card", of=lambda: about.reader or dialog)
    if about.reader is not None:
        about.reader.close()
    app.preferences.set_update(None)
    dialog.close()


def about_card() -> Path:
    from desktop.ui.settings_about import model_cards

    return model_cards()[-1]


def _ask(gallery: Gallery, data: DataSection) -> None:
    """The question before restoring: made anew in each language, as it would be."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "backup.zip"
        backup.write(path)

        def ask() -> None:
            data.restore(path)
            gallery.until(lambda: data.question is not None)

        def leave() -> None:
            if data.question is not None:
                data.question.reject()
                gallery.until(lambda: not data.job.busy)

        gallery.shoot(
            "settings_restore", lambda: (leave(), ask()), of=lambda: data.question or data
        )
        leave()


def _delete(gallery: Gallery) -> None:
    dialogs: list[DeleteDialog] = []

    def ask() -> DeleteDialog:
        dialogs.append(DeleteDialog(ENTRIES, gallery.app.settings_dialog))
        dialogs[-1].show()
        dialogs[-1].field.setText(dialogs[-1].word)
        return dialogs[-1]

    gallery.shoot("settings_delete", of=ask)
    for each in dialogs:
        each.close()
        each.deleteLater()
