"""What is published, on a bare Debian: no Python, no repository, no network, an ordinary user."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
DIST = ROOT / "dist"
MACHINE = ROOT / ".ci" / "machine.sh"
ARTIFACTS = ROOT / "tests" / "artifacts" / "bundle"


def built(pattern: str) -> Path:
    """The newest of dist/ of that name; the test is skipped where it was not built."""
    found = sorted(DIST.glob(pattern), key=lambda path: path.stat().st_mtime)
    if not found:
        pytest.skip(f"dist/{pattern} is not there; `make test-bundle` builds it")
    return found[-1]


class Machine:
    """A bare Debian in a folder; see .ci/machine.sh."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def start(
        self,
        command: str,
        *,
        user: bool = True,
        offline: bool = True,
        binds: Sequence[str] = (),
        display: str = "",
    ) -> subprocess.Popen[str]:
        words = ["bash", str(MACHINE), "run", str(self.root)]
        words += ["--user"] if user else []
        words += ["--offline"] if offline else []
        for bind in binds:
            words += ["--bind", bind]
        env = {**os.environ, "DISPLAY": display}
        return subprocess.Popen(
            [*words, "bash", "-c", command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=env,
        )

    def run(
        self,
        command: str,
        *,
        user: bool = True,
        offline: bool = True,
        binds: Sequence[str] = (),
        code: int | None = 0,
        timeout: float = 900,
    ) -> subprocess.CompletedProcess[str]:
        """Run it to its end; ``code`` is the exit status it must have, None for any."""
        process = self.start(command, user=user, offline=offline, binds=binds)
        try:
            out, errors = process.communicate(timeout=timeout)
        finally:
            process.kill()
        assert code is None or process.returncode == code, f"{command}\n{out[-3000:]}\n{errors}"
        return subprocess.CompletedProcess(command, process.returncode, out, errors)


def unpack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Debian with one Chinese font and nothing that Tritalk needs; skips where none can be."""
    if os.geteuid() != 0 or not shutil.which("debootstrap", path="/usr/sbin:/sbin:/usr/bin"):
        pytest.skip("a bare Debian takes root and debootstrap (apt-get install debootstrap)")
    root = tmp_path_factory.mktemp("machine")
    root.chmod(0o755)
    subprocess.run(["bash", str(MACHINE), "make", str(root), "fonts-wqy-microhei"], check=True)
    return root


@pytest.fixture(scope="session")
def machine_base(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """With what every desktop has: OpenGL, fontconfig."""
    root = unpack(tmp_path_factory)
    Machine(root).run(
        "apt-get update -qq && env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq "
        "--no-install-recommends libegl1 libgl1 libfontconfig1",
        user=False,
        offline=False,
    )
    yield root
    # Its mounts have ended with the namespaces they were made in.
    shutil.rmtree(root, ignore_errors=True)


@pytest.fixture
def machine(machine_base: Path) -> Iterator[Machine]:
    """Without Python, to begin with."""
    machine = Machine(machine_base)
    found = machine.run("command -v python3 python; ls /usr/lib/python3* 2>/dev/null", code=None)
    assert found.stdout == ""
    yield machine
    for left in (machine_base / "home" / "person").iterdir():
        if left.is_dir():
            shutil.rmtree(left)


@pytest.fixture
def screen(tmp_path: Path) -> Iterator[str]:
    """An X display that every local user may use."""
    reading, writing = os.pipe()
    words = ["Xvfb", "-displayfd", str(writing), "-ac", "-screen", "0", "1280x860x24"]
    server = subprocess.Popen(
        [*words, "-nolisten", "tcp"], pass_fds=[writing], stderr=subprocess.DEVNULL
    )
    os.close(writing)
    with os.fdopen(reading) as answer:
        number = answer.readline().strip()
    yield f":{number}"
    server.terminate()
    server.wait()


def photograph(display: str, name: str) -> Path:
    """What is on the display, as a PNG in tests/artifacts/bundle."""
    ARTIFACTS.mkdir(parents=True, exist_ok=True)
    picture = ARTIFACTS / f"{name}.png"
    code = (
        "import sys\nfrom PySide6.QtGui import QGuiApplication\n"
        "app = QGuiApplication([])\n"
        "sys.exit(not app.primaryScreen().grabWindow(0).save(sys.argv[1]))"
    )
    env = {**os.environ, "DISPLAY": display, "QT_QPA_PLATFORM": "xcb"}
    subprocess.run([sys.executable, "-c", code, str(picture)], env=env, check=True)
    return picture


def wait_for(path: Path, process: subprocess.Popen[str], seconds: float = 600) -> None:
    """Until a file is there. Fails where the process has ended before."""
    end = time.monotonic() + seconds
    while not path.exists():
        if process.poll() is not None or time.monotonic() > end:
            process.kill()
            out, errors = process.communicate()
            pytest.fail(f"{path.name} was never made:\n{out[-2000:]}\n{errors[-4000:]}")
        time.sleep(0.2)
