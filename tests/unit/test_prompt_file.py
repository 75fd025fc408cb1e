"""``prompt.toml``: what an import writes can be read; wrong edits are named in a sentence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from server_bundle.chitchat import prompt_file
from server_bundle.chitchat.folder import CheckpointError
from server_bundle.chitchat.prompt import PromptLayout
from server_bundle.chitchat.prompt_file import PromptFile
from tests.support.chat_models import write_vocabulary

IDS = {"start": 0, "end": 2, "pad": 1, "unknown": 3, "user": 198, "bot": 199}
SPEAKERS = PromptFile("speakers", 64, 5, IDS, sampling={"temperature": 0.7, "max_tokens": 30})
TEMPLATE = PromptFile("template", 64, 0, {}, (0, 2), 'Say "hi"\n雨', {"top_p": 0.8})


def write(folder: Path, found: PromptFile) -> str:
    text = prompt_file.text_of(found, 128, {0: "[CLS]", 2: "[SEP]"})
    (folder / prompt_file.NAME).write_text(text, encoding="utf-8")
    return text


@pytest.mark.parametrize("found", [SPEAKERS, TEMPLATE], ids=["speakers", "template"])
def test_what_is_written_is_read(tmp_path: Path, found: PromptFile) -> None:
    text = write(tmp_path, found)
    assert prompt_file.read(tmp_path, 200, 128) == found
    entries = [line for line in text.splitlines() if " = " in line and not line.startswith("#")]
    assert entries
    assert all(len(line) <= 110 for line in text.splitlines())


def test_a_folder_without_one_is_read_as_before(tmp_path: Path) -> None:
    assert prompt_file.read(tmp_path, 200, 128) is None


@pytest.mark.parametrize(
    ("before", "after", "told"),
    [
        ('layout = "speakers"', 'layout = "chatml"', "layout must be one of speakers"),
        ("context = 64", "context = 4096", "context must be a whole number from 32 to 128, not 40"),
        ("context = 64", 'context = "64"', 'context must be a whole number .* not "64"'),
        ("context = 64", "contxt = 64", "contxt is no entry; known are layout, context"),
        ("turns = 5", "turns = -1", "turns must be a whole number from 0"),
        ("user = 198", "user = 200", "vocabulary.user must be a whole number from 0 to 199"),
        ("user = 198", "usr = 198", "vocabulary.usr is no entry"),
        ("user = 198", "user = 199", "two special ids .* are the same"),
        ("user = 198", "", "vocabulary.user must be .* not missing"),
        ("temperature = 0.7", "temperature = 9", "temperature must be from 0 to 2, not 9"),
        ("temperature = 0.7", "heat = 0.7", "sampling.heat is no entry"),
        ("temperature = 0.7", "temperature = ", "cannot be read"),
        ("turns = 5", 'turns = 5\nsystem = "x"', "system is for the layout template only"),
    ],
)
def test_wrong_edits_are_named(tmp_path: Path, before: str, after: str, told: str) -> None:
    text = write(tmp_path, SPEAKERS)
    assert before in text
    (tmp_path / prompt_file.NAME).write_text(text.replace(before, after))
    with pytest.raises(CheckpointError, match=told) as raised:
        prompt_file.read(tmp_path, 200, 128)
    assert "\n" not in str(raised.value).partition("cannot be read")[0]


def test_ids_turns_and_context_are_obeyed(tmp_path: Path) -> None:
    write_vocabulary(tmp_path, speakers=True)
    config = {"model_type": "gpt2", "vocab_size": 202, "n_positions": 128}
    (tmp_path / "config.json").write_text(json.dumps(config))
    swapped = PromptFile("speakers", 64, 3, {**IDS, "user": 199, "bot": 198})
    write(tmp_path, swapped)
    layout = PromptLayout.from_folder(tmp_path)
    assert (layout.context, layout.speakers) == (64, (199, 198))
    assert layout.vocabulary.size == 202
    assert {200, 201} <= set(layout.vocabulary.banned)  # rows that have no token
    prompt = layout.encode(["你好", "你好呀", "在吗", "在的"], "今天", 16)
    assert prompt.dropped_turns == 2
    assert prompt.ids[:2] == [0, 199]
    assert prompt.reply_type == 198


def test_limits_that_clients_are_told(tmp_path: Path) -> None:
    write_vocabulary(tmp_path, speakers=True)
    config = {"model_type": "gpt2", "vocab_size": 200, "n_positions": 128}
    (tmp_path / "config.json").write_text(json.dumps(config))
    write(tmp_path, SPEAKERS)
    limits = prompt_file.served_limits(tmp_path)
    assert (limits["context_tokens"], limits["vocabulary_size"]) == ("64", "200")
    defaults = json.loads(limits["sampling_defaults"])
    assert (defaults["temperature"], defaults["max_tokens"]) == (0.7, 30)
