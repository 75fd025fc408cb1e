"""``prompt.toml``, which people edit by hand."""

from __future__ import annotations

import random
from collections.abc import Iterable

from server_bundle.chitchat import opening, prompt_file
from server_bundle.chitchat.folder import CheckpointError
from server_bundle.chitchat.prompt_file import PromptFile
from tests.fuzz.harness import allowed, deep, folder
from tests.fuzz.harnesses.sampling import check

VOCABULARY, CONTEXT = 200, 64
_VALUES = (
    b"0",
    b"-1",
    b'"0.7"',
    b"1e400",
    b"nan",
    b"true",
    b"[2]",
    b'"x"',
    b"07:30:00",
    b"{a = 1}",
)


def seeds() -> Iterable[bytes]:
    ids = {"start": 0, "end": 2, "pad": 1, "unknown": 3}
    sampling = {"temperature": 0.7, "top_p": 0.9, "top_k": 40, "max_tokens": 30, "min_tokens": 1}
    for found in (
        PromptFile("speakers", CONTEXT, 5, {**ids, "user": 198, "bot": 199}, sampling=sampling),
        PromptFile("separator", 40, 3, ids, sampling={"no_repeat_ngram_size": 4}),
        PromptFile("template", CONTEXT, 0, {}, (2, 7), 'say "hi"\n', {"repetition_penalty": 1.1}),
    ):
        yield prompt_file.text_of(found, CONTEXT, {0: "[CLS]", 2: "</s>"}).encode()


def mutate(data: bytes, chance: random.Random) -> bytes:
    """A line's value replaced, a line taken out or put in twice."""
    if chance.random() < 0.03:
        return b"layout = " + deep(b"", chance)
    lines = [line for line in data.split(b"\n") if line and not line.startswith(b"#")]
    at = chance.randrange(len(lines) + 1)
    if at < len(lines):
        name = lines[at].partition(b"=")[0]
        new = (name + b"= " + chance.choice(_VALUES), b"", lines[at] + b"\n" + lines[at])
        lines[at] = chance.choice(new)
    return b"\n".join(lines)


def one(data: bytes) -> None:
    where = folder()
    file = where / prompt_file.NAME
    file.write_bytes(data)
    assert opening.is_template(where) in (True, False)
    with allowed(CheckpointError):
        found = prompt_file.read(where, VOCABULARY, CONTEXT)
        assert found is not None
        check(prompt_file.sampling_defaults(where, found))
        file.write_text(
            prompt_file.text_of(found, CONTEXT, {0: "[CLS]", 2: "a\nb\x00", 7: "\r"}),
            encoding="utf-8",
        )
        assert prompt_file.read(where, VOCABULARY, CONTEXT) == found, (
            "what it writes reads otherwise"
        )
