"""The chat page's finer states for the gallery: persona and models, the chart, the keys' focus."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from tests.ui.fakes import MODELS, READY

PERSONA = "你是谁？\n我叫小林，是一个小学老师。\n你喜欢什么？\n我喜欢养花和听雨。"


def take(gallery: Any) -> None:
    """With a conversation of two exchanges on screen, its last reply without focus."""
    chat = gallery.window.chat
    view, row = chat.view, chat.conversation.transcript.rowCount() - 1
    two = {**MODELS, "cdial_gpt_base": "LOADING", "cdial_gpt_base_stream": "LOADING"}
    gallery.lease.become(replace(READY, models=two))
    gallery.until(lambda: chat.sampling.who.models.count() == 2)
    chat.sampling.who.persona.setPlainText(PERSONA)
    chat.sampling.flush()
    view.setFocus()
    view.explain_token(row, 10, on_chart=True)
    gallery.shoot("chat_chart")
    view.leave_token()

    def step() -> None:
        gallery.window.activateWindow()
        gallery.until(gallery.window.isActiveWindow)
        view.setFocus()
        view.step_message(-1)

    gallery.shoot("chat_focus", step)
    chat.sampling.who.persona.setPlainText("")
    chat.sampling.flush()
    gallery.lease.become(READY)
    gallery.until(lambda: chat.sampling.who.models.count() == 1)
