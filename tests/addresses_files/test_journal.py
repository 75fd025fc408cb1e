"""The journal survives a sudden end and knows what it is about."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop.addresses.journal import Journal, fingerprint
from desktop.triton.types import InvalidInput

ABOUT = {"source": "x", "column": 1, "rows": 3}


def test_it_goes_on_where_it_was(tmp_path: Path) -> None:
    output = tmp_path / "o.csv"
    with Journal(output, ABOUT) as journal:
        journal.add({"division": "甲"})
        journal.add({"error": "why"})
    with Journal(output, ABOUT) as journal:
        assert (journal.done, journal.errors) == (2, 1)
        journal.add({})
        assert list(journal.results()) == [{"division": "甲"}, {"error": "why"}, {}]
        journal.remove()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("torn", [b'{"divis', b'{"division": "\xe7', b"{}", b"\x00\x00\n"])
def test_a_torn_end_is_dropped(tmp_path: Path, torn: bytes) -> None:
    output = tmp_path / "o.csv"
    with Journal(output, ABOUT) as journal:
        journal.add({"a": 1})
        path = journal.path
    path.write_bytes(path.read_bytes() + torn)
    with Journal(output, ABOUT) as journal:
        assert journal.done == 1
        journal.add({"b": 2})
        assert list(journal.results()) == [{"a": 1}, {"b": 2}]


@pytest.mark.parametrize("change", [{"source": "y"}, {"column": 2}, {"rows": 4}])
def test_another_run_begins_anew(tmp_path: Path, change: dict[str, object]) -> None:
    with Journal(tmp_path / "o.csv", ABOUT) as journal:
        journal.add({"a": 1})
    with Journal(tmp_path / "o.csv", {**ABOUT, **change}) as journal:
        assert journal.done == 0
        assert list(journal.results()) == []


def test_two_runs_do_not_share_an_output(tmp_path: Path) -> None:
    with (
        Journal(tmp_path / "o.csv", ABOUT),
        pytest.raises(InvalidInput, match="another run is writing"),
    ):
        Journal(tmp_path / "o.csv", ABOUT)


def test_the_fingerprint_is_that_of_the_content(tmp_path: Path) -> None:
    (tmp_path / "a").write_bytes(b"1" * 3_000_000)
    (tmp_path / "b").write_bytes(b"1" * 3_000_000)
    (tmp_path / "c").write_bytes(b"1" * 2_999_999 + b"2")
    one, same, other = (fingerprint(tmp_path / n) for n in "abc")
    assert one == same != other
