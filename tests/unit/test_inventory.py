"""What is kept on the machine: counted, and removed without touching anything else."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from desktop import backup, inventory, paths
from desktop.inventory import Kind
from desktop.settings import Settings, save
from desktop.store.worker import StoreWorker, default_path


def fill() -> None:
    store = StoreWorker(default_path(), lambda notice: None)
    store.submit(lambda db: db.save_setting("x", 1)).result()
    store.close()
    default_path().with_name("conversations-damaged-20260101-000000.db").write_bytes(b"old")
    save(Settings(device="cpu"))
    backup.write(paths.data_dir() / "backups" / "b.zip")
    for folder, name in (
        (paths.log_dir(), "server.log.1"),
        (paths.cache_dir() / "launches" / "ended", "config.pbtxt"),
        (paths.data_dir() / "models" / "mine", "model.safetensors"),
        (paths.data_dir() / "addresses", "a.addresses"),
        (paths.config_dir(), "window.ini"),
    ):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(bytes(1000))


def test_everything_goes_and_nothing_else(fresh_home: Path, tmp_path: Path) -> None:
    fill()
    sizes = {entry.kind: entry.size for entry in inventory.entries()}
    assert set(sizes) == set(Kind)
    assert all(sizes[kind] == 1000 for kind in (Kind.LOGS, Kind.CACHE, Kind.MODELS, Kind.ADDRESSES))
    kept = paths.data_dir() / "mine.txt"
    kept.write_text("not Tritalk's")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "precious").write_text("x")
    (paths.data_dir() / "addresses" / "link").symlink_to(outside)
    (paths.log_dir() / "server.log").symlink_to(outside / "precious")

    result = inventory.remove(set(Kind))
    assert result.failed == []
    assert result.stayed == [paths.data_dir()]
    left = [path for path in fresh_home.rglob("*") if path.is_file()]
    assert left == [kept]
    assert (outside / "precious").read_text() == "x"
    kept.unlink()
    assert inventory.remove(set(Kind)).stayed == []
    assert inventory.entries() == []


def test_models_stay_unless_chosen(fresh_home: Path) -> None:
    fill()
    inventory.remove(set(Kind) - {Kind.MODELS})
    assert [entry.kind for entry in inventory.entries()] == [Kind.MODELS]


def test_what_a_running_server_serves_stays(fresh_home: Path) -> None:
    fill()
    served = paths.cache_dir() / "launches" / "running"
    served.mkdir()
    (paths.runtime_dir() / "running").mkdir()
    inventory.remove({Kind.CACHE})
    assert list((paths.cache_dir() / "launches").iterdir()) == [served]


@pytest.mark.skipif(os.getuid() == 0, reason="root may remove everything")
def test_what_cannot_be_removed_is_told_and_the_rest_goes(fresh_home: Path) -> None:
    fill()
    models = paths.data_dir() / "models" / "mine"
    models.chmod(0o500)
    result = inventory.remove(set(Kind))
    models.chmod(0o700)
    assert [path for path, _ in result.failed][:1] == [models / "model.safetensors"]
    assert [entry.kind for entry in inventory.entries()] == [Kind.MODELS]
