"""Export and import: JSON gives the same conversation back; the rest can be read anywhere."""

from __future__ import annotations

import json
import math
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from desktop.store import transfer
from desktop.store.database import Database
from desktop.store.records import ChatSettings, ConversationInfo, Message, Role, Stage, new_id
from desktop.store.transfer import TransferError
from desktop.triton.types import Alternative, Finished, Sampling, Token
from tests.store.conftest import token

SAMPLE = Path(__file__).parents[2] / "resources" / "samples" / "conversation.json"


def sample(database: Database) -> int:
    """A conversation with branches, a choice by hand and a reply that broke off."""
    info = ConversationInfo(new_id(), "周末 <b> *去哪*")
    database.create(info, ChatSettings(Sampling(temperature=0.5, seed=2**60), 3, "我是猫\n喵", "m"))
    user = Message(Role.USER, "a <i>b</i>\n_c_ & 好")
    database.add_message(info.id, user)
    by_hand = Token("<", 9, math.nan, 0.05, (Alternative("<", 9, 0.05), Alternative('"', 8, 0.4)))
    shown = Message(Role.REPLY, "好<", parent=user.id, tokens=[token("好", 0.95), by_hand])
    shown.finished = Finished("stop", "好<", 2, 12, 0.25, 99.5)
    shown.mean_probability, shown.model = 0.5, "m"
    database.add_message(info.id, shown)
    other = Message(Role.REPLY, "坏", parent=user.id, tokens=[token("坏")])
    other.stage, other.error = Stage.FAILED, "the server ended the request"
    database.add_message(info.id, other)
    database.activate(info.id, user.id, shown.id)
    return info.id


def shape(conversation: transfer.Conversation) -> list[object]:
    """Everything but the ids; NaN as a word so that it equals itself."""
    places = {m.id: n for n, m in enumerate(conversation.messages)}
    return [
        conversation.info.title,
        conversation.settings,
        [places[m.id] for m in conversation.path],
        [
            (
                m.role,
                m.text,
                m.stage,
                m.error,
                m.finished,
                m.mean_probability,
                None if m.parent is None else places[m.parent],
                repr(m.tokens),
                m.model,
            )
            for m in conversation.messages
        ],
    ]


def test_json_gives_everything_back(database: Database, tmp_path: Path) -> None:
    first = sample(database)
    file = tmp_path / "x.json"
    transfer.export(database, first, file)
    second = transfer.import_file(database, file)
    assert second != first
    before, after = transfer.read(database, first), transfer.read(database, second)
    mended = shape(after)
    expected = shape(before)
    # A mean is computed anew from the tokens.
    assert [m[:5] + m[6:] for m in mended[3]] == [m[:5] + m[6:] for m in expected[3]]  # type: ignore[index,attr-defined]
    assert mended[:3] == expected[:3]
    assert len(database.conversations()) == 2


def test_a_fixed_answer_comes_back(database: Database, tmp_path: Path) -> None:
    """Its one token is of no vocabulary."""
    first = sample(database)
    words = "请拨打 12356"
    user = Message(Role.USER, "x", parent=None)
    fixed = Message(Role.REPLY, words, parent=user.id, tokens=[Token(words, -1, 1.0, 1.0, ())])
    fixed.finished = Finished("care", words, 1, 3, 0.1, None)
    for message in (user, fixed):
        database.add_message(first, message)
    transfer.export(database, first, tmp_path / "x.json")
    second = transfer.import_file(database, tmp_path / "x.json")
    found = [m for m in transfer.read(database, second).messages if m.text == words]
    assert [m.tokens for m in found] == [fixed.tokens]
    assert found[0].finished == fixed.finished


def test_the_sample_comes_in(database: Database) -> None:
    """The README offers it; its tokens have what the window draws."""
    found = transfer.read(database, transfer.import_file(database, SAMPLE))
    replies = [m for m in found.path if m.role is Role.REPLY]
    assert len(replies) == 4
    for reply in replies:
        assert "".join(t.text for t in reply.tokens) == reply.text
        assert all(len(t.alternatives) >= 5 for t in reply.tokens)


class Text(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.text = ""
        self.tags: list[str] = []
        self.classes: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.classes += [value or "" for name, value in attrs if name == "class"]

    def handle_data(self, data: str) -> None:
        self.text += data


def test_html_has_the_colours_and_cannot_be_broken_by_a_text(
    database: Database, tmp_path: Path
) -> None:
    file = tmp_path / "x.html"
    transfer.export(database, sample(database), file)
    page = Text()
    page.feed(file.read_text("utf-8"))
    assert "周末 <b> *去哪*" in page.text
    assert "a <i>b</i>_c_ & 好" in page.text
    assert not {"b", "i", "script"} & set(page.tags)
    assert page.classes == ["user", "reply", "t0", "t4 u"]
    assert "坏" not in page.text  # another branch
    assert "5.0%" in file.read_text("utf-8")


def test_markdown_is_escaped(database: Database, tmp_path: Path) -> None:
    file = tmp_path / "x.md"
    transfer.export(database, sample(database), file)
    assert file.read_text("utf-8") == (
        "# 周末 \\<b\\> \\*去哪\\*\n\n"
        "**User**: a \\<i\\>b\\</i\\>  \n\\_c\\_ & 好\n\n"
        "**Tritalk**: 好\\<\n"
    )


def test_what_cannot_be_written_is_said_and_leaves_the_old_file(
    database: Database, tmp_path: Path
) -> None:
    conversation = sample(database)
    with pytest.raises(TransferError, match="must end in"):
        transfer.export(database, conversation, tmp_path / "x.docx")
    with pytest.raises(TransferError, match="cannot be written"):
        transfer.export(database, conversation, tmp_path / "no folder" / "x.md")
    kept = tmp_path / "x.md"
    kept.write_text("old")
    with pytest.raises(TransferError, match="does not exist any more"):
        transfer.export(database, 1, kept)
    assert kept.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"\xff\xfe\x00", "holds no UTF-8 text"),
        (b"", "no JSON"),
        (b"[" * 100_000, "no JSON"),
        (b"[]", "no conversation exported by Tritalk"),
        (b'{"format": "tritalk-conversation", "version": 2}', "newer Tritalk"),
        (b'{"format": "tritalk-conversation", "version": 1}', "is damaged"),
    ],
)
def test_files_that_are_none_of_ours(
    database: Database, tmp_path: Path, content: bytes, sentence: str
) -> None:
    file = tmp_path / "x.json"
    file.write_bytes(content)
    with pytest.raises(TransferError, match=sentence):
        transfer.import_file(database, file)
    with pytest.raises(TransferError, match="cannot be read"):
        transfer.import_file(database, tmp_path / "nothing.json")
    assert database.conversations() == []


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(st.data())
def test_a_file_with_anything_in_any_place_is_read_or_refused_in_words(data: st.DataObject) -> None:
    good = {
        "format": "tritalk-conversation",
        "version": 1,
        "title": "x",
        "created": 1.0,
        "updated": 1.0,
        "settings": {"sampling": {"top_k": 3}, "history_turns": 2},
        "messages": [
            {"parent": None, "shown": True, "role": "user", "text": "问"},
            {
                "parent": 0,
                "shown": True,
                "role": "reply",
                "text": "答",
                "stage": "done",
                "error": "",
                "finish_reason": "stop",
                "input_tokens": 3,
                "seconds_to_first_token": None,
                "tokens_per_second": 2.0,
                "tokens": [
                    {
                        "text": "答",
                        "id": 5,
                        "confidence": None,
                        "probability": 0.5,
                        "alternatives": [["答", 5, 0.5]],
                    }
                ],
            },
        ],
    }
    assert len(transfer.from_json(json.dumps(good)).path) == 2

    places: list[tuple[object, object]] = []

    def walk(at: object) -> None:
        items = (
            at.items() if isinstance(at, dict) else enumerate(at) if isinstance(at, list) else ()
        )
        for key, value in items:
            places.append((at, key))
            walk(value)

    walk(good)
    holder, key = data.draw(st.sampled_from(places))
    holder[key] = data.draw(anything)  # type: ignore[index]
    said = ""
    try:
        found = transfer.from_json(json.dumps(good))
    except TransferError as error:
        said = str(error)
    assert said or all(isinstance(m.text, str) for m in found.messages)
    assert "\n" not in said
