"""Opens a chat model's folder, whichever of the two kinds it is.

Chitchat GPTs (CDial-GPT, GPT2-chitchat) run on our own network; any other causal language model
runs on transformers and brings a chat template. ``prompt.toml`` says which.
"""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, cast

from server_bundle.chitchat import prompt_file
from server_bundle.chitchat.detokenise import Pieces
from server_bundle.chitchat.folder import CheckpointError, Vocabulary
from server_bundle.chitchat.prompt import Prompt, PromptLayout

if TYPE_CHECKING:
    from server_bundle.chitchat.network import ChitchatNetwork


class Layout(Protocol):
    """A model's vocabulary and the way it wants its prompts."""

    context: int
    speakers: tuple[int, int] | None

    @property
    def vocabulary(self) -> Vocabulary: ...
    def text(self, token: int) -> str: ...
    def pieces(self, continued: bool = False) -> Pieces: ...
    def reply_prefix(self, ids: Sequence[int]) -> list[int]: ...
    def reply_type(self, ids: Sequence[int]) -> int: ...
    def encode(
        self,
        history: Sequence[str],
        text: str,
        reserve: int,
        reply_prefix: str = "",
        opening: Sequence[str] = (),
        system: str = "",
    ) -> Prompt: ...


def is_template(folder: Path) -> bool:
    """Whether the folder holds a model of transformers with a chat template."""
    try:
        data = tomllib.loads((folder / prompt_file.NAME).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False  # reading it again says what is wrong
    return data.get("layout") == "template"


def open_layout(folder: Path) -> Layout:
    """Raises :class:`CheckpointError`."""
    if not is_template(folder):
        return cast(Layout, PromptLayout.from_folder(folder))
    try:
        from server_bundle.chitchat.template import TemplateLayout
    except ModuleNotFoundError as error:
        raise _missing(error) from None
    return cast(Layout, TemplateLayout.from_folder(folder))


def open_network(folder: Path, layout: Layout, wanted: str, gpu: int | None) -> ChitchatNetwork:
    """The network in the precision ``wanted``, on the CPU or on a GPU by its number.

    Raises:
        CheckpointError: the folder cannot be served.
        ValueError: the precision is unknown, or not for this device.
    """
    if is_template(folder):
        try:
            from server_bundle.chitchat.causal import load_causal
        except ModuleNotFoundError as error:
            raise _missing(error) from None
        device = "cpu" if gpu is None else f"cuda:{gpu}"
        causal = load_causal(
            folder,
            layout.stops,  # type: ignore[attr-defined]
            context=layout.context,
            precision=wanted,
            device=device,
        )
        return cast("ChitchatNetwork", causal)  # the engine's protocol
    from server_bundle.chitchat import precision
    from server_bundle.chitchat.checkpoint import load_network

    network = load_network(folder)
    chosen = precision.choose(wanted, network, "cpu" if gpu is None else "cuda")
    network = precision.apply(network, chosen)
    if gpu is not None:
        return network.to(f"cuda:{gpu}")
    precision.pack(network)
    network.transpose_table()
    return network


def _missing(error: ModuleNotFoundError) -> CheckpointError:
    return CheckpointError(
        f"models with a chat template need the package {error.name} where the server runs"
    )
