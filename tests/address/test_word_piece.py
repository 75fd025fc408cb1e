"""BERT's tokenizer: the same tokens and offsets as transformers' own."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from server_bundle.address.word_piece import WordPieceTokenizer
from tests.support.address_checkpoints import VOCABULARY

TEXTS = [
    "上海上海市青浦区华隆路E通世界华新园",
    "三里屯soho5号商场  6-2-1101室",
    "no969 # (96969) unbelievable",
    "９幢３０２室（千叶新城）",
    "é́ naïve ÀB\u200bC\ufffd\x00\u3000\ta\nb",
    "😀杭州𠮷路12号",
    "x" * 150 + " 96",
    "$1.50+2^3`~<|>",
    "",
]


@pytest.fixture(scope="module", params=[False, True])
def pair(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple:
    transformers = pytest.importorskip("transformers")
    file: Path = tmp_path_factory.mktemp("vocab") / "vocab.txt"
    file.write_text("\n".join(VOCABULARY) + "\n", encoding="utf-8")
    theirs = transformers.BertTokenizerFast(str(file), do_lower_case=request.param)
    return WordPieceTokenizer(VOCABULARY, lower=request.param), theirs


def check(pair: tuple, text: str) -> None:
    mine, theirs = pair
    expected = theirs(text, return_offsets_mapping=True)
    found = mine.encode(text)
    assert found.ids == expected["input_ids"], text
    assert found.offsets[1:-1] == [tuple(o) for o in expected["offset_mapping"][1:-1]], text
    assert (found.offsets[0], found.offsets[-1]) == ((0, 0), (len(text), len(text)))


@pytest.mark.parametrize("text", TEXTS)
def test_as_transformers(pair: tuple, text: str) -> None:
    check(pair, text)


# What addresses are made of; elsewhere editions of Unicode differ.
ANYTHING = st.one_of(
    st.characters(min_codepoint=first, max_codepoint=last, exclude_categories=["Cn", "Cs"])
    for first, last in ((0, 0x24F), (0x2000, 0x206F), (0x3000, 0x30FF), (0x4E00, 0x9FEF),
                        (0xFF00, 0xFFEF), (0x1F600, 0x1F64F), (0x20000, 0x200FF))
)  # fmt: skip


@settings(max_examples=200, deadline=None)
@given(st.text(st.sampled_from("路号969soho #-　（） \tÉ") | ANYTHING, max_size=30))
def test_as_transformers_on_anything(pair: tuple, text: str) -> None:
    check(pair, text)
