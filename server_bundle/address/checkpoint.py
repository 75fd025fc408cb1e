"""A checkpoint of somebody's own training: read without trusting it, and checked before it is used.

The folder holds config.json (BERT's, as transformers writes it), vocab.txt, label_cls.csv, the
weights (model.safetensors or pytorch_model.bin) and, for other entity types than the 13, a label
file. Sizes follow from the weights; config.json says what they cannot (heads, RoPE, scale).
"""

from __future__ import annotations

import csv
import json
import math
import pickle
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor

from server_bundle import pickles
from server_bundle.address.divisions import MUNICIPALITIES, DivisionTable, default_table
from server_bundle.address.entities import ENTITY_TYPES
from server_bundle.address.features import check_vocabulary, read_vocabulary
from server_bundle.address.folder import AREAS, CONFIG, TYPES, VOCABULARY, read_areas
from server_bundle.address.network import AddressConfig, BertFourLevelArea

SAFETENSORS, PICKLE = "model.safetensors", "pytorch_model.bin"
TYPE_FILES = (TYPES, "label_ner.txt", "label_ner.csv", "label_ner.json")

MIB = 1 << 20
MAX_TEXT_FILE = 64 * MIB
# Wider or longer than any BERT; a file that claims more is damaged or hostile.
BOUNDS = {
    "hidden_size": 8192,
    "num_hidden_layers": 128,
    "max_position_embeddings": 8192,
    "num_labels_ner": 256,
    "inner_dim": 1024,
}
MIN_POSITIONS = 16

# Weights beside the network: pre-training heads, and buffers that are made anew.
_IGNORED = re.compile(r"^cls\.|(^|\.)position_ids$")
_LAYER = re.compile(r"bert\.encoder\.layer\.(\d+)\.")
_SEPARATORS = re.compile(r"[\s/\\\-_,，>|]+")
_ROPE_KEYS = ("rope", "RoPE", "use_rope", "use_RoPE")


_DAMAGED = "{0} is damaged or cut off; copy it again from where it came."


class CheckpointError(Exception):
    """The checkpoint cannot be used: one sentence for a person."""


@dataclass(frozen=True)
class Checkpoint:
    """``areas``: (division key or empty, name) of each area logit. ``notes``: what had to be
    assumed, each one sentence."""

    config: AddressConfig
    network: BertFourLevelArea
    types: tuple[str, ...]
    areas: list[tuple[str, str]]
    tokenizer: dict[str, Any]
    notes: tuple[str, ...]


def read(folder: Path, *, types: Path | None = None, rope: bool | None = None) -> Checkpoint:
    """The network in evaluation mode, with what its outputs mean.

    ``types``: a label file elsewhere; ``rope``: what config.json says wrongly or not at all. Raises
    :class:`CheckpointError`.
    """
    if not folder.is_dir():
        raise CheckpointError(f"{folder} is not a folder; give the one that holds config.json.")
    data = _read_config(folder / CONFIG)
    state = _renamed(_read_weights(folder))
    notes: list[str] = []
    labels = _read_types(folder, types)
    if rope is None:
        rope = next((bool(data[key]) for key in _ROPE_KEYS if key in data), None)
    if rope is None:
        rope = False
        notes.append(
            "config.json does not say whether the network was trained with RoPE; taken as without."
        )
    if labels is None:
        notes.append("There is no file of entity types; taken as the usual 13.")
        labels = ENTITY_TYPES
    config = _config(data, state, len(labels), rope)
    _check_vocabulary(folder / VOCABULARY, config)
    areas = _read_areas(folder / AREAS, config)
    if unknown := sum(not key for key, _ in areas):
        notes.append(
            f"{unknown} of {len(areas)} areas are not in the division table; they have no vote."
        )
    network = _build(config, state)
    lower = bool(data.get("do_lower_case", _tokenizer_config(folder).get("do_lower_case", False)))
    kind = {"tokenizer": "character"} if data.get("tokenizer") == "character" else {}
    return Checkpoint(
        config, network, labels, areas, {**kind, "do_lower_case": lower}, tuple(notes)
    )


# -- files ---------------------------------------------------------------------------------------


def _text(file: Path) -> str:
    try:
        if file.stat().st_size > MAX_TEXT_FILE:
            raise CheckpointError(f"{file} is larger than {MAX_TEXT_FILE // MIB} MiB.")
        return file.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        raise CheckpointError(f"The checkpoint lacks {file}.") from None
    except UnicodeDecodeError:
        raise CheckpointError(f"{file} is not UTF-8 text.") from None
    except OSError as error:
        raise CheckpointError(f"{file} cannot be read: {error.strerror}.") from None


def _json(file: Path) -> Any:
    try:
        return json.loads(_text(file))
    except (ValueError, RecursionError):
        raise CheckpointError(f"{file} is not valid JSON.") from None


def _read_config(file: Path) -> dict[str, Any]:
    data = _json(file)
    if not isinstance(data, dict):
        raise CheckpointError(f"{file} does not hold a JSON object.")
    if data.get("hidden_act", "gelu") != "gelu":
        raise CheckpointError(f"{file}: hidden_act must be gelu, not {data['hidden_act']!r}.")
    return data


def _tokenizer_config(folder: Path) -> dict[str, Any]:
    file = folder / "tokenizer_config.json"
    data = _json(file) if file.exists() else {}
    return data if isinstance(data, dict) else {}


def _read_weights(folder: Path) -> dict[str, Tensor]:
    file = next((folder / n for n in (SAFETENSORS, PICKLE) if (folder / n).exists()), None)
    if file is None:
        raise CheckpointError(
            f"The checkpoint lacks its weights: {SAFETENSORS} or {PICKLE} in {folder}."
        )
    try:
        state = _safetensors(file) if file.name == SAFETENSORS else _pickle(file)
    except OSError as error:
        raise CheckpointError(f"{file} cannot be read: {error.strerror or error}.") from None
    for name, tensor in state.items():
        if tensor.layout != torch.strided:
            raise CheckpointError(f"{file}: {name} is no plain tensor.")
        # A tensor may be a view that repeats few bytes: petabytes out of a small file.
        if tensor.numel() * tensor.element_size() > tensor.untyped_storage().nbytes():
            raise CheckpointError(f"{file}: {name} claims more numbers than the file holds.")
        if not tensor.is_floating_point() and not _IGNORED.search(name):
            raise CheckpointError(f"{file}: {name} holds {tensor.dtype}, not floating-point.")
    return state


def _safetensors(file: Path) -> dict[str, Tensor]:
    try:
        with safe_open(file, framework="pt") as stream:
            return {name: stream.get_tensor(name) for name in stream.keys()}  # noqa: SIM118
    except SafetensorError:
        raise CheckpointError(_DAMAGED.format(file)) from None


def _pickle(file: Path) -> dict[str, Tensor]:
    """Only tensors and plain containers are read; a pickle that wants to run code is refused."""
    try:
        compressed = pickles.is_compressed(file)
    except pickles.Damaged:
        raise CheckpointError(_DAMAGED.format(file)) from None
    if compressed:
        raise CheckpointError(f"{file} is compressed, which no checkpoint of PyTorch is.")
    try:
        loaded = torch.load(file, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError:
        raise CheckpointError(
            f"{file} holds more than weights, or is damaged; code in it was not run. "
            f"Save it again as {SAFETENSORS}."
        ) from None
    except OSError:
        raise
    except Exception:  # whatever an unpickler and PyTorch's archive reader meet in a broken file
        raise CheckpointError(_DAMAGED.format(file)) from None
    for key in ("model", "state_dict"):
        if isinstance(loaded, Mapping) and isinstance(loaded.get(key), Mapping):
            loaded = loaded[key]
    if not isinstance(loaded, Mapping) or not all(
        isinstance(k, str) and isinstance(v, Tensor) for k, v in loaded.items()
    ):
        raise CheckpointError(f"{file} holds no table of weights.")
    return dict(loaded)


def _renamed(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """Old names made today's: LayerNorm's gamma and beta, and the prefix of DataParallel."""
    names = {}
    for name, tensor in state.items():
        new = name.removeprefix("module.")
        new = re.sub(r"LayerNorm\.gamma$", "LayerNorm.weight", new)
        new = re.sub(r"LayerNorm\.beta$", "LayerNorm.bias", new)
        names[new] = tensor
    return {name: tensor for name, tensor in names.items() if not _IGNORED.search(name)}


# -- labels --------------------------------------------------------------------------------------


def _read_types(folder: Path, given: Path | None) -> tuple[str, ...] | None:
    file = given or next((folder / n for n in TYPE_FILES if (folder / n).exists()), None)
    if file is None:
        return None
    if file.suffix == ".json":
        names = _types_of_json(_json(file), file)
    else:
        lines = [line.strip() for line in _text(file).splitlines() if line.strip()]
        names = _types_of_csv(lines, file) if file.suffix == ".csv" else lines
    for name in names:
        if not re.fullmatch(r"[^\s\x00-\x1f]{1,40}", name):
            raise CheckpointError(f"{file}: {name[:40]!r} is no name of an entity type.")
    if not names or len(set(names)) != len(names) or len(names) > BOUNDS["num_labels_ner"]:
        raise CheckpointError(
            f"{file} must name each entity type once, {BOUNDS['num_labels_ner']} at most."
        )
    return tuple(names)


def _types_of_json(data: Any, file: Path) -> list[str]:
    """A list of names, or an object of names and their numbers in either direction."""
    if isinstance(data, dict):
        pairs = [(k, v) if _is_number(v) else (v, k) for k, v in data.items()]
        if not all(_is_number(number) for _, number in pairs):
            raise CheckpointError(f"{file} must give each entity type its number.")
        data = [name for name, _ in sorted(pairs, key=lambda pair: int(pair[1]))]
    if not isinstance(data, list) or not all(isinstance(name, str) for name in data):
        raise CheckpointError(f"{file} must hold a list of entity types.")
    return data


def _is_number(value: Any) -> bool:
    """Of so few digits as no list of types needs; ² is a digit to Python, and no number."""
    text = str(value)
    return text.isdecimal() and len(text) <= 9


def _types_of_csv(lines: list[str], file: Path) -> list[str]:
    """``label,type`` with or without a header, or one type a line."""
    try:
        rows = [row for row in csv.reader(lines) if row]
    except csv.Error as error:
        raise CheckpointError(f"{file} is no table: {error}.") from None
    if rows and rows[0][0].strip().lower() in ("label", "id", "index"):
        rows = rows[1:]
    if all(len(row) > 1 and _is_number(row[0].strip()) for row in rows):
        rows.sort(key=lambda row: int(row[0]))
        return [row[1].strip() for row in rows]
    return [row[0].strip() for row in rows]


def _read_areas(file: Path, config: AddressConfig) -> list[tuple[str, str]]:
    _text(file)
    try:
        areas = read_areas(file)
    except ValueError as error:
        raise CheckpointError(str(error)) from None
    if len(areas) != config.num_labels_cls:
        raise CheckpointError(
            f"{file} has {len(areas)} areas, the network {config.num_labels_cls}; "
            "they must be as many."
        )
    table = default_table()
    known = _names(table)
    return [
        (code if code in table.nodes else known.get(_SEPARATORS.sub("", name), ""), name or code)
        for code, name in areas
    ]


@lru_cache(maxsize=1)
def _names(table: DivisionTable) -> dict[str, str]:
    """The names of a division's chain, joined → its key; a municipality's also written twice."""
    found = {}
    for key, node in table.nodes.items():
        names = [above.name for above in node.chain()]
        found["".join(names)] = key
        if node.chain()[0].key in MUNICIPALITIES:
            found[names[0] + "".join(names)] = key
    return found


def _check_vocabulary(file: Path, config: AddressConfig) -> None:
    _text(file)
    tokens = read_vocabulary(file)
    try:
        check_vocabulary(tokens)
    except ValueError as error:
        raise CheckpointError(f"{file}: {error}") from None
    if len(tokens) > config.vocab_size:
        raise CheckpointError(
            f"{file} has {len(tokens)} tokens, the network only {config.vocab_size} embeddings."
        )


# -- network -------------------------------------------------------------------------------------


def _config(
    data: dict[str, Any], state: dict[str, Tensor], types: int, rope: bool
) -> AddressConfig:
    def size(name: str, dimension: int) -> int:
        tensor = state.get(name)
        if tensor is None or tensor.dim() <= dimension:
            raise CheckpointError(f"The weights lack {name}; they are of another network.")
        return tensor.size(dimension)

    def number(key: str, default: Any) -> Any:
        value = data.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value < 1e9:
            raise CheckpointError(f"config.json: {key} must be a number above 0, not {value!r}.")
        return value

    words = "bert.embeddings.word_embeddings.weight"
    hidden = size(words, 1)
    layers = {int(m[1]) for name in state if (m := _LAYER.match(name))}
    sizes: dict[str, int] = {
        "vocab_size": size(words, 0),
        "num_labels_cls": size("dense_cls.weight", 0),
        "hidden_size": hidden,
        "num_hidden_layers": len(layers),
        "intermediate_size": size("bert.encoder.layer.0.intermediate.dense.weight", 0),
        "max_position_embeddings": size("bert.embeddings.position_embeddings.weight", 0),
        "type_vocab_size": size("bert.embeddings.token_type_embeddings.weight", 0),
    }
    width = size("dense_ner.weight", 0)
    inner = width // (2 * types)
    if (
        inner < 1
        or inner * 2 * types != width
        or ("inner_dim" in data and data["inner_dim"] != inner)
    ):
        raise CheckpointError(
            f"The entity head has {width} outputs, which do not fit {types} entity types"
            + (f" of inner_dim {data['inner_dim']}" if "inner_dim" in data else "")
            + "; give the file of its types with --types."
        )
    if rope and inner % 2:
        raise CheckpointError(f"RoPE needs an even inner_dim, not {inner}.")
    sizes |= {"num_labels_ner": types, "inner_dim": inner}
    for key, found in sizes.items():
        if key in BOUNDS and found > BOUNDS[key]:
            raise CheckpointError(f"The weights have a {key} of {found}; at most {BOUNDS[key]}.")
        if key in data and data[key] != found:
            raise CheckpointError(f"config.json says {key} {data[key]!r}, the weights {found}.")
    if sizes["max_position_embeddings"] < MIN_POSITIONS:
        raise CheckpointError(f"The network reads fewer than {MIN_POSITIONS} tokens.")
    heads = number("num_attention_heads", 12)
    if not isinstance(heads, int) or hidden % heads:
        raise CheckpointError(f"config.json: {heads} heads do not divide the width {hidden}.")
    return AddressConfig(
        **sizes,
        num_attention_heads=heads,
        layer_norm_eps=float(number("layer_norm_eps", 1e-12)),
        hidden_dropout_prob=0.0,
        rope=rope,
        scale=float(number("scale", 1.0)),
    )


def _build(config: AddressConfig, state: dict[str, Tensor]) -> BertFourLevelArea:
    with torch.device("meta"):
        expected = {k: v.shape for k, v in BertFourLevelArea(config).state_dict().items()}
    if missing := sorted(expected.keys() - state.keys()):
        raise CheckpointError(f"The weights lack {missing[0]} ({len(missing)} missing in all).")
    if strange := sorted(state.keys() - expected.keys()):
        raise CheckpointError(
            f"The weights hold {strange[0]}, which the network has no place for "
            f"({len(strange)} such in all)."
        )
    for name, shape in expected.items():
        tensor = state[name]
        if tensor.shape != shape:
            raise CheckpointError(f"{name} has the shape {[*tensor.shape]}, not {[*shape]}.")
        if not math.isfinite(float(tensor.double().abs().sum())):
            raise CheckpointError(f"{name} holds numbers that are not finite.")
    network = BertFourLevelArea(config)
    network.load_state_dict({name: tensor.float() for name, tensor in state.items()})
    return network.eval()
