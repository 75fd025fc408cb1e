"""The image's own way to serve: the environment it reads and the command it becomes."""

from __future__ import annotations

from pathlib import Path

import pytest

from desktop import paths
from server_bundle.docker import serve

MODELS = paths.resources_dir() / "models"


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    weights = tmp_path / "weights"
    weights.mkdir()
    (weights / "chat").symlink_to(MODELS / "chitchat-tiny")
    (weights / "address").symlink_to(MODELS / "address-tiny")
    return {"TRITALK_WEIGHTS": str(weights), "TRITALK_WORK": str(tmp_path / "work")}


def test_the_command(environment: dict[str, str]) -> None:
    words = serve.command({**environment, "TRITALK_DEVICE": "cpu"})
    loads = [word.partition("=")[2] for word in words if word.startswith("--load-model=")]
    assert set(loads) == {
        "address_parser",
        "ibuddha_chitchat",
        "ibuddha_chitchat_bls",
        "ibuddha_chitchat_stream",
        "multitask_model",
    }
    assert loads.index("ibuddha_chitchat") < loads.index("ibuddha_chitchat_stream")
    assert "--model-control-mode=explicit" in words
    assert not any("restricted" in word for word in words)
    rendered = Path(environment["TRITALK_WORK"]) / "models" / "ibuddha_chitchat" / "config.pbtxt"
    assert f"{environment['TRITALK_WEIGHTS']}/chat" in rendered.read_text()


def test_gpus_and_instances(environment: dict[str, str]) -> None:
    serve.command(
        {**environment, "TRITALK_DEVICE": "gpu", "TRITALK_INSTANCES": "ibuddha_chitchat=2"}
    )
    models = Path(environment["TRITALK_WORK"]) / "models"

    def group(name: str) -> str:
        return (models / name / "config.pbtxt").read_text().splitlines()[-1]

    assert group("ibuddha_chitchat") == "instance_group [{ kind: KIND_GPU count: 2 }]"
    assert group("multitask_model") == "instance_group [{ kind: KIND_GPU count: 1 }]"
    # It only calls another model.
    assert group("ibuddha_chitchat_stream") == "instance_group [{ kind: KIND_CPU count: 1 }]"


def test_further_chat_models_and_the_precision(environment: dict[str, str]) -> None:
    own = Path(environment["TRITALK_WEIGHTS"]) / "chats" / "mine"
    own.parent.mkdir()
    own.symlink_to(MODELS / "chitchat-tiny")
    words = serve.command({**environment, "TRITALK_DEVICE": "cpu", "TRITALK_PRECISION": "bfloat16"})
    loads = [word.partition("=")[2] for word in words if word.startswith("--load-model=")]
    assert loads[-2:] == ["mine", "mine_stream"]
    models = Path(environment["TRITALK_WORK"]) / "models"
    config = (models / "mine" / "config.pbtxt").read_text()
    assert f'"{own}"' in config
    assert '"bfloat16"' in config
    assert '"mine"' in (models / "mine_stream" / "config.pbtxt").read_text()


@pytest.mark.parametrize("name", ["Mine", "multitask_model", "mine_stream"])
def test_names_that_no_chat_model_can_have(environment: dict[str, str], name: str) -> None:
    own = Path(environment["TRITALK_WEIGHTS"]) / "chats" / name
    own.parent.mkdir()
    own.symlink_to(MODELS / "chitchat-tiny")
    with pytest.raises(serve.BadEnvironment, match=f"can be called '{name}'"):
        serve.command(environment)


def test_a_key_leaves_the_probes_alone(environment: dict[str, str]) -> None:
    words = serve.command({**environment, "TRITALK_KEY": "secret"})
    restricted = [word for word in words if "restricted" in word]
    assert len(restricted) == 2
    for word in restricted:
        assert word.endswith("secret")
        assert "inference" in word
        assert "health" not in word


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"TRITALK_DEVICE": "tpu"}, "auto, gpu or cpu"),
        ({"TRITALK_INSTANCES": "ibuddha_chitchat"}, "is like ibuddha_chitchat=2"),
        ({"TRITALK_INSTANCES": "a=0"}, "is like ibuddha_chitchat=2"),
        ({"TRITALK_PRECISION": "float8"}, "one of auto, float32"),
        ({"TRITALK_DEVICE": "gpu", "TRITALK_PRECISION": "int8"}, "on gpu"),
    ],
)
def test_wrong_variables(environment: dict[str, str], wrong: dict[str, str], words: str) -> None:
    with pytest.raises(serve.BadEnvironment, match=words):
        serve.command({**environment, **wrong})
