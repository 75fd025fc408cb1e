"""Backups: complete while the database is in use, and nothing bad comes back out of one."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import struct
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from desktop import backup, paths, restore
from desktop import settings as stored
from desktop.addresses.tables import Table
from desktop.addresses.workfile import WorkFile
from desktop.settings import RemoteSettings, Settings
from desktop.store.records import DEFAULT_SETTINGS, ConversationInfo, Message, Role, new_id
from desktop.store.worker import StoreWorker, default_path
from desktop.triton.types import InvalidInput, Token, TritalkError

SECRET = "s3cret-token"


@pytest.fixture
def store(fresh_home: Path) -> Any:
    worker = StoreWorker(default_path(), lambda notice: None)
    yield worker
    worker.close()


def talk(store: StoreWorker, *texts: str) -> list[int]:
    """A conversation for each text; their ids."""
    ids = []
    for text in texts:
        info = ConversationInfo(new_id(), text)
        message = Message(Role.USER, text)
        store.submit(lambda db, i=info, m=message: db.adopt(i, DEFAULT_SETTINGS, [m], [m])).result()
        ids.append(info.id)
    return ids


def titles(store: StoreWorker) -> set[str]:
    return {each.title for each in store.submit(lambda db: db.conversations()).result()}


def addresses(folder: Path, *rows: str) -> WorkFile:
    source = folder / "addresses.txt"
    source.write_text("\n".join(rows), encoding="utf-8")
    return WorkFile.create(Table.open(source), 0)


def put_back(store: StoreWorker, path: Path) -> Path:
    """What the window does."""
    checked = restore.check(path)
    aside = restore.keep_present({})
    store.submit(lambda db: restore.put_back(checked, db.replace_with)).result()
    checked.discard()
    return aside


def test_everything_comes_back_and_the_present_is_kept_aside(
    store: StoreWorker, tmp_path: Path
) -> None:
    talk(store, "甲", "乙")
    work = addresses(tmp_path, "杭州市西湖区", "上海市青浦区")
    work.add([(1, {"text": "杭州市西湖区"})])
    stored.save(replace(Settings(), device="cpu"))
    made = backup.write(tmp_path / "b.zip", {"theme": "dark"})
    assert (made.conversations, made.messages, made.address_files) == (2, 2, 1)

    talk(store, "丙")
    work.remove()
    stored.save(Settings())
    checked = restore.check(tmp_path / "b.zip")
    assert checked.preferences == {"theme": "dark"}
    checked.discard()
    aside = put_back(store, tmp_path / "b.zip")
    assert titles(store) == {"甲", "乙"}
    assert [w.counts().answered for w in WorkFile.all()] == [1]
    assert stored.load({}).device == "cpu"
    put_back(store, aside)
    assert titles(store) == {"甲", "乙", "丙"}
    assert stored.load({}).device == "auto"
    assert list(paths.data_dir().glob(".*")) == []


def test_no_secret_is_in_a_backup(store: StoreWorker, tmp_path: Path) -> None:
    remote = RemoteSettings(url="grpc://host:8001", token=SECRET)
    docker = replace(Settings().docker, pip_index_url=f"https://me:{SECRET}@pypi.example/simple")
    stored.save(Settings(launcher="remote", remote=remote, docker=docker))
    backup.write(tmp_path / "b.zip")
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        for name in archive.namelist():
            assert SECRET.encode() not in archive.read(name)
        assert "pypi.example" in archive.read(backup.SETTINGS).decode()
    # The token that is here stays, for the same server only.
    put_back(store, tmp_path / "b.zip")
    assert stored.load({}).remote.token == SECRET
    stored.save(Settings(remote=replace(remote, url="grpc://other:8001")))
    put_back(store, tmp_path / "b.zip")
    assert stored.load({}).remote == RemoteSettings(url="grpc://host:8001")


def test_what_was_deleted_is_in_no_backup(store: StoreWorker, tmp_path: Path) -> None:
    gone, _ = talk(store, "要删除的句子", "留下")
    store.submit(lambda db: db.delete(gone)).result()
    assert backup.write(tmp_path / "b.zip").conversations == 1
    with zipfile.ZipFile(tmp_path / "b.zip") as archive:
        assert "要删除的句子".encode() not in archive.read(backup.DATABASE)


def test_a_backup_is_whole_while_replies_stream(store: StoreWorker, tmp_path: Path) -> None:
    """Tokens go on being written between any two pages that are copied."""
    (conversation,) = talk(store, "问")
    message = Message(Role.REPLY)
    store.submit(lambda db: db.add_message(conversation, message)).result()
    written = 0

    def write(share: float) -> None:
        nonlocal written
        token = Token("字", 1, 0.5, 0.5, ())
        at, written = written, written + 1
        store.submit(lambda db: db.append_tokens(message.id, at, [token])).result()

    backup.write(tmp_path / "b.zip", tell=write)
    assert written > 2
    checked = restore.check(tmp_path / "b.zip")
    checked.discard()
    assert len(store.submit(lambda db: db.tokens(message.id)).result()) == written


def test_a_cancelled_or_failed_backup_leaves_the_last_one(
    store: StoreWorker, tmp_path: Path
) -> None:
    target = tmp_path / "out" / "b.zip"
    backup.write(target)
    before = target.read_bytes()
    with pytest.raises(backup.Cancelled):
        backup.write(target, cancelled=lambda: True)
    assert target.read_bytes() == before
    assert list(target.parent.iterdir()) == [target]
    with pytest.raises(TritalkError, match="cannot be written"):
        backup.write(target / "below.zip")


def test_a_restore_that_breaks_off_changes_nothing(store: StoreWorker, tmp_path: Path) -> None:
    talk(store, "甲")
    backup.write(tmp_path / "b.zip")
    talk(store, "乙")
    checked = restore.check(tmp_path / "b.zip")
    assert checked.database is not None
    # Damaged after it was looked through: SQLite stops in the middle.
    size = checked.database.stat().st_size
    with checked.database.open("r+b") as file:
        file.truncate(size // 2)
    with pytest.raises(InvalidInput, match=DAMAGED):
        store.submit(lambda db: db.replace_with(checked.database)).result()
    checked.discard()
    assert titles(store) == {"甲", "乙"}


def test_a_file_that_is_worked_on_is_not_replaced(store: StoreWorker, tmp_path: Path) -> None:
    work = addresses(tmp_path, "杭州市西湖区")
    backup.write(tmp_path / "b.zip")
    work.add([(1, {"text": "杭州市西湖区"})])
    checked = restore.check(tmp_path / "b.zip")
    with work.lock(), pytest.raises(InvalidInput, match="working on"):
        restore.put_back(checked, lambda path: pytest.fail("the store was replaced"))
    checked.discard()
    assert work.counts().answered == 1


# Files that must not come in.

Change = Callable[[dict[str, bytes], dict[str, Any]], None]


def rewrite(source: Path, target: Path, change: Change, *, sign: bool = True) -> Path:
    """A backup with other members. ``sign``: the manifest says what is really there."""
    with zipfile.ZipFile(source) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    manifest = json.loads(members.pop(backup.MANIFEST))
    change(members, manifest)
    if sign:
        manifest["members"] = {
            name: {"size": len(data), "sha256": hashlib.sha256(data).hexdigest()}
            for name, data in members.items()
        }
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members.items():
            archive.writestr(name, data)
        archive.writestr(backup.MANIFEST, json.dumps(manifest))
    return target


def changed_database(sql: str, folder: Path) -> Change:
    def change(members: dict[str, bytes], manifest: dict[str, Any]) -> None:
        path = folder / "changed.db"
        path.write_bytes(members[backup.DATABASE])
        connection = sqlite3.connect(path)
        connection.executescript(sql)
        connection.close()
        members[backup.DATABASE] = path.read_bytes()

    return change


def tearing(members: dict[str, bytes], manifest: dict[str, Any]) -> None:
    data = bytearray(members[backup.DATABASE])
    data[len(data) // 2 :] = b"\xff" * (len(data) - len(data) // 2)
    members[backup.DATABASE] = bytes(data)


def put(name: str, data: bytes) -> Change:
    return lambda members, manifest: members.__setitem__(name, data)


def say(key: str, value: Any) -> Change:
    return lambda members, manifest: manifest.__setitem__(key, value)


NEWER = "made by a newer Tritalk"
DAMAGED = "the backup is damaged"
FOREIGN = "does not belong there"


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (say("version", backup.VERSION + 1), NEWER),
        (say("schema", 999), NEWER),
        (say("version", "1"), DAMAGED),
        (say("created", None), DAMAGED),
        (say("format", "something else"), "no backup made by Tritalk"),
        (put("../../evil.db", b"x"), FOREIGN),
        (put("/etc/passwd", b"x"), FOREIGN),
        (put("addresses/../../x.addresses", b"x"), FOREIGN),
        (put("addresses/..addresses", b"x"), FOREIGN),
        (put("run.sh", b"x"), FOREIGN),
        (put("addresses/a.addresses", b"no database"), DAMAGED),
        (put(backup.SETTINGS, b'{"no_such_setting": 1}'), DAMAGED),
        (put(backup.SETTINGS, b"[" * 50_000), DAMAGED),
        (put(backup.PREFERENCES, b'{"theme": 1}'), DAMAGED),
        (put(backup.SETTINGS, b" " * (2 << 20)), DAMAGED),
        (put("addresses/bomb.addresses", bytes(64 << 20)), DAMAGED),
        (tearing, DAMAGED),
    ],
    ids=range(17),
)
def test_a_backup_that_is_not_right_is_refused(
    store: StoreWorker, tmp_path: Path, change: Change, words: str
) -> None:
    talk(store, *"甲乙丙丁戊己庚辛壬癸")
    backup.write(tmp_path / "b.zip")
    bad = rewrite(tmp_path / "b.zip", tmp_path / "bad.zip", change)
    with pytest.raises(InvalidInput, match=words) as caught:
        restore.check(bad)
    assert "\n" not in str(caught.value)
    assert list(paths.data_dir().glob(".*")) == []
    assert titles(store) == set("甲乙丙丁戊己庚辛壬癸")


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("CREATE TRIGGER t AFTER INSERT ON message BEGIN DELETE FROM conversation; END", DAMAGED),
        ("CREATE VIEW v AS SELECT 1", DAMAGED),
        ("DROP TABLE token", DAMAGED),
        ("PRAGMA user_version = 999", NEWER),
        ("PRAGMA user_version = 0", DAMAGED),
        ("UPDATE message SET conversation = 5", DAMAGED),
    ],
)
def test_a_database_that_is_not_ours_is_refused(
    store: StoreWorker, tmp_path: Path, sql: str, words: str
) -> None:
    talk(store, "甲")
    backup.write(tmp_path / "b.zip")
    bad = rewrite(tmp_path / "b.zip", tmp_path / "bad.zip", changed_database(sql, tmp_path))
    with pytest.raises(InvalidInput, match=words):
        restore.check(bad)


def test_a_manifest_that_lies_is_not_believed(store: StoreWorker, tmp_path: Path) -> None:
    talk(store, "甲")
    backup.write(tmp_path / "b.zip")

    def swap(members: dict[str, bytes], manifest: dict[str, Any]) -> None:
        members[backup.SETTINGS] = b" " * len(members[backup.SETTINGS])

    bad = rewrite(tmp_path / "b.zip", tmp_path / "bad.zip", swap, sign=False)
    with pytest.raises(InvalidInput, match="another checksum"):
        restore.check(bad)
    # A member that unpacks to more than the zip's own directory says.
    data = bytearray((tmp_path / "b.zip").read_bytes())
    entry = data.rindex(b"PK\x01\x02", 0, data.rindex(backup.SETTINGS.encode()))
    struct.pack_into("<I", data, entry + 24, 1)
    (tmp_path / "bad.zip").write_bytes(data)
    with pytest.raises(InvalidInput, match=DAMAGED):
        restore.check(tmp_path / "bad.zip")


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 not really", b"SQLite format 3\x00" * 9])
def test_other_files_are_no_backups(fresh_home: Path, tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x.zip").write_bytes(content)
    with pytest.raises(InvalidInput, match="no backup made by Tritalk"):
        restore.check(tmp_path / "x.zip")
    with pytest.raises(TritalkError, match="cannot be read"):
        restore.check(tmp_path / "missing.zip")


def test_a_cut_backup_is_refused_wherever_it_was_cut(store: StoreWorker, tmp_path: Path) -> None:
    talk(store, "甲")
    backup.write(tmp_path / "b.zip")
    whole = (tmp_path / "b.zip").read_bytes()
    for part in range(1, 8):
        (tmp_path / "cut.zip").write_bytes(whole[: len(whole) * part // 8])
        with pytest.raises(InvalidInput):
            restore.check(tmp_path / "cut.zip")
    for place in range(30, len(whole), len(whole) // 40):
        flipped = bytearray(whole)
        flipped[place] ^= 0x55
        (tmp_path / "cut.zip").write_bytes(flipped)
        try:
            restore.check(tmp_path / "cut.zip").discard()
        except InvalidInput:
            continue
        # Where it is let through the bit told nothing: what came out has its checksum.
    assert list(paths.data_dir().glob(".*")) == []
