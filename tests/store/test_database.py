"""What goes into the store comes out again: tokens, search, deletions, settings."""

from __future__ import annotations

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from desktop.store.database import Database
from desktop.store.records import ChatSettings, Message, Role, Stage, opening_turns
from desktop.store.schema import open_file
from desktop.triton.types import Alternative, Finished, Sampling, Token
from tests.store.conftest import exchange, start, token

shares = st.floats(0, 1, allow_nan=False)
words = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x00"), max_size=4)
alternatives = st.builds(Alternative, words, st.integers(0, 2**31), st.sampled_from([0.5, 0.25]))
some_tokens = st.lists(
    st.builds(
        Token, words, st.integers(0, 2**31), shares, shares, st.lists(alternatives).map(tuple)
    ),
    max_size=12,
)


@settings(max_examples=40, deadline=None)
@given(some_tokens, some_tokens)
def test_tokens_come_back_as_they_were(first: list[Token], second: list[Token]) -> None:
    connection, _ = open_file_in_memory()
    database = Database(connection)
    conversation = start(database)
    reply = Message(Role.REPLY)
    database.add_message(conversation, reply)
    database.append_tokens(reply.id, 0, first)
    database.append_tokens(reply.id, len(first), second)
    assert database.tokens(reply.id) == first + second
    stored = database.load(conversation)
    assert stored is not None
    assert stored.messages[0].text == "".join(t.text for t in first + second)
    connection.close()


def open_file_in_memory():  # type: ignore[no-untyped-def]
    import sqlite3

    from desktop.store.schema import MIGRATIONS, _migrate

    connection = sqlite3.connect(":memory:", isolation_level=None)
    _migrate(connection, MIGRATIONS)
    return connection, []


def test_persona_and_model_are_kept_with_the_conversation(database: Database) -> None:
    conversation = start(database)
    assert database.load(conversation).settings is None  # type: ignore[union-attr]
    chosen = ChatSettings(Sampling(temperature=0.5), 3, "我是一只猫\n喵", "cdial")
    database.save_settings(conversation, chosen)
    reply = Message(Role.REPLY, "好", tokens=[token("好")], model="cdial")
    database.add_message(conversation, reply)
    stored = database.load(conversation)
    assert stored is not None
    assert stored.settings == chosen
    assert stored.messages[0].model == "cdial"


@pytest.mark.parametrize(
    ("persona", "turns"),
    [
        ("", ()),
        (" \n\n", ()),
        ("我叫小林，养了一只猫", ("我叫小林，养了一只猫", "嗯，好的。")),
        ("你是谁\n 我是小林 \n", ("你是谁", "我是小林")),
        ("一\n二\n三", ("一", "二", "三", "嗯，好的。")),
    ],
)
def test_a_persona_is_pairs_of_turns(persona: str, turns: tuple[str, ...]) -> None:
    assert opening_turns(persona) == turns


def test_a_token_chosen_by_hand_has_no_confidence(database: Database) -> None:
    reply = Message(Role.REPLY, tokens=[Token("好", 1, math.nan, 0.1)])
    database.add_message(start(database), reply)
    (found,) = database.tokens(reply.id)
    assert math.isnan(found.confidence)


def test_how_a_reply_ended_is_kept(database: Database) -> None:
    conversation = start(database)
    reply = Message(Role.REPLY, "好", tokens=[token("好")])
    reply.finished = Finished("length", "好", 1, 12, 0.5, None)
    reply.mean_probability = 0.5
    database.add_message(conversation, reply)
    stored = database.load(conversation)
    assert stored is not None
    (found,) = stored.messages
    assert found.finished == reply.finished
    assert (found.stage, found.mean_probability) == (Stage.DONE, 0.5)
    assert not found.tokens_loaded


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("压力", ["最近工作压力有点大"]),
        ("压力 工作", ["最近工作压力有点大"]),
        ("HELLO", ["say hello_world 100%"]),
        ("o_w", ["say hello_world 100%"]),
        ("_", ["say hello_world 100%"]),
        ("100%", ["say hello_world 100%"]),
        ("不存在", []),
        ("  ", []),
        ("\\", []),
    ],
)
def test_search_finds_words_in_all_messages(
    database: Database, query: str, found: list[str]
) -> None:
    exchange(database, start(database, "一"), "最近工作压力有点大", "听起来很累")
    exchange(database, start(database, "二"), "say hello_world 100%", "嗨")
    hits = database.search(query)
    assert len(hits) == len(found)
    for hit, text in zip(hits, found, strict=True):
        assert text.endswith(hit.snippet.removeprefix("…"))
        assert query.split(maxsplit=1)[0].lower() in hit.snippet.lower()
    assert all(hit.message is not None for hit in hits)


def test_search_finds_titles_and_other_branches_but_nothing_deleted(database: Database) -> None:
    conversation = start(database, "周末计划")
    exchange(database, conversation, "去公园", "好")
    user, _ = exchange(database, conversation, "去爬山", "好")
    assert [h.info.id for h in database.search("周末")] == [conversation]
    assert [h.snippet for h in database.search("公园")] == ["去公园"]
    database.delete_messages([user])
    assert database.search("爬山") == []
    database.restore_messages([user])
    assert len(database.search("爬山")) == 1
    database.delete(conversation)
    assert database.search("公园") == database.search("周末") == database.conversations() == []
    assert database.load(conversation) is None
    database.restore(conversation)
    assert len(database.search("公园")) == 1


def test_deleted_conversations_go_for_good_at_a_later_start(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    conversation = start(database)
    _, reply = exchange(database, conversation, "问", "答")
    database.delete(conversation)
    database.recover()
    database.restore(conversation)
    assert len(database.tokens(reply)) == 1
    database.delete(conversation)
    monkeypatch.setattr("desktop.store.database._UNDO_SECONDS", -1.0)
    database.recover()
    database.restore(conversation)
    assert database.conversations() == []
    assert database.tokens(reply) == []


def test_the_list_has_pinned_ones_first_then_the_latest(database: Database) -> None:
    ids = [start(database, str(n), created=float(n), updated=float(n)) for n in range(1, 6)]
    database.pin(ids[1], True)
    assert [c.title for c in database.conversations()] == ["2", "5", "4", "3", "1"]
    assert [c.title for c in database.conversations(2, 1)] == ["5", "4"]
    exchange(database, ids[0], "问", "答案")
    top = database.conversations()[1]
    assert (top.title, top.preview) == ("1", "答案")
    database.rename(ids[0], "新名")
    info = database.info(ids[0])
    assert info is not None
    assert info.title == "新名"


def test_drafts_and_settings_belong_to_their_conversation(database: Database) -> None:
    one, other = start(database), start(database)
    chosen = ChatSettings(Sampling(temperature=1.5, seed=2**62), 4)
    database.save_settings(one, chosen)
    database.save_draft(one, "写了一\n半\x00")
    first, second = database.load(one), database.load(other)
    assert first is not None
    assert second is not None
    assert (first.settings, first.draft) == (chosen, "写了一\n半\ufffd")
    assert (second.settings, second.draft) == (None, "")
    database.save_setting("page", [1, "二"])
    database.save_setting("page", [2])
    assert database.setting("page") == [2]
    assert database.setting("nothing", 5) == 5


def test_settings_of_another_version_do_not_lock_a_conversation(database: Database) -> None:
    conversation = start(database)
    for text in ('{"sampling": {"magic": 1, "top_k": 3}}', "not json", "[1]", "{}"):
        database._set(conversation, "settings", text)
        stored = database.load(conversation)
        assert stored is not None
        if "top_k" in text:
            assert stored.settings is not None
            assert stored.settings.sampling == Sampling(top_k=3)


def test_a_message_nobody_answered_leaves_nothing(database: Database) -> None:
    conversation = start(database)
    user, reply = exchange(database, conversation, "问", "答")
    database.remove_message(user)
    assert database.tokens(reply) == []
    assert database.remove_if_empty(conversation)
    assert database.conversations() == []


def test_only_the_owner_may_read_the_file(database: Database, path) -> None:  # type: ignore[no-untyped-def]
    exchange(database, start(database), "秘密", "好")
    for each in path.parent.iterdir():
        assert each.stat().st_mode & 0o077 == 0, each
    again, notices = open_file(path)
    assert notices == []
    again.close()
