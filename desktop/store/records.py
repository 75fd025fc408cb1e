"""What the store keeps, as the rest of the application sees it: conversations and messages."""

from __future__ import annotations

import enum
import secrets
import threading
import time
from dataclasses import dataclass, field

from desktop.triton.types import Finished, Sampling, Token

_id_lock = threading.Lock()
_last_id = 0


def new_id() -> int:
    """An id that needs no database: milliseconds since 1970 and 16 random bits, always growing."""
    global _last_id
    with _id_lock:
        _last_id = max(_last_id + 1, time.time_ns() // 1_000_000 << 16 | secrets.randbits(16))
        return _last_id


class Role(enum.StrEnum):
    USER = "user"
    REPLY = "reply"


class Stage(enum.StrEnum):
    WAITING = "waiting"
    STREAMING = "streaming"
    DONE = "done"
    FAILED = "failed"
    #: The application ended, however it did, before the reply did.
    INTERRUPTED = "interrupted"


@dataclass(eq=False)
class Message:
    """A message; equal only to itself. A reply's text is what its tokens spell.

    ``parent``: the message before it, None for a first one; messages with one parent are branches,
    and ``active_child`` is the branch that is shown. ``tokens_loaded``: False while the tokens of a
    stored reply were not asked for. ``revision`` grows with each change on screen; it is not kept.
    """

    role: Role
    text: str = ""
    stage: Stage = Stage.DONE
    tokens: list[Token] = field(default_factory=list)
    finished: Finished | None = None
    error: str = ""
    id: int = field(default_factory=new_id)
    parent: int | None = None
    active_child: int | None = None
    mean_probability: float | None = None
    tokens_loaded: bool = True
    #: The chat model that made a reply; empty where that was not noted.
    model: str = ""
    revision: int = 0


@dataclass(frozen=True)
class ConversationInfo:
    """A row of the list of conversations. Times are seconds since 1970."""

    id: int
    title: str
    preview: str = ""
    created: float = 0.0
    updated: float = 0.0
    pinned: bool = False


#: The original model looks at the last five utterances: two exchanges and the new message.
DEFAULT_HISTORY_TURNS = 2


@dataclass(frozen=True)
class ChatSettings:
    """How a conversation's replies come about.

    ``history_turns``: exchanges before the message that the model is given. ``persona``: an opening
    that the person writes, a line a turn (:func:`opening_turns`). ``model``: the chat model's name,
    empty for the first one that is served.
    """

    sampling: Sampling = field(default_factory=Sampling)
    history_turns: int = DEFAULT_HISTORY_TURNS
    persona: str = ""
    model: str = ""


#: How the model's side of a persona ends where the person wrote none.
_AGREED = "嗯，好的。"


def opening_turns(persona: str) -> tuple[str, ...]:
    """The turns that a persona is to the model, user and model in turn.

    A line is a turn, the person's first. The layouts of chitchat models know turns in pairs only,
    so that a last line without an answer is given one.
    """
    turns = tuple(line.strip() for line in persona.splitlines() if line.strip())
    return turns if len(turns) % 2 == 0 else (*turns, _AGREED)


#: What a new conversation begins with: the shipped model's own defaults, spelt out.
DEFAULT_SETTINGS = ChatSettings(
    Sampling(
        temperature=0.4,
        top_p=0.9,
        top_k=0,
        max_tokens=80,
        repetition_penalty=1.0,
        no_repeat_ngram_size=4,
    )
)


@dataclass(frozen=True)
class StoredConversation:
    """A conversation as it is opened: every branch, replies without their tokens."""

    info: ConversationInfo
    messages: tuple[Message, ...]
    active_root: int | None
    draft: str = ""
    settings: ChatSettings | None = None


@dataclass(frozen=True)
class SearchHit:
    """A conversation that a search found; ``message`` is None where its title matched."""

    info: ConversationInfo
    message: int | None
    snippet: str
