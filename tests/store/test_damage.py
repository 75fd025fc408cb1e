"""Files that cannot be used are set aside whole, with a notice, and a fresh one takes over."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from desktop.store.database import Database
from desktop.store.records import Message, Role, Stage
from desktop.store.schema import MIGRATIONS, Notice, NoticeKind, open_file
from desktop.store.worker import StoreWorker
from tests.store.conftest import exchange, start, token


def fill(path: Path, conversations: int = 40) -> None:
    connection, notices = open_file(path)
    assert notices == []
    database = Database(connection)
    for number in range(conversations):
        exchange(database, start(database, f"第{number}个"), "问" * 50, "答" * 50)
    connection.close()


def zero(path: Path) -> None:
    path.write_bytes(bytes(path.stat().st_size))


def truncate(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(path.stat().st_size // 2)


def truncate_oddly(path: Path) -> None:
    with path.open("r+b") as file:
        file.truncate(5000)


def scramble(path: Path) -> None:
    with path.open("r+b") as file:
        for place in range(8192, path.stat().st_size, 8192):
            file.seek(place)
            file.write(b"\xff" * 512)


def not_a_database(path: Path) -> None:
    path.write_text("就是一段文字" * 200)


@pytest.mark.parametrize("spoil", [zero, truncate, truncate_oddly, scramble, not_a_database])
def test_a_damaged_file_is_set_aside(path: Path, spoil: Callable[[Path], None]) -> None:
    fill(path)
    spoil(path)
    content = path.read_bytes()
    connection, notices = open_file(path)
    (notice,) = notices
    assert notice.kind is NoticeKind.DAMAGED
    assert Path(notice.detail).read_bytes() == content
    database = Database(connection)
    assert database.conversations() == []
    exchange(database, start(database), "问", "答")
    connection.close()
    connection, notices = open_file(path)
    assert notices == []
    assert len(Database(connection).conversations()) == 1
    connection.close()


def test_two_damaged_files_within_a_second_both_stay(path: Path) -> None:
    names = set()
    for _ in range(2):
        fill(path, 1)
        zero(path)
        connection, (notice,) = open_file(path)
        connection.close()
        names.add(notice.detail)
    assert len(names) == 2
    assert all(Path(name).exists() for name in names)


def test_an_empty_file_is_a_fresh_one(path: Path) -> None:
    path.parent.mkdir()
    path.touch()
    connection, notices = open_file(path)
    assert notices == []
    assert Database(connection).conversations() == []
    connection.close()


def test_a_newer_file_is_set_aside_unchanged(path: Path) -> None:
    fill(path, 3)
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    fresh, (notice,) = open_file(path)
    assert notice.kind is NoticeKind.NEWER
    assert Database(fresh).conversations() == []
    fresh.close()
    aside = sqlite3.connect(notice.detail)
    assert aside.execute("SELECT count(*) FROM conversation").fetchone() == (3,)
    aside.close()


def test_an_older_file_is_brought_up_to_date_step_by_step(path: Path) -> None:
    fill(path, 2)
    steps = (*MIGRATIONS, "ALTER TABLE conversation ADD COLUMN mood TEXT NOT NULL DEFAULT 'calm'")
    connection, notices = open_file(path, steps)
    assert notices == []
    assert connection.execute("PRAGMA user_version").fetchone() == (len(steps),)
    moods = connection.execute("SELECT mood FROM conversation").fetchall()
    assert moods == [("calm",), ("calm",)]
    connection.close()


def test_a_file_of_the_first_version_gains_persona_and_model(path: Path) -> None:
    path.parent.mkdir(parents=True)
    connection, _ = open_file(path, MIGRATIONS[:1])
    kept = '{"sampling": {"temperature": 0.5, "stop": ["。"]}, "history_turns": 3}'
    connection.executescript(
        f"INSERT INTO conversation (id, title, created, updated, settings)"
        f" VALUES (1, '旧', 0, 0, '{kept}');"
        f"INSERT INTO message (id, conversation, role, text, stage)"
        f" VALUES (2, 1, 'reply', '好', 'done')"
    )
    connection.close()
    connection, notices = open_file(path)
    assert notices == []
    stored = Database(connection).load(1)
    assert stored is not None
    assert stored.settings is not None
    assert stored.settings.history_turns == 3
    assert stored.settings.sampling.temperature == 0.5
    assert (stored.settings.persona, stored.settings.model) == ("", "")
    assert stored.messages[0].model == ""
    connection.close()


def test_a_step_that_fails_changes_nothing_and_loses_nothing(path: Path) -> None:
    fill(path, 2)
    steps = (*MIGRATIONS, "DELETE FROM token; CREATE UNIQUE INDEX once ON message (text)")
    connection, (notice,) = open_file(path, steps)
    assert notice.kind is NoticeKind.MEMORY
    connection.close()
    connection, notices = open_file(path)
    assert notices == []
    assert connection.execute("SELECT count(*) FROM token").fetchone() == (100,)
    connection.close()


def test_where_nothing_can_be_written_memory_takes_over(path: Path) -> None:
    path.parent.parent.mkdir(exist_ok=True)
    path.parent.write_text("a file where the folder should be")
    connection, (notice,) = open_file(path)
    assert notice.kind is NoticeKind.MEMORY
    exchange(Database(connection), start(Database(connection)), "问", "答")
    connection.close()


def test_damage_found_in_use_sets_the_file_aside(path: Path) -> None:
    fill(path)
    notices = []
    worker = StoreWorker(path, notices.append)
    assert len(worker.submit(Database.conversations).result(20)) == 40
    scramble(path)

    def read_all(database: Database) -> int:
        database._sql.execute("PRAGMA cache_size = 0")
        return sum(
            message.role is Role.USER
            for info in database.conversations(1000)
            for message in database.load(info.id).messages  # type: ignore[union-attr]
        )

    with pytest.raises(sqlite3.DatabaseError):
        worker.submit(read_all).result(20)
    assert worker.submit(Database.conversations).result(20) == []
    worker.close()
    assert [n.kind for n in notices] == [NoticeKind.DAMAGED]
    assert Path(notices[0].detail).exists()


def test_while_somebody_else_holds_the_file_everything_waits_in_order(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("desktop.store.schema._BUSY_SECONDS", 0.1)
    told = threading.Event()
    notices: list[Notice] = []

    def notice(one: Notice) -> None:
        notices.append(one)
        told.set()

    worker = StoreWorker(path, notice)
    conversation = worker.submit(start).result(20)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    reply = Message(Role.REPLY, stage=Stage.STREAMING)
    added = worker.submit(lambda d: d.add_message(conversation, reply))
    worker.append_tokens(reply.id, 0, [token("好")])
    renamed = worker.submit(lambda d: d.rename(conversation, "新名"))
    assert told.wait(20)
    assert not added.done()
    other.execute("COMMIT")
    other.close()
    renamed.result(20)
    stored = worker.submit(lambda d: d.load(conversation)).result(20)
    worker.close()
    assert stored is not None
    assert (stored.info.title, stored.messages[0].text) == ("新名", "好")
    assert [n.kind for n in notices] == [NoticeKind.UNWRITTEN]


def test_closing_does_not_wait_for_a_file_that_stays_held(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("desktop.store.schema._BUSY_SECONDS", 0.1)
    worker = StoreWorker(path, lambda notice: None)
    conversation = worker.submit(start).result(20)
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    renamed = worker.submit(lambda d: d.rename(conversation, "新名"))
    worker.close()
    assert isinstance(renamed.exception(0), sqlite3.OperationalError)
    other.close()
