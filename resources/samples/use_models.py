"""Uses a running Tritalk server as any Triton client can: a chat token by token, and addresses.

    tritalk server start
    python use_models.py                     # says 今天好累啊
    python use_models.py 你好 今天好累啊      # two messages of one conversation
    python use_models.py --addresses addresses.csv --column 收货地址

Needs `pip install "tritonclient[grpc]"` and the command `tritalk`, which is asked where the server
listens. Nothing else of Tritalk is used. The contracts: docs/models.md.
"""

from __future__ import annotations

import argparse
import csv
import json
import os
import queue
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from tritonclient import grpc
from tritonclient.utils import InferenceServerException

CHAT = "ibuddha_chitchat_stream"
PARSER = "address_parser"
ROWS = 32  # addresses a request: the server batches those of several requests by itself


def where() -> tuple[str, dict[str, str]]:
    """The gRPC address of the server and the headers it wants."""
    said = subprocess.run(
        ["tritalk", "server", "status", "--json"], capture_output=True, text=True, check=False
    )
    try:
        status = json.loads(said.stdout)
        return status["grpc"], status["headers"]
    except (ValueError, KeyError):
        sys.exit("no server runs; start one with `tritalk server start`")


def text_input(name: str, *texts: str, shape: list[int] | None = None) -> grpc.InferInput:
    """A BYTES input ``[n]``, or of another shape with as many elements."""
    made = grpc.InferInput(name, shape or [len(texts)], "BYTES")
    values = np.array([text.encode() for text in texts], dtype=np.object_)
    made.set_data_from_numpy(values.reshape(shape or [len(texts)]))
    return made


def yes(name: str) -> grpc.InferInput:
    """A BOOL input ``[1]`` that is true."""
    made = grpc.InferInput(name, [1], "BOOL")
    made.set_data_from_numpy(np.array([True]))
    return made


def chat(
    client: grpc.InferenceServerClient,
    headers: dict[str, str],
    message: str,
    history: list[str],
    **sampling: Any,
) -> Iterator[tuple[str, float, list[tuple[str, float]]]]:
    """Text, probability and likeliest alternatives of every token, while the reply grows.

    Args:
        history: earlier turns, the user's and the bot's in turn.
        sampling: such as ``temperature=0.5, seed=1, max_tokens=60``.

    Raises:
        tritonclient.utils.InferenceServerException: the server refused or failed.
    """
    inputs = [
        text_input("text_input", message),
        text_input("sampling_parameters", json.dumps(sampling)),
        *(yes(name) for name in ("stream", "return_finish_reason", "return_logprobs")),
    ]
    if history:
        inputs.append(text_input("history", *history))
    responses: queue.SimpleQueue[Any] = queue.SimpleQueue()
    client.start_stream(lambda result, error: responses.put(error or result), headers=headers)
    try:
        client.async_stream_infer(CHAT, inputs)
        while True:
            response = responses.get()
            if isinstance(response, Exception):
                raise response
            text = response.as_numpy("text_output")[0].decode()
            if response.as_numpy("token_id") is not None:
                likeliest = json.loads(response.as_numpy("logprobs")[0])[0].values()
                alternatives = [
                    (each["decoded_token"], float(np.exp(each["logprob"]))) for each in likeliest
                ]
                yield text, float(response.as_numpy("probability")[0]), alternatives
            elif text:  # a fixed answer, not drawn from a model
                yield text, 1.0, []
            if response.as_numpy("finish_reason")[0] != b"None":
                return
    finally:
        client.stop_stream()


def parse(
    client: grpc.InferenceServerClient, headers: dict[str, str], addresses: list[str]
) -> Iterator[dict[str, Any]]:
    """The parser's answer to each address, in order; see docs/models.md for its keys."""
    for first in range(0, len(addresses), ROWS):
        rows = addresses[first : first + ROWS]
        answer = client.infer(
            PARSER, [text_input("text_input", *rows, shape=[len(rows), 1])], headers=headers
        )
        yield from (json.loads(row) for row in answer.as_numpy("result")[:, 0])


def read_column(path: Path, column: str) -> list[str]:
    """The texts of one column of a CSV file, blank ones left out."""
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            reader = csv.DictReader(stream)
            columns = reader.fieldnames or []
            if column not in columns:
                sys.exit(f"no column {column}; choose with --column: {', '.join(columns)}")
            return [text for row in reader if (text := (row[column] or "").strip())]
    except OSError as error:
        sys.exit(f"{path} cannot be read: {error.strerror}")
    except UnicodeDecodeError:
        sys.exit(f"{path} is not UTF-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("message", nargs="*", help="messages of one conversation, in order")
    parser.add_argument("--seed", type=int, help="for the same reply again")
    parser.add_argument("--addresses", type=Path, metavar="CSV", help="a file of addresses")
    parser.add_argument("--column", default="address", help="the column they stand in")
    arguments = parser.parse_args()
    rows = read_column(arguments.addresses, arguments.column) if arguments.addresses else []
    messages = arguments.message or ([] if arguments.addresses else ["今天好累啊"])
    address, headers = where()
    with grpc.InferenceServerClient(address) as client:
        history: list[str] = []
        for message in messages:
            print(f"> {message}")
            reply = ""
            sampling = {} if arguments.seed is None else {"seed": arguments.seed}
            for text, probability, alternatives in chat(
                client, headers, message, history, **sampling
            ):
                reply += text
                others = "  ".join(f"{token} {share:.2f}" for token, share in alternatives[:4])
                print(f"  {text}  {probability:.2f}  | {others}")
            print(f"= {reply}\n")
            history += [message, reply]
        for found in parse(client, headers, rows):
            division = found["division"]
            levels = [division[level] for level in ("province", "city", "district", "town")]
            print(division["code"] or "-", "/".join(filter(None, levels)), found["text"])


if __name__ == "__main__":
    try:
        main()
        sys.stdout.flush()
    except InferenceServerException as refused:
        sys.exit(refused.message())
    except BrokenPipeError:  # who reads this, such as `head`, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
