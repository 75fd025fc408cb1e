"""Render every page in both themes and both languages: ``python tests/ui/screenshots.py [DIR]``.

Works without a display and without a server: the conversation and the addresses are fixed, so two
runs on one machine give the same pictures.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from desktop.store.database import Database
from desktop.store.records import DEFAULT_SETTINGS, ConversationInfo, Message, Role, new_id
from desktop.store.schema import Notice, NoticeKind
from desktop.triton.types import Finished, InvalidInput, Token
from desktop.ui.coloring import Coloring
from desktop.ui.words import error_words, notice_words
from tests.ui import address_pictures, chat_pictures
from tests.ui.chat_model_pictures import take_chat_models
from tests.ui.fakes import (
    ADDRESSES,
    BARE,
    FULL,
    READY,
    STARTING,
    FakeClient,
    FakeLease,
    token,
)
from tests.ui.server_pictures import take_server
from tests.ui.settings_pictures import take_settings
from tests.ui.xserver import available, start

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget

ARTIFACTS = Path(__file__).resolve().parents[1] / "artifacts" / "ui"

_FIRST = "听起来你这段时间真的很累，工作压力大的时候，睡不好是很常见的。"
_SECOND = "可以试试睡前放下手机，泡个热水脚，听一点轻音乐，让自己慢慢放松下来。"
_UNSURE = {"累": 0.22, "睡": 0.45, "常": 0.52, "见": 0.66, "泡": 0.12, "脚": 0.28, "轻": 0.41}


def reply(text: str) -> list[Token]:
    return [
        token(c, _UNSURE.get(c, 0.62 + 0.38 * ((7 * i) % 10 > 2)), "听做深喝洗")
        for i, c in enumerate(text)
    ]


class Gallery:
    """One window, photographed page by page."""

    def __init__(self, folder: Path, looks: Sequence[tuple[str, str]]) -> None:
        from desktop.ui.application import Application

        self.folder = folder
        self.looks = looks  # pairs of a theme and a language
        folder.mkdir(parents=True, exist_ok=True)
        self.lease = FakeLease(STARTING)
        self.client = FakeClient(self._script, addresses=ADDRESSES)
        self.app = Application(
            ["screenshots"],
            acquire=lambda: self.lease,
            client=lambda endpoint: self.client,
            builtin=lambda: self.lease,
        )
        self.window = self.app.window

    def _script(self, text: str, history: Sequence[str]) -> Sequence[Token]:
        return reply(_FIRST if not history else _SECOND)

    def until(self, true: Callable[[], bool]) -> None:
        from PySide6.QtTest import QTest

        for _ in range(500):
            if true():
                return
            QTest.qWait(10)
        raise TimeoutError

    def shoot(
        self,
        name: str,
        before: Callable[[], object] = lambda: None,
        of: Callable[[], QWidget] | None = None,
    ) -> None:
        from PySide6.QtTest import QTest

        QTest.qWait(60)
        for scheme, language in self.looks:
            self.app.theme.apply(scheme)  # type: ignore[arg-type]
            self.app.language.apply(language)  # type: ignore[arg-type]
            QTest.qWait(60)
            before()
            QTest.qWait(60)
            widget = self.window if of is None else of()
            widget.grab().save(str(self.folder / f"{name}_{scheme}_{language}.png"))

    def say(self, text: str) -> None:
        chat = self.window.chat
        chat.composer.edit.setPlainText(text)
        chat.composer.edit.submitted.emit()
        self.until(lambda: not chat.conversation.busy)

    def take_all(self) -> None:
        window, chat, address = self.window, self.window.chat, self.window.address
        window.show()
        self.app.session.start()
        self.until(lambda: self.app.session.status.message == STARTING.message)
        self._help()
        self.shoot("chat_starting")
        chat.conversation.send("你好")
        entries = chat.panel.model.entries
        self.until(lambda: bool(entries()))
        self.shoot("chat_waiting")
        chat.conversation.stop()
        chat.composer.clear()
        self.lease.become(READY)
        self.until(lambda: self.app.session.status.state == READY.state)
        self._fill_list()
        self.say("最近工作压力有点大，晚上总是睡不着")
        self.say("那我该怎么办呢？")
        said = _SECOND[:6]  # of the newest conversation, below the pinned one
        self.until(lambda: len(entries()) == 6 and any(e.line.startswith(said) for e in entries()))
        self.shoot("chat")
        self._more_of_the_chat()
        view, row = chat.view, chat.conversation.transcript.rowCount() - 1
        view.setFocus()
        view.explain_token(row, _SECOND.index("泡"))
        self.shoot("chat_token")
        chat.view.leave_token()
        chat_pictures.take(self)
        chat.conversation.new()
        chat.composer.edit.setPlainText("第一行\n第二行\n第三行")
        too_long = InvalidInput("the message has 10,000 characters; this model reads at most 492")
        text = chat.composer.text()
        refuse = chat.conversation.refused.emit
        self.shoot("chat_error", lambda: refuse(error_words(too_long), text))
        window.show_page(1)
        self.shoot("address_empty")
        for name, text in (("address", FULL), ("address_candidates", BARE)):
            address.field.setText(text)
            address.parse(text)
            self.until(lambda: not address.single.busy)
            self.shoot(name)
        with tempfile.TemporaryDirectory() as files:
            address_pictures.take(self, Path(files))
        take_server(self)
        take_chat_models(self)
        take_settings(self)
        window.rail.menu.popup(window.mapToGlobal(window.rail.settings.pos()))
        self.shoot("settings_menu", of=lambda: window.rail.menu)
        window.rail.menu.close()
        self.shoot("message_menu", of=lambda: chat.view.context_menu(chat.view.rect().center()))
        window.show_page(0)
        window.resize(window.minimumSize())
        self.shoot("chat_small")
        self.app.close()

    def take_scaled(self, prefix: str) -> None:
        """What has the finest lines: tokens, popover, icons, entities, charts, the introduction."""
        window, chat, address = self.window, self.window.chat, self.window.address
        window.show()
        self.app.session.start()
        self.lease.become(READY)
        self.until(lambda: self.app.session.status.state == READY.state)
        self.say("最近工作压力有点大，晚上总是睡不着")
        chat.view.setFocus()
        chat.view.explain_token(1, _FIRST.index("睡"))
        self.shoot(f"{prefix}chat")
        chat.view.leave_token()
        window.show_page(1)
        address.field.setText(FULL)
        address.parse(FULL)
        self.until(lambda: not address.single.busy)
        self.shoot(f"{prefix}address")
        self.app.onboarding.begin()
        self.shoot(f"{prefix}welcome", of=lambda: self.app.onboarding)
        self.app.onboarding.reject()
        self.app.close()

    def _help(self) -> None:
        """The introduction, the command palette, the sheet of keys."""
        welcome, palette, sheet = self.app.onboarding, self.app.palette, self.app.sheet
        welcome.begin()
        for number in range(welcome.steps.count()):
            self.shoot(f"welcome_{number + 1}", of=lambda: welcome)
            welcome.next_button.click()
        palette.open()
        self.shoot("palette")
        self.shoot("palette_search", lambda: palette.field.setText("th"))
        self.shoot("palette_nothing", lambda: palette.field.setText("qqqq"))
        palette.dismiss()
        sheet.show_sheet()
        self.shoot("shortcuts", of=lambda: sheet)
        sheet.close()
        menu = self.app.tray.menu
        self.shoot("tray_menu", menu.adjustSize, of=lambda: menu)

    def _fill_list(self) -> None:
        """Conversations of other days, so that every heading is there."""
        now = time.time()
        others = (
            ("睡前聊聊", "谢谢你，今晚早点休息吧", 3, True),
            ("周末去哪里玩", "可以去爬爬山，看看风景", 1, False),
            ("养猫的烦恼", "它是不是又半夜叫你起床了", 3, False),
            ("考试没考好", "一次考试不代表什么", 9, False),
            ("和朋友吵架了", "先冷静一下，再好好说说", 30, False),
        )

        def fill(database: Database) -> None:
            for title, line, days, pinned in others:
                info = ConversationInfo(new_id(), title, updated=now - 86400 * days, pinned=pinned)
                asked = Message(Role.USER, title)
                said = Message(Role.REPLY, parent=asked.id, tokens=reply(line))
                database.adopt(info, DEFAULT_SETTINGS, [asked, said], [asked, said])

        self.app.archive.ask(fill)
        self.window.chat.panel.refresh()

    def _more_of_the_chat(self) -> None:
        """Versions, editing, undo, searching, the list's menu, colours by perplexity."""
        chat, window = self.window.chat, self.window
        transcript, view = chat.conversation.transcript, chat.view
        chat.conversation.regenerate(transcript.message(1))
        self.until(lambda: not chat.conversation.busy)
        transcript.end_reply(1, Finished("cancelled", "", len(_FIRST), 12, 0.041, 212.0))
        view._hovered_action = (0, "edit")
        view.action_asked.emit("edit", 0)
        self.shoot("chat_editing")
        chat.messages.stop_editing()
        view.action_asked.emit("previous", 1)
        view.action_asked.emit("delete", 2)
        chat.set_coloring(Coloring.PERPLEXITY)
        chat.sampling.seed.setText("abc")
        chat.sampling.seed.editingFinished.emit()
        damaged = Notice(NoticeKind.DAMAGED, "/home/li/.local/share/tritalk/x.db")
        chat.store_notice.show_notice(lambda: notice_words(damaged))
        self.shoot("chat_undo")
        chat.store_notice.hide()
        chat.sampling.reset_button.click()
        chat.set_coloring(Coloring.PROBABILITY)
        chat.undo_notice.act()
        self.until(lambda: transcript.rowCount() == 4)
        chat.panel.search.setText("睡")
        self.until(lambda: chat.panel.model.query == "睡" and bool(chat.panel.model.entries()))
        self.shoot("chat_search")
        chat.panel.search.setText("")
        self.until(lambda: not chat.panel.model.query and len(chat.panel.model.entries()) > 3)
        index = chat.panel.model.entry(chat.panel.model.entries()[0].info.id)
        self.shoot("list_menu", of=lambda: chat.panel.context_menu(index))
        more = chat.panel.more.menu()
        self.shoot("list_more_menu", more.adjustSize, of=lambda: more)
        for name, row in (("user_menu", 2), ("reply_menu", 1)):
            point = view.visualRect(view.model().index(row, 0)).center()
            self.shoot(name, of=partial(view.context_menu, point))
        window.show_page(0)
        self.until(lambda: bool(transcript.message(3).tokens))


_LOOKS = (("light", "zh"), ("light", "en"), ("dark", "zh"), ("dark", "en"))
_FEW = (("light", "zh"), ("dark", "en"))
# Besides 1: common choices of people with dense screens.
_SCALES = (1.5, 2.0)


def main() -> int:
    if not available():
        print("Xvfb is not installed.", file=sys.stderr)
        return 1
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("folder", nargs="?", type=Path, default=ARTIFACTS)
    options.add_argument("--scale", type=float, default=1.0, help="only a few, for dense screens")
    options.add_argument(
        "--few", action="store_true", help="each theme and each language, but not every pair"
    )
    chosen = options.parse_args()
    scale = chosen.scale
    display = start(f"{round(1280 * scale)}x{round(800 * scale)}x24")
    os.environ |= {"DISPLAY": display, "QT_QPA_PLATFORM": "xcb", "QT_SCALE_FACTOR": str(scale)}
    with tempfile.TemporaryDirectory() as home:
        os.environ["TRITALK_HOME"] = home
        gallery = Gallery(chosen.folder, _FEW if chosen.few else _LOOKS)
        if scale != 1.0:
            gallery.take_scaled(f"scale{round(100 * scale)}_")
            return 0
        gallery.take_all()
    for scale in _SCALES:  # Qt reads it once, at its start
        again = [sys.executable, __file__, str(chosen.folder), "--scale", str(scale)]
        again += ["--few"] if chosen.few else []
        subprocess.run(again, check=True)
    print(f"{len(list(chosen.folder.glob('*.png')))} pictures in {chosen.folder}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
