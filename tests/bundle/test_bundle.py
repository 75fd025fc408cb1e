"""`make bundle`: the folder, copied to a machine that has nothing else."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtGui import QImage

from tests.bundle.conftest import ROOT, Machine, built, photograph, wait_for

pytestmark = [pytest.mark.bundle, pytest.mark.timeout(1800)]
# Neither times nor owners are those of the build: what was compiled must still be valid.
PLACE = "/opt/elsewhere/tri-talk"


@pytest.fixture(scope="module")
def installed(machine_base: Path) -> Iterator[str]:
    """Where the bundle lies on the machine, read-only for the ordinary user."""
    target = machine_base / PLACE.removeprefix("/")
    target.parent.mkdir(parents=True)
    subprocess.run(["cp", "-r", str(built("tritalk")), str(target)], check=True)
    yield PLACE
    shutil.rmtree(target.parent)


def test_it_knows_its_version(machine: Machine, installed: str) -> None:
    assert machine.run(f"{installed}/tritalk --version").stdout.startswith("tritalk 0.")


def test_it_chats_and_parses(machine: Machine, installed: str) -> None:
    done = machine.run(
        f"cd; export PATH=$PATH:{installed}; set -e\n"
        "tritalk server start >&2\n"
        "tritalk chat 今天好累啊 --json --seed 7 | tail -n 1\n"
        "tritalk parse 杭州市余杭区文一西路969号3幢 --json\n"
        "printf '地址\\n深圳市南山区科技园\\n' > a.csv; tritalk parse a.csv --output b.csv >&2\n"
        "tail -n 1 b.csv; tritalk server stop >&2; ls /tmp/tritalk-1000"
    )
    chat, parsed, row, *left = done.stdout.splitlines()
    assert json.loads(chat)["reply"]
    assert json.loads(chat)["finish_reason"] in ("stop", "length")
    assert json.loads(parsed)["division"]["district"] == "余杭区"
    assert "南山区" in row
    assert [name for name in left if name != "lock"] == []


def test_nothing_was_written_into_it(machine: Machine, installed: str) -> None:
    """Also not by root, whom no rights stop: all that every start needs is compiled already."""
    before = set(Path(machine.root, installed[1:]).rglob("*"))
    machine.run(f"cd; {installed}/tritalk parse 上海市浦东新区张江路1号", user=False)
    assert set(Path(machine.root, installed[1:]).rglob("*")) == before


def test_the_doctor_finds_what_is_there(machine: Machine, installed: str) -> None:
    said = machine.run(f"{installed}/tritalk doctor", code=None).stdout
    assert f"{installed}/server" in said
    assert "not installed" not in said.lower().replace("docker", "")


def test_it_converts_a_model(machine: Machine, installed: str) -> None:
    """In the runtime's Python, with transformers to compare with."""
    model = ROOT / "resources" / "models" / "chitchat-tiny"
    done = machine.run(
        f"cd; cp -r /given own; {installed}/tritalk models import --kind chat own --name own; "
        f"{installed}/tritalk models list",
        binds=[f"{model}:/given"],
    )
    assert "own" in done.stdout.splitlines()[-1] or "own " in done.stdout


def test_the_window_opens_and_serves(machine: Machine, installed: str, screen: str) -> None:
    shown = machine.root / "tmp" / "shown"
    shown.unlink(missing_ok=True)
    process = machine.start(
        f"cd; {installed}/tritalk & window=$!\n"
        f"for _ in $(seq 600); do sleep 1; kill -0 $window || exit 3\n"
        f"  {installed}/tritalk server status 2>/dev/null | head -n 1 | grep -qx ready && break\n"
        "done\n"
        "sleep 5; touch /tmp/shown; sleep 20; kill $window; wait $window",
        display=screen,
    )
    try:
        wait_for(shown, process)
        picture = QImage(str(photograph(screen, "window")))
        _, errors = process.communicate(timeout=300)
    finally:
        process.kill()
    # A window with text and colours, not the display's black ground.
    colours = {
        picture.pixel(x, y)
        for x in range(0, picture.width(), 3)
        for y in range(0, picture.height(), 3)
    }
    assert len(colours) > 100
    assert "Traceback" not in errors
    assert "qt." not in errors.lower()
