"""Scores the parser on a labelled table of addresses, beside parsers of others.

``python -m server_bundle.training.address.score tests/data/addresses.tsv [--model DIR]
[--peers] [--wrong]``. The table has the columns style, text, entities (``type=span``
separated by spaces, a space inside a span written ␣), province, city, district, town and ambiguous
(further right candidates, ``province/city/district`` separated by ``|``).

Entities count when span and type are exact. A division level counts where the table states it and
the row is not ambiguous; a municipality has no city of its own. Ambiguous rows ask whether the
stated division is among the candidates.
"""

from __future__ import annotations

import argparse
import csv
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from server_bundle.address.divisions import MUNICIPALITIES, default_table
from server_bundle.address.entities import ENTITY_TYPES
from server_bundle.training.address import peers as peer_parsers

MODEL = Path(__file__).parents[3] / "resources" / "models" / "address-tiny"
LEVELS = ("province", "city", "district", "town")

Chain = tuple[str, str, str, str]


@dataclass(frozen=True)
class Row:
    """One labelled address; ``spans`` are (start, end, type) in code points of the text."""

    style: str
    text: str
    spans: frozenset[tuple[int, int, str]]
    division: Chain
    ambiguous: bool


def read_rows(path: Path) -> list[Row]:
    """Raises ValueError with the text in which a span is not found."""
    rows = []
    with path.open(encoding="utf-8", newline="") as stream:
        for line in csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE):
            position = 0
            spans = set()
            for label in line["entities"].split(" "):
                type_, _, part = label.partition("=")
                part = part.replace("␣", " ")
                start = line["text"].find(part, position)
                if start < 0 or type_ not in ENTITY_TYPES:
                    raise ValueError(f"{label!r} does not fit {line['text']!r}")
                position = start + len(part)
                spans.add((start, position, type_))
            division = (line["province"], line["city"], line["district"], line["town"])
            ambiguous = bool(line["ambiguous"])
            rows.append(Row(line["style"], line["text"], frozenset(spans), division, ambiguous))
    return rows


def chain_of(division: dict[str, Any]) -> Chain:
    return (division["province"], division["city"], division["district"], division["town"])


@dataclass(frozen=True)
class EntityFigures:
    """``per_type``: type → (precision, recall, F1, spans in the table)."""

    precision: float
    recall: float
    f1: float
    per_type: dict[str, tuple[float, float, float, int]]


@dataclass(frozen=True)
class DivisionFigures:
    """Shares in [0, 1]. ``levels``: level → (right, stated); ``overall`` over all stated levels;
    ``rows``: rows without a wrong or a missing level; ``invented``: levels answered, in rows that
    are not ambiguous, where the table states none."""

    levels: dict[str, tuple[int, int]]
    overall: float
    rows: float
    invented: int


def _ratios(right: int, given: int, gold: int) -> tuple[float, float, float, int]:
    precision = right / given if given else 0.0
    recall = right / gold if gold else 0.0
    both = right * 2 / (given + gold) if given + gold else 0.0
    return precision, recall, both, gold


def score_entities(rows: Sequence[Row], results: Sequence[dict[str, Any]]) -> EntityFigures:
    right: Counter[str] = Counter()
    given: Counter[str] = Counter()
    gold: Counter[str] = Counter()
    for row, result in zip(rows, results, strict=True):
        found = {(e["start"], e["end"], e["type"]) for e in result["entities"]}
        right.update(t for *_, t in found & row.spans)
        given.update(t for *_, t in found)
        gold.update(t for *_, t in row.spans)
    per_type = {t: _ratios(right[t], given[t], gold[t]) for t in ENTITY_TYPES}
    return EntityFigures(*_ratios(right.total(), given.total(), gold.total())[:3], per_type)


def score_divisions(
    rows: Sequence[Row], answers: Sequence[Chain], levels: Sequence[str] = LEVELS
) -> DivisionFigures:
    """``levels``: those that count; a parser without towns is not asked for them."""
    nodes = default_table().nodes
    municipalities = {nodes[key].name for key in MUNICIPALITIES}
    right: Counter[str] = Counter()
    stated: Counter[str] = Counter()
    invented = whole = clear = 0
    for row, answer in zip(rows, answers, strict=True):
        if row.ambiguous:
            continue
        clear += 1
        fine = True
        for level, expected, found in zip(LEVELS, row.division, answer, strict=True):
            if level not in levels or (level == "city" and row.division[0] in municipalities):
                continue
            if expected:
                stated[level] += 1
                right[level] += expected == found
            elif found:
                invented += 1
            fine = fine and expected == found
        whole += fine
    return DivisionFigures(
        {level: (right[level], stated[level]) for level in levels},
        right.total() / max(1, stated.total()),
        whole / max(1, clear),
        invented,
    )


def score_candidates(rows: Sequence[Row], results: Sequence[dict[str, Any]]) -> tuple[int, int]:
    """Of the ambiguous rows: how many have the stated division among the candidates, and all."""
    ambiguous = [(r, result) for r, result in zip(rows, results, strict=True) if r.ambiguous]
    found = sum(
        any(_same(row.division, chain_of(candidate)) for candidate in result["candidates"])
        for row, result in ambiguous
    )
    return found, len(ambiguous)


def _same(expected: Chain, found: Chain) -> bool:
    """Equal; the city of a municipality may be left empty or not."""
    if not expected[1] and found[1] == found[0]:
        found = (found[0], "", found[2], found[3])
    return expected == found


def _describe(name: str, figures: DivisionFigures) -> str:
    levels = "  ".join(
        f"{level} {right / max(1, stated):.3f} ({right}/{stated})"
        for level, (right, stated) in figures.levels.items()
    )
    return (
        f"{name:<14} levels right {figures.overall:.3f}, whole rows {figures.rows:.3f}, "
        f"invented {figures.invented}: {levels}"
    )


def main() -> None:
    from server_bundle.address.local import local_parser

    parser = argparse.ArgumentParser(description="score the address parser on a labelled table")
    parser.add_argument("table", type=Path)
    parser.add_argument("--model", type=Path, default=MODEL, help="folder of address weights")
    parser.add_argument(
        "--peers",
        nargs="?",
        const="",
        metavar="PYTHON",
        help="also ask cpca, jionlp and addressparser, of this interpreter or of a virtual "
        "environment made for them in .cache",
    )
    parser.add_argument("--wrong", action="store_true", help="print what was answered wrongly")
    arguments = parser.parse_args()
    rows = read_rows(arguments.table)
    results: list[dict[str, Any]] = []
    for row, result in zip(
        rows, local_parser(arguments.model).parse([row.text for row in rows]), strict=True
    ):
        if not isinstance(result, dict):
            raise SystemExit(f"{row.text!r}: {result}")
        results.append(result)
    entities = score_entities(rows, results)
    print(f"entities       P {entities.precision:.3f} R {entities.recall:.3f} F1 {entities.f1:.3f}")
    for type_, (precision, recall, f1, gold) in entities.per_type.items():
        print(f"  {type_:<10} P {precision:.3f} R {recall:.3f} F1 {f1:.3f} n {gold}")
    answers = [chain_of(result["division"]) for result in results]
    found, ambiguous = score_candidates(rows, results)
    print(f"ambiguous rows with the right candidate: {found} of {ambiguous}")
    print("divisions, down to towns")
    print(_describe("address_parser", score_divisions(rows, answers)))
    peers = {}
    if arguments.peers is not None:
        python = arguments.peers or peer_parsers.environment()
        peers = peer_parsers.ask(python, [row.text for row in rows])
    if "jionlp" in peers:
        print(_describe("jionlp", score_divisions(rows, _chains(peers["jionlp"]))))
    print("divisions, down to districts")
    print(_describe("address_parser", score_divisions(rows, answers, LEVELS[:3])))
    for name, answer in peers.items():
        print(_describe(name, score_divisions(rows, _chains(answer), LEVELS[:3])))
    if arguments.wrong:
        _print_wrong(rows, results)


def _chains(answer: dict[str, Any]) -> list[Chain]:
    return [(p, c, d, t) for p, c, d, t in answer["divisions"]]


def _print_wrong(rows: Sequence[Row], results: Sequence[dict[str, Any]]) -> None:
    for row, result in zip(rows, results, strict=True):
        found = {(e["start"], e["end"], e["type"]) for e in result["entities"]}
        answer = chain_of(result["division"])
        if found == row.spans and (row.ambiguous or _same(row.division, answer)):
            continue
        print(row.text)
        for sign, spans in (("missing", row.spans - found), ("wrong", found - row.spans)):
            for start, end, type_ in sorted(spans):
                print(f"    {sign} {type_}={row.text[start:end]}")
        if not row.ambiguous and not _same(row.division, answer):
            print(f"    division {'/'.join(answer)} instead of {'/'.join(row.division)}")


if __name__ == "__main__":
    main()
