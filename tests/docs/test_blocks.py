"""Every code block of the documents is run as it stands there, against a real server.

A block after ``<!-- not run: REASON -->`` is left out; the reason says where it is run instead, or
why it cannot be. Blocks of one document run in their order, in one folder, with one home.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DOCUMENTS = [
    ROOT / "README.md",
    *sorted((ROOT / "docs").glob("*.md")),
    ROOT / "CONTRIBUTING.md",
    ROOT / "server_bundle" / "deploy" / "README.md",
]
_BLOCK = re.compile(
    r"(?P<skip><!-- not run: (?P<reason>[^>]+) -->\n\n?)?```(?P<kind>\w*)\n(?P<code>.*?)^```",
    re.MULTILINE | re.DOTALL,
)
_RUN = ("sh", "python")
_SHOWN = ("mermaid", "json", "text", "jsonl")

pytestmark = pytest.mark.triton


@dataclass(frozen=True)
class Block:
    document: str
    line: int
    kind: str
    code: str
    reason: str

    def __str__(self) -> str:
        return f"{self.document}:{self.line}"


def blocks(path: Path) -> list[Block]:
    text = path.read_text(encoding="utf-8")
    return [
        Block(
            str(path.relative_to(ROOT)),
            text[: found.start("kind")].count("\n") + 1,
            found["kind"],
            found["code"],
            found["reason"] or "",
        )
        for found in _BLOCK.finditer(text)
    ]


ALL = [block for path in DOCUMENTS if path.exists() for block in blocks(path)]


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """A home of the documents' own, the command on the PATH, and a server that is stopped after."""
    folder = tmp_path_factory.mktemp("documents")
    bin_folder = Path(sys.executable).parent
    env = {
        **os.environ,
        "TRITALK_HOME": str(folder / "home"),
        "PATH": f"{bin_folder}:{os.environ['PATH']}",
        "VIRTUAL_ENV": str(bin_folder.parent),
        "WORK": str(folder),
    }
    env.pop("DISPLAY", None)
    (folder / "resources").symlink_to(ROOT / "resources")  # named as from the clone's root
    (folder / "addresses.txt").write_text("杭州市余杭区文一西路969号\n", encoding="utf-8")
    yield env
    subprocess.run(
        ["tritalk", "server", "stop"], env=env, cwd=folder, check=False, capture_output=True
    )


@pytest.mark.parametrize("block", [b for b in ALL if b.kind in _RUN and not b.reason], ids=str)
def test_a_block_does_what_it_says(block: Block, environment: dict[str, str]) -> None:
    command = {"sh": ["bash", "-euo", "pipefail", "-c"], "python": ["python", "-c"]}[block.kind]
    done = subprocess.run(
        [*command, block.code],
        env=environment,
        cwd=environment["WORK"],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, f"{block}\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}"
    assert done.stdout.strip(), f"{block} printed nothing"


@pytest.mark.parametrize("block", ALL, ids=str)
def test_a_block_is_of_a_known_kind(block: Block) -> None:
    """None escapes by a missing or a new kind."""
    assert block.kind in (*_RUN, *_SHOWN), f"{block}: say what it is, ```sh or ```python"
    assert not block.reason or len(block.reason) > 10


def test_links_between_documents_lead_somewhere() -> None:
    for path in DOCUMENTS:
        if not path.exists():
            continue
        for target in re.findall(r"\]\(([^)#\s]+)", path.read_text(encoding="utf-8")):
            if "://" not in target:
                assert (path.parent / target).exists(), f"{path.name} links to {target}"
