"""The table of complaints names checks that are there."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_check_in_the_table_exists() -> None:
    table = (ROOT / "tests/ui/README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| (\d+) \|", table, re.MULTILINE)
    assert rows == [str(number) for number in range(1, 20)]
    named = re.findall(r"`(tests/[\w/]+\.py)(?:::(\w+))?`", table)
    assert named
    missing = [
        f"{file}::{test}"
        for file, test in named
        if not (ROOT / file).exists()
        or (test and f"def {test}(" not in (ROOT / file).read_text(encoding="utf-8"))
    ]
    assert missing == []
