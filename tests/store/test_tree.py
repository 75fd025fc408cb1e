"""Branches: whatever is done to a tree of messages, its file gives the same one back."""

from __future__ import annotations

import tempfile
from pathlib import Path

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from desktop.store.database import Database
from desktop.store.records import Message, Role, Stage
from desktop.store.schema import open_file
from desktop.store.tree import MessageTree
from tests.store.conftest import start, token


def grow(*texts: str) -> tuple[MessageTree, list[Message]]:
    """A straight conversation, user first."""
    tree, made = MessageTree(), []
    for number, text in enumerate(texts):
        parent = made[-1].id if made else None
        made.append(Message(Role.REPLY if number % 2 else Role.USER, text, parent=parent))
        tree.add(made[-1])
    return tree, made


def test_a_branch_is_shown_instead_of_its_siblings_and_back() -> None:
    tree, (user, reply, later, _) = grow("问", "答", "再问", "再答")
    other = Message(Role.REPLY, "另答", parent=user.id)
    tree.add(other)
    assert [m.text for m in tree.path()] == ["问", "另答"]
    assert tree.siblings(other) == [reply, other]
    tree.activate(reply)
    assert [m.text for m in tree.path()] == ["问", "答", "再问", "再答"]
    tree.remove(later)
    assert [m.text for m in tree.path()] == ["问", "答"]
    tree.remove(reply)
    assert [m.text for m in tree.path()] == ["问", "另答"]


def test_history_takes_whole_exchanges_only() -> None:
    tree, made = grow("甲", "一", "乙", "二", "丙", "", "丁")
    made[5].stage = Stage.FAILED
    assert tree.history(made[-1], 9) == ["甲", "一", "乙", "二"]
    assert tree.history(made[-1], 1) == ["乙", "二"]
    assert tree.history(made[-1], 0) == []


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(
        st.tuples(st.sampled_from(["add", "activate", "remove"]), st.integers(0, 99), st.text()),
        max_size=25,
    )
)
def test_the_file_gives_the_same_tree_back(steps: list[tuple[str, int, str]]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "x.db"
        connection, _ = open_file(path)
        database = Database(connection)
        conversation = start(database)
        tree = MessageTree()
        for action, number, text in steps:
            known = tree.messages()
            one = known[number % len(known)] if known else None
            if action == "add" or one is None:
                parent = None if number % 4 == 0 or one is None else one.id
                reply = one is not None and parent is not None and one.role is Role.USER
                message = Message(Role.REPLY if reply else Role.USER, text, parent=parent)
                if reply:
                    message.tokens = [token(c) for c in text]
                tree.add(message)
                database.add_message(conversation, message)
            elif action == "activate":
                tree.activate(one)
                database.activate(conversation, one.parent, one.id)
            else:
                parent_of = one.parent
                taken = tree.remove(one)
                database.delete_messages([m.id for m in taken])
                left = [m for m in tree.messages() if m.parent == parent_of]
                shown = [m for m in tree.path() if m.parent == parent_of]
                if left and shown:
                    database.activate(conversation, parent_of, shown[0].id)
        expected = [(m.id, m.text, m.role) for m in tree.path()]
        everything = {m.id for m in tree.messages()}
        connection.close()

        connection, notices = open_file(path)
        assert notices == []
        database = Database(connection)
        stored = database.load(conversation)
        assert stored is not None
        again = MessageTree(stored.messages, stored.active_root)

        def kept(text: str) -> str:
            return text.encode("utf-8", "replace").decode().replace("\x00", "\ufffd")

        assert [(m.id, m.text, m.role) for m in again.path()] == [
            (i, kept(t), r) for i, t, r in expected
        ]
        assert {m.id for m in again.messages()} == everything
        connection.close()
