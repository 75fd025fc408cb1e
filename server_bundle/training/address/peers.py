"""Division parsers of others, asked for comparison: ``PYTHON peers.py < texts.json``.

Runs by itself under an interpreter that has some of the packages cpca, jionlp and addressparser,
which this project does not depend on. Standard input is a JSON list of texts; the last line of
standard output is a JSON object: package → {"seconds", "divisions": [[province, city, district,
town], …]}.
"""

from __future__ import annotations

import importlib
import json
import sys
import time
from collections.abc import Callable
from typing import Any

Rows = list[list[str]]


def _cpca(texts: list[str]) -> Rows:
    return _frame(importlib.import_module("cpca").transform(texts))


def _addressparser(texts: list[str]) -> Rows:
    return _frame(importlib.import_module("addressparser").transform(texts))


def _frame(frame: Any) -> Rows:
    rows = frame[["省", "市", "区"]].fillna("").to_numpy().tolist()
    return [[*map(str, row), ""] for row in rows]


def _jionlp(texts: list[str]) -> Rows:
    jionlp = importlib.import_module("jionlp")
    rows = []
    for text in texts:
        found = jionlp.parse_location(text, town_village=True)
        rows.append([found.get(k) or "" for k in ("province", "city", "county", "town")])
    return rows


PEERS: dict[str, Callable[[list[str]], Rows]] = {
    "cpca": _cpca,
    "jionlp": _jionlp,
    "addressparser": _addressparser,
}


def main() -> None:
    texts = json.load(sys.stdin)
    answers = {}
    for name, parse in PEERS.items():
        try:
            parse(texts[:1])  # loads its dictionaries
        except ImportError:
            continue
        began = time.perf_counter()
        divisions = parse(texts)
        answers[name] = {"seconds": time.perf_counter() - began, "divisions": divisions}
    print(flush=True)
    print(json.dumps(answers, ensure_ascii=False))


if __name__ == "__main__":
    main()
