"""Importing chat models from folders: what is published comes in, what is broken or hostile does
not, and then nothing is left behind."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

from desktop.models import ModelError, Progress, chat
from desktop.models.worker import Cancel, Cancelled
from desktop.triton.types import InvalidInput
from server_bundle.chitchat.folder import CheckpointError
from server_bundle.chitchat.importing.__main__ import run
from server_bundle.chitchat.opening import open_layout
from server_bundle.chitchat.prompt import PromptLayout
from tests.support.chat_models import causal, chitchat


def convert(source: Path, target: Path) -> dict[str, Any]:
    target.mkdir()
    return run(source, target, lambda _: None)


@pytest.mark.parametrize(
    ("kind", "options", "layout"),
    [
        ("openai-gpt", {"pickled": True, "legacy": True, "bare_config": True}, "speakers"),
        ("gpt2", {}, "speakers"),
        ("gpt2", {"speakers": False, "pickled": True}, "separator"),
    ],
    ids=["CDial-GPT, OpenAI-GPT pickle", "CDial-GPT, GPT-2", "GPT2-chitchat pickle"],
)
def test_chitchat_checkpoints(
    tmp_path: Path, kind: str, options: dict[str, bool], layout: str
) -> None:
    source = chitchat(tmp_path / "source", kind, **options)
    told = convert(source, tmp_path / "target")
    assert told["layout"] == layout
    assert told["difference"] < 1e-4
    assert told["parameters"] == 200 * 48 + 64 * 48 + 2 * 28272 + (96 if kind == "gpt2" else 0)
    names = {path.name for path in (tmp_path / "target").iterdir()}
    assert names == {"config.json", "model.safetensors", "prompt.toml", "vocab.txt"}
    read = PromptLayout.from_folder(tmp_path / "target")
    assert read.speakers == ((198, 199) if layout == "speakers" else None)
    assert read.turns == (5 if layout == "speakers" else 3)


@pytest.mark.parametrize("kind", ["qwen2", "llama"])
def test_causal_models_with_a_chat_template(tmp_path: Path, kind: str) -> None:
    told = convert(causal(tmp_path / "source", kind), tmp_path / "target")
    assert told["layout"] == "template"
    assert told["difference"] < 1e-4
    assert told["licence"] == "apache-2.0"
    names = {path.name for path in (tmp_path / "target").iterdir()}
    assert {"LICENSE", "README.md", "chat_template.jinja", "tokenizer.json"} <= names
    layout: Any = open_layout(tmp_path / "target")
    # What config.json says, and what the template itself ends a turn with.
    assert layout.stops == (0, 2)


def test_pickled_shards_of_a_causal_model(tmp_path: Path) -> None:
    source = causal(tmp_path / "source")
    from safetensors.torch import load_file

    tensors = list(load_file(source / "model.safetensors").items())
    (source / "model.safetensors").unlink()
    files = ("pytorch_model-00001-of-00002.bin", "pytorch_model-00002-of-00002.bin")
    halves = (tensors[:7], tensors[7:])
    for file, half in zip(files, halves, strict=True):
        torch.save(dict(half), source / file)
    weight_map = {n: f for f, half in zip(files, halves, strict=True) for n, _ in half}
    index = {"metadata": {}, "weight_map": weight_map}
    (source / "pytorch_model.bin.index.json").write_text(json.dumps(index))
    assert convert(source, tmp_path / "target")["difference"] < 1e-4
    assert (tmp_path / "target" / "model.safetensors").exists()


class Malicious:
    def __init__(self, marker: Path) -> None:
        self.marker = marker

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        return os.mkdir, (str(self.marker),)


def with_config(**changes: Any) -> Callable[[Path], None]:
    def damage(folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text())
        (folder / "config.json").write_text(json.dumps({**config, **changes}))

    return damage


def cut_off(folder: Path) -> None:
    weights = folder / "model.safetensors"
    os.truncate(weights, weights.stat().st_size // 2)


def pickle_that_runs(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    torch.save({"model": Malicious(folder / "ran")}, folder / "pytorch_model.bin")


def pickle_of_nothing(folder: Path) -> None:
    (folder / "model.safetensors").unlink()
    (folder / "pytorch_model.bin").write_bytes(b"\x80\x04not a pickle")


def index_elsewhere(folder: Path) -> None:
    (folder / "model.safetensors").rename(folder.parent / "elsewhere.safetensors")
    index = {"weight_map": {"transformer.wte.weight": "../elsewhere.safetensors"}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def no_numbers(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    tensors = load_file(folder / "model.safetensors")
    tensors["transformer.wpe.weight"][3, 3] = torch.nan
    save_file(tensors, folder / "model.safetensors")


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (cut_off, r"the file model\.safetensors is damaged or cut off"),
        (pickle_that_runs, "wants to run code when it is read"),
        (pickle_of_nothing, r"pytorch_model\.bin"),
        (index_elsewhere, "which is no plain file name"),
        (no_numbers, "holds something that is no number"),
        (with_config(n_layer=10**9), r"n_layer is 1000000000; from 1 to 1,024"),
        (with_config(n_embd=-1), "n_embd is -1"),
        (with_config(vocab_size="many"), 'vocab_size is "many"'),
        (with_config(n_layer=3), "tells 3 layers, the weights have 2"),
        (with_config(n_embd=64), "a width of 64, the weights have 48"),
        (lambda folder: (folder / "config.json").unlink(), r"config\.json is missing"),
        (lambda folder: (folder / "config.json").write_text("[]"), "no.* JSON object"),
        (lambda folder: (folder / "model.safetensors").unlink(), "has neither"),
        (lambda folder: (folder / "vocab.txt").write_text("a\nb\n"), "tokenizer|chat template"),
    ],
)
def test_damaged_and_hostile_folders(
    tmp_path: Path, damage: Callable[[Path], None], told: str
) -> None:
    source = chitchat(tmp_path / "source", "gpt2")
    damage(source)
    with pytest.raises(CheckpointError, match=told) as raised:
        convert(source, tmp_path / "target")
    assert "\n" not in str(raised.value)
    assert not (source / "ran").exists()


def remote_code(folder: Path) -> None:
    with_config(model_type="mine", auto_map={"AutoModelForCausalLM": "mine.Model"})(folder)
    (folder / "mine.py").write_text("raise SystemExit('ran')")


def no_template(folder: Path) -> None:
    (folder / "chat_template.jinja").unlink()


def cut_off_vocabulary(folder: Path) -> None:
    with_config(vocab_size=100)(folder)


def one_tensor_less(folder: Path) -> None:
    from safetensors.torch import load_file, save_file

    tensors = load_file(folder / "model.safetensors")
    del tensors["model.layers.1.mlp.up_proj.weight"]
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})


def broken_template(folder: Path) -> None:
    (folder / "chat_template.jinja").write_text("{{ messages[99].content.upper() }}")


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (remote_code, "program code of its own|cannot be read|cannot load"),
        (no_template, "has no chat template"),
        (cut_off_vocabulary, "tokenizer has .* tokens, the weights 100"),
        (one_tensor_less, r"lack 1 tensors, such as .*up_proj"),
        (broken_template, "chat template"),
        (cut_off, r"the file model\.safetensors is damaged or cut off"),
        (lambda folder: (folder / "tokenizer.json").write_text("{"), "the tokenizer cannot be"),
    ],
)
def test_damaged_causal_models(tmp_path: Path, damage: Callable[[Path], None], told: str) -> None:
    source = causal(tmp_path / "source")
    damage(source)
    with pytest.raises(CheckpointError, match=told) as raised:
        convert(source, tmp_path / "target")
    assert "\n" not in str(raised.value)


def test_names() -> None:
    assert chat.suggested_name("thu-coai/CDial-GPT_LCCC-base") == "cdial-gpt_lccc-base"
    assert chat.suggested_name("/models/我的 Model/") == "model"
    for wrong in ("", "Upper", "-x", "a/b", "..", "x" * 65, "ibuddha_chitchat", "mine_stream"):
        with pytest.raises(InvalidInput):
            chat.check_name(wrong)


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return chitchat(tmp_path_factory.mktemp("source") / "Tiny GPT", "gpt2")


def left_behind(home: Path) -> list[str]:
    return [str(path.relative_to(home)) for path in home.rglob("*") if path.is_file()]


def test_a_model_comes_and_goes(fresh_home: Path, tiny: Path) -> None:
    said: list[str] = []
    words = chat.import_model(str(tiny), "", lambda progress: said.append(progress.message))
    assert words.startswith("tiny-gpt is imported (0.1M, GPT2LMHeadModel")
    assert "comparing with transformers" in said
    (_, model) = chat.installed()
    assert (model.name, model.in_use, model.shipped) == ("tiny-gpt", True, False)
    assert chat.for_server().load == {"tiny-gpt"}
    with pytest.raises(InvalidInput, match="there is a model tiny-gpt already"):
        chat.bring_in(str(tiny), "", lambda _: None, Cancel())
    chat.unuse("tiny-gpt")
    assert chat.for_server().load == frozenset()
    chat.remove("tiny-gpt")
    assert [m.name for m in chat.installed()] == ["ibuddha_chitchat"]
    assert left_behind(fresh_home) == ["data/models/chat/served.json"]
    with pytest.raises(InvalidInput, match="there is no imported chat model"):
        chat.remove("../../x")


def test_what_fails_leaves_nothing(fresh_home: Path, tiny: Path, tmp_path: Path) -> None:
    broken = tmp_path / "broken"
    shutil.copytree(tiny, broken)
    pickle_that_runs(broken)
    with pytest.raises(ModelError, match="wants to run code"):
        chat.bring_in(str(broken), "", lambda _: None, Cancel())
    assert not (broken / "ran").exists()
    with pytest.raises(InvalidInput, match="there is no folder /nowhere"):
        chat.bring_in("/nowhere", "", lambda _: None, Cancel())
    with pytest.raises(InvalidInput, match="no name on the hub"):
        chat.bring_in("just words", "", lambda _: None, Cancel())
    assert left_behind(fresh_home) == []


def test_cancelling_ends_the_process_and_leaves_nothing(fresh_home: Path, tiny: Path) -> None:
    cancel = Cancel()

    def report(progress: Progress) -> None:
        if progress.message.startswith("reading"):
            cancel()

    with pytest.raises(Cancelled):
        chat.bring_in(str(tiny), "", report, cancel)
    assert left_behind(fresh_home) == []
    assert list(chat.folder().iterdir()) == []


@pytest.mark.skipif(os.name != "posix", reason="mounts a small file system")
def test_a_full_disk_is_a_sentence(fresh_home: Path, tiny: Path) -> None:
    chat.folder().mkdir(parents=True)
    size = (tiny / "model.safetensors").stat().st_size + 8192  # enough to begin with
    mount = ["mount", "-t", "tmpfs", "-o", f"size={size // 4096 * 4096}", "none"]
    if subprocess.run([*mount, str(chat.folder())], check=False, capture_output=True).returncode:
        pytest.skip("file systems cannot be mounted here")
    try:
        (chat.folder() / "ballast").write_bytes(b"0" * 4096)
        with pytest.raises(ModelError, match=r"the disk of .* is full; make room and try again"):
            chat.bring_in(str(tiny), "", lambda _: None, Cancel())
        assert [path.name for path in chat.folder().iterdir()] == ["ballast"]
    finally:
        subprocess.run(["umount", str(chat.folder())], check=True)


def test_what_a_killed_import_left_is_swept(fresh_home: Path, tiny: Path) -> None:
    gone = chat.folder() / ".importing-4194399-aa"  # above the largest process number
    gone.mkdir(parents=True)
    cancel = Cancel()
    cancel()
    with pytest.raises(Cancelled):
        chat.bring_in(str(tiny), "", lambda _: None, cancel)
    assert not gone.exists()
