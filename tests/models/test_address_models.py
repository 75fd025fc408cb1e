"""Models of one's own: kept, chosen, served by a server that goes on answering, removed."""

from __future__ import annotations

import csv
import json
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from desktop.launchers import current
from desktop.launchers.base import ServerState
from desktop.launchers.supervised import running_models
from desktop.models import address, hot_swap, registry
from desktop.models.registry import BUILT_IN
from desktop.triton.client import TritonClient
from desktop.triton.types import InvalidInput, ParsedAddress, TritalkError
from server_bundle import repository
from server_bundle.address import served
from tests.cli.test_commands import tritalk
from tests.conftest import Server
from tests.support.address_checkpoints import AREAS, seed_network, write_checkpoint

ADDRESS = "浙江省杭州市余杭区五常街道文一西路969号3幢5楼"


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_checkpoint(tmp_path_factory.mktemp("in") / "my-own", seed_network(rope=True))


@pytest.fixture
def small(tmp_path: Path) -> Path:
    return write_checkpoint(tmp_path / "small", seed_network(rope=False, areas=5))


def folders() -> list[str]:
    root = registry.kind_dir("address")
    return sorted(p.name for p in root.iterdir() if p.is_dir()) if root.is_dir() else []


def test_an_import_is_a_version_of_the_repository(fresh_home: Path, small: Path) -> None:
    model, notes = address.bring_in(small)
    assert (model.name, model.version) == ("small", 2)
    assert any("usual 13" in note for note in notes)
    assert folders() == ["small"]
    network = model.folder / served.NETWORK
    assert sorted(p.name for p in (network / "2").iterdir()) == [
        "config.json",
        "entity_types.txt",
        "label_cls.csv",
        "model.pt",
        "vocab.txt",
    ]
    config = (network / "config.pbtxt").read_text()
    assert 'platform: "pytorch_libtorch"' in config
    assert 'name: "cls_logits" data_type: TYPE_FP32 dims: [ 5 ]' in config
    assert 'name: "ner_logits" data_type: TYPE_FP32 dims: [ 13, -1, -1 ]' in config
    assert address.chosen().name == BUILT_IN
    assert address.use("small") == "The next server will serve it."
    assert address.chosen() == model
    rendered = repository.render(
        fresh_home / "served",
        chat_model=fresh_home,
        address_model=address.weights(model),
        address_version=model.version,
        run_dir=fresh_home,
    )
    assert {name for level in rendered.levels for name in level} >= {"address_parser"}
    assert served.versions(fresh_home / "served" / served.NETWORK) == [2]
    parser = (fresh_home / "served" / served.PARSER / "config.pbtxt").read_text()
    assert 'key: "network_version" value { string_value: "2" }' in parser


def test_names_choices_and_removal(fresh_home: Path, small: Path) -> None:
    with pytest.raises(InvalidInput, match="no address model 'small'; there are: address-tiny"):
        address.use("small")
    first, _ = address.bring_in(small, "my.model_1")
    with pytest.raises(InvalidInput, match="already; give another --name, or --replace"):
        address.bring_in(small, "my.model_1")
    again, _ = address.bring_in(small, "my.model_1", replace=True)
    assert (first.version, again.version) == (2, 3)
    assert folders() == ["my.model_1"]
    address.use("my.model_1")
    with pytest.raises(InvalidInput, match="is in use; first: tritalk models unuse"):
        address.remove("my.model_1")
    assert address.unuse("my.model_1") == "The next server will serve it."
    assert address.unuse("my.model_1") == "my.model_1 is not in use."
    address.remove("my.model_1")
    assert folders() == []
    with pytest.raises(InvalidInput, match="came with the application"):
        address.remove(BUILT_IN)


@pytest.mark.parametrize(
    "name", ["..", "../x", "/etc", "a/b", ".hidden", BUILT_IN, "a\nb", "x" * 65, "-x", "a\0"]
)
def test_no_name_leads_out_of_the_folder(fresh_home: Path, small: Path, name: str) -> None:
    with pytest.raises(InvalidInput, match="cannot name a model"):
        address.bring_in(small, name)
    for action in (address.use, address.remove):
        if name != BUILT_IN:
            with pytest.raises(InvalidInput, match="there is no address model"):
                action(name)
    assert folders() == []


def test_what_fails_leaves_nothing(fresh_home: Path, small: Path) -> None:
    weights = small / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:1000])
    with pytest.raises(InvalidInput, match=r"^\S+model\.safetensors is damaged or cut off"):
        address.bring_in(small)
    with pytest.raises(InvalidInput, match="is not a folder"):
        address.bring_in(small / "config.json")
    assert folders() == []


def test_strangers_in_the_folder_are_no_models(fresh_home: Path, small: Path) -> None:
    address.bring_in(small)
    root = registry.kind_dir("address")
    (root / "empty").mkdir()
    (root / "odd").mkdir()
    (root / "odd" / "manifest.json").write_text("[1]")
    (root / "in-use").write_text("../../elsewhere\n")
    assert [model.name for model in address.models()] == [BUILT_IN, "small"]
    assert address.chosen().name == BUILT_IN


# -- the real server -----------------------------------------------------------------------------


@pytest.fixture
def running(fresh_server: Callable[..., Server]) -> Server:
    server = fresh_server()
    server.lease.wait_ready()
    return server


@pytest.mark.triton
def test_a_running_server_takes_it_up_between_two_requests(
    running: Server, checkpoint: Path
) -> None:
    answers: list[ParsedAddress | TritalkError] = []
    stop = threading.Event()

    def ask() -> None:
        with TritonClient(running.endpoint) as client:
            while not stop.is_set():
                answers.extend(client.parse_each([ADDRESS]))

    asking = threading.Thread(target=ask)
    asking.start()
    try:
        done = tritalk("models", "import", "--kind", "address", str(checkpoint))
        assert done.returncode == 0, done.stderr
        assert done.stdout.decode().endswith("The running server serves it now.\n")
        models = running_models()
        assert models is not None
        assert served.versions(models / served.NETWORK) == [2]
        config = (models / served.NETWORK / "config.pbtxt").read_text()
        assert f"dims: [ {AREAS} ]" in config
        assert "instance_group" in config
        done = tritalk("models", "use", BUILT_IN)
        assert done.stdout.decode().splitlines()[-1] == "The running server serves it now."
    finally:
        stop.set()
        asking.join()
    failed = [answer for answer in answers if not isinstance(answer, ParsedAddress)]
    assert failed == []
    shipped = [[e.text for e in a.entities][:3] for a in answers if isinstance(a, ParsedAddress)]
    good = ["浙江省", "杭州市", "余杭区"]
    assert (shipped[0], shipped[-1]) == (good, good)
    assert any(names != good for names in shipped)  # random weights answered in between
    listed = [
        json.loads(x)
        for x in tritalk("models", "list", "--kind", "address", "--json").stdout.splitlines()
    ]
    assert [(m["name"], m["in_use"]) for m in listed] == [(BUILT_IN, True), ("my-own", False)]
    status = current()
    assert status is not None
    assert status.state is ServerState.READY


@pytest.mark.triton
def test_a_model_that_cannot_be_loaded_changes_nothing(
    running: Server, small: Path, tmp_path: Path
) -> None:
    model, _ = address.bring_in(small)
    (address.weights(model) / "model.pt").write_bytes(b"no TorchScript")
    with pytest.raises(TritalkError, match="the one before it stays in use"):
        address.use("small")
    assert address.chosen().name == BUILT_IN
    models = running_models()
    assert models is not None
    assert served.versions(models / served.NETWORK) == [1]
    with TritonClient(running.endpoint) as client:
        assert client.parse([ADDRESS])[0].division.district == "余杭区"
    broken = tmp_path / "incomplete"
    broken.mkdir()
    with pytest.raises(TritalkError, match="there are no weights"):
        hot_swap.address_network(broken, 9)
    source = tmp_path / "in.csv"
    with source.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([["地址"], [ADDRESS]])
    done = tritalk("parse", str(source), "--output", str(tmp_path / "out.csv"))
    assert done.returncode == 0, done.stderr
