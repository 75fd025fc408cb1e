"""Division parsers of others, asked for comparison: ``PYTHON peers.py [PACKAGE …] < texts.json``.

Runs by itself under an interpreter that has some of the packages cpca, jionlp and addressparser,
which this project does not depend on; :func:`environment` makes one. Standard input is a JSON list
of texts; the last line of standard output is a JSON object: package → {"seconds", "divisions":
[[province, city, district, town], …]}.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

Rows = list[list[str]]

PACKAGES = ("cpca==0.5.5", "jionlp==1.5.31", "addressparser==0.2.4", "six")
# Below the folder that git ignores.
ENVIRONMENT = Path(__file__).parents[3] / ".cache" / "peers"


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


def environment() -> str:
    """The interpreter of a virtual environment that has all of them, made where it is missing.

    Raises CalledProcessError where the packages cannot be installed.
    """
    python = ENVIRONMENT / "bin" / "python"
    if not (ENVIRONMENT / "complete").exists():
        subprocess.run([sys.executable, "-m", "venv", str(ENVIRONMENT)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", *PACKAGES], check=True)
        (ENVIRONMENT / "complete").touch()
    return str(python)


def ask(python: str, texts: Sequence[str], *packages: str) -> dict[str, Any]:
    """What the packages (all where none is named) answer under that interpreter."""
    process = subprocess.run(
        [python, __file__, *packages],
        input=json.dumps(list(texts)),
        capture_output=True,
        text=True,
        check=True,
    )
    answers: dict[str, Any] = json.loads(process.stdout.splitlines()[-1])
    return answers


def main() -> None:
    texts = json.load(sys.stdin)
    answers = {}
    for name in sys.argv[1:] or PEERS:
        parse = PEERS[name]
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
