"""Conversations imported from a file: taken in whole or refused, and written out again."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from desktop.store import transfer
from desktop.store.database import Database
from desktop.store.records import ChatSettings, ConversationInfo, Message, Role
from desktop.store.schema import open_file
from desktop.store.transfer import Conversation, TransferError
from desktop.triton.types import Alternative, Finished, Sampling, Token
from tests.fuzz.harness import allowed, folder, json_or_deep

MAX_LEN = 16_384
mutate = json_or_deep


def seeds() -> Iterable[bytes]:
    user = Message(Role.USER, "你好 <b>")
    token = Token("好", 7, 0.75, 0.5, (Alternative("好", 7, 0.5), Alternative("<", 8, 0.25)))
    replies = [Message(Role.REPLY, parent=user.id, tokens=[token] * n, model="m") for n in (2, 1)]
    replies[0].finished = Finished("stop", "好好", 2, 12, 0.25, 99.5)
    info = ConversationInfo(1, "标题", created=1e9, updated=1e9)
    settings = ChatSettings(
        Sampling(temperature=0.5, seed=2**60, stop=("。",)), 3, "我是猫\n喵", "m"
    )
    whole = Conversation(info, settings, (user, *replies), (user, replies[0]))
    yield transfer.to_json(whole).encode()
    yield transfer.to_json(Conversation(info, settings, (), ())).encode()


@lru_cache(maxsize=1)
def database() -> Database:
    connection, _ = open_file(folder() / "data" / "conversations.db")
    connection.execute("PRAGMA synchronous = OFF")
    return Database(connection)


def one(data: bytes) -> None:
    store = database()
    file = folder() / "conversation.json"
    file.write_bytes(data)
    store._sql.execute("DELETE FROM conversation")
    with allowed(TransferError):
        identity = transfer.import_file(store, file)
        read = transfer.read(store, identity)
        assert len(read.path) <= len(read.messages)
        again = transfer.from_json(transfer.to_json(read))
        assert len(again.messages) == len(read.messages)
        assert [m.text for m in again.messages] == [m.text for m in read.messages]
        for ending in (".html", ".md", ".json"):
            transfer.export(store, identity, folder() / f"out{ending}")
        assert "<script" not in (folder() / "out.html").read_text(encoding="utf-8").lower()
        assert len(store.conversations()) == 1
