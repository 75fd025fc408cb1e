"""The running application: QApplication, look, language, session, window, and their end."""

from __future__ import annotations

import os
import signal
import socket
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import cast

from PySide6.QtCore import QObject, QSettings, QSocketNotifier, QTimer, Slot
from PySide6.QtWidgets import QApplication, QMessageBox

from desktop import inventory, paths
from desktop.instance import Place
from desktop.inventory import Kind, Removal
from desktop.launchers.base import Lease, ServerState, ServerStatus
from desktop.settings import Settings
from desktop.store.records import ChatSettings
from desktop.triton.client import TritonClient
from desktop.triton.types import Endpoint
from desktop.ui import window_state
from desktop.ui.address_file_job import FileFinished
from desktop.ui.archive import Archive
from desktop.ui.collector import GarbageCollector
from desktop.ui.coloring import Coloring
from desktop.ui.command_palette import CommandPalette
from desktop.ui.commands import add_commands
from desktop.ui.icons import app_icon
from desktop.ui.language import LanguageChoice, LanguageManager
from desktop.ui.main_window import MainWindow
from desktop.ui.onboarding import SAMPLE_FILE, SAMPLE_MESSAGE, Onboarding
from desktop.ui.phrases import sentence
from desktop.ui.preferences import Preferences
from desktop.ui.session import Client, ServerSession
from desktop.ui.settings_dialog import SettingsDialog
from desktop.ui.shortcut_sheet import ShortcutSheet
from desktop.ui.single_instance import Listener
from desktop.ui.tasks import Background
from desktop.ui.theme import SCALES, ThemeChoice, ThemeManager
from desktop.ui.transcript import Message
from desktop.ui.tray import Tray
from desktop.ui.update_checker import UpdateChecker
from desktop.updates import Release

# Whoever looks away sooner is not interrupted by what takes less.
_LONG_REPLY_S = 5.0
_NOTICE_LENGTH = 120
_WELCOMED = "welcomed"
# How long the end of a server is waited for before its files are deleted.
_SERVER_ENDS_S = 15.0


class Application(QObject):
    """Everything the window needs, made in order and closed in the opposite one."""

    def __init__(
        self,
        argv: list[str],
        acquire: Callable[[], Lease],
        client: Callable[[Endpoint], Client] = TritonClient,
        builtin: Callable[[], Lease] | None = None,
        check: Callable[[Settings | None], None] | None = None,
    ) -> None:
        self.qt = cast(QApplication, QApplication.instance()) or QApplication(argv)
        super().__init__()
        self._closed = False
        self._listener: Listener | None = None
        self._opened = False
        self.qt.setApplicationName("tritalk")
        self.qt.setOrganizationName("tritalk")
        self.qt.setApplicationDisplayName("Tritalk")
        self.qt.setDesktopFileName("tritalk")
        self.qt.setWindowIcon(app_icon())
        self.settings = QSettings(
            str(paths.config_dir() / "window.ini"), QSettings.Format.IniFormat
        )
        self.preferences = Preferences(self.settings, self)
        self.theme = ThemeManager(self.qt, self._theme_choice(), self.preferences.font_size)
        self.language = LanguageManager(self.qt, self._language_choice())
        self.session = ServerSession(
            Background(self), acquire, client, parent=self, builtin=builtin, check=check
        )
        self.archive = Archive(parent=self)
        self.window = MainWindow(self.session, self.archive)
        conversation = self.window.chat.conversation
        self.collector = GarbageCollector(lambda: conversation.working, self)
        window_state.restore(self.window, self.settings)
        self._keeper = window_state.Keeper(self.window, self.settings)
        self._reopen()
        self.window.quit_asked.connect(self.qt.quit)
        self.tray = Tray(self.window, self.session, self.settings, self)
        self.palette = CommandPalette(self.window)
        self.sheet = ShortcutSheet(self.window)
        self.onboarding = Onboarding(self.window)
        self.onboarding.message_wanted.connect(self._send_sample)
        self.onboarding.file_wanted.connect(self._open_sample)
        self.onboarding.ended.connect(self._welcomed)
        conversation.working_changed.connect(self._working_changed)
        conversation.reply_ended.connect(self._reply_ended)
        self.window.address.job.busy_changed.connect(self._file_busy_changed)
        self.window.address.job.finished.connect(self._file_finished)
        self.updates = UpdateChecker(self.preferences, self.session.background, self)
        self.updates.told.connect(self._update_found)
        self._dialog: SettingsDialog | None = None
        self._doomed: set[Kind] = set()
        #: What became of the data, where the person had them deleted.
        self.removal: Removal | None = None
        add_commands(self)
        rail = self.window.rail
        rail.theme_actions[self.theme.choice].setChecked(True)
        rail.language_actions[self.language.choice].setChecked(True)
        rail.theme_chosen.connect(self._choose_theme)
        rail.language_chosen.connect(self._choose_language)
        self.preferences.changed.connect(self._preference_changed)
        for name in ("send_with_ctrl", "new_chat"):
            self._preference_changed(name)

    def listen(self, place: Place) -> None:
        """From now on later starts of the program bring this window up."""
        self._listener = Listener(place, self)
        self._listener.asked.connect(self._start_asked)

    def tell(self, phrase: str) -> None:
        """Say something that the person should know, a phrase of :mod:`desktop.ui.phrases`, above
        the composer until it is closed."""
        self.window.chat.store_notice.show_notice(lambda: sentence(phrase))

    def open_file(self, path: Path) -> None:
        """Take a file to the page that reads its kind. Whoever brings one is past introductions."""
        self._opened = True
        self.onboarding.hide()
        conversation = path.suffix.lower() == ".json"
        page = self.window.chat if conversation else self.window.address
        self.window.show_page(self.window.pages.indexOf(page))
        page.open_file(path)

    def run(self) -> int:
        """Show the window and run until it is closed or a signal asks to end."""
        wakeup = self._end_on_signals()
        try:
            self.window.show()
            self.session.start()
            if not self.settings.contains(_WELCOMED) and not self._opened:
                self.onboarding.begin()
            return self.qt.exec()
        finally:
            self.close()
            self._tell_removal()
            wakeup()

    @property
    def settings_dialog(self) -> SettingsDialog:
        """Made when it is first asked for."""
        if self._dialog is None:
            self._dialog = SettingsDialog(self)
        return self._dialog

    def open_settings(self, section: str = "") -> None:
        self.settings_dialog.open_at(section)

    def set_font_size(self, percent: int) -> None:
        """In percent; here and from now on."""
        self.theme.set_percent(percent)
        self.preferences.set_font_size(self.theme.percent)

    def change_font_size(self, steps: int) -> None:
        self.set_font_size(self.theme.percent + steps * SCALES.step)

    def restored(self, preferences: dict[str, str]) -> None:
        """The store, the settings and the files were replaced by those of a backup."""
        self.preferences.put_back(preferences)
        rail = self.window.rail
        rail.theme_actions[self._theme_choice()].trigger()
        rail.language_actions[self._language_choice()].trigger()
        self.theme.set_percent(self.preferences.font_size)
        coloring = preferences.get("coloring")
        if coloring in list(Coloring):
            self.window.chat.set_coloring(Coloring(str(coloring)))
        # What was on screen is of the store that was replaced: nothing of it may be written.
        self.window.chat.conversation.new()
        self.window.chat.panel.refresh()

    def delete_data(self, kinds: set[Kind]) -> None:
        """End, and delete everything of these kinds once nothing is in use any more."""
        self._doomed = kinds
        self.window.setEnabled(False)
        self.session.status_changed.connect(self._quit_when_stopped)
        QTimer.singleShot(int(1000 * _SERVER_ENDS_S), self, self.qt.quit)
        self.session.stop()

    @Slot(object)
    def _quit_when_stopped(self, status: ServerStatus) -> None:
        if status.state in (ServerState.STOPPED, ServerState.FAILED):
            self.qt.quit()

    def close(self) -> None:
        """End all work and release the server. Blocks; no window is shown any more."""
        if self._listener is not None:
            self._listener.stop()
        if not self._closed:
            self._keeper.stop()
            self.updates.stop()
            if self._dialog is not None:
                self._dialog.close()
            window_state.save(self.window, self.settings)
            self.window.chat.save_draft()
        self.window.hide()
        self.session.close()
        if not self._closed:
            self._closed = True
            self.window.chat.conversation.flush()
            self.archive.close()
            self.tray.close()
            self.theme.stop()
            self.language.remove()
            self.collector.stop()
            if self._doomed:
                self._delete_data()
        if self._listener is not None:
            self._listener.leave()

    def notify_finished(
        self, title: str, body: str, clicked: Callable[[], object] | None = None
    ) -> None:
        """Tell that something long has ended, if the person is not at the window. ``clicked``:
        what a click on the notice does once the window is shown."""
        if self.preferences.notify:
            self.tray.notify(title, body, clicked)

    @Slot(list, dict)
    def _start_asked(self, files: list[str], tokens: dict[str, str]) -> None:
        """Another start: come to the front with its permission, and open what it brings."""
        os.environ.update({name: token for name, token in tokens.items() if token})
        self.tray.show_window()
        for file in files:
            self.open_file(Path(file))

    @Slot(str)
    def _preference_changed(self, name: str) -> None:
        chat = self.window.chat
        if name == "send_with_ctrl":
            chat.composer.set_send_with_ctrl(self.preferences.send_with_ctrl)
        elif name == "new_chat":
            chat.conversation.begin_with(self.preferences.new_chat)
        elif name == "font_size":
            self.theme.set_percent(self.preferences.font_size)

    @Slot(object)
    def _update_found(self, release: Release) -> None:
        self.notify_finished(
            self.tr("A newer Tritalk is there"),
            self.tr("Version {0}").format(release.version),
            lambda: self.open_settings("updates"),
        )

    def _delete_data(self) -> None:
        """The server's own files go with it; it may need a moment to end."""
        self.settings.clear()
        self.settings.sync()
        end = time.monotonic() + _SERVER_ENDS_S
        while inventory.served() and time.monotonic() < end:
            time.sleep(0.1)
        self.removal = inventory.remove(self._doomed)

    def _tell_removal(self) -> None:
        if self.removal is None:
            return
        self.language.apply(self.language.choice)  # closing took it away
        box = QMessageBox()
        box.setWindowTitle("Tritalk")
        if not self.removal.failed:
            box.setText(self.tr("All of it was deleted."))
        else:
            box.setText(self.tr("Not everything could be deleted."))
            lines = (f"{path}: {reason}" for path, reason in self.removal.failed)
            box.setDetailedText("\n".join(lines))
        box.exec()
        self.language.remove()

    @Slot()
    def _open_sample(self) -> None:
        self.open_file(SAMPLE_FILE)

    @Slot()
    def _welcomed(self) -> None:
        self.settings.setValue(_WELCOMED, 1)

    @Slot()
    def _send_sample(self) -> None:
        self.window.carry_out("new")
        self.window.chat.composer.submitted.emit(SAMPLE_MESSAGE)

    @Slot(bool)
    def _working_changed(self, working: bool) -> None:
        self.tray.set_busy("replies", working)

    @Slot(bool)
    def _file_busy_changed(self, busy: bool) -> None:
        self.tray.set_busy("file", busy)

    @Slot(object)
    def _file_finished(self, file: FileFinished) -> None:
        words = self.tr("{0}: {1} rows, {2} to check, {3} failed")
        self.notify_finished(
            self.tr("The file of addresses is done"),
            words.format(file.name, f"{file.total:,}", f"{file.check:,}", f"{file.failed:,}"),
            lambda: self.window.carry_out("address_page"),
        )

    @Slot(object, object, float)
    def _reply_ended(self, conversation: int, message: Message, seconds: float) -> None:
        stopped = message.finished is not None and message.finished.finish_reason == "cancelled"
        if seconds < _LONG_REPLY_S or stopped:
            return
        shown = self.window.chat.conversation

        def show() -> None:
            self.window.show_page(0)
            shown.open(conversation)

        title = self.tr("The reply is there")
        if message.error:
            title = self.tr("The reply broke off")
        self.notify_finished(title, " ".join(message.text.split())[:_NOTICE_LENGTH], show)

    def _reopen(self) -> None:
        """Show the conversation, or the unsent message, that was there at the end."""
        conversation = self.window.chat.conversation

        def show(found: tuple[int | None, str, ChatSettings | None]) -> None:
            last, draft, settings = found
            if conversation.id is not None or self.window.chat.composer.text():
                return  # the person was quicker
            if last is not None:
                conversation.open(last)
            elif draft or settings is not None:
                conversation.resume(draft, settings)

        self.archive.ask(
            lambda database: (
                database.setting("conversation"),
                database.setting("draft", ""),
                database.next_settings(),
            ),
            show,
        )

    def _theme_choice(self) -> ThemeChoice:
        value = self.settings.value("theme")
        return "light" if value == "light" else "dark" if value == "dark" else "system"

    def _language_choice(self) -> LanguageChoice:
        value = self.settings.value("language")
        return "en" if value == "en" else "zh" if value == "zh" else "system"

    @Slot(str)
    def _choose_theme(self, choice: str) -> None:
        self.theme.apply(cast(ThemeChoice, choice))
        self.settings.setValue("theme", choice)

    @Slot(str)
    def _choose_language(self, choice: str) -> None:
        self.language.apply(cast(LanguageChoice, choice))
        self.settings.setValue("language", choice)

    def _end_on_signals(self) -> Callable[[], None]:
        """Let SIGINT and SIGTERM close the window: Python only sees them between its own steps,
        which do not come while Qt waits, so they wake Qt through a socket."""
        if sys.platform == "win32":
            return lambda: None
        ours, theirs = socket.socketpair()
        ours.setblocking(False)
        theirs.setblocking(False)
        before_fd = signal.set_wakeup_fd(theirs.fileno(), warn_on_full_buffer=False)

        def quit_window(number: int, frame: FrameType | None) -> None:
            self.qt.quit()

        before = {n: signal.signal(n, quit_window) for n in (signal.SIGINT, signal.SIGTERM)}
        notifier = QSocketNotifier(ours.fileno(), QSocketNotifier.Type.Read, self)
        # Reading is enough: returning into Python runs the handler.
        notifier.activated.connect(lambda: ours.recv(64))

        def restore() -> None:
            notifier.setEnabled(False)
            signal.set_wakeup_fd(before_fd)
            for number, handler in before.items():
                signal.signal(number, handler)
            ours.close()
            theirs.close()

        return restore
