"""A folder of address weights: model.pt and the vocabulary and labels beside it."""

from __future__ import annotations

import csv
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from server_bundle.address.entities import ENTITY_TYPES
from server_bundle.address.features import CharacterTokenizer, Tokenizer, read_vocabulary
from server_bundle.address.word_piece import WordPieceTokenizer

CALIBRATION = "calibration.json"
CONFIG, VOCABULARY, AREAS, TYPES = "config.json", "vocab.txt", "label_cls.csv", "entity_types.txt"
COMPANIONS = (CONFIG, VOCABULARY, AREAS, TYPES, CALIBRATION)
POSITIONS = 128


@dataclass(frozen=True)
class AddressModel:
    """What lies beside the weights. ``areas[i]`` is the division key of area logit i;
    ``temperature`` divides span scores before the sigmoid (1 where there is no calibration);
    ``positions`` is the most tokens that the network can read."""

    tokenizer: Tokenizer
    areas: tuple[str, ...]
    types: tuple[str, ...]
    temperature: float = 1.0
    positions: int = POSITIONS

    @classmethod
    def load(cls, folder: Path) -> AddressModel:
        """Raises FileNotFoundError or ValueError with a sentence that names the file."""
        for name in (VOCABULARY, AREAS):
            if not (folder / name).exists():
                raise FileNotFoundError(f"The address model lacks {folder / name}.")
        types: tuple[str, ...] = ENTITY_TYPES
        if (folder / TYPES).exists():
            types = tuple((folder / TYPES).read_text(encoding="utf-8").split())
        config = _config(folder / CONFIG)
        return cls(
            _tokenizer(folder / VOCABULARY, config),
            tuple(code for code, _ in read_areas(folder / AREAS)),
            types,
            _temperature(folder / CALIBRATION),
            _positions(folder / CONFIG, config),
        )


def _json(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise ValueError(f"{file} is not valid JSON.") from None


def _config(file: Path) -> dict[str, Any]:
    """Empty where there is none: then it is a network of our own training."""
    if not file.exists():
        return {"tokenizer": "character"}
    found = _json(file)
    if not isinstance(found, dict):
        raise ValueError(f"{file} does not hold a JSON object.")
    return found


def _positions(file: Path, config: dict[str, Any]) -> int:
    found = config.get("max_position_embeddings", POSITIONS)
    # Two of them go to [CLS] and [SEP].
    if not isinstance(found, int) or isinstance(found, bool) or found < 3:
        raise ValueError(f"{file} needs a max_position_embeddings of 3 or more.")
    return found


def _tokenizer(vocabulary: Path, config: dict[str, Any]) -> Tokenizer:
    tokens = read_vocabulary(vocabulary)
    if config.get("tokenizer") == "character":
        return CharacterTokenizer(tokens)
    return WordPieceTokenizer(tokens, bool(config.get("do_lower_case", False)))


# The columns by the names that people give them.
_LABEL = ("label", "id", "index", "idx", "label_id", "序号", "标签")
_CODE = ("code", "adcode", "area_code", "行政代码", "编码")
_NAME = ("name", "area", "area_name", "text", "名称", "地区", "区域")


def read_areas(file: Path) -> list[tuple[str, str]]:
    """Code (of the division table, empty where unknown) and name of each area logit, in order.

    With a header: a column of labels 0, 1, … and one of codes or names; without one: the rows are
    ``label,name`` or, with one column, names in order. Codes may be written with trailing zeros
    (330110000000). Raises ValueError with a sentence that names the file.
    """
    with file.open(encoding="utf-8-sig", newline="") as stream:
        try:
            rows = [[cell.strip() for cell in row] for row in csv.reader(stream) if any(row)]
        except csv.Error as error:
            raise ValueError(f"{file} is no table: {error}.") from error
    if not rows:
        raise ValueError(f"{file} is empty.")
    head = [cell.lower() for cell in rows[0]]
    columns = {
        kind: next((i for i, cell in enumerate(head) if cell in names), None)
        for kind, names in (("label", _LABEL), ("code", _CODE), ("name", _NAME))
    }
    if any(column is not None for column in columns.values()):
        rows = rows[1:]
    else:
        columns = {"label": 0, "code": None, "name": 1} if len(head) > 1 else {"name": 0}
    found: dict[int, tuple[str, str]] = {}
    try:
        for i, row in enumerate(rows):
            label = i if (at := columns.get("label")) is None else int(row[at])
            code = "" if (at := columns.get("code")) is None else _division_code(row[at])
            name = "" if (at := columns.get("name")) is None else row[at]
            found[label] = (code, name)
    except (IndexError, ValueError) as error:
        raise ValueError(
            f"{file} needs the columns label (0, 1, …) and code or name in every row."
        ) from error
    if sorted(found) != list(range(len(rows))):
        raise ValueError(f"{file} needs each label from 0 to {len(rows) - 1} once.")
    return [found[label] for label in range(len(rows))]


def _division_code(code: str) -> str:
    """Twelve and nine digits down to what the table's keys have: six, or nine for towns."""
    if re.fullmatch(r"\d{12}", code) and code.endswith("000"):
        code = code[:9]
    if re.fullmatch(r"\d{9}", code) and code.endswith("000"):
        code = code[:6]
    return code


def _temperature(file: Path) -> float:
    if not file.exists():
        return 1.0
    try:
        temperature = float(_json(file)["temperature"])
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{file} needs a number called temperature.") from error
    if not 0.01 <= temperature <= 100:
        raise ValueError(f"{file} has the temperature {temperature}; it must be 0.01 to 100.")
    return temperature
