"""What the chat training reads, keeps out, shortens and encodes."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from random import Random

import pytest

from server_bundle.chitchat.prompt import PromptLayout
from server_bundle.training.chitchat.__main__ import EVERYDAY, JUDGED, STARTER
from server_bundle.training.chitchat.batches import Mixture, group
from server_bundle.training.chitchat.dialogues import (
    EXCHANGES,
    LONG,
    SMALL_TALK,
    Dialogue,
    DialogueError,
    hold_out,
    read_all,
    read_text,
)
from server_bundle.training.chitchat.exclude import Exclusion, read_messages
from server_bundle.training.chitchat.windows import WindowMaker, encode_window
from server_bundle.training.chitchat.wording import shorten_message, shorten_reply, vary

LAYOUT = PromptLayout.from_folder(STARTER)


def test_text_files_hold_dialogues_between_blank_lines(tmp_path: Path) -> None:
    file = tmp_path / "mine.txt"
    file.write_text(
        "# a note\nU: 下雨了\nB: 带伞了吗？\nu：带了\nB：那就好。\n\n\nU: 早\nB: 早呀\nU: 在吗\n",
        encoding="utf-8",
    )
    assert [d.turns for d in read_text(file)] == [
        ("下雨了", "带伞了吗？", "带了", "那就好。"),
        ("早", "早呀"),  # nobody answered the last message
    ]


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("B: 你好\n", "line 1"),
        ("U: 你好\nU: 在吗\n", "line 2"),
        ("U: 你好\nB:\n", "line 2"),
        ("U: 你好\n你好呀\n", "line 2"),
    ],
)
def test_a_wrong_line_is_named(tmp_path: Path, text: str, place: str) -> None:
    file = tmp_path / "mine.txt"
    file.write_text(text, encoding="utf-8")
    with pytest.raises(DialogueError, match=place):
        list(read_text(file))


def test_json_lines_are_read_from_a_folder_packed_or_not(tmp_path: Path) -> None:
    rows = [
        {"turns": ["甲", "乙", "丙"], "source": "x", "split": "valid"},
        {"turns": ["丁", "戊"], "source": "smalltalk"},
    ]
    with gzip.open(tmp_path / "a.jsonl.gz", "wt", encoding="utf-8") as stream:
        stream.writelines(json.dumps(row) + "\n" for row in rows)
    (tmp_path / "b.jsonl").write_text('{"turns": ["己", "庚"]}\n')
    found = read_all([tmp_path], LONG)
    assert found == [
        Dialogue(("甲", "乙"), LONG, "x", True),
        Dialogue(("丁", "戊"), SMALL_TALK, "smalltalk"),
        Dialogue(("己", "庚"), LONG, "b"),
    ]


@pytest.mark.parametrize("line", ["[1]", '{"a": 1}', '{"turns": ["x", 3]}', "{", '{"turns": []}'])
def test_a_wrong_json_line_is_named(tmp_path: Path, line: str) -> None:
    (tmp_path / "a.jsonl").write_text('{"turns": ["己", "庚"]}\n' + line)
    with pytest.raises(DialogueError, match="line 2"):
        read_all([tmp_path], LONG)


def test_held_out_dialogues_stay_so_when_others_are_added() -> None:
    some = [Dialogue((f"第{i}句", "好"), EXCHANGES, "x") for i in range(1000)]
    first = {d.turns for d in hold_out(some[:500], 0.1) if d.held_out}
    assert 25 < len(first) < 80
    assert first <= {d.turns for d in hold_out(some, 0.1) if d.held_out}


def test_near_wordings_of_a_judging_message_are_found_and_others_are_not() -> None:
    exclusion = Exclusion(["今天的晚霞特别好看", "嗯"])
    for text in ("今天的晚霞特别好看！", "今天的晚霞，特别好看", "今天的晚霞特别好看呀", "嗯。"):
        assert exclusion.matches(text), text
    for text in ("今天的早饭特别好吃", "晚霞", "", "……", "嗯嗯嗯我知道了", "今天" * 40):
        assert not exclusion.matches(text), text


@pytest.mark.parametrize("path", JUDGED, ids=lambda path: path.stem)
def test_no_judging_message_survives_in_the_exchanges(path: Path) -> None:
    messages = read_messages(path)
    exclusion = Exclusion(messages)
    leaks = [Dialogue((f"{m.rstrip('。！？')}～", "好"), EXCHANGES, "leak") for m in messages]
    leaks += [Dialogue(("随便", "好", m, "好"), LONG, "leak") for m in messages]
    kept, dropped = exclusion.keep([*leaks, *read_all([EVERYDAY], EXCHANGES)])
    assert dropped >= len(leaks) > 40
    assert not [d for d in kept if d.source == "leak"]
    assert not any(exclusion.matches(turn) for d in kept for turn in d.user_turns)


def test_every_reply_of_a_window_is_a_target_and_ends() -> None:
    window = encode_window(LAYOUT, ["早", "早呀", "困", "睡吧"])
    assert LAYOUT.speakers is not None
    user, bot = LAYOUT.speakers
    a, b, c, d, e, f = LAYOUT.encode_text("早早呀困睡吧")
    assert window.ids == [LAYOUT.cls, user, a, bot, b, c, user, d, bot, e, f]
    assert window.types == [0, user, user, bot, bot, bot, user, user, bot, bot, bot]
    weighted = [
        (i, target, weight)
        for i, (target, weight) in enumerate(zip(window.targets, window.weights, strict=True))
        if weight
    ]
    sep = LAYOUT.sep
    assert weighted == [
        (1, a, 0.3),
        (3, b, 1.0), (4, c, 1.0), (5, sep, 1.0),
        (6, d, 0.3),
        (8, e, 1.0), (9, f, 1.0), (10, sep, 1.0),
    ]  # fmt: skip
    # what is trained is what the engine asks for
    prompt = LAYOUT.encode(["早", "早呀"], "困", 16)
    assert window.ids[: len(prompt.ids)] == prompt.ids
    assert window.types[: len(prompt.ids)] == prompt.types


def test_layouts_without_speakers_part_turns_by_sep() -> None:
    tokens = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "早", "好")
    layout = PromptLayout(tokens, cls=2, pad=0, sep=3, unk=1, speakers=None, context=32)
    window = encode_window(layout, ["早", "好"])
    assert window.ids == [2, 4, 3, 5, 3]
    assert window.types is None
    assert window.targets[:4] == [4, 0, 5, 3]
    assert window.weights == [0.3, 0.0, 1.0, 1.0, 0.0]


def test_a_window_keeps_whole_turns_within_the_context() -> None:
    window = encode_window(LAYOUT, ["好" * 200, "好" * 200, "好" * 200, "好"])
    assert len(window.ids) == 1 + 2 * 201


def test_blanked_characters_are_still_targets() -> None:
    dialogue = Dialogue(("今天下雨了" * 4, "记得带一把伞" * 4), EXCHANGES, "x")
    plain = WindowMaker(LAYOUT, frozenset(), Exclusion([])).make(dialogue, Random(1), noise=False)
    assert plain is not None
    maker = WindowMaker(LAYOUT, frozenset(), Exclusion([]), blank=0.4)
    blanked = [
        window
        for window in (maker.make(dialogue, Random(seed)) for seed in range(60))
        if window is not None and len(window.ids) == len(plain.ids)  # not varied otherwise
    ]
    assert len(blanked) > 20
    reply = [i for i, weight in enumerate(plain.weights) if weight == 1.0][1:]
    hidden = 0
    for window in blanked:
        assert window.targets[-len(reply) :] == plain.targets[-len(reply) :]
        assert LAYOUT.unk not in window.targets
        hidden += sum(window.ids[i] == LAYOUT.unk for i in reply)
    assert hidden / (len(reply) * len(blanked)) == pytest.approx(0.4, abs=0.07)


def test_long_turns_become_chat() -> None:
    message = "我和室友因为打扫卫生吵架了。她总是说我不倒垃圾，可是我每次都倒了，她根本没有看到。"
    reply = (
        "你好，我能理解你的心情。室友之间为打扫卫生吵架很常见，可以一起定个轮流倒垃圾的表。"
        "祝你幸福。你愿意先和她谈谈吗？"
    )
    for seed in range(40):
        random = Random(seed)
        short = shorten_message(message, random)
        assert 2 <= len(short) <= 45
        assert short in message
        answer = shorten_reply(short, reply, frozenset(), random)
        assert answer is not None
        assert 5 <= len(answer) <= 60
        assert "理解" not in answer
        assert "祝" not in answer


def test_varied_messages_stay_close() -> None:
    text = "我今天加班到十点，好累啊。"
    varied = {vary(text, Random(seed)) for seed in range(200)}
    assert text in varied
    assert len(varied) > 8
    assert all("今天加班到十点" in v and "好累" in v for v in varied)
    assert vary("？", Random(3)) == "？"


def _mixture(seed: int = 1) -> Mixture:
    pools = {
        EXCHANGES: [Dialogue((f"早{i}", "早呀"), EXCHANGES, "x") for i in range(20)],
        LONG: [
            Dialogue((f"{i}次下雨了吗", f"{i}次下雨了呀，雨很大。"), LONG, "x") for i in range(500)
        ],
    }
    maker = WindowMaker(LAYOUT, frozenset(), Exclusion([]))
    return Mixture(pools, {EXCHANGES: 0.4, LONG: 0.6}, maker, seed)


def test_kinds_keep_their_shares_of_reply_tokens() -> None:
    mixture = _mixture()
    mixture.draw(8000)
    share = mixture.replies[EXCHANGES] / sum(mixture.replies.values())
    assert share == pytest.approx(0.4, abs=0.01)
    assert mixture.epochs()[EXCHANGES] > 1


def test_a_stream_goes_on_where_it_was_left() -> None:
    whole, before, after = _mixture(), _mixture(), _mixture()
    expected = [whole.draw(300) for _ in range(6)]
    assert [before.draw(300) for _ in range(3)] == expected[:3]
    after.restore(before.state())
    assert [after.draw(300) for _ in range(3)] == expected[3:]
    assert _mixture(2).draw(300) != expected[0]


def test_batches_hold_every_window_once_with_little_padding() -> None:
    windows = _mixture().draw(5000)
    batches = group(windows, LAYOUT.pad, 512)
    assert sum(len(b.ids) for b in batches) == len(windows)
    assert all(b.ids.size <= 512 for b in batches)
    assert sum(b.ids.size for b in batches) < 1.2 * sum(len(w.ids) for w in windows)
    weight = sum(float(b.weights.sum()) for b in batches)
    assert weight == pytest.approx(sum(sum(w.weights) for w in windows), rel=1e-5)
