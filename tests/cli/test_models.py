"""``tritalk models`` in the terminal, without a server."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from desktop.cli.main import main
from desktop.models import chat
from tests.support.chat_models import chitchat


def test_import_list_unuse_use_and_remove(
    fresh_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = chitchat(tmp_path / "source", "gpt2")
    assert main(["models", "import", "--kind", "chat", "--name", "mine", str(source)]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("mine is imported (0.1M, GPT2LMHeadModel")
    assert said.out.endswith("mine is served from the server's next start on\n")
    assert "comparing with transformers\n" in said.err
    assert main(["models", "list", "--kind", "chat"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[:3] for line in lines] == [
        ["*", "chat", "ibuddha_chitchat"],
        ["*", "chat", "mine"],
    ]
    assert main(["models", "unuse", "mine"]) == 0
    assert main(["models", "list", "--kind", "chat", "--json"]) == 0
    last = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert (last["name"], last["in_use"]) == ("mine", False)
    assert last["folder"] == str(chat.folder() / "mine")
    assert main(["models", "use", "mine"]) == 0
    assert chat.served() == ["mine"]
    assert main(["models", "remove", "mine"]) == 0
    assert capsys.readouterr().out.endswith("mine is removed\n")
    assert not (chat.folder() / "mine").exists()


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["import", "--kind", "chat", "/nowhere"], "there is no folder /nowhere"),
        (["import", "--kind", "chat", "a b"], "it is no name on the hub"),
        (["use", "nobody"], "there is no model 'nobody' here"),
        (["remove", "ibuddha_chitchat"], "came with the application and stays"),
    ],
)
def test_wrong_input_is_one_sentence(
    fresh_home: Path, capsys: pytest.CaptureFixture[str], words: list[str], told: str
) -> None:
    assert main(["models", *words]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.count("\n") == 1
    assert told in said.err
