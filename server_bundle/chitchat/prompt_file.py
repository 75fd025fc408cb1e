"""``prompt.toml`` beside the weights: how a chat model wants its prompts, for people to edit.

Written when a model is imported; read by the server when it loads the model. A folder without one
is read as before: vocabulary and layout from ``vocab.txt``, sampling from
``generation_config.json``.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from server_bundle.chitchat.folder import (
    CheckpointError,
    context_length,
    read_json,
    vocabulary_size,
)
from server_bundle.chitchat.parameters import (
    CHECKPOINT_NAMES,
    InvalidParameter,
    SamplingParameters,
    from_generation_config,
    parse,
)

NAME = "prompt.toml"
LAYOUTS = ("speakers", "separator", "template")
SPECIALS = ("start", "end", "pad", "unknown")
SAMPLING = CHECKPOINT_NAMES


@dataclass(frozen=True)
class PromptFile:
    """What the file says.

    Attributes:
        layout: ``speakers`` (CDial-GPT), ``separator`` (GPT2-chitchat) or ``template`` (the chat
            template of a model of transformers).
        context: longest sequence of prompt and reply, in tokens.
        turns: at most so many turns are given to the model, the new message among them; 0: as many
            as fit.
        ids: the special ids ``start``, ``end``, ``pad``, ``unknown`` and, for ``speakers``,
            ``user`` and ``bot``; empty for ``template``.
        stop: for ``template``, the ids that end a reply.
        system: for ``template``, what the system message says; empty: the template's own.
        sampling: sampling parameters where a request gives none.
    """

    layout: str
    context: int
    turns: int = 0
    ids: dict[str, int] = field(default_factory=dict)
    stop: tuple[int, ...] = ()
    system: str = ""
    sampling: dict[str, float | int] = field(default_factory=dict)


def read(folder: Path, vocabulary: int, context: int) -> PromptFile | None:
    """The folder's file; None where there is none.

    Args:
        vocabulary: number of ids the model has.
        context: longest sequence the network can read.

    Raises:
        CheckpointError: one sentence that names the entry and says what it may be.
    """
    try:
        data = tomllib.loads((folder / NAME).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, RecursionError) as error:
        raise CheckpointError(f"{(folder / NAME).resolve()} cannot be read: {error}") from None
    return _Reader((folder / NAME).resolve(), data).read(vocabulary, context)


class _Reader:
    def __init__(self, path: Path, data: dict[str, Any]) -> None:
        self._path = path
        self._data = data

    def read(self, vocabulary: int, context: int) -> PromptFile:
        layout = self._data.get("layout")
        if layout not in LAYOUTS:
            raise self._wrong("layout", f"one of {', '.join(LAYOUTS)}", layout)
        self._known(
            self._data, ("layout", "context", "turns", "vocabulary", "system", "sampling"), ""
        )
        words = self._table("vocabulary")
        names: tuple[str, ...] = ()
        stop: tuple[int, ...] = ()
        if layout == "template":
            self._known(words, ("stop",), "vocabulary.")
            found = words.get("stop")
            if not isinstance(found, list) or not found:
                raise self._wrong("vocabulary.stop", "a list of ids such as [2]", found)
            stop = tuple(self._whole("vocabulary.stop", v, 0, vocabulary - 1) for v in found)
        else:
            names = (*SPECIALS, "user", "bot") if layout == "speakers" else SPECIALS
            self._known(words, names, "vocabulary.")
        ids = {n: self._whole(f"vocabulary.{n}", words.get(n), 0, vocabulary - 1) for n in names}
        if len(set(ids.values())) < len(ids):
            raise CheckpointError(f"{self._path}: two special ids of [vocabulary] are the same")
        system = self._data.get("system", "")
        if not isinstance(system, str):
            raise self._wrong("system", "a text in quotes", system)
        if system and layout != "template":
            raise CheckpointError(f"{self._path}: system is for the layout template only")
        length = self._whole("context", self._data.get("context", context), 32, context)
        turns = self._whole("turns", self._data.get("turns", 0), 0, 1_000_000)
        sampling = self._table("sampling")
        self._known(sampling, SAMPLING, "sampling.")
        try:
            checked = parse(sampling, SamplingParameters(), vocab_size=vocabulary, context=length)
        except InvalidParameter as error:
            raise CheckpointError(f"{self._path}, [sampling]: {error}") from None
        kept = {name: getattr(checked, name) for name in sampling}  # "0.7" is 0.7, and -1 of k is 0
        return PromptFile(layout, length, turns, ids, stop, system, kept)

    def _table(self, name: str) -> dict[str, Any]:
        found = self._data.get(name, {})
        if not isinstance(found, dict):
            raise CheckpointError(f"{self._path}: {name} must be a table, begun by [{name}]")
        return found

    def _known(self, table: Mapping[str, Any], names: tuple[str, ...], prefix: str) -> None:
        if unknown := sorted(set(table) - set(names)):
            raise CheckpointError(
                f"{self._path}: {prefix}{unknown[0]} is no entry; known are {', '.join(names)}"
            )

    def _whole(self, name: str, value: Any, low: int, high: int) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise self._wrong(name, f"a whole number from {low} to {high}", value)
        return value

    def _wrong(self, name: str, wanted: str, value: Any) -> CheckpointError:
        told = "missing" if value is None else json.dumps(value, default=str, ensure_ascii=False)
        return CheckpointError(f"{self._path}: {name} must be {wanted}, not {told[:60]}")


def sampling_defaults(folder: Path, found: PromptFile | None) -> SamplingParameters:
    """How a model's replies are drawn where a request does not say: ``prompt.toml`` over
    ``generation_config.json`` over our own."""
    base = SamplingParameters(top_p=0.9)
    if found is not None:
        return SamplingParameters(**{**vars(base), **found.sampling})
    if (folder / "generation_config.json").exists():
        return from_generation_config(read_json(folder / "generation_config.json"), base)
    return base


def served_limits(folder: Path) -> dict[str, str]:
    """What a client may ask of the checkpoint, as the parameters of a model configuration:
    ``context_tokens``, ``vocabulary_size`` and ``sampling_defaults``, a JSON object. Empty texts
    for what the folder does not tell.
    """
    limits = {"context_tokens": "", "vocabulary_size": "", "sampling_defaults": ""}
    try:
        config = read_json(folder / "config.json")
        size, context = vocabulary_size(config), context_length(config)
        found = read(folder, size, context)
        limits["context_tokens"] = str(found.context if found else context)
        limits["vocabulary_size"] = str(size)
        told = found is not None or (folder / "generation_config.json").exists()
        if told:
            defaults = vars(sampling_defaults(folder, found))
            limits["sampling_defaults"] = json.dumps({n: defaults[n] for n in (*SAMPLING, "stop")})
    except (CheckpointError, KeyError, TypeError, ValueError):
        pass  # loading the model says what is wrong with its folder
    return limits


_HEAD = """\
# How this model wants its prompts. Read when the model is loaded: edit it, then have it loaded anew
# (tritalk models use NAME, or on the server page stop serving it and serve it again). A wrong entry
# is named in the reason why the model did not load.

# {layout_words}
layout = "{layout}"

# Longest sequence of prompt and reply together, in tokens; the network can read at most {limit}.
# Shorter saves memory: keys and values of every chat under way are kept for the whole of it.
context = {context}

# At most so many turns are given to the model, the new message among them; 0: as many as fit.
# {turns_words}
turns = {turns}
"""
_WORDS = {
    "speakers": "CDial-GPT: [CLS] [speaker1] hello [speaker2] hi … [speaker2], the reply ends with "
    "[SEP];\n# each token's type is its speaker's id.",
    "separator": "GPT2-chitchat: [CLS] hello [SEP] hi [SEP] …, the reply ends with [SEP]; no token "
    "types.",
    "template": "The model's own chat template (chat_template.jinja) makes the prompt of the "
    "messages.",
}
_TURNS = {
    "speakers": "The original's own interact.py gives five.",
    "separator": "The original's own interact.py gives three.",
    "template": "The oldest are left out first, by pairs.",
}


def _quoted(text: str) -> str:
    """A basic string of TOML: JSON's, but that DEL is escaped too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def text_of(found: PromptFile, limit: int, tokens: Mapping[int, str]) -> str:
    """The file's text, each entry explained.

    Args:
        limit: longest sequence the network can read.
        tokens: what special ids are called in the vocabulary.
    """

    def shown(token: int, unknown: str) -> str:
        word = tokens.get(token, unknown)
        return word if word.isprintable() else ascii(word)  # a comment ends with its line

    def id_line(name: str, value: int) -> str:
        return f"{name} = {value}".ljust(18) + f"# {shown(value, '')}".rstrip(" #")

    parts = [
        _HEAD.format(
            layout_words=_WORDS[found.layout],
            layout=found.layout,
            limit=limit,
            context=found.context,
            turns_words=_TURNS[found.layout],
            turns=found.turns,
        )
    ]
    if found.layout == "template":
        parts.append(
            "\n# What the system message says; empty: what the template itself says, if anything.\n"
            f"system = {_quoted(found.system)}\n"
            "\n[vocabulary]\n# The ids that end a reply"
            + (f" ({', '.join(shown(i, '?') for i in found.stop)})" if tokens else "")
            + f".\nstop = {list(found.stop)}\n"
        )
    else:
        parts.append("\n# Ids of the special tokens in vocab.txt (the first line is 0).\n")
        parts.append("[vocabulary]\n")
        parts += [id_line(name, value) + "\n" for name, value in found.ids.items()]
    parts.append("\n# How replies are drawn where a request does not say.\n[sampling]\n")
    parts += [f"{name} = {value}\n" for name, value in found.sampling.items()]
    return "".join(parts)
