"""The Debian package: installed, used by an ordinary user, removed without a trace."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.bundle.conftest import ROOT, Machine, built, photograph, unpack, wait_for

pytestmark = [pytest.mark.bundle, pytest.mark.timeout(3600)]
METAINFO = ROOT / "resources/desktop/org.tritalk.Tritalk.metainfo.xml"
_APT = "env DEBIAN_FRONTEND=noninteractive apt-get -y -qq --no-install-recommends"


def traces(root: Path) -> list[str]:
    """Everything on the machine that is named after the application, homes aside."""
    folders = [root / name for name in ("usr", "etc", "opt", "var/lib", "var/cache")]
    return sorted(
        str(path.relative_to(root))
        for folder in folders
        for path in folder.rglob("*tritalk*")
        if "apt/archives" not in str(path)
    )


@pytest.fixture(scope="module")
def package() -> Path:
    return built("tritalk_*.deb")


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, package: Path) -> Iterator[Machine]:
    """A machine with the package on it; apt brings what it depends on."""
    root = unpack(tmp_path_factory)
    machine = Machine(root)
    shutil.copyfile(package, root / "package.deb")
    machine.run(f"{_APT} update && {_APT} install /package.deb", user=False, offline=False)
    (root / "package.deb").unlink()
    yield machine
    shutil.rmtree(root, ignore_errors=True)


def test_it_declares_what_it_is(package: Path) -> None:
    fields = subprocess.check_output(["dpkg-deb", "--field", str(package)], text=True)
    assert "Package: tritalk\n" in fields
    assert "libc6 (>=" in fields
    assert "python" not in next(x for x in fields.splitlines() if x.startswith("Depends"))


def test_the_command_is_there_for_everybody(installed: Machine) -> None:
    done = installed.run(
        "cd; set -e; tritalk chat 你好 --json | tail -n 1; "
        "tritalk parse 杭州市余杭区文一西路969号 --json; "
        "find /usr/lib/tritalk -writable ! -type l | head -n 1"
    )
    chat, parsed, *writable = done.stdout.splitlines()
    assert json.loads(chat)["reply"]
    assert json.loads(parsed)["division"]["district"] == "余杭区"
    assert writable == []


def test_the_menu_has_it(installed: Machine) -> None:
    share = installed.root / "usr/share"
    entry = (share / "applications/tritalk.desktop").read_text(encoding="utf-8")
    command = next(x for x in entry.splitlines() if x.startswith("Exec=")).split()[0][5:]
    assert (installed.root / "usr/bin" / command).is_symlink()
    sizes = [path.parts[-3] for path in (share / "icons/hicolor").glob("*x*/apps/tritalk.png")]
    assert len(sizes) == 10
    assert "48x48" in sizes
    assert (share / "icons/hicolor/scalable/apps/tritalk.svg").exists()
    assert "Apache-2.0" in (share / "doc/tritalk/copyright").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    "command",
    [
        ["desktop-file-validate", "resources/desktop/tritalk.desktop"],
        ["appstreamcli", "validate", "--no-net", str(METAINFO)],
    ],
    ids=lambda command: command[0],
)
def test_its_entries_are_valid(command: list[str]) -> None:
    if not shutil.which(command[0]):
        pytest.skip(f"{command[0]} is not installed (desktop-file-utils, appstream)")
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "hint" not in done.stdout


def test_a_window_opens_from_the_menu(installed: Machine, screen: str) -> None:
    """As a desktop starts it: `tritalk open` without a file and without a terminal."""
    shown = installed.root / "tmp" / "shown"
    shown.unlink(missing_ok=True)
    process = installed.start(
        "cd; tritalk open & window=$!\n"
        "for _ in $(seq 600); do sleep 1; kill -0 $window || exit 3\n"
        "  tritalk server status 2>/dev/null | head -n 1 | grep -qx ready && break; done\n"
        "sleep 5; touch /tmp/shown; sleep 15; kill $window; wait $window",
        display=screen,
    )
    try:
        wait_for(shown, process)
        assert photograph(screen, "installed").stat().st_size > 20_000
        _, errors = process.communicate(timeout=300)
    finally:
        process.kill()
    assert "Traceback" not in errors


def test_it_goes_without_a_trace(installed: Machine) -> None:
    """Last: also after root has used it, who may write everywhere."""
    assert traces(installed.root)
    installed.run("cd; tritalk parse 上海市浦东新区张江路1号", user=False)
    installed.run(f"{_APT} remove tritalk", user=False)
    assert traces(installed.root) == []
