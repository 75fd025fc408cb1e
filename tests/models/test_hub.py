"""Downloads from a hub: only what makes the model, gone on with after a break, checked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from desktop import paths
from desktop.models import ModelError, Progress, chat
from desktop.models.hub import choose
from desktop.models.worker import Cancel
from tests.support.chat_models import chitchat
from tests.support.hub import Hub, serve

REPOSITORY = "somebody/Tiny-GPT"


@pytest.fixture
def hub(fresh_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Hub]:
    folder = chitchat(tmp_path / "repository", "gpt2")
    (folder / "README.md").write_text("---\nlicense: mit\n---\n")
    (folder / "LICENSE").write_text("MIT\n")
    (folder / "train.py").write_text("raise SystemExit\n")
    (folder / "tf_model.h5").write_bytes(b"0" * 1000)
    (folder / "onnx").mkdir()
    (folder / "onnx" / "model.safetensors").write_bytes(b"0" * 1000)
    with serve(folder, REPOSITORY) as one:
        monkeypatch.setenv("HF_ENDPOINT", one.url)
        monkeypatch.setenv("HF_HOME", str(tmp_path / "hf"))
        yield one


def bring_in(source: str = REPOSITORY) -> tuple[str, list[Progress]]:
    said: list[Progress] = []
    model = chat.bring_in(source, "", said.append, Cancel())
    return model.about, said


def downloads() -> list[Path]:
    folder = paths.cache_dir() / "downloads"
    return [path for path in folder.rglob("*.*") if path.is_file()] if folder.exists() else []


def test_a_broken_download_goes_on_where_it_was(hub: Hub) -> None:
    size = (hub.folder / "model.safetensors").stat().st_size
    hub.break_after = size // 2
    with pytest.raises(ModelError, match=r"broke off .* what has arrived is kept") as raised:
        bring_in()
    assert hub.url in str(raised.value)
    assert [m.name for m in chat.installed()] == ["ibuddha_chitchat"]
    (part,) = [path for path in downloads() if path.name.endswith(".part")]
    arrived = part.stat().st_size
    assert size // 4 < arrived <= size // 2
    hub.healed = True
    hub.ranges.clear()
    about, said = bring_in()
    assert about == f"0.1M, GPT2LMHeadModel, mit, {REPOSITORY}"
    assert [int(r.removeprefix("bytes=").rstrip("-")) for r in hub.ranges] == [arrived]
    loading = [p for p in said if p.message == "downloading model.safetensors"]
    assert all(arrived < p.done <= p.total for p in loading)
    assert not any("train.py" in path or "onnx" in path for path in hub.asked)
    assert (chat.folder() / "tiny-gpt" / "LICENSE").exists()
    assert downloads() == []


@pytest.mark.parametrize("name", ["model.safetensors", "vocab.txt"])
def test_a_wrong_checksum_is_noticed(hub: Hub, name: str) -> None:
    hub.told_sha[name] = "ab" * (32 if name.endswith("s") else 20)
    with pytest.raises(ModelError, match=f"the file {name} arrived damaged"):
        bring_in()
    assert name not in [path.name for path in downloads()]  # it will be fetched anew
    assert len(chat.installed()) == 1


def test_what_does_not_fit_is_not_begun(hub: Hub) -> None:
    hub.told_size["model.safetensors"] = 10**16
    with pytest.raises(ModelError, match=r"needs 2\d*\.\d GB of disk space .* are free"):
        bring_in()
    assert downloads() == []


def test_what_is_not_there_is_a_sentence(hub: Hub) -> None:
    with pytest.raises(ModelError, match=r"no model somebody/else at .*, or it is private"):
        bring_in("somebody/else")
    hub.status = 500
    with pytest.raises(ModelError, match="broke off"):
        bring_in()


def test_only_what_makes_the_model_is_chosen() -> None:
    names = ["config.json", "pytorch_model.bin", "model-00001-of-00002.safetensors", "x.py"]
    names += ["original/model.safetensors", "vocab.json", "merges.txt", "tf_model.h5", "a.gguf"]
    assert choose([*names, "README.md", "LICENSE.txt"]) == [
        "LICENSE.txt",
        "README.md",
        "config.json",
        "merges.txt",
        "model-00001-of-00002.safetensors",
        "vocab.json",
    ]
    assert "pytorch_model.bin" in choose(["config.json", "pytorch_model.bin"])
