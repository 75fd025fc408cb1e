"""Input made to do harm, and input made of anything: one clear sentence, and the next one works."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import openpyxl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from desktop.addresses.tables import Table
from desktop.triton.types import InvalidInput
from server_bundle.chitchat import care
from server_bundle.chitchat.parameters import (
    InvalidParameter,
    SamplingParameters,
    parse,
    parse_json,
)
from server_bundle.chitchat.prompt import InvalidPrompt, PromptLayout
from tests.support.chat import MODEL

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
NAMES = st.sampled_from(
    ["temperature", "top_p", "top_k", "max_tokens", "min_tokens", "seed", "stop", "logprobs"]
)


def examples(number: int) -> settings:
    """So many, or as many as `make soak` asks for."""
    soaking = settings.default.max_examples > 1000
    return settings(
        max_examples=settings.default.max_examples if soaking else number, deadline=None
    )


def check_words(error: Exception) -> None:
    """A person gets one sentence, not a trace."""
    assert str(error)
    assert "Traceback" not in str(error)


def test_a_table_of_a_million_columns(tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("地址" + "," * 1_000_000 + "x\n杭州市\n", encoding="utf-8")
    with pytest.raises(InvalidInput, match="has 1,000,001 columns; at most 16,384"):
        Table.open(path)


def test_a_zip_bomb(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.append(["地址"])
    book.active.append(["杭州市西湖区文三路90号"])
    small, bomb = tmp_path / "small.xlsx", tmp_path / "bomb.xlsx"
    book.save(small)
    with (
        zipfile.ZipFile(small) as source,
        zipfile.ZipFile(bomb, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for name in source.namelist():
            if name != "xl/worksheets/sheet1.xml":
                target.writestr(name, source.read(name))
        with target.open("xl/worksheets/sheet1.xml", "w", force_zip64=True) as sheet:
            for _ in range(400):
                sheet.write(b"<row><c><v>" + b"1" * 1_000_000)
    assert bomb.stat().st_size < 2_000_000
    with pytest.raises(InvalidInput, match="would unpack from"):
        Table.open(bomb)
    assert Table.open(small).total == 1


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".txt", ".xlsx"])
@examples(40)
@given(data=st.binary(max_size=400))
def test_files_of_anything(
    tmp_path_factory: pytest.TempPathFactory, suffix: str, data: bytes
) -> None:
    path = tmp_path_factory.mktemp("anything") / f"file{suffix}"
    path.write_bytes(data)
    try:
        table = Table.open(path)
        list(table.rows())
    except InvalidInput as error:
        check_words(error)


@examples(300)
@given(st.dictionaries(NAMES | st.text(max_size=8), ANYTHING, max_size=4))
def test_sampling_values_of_anything(values: dict[str, object]) -> None:
    try:
        parsed = parse(values, SamplingParameters(), vocab_size=13088, context=512)
    except InvalidParameter as error:
        check_words(error)
        return
    assert 0 <= parsed.temperature <= 2
    assert 0 < parsed.top_p <= 1
    assert 1 <= parsed.max_tokens <= 512


@examples(200)
@given(st.text(max_size=60) | ANYTHING.map(lambda value: json.dumps(value, default=str)))
def test_sampling_json_of_anything(text: str) -> None:
    try:
        assert isinstance(parse_json(text), dict)
    except InvalidParameter as error:
        check_words(error)


@examples(200)
@given(
    st.lists(st.text(max_size=300), max_size=6),
    st.text(max_size=700),
    st.integers(1, 512),
    st.text(max_size=40),
)
def test_prompts_of_anything_fit_the_context(
    history: list[str], text: str, reserve: int, prefix: str
) -> None:
    layout = PromptLayout.from_folder(MODEL)
    try:
        prompt = layout.encode(history, text, reserve, prefix)
    except InvalidPrompt as error:
        check_words(error)
        return
    assert 1 <= len(prompt.ids) < layout.context
    assert prompt.types is not None
    assert len(prompt.types) == len(prompt.ids)
    assert all(0 <= i < len(layout.tokens) for i in prompt.ids)


@examples(300)
@given(st.text(max_size=400))
def test_the_rule_of_care_takes_any_text(text: str) -> None:
    assert care.speaks_of_suicide(text) in (True, False)
    assert care.answer(text)
