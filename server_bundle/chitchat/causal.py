"""Any causal language model of transformers, as a network that the engine runs.

transformers computes the layers; scheduling, slots and cache stay the engine's. The model is given
a cache object that writes into the engine's own block of slots, and an attention function that
reads from it, row by row as long as that row is, so that rows of different lengths share a step
and no reply depends on its neighbours.
"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, cast

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from transformers import AttentionInterface, AutoModelForCausalLM, DynamicCache
from transformers.cache_utils import Cache

from server_bundle.chitchat.folder import CheckpointError, context_length, read_json
from server_bundle.chitchat.network import KVCache, NetworkConfig
from server_bundle.chitchat.precision import SMALL, fast_bfloat16
from server_bundle.memory import available

_ATTENTION = "tritalk_slots"
# Where the rows of a step are attended to one by one; elsewhere all at once, under a mask.
_ROW_BY_ROW = ("cpu",)
# Arguments of an attention function that ours has no answer to, unless they are None.
_UNKNOWN = ("s_aux", "position_bias", "cu_seq_lens_q", "sinks")


class _Step(threading.local):
    """What the layers of the step under way cannot know: how long each row is with its new token;
    None while a prompt is read."""

    lengths: Sequence[int] | None = None
    positions: Tensor | None = None


_step = _Step()


def attention(
    module: nn.Module,
    query: Tensor,
    key: Tensor,
    value: Tensor,
    attention_mask: Tensor | None,
    scaling: float | None = None,
    dropout: float = 0.0,
    sliding_window: int | None = None,
    softcap: float | None = None,
    **others: Any,
) -> tuple[Tensor, None]:
    """Attention in the shape of transformers' interface.

    Args:
        query: ``[B, heads, T, head_dim]``; T is 1 in a step, the prompt's length else.
        key, value: ``[B, key heads, S, head_dim]``; in a step the slots as long as they can be.
        sliding_window: a token sees so many tokens, itself among them; None for all.
        softcap: scores are squeezed to within plus and minus this (Gemma 2, arXiv:2408.00118).

    Returns:
        ``[B, T, heads, head_dim]`` and None.
    """
    for name in _UNKNOWN:
        if others.get(name) is not None:
            raise NotImplementedError(f"attention with {name}")
    lengths = _step.lengths
    window = sliding_window or 0
    attend = _soft_capped(softcap) if softcap else F.scaled_dot_product_attention
    more: dict[str, Any] = {"scale": scaling, "enable_gqa": query.shape[1] != key.shape[1]}
    if lengths is None:
        size = query.shape[2]
        if window and size > window:
            place = torch.arange(size, device=query.device)
            behind = place[:, None] - place[None]
            found = attend(query, key, value, attn_mask=(behind >= 0) & (behind < window), **more)
        else:
            found = attend(query, key, value, is_causal=size > 1, **more)
    elif query.device.type in _ROW_BY_ROW:
        # The fused kernel sums a longer context in other blocks: a row would depend on others.
        rows = []
        for i, length in enumerate(lengths):
            first = max(0, length - window) if window else 0
            span = slice(first, length)
            rows.append(
                attend(query[i : i + 1], key[i : i + 1, :, span], value[i : i + 1, :, span], **more)
            )
        found = torch.cat(rows)
    else:
        longest = max(lengths)
        place = torch.arange(longest, device=query.device)[None]
        here = cast(Tensor, _step.positions)[:, None]
        mask = place <= here
        if window:
            mask &= place > here - window
        keys, values = key[:, :, :longest], value[:, :, :longest]
        found = attend(query, keys, values, attn_mask=mask[:, None, None], **more)
    return found.transpose(1, 2).contiguous(), None


def _soft_capped(cap: float) -> Callable[..., Tensor]:
    def attend(
        query: Tensor,
        key: Tensor,
        value: Tensor,
        attn_mask: Tensor | None = None,
        is_causal: bool = False,
        scale: float | None = None,
        enable_gqa: bool = False,
    ) -> Tensor:
        if enable_gqa:
            times = query.shape[1] // key.shape[1]
            key, value = key.repeat_interleave(times, 1), value.repeat_interleave(times, 1)
        factor = query.shape[-1] ** -0.5 if scale is None else scale
        scores = (query.float() @ key.float().transpose(2, 3)) * factor
        scores = cap * torch.tanh(scores / cap)
        if is_causal:
            attn_mask = torch.ones(scores.shape[-2:], dtype=torch.bool, device=query.device).tril()
        if attn_mask is not None:
            scores = scores.masked_fill(~attn_mask, -torch.inf)
        return (scores.softmax(-1) @ value.float()).to(query.dtype)

    return attend


AttentionInterface.register(_ATTENTION, attention)


class _Slots(Cache):
    """The engine's block of slots as transformers' cache, for one pass."""

    def __init__(self, block: KVCache, slot: int = -1, positions: Tensor | None = None) -> None:
        super().__init__(layers=[])
        self._block = block
        self._slot = slot
        self._positions = positions

    def update(
        self, key_states: Tensor, value_states: Tensor, layer_idx: int, *_: Any, **__: Any
    ) -> tuple[Tensor, Tensor]:
        """Store keys and values ``[B, key heads, T, head_dim]``; those to attend to."""
        keys, values = self._block.keys[layer_idx], self._block.values[layer_idx]
        heads, width = key_states.shape[1], key_states.shape[3]
        if self._positions is None:
            length = key_states.shape[2]
            keys[self._slot, :heads, :length, :width] = key_states[0]
            values[self._slot, :heads, :length, : value_states.shape[3]] = value_states[0]
            return key_states, value_states
        count = key_states.shape[0]
        rows = torch.arange(count, device=key_states.device)
        keys[rows, :heads, self._positions, :width] = key_states[:, :, 0]
        values[rows, :heads, self._positions, : value_states.shape[3]] = value_states[:, :, 0]
        return (
            keys[:count, :heads, :, :width],
            values[:count, :heads, :, : value_states.shape[3]],
        )

    def get_seq_length(self, layer_idx: int = 0) -> int:
        return 0  # positions are always given


class CausalNetwork:
    """A model of transformers behind the engine's protocol: ``prefill`` and ``decode``.

    Args:
        model: in eval mode, loaded with this module's attention.
        context: longest sequence it is to read, in tokens.
        stops: the ids that end a reply. The engine knows one, the first: its logit stands for all.

    Raises:
        CheckpointError: the model keeps something other than keys and values.
    """

    def __init__(self, model: Any, context: int, stops: Sequence[int]) -> None:
        self.model = model
        self.wte: nn.Embedding = model.get_input_embeddings()
        self.compute: torch.dtype = model.dtype
        names = inspect.signature(model.forward).parameters
        self._cache_name = "cache" if "cache" in names else "past_key_values"
        self._more: dict[str, Any] = {"logits_to_keep": 1} if "logits_to_keep" in names else {}
        self._stops = list(stops)
        self.size = sum(p.numel() for p in model.parameters())
        heads, width, layers, size = self._probe()
        if max(self._stops) >= size:
            raise CheckpointError(f"a stop id is {max(self._stops)}, but there are {size} ids")
        self.config = NetworkConfig(
            vocab_size=size,
            n_positions=context,
            n_embd=heads * width,
            n_layer=layers,
            n_head=heads,
            n_inner=4 * heads * width,
            layer_norm_epsilon=1e-5,
            post_norm=False,
        )

    @torch.inference_mode()
    def _probe(self) -> tuple[int, int, int, int]:
        """Heads and width of keys and values, layers, rows of the vocabulary, as they really are:
        what config.json says of them has many names."""
        own = DynamicCache(config=self.model.config)
        ids = torch.tensor([[self._stops[0]]], device=self.wte.weight.device)
        try:
            output = self.model(
                input_ids=ids, use_cache=True, **{self._cache_name: own}, **self._more
            )
        except (NotImplementedError, IndexError, TypeError, AttributeError) as error:
            raise CheckpointError(
                f"{type(self.model).__name__} computes in a way that this server cannot batch "
                f"({' '.join(str(error).split())[:120]})"
            ) from None
        shapes = []
        for layer in own.layers:
            keys, values = getattr(layer, "keys", None), getattr(layer, "values", None)
            if keys is None or values is None or keys.ndim != 4:
                raise CheckpointError(
                    f"{type(self.model).__name__} keeps more than keys and values between steps, "
                    "which this server cannot batch"
                )
            shapes += [keys.shape, values.shape]
        if not shapes:
            raise CheckpointError(f"{type(self.model).__name__} uses no cache of transformers")
        heads, width = max(s[1] for s in shapes), max(s[3] for s in shapes)
        return heads, width, len(own.layers), output.logits.shape[-1]

    def prefill(self, ids: Tensor, types: Tensor | None, cache: KVCache, slot: int) -> Tensor:
        """Read a prompt, INT64 ``[T]``, into row ``slot``; FP32 ``[vocab_size]``, the logits after
        its last token."""
        places = torch.arange(len(ids), device=ids.device)
        return self._run(ids[None], places[None], _Slots(cache, slot))[0]

    def decode(
        self, ids: Tensor, types: Tensor | None, positions: Tensor, longest: int, cache: KVCache
    ) -> Tensor:
        """Append a token, INT64 ``[B]``, to each of the first rows, at ``positions`` INT64
        ``[B]``; FP32 ``[B, vocab_size]``, the logits after it."""
        slots = _Slots(cache, positions=positions)
        _step.lengths, _step.positions = [n + 1 for n in positions.tolist()], positions
        try:
            return self._run(ids[:, None], positions[:, None], slots)
        finally:
            _step.lengths = _step.positions = None

    def _run(self, ids: Tensor, positions: Tensor, cache: _Slots) -> Tensor:
        output = self.model(
            input_ids=ids,
            position_ids=positions,
            use_cache=True,
            **{self._cache_name: cache},
            **self._more,
        )
        logits: Tensor = output.logits[:, -1].float()
        if len(self._stops) > 1:
            total = logits[:, self._stops].logsumexp(-1)
            logits[:, self._stops] = -torch.inf
            logits[:, self._stops[0]] = total
        return logits


def choose_dtype(requested: str, device: str, parameters: int, memory: int) -> torch.dtype:
    """What a model is computed in.

    Args:
        requested: ``auto``, or one of ``float32``, ``bfloat16``, ``float16``; others (``int8``) are
            for our own network and count as ``auto``.
        parameters: how many the model has.
        memory: bytes that are free; in FP32 a model is to take at most half of them.
    """
    if requested in ("float32", "bfloat16", "float16") and (
        device != "cpu" or requested != "float16"
    ):
        return cast(torch.dtype, getattr(torch, requested))
    if device != "cpu":
        return torch.bfloat16 if torch.cuda.is_bf16_supported() else torch.float16
    if fast_bfloat16() and parameters >= SMALL:
        return torch.bfloat16
    return torch.float32 if 4 * parameters <= memory / 2 else torch.bfloat16


def free_memory() -> int:
    """Bytes of main memory that can be had without swapping, within a container's limit too."""
    found = available()
    return 8 << 30 if found is None else found  # no such figure outside Linux


def load_causal(
    folder: Path,
    stops: Sequence[int],
    *,
    context: int = 0,
    precision: str = "auto",
    device: str = "cpu",
    dtype: torch.dtype | None = None,
) -> CausalNetwork:
    """A model folder of transformers, in eval mode.

    Args:
        context: 0 for what config.json allows.
        dtype: instead of what ``precision`` chooses.

    Raises:
        CheckpointError: it cannot be loaded without running code of its own, or not at all.
    """
    size = sum(path.stat().st_size for path in folder.glob("*.safetensors"))
    if dtype is None:  # imported weights are mostly of two bytes each
        dtype = choose_dtype(precision, device, size // 2, free_memory())
    try:
        model = AutoModelForCausalLM.from_pretrained(
            folder,
            dtype=dtype,
            attn_implementation=_ATTENTION,
            local_files_only=True,
            trust_remote_code=False,
            use_safetensors=True,
        )
        network = CausalNetwork(
            model.eval().requires_grad_(False).to(device),
            context or context_length(read_json(folder / "config.json")),
            stops,
        )
    except CheckpointError:
        raise
    except Exception as error:
        words = " ".join(str(error).split())
        raise CheckpointError(f"transformers cannot load {folder.name}: {words[:300]}") from None
    return network
