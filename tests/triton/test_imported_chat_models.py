"""Imported chat models on the real server: served beside the first, switched while it runs."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from desktop.launchers.base import ServerState
from desktop.models import ModelError, chat
from desktop.triton.client import TritonClient
from desktop.triton.control import ModelControl
from desktop.triton.models import chat_models, stream_model
from desktop.triton.types import Finished, InvalidInput, Sampling, ServerUnavailable, Token
from server_bundle.chitchat.importing.__main__ import run
from tests.support.chat import cancel_at_once
from tests.support.chat_models import byte_level_tokenizer, causal, chitchat

pytestmark = pytest.mark.triton

QWEN, CDIAL = "tiny-qwen", "tiny-cdial"
DRAWN = Sampling(temperature=1.0, top_p=1.0, max_tokens=40, seed=5)


def wait_for(condition: Callable[[], Any], seconds: float = 90.0) -> None:
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"not within {seconds} seconds"
        time.sleep(0.05)


@pytest.fixture(scope="module")
def models(server: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The session's server with two more chat models, as ``tritalk models use`` loads them."""
    folder = tmp_path_factory.mktemp("imported")
    for name, source in (
        (QWEN, causal(folder / QWEN)),
        (CDIAL, chitchat(folder / CDIAL, "openai-gpt")),
    ):
        (chat.folder() / name).mkdir(parents=True)
        told = run(source, chat.folder() / name, lambda _: None)
        (chat.folder() / name / "import.json").write_text(json.dumps({**told, "source": "test"}))
        assert chat.use(name) == f"{name} is served now"
    wait_for(lambda: server.status().models.get(stream_model(CDIAL)) == "READY")
    yield server
    for name in (QWEN, CDIAL):
        chat.remove(name)
    wait_for(lambda: chat_models(server.status().models) == ["ibuddha_chitchat"])
    wait_for(lambda: server.status().state is ServerState.READY)


@pytest.fixture(scope="module")
def client(models: Any) -> Iterator[TritonClient]:
    with TritonClient(models.endpoint) as one:
        yield one


def reply(client: TritonClient, text: str, **options: Any) -> tuple[list[Token], Finished]:
    options = {"model": stream_model(QWEN), "sampling": DRAWN, **options}
    *tokens, ended = client.chat(text, **options)
    assert isinstance(ended, Finished)
    return tokens, ended  # type: ignore[return-value]


def test_they_stand_beside_the_first(models: Any, client: TritonClient) -> None:
    assert chat_models(models.status().models) == ["ibuddha_chitchat", CDIAL, QWEN]
    assert models.status().state is ServerState.READY
    limits = client.limits(stream_model(QWEN))
    assert limits is not None
    assert (limits.context_tokens, limits.vocabulary_size) == (256, 448)
    assert limits.defaults.max_tokens == 128


def test_the_contract_is_the_same(client: TritonClient) -> None:
    tokens, ended = reply(client, "你好，世界！")
    assert ended.reply == "".join(token.text for token in tokens)
    assert "\ufffd" not in ended.reply
    assert ended.finish_reason in ("stop", "length")
    assert any(token.text == "" for token in tokens)  # half a character: its text comes later
    for token in tokens:
        assert 0 < token.confidence <= 1
        assert len(token.alternatives) >= 5
        assert token.token_id in [a.token_id for a in token.alternatives]
        assert token.token_id not in (0, 1, 2)
        assert token.token_id < len(byte_level_tokenizer())
    tokenizer = byte_level_tokenizer()
    messages = [{"role": "user", "content": "你好，世界！"}]
    prompt = tokenizer.apply_chat_template(
        messages, tokenize=True, add_generation_prompt=True, return_dict=False
    )
    assert ended.num_input_tokens == len(prompt)
    assert reply(client, "你好，世界！")[0] == tokens  # the same seed


def test_history_system_message_and_stop_strings(client: TritonClient) -> None:
    _, alone = reply(client, "Hi")
    _, more = reply(client, "Hi", history=("你好", "Hello!"))
    assert more.num_input_tokens > alone.num_input_tokens
    _, told = reply(client, "Hi", system="Be kind. " * 8)
    assert told.num_input_tokens > alone.num_input_tokens
    with pytest.raises(InvalidInput, match="takes no system message"):
        reply(client, "你好", model=stream_model(CDIAL), system="x")
    whole = alone.reply
    cut = whole[3:5]
    stopped = Sampling(**{**vars(DRAWN), "stop": (cut,)})
    _, ended = reply(client, "Hi", sampling=stopped)
    assert ended.finish_reason == "stop"
    assert ended.reply == whole[: whole.index(cut)]
    long = [text for _ in range(30) for text in ("今天天气怎么样？", "I am fine.")]
    assert reply(client, "Hi", history=long)[1].dropped_turns > 0


def cancel_a_reply(client: TritonClient) -> None:
    long = Sampling(max_tokens=200, min_tokens=200)
    cancel_at_once(client.chat("Hi", (), long, stream_model(QWEN)))


def test_cancelling_ends_the_computation(models: Any, client: TritonClient) -> None:
    cancel_a_reply(client)
    assert reply(client, "Hi")[1].finish_reason in ("stop", "length")


def test_the_chitchat_layout_is_served_too(client: TritonClient) -> None:
    tokens, ended = reply(client, "你好呀", model=stream_model(CDIAL))
    assert ended.num_input_tokens == 1 + 1 + 3 + 1
    assert [len(token.text) for token in tokens] == [1] * len(tokens)


def test_unused_models_free_their_memory_and_come_back(models: Any, client: TritonClient) -> None:
    if QWEN not in chat.served():  # a first try of this test broke off
        chat.use(QWEN)
    assert models.stub_pids(QWEN)
    cancel_a_reply(client)  # a model whose last reply was cancelled could once not be unloaded
    assert chat.unuse(QWEN) == f"{QWEN} is not served any more"
    wait_for(lambda: not models.stub_pids(QWEN) and not models.stub_pids(stream_model(QWEN)))
    with pytest.raises(ServerUnavailable):
        reply(client, "Hi")
    wait_for(lambda: models.status().models.get(QWEN, "").startswith("UNAVAILABLE"))
    assert models.status().state is ServerState.READY  # nobody wants it, so nothing is missing
    reply(client, "你好呀", model=stream_model(CDIAL))
    assert chat.use(QWEN) == f"{QWEN} is served now"
    assert reply(client, "Hi")[1].reply


def test_a_wrong_edit_of_prompt_toml_is_told(models: Any, client: TritonClient) -> None:
    path: Path = chat.folder() / CDIAL / "prompt.toml"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace("context = 64", "context = 9999"), encoding="utf-8")
    chat.unuse(CDIAL)
    with pytest.raises(ModelError, match="context must be a whole number from 32 to 64, not 9999"):
        chat.use(CDIAL)
    assert CDIAL not in chat.served()
    edited = text.replace("turns = 5", "turns = 1").replace("max_tokens = 30", "max_tokens = 7")
    path.write_text(edited, encoding="utf-8")
    chat.use(CDIAL)
    limits = client.limits(stream_model(CDIAL))
    assert limits is not None
    assert limits.defaults.max_tokens == 7
    _, ended = reply(client, "你好呀", model=stream_model(CDIAL), history=("在吗", "在的"))
    assert (ended.num_input_tokens, ended.dropped_turns) == (6, 2)
    with ModelControl(models.endpoint) as control:
        states = {m.name: m.state for m in control.index()}
    assert states[CDIAL] == states[stream_model(CDIAL)] == "READY"
