"""Render every page in both themes and both languages: ``python tests/ui/screenshots.py [DIR]``.

Works without a display and without a server: the conversation and the addresses are fixed, so two
runs on one machine give the same pictures.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from desktop.triton.types import Finished, InvalidInput, Token
from desktop.ui.words import error_words
from tests.ui.fakes import (
    ADDRESSES,
    BARE,
    FAILED,
    FULL,
    READY,
    STARTING,
    FakeClient,
    FakeLease,
    token,
)
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

    def __init__(self, folder: Path) -> None:
        from desktop.ui.application import Application

        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self.lease = FakeLease(STARTING)
        self.client = FakeClient(self._script, addresses=ADDRESSES)
        self.app = Application(
            ["screenshots"], acquire=lambda: self.lease, client=lambda endpoint: self.client
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
        for scheme in ("light", "dark"):
            for language in ("zh", "en"):
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
        row = chat.conversation.transcript.rowCount() - 1
        length = len(chat.conversation.transcript.message(row).text)
        # The time a reply took differs from run to run; the picture must not.
        chat.conversation.transcript.end_reply(row, Finished("stop", "", length, 12, 0.041, 212.0))

    def take_all(self) -> None:
        window, chat, address = self.window, self.window.chat, self.window.address
        window.show()
        self.app.session.start()
        self.until(lambda: self.app.session.status.message == STARTING.message)
        self.shoot("chat_starting")
        chat.conversation.send("你好")
        self.shoot("chat_waiting")
        chat.conversation.stop()
        chat.composer.clear()
        self.lease.become(READY)
        self.until(lambda: self.app.session.status.state == READY.state)
        self.say("最近工作压力有点大，晚上总是睡不着")
        self.say("那我该怎么办呢？")
        self.shoot("chat")
        view, row = chat.view, chat.conversation.transcript.rowCount() - 1
        view.setFocus()
        view.explain_token(row, _SECOND.index("泡"))
        self.shoot("chat_token")
        chat.view.leave_token()
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
            self.until(lambda: not address.busy)
            self.shoot(name)
        window.show_page(2)
        self.shoot("server")
        self.lease.become(FAILED)
        self.until(lambda: self.app.session.status.state == FAILED.state)
        self.shoot("server_failed")
        window.rail.menu.popup(window.mapToGlobal(window.rail.settings.pos()))
        self.shoot("settings_menu", of=lambda: window.rail.menu)
        window.rail.menu.close()
        self.shoot("message_menu", of=lambda: chat.view.context_menu(chat.view.rect().center()))
        window.show_page(0)
        window.resize(window.minimumSize())
        self.shoot("chat_small")
        self.app.close()


def main() -> int:
    if not available():
        print("Xvfb is not installed.", file=sys.stderr)
        return 1
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else ARTIFACTS
    os.environ |= {"DISPLAY": start(), "QT_QPA_PLATFORM": "xcb"}
    with tempfile.TemporaryDirectory() as home:
        os.environ["TRITALK_HOME"] = home
        Gallery(folder).take_all()
    print(f"{len(list(folder.glob('*.png')))} pictures in {folder}")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
