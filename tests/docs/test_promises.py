"""Every test that a document names exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
NAMES = sorted(
    {
        (document.name, name)
        for document in (ROOT / "docs" / "promises.md", ROOT / "tests" / "ui" / "README.md")
        for name in re.findall(r"`(tests/[\w/.]+(?:::\w+)?)`", document.read_text(encoding="utf-8"))
    }
)


@pytest.mark.parametrize(("document", "name"), NAMES)
def test_it_exists(document: str, name: str) -> None:
    path, _, function = name.partition("::")
    assert (ROOT / path).exists(), f"{document} names {name}"
    if function:
        text = (ROOT / path).read_text(encoding="utf-8")
        assert re.search(rf"^(async )?def {function}\(", text, re.MULTILINE)
