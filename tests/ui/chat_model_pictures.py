"""The card of imported chat models and the import dialog for the gallery."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from desktop.models import Installed, ModelError, Progress
from desktop.ui.tasks import Task
from tests.ui.server_pictures import SERVING

if TYPE_CHECKING:
    from tests.ui.screenshots import Gallery

INSTALLED = [
    Installed(
        "chat",
        "cdial-gpt_lccc-base",
        Path("/nowhere"),
        "95.5M, OpenAIGPTLMHeadModel, mit, thu-coai/CDial-GPT_LCCC-base",
        True,
    ),
    Installed(
        "chat",
        "qwen2.5-0.5b-instruct",
        Path("/nowhere"),
        "494.0M, Qwen2ForCausalLM, apache-2.0, Qwen/Qwen2.5-0.5B-Instruct",
        True,
    ),
    Installed(
        "chat",
        "gpt2-chitchat",
        Path("/nowhere"),
        "81.9M, GPT2LMHeadModel, /home/li/models/GPT2-chitchat",
        False,
    ),
]
STATES = {
    "cdial-gpt_lccc-base": "READY",
    "cdial-gpt_lccc-base_stream": "READY",
    "qwen2.5-0.5b-instruct": "LOADING",
    "qwen2.5-0.5b-instruct_stream": "LOADING",
    "gpt2-chitchat": "UNAVAILABLE: /home/li/.local/share/tritalk/models/chat/gpt2-chitchat/"
    "prompt.toml: context must be a whole number from 32 to 512, "
    "not 4096",
    "gpt2-chitchat_stream": "UNAVAILABLE",
}


def take_chat_models(gallery: Gallery) -> None:
    """Photograph the card, empty and filled, and the dialog in its states."""
    window, card = gallery.window, gallery.window.server.chats
    column = window.server.parts.widget(0)
    window.show_page(2)
    window.server.show_section(0)

    def at_card() -> None:
        column.ensureWidgetVisible(card)  # type: ignore[attr-defined]

    gallery.until(lambda: card._task is None)
    gallery.shoot("chat_models_none", at_card)
    gallery.lease.become(replace(SERVING, models={**SERVING.models, **STATES}))
    gallery.until(lambda: "gpt2-chitchat" in gallery.app.session.status.models)
    gallery.until(lambda: card._task is None)
    card._found(INSTALLED)
    gallery.shoot("chat_models", at_card)
    card.open_import()
    dialog = card.dialog
    assert dialog is not None
    gallery.shoot("import", of=lambda: dialog)
    dialog.source.setText("thu-coai/CDial-GPT_LCCC-base")
    dialog._task = Task()
    dialog._progress = Progress("downloading pytorch_model.bin", 213_000_000, 389_000_000)
    gallery.shoot("import_running", dialog._show, of=lambda: dialog)
    dialog._failed(
        ModelError(
            "the file pytorch_model.bin wants to run code when it is read; only plain tensors "
            "are accepted, so it was not read"
        )
    )
    gallery.shoot("import_failed", of=lambda: dialog)
    dialog._end(("done", INSTALLED[0]))
    gallery.shoot("import_done", of=lambda: dialog)
    dialog.close()
    card._found([])
    gallery.lease.become(SERVING)
    window.show_page(0)
