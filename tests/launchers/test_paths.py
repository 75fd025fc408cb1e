"""Where things lie, and that the runtime folder is private and short enough for sockets."""

from __future__ import annotations

import contextlib
import os
from pathlib import Path

import pytest

from desktop import paths


def test_everything_lies_below_tritalk_home(fresh_home: Path) -> None:
    for folder in (paths.data_dir, paths.config_dir, paths.cache_dir, paths.log_dir):
        assert folder().is_relative_to(fresh_home)
    assert paths.runtime_dir().is_relative_to(fresh_home)
    assert paths.runtime_dir().stat().st_mode & 0o777 == 0o700


def test_a_long_home_gets_a_short_runtime_folder_of_its_own(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with contextlib.suppress(OSError):  # as on a machine where nothing has made it yet
        Path(f"/tmp/tritalk-{os.getuid()}").rmdir()
    found = []
    for name in ("a" * 100, "b" * 100):
        monkeypatch.setenv("TRITALK_HOME", str(tmp_path / name))
        found.append(paths.runtime_dir())
    for folder in found:
        assert len(str(folder / "12345678" / "control")) < 108
        assert folder.parent.name == f"tritalk-{os.getuid()}"
        assert folder.parent.stat().st_mode & 0o777 == 0o700
        folder.rmdir()
    assert found[0] != found[1]


def test_xdg_runtime_dir_is_preferred(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("TRITALK_HOME")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    assert paths.runtime_dir() == tmp_path / "tritalk"


def test_a_missing_xdg_runtime_dir_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TRITALK_HOME")
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path / "missing"))
    assert paths.runtime_dir().name == f"tritalk-{os.getuid()}"


def test_a_folder_that_others_may_enter_is_refused(fresh_home: Path) -> None:
    fresh_home.mkdir()
    (fresh_home / "run").mkdir()
    (fresh_home / "run").chmod(0o755)
    with pytest.raises(paths.UnsafeFolder, match="chmod 700"):
        paths.runtime_dir()


def test_a_link_in_its_place_is_refused(fresh_home: Path, tmp_path: Path) -> None:
    fresh_home.mkdir()
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (fresh_home / "run").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(paths.UnsafeFolder, match="should be a folder"):
        paths.runtime_dir()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a folder away")
def test_somebody_elses_folder_is_refused(fresh_home: Path) -> None:
    fresh_home.mkdir()
    (fresh_home / "run").mkdir(mode=0o700)
    os.chown(fresh_home / "run", 65534, 65534)
    with pytest.raises(paths.UnsafeFolder, match="another user"):
        paths.runtime_dir()


def test_resources_lie_beside_the_packages() -> None:
    assert (paths.resources_dir() / "models" / "chitchat-tiny" / "vocab.txt").exists()
