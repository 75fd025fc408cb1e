"""Stop strings in a reply that comes in pieces."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from server_bundle.chitchat.stop import StopScanner


def run(pieces: list[str], stops: list[str]) -> tuple[list[str], bool]:
    scanner: StopScanner[int] = StopScanner(stops)
    out: list[str] = []
    for i, piece in enumerate(pieces):
        out += [text for _, text in scanner.push(i, piece)]
    out += [text for _, text in scanner.flush()]
    return out, scanner.matched


def test_nothing_is_held_back_without_stop_strings() -> None:
    scanner: StopScanner[int] = StopScanner([])
    assert scanner.push(0, "你") == [(0, "你")]


def test_a_beginning_is_held_back_until_it_is_none() -> None:
    scanner: StopScanner[int] = StopScanner(["再见"])
    assert scanner.push(0, "好") == [(0, "好")]
    assert scanner.push(1, "再") == []
    assert scanner.push(2, "说") == [(1, "再"), (2, "说")]


def test_the_reply_ends_before_the_stop_string() -> None:
    assert run(list("好的再见吧"), ["再见"]) == (["好", "的"], True)


def test_a_piece_is_cut_where_the_stop_string_begins() -> None:
    assert run(["ab", "cd", "ef"], ["de"]) == (["ab", "c"], True)


def test_an_unfinished_beginning_belongs_to_the_reply() -> None:
    assert run(list("好再"), ["再见"]) == (["好", "再"], False)


def test_the_first_of_several_counts() -> None:
    assert run(list("xaby"), ["by", "ab"]) == (["x"], True)


@given(
    st.lists(st.text("ab。", max_size=3), max_size=12),
    st.lists(st.text("ab。", min_size=1, max_size=4), max_size=3),
)
def test_it_is_what_one_search_over_the_whole_text_finds(
    pieces: list[str], stops: list[str]
) -> None:
    out, matched = run(pieces, stops)
    text = "".join(pieces)
    # The earliest to be complete ends it, so look at growing beginnings, as they arrive.
    end = 0
    expected, found = text, False
    for piece in pieces:
        end += len(piece)
        places = [p for s in stops if (p := text[:end].find(s)) >= 0]
        if places:
            expected, found = text[: min(places)], True
            break
    assert ("".join(out), matched) == (expected, found)
