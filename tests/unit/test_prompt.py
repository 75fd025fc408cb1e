"""The prompt layouts, against BERT's tokenizer and the formats of CDial-GPT and GPT2-chitchat."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from transformers import BertTokenizerFast

from server_bundle.chitchat.folder import CheckpointError
from server_bundle.chitchat.prompt import InvalidPrompt, PromptLayout, normalise
from tests.support.chat import MODEL

LAYOUT = PromptLayout.from_folder(MODEL)
USER, BOT = 13086, 13087


def ids(text: str) -> list[int]:
    return [LAYOUT.tokens.index(c) for c in text]


def folder(path: Path, tokens: list[str]) -> Path:
    (path / "vocab.txt").write_text("\n".join(tokens) + "\n", encoding="utf-8")
    (path / "config.json").write_text(json.dumps({"n_positions": 40}))
    return path


def test_the_shipped_model_has_cdial_gpts_ids() -> None:
    assert len(LAYOUT.tokens) == 13088
    assert (LAYOUT.cls, LAYOUT.pad, LAYOUT.sep, LAYOUT.unk) == (0, 1, 2, 3)
    assert LAYOUT.speakers == (USER, BOT)
    assert LAYOUT.vocabulary.stop == 2
    assert set(LAYOUT.vocabulary.banned) == {0, 1, 3, USER, BOT}


def test_cdial_gpts_layout() -> None:
    prompt = LAYOUT.encode(["你好", "嗨"], "累", reserve=64)
    assert prompt.ids == [0, USER, *ids("你好"), BOT, *ids("嗨"), USER, *ids("累"), BOT]
    assert prompt.types == [0, USER, USER, USER, BOT, BOT, USER, USER, BOT]
    assert prompt.reply_type == BOT
    assert prompt.dropped_turns == 0


def test_a_reply_prefix_ends_the_prompt_as_the_reply_itself_would() -> None:
    prompt = LAYOUT.encode(["你好", "嗨"], "累", 64, "听起来")
    bare = LAYOUT.encode(["你好", "嗨"], "累", 64)
    assert prompt.ids == [*bare.ids, *ids("听起来")]
    assert bare.types is not None
    assert prompt.types == [*bare.types, BOT, BOT, BOT]
    assert LAYOUT.encode(["你好" * 100, "嗨"], "累", 64, "听" * 300).dropped_turns == 2
    assert len(LAYOUT.encode([], "累", 64, "听" * 507).ids) == 511
    with pytest.raises(InvalidPrompt, match="the reply has 508 characters already"):
        LAYOUT.encode([], "累", 64, "听" * 508)


def test_gpt2_chitchats_layout(tmp_path: Path) -> None:
    tokens = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "你", "好"]
    layout = PromptLayout.from_folder(folder(tmp_path, tokens))
    prompt = layout.encode(["你好", "好"], "你", reserve=8)
    assert prompt.ids == [2, 5, 6, 3, 6, 3, 5, 3]
    assert prompt.types is None
    assert set(layout.vocabulary.banned) == {0, 1, 2, 4}


@given(st.text(st.characters(codec="utf-8"), max_size=30))
def test_characters_become_the_ids_berts_tokenizer_gives_them(text: str) -> None:
    tokenizer = test_characters_become_the_ids_berts_tokenizer_gives_them.tokenizer  # type: ignore[attr-defined]
    # The tokenizer's own clean-up drops U+FFFD and NUL; a character that stands alone becomes one
    # token, or several where BERT decomposes it.
    expected = tokenizer(" ".join(text), add_special_tokens=False)["input_ids"]
    got = LAYOUT.encode_text(text)
    # Hangul is decomposed into jamo by NFD, which the word-piece step then merges into one [UNK].
    if not any("\u1100" <= c <= "\u11ff" or "\uac00" <= c <= "\ud7a3" for c in text):
        assert [i for i in got if i != LAYOUT.unk] == [i for i in expected if i != LAYOUT.unk]


test_characters_become_the_ids_berts_tokenizer_gives_them.tokenizer = (  # type: ignore[attr-defined]
    BertTokenizerFast.from_pretrained(MODEL)
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("你 好\n\t呀", "你好呀"),
        ("ABC é", "abce"),
        ("a\x00b\x1bc\u200b\ufeffd", "abcd"),
        ("　全角　", "全角"),
    ],
)
def test_normalise(text: str, expected: str) -> None:
    assert normalise(text) == expected


def test_the_oldest_pairs_are_dropped_so_that_a_user_turn_comes_first() -> None:
    history = [c * 50 for c in "你好我在他们是的"]
    prompt = LAYOUT.encode(history, "累", reserve=250)
    assert prompt.dropped_turns == 4
    assert prompt.ids[1:4] == [USER, *ids("他他")]
    assert len(prompt.ids) + 250 <= LAYOUT.context


def test_a_reserve_beyond_half_the_context_does_not_cost_the_whole_history() -> None:
    assert LAYOUT.encode(["你" * 50, "好" * 50], "累", reserve=512).dropped_turns == 0


def test_a_long_message_gets_less_room_for_its_reply_before_it_is_refused() -> None:
    prompt = LAYOUT.encode(["你", "好"], "累" * 490, reserve=64)
    assert prompt.dropped_turns == 2
    assert len(prompt.ids) == 493
    with pytest.raises(InvalidPrompt, match="1,000 characters; this model reads at most 492"):
        LAYOUT.encode([], "累" * 1000, reserve=64)
    assert len(LAYOUT.encode([], "累" * 492, reserve=64).ids) < LAYOUT.context


@pytest.mark.parametrize(
    ("history", "text", "sentence"),
    [
        ([], " \n", "the message is empty"),
        (["a"], "b", "in pairs, but it has 1 turns"),
        (["a", ""], "b", "turn 2 of the history is empty"),
    ],
)
def test_what_cannot_be_read(history: list[str], text: str, sentence: str) -> None:
    with pytest.raises(InvalidPrompt, match=sentence):
        LAYOUT.encode(history, text, reserve=64)


def test_word_pieces_lose_their_marks(tmp_path: Path) -> None:
    layout = PromptLayout.from_folder(
        folder(tmp_path, ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "##ing", "[speaker1]", "[speaker2]"])
    )
    assert layout.text(4) == "ing"
    assert layout.text(99) == ""


def test_separators_of_lines_that_are_tokens_do_not_shift_the_ids(tmp_path: Path) -> None:
    layout = PromptLayout.from_folder(
        folder(tmp_path, ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "\u2028", "\x85", "好"])
    )
    assert layout.encode_text("好") == [6]


@pytest.mark.parametrize("missing", ["[CLS]", "[PAD]", "[SEP]", "[UNK]"])
def test_a_vocabulary_without_a_special_token_is_refused(tmp_path: Path, missing: str) -> None:
    tokens = [t for t in ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "好") if t != missing]
    with pytest.raises(CheckpointError, match=missing.strip("[]")):
        PromptLayout.from_folder(folder(tmp_path, tokens))


def test_a_folder_without_a_vocabulary_is_refused(tmp_path: Path) -> None:
    with pytest.raises(CheckpointError, match=r"vocab\.txt"):
        PromptLayout.from_folder(tmp_path)


def test_the_opening_stays_when_the_history_is_dropped() -> None:
    opening = ["我是一只猫", "喵"]
    prompt = LAYOUT.encode(["你好" * 100, "嗨" * 60] * 2, "累", 64, opening=opening)
    lead = [0, USER, *ids("我是一只猫"), BOT, *ids("喵")]
    assert prompt.ids[: len(lead)] == lead
    assert prompt.dropped_turns == 2
    assert len(prompt.ids) + 64 <= 512
    assert LAYOUT.encode([], "累", 64, opening=opening) == LAYOUT.encode(opening, "累", 64)


@pytest.mark.parametrize(
    ("opening", "complaint"),
    [
        (["我是一只猫"], "opening must hold user and bot turns in pairs, but it has 1 turns"),
        (["我是一只猫", " "], "turn 2 of the opening is empty"),
        (["好" * 400, "好" * 100], "the opening has 500 characters"),
    ],
)
def test_an_opening_that_cannot_be_read(opening: list[str], complaint: str) -> None:
    with pytest.raises(InvalidPrompt, match=complaint):
        LAYOUT.encode([], "累", 64, opening=opening)


@given(
    opening=st.lists(st.text("好累", min_size=1, max_size=90), max_size=2),
    history=st.lists(st.text("好累", min_size=1, max_size=200), max_size=6),
    text=st.text("好累", min_size=1, max_size=300),
    begun=st.text("好累", max_size=200),
)
def test_a_prompt_always_leaves_room_to_go_on(
    opening: list[str], history: list[str], text: str, begun: str
) -> None:
    opening, history = opening[: len(opening) // 2 * 2], history[: len(history) // 2 * 2]
    try:
        prompt = LAYOUT.encode(history, text, 80, begun, opening)
    except InvalidPrompt:
        assert len(text) + len(begun) + sum(map(len, opening)) + len(opening) > 480
        return
    assert len(prompt.ids) < LAYOUT.context
