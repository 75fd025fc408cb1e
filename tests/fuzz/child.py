"""Fuzzes one harness: ``python -m tests.fuzz.child NAME [libFuzzer's options and corpus]``.

Started by ``python -m tests.fuzz``. Ends with a status other than 0 at the first finding, whose
input libFuzzer writes into a file.
"""

from __future__ import annotations

import os
import random
import sys
import tempfile

import atheris

from tests.fuzz import harness

# What is watched for new paths: our own code and the parsers written in Python that it uses.
_WATCHED = ["desktop", "server_bundle", "tomllib", "jinja2"]


def main() -> None:
    name, options = sys.argv[1], sys.argv[2:]
    os.environ["TRITALK_HOME"] = tempfile.mkdtemp(prefix="home-", dir=harness.folder())
    with atheris.instrument_imports(include=_WATCHED):
        chosen = harness.load(name)
    mutate = chosen.mutate

    def mutated(data: bytes, max_size: int, seed: int) -> bytes:
        chance = random.Random(seed)
        if mutate is not None and chance.random() < 0.7:
            found = mutate(data, chance)
            if found != data and len(found) <= max_size:
                return found
        return bytes(atheris.Mutate(data, max_size))

    arguments = [sys.argv[0], f"-max_len={chosen.max_len}", *options]
    if mutate is None:
        atheris.Setup(arguments, chosen.one)
    else:
        atheris.Setup(arguments, chosen.one, custom_mutator=mutated)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
