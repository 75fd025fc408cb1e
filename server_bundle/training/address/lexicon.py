"""Word lists the corpus grammar draws from, read from words.txt and place_names.txt.gz."""

from __future__ import annotations

import gzip
from functools import lru_cache
from pathlib import Path

FOLDER = Path(__file__).parent


@lru_cache(maxsize=1)
def place_names() -> list[str]:
    """70,000 names of villages and communities without suffix (see build_place_names)."""
    with gzip.open(FOLDER / "place_names.txt.gz", "rt", encoding="utf-8") as stream:
        return stream.read().split()


@lru_cache(maxsize=1)
def han_characters() -> list[str]:
    """The 6,763 Han characters of GB 2312, most of them rare: food for made-up names."""
    characters = []
    for high in range(0xB0, 0xF8):
        for low in range(0xA1, 0xFF):
            try:
                characters.append(bytes((high, low)).decode("gb2312"))
            except UnicodeDecodeError:
                continue
    return characters


def _sections() -> dict[str, list[str]]:
    """``[NAME]`` lines begin a list, words are separated by white space."""
    sections: dict[str, list[str]] = {}
    words: list[str] = []
    for line in (FOLDER / "words.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("["):
            words = sections[line.strip("[]")] = []
        elif not line.startswith("#"):
            words += line.split()
    return sections


_WORDS = _sections()
ROAD_WORDS = _WORDS["ROAD_WORDS"]
ROAD_SUFFIXES = _WORDS["ROAD_SUFFIXES"]
DIRECTIONS = _WORDS["DIRECTIONS"]
JOINTS = _WORDS["JOINTS"]
CROSSING_WORDS = _WORDS["CROSSING_WORDS"]
AFTER_CROSSING = _WORDS["AFTER_CROSSING"]
NEAR_WORDS = _WORDS["NEAR_WORDS"]
ESTATE_SUFFIXES = _WORDS["ESTATE_SUFFIXES"]
ESTATE_WORDS = _WORDS["ESTATE_WORDS"]
TOWER_SUFFIXES = _WORDS["TOWER_SUFFIXES"]
PARK_SUFFIXES = _WORDS["PARK_SUFFIXES"]
ZONES = _WORDS["ZONES"]
INDUSTRIES = _WORDS["INDUSTRIES"]
COMPANY_SUFFIXES = _WORDS["COMPANY_SUFFIXES"]
SCHOOLS = _WORDS["SCHOOLS"]
HOSPITALS = _WORDS["HOSPITALS"]
MARKETS = _WORDS["MARKETS"]
MALLS = _WORDS["MALLS"]
PUBLIC = _WORDS["PUBLIC"]
SHOP_SUFFIXES = _WORDS["SHOP_SUFFIXES"]
BRANDS = _WORDS["BRANDS"]
IN_PLACE = _WORDS["IN_PLACE"]
SECTIONS = _WORDS["SECTIONS"]
PARK_LIKE = _WORDS["PARK_LIKE"]
SITES = _WORDS["SITES"]
LATIN_WORDS = _WORDS["LATIN_WORDS"]
CAMPUSES = _WORDS["CAMPUSES"]
SURNAMES = _WORDS["SURNAMES"]
GIVEN = _WORDS["GIVEN"]
TITLES = _WORDS["TITLES"]
NOTES_BEFORE = _WORDS["NOTES_BEFORE"]
NOTES_AFTER = _WORDS["NOTES_AFTER"]
HAMLET_ENDINGS = _WORDS["HAMLET_ENDINGS"]
