"""Rendering a served model repository."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from server_bundle import repository


def make(source: Path, name: str, config: str = "", code: str = "# model\n") -> None:
    (source / name / "1").mkdir(parents=True)
    (source / name / "config.pbtxt").write_text(config or f'name: "{name}"\nbackend: "python"\n')
    if code:
        (source / name / "1" / "model.py").write_text(code)


def render(tmp_path: Path, **more: Any) -> repository.Rendered:
    return repository.render(
        tmp_path / "served",
        chat_model=tmp_path / "chat",
        address_model=tmp_path / "address",
        run_dir=tmp_path / "run",
        source=tmp_path / "source",
        **more,
    )


@pytest.mark.parametrize(("device", "kind"), [("cpu", "KIND_CPU"), ("gpu", "KIND_GPU")])
def test_instances_follow_the_device(tmp_path: Path, device: str, kind: str) -> None:
    make(tmp_path / "source", "a")
    make(tmp_path / "source", "b", "instance_group [{ kind: KIND_CPU count: 2 }]\n")
    render(tmp_path, device=device)
    config = (tmp_path / "served" / "a" / "config.pbtxt").read_text()
    assert config.endswith(f"instance_group [{{ kind: {kind} count: 1 }}]\n")
    # A model that insists on its own instances keeps them.
    own = (tmp_path / "served" / "b" / "config.pbtxt").read_text()
    assert own == "instance_group [{ kind: KIND_CPU count: 2 }]\n"


def test_a_stream_model_has_one_instance_which_takes_all_requests_back(tmp_path: Path) -> None:
    for name in ("chat", "chat_stream"):
        make(tmp_path / "source", name)
    render(tmp_path, instances={"chat": 3, "chat_stream": 3})
    for name, count in (("chat", 3), ("chat_stream", 1)):
        config = (tmp_path / "served" / name / "config.pbtxt").read_text()
        assert config.endswith(f"count: {count} }}]\n")


def test_another_device_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cpu or gpu"):
        render(tmp_path, device="tpu")


def test_paths_are_filled_in_and_escaped(tmp_path: Path) -> None:
    odd = tmp_path / 'a "quoted" \\ folder'
    make(odd / "source", "a", 'x: "@CHAT_MODEL@"\ny: "@ADDRESS_MODEL@"\nz: "@RUN_DIR@"\n')
    render(odd)
    config = (odd / "served" / "a" / "config.pbtxt").read_text()
    escaped = str(odd).replace("\\", "\\\\").replace('"', '\\"')
    for letter, name in (("x", "chat"), ("y", "address"), ("z", "run")):
        assert f'{letter}: "{escaped}/{name}"\n' in config


def test_a_called_model_comes_before_its_callers(tmp_path: Path) -> None:
    call = 'parameters {{ key: "engine" value {{ string_value: "{}" }} }}\n'
    make(tmp_path / "source", "a_top", call.format("b_middle"))
    make(tmp_path / "source", "b_middle", call.format("c_engine"))
    make(tmp_path / "source", "c_engine")
    make(tmp_path / "source", "d_alone", call.format("not a model"))
    assert render(tmp_path).levels == [["c_engine", "d_alone"], ["b_middle"], ["a_top"]]


def test_models_that_call_each_other_are_still_loaded(tmp_path: Path) -> None:
    call = 'parameters {{ key: "engine" value {{ string_value: "{}" }} }}\n'
    make(tmp_path / "source", "a", call.format("b"))
    make(tmp_path / "source", "b", call.format("a"))
    assert render(tmp_path).levels == [["a", "b"]]


def test_unfinished_models_are_reported_and_left_out(tmp_path: Path) -> None:
    make(tmp_path / "source", "good")
    make(tmp_path / "source", "empty", code="")
    (tmp_path / "source" / "bare").mkdir()
    make(tmp_path / "source", "multitask_model", code="")
    rendered = render(tmp_path)
    assert rendered.levels == [["good"]]
    assert set(rendered.problems) == {"empty", "bare", "multitask_model"}
    assert str(tmp_path / "address" / "model.pt") in rendered.problems["multitask_model"]
    assert [path.name for path in (tmp_path / "served").iterdir()] == ["good"]


def test_the_address_network_gets_its_weights(tmp_path: Path) -> None:
    make(tmp_path / "source", "multitask_model", code="")
    (tmp_path / "address").mkdir()
    (tmp_path / "address" / "model.pt").write_bytes(b"weights")
    assert render(tmp_path).levels == [["multitask_model"]]
    served = tmp_path / "served" / "multitask_model" / "1" / "model.pt"
    assert served.read_bytes() == b"weights"


def test_bytecode_is_not_served(tmp_path: Path) -> None:
    make(tmp_path / "source", "a")
    cache = tmp_path / "source" / "a" / "1" / "__pycache__"
    cache.mkdir()
    (cache / "model.cpython-311.pyc").write_bytes(b"")
    render(tmp_path)
    assert [p.name for p in (tmp_path / "served" / "a" / "1").iterdir()] == ["model.py"]


def test_the_bundles_own_models_render(tmp_path: Path) -> None:
    resources = Path(__file__).resolve().parents[2] / "resources" / "models"
    rendered = repository.render(
        tmp_path,
        chat_model=resources / "chitchat-tiny",
        address_model=resources / "address-tiny",
        run_dir=tmp_path,
    )
    assert rendered.problems == {}
    first, *later = rendered.levels
    assert set(first) == {"ibuddha_chitchat", "multitask_model"}
    assert {name for level in later for name in level} == {
        "ibuddha_chitchat_bls",
        "ibuddha_chitchat_stream",
        "address_parser",
    }
    assert "@" not in "".join(path.read_text() for path in tmp_path.rglob("config.pbtxt"))


def test_what_a_client_may_ask_for_is_told(tmp_path: Path) -> None:
    config = "\n".join(
        f'"@{name}@"' for name in ("CONTEXT_TOKENS", "VOCABULARY_SIZE", "SAMPLING_DEFAULTS")
    )
    make(tmp_path / "source", "a", config)
    render(tmp_path)  # without weights nothing is told
    served = tmp_path / "served" / "a" / "config.pbtxt"
    assert served.read_text().splitlines()[:3] == ['""'] * 3
    chat = tmp_path / "chat"
    chat.mkdir()
    (chat / "config.json").write_text('{"n_positions": 300, "vocab_size": 77}')
    (chat / "generation_config.json").write_text('{"temperature": 0.5, "max_new_tokens": 40}')
    render(tmp_path)
    context, vocabulary, defaults, *_ = served.read_text().splitlines()
    assert (context, vocabulary) == ('"300"', '"77"')
    values = json.loads(json.loads(defaults))
    assert values["temperature"] == 0.5
    assert values["max_tokens"] == 40
    assert "seed" not in values


def chat_source(tmp_path: Path) -> None:
    make(tmp_path / "source", "ibuddha_chitchat", 'name: "ibuddha_chitchat"\nw: "@CHAT_MODEL@"\n')
    make(
        tmp_path / "source",
        "ibuddha_chitchat_stream",
        'name: "ibuddha_chitchat_stream"\n'
        'parameters { key: "engine" value { string_value: "ibuddha_chitchat" } }\n'
        'c: "@CONTEXT_TOKENS@"\n',
    )


def chats(tmp_path: Path, *names: str, load: tuple[str, ...] = ()) -> repository.ChatModels:
    for name in names:
        (tmp_path / "own" / name).mkdir(parents=True, exist_ok=True)
        config = {"vocab_size": 10, "n_positions": 40 + len(name)}
        (tmp_path / "own" / name / "config.json").write_text(json.dumps(config))
    return repository.ChatModels({n: tmp_path / "own" / n for n in names}, frozenset(load))


def test_each_chat_model_is_an_engine_and_a_stream(tmp_path: Path) -> None:
    chat_source(tmp_path)
    rendered = render(tmp_path, chat_models=chats(tmp_path, "one", "three", load=("one",)))
    assert rendered.levels == [
        ["ibuddha_chitchat"],
        ["ibuddha_chitchat_stream"],
        ["one"],  # after the server's own, however large it is
        ["one_stream"],
    ]
    assert rendered.optional == {"one", "one_stream", "three", "three_stream"}
    served = tmp_path / "served"
    engine = (served / "three" / "config.pbtxt").read_text()
    assert engine.startswith(f'name: "three"\nw: "{tmp_path}/own/three"\n')
    stream = (served / "three_stream" / "config.pbtxt").read_text()
    assert stream.startswith('name: "three_stream"\n')
    assert 'string_value: "three"' in stream
    assert 'c: "45"' in stream
    assert (served / "three_stream" / "1" / "model.py").exists()


def test_rendering_again_touches_nothing_that_is_served(tmp_path: Path) -> None:
    chat_source(tmp_path)
    render(tmp_path, chat_models=chats(tmp_path, "one", "two"))
    served = tmp_path / "served"
    files = [p for p in served.rglob("*") if p.is_file() and "two" not in str(p)]
    before = {path: path.stat().st_mtime_ns for path in files}
    (served / "ibuddha_chitchat" / "2").mkdir()  # what somebody else has put there
    rendered = render(
        tmp_path, chat_models=chats(tmp_path, "one", "new", load=("new",)), again=True
    )
    assert {path: path.stat().st_mtime_ns for path in files} == before
    assert (served / "ibuddha_chitchat" / "2").exists()
    assert not list(served.glob("two*"))
    assert rendered.levels[-2:] == [["new"], ["new_stream"]]
    text = (served / "one_stream" / "config.pbtxt").read_text()
    (tmp_path / "own" / "one" / "config.json").write_text('{"vocab_size": 9, "n_positions": 77}')
    render(tmp_path, chat_models=chats(tmp_path), again=True)
    assert not list(served.glob("one*"))
    (tmp_path / "own" / "one" / "config.json").write_text('{"vocab_size": 9, "n_positions": 77}')
    folders = {"one": tmp_path / "own" / "one"}
    render(tmp_path, chat_models=repository.ChatModels(folders), again=True)
    new = (served / "one_stream" / "config.pbtxt").read_text()
    assert new == text.replace('c: "43"', 'c: "77"')
