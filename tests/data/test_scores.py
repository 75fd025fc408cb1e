"""The shipped address weights reach their figures on the hand-written test set."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from server_bundle.address.local import local_parser
from server_bundle.training.address.score import (
    MODEL,
    Row,
    chain_of,
    read_rows,
    score_candidates,
    score_divisions,
    score_entities,
)

pytestmark = pytest.mark.filterwarnings("ignore:.*torch.jit.*:DeprecationWarning")


@pytest.fixture(scope="module")
def rows() -> list[Row]:
    return read_rows(Path(__file__).with_name("addresses.tsv"))


@pytest.fixture(scope="module")
def results(rows: list[Row]) -> list[dict[str, Any]]:
    parsed = local_parser(MODEL).parse([row.text for row in rows])
    assert all(isinstance(result, dict) for result in parsed)
    return [result for result in parsed if isinstance(result, dict)]


def test_entities(rows: list[Row], results: list[dict[str, Any]]) -> None:
    figures = score_entities(rows, results)
    assert figures.f1 >= 0.94
    assert min(figures.precision, figures.recall) >= 0.93
    assert all(f1 >= 0.75 for _, _, f1, _ in figures.per_type.values())


def test_divisions(rows: list[Row], results: list[dict[str, Any]]) -> None:
    figures = score_divisions(rows, [chain_of(result["division"]) for result in results])
    assert figures.overall >= 0.975
    assert all(right / stated >= 0.95 for right, stated in figures.levels.values())
    assert figures.invented <= 2


def test_ambiguous_names_have_the_right_candidate(
    rows: list[Row], results: list[dict[str, Any]]
) -> None:
    right, ambiguous = score_candidates(rows, results)
    assert right == ambiguous == 12


def test_the_figures_are_those_of_a_hand_count() -> None:
    """Two rows of three levels, one of them wrong; a municipality's city does not count."""
    made = [
        Row("", "甲", frozenset({(0, 1, "poi")}), ("上海市", "", "静安区", ""), False),
        Row("", "乙", frozenset({(0, 1, "road")}), ("浙江省", "", "", ""), False),
    ]
    divisions = score_divisions(
        made, [("上海市", "上海市", "黄浦区", ""), ("浙江省", "杭州市", "", "")]
    )
    assert divisions.overall == pytest.approx(2 / 3)
    assert divisions.levels["district"] == (0, 1)
    assert divisions.invented == 1
    assert divisions.rows == 0.0
    entities = score_entities(
        made,
        [{"entities": [{"start": 0, "end": 1, "type": "poi"}]}, {"entities": []}],
    )
    assert (entities.precision, entities.recall) == (1.0, 0.5)
    assert entities.f1 == pytest.approx(2 / 3)
