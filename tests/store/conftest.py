"""A store of the test's own, on its real thread or without."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop.store.database import Database
from desktop.store.records import ConversationInfo, Message, Role, new_id
from desktop.store.schema import open_file
from desktop.triton.types import Alternative, Token


def token(text: str, probability: float = 0.5) -> Token:
    others = (Alternative(text, 7, probability), Alternative("别", 8, 0.25))
    return Token(text, 7, 0.75, probability, others)


def start(database: Database, title: str = "标题", **fields: float) -> int:
    """A new conversation's id."""
    info = ConversationInfo(new_id(), title, **fields)  # type: ignore[arg-type]
    database.create(info)
    return info.id


def exchange(database: Database, conversation: int, asked: str, said: str) -> tuple[int, int]:
    """The ids of a user's message and its reply."""
    user = Message(Role.USER, asked)
    database.add_message(conversation, user)
    reply = Message(Role.REPLY, said, parent=user.id, tokens=[token(c) for c in said])
    database.add_message(conversation, reply)
    return user.id, reply.id


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "data" / "conversations.db"


@pytest.fixture
def database(path: Path) -> Iterator[Database]:
    connection, notices = open_file(path)
    assert notices == []
    yield Database(connection)
    connection.close()
