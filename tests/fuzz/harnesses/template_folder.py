"""Folders of models with a chat template: tokenizer, template, special tokens, prompt.toml."""

from __future__ import annotations

import random
from collections.abc import Iterable
from functools import lru_cache

from server_bundle.chitchat import prompt_file
from server_bundle.chitchat.folder import CheckpointError
from server_bundle.chitchat.prompt import InvalidPrompt
from server_bundle.chitchat.prompt_file import PromptFile
from server_bundle.chitchat.template import TemplateLayout
from tests.fuzz.harness import allowed, json_or_deep, laid_out
from tests.fuzz.harnesses import chat_template
from tests.support.chat_models import CHATML, byte_level_tokenizer, sentencepiece_tokenizer

MAX_LEN = 65_536
NAMES = ("tokenizer.json", "tokenizer_config.json", "config.json", "chat_template.jinja")
_SIZE = 448


@lru_cache(maxsize=1)
def good() -> dict[str, bytes]:
    tokenizer = byte_level_tokenizer()
    end = tokenizer.convert_tokens_to_ids("<|im_end|>")
    file = PromptFile("template", 128, stop=(end,), sampling={"temperature": 0.7})
    return {
        "tokenizer.json": tokenizer.backend_tokenizer.to_str().encode(),
        "tokenizer_config.json": b'{"eos_token": "<|im_end|>", "bos_token": {"content": "x"}}',
        "config.json": f'{{"vocab_size": {_SIZE}, "max_position_embeddings": 128}}'.encode(),
        "chat_template.jinja": CHATML.encode(),
        prompt_file.NAME: prompt_file.text_of(file, 128, {end: "<|im_end|>"}).encode(),
    }


def seeds() -> Iterable[bytes]:
    for place, name in enumerate(NAMES):
        yield bytes([place]) + good()[name]
    yield b"\x00" + sentencepiece_tokenizer().backend_tokenizer.to_str().encode()
    yield b"\x03{{ '\\ud800' }}"


def mutate(data: bytes, chance: random.Random) -> bytes:
    if data and data[0] % len(NAMES) == 3:
        return data[:1] + chat_template.mutate(data[1:], chance)
    return data[:1] + json_or_deep(data[1:], chance)


def one(data: bytes) -> None:
    """The first byte: which file of a sound folder the rest replaces."""
    where = laid_out("template", good())
    (where / NAMES[(data[0] if data else 0) % len(NAMES)]).write_bytes(data[1:])
    with allowed(CheckpointError, InvalidPrompt):
        layout = TemplateLayout.from_folder(where)
        pieces = layout.pieces()
        for token in (0, 1, 65, 300, _SIZE - 1):
            assert isinstance(layout.text(token), str)
            assert "\ufffd" not in pieces.push(token) or "\ufffd" in layout.text(token)
        prompt = layout.encode(["在吗", "在"], "你好 <|im_end|>", 16)
        assert 1 <= len(prompt.ids) < layout.context
        layout.reply_prefix(prompt.ids)
