"""What can be asked of the store and done to it. Blocks; belongs to the store's one thread."""

from __future__ import annotations

import contextlib
import json
import math
import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from desktop.store import convert
from desktop.store.records import (
    ChatSettings,
    ConversationInfo,
    Message,
    SearchHit,
    Stage,
    StoredConversation,
)
from desktop.store.schema import is_damage
from desktop.triton.types import Alternative, InvalidInput, Token

# What was deleted can be taken back for this long at least; after that it goes with the next start.
_UNDO_SECONDS = 3600.0

_INFO = f"""
    c.id, c.title,
    coalesce((SELECT substr(m.text, 1, {convert.PREVIEW}) FROM message m
              WHERE m.conversation = c.id AND m.deleted IS NULL AND m.text != ''
              ORDER BY m.id DESC LIMIT 1), ''),
    c.created, c.updated, c.pinned
"""


class Database:
    """The operations, each one transaction where it writes."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._sql = connection

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing; inside another one it is part of that."""
        if self._sql.in_transaction:
            yield self._sql
            return
        self._sql.execute("BEGIN IMMEDIATE")
        try:
            yield self._sql
        except BaseException:
            if self._sql.in_transaction:
                self._sql.rollback()
            raise
        self._sql.commit()

    def recover(self) -> None:
        """After a start: replies nobody works on any more are interrupted, old deletions final."""
        with self.transaction() as sql:
            sql.execute(
                "UPDATE message SET stage = ? WHERE stage IN (?, ?)",
                (Stage.INTERRUPTED, Stage.WAITING, Stage.STREAMING),
            )
            past = time.time() - _UNDO_SECONDS
            sql.execute("DELETE FROM conversation WHERE deleted < ?", (past,))
            sql.execute("DELETE FROM message WHERE deleted < ?", (past,))

    def replace_with(self, path: Path) -> None:
        """Hold what another database of the newest schema holds: all of it, or, where that fails
        or the program ends, what was here before. Raises InvalidInput where that one is damaged."""
        try:
            with contextlib.closing(sqlite3.connect(path)) as source:
                source.backup(self._sql)
        except sqlite3.DatabaseError as error:
            if is_damage(error):  # of that file, which must not be taken for ours
                raise InvalidInput(f"the backup is damaged ({path.name}: {error})") from error
            raise
        self.recover()

    # Conversations.

    def conversations(self, limit: int = 100, offset: int = 0) -> list[ConversationInfo]:
        """Pinned ones first, then by their last change, newest first."""
        rows = self._sql.execute(
            f"SELECT {_INFO} FROM conversation c WHERE c.deleted IS NULL"
            " ORDER BY c.pinned DESC, c.updated DESC, c.id DESC LIMIT ? OFFSET ?",
            (limit, offset),
        )
        return [convert.info(row) for row in rows]

    def info(self, conversation: int) -> ConversationInfo | None:
        row = self._sql.execute(
            f"SELECT {_INFO} FROM conversation c WHERE c.id = ? AND c.deleted IS NULL",
            (conversation,),
        ).fetchone()
        return convert.info(row) if row else None

    def load(self, conversation: int) -> StoredConversation | None:
        """Every message that is not deleted, without tokens; None where there is none such."""
        info = self.info(conversation)
        if info is None:
            return None
        draft, root, *settings = self._sql.execute(
            "SELECT draft, active_root, settings, persona, model FROM conversation WHERE id = ?",
            (conversation,),
        ).fetchone()
        rows = self._sql.execute(
            "SELECT id, parent, active_child, role, text, stage, error, finish_reason,"
            " input_tokens, seconds_to_first_token, tokens_per_second, mean_probability, model,"
            " (SELECT count(*) FROM token t WHERE t.message = message.id)"
            " FROM message WHERE conversation = ? AND deleted IS NULL ORDER BY id",
            (conversation,),
        )
        return StoredConversation(
            info,
            tuple(convert.message(row) for row in rows),
            root,
            draft,
            convert.read_settings(*settings),
        )

    def create(self, info: ConversationInfo, settings: ChatSettings | None = None) -> None:
        with self.transaction() as sql:
            sql.execute(
                "INSERT INTO conversation (id, title, created, updated, pinned)"
                " VALUES (?, ?, ?, ?, ?)",
                (
                    info.id,
                    convert.clean(info.title),
                    info.created or time.time(),
                    info.updated or time.time(),
                    info.pinned,
                ),
            )
            if settings is not None:
                self.save_settings(info.id, settings)

    def adopt(
        self,
        info: ConversationInfo,
        settings: ChatSettings,
        messages: Sequence[Message],
        path: Sequence[Message],
    ) -> None:
        """A whole conversation at once, unless it is here already; ``path`` is what it shows."""
        with self.transaction():
            if self.info(info.id) is not None:
                return
            self.create(info, settings)
            for message in messages:
                self.add_message(info.id, message)
            for message in path:
                self.activate(info.id, message.parent, message.id)
            self._set(info.id, "updated", info.updated)

    def rename(self, conversation: int, title: str) -> None:
        self._set(conversation, "title", convert.clean(title))

    def pin(self, conversation: int, pinned: bool) -> None:
        self._set(conversation, "pinned", pinned)

    def save_draft(self, conversation: int, draft: str) -> None:
        self._set(conversation, "draft", convert.clean(draft))

    def give_back(self, conversation: int, text: str) -> None:
        """Put a message that got no reply in front of the draft."""
        with self.transaction() as sql:
            sql.execute(
                "UPDATE conversation SET draft = ? ||"
                " CASE draft WHEN '' THEN '' ELSE char(10) || draft END WHERE id = ?",
                (convert.clean(text), conversation),
            )

    def save_settings(self, conversation: int, settings: ChatSettings) -> None:
        with self.transaction():
            self._set(conversation, "settings", convert.write_settings(settings))
            self._set(conversation, "persona", convert.clean(settings.persona))
            self._set(conversation, "model", convert.clean(settings.model))

    def delete(self, conversation: int) -> None:
        """Out of sight; :meth:`restore` brings it back until some later start."""
        self._set(conversation, "deleted", time.time())

    def restore(self, conversation: int) -> None:
        self._set(conversation, "deleted", None)

    def _set(self, conversation: int, column: str, value: Any) -> None:
        with self.transaction() as sql:
            sql.execute(f"UPDATE conversation SET {column} = ? WHERE id = ?", (value, conversation))

    # Messages.

    def add_message(self, conversation: int, message: Message) -> None:
        """A message with the tokens it has, below its parent, as the branch that is shown."""
        with self.transaction() as sql:
            sql.execute(
                "INSERT INTO message"
                " (id, conversation, parent, active_child, role, text, stage, model)"
                " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    message.id,
                    conversation,
                    message.parent,
                    message.active_child,
                    message.role,
                    # A reply's text grows with its tokens.
                    "" if message.tokens else convert.clean(message.text),
                    message.stage,
                    convert.clean(message.model),
                ),
            )
            if message.tokens:
                self.append_tokens(message.id, 0, message.tokens)
            if message.finished is not None or message.error:
                self.end_message(message)
            self.activate(conversation, message.parent, message.id)
            self._set(conversation, "updated", time.time())

    def append_tokens(self, message: int, position: int, tokens: Sequence[Token]) -> None:
        """``position``: of the first of them in the reply, from 0."""
        rows = [
            (
                message,
                position + number,
                token.token_id,
                convert.clean(token.text),
                None if math.isnan(token.confidence) else token.confidence,
                token.probability,
                json.dumps(
                    [[a.text, a.token_id, round(a.probability, 7)] for a in token.alternatives],
                    ensure_ascii=True,
                    separators=(",", ":"),
                ),
            )
            for number, token in enumerate(tokens)
        ]
        with self.transaction() as sql:
            sql.executemany("INSERT INTO token VALUES (?, ?, ?, ?, ?, ?, ?)", rows)
            sql.execute(
                "UPDATE message SET text = text || ?, stage = ? WHERE id = ?",
                (convert.clean("".join(t.text for t in tokens)), Stage.STREAMING, message),
            )

    def end_message(self, message: Message) -> None:
        """Keep how the reply ended."""
        finished = message.finished
        with self.transaction() as sql:
            sql.execute(
                "UPDATE message SET stage = ?, error = ?, finish_reason = ?, input_tokens = ?,"
                " seconds_to_first_token = ?, tokens_per_second = ?, mean_probability = ?,"
                " model = ? WHERE id = ?",
                (
                    message.stage,
                    convert.clean(message.error),
                    finished.finish_reason if finished else None,
                    finished.num_input_tokens if finished else 0,
                    finished.seconds_to_first_token if finished else None,
                    finished.tokens_per_second if finished else None,
                    message.mean_probability,
                    convert.clean(message.model),
                    message.id,
                ),
            )

    def tokens(self, message: int) -> list[Token]:
        rows = self._sql.execute(
            "SELECT text, token_id, confidence, probability, alternatives FROM token"
            " WHERE message = ? ORDER BY position",
            (message,),
        )
        return [
            Token(
                text,
                token_id,
                math.nan if confidence is None else confidence,
                probability,
                tuple(Alternative(*entry) for entry in json.loads(alternatives)),
            )
            for text, token_id, confidence, probability, alternatives in rows
        ]

    def activate(self, conversation: int, parent: int | None, child: int) -> None:
        """Show the branch ``child`` below ``parent`` (None: among the first messages)."""
        with self.transaction() as sql:
            if parent is None:
                self._set(conversation, "active_root", child)
            else:
                sql.execute("UPDATE message SET active_child = ? WHERE id = ?", (child, parent))

    def delete_messages(self, ids: Sequence[int]) -> None:
        self._mark_messages(ids, time.time())

    def restore_messages(self, ids: Sequence[int]) -> None:
        self._mark_messages(ids, None)

    def _mark_messages(self, ids: Sequence[int], when: float | None) -> None:
        with self.transaction() as sql:
            sql.executemany("UPDATE message SET deleted = ? WHERE id = ?", [(when, i) for i in ids])

    def remove_message(self, message: int) -> None:
        """For good, with everything below it: one that got no reply and is the person's again."""
        with self.transaction() as sql:
            sql.execute("DELETE FROM message WHERE id = ?", (message,))

    def remove_if_empty(self, conversation: int) -> bool:
        """Whether the conversation had no message, and is gone now."""
        with self.transaction() as sql:
            done = sql.execute(
                "DELETE FROM conversation WHERE id = ?"
                " AND NOT EXISTS (SELECT 1 FROM message m WHERE m.conversation = conversation.id)",
                (conversation,),
            )
            return done.rowcount > 0

    # Searching.

    def search(self, query: str, limit: int = 100) -> list[SearchHit]:
        """Messages of all branches, and titles, that contain every word of ``query``.

        By LIKE, over everything: FTS5's trigrams cannot find words of two characters, which most
        Chinese words are, and make the file four times as large; a scan of 200,000 messages of 30
        characters took 50 ms where that was tried.
        """
        words = [convert.clean(word) for word in query.split()]
        if not words:
            return []
        patterns = [f"%{convert.escape(word)}%" for word in words]
        titles = " AND ".join("c.title LIKE ? ESCAPE '\\'" for _ in words)
        texts = " AND ".join("m.text LIKE ? ESCAPE '\\'" for _ in words)
        rows = self._sql.execute(
            f"SELECT {_INFO}, NULL, '' FROM conversation c"
            f" WHERE c.deleted IS NULL AND {titles} ORDER BY c.updated DESC LIMIT ?",
            (*patterns, limit),
        ).fetchall()
        rows += self._sql.execute(
            f"SELECT {_INFO}, m.id, m.text FROM message m JOIN conversation c"
            f" ON c.id = m.conversation WHERE c.deleted IS NULL AND m.deleted IS NULL AND {texts}"
            " ORDER BY m.id DESC LIMIT ?",
            (*patterns, limit),
        ).fetchall()
        # A title says nothing more where the message it was made of is there too.
        told = {row[0] for row in rows if row[6] is not None}
        rows = [row for row in rows if row[6] is not None or row[0] not in told][:limit]
        return [
            SearchHit(convert.info(row[:6]), row[6], convert.snippet(row[7], words[0]))
            for row in rows
        ]

    # Settings.

    def setting(self, name: str, default: Any = None) -> Any:
        row = self._sql.execute("SELECT value FROM setting WHERE name = ?", (name,)).fetchone()
        return default if row is None else json.loads(row[0])

    def next_settings(self) -> ChatSettings | None:
        """What the next conversation begins with; None where nothing was chosen yet."""
        found = self.setting("next", None)
        return convert.read_settings(*found) if found else None

    def save_next_settings(self, settings: ChatSettings) -> None:
        found = [convert.write_settings(settings), settings.persona, settings.model]
        self.save_setting("next", found)

    def save_setting(self, name: str, value: Any) -> None:
        with self.transaction() as sql:
            sql.execute(
                "INSERT INTO setting VALUES (?, ?)"
                " ON CONFLICT (name) DO UPDATE SET value = excluded.value",
                (name, json.dumps(value)),
            )
