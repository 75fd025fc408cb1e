"""Writes the table of traditional characters from OpenCC's dictionary.

``python -m server_bundle.training.address.build_simplified`` reads ``TSCharacters.txt`` of the
package ``opencc-python-reimplemented`` 0.1.7 (OpenCC's data, Apache-2.0), which is needed only for
this, and writes ``server_bundle/address/simplified.txt``: ``traditional<TAB>simplified``, one
character each. Where OpenCC knows several simplified forms its first counts. Left out: characters
that today's official division names contain (乾县, 於潜镇), and forms outside of the basic plane,
which no simplified text holds.
"""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path

from server_bundle.address.divisions import default_table
from server_bundle.address.normalisation import TABLE


def build(output: Path = TABLE) -> int:
    """Returns the number of characters written."""
    official = {c for node in default_table().nodes.values() for c in node.name}
    source = files("opencc").joinpath("dictionary", "TSCharacters.txt")
    table = {}
    for line in source.read_text(encoding="utf-8").splitlines():
        traditional, _, forms = line.partition("\t")
        simplified = forms.split(" ")[0]
        if (
            len(traditional) == len(simplified) == 1
            and traditional != simplified
            and max(traditional, simplified) <= "\uffff"
            and traditional not in official
        ):
            table[traditional] = simplified
    # 薴 → 苧, which is itself the traditional form of another character, would not be stable.
    rows = [f"{t}\t{s}\n" for t, s in sorted(table.items()) if s not in table]
    output.write_text("".join(rows), encoding="utf-8")
    return len(rows)


if __name__ == "__main__":
    print(f"{build()} characters written to {TABLE}")
