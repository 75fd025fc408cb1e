"""What fuzzing has found, each with the right answer."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
import torch
from safetensors.torch import save_file

from desktop import memory, settings
from desktop.addresses.journal import Journal
from desktop.addresses.tables import Table
from desktop.launchers import wire
from desktop.launchers.base import ServerState, ServerStatus
from desktop.launchers.capture import MAX_LINE_CHARACTERS, BoundedLog
from desktop.launchers.server_process import ServerOptions
from desktop.models import registry
from desktop.store import transfer
from desktop.triton import chat_stream, client, control
from desktop.triton.models import read_limits
from desktop.triton.types import Endpoint, InvalidInput, ParsedAddress, ServerUnavailable
from server_bundle.address import checkpoint as address_checkpoint
from server_bundle.address.entities import Span
from server_bundle.address.folder import AddressModel
from server_bundle.address.one_line import one_line
from server_bundle.address.resolver import Division
from server_bundle.chitchat import checkpoint as chat_checkpoint
from server_bundle.chitchat import folder as chat_folder
from server_bundle.chitchat import opening, prompt_file
from server_bundle.chitchat.chat_template import ChatTemplate
from server_bundle.chitchat.checkpoint import network_config
from server_bundle.chitchat.folder import CheckpointError, context_length
from server_bundle.chitchat.importing import chitchat, source
from server_bundle.chitchat.prompt import InvalidPrompt
from server_bundle.chitchat.prompt_file import PromptFile
from server_bundle.chitchat.template import TemplateLayout
from server_bundle.training.chitchat.dialogues import EXCHANGES, DialogueError, read_all
from tests.fuzz.harnesses import address_folder, server_answers, template_folder
from tests.fuzz.harnesses import conversations as conversation_seeds

DEEP = "[" * 20_000


# -- chat models ---------------------------------------------------------------------------------


def test_brackets_of_any_depth_in_prompt_toml(tmp_path: Path) -> None:
    (tmp_path / "prompt.toml").write_text(f"layout = {DEEP}")
    assert opening.is_template(tmp_path) is False
    with pytest.raises(CheckpointError, match="cannot be read"):
        prompt_file.read(tmp_path, 200, 64)


def test_numbers_in_quotes_are_numbers(tmp_path: Path) -> None:
    text = prompt_file.text_of(PromptFile("template", 64, stop=(2,)), 64, {})
    (tmp_path / "prompt.toml").write_text(f'{text}temperature = "0.7"\ntop_k = -1\n')
    found = prompt_file.read(tmp_path, 200, 64)
    assert found is not None
    assert found.sampling == {"temperature": 0.7, "top_k": 0}


def test_what_prompt_toml_quotes_may_hold_anything(tmp_path: Path) -> None:
    wanted = PromptFile("template", 64, stop=(2, 3), system='"\x7f"\n# 你好')
    text = prompt_file.text_of(wanted, 64, {2: "\n", 3: "a\x00b"})
    (tmp_path / "prompt.toml").write_text(text, encoding="utf-8")
    assert prompt_file.read(tmp_path, 200, 64) == wanted


def test_a_template_that_only_python_refuses() -> None:
    with pytest.raises(CheckpointError, match="is no Jinja: 'continue' not properly in loop"):
        ChatTemplate("{% continue %}", {})


def test_a_template_that_makes_no_text() -> None:
    with pytest.raises(CheckpointError, match="the chat template fails"):
        ChatTemplate("{{ '\\ud800' }}", {}).render([])


def test_a_template_that_makes_nothing(tmp_path: Path) -> None:
    for name, content in template_folder.good().items():
        (tmp_path / name).write_bytes(content)
    assert TemplateLayout.from_folder(tmp_path).encode([], "你好", 16).ids
    (tmp_path / "chat_template.jinja").write_text("")
    with pytest.raises(InvalidPrompt, match="makes nothing of a message"):
        TemplateLayout.from_folder(tmp_path).encode([], "你好", 16)


@pytest.mark.parametrize("length", ["²", float("inf"), -1, True, [512], 1 << 60])
def test_a_context_that_is_no_length(length: object) -> None:
    with pytest.raises(CheckpointError, match="n_positions must be a whole number from 1 to"):
        context_length({"n_positions": length})


def test_config_json_of_any_depth(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(DEEP)
    with pytest.raises(CheckpointError, match="cannot be read"):
        chat_folder.read_json(tmp_path / "config.json")
    assert memory.chat_need(tmp_path) > 0


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"n_layer": 10**9}, "n_layer must be a whole number from 1 to 1,024"),
        ({"n_head": 3}, "n_head 3 does not divide n_embd 8"),
        ({"n_head": 0}, "n_head must be"),
        ({"n_embd": "8"}, "n_embd must be"),
        ({"layer_norm_epsilon": []}, "lacks a usable size"),
    ],
)
def test_absurd_sizes_of_a_network(change: dict[str, object], words: str) -> None:
    sizes = {"vocab_size": 12, "n_positions": 40, "n_embd": 8, "n_layer": 1, "n_head": 2}
    assert network_config({"model_type": "gpt2", **sizes}).n_inner == 32
    with pytest.raises(CheckpointError, match=words):
        network_config({"model_type": "gpt2", **sizes, **change})


def test_weights_that_are_no_plain_tensors(tmp_path: Path) -> None:
    torch.save({"a": torch.zeros(3).to_sparse()}, tmp_path / "pytorch_model.bin")
    with pytest.raises(CheckpointError, match="a is no plain tensor"):
        source.read_tensors([tmp_path / "pytorch_model.bin"], lambda _: None)
    with pytest.raises(address_checkpoint.CheckpointError, match="a is no plain tensor"):
        address_checkpoint._read_weights(tmp_path)


@pytest.mark.parametrize("name", ["x" * 300, "../x", ""])
def test_an_index_that_names_no_file_of_its_folder(tmp_path: Path, name: str) -> None:
    index = json.dumps({"weight_map": {"a": name}})
    (tmp_path / "model.safetensors.index.json").write_text(index)
    with pytest.raises(CheckpointError, match="is no plain file name"):
        source.weight_files(tmp_path)


def test_memory_of_a_file_with_an_absurd_header(tmp_path: Path) -> None:
    save_file({"a": torch.zeros(2, 3)}, tmp_path / "model.safetensors")
    assert memory.weights(tmp_path)[0] == 6
    header = b'{"a": {"dtype": "F32", "shape": [Infinity, -3], "data_offsets": [0, 0]}}'
    (tmp_path / "model.safetensors").write_bytes(len(header).to_bytes(8, "little") + header)
    assert memory.weights(tmp_path)[0] == 0


def test_dialogues_packed_and_damaged(tmp_path: Path) -> None:
    packed = bytearray(gzip.compress(b'{"turns": ["a", "b"]}\n' * 50, mtime=0))
    packed[20:28] = bytes(8)
    file = tmp_path / "d.jsonl.gz"
    file.write_bytes(packed)
    with pytest.raises(DialogueError, match="cannot be read"):
        read_all([file], EXCHANGES)


def test_turns_that_are_no_list(tmp_path: Path) -> None:
    file = tmp_path / "d.jsonl"
    file.write_text('{"turns": "ab"}\n')
    with pytest.raises(DialogueError, match="line 1: no dialogue: turns must be a list"):
        read_all([file], EXCHANGES)


# -- address models ------------------------------------------------------------------------------


@pytest.fixture
def model(tmp_path: Path) -> Path:
    for name, content in address_folder.good().items():
        (tmp_path / name).write_bytes(content)
    (tmp_path / "entity_types.txt").write_text("a\nb\nc\nd\ne\n")
    return tmp_path


@pytest.mark.parametrize("text", [DEEP, '{"temperature": 1' + "0" * 400 + "}", "7"])
def test_a_calibration_that_is_none(model: Path, text: str) -> None:
    (model / "calibration.json").write_text(text)
    with pytest.raises(ValueError, match=r"calibration\.json"):
        AddressModel.load(model)


@pytest.mark.parametrize("positions", [-(2**63), 2, "x", True])
def test_positions_that_leave_no_room(model: Path, positions: object) -> None:
    (model / "config.json").write_text(json.dumps({"max_position_embeddings": positions}))
    with pytest.raises(ValueError, match="needs a max_position_embeddings of 3 or more"):
        AddressModel.load(model)


def test_digits_that_are_no_numbers(model: Path) -> None:
    (model / "entity_types.txt").unlink()
    (model / "label_ner.json").write_text(json.dumps({"²": "a", "1": "b"}))
    with pytest.raises(address_checkpoint.CheckpointError, match="must give each entity type"):
        address_checkpoint.read(model)
    (model / "label_ner.json").unlink()
    (model / "label_ner.csv").write_text("²,a\n1,b\n", encoding="utf-8")
    with pytest.raises(address_checkpoint.CheckpointError, match="do not fit 2 entity types"):
        address_checkpoint.read(model)


@pytest.mark.parametrize("name", ["label_ner.csv", "label_cls.csv"])
def test_a_cell_longer_than_the_csv_reader_takes(model: Path, name: str) -> None:
    if name == "label_ner.csv":
        (model / "entity_types.txt").unlink()
    (model / name).write_text(f"label,name\n0,{'x' * (17 << 20)}\n")
    with pytest.raises(address_checkpoint.CheckpointError, match="is no table"):
        address_checkpoint.read(model)


def test_a_checkpoint_that_only_looks_like_an_archive(model: Path) -> None:
    (model / "model.safetensors").unlink()
    file = model / "pytorch_model.bin"
    torch.save({"a": torch.zeros(2)}, file)
    data = bytearray(file.read_bytes())
    directory = data.rindex(b"PK\x01\x02")
    data[directory : directory + 4] = b"XXXX"
    file.write_bytes(data)
    assert zipfile.is_zipfile(file)
    with pytest.raises(address_checkpoint.CheckpointError, match="is damaged or cut off"):
        address_checkpoint.read(model)


def test_an_entity_of_white_space_alone() -> None:
    spans = [Span(0, 2, "road"), Span(2, 3, "poi"), Span(3, 4, "houseno"), Span(4, 5, "roomno")]
    assert one_line("文路 12", spans, Division()) == "文路1-2"


# -- files of the desktop ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (DEEP, "cannot be read"),
        ('{"docker": {"memory": "\\ud800"}}', r"docker\.memory is not valid Unicode text"),
        ('{"instances": {"\\ud800": 1}}', "instances is not valid Unicode text"),
        (json.dumps({"device": "x" * 9000}), "device is one of auto, gpu, cpu, not 'x{34,40}"),
    ],
)
def test_settings_that_could_not_be_saved(fresh_home: Path, text: str, words: str) -> None:
    settings.path().parent.mkdir(parents=True)
    settings.path().write_text(text)
    with pytest.raises(settings.SettingsError, match=words) as caught:
        settings.load({})
    assert len(str(caught.value)) < 1000


def test_a_key_is_not_cut_in_two_where_a_line_is_cut(tmp_path: Path) -> None:
    log = BoundedLog(tmp_path / "server.log")
    log.secrets.append("5f2c9a7e41d8b603")
    log.feed(b"x" * (MAX_LINE_CHARACTERS - 12) + b"5f2c9a7e41d8b603" + b"y" * 3000)
    log.feed(b"\nnext\n")
    log.close()
    assert (tmp_path / "server.log").read_text() == f"{'x' * 1988}<key>yyyyyyy\nnext\n"


def test_half_a_character_in_an_imported_conversation(tmp_path: Path) -> None:
    store = conversation_seeds.database()
    seed, _ = conversation_seeds.seeds()
    data = json.loads(seed)
    data["title"] = "标\ud800题"
    data["messages"][1]["tokens"][0]["alternatives"][0][0] = "\ud800"
    file = tmp_path / "c.json"
    file.write_text(json.dumps(data))
    identity = transfer.import_file(store, file)
    for ending in (".json", ".html", ".md"):
        transfer.export(store, identity, tmp_path / f"out{ending}")
    found = json.loads((tmp_path / "out.json").read_text(encoding="utf-8"))
    assert found["title"] == "标?题"
    assert found["messages"][1]["tokens"][0]["alternatives"][0][0] == "?"
    data["title"] = None
    file.write_text(json.dumps(data))
    with pytest.raises(transfer.TransferError, match="null is no text"):
        transfer.import_file(store, file)


@pytest.mark.parametrize("number", ["Infinity", DEEP])
def test_a_manifest_that_is_damaged(fresh_home: Path, number: str) -> None:
    where = registry.kind_dir("address") / "mine"
    where.mkdir(parents=True)
    text = '{"version": %s, "imported": "", "facts": {}}'
    (where / "manifest.json").write_text(text % "2")
    assert [model.version for model in registry.imported("address")] == [2]
    (where / "manifest.json").write_text(text % number)
    assert registry.imported("address") == []


@pytest.mark.parametrize("line", ["7", "[]", "null", DEEP])
def test_a_journal_ends_where_it_is_damaged(tmp_path: Path, line: str) -> None:
    out = tmp_path / "out.csv"
    with Journal(out, {"source": "abc"}) as journal:
        journal.add({"entities": []})
    with journal.path.open("a") as stream:
        stream.write(f'{line}\n{{"error": "x"}}\n')
    with Journal(out, {"source": "abc"}) as journal:
        assert journal.done == 1
        assert list(journal.results()) == [{"entities": []}]


def test_a_workbook_whose_packing_is_damaged(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["地址"])
    book.save(tmp_path / "good.xlsx")
    with (
        zipfile.ZipFile(tmp_path / "good.xlsx") as good,
        zipfile.ZipFile(tmp_path / "bad.xlsx", "w", zipfile.ZIP_LZMA) as bad,
    ):
        for name in good.namelist():
            bad.writestr(name, good.read(name))
        place = bad.getinfo("[Content_Types].xml").header_offset
    data = bytearray((tmp_path / "bad.xlsx").read_bytes())
    data[place + 70 : place + 90] = bytes(20)
    (tmp_path / "bad.xlsx").write_bytes(data)
    with pytest.raises(InvalidInput, match="is no readable XLSX file"):
        Table.open(tmp_path / "bad.xlsx")


# -- other programs ------------------------------------------------------------------------------


def address(**changes: object) -> object:
    first, *_ = server_answers.seeds()
    data = {**json.loads(first[1:]), **changes}
    answer = server_answers.Answer(result=np.array([json.dumps(data).encode()], np.object_))
    return client._address(answer)


def test_an_answer_for_an_address_that_is_none() -> None:
    found = address()
    assert isinstance(found, ParsedAddress)
    assert found.division.city == "杭州市"
    for changes in ({"division": []}, {"entities": [7]}, {"text": None}, {"one_line": 7}):
        found = address(**changes)
        assert isinstance(found, ServerUnavailable)
        assert str(found).startswith("the server's answer is not understood")
    empty = client._address(server_answers.Answer(result=np.array([b""], np.object_)))
    assert isinstance(empty, ServerUnavailable)


def test_a_token_that_is_none() -> None:
    entry = '[{"7": {"logprob": %s, "decoded_token": "好"}}]'
    *_, token, reason = chat_stream.read(server_answers.reply((entry % "1e-7").encode()))
    assert token is not None
    assert token.alternatives[0].probability == 1.0
    assert reason == "stop"
    for logprobs in (entry % "NaN", entry % "5", "[]", "{", '[{"x": {}}]'):
        with pytest.raises(ServerUnavailable, match="is not understood"):
            chat_stream.read(server_answers.reply(logprobs.encode()))


def test_a_state_of_a_model_that_we_do_not_know() -> None:
    models = [{"name": "m", "version": "²", "state": "ASLEEP"}, {"name": "n", "state": "READY"}]
    found = control.read_index({"models": models})
    assert [(model.name, model.state, model.versions) for model in found] == [
        ("m", "ASLEEP", ""),
        ("n", "READY", ""),
    ]
    with pytest.raises(ServerUnavailable, match="list of models is not understood"):
        control.read_index({"models": [7]})


@pytest.mark.parametrize("defaults", [DEEP, "[]", '{"top_k": 1e400, "stop": 7, "seed": "x"}'])
def test_sampling_defaults_of_another_server(defaults: str) -> None:
    told = {"context_tokens": "512", "vocabulary_size": "100", "sampling_defaults": defaults}
    limits = read_limits({"parameters": {n: {"string_value": v} for n, v in told.items()}})
    assert limits is None or limits.defaults.to_json() == {}


@pytest.mark.parametrize("line", ["7", "null", "", DEEP])
def test_a_line_that_is_no_message(line: str) -> None:
    with pytest.raises(ValueError, match="no message"):
        wire.decode(line.encode())
    assert wire.decode(wire.encode({"why": "a\ud800"})) == {"why": "a\ud800"}


@pytest.mark.parametrize(
    "changes",
    [
        {"launcher": 2},
        {"message": json.loads("[" * 900 + "]" * 900)},
        {"models": {"m": 7}},
        {"headers": []},
        {"pid": "7"},
        {"progress": {"phase": "pull", "bytes_done": "1"}},
        {"progress": [1]},
        {"state": "asleep"},
    ],
)
def test_a_status_that_is_none(changes: dict[str, Any]) -> None:
    status = ServerStatus("embedded", "why", ServerState.READY, "", Endpoint("unix:/g"))
    assert wire.status_from_json(status.to_json()) == status
    with pytest.raises(ValueError):
        wire.status_from_json({**status.to_json(), **changes})


def test_pickled_weights_that_claim_gigabytes(tmp_path: Path) -> None:
    torch.save({"wte.weight": torch.zeros(64, 64)}, tmp_path / "whole.bin")
    with zipfile.ZipFile(tmp_path / "whole.bin") as whole:
        members = {name: whole.read(name) for name in whole.namelist()}
    packed = tmp_path / "pytorch_model.bin"
    refused = (CheckpointError, address_checkpoint.CheckpointError)
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    for read in (
        lambda: source.read_tensors([packed], lambda _: None),
        lambda: chat_checkpoint.read_weights(tmp_path),
        lambda: address_checkpoint._read_weights(tmp_path),
    ):
        with pytest.raises(refused, match="is compressed, which no checkpoint of PyTorch is"):
            read()
    torch.save({"wte.weight": torch.zeros(1).expand(2**40)}, packed)
    for read in (
        lambda: source.read_tensors([packed], lambda _: None),
        lambda: address_checkpoint._read_weights(tmp_path),
    ):
        with pytest.raises(refused, match="claims more numbers than the file holds"):
            read()


def test_a_model_type_that_is_no_text(tmp_path: Path) -> None:
    assert chitchat.is_chitchat(tmp_path, {"model_type": 7}) is False
    assert chitchat.is_chitchat(tmp_path, {"model_type": ["gpt2"], "architectures": {}}) is False


def test_options_that_are_none() -> None:
    with pytest.raises(ValueError, match="no status of a server: KeyError"):
        wire.status_from_json({})
    with pytest.raises(ValueError, match="no options of a server"):
        ServerOptions.from_json('{"gpus": 7}')
